(** Streams: a constant carrier under a new batch in every step.

    <<
    D    = 1/2 |x - [x+]|^2 + 1/2 |read(T,[h]) - [write]|^2 + 1/2 |H - [move]|^2 + 1/2 |X - [X+]|^2 + (1 - take)/2 |z + A|^2
    X+   = [sat11(X)] + change       a vector of bits: those of a batch, sample by sample, features before labels
    change = on bits of features: the bits of this step's x less [sat11(X)] if take, else 0
             on bits of labels: the bits of -[z], rounded to nearest, less [sat11(X)] if latch, else 0
    the read-only tapes are a linear map of [sat11(X)]; r reads them after the change, with the moved head
    out  = A + (D - [D])/A on the first entry, A on the others, and - take (z - [z]) on all, while running
           f_theta(x) once halted
    loss = 1/2 |out - y|^2
    >>
    Here are the expressions, node by node as crates/luge-landscape builds them. All else as in `plain`; the vertex, the heads
    and the tapes are its weights, and take and latch are read off the saturated vertex. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding Terms Arcs Tapes Wiring.
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

Definition stream_out : expression := Select rest primary carrier.

Definition stream_loss : expression := affine half (squared_distance stream_out y) zero.

End Carrier.

(** The labels' part of D: |z + A|^2. *)
Definition slot_squares (s : shape) (z_at : nat) (large : number) : expression :=
  let away := affine one (z s z_at) large in SumAll (Product away away).

Section Landscape.

(** The machine, the number of cells per tape, the states that take and latch. *)
Variables (m : machine) (tau : nat) (takes latches : pred nat).

(** Where the weights of `plain` are, X and z; the input x. *)
Variables (at_ : places) (memory_at z_at x_at : nat).

(** The combinations of symbols that have a unit of their own. *)
Variable units : seq (seq (option bool)).

(** The shape of y, and where the bits of a batch lie. *)
Variables (s : shape) (wr : wires).

(** A. *)
Variable large : number.

Let rows : nat := n_tapes m - n_writable m.
Let f := number_format wr.
Let sx := feature_shape wr.
Let order := number_order sx.1 sx.2 s.2.

(** How many bits X has. *)
Notation n_kept := (n_data_bits s wr).

(** Whether a bit belongs to a feature. *)
Definition is_feature (b : nat) : bool := nth 0 order (b %/ n_bits f) < sx.1 * sx.2.

(** The cells of the read-only tapes that show features, and those that show labels. *)
Definition feature_cell (i j : nat) : bool := is_data s wr i j && is_feature (j - data_cell wr).
Definition label_cell (i j : nat) : bool := is_data s wr i j && ~~ is_feature (j - data_cell wr).

Definition memory : expression := Weight (n_kept, 1) memory_at.
Definition held : expression := Stop (saturate_11 memory).

(** The read-only tapes as the memory shows them. *)
Definition shown_memory : expression :=
  Reshape (rows, tau) (Linear (rows * tau) (data_arcs tau s wr) (data_bias m tau s wr) held).

(** All tapes, the writable ones first. *)
Definition tapes : expression := Plain.tapes m tau at_ (Some shown_memory).

Definition vertex : expression := Plain.vertex m at_.
Definition heads : expression := Plain.heads m tau at_.
Definition cells : expression := saturate_11 tapes.
Definition read_now : expression := read cells heads.
Definition written_next : expression := write m vertex read_now.
Definition heads_next : expression := moved_heads m vertex heads.

(** Whether the step takes, and whether it latches: two units. *)
Definition used (i : nat) (s : situation) : bool := what s && (if i is 0 then takes (state s) else latches (state s)).
Definition use_arcs : seq entry := arcs 2 (fun i s => if used i s then Some one else None) (table m).
Definition uses : expression := from_vertices vertex 2 use_arcs.

Definition take : expression := Stop (Gather [:: 0] uses).

(** The bits of x and of -[z], in the order of the tape. *)
Definition fresh_bits : expression :=
  Quantize f (Gather order (Stack (Reshape (sx.1 * sx.2, 1) (Input sx x_at))
                                  (Reshape (s.1 * s.2, 1) (affine minus_one (Stop (z s z_at)) zero)))).

(** From take to the bits of features, from latch to those of labels. *)
Definition renewal_arcs : seq entry :=
  [seq (N.of_nat b, if is_feature b then 0%num else 1%num, one) | b <- iota 0 n_kept].

Definition change : expression :=
  Product (Linear n_kept renewal_arcs (nseq n_kept zero) uses) (weighted (one, fresh_bits) [:: (minus_one, held)]).

(** X+. *)
Definition memory_next : expression := weighted (one, held) [:: (one, change)].

(** The change, as a change of the tapes. *)
Definition fresh_arcs : seq entry :=
  [seq (N.of_nat ((n_writable m + data_row wr) * tau + data_cell wr + b), N.of_nat b, one) | b <- iota 0 n_kept].
Definition fresh : expression :=
  Reshape (n_tapes m, tau) (Linear (n_tapes m * tau) fresh_arcs (nseq (n_tapes m * tau) zero) change).

Definition fresh_cells : expression := weighted (one, cells) [:: (one, fresh)].

(** r: the symbols that will be read once this step is made. *)
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

Definition slot_term : expression := Product (affine minus_one take one) (slot_squares s z_at large).

Definition stream_landscape : expression :=
  weighted (half, squared_distance (Plain.vertex_weights m at_) (Stop successor))
    [:: (half, squared_distance (read tapes (Stop heads)) (Stop written_next));
        (half, squared_distance (Plain.head_weights m tau at_) (Stop heads_next));
        (half, squared_distance memory (Stop memory_next));
        (half, slot_term)].

End Landscape.
