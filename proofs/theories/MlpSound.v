(** What follows if the checker accepts an MLP: SGD on all weights runs the circuit, for every stream.

    A pass ([passes_shows]) proves that the frozen step is right, whatever the errors of memory and inputs are ([right_frozen]);
    theorem 5 ([whole_step]) does the rest. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp MlpDrift MlpTheorem MlpInputs Forms MlpPass Circuit MlpChecker.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Sound.

Variables (cl : mlp_claim) (net : seq layer).
Notation c := (claimed_circuit cl).
Notation T := (horizon cl).
Notation L := (n_layers_after net).
Notation width := (width_of (n_inputs cl) net).

Variable R : realFieldType.
Notation r := (@real R).
Hypothesis accepted : certified_mlp cl net.

Notation memory := (fun i => i < n_memory cl)%N.
Notation start := (start_of R net).
Notation K := (fun l => r (column_bound cl l)).
Notation eta := (r (rate cl)).

Definition held (st : Circuit.state) (k : nat) : R := r (held_number cl st k).
Definition label_of (y : bool) : R := r (whole (sign_of y)).
Definition input_of (bits : seq bool) (j : nat) : R := label_of (nth false bits j).

(** SGD on all weights, on a stream of samples. *)
Fixpoint trained (stream : nat -> Circuit.sample) (t : nat) : mlp R :=
  if t is t'.+1 then
    sgd_step L.+1 width eta (input_of (stream t').1, label_of (stream t').2) (trained stream t')
  else start.

Let parts : [/\ shape_fits cl net, constants_fit cl net, closed c (reachable cl) & all (state_fits cl net) (reachable cl)].
Proof.
move: accepted; rewrite /certified_mlp; case: ifP => // shape; case: ifP => // constants; case: ifP => // closed_.
by rewrite everyE => states; split.
Qed.
Let shape_ok : shape_fits cl net. Proof. by case: parts. Qed.
Let constants_ok : constants_fit cl net. Proof. by case: parts. Qed.
Let states_closed : closed c (reachable cl). Proof. by case: parts. Qed.
Let states_ok : all (state_fits cl net) (reachable cl). Proof. by case: parts. Qed.

Let n_layers : size net = L.+2.
Proof. by case/and5P: shape_ok; rewrite /n_layers_after; case: (size net) => [|[|]]. Qed.
Let L_gt0 : (0 < L)%N.
Proof. by case/and5P: shape_ok; rewrite n_layers. Qed.
Let one_output : width L.+2 = 1%N.
Proof. by case/and5P: shape_ok => _ /eqP; rewrite n_layers. Qed.
Let wired : well_wired (n_inputs cl) net.
Proof. by case/and5P: shape_ok. Qed.
Let memory_width : (n_memory cl <= width 2)%N.
Proof. by case/and5P: shape_ok. Qed.

Let all_ge0 : all nonnegative [:: memory_rate cl; rate cl; input_bound cl; act_bound cl; residual_bound cl; memory_slope cl;
  memory_tangent cl; longest_step cl; frozen_error cl; tolerance cl; input_radius cl].
Proof. by case/andP: constants_ok. Qed.
Let ge0 a : a \in [:: memory_rate cl; rate cl; input_bound cl; act_bound cl; residual_bound cl; memory_slope cl;
  memory_tangent cl; longest_step cl; frozen_error cl; tolerance cl; input_radius cl] -> 0 <= r a.
Proof. by move=> /(allP all_ge0)/(real_nonnegative R). Qed.
Let eta_ge0 : 0 <= eta. Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let sigma_ge0 : 0 <= r (input_bound cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let B_ge0 : 0 <= r (act_bound cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let Q_ge0 : 0 <= r (residual_bound cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let S_ge0 : 0 <= r (memory_slope cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let theta_ge0 : 0 <= r (memory_tangent cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let longest_ge0 : 0 <= r (longest_step cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let first_ge0 : 0 <= r (frozen_error cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let tolerance_ge0 : 0 <= r (tolerance cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let radius_ge0 : 0 <= r (input_radius cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.

Let K_ge1 l : 1 <= K l.
Proof.
have /and3P[_ /allP big _] := constants_ok; rewrite /column_bound.
case: (ltnP l (size (column_bounds cl))) => [l_lt|l_ge]; last by rewrite nth_default // real_one.
by rewrite -real_one; apply: real_not_above; apply: big; apply: mem_nth.
Qed.

Let widths l : (l <= L.+2)%N -> (width l <= (widest cl net))%N.
Proof.
move=> _; rewrite /width_of /widest; case: l => [|l].
  by elim: net => //= a ls IH; apply: leq_trans IH (leq_maxr _ _).
elim: net l => [|a ls IH] [|l] //=; rewrite ?nth_nil // ?leq_maxl //.
by apply: leq_trans (IH l) (leq_maxr _ _).
Qed.

(** *** The constants are theorem 5's *)

Notation drift := (drift L eta T (r (act_bound cl)) K (r (residual_bound cl))).
Notation nu := (nu L eta T (widest cl net) (r (act_bound cl)) K (r (residual_bound cl))).
Notation slope_off := (slope_off L eta T (widest cl net) (r (act_bound cl)) K (r (residual_bound cl)) (r (memory_tangent cl))).
Notation step_error := (step_error L eta T (widest cl net) (r (act_bound cl)) K (r (residual_bound cl)) (r (memory_slope cl))
  (r (memory_tangent cl)) (r (frozen_error cl))).
Notation input_step := (input_step L eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
  (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl))).
Notation first_drift := (first_drift L eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
  (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (first_column cl)) 1).
Notation input_error := (input_error L eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
  (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (first_column cl)) 1).

Let gainE l : r (gain_number cl l) = gain K l.
Proof. by elim: l => //= l IH; rewrite real_mul IH. Qed.
Let mulE := real_mul R.
Let driftE : r (drift_number cl net) = drift.
Proof. by rewrite /drift_number mulE real_of_nat /drift_step_number 3!mulE real_plus gainE. Qed.
Let nuE : r (nu_number cl net) = nu.
Proof. by rewrite /nu_number real_reduce 4!mulE driftE real_plus mulE !real_of_nat gainE. Qed.
Let slope_offE : r (slope_off_number cl net) = slope_off.
Proof. by rewrite /slope_off_number 4!mulE driftE !real_of_nat gainE. Qed.
Let step_errorE : r (step_error_number cl net) = step_error.
Proof. by rewrite /step_error_number real_plus mulE real_plus 2!mulE nuE slope_offE. Qed.
Let input_stepE : r (input_step_number cl net) = input_step.
Proof. by rewrite /input_step_number mulE real_plus step_errorE. Qed.
Let first_driftE : r (first_drift_number cl net) = first_drift.
Proof.
rewrite /first_drift_number 2!mulE /first_slope_number real_plus 4!mulE real_plus slope_offE input_stepE !real_of_nat gainE.
by rewrite /MlpInputs.first_drift mulr1.
Qed.
Let input_errorE : r (input_error_number cl net) = input_error.
Proof. by rewrite /input_error_number real_reduce 2!mulE real_plus first_driftE !real_of_nat /MlpInputs.input_error mulr1. Qed.

Let scale_gt0 : 0 < r (scale cl).
Proof. by apply: real_positive; have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[]]] := constants_ok. Qed.
Let rateE : eta = r (memory_rate cl) * r (scale cl).
Proof.
have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[_ _ _ same _]]] := constants_ok; have := real_nonzero R same.
by rewrite real_plus real_minus mulE => /eqP; rewrite subr_eq0 => /eqP ->.
Qed.
Let memory_rate_ge0 : 0 <= r (memory_rate cl). Proof. by apply: ge0; rewrite !inE eqxx ?orbT. Qed.
Let eighth : r (tolerance cl) <= r (scale cl) / 8%:R.
Proof.
rewrite ler_pdivl_mulr ?ltr0n // mulrC; have /and5P[_ _ _ _ /and5P[_ fits _ _ _]] := constants_ok.
by have := real_not_above R fits; rewrite mulE.
Qed.
Let near_scaled (e : R) : `|e| <= r (tolerance cl) -> `|e / r (scale cl)| <= r (Number (Zpos 1) 3).
Proof.
move=> small; rewrite normrM normfV (gtr0_norm scale_gt0) ler_pdivr_mulr //; apply: le_trans small (le_trans eighth _).
have -> : r (Number (Zpos 1) 3) = 8%:R^-1 by rewrite /real /= -natrX mul1r.
by rewrite mulrC.
Qed.
Let eighth_ge0 : 0 <= r (Number (Zpos 1) 3). Proof. exact: real_nonnegative. Qed.
Let margin_ok : nu <= r (margin cl).
Proof. by rewrite -nuE; apply: real_not_above; have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[]]] := constants_ok. Qed.
Let output_ok : nu <= r (output_error cl).
Proof. by rewrite -nuE; apply: real_not_above; have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[]]] := constants_ok. Qed.
Let radius_ok : input_error <= r (input_radius cl).
Proof. by rewrite -input_errorE; apply: real_not_above; have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[]]] := constants_ok. Qed.
Let nu_small : nu <= 1.
Proof. by rewrite -nuE -real_one; apply: real_not_above; have /and5P[] := constants_ok. Qed.
Let enough : T%:R * (step_error + (widest cl net)%:R * (input_step * r (input_bound cl))) <= r (tolerance cl).
Proof.
have /and5P[_ _ _ _ /and5P[fits _ _ _ _]] := constants_ok; have := real_not_above R fits.
by rewrite mulE real_plus 2!mulE step_errorE input_stepE !real_of_nat.
Qed.
Let sigma_B : r (input_bound cl) <= r (act_bound cl).
Proof. by apply: real_not_above; have /and5P[_ _ _ _ /and5P[]] := constants_ok. Qed.

Let nu_ge0 : 0 <= nu.
Proof.
apply: value_error_ge0 => //; apply: mulr_ge0 (ler0n _ _) _; apply: mulr_ge0 => //; apply: mulr_ge0 => //.
by apply: mulr_ge0; [exact: (gain_ge0 K_ge1) | exact: addr_ge0 B_ge0 ler01].
Qed.
Let margin_ge0 : 0 <= r (margin cl). Proof. exact: le_trans nu_ge0 margin_ok. Qed.

Lemma columnE counted l j :
  total (width l.+1) (fun i => if counted i then `|mat start l i j| else 0) <= r (column cl net counted l j).
Proof.
rewrite /column real_sum big_map totalE -(big_mkord xpredT (fun i => if counted i then `|mat start l i j| else 0)).
rewrite /index_iota subn0; apply: ler_sum => i _; case: ifP => // _.
rewrite real_sum big_map big_filter; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: ler_sum => e _; rewrite real_size.
Qed.

Let columns l j : (0 < l <= L)%N -> (j < width l.+1)%N -> (l = 1%N -> ~~ memory j) ->
  norm (width l.+2) (fun i => mat start l.+1 i j) + (widest cl net)%:R * drift <= K l.
Proof.
move=> /andP[l_gt0 l_L] j_lt other; have /and5P[_ _ /andP[/allP every _] _ _] := constants_ok.
have l_in : l \in iota 1 L by rewrite mem_iota l_gt0 add1n ltnS.
have /allP/(_ j) := every l l_in; rewrite mem_iota add0n j_lt => /(_ isT).
rewrite (_ : (l == 1%N) && _ = false) /=; last by case: eqP => // /other/negbTE.
move=> /(real_not_above R); rewrite real_plus mulE driftE real_of_nat; apply: le_trans.
by rewrite ler_add2r; exact: columnE xpredT l.+1 j.
Qed.

Let first_columns j : (j < width 1)%N ->
  total (width 2) (fun i => if memory i then 0 else `|mat start 1 i j|) + (widest cl net)%:R * drift <= r (first_column cl).
Proof.
move=> j_lt; have /and5P[_ _ /andP[_ /allP every] _ _] := constants_ok.
have := every j; rewrite mem_iota add0n j_lt => /(_ isT)/(real_not_above R); rewrite real_plus mulE driftE real_of_nat.
apply: le_trans; rewrite ler_add2r; apply: le_trans (columnE (fun i => ~~ memory i) 1 j).
by apply: total_le => i _; case: ifP.
Qed.

(** *** The first layer *)

Let front_size bits : bits \in fronts c -> size bits = (n_inputs cl).
Proof. by rewrite /fronts /n_inputs; case: ifP => _; [rewrite all_bitsP => /eqP | rewrite inE => /eqP ->]. Qed.

Let still (f : form) : form_value (fun=> 0 : R) f = r (center f).
Proof. by rewrite /form_value /along big1 ?addr0 // => m _; rewrite mulr0. Qed.

Lemma small_inputsE bits j :
  bits \in fronts c -> (j < width 1)%N -> act width start (input_of bits) 1 j = r (nth zero (small_inputs net bits) j).
Proof.
move=> front j_lt; rewrite actS /pre (start_total _ _ wired); last by rewrite n_layers.
rewrite (nth_map (zero, [::])) //; set u := nth _ _ _.
have -> : r (center (rectified (weigh (pushed bits) u))) = relu (r (center (weigh (pushed bits) u))).
  by rewrite /rectified /relu -positiveE; case: ifP.
rewrite -still weigh_value; congr (relu (_ + _)).
rewrite big_seq [RHS]big_seq; apply: eq_bigr => e e_in; congr (_ * _); rewrite still.
have e_lt : (e.1 < size bits)%N.
  rewrite front_size //; have /allP/(_ 0%N) := wired; rewrite mem_iota n_layers => /(_ isT)/allP/(_ u).
  by rewrite mem_nth // => /(_ isT)/allP/(_ e e_in).
by rewrite (nth_map false).
Qed.

(** *** The frozen step *)

Lemma right_frozen st bits y :
  state_fits cl net st -> bits \in fronts c ->
  whole_frozen_step L width memory start held eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
    (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (tolerance cl))
    (r (first_column cl)) 1 (cycle c st (bits, y)) st (input_of bits) (label_of y).
Proof.
rewrite /state_fits everyE => /allP/(_ bits) fits front x' near_x; have /andP[/allP small pass] := fits front.
have size_inputs : size (small_inputs net bits) = width 1 by rewrite size_map.
have near_in j : (j < width 1)%N -> `|x' j - r (nth zero (small_inputs net bits) j)| <= r (input_radius cl).
  by move=> j_lt; rewrite -small_inputsE //; apply: le_trans (near_x j j_lt) radius_ok.
have x_small j : (j < width 1)%N -> `|x' j| <= r (input_bound cl).
  move=> j_lt; have := small (nth zero (small_inputs net bits) j); rewrite mem_nth ?size_inputs // => /(_ isT)/(real_not_above R).
  rewrite real_plus real_size; apply: le_trans.
  rewrite -[x' j](subrK (r (nth zero (small_inputs net bits) j))) addrC; apply: le_trans (ler_norm_add _ _) _.
  by rewrite ler_add2l near_in.
split=> // p [same_bias same_mat near_memory].
have near d : `|shift (n_memory cl) (scale cl) (held_number cl st) (small_inputs net bits) (n_inputs cl) net p x' d| <= r (bound cl d).
  rewrite /shift /bound; case: ifP => [mem|_]; case: ifP => [lt|_]; rewrite ?normr0 //.
    exact/near_scaled/near_memory.
  exact: near_in.
have [act_le tangent_le stable [f good [out slopes]]] :=
  passes_shows wired n_layers size_inputs same_bias same_mat near margin_ge0 scale_gt0 pass.
have {good} /andP[residual_ok /allP memory_ok] : step_fits cl st bits f y by case/and3P: good => f_false f_true _; case: (y).
set v := output L (fun l => width l.+1) p x'; have v_f : v = form_value _ f := out.
set d := form_value _ f in v_f; set rest := plus (center f) _ in residual_ok.
have split_v : v - label_of y = r rest + along (shift (n_memory cl) (scale cl) (held_number cl st) (small_inputs net bits) (n_inputs cl) net p x') (moves f).
  rewrite v_f /d /form_value real_plus [r (whole (sign_of (~~ y)))](_ : _ = - label_of y); last by case: (y); rewrite /label_of ?opprK.
  by ring.
have along_f := along_le near f.
have residual_near : `|v - label_of y| <= r (size_of rest) + r (spread (bound cl) f).
  by rewrite split_v real_size; apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
split.
- move=> [|l] j l_L j_lt; first exact: le_trans (x_small j j_lt) sigma_B.
  exact: act_le.
- have := real_not_above R residual_ok; rewrite !real_plus; apply: le_trans.
  by rewrite ler_add2r.
move=> k mem k_lt; have := memory_ok k; rewrite mem_iota add0n mem => /(_ isT)/and3P[slope_ok goal_ok first_ok].
have slope_f : slope L (fun l => width l.+1) p x' (at_bias R 0 k) = r (slope_along f k) / r (scale cl).
  by rewrite slope_alongE -slopes // mulfK ?gt_eqF.
have moved_f : held (cycle c st (bits, y)) k - held st k =
    r (plus (held_number cl (cycle c st (bits, y)) k) (minus (held_number cl st k))) by rewrite real_plus real_minus.
split.
- move=> l l_in; have := tangent_le k l mem l_in; rewrite real_reduce mulE ler_pmul2r //.
- by move=> l i l_in i_lt steep; apply: le_lt_trans margin_ok _; apply: stable steep.
- rewrite slope_f normrM normfV (gtr0_norm scale_gt0) ler_pdivr_mulr // -real_size -mulE; exact: real_not_above.
- by rewrite moved_f -real_size; apply: real_not_above.
have := real_not_above R first_ok; apply: le_trans; rewrite moved_f slope_f -/v.
set goal := plus _ _; rewrite split_v real_plus real_size real_plus !real_reduce 4!mulE real_size.
set e := along _ _; set s := r (slope_along f k).
have -> : - (eta * ((r rest + e) * (s / r (scale cl)))) - r goal =
    - (r (memory_rate cl) * s * r rest + r goal) - r (memory_rate cl) * s * e.
  by rewrite rateE; field; rewrite gt_eqF.
apply: le_trans (ler_norm_sub _ _) _; rewrite normrN ler_add2l normrM; apply: ler_pmul => //.
by rewrite normrM (ger0_norm memory_rate_ge0).
Qed.

(** The output of a network whose memory stands for a halted state. *)
Lemma right_answer st bits b x' p :
  state_fits cl net st -> bits \in fronts c -> has_halted c st -> says c st bits = Some b ->
  (forall j, (j < width 1)%N -> `|x' j - act width start (input_of bits) 1 j| <= input_error) ->
  frozen (fun l => width l.+1) memory (tail start) held (r (tolerance cl)) st x' p ->
  `|output L (fun l => width l.+1) p x' - label_of b| + nu <= r (answer_error cl).
Proof.
rewrite {1}/state_fits everyE => /allP/(_ bits) fits front halted said near_x [same_bias same_mat near_memory].
have /andP[/allP small pass] := fits front.
have size_inputs : size (small_inputs net bits) = width 1 by rewrite size_map.
have near d : `|shift (n_memory cl) (scale cl) (held_number cl st) (small_inputs net bits) (n_inputs cl) net p x' d| <= r (bound cl d).
  rewrite /shift /bound; case: ifP => [mem|_]; case: ifP => [lt|_]; rewrite ?normr0 //.
    exact/near_scaled/near_memory.
  by rewrite -small_inputsE //; apply: le_trans (near_x _ lt) radius_ok.
have [_ _ _ [f good [out _]]] := passes_shows wired n_layers size_inputs same_bias same_mat near margin_ge0 scale_gt0 pass.
have {good} : answer_fits cl st bits f by case/and3P: good.
rewrite /answer_fits halted said => /(real_not_above R); apply: le_trans; rewrite !real_plus; apply: ler_add => //.
have -> : output L (fun l => width l.+1) p x' = form_value _ f := out.
rewrite /form_value real_size real_plus [r (whole (sign_of (~~ b)))](_ : _ = - label_of b); last by case: (b); rewrite /label_of ?opprK.
rewrite addrAC; apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
exact: along_le near f.
Qed.

(** *** Every stream *)

Let input_le bits j : `|input_of bits j| <= 1.
Proof. by rewrite /input_of /label_of /sign_of; case: (nth _ _ _); rewrite /= ?normrN normr1. Qed.

Let reached_always stream t :
  (forall i, is_sample c (stream i)) -> (t <= T)%N ->
  whole_reached L width memory start held eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
    (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (first_column cl)) 1
    t (cycles c stream t) (trained stream t).
Proof.
move=> samples; elim: t => [|t IH] t_T; last first.
  have here := allP states_ok _ (cycles_inside t states_closed samples).
  have right := right_frozen (stream t).2 here (samples t).
  rewrite -surjective_pairing in right.
  exact: (whole_step one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0 first_ge0 widths K_ge1 columns
    nu_small enough first_columns (lexx 1) t_T (fun j _ => input_le _ j) right (IH (ltnW t_T))).
have /and5P[_ _ _ _ /allP empty] := shape_ok.
split; last 2 first.
- by move=> i _; rewrite /= subrr normr0 mul0r.
- by move=> i j _ _; rewrite /= subrr normr0 mul0r.
split=> [l i _ _ _|l i j _ _ _ _|k mem k_lt|k j mem k_lt j_lt]; rewrite mul0r ?subrr ?normr0 //.
  have := empty k; rewrite mem_iota add0n mem => /(_ isT)/andP[_ same]; have := real_nonzero R same.
  by rewrite real_plus real_minus /held => ->; rewrite normr0.
have := empty k; rewrite mem_iota add0n mem => /(_ isT)/andP[/nilP none _].
by rewrite /= none big_nil normr0.
Qed.

Let G_ge0 : 0 <= gain K L.+1. Proof. exact: (gain_ge0 K_ge1). Qed.
Let drift_step_ge0 : 0 <= drift_step L eta (r (act_bound cl)) K (r (residual_bound cl)).
Proof. exact: mulr_ge0 eta_ge0 (mulr_ge0 Q_ge0 (mulr_ge0 G_ge0 (addr_ge0 B_ge0 ler01))). Qed.
Let drift_ge0 : 0 <= drift. Proof. exact: mulr_ge0 (ler0n _ _) drift_step_ge0. Qed.
Let slope_off_ge0 : 0 <= slope_off.
Proof. exact: mulr_ge0 (mulr_ge0 (ler0n _ _) (mulr_ge0 (mulr_ge0 (ler0n _ _) drift_ge0) theta_ge0)) G_ge0. Qed.
Let step_error_ge0 : 0 <= step_error.
Proof. exact: addr_ge0 first_ge0 (mulr_ge0 eta_ge0 (addr_ge0 (mulr_ge0 nu_ge0 S_ge0) (mulr_ge0 Q_ge0 slope_off_ge0))). Qed.
Let input_step_ge0 : 0 <= input_step.
Proof. exact: mulr_ge0 (addr_ge0 longest_ge0 step_error_ge0) sigma_ge0. Qed.

Let in_bound a : a \in [:: drift_number cl net; mul (steps_number cl) (first_drift_number cl net); mul (steps_number cl) (input_step_number cl net)] ->
  r a <= r (drift_bound cl).
Proof. by move=> a_in; apply: real_not_above; have /and5P[_ _ _ _ /and5P[_ _ /allP small _ _]] := constants_ok; apply: small. Qed.

Theorem certified_mlp_run stream t :
  (forall i, is_sample c (stream i)) -> (t <= T)%N ->
  [/\ forall k, (k < n_memory cl)%N -> `|bias (trained stream t) 1 k - held (cycles c stream t) k| <= r (scale cl) / 8%:R,
      forall l i, (l < size net)%N -> (i < width l.+1)%N -> ~~ ((l == 1%N) && (i < n_memory cl)%N) ->
        `|bias (trained stream t) l i - bias start l i| <= r (drift_bound cl),
      forall l i j, (l < size net)%N -> (i < width l.+1)%N -> (j < width l)%N ->
        `|mat (trained stream t) l i j - mat start l i j| <= r (drift_bound cl)
    & has_halted c (cycles c stream t) -> forall bits b, bits \in fronts c -> says c (cycles c stream t) bits = Some b ->
        `|output L.+1 width (trained stream t) (input_of bits) - label_of b| <= r (answer_error cl)].
Proof.
move=> samples t_T; have here := reached_always samples t_T.
have [[near_bias near_mat near_held near_zero] first_b first_m] := here.
have upto (a : R) : 0 <= a -> t%:R * a <= T%:R * a by move=> a_ge0; rewrite ler_wpmul2r // ler_nat.
have /and5P[_ _ _ _ /allP empty] := shape_ok.
have by_first i : (i < width 1)%N -> t%:R * first_drift <= r (drift_bound cl).
  move=> i_lt; have := in_bound (a := mul (steps_number cl) (first_drift_number cl net)); rewrite !inE eqxx orbT => /(_ isT).
  rewrite mulE first_driftE real_of_nat; apply: le_trans; apply: upto.
  have column_ge0 : 0 <= r (first_column cl).
    apply: le_trans (first_columns i_lt); apply: addr_ge0; last exact: mulr_ge0 (ler0n _ _) drift_ge0.
    by apply: total_ge0 => u _; case: ifP.
  have moved_ge0 := mulr_ge0 (ler0n _ (widest cl net)) (mulr_ge0 (ler0n _ T) input_step_ge0).
  have slope_ge0 := addr_ge0 (mulr_ge0 column_ge0 G_ge0) (mulr_ge0 moved_ge0 (addr_ge0 S_ge0 slope_off_ge0)).
  exact: mulr_ge0 eta_ge0 (mulr_ge0 Q_ge0 (mulr_ge0 slope_ge0 ler01)).
split.
- move=> k mem; apply: le_trans (near_held k mem _) _; first exact: leq_trans mem memory_width.
  apply: (@le_trans _ _ (r (tolerance cl))).
    apply: le_trans (upto _ step_error_ge0) _; apply: le_trans enough; apply: ler_wpmul2l; first exact: ler0n.
    by rewrite ler_addl; exact: mulr_ge0 (ler0n _ _) (mulr_ge0 input_step_ge0 sigma_ge0).
  exact: eighth.
- move=> [|l] i l_lt i_lt other; first exact: le_trans (first_b i i_lt) (by_first i i_lt).
  apply: le_trans (near_bias l i _ i_lt _) _.
  + by move: l_lt; rewrite n_layers !ltnS.
  + by case: l other {l_lt i_lt}.
  apply: le_trans (upto _ drift_step_ge0) _.
  by have := in_bound (a := (drift_number cl net)); rewrite !inE eqxx => /(_ isT); rewrite driftE.
- move=> [|l] i j l_lt i_lt j_lt; first exact: le_trans (first_m i j i_lt j_lt) (by_first i i_lt).
  have l_L : (l <= L)%N by move: l_lt; rewrite n_layers !ltnS.
  case: (boolP ((l == 0%N) && memory i)) => [/andP[/eqP l0 mem]|other].
    move: i_lt j_lt; rewrite l0 => i_lt j_lt; have := empty i; rewrite mem_iota add0n mem => /(_ isT)/andP[/nilP none _].
    rewrite [mat start 1 i j]/= none big_nil subr0; apply: le_trans (near_zero i j mem i_lt j_lt) _.
    apply: le_trans (upto _ input_step_ge0) _.
    have := in_bound (a := mul (steps_number cl) (input_step_number cl net)); rewrite !inE eqxx !orbT => /(_ isT).
    by rewrite mulE input_stepE real_of_nat.
  apply: le_trans (near_mat l i j l_L i_lt j_lt _) _; first by move: other; rewrite negb_and lt0n.
  apply: le_trans (upto _ drift_step_ge0) _.
  by have := in_bound (a := (drift_number cl net)); rewrite !inE eqxx => /(_ isT); rewrite driftE.
move=> halted bits b front said.
have fits := allP states_ok _ (cycles_inside t states_closed samples).
have [x' [q [near_x q_frozen near_out]]] := whole_output one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0
  longest_ge0 first_ge0 widths K_ge1 columns nu_small enough first_columns (lexx 1) t_T (fun j _ => input_le _ j)
  (right_frozen b fits front) here.
have right := right_answer fits front halted said near_x q_frozen.
apply: le_trans right; set o := output _ _ (trained _ _) _; set o' := output _ _ q _ in near_out *.
have -> : o - label_of b = (o' - label_of b) + (o - o') by ring.
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
Qed.

(** No sample moves a circuit that has halted. *)
Theorem halted_rests st s : has_halted c st -> cycle c st s = st.
Proof. by rewrite /cycle /takes /ran /has_halted => halted; rewrite halted andbF. Qed.

End Sound.
