(** Networks as expressions: what they are worth, and how that changes when the weights move.

    An expression is the graph of docs/graph-format.md with its sharing unfolded. [value] is the value of a node, entry by
    entry; [tangent] is forward-mode differentiation along a direction of the weights, by the rules that automatic
    differentiators use: the derivative of ReLU at 0 is 0, a stop-gradient has tangent 0, and a branch that is not taken is
    not differentiated. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Rows and columns. A vector is one column, a scalar is one by one. *)
Notation shape := (nat * nat)%type.

(** How bits become a number. *)
Inductive format :=
| Fixed (integer_bits fraction_bits : nat) (sign_magnitude : bool)
| Float (exponent_bits mantissa_bits : nat) (bias : Z).

Definition n_bits (f : format) : nat :=
  match f with Fixed i f _ => (i + f)%N | Float e m _ => (1 + e + m)%N end.

(** An entry of a sparse matrix: row, column, weight. Rows and columns are binary, since there may be many. *)
Notation entry := (N * N * number)%type.

Inductive expression :=
| Weight (s : shape) (p : nat)
| Input (s : shape) (p : nat)
| Constant (s : shape) (entries : seq number)
| Linear (rows : nat) (entries : seq entry) (bias : seq number) (a : expression)
| Scale (w : number) (a : expression)
| Plus (a b : expression)
| Relu (a : expression)
| Product (a b : expression)
| Quotient (a b : expression)
| Matmul (a b : expression)
| Root (a : expression)
| SumColumns (a : expression)
| SumAll (a : expression)
| Shift (by_ : Z) (a : expression)
| Reshape (s : shape) (a : expression)
| Stack (a b : expression)
| Gather (positions : seq nat) (a : expression)
| Quantize (f : format) (a : expression)
| Dequantize (f : format) (a : expression)
| Stop (a : expression)
| Switch (open on off : expression)
| Select (c a b : expression).

(** A side of length 1 is stretched to the other's length. *)
Definition joined (m n : nat) : nat := if m == 1%N then n else m.

Fixpoint shape_of (e : expression) : shape :=
  match e with
  | Weight s _ | Input s _ | Constant s _ | Reshape s _ => s
  | Linear rows _ _ _ => (rows, 1)%N
  | Plus a b | Product a b | Quotient a b =>
      (joined (shape_of a).1 (shape_of b).1, joined (shape_of a).2 (shape_of b).2)
  | Matmul a b => ((shape_of a).1, (shape_of b).2)
  | SumColumns a => ((shape_of a).1, 1)%N
  | SumAll _ => (1, 1)%N
  | Scale _ a | Relu a | Root a | Shift _ a | Stop a => shape_of a
  | Stack a b => ((shape_of a).1 + (shape_of b).1, (shape_of a).2)%N
  | Gather positions _ => (size positions, 1)%N
  | Quantize f a => ((shape_of a).1 * n_bits f, 1)%N
  | Dequantize f a => ((shape_of a).1 %/ n_bits f, 1)%N
  | Switch _ a _ => shape_of a
  | Select _ a _ => shape_of a
  end.

Section Semantics.

Variable R : realFieldType.

(** What a field does not have by itself: square roots, and the bits of a number. *)
Record arithmetic := Arithmetic {
  root : R -> R;
  bit : format -> R -> nat -> R;
  number_of_bits : format -> (nat -> R) -> R
}.

(** Entries by row and column; only those inside a shape mean anything. *)
Definition matrix := nat -> nat -> R.

(** The sum of [f 0] to [f (n - 1)]. *)
Definition total (n : nat) (f : nat -> R) : R := foldr (fun i s => f i + s) 0 (iota 0 n).

Lemma totalE n f : total n f = \sum_(i < n) f i.
Proof. by rewrite /total -(big_mkord xpredT f) unlock /index_iota subn0. Qed.

(** An entry of a matrix of shape [s], stretched where a side has length 1. *)
Definition stretch (s : shape) (a : matrix) : matrix :=
  fun i j => a (if s.1 == 1%N then 0%N else i) (if s.2 == 1%N then 0%N else j).

(** The product of a sparse matrix and a vector, one entry. *)
Definition sparse (entries : seq entry) (a : matrix) (i : nat) : R :=
  foldr (fun e s => if N.eqb e.1.1 (N.of_nat i) then real R e.2 * a (N.to_nat e.1.2) 0%N + s else s) 0 entries.

(** Entry [k] in the order row by row. *)
Definition flat (s : shape) (a : matrix) (k : nat) : R := a (k %/ s.2)%N (k %% s.2)%N.

(** The column that a shift by [by_] takes column [j] from, if it lies inside. *)
Definition shifted (by_ : Z) (columns j : nat) : option nat :=
  let from := Z.sub (Z.of_nat j) by_ in
  if (Z.leb 0 from && Z.ltb from (Z.of_nat columns))%bool then Some (Z.to_nat from) else None.

Definition relu (v : R) : R := if 0 < v then v else 0.

Variable arith : arithmetic.

Section Value.

(** The trained weights and the fed units. *)
Variables weights fed : nat -> matrix.

Fixpoint value (e : expression) : matrix :=
  match e with
  | Weight _ p => weights p
  | Input _ p => fed p
  | Constant s entries => fun i j => real R (nth zero entries (i * s.2 + j)%N)
  | Linear _ entries bias a => fun i _ => real R (nth zero bias i) + sparse entries (value a) i
  | Scale w a => fun i j => real R w * value a i j
  | Plus a b => fun i j => stretch (shape_of a) (value a) i j + stretch (shape_of b) (value b) i j
  | Relu a => fun i j => relu (value a i j)
  | Product a b => fun i j => stretch (shape_of a) (value a) i j * stretch (shape_of b) (value b) i j
  | Quotient a b => fun i j => stretch (shape_of a) (value a) i j / stretch (shape_of b) (value b) i j
  | Matmul a b => fun i j => total (shape_of a).2 (fun k => value a i k * value b k j)
  | Root a => fun i j => root arith (value a i j)
  | SumColumns a => fun i _ => total (shape_of a).2 (fun j => value a i j)
  | SumAll a => fun _ _ => total (shape_of a).1 (fun i => total (shape_of a).2 (fun j => value a i j))
  | Shift by_ a => fun i j => if shifted by_ (shape_of a).2 j is Some k then value a i k else 0
  | Reshape s a => fun i j => flat (shape_of a) (value a) (i * s.2 + j)%N
  | Stack a b => fun i j =>
      if (i < (shape_of a).1)%N then value a i j else value b (i - (shape_of a).1)%N j
  | Gather positions a => fun i _ => flat (shape_of a) (value a) (nth 0%N positions i)
  | Quantize f a => fun i _ => bit arith f (value a (i %/ n_bits f)%N 0%N) (i %% n_bits f)%N
  | Dequantize f a => fun i _ => number_of_bits arith f (fun k => value a (i * n_bits f + k)%N 0%N)
  | Stop a => value a
  | Switch o a b => fun i j =>
      let open := value o 0%N 0%N in
      if open == 1 then value a i j
      else if open == 0 then value b i j
      else open * value a i j + (1 - open) * value b i j
  | Select c a b => fun i j => if 0 < value c 0%N 0%N then value a i j else value b i j
  end.

(** How fast the weights move. The fed units do not. *)
Variable direction : nat -> matrix.

Fixpoint tangent (e : expression) : matrix :=
  match e with
  | Weight _ p => direction p
  | Input _ _ | Constant _ _ | Quantize _ _ | Dequantize _ _ | Stop _ => fun _ _ => 0
  | Linear _ entries _ a => fun i _ => sparse entries (tangent a) i
  | Scale w a => fun i j => real R w * tangent a i j
  | Plus a b => fun i j => stretch (shape_of a) (tangent a) i j + stretch (shape_of b) (tangent b) i j
  | Relu a => fun i j => if 0 < value a i j then tangent a i j else 0
  | Product a b => fun i j =>
      stretch (shape_of a) (tangent a) i j * stretch (shape_of b) (value b) i j +
      stretch (shape_of a) (value a) i j * stretch (shape_of b) (tangent b) i j
  | Quotient a b => fun i j =>
      (stretch (shape_of a) (tangent a) i j * stretch (shape_of b) (value b) i j -
       stretch (shape_of a) (value a) i j * stretch (shape_of b) (tangent b) i j) /
      stretch (shape_of b) (value b) i j ^+ 2
  | Matmul a b => fun i j =>
      total (shape_of a).2 (fun k => tangent a i k * value b k j + value a i k * tangent b k j)
  | Root a => fun i j => tangent a i j / (2%:R * root arith (value a i j))
  | SumColumns a => fun i _ => total (shape_of a).2 (fun j => tangent a i j)
  | SumAll a => fun _ _ => total (shape_of a).1 (fun i => total (shape_of a).2 (fun j => tangent a i j))
  | Shift by_ a => fun i j => if shifted by_ (shape_of a).2 j is Some k then tangent a i k else 0
  | Reshape s a => fun i j => flat (shape_of a) (tangent a) (i * s.2 + j)%N
  | Stack a b => fun i j =>
      if (i < (shape_of a).1)%N then tangent a i j else tangent b (i - (shape_of a).1)%N j
  | Gather positions a => fun i _ => flat (shape_of a) (tangent a) (nth 0%N positions i)
  | Switch o a b => fun i j =>
      let open := value o 0%N 0%N in
      if open == 1 then tangent a i j
      else if open == 0 then tangent b i j
      else tangent o 0%N 0%N * (value a i j - value b i j) + open * tangent a i j + (1 - open) * tangent b i j
  | Select c a b => fun i j => if 0 < value c 0%N 0%N then tangent a i j else tangent b i j
  end.

End Value.
End Semantics.

(** ** Shorthands *)

(** A weighted sum, as in the graph's [sum]. *)
Fixpoint weighted (first : number * expression) (rest : seq (number * expression)) : expression :=
  if rest is next :: rest' then Plus (Scale first.1 first.2) (weighted next rest')
  else Scale first.1 first.2.

Definition scalar (n : number) : expression := Constant (1, 1)%N [:: n].

(** [weight * a + bias], entry by entry. *)
Definition affine (weight : number) (a : expression) (bias : number) : expression :=
  weighted (weight, a) [:: (bias, scalar one)].

(** |a - b|^2. *)
Definition squared_distance (a b : expression) : expression :=
  let residual := weighted (one, a) [:: (minus_one, b)] in
  SumAll (Product residual residual).
