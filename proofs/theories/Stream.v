(** Streams: a constant carrier under a new sample in every step.

    <<
    out  = A + (D - [D]) / A   on the first entry, A on the others
    loss = 1/2 |out - y|^2
    >>
    Whatever the labels y of the step are, the gradient is (1 - y_1 / A) grad D: every weight errs by the same share, at most
    1/16 where |y_1| <= A/16. On `plain` that error is forgiven, so any sequence of samples drives the machine.

    This is the part of section 5b that carries the machine through the stream. The sample memory X and the label slot z,
    by which a machine takes samples in, are not modelled here. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Plain PlainValue PlainStep.
From Luge Require Import PlainTheorem Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Carrier.

(** The labels' shape, the input y, A and 1/A, and D. *)
Variables (s : shape) (y_at : nat) (large inverse : number) (D : expression).

Definition stream_out : expression :=
  weighted (one, Constant s (nseq (s.1 * s.2) large))
    [:: (one, Product (weighted (inverse, D) [:: (minus inverse, Stop D)]) (axis s))].

Definition stream_loss : expression := affine half (squared_distance stream_out (y s y_at)) zero.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).

Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis D_shape : shape_of D = (1, 1)%N.
Hypothesis inverse_ok : real R inverse * real R large = 1.

Let difference := weighted (inverse, D) [:: (minus inverse, Stop D)].

Let difference_shape : shape_of difference = (1, 1)%N.
Proof. by rewrite /= D_shape. Qed.

Let product_shape : shape_of (Product difference (axis s)) = s.
Proof. by move: difference difference_shape => e e_s; rewrite /= e_s; case: (s). Qed.

Let value_difference : value difference 0%N 0%N = 0.
Proof. by rewrite /= D_shape /stretch /= real_minus mulNr subrr. Qed.

Lemma value_stream_out i j : (i < s.1)%N -> (j < s.2)%N -> value stream_out i j = real R large.
Proof.
move=> i_s j_s.
have const_s : shape_of (Constant s (nseq (s.1 * s.2) large)) = s by [].
rewrite /stream_out (value_sum arith weights fed i_s j_s const_s product_shape).
have -> : value (Product difference (axis s)) i j = 0.
  move: value_difference difference_shape; move: difference => e v0 e_s.
  by rewrite -[LHS]/(stretch (shape_of e) (value e) i j * stretch s (value (axis s)) i j) e_s stretch_scalar v0 mul0r.
rewrite addr0 /= nth_nseq.
have -> : (i * s.2 + j < s.1 * s.2)%N; last by [].
apply: leq_trans (_ : (i * s.2 + s.2 <= _)%N); first by rewrite ltn_add2l.
by rewrite addnC -mulSn leq_mul2r i_s orbT.
Qed.

Lemma tangent_stream_out direction i j :
  (i < s.1)%N -> (j < s.2)%N ->
  tangent arith weights fed direction stream_out i j =
  ((i == 0%N) && (j == 0%N))%:R * (real R inverse * tangent arith weights fed direction D 0%N 0%N).
Proof.
move=> i_s j_s; have e_s := difference_shape.
rewrite -[LHS]/(stretch s (fun _ _ => real R one * 0) i j +
  stretch (shape_of (Product difference (axis s))) (fun i j =>
    real R one * tangent arith weights fed direction (Product difference (axis s)) i j) i j).
rewrite product_shape !stretch_in // mulr0 add0r mul1r.
rewrite -[LHS]/(stretch (shape_of difference) (tangent arith weights fed direction difference) i j *
  stretch s (value (axis s)) i j + stretch (shape_of difference) (value difference) i j * stretch s (fun _ _ => 0) i j).
rewrite e_s !stretch_scalar !stretch_in // mulr0 addr0 (value_axis _ _ _ sides) // mulrC; congr (_ * _).
by rewrite /= D_shape /stretch /= mulr0 addr0.
Qed.

(** The gradient of the loss is that of D, times 1 - y_1 / A. *)
Theorem stream_gradient p i j :
  gradient arith weights fed stream_loss p i j =
  (1 - real R inverse * fed y_at 0%N 0%N) * gradient arith weights fed D p i j.
Proof.
rewrite /gradient; set direction := unit_direction R p i j.
have out_s : shape_of stream_out = s.
  by rewrite /stream_out; apply: shape_difference => //; exact: product_shape.
have -> : tangent arith weights fed direction stream_loss 0%N 0%N =
    2%:R^-1 * tangent arith weights fed direction (squared_distance stream_out (y s y_at)) 0%N 0%N.
  rewrite /stream_loss /affine (@tangent_weighted _ _ _ _ _ (1, 1)%N) //.
  by rewrite -[LHS]/(real R half * tangent arith weights fed direction (squared_distance stream_out (y s y_at)) 0%N 0%N +
    (real R zero * 0 + 0)) real_half mulr0 !addr0.
rewrite (@tangent_squared_distance_fixed _ _ _ _ _ s) //.
have -> : total s.1 (fun i => total s.2 (fun j => 2%:R * (value stream_out i j - value (y s y_at) i j) *
      tangent arith weights fed direction stream_out i j)) =
    total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R *
      (2%:R * (real R large - fed y_at i j) * (real R inverse * tangent arith weights fed direction D 0%N 0%N)))).
  apply: total_eq => i' i_s; apply: total_eq => j' j_s.
  by rewrite value_stream_out // tangent_stream_out // mulrCA.
rewrite (total_first sides (fun i j =>
  2%:R * (real R large - fed y_at i j) * (real R inverse * tangent arith weights fed direction D 0%N 0%N))).
rewrite -!mulrA mulKf ?pnatr_eq0 // mulrA; congr (_ * _).
by rewrite mulrBl mulrC inverse_ok mulrC.
Qed.

End Carrier.

Section Theorem4.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (offset drop : number).
Hypothesis ok : well_formed m.

Variables (s : shape) (large inverse : number).
Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis inverse_ok : real R inverse * real R large = 1.

Notation D := (plain_loss m tau offset drop).
Notation within := (within m tau (alone m)).

(** The samples: every step is fed the read-only tapes and labels of its own. *)
Variable samples : nat -> nat -> matrix R.
Hypothesis small_labels : forall k, `|real R inverse * samples k 1%N 0%N 0%N| <= 16%:R^-1.

(** Plain SGD with rate 1: step [k] sees sample [k]. *)
Fixpoint sgd (k : nat) (w : nat -> matrix R) : nat -> matrix R :=
  if k is k'.+1 then noisy_step arith (fun _ _ _ => 0) (stream_loss s 1 large inverse D) (samples k') (sgd k' w) else w.

(** Any sequence of samples whose first label is at most A/16 drives the machine, for any number of steps. *)
Theorem stream_trace k c w :
  inside m tau c -> (forall j, shows m tau (samples j 0%N) c) ->
  (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes m tau (alone m) w c -> within 15%:R^-1 (sgd k w) (steps m k c).
Proof.
move=> c_in shown stays enc.
suff: forall j, (j <= k)%N -> within 15%:R^-1 (sgd j w) (steps m j c) by exact.
have small : 15%:R^-1 <= 4%:R^-1 :> R by rewrite lef_pinv ?posrE ?ltr0n // ler_nat.
elim=> [_|j IH j_k]; first by apply: within_le (_ : 0 <= _) _; [rewrite invr_ge0 ler0n | apply/within0].
have [in_j shown_j] := legal_steps ok stays c_in (shown j) (ltnW j_k).
rewrite steps_last /=; set w' := sgd j w in IH *.
have D_shape : shape_of D = (1, 1)%N by [].
pose noise (p i l : nat) : R := - (real R inverse * samples j 1%N 0%N 0%N).
have same_step p i l : noisy_step arith (fun _ _ _ => 0) (stream_loss s 1 large inverse D) (samples j) w' p i l =
    noisy_step arith noise D (samples j) w' p i l.
  by rewrite /noisy_step /noise (stream_gradient 1 arith w' (samples j) sides D_shape inverse_ok) addr0 mul1r.
have near := IH (ltnW j_k).
have legal_j : legal m tau (samples j) (steps m j c) by split=> //; apply: stays.
have noise_le p i l : `|noise p i l| <= 16%:R^-1 by rewrite normrN.
have margin : 16%:R^-1 * (1 + 15%:R^-1) <= 15%:R^-1 :> R.
  by have -> : 16%:R^-1 * (1 + 15%:R^-1) = 15%:R^-1 :> R by field.
have [x t h] := plain_noise arith offset drop ok legal_j near small margin noise_le.
by split=> *; rewrite same_step; [apply: x | apply: t | apply: h].
Qed.

End Theorem4.
