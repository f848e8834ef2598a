Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 3 4 1 [:: Situation 0 [:: None; Some false; Some false; Some false] (Some (Action 0 [:: None; Some false; Some false; Some false] [:: Stay; Right; Right; Right]));
     Situation 0 [:: None; Some true; Some false; Some false] (Some (Action 0 [:: None; Some true; Some false; Some false] [:: Stay; Right; Right; Right]));
     Situation 0 [:: None; Some false; Some true; Some false] (Some (Action 0 [:: None; Some false; Some true; Some false] [:: Stay; Right; Right; Right]));
     Situation 0 [:: None; Some true; Some true; Some false] (Some (Action 0 [:: None; Some true; Some true; Some false] [:: Stay; Right; Right; Right]));
     Situation 0 [:: None; Some false; Some false; Some true] (Some (Action 1 [:: Some false; Some false; Some false; Some true] [:: Right; Right; Right; Right]));
     Situation 0 [:: None; Some true; Some false; Some true] (Some (Action 1 [:: Some true; Some true; Some false; Some true] [:: Right; Right; Right; Right]));
     Situation 0 [:: None; Some false; Some true; Some true] (Some (Action 0 [:: None; Some false; Some true; Some true] [:: Stay; Right; Right; Right]));
     Situation 0 [:: None; Some true; Some true; Some true] (Some (Action 0 [:: None; Some true; Some true; Some true] [:: Stay; Right; Right; Right]));
     Situation 1 [:: None; Some false; Some false; Some false] (Some (Action 1 [:: Some false; Some false; Some false; Some false] [:: Right; Right; Right; Right]));
     Situation 1 [:: None; Some true; Some false; Some false] (Some (Action 1 [:: Some true; Some true; Some false; Some false] [:: Right; Right; Right; Right]));
     Situation 1 [:: None; Some false; Some true; Some false] (Some (Action 2 [:: None; Some false; Some true; Some false] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; Some true; Some true; Some false] (Some (Action 2 [:: None; Some true; Some true; Some false] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; Some false; Some false; Some true] (Some (Action 2 [:: None; Some false; Some false; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; Some true; Some false; Some true] (Some (Action 2 [:: None; Some true; Some false; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; Some false; Some true; Some true] (Some (Action 2 [:: None; Some false; Some true; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; Some true; Some true; Some true] (Some (Action 2 [:: None; Some true; Some true; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 2 [:: None; None; None; None] None].

Definition claimed : compact_claim := (CompactClaim claimed_machine 12 [:: 1; 2; 3; 0] (Number (64) 0) one (Number (524800) 0) one).

Definition exported : network := Network
  [:: ParameterOf (17, 1) Simplex; ParameterOf (1, 12) (Descent one); ParameterOf (4, 12) (Descent one)]
  [:: (3, 12)]
  [:: Node (3, 12) (OpInput 0);
     Node (17, 1) (OpParameter 0);
     Node (1, 12) (OpParameter 1);
     Node (4, 12) (OpStack 2 0);
     Node (4, 12) (OpParameter 2);
     Node (4, 1) (OpLinear [:: arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 1);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 1 16 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one; arc 3 10 one; arc 3 11 one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one; arc 3 16 one] (nseq 4 zero) 1);
     Node (4, 12) (OpProduct 6 4);
     Node (4, 1) (OpLinear [:: arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 1 0 one; arc 1 1 one; arc 1 2 one; arc 1 3 one; arc 1 4 one; arc 1 5 one; arc 1 6 one; arc 1 7 one; arc 1 8 one; arc 1 9 one; arc 2 0 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 6 one; arc 2 7 one; arc 2 8 one; arc 2 9 one; arc 3 0 one; arc 3 1 one; arc 3 2 one; arc 3 3 one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one] (nseq 4 zero) 1);
     Node (4, 12) (OpShift (1) 4);
     Node (4, 12) (OpProduct 8 9);
     Node (4, 12) (OpSum [:: (one, 7); (one, 10)]);
     Node (4, 12) (OpStop 4);
     Node (4, 12) (OpProduct 3 12);
     Node (4, 1) (OpSumColumns 13);
     Node (4, 1) (OpLinear [:: arc 0 4 minus_one; arc 0 5 one; arc 0 8 minus_one; arc 0 9 one; arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 1);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 16 one; arc 2 16 one; arc 3 16 one] (nseq 4 zero) 1);
     Node (4, 1) (OpProduct 16 14);
     Node (4, 1) (OpSum [:: (one, 15); (one, 17)]);
     Node (4, 1) (OpSum [:: (one, 18); (minus_one, 14)]);
     Node (4, 12) (OpProduct 4 19);
     Node (4, 12) (OpSum [:: (one, 3); (one, 20)]);
     Node (4, 12) (OpProduct 21 11);
     Node (4, 1) (OpSumColumns 22);
     Node (4, 1) (OpStop 18);
     Node (4, 1) (OpStop 23);
     Node (4, 12) (OpStop 11);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 4 (Number (4) 0); arc 5 5 (Number (4) 0); arc 6 6 (Number (4) 0); arc 7 7 (Number (4) 0); arc 8 8 (Number (4) 0); arc 9 9 (Number (4) 0); arc 10 10 (Number (4) 0); arc 11 11 (Number (4) 0); arc 12 12 (Number (4) 0); arc 13 13 (Number (4) 0); arc 14 14 (Number (4) 0); arc 15 15 (Number (4) 0); arc 16 16 (Number (4) 0)] (nseq 17 (Number (-3) 0)) 1);
     Node (17, 1) (OpRelu 28);
     Node (15, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 4 one; arc 0 5 one; arc 0 6 one; arc 0 7 one; arc 1 8 one; arc 1 9 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 2 16 one; arc 3 0 one; arc 3 2 one; arc 3 4 one; arc 3 6 one; arc 4 1 one; arc 4 3 one; arc 4 5 one; arc 4 7 one; arc 5 0 one; arc 5 1 one; arc 5 4 one; arc 5 5 one; arc 6 2 one; arc 6 3 one; arc 6 6 one; arc 6 7 one; arc 7 0 one; arc 7 1 one; arc 7 2 one; arc 7 3 one; arc 8 4 one; arc 8 5 one; arc 8 6 one; arc 8 7 one; arc 9 8 one; arc 9 10 one; arc 9 12 one; arc 9 14 one; arc 10 9 one; arc 10 11 one; arc 10 13 one; arc 10 15 one; arc 11 8 one; arc 11 9 one; arc 11 12 one; arc 11 13 one; arc 12 10 one; arc 12 11 one; arc 12 14 one; arc 12 15 one; arc 13 8 one; arc 13 9 one; arc 13 10 one; arc 13 11 one; arc 14 12 one; arc 14 13 one; arc 14 14 one; arc 14 15 one] (nseq 15 zero) 1);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (-1 * 2 ^ 18) 0); arc 0 3 (Number (-64) 0); arc 0 5 (Number (-64) 0); arc 0 7 (Number (-64) 0); arc 1 0 (Number (-1 * 2 ^ 18) 0); arc 1 4 (Number (-64) 0); arc 1 5 (Number (-64) 0); arc 1 7 (Number (-64) 0); arc 2 0 (Number (-1 * 2 ^ 18) 0); arc 2 3 (Number (-64) 0); arc 2 6 (Number (-64) 0); arc 2 7 (Number (-64) 0); arc 3 0 (Number (-1 * 2 ^ 18) 0); arc 3 4 (Number (-64) 0); arc 3 6 (Number (-64) 0); arc 3 7 (Number (-64) 0); arc 4 1 (Number (-1 * 2 ^ 18) 0); arc 4 9 (Number (-64) 0); arc 4 11 (Number (-64) 0); arc 4 14 (Number (-64) 0); arc 5 1 (Number (-1 * 2 ^ 18) 0); arc 5 10 (Number (-64) 0); arc 5 11 (Number (-64) 0); arc 5 14 (Number (-64) 0); arc 6 0 (Number (-1 * 2 ^ 18) 0); arc 6 3 (Number (-64) 0); arc 6 6 (Number (-64) 0); arc 6 8 (Number (-64) 0); arc 7 0 (Number (-1 * 2 ^ 18) 0); arc 7 4 (Number (-64) 0); arc 7 6 (Number (-64) 0); arc 7 8 (Number (-64) 0); arc 8 1 (Number (-1 * 2 ^ 18) 0); arc 8 9 (Number (-64) 0); arc 8 11 (Number (-64) 0); arc 8 13 (Number (-64) 0); arc 9 1 (Number (-1 * 2 ^ 18) 0); arc 9 10 (Number (-64) 0); arc 9 11 (Number (-64) 0); arc 9 13 (Number (-64) 0); arc 10 2 (Number (-1 * 2 ^ 18) 0); arc 11 2 (Number (-1 * 2 ^ 18) 0); arc 12 2 (Number (-1 * 2 ^ 18) 0); arc 13 2 (Number (-1 * 2 ^ 18) 0); arc 14 2 (Number (-1 * 2 ^ 18) 0); arc 15 2 (Number (-1 * 2 ^ 18) 0)] (nseq 17 zero) 30);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (-262336) 0); arc 1 1 (Number (-262336) 0); arc 2 2 (Number (-262336) 0); arc 3 3 (Number (-262336) 0); arc 6 6 (Number (-262336) 0); arc 7 7 (Number (-262336) 0); arc 8 8 (Number (-262336) 0); arc 9 9 (Number (-262336) 0)] (nseq 17 zero) 1);
     Node (17, 1) (OpSum [:: (one, 31); (minus_one, 32)]);
     Node (17, 1) (OpProduct 29 33);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (262336) 0); arc 0 1 (Number (262336) 0); arc 0 2 (Number (262336) 0); arc 0 3 (Number (262336) 0); arc 0 6 (Number (262336) 0); arc 0 7 (Number (262336) 0); arc 0 8 (Number (262336) 0); arc 0 9 (Number (262336) 0); arc 0 16 (Number (-1 * 2 ^ 18) 0)] [:: zero] 29);
     Node (1, 1) (OpSumAll 34);
     Node (8, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 6 (Number (4) 0); arc 5 7 (Number (4) 0); arc 6 8 (Number (4) 0); arc 7 9 (Number (4) 0)] (nseq 8 (Number (-7) 1)) 1);
     Node (8, 1) (OpRelu 37);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (-262336) 0); arc 0 1 (Number (-262336) 0); arc 0 2 (Number (-262336) 0); arc 0 3 (Number (-262336) 0); arc 0 4 (Number (-262336) 0); arc 0 5 (Number (-262336) 0); arc 0 6 (Number (-262336) 0); arc 0 7 (Number (-262336) 0)] [:: zero] 38);
     Node (4, 1) (OpSum [:: (one, 14); (minus_one, 24)]);
     Node (4, 1) (OpProduct 40 40);
     Node (1, 1) (OpSumAll 41);
     Node (4, 1) (OpSum [:: (one, 25); (minus_one, 5)]);
     Node (4, 1) (OpProduct 43 43);
     Node (1, 1) (OpSumAll 44);
     Node (4, 12) (OpSum [:: (one, 26); (minus_one, 4)]);
     Node (4, 12) (OpProduct 46 46);
     Node (1, 1) (OpSumAll 47);
     Node (1, 1) (OpSum [:: ((Number (524800) 0), 27); (one, 35); ((Number (4) 0), 36); ((Number (2) 0), 39); ((Number (1) 1), 42); ((Number (1 * 2 ^ 13) 0), 45); ((Number (1) 1), 48)])]
  49.

Theorem checked : certified_compact claimed exported.
Proof. by vm_compute. Qed.
