(** What the carrier of a stream does: its output is A whatever the weights are, and its slope is that of D/A on the first
    entry, and that of -z on all entries where a sample is taken. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Terms Saturation Stream.
From Luge Require Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Carrier.

Variables (s : shape) (z_at y_at : nat) (large inverse : number).
Variables D take rest primary : expression.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed).

Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis D_shape : shape_of D = (1, 1)%N.
Hypothesis take_shape : shape_of take = (1, 1)%N.
Hypothesis primary_shape : shape_of primary = s.
Hypothesis take_fixed : forall direction, tangent direction take 0%N 0%N = 0.
Hypothesis inverse_ok : real R inverse * real R large = 1.

Notation z := (z s z_at).
Notation y := (y s y_at).
Notation pull := (pull s inverse D).
Notation swap := (swap s z_at take).
Notation carrier := (carrier s z_at large inverse D take).
Notation out := (stream_out s z_at large inverse D take rest primary).
Notation loss := (stream_loss s z_at y_at large inverse D take rest primary).

Let A := real R large.

Let difference := weighted (inverse, D) [:: (minus inverse, Stop D)].
Let difference_shape : shape_of difference = (1, 1)%N.
Proof. by rewrite /= D_shape. Qed.
Let difference_value : value difference 0%N 0%N = 0.
Proof. by rewrite /= D_shape /stretch /= real_minus mulNr subrr. Qed.
Let difference_tangent direction :
  tangent direction difference 0%N 0%N = real R inverse * tangent direction D 0%N 0%N.
Proof. by rewrite /= D_shape /stretch /= mulr0 addr0. Qed.

Let step_of_z := weighted (one, z) [:: (minus_one, Stop z)].
Let step_shape : shape_of step_of_z = s.
Proof. exact: shape_difference. Qed.

Lemma value_level l i j : (i < s.1)%N -> (j < s.2)%N -> value (level s l) i j = real R l.
Proof.
move=> i_s j_s; rewrite /= nth_nseq.
have -> : (i * s.2 + j < s.1 * s.2)%N; last by [].
apply: leq_trans (_ : (i * s.2 + s.2 <= _)%N); first by rewrite ltn_add2l.
by rewrite addnC -mulSn leq_mul2r i_s orbT.
Qed.

Lemma shape_pull : shape_of pull = s.
Proof.
rewrite /Stream.pull -/difference; move: difference difference_shape => e e_s.
by rewrite /= e_s; case: (s).
Qed.

Lemma shape_swap : shape_of swap = s.
Proof.
rewrite /Stream.swap -/step_of_z; move: step_of_z step_shape => e e_s.
by rewrite /= take_shape e_s; case: (s).
Qed.

Lemma value_pull i j : value pull i j = 0.
Proof.
rewrite /Stream.pull -/difference; move: difference difference_shape difference_value => e e_s e_v.
by rewrite -[LHS]/(stretch (shape_of e) (value e) i j * _) e_s stretch_scalar e_v mul0r.
Qed.

Lemma value_swap i j : (i < s.1)%N -> (j < s.2)%N -> value swap i j = 0.
Proof.
move=> i_s j_s; rewrite -[LHS]/(stretch (shape_of take) (value take) i j * stretch (shape_of step_of_z)
  (value step_of_z) i j) take_shape step_shape stretch_scalar stretch_in //.
have -> : value step_of_z i j = 0; last by rewrite mulr0.
by rewrite /= !stretch_in // mul1r mulN1r subrr.
Qed.

Lemma tangent_pull direction i j :
  (i < s.1)%N -> (j < s.2)%N ->
  tangent direction pull i j = ((i == 0%N) && (j == 0%N))%:R * (real R inverse * tangent direction D 0%N 0%N).
Proof.
move=> i_s j_s; have e_s := difference_shape.
rewrite -[LHS]/(stretch (shape_of difference) (tangent direction difference) i j *
  stretch s (value (Extended.axis s)) i j + stretch (shape_of difference) (value difference) i j *
  stretch s (fun _ _ => 0) i j).
by rewrite e_s !stretch_scalar !stretch_in // mulr0 addr0 (Extended.value_axis _ _ _ sides) // mulrC difference_tangent.
Qed.

Lemma tangent_swap direction i j :
  (i < s.1)%N -> (j < s.2)%N -> tangent direction swap i j = value take 0%N 0%N * direction z_at i j.
Proof.
move=> i_s j_s; rewrite -[LHS]/(stretch (shape_of take) (tangent direction take) i j *
  stretch (shape_of step_of_z) (value step_of_z) i j + stretch (shape_of take) (value take) i j *
  stretch (shape_of step_of_z) (tangent direction step_of_z) i j).
rewrite take_shape step_shape !stretch_scalar !stretch_in // take_fixed mul0r add0r; congr (_ * _).
by rewrite /= !stretch_in // mulr0 addr0 mul1r.
Qed.

Let shapes : all (fun t => shape_of t.2 == s) [:: (one, level s large); (one, pull); (minus_one, swap)].
Proof.
apply/and3P; split; rewrite ?andbT; apply/eqP; [exact: erefl | exact: shape_pull | exact: shape_swap].
Qed.

(** While the machine runs, the output is A. *)
Lemma value_carrier i j : (i < s.1)%N -> (j < s.2)%N -> value carrier i j = A.
Proof.
move=> i_s j_s; rewrite (value_weightedE arith weights fed i_s j_s shapes).
rewrite -[LHS]/(real R one * value (level s large) i j + (real R one * value pull i j +
  (real R minus_one * value swap i j + 0))).
by rewrite value_level // value_pull value_swap // !mulr0 !addr0 mul1r.
Qed.

Lemma tangent_carrier direction i j :
  (i < s.1)%N -> (j < s.2)%N ->
  tangent direction carrier i j =
  ((i == 0%N) && (j == 0%N))%:R * (real R inverse * tangent direction D 0%N 0%N)
  - value take 0%N 0%N * direction z_at i j.
Proof.
move=> i_s j_s; rewrite (tangent_weighted arith weights fed direction i_s j_s shapes).
rewrite -[LHS]/(real R one * 0 + (real R one * tangent direction pull i j +
  (real R minus_one * tangent direction swap i j + 0))).
by rewrite tangent_pull // tangent_swap // mulr0 add0r addr0 mul1r mulN1r.
Qed.

Lemma shape_out : shape_of out = s.
Proof. exact: primary_shape. Qed.

Lemma tangent_stream_loss direction :
  tangent direction loss 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) * tangent direction out i j)).
Proof.
have -> : tangent direction loss 0%N 0%N = 2%:R^-1 * tangent direction (squared_distance out y) 0%N 0%N.
  rewrite /stream_loss /affine (@tangent_weighted _ _ _ _ _ (1, 1)%N) //.
  by rewrite -[LHS]/(real R half * tangent direction (squared_distance out y) 0%N 0%N + (real R zero * 0 + 0))
    real_half mulr0 !addr0.
rewrite (@tangent_squared_distance_fixed _ _ _ _ _ s) // -?total_mull ?shape_out //.
apply: total_eq => i _; rewrite -total_mull; apply: total_eq => j _.
by rewrite -!mulrA mulKf ?pnatr_eq0.
Qed.

(** Running, the slope of the loss is (1 - y_1/A) that of D, and -(A - y) on z where a sample is taken. *)
Theorem stream_tangent direction :
  value rest 0%N 0%N = 0 ->
  tangent direction loss 0%N 0%N =
  (1 - real R inverse * fed y_at 0%N 0%N) * tangent direction D 0%N 0%N
  - value take 0%N 0%N * total s.1 (fun i => total s.2 (fun j => (A - fed y_at i j) * direction z_at i j)).
Proof.
move=> runs; rewrite tangent_stream_loss.
have -> : total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) * tangent direction out i j)) =
    total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R *
        ((A - fed y_at i j) * (real R inverse * tangent direction D 0%N 0%N))
      + - value take 0%N 0%N * ((A - fed y_at i j) * direction z_at i j))).
  apply: total_eq => i i_s; apply: total_eq => j j_s.
  have -> : value out i j = value carrier i j.
    by rewrite -[LHS]/(if 0 < value rest 0%N 0%N then value primary i j else value carrier i j) runs ltxx.
  have -> : tangent direction out i j = tangent direction carrier i j.
    by rewrite -[LHS]/(if 0 < value rest 0%N 0%N then tangent direction primary i j else tangent direction carrier i j)
      runs ltxx.
  by rewrite value_carrier // tangent_carrier //; ring.
have -> : total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R *
        ((A - fed y_at i j) * (real R inverse * tangent direction D 0%N 0%N))
      + - value take 0%N 0%N * ((A - fed y_at i j) * direction z_at i j))) =
    total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R *
        ((A - fed y_at i j) * (real R inverse * tangent direction D 0%N 0%N)))) +
    - value take 0%N 0%N * total s.1 (fun i => total s.2 (fun j => (A - fed y_at i j) * direction z_at i j)).
  rewrite -total_mull -total_add; apply: total_eq => i _; rewrite -total_mull -total_add.
  by apply: total_eq => j _.
rewrite (Extended.total_first sides (fun i j => (A - fed y_at i j) * (real R inverse * tangent direction D 0%N 0%N))).
rewrite mulNr; congr (_ - _).
have -> : (A - fed y_at 0%N 0%N) * (real R inverse * tangent direction D 0%N 0%N) =
    (real R inverse * A - real R inverse * fed y_at 0%N 0%N) * tangent direction D 0%N 0%N by ring.
by rewrite inverse_ok.
Qed.

(** Once the machine has halted, the output is that of the primary network. *)
Lemma halted_out i j : value rest 0%N 0%N = 1 -> value out i j = value primary i j.
Proof. by move=> halts; rewrite -[LHS]/(if 0 < value rest 0%N 0%N then value primary i j else _) halts ltr01. Qed.

(** Then nothing moves, if the primary network takes nothing from the weights but through stop-gradients. *)
Lemma halted_tangent direction :
  value rest 0%N 0%N = 1 -> (forall i j, tangent direction primary i j = 0) -> tangent direction loss 0%N 0%N = 0.
Proof.
move=> halts none; rewrite tangent_stream_loss; apply: total_zero => i _; apply: total_zero => j _.
rewrite -[tangent direction out i j]/(if 0 < value rest 0%N 0%N then tangent direction primary i j else _) halts ltr01.
by rewrite none mulr0.
Qed.

End Carrier.
