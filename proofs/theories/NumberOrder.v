(** Sums, products and signs of numbers, by computation. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify ssrZ.
From Luge Require Import Number.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition power (k : nat) : Z := Z.pow 2 (Z.of_nat k).

Definition add (a b : number) : number :=
  Number (Z.add (Z.mul (mantissa a) (power (halvings b))) (Z.mul (mantissa b) (power (halvings a))))
         (halvings a + halvings b).

Definition mul (a b : number) : number := Number (Z.mul (mantissa a) (mantissa b)) (halvings a + halvings b).

Definition nonnegative (a : number) : bool := Z.leb 0 (mantissa a).
Definition at_most (a b : number) : bool := nonnegative (add b (minus a)).
Definition positive (a : number) : bool := Z.ltb 0 (mantissa a).

Section Real.

Variable R : realFieldType.

Lemma real_of_ZE z : real_of_Z R z = (int_of_Z z)%:~R.
Proof. by case: z => //= p; rewrite ?NegzE ?mulrNz ?prednK //; lia. Qed.

Lemma real_of_ZD x y : real_of_Z R (Z.add x y) = real_of_Z R x + real_of_Z R y.
Proof. by rewrite !real_of_ZE -intrD -(rmorphD ZInstances.int_of_Z_rmorphism). Qed.

Lemma real_of_ZM x y : real_of_Z R (Z.mul x y) = real_of_Z R x * real_of_Z R y.
Proof. by rewrite !real_of_ZE -intrM -(rmorphM ZInstances.int_of_Z_rmorphism). Qed.

Lemma real_power k : real_of_Z R (power k) = 2%:R ^+ k.
Proof.
elim: k => [|k IH]; first by rewrite expr0.
have -> : power k.+1 = Z.mul 2 (power k) by rewrite /power Nat2Z.inj_succ Z.pow_succ_r; lia.
by rewrite real_of_ZM IH exprS.
Qed.

Lemma realE n : real R n = real_of_Z R (mantissa n) / 2%:R ^+ halvings n.
Proof. by case: n => z [|k] //=; rewrite expr0 divr1. Qed.

Let power_neq0 k : 2%:R ^+ k != 0 :> R.
Proof. by rewrite expf_neq0 // pnatr_eq0. Qed.

Lemma real_add a b : real R (add a b) = real R a + real R b.
Proof.
rewrite !realE /= real_of_ZD !real_of_ZM !real_power exprD.
by rewrite addf_div // mulrC [in X in X / _]mulrC mulrC.
Qed.

Lemma real_mul a b : real R (mul a b) = real R a * real R b.
Proof. by rewrite !realE /= real_of_ZM exprD mulf_div. Qed.

Lemma real_nonnegative a : nonnegative a -> 0 <= real R a.
Proof.
rewrite /nonnegative realE => a_ge0; rewrite mulr_ge0 ?invr_ge0 ?exprn_ge0 ?ler0n //.
by case: (mantissa a) a_ge0 => [|p|p] //= _; rewrite ler0n.
Qed.

Lemma real_positive a : positive a -> 0 < real R a.
Proof.
rewrite /positive realE => a_gt0; rewrite mulr_gt0 ?invr_gt0 ?exprn_gt0 ?ltr0n //.
by case: (mantissa a) a_gt0 => [|p|p] //= _; rewrite ltr0n; lia.
Qed.

Lemma real_at_most a b : at_most a b -> real R a <= real R b.
Proof. by move/real_nonnegative; rewrite real_add real_minus subr_ge0. Qed.

End Real.
