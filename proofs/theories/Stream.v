(** Streams: a constant carrier under a new batch in every step.

    <<
    D    = 1/2 |x - [x+]|^2 + 1/2 |read(T,[h]) - [write]|^2 + 1/2 |H - [move]|^2 + 1/2 |X - [X+]|^2 + (1 - take)/2 |z + A|^2
    X+   = on feature cells: the bits of this step's x if take, else sat11(X)
           on label cells: the bits of -z, rounded to nearest, if latch, else sat11(X)
    r reads X+ with the moved head
    out  = A + (D - [D])/A on the first entry, A on the others, and - take (z - [z]) on all, while running
           f_theta(x) once halted
    loss = 1/2 |out - y|^2
    >>
    Here are the expressions. All else as in `plain`; the vertex, the heads and the tapes are its weights, the memory X takes
    the place of the read-only tapes, and take and latch are read off the saturated vertex and stand under stop-gradient. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding Terms Arcs Tapes StreamMachine.
From Luge Require Plain Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** The carrier, over any D and any expressions for take and for the end. *)
Section Carrier.

(** The labels' shape, the parameter z, the input y, A and 1/A. *)
Variables (s : shape) (z_at y_at : nat) (large inverse : number).

Variables D take rest primary : expression.

Definition z : expression := Weight s z_at.
Definition y : expression := Input s y_at.

(** A everywhere. *)
Definition level : expression := Constant s (nseq (s.1 * s.2) large).

(** (D - [D])/A on the first entry. *)
Definition pull : expression :=
  Product (weighted (inverse, D) [:: (minus inverse, Stop D)]) (Extended.axis s).

(** take (z - [z]). *)
Definition swap : expression := Product take (weighted (one, z) [:: (minus_one, Stop z)]).

Definition carrier : expression := weighted (one, level) [:: (one, pull); (minus_one, swap)].

Definition stream_out : expression := Switch rest primary carrier.

Definition stream_loss : expression := affine half (squared_distance stream_out y) zero.

End Carrier.

Section Landscape.

(** The machine, the number of cells per tape, the states that take and latch, the cells of features and labels. *)
Variables (m : machine) (tau : nat) (takes latches : pred nat) (feature_cell label_cell : nat -> nat -> bool).

(** Where the weights of `plain` are, X and z; the inputs are x and y. *)
Variables (at_ : places) (memory_at z_at x_at : nat).

(** The combinations of symbols that have a unit of their own. *)
Variable units : seq (seq (option bool)).

(** The shapes of x and y, their formats, and the bit that belongs into each cell of the memory, row by row. *)
Variables (sx s : shape) (feature_format label_format : format) (feature_bits label_bits : seq nat).

(** A. *)
Variable large : number.

Let rows : nat := n_tapes m - n_writable m.

Definition memory : expression := Weight (rows, tau) memory_at.

(** All tapes, the writable ones first; the memory is moved by its own term alone. *)
Definition tapes : expression := Plain.tapes m tau at_ (Some (Stop memory)).

Definition vertex : expression := Plain.vertex m at_.
Definition heads : expression := Plain.heads m tau at_.
Definition cells : expression := saturate_11 tapes.
Definition read_now : expression := read cells heads.
Definition written_next : expression := write m vertex read_now.
Definition heads_next : expression := moved_heads m vertex heads.

(** Whether the state is one of these. *)
Definition flag (p : pred nat) : expression :=
  Stop (from_vertices vertex 1 (arcs 1 (fun _ s => if p (state s) then Some one else None) (table m))).

Definition take : expression := flag takes.
Definition latch : expression := flag latches.

(** 1 on some cells of the memory, 0 on the others. *)
Definition mask (cell_ : nat -> nat -> bool) : expression :=
  Constant (rows, tau) [seq if cell_ (k %/ tau) (k %% tau) then one else zero | k <- iota 0 (rows * tau)].

(** The bits of a column of numbers, spread over the memory. *)
Definition bits_of (f : format) (positions : seq nat) (column : expression) : expression :=
  Reshape (rows, tau) (Gather positions (Quantize f column)).

Definition bits_of_x : expression := bits_of feature_format feature_bits (Reshape (sx.1 * sx.2, 1) (Input sx x_at)).
Definition bits_of_labels : expression :=
  bits_of label_format label_bits (Reshape (s.1 * s.2, 1) (Scale minus_one (z s z_at))).

Definition remembered : expression := saturate_11 memory.

(** What replaces the memory on some cells, where a flag is 1. *)
Definition renewal (f : expression) (cell_ : nat -> nat -> bool) (bits : expression) : expression :=
  Product f (Product (mask cell_) (weighted (one, bits) [:: (minus_one, remembered)])).

(** X+. *)
Definition memory_next : expression :=
  weighted (one, remembered)
    [:: (one, renewal take feature_cell bits_of_x); (one, renewal latch label_cell bits_of_labels)].

(** The tapes with X+. *)
Definition fresh_cells : expression :=
  if n_writable m is 0 then memory_next else Stack (saturate_11 (Plain.tape_weights m tau at_)) memory_next.

(** r: the symbols that will be read once this step is made, from X+ with the moved heads. *)
Definition read_next : expression := read_ahead m vertex heads fresh_cells read_now.

Definition symbols : expression :=
  Relu (Linear (size units) (symbol_arcs m units) (map threshold units) read_next).

(** x+. *)
Definition successor : expression :=
  let n := size (table m) in
  Product (Linear n (of_state m) (nseq n zero) (from_vertices vertex (n_states m) (state_arcs m)))
          (Linear n (of_symbols m units) (nseq n zero) symbols).

(** 1 where the machine has halted. *)
Definition at_rest : expression := Stop (from_vertices vertex 1 (rest_arcs m)).

Definition slot_term : expression :=
  Product (affine minus_one take one) (squared_distance (z s z_at) (level s (minus large))).

Definition stream_landscape : expression :=
  weighted (half, squared_distance (Plain.vertex_weights m at_) (Stop successor))
    [:: (half, squared_distance (read tapes (Stop heads)) (Stop written_next));
        (half, squared_distance (Plain.head_weights m tau at_) (Stop heads_next));
        (half, squared_distance memory (Stop memory_next));
        (half, slot_term)].

End Landscape.
