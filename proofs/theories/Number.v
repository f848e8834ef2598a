(** Numbers as data: whole multiples of powers of one half.

    Every weight of an exported network is such a number, because every f64 is. They are binary, so that a checker can
    compare them fast; [real] says which element of a field they stand for. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(** [mantissa] times one half, [halvings] times over. *)
Record number := Number { mantissa : Z; halvings : nat }.

Definition whole (z : Z) : number := Number z 0.
Definition minus (n : number) : number := Number (- mantissa n) (halvings n).

Definition zero : number := whole 0.
Definition one : number := whole 1.
Definition minus_one : number := whole (-1).
Definition two : number := whole 2.
Definition half : number := Number 1 1.

Definition number_eqb (a b : number) : bool :=
  Z.eqb (mantissa a) (mantissa b) && Nat.eqb (halvings a) (halvings b).

Lemma number_eqP : Equality.axiom number_eqb.
Proof.
move=> [a m] [b n]; rewrite /number_eqb /=; apply: (iffP andP).
  by case=> /Z.eqb_eq -> /PeanoNat.Nat.eqb_eq ->.
by case=> -> ->; split; [apply/Z.eqb_eq | apply/PeanoNat.Nat.eqb_eq].
Qed.

Canonical number_eqMixin := EqMixin number_eqP.
Canonical number_eqType := Eval hnf in EqType number number_eqMixin.

Section Real.

Variable R : fieldType.

Definition real_of_Z (z : Z) : R :=
  match z with
  | Z0 => 0
  | Zpos p => (Pos.to_nat p)%:R
  | Zneg p => - (Pos.to_nat p)%:R
  end.

(** The element of the field that a number stands for. *)
Definition real (n : number) : R :=
  if halvings n is 0 then real_of_Z (mantissa n) else real_of_Z (mantissa n) / 2%:R ^+ halvings n.

Lemma real_zero : real zero = 0. Proof. by []. Qed.
Lemma real_one : real one = 1. Proof. by []. Qed.
Lemma real_minus_one : real minus_one = -1. Proof. by []. Qed.
Lemma real_two : real two = 2%:R. Proof. by []. Qed.
Lemma real_half : real half = 2%:R^-1. Proof. by rewrite /real /= expr1 mul1r. Qed.

Lemma real_minus n : real (minus n) = - real n.
Proof.
by case: n => z k; rewrite /real /=; case: k; case: z => *; rewrite /= ?oppr0 ?opprK ?mul0r ?mulNr ?oppr0 ?opprK.
Qed.

End Real.
