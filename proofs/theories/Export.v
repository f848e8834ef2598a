(** What exported files are written with. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import ssreflect ssrbool ssrnat seq.
From Luge Require Import Number Expression.

(** An entry of a sparse matrix. *)
Definition arc (row column : N) (weight : number) : entry := (row, column, weight).

Arguments arc (row column)%num weight.
Arguments Number mantissa%Z halvings%nat.
