(** Saturation forgets small errors: near a unit vector or a sign the saturated copy is exact. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Machine Encoding Terms.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Saturation.

Variable R : realFieldType.

Lemma relu_pos (v : R) : 0 <= v -> relu v = v.
Proof. by rewrite /relu le_eqVlt => /orP[/eqP <-|->] //; case: ifP. Qed.

Lemma relu_neg (v : R) : v <= 0 -> relu v = 0.
Proof. by rewrite /relu leNgt => /negbTE ->. Qed.

Let two_neq0 : 2%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.

Lemma sat01_near (v : R) (b : bool) : `|v - b%:R| <= 4%:R^-1 -> sat01 v = b%:R.
Proof.
rewrite ler_distl /sat01 => /andP[]; case: b => /= low high.
  have low' : 0 <= 2%:R * v - 3%:R / 2%:R.
    have -> : 2%:R * v - 3%:R / 2%:R = 2%:R * (v - (1 - 4%:R^-1)) by field.
    by rewrite mulr_ge0 ?ler0n ?subr_ge0.
  rewrite !relu_pos //; last first.
    apply: le_trans low' _; rewrite ler_add2l ler_opp2.
    by rewrite -subr_ge0; have -> : 3%:R / 2%:R - 2%:R^-1 = 1 :> R; [field | rewrite ler01].
  by field.
have high' : 2%:R * v - 2%:R^-1 <= 0.
  rewrite -oppr_ge0; have -> : - (2%:R * v - 2%:R^-1) = 2%:R * (0 + 4%:R^-1 - v) by field.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
rewrite !relu_neg ?subrr //; apply: le_trans high'; rewrite ler_add2l ler_opp2.
by rewrite -subr_ge0; have -> : 3%:R / 2%:R - 2%:R^-1 = 1 :> R; [field | rewrite ler01].
Qed.

Lemma sat11_near (v : R) (b : bool) : `|v - sign R b| <= 2%:R^-1 -> sat11 v = sign R b.
Proof.
rewrite ler_distl /sat11 => /andP[]; case: b => /= low high.
  have low' : 0 <= 2%:R * v - 1.
    have -> : 2%:R * v - 1 = 2%:R * (v - (1 - 2%:R^-1)) by field.
    by rewrite mulr_ge0 ?ler0n ?subr_ge0.
  rewrite !relu_pos //; last first.
    by apply: le_trans low' _; rewrite ler_add2l (le_trans (lerN10 R)) ?ler01.
  by ring.
have high' : 2%:R * v + 1 <= 0.
  rewrite -oppr_ge0; have -> : - (2%:R * v + 1) = 2%:R * (-1 + 2%:R^-1 - v) by field.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
rewrite !relu_neg ?subrr ?sub0r //; apply: le_trans high'; rewrite ler_add2l.
by rewrite (le_trans (lerN10 R)) ?ler01.
Qed.

End Saturation.
