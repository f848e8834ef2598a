(** What exported files are written with. *)

From Coq Require Export NArith ZArith.
From mathcomp Require Export ssreflect ssrbool ssrnat seq.
From Luge Require Export Number Expression Training Network Machine Checker ExtendedChecker CompactChecker Wiring ModelChecker Stopping StreamChecker Forms MlpPass Circuit MlpLogic MlpChecker.

(** An entry of a sparse matrix. *)
Definition arc (row column : N) (weight : number) : entry := (row, column, weight).

(** A tape of [n] cells with the symbol 1 in these. *)
Definition ones (n : nat) (cells : seq nat) : seq bool := [seq k \in cells | k <- iota 0 n].

(** A wire of a circuit, and its negation. *)
Definition yes (wire : nat) : literal := (wire, false).
Definition no (wire : nat) : literal := (wire, true).

Arguments arc (row column)%num weight.
Arguments Number mantissa%Z halvings%nat.
