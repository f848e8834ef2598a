Set Warnings "-notation-overridden".
From Luge Require Import Export.

Definition claimed_machine : machine := Machine 5 4 1 [:: Situation 0 [:: None; None; None; None] (Some (Action 1 [:: None; None; None; None] [:: Stay; Stay; Stay; Stay]));
     Situation 1 [:: None; None; None; None] (Some (Action 2 [:: None; None; None; None] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some false; Some false; Some false] (Some (Action 2 [:: None; Some false; Some false; Some false] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some true; Some false; Some false] (Some (Action 2 [:: None; Some true; Some false; Some false] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some false; Some true; Some false] (Some (Action 2 [:: None; Some false; Some true; Some false] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some true; Some true; Some false] (Some (Action 2 [:: None; Some true; Some true; Some false] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some false; Some false; Some true] (Some (Action 3 [:: Some false; Some false; Some false; Some true] [:: Right; Right; Right; Right]));
     Situation 2 [:: None; Some true; Some false; Some true] (Some (Action 3 [:: Some true; Some true; Some false; Some true] [:: Right; Right; Right; Right]));
     Situation 2 [:: None; Some false; Some true; Some true] (Some (Action 2 [:: None; Some false; Some true; Some true] [:: Stay; Right; Right; Right]));
     Situation 2 [:: None; Some true; Some true; Some true] (Some (Action 2 [:: None; Some true; Some true; Some true] [:: Stay; Right; Right; Right]));
     Situation 3 [:: None; Some false; Some false; Some false] (Some (Action 3 [:: Some false; Some false; Some false; Some false] [:: Right; Right; Right; Right]));
     Situation 3 [:: None; Some true; Some false; Some false] (Some (Action 3 [:: Some true; Some true; Some false; Some false] [:: Right; Right; Right; Right]));
     Situation 3 [:: None; Some false; Some true; Some false] (Some (Action 4 [:: None; Some false; Some true; Some false] [:: Stay; Stay; Stay; Stay]));
     Situation 3 [:: None; Some true; Some true; Some false] (Some (Action 4 [:: None; Some true; Some true; Some false] [:: Stay; Stay; Stay; Stay]));
     Situation 3 [:: None; Some false; Some false; Some true] (Some (Action 4 [:: None; Some false; Some false; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 3 [:: None; Some true; Some false; Some true] (Some (Action 4 [:: None; Some true; Some false; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 3 [:: None; Some false; Some true; Some true] (Some (Action 4 [:: None; Some false; Some true; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 3 [:: None; Some true; Some true; Some true] (Some (Action 4 [:: None; Some true; Some true; Some true] [:: Stay; Stay; Stay; Stay]));
     Situation 4 [:: None; None; None; None] None].

Definition claimed : stream_claim := StreamClaim claimed_machine 16 [:: 0] [:: 1]
  (1, 1) (Wires (Fixed 3 2 false) (1, 1) 0 3 [:: ones 16 [:: 2];
     ones 16 [:: 2; 3; 13];
     ones 16 [:: 2; 8; 13]] 0 2 2)
  (Number (256) 0) (Number (1) 8) (Number (4) 0) 117.

Definition exported : network := Network
  [:: ParameterOf (10, 1) (Descent one); ParameterOf (19, 1) (Descent one); ParameterOf (1, 16) (Descent one); ParameterOf (4, 16) (Descent one); ParameterOf (1, 1) (Descent one)]
  [:: (1, 1); (1, 1)]
  [:: Node (1, 1) (OpInput 0);
     Node (1, 1) (OpInput 1);
     Node (10, 1) (OpParameter 0);
     Node (1, 1) (OpConstant [:: one]);
     Node (10, 1) (OpSum [:: ((Number (2) 0), 2); (one, 3)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (10, 1) (OpSum [:: ((Number (2) 0), 2); (minus_one, 5)]);
     Node (10, 1) (OpRelu 4);
     Node (10, 1) (OpRelu 6);
     Node (1, 1) (OpConstant [:: one]);
     Node (10, 1) (OpSum [:: (one, 7); (minus_one, 8); (minus_one, 9)]);
     Node (10, 1) (OpStop 10);
     Node (48, 1) (OpLinear [:: arc 3 0 one; arc 4 1 one; arc 5 2 one; arc 6 3 one; arc 7 4 one; arc 8 5 one; arc 9 6 one; arc 10 7 one; arc 11 8 one; arc 12 9 one] [:: minus_one; minus_one; one; zero; zero; zero; zero; zero; zero; zero; zero; zero; zero; minus_one; minus_one; minus_one; minus_one; minus_one; one; one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one; minus_one; minus_one; one; minus_one; minus_one] 11);
     Node (3, 16) (OpReshape 12);
     Node (19, 1) (OpParameter 1);
     Node (1, 16) (OpParameter 2);
     Node (4, 16) (OpStack 15 13);
     Node (4, 16) (OpParameter 3);
     Node (1, 1) (OpParameter 4);
     Node (1, 1) (OpConstant [:: one]);
     Node (19, 1) (OpSum [:: ((Number (2) 0), 14); ((Number (-1) 1), 19)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (19, 1) (OpSum [:: ((Number (2) 0), 14); ((Number (-3) 1), 21)]);
     Node (19, 1) (OpRelu 20);
     Node (19, 1) (OpRelu 22);
     Node (19, 1) (OpSum [:: (one, 23); (minus_one, 24)]);
     Node (2, 1) (OpLinear [:: arc 0 0 one; arc 1 1 one] (nseq 2 zero) 25);
     Node (1, 1) (OpStop 18);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (minus_one, 27); (zero, 28)]);
     Node (1, 1) (OpReshape 0);
     Node (1, 1) (OpReshape 29);
     Node (2, 1) (OpStack 30 31);
     Node (2, 1) (OpGather [:: 0; 1] 32);
     Node (10, 1) (OpQuantize (Fixed 3 2 false) 33);
     Node (10, 1) (OpLinear [:: arc 0 0 one; arc 1 0 one; arc 2 0 one; arc 3 0 one; arc 4 0 one; arc 5 1 one; arc 6 1 one; arc 7 1 one; arc 8 1 one; arc 9 1 one] (nseq 10 zero) 26);
     Node (10, 1) (OpSum [:: (one, 34); (minus_one, 11)]);
     Node (10, 1) (OpProduct 35 36);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 16) (OpSum [:: ((Number (2) 0), 17); ((Number (-1) 1), 38)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 16) (OpSum [:: ((Number (2) 0), 17); ((Number (-3) 1), 40)]);
     Node (4, 16) (OpRelu 39);
     Node (4, 16) (OpRelu 41);
     Node (4, 16) (OpSum [:: (one, 42); (minus_one, 43)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 16) (OpSum [:: ((Number (2) 0), 16); (one, 45)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 16) (OpSum [:: ((Number (2) 0), 16); (minus_one, 47)]);
     Node (4, 16) (OpRelu 46);
     Node (4, 16) (OpRelu 48);
     Node (1, 1) (OpConstant [:: one]);
     Node (4, 16) (OpSum [:: (one, 49); (minus_one, 50); (minus_one, 51)]);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 0 17 one; arc 0 18 one; arc 1 0 one; arc 1 12 one; arc 1 13 one; arc 1 14 one; arc 1 15 one; arc 1 16 one; arc 1 17 one; arc 1 18 one; arc 2 0 one; arc 2 12 one; arc 2 13 one; arc 2 14 one; arc 2 15 one; arc 2 16 one; arc 2 17 one; arc 2 18 one; arc 3 0 one; arc 3 12 one; arc 3 13 one; arc 3 14 one; arc 3 15 one; arc 3 16 one; arc 3 17 one; arc 3 18 one] (nseq 4 zero) 25);
     Node (4, 16) (OpProduct 53 44);
     Node (4, 1) (OpLinear [:: arc 0 6 one; arc 0 7 one; arc 0 10 one; arc 0 11 one; arc 1 1 one; arc 1 2 one; arc 1 3 one; arc 1 4 one; arc 1 5 one; arc 1 6 one; arc 1 7 one; arc 1 8 one; arc 1 9 one; arc 1 10 one; arc 1 11 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 6 one; arc 2 7 one; arc 2 8 one; arc 2 9 one; arc 2 10 one; arc 2 11 one; arc 3 1 one; arc 3 2 one; arc 3 3 one; arc 3 4 one; arc 3 5 one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one; arc 3 10 one; arc 3 11 one] (nseq 4 zero) 25);
     Node (4, 16) (OpShift (1) 44);
     Node (4, 16) (OpProduct 55 56);
     Node (4, 16) (OpSum [:: (one, 54); (one, 57)]);
     Node (4, 16) (OpProduct 52 44);
     Node (4, 1) (OpSumColumns 59);
     Node (4, 1) (OpLinear [:: arc 0 6 minus_one; arc 0 7 one; arc 0 10 minus_one; arc 0 11 one; arc 1 2 minus_one; arc 1 3 one; arc 1 4 minus_one; arc 1 5 one; arc 1 6 minus_one; arc 1 7 one; arc 1 8 minus_one; arc 1 9 one; arc 1 10 minus_one; arc 1 11 one; arc 1 12 minus_one; arc 1 13 one; arc 1 14 minus_one; arc 1 15 one; arc 1 16 minus_one; arc 1 17 one; arc 2 2 minus_one; arc 2 3 minus_one; arc 2 4 one; arc 2 5 one; arc 2 6 minus_one; arc 2 7 minus_one; arc 2 8 one; arc 2 9 one; arc 2 10 minus_one; arc 2 11 minus_one; arc 2 12 one; arc 2 13 one; arc 2 14 minus_one; arc 2 15 minus_one; arc 2 16 one; arc 2 17 one; arc 3 2 minus_one; arc 3 3 minus_one; arc 3 4 minus_one; arc 3 5 minus_one; arc 3 6 one; arc 3 7 one; arc 3 8 one; arc 3 9 one; arc 3 10 minus_one; arc 3 11 minus_one; arc 3 12 minus_one; arc 3 13 minus_one; arc 3 14 one; arc 3 15 one; arc 3 16 one; arc 3 17 one] (nseq 4 zero) 25);
     Node (4, 1) (OpLinear [:: arc 0 0 one; arc 0 1 one; arc 0 2 one; arc 0 3 one; arc 0 4 one; arc 0 5 one; arc 0 8 one; arc 0 9 one; arc 0 12 one; arc 0 13 one; arc 0 14 one; arc 0 15 one; arc 0 16 one; arc 0 17 one; arc 0 18 one; arc 1 0 one; arc 1 1 one; arc 1 18 one; arc 2 0 one; arc 2 1 one; arc 2 18 one; arc 3 0 one; arc 3 1 one; arc 3 18 one] (nseq 4 zero) 25);
     Node (4, 1) (OpProduct 62 60);
     Node (4, 1) (OpSum [:: (one, 61); (one, 63)]);
     Node (64, 1) (OpLinear [:: arc 19 0 one; arc 20 1 one; arc 21 2 one; arc 22 3 one; arc 23 4 one; arc 24 5 one; arc 25 6 one; arc 26 7 one; arc 27 8 one; arc 28 9 one] (nseq 64 zero) 37);
     Node (4, 16) (OpReshape 65);
     Node (4, 16) (OpSum [:: (one, 52); (one, 66)]);
     Node (4, 1) (OpSum [:: (one, 64); (minus_one, 60)]);
     Node (4, 16) (OpProduct 44 68);
     Node (4, 16) (OpSum [:: (one, 67); (one, 69)]);
     Node (4, 16) (OpProduct 70 58);
     Node (4, 1) (OpSumColumns 71);
     Node (5, 1) (OpLinear [:: arc 1 0 one; arc 2 1 one; arc 2 2 one; arc 2 3 one; arc 2 4 one; arc 2 5 one; arc 2 8 one; arc 2 9 one; arc 3 6 one; arc 3 7 one; arc 3 10 one; arc 3 11 one; arc 4 12 one; arc 4 13 one; arc 4 14 one; arc 4 15 one; arc 4 16 one; arc 4 17 one; arc 4 18 one] (nseq 5 zero) 25);
     Node (9, 1) (OpLinear [:: arc 1 1 minus_one; arc 1 2 minus_one; arc 1 3 minus_one; arc 2 1 one; arc 2 2 minus_one; arc 2 3 minus_one; arc 3 1 minus_one; arc 3 2 one; arc 3 3 minus_one; arc 4 1 one; arc 4 2 one; arc 4 3 minus_one; arc 5 1 minus_one; arc 5 2 minus_one; arc 5 3 one; arc 6 1 one; arc 6 2 minus_one; arc 6 3 one; arc 7 1 minus_one; arc 7 2 one; arc 7 3 one; arc 8 1 one; arc 8 2 one; arc 8 3 one] [:: one; (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0); (Number (-2) 0)] 72);
     Node (9, 1) (OpRelu 74);
     Node (19, 1) (OpLinear [:: arc 0 0 one; arc 1 1 one; arc 2 2 one; arc 3 2 one; arc 4 2 one; arc 5 2 one; arc 6 2 one; arc 7 2 one; arc 8 2 one; arc 9 2 one; arc 10 3 one; arc 11 3 one; arc 12 3 one; arc 13 3 one; arc 14 3 one; arc 15 3 one; arc 16 3 one; arc 17 3 one; arc 18 4 one] (nseq 19 zero) 73);
     Node (19, 1) (OpLinear [:: arc 0 0 one; arc 1 0 one; arc 2 1 one; arc 3 2 one; arc 4 3 one; arc 5 4 one; arc 6 5 one; arc 7 6 one; arc 8 7 one; arc 9 8 one; arc 10 1 one; arc 11 2 one; arc 12 3 one; arc 13 4 one; arc 14 5 one; arc 15 6 one; arc 16 7 one; arc 17 8 one; arc 18 0 one] (nseq 19 zero) 75);
     Node (19, 1) (OpProduct 76 77);
     Node (19, 1) (OpStop 78);
     Node (4, 1) (OpStop 64);
     Node (4, 16) (OpStop 58);
     Node (4, 16) (OpStop 44);
     Node (4, 16) (OpProduct 16 82);
     Node (4, 1) (OpSumColumns 83);
     Node (19, 1) (OpSum [:: (one, 14); (minus_one, 79)]);
     Node (19, 1) (OpProduct 85 85);
     Node (1, 1) (OpSumAll 86);
     Node (4, 1) (OpSum [:: (one, 84); (minus_one, 80)]);
     Node (4, 1) (OpProduct 88 88);
     Node (1, 1) (OpSumAll 89);
     Node (4, 16) (OpSum [:: (one, 17); (minus_one, 81)]);
     Node (4, 16) (OpProduct 91 91);
     Node (1, 1) (OpSumAll 92);
     Node (10, 1) (OpSum [:: (one, 11); (one, 37)]);
     Node (10, 1) (OpStop 94);
     Node (10, 1) (OpSum [:: (one, 2); (minus_one, 95)]);
     Node (10, 1) (OpProduct 96 96);
     Node (1, 1) (OpSumAll 97);
     Node (1, 1) (OpGather [:: 0] 26);
     Node (1, 1) (OpStop 99);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (minus_one, 100); (one, 101)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: (one, 18); ((Number (256) 0), 103)]);
     Node (1, 1) (OpProduct 104 104);
     Node (1, 1) (OpSumAll 105);
     Node (1, 1) (OpProduct 102 106);
     Node (1, 1) (OpSum [:: ((Number (1) 1), 87); ((Number (1) 1), 90); ((Number (1) 1), 93); ((Number (1) 1), 98); ((Number (1) 1), 107)]);
     Node (10, 1) (OpGather [:: 2; 3; 4; 5; 6; 7; 8; 9; 10; 11] 16);
     Node (10, 1) (OpStop 109);
     Node (2, 1) (OpDequantize (Fixed 3 2 false) 110);
     Node (1, 1) (OpGather [:: 0] 111);
     Node (1, 1) (OpReshape 112);
     Node (1, 1) (OpGather [:: 1] 111);
     Node (1, 1) (OpReshape 114);
     Node (1, 1) (OpMatmul 0 115);
     Node (1, 1) (OpSum [:: (one, 116); (one, 113)]);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpConstant [:: (Number (256) 0)]);
     Node (1, 1) (OpStop 108);
     Node (1, 1) (OpSum [:: ((Number (1) 8), 108); ((Number (-1) 8), 120)]);
     Node (1, 1) (OpProduct 121 118);
     Node (1, 1) (OpStop 18);
     Node (1, 1) (OpSum [:: (one, 18); (minus_one, 123)]);
     Node (1, 1) (OpProduct 100 124);
     Node (1, 1) (OpSum [:: (one, 119); (one, 122); (minus_one, 125)]);
     Node (1, 1) (OpLinear [:: arc 0 18 one] [:: zero] 25);
     Node (1, 1) (OpStop 127);
     Node (1, 1) (OpSelect 128 117 126);
     Node (1, 1) (OpSum [:: (one, 129); (minus_one, 1)]);
     Node (1, 1) (OpProduct 130 130);
     Node (1, 1) (OpSumAll 131);
     Node (1, 1) (OpConstant [:: one]);
     Node (1, 1) (OpSum [:: ((Number (1) 1), 132); (zero, 133)])]
  134.

Theorem checked : certified_stream claimed exported.
Proof. by vm_compute. Qed.
