(** The landscape `plain`: stock gradient descent with rate 1 on every weight.

    <<
    s' = sat01(x)   h = sat01(H)   t = sat11(T)
    move  = shift(s') h            write = next s' (+ (keep s') * read(t, h))
    r     = read(t + h (write - read(t, h)), move)
    x+    = (P s') outer M,        M_t' = ReLU(t'.r - (number of tapes looked at - 1))
    l(x,T,H) = c - Omega [halt.s'] + 1/2 |x - [x+]|^2 + 1/2 |read(T,[h]) - [write]|^2 + 1/2 |H - [move]|^2
    >>
    The expression is the one that crates/luge-landscape builds, node by node. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding Terms Arcs.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Plain.

(** The machine, the number of cells per tape, the places of the weights. *)
Variables (m : machine) (tau : nat) (at_ : places).

(** The hidden units that hold the read-only tapes, if there are such tapes. *)
Variable fixed : option expression.

(** The combinations of symbols that have a unit of their own. *)
Variable units : seq (seq (option bool)).

(** c and Omega. *)
Variables offset drop : number.

Definition vertex_weights : expression := Weight (size (table m), 1%N) (vertex_at at_).
Definition head_weights : expression := Weight (n_tapes m, tau) (head_at at_).
Definition tape_weights : expression := Weight (n_writable m, tau) (tape_at at_).

(** All tapes, the writable ones first. *)
Definition tapes : expression :=
  if n_writable m is 0 then odflt tape_weights fixed
  else if fixed is Some f then Stack tape_weights f else tape_weights.

Definition vertex : expression := saturate_01 vertex_weights.
Definition heads : expression := saturate_01 head_weights.
Definition cells : expression := saturate_11 tapes.

(** A map from the vertices. *)
Definition from_vertices (rows : nat) (entries : seq entry) : expression :=
  Linear rows entries (nseq rows zero) vertex.

Definition read_now : expression := read cells heads.

(** The symbols that are left behind. *)
Definition write : expression :=
  let known := from_vertices (n_tapes m) (next_arcs m) in
  if keep_arcs m is [::] then known
  else weighted (one, known) [:: (one, Product (from_vertices (n_tapes m) (keep_arcs m)) read_now)].

Definition moving (w : move) : expression := from_vertices (n_tapes m) (moving_arcs m w).

(** The heads that move this way, if the machine ever moves one so. *)
Definition moving_term (w : move) : seq (number * expression) :=
  if moving_arcs m w is [::] then [::] else
  let moved := match w with
    | Left => Shift (-1) heads
    | Stay => heads
    | Right => Shift 1 heads
    end in
  [:: (one, Product (moving w) moved)].

(** The heads where they will be: [shift(x) H]_ij = sum_v x_v H_(i - delta_3(v)_j, j). *)
Definition moved_heads : expression :=
  if moving_term Left ++ moving_term Stay ++ moving_term Right is first :: rest then weighted first rest
  else heads.

(** The symbols that will be read once this step is made. *)
Definition read_ahead : expression :=
  let change := weighted (one, write) [:: (minus_one, read_now)] in
  read (weighted (one, cells) [:: (one, Product heads change)]) moved_heads.

(** One unit per combination of symbols: 1 where they will be read, else 0. *)
Definition symbols : expression :=
  Relu (Linear (size units) (symbol_arcs m units) (map threshold units) read_ahead).

(** x+: the vertex that follows. *)
Definition successor : expression :=
  let next_states := from_vertices (n_states m) (state_arcs m) in
  let n := size (table m) in
  Product (Linear n (of_state m) (nseq n zero) next_states)
          (Linear n (of_symbols m units) (nseq n zero) symbols).

Definition at_rest : expression := from_vertices 1 (rest_arcs m).

(** l(x, T, H). *)
Definition plain : expression :=
  weighted (offset, scalar one)
    [:: (minus drop, Stop at_rest);
        (half, squared_distance vertex_weights (Stop successor));
        (half, squared_distance (read tapes (Stop heads)) (Stop write));
        (half, squared_distance head_weights (Stop moved_heads))].

End Plain.
