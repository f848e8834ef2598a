(** The tangent is the derivative.

    Weights move along a line, [w + t v]; what stands under a stop-gradient, and the bits of numbers, are held where they are at
    [t = 0] ([held]). Where no ReLU is at its kink ([unkinked]), the difference quotients of [held] converge to [tangent], over
    any ordered field; the remainder is even of second order. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Terms.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Close.

Variable R : realFieldType.

(** [f t] is [a + t b], up to a multiple of t^2, near 0. *)
Definition close (f : R -> R) (a b : R) : Prop :=
  exists C d, [/\ 0 <= C, 0 < d, d <= 1 & forall t, `|t| <= d -> `|f t - (a + t * b)| <= C * t ^+ 2].

(** Then its difference quotients converge to [b]. *)
Theorem close_derivative f a b : close f a b ->
  f 0 = a /\ forall e, 0 < e -> exists2 d, 0 < d & forall t, t != 0 -> `|t| <= d -> `|(f t - f 0) / t - b| <= e.
Proof.
case=> C [d [C_ge0 d_gt0 _ near]].
have f0 : f 0 = a.
  have := near 0; rewrite normr0 (ltW d_gt0) mul0r addr0 expr0n mulr0 => /(_ isT).
  by rewrite normr_le0 subr_eq0 => /eqP.
split=> // e e_gt0; have C1 : 0 < C + 1 by rewrite ltr_spaddr.
exists (Order.min d (e / (C + 1))); first by rewrite lt_minr d_gt0 divr_gt0.
move=> t t0; rewrite le_minr => /andP[t_d t_e].
have -> : (f t - f 0) / t - b = (f t - (a + t * b)) / t by rewrite f0; field.
rewrite normrM normfV ler_pdivr_mulr ?normr_gt0 //; apply: le_trans (near t t_d) _.
rewrite -real_normK ?num_real // expr2 mulrA; apply: ler_wpmul2r => //.
apply: (@le_trans _ _ ((C + 1) * `|t|)); first by rewrite ler_wpmul2r // ler_addl ler01.
by rewrite mulrC -ler_pdivl_mulr.
Qed.

Lemma close_line a b : close (fun t => a + t * b) a b.
Proof. by exists 0, 1; split=> // t _; rewrite subrr normr0 mul0r. Qed.

Lemma close_const a : close (fun=> a) a 0.
Proof. by exists 0, 1; split=> // t _; rewrite mulr0 addr0 subrr normr0 mul0r. Qed.

Lemma close_add f g a b a' b' : close f a b -> close g a' b' -> close (fun t => f t + g t) (a + a') (b + b').
Proof.
case=> C [d [C0 d0 d1 near]] [C' [d' [C0' d0' d1' near']]].
exists (C + C'), (Order.min d d'); split; rewrite ?addr_ge0 ?lt_minr ?d0 ?le_minl ?d1 // => t.
rewrite le_minr => /andP[/near le /near' le'].
have -> : f t + g t - (a + a' + t * (b + b')) = (f t - (a + t * b)) + (g t - (a' + t * b')) by ring.
by rewrite mulrDl; apply: le_trans (ler_norm_add _ _) (ler_add le le').
Qed.

Lemma close_mul f g a b a' b' :
  close f a b -> close g a' b' -> close (fun t => f t * g t) (a * a') (b * a' + a * b').
Proof.
case=> C [d [C0 d0 d1 near]] [C' [d' [C0' d0' d1' near']]].
pose M := `|b| * `|b'| + C * (`|a'| + `|b'| + C') + (`|a| + `|b|) * C'.
exists M, (Order.min d d'); split; rewrite ?addr_ge0 ?mulr_ge0 ?addr_ge0 ?lt_minr ?d0 ?le_minl ?d1 // => t.
rewrite le_minr => /andP[t_d t_d']; have le := near t t_d; have le' := near' t t_d'.
have t1 : `|t| <= 1 by apply: le_trans t_d d1.
have tt : `|t| ^+ 2 = t ^+ 2 by rewrite real_normK ?num_real.
have tt1 : t ^+ 2 <= 1 by rewrite -tt expr_le1.
have small (u v : R) : `|u + t * v| <= `|u| + `|v|.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l normrM ler_pimull.
have g_small : `|g t| <= `|a'| + `|b'| + C'.
  have -> : g t = (a' + t * b') + (g t - (a' + t * b')) by ring.
  apply: le_trans (ler_norm_add _ _) _; apply: ler_add (small _ _) _.
  by apply: le_trans le' _; rewrite ler_pimulr.
have -> : f t * g t - (a * a' + t * (b * a' + a * b')) =
    t ^+ 2 * (b * b') + (f t - (a + t * b)) * g t + (a + t * b) * (g t - (a' + t * b')) by ring.
have -> : M * t ^+ 2 = `|b| * `|b'| * t ^+ 2 + C * t ^+ 2 * (`|a'| + `|b'| + C') + (`|a| + `|b|) * (C' * t ^+ 2).
  by rewrite /M; ring.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add; last by rewrite normrM; apply: ler_pmul.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add; last by rewrite normrM; apply: ler_pmul.
by rewrite normrM normrX tt normrM mulrC.
Qed.

Lemma close_ext f g a b a' b' : close f a b -> (forall t, f t = g t) -> a = a' -> b = b' -> close g a' b'.
Proof.
case=> C [d [C0 d0 d1 near]] fg <- <-; exists C, d; split=> // t t_d.
by rewrite -fg; apply: near.
Qed.

Lemma close_scale c f a b : close f a b -> close (fun t => c * f t) (c * a) (c * b).
Proof. by move=> near; apply: close_ext (close_mul (close_const c) near) _ _ _; rewrite // mul0r add0r. Qed.

Lemma close_total n (f : R -> nat -> R) (a b : nat -> R) :
  (forall k, close (fun t => f t k) (a k) (b k)) -> close (fun t => total n (f t)) (total n a) (total n b).
Proof.
move=> near; rewrite /total; elim: (iota 0 n) => [|k l IH] /=; first exact: close_const.
exact: close_add.
Qed.

(** ReLU away from its kink. *)
Lemma close_relu f a b :
  close f a b -> a != 0 -> close (fun t => relu (f t)) (relu a) (if 0 < a then b else 0).
Proof.
case=> C [d [C0 d0 d1 near]] a0; pose M := `|b| + C + 1.
have M_gt0 : 0 < M by rewrite ltr_spaddr ?addr_ge0.
have far t : `|t| <= Order.min d (`|a| / (2%:R * M)) -> `|t| <= d /\ `|f t - a| < `|a|.
  rewrite le_minr => /andP[t_d t_a]; split=> //.
  have t1 : `|t| <= 1 by apply: le_trans t_d d1.
  have step : `|f t - a| <= `|t| * M.
    have -> : f t - a = t * b + (f t - (a + t * b)) by ring.
    apply: le_trans (ler_norm_add _ _) _; rewrite normrM /M -addrA mulrDr; apply: ler_add => //.
    apply: le_trans (near t t_d) _; rewrite -real_normK ?num_real // expr2 mulrA mulrC; apply: ler_wpmul2l => //.
    by apply: (@le_trans _ _ C); [rewrite ler_pimulr | rewrite ler_addl ler01].
  apply: le_lt_trans step _; apply: (@le_lt_trans _ _ (`|a| / 2%:R)).
    by move: t_a; rewrite ler_pdivl_mulr ?mulr_gt0 ?ltr0n // ler_pdivl_mulr ?ltr0n // -mulrA [M * _]mulrC.
  by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr ?normr_gt0 // ltr1n.
exists C, (Order.min d (`|a| / (2%:R * M))); split=> //; first by rewrite lt_minr d0 divr_gt0 ?normr_gt0 ?mulr_gt0 ?ltr0n.
  by rewrite le_minl d1.
move=> t /far[t_d]; rewrite /relu; case: (ltrP 0 a) => [a_pos|a_neg].
  rewrite (gtr0_norm a_pos) ltr_distl subrr => /andP[-> _]; exact: near.
rewrite (ler0_norm a_neg) ltr_distl opprK => /andP[_]; rewrite addrN => f_neg.
by rewrite ltNge (ltW f_neg) /= mulr0 addr0 subrr normr0 mulr_ge0 ?sqr_ge0.
Qed.

End Close.

Section Tangent.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed direction : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed direction).

(** The weights at [t]. *)
Definition along (t : R) : nat -> matrix R := fun p i j => weights p i j + t * direction p i j.

(** The value at [t] of what is not held. Operations that [unkinked] refuses are held too. *)
Fixpoint held (t : R) (e : expression) : matrix R :=
  match e with
  | Weight _ p => along t p
  | Linear _ entries bias a => fun i _ => real R (nth zero bias i) + sparse entries (held t a) i
  | Scale w a => fun i j => real R w * held t a i j
  | Plus a b => fun i j => stretch (shape_of a) (held t a) i j + stretch (shape_of b) (held t b) i j
  | Relu a => fun i j => relu (held t a i j)
  | Product a b => fun i j => stretch (shape_of a) (held t a) i j * stretch (shape_of b) (held t b) i j
  | Matmul a b => fun i j => total (shape_of a).2 (fun k => held t a i k * held t b k j)
  | SumColumns a => fun i _ => total (shape_of a).2 (fun j => held t a i j)
  | SumAll a => fun _ _ => total (shape_of a).1 (fun i => total (shape_of a).2 (fun j => held t a i j))
  | Shift by_ a => fun i j => if shifted by_ (shape_of a).2 j is Some k then held t a i k else 0
  | Reshape s a => fun i j => flat (shape_of a) (held t a) (i * s.2 + j)%N
  | Stack a b => fun i j => if (i < (shape_of a).1)%N then held t a i j else held t b (i - (shape_of a).1)%N j
  | Gather positions a => fun i _ => flat (shape_of a) (held t a) (nth 0%N positions i)
  | _ => value e
  end.

(** No ReLU that is differentiated is at its kink, unless it does not move at all. *)
Fixpoint unkinked (e : expression) : Prop :=
  match e with
  | Weight _ _ | Input _ _ | Constant _ _ | Stop _ | Quantize _ _ | Dequantize _ _ => True
  | Linear _ _ _ a | Scale _ a | SumColumns a | SumAll a | Shift _ a | Reshape _ a | Gather _ a => unkinked a
  | Relu a => unkinked a /\ forall i j, value a i j != 0 \/ forall t, held t a i j = 0
  | Plus a b | Product a b | Matmul a b | Stack a b => unkinked a /\ unkinked b
  | Quotient _ _ | Root _ | Switch _ _ _ | Select _ _ _ => False
  end.

(** Where no ReLU is at its kink, the tangent is the derivative. *)
Theorem tangent_close e i j : unkinked e -> close (fun t => held t e i j) (value e i j) (tangent e i j).
Proof.
elim: e i j => [s p|s p|s l|r l c a IH|n a IH|a IHa c IHc|a IH|a IHa c IHc|a IHa c IHc|a IHa c IHc|a IH|a IH|a IH
  |z a IH|s a IH|a IHa c IHc|l a IH|f a IH|f a IH|a IH|o IHo a IHa c IHc|o IHo a IHa c IHc] i j //=;
  try by (move=> *; exact: close_const).
- by move=> _; exact: close_line.
- move=> ok; apply: close_ext (close_add (close_const (real R (nth zero c i))) _) _ _ (add0r _) => //.
  elim: l => [|x l IHl] /=; first exact: close_const.
  by case: ifP => // _; apply: close_add => //; apply: close_scale; apply: IH.
- by move=> ok; apply: close_scale; apply: IH.
- by case=> oka okc; apply: close_add; [apply: IHa | apply: IHc].
- case=> ok; move=> /(_ i j)[off|still]; first by apply: close_relu => //; apply: IH.
  have near := IH i j ok.
  have v0 : value a i j = 0 by have [] := close_derivative near; rewrite still.
  rewrite v0 ltxx; apply: close_ext (close_const (relu 0)) _ _ _ => // t; by rewrite still.
- by case=> oka okc; apply: close_mul; [apply: IHa | apply: IHc].
- by case=> oka okc; apply: close_total => k; apply: close_mul; [apply: IHa | apply: IHc].
- by move=> ok; apply: close_total => k; apply: IH.
- by move=> ok; apply: close_total => k; apply: close_total => k'; apply: IH.
- by move=> ok; case: shifted => [k|]; [apply: IH | apply: close_const].
- by move=> ok; apply: IH.
- by case=> oka okc; case: ifP => _; [apply: IHa | apply: IHc].
by move=> ok; apply: IH.
Qed.

End Tangent.

(** One entry of the gradient is the derivative of the loss along that weight: difference quotients converge to it. *)
Theorem gradient_derivative (R : realFieldType) (arith : arithmetic R) (w fed : nat -> matrix R) e p i j :
  unkinked arith w fed (unit_direction R p i j) e ->
  let f t := held arith w fed (unit_direction R p i j) t e 0%N 0%N in
  f 0 = value arith w fed e 0%N 0%N /\
  forall eps, 0 < eps -> exists2 d, 0 < d &
    forall t, t != 0 -> `|t| <= d -> `|(f t - f 0) / t - gradient arith w fed e p i j| <= eps.
Proof. by move=> ok f; apply: close_derivative; apply: tangent_close. Qed.
