Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 4 1 1 [:: Situation 0 [:: Some false] (Some (Action 1 [:: Some true] [:: Right]));
     Situation 0 [:: Some true] (Some (Action 3 [:: Some true] [:: Right]));
     Situation 1 [:: Some false] (Some (Action 1 [:: Some true] [:: Left]));
     Situation 1 [:: Some true] (Some (Action 2 [:: Some false] [:: Right]));
     Situation 2 [:: Some false] (Some (Action 2 [:: Some true] [:: Left]));
     Situation 2 [:: Some true] (Some (Action 0 [:: Some true] [:: Left]));
     Situation 3 [:: Some false] None;
     Situation 3 [:: Some true] None].

Definition claimed : compact_claim := (CompactClaim claimed_machine 12 [:: 0] (Number (16) 0) (Number (1) 0) (Number (8224) 0) (Number (1) 0)).

Definition exported : network := Network
  [:: ParameterOf (8, 1) Simplex; ParameterOf (1, 12) (Descent (Number (1) 0)); ParameterOf (1, 12) (Descent (Number (1) 0))]
  [:: ]
  [:: Node (8, 1) (OpParameter 0);
     Node (1, 12) (OpParameter 1);
     Node (1, 12) (OpParameter 2);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (-1) 0); arc 0 1 (Number (1) 0); arc 0 2 (Number (-1) 0); arc 0 3 (Number (1) 0); arc 0 4 (Number (-1) 0); arc 0 5 (Number (1) 0); arc 0 6 (Number (-1) 0); arc 0 7 (Number (1) 0)] [:: (Number 0 0)] 0);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 0 1 (Number (1) 0); arc 0 2 (Number (1) 0); arc 0 3 (Number (-1) 0); arc 0 4 (Number (1) 0); arc 0 5 (Number (1) 0); arc 0 6 (Number (-1) 0); arc 0 7 (Number (1) 0)] [:: (Number 0 0)] 0);
     Node (1, 1) (OpLinear [:: arc 0 2 (Number (1) 0); arc 0 4 (Number (1) 0); arc 0 5 (Number (1) 0)] [:: (Number 0 0)] 0);
     Node (1, 12) (OpShift (-1) 2);
     Node (1, 12) (OpProduct 5 6);
     Node (1, 1) (OpLinear [:: arc 0 6 (Number (1) 0); arc 0 7 (Number (1) 0)] [:: (Number 0 0)] 0);
     Node (1, 12) (OpProduct 8 2);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 0 1 (Number (1) 0); arc 0 3 (Number (1) 0)] [:: (Number 0 0)] 0);
     Node (1, 12) (OpShift (1) 2);
     Node (1, 12) (OpProduct 10 11);
     Node (1, 12) (OpSum [:: ((Number (1) 0), 7); ((Number (1) 0), 9); ((Number (1) 0), 12)]);
     Node (1, 12) (OpStop 2);
     Node (1, 12) (OpProduct 1 14);
     Node (1, 1) (OpSumColumns 15);
     Node (1, 1) (OpSum [:: ((Number (1) 0), 4); ((Number (-1) 0), 16)]);
     Node (1, 12) (OpProduct 2 17);
     Node (1, 12) (OpSum [:: ((Number (1) 0), 1); ((Number (1) 0), 18)]);
     Node (1, 12) (OpProduct 19 13);
     Node (1, 1) (OpSumColumns 20);
     Node (1, 1) (OpStop 4);
     Node (1, 1) (OpStop 21);
     Node (1, 12) (OpStop 13);
     Node (1, 1) (OpConstant [:: (Number (1) 0)]);
     Node (8, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 4 (Number (4) 0); arc 5 5 (Number (4) 0); arc 6 6 (Number (4) 0); arc 7 7 (Number (4) 0)] (nseq 8 (Number (-3) 0)) 0);
     Node (8, 1) (OpRelu 26);
     Node (12, 1) (OpLinear [:: arc 0 0 (Number (1) 0); arc 0 1 (Number (1) 0); arc 1 2 (Number (1) 0); arc 1 3 (Number (1) 0); arc 2 4 (Number (1) 0); arc 2 5 (Number (1) 0); arc 3 6 (Number (1) 0); arc 3 7 (Number (1) 0); arc 4 0 (Number (1) 0); arc 5 1 (Number (1) 0); arc 6 2 (Number (1) 0); arc 7 3 (Number (1) 0); arc 8 4 (Number (1) 0); arc 9 5 (Number (1) 0); arc 10 6 (Number (1) 0); arc 11 7 (Number (1) 0)] (nseq 12 (Number 0 0)) 0);
     Node (8, 1) (OpLinear [:: arc 0 1 (Number (-1 * 2 ^ 12) 0); arc 0 6 (Number (-16) 0); arc 1 3 (Number (-1 * 2 ^ 12) 0); arc 1 11 (Number (-16) 0); arc 2 1 (Number (-1 * 2 ^ 12) 0); arc 2 6 (Number (-16) 0); arc 3 2 (Number (-1 * 2 ^ 12) 0); arc 3 9 (Number (-16) 0); arc 4 2 (Number (-1 * 2 ^ 12) 0); arc 4 8 (Number (-16) 0); arc 5 0 (Number (-1 * 2 ^ 12) 0); arc 5 5 (Number (-16) 0)] (nseq 8 (Number 0 0)) 28);
     Node (8, 1) (OpLinear [:: arc 2 2 (Number (-4112) 0); arc 4 4 (Number (-4112) 0)] (nseq 8 (Number 0 0)) 0);
     Node (8, 1) (OpSum [:: ((Number (1) 0), 29); ((Number (-1) 0), 30)]);
     Node (8, 1) (OpProduct 27 31);
     Node (1, 1) (OpLinear [:: arc 0 2 (Number (4112) 0); arc 0 4 (Number (4112) 0); arc 0 6 (Number (-1 * 2 ^ 12) 0); arc 0 7 (Number (-1 * 2 ^ 12) 0)] [:: (Number 0 0)] 27);
     Node (1, 1) (OpSumAll 32);
     Node (2, 1) (OpLinear [:: arc 0 2 (Number (4) 0); arc 1 4 (Number (4) 0)] (nseq 2 (Number (-7) 1)) 0);
     Node (2, 1) (OpRelu 35);
     Node (1, 1) (OpSumAll 36);
     Node (1, 1) (OpSum [:: ((Number (1) 0), 16); ((Number (-1) 0), 22)]);
     Node (1, 1) (OpProduct 38 38);
     Node (1, 1) (OpSumAll 39);
     Node (1, 1) (OpSum [:: ((Number (1) 0), 23); ((Number (-1) 0), 3)]);
     Node (1, 1) (OpProduct 41 41);
     Node (1, 1) (OpSumAll 42);
     Node (1, 12) (OpSum [:: ((Number (1) 0), 24); ((Number (-1) 0), 2)]);
     Node (1, 12) (OpProduct 44 44);
     Node (1, 1) (OpSumAll 45);
     Node (1, 1) (OpSum [:: ((Number (8224) 0), 25); ((Number (1) 0), 33); ((Number (4) 0), 34); ((Number (-8224) 0), 37); ((Number (1) 1), 40); ((Number (512) 0), 43); ((Number (1) 1), 46)])]
  47.

Theorem checked : certified_compact claimed exported.
Proof. by vm_compute. Qed.
