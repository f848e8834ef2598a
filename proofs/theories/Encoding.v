(** Configurations as weights: the vertex, the writable tapes and the heads; read-only tapes are hidden units. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Machine.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Which parameters hold the vertex, the tapes and the heads. *)
Record places := Places { vertex_at : nat; tape_at : nat; head_at : nat }.

(** Three different parameters. *)
Definition apart (at_ : places) : bool :=
  [&& vertex_at at_ != tape_at at_, vertex_at at_ != head_at at_ & tape_at at_ != head_at at_].

Section Encoding.

Variable R : realFieldType.
Variables (m : machine) (tau : nat) (at_ : places).

(** The paper's symbols: 1 and -1. *)
Definition sign (b : bool) : R := if b then 1 else -1.

(** The weights that stand for a configuration: a unit vector for the vertex, signs for the cells, a unit vector per head. *)
Definition encode (c : configuration) : nat -> matrix R :=
  fun p i j =>
    if p == vertex_at at_ then (i == vertex_of m c)%:R
    else if p == tape_at at_ then sign (cell c i j)
    else (j == head c i)%:R.

(** The weights are those of a configuration, up to [rho], and twice that on the tapes, whose symbols lie twice as far
    apart. With [rho] below 1/2 no two configurations are meant; [rho] = 0 is the encoding itself. *)
Definition within (rho : R) (w : nat -> matrix R) (c : configuration) : Prop :=
  [/\ forall v, (v < size (table m))%N -> `|w (vertex_at at_) v 0%N - (v == vertex_of m c)%:R| <= rho,
      forall i j, (i < n_writable m)%N -> (j < tau)%N -> `|w (tape_at at_) i j - sign (cell c i j)| <= rho *+ 2
    & forall i j, (i < n_tapes m)%N -> (j < tau)%N -> `|w (head_at at_) i j - (j == head c i)%:R| <= rho].

(** The weights are exactly those of a configuration, as far as the network has them. *)
Definition encodes (w : nat -> matrix R) (c : configuration) : Prop :=
  [/\ forall v, (v < size (table m))%N -> w (vertex_at at_) v 0%N = (v == vertex_of m c)%:R,
      forall i j, (i < n_writable m)%N -> (j < tau)%N -> w (tape_at at_) i j = sign (cell c i j)
    & forall i j, (i < n_tapes m)%N -> (j < tau)%N -> w (head_at at_) i j = (j == head c i)%:R].

(** The hidden units show the read-only tapes of a configuration. *)
Definition shows (fixed : matrix R) (c : configuration) : Prop :=
  forall i j, (i < n_tapes m - n_writable m)%N -> (j < tau)%N ->
    fixed i j = sign (cell c (n_writable m + i) j).

Lemma encode_encodes c : apart at_ -> encodes (encode c) c.
Proof.
case/and3P=> vt vh th; rewrite /encode.
split=> [v _|i j _ _|i j _ _]; rewrite ?eqxx //.
  by rewrite eq_sym (negbTE vt).
by rewrite eq_sym (negbTE vh) eq_sym (negbTE th).
Qed.

Lemma within0 w c : within 0 w c <-> encodes w c.
Proof.
have near (a b : R) : `|a - b| <= 0 <-> a = b.
  by rewrite normr_le0 subr_eq0; split=> [/eqP|->].
rewrite /within /encodes mul0rn; split=> -[x t h].
  by split=> [v v_lt|i j i_lt j_lt|i j i_lt j_lt]; apply/near; [apply: x | apply: t | apply: h].
by split=> [v v_lt|i j i_lt j_lt|i j i_lt j_lt]; apply/near; [apply: x | apply: t | apply: h].
Qed.

Lemma within_le rho rho' w c : rho <= rho' -> within rho w c -> within rho' w c.
Proof.
move=> le [x t h]; split=> *; [exact: le_trans (x _ _) le | | exact: le_trans (h _ _ _ _) le].
by apply: le_trans (t _ _ _ _) _ => //; rewrite ler_muln2r.
Qed.

(** Weights that are the same as far as the network has them. *)
Definition agree (w w' : nat -> matrix R) : Prop :=
  [/\ forall v, (v < size (table m))%N -> w (vertex_at at_) v 0%N = w' (vertex_at at_) v 0%N,
      forall i j, (i < n_writable m)%N -> (j < tau)%N -> w (tape_at at_) i j = w' (tape_at at_) i j
    & forall i j, (i < n_tapes m)%N -> (j < tau)%N -> w (head_at at_) i j = w' (head_at at_) i j].

Lemma encodes_agree w w' c : encodes w c -> encodes w' c -> agree w w'.
Proof. by case=> x t h [x' t' h']; split=> *; rewrite ?x ?x' ?t ?t' ?h ?h'. Qed.

Lemma encodes_same w c c' :
  well_formed m -> inside m tau c -> same m tau c c' -> encodes w c -> encodes w c'.
Proof.
move=> ok c_in c_c' [x t h]; have [q cells heads] := c_c'; split=> [v v_lt|i j i_w j_tau|i j i_d j_tau].
- by rewrite x // (vertex_of_same ok c_in c_c').
- by rewrite t // cells // (leq_trans i_w) // writable_le.
by rewrite h // heads.
Qed.

Lemma bit_apart (a : R) (b b' : bool) rho :
  `|a - b%:R| <= rho -> `|a - b'%:R| <= rho -> rho *+ 2 < 1 -> b = b'.
Proof.
move=> near near' small; apply/eqP; apply: contraTT small => b_b'; rewrite -leNgt mulr2n.
apply: le_trans (ler_add near near'); apply: le_trans (ler_norm_sub _ _).
have -> : a - b%:R - (a - b'%:R) = b'%:R - b%:R by rewrite opprB addrC addrA subrK addrC.
by move: b_b' {near near'}; case: b; case: b' => //= _; rewrite ?subr0 ?sub0r ?normrN normr1.
Qed.

Lemma sign_apart (a : R) (b b' : bool) rho :
  `|a - sign b| <= rho *+ 2 -> `|a - sign b'| <= rho *+ 2 -> rho *+ 2 < 1 -> b = b'.
Proof.
move=> near near' small; apply/eqP; apply: contraTT small => b_b'; rewrite -leNgt.
suff: 2%:R <= (rho *+ 2) *+ 2 by rewrite -[2%:R]/(1 *+ 2) ler_muln2r.
rewrite [_ *+ 2 *+ 2]mulr2n.
apply: le_trans (ler_add near near'); apply: le_trans (ler_norm_sub _ _).
have -> : a - sign b - (a - sign b') = sign b' - sign b by rewrite opprB addrC addrA subrK addrC.
by move: b_b' {near near'}; case: b; case: b' => //= _; rewrite /sign ?opprK -?opprD ?normrN -mulr2n normr_nat.
Qed.

(** Weights stand for one configuration at most. *)
Lemma within_unique rho w fixed c c' :
  well_formed m -> inside m tau c -> inside m tau c' -> rho *+ 2 < 1 ->
  shows fixed c -> shows fixed c' -> within rho w c -> within rho w c' -> same m tau c c'.
Proof.
move=> ok c_in c'_in small sh sh' [x t h] [x' t' h'].
have [q hd] := c_in; have [q' hd'] := c'_in.
have v_v' : vertex_of m c = vertex_of m c'.
  have v_lt := vertex_lt ok q; apply/eqP; rewrite -(bit_apart (x _ v_lt) (x' _ v_lt) small) eqxx.
  by [].
split.
- case/andP: (vertex_is_in ok q) => /eqP <- _; case/andP: (vertex_is_in ok q') => /eqP <- _.
  by rewrite v_v'.
- move=> i j i_d j_tau; case: (ltnP i (n_writable m)) => [i_w|w_i].
    exact: sign_apart (t _ _ i_w j_tau) (t' _ _ i_w j_tau) small.
  have i_lt : (i - n_writable m < n_tapes m - n_writable m)%N by rewrite ltn_sub2r // (leq_ltn_trans w_i).
  have := sh _ _ i_lt j_tau; rewrite (sh' _ _ i_lt j_tau) subnKC //.
  have neq : -1 != 1 :> R by rewrite -subr_eq0 -opprD oppr_eq0 -mulr2n pnatr_eq0.
  by case: (cell c' i j); case: (cell c i j) => //= /eqP; rewrite /sign ?(negbTE neq) // eq_sym (negbTE neq).
by move=> i i_d; apply/eqP; rewrite -(bit_apart (h _ _ i_d (hd i i_d)) (h' _ _ i_d (hd i i_d)) small) eqxx.
Qed.

Lemma shows_step fixed c :
  well_formed m -> (now c < n_states m)%N -> shows fixed c -> shows fixed (step m c).
Proof.
move=> ok q_in shown i j i_lt j_lt; rewrite shown // cell_read_only //.
by rewrite leq_addr /= -ltn_subRL.
Qed.

End Encoding.

Arguments encode R : clear implicits.
