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

Definition claimed : stop_claim := StopClaim (ModelClaim (JointClaim (PlainTerrain (Claim claimed_machine 32 (Number (1 * 2 ^ 13) 0) (Number (1 * 2 ^ 12) 0))) (2, 1) zero (Number (3 * 2 ^ 11) 0) (Number (6004799503160661) 63) (Number (6004799503160661) 57) (Number (-48) 0) 12 89)
  (Wires (Fixed 3 2 false) (2, 1) 0 6 [:: ones 32 [:: 5];
     ones 32 [:: 5; 6; 16; 26];
     ones 32 [:: 5; 11; 21; 26]] 0 5 2))
  (Number (3 * 2 ^ 11) 0).

Definition exported : network := Network
  [:: ParameterOf (2, 1) (Descent one); ParameterOf (17, 1) (Descent one); ParameterOf (1, 32) (Descent one); ParameterOf (4, 32) (Descent one)]
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
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: ((Number (2) 0), 13); ((Number (-1) 1), 17)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: ((Number (2) 0), 13); ((Number (-3) 1), 19)]);
     Node (17, 1) (OpRelu 18);
     Node (17, 1) (OpRelu 20);
     Node (17, 1) (OpSum [:: (one, 21); (minus_one, 22)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 32) (OpSum [:: ((Number (2) 0), 16); ((Number (-1) 1), 24)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 32) (OpSum [:: ((Number (2) 0), 16); ((Number (-3) 1), 26)]);
     Node (4, 32) (OpRelu 25);
     Node (4, 32) (OpRelu 27);
     Node (4, 32) (OpSum [:: (one, 28); (minus_one, 29)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 32) (OpSum [:: ((Number (2) 0), 15); (one, 31)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 32) (OpSum [:: ((Number (2) 0), 15); (minus_one, 33)]);
     Node (4, 32) (OpRelu 32);
     Node (4, 32) (OpRelu 34);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 32) (OpSum [:: (one, 35); (minus_one, 36); (minus_one, 37)]);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 10 one; arc 1 11 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 1 16 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one; arc 3 10 one; arc 3 11 one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one; arc 3 16 one] (nseq 4 zero) 23);
     Node (4, 32) (OpProduct 39 30);
     Node (4, 1) (OpLinear [:: arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 1 0 one; arc 1 1 one; arc 1 2 one; arc 1 3 one; arc 1 4 one; arc 1 5 one; arc 1 6 one; arc 1 7 one; arc 1 8 one; arc 1 9 one; arc 2 0 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 6 one; arc 2 7 one; arc 2 8 one; arc 2 9 one; arc 3 0 one; arc 3 1 one; arc 3 2 one; arc 3 3 one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one] (nseq 4 zero) 23);
     Node (4, 32) (OpShift (1) 30);
     Node (4, 32) (OpProduct 41 42);
     Node (4, 32) (OpSum [:: (one, 40); (one, 43)]);
     Node (4, 32) (OpProduct 38 30);
     Node (4, 1) (OpSumColumns 45);
     Node (4, 1) (OpLinear [:: arc 0 4 minus_one; arc 0 5 one; arc 0 8 minus_one; arc 0 9 one; arc 1 0 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 2 0 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 one; arc 2 4 minus_one; arc 2 5 minus_one; arc 2 6 one; arc 2 7 one; arc 2 8 minus_one; arc 2 9 minus_one; arc 2 10 one; arc 2 11 one; arc 2 12 minus_one; arc 2 13 minus_one; arc 2 14 one; arc 2 15 one; arc 3 0 minus_one; arc 3 1 minus_one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 minus_one; arc 3 9 minus_one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one] (nseq 4 zero) 23);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 1 16 one; arc 2 16 one; arc 3 16 one] (nseq 4 zero) 23);
     Node (4, 1) (OpProduct 48 46);
     Node (4, 1) (OpSum [:: (one, 47); (one, 49)]);
     Node (4, 1) (OpSum [:: (one, 50); (minus_one, 46)]);
     Node (4, 32) (OpProduct 30 51);
     Node (4, 32) (OpSum [:: (one, 38); (one, 52)]);
     Node (4, 32) (OpProduct 53 44);
     Node (4, 1) (OpSumColumns 54);
     Node (3, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 6 one; arc 0 7 one; arc 1 4 one; arc 1 5 one; arc 1 8 one; arc 1 9 one; arc 2 10 one; arc 2 11 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one] (nseq 3 zero) 23);
     Node (9, 1) (OpLinear [:: arc 0 1 minus_one; arc 0 2 minus_one; arc 0 3 minus_one; arc 1 1 one; arc 1 2 minus_one; arc 1 3 minus_one; arc 2 1 minus_one; arc 2 2 one; arc 2 3 minus_one; arc 3 1 one; arc 3 2 one; arc 3 3 minus_one; arc 4 1 minus_one; arc 4 2 minus_one; arc 4 3 one; arc 5 1 one; arc 5 2 minus_one; arc 5 3 one; arc 6 1 minus_one; arc 6 2 one; arc 6 3 one; arc 7 1 one; arc 7 2 one; arc 7 3 one] [:: (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); one] 55);
     Node (9, 1) (OpRelu 57);
     Node (17, 1) (OpLinear [:: arc 0 0 one; arc 1 0 one; arc 2 0 one; arc 3 0 one; arc 4 0 one; arc 5 0 one; arc 6 0 one; arc 7 0 one; arc 8 1 one; arc 9 1 one; arc 10 1 one; arc 11 1 one; arc 12 1 one; arc 13 1 one; arc 14 1 one; arc 15 1 one; arc 16 2 one] (nseq 17 zero) 56);
     Node (17, 1) (OpLinear [:: arc 0 0 one; arc 1 1 one; arc 2 2 one; arc 3 3 one; arc 4 4 one; arc 5 5 one; arc 6 6 one; arc 7 7 one; arc 8 0 one; arc 9 1 one; arc 10 2 one; arc 11 3 one; arc 12 4 one; arc 13 5 one; arc 14 6 one; arc 15 7 one; arc 16 8 one] (nseq 17 zero) 58);
     Node (17, 1) (OpProduct 59 60);
     Node (1, 1) (OpLinear [:: arc 0 16 one] [:: zero] 23);
     Node (1, 1) (OpStop 62);
     Node (17, 1) (OpStop 61);
     Node (4, 1) (OpStop 50);
     Node (4, 32) (OpStop 44);
     Node (4, 32) (OpStop 30);
     Node (4, 32) (OpProduct 15 67);
     Node (4, 1) (OpSumColumns 68);
     Node (1, 1) (OpConstant [:: one]);
     Node (17, 1) (OpSum [:: (one, 13); (minus_one, 64)]);
     Node (17, 1) (OpProduct 71 71);
     Node (1, 1) (OpSumAll 72);
     Node (4, 1) (OpSum [:: (one, 69); (minus_one, 65)]);
     Node (4, 1) (OpProduct 74 74);
     Node (1, 1) (OpSumAll 75);
     Node (4, 32) (OpSum [:: (one, 16); (minus_one, 66)]);
     Node (4, 32) (OpProduct 77 77);
     Node (1, 1) (OpSumAll 78);
     Node (1, 1) (OpSum [:: ((Number (1 * 2 ^ 13) 0), 70); ((Number (-1 * 2 ^ 12) 0), 63); ((Number (1) 1), 73); ((Number (1) 1), 76); ((Number (1) 1), 79)]);
     Node (10, 1) (OpGather [:: 5; 6; 7; 8; 9; 10; 11; 12; 13; 14] 15);
     Node (10, 1) (OpStop 81);
     Node (2, 1) (OpDequantize (Fixed 3 2 false) 82);
     Node (1, 1) (OpGather [:: 0] 83);
     Node (1, 1) (OpReshape 84);
     Node (1, 1) (OpGather [:: 1] 83);
     Node (1, 1) (OpReshape 86);
     Node (2, 1) (OpMatmul 0 87);
     Node (2, 1) (OpSum [:: (one, 88); (one, 85)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (2) 0), 80); (zero, 90)]);
     Node (1, 1) (OpRoot 91);
     Node (2, 1) (OpConstant [:: one; zero]);
     Node (2, 1) (OpProduct 92 93);
     Node (2, 1) (OpSum [:: (one, 5); (one, 94)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 80); ((Number (-3 * 2 ^ 11) 0), 96)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (6004799503160661) 63), 97); (zero, 98)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 99); (minus_one, 100)]);
     Node (1, 1) (OpRelu 99);
     Node (1, 1) (OpRelu 101);
     Node (1, 1) (OpSum [:: (one, 102); (minus_one, 103)]);
     Node (2, 1) (OpSwitch 104 95 89);
     Node (2, 1) (OpProduct 2 2);
     Node (1, 1) (OpSumAll 106);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 107); ((Number (-6004799503160661) 57), 108)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (-48) 0), 109); (zero, 110)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 111); (minus_one, 112)]);
     Node (1, 1) (OpRelu 111);
     Node (1, 1) (OpRelu 113);
     Node (1, 1) (OpSum [:: (one, 114); (minus_one, 115)]);
     Node (2, 1) (OpSwitch 116 4 105);
     Node (2, 1) (OpSum [:: (one, 117); (minus_one, 1)]);
     Node (2, 1) (OpProduct 118 118);
     Node (1, 1) (OpSumAll 119);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (1) 1), 120); (zero, 121)])]
  122.

Theorem checked : certified_stopping claimed exported.
Proof. by vm_compute. Qed.
