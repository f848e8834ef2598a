(** Training: the gradient from tangents, gradient descent, and Frank-Wolfe on the simplex. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** How training moves a block of weights. *)
Inductive step_rule := Simplex | Descent (rate : number).

(** A block of trainable weights. *)
Record parameter := ParameterOf { parameter_shape : shape; rule : step_rule }.

Section Training.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** The direction that moves one weight and no other. *)
Definition unit_direction (p i j : nat) : nat -> matrix R :=
  fun p' i' j' => ((p' == p) && (i' == i) && (j' == j))%:R.

(** The derivative of a scalar expression by one weight. *)
Definition gradient (weights fed : nat -> matrix R) (loss : expression) (p i j : nat) : R :=
  tangent arith weights fed (unit_direction p i j) loss 0%N 0%N.

(** The first of [0 .. n] at which [f] is smallest. *)
Fixpoint first_least (n : nat) (f : nat -> R) : nat :=
  if n is n'.+1 then let v := first_least n' f in if f n < f v then n else v else 0%N.

Lemma first_leastP n f v :
  (v <= n)%N -> (forall u, (u <= n)%N -> u != v -> f v < f u) -> first_least n f = v.
Proof.
elim: n => [|n IH]; first by case: v.
rewrite leq_eqVlt => /orP[/eqP-> least|v_n least] /=.
  have: forall m, (m <= n)%N -> (first_least m f <= m)%N.
    elim=> [//|m IHm] m_n /=; case: ifP => // _; exact: leq_trans (IHm (ltnW m_n)) (leqnSn m).
  move=> /(_ n (leqnn n)) small; rewrite least ?ltn_eqF //; exact: leq_trans small (leqnSn n).
rewrite IH //; first by rewrite ltNge (ltW (least _ _ _)) // eq_sym ltn_eqF.
by move=> u u_n; apply: least; exact: leq_trans u_n (leqnSn n).
Qed.

(** One step of Frank-Wolfe with rate 1 on a vector of [n] weights: go to the first vertex with the smallest gradient
    entry if it is strictly better than the current point, else stay. *)
Definition simplex_step (n : nat) (w g : nat -> R) : nat -> R :=
  let v := first_least n.-1 g in
  if g v < total n (fun u => g u * w u) then fun u => w u + ((u == v)%:R - w u) else w.

(** One step of training: all weights move at once, each block by its rule. *)
Definition train_step (parameters : seq parameter) (loss : expression) (fed weights : nat -> matrix R)
    : nat -> matrix R :=
  fun p i j =>
    let block := nth (ParameterOf (0, 0)%N (Descent zero)) parameters p in
    match rule block with
    | Simplex =>
        simplex_step (parameter_shape block).1 (fun u => weights p u 0%N)
          (fun u => gradient weights fed loss p u 0%N) i
    | Descent rate => weights p i j - real R rate * gradient weights fed loss p i j
    end.

(** One step of gradient descent with rate 1, in which every weight errs by its own share of its gradient. *)
Definition noisy_step (noise : nat -> matrix R) (loss : expression) (fed weights : nat -> matrix R)
    : nat -> matrix R :=
  fun p i j => weights p i j - (1 + noise p i j) * gradient weights fed loss p i j.

End Training.
