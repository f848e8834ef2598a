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

Definition claimed : claim := (Claim claimed_machine 12 (Number (128) 0) (Number (64) 0)).

Definition exported : network := Network
  [:: ParameterOf (17, 1) (Descent one); ParameterOf (1, 12) (Descent one); ParameterOf (4, 12) (Descent one)]
  [:: (3, 12)]
  [:: Node (3, 12) (OpInput 0);
     Node (17, 1) (OpParameter 0);
     Node (1, 12) (OpParameter 1);
     Node (4, 12) (OpStack 2 0);
     Node (4, 12) (OpParameter 2);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: ((Number (2) 0), 1); ((Number (-1) 1), 5)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: ((Number (2) 0), 1); ((Number (-3) 1), 7)]);
     Node (17, 1) (OpRelu 6);
     Node (17, 1) (OpRelu 8);
     Node (17, 1) (OpSum [:: (one, 9); (minus_one, 10)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 12) (OpSum [:: ((Number (2) 0), 4); ((Number (-1) 1), 12)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 12) (OpSum [:: ((Number (2) 0), 4); ((Number (-3) 1), 14)]);
     Node (4, 12) (OpRelu 13);
     Node (4, 12) (OpRelu 15);
     Node (4, 12) (OpSum [:: (one, 16); (minus_one, 17)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 12) (OpSum [:: ((Number (2) 0), 3); (one, 19)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 12) (OpSum [:: ((Number (2) 0), 3); (minus_one, 21)]);
     Node (4, 12) (OpRelu 20);
     Node (4, 12) (OpRelu 22);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 12) (OpSum [:: (one, 23); (minus_one, 24); (minus_one, 25)]);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 1 16 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one; arc 3 10 one; arc 3 11 one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one; arc 3 16 one] (nseq 4 zero) 11);
     Node (4, 12) (OpProduct 27 18);
     Node (4, 1) (OpLinear [:: arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 1 0 one; arc 1 1 one; arc 1 2 one; arc 1 3 one; arc 1 4 one; arc 1 5 one; arc 1 6 one; arc 1 7 one; arc 1 8 one; arc 1 9 one; arc 2 0 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 6 one; arc 2 7 one; arc 2 8 one; arc 2 9 one; arc 3 0 one; arc 3 1 one; arc 3 2 one; arc 3 3 one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one] (nseq 4 zero) 11);
     Node (4, 12) (OpShift (1) 18);
     Node (4, 12) (OpProduct 29 30);
     Node (4, 12) (OpSum [:: (one, 28); (one, 31)]);
     Node (4, 12) (OpProduct 26 18);
     Node (4, 1) (OpSumColumns 33);
     Node (4, 1) (OpLinear [:: arc 0 4 minus_one; arc 0 5 one; arc 0 8 minus_one; arc 0 9 one; arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 11);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 16 one; arc 2 16 one; arc 3 16 one] (nseq 4 zero) 11);
     Node (4, 1) (OpProduct 36 34);
     Node (4, 1) (OpSum [:: (one, 35); (one, 37)]);
     Node (4, 1) (OpSum [:: (one, 38); (minus_one, 34)]);
     Node (4, 12) (OpProduct 18 39);
     Node (4, 12) (OpSum [:: (one, 26); (one, 40)]);
     Node (4, 12) (OpProduct 41 32);
     Node (4, 1) (OpSumColumns 42);
     Node (3, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 1 4 one; arc 1 5 one; arc 1 8 one; arc 1 9 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one] (nseq 3 zero) 11);
     Node (9, 1) (OpLinear [:: arc 0 1 minus_one; arc 0 2 minus_one; arc 0 3 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 minus_one; arc 3 1 one; arc 3 2 one; arc 3 3 minus_one; arc 4 1 minus_one; arc 4 2 minus_one; arc 4 3 one; arc 5 1 one; arc 5 2 minus_one; arc 5 3 one; arc 6 1 minus_one; arc 6 2 one; arc 6 3 one; arc 7 1 one; arc 7 2 one; arc 7 3 one] [:: (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); one] 43);
     Node (9, 1) (OpRelu 45);
     Node (17, 1) (OpLinear [:: arc 0 0 one; arc 1 0 one; arc 2 0 one; arc 3 0 one; arc 4 0 one; arc 5 0 one; arc 6 0 one; arc 7 0 one; arc 8 1 one; arc 9 1 one; arc 10 1 one; arc 11 1 one; arc 12 1 one; arc 13 1 one; arc 14 1 one; arc 15 1 one; arc 16 2 one] (nseq 17 zero) 44);
     Node (17, 1) (OpLinear [:: arc 0 0 one; arc 1 1 one; arc 2 2 one; arc 3 3 one; arc 4 4 one; arc 5 5 one; arc 6 6 one; arc 7 7 one; arc 8 0 one; arc 9 1 one; arc 10 2 one; arc 11 3 one; arc 12 4 one; arc 13 5 one; arc 14 6 one; arc 15 7 one; arc 16 8 one] (nseq 17 zero) 46);
     Node (17, 1) (OpProduct 47 48);
     Node (1, 1) (OpLinear [:: arc 0 16 one] [:: zero] 11);
     Node (1, 1) (OpStop 50);
     Node (17, 1) (OpStop 49);
     Node (4, 1) (OpStop 38);
     Node (4, 12) (OpStop 32);
     Node (4, 12) (OpStop 18);
     Node (4, 12) (OpProduct 3 55);
     Node (4, 1) (OpSumColumns 56);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: (one, 1); (minus_one, 52)]);
     Node (17, 1) (OpProduct 59 59);
     Node (1, 1) (OpSumAll 60);
     Node (4, 1) (OpSum [:: (one, 57); (minus_one, 53)]);
     Node (4, 1) (OpProduct 62 62);
     Node (1, 1) (OpSumAll 63);
     Node (4, 12) (OpSum [:: (one, 4); (minus_one, 54)]);
     Node (4, 12) (OpProduct 65 65);
     Node (1, 1) (OpSumAll 66);
     Node (1, 1) (OpSum [:: ((Number (128) 0), 58); ((Number (-64) 0), 51); ((Number (1) 1), 61); ((Number (1) 1), 64); ((Number (1) 1), 67)])]
  68.

Theorem checked : certified claimed exported.
Proof. by vm_compute. Qed.
