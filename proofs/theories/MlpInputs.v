(** Theorem 5 for the network as it is built: a layer before the memory makes the inputs small, and is trained too.

    [tail p] is the network from the memory's layer on. A step of SGD on the whole network is a step of SGD on its tail, on the
    sample that the first layer passes on; the first layer itself drifts by little, since all that it moves is read through
    weights that are small or belong to no memory. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Terms Mlp MlpDrift MlpTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition tail (R : Type) (p : mlp R) : mlp R := Mlp (fun l => mat p l.+1) (fun l => bias p l.+1).

Section Tail.

Variable R : realFieldType.
Variables (L : nat) (width : nat -> nat).
Notation width' := (fun l => width l.+1).
Variables (p : mlp R) (x : nat -> R).
Notation x' := (act width p x 1).
Notation p' := (tail p).

Lemma act_tail l i : act width' p' x' l i = act width p x l.+1 i.
Proof.
elim: l i => [//|l IH] i; rewrite !actS /pre; congr (relu (_ + _)).
by apply: total_eq => j _; rewrite IH.
Qed.

Lemma pre_tail l i : pre width' p' x' l i = pre width p x l.+1 i.
Proof. by rewrite /pre; congr (_ + _); apply: total_eq => j _; rewrite act_tail. Qed.

Lemma output_tail : output L width' p' x' = output L.+1 width p x.
Proof. exact: pre_tail. Qed.

Lemma tangent_tail l0 i0 l i :
  act_tangent width' p' x' (at_bias R l0 i0) l i = act_tangent width p x (at_bias R l0.+1 i0) l.+1 i /\
  pre_tangent width' p' x' (at_bias R l0 i0) l i = pre_tangent width p x (at_bias R l0.+1 i0) l.+1 i.
Proof.
have lift l1 i1 : (forall k, act_tangent width' p' x' (at_bias R l0 i0) l1 k = act_tangent width p x (at_bias R l0.+1 i0) l1.+1 k) ->
    pre_tangent width' p' x' (at_bias R l0 i0) l1 i1 = pre_tangent width p x (at_bias R l0.+1 i0) l1.+1 i1.
  by move=> IH; rewrite !pre_tangent_bias; congr (_ + _); apply: total_eq => j _; rewrite IH.
elim: l i => [|l IH] i.
  by split; [rewrite [RHS]tangent_before | apply: lift => k; rewrite [RHS]tangent_before].
have IH' k : act_tangent width' p' x' (at_bias R l0 i0) l.+1 k = act_tangent width p x (at_bias R l0.+1 i0) l.+2 k.
  by rewrite [LHS]act_tangentS [RHS]act_tangentS pre_tail (IH k).2.
by split; [exact: IH' | exact: lift].
Qed.

Lemma slope_tail l i : slope L width' p' x' (at_bias R l i) = slope L.+1 width p x (at_bias R l.+1 i).
Proof. exact: (tangent_tail l i L 0).2. Qed.

(** The chain rule: a unit of the first layer reaches the output through the units that read it. *)
Lemma slope_first i :
  (i < width 1)%N -> (0 < width L.+2)%N ->
  slope L.+1 width p x (at_bias R 0 i) =
  (if 0 < pre width p x 0 i then 1 else 0) * total (width 2) (fun j => mat p 1 j i * slope L width' p' x' (at_bias R 0 j)).
Proof.
move=> i_lt out_lt; set g : R := if _ then 1 else 0.
have there v : act_tangent width p x (at_bias R 0 i) 1 v = if v == i then g else 0.
  by rewrite tangent_there /g; case: eqP => [->|//] /=; case: ifP.
suff all_l l u : (u < width l.+2)%N -> pre_tangent width p x (at_bias R 0 i) l.+1 u =
    g * total (width 2) (fun j => mat p 1 j i * pre_tangent width' p' x' (at_bias R 0 j) l u) by exact: all_l.
elim: l u => [|l IH] u u_lt.
  rewrite pre_tangent_bias add0r (total_one i_lt) => [|v _ v_i]; last first.
    by rewrite there (negbTE v_i) mulr0.
  rewrite there eqxx mulrC (total_one u_lt) => [|j _ j_u]; last first.
    by rewrite pre_tangent_bias eq_sym (negbTE j_u) andbF add0r total_zero ?mulr0 // => v _; rewrite mulr0.
  by rewrite pre_tangent_bias !eqxx total_zero ?addr0 ?mulr1 // => v _; rewrite mulr0.
rewrite pre_tangent_bias add0r -total_mull.
have inner v : (v < width l.+2)%N -> mat p l.+2 u v * act_tangent width p x (at_bias R 0 i) l.+2 v =
    total (width 2) (fun j => g * (mat p 1 j i * (mat p l.+2 u v * act_tangent width' p' x' (at_bias R 0 j) l.+1 v))).
  move=> v_lt; rewrite act_tangentS IH // -pre_tail; case pos: (0 < pre width' p' x' l v); last first.
    by rewrite mulr0 total_zero // => j _; rewrite act_tangentS pos !mulr0.
  by rewrite mulrCA -!total_mull; apply: total_eq => j _; rewrite act_tangentS pos; ring.
rewrite (total_eq inner) !totalE; under eq_bigr do rewrite totalE; rewrite exchange_big; apply: eq_bigr => j _.
rewrite -!mulr_sumr pre_tangent_bias add0r totalE.
by [].
Qed.

End Tail.

Section Whole.

Variable R : realFieldType.

(** The whole network has L + 2 layers; the memory is the biases of some units of layer 1. *)
Variables (L : nat) (width : nat -> nat) (memory : nat -> bool) (start : mlp R).
Notation width' := (fun l => width l.+1).
Hypothesis one_output : width L.+2 = 1%N.
Hypothesis L_gt0 : (0 < L)%N.

Variables (state : Type) (held : state -> nat -> R).
Variables (eta : R) (T : nat).
Hypothesis eta_ge0 : 0 <= eta.
Variables (N : nat) (sigma B : R) (K : nat -> R) (Q S theta longest first_error tolerance : R).
Hypotheses (sigma_ge0 : 0 <= sigma) (B_ge0 : 0 <= B) (Q_ge0 : 0 <= Q) (S_ge0 : 0 <= S) (theta_ge0 : 0 <= theta).
Hypotheses (longest_ge0 : 0 <= longest) (first_ge0 : 0 <= first_error).
Hypothesis widths : forall l, (l <= L.+2)%N -> (width l <= N)%N.
Hypothesis K_ge1 : forall l, 1 <= K l.

Notation G := (gain K L.+1).
Notation drift := (drift L eta T B K Q).
Notation nu := (nu L eta T N B K Q).
Notation slope_off := (slope_off L eta T N B K Q theta).
Notation input_step := (input_step L eta T N sigma B K Q S theta longest first_error).
Notation step_error := (step_error L eta T N B K Q S theta first_error).

(** ** The inequalities of theorem 5, for the layers from the memory on *)

Hypothesis columns : forall l j, (0 < l <= L)%N -> (j < width l.+1)%N -> (l = 1%N -> ~~ memory j) ->
  norm (width l.+2) (fun i => mat start l.+1 i j) + N%:R * drift <= K l.
Hypothesis nu_small : nu <= 1.
Hypothesis enough : T%:R * (step_error + N%:R * (input_step * sigma)) <= tolerance.

(** ** The first layer *)

(** Columns of layer 1 without the memory's rows; the largest input. *)
Variables (first_column largest_input : R).
Hypothesis first_columns : forall j, (j < width 1)%N ->
  total (width 2) (fun i => if memory i then 0 else `|mat start 1 i j|) + N%:R * drift <= first_column.
Hypothesis input_ge1 : 1 <= largest_input.

(** How fast the output changes with a unit of the first layer; how far such a weight moves in one step; and how far the inputs
    of the memory's layer then are from where they started. *)
Definition first_slope : R := first_column * G + N%:R * (T%:R * input_step) * (S + slope_off).
Definition first_drift : R := eta * (Q * (first_slope * largest_input)).
Definition input_error : R := T%:R * first_drift * (N%:R * largest_input + 1).

Definition whole_reached (t : nat) (st : state) (p : mlp R) : Prop :=
  [/\ reached L width' memory (tail start) held eta T N sigma B K Q S theta longest first_error t st (tail p),
      forall i, (i < width 1)%N -> `|bias p 0 i - bias start 0 i| <= t%:R * first_drift
    & forall i j, (i < width 1)%N -> (j < width 0)%N -> `|mat p 0 i j - mat start 0 i j| <= t%:R * first_drift].

(** What is asked of the frozen network: that theorem 5's frozen step is right, wherever the first layer's drift may have put the
    inputs of the memory's layer. *)
Definition whole_frozen_step (after st : state) (x : nat -> R) (y : R) : Prop :=
  forall x', (forall j, (j < width 1)%N -> `|x' j - act width start x 1 j| <= input_error) ->
  frozen_step L width' memory (tail start) (fun _ _ => after) held eta T N sigma B K Q S theta longest first_error tolerance
    st (x', y).

Let G_ge0 : 0 <= G. Proof. exact: gain_ge0. Qed.
Let drift_ge0 : 0 <= drift.
Proof. exact: mulr_ge0 (ler0n _ _) (mulr_ge0 eta_ge0 (mulr_ge0 Q_ge0 (mulr_ge0 G_ge0 (addr_ge0 B_ge0 ler01)))). Qed.
Let widths' l : (l <= L.+1)%N -> (width l.+1 <= N)%N. Proof. by move=> l_L; apply: widths. Qed.
Let slope_off_ge0 : 0 <= slope_off.
Proof. exact: mulr_ge0 (mulr_ge0 (ler0n _ _) (mulr_ge0 (mulr_ge0 (ler0n _ _) drift_ge0) theta_ge0)) G_ge0. Qed.
Let step_error_ge0 : 0 <= step_error.
Proof.
apply: addr_ge0 => //; apply: mulr_ge0 => //; apply: addr_ge0; apply: mulr_ge0 => //.
exact: value_error_ge0.
Qed.
Let input_step_ge0 : 0 <= input_step. Proof. exact: mulr_ge0 (addr_ge0 longest_ge0 step_error_ge0) sigma_ge0. Qed.
Let column_ge0 : (0 < width 1)%N -> 0 <= first_column.
Proof.
move=> some; apply: le_trans (first_columns some); apply: addr_ge0; last exact: mulr_ge0 (ler0n _ _) drift_ge0.
by apply: total_ge0 => i _; case: ifP.
Qed.
Let first_slope_ge0 : (0 < width 1)%N -> 0 <= first_slope.
Proof.
move=> some; apply: addr_ge0; first exact: mulr_ge0 (column_ge0 some) G_ge0.
by apply: mulr_ge0; [exact: mulr_ge0 (ler0n _ _) (mulr_ge0 (ler0n _ _) input_step_ge0) | exact: addr_ge0].
Qed.
Let input_ge0 : 0 <= largest_input. Proof. exact: le_trans ler01 input_ge1. Qed.
Let first_drift_ge0 : (0 < width 1)%N -> 0 <= first_drift.
Proof. by move=> some; apply: mulr_ge0 => //; apply: mulr_ge0 => //; apply: mulr_ge0 => //; apply: first_slope_ge0. Qed.

(** The inputs of the memory's layer are near where they started. *)
Lemma inputs_near t st x p :
  (t <= T)%N -> (forall j, (j < width 0)%N -> `|x j| <= largest_input) -> whole_reached t st p ->
  forall j, (j < width 1)%N -> `|act width p x 1 j - act width start x 1 j| <= input_error.
Proof.
move=> t_T x_le [_ near_b near_m] j j_lt; have some : (0 < width 1)%N by exact: leq_ltn_trans j_lt.
have d0 := first_drift_ge0 some.
have t_le : t%:R * first_drift <= T%:R * first_drift by rewrite ler_wpmul2r // ler_nat.
rewrite !actS; apply: le_trans (relu_distance _ _) _; rewrite /pre.
have -> : bias p 0 j + total (width 0) (fun i => mat p 0 j i * act width p x 0 i) -
    (bias start 0 j + total (width 0) (fun i => mat start 0 j i * act width start x 0 i)) =
    (bias p 0 j - bias start 0 j) + (total (width 0) (fun i => mat p 0 j i * x i) - total (width 0) (fun i => mat start 0 j i * x i)).
  by rewrite /=; ring.
rewrite total_sub /input_error mulrDr mulr1 addrC; apply: le_trans (ler_norm_add _ _) _.
apply: ler_add; last exact: le_trans (near_b j j_lt) t_le.
apply: le_trans (total_norm _ _) _.
apply: (@le_trans _ _ ((width 0)%:R * (T%:R * first_drift * largest_input))).
  rewrite -total_const; apply: total_le => i i_lt.
  rewrite -mulrBl normrM; apply: ler_pmul => //; last exact: x_le.
  exact: le_trans (near_m j i j_lt i_lt) t_le.
rewrite mulrCA ler_wpmul2l //; first exact: mulr_ge0 (ler0n _ _) d0.
by rewrite ler_wpmul2r // ler_nat widths.
Qed.

Lemma reached_same t st p q :
  (forall l i, (l <= L)%N -> (i < width l.+2)%N -> bias p l i = bias q l i) ->
  (forall l i j, (l <= L)%N -> (i < width l.+2)%N -> (j < width l.+1)%N -> mat p l i j = mat q l i j) ->
  reached L width' memory (tail start) held eta T N sigma B K Q S theta longest first_error t st p ->
  reached L width' memory (tail start) held eta T N sigma B K Q S theta longest first_error t st q.
Proof.
move=> same_b same_m [a b c d]; split.
- by move=> l i l_L i_lt other; rewrite -same_b //; apply: a.
- by move=> l i j l_L i_lt j_lt other; rewrite -same_m //; apply: b.
- by move=> k mem k_lt; rewrite -same_b //; apply: c.
by move=> k j mem k_lt j_lt; rewrite -same_m //; apply: d.
Qed.

(** One step of SGD on all weights of the whole network is one step of the circuit. *)
Theorem whole_step t after st x y p :
  (t < T)%N -> (forall j, (j < width 0)%N -> `|x j| <= largest_input) -> whole_frozen_step after st x y ->
  whole_reached t st p -> whole_reached t.+1 after (sgd_step L.+1 width eta (x, y) p).
Proof.
move=> t_T x_le right here; have [tail_here near_b near_m] := here.
have near_x := inputs_near (ltnW t_T) x_le here.
have frozen_right := right _ near_x.
have next_tail := mlp_step (start := tail start) one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0 first_ge0 widths' K_ge1
  columns nu_small enough t_T frozen_right tail_here.
have [_ residual _ slope_other slope_memory] := drifted (start := tail start) one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0
  first_ge0 widths' K_ge1 columns nu_small enough (ltnW t_T) frozen_right tail_here.
rewrite output_tail in residual.
have out_lt : (0 < width L.+2)%N by rewrite one_output.
have first_le i : (i < width 1)%N -> `|slope L.+1 width p x (at_bias R 0 i)| <= first_slope.
  move=> i_lt; rewrite slope_first // normrM; apply: le_trans (_ : 1 * _ <= _).
    by apply: ler_wpmul2r => //; case: ifP => _; rewrite ?normr1 ?normr0 ?ler01.
  rewrite mul1r; apply: le_trans (total_norm _ _) _.
  have [_ near_mat _ near_zero] := tail_here.
  apply: (@le_trans _ _ (total (width 2) (fun j => (if memory j then 0 else `|mat p 1 j i|) * G) +
      total (width 2) (fun j => (T%:R * input_step) * (S + slope_off)))).
    rewrite -total_add; apply: total_le => j j_lt; rewrite normrM; case mem: (memory j).
      rewrite mul0r add0r; apply: ler_pmul => //; last exact: (slope_memory j mem j_lt).1.
      apply: le_trans (near_zero j i mem j_lt i_lt) _.
      by rewrite ler_wpmul2r // ler_nat ltnW.
    apply: le_trans (_ : _ <= `|mat p 1 j i| * G) _; last by rewrite ler_addl; exact: mulr_ge0 (mulr_ge0 (ler0n _ _) input_step_ge0) (addr_ge0 S_ge0 slope_off_ge0).
    by apply: ler_wpmul2l => //; apply: slope_other => //; rewrite mem.
  rewrite /first_slope; apply: ler_add; last first.
    rewrite total_const mulrA; apply: ler_wpmul2r; first exact: addr_ge0.
    by rewrite ler_wpmul2r ?ler_nat ?widths //; exact: mulr_ge0 (ler0n _ _) input_step_ge0.
  have -> : total (width 2) (fun j => (if memory j then 0 else `|mat p 1 j i|) * G) =
      G * total (width 2) (fun j => if memory j then 0 else `|mat p 1 j i|).
    by rewrite -total_mull; apply: total_eq => j _; rewrite mulrC.
  rewrite mulrC; apply: ler_wpmul2r => //; apply: le_trans (first_columns i_lt).
  apply: (@le_trans _ _ (total (width 2) (fun j => (if memory j then 0 else `|mat start 1 j i|) + drift))); last first.
    by rewrite total_add total_const ler_add2l ler_wpmul2r // ler_nat widths.
  apply: total_le => j j_lt; case mem: (memory j); first by rewrite add0r.
  have -> : mat p 1 j i = mat start 1 j i + (mat p 1 j i - mat start 1 j i) by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
  have /= near := near_mat 0%N j i (leq0n _) j_lt i_lt (negbT mem); apply: le_trans near _.
  apply: ler_wpmul2r; last by rewrite ler_nat ltnW.
  exact: mulr_ge0 eta_ge0 (mulr_ge0 Q_ge0 (mulr_ge0 G_ge0 (addr_ge0 B_ge0 ler01))).
have one_more (n : nat) (a : R) : n.+1%:R * a = n%:R * a + a by rewrite mulrS mulrDl mul1r addrC.
split.
- apply: reached_same next_tail => [l i l_L i_lt|l i j l_L i_lt j_lt] /=; rewrite output_tail ?slope_tail //.
  by rewrite !slope_weight // act_tail slope_tail.
- move=> i i_lt; rewrite /= one_more addrAC; apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; first exact: near_b.
  rewrite !normrM (ger0_norm eta_ge0); apply: ler_wpmul2l => //; apply: ler_pmul => //.
  by apply: le_trans (first_le i i_lt) _; rewrite ler_pemulr // first_slope_ge0 // (leq_ltn_trans _ i_lt).
move=> i j i_lt j_lt; rewrite /= one_more addrAC; apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; first exact: near_m.
rewrite slope_weight // !normrM (ger0_norm eta_ge0); apply: ler_wpmul2l => //; apply: ler_pmul => //; first exact: mulr_ge0.
by rewrite mulrC; apply: ler_pmul => //; [exact: first_le | exact: x_le].
Qed.

(** The output on any input is within [nu] of a frozen network's, whose memory is near the circuit's. *)
Theorem whole_output t after st x y p :
  (t <= T)%N -> (forall j, (j < width 0)%N -> `|x j| <= largest_input) -> whole_frozen_step after st x y ->
  whole_reached t st p ->
  exists x' q, [/\ forall j, (j < width 1)%N -> `|x' j - act width start x 1 j| <= input_error,
    frozen width' memory (tail start) held tolerance st x' q &
    `|output L.+1 width p x - output L width' q x'| <= nu].
Proof.
move=> t_T x_le right here; have [tail_here _ _] := here; have near_x := inputs_near t_T x_le here.
have frozen_right := right _ near_x.
have [near _ _ _ _] := drifted (start := tail start) one_output L_gt0 eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0
  first_ge0 widths' K_ge1 columns nu_small enough t_T frozen_right tail_here.
exists (act width p x 1), (thawed memory (tail start) (tail p)); split=> //.
  have [/= x_small _] := frozen_right.
  exact: (thawed_frozen (start := tail start) eta_ge0 sigma_ge0 B_ge0 Q_ge0 S_ge0 theta_ge0 longest_ge0 first_ge0 widths' K_ge1 enough t_T x_small tail_here).
by rewrite -output_tail.
Qed.

End Whole.
