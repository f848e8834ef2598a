(** From proof to program, for streams: a checker that decides whether an exported graph is the network of theorem 4 for a
    machine that takes and latches samples, and the theorem for every graph it accepts. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Training Network Machine Encoding Terms Plain PlainValue.
From Luge Require Import Checker ExtendedTheorem ExtendedChecker Wiring StreamMachine Stream StreamValue StreamTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** What is claimed of a graph: the machine it runs, the number of cells of its tapes, the states that take and those that
    latch, the shape of y, where the bits of a batch lie and theta, A and 1/A, the largest label, and the node of f_theta(x). *)
Record stream_claim := StreamClaim {
  streamed_machine : machine;
  streamed_cells : nat;
  taking_states : seq nat;
  latching_states : seq nat;
  streamed_labels : shape;
  streamed_wires : wires;
  streamed_carrier : number;
  streamed_inverse : number;
  largest_label : number;
  streamed_primary : nat
}.

(** Parameters come in this order: X, the vertex, the tapes, the heads, z. *)
Definition stream_places : places := Places 1 2 3.

Section Claimed.

Variable sc : stream_claim.
Let m := streamed_machine sc.
Let tau := streamed_cells sc.
Let s := streamed_labels sc.
Let wr := streamed_wires sc.
Let takes : pred nat := fun q => q \in taking_states sc.
Let latches : pred nat := fun q => q \in latching_states sc.

Definition stream_parameters : seq parameter :=
  [seq ParameterOf sh (Descent one) | sh <- [:: (n_data_bits s wr, 1%N); (size (table m), 1%N); (n_writable m, tau); (n_tapes m, tau); s]].

(** x is input 0, y is input 1. *)
Definition claimed_stream_loss (primary : expression) : expression :=
  loss_of_stream m tau takes latches stream_places 0 4 0 1 s wr (streamed_carrier sc) (streamed_inverse sc) primary.
Definition claimed_stream_output (primary : expression) : expression :=
  output_of_stream m tau takes latches stream_places 0 4 0 s wr (streamed_carrier sc) (streamed_inverse sc) primary.
Definition claimed_stream_theta : expression := wired_theta m tau stream_places wr (shown_memory m tau 0 s wr).

Definition fraction_bits : nat := if number_format wr is Fixed _ fraction _ then fraction else 0.
Definition is_fixed : bool := if number_format wr is Fixed _ _ _ then true else false.

(** 16 Y <= A, 4 Y^2 2^F <= A, and the inverse is one. *)
Definition carrier_fits : bool :=
  let A := streamed_carrier sc in let Y := largest_label sc in
  [&& at_most (mul (whole 16) Y) A, at_most (mul (mul (whole 4) (mul Y Y)) (whole (power fraction_bits))) A,
      at_most (mul (streamed_inverse sc) A) one & at_most one (mul (streamed_inverse sc) A)].

Definition certified_stream (net : network) : bool :=
  [&& well_formed m && (n_writable m < n_tapes m)%N, wires_fit m tau s wr && is_fixed, (0 < s.1)%N && (0 < s.2)%N,
      two_between m takes latches && carrier_fits &
      list_eqb parameter_eqb (parameters net) stream_parameters &&
      if expressions net is Some es then
        let primary := nth (scalar zero) es (streamed_primary sc) in
        [&& frozen primary, shape_of primary == s, through claimed_stream_theta primary, only_x (claimed_stream_output primary) &
            if loss_expression net is Some e then expression_eqb e (claimed_stream_loss primary) else false]
      else false].

(** ** What the checker is worth *)

Variable net : network.
Hypothesis checked : certified_stream net.

Let primary := node_of net (streamed_primary sc).

Lemma stream_parts :
  [/\ well_formed m /\ (n_writable m < n_tapes m)%N, wires_fit m tau s wr /\ is_fixed,
      (0 < s.1)%N && (0 < s.2)%N, two_between m takes latches /\ carrier_fits
    & [/\ parameters net = stream_parameters, frozen primary, shape_of primary = s,
          through claimed_stream_theta primary /\ only_x (claimed_stream_output primary)
        & loss_expression net = Some (claimed_stream_loss primary)]].
Proof.
case/and5P: checked => /andP[ok mem] /andP[fit fixed] sides /andP[between levels] /andP[/(list_eqbE parameter_eqbE) ps rest].
split=> //; move: rest; rewrite /primary /node_of; case: (expressions net) => //= es /and5P[fr /eqP sh th no_y].
by case: (loss_expression net) => // e /expression_eqbE ->.
Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** Of the bits of numbers: they are 1 and -1, they round to nearest, and a number depends on the signs of its bits alone. *)
Definition reads_signs : Prop := forall g (a b : nat -> R),
  (forall k, (k < n_bits g)%N -> (0 < a k) = (0 < b k)) -> number_of_bits arith g a = number_of_bits arith g b.

Hypothesis signs : bits_are_signs arith.
Hypothesis rounds : rounds_to_nearest arith.
Hypothesis thresholds : reads_signs.

(** The samples: step [k] is fed x and y of sample [k]; labels are in the format and no larger than claimed. *)
Variable samples : nat -> nat -> matrix R.
Hypothesis labels_le : forall k i j, (i < s.1)%N -> (j < s.2)%N -> `|samples k 1%N i j| <= real R (largest_label sc).
Hypothesis labels_on_grid : forall k i j, (i < s.1)%N -> (j < s.2)%N -> on_grid fraction_bits (samples k 1%N i j).

(** Training the exported graph, step [k] on sample [k]. *)
Fixpoint trained (k : nat) (w : nat -> matrix R) : nat -> matrix R :=
  if k is k'.+1 then train_network net arith (samples k') (trained k' w) else w.

Notation stream_steps := (stream_steps m takes latches (feature_cell s wr) (label_cell s wr)
  (sample_bit arith 0 1 s wr samples) (sample_bit arith 0 1 s wr samples)).
Notation stands_for := (stands_for m tau stream_places 0 4 1 s wr (streamed_carrier sc) (streamed_inverse sc) samples
  (real R (largest_label sc))).

Let A := real R (streamed_carrier sc).
Let Y := real R (largest_label sc).

Lemma levels_real : [/\ 16%:R * Y <= A, 4%:R * Y ^+ 2 * 2%:R ^+ fraction_bits <= A & real R (streamed_inverse sc) * A = 1].
Proof.
have [_ _ _ [_ /and4P[gain labels inv_le inv_ge]] _] := stream_parts.
split; [have := real_at_most R gain | have := real_at_most R labels | apply/eqP; rewrite eq_le].
- by rewrite !real_mul.
- by rewrite !real_mul expr2 -[real R (whole (power _))]/(real_of_Z R (power fraction_bits)) real_power.
by have := real_at_most R inv_le; have := real_at_most R inv_ge; rewrite !real_mul => -> ->.
Qed.

(** Weights stand for a state of the machine by the five blocks that are trained. *)
Lemma stands_for_same w w' st :
  (forall p, (p < 5)%N -> forall i j, w p i j = w' p i j) -> stands_for w st -> stands_for w' st.
Proof.
move=> same [[x t h] [mem blank_] sl]; split; first split.
- by move=> v v_lt; rewrite -same //; apply: x.
- by move=> i j i_w j_tau; rewrite -same //; apply: t.
- by move=> i j i_d j_tau; rewrite -same //; apply: h.
- by split=> [b b_lt|//]; rewrite -same //; apply: mem.
by move=> i j i_s j_s; rewrite -same //; apply: sl.
Qed.

(** One step of training is a step of SGD with rate 1 on all of them. *)
Lemma train_is_sgd fed w p i j : (p < 5)%N ->
  train_network net arith fed w p i j =
  sgd_step arith m tau takes latches stream_places 0 4 0 1 s wr (streamed_carrier sc) (streamed_inverse sc) primary fed w p i j.
Proof.
have [_ _ _ _ [ps _ _ _ le]] := stream_parts; rewrite /train_network le ps /train_step.
by case: p => [|[|[|[|[|p]]]]] //= _; rewrite mul1r.
Qed.

(** Where training starts: the vertex, tapes and heads of a configuration, its cells of data in X, z = -A. *)
Definition stream_start (w : nat -> matrix R) (c : configuration) : Prop :=
  [/\ encodes m tau stream_places w c,
      forall b, (b < n_data_bits s wr)%N -> w 0%N b 0%N = sign R (cell c (n_writable m + data_row wr) (data_cell wr + b)),
      forall i j, (i < n_tapes m - n_writable m)%N -> (j < tau)%N -> ~~ is_data s wr i j ->
        cell c (n_writable m + i) j = blank_at wr i j
    & forall i j, (i < s.1)%N -> (j < s.2)%N -> w 4%N i j = - A].

(** For every stream of samples, every number of steps: training the exported graph runs the machine on the samples. Once it has
    halted, for every batch the gradient is zero, the output is f_theta(x), theta is what the machine left on its output cells,
    and f_theta(x) depends on x and theta alone. *)
Theorem certified_stream_run c k w :
  inside m tau c -> ~~ latches (now c) -> stream_start w c ->
  let st := stream_steps ^~ (Streaming c Ready) in
  (forall j, (j < k)%N -> stays_inside m tau (running_in (st j))) ->
  stands_for (trained k w) (st k) /\
  (halted m (running_in (st k)) -> forall batch,
    [/\ forall p i j, gradient arith (trained k w) batch (claimed_stream_loss primary) p i j = 0,
        forall i j, value arith (trained k w) batch (claimed_stream_output primary) i j = value arith (trained k w) batch primary i j,
        forall i, (i < n_weights wr)%N ->
          value arith (trained k w) batch claimed_stream_theta i 0%N = theta_of wr arith (running_in (st k)) i
      & forall w' batch', (forall i l, batch' 0%N i l = batch 0%N i l) ->
        (forall i l, value arith w' batch' claimed_stream_theta i l = value arith (trained k w) batch claimed_stream_theta i l) ->
        forall i l, value arith w' batch' primary i l = value arith (trained k w) batch primary i l]).
Proof.
have [[ok mem] [fit fixed] sides [between _] [ps fr sh [th _] le]] := stream_parts.
have [gain fine inv_ok] := levels_real.
have [integer [fraction [sign_magnitude format_is]]] : exists i f b, number_format wr = Fixed i f b.
  by move: fixed; rewrite /is_fixed; case: (number_format wr) => // i f b _; exists i, f, b.
have grid k0 i j : (i < s.1)%N -> (j < s.2)%N -> on_grid fraction (samples k0 1%N i j).
  by have := @labels_on_grid k0 i j; rewrite /fraction_bits format_is.
have fine' : 4%:R * Y ^+ 2 * 2%:R ^+ fraction <= A by move: fine; rewrite /fraction_bits format_is.
move=> c_in idle [enc held_ blank_ slot_] st stays.
have apart_ : uniq [:: vertex_at stream_places; tape_at stream_places; head_at stream_places; 0%N; 4%N] by [].
have start : stands_for w (Streaming c Ready).
  exact: (stands_at_start (samples := samples) (Y := Y) sides inv_ok labels_le gain enc held_ blank_ slot_).
have fair j : disciplined takes latches (st j).
  by apply: (disciplined_always _ _ _ _ ok _ between) => //; case: c_in.
have in_j j : (j <= k)%N -> inside m tau (running_in (st j)).
  by apply: inside_stream_steps.
have stands j : (j <= k)%N -> stands_for (trained j w) (st j).
  elim: j => [//|j IH] j_k; apply: (stands_for_same (fun p p_lt i l => esym (train_is_sgd _ _ i l p_lt))).
  exact: (stream_sgd_step 0 ok mem fit format_is sides apart_ sh fr signs rounds inv_ok labels_le grid gain fine' j
    (in_j j (ltnW j_k)) (stays j j_k) (fair j) (IH (ltnW j_k))).
split=> [|halts batch]; first exact: stands.
have near := stands k (leqnn k); have c_k := in_j k (leqnn k).
split.
- by move=> p i j; exact: (halted_gradient _ _ _ _ ok sh fr c_k near).
- by move=> i j; exact: (halted_output _ _ _ _ _ ok c_k near).
- move=> i i_lt; apply: thresholds => b b_lt.
  have [[_ t _] _ _] := near; case/and5P: fit => _ _ row_lt cell_le _.
  set p := (i * n_bits (number_format wr) + b)%N.
  have p_lt : (p < n_weights wr * n_bits (number_format wr))%N.
    apply: leq_trans (_ : (i * n_bits (number_format wr) + n_bits (number_format wr) <= _)%N); first by rewrite ltn_add2l.
    by rewrite addnC -mulSn leq_mul2r i_lt orbT.
  have j_lt : (theta_cell wr + p < tau)%N by apply: leq_trans cell_le; rewrite ltn_add2l.
  have tau0 : (0 < tau)%N by exact: leq_ltn_trans j_lt.
  have fits := memory_fits tau 0 s wr mem.
  rewrite -[X in (0 < X) = _]/(flat (shape_of (Plain.tapes m tau stream_places (Some (shown_memory m tau 0 s wr))))
    (value arith (trained k w) batch (Plain.tapes m tau stream_places (Some (shown_memory m tau 0 s wr))))
    (nth 0%N (iota (theta_row wr * tau + theta_cell wr) (n_weights wr * n_bits (number_format wr))) p)).
  rewrite nth_iota // (PlainValue.shape_tapes stream_places ok fits) /flat -addnA divnMDl // divn_small // addn0 modnMDl modn_small //.
  have d_gt : (theta_row wr < n_tapes m)%N by apply: leq_trans row_lt (writable_le ok).
  rewrite (PlainValue.value_tapes arith stream_places fits) // row_lt addnA.
  have := t _ _ row_lt j_lt; rewrite addnA.
  set v := trained _ _ _ _ _; set b0 := cell _ _ _ => near_v.
  have small : 15%:R^-1 *+ 2 < 1 :> R.
    have -> : 15%:R^-1 *+ 2 = 2%:R / 15%:R :> R by field.
    by rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
  move: near_v; rewrite ler_norml /sign => /andP[low high]; case: b0 low high => low high.
    by rewrite ltr01; move: low; rewrite ler_subr_addr => low; apply: lt_le_trans low; rewrite addrC subr_gt0.
  rewrite ltr0N1; apply/negbTE; rewrite -leNgt; move: high; rewrite opprK => high.
  by have := le_lt_trans high small; rewrite -ltr_subr_addr subrr => /ltW.
move=> w' batch' same_x same i l; apply: (through_theta _ same_x i l same th) => g a b ab.
by apply: thresholds => j j_lt; rewrite ab.
Qed.

(** Of what is fed, the output knows x alone. *)
Theorem certified_stream_without_labels w batch batch' i l :
  (forall i l, batch 0%N i l = batch' 0%N i l) ->
  value arith w batch (claimed_stream_output primary) i l = value arith w batch' (claimed_stream_output primary) i l.
Proof.
have [_ _ _ _ [_ _ _ [_ no_y] _]] := stream_parts => same; apply: only_x_value => // g a b ab.
by apply: thresholds => j j_lt; rewrite ab.
Qed.

End Claimed.
