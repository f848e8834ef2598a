(** Sums and products of the numbers that weights are. *)

From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition four : number := whole 4.

(** A count as a number. *)
Definition count_of (n : nat) : number := whole (Z.of_nat n).

(** A number in lowest terms: no halving that an even mantissa could undo. *)
Fixpoint reduced (z : Z) (k : nat) : number :=
  if k is k'.+1 then if Z.even z then reduced (Z.div2 z) k' else Number z k else Number z 0.

Definition times (a b : number) : number := reduced (mantissa a * mantissa b) (halvings a + halvings b).

Definition add (a b : number) : number :=
  reduced (mantissa a * 2 ^ Z.of_nat (halvings b) + mantissa b * 2 ^ Z.of_nat (halvings a)) (halvings a + halvings b).

Section Real.

Variable R : numFieldType.

Notation to_R := (real_of_Z R).

(** Every whole number is a difference of two counts. *)
Lemma real_of_Z_sub (a b : nat) : to_R (Z.of_nat a - Z.of_nat b) = a%:R - b%:R.
Proof.
case: (leqP b a) => [b_a|a_b].
  have -> : Z.sub (Z.of_nat a) (Z.of_nat b) = Z.of_nat (a - b).
    by move/leP: b_a => b_a; rewrite -minusE; lia.
  rewrite -natrB //; case: (a - b)%N => [//|n].
  by rewrite /= SuccNat2Pos.id_succ.
have -> : Z.sub (Z.of_nat a) (Z.of_nat b) = Z.opp (Z.of_nat (b - a)).
  by move/ltP: a_b => a_b; rewrite -minusE; lia.
rewrite -opprB -natrB ?(ltnW a_b) //; case: (b - a)%N => [|n] /=; first by rewrite oppr0.
by rewrite SuccNat2Pos.id_succ.
Qed.

Lemma difference (z : Z) : exists a b, z = Z.sub (Z.of_nat a) (Z.of_nat b).
Proof. by exists (Z.to_nat z), (Z.to_nat (Z.opp z)); lia. Qed.

Lemma real_of_Z_of_nat n : to_R (Z.of_nat n) = n%:R.
Proof. by rewrite -[Z.of_nat n]Z.sub_0_r (real_of_Z_sub n 0) subr0. Qed.

Lemma real_of_Z_add z z' : to_R (z + z') = to_R z + to_R z'.
Proof.
have [[a [b ->]] [a' [b' ->]]] := (difference z, difference z').
have -> : Z.add (Z.sub (Z.of_nat a) (Z.of_nat b)) (Z.sub (Z.of_nat a') (Z.of_nat b')) =
    Z.sub (Z.of_nat (a + a')) (Z.of_nat (b + b')) by rewrite -!plusE; lia.
by rewrite !real_of_Z_sub !natrD opprD addrACA.
Qed.

Lemma real_of_Z_mul z z' : to_R (z * z') = to_R z * to_R z'.
Proof.
have [[a [b ->]] [a' [b' ->]]] := (difference z, difference z').
have -> : Z.mul (Z.sub (Z.of_nat a) (Z.of_nat b)) (Z.sub (Z.of_nat a') (Z.of_nat b')) =
    Z.sub (Z.of_nat (a * a' + b * b')) (Z.of_nat (a * b' + b * a')) by rewrite -!plusE -!multE; lia.
by rewrite !real_of_Z_sub !natrD !natrM; ring.
Qed.

Lemma real_of_Z_power n : to_R (2 ^ Z.of_nat n) = 2%:R ^+ n.
Proof.
elim: n => [//|n IH]; rewrite Nat2Z.inj_succ Z.pow_succ_r ?real_of_Z_mul ?IH ?exprS //.
exact: Nat2Z.is_nonneg.
Qed.

Lemma realE n : real R n = to_R (mantissa n) / 2%:R ^+ halvings n.
Proof. by case: n => z [|k] //; rewrite /real /= expr0 divr1. Qed.

Lemma real_reduced z k : real R (reduced z k) = to_R z / 2%:R ^+ k.
Proof.
elim: k z => [|k IH] z /=; first by rewrite realE.
case even_z: (Z.even z); last by rewrite realE.
have {2}-> : z = Z.mul 2 (Z.div2 z) by rewrite [LHS]Z.div2_odd -Z.negb_even even_z /=; lia.
rewrite IH real_of_Z_mul exprS.
have pow : 2%:R ^+ k != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
rewrite -[to_R 2]/(2%:R : R); move: (to_R _) (2%:R ^+ k) pow => x y y0.
by field; rewrite y0.
Qed.

Lemma real_times a b : real R (times a b) = real R a * real R b.
Proof. by rewrite real_reduced !realE real_of_Z_mul exprD invfM mulrACA. Qed.

Lemma real_add a b : real R (add a b) = real R a + real R b.
Proof.
rewrite real_reduced !realE real_of_Z_add !real_of_Z_mul !real_of_Z_power exprD.
have pow n : 2%:R ^+ n != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
move: (pow (halvings a)) (pow (halvings b)).
move: (2%:R ^+ halvings a) (2%:R ^+ halvings b) => x y x0 y0.
by field; rewrite x0 y0.
Qed.

Lemma real_count n : real R (count_of n) = n%:R.
Proof. exact: real_of_Z_of_nat. Qed.

Lemma real_four : real R four = 4%:R.
Proof. by []. Qed.

End Real.
