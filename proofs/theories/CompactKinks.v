(** No ReLU of `compact` is at its kink at a configuration; so the gradient by which an exported `compact` is trained is the
    derivative of its loss. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Luge Require Import Number LowestTerms Expression Training Network Machine Encoding Terms Arcs Tapes CompactSlopes.
From Luge Require Plain PlainTheorem.
From Luge Require Import Compact CompactVertex CompactTheorem Checker CompactChecker Derivative.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Kinks.

Variable R : realFieldType.
Variable arith : arithmetic R.

Let sparse_beyond T (f : nat -> T -> seq (nat * number)) items (a : matrix R) i :
  (size items <= i)%N -> sparse (arcs_to f items) a i = 0.
Proof.
rewrite /arcs_to => i_ge.
suff from k l : (N.to_nat k + size l <= i)%N ->
    sparse (flatten [seq [seq (v.1, N.of_nat e.1, e.2) | e <- f (N.to_nat v.1) v.2] | v <- zip (numbers k l) l]) a i = 0.
  exact: (from 0%num).
elim: l k => [//|x l IH] k /= k_l; rewrite sparse_cat (IH (N.succ k)) ?addr0; last by lia.
by elim: (f _ _) => [//|e es IHe] /=; rewrite (_ : N.eqb k (N.of_nat i) = false) //; lia.
Qed.

Variables (m : machine) (tau : nat) (w fed direction : nat -> matrix R) (v0 : nat).
Hypothesis at_v0 : forall v, (v < size (table m))%N -> w (vertex_at (alone m)) v 0%N = (v == v0)%:R.
Notation vertex := (vertex m (alone m)).

(** A ReLU of 4 x_v and a bias is at its kink nowhere, or has no unit there. *)
Lemma off_kink T (x0 : T) (f : nat -> T -> nat) (items : seq T) (bias : number) i j :
  (forall k, (k < size items)%N -> (f k (nth x0 items k) < size (table m))%N) ->
  real R bias != 0 -> real R bias + 4%:R != 0 ->
  let e := Linear (size items) (arcs_to (fun k y => [:: (f k y, four)]) items) (nseq (size items) bias) vertex in
  value arith w fed e i j != 0 \/ forall t, held arith w fed direction t e i j = 0.
Proof.
move=> inside bias0 bias4 e; case: (ltnP i (size items)) => [i_lt|i_ge]; [left|right=> t].
  rewrite -[value _ _ _ _ _ _]/(real R (nth zero (nseq (size items) bias) i) + sparse _ (w (vertex_at (alone m))) i).
  rewrite (sparse_arcs_to x0) //= addr0 at_v0 ?inside // nth_nseq i_lt real_four.
  by case: (f i _ == v0); rewrite /= ?mulr1 ?mulr0 ?addr0.
rewrite -[LHS]/(real R (nth zero (nseq (size items) bias) i) + sparse _ (held arith w fed direction t vertex) i).
by rewrite nth_nseq ltnNge i_ge /= sparse_beyond // addr0.
Qed.

Lemma compact_unkinked_at order base scale offset : unkinked arith w fed direction (compact_loss m tau order base scale offset).
Proof.
have tapes_ok : unkinked arith w fed direction (tapes m tau (alone m) (PlainTheorem.alone_fixed m tau)).
  by rewrite /tapes /Plain.tapes /PlainTheorem.alone_fixed; case: (n_writable m) => [|k]; case: ifP.
have gate_ok : unkinked arith w fed direction (gate m (alone m)).
  split=> // i j; apply: (@off_kink _ nowhere (fun v _ => v)) => //.
    by rewrite oppr_eq0 pnatr_eq0.
  by rewrite -[_ + _]/(- 3%:R + 4%:R) addrC -natrB // oner_eq0.
have dips_ok : unkinked arith w fed direction (dips m (alone m)).
  split=> // i j; apply: (@off_kink _ (0%N, nowhere) (fun _ l => l.1)) => [k k_lt||].
  - have := mem_nth (0%N, nowhere) k_lt; rewrite mem_filter => /andP[_ /(nthP (0%N, nowhere))[u u_lt <-]].
    by move: u_lt; rewrite size_zip size_iota minnn => u_lt; rewrite nth_zip ?size_iota // nth_iota.
  - by rewrite mulf_neq0 ?oppr_eq0 ?invr_eq0 ?expf_neq0 ?pnatr_eq0.
  rewrite -[real R _]/(- 7%:R / 2%:R ^+ 1) expr1; apply/negP => /eqP/(congr1 (fun v => v * 2%:R)).
  rewrite mul0r mulrDl mulfVK ?pnatr_eq0 // -natrM addrC -natrB //; by apply/eqP; rewrite oner_eq0.
rewrite /compact_loss /compact /vertex_terms /dip_terms /tape_terms /levels /successors.
case: (loopers m) => [|l ls] /=; do ?split=> //.
Qed.

End Kinks.

(** At a configuration no ReLU of an accepted `compact` is at its kink, *)
Theorem certified_compact_unkinked (R : realFieldType) (arith : arithmetic R) cl net (w fed direction : nat -> matrix R) c :
  certified_compact cl net -> encodes (slid_machine cl) (slid_cells cl) (alone (slid_machine cl)) w c ->
  exists2 e, loss_expression net = Some e & unkinked arith w fed direction e.
Proof.
move=> checked [at_vertex _ _]; exists (claimed_compact_loss cl); first by case: (compact_parts checked).
exact: compact_unkinked_at at_vertex _ _ _ _.
Qed.

(** so its gradient there is the derivative of its loss: difference quotients converge to it. *)
Theorem certified_compact_gradient_derivative (R : realFieldType) (arith : arithmetic R) cl net (w fed : nat -> matrix R) c p i j :
  certified_compact cl net -> encodes (slid_machine cl) (slid_cells cl) (alone (slid_machine cl)) w c ->
  exists2 e, loss_expression net = Some e &
  let f t := held arith w fed (unit_direction R p i j) t e 0%N 0%N in
  f 0 = network_loss net arith fed w /\
  forall eps, 0 < eps -> exists2 d, 0 < d &
    forall t, t != 0 -> `|t| <= d -> `|(f t - f 0) / t - gradient arith w fed e p i j| <= eps.
Proof.
move=> checked enc; have [e loss_e ok] := certified_compact_unkinked arith fed (unit_direction R p i j) checked enc.
by exists e => //; rewrite /network_loss loss_e; apply: gradient_derivative.
Qed.
