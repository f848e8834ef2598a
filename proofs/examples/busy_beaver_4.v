Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 5 1 1 [:: Situation 0 [:: Some false] (Some (Action 1 [:: Some true] [:: Right]));
     Situation 0 [:: Some true] (Some (Action 1 [:: Some true] [:: Left]));
     Situation 1 [:: Some false] (Some (Action 0 [:: Some true] [:: Left]));
     Situation 1 [:: Some true] (Some (Action 2 [:: Some false] [:: Left]));
     Situation 2 [:: Some false] (Some (Action 4 [:: Some true] [:: Right]));
     Situation 2 [:: Some true] (Some (Action 3 [:: Some true] [:: Left]));
     Situation 3 [:: Some false] (Some (Action 3 [:: Some true] [:: Right]));
     Situation 3 [:: Some true] (Some (Action 0 [:: Some false] [:: Right]));
     Situation 4 [:: None] None].

Definition claimed : claim := (Claim claimed_machine 20 (Number (32) 0) (Number (16) 0)).

Definition exported : network := Network
  [:: ParameterOf (9, 1) (Descent one); ParameterOf (1, 20) (Descent one); ParameterOf (1, 20) (Descent one)]
  [:: ]
  [:: Node (9, 1) (OpParameter 0);
     Node (1, 20) (OpParameter 1);
     Node (1, 20) (OpParameter 2);
     Node (1, 1) (OpConstant [:: one]);
     Node (9, 1) (OpSum [:: ((Number (2) 0), 0); ((Number (-1) 1), 3)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (9, 1) (OpSum [:: ((Number (2) 0), 0); ((Number (-3) 1), 5)]);
     Node (9, 1) (OpRelu 4);
     Node (9, 1) (OpRelu 6);
     Node (9, 1) (OpSum [:: (one, 7); (minus_one, 8)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 20) (OpSum [:: ((Number (2) 0), 2); ((Number (-1) 1), 10)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 20) (OpSum [:: ((Number (2) 0), 2); ((Number (-3) 1), 12)]);
     Node (1, 20) (OpRelu 11);
     Node (1, 20) (OpRelu 13);
     Node (1, 20) (OpSum [:: (one, 14); (minus_one, 15)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 20) (OpSum [:: ((Number (2) 0), 1); (one, 17)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 20) (OpSum [:: ((Number (2) 0), 1); (minus_one, 19)]);
     Node (1, 20) (OpRelu 18);
     Node (1, 20) (OpRelu 20);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 20) (OpSum [:: (one, 21); (minus_one, 22); (minus_one, 23)]);
     Node (1, 1) (OpLinear [:: arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 5 one] [:: zero] 9);
     Node (1, 20) (OpShift (-1) 16);
     Node (1, 20) (OpProduct 25 26);
     Node (1, 1) (OpLinear [:: arc 0 8 one] [:: zero] 9);
     Node (1, 20) (OpProduct 28 16);
     Node (1, 1) (OpLinear [:: arc 0 0 one; arc 0 4 one; arc 0 6 one; arc 0 7 one] [:: zero] 9);
     Node (1, 20) (OpShift (1) 16);
     Node (1, 20) (OpProduct 30 31);
     Node (1, 20) (OpSum [:: (one, 27); (one, 29); (one, 32)]);
     Node (1, 20) (OpProduct 24 16);
     Node (1, 1) (OpSumColumns 34);
     Node (1, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 minus_one; arc 0 4 one; arc 0 5 one; arc 0 6 one; arc 0 7 minus_one] [:: zero] 9);
     Node (1, 1) (OpLinear [:: arc 0 8 one] [:: zero] 9);
     Node (1, 1) (OpProduct 37 35);
     Node (1, 1) (OpSum [:: (one, 36); (one, 38)]);
     Node (1, 1) (OpSum [:: (one, 39); (minus_one, 35)]);
     Node (1, 20) (OpProduct 16 40);
     Node (1, 20) (OpSum [:: (one, 24); (one, 41)]);
     Node (1, 20) (OpProduct 42 33);
     Node (1, 1) (OpSumColumns 43);
     Node (5, 1) (OpLinear [:: arc 0 2 one; arc 0 7 one; arc 1 0 one; arc 1 1 one; arc 2 3 one; arc 3 5 one; arc 3 6 one; arc 4 4 one; arc 4 8 one] (nseq 5 zero) 9);
     Node (3, 1) (OpLinear [:: arc 0 0 minus_one; arc 1 0 one] [:: zero; zero; one] 44);
     Node (3, 1) (OpRelu 46);
     Node (9, 1) (OpLinear [:: arc 0 0 one; arc 1 0 one; arc 2 1 one; arc 3 1 one; arc 4 2 one; arc 5 2 one; arc 6 3 one; arc 7 3 one; arc 8 4 one] (nseq 9 zero) 45);
     Node (9, 1) (OpLinear [:: arc 0 0 one; arc 1 1 one; arc 2 0 one; arc 3 1 one; arc 4 0 one; arc 5 1 one; arc 6 0 one; arc 7 1 one; arc 8 2 one] (nseq 9 zero) 47);
     Node (9, 1) (OpProduct 48 49);
     Node (1, 1) (OpLinear [:: arc 0 8 one] [:: zero] 9);
     Node (1, 1) (OpStop 51);
     Node (9, 1) (OpStop 50);
     Node (1, 1) (OpStop 39);
     Node (1, 20) (OpStop 33);
     Node (1, 20) (OpStop 16);
     Node (1, 20) (OpProduct 1 56);
     Node (1, 1) (OpSumColumns 57);
     Node (1, 1) (OpConstant [:: one]);
     Node (9, 1) (OpSum [:: (one, 0); (minus_one, 53)]);
     Node (9, 1) (OpProduct 60 60);
     Node (1, 1) (OpSumAll 61);
     Node (1, 1) (OpSum [:: (one, 58); (minus_one, 54)]);
     Node (1, 1) (OpProduct 63 63);
     Node (1, 1) (OpSumAll 64);
     Node (1, 20) (OpSum [:: (one, 2); (minus_one, 55)]);
     Node (1, 20) (OpProduct 66 66);
     Node (1, 1) (OpSumAll 67);
     Node (1, 1) (OpSum [:: ((Number (32) 0), 59); ((Number (-16) 0), 52); ((Number (1) 1), 62); ((Number (1) 1), 65); ((Number (1) 1), 68)])]
  69.

Theorem checked : certified claimed exported.
Proof. by vm_compute. Qed.
