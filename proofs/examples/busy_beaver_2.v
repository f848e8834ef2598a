Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 3 1 1 [:: Situation 0 [:: Some false] (Some (Action 1 [:: Some true] [:: Right]));
     Situation 0 [:: Some true] (Some (Action 1 [:: Some true] [:: Left]));
     Situation 1 [:: Some false] (Some (Action 0 [:: Some true] [:: Left]));
     Situation 1 [:: Some true] (Some (Action 2 [:: Some true] [:: Right]));
     Situation 2 [:: Some false] None;
     Situation 2 [:: Some true] None].

Definition claimed : claim := (Claim claimed_machine 7 (Number (32) 0) (Number (16) 0)).

Definition exported : network := Network
  [:: ParameterOf (6, 1) (Descent (Number (1) 0)); ParameterOf (1, 7) (Descent (Number (1) 0)); ParameterOf (1, 7) (Descent (Number (1) 0))]
  [:: ]
  [:: Node (6, 1) (OpParameter 0);
     Node (1, 7) (OpParameter 1);
     Node (1, 7) (OpParameter 2);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (6, 1) (OpSum [:: ((Number (2) 0), 0); ((Number (-1) 1), 3)]);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (6, 1) (OpSum [:: ((Number (2) 0), 0); ((Number (-3) 1), 5)]);
     Node (6, 1) (OpRelu 4);
     Node (6, 1) (OpRelu 6);
     Node (6, 1) (OpSum [:: ((Number (1) 0), 7); ((Number (-1) 0), 8)]);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (1, 7) (OpSum [:: ((Number (2) 0), 2); ((Number (-1) 1), 10)]);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (1, 7) (OpSum [:: ((Number (2) 0), 2); ((Number (-3) 1), 12)]);
     Node (1, 7) (OpRelu 11);
     Node (1, 7) (OpRelu 13);
     Node (1, 7) (OpSum [:: ((Number (1) 0), 14); ((Number (-1) 0), 15)]);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (1, 7) (OpSum [:: ((Number (2) 0), 1); ((Number (1) 0), 17)]);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (1, 7) (OpSum [:: ((Number (2) 0), 1); ((Number (-1) 0), 19)]);
     Node (1, 7) (OpRelu 18);
     Node (1, 7) (OpRelu 20);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (1, 7) (OpSum [:: ((Number (1) 0), 21); ((Number (-1) 0), 22); ((Number (-1) 0), 23)]);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 0 1 (Number (1) 0); arc 0 2 (Number (1) 0); arc 0 3 (Number (1) 0); arc 0 4 (Number (-1) 0); arc 0 5 (Number (1) 0)] [:: (Number 0 0)] 9);
     Node (1, 1) (OpLinear [:: arc 0 1 (Number (1) 0); arc 0 2 (Number (1) 0)] [:: (Number 0 0)] 9);
     Node (1, 7) (OpShift (-1) 16);
     Node (1, 7) (OpProduct 26 27);
     Node (1, 1) (OpLinear [:: arc 0 4 (Number (1) 0); arc 0 5 (Number (1) 0)] [:: (Number 0 0)] 9);
     Node (1, 7) (OpProduct 29 16);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 0 3 (Number (1) 0)] [:: (Number 0 0)] 9);
     Node (1, 7) (OpShift (1) 16);
     Node (1, 7) (OpProduct 31 32);
     Node (1, 7) (OpSum [:: ((Number (1) 0), 28); ((Number (1) 0), 30); ((Number (1) 0), 33)]);
     Node (1, 7) (OpProduct 24 16);
     Node (1, 1) (OpSumColumns 35);
     Node (1, 1) (OpSum [:: ((Number (1) 0), 25); ((Number (-1) 0), 36)]);
     Node (1, 7) (OpProduct 16 37);
     Node (1, 7) (OpSum [:: ((Number (1) 0), 24); ((Number (1) 0), 38)]);
     Node (1, 7) (OpProduct 39 34);
     Node (1, 1) (OpSumColumns 40);
     Node (3, 1) (OpLinear [:: arc 0 2 (Number (1) 0); arc 1 0 (Number (1) 0); arc 1 1 (Number (1) 0); arc 2 3 (Number (1) 0); arc 2 4 (Number (1) 0); arc 2 5 (Number (1) 0)] (nseq 3 (Number 0 0)) 9);
     Node (2, 1) (OpLinear [:: arc 0 0 (Number (-1) 0); arc 1 0 (Number (1) 0)] (nseq 2 (Number 0 0)) 41);
     Node (2, 1) (OpRelu 43);
     Node (6, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 1 0 (Number (1) 0); arc 2 1 (Number (1) 0); arc 3 1 (Number (1) 0); arc 4 2 (Number (1) 0); arc 5 2 (Number (1) 0)] (nseq 6 (Number 0 0)) 42);
     Node (6, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 1 1 (Number (1) 0); arc 2 0 (Number (1) 0); arc 3 1 (Number (1) 0); arc 4 0 (Number (1) 0); arc 5 1 (Number (1) 0)] (nseq 6 (Number 0 0)) 44);
     Node (6, 1) (OpProduct 45 46);
     Node (1, 1) (OpLinear [:: arc 0 4 (Number (1) 0); arc 0 5 (Number (1) 0)] [:: (Number 0 0)] 9);
     Node (1, 1) (OpStop 48);
     Node (6, 1) (OpStop 47);
     Node (1, 1) (OpStop 25);
     Node (1, 7) (OpStop 34);
     Node (1, 7) (OpStop 16);
     Node (1, 7) (OpProduct 1 53);
     Node (1, 1) (OpSumColumns 54);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (6, 1) (OpSum [:: ((Number (1) 0), 0); ((Number (-1) 0), 50)]);
     Node (6, 1) (OpProduct 57 57);
     Node (1, 1) (OpSumAll 58);
     Node (1, 1) (OpSum [:: ((Number (1) 0), 55); ((Number (-1) 0), 51)]);
     Node (1, 1) (OpProduct 60 60);
     Node (1, 1) (OpSumAll 61);
     Node (1, 7) (OpSum [:: ((Number (1) 0), 2); ((Number (-1) 0), 52)]);
     Node (1, 7) (OpProduct 63 63);
     Node (1, 1) (OpSumAll 64);
     Node (1, 1) (OpSum [:: ((Number (32) 0), 56); ((Number (-16) 0), 49); ((Number (1) 1), 59); ((Number (1) 1), 62); ((Number (1) 1), 65)])]
  66.

Theorem checked : certified claimed exported.
Proof. by vm_compute. Qed.
