(** What a step of training changes is said by the situation alone: the vertex, the symbols under the heads, and the symbols that
    the heads will read next. So once a step has been differentiated in a situation, every step in that situation is known,
    wherever the heads are and whatever else is on the tapes. And the gradient of an exported `plain` is a derivative. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Network Machine Encoding Terms Plain PlainTheorem Checker CompactChecker.
From Luge Require Import Derivative.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Situation.

Variable m : machine.

(** Two configurations look alike to a step. *)
Definition same_situation (c c' : configuration) : Prop :=
  [/\ now c = now c', vertex_of m c = vertex_of m c', forall i, reads c i = reads c' i
    & forall i, reads (step m c) i = reads (step m c') i].

(** Then they write, move and go on alike. *)
Lemma same_next c c' : same_situation c c' ->
  [/\ vertex_of m (step m c) = vertex_of m (step m c'), forall i, written m c i = written m c' i
    & forall i, move_of m c i = move_of m c' i].
Proof.
case=> same_now same_vertex same_reads same_ahead.
have act : action_of m c = action_of m c' by rewrite /action_of same_vertex.
split=> [|i|i]; [|by rewrite /written act !same_reads|by rewrite /move_of act].
apply: eq_find => s; rewrite /is_in /= /next_state act same_now; congr (_ && _).
by apply: eq_all => i; rewrite same_ahead.
Qed.

Variables (R : realFieldType) (tau : nat) (at_ : places).

(** What a step from [w] to [w'] that is a step of the machine changes: under the heads, what is written; the heads by their
    moves; the vertex. *)
Lemma changes (w w' : nat -> matrix R) c :
  encodes m tau at_ w c -> encodes m tau at_ w' (step m c) ->
  [/\ forall v, (v < size (table m))%N ->
        w' (vertex_at at_) v 0%N - w (vertex_at at_) v 0%N = (v == vertex_of m (step m c))%:R - (v == vertex_of m c)%:R,
      forall i j, (i < n_writable m)%N -> (j < tau)%N ->
        w' (tape_at at_) i j - w (tape_at at_) i j = if j == head c i then sign R (written m c i) - sign R (reads c i) else 0
    & forall i j, (i < n_tapes m)%N -> (j < tau)%N ->
        w' (head_at at_) i j - w (head_at at_) i j = (j == moved (move_of m c i) (head c i))%:R - (j == head c i)%:R].
Proof.
case=> [x t h] [x' t' h']; split=> [v v_lt|i j i_lt j_lt|i j i_lt j_lt]; first by rewrite x // x'.
  by rewrite t // t' //=; case: eqP => [->|_] //; rewrite subrr.
by rewrite h // h'.
Qed.

(** Two steps in one situation change the vertex alike, write the same under their heads and nothing elsewhere, and move their
    heads alike. *)
Theorem changes_by_situation (w w' u u' : nat -> matrix R) c c' :
  encodes m tau at_ w c -> encodes m tau at_ w' (step m c) ->
  encodes m tau at_ u c' -> encodes m tau at_ u' (step m c') ->
  inside m tau c -> inside m tau c' -> (n_writable m <= n_tapes m)%N -> same_situation c c' ->
  [/\ forall v, (v < size (table m))%N ->
        w' (vertex_at at_) v 0%N - w (vertex_at at_) v 0%N = u' (vertex_at at_) v 0%N - u (vertex_at at_) v 0%N,
      forall i, (i < n_writable m)%N ->
        w' (tape_at at_) i (head c i) - w (tape_at at_) i (head c i) =
        u' (tape_at at_) i (head c' i) - u (tape_at at_) i (head c' i),
      forall i j, (i < n_writable m)%N -> (j < tau)%N ->
        (j != head c i -> w' (tape_at at_) i j = w (tape_at at_) i j) /\
        (j != head c' i -> u' (tape_at at_) i j = u (tape_at at_) i j)
    & forall i, (i < n_tapes m)%N ->
        head (step m c) i = moved (move_of m c i) (head c i) /\ head (step m c') i = moved (move_of m c i) (head c' i)].
Proof.
move=> enc enc' dec dec' [_ c_in] [_ c'_in] fewer alike.
have [_ same_vertex same_reads _] := alike; have [next_vertex same_written same_move] := same_next alike.
have [x t _] := changes enc enc'; have [y s _] := changes dec dec'.
split=> [v v_lt|i i_lt|i j i_lt j_lt|i i_lt].
- by rewrite x // y // next_vertex same_vertex.
- have i_d : (i < n_tapes m)%N by apply: leq_trans i_lt fewer.
  by rewrite t ?c_in // s ?c'_in // !eqxx same_written same_reads.
- by split=> /negbTE off; apply/eqP; rewrite -subr_eq0; [rewrite t // off | rewrite s // off].
by rewrite /= same_move.
Qed.

End Situation.

(** ** Exported networks *)

Section Exported.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** One step of training an exported `plain`, and of an exported `compact`, is such a step. *)
Theorem certified_one_step cl net (fed : nat -> matrix R) c w :
  certified cl net ->
  let m := claimed_machine cl in let tau := claimed_cells cl in
  inside m tau c -> shows m tau (fed 0%N) c -> stays_inside m tau c -> encodes m tau (alone m) w c ->
  encodes m tau (alone m) (train_network net arith fed w) (step m c).
Proof.
move=> checked m tau c_in shown stays enc.
by apply: (certified_trace checked arith (k := 1)) => // -[|j].
Qed.

Theorem certified_compact_one_step cl net (fed : nat -> matrix R) c w :
  certified_compact cl net ->
  let m := slid_machine cl in let tau := slid_cells cl in
  inside m tau c -> shows m tau (fed 0%N) c -> stays_inside m tau c -> encodes m tau (alone m) w c ->
  encodes m tau (alone m) (train_network net arith fed w) (step m c).
Proof.
move=> checked m tau c_in shown stays enc.
by apply: (certified_compact_trace checked arith (k := 1)) => // -[|j].
Qed.

(** No ReLU of `plain` is differentiated at its kink, at any weights whatever: all of them stand under a stop-gradient. *)
Lemma plain_unkinked m tau offset drop (w fed direction : nat -> matrix R) :
  unkinked arith w fed direction (plain_loss m tau offset drop).
Proof.
have tapes_ok : unkinked arith w fed direction (tapes m tau (alone m) (alone_fixed m tau)).
  by rewrite /tapes /alone_fixed; case: (n_writable m) => [|k]; case: ifP.
by rewrite /plain_loss /plain /squared_distance /read /=; do ?split.
Qed.

(** So the gradient by which an exported `plain` is trained is the derivative of its loss. *)
Theorem certified_gradient_derivative cl net (w fed : nat -> matrix R) p i j :
  certified cl net ->
  exists2 e, loss_expression net = Some e &
  let f t := held arith w fed (unit_direction R p i j) t e 0%N 0%N in
  f 0 = network_loss net arith fed w /\
  forall eps, 0 < eps -> exists2 d, 0 < d &
    forall t, t != 0 -> `|t| <= d -> `|(f t - f 0) / t - gradient arith w fed e p i j| <= eps.
Proof.
move=> checked; exists (claimed_loss cl); first exact: certified_loss.
rewrite /network_loss (certified_loss checked); apply: gradient_derivative; exact: plain_unkinked.
Qed.

End Exported.
