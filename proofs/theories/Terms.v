(** What the common parts of a network are worth: affine maps, squared distances, reads, saturation. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Lemma joined1 n : joined n 1 = n.
Proof. by rewrite /joined; case: eqP. Qed.

Lemma joinednn n : joined n n = n.
Proof. by rewrite /joined; case: eqP. Qed.

(** read(T, H)_j = sum_i T_ij H_ij, with one row per tape. *)
Definition read (tape head : expression) : expression := SumColumns (Product tape head).

(** ReLU(2v - 1/2) - ReLU(2v - 3/2): exactly 0 up to 1/4, exactly 1 from 3/4 on. *)
Definition saturate_01 (e : expression) : expression :=
  weighted (one, Relu (affine two e (Number (-1) 1)))
           [:: (minus_one, Relu (affine two e (Number (-3) 1)))].

(** ReLU(2v + 1) - ReLU(2v - 1) - 1: exactly -1 up to -1/2, exactly 1 from 1/2 on. *)
Definition saturate_11 (e : expression) : expression :=
  weighted (one, Relu (affine two e one))
           [:: (minus_one, Relu (affine two e minus_one)); (minus_one, scalar one)].

Section Shapes.

Variable s : shape.

Lemma shape_affine w e b : shape_of e = s -> shape_of (affine w e b) = s.
Proof. by case: s => r c /= ->; rewrite !joined1. Qed.

Lemma shape_difference a b v w : shape_of a = s -> shape_of b = s -> shape_of (Plus (Scale v a) (Scale w b)) = s.
Proof. by case: s => r c /= -> ->; rewrite !joinednn. Qed.

Lemma shape_product a b : shape_of a = s -> shape_of b = s -> shape_of (Product a b) = s.
Proof. by case: s => r c /= -> ->; rewrite !joinednn. Qed.

Lemma shape_product_column a b : shape_of a = (s.1, 1%N) -> shape_of b = s -> shape_of (Product a b) = s.
Proof. by case: s => r c /= -> ->; rewrite joinednn. Qed.

Lemma shape_product_matrix a b : shape_of a = s -> shape_of b = (s.1, 1%N) -> shape_of (Product a b) = s.
Proof. by case: s => r c /= -> -> /=; rewrite joinednn joined1. Qed.

Lemma shape_saturate_01 e : shape_of e = s -> shape_of (saturate_01 e) = s.
Proof. by case: s => r c /= -> /=; rewrite !joined1 !joinednn. Qed.

Lemma shape_saturate_11 e : shape_of e = s -> shape_of (saturate_11 e) = s.
Proof. by case: s => r c /= -> /=; rewrite !joined1 !joinednn. Qed.

Lemma shape_read a b : shape_of a = s -> shape_of b = s -> shape_of (read a b) = (s.1, 1%N).
Proof. by case: s => r c /= -> ->; rewrite !joinednn. Qed.

Lemma shape_weighted first rest :
  all (fun t => shape_of t.2 == s) (first :: rest) -> shape_of (weighted first rest) = s.
Proof.
elim: rest first => [|next rest IH] first; first by rewrite /= andbT => /eqP.
by case/andP=> /eqP first_s /IH rest_s /=; rewrite first_s rest_s !joinednn -surjective_pairing.
Qed.

End Shapes.

Section Values.

Variable R : realFieldType.
Variable arith : arithmetic R.

Lemma stretch_in (s : shape) (a : matrix R) i j : (i < s.1)%N -> (j < s.2)%N -> stretch s a i j = a i j.
Proof.
rewrite /stretch; case: s => [r c] /=.
by case: (eqVneq r 1%N) => [->|_]; case: (eqVneq c 1%N) => [->|_]; case: i; case: j.
Qed.

(** A column stretches over all columns. *)
Lemma stretch_column (n : nat) (a : matrix R) i j : (i < n)%N -> stretch (n, 1%N) a i j = a i 0%N.
Proof. by rewrite /stretch /=; case: (eqVneq n 1%N) => [->|_] //; case: i. Qed.

Lemma stretch_scalar (a : matrix R) i j : stretch (1, 1)%N a i j = a 0%N 0%N.
Proof. by []. Qed.

Lemma total_eq n (f g : nat -> R) : (forall i, (i < n)%N -> f i = g i) -> total n f = total n g.
Proof. by move=> fg; rewrite !totalE; apply: eq_bigr => i _; apply: fg. Qed.

Lemma total_zero n (f : nat -> R) : (forall i, (i < n)%N -> f i = 0) -> total n f = 0.
Proof. by move=> f0; rewrite totalE big1 // => i _; apply: f0. Qed.

(** A sum of which only one term counts. *)
Lemma total_one n (f : nat -> R) k :
  (k < n)%N -> (forall i, (i < n)%N -> i != k -> f i = 0) -> total n f = f k.
Proof.
move=> k_n f0; rewrite totalE (bigD1 (Ordinal k_n)) //= big1 ?addr0 // => i i_k.
by apply: f0; rewrite ?ltn_ord //; apply: contraNneq i_k => i_k; apply/eqP/val_inj.
Qed.

Lemma total_mull n (f : nat -> R) a : total n (fun i => a * f i) = a * total n f.
Proof. by rewrite !totalE mulr_sumr. Qed.

Lemma total_add n (f g : nat -> R) : total n (fun i => f i + g i) = total n f + total n g.
Proof. by rewrite !totalE big_split. Qed.

Lemma total_ge0 n (f : nat -> R) : (forall i, (i < n)%N -> 0 <= f i) -> 0 <= total n f.
Proof. by move=> f_ge0; rewrite totalE sumr_ge0 // => i _; apply: f_ge0. Qed.

Lemma total_le n (f g : nat -> R) : (forall i, (i < n)%N -> f i <= g i) -> total n f <= total n g.
Proof. by move=> fg; rewrite !totalE ler_sum // => i _; apply: fg. Qed.

Lemma total_const n (a : R) : total n (fun=> a) = n%:R * a.
Proof. by rewrite totalE sumr_const card_ord mulr_natl. Qed.

Variables weights fed direction : nat -> matrix R.

Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed direction).

Definition sat01 (v : R) : R := relu (2%:R * v - 2%:R^-1) - relu (2%:R * v - 3%:R / 2%:R).
Definition sat11 (v : R) : R := relu (2%:R * v + 1) - relu (2%:R * v - 1) - 1.

Lemma real_minus_half : real R (Number (-1) 1) = - 2%:R^-1.
Proof. by rewrite /real /= expr1 mulN1r. Qed.

Lemma real_minus_three_halves : real R (Number (-3) 1) = - (3%:R / 2%:R).
Proof. by rewrite /real /= expr1 mulNr. Qed.

Section Entry.

Variables (s : shape) (i j : nat).
Hypotheses (i_s : (i < s.1)%N) (j_s : (j < s.2)%N).

Lemma value_affine w e b : shape_of e = s -> value (affine w e b) i j = real R w * value e i j + real R b.
Proof. by move=> e_s /=; rewrite e_s stretch_scalar stretch_in //= mulr1. Qed.

Lemma value_difference a b :
  shape_of a = s -> shape_of b = s -> value (weighted (one, a) [:: (minus_one, b)]) i j = value a i j - value b i j.
Proof. by move=> a_s b_s /=; rewrite a_s b_s !stretch_in // mul1r mulN1r. Qed.

Lemma value_sum a b :
  shape_of a = s -> shape_of b = s -> value (weighted (one, a) [:: (one, b)]) i j = value a i j + value b i j.
Proof. by move=> a_s b_s /=; rewrite a_s b_s !stretch_in // !mul1r. Qed.

Lemma value_product a b :
  shape_of a = s -> shape_of b = s -> value (Product a b) i j = value a i j * value b i j.
Proof. by move=> a_s b_s /=; rewrite a_s b_s !stretch_in. Qed.

(** A column times a matrix. *)
Lemma value_product_column a b :
  shape_of a = (s.1, 1%N) -> shape_of b = s -> value (Product a b) i j = value a i 0%N * value b i j.
Proof. by move=> a_s b_s /=; rewrite a_s b_s stretch_column // stretch_in. Qed.

(** A matrix times a column. *)
Lemma value_product_matrix a b :
  shape_of a = s -> shape_of b = (s.1, 1%N) -> value (Product a b) i j = value a i j * value b i 0%N.
Proof. by move=> a_s b_s /=; rewrite a_s b_s stretch_column // stretch_in. Qed.

Lemma value_saturate_01 e : shape_of e = s -> value (saturate_01 e) i j = sat01 (value e i j).
Proof.
move=> e_s; have relu_s b : shape_of (Relu (affine two e b)) = s by exact: (shape_affine _ _ e_s).
rewrite value_difference //.
have relu_of b : value (Relu (affine two e b)) i j = relu (2%:R * value e i j + real R b).
  by rewrite -[LHS]/(relu (value (affine two e b) i j)) value_affine.
by rewrite !relu_of real_minus_half real_minus_three_halves.
Qed.

Lemma value_saturate_11 e : shape_of e = s -> value (saturate_11 e) i j = sat11 (value e i j).
Proof.
move=> e_s; have relu_s b : shape_of (Relu (affine two e b)) = s by exact: (shape_affine _ _ e_s).
have relu_of b : value (Relu (affine two e b)) i j = relu (2%:R * value e i j + real R b).
  by rewrite -[LHS]/(relu (value (affine two e b) i j)) value_affine.
have inner : value (affine minus_one (Relu (affine two e minus_one)) minus_one) i j =
    - relu (2%:R * value e i j - 1) - 1.
  by rewrite value_affine // relu_of real_minus_one mulN1r.
have inner_s := shape_affine minus_one minus_one (relu_s minus_one).
rewrite -[LHS]/(stretch (shape_of (Relu (affine two e one))) (value (Scale one (Relu (affine two e one)))) i j +
  stretch (shape_of (affine minus_one (Relu (affine two e minus_one)) minus_one))
    (value (affine minus_one (Relu (affine two e minus_one)) minus_one)) i j).
have outer : value (Scale one (Relu (affine two e one))) i j = relu (2%:R * value e i j + 1).
  by rewrite -[LHS]/(real R one * value (Relu (affine two e one)) i j) relu_of real_one mul1r.
by rewrite relu_s inner_s !stretch_in // inner outer addrA.
Qed.

End Entry.

(** A weighted sum of expressions of one shape. *)
Lemma value_weighted s first rest i j :
  (i < s.1)%N -> (j < s.2)%N -> all (fun t => shape_of t.2 == s) (first :: rest) ->
  shape_of (weighted first rest) = s /\
  value (weighted first rest) i j = foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (first :: rest).
Proof.
move=> i_s j_s; elim: rest first => [|next rest IH] first.
  by rewrite /= andbT => /eqP first_s; rewrite addr0.
move=> /= /andP[/eqP first_s others].
have [rest_s rest_v] := IH next others.
by rewrite first_s rest_s !joinednn !stretch_in // rest_v -surjective_pairing.
Qed.

Lemma value_weightedE s first rest i j :
  (i < s.1)%N -> (j < s.2)%N -> all (fun t => shape_of t.2 == s) (first :: rest) ->
  value (weighted first rest) i j = foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (first :: rest).
Proof. by move=> i_s j_s shapes; case: (value_weighted i_s j_s shapes). Qed.

Lemma tangent_weighted s first rest i j :
  (i < s.1)%N -> (j < s.2)%N -> all (fun t => shape_of t.2 == s) (first :: rest) ->
  tangent (weighted first rest) i j = foldr (fun t sum => real R t.1 * tangent t.2 i j + sum) 0 (first :: rest).
Proof.
move=> i_s j_s; elim: rest first => [|next rest IH] first.
  by rewrite /= andbT => /eqP first_s; rewrite addr0.
move=> /= /andP[/eqP first_s others].
have [rest_s _] := value_weighted i_s j_s others.
by rewrite first_s rest_s !stretch_in // (IH next others).
Qed.

Lemma value_read s a b i :
  shape_of a = s -> shape_of b = s -> (i < s.1)%N ->
  value (read a b) i 0%N = total s.2 (fun j => value a i j * value b i j).
Proof.
move=> a_s b_s i_s; rewrite /read /= a_s b_s !joinednn; apply: total_eq => j j_s.
by rewrite !stretch_in.
Qed.

Lemma tangent_read_stop s a b i :
  shape_of a = s -> shape_of b = s -> (i < s.1)%N ->
  tangent (read a (Stop b)) i 0%N = total s.2 (fun j => tangent a i j * value b i j).
Proof.
move=> a_s b_s i_s; rewrite /read /= a_s b_s !joinednn; apply: total_eq => j j_s.
by rewrite !stretch_in // mulr0 addr0.
Qed.

Lemma value_squared_distance s a b :
  shape_of a = s -> shape_of b = s ->
  value (squared_distance a b) 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => (value a i j - value b i j) ^+ 2)).
Proof.
move=> a_s b_s; rewrite /squared_distance /= a_s b_s !joinednn.
apply: total_eq => i i_s; apply: total_eq => j j_s.
by rewrite !stretch_in // mul1r mulN1r expr2.
Qed.

(** The second operand does not move. *)
Lemma tangent_squared_distance_fixed s a b :
  shape_of a = s -> shape_of b = s -> (forall i j, tangent b i j = 0) ->
  tangent (squared_distance a b) 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => 2%:R * (value a i j - value b i j) * tangent a i j)).
Proof.
move=> a_s b_s b0; rewrite /squared_distance /= a_s b_s !joinednn.
apply: total_eq => i i_s; apply: total_eq => j j_s.
rewrite !stretch_in // b0 mulr0 addr0 !mul1r mulN1r; ring.
Qed.

Lemma tangent_squared_distance s a b :
  shape_of a = s -> shape_of b = s ->
  tangent (squared_distance a (Stop b)) 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => 2%:R * (value a i j - value b i j) * tangent a i j)).
Proof. by move=> a_s b_s; rewrite (tangent_squared_distance_fixed a_s). Qed.

End Values.
