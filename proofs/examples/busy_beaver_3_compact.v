Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 4 1 1 [:: Situation 0 [:: Some false] (Some (Action 1 [:: Some true] [:: Right]));
     Situation 0 [:: Some true] (Some (Action 3 [:: Some true] [:: Right]));
     Situation 1 [:: Some false] (Some (Action 1 [:: Some true] [:: Left]));
     Situation 1 [:: Some true] (Some (Action 2 [:: Some false] [:: Right]));
     Situation 2 [:: Some false] (Some (Action 2 [:: Some true] [:: Left]));
     Situation 2 [:: Some true] (Some (Action 0 [:: Some true] [:: Left]));
     Situation 3 [:: None] None].

Definition claimed : compact_claim := (CompactClaim claimed_machine 12 [:: 0] (Number (16) 0) one (Number (8224) 0) one).

Definition exported : network := Network
  [:: ParameterOf (7, 1) Simplex; ParameterOf (1, 12) (Descent one); ParameterOf (1, 12) (Descent one)]
  [:: ]
  [:: Node (7, 1) (OpParameter 0);
     Node (1, 12) (OpParameter 1);
     Node (1, 12) (OpParameter 2);
     Node (1, 1) (OpLinear [:: arc 0 0 minus_one; arc 0 1 one; arc 0 2 minus_one; arc 0 3 one; arc 0 4 minus_one; arc 0 5 one] [:: zero] 0);
     Node (1, 1) (OpLinear [:: arc 0 2 one; arc 0 4 one; arc 0 5 one] [:: zero] 0);
     Node (1, 12) (OpShift (-1) 2);
     Node (1, 12) (OpProduct 4 5);
     Node (1, 1) (OpLinear [:: arc 0 6 one] [:: zero] 0);
     Node (1, 12) (OpProduct 7 2);
     Node (1, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 3 one] [:: zero] 0);
     Node (1, 12) (OpShift (1) 2);
     Node (1, 12) (OpProduct 9 10);
     Node (1, 12) (OpSum [:: (one, 6); (one, 8); (one, 11)]);
     Node (1, 12) (OpStop 2);
     Node (1, 12) (OpProduct 1 13);
     Node (1, 1) (OpSumColumns 14);
     Node (1, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 minus_one; arc 0 4 one; arc 0 5 one] [:: zero] 0);
     Node (1, 1) (OpLinear [:: arc 0 6 one] [:: zero] 0);
     Node (1, 1) (OpProduct 17 15);
     Node (1, 1) (OpSum [:: (one, 16); (one, 18)]);
     Node (1, 1) (OpSum [:: (one, 19); (minus_one, 15)]);
     Node (1, 12) (OpProduct 2 20);
     Node (1, 12) (OpSum [:: (one, 1); (one, 21)]);
     Node (1, 12) (OpProduct 22 12);
     Node (1, 1) (OpSumColumns 23);
     Node (1, 1) (OpStop 19);
     Node (1, 1) (OpStop 24);
     Node (1, 12) (OpStop 12);
     Node (1, 1) (OpConstant [:: one]);
     Node (7, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 4 (Number (4) 0); arc 5 5 (Number (4) 0); arc 6 6 (Number (4) 0)] (nseq 7 (Number (-3) 0)) 0);
     Node (7, 1) (OpRelu 29);
     Node (10, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 1 2 one; arc 1 3 one; arc 2 4 one; arc 2 5 one; arc 3 6 one; arc 4 0 one; arc 5 1 one; arc 6 2 one; arc 7 3 one; arc 8 4 one; arc 9 5 one] (nseq 10 zero) 0);
     Node (7, 1) (OpLinear [:: arc 0 1 (Number (-1 * 2 ^ 12) 0); arc 0 6 (Number (-16) 0); arc 1 3 (Number (-1 * 2 ^ 12) 0); arc 2 1 (Number (-1 * 2 ^ 12) 0); arc 2 6 (Number (-16) 0); arc 3 2 (Number (-1 * 2 ^ 12) 0); arc 3 9 (Number (-16) 0); arc 4 2 (Number (-1 * 2 ^ 12) 0); arc 4 8 (Number (-16) 0); arc 5 0 (Number (-1 * 2 ^ 12) 0); arc 5 5 (Number (-16) 0)] (nseq 7 zero) 31);
     Node (7, 1) (OpLinear [:: arc 2 2 (Number (-4112) 0); arc 4 4 (Number (-4112) 0)] (nseq 7 zero) 0);
     Node (7, 1) (OpSum [:: (one, 32); (minus_one, 33)]);
     Node (7, 1) (OpProduct 30 34);
     Node (1, 1) (OpLinear [:: arc 0 2 (Number (4112) 0); arc 0 4 (Number (4112) 0); arc 0 6 (Number (-1 * 2 ^ 12) 0)] [:: zero] 30);
     Node (1, 1) (OpSumAll 35);
     Node (2, 1) (OpLinear [:: arc 0 2 (Number (4) 0); arc 1 4 (Number (4) 0)] (nseq 2 (Number (-7) 1)) 0);
     Node (2, 1) (OpRelu 38);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (-4112) 0); arc 0 1 (Number (-4112) 0)] [:: zero] 39);
     Node (1, 1) (OpSum [:: (one, 15); (minus_one, 25)]);
     Node (1, 1) (OpProduct 41 41);
     Node (1, 1) (OpSumAll 42);
     Node (1, 1) (OpSum [:: (one, 26); (minus_one, 3)]);
     Node (1, 1) (OpProduct 44 44);
     Node (1, 1) (OpSumAll 45);
     Node (1, 12) (OpSum [:: (one, 27); (minus_one, 2)]);
     Node (1, 12) (OpProduct 47 47);
     Node (1, 1) (OpSumAll 48);
     Node (1, 1) (OpSum [:: ((Number (8224) 0), 28); (one, 36); ((Number (4) 0), 37); ((Number (2) 0), 40); ((Number (1) 1), 43); ((Number (512) 0), 46); ((Number (1) 1), 49)])]
  50.

Theorem checked : certified_compact claimed exported.
Proof. by vm_compute. Qed.
