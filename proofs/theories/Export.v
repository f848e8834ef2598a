(** What exported files are written with. *)

From Coq Require Export NArith ZArith.
From mathcomp Require Export ssreflect ssrbool ssrnat seq.
From Luge Require Export Number Expression Training Network Machine Checker ExtendedChecker CompactChecker.

(** An entry of a sparse matrix. *)
Definition arc (row column : N) (weight : number) : entry := (row, column, weight).

Arguments arc (row column)%num weight.
Arguments Number mantissa%Z halvings%nat.
