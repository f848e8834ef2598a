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

Lemma shows_step fixed c :
  well_formed m -> (now c < n_states m)%N -> shows fixed c -> shows fixed (step m c).
Proof.
move=> ok q_in shown i j i_lt j_lt; rewrite shown // cell_read_only //.
by rewrite leq_addr /= -ltn_subRL.
Qed.

End Encoding.

Arguments encode R : clear implicits.
