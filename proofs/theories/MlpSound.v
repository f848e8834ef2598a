(** What follows if the checker accepts an MLP: SGD on all weights runs the circuit, for every stream.

    The walk ([walk_shows]) and the plan ([plan_value], [plan_speed]) prove that the frozen step is right in every state in which the circuit's sums
    are exclusive, whatever the errors of memory and inputs are ([right_frozen]); theorem 5 ([whole_step]) does the rest. *)

From Coq Require Import ZArith FMapPositive.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp MlpDrift MlpTheorem MlpInputs Forms MlpPass Circuit MlpLogic MlpSignals MlpPlan MlpValues MlpChecker.

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
Notation width := (width_of (n_inputs c) net).
Notation n := (n_memory c).
Notation lc := (claimed_logic cl).

Variable R : realFieldType.
Notation r := (@real R).
Hypothesis accepted : fitting_mlp cl net.

Notation memory := (fun i => i < n_memory c)%N.
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

Notation rows := (index_of (row_facts c 0 (rows_of cl net))).

Let parts : [/\ shape_fits cl net, constants_fit cl net, logic_fits cl net
  & exists2 p, plan_of c lc rows = Some p & plan_fits cl net (rows_of cl net) p].
Proof.
move: accepted; rewrite /fitting_mlp; case: ifP => // shape; case: ifP => // constants; case: ifP => // logic.
by case P: plan_of => [p|//] fits; split=> //; exists p.
Qed.
Let shape_ok : shape_fits cl net. Proof. by case: parts. Qed.
Let constants_ok : constants_fit cl net. Proof. by case: parts. Qed.
Let logic_ok : logic_fits cl net. Proof. by case: parts. Qed.

Let n_layers : size net = L.+2.
Proof. by case/and5P: shape_ok; rewrite /n_layers_after; case: (size net) => [|[|]]. Qed.
Let L_gt0 : (0 < L)%N.
Proof. by case/and5P: shape_ok; rewrite n_layers. Qed.
Let one_output : width L.+2 = 1%N.
Proof. by case/and5P: shape_ok => _ /eqP; rewrite n_layers. Qed.
Let wired : well_wired (n_inputs c) net.
Proof. by case/and5P: shape_ok. Qed.
Let n_gt0 : (0 < n)%N.
Proof. by case/and5P: shape_ok. Qed.
Let first_width : width 1 = n_inputs c.
Proof. by case/and5P: shape_ok => _ _ _ _ /and4P[/eqP]. Qed.
Let second_width : width 2 = (n + n_inputs c)%N.
Proof. by case/and5P: shape_ok => _ _ _ _ /and4P[_ /eqP]. Qed.
Let memory_width : (n <= width 2)%N.
Proof. by rewrite second_width leq_addr. Qed.
Let empty : all (fun k => nilp (neuron_at net 1 k).2 &&
  (let d := plus (neuron_at net 1 k).1 (minus (held_number cl (initial c) k)) in ~~ nonzero d)) (iota 0 n).
Proof. by case/and5P: shape_ok => _ _ _ _ /and4P[]. Qed.
Let small_units i : (i < n_inputs c)%N ->
  neuron_at net 0 i = (zero, [:: (i, input_scale cl)]) /\ neuron_at net 1 (n + i) = (input_scale cl, [:: (i, one)]).
Proof.
move=> i_lt; have /and5P[_ _ _ _ /and4P[_ _ _ /allP/(_ i)]] := shape_ok.
by rewrite mem_iota add0n i_lt => /(_ isT)/andP[/eqP -> /eqP ->].
Qed.

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

Lemma column_sumE es j : r (column_of (foldl add_weight (PositiveMap.empty _) es) j) = \sum_(e <- es | e.1 == j) `|r e.2|.
Proof.
have from m : r (column_of (foldl add_weight m es) j) = r (column_of m j) + \sum_(e <- es | e.1 == j) `|r e.2|.
  elim: es m => [|e es IH] m /=; first by rewrite big_nil addr0.
  rewrite IH big_cons {1}/column_of /add_weight; case: eqP => [->|ne].
    by rewrite PositiveMap.gss /= real_plus real_size [`|_| + r _]addrC addrA.
  by rewrite PositiveMap.gso // => same; apply: ne; apply/esym; exact: SuccNat2Pos.inj.
by rewrite from {1}/column_of PositiveMap.gempty add0r.
Qed.

Lemma columnE counted l j :
  total (width l.+1) (fun i => if counted i then `|mat start l i j| else 0) <= r (column_of (column_sums cl net counted l) j).
Proof.
rewrite column_sumE big_flatten big_map totalE -(big_mkord xpredT (fun i => if counted i then `|mat start l i j| else 0)).
rewrite /index_iota subn0; apply: ler_sum => i _; case: ifP => _; last by rewrite big_nil.
exact: ler_norm_sum.
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

(** *** The constants of the construction *)

Notation louder := (r (input_gain lc)).
Notation high := (r (carrier lc)).
Notation flip := (r (flip_slope lc)).
Notation small := (r (input_scale cl)).

Let take_rate : r (memory_rate cl) * (high * flip) = r (scale cl).
Proof.
have /and5P[same _ _ _ _] := logic_ok; have := real_nonzero R same.
by rewrite real_plus real_minus 2!mulE => /eqP; rewrite subr_eq0 => /eqP.
Qed.
Let gain_small : louder * small = 2%:R.
Proof.
have /and5P[_ same _ _ _] := logic_ok; have := real_nonzero R same.
by rewrite real_plus real_minus mulE => /eqP; rewrite subr_eq0 => /eqP.
Qed.
Let logic_ge0 : [/\ 0 <= high, 0 <= flip & 0 <= louder].
Proof. by have /and5P[_ _ /and4P[a b g _] _ _] := logic_ok; split; exact: real_nonnegative. Qed.
Let inputs_bound : small + r (input_radius cl) <= r (input_bound cl).
Proof. by have /and5P[_ _ _ _ /and5P[_ _ _ fits _]] := logic_ok; have := real_not_above R fits; rewrite real_plus. Qed.
Let logic_rest : [/\ r (logic_slack lc) <= 1 / 64%:R, louder * r (input_radius cl) <= r (query_slack lc), r (input_radius cl) <= small,
  r (scale cl) <= 1 /\ small <= 1 & (4 * most_operands + 4)%:R <= r (act_bound cl)].
Proof.
have /and5P[_ _ _ _ /and5P[slack query /andP[radius _] _ /and5P[/and3P[s i _] large _ _ _]]] := logic_ok; split.
- by have := real_not_above R slack; rewrite [r (Number _ _)]NumberOrder.realE /= -natrX.
- by have := real_not_above R query; rewrite mulE.
- exact: real_not_above.
- by split; rewrite -real_one; exact: real_not_above.
by have := real_not_above R large; rewrite real_of_nat.
Qed.
Let margin_small : r (margin cl) <= MlpSignals.eighth R.
Proof. by have /and5P[_ _ _ fits _] := logic_ok; have := real_not_above R fits; rewrite [r (Number _ _)]NumberOrder.realE /= -natrX. Qed.
Let tangent_ok : (widest cl net * 2)%:R <= r (memory_tangent cl) * r (scale cl).
Proof.
have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[_ _ fits _ _]]] := logic_ok; have := real_not_above R fits.
by rewrite real_of_nat mulE.
Qed.
Let slope_ok : 2%:R * flip <= r (memory_slope cl) * r (scale cl) /\ 2%:R * (high * flip) <= r (memory_slope cl) * r (scale cl).
Proof.
have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[_ _ _ /and3P[one two _] _]]] := logic_ok.
by have := real_not_above R one; have := real_not_above R two; rewrite !mulE.
Qed.
Let longest_ok : 2%:R * r (scale cl) <= r (longest_step cl).
Proof. by have /and5P[_ _ _ _ /and5P[_ _ _ _ /and5P[_ _ _ _ fits]]] := logic_ok; have := real_not_above R fits; rewrite mulE. Qed.

(** *** The first layer *)

Let front_size bits : bits \in fronts c -> size bits = n_inputs c.
Proof. by rewrite /fronts /n_inputs; case: ifP => _; [rewrite all_bitsP => /eqP | rewrite inE => /eqP ->]. Qed.

Let small_ge0 : 0 <= small.
Proof. by have [_ _ le _ _] := logic_rest; apply: le_trans le. Qed.

Lemma small_inputsE bits j : (j < n_inputs c)%N -> act width start (input_of bits) 1 j = small * (nth false bits j)%:R.
Proof.
move=> j_lt; have j_lt' : (j < width 1)%N by rewrite first_width.
have [E _] := small_units j_lt; have pre_is : pre width start (input_of bits) 0 j = small * label_of (nth false bits j).
  rewrite /pre (start_total _ _ wired); last by rewrite n_layers.
  by rewrite (_ : bias start 0 j = 0) ?E ?add0r ?big_seq1 // /= E.
rewrite actS pre_is; case: (nth false bits j); first by rewrite (_ : label_of true = 1) // !mulr1 relu_pos.
by rewrite (_ : label_of false = -1) // mulrN1 mulr0 relu_neg // oppr_le0.
Qed.

(** *** The frozen step *)

Section Frozen.

Variables (st : Circuit.state) (bits : seq bool) (x' : nat -> R) (p : mlp R).
Hypothesis sums_exclusive : exclusive c st bits.
Hypothesis near_x : forall j, (j < width 1)%N -> `|x' j - act width start (input_of bits) 1 j| <= input_error.
Hypothesis is_frozen : frozen (fun l => width l.+1) memory (tail start) held (r (tolerance cl)) st x' p.

Notation width' := (fun l => width l.+1).

Let near_in j : (j < n_inputs c)%N -> `|x' j - small * (nth false bits j)%:R| <= r (input_radius cl).
Proof. by move=> j_lt; rewrite -small_inputsE //; apply: le_trans (near_x _) radius_ok; rewrite first_width. Qed.

Definition offset (k : nat) : R := if (k < n)%N then (pre width' p x' 0 k - held st k) / r (scale cl) else 0.
Definition shifted (j : nat) : R := x' j + small.

Let near_offset k : (k < n)%N -> `|offset k| <= MlpSignals.eighth R.
Proof.
move=> k_lt; rewrite /offset k_lt; have [_ _ near] := is_frozen.
have := near_scaled (near k k_lt (leq_trans k_lt memory_width)); rewrite [r (Number _ _)]NumberOrder.realE /= -natrX; exact.
Qed.

Section Planned.

Variable q : plan.
Hypothesis planned : plan_of c lc rows = Some q.
Hypothesis fits : plan_fits cl net (rows_of cl net) q.

Notation fs := (rows_of cl net).
Notation gates := [seq gate_form c o | o <- openings q].
Notation val := (worth_of (worths c st offset shifted (fs ++ gates))).
Notation tan := (speed_of (worths c st offset shifted (fs ++ gates))).
Notation value := (form_value val).
Notation speed := (MlpPass.speed tan).

Let sorted : ordered (positive_copy c 0) (row_symbol c 0) fs. Proof. by case/and5P: fits. Qed.
Let sorted_all : ordered N0 (row_symbol c 0) (fs ++ gates). Proof. by case/and5P: fits. Qed.

Let rows_right f g : look rows f = Some g -> [/\ value g = relu (value f), forall k, speed k f = 0 & forall k, speed k g = 0].
Proof.
move=> /look_found in_fg; have [j at_j ->] : exists2 j, List.nth_error fs j = Some f & g = symbol (row_symbol c j).
  have from i : List.In (f, g) (row_facts c i fs) -> exists2 j, List.nth_error fs j = Some f & g = symbol (row_symbol c (i + j)).
    elim: (fs) i => //= h hs IH i [[<- <-]|/IH[j at_j ->]]; first by exists 0%N; rewrite ?addn0.
    by exists j.+1; rewrite ?addSnnS.
  exact: from in_fg.
have at_j' : List.nth_error (fs ++ gates) j = Some f.
  by rewrite List.nth_error_app1 //; apply/List.nth_error_Some; rewrite at_j.
have [worth _] := row_worth st offset shifted sorted_all at_j'.
split=> [|k|k]; first by rewrite symbol_value.
  by have [] := rows_still st offset shifted n_gt0 k sorted sorted_all at_j.
by rewrite /MlpPass.speed symbol_moves; have [] := rows_still st offset shifted n_gt0 k sorted sorted_all at_j.
Qed.

Let gates_right o j : List.nth_error (openings q) j = Some o ->
  let g := row_symbol c (size fs + j) in
  val g = relu (value (gate_form c o)) /\ forall k, tan k g = if 0 < value (gate_form c o) then speed k (gate_form c o) else 0.
Proof.
move=> at_j; apply: (row_worth st offset shifted sorted_all).
rewrite List.nth_error_app2; last by apply/ssrnat.leP; rewrite -[List.length fs]/(size fs) leq_addr.
rewrite (_ : Nat.sub _ _ = j); last exact: addKn.
exact: List.map_nth_error.
Qed.

Let numbers_right k : (k < n)%N -> val (number_symbol c k) = real_of_Z R (lifted c st k) + offset k /\ forall k', tan k' (number_symbol c k) = (k == k')%:R.
Proof. exact: number_worth. Qed.

Let inputs_right i : (i < n_inputs c)%N ->
  `|louder * val (input_symbol c i) - 3%:R - (2%:R * (nth false bits i)%:R - 1)| <= r (query_slack lc).
Proof.
move=> i_lt; have [-> _] := input_worth st offset shifted n_gt0 (fs ++ gates) i_lt.
have [_ query _ _ _] := logic_rest; have [_ _ gain_ge0] := logic_ge0; apply: le_trans query.
have -> : louder * shifted i - 3%:R - (2%:R * (nth false bits i)%:R - 1) = louder * (x' i - small * (nth false bits i)%:R).
  rewrite /shifted (_ : 3%:R = louder * small + 1); last by rewrite gain_small; ring.
  by rewrite -gain_small; ring.
by rewrite normrM (ger0_norm gain_ge0); apply: ler_wpmul2l => //; exact: near_in.
Qed.

Let slacks_small s : List.In s (plan_signals c lc rows q) -> r (slack s) <= r (logic_slack lc).
Proof.
have /and5P[_ _ /(fun ok => ok) every _ _] := fits; move: every; elim: plan_signals => //= t ss IH /andP[ok rest] [<-|]; last exact: IH.
exact: real_not_above.
Qed.

Let large : (4 * most_operands + 4)%:R <= r (act_bound cl). Proof. by case: logic_rest. Qed.

Definition out_form : form := plan_output c lc (size fs) q.

Let positive_right k : (k < n)%N -> val (positive_copy c k) = (is_positive c st k)%:R.
Proof. by move=> k_lt; have [] := positive_worth st offset shifted (fs ++ gates) k_lt. Qed.
Let negative_right k : (k < n)%N -> val (negative_copy c k) = (is_negative c st k)%:R.
Proof. by move=> k_lt; have [] := negative_worth st offset shifted (fs ++ gates) k_lt. Qed.
Let copies_still k' k : (k < n)%N -> tan k' (positive_copy c k) = 0 /\ tan k' (negative_copy c k) = 0.
Proof.
move=> k_lt; have [_ still] := positive_worth st offset shifted (fs ++ gates) k_lt.
by have [_ still'] := negative_worth st offset shifted (fs ++ gates) k_lt.
Qed.
Let positive_halves k : (k < n)%N -> val (positive_half c k) = (is_positive c st k)%:R * (1 / 2%:R + 2%:R * offset k) /\
  forall k', tan k' (positive_half c k) = (is_positive c st k)%:R * (2%:R * (k == k')%:R).
Proof. exact: positive_half_worth. Qed.
Let negative_halves k : (k < n)%N -> val (negative_half c k) = (is_negative c st k)%:R * (1 / 2%:R - 2%:R * offset k) /\
  forall k', tan k' (negative_half c k) = (is_negative c st k)%:R * (- (2%:R * (k == k')%:R)).
Proof. exact: negative_half_worth. Qed.
Let slack_le : r (logic_slack lc) <= 1 / 64%:R. Proof. by case: logic_rest. Qed.
Let carrier_ge0 : 0 <= high. Proof. by case: logic_ge0. Qed.

Lemma output_value : `|value out_form - target R c lc st bits| <= r (plan_noise lc (is_active c st) q).
Proof.
exact: (plan_value rows_right large margin_small near_offset numbers_right positive_right negative_right copies_still inputs_right
  sums_exclusive planned slacks_small slack_le gates_right carrier_ge0).
Qed.

Lemma output_speed y k : (k < n)%N -> pulls_right c lc st bits k y (speed k out_form).
Proof.
exact: (plan_speed rows_right large margin_small near_offset numbers_right positive_right negative_right copies_still inputs_right
  sums_exclusive planned slacks_small slack_le gates_right y).
Qed.

Let facts_sound e : List.In e (plan_facts c lc rows (size fs) q) -> sound n (margin cl) (act_bound cl) val tan e.
Proof.
exact: (plan_sound rows_right large margin_small near_offset numbers_right positive_right negative_right copies_still positive_halves negative_halves
  inputs_right sums_exclusive planned slacks_small slack_le gates_right).
Qed.

Let number_between k : (k < n)%N -> 7%:R / 8%:R <= val (number_symbol c k) <= 25%:R / 8%:R.
Proof. exact: (number_bounds near_offset numbers_right). Qed.

Let wide (a : R) : a <= 4%:R -> a <= r (act_bound cl).
Proof. by move=> a_le; apply: le_trans a_le (le_trans _ large); rewrite ler_nat. Qed.

Let first_hold : forms_hold n (scale cl) (act_bound cl) (n_inputs c) net p x' val tan 1 (first_forms cl).
Proof.
have [same_bias same_mat _] := is_frozen; have [_ _ radius [scale_le1 small_le1] _] := logic_rest.
split=> [|i i_lt]; first by rewrite size_cat !size_map !size_iota second_width.
rewrite /first_forms nth_cat size_map size_iota; case: ltnP => [mem|other].
  rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n; have /andP[low high_] := number_between mem; have [number_is tan_is] := numbers_right mem.
  have u_gt0 : 0 < val (number_symbol c i) by apply: lt_le_trans low; rewrite divr_gt0 ?ltr0n.
  have pre_is : pre width' p x' 0 i = r (scale cl) * val (number_symbol c i).
    rewrite number_is /offset mem mulrDr [r (scale cl) * (_ / _)]mulrC divfK ?gt_eqF // /held /held_number mulE.
    by rewrite (_ : r (whole (lifted c st i)) = real_of_Z R (lifted c st i)) // addrC subrK.
  have pre_gt0 : 0 < pre width' p x' 0 i by rewrite pre_is mulr_gt0.
  have value_is : value (mix zero [:: (scale cl, symbol (number_symbol c i))]) = r (scale cl) * val (number_symbol c i).
    by rewrite mix_value big_seq1 symbol_value add0r.
  have speed_is k : speed k (mix zero [:: (scale cl, symbol (number_symbol c i))]) = r (scale cl) * (i == k)%:R.
    by rewrite speed_mix big_seq1 /MlpPass.speed symbol_moves tan_is.
  split=> [|k k_lt|]; first by rewrite actS value_is -pre_is relu_pos // ltW.
    by rewrite tangent_there pre_gt0 andbT speed_is mulrC.
  split=> [|k _]; last first.
    rewrite speed_is normrM (gtr0_norm scale_gt0) normr_nat; apply: le_trans (_ : 1 <= _); last by rewrite ler1n.
    by case: (i == k); rewrite ?mulr1 ?mulr0 ?ler01.
  apply: wide; rewrite value_is ger0_norm ?mulr_ge0 ?(ltW scale_gt0) ?(ltW u_gt0) //.
  apply: le_trans (_ : 1 * val (number_symbol c i) <= _); first by apply: ler_wpmul2r => //; exact: ltW.
  by rewrite mul1r; apply: le_trans high_ _; by_combination (7%:R / 8%:R : R).
have j_lt : (i - n < n_inputs c)%N by rewrite ltn_subLR // -second_width.
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n; set j := (i - n)%N in j_lt *.
have not_mem : (0 < 0)%N || ~~ memory i by rewrite /= -leqNgt.
have [_ E] := small_units j_lt; rewrite subnKC // in E.
have pre_is : pre width' p x' 0 i = shifted j.
  rewrite /pre same_bias // (total_eq (g := fun j' => mat (start_of R net) 1 i j' * x' j')) => [|j' _]; last by rewrite same_mat.
  rewrite (start_total _ _ wired); last by rewrite n_layers.
  by rewrite [bias _ _ _]/= E big_seq1 real_one mul1r addrC.
have := near_in j_lt; rewrite ler_norml => /andP[low high_].
have [worth_is still] := input_worth st offset shifted n_gt0 (fs ++ gates) j_lt.
have bit_ge0 : 0 <= (nth false bits j)%:R :> R by exact: ler0n.
have bit_le1 : (nth false bits j)%:R <= 1 :> R by case: nth; rewrite ?ler01.
have low' : 0 <= x' j - small * (nth false bits j)%:R + r (input_radius cl) by rewrite -[r (input_radius cl)]opprK subr_ge0.
have bit_small : small * (nth false bits j)%:R <= small by rewrite ler_pimulr.
have shifted_ge0 : 0 <= shifted j.
  rewrite /shifted; by_combination ((x' j - small * (nth false bits j)%:R + r (input_radius cl)) + (small - r (input_radius cl)) + small * (nth false bits j)%:R : R).
split=> [|k k_lt|].
- by rewrite actS pre_is relu_pos // symbol_value worth_is.
- rewrite tangent_there (_ : (i == k) = false) ?mul0r /MlpPass.speed ?symbol_moves ?still //.
  by apply/negP => /eqP ik; move: k_lt; rewrite -ik ltnNge other.
split=> [|k _]; last by rewrite /MlpPass.speed symbol_moves still normr0 ler0n.
apply: wide; rewrite symbol_value worth_is ger0_norm // /shifted.
by_combination ((r (input_radius cl) - (x' j - small * (nth false bits j)%:R)) + (small - r (input_radius cl)) + (small - small * (nth false bits j)%:R) + 3%:R * (1 - small) + 1 : R).
Qed.

Lemma frozen_shown : shown n (scale cl) (margin cl) (act_bound cl) (n_inputs c) L net p x' val tan 1 out_form.
Proof.
have /and5P[_ _ _ _ /and4P[_ _ _]] := fits; case W: walk => [out|//] /same_formP E; rewrite E in W.
have [same_bias same_mat _] := is_frozen.
apply: (walk_shows wired n_layers same_bias same_mat scale_gt0 facts_sound _ _ first_hold W) => //.
Qed.

Lemma noise_bounds b : [/\ high + r (plan_noise lc b q) + 3%:R <= r (residual_bound cl),
  2%:R * (r (memory_rate cl) * flip) * (r (plan_noise lc true q) + 1) <= r (frozen_error cl),
  2%:R * r (scale cl) * r (plan_noise lc true q) <= r (frozen_error cl)
  & r (plan_noise lc false q) + nu <= r (answer_error cl)].
Proof.
have /and5P[_ _ _ /and3P[res1 res0 _] /and4P[run take_ ans _]] := fits; split.
- by case: b; [have := real_not_above R res1 | have := real_not_above R res0]; rewrite !real_plus real_of_nat.
- by have := real_not_above R run; rewrite 3!mulE real_plus real_one.
- by have := real_not_above R take_; rewrite 2!mulE.
by have := real_not_above R ans; rewrite real_plus; apply: le_trans; rewrite ler_add2l.
Qed.

End Planned.
End Frozen.

Let label_value_is y : label_value R y = label_of y. Proof. by []. Qed.
Let label_square y : label_of y * label_of y = 1.
Proof. by rewrite /label_of; case: y; rewrite /= ?mulrNN mulr1. Qed.
Let label_size y : `|label_of y| = 1.
Proof. by rewrite /label_of; case: y; rewrite /= ?normrN normr1. Qed.

Let goal_le st bits y k : `|goal R c st bits y k| <= 2%:R.
Proof.
have one_le (s : Circuit.state) : `|real_of_Z R (content c s k)| <= 1 by case: (content_cases c s k) => -> /=; rewrite ?normrN ?normr0 ?normr1 ?ler01.
apply: le_trans (ler_norm_sub _ _) (le_trans (ler_add (one_le _) (one_le _)) _); by rewrite -(natrD _ 1 1).
Qed.

Lemma right_frozen st bits y :
  exclusive c st bits -> bits \in fronts c ->
  whole_frozen_step L width memory start held eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
    (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (tolerance cl))
    (r (first_column cl)) 1 (cycle c st (bits, y)) st (input_of bits) (label_of y).
Proof.
move=> exclusive_ front x' near_x; have [_ _ _ [q planned fits]] := parts.
have x_small j : (j < width 1)%N -> `|x' j| <= r (input_bound cl).
  move=> j_lt; apply: le_trans inputs_bound; have j_lt' : (j < n_inputs c)%N by rewrite -first_width.
  rewrite -[x' j](subrK (act width start (input_of bits) 1 j)) addrC; apply: le_trans (ler_norm_add _ _) (ler_add _ (le_trans (near_x j j_lt) radius_ok)).
  by rewrite small_inputsE // normrM (ger0_norm small_ge0) normr_nat; case: nth; rewrite ?mulr1 ?mulr0.
split=> // p is_frozen.
have [act_le tangent_le stable [out slopes]] := frozen_shown exclusive_ near_x is_frozen planned fits.
have near_out := output_value exclusive_ near_x is_frozen planned fits.
have pulls k := output_speed exclusive_ near_x is_frozen planned fits y (k := k).
have [res run_le take_le _] := noise_bounds fits (is_active c st).
set val := worth_of _ in out near_out; set tan := speed_of _ in slopes pulls.
set v := output L (fun l => width l.+1) p x'; have v_is : v = form_value val (out_form q) := out.
rewrite -v_is in near_out; have [carrier_ge0 flip_ge0 _] := logic_ge0; have rate_ge0 := memory_rate_ge0.
have target_le : `|target R c lc st bits| <= high + 1.
  rewrite /target; apply: le_trans (ler_norm_add _ _) (ler_add _ _); rewrite normrM normr_nat.
    by rewrite (ger0_norm carrier_ge0); case: is_running; rewrite ?mulr1 ?mulr0.
  case: has_halted; rewrite ?mul1r ?mul0r ?ler01 //; case: says => [b|]; rewrite ?normr0 ?ler01 // label_value_is label_size //.
split.
- move=> [|l] j l_L j_lt; first exact: le_trans (x_small j j_lt) sigma_B.
  exact: act_le.
- apply: le_trans res; rewrite -/v (_ : v - label_of y = (v - target R c lc st bits) + (target R c lc st bits - label_of y)); last by ring.
  set noise := r (plan_noise lc _ q) in near_out *.
  have sum_le : `|(v - target R c lc st bits) + (target R c lc st bits - label_of y)| <= noise + (high + 1 + 1).
    apply: le_trans (ler_norm_add _ _) (ler_add near_out _); apply: le_trans (ler_norm_sub _ _) _.
    by rewrite label_size ler_add2r.
  by apply: le_trans (ler_add sum_le (lexx 1)) _; by_combination (0 : R).
move=> k mem k_lt; have s_is : slope L (fun l => width l.+1) p x' (at_bias R 0 k) * r (scale cl) = MlpPass.speed tan k (out_form q) := slopes k mem.
set s := MlpPass.speed tan k (out_form q) in s_is; have [pull_run pull_take pull_rest] := pulls k mem; rewrite -/s in pull_run pull_take pull_rest.
set g := goal R c st bits y k in pull_run pull_take pull_rest; have g_le : `|g| <= 2%:R := goal_le st bits y k.
have slope_is : slope L (fun l => width l.+1) p x' (at_bias R 0 k) = s / r (scale cl) by rewrite -s_is mulfK // gt_eqF.
have moved : held (cycle c st (bits, y)) k - held st k = r (scale cl) * g.
  rewrite /held /held_number !mulE -mulrBr; congr (_ * _).
  rewrite (_ : r (whole (lifted c _ k)) = real_of_Z R (lifted c (cycle c st (bits, y)) k)) // (_ : r (whole (lifted c st k)) = real_of_Z R (lifted c st k)) //.
  by rewrite /lifted !real_of_ZD opprD addrACA subrr add0r.
have s_le : `|s| <= r (memory_slope cl) * r (scale cl).
  have [one two] := slope_ok; case R1: (is_running c st).
    rewrite pull_run // normrN normrM (ger0_norm flip_ge0) mulrC; apply: le_trans one; exact: ler_wpmul2r.
  case T1: (takes c st); last by rewrite pull_rest ?R1 ?T1 // normr0 mulr_ge0 // ltW.
  rewrite pull_take // !normrM (ger0_norm carrier_ge0) (ger0_norm flip_ge0) label_value_is label_size mul1r mulrC; apply: le_trans two.
  by apply: ler_wpmul2r => //; exact: mulr_ge0.
split.
- move=> l l_in; rewrite -(ler_pmul2r scale_gt0); apply: le_trans (tangent_le k l mem l_in) (le_trans _ tangent_ok).
  by rewrite natrM; apply: ler_wpmul2r; [exact: ler0n | rewrite ler_nat; apply: widths; case/andP: l_in => _ l_L; exact: (leqW l_L)].
- by move=> l i l_in i_lt steep; apply: le_lt_trans margin_ok _; apply: stable steep.
- by rewrite slope_is normrM normfV (gtr0_norm scale_gt0) ler_pdivr_mulr.
- rewrite moved normrM (gtr0_norm scale_gt0) mulrC; apply: le_trans longest_ok; apply: ler_wpmul2r => //; exact: ltW.
rewrite moved slope_is -/v.
have -> : - (eta * ((v - label_of y) * (s / r (scale cl)))) - r (scale cl) * g = - (r (memory_rate cl) * s * (v - label_of y)) - r (scale cl) * g.
  by rewrite rateE; field; rewrite gt_eqF.
case R1: (is_running c st).
  have target_is : target R c lc st bits = high.
    by rewrite /target R1 mulr1; have /andP[/negbTE -> _] := R1; rewrite mul0r addr0.
  move: near_out; rewrite target_is /is_active R1 /= => near_out; apply: le_trans run_le; rewrite pull_run //.
  have -> : - (r (memory_rate cl) * - (flip * g) * (v - label_of y)) - r (scale cl) * g = (r (memory_rate cl) * flip) * g * (v - high - label_of y).
    by rewrite -take_rate; ring.
  rewrite normrM [`|_ * g|]normrM (ger0_norm (mulr_ge0 rate_ge0 flip_ge0)) [2%:R * _]mulrC; apply: ler_pmul => //.
    by apply: mulr_ge0 => //; exact: mulr_ge0.
    by apply: ler_wpmul2l => //; exact: mulr_ge0.
  by apply: le_trans (ler_norm_sub _ _) (ler_add near_out _); rewrite label_size.
case T1: (takes c st); last first.
  have g0 : g = 0 by apply: stopped_goal; rewrite ?R1 ?T1.
  by rewrite pull_rest ?R1 ?T1 // g0 !mulr0 mul0r oppr0 addr0 normr0.
have target_is : target R c lc st bits = 0.
  by rewrite /target R1 mulr0 add0r; move: T1; rewrite /takes => /andP[/andP[_ /negbTE ->] _]; rewrite mul0r.
move: near_out; rewrite target_is subr0 /is_active R1 T1 /= => near_out; apply: le_trans take_le; rewrite pull_take // label_value_is.
have -> : - (r (memory_rate cl) * (high * flip * (label_of y * g)) * (v - label_of y)) - r (scale cl) * g =
    - (r (scale cl) * (label_of y * g) * v) + r (scale cl) * g * (label_of y * label_of y - 1) by rewrite -take_rate; ring.
rewrite label_square subrr mulr0 addr0 normrN normrM [`|_ * (_ * _)|]normrM [`|_ * g|]normrM label_size mul1r (gtr0_norm scale_gt0).
apply: ler_pmul => //; first by apply: mulr_ge0 => //; exact: ltW.
by rewrite mulrC; apply: ler_wpmul2r => //; exact: ltW.
Qed.

(** The output of a network whose memory stands for a halted state. *)
Lemma right_answer st bits b x' p :
  exclusive c st bits -> has_halted c st -> says c st bits = Some b ->
  (forall j, (j < width 1)%N -> `|x' j - act width start (input_of bits) 1 j| <= input_error) ->
  frozen (fun l => width l.+1) memory (tail start) held (r (tolerance cl)) st x' p ->
  `|output L (fun l => width l.+1) p x' - label_of b| + nu <= r (answer_error cl).
Proof.
move=> exclusive_ halted said_ near_x is_frozen; have [_ _ _ [q planned fits]] := parts.
have [_ _ _ [out _]] := frozen_shown exclusive_ near_x is_frozen planned fits.
have near_out := output_value exclusive_ near_x is_frozen planned fits.
have [_ _ _ ans] := noise_bounds fits false; apply: le_trans ans; rewrite ler_add2r.
have -> : output L (fun l => width l.+1) p x' = form_value _ (out_form q) := out.
have quiet : is_active c st = false by rewrite /is_active /is_running /takes halted /= andbF.
have target_is : target R c lc st bits = label_of b by rewrite /target /is_running halted said_ /= mulr0 add0r mul1r.
by move: near_out; rewrite quiet target_is.
Qed.

(** *** Every stream *)

Let input_le bits j : `|input_of bits j| <= 1.
Proof. by rewrite /input_of /label_of /sign_of; case: (nth _ _ _); rewrite /= ?normrN normr1. Qed.

(** Sums are exclusive on the way. *)
Definition exclusive_along (stream : nat -> Circuit.sample) (t : nat) : Prop := forall i, (i < t)%N -> exclusive c (cycles c stream i) (stream i).1.

Let reached_always stream t :
  (forall i, is_sample c (stream i)) -> (t <= T)%N -> exclusive_along stream t ->
  whole_reached L width memory start held eta T (widest cl net) (r (input_bound cl)) (r (act_bound cl)) K (r (residual_bound cl))
    (r (memory_slope cl)) (r (memory_tangent cl)) (r (longest_step cl)) (r (frozen_error cl)) (r (first_column cl)) 1
    t (cycles c stream t) (trained stream t).
Proof.
move=> samples; elim: t => [|t IH] t_T apart; last first.
  have right := right_frozen (stream t).2 (apart t (ltnSn t)) (samples t).
  rewrite -surjective_pairing in right; have {}IH := IH (ltnW t_T) (fun i i_lt => apart i (ltnW i_lt)).
  exact: (whole_step one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0 first_ge0 widths K_ge1 columns
    nu_small enough first_columns (lexx 1) t_T (fun j _ => input_le _ j) right IH).
split; last 2 first.
- by move=> i _; rewrite /= subrr normr0 mul0r.
- by move=> i j _ _; rewrite /= subrr normr0 mul0r.
split=> [l i _ _ _|l i j _ _ _ _|k mem k_lt|k j mem k_lt j_lt]; rewrite mul0r ?subrr ?normr0 //.
  have := allP empty k; rewrite mem_iota add0n mem => /(_ isT)/andP[_ same]; have := real_nonzero R same.
  by rewrite real_plus real_minus /held => ->; rewrite normr0.
have := allP empty k; rewrite mem_iota add0n mem => /(_ isT)/andP[/nilP none _].
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

Theorem fitting_mlp_run stream t :
  (forall i, is_sample c (stream i)) -> (t <= T)%N -> exclusive_along stream t ->
  [/\ forall k, (k < n_memory c)%N -> `|bias (trained stream t) 1 k - held (cycles c stream t) k| <= r (scale cl) / 8%:R,
      forall l i, (l < size net)%N -> (i < width l.+1)%N -> ~~ ((l == 1%N) && (i < n_memory c)%N) ->
        `|bias (trained stream t) l i - bias start l i| <= r (drift_bound cl),
      forall l i j, (l < size net)%N -> (i < width l.+1)%N -> (j < width l)%N ->
        `|mat (trained stream t) l i j - mat start l i j| <= r (drift_bound cl)
    & has_halted c (cycles c stream t) -> forall bits b, bits \in fronts c -> exclusive c (cycles c stream t) bits -> says c (cycles c stream t) bits = Some b ->
        `|output L.+1 width (trained stream t) (input_of bits) - label_of b| <= r (answer_error cl)].
Proof.
move=> samples t_T apart; have here := reached_always samples t_T apart.
have [[near_bias near_mat near_held near_zero] first_b first_m] := here.
have upto (a : R) : 0 <= a -> t%:R * a <= T%:R * a by move=> a_ge0; rewrite ler_wpmul2r // ler_nat.
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
    move: i_lt j_lt; rewrite l0 => i_lt j_lt; have := allP empty i; rewrite mem_iota add0n mem => /(_ isT)/andP[/nilP none _].
    rewrite [mat start 1 i j]/= none big_nil subr0; apply: le_trans (near_zero i j mem i_lt j_lt) _.
    apply: le_trans (upto _ input_step_ge0) _.
    have := in_bound (a := mul (steps_number cl) (input_step_number cl net)); rewrite !inE eqxx !orbT => /(_ isT).
    by rewrite mulE input_stepE real_of_nat.
  apply: le_trans (near_mat l i j l_L i_lt j_lt _) _; first by move: other; rewrite negb_and lt0n.
  apply: le_trans (upto _ drift_step_ge0) _.
  by have := in_bound (a := (drift_number cl net)); rewrite !inE eqxx => /(_ isT); rewrite driftE.
move=> halted bits b front now said.
have [x' [q [near_x q_frozen near_out]]] := whole_output one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0
  longest_ge0 first_ge0 widths K_ge1 columns nu_small enough first_columns (lexx 1) t_T (fun j _ => input_le _ j)
  (right_frozen b now front) here.
have right := right_answer now halted said near_x q_frozen.
apply: le_trans right; set o := output _ _ (trained _ _) _; set o' := output _ _ q _ in near_out *.
have -> : o - label_of b = (o' - label_of b) + (o - o') by ring.
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
Qed.

End Sound.

(** Where sums are exclusive in all states that can be reached, they are on every way. *)
Lemma always_exclusiveP cl stream t bits :
  always_exclusive cl -> (forall i, is_sample (claimed_circuit cl) (stream i)) -> bits \in fronts (claimed_circuit cl) ->
  exclusive (claimed_circuit cl) (cycles (claimed_circuit cl) stream t) bits.
Proof.
rewrite /always_exclusive; case: ifP => [_ /andP[closed_ /allP every] samples front|/negbT none _ _ _].
  exact: (allP (every _ (cycles_inside t closed_ samples))).
rewrite /exclusive; move: (cycles _ _ _) => st; elim: (gates _) [::] none => //= g gs IH values; rewrite negb_or => /andP[no none].
by rewrite IH // andbT; case: g no.
Qed.

Theorem certified_mlp_run cl net (R : realFieldType) stream t :
  let c := claimed_circuit cl in
  certified_mlp cl net -> (forall i, is_sample c (stream i)) -> (t <= horizon cl)%N ->
  let p := trained cl net R stream t in
  [/\ forall k, (k < n_memory c)%N -> `|bias p 1 k - held cl R (cycles c stream t) k| <= real R (scale cl) / 8%:R,
      forall l i, (l < size net)%N -> (i < width_of (n_inputs c) net l.+1)%N -> ~~ ((l == 1%N) && (i < n_memory c)%N) ->
        `|bias p l i - bias (start_of R net) l i| <= real R (drift_bound cl),
      forall l i j, (l < size net)%N -> (i < width_of (n_inputs c) net l.+1)%N -> (j < width_of (n_inputs c) net l)%N ->
        `|mat p l i j - mat (start_of R net) l i j| <= real R (drift_bound cl)
    & has_halted c (cycles c stream t) -> forall bits b, bits \in fronts c -> says c (cycles c stream t) bits = Some b ->
        `|output (n_layers_after net).+1 (width_of (n_inputs c) net) p (input_of R bits) - label_of R b| <= real R (answer_error cl)].
Proof.
move=> c; rewrite /certified_mlp; case: ifP => // fits apart samples t_T.
have along_ : exclusive_along cl stream t by move=> i _; apply: always_exclusiveP => //; exact: samples.
have [registers biases weights answers] := fitting_mlp_run R fits samples t_T along_.
by split=> // halted bits b front; apply: answers => //; exact: always_exclusiveP.
Qed.

(** No sample moves a circuit that has halted. *)
Theorem halted_rests c st s : has_halted c st -> cycle c st s = st.
Proof. by rewrite /cycle /takes /ran /has_halted => halted; rewrite halted andbF. Qed.
