(** The wires of a model: the bits of the data onto the read-only tapes, theta off the tape into the primary network.

    <<
    tape_RO = quantize(x, [z + r])      sample by sample, features before labels, between cells that are constants
    theta   = dequantize([output cells of T])
    >>
    What these expressions are worth in terms of x, y and the machine's tape. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From Luge Require Import Number Expression Training Machine Encoding Terms Arcs Plain PlainValue Extended Joined.
From Luge Require Import Checker.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** For every number on the tape, its place in the list of all features followed by all labels. *)
Definition number_order (samples features labels : nat) : seq nat :=
  flatten [seq iota (i * features) features ++ iota (samples * features + i * labels) labels | i <- iota 0 samples].

(** Where the data lie: the format, the shape of x, the row and the cell of the first bit, and the symbols of the read-only
    tapes elsewhere; where theta is read: the row and the cell of its first bit, and how many numbers it has. *)
Record wires := Wires {
  number_format : format;
  feature_shape : shape;
  data_row : nat;
  data_cell : nat;
  blank : seq (seq bool);
  theta_row : nat;
  theta_cell : nat;
  n_weights : nat
}.

Section Wiring.

Variables (m : machine) (tau : nat) (at_ : places).

(** The labels' shape, z, x, y, and the label offset. *)
Variables (s : shape) (z_at x_at y_at : nat) (r : number).

Variable wr : wires.

Let rows : nat := (n_tapes m - n_writable m)%N.
Let f := number_format wr.
Let sx := feature_shape wr.
Let order := number_order sx.1 sx.2 s.2.

Definition n_data_bits : nat := (size order * n_bits f)%N.

(** Whether a cell of the read-only tapes holds a bit of the data. *)
Definition is_data (i j : nat) : bool :=
  (i == data_row wr) && (data_cell wr <= j < data_cell wr + n_data_bits)%N.

Definition blank_at (i j : nat) : bool := nth false (nth [::] (blank wr) i) j.

(** x and the copied labels in the order of the tape. *)
Definition numbers_on_tape : expression :=
  Gather order (Stack (Reshape (sx.1 * sx.2, 1)%N (Input sx x_at)) (Reshape (s.1 * s.2, 1)%N (Stop (copied s z_at r)))).

Definition data_arcs : seq entry :=
  [seq (N.of_nat (data_row wr * tau + data_cell wr + b), N.of_nat b, one) | b <- iota 0 n_data_bits].

Definition data_bias : seq number :=
  [seq if is_data (k %/ tau) (k %% tau) then zero else sign_of (blank_at (k %/ tau) (k %% tau)) | k <- iota 0 (rows * tau)].

Definition wired_read_only : expression :=
  Reshape (rows, tau) (Linear (rows * tau) data_arcs data_bias (Quantize f numbers_on_tape)).

(** The numbers whose bits lie in the output cells, thresholded. *)
Definition wired_theta (ro : expression) : expression :=
  Dequantize f (Stop (Gather (iota (theta_row wr * tau + theta_cell wr) (n_weights wr * n_bits f))
    (tapes m tau at_ (Some ro)))).

(** The data fit into their row, theta into its. *)
Definition wires_fit : bool :=
  [&& (data_row wr < rows)%N, (data_cell wr + n_data_bits <= tau)%N, (theta_row wr < n_writable m)%N,
      (theta_cell wr + n_weights wr * n_bits f <= tau)%N & (sx.1 == s.1)].

Hypothesis fit : wires_fit.

Section Semantics.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variable fed : nat -> matrix R.

(** Bits are 1 and -1. *)
Definition bits_are_signs : Prop := forall g v l, bit arith g v l = 1 \/ bit arith g v l = -1.

(** A number depends on as many bits as its format has. *)
Definition reads_its_bits : Prop :=
  forall g (a b : nat -> R), (forall k, (k < n_bits g)%N -> a k = b k) -> number_of_bits arith g a = number_of_bits arith g b.

Hypothesis signs : bits_are_signs.

(** A number on the tape: a feature or a label. *)
Definition number_at (e : nat) : R :=
  let p := nth 0%N order e in
  if (p < sx.1 * sx.2)%N then flat sx (fed x_at) p else flat s (fed y_at) (p - sx.1 * sx.2)%N.

(** A symbol on the read-only tapes: a bit of the data, or what lies there otherwise. *)
Definition symbol_at (i j : nat) : bool :=
  if is_data i j then 0 < bit arith f (number_at ((j - data_cell wr) %/ n_bits f)) ((j - data_cell wr) %% n_bits f)%N
  else blank_at i j.

(** The read-only tapes of a configuration hold the data. *)
Definition holds_data (c : configuration) : Prop :=
  forall i j, (i < rows)%N -> (j < tau)%N -> cell c (n_writable m + i) j = symbol_at i j.

(** Numbers lie in the order of the tape, all of them features or labels. *)
Lemma order_lt e : (e < size order)%N -> (nth 0%N order e < sx.1 * sx.2 + s.1 * s.2)%N.
Proof.
move=> /(mem_nth 0%N); case/and5P: fit => _ _ _ _ /eqP same_n /flatten_mapP[i]; rewrite mem_iota add0n => /andP[_ i_lt].
rewrite mem_cat !mem_iota => /orP[] /andP[_]; rewrite -?mulSnr.
  move=> lt; apply: leq_trans lt _; apply: leq_trans (leq_addr _ _).
  by rewrite leq_mul2r i_lt orbT.
rewrite -addnA -mulSnr => lt; apply: leq_trans lt _; rewrite leq_add2l -same_n.
by rewrite leq_mul2r i_lt orbT.
Qed.

Variable w : nat -> matrix R.
Notation value := (value arith w fed).

Lemma sparse_data (a : matrix R) k :
  sparse data_arcs a k =
  if (data_row wr * tau + data_cell wr <= k < data_row wr * tau + data_cell wr + n_data_bits)%N
  then a (k - (data_row wr * tau + data_cell wr))%N 0%N else 0.
Proof.
rewrite /data_arcs; set o := (data_row wr * tau + data_cell wr)%N; set l := n_data_bits.
suff from i : sparse [seq (N.of_nat (o + b), N.of_nat b, one) | b <- iota i l] a k =
    if (o + i <= k < o + i + l)%N then a (k - o)%N 0%N else 0 by rewrite from addn0.
elim: l i => [|l IH] i /=; first by rewrite addn0; case: ifP => // /andP[le lt]; lia.
rewrite IH Nat2N.id mul1r.
case: (eqVneq (o + i)%N k) => [<-|neq].
  have -> : N.eqb (N.of_nat (o + i)) (N.of_nat (o + i)) by lia.
  have -> : (o + i.+1 <= o + i)%N = false by lia.
  have -> : (o + i <= o + i < o + i + l.+1)%N by lia.
  by rewrite addr0 addKn.
have -> : N.eqb (N.of_nat (o + i)) (N.of_nat k) = false by lia.
by have -> : (o + i.+1 <= k < o + i.+1 + l)%N = (o + i <= k < o + i + l.+1)%N by lia.
Qed.

Lemma value_numbers e :
  copied_labels s z_at y_at r fed w -> (e < size order)%N -> value numbers_on_tape e 0%N = number_at e.
Proof.
move=> copied_ e_lt; have := order_lt e_lt; rewrite /number_at; set p := nth 0%N order e => p_lt.
rewrite -[LHS]/(value (Stack (Reshape (sx.1 * sx.2, 1)%N (Input sx x_at))
  (Reshape (s.1 * s.2, 1)%N (Stop (copied s z_at r)))) (p %/ 1)%N (p %% 1)%N) divn1 modn1.
rewrite -[LHS]/(if (p < sx.1 * sx.2)%N then flat sx (fed x_at) (p * 1 + 0)%N
  else flat (shape_of (copied s z_at r)) (value (copied s z_at r)) ((p - sx.1 * sx.2) * 1 + 0)%N) !muln1 !addn0.
case: ltnP => // le; rewrite shape_copied /flat; set q := (p - sx.1 * sx.2)%N.
have q_lt : (q < s.1 * s.2)%N by rewrite /q; lia.
have s2 : (0 < s.2)%N by case: (s.2) q_lt => //; rewrite muln0.
have row_lt : (q %/ s.2 < s.1)%N by rewrite ltn_divLR.
have col_lt : (q %% s.2 < s.2)%N by rewrite ltn_mod.
by rewrite value_copied // copied_.
Qed.

(** Once z holds the labels, the read-only units show the data. *)
Theorem read_only_shows c :
  copied_labels s z_at y_at r fed w -> holds_data c -> shows m tau (value wired_read_only) c.
Proof.
move=> copied_ data i j i_r j_tau; rewrite data // /symbol_at.
have k_lt : (i * tau + j < rows * tau)%N.
  apply: leq_trans (_ : (i * tau + tau <= _)%N); first by rewrite ltn_add2l.
  by rewrite addnC -mulSn leq_mul2r i_r orbT.
have tau0 : (0 < tau)%N by exact: leq_ltn_trans j_tau.
rewrite -[LHS]/(value (Linear (rows * tau) data_arcs data_bias (Quantize f numbers_on_tape))
  ((i * tau + j) %/ 1)%N ((i * tau + j) %% 1)%N) divn1 modn1.
rewrite -[LHS]/(real R (nth zero data_bias (i * tau + j)) +
  sparse data_arcs (value (Quantize f numbers_on_tape)) (i * tau + j)) sparse_data.
rewrite /data_bias (nth_map 0%N) ?size_iota // nth_iota // add0n divnMDl // divn_small // addn0 modnMDl modn_small //.
have inside_span : (data_row wr * tau + data_cell wr <= i * tau + j < data_row wr * tau + data_cell wr + n_data_bits)%N =
    is_data i j.
  rewrite /is_data; case/and5P: fit => _ data_le _ _ _; case: (eqVneq i (data_row wr)) => [->|neq] /=.
    by rewrite -!addnA leq_add2l ltn_add2l.
  have [lt|ge] := ltnP i (data_row wr).
    have : (i.+1 * tau <= data_row wr * tau)%N by rewrite leq_mul2r lt orbT.
    rewrite mulSn; move: (i * tau)%N (data_row wr * tau)%N => a b le; lia.
  have {}ge : (data_row wr < i)%N by rewrite ltn_neqAle eq_sym neq.
  have : ((data_row wr).+1 * tau <= i * tau)%N by rewrite leq_mul2r ge orbT.
  rewrite mulSn; move: (i * tau)%N (data_row wr * tau)%N => a b le; lia.
rewrite inside_span; case data_ij: (is_data i j); last by rewrite addr0; case: (blank_at i j).
have [i_row /andP[low high]] : i = data_row wr /\ (data_cell wr <= j < data_cell wr + n_data_bits)%N.
  by case/andP: data_ij => /eqP ->.
rewrite add0r i_row; move: (data_row wr * tau)%N => o.
have -> : (o + j - (o + data_cell wr) = j - data_cell wr)%N by lia.
have b_lt : (j - data_cell wr < n_data_bits)%N by lia.
have nb : (0 < n_bits f)%N by move: b_lt; rewrite /n_data_bits; case: (n_bits f) => //; rewrite muln0.
have e_lt : ((j - data_cell wr) %/ n_bits f < size order)%N by rewrite ltn_divLR.
rewrite -[LHS]/(bit arith f (value numbers_on_tape ((j - data_cell wr) %/ n_bits f)%N 0%N) ((j - data_cell wr) %% n_bits f)%N).
rewrite value_numbers //; case: (signs f (number_at ((j - data_cell wr) %/ n_bits f)%N) ((j - data_cell wr) %% n_bits f)%N) => ->.
  by rewrite ltr01.
by rewrite ltr0N1.
Qed.

(** ** Theta *)

(** The numbers on the output cells of a machine's tape. *)
Definition theta_of (c : configuration) (i : nat) : R :=
  number_of_bits arith f (fun k => sign R (cell c (theta_row wr) (theta_cell wr + i * n_bits f + k))).

Hypothesis whole_numbers : reads_its_bits.

Theorem theta_read ro c i :
  fixed_fits m tau (Some ro) -> well_formed m -> encodes m tau at_ w c -> (i < n_weights wr)%N ->
  value (wired_theta ro) i 0%N = theta_of c i.
Proof.
move=> fits ok [_ t _] i_lt; apply: whole_numbers => k k_lt.
case/and5P: fit => _ _ row_lt cell_le _.
set p := (i * n_bits f + k)%N.
have p_lt : (p < n_weights wr * n_bits f)%N.
  apply: leq_trans (_ : (i * n_bits f + n_bits f <= _)%N); first by rewrite ltn_add2l.
  by rewrite addnC -mulSn leq_mul2r i_lt orbT.
have j_lt : (theta_cell wr + p < tau)%N by lia.
have tau0 : (0 < tau)%N by exact: leq_ltn_trans j_lt.
rewrite -[LHS]/(flat (shape_of (tapes m tau at_ (Some ro))) (value (tapes m tau at_ (Some ro)))
  (nth 0%N (iota (theta_row wr * tau + theta_cell wr) (n_weights wr * n_bits f)) p)).
rewrite nth_iota // (shape_tapes at_ ok fits) /flat -addnA divnMDl // divn_small // addn0 modnMDl modn_small //.
have d_gt : (theta_row wr < n_tapes m)%N by apply: leq_trans row_lt (writable_le ok).
by rewrite (value_tapes arith at_ fits) // row_lt t // addnA.
Qed.

End Semantics.
End Wiring.

(** ** What a network takes *)

(** Whether an expression is built from expressions that are [given] and from constants alone. *)
Fixpoint built_on (given : expression -> bool) (e : expression) : bool :=
  given e ||
  match e with
  | Weight _ _ | Input _ _ => false
  | Constant _ _ => true
  | Linear _ _ _ a | Scale _ a | Relu a | Root a | SumColumns a | SumAll a | Shift _ a | Reshape _ a | Gather _ a
  | Quantize _ a | Dequantize _ a | Stop a => built_on given a
  | Plus a b | Product a b | Quotient a b | Matmul a b | Stack a b => built_on given a && built_on given b
  | Switch o a b | Select o a b => [&& built_on given o, built_on given a & built_on given b]
  end.

Definition is_x (e : expression) : bool := if e is Input _ 0 then true else false.
Definition is_weight (e : expression) : bool := if e is Weight _ _ then true else false.

(** A primary network: x and theta, and nothing else of what is fed or trained. *)
Definition through (theta : expression) : expression -> bool := built_on (fun e => expression_eqb e theta || is_x e).

(** A network that knows no labels but those in its weights. *)
Definition only_x : expression -> bool := built_on (fun e => is_weight e || is_x e).

Section BuiltOn.

Variable R : realFieldType.
Variable arith : arithmetic R.
Hypothesis whole_numbers : reads_its_bits arith.
Variables (fed fed' w w' : nat -> matrix R).

(** Where what is given is worth the same, so is what is built on it. *)
Lemma built_on_value (given : expression -> bool) e i j :
  (forall e i j, given e -> value arith w fed e i j = value arith w' fed' e i j) ->
  built_on given e -> value arith w fed e i j = value arith w' fed' e i j.
Proof.
move=> same.
have start e0 (b : bool) : given e0 || b -> (b -> forall i j, value arith w fed e0 i j = value arith w' fed' e0 i j) ->
    forall i j, value arith w fed e0 i j = value arith w' fed' e0 i j.
  by case/orP=> [ok _ k l|b_ok]; [exact: same | apply].
move=> ok; move: i j; elim: e ok => [sh p|sh p|sh l|rows l b a IH|n a IH|a IHa b IHb|a IH|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IH|a IH|a IH
              |z a IH|sh a IH|a IHa b IHb|l a IH|g a IH|g a IH|a IH|o IHo a IHa b IHb|o IHo a IHa b IHb] ok;
  apply: (start _ _ ok) => {ok} //= ok i j.
- by congr (_ + _); elim: l => //= x l ->; rewrite (IH ok).
- by rewrite (IH ok).
- by case/andP: ok => oka okb; rewrite /stretch (IHa oka) (IHb okb).
- by rewrite (IH ok).
- by case/andP: ok => oka okb; rewrite /stretch (IHa oka) (IHb okb).
- by case/andP: ok => oka okb; rewrite /stretch (IHa oka) (IHb okb).
- by case/andP: ok => oka okb; apply: total_eq => k _; rewrite (IHa oka) (IHb okb).
- by rewrite (IH ok).
- by apply: total_eq => k _; rewrite (IH ok).
- by apply: total_eq => k _; apply: total_eq => k' _; rewrite (IH ok).
- by case: shifted => // k; rewrite (IH ok).
- by rewrite /flat (IH ok).
- by case/andP: ok => oka okb; case: ifP => _; rewrite ?(IHa oka) ?(IHb okb).
- by rewrite /flat (IH ok).
- by rewrite (IH ok).
- by apply: whole_numbers => k _; rewrite (IH ok).
- by case/and3P: ok => oko oka okb; rewrite !(IHo oko) !(IHa oka) !(IHb okb).
by case/and3P: ok => oko oka okb; rewrite !(IHo oko) !(IHa oka) !(IHb okb).
Qed.

Hypothesis same_x : forall i j, fed 0%N i j = fed' 0%N i j.

(** Where x and theta are the same, so is what a primary network puts out. *)
Theorem through_theta theta e i j :
  (forall i j, value arith w fed theta i j = value arith w' fed' theta i j) ->
  through theta e -> value arith w fed e i j = value arith w' fed' e i j.
Proof.
move=> same; apply: built_on_value => e0 i0 j0 /orP[/expression_eqbE ->|]; first exact: same.
by case: e0 => // sh [|p] //= _; apply: same_x.
Qed.

(** Where x and the weights are the same, so is what a network without labels puts out. *)
Lemma only_x_value e i j :
  (forall p i j, w p i j = w' p i j) -> only_x e -> value arith w fed e i j = value arith w' fed' e i j.
Proof.
move=> same; apply: built_on_value => e0 i0 j0 /orP[|]; first by case: e0 => //= sh p _; apply: same.
by case: e0 => // sh [|p] //= _; apply: same_x.
Qed.

End BuiltOn.
