(** Graphs as data, in the format of docs/graph-format.md, and the expressions their nodes stand for.

    A node names earlier nodes by their position. Unfolding these names gives an expression; that is what a node means.
    A graph whose shapes or positions do not fit stands for nothing. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Inductive operation :=
| OpParameter (p : nat)
| OpInput (p : nat)
| OpConstant (entries : seq number)
| OpLinear (entries : seq entry) (bias : seq number) (a : nat)
| OpSum (terms : seq (number * nat))
| OpRelu (a : nat)
| OpProduct (a b : nat)
| OpQuotient (a b : nat)
| OpMatmul (a b : nat)
| OpRoot (a : nat)
| OpSumColumns (a : nat)
| OpSumAll (a : nat)
| OpShift (by_ : Z) (a : nat)
| OpReshape (a : nat)
| OpStack (a b : nat)
| OpGather (positions : seq nat) (a : nat)
| OpQuantize (f : format) (a : nat)
| OpDequantize (f : format) (a : nat)
| OpStop (a : nat)
| OpSwitch (open on off : nat)
| OpSelect (c a b : nat).

Record node := Node { node_shape : shape; op : operation }.

(** A network: what is trained and how, what is fed, how the loss is computed. *)
Record network := Network {
  parameters : seq parameter;
  inputs : seq shape;
  nodes : seq node;
  loss : nat
}.

Definition fits (m n : nat) : bool := (m == n) || (m == 1%N) || (n == 1%N).
Definition shapes_fit (s t : shape) : bool := fits s.1 t.1 && fits s.2 t.2.

Section Unfold.

Variables (parameter_shapes input_shapes : seq shape).

(** The expressions of the nodes before this one. *)
Variable env : seq expression.

Definition lookup (k : nat) : option expression := ohead (drop k env).

Definition entries_fit (rows columns : nat) (entries : seq entry) : bool :=
  let rows := N.of_nat rows in let columns := N.of_nat columns in
  all (fun e => N.ltb e.1.1 rows && N.ltb e.1.2 columns) entries.

Fixpoint unfold_sum (s : shape) (terms : seq (number * nat)) : option expression :=
  match terms with
  | [::] => None
  | [:: (w, a)] => omap (Scale w) (lookup a)
  | (w, a) :: terms =>
      if lookup a is Some a then
        if unfold_sum s terms is Some b then
          if shapes_fit (shape_of a) (shape_of b) then Some (Plus (Scale w a) b) else None
        else None
      else None
  end.

Definition unary (f : expression -> option expression) (a : nat) : option expression :=
  if lookup a is Some a then f a else None.

Definition binary (f : expression -> expression -> option expression) (a b : nat) : option expression :=
  unary (fun a => unary (f a) b) a.

Definition entrywise (f : expression -> expression -> expression) (a b : expression) : option expression :=
  if shapes_fit (shape_of a) (shape_of b) then Some (f a b) else None.

Definition guarded (c : bool) (e : expression) : option expression := if c then Some e else None.

Definition unfold_op (s : shape) (o : operation) : option expression :=
  match o with
  | OpParameter p => guarded (p < size parameter_shapes)%N (Weight (nth (0, 0)%N parameter_shapes p) p)
  | OpInput p => guarded (p < size input_shapes)%N (Input (nth (0, 0)%N input_shapes p) p)
  | OpConstant entries => guarded (size entries == s.1 * s.2)%N (Constant s entries)
  | OpLinear entries bias a =>
      unary (fun e => guarded [&& (shape_of e).2 == 1%N, size bias == s.1 & entries_fit s.1 (shape_of e).1 entries]
                              (Linear s.1 entries bias e)) a
  | OpSum terms => unfold_sum s terms
  | OpRelu a => omap Relu (lookup a)
  | OpProduct a b => binary (entrywise Product) a b
  | OpQuotient a b => binary (entrywise Quotient) a b
  | OpMatmul a b => binary (fun a b => guarded ((shape_of a).2 == (shape_of b).1) (Matmul a b)) a b
  | OpRoot a => omap Root (lookup a)
  | OpSumColumns a => omap SumColumns (lookup a)
  | OpSumAll a => omap SumAll (lookup a)
  | OpShift by_ a => omap (Shift by_) (lookup a)
  | OpReshape a =>
      unary (fun e => guarded (s.1 * s.2 == (shape_of e).1 * (shape_of e).2)%N (Reshape s e)) a
  | OpStack a b => binary (fun a b => guarded ((shape_of a).2 == (shape_of b).2) (Stack a b)) a b
  | OpGather positions a =>
      unary (fun e => guarded (all (fun p => p < (shape_of e).1 * (shape_of e).2)%N positions)
                              (Gather positions e)) a
  | OpQuantize f a => unary (fun e => guarded ((shape_of e).2 == 1%N) (Quantize f e)) a
  | OpDequantize f a => unary (fun e => guarded ((shape_of e).2 == 1%N) (Dequantize f e)) a
  | OpStop a => omap Stop (lookup a)
  | OpSwitch o a b =>
      unary (fun o => binary (fun a b =>
        guarded ((shape_of o == (1, 1)%N) && (shape_of a == shape_of b)) (Switch o a b)) a b) o
  | OpSelect c a b =>
      unary (fun c => binary (fun a b =>
        guarded ((shape_of c == (1, 1)%N) && (shape_of a == shape_of b)) (Select c a b)) a b) c
  end.

(** The expression of a node, if its shape is the one it says. *)
Definition unfold_node (n : node) : option expression :=
  if unfold_op (node_shape n) (op n) is Some e then guarded (shape_of e == node_shape n) e else None.

End Unfold.

Fixpoint unfold_nodes (ps ins : seq shape) (env : seq expression) (ns : seq node) : option (seq expression) :=
  if ns is n :: ns' then
    if unfold_node ps ins env n is Some e then unfold_nodes ps ins (rcons env e) ns' else None
  else Some env.

(** The expressions of all nodes, in order. *)
Definition expressions (net : network) : option (seq expression) :=
  unfold_nodes [seq parameter_shape p | p <- parameters net] (inputs net) [::] (nodes net).

(** What training lowers: the loss as an expression. *)
Definition loss_expression (net : network) : option expression :=
  if expressions net is Some es then
    if ohead (drop (loss net) es) is Some e then guarded (shape_of e == (1, 1)%N) e else None
  else None.
