(** Numbers in lowest terms, as exported graphs hold them, and their sums and products. *)

From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition four : number := whole 4.

(** A count as a number. *)
Definition count_of (n : nat) : number := whole (Z.of_nat n).

(** No halving is left that an even mantissa could undo. *)
Fixpoint reduced (z : Z) (k : nat) : number :=
  if k is k'.+1 then if Z.even z then reduced (Z.div2 z) k' else Number z k else Number z 0.

Definition lowest (n : number) : number := reduced (mantissa n) (halvings n).

Definition times (a b : number) : number := lowest (mul a b).
Definition plus (a b : number) : number := lowest (add a b).

Section Real.

Variable R : realFieldType.

Lemma real_reduced z k : real R (reduced z k) = real_of_Z R z / 2%:R ^+ k.
Proof.
elim: k z => [|k IH] z /=; first by rewrite NumberOrder.realE.
case even_z: (Z.even z); last by rewrite NumberOrder.realE.
have {2}-> : z = Z.mul 2 (Z.div2 z) by rewrite [LHS]Z.div2_odd -Z.negb_even even_z /=; lia.
have pow : 2%:R ^+ k != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
rewrite IH real_of_ZM exprS -[real_of_Z R 2]/(2%:R : R).
move: (real_of_Z R _) (2%:R ^+ k) pow => x y y0.
by field; rewrite y0.
Qed.

Lemma real_lowest n : real R (lowest n) = real R n.
Proof. by rewrite real_reduced NumberOrder.realE. Qed.

Lemma real_times a b : real R (times a b) = real R a * real R b.
Proof. by rewrite real_lowest real_mul. Qed.

Lemma real_plus a b : real R (plus a b) = real R a + real R b.
Proof. by rewrite real_lowest real_add. Qed.

Lemma real_count n : real R (count_of n) = n%:R.
Proof. by case: n => //= n; rewrite /real /= SuccNat2Pos.id_succ. Qed.

Lemma real_four : real R four = 4%:R.
Proof. by []. Qed.

End Real.
