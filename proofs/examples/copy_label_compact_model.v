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

Definition claimed : stop_claim := StopClaim (ModelClaim (JointClaim (CompactTerrain (CompactClaim claimed_machine 32 [:: 1; 2; 3; 0] (Number (64) 0) (Number (1) 9) (Number (1025) 0) (Number (512) 0))) (2, 1) zero (Number (229635) 8) (Number (35187593609243) 51) (Number (6004799503160661) 57) (Number (-48) 0) 12 70)
  (Wires (Fixed 3 2 false) (2, 1) 0 6 [:: ones 32 [:: 5];
     ones 32 [:: 5; 6; 16; 26];
     ones 32 [:: 5; 11; 21; 26]] 0 5 2))
  (Number (229635) 8).

Definition exported : network := Network
  [:: ParameterOf (2, 1) (Descent one); ParameterOf (17, 1) Simplex; ParameterOf (1, 32) (Descent (Number (512) 0)); ParameterOf (4, 32) (Descent (Number (512) 0))]
  [:: (2, 1); (2, 1)]
  [:: Node (2, 1) (OpInput 0);
     Node (2, 1) (OpInput 1);
     Node (2, 1) (OpParameter 0);
     Node (1, 1) (OpConstant [:: one]);
     Node (2, 1) (OpSum [:: (one, 2); (zero, 3)]);
     Node (2, 1) (OpStop 4);
     Node (2, 1) (OpReshape 0);
     Node (2, 1) (OpReshape 5);
     Node (4, 1) (OpStack 6 7);
     Node (4, 1) (OpGather [:: 0; 2; 1; 3] 8);
     Node (20, 1) (OpQuantize (Fixed 3 2 false) 9);
     Node (96, 1) (OpLinear [:: arc 6 0 one; arc 7 1 one; arc 8 2 one; arc 9 3 one; arc 10 4 one; arc 11 5 one; arc 12 6 one; arc 13 7 one; arc 14 8 one; arc 15 9 one; arc 16 10 one; arc 17 11 one; arc 18 12 one; arc 19 13 one; arc 20 14 one; arc 21 15 one; arc 22 16 one; arc 23 17 one; arc 24 18 one; arc 25 19 one] [:: minus_one; minus_one; minus_one; minus_one; minus_one; one; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one] 10);
     Node (3, 32) (OpReshape 11);
     Node (17, 1) (OpParameter 1);
     Node (1, 32) (OpParameter 2);
     Node (4, 32) (OpStack 14 12);
     Node (4, 32) (OpParameter 3);
     Node (4, 1) (OpLinear [:: arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 13);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 1 16 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one; arc 3 10 one; arc 3 11 one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one; arc 3 16 one] (nseq 4 zero) 13);
     Node (4, 32) (OpProduct 18 16);
     Node (4, 1) (OpLinear [:: arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 1 0 one; arc 1 1 one; arc 1 2 one; arc 1 3 one; arc 1 4 one; arc 1 5 one; arc 1 6 one; arc 1 7 one; arc 1 8 one; arc 1 9 one; arc 2 0 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 6 one; arc 2 7 one; arc 2 8 one; arc 2 9 one; arc 3 0 one; arc 3 1 one; arc 3 2 one; arc 3 3 one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one] (nseq 4 zero) 13);
     Node (4, 32) (OpShift (1) 16);
     Node (4, 32) (OpProduct 20 21);
     Node (4, 32) (OpSum [:: (one, 19); (one, 22)]);
     Node (4, 32) (OpStop 16);
     Node (4, 32) (OpProduct 15 24);
     Node (4, 1) (OpSumColumns 25);
     Node (4, 1) (OpLinear [:: arc 0 4 minus_one; arc 0 5 one; arc 0 8 minus_one; arc 0 9 one; arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 13);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 16 one; arc 2 16 one; arc 3 16 one] (nseq 4 zero) 13);
     Node (4, 1) (OpProduct 28 26);
     Node (4, 1) (OpSum [:: (one, 27); (one, 29)]);
     Node (4, 1) (OpSum [:: (one, 30); (minus_one, 26)]);
     Node (4, 32) (OpProduct 16 31);
     Node (4, 32) (OpSum [:: (one, 15); (one, 32)]);
     Node (4, 32) (OpProduct 33 23);
     Node (4, 1) (OpSumColumns 34);
     Node (4, 1) (OpStop 30);
     Node (4, 1) (OpStop 35);
     Node (4, 32) (OpStop 23);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 4 (Number (4) 0); arc 5 5 (Number (4) 0); arc 6 6 (Number (4) 0); arc 7 7 (Number (4) 0); arc 8 8 (Number (4) 0); arc 9 9 (Number (4) 0); arc 10 10 (Number (4) 0); arc 11 11 (Number (4) 0); arc 12 12 (Number (4) 0); arc 13 13 (Number (4) 0); arc 14 14 (Number (4) 0); arc 15 15 (Number (4) 0); arc 16 16 (Number (4) 0)] (nseq 17 (Number (-3) 0)) 13);
     Node (17, 1) (OpRelu 40);
     Node (15, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 4 one; arc 0 5 one; arc 0 6 one; arc 0 7 one; arc 1 8 one; arc 1 9 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 2 16 one; arc 3 0 one; arc 3 2 one; arc 3 4 one; arc 3 6 one; arc 4 1 one; arc 4 3 one; arc 4 5 one; arc 4 7 one; arc 5 0 one; arc 5 1 one; arc 5 4 one; arc 5 5 one; arc 6 2 one; arc 6 3 one; arc 6 6 one; arc 6 7 one; arc 7 0 one; arc 7 1 one; arc 7 2 one; arc 7 3 one; arc 8 4 one; arc 8 5 one; arc 8 6 one; arc 8 7 one; arc 9 8 one; arc 9 10 one; arc 9 12 one; arc 9 14 one; arc 10 9 one; arc 10 11 one; arc 10 13 one; arc 10 15 one; arc 11 8 one; arc 11 9 one; arc 11 12 one; arc 11 13 one; arc 12 10 one; arc 12 11 one; arc 12 14 one; arc 12 15 one; arc 13 8 one; arc 13 9 one; arc 13 10 one; arc 13 11 one; arc 14 12 one; arc 14 13 one; arc 14 14 one; arc 14 15 one] (nseq 15 zero) 13);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (-512) 0); arc 0 3 (Number (-1) 3); arc 0 5 (Number (-1) 3); arc 0 7 (Number (-1) 3); arc 1 0 (Number (-512) 0); arc 1 4 (Number (-1) 3); arc 1 5 (Number (-1) 3); arc 1 7 (Number (-1) 3); arc 2 0 (Number (-512) 0); arc 2 3 (Number (-1) 3); arc 2 6 (Number (-1) 3); arc 2 7 (Number (-1) 3); arc 3 0 (Number (-512) 0); arc 3 4 (Number (-1) 3); arc 3 6 (Number (-1) 3); arc 3 7 (Number (-1) 3); arc 4 1 (Number (-512) 0); arc 4 9 (Number (-1) 3); arc 4 11 (Number (-1) 3); arc 4 14 (Number (-1) 3); arc 5 1 (Number (-512) 0); arc 5 10 (Number (-1) 3); arc 5 11 (Number (-1) 3); arc 5 14 (Number (-1) 3); arc 6 0 (Number (-512) 0); arc 6 3 (Number (-1) 3); arc 6 6 (Number (-1) 3); arc 6 8 (Number (-1) 3); arc 7 0 (Number (-512) 0); arc 7 4 (Number (-1) 3); arc 7 6 (Number (-1) 3); arc 7 8 (Number (-1) 3); arc 8 1 (Number (-512) 0); arc 8 9 (Number (-1) 3); arc 8 11 (Number (-1) 3); arc 8 13 (Number (-1) 3); arc 9 1 (Number (-512) 0); arc 9 10 (Number (-1) 3); arc 9 11 (Number (-1) 3); arc 9 13 (Number (-1) 3); arc 10 2 (Number (-512) 0); arc 11 2 (Number (-512) 0); arc 12 2 (Number (-512) 0); arc 13 2 (Number (-512) 0); arc 14 2 (Number (-512) 0); arc 15 2 (Number (-512) 0)] (nseq 17 zero) 42);
     Node (17, 1) (OpLinear [:: arc 0 0 (Number (-4099) 3); arc 1 1 (Number (-4099) 3); arc 2 2 (Number (-4099) 3); arc 3 3 (Number (-4099) 3); arc 6 6 (Number (-4099) 3); arc 7 7 (Number (-4099) 3); arc 8 8 (Number (-4099) 3); arc 9 9 (Number (-4099) 3)] (nseq 17 zero) 13);
     Node (17, 1) (OpSum [:: (one, 43); (minus_one, 44)]);
     Node (17, 1) (OpProduct 41 45);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (4099) 3); arc 0 1 (Number (4099) 3); arc 0 2 (Number (4099) 3); arc 0 3 (Number (4099) 3); arc 0 6 (Number (4099) 3); arc 0 7 (Number (4099) 3); arc 0 8 (Number (4099) 3); arc 0 9 (Number (4099) 3); arc 0 16 (Number (-512) 0)] [:: zero] 41);
     Node (1, 1) (OpSumAll 46);
     Node (8, 1) (OpLinear [:: arc 0 0 (Number (4) 0); arc 1 1 (Number (4) 0); arc 2 2 (Number (4) 0); arc 3 3 (Number (4) 0); arc 4 6 (Number (4) 0); arc 5 7 (Number (4) 0); arc 6 8 (Number (4) 0); arc 7 9 (Number (4) 0)] (nseq 8 (Number (-7) 1)) 13);
     Node (8, 1) (OpRelu 49);
     Node (1, 1) (OpLinear [:: arc 0 0 (Number (-4099) 3); arc 0 1 (Number (-4099) 3); arc 0 2 (Number (-4099) 3); arc 0 3 (Number (-4099) 3); arc 0 4 (Number (-4099) 3); arc 0 5 (Number (-4099) 3); arc 0 6 (Number (-4099) 3); arc 0 7 (Number (-4099) 3)] [:: zero] 50);
     Node (4, 1) (OpSum [:: (one, 26); (minus_one, 36)]);
     Node (4, 1) (OpProduct 52 52);
     Node (1, 1) (OpSumAll 53);
     Node (4, 1) (OpSum [:: (one, 37); (minus_one, 17)]);
     Node (4, 1) (OpProduct 55 55);
     Node (1, 1) (OpSumAll 56);
     Node (4, 32) (OpSum [:: (one, 38); (minus_one, 16)]);
     Node (4, 32) (OpProduct 58 58);
     Node (1, 1) (OpSumAll 59);
     Node (1, 1) (OpSum [:: ((Number (1025) 0), 39); (one, 47); ((Number (4) 0), 48); ((Number (2) 0), 51); ((Number (1) 10), 54); ((Number (16) 0), 57); ((Number (1) 10), 60)]);
     Node (10, 1) (OpGather [:: 5; 6; 7; 8; 9; 10; 11; 12; 13; 14] 15);
     Node (10, 1) (OpStop 62);
     Node (2, 1) (OpDequantize (Fixed 3 2 false) 63);
     Node (1, 1) (OpGather [:: 0] 64);
     Node (1, 1) (OpReshape 65);
     Node (1, 1) (OpGather [:: 1] 64);
     Node (1, 1) (OpReshape 67);
     Node (2, 1) (OpMatmul 0 68);
     Node (2, 1) (OpSum [:: (one, 69); (one, 66)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (2) 0), 61); (zero, 71)]);
     Node (1, 1) (OpRoot 72);
     Node (2, 1) (OpConstant [:: one; zero]);
     Node (2, 1) (OpProduct 73 74);
     Node (2, 1) (OpSum [:: (one, 5); (one, 75)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 61); ((Number (-229635) 8), 77)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (35187593609243) 51), 78); (zero, 79)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 80); (minus_one, 81)]);
     Node (1, 1) (OpRelu 80);
     Node (1, 1) (OpRelu 82);
     Node (1, 1) (OpSum [:: (one, 83); (minus_one, 84)]);
     Node (2, 1) (OpSwitch 85 76 70);
     Node (2, 1) (OpProduct 2 2);
     Node (1, 1) (OpSumAll 87);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 88); ((Number (-6004799503160661) 57), 89)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (-48) 0), 90); (zero, 91)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 92); (minus_one, 93)]);
     Node (1, 1) (OpRelu 92);
     Node (1, 1) (OpRelu 94);
     Node (1, 1) (OpSum [:: (one, 95); (minus_one, 96)]);
     Node (2, 1) (OpSwitch 97 4 86);
     Node (2, 1) (OpSum [:: (one, 98); (minus_one, 1)]);
     Node (2, 1) (OpProduct 99 99);
     Node (1, 1) (OpSumAll 100);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (1) 1), 101); (zero, 102)])]
  103.

Theorem checked : certified_stopping claimed exported.
Proof. by vm_compute. Qed.
