(** The vertices' part of `compact` at a vertex: what it is worth, and how it slopes in every direction. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Saturation Arcs Tapes.
From Luge Require Import CompactSlopes Compact.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section ArcsTo.

Variable R : realFieldType.

(** The sum of the terms of a list. *)
Definition summed T (f : T -> R) (l : seq T) : R := foldr (fun e s => f e + s) 0 l.

Lemma summed_cat T (f : T -> R) l l' : summed f (l ++ l') = summed f l + summed f l'.
Proof. by elim: l => [|e l IH] /=; rewrite ?add0r // IH addrA. Qed.

Lemma summed1 T (f : T -> R) e : summed f [:: e] = f e.
Proof. by rewrite /summed /= addr0. Qed.

Lemma summed2 T (f : T -> R) e e' : summed f [:: e; e'] = f e + f e'.
Proof. by rewrite /summed /= addr0. Qed.

Lemma summedE T (f : T -> R) l : summed f l = \sum_(e <- l) f e.
Proof. by elim: l => [|e l IH] /=; rewrite ?big_nil // big_cons IH. Qed.

Lemma eq_summed (T : eqType) (f f' : T -> R) l : (forall e, e \in l -> f e = f' e) -> summed f l = summed f' l.
Proof. by move=> f_f'; rewrite !summedE; apply: eq_big_seq. Qed.

Lemma sparse_arcs_to T (x0 : T) (f : nat -> T -> seq (nat * number)) items (a : matrix R) i :
  (i < size items)%N ->
  sparse (arcs_to f items) a i = summed (fun e => real R e.2 * a e.1 0%N) (f i (nth x0 items i)).
Proof.
rewrite /arcs_to => i_lt.
have one_row k (l : seq (nat * number)) j :
    sparse [seq (k, N.of_nat e.1, e.2) | e <- l] a j =
    if N.eqb k (N.of_nat j) then summed (fun e => real R e.2 * a e.1 0%N) l else 0.
  by elim: l => [|e l IH] /=; [case: ifP | rewrite IH Nat2N.id; case: (N.eqb k _)].
pose from k l := sparse (flatten [seq [seq (v.1, N.of_nat e.1, e.2) | e <- f (N.to_nat v.1) v.2]
                                 | v <- zip (numbers k l) l]) a.
have later l k j : (j < N.to_nat k)%N -> from k l j = 0.
  elim: l k => [//|y l IHl] k j_k; rewrite /from /= sparse_cat one_row.
  have -> : N.eqb k (N.of_nat j) = false by lia.
  by rewrite add0r; apply: IHl; lia.
suff shifted k : from k items (N.to_nat k + i)%N =
    summed (fun e => real R e.2 * a e.1 0%N) (f (N.to_nat k + i)%N (nth x0 items i)) by exact: (shifted 0%num).
rewrite /from; elim: items i i_lt k => [//|x items IH] i i_lt k /=; rewrite sparse_cat one_row.
case: i i_lt => [|i] i_lt.
  have -> : N.eqb k (N.of_nat (N.to_nat k + 0)) by lia.
  by rewrite -/(from (N.succ k) items _) later ?addr0 ?addn0 //; lia.
have -> : N.eqb k (N.of_nat (N.to_nat k + i.+1)) = false by lia.
have -> : (N.to_nat k + i.+1 = N.to_nat (N.succ k) + i)%N by lia.
by rewrite add0r IH.
Qed.

(** A sparse map looks at the first column only. *)
Lemma sparse_ext l (a a' : matrix R) i : (forall k, a k 0%N = a' k 0%N) -> sparse l a i = sparse l a' i.
Proof. by move=> a_a'; elim: l => [//|e l IH] /=; rewrite IH a_a'. Qed.

Lemma total1 (f : nat -> R) : total 1 f = f 0%N.
Proof. by rewrite /total /= addr0. Qed.

Lemma summed_pmap T U (f : U -> R) (h : T -> option U) l :
  summed f (pmap h l) = summed (fun t => if h t is Some u then f u else 0) l.
Proof. by elim: l => [//|t l IH] /=; case: (h t) => [u|] /=; rewrite IH ?add0r. Qed.

End ArcsTo.

Section Vertex.

Variable R : realFieldType.
Variables (arith : arithmetic R) (m : machine) (at_ : places) (order : seq nat) (base scale : number).
Hypotheses (ok : well_formed m) (order_ok : perm_eq order (iota 0 (n_tapes m))).

Let n := size (table m).
Let d := n_tapes m.
Let b := real R base.
Let g := real R scale.

Lemma real_rest_weight : real R (rest_weight base scale) = - (b ^+ 3 * g).
Proof. by rewrite real_minus !real_times -/b -/g; congr (- _); ring. Qed.

Lemma real_sign_weight : real R (sign_weight base scale) = - (b * g).
Proof. by rewrite real_minus real_times. Qed.

Lemma real_self_weight s : size (looks s) = d -> real R (self_weight base scale s) = edge_weight b g d s s.
Proof.
move=> size_s; rewrite real_minus real_times real_plus /cube !real_times real_count -/b -/g /edge_weight mulNr.
congr (- (_ * _)); congr (_ + _ * _).
rewrite /n_looks -sum1_count (big_nth None) big_mkcond big_mkord natr_sum size_s totalE.
by apply: eq_bigr => i _; rewrite /alike; case: (nth None (looks s) i) => [x|] //=; rewrite eqxx.
Qed.

Lemma loops_edge s : loops s -> edge b g d s s = edge_weight b g d s s.
Proof. by rewrite /loops /edge; case: (what s) => // a ->. Qed.

Lemma no_loop_edge s : ~~ loops s -> edge b g d s s = 0.
Proof. by rewrite /loops /edge; case: (what s) => // a /negbTE ->. Qed.

(** ** The marginals *)

Let nothing : nat * option (nat * bool) := (0%N, None).

Lemma marginal_state q : (q < n_states m)%N -> (q < n_marginals m order)%N /\ nth nothing (marginals m order) q = (q, None).
Proof.
move=> q_lt; rewrite /n_marginals /marginals size_cat size_map size_iota; split; first exact: leq_trans q_lt (leq_addr _ _).
by rewrite nth_cat size_map size_iota q_lt (nth_map 0%N) ?size_iota // nth_iota.
Qed.

Lemma marginal_symbol q i x :
  (q < n_states m)%N -> i \in order -> sees m q i -> (q, Some (i, x)) \in marginals m order.
Proof.
move=> q_lt i_in seen; rewrite /marginals mem_cat; apply/orP; right.
apply/flatten_mapP; exists q; first by rewrite mem_iota.
apply/flatten_mapP; exists i; first by rewrite mem_filter seen.
by rewrite !inE; case: x; rewrite eqxx ?orbT.
Qed.

Lemma sparse_marginals (a : matrix R) k :
  (k < n_marginals m order)%N ->
  sparse (marginal_arcs m order) a k =
  total n (fun w => (in_marginal (nth nothing (marginals m order) k) (situation_of m w))%:R * a w 0%N).
Proof.
move=> k_lt; rewrite (sparse_arcs_of nothing nowhere) //; apply: total_eq => w _.
by rewrite -/(situation_of m w); case: (in_marginal _ _).
Qed.

(** What no situation of a state looks at is not alike there. *)
Let unseen q i w x : ~~ sees m q i -> (w < n)%N -> state (situation_of m w) = q ->
  (nth None (looks (situation_of m w)) i == Some x) = false.
Proof.
move=> none w_lt q_w; apply/negP => /eqP look; move: none; rewrite /sees => /hasPn.
by move=> /(_ (situation_of m w) (mem_nth _ w_lt)); rewrite q_w eqxx look.
Qed.

(** A sum over the tapes in any order. *)
Let in_order (f : nat -> R) : \sum_(i <- order) f i = \sum_(i < d) f i.
Proof. by rewrite (perm_big _ order_ok) -(big_mkord xpredT f) /index_iota subn0. Qed.

(** The marginals and the arcs behind them give all edges, the diagonal included. *)
Lemma sparse_successors (a : matrix R) v :
  (v < n)%N ->
  sparse (successor_arcs m order base scale) (fun k _ => sparse (marginal_arcs m order) a k) v =
  total n (fun w => edge b g d (situation_of m v) (situation_of m w) * a w 0%N).
Proof.
move=> v_lt; rewrite (sparse_arcs_to nowhere) // -/(situation_of m v) /edge.
have := situation_ok ok v_lt; case: (situation_of m v) => q p [act|] /= /and3P[_ _].
  2: by move=> _; rewrite total_zero // => w _; rewrite mul0r.
case/and4P=> next_lt _ _ _.
have [state_lt state_is] := marginal_state next_lt.
rewrite real_rest_weight sparse_marginals // state_is summed_pmap.
rewrite (@eq_summed _ _ _ (fun i => total n (fun w => - (b * g) *
    ((state (situation_of m w) == next act) &&
     alike (nth None p i) (nth None (looks (situation_of m w)) i))%:R * a w 0%N)) order); last first.
  move=> i i_in; case p_i: (nth None p i) => [x|] /=; last by rewrite total_zero // => w _; rewrite andbF mulr0 mul0r.
  case seen: (sees m (next act) i); last first.
    rewrite total_zero // => w w_lt; rewrite /alike /= [Some x == _]eq_sym.
    by case: (eqVneq _ (next act)) => [/(unseen x (negbT seen) w_lt) ->|_]; rewrite mulr0 mul0r.
  have in_sums := marginal_symbol x next_lt i_in seen.
  rewrite real_sign_weight sparse_marginals ?index_mem // nth_index //.
  rewrite -total_mull; apply: total_eq => w _; rewrite /in_marginal /alike /= [Some x == _]eq_sym.
  by rewrite mulrA.
rewrite summedE -total_mull !totalE; under [X in _ + X]eq_bigr do rewrite totalE.
rewrite exchange_big -big_split /=; apply: eq_bigr => w _; rewrite /in_marginal /= andbT [state _ == _]eq_sym.
case: (next act == _) => /=; last by rewrite !mul0r mulr0 add0r big1 // => i _; rewrite mulr0 mul0r.
rewrite mul1r -mulr_suml -mulr_sumr /edge_weight totalE /=.
rewrite (in_order (fun i => (alike (nth None p i) (nth None (looks (situation_of m w)) i))%:R)).
by move: (\sum_(i < d) _) => u; ring.
Qed.

(** ** At a vertex *)

Variables weights fed direction : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed direction).

Variable v0 : nat.
Hypothesis v0_lt : (v0 < n)%N.
Hypothesis at_v0 : forall v, (v < n)%N -> weights (vertex_at at_) v 0%N = (v == v0)%:R.

Let here := situation_of m v0.
Let dx v := direction (vertex_at at_) v 0%N.

Let size_here : size (looks here) = d.
Proof. by case/and3P: (situation_ok ok v0_lt) => /eqP. Qed.

Let nth_zeros k j : real R (nth zero (nseq k zero) j) = 0.
Proof. by rewrite nth_nseq; case: ifP. Qed.

Let before_gate : expression :=
  Linear n (arcs_to (fun v (_ : situation) => [:: (v, four)]) (table m)) (nseq n (whole (-3))) (vertex m at_).

Let value_before_gate v : (v < n)%N -> value before_gate v 0%N = if v == v0 then 1 else - 3%:R.
Proof.
move=> v_lt; rewrite -[LHS]/(real R (nth zero (nseq n (whole (-3))) v) + sparse _ (weights (vertex_at at_)) v).
rewrite (sparse_arcs_to nowhere) //= addr0 at_v0 // nth_nseq v_lt.
by rewrite -[real R (whole (-3))]/(- 3%:R) real_four; case: eqP => _ /=; ring.
Qed.

Lemma value_gate v : (v < n)%N -> value (gate m at_) v 0%N = (v == v0)%:R.
Proof.
move=> v_lt; rewrite -[LHS]/(relu (value before_gate v 0%N)) value_before_gate //.
by case: eqP => _; [rewrite relu_pos ?ler01 | rewrite relu_neg // oppr_le0 ler0n].
Qed.

Lemma tangent_gate v : (v < n)%N -> tangent (gate m at_) v 0%N = if v == v0 then 4%:R * dx v else 0.
Proof.
move=> v_lt; rewrite -[LHS]/(if 0 < value before_gate v 0%N then tangent before_gate v 0%N else 0).
rewrite value_before_gate //; case: eqP => _; last by rewrite oppr_gt0 ltNge ler0n.
rewrite ltr01 -[LHS]/(sparse _ (direction (vertex_at at_)) v) (sparse_arcs_to nowhere) //=.
by rewrite addr0 real_four.
Qed.

Let no_loopers v : loopers m = [::] -> (v < n)%N -> ~~ loops (situation_of m v).
Proof.
move=> none v_lt; apply/negP => v_loops.
have: (v, situation_of m v) \in loopers m.
  rewrite /loopers mem_filter v_loops /=.
  have -> : (v, situation_of m v) = nth (0%N, nowhere) (zip (iota 0 n) (table m)) v.
    by rewrite nth_zip ?size_iota // nth_iota.
  by rewrite mem_nth // size_zip size_iota minnn.
by rewrite none.
Qed.

(** The edges without the diagonal. *)
Let off_diagonal (a : nat -> R) v : R :=
  total n (fun w => if w == v then 0 else edge b g d (situation_of m v) (situation_of m w) * a w).

Let off_diagonalE (a : matrix R) v :
  (v < n)%N ->
  sparse (successor_arcs m order base scale) (fun k _ => sparse (marginal_arcs m order) a k) v -
    (if loops (situation_of m v) then real R (self_weight base scale (situation_of m v)) * a v 0%N else 0) =
  off_diagonal (fun w => a w 0%N) v.
Proof.
move=> v_lt; rewrite sparse_successors // /off_diagonal !totalE.
rewrite (bigD1 (Ordinal v_lt)) //= [RHS](bigD1 (Ordinal v_lt)) //= eqxx add0r.
rewrite addrAC (_ : _ - _ = 0) ?add0r; last first.
  case: ifP => [v_loops|/negbT/no_loop_edge ->]; last by rewrite mul0r subrr.
  rewrite loops_edge // real_self_weight ?subrr //.
  by case/and3P: (situation_ok ok v_lt) => /eqP.
by apply: eq_bigr => w; rewrite -val_eqE /= => /negbTE ->.
Qed.

Let value_marginals k :
  value (Linear (n_marginals m order) (marginal_arcs m order) (nseq (n_marginals m order) zero) (vertex m at_)) k 0%N =
  sparse (marginal_arcs m order) (weights (vertex_at at_)) k.
Proof. by rewrite -[LHS]/(real R _ + sparse _ _ k) nth_zeros add0r. Qed.

Lemma shape_successors : shape_of (successors m at_ order base scale) = (n, 1%N).
Proof. by rewrite /successors; case: (loopers m) => // *; apply: (@shape_difference (n, 1%N)). Qed.

Lemma value_successors v : (v < n)%N -> value (successors m at_ order base scale) v 0%N = off_diagonal (fun w => weights (vertex_at at_) w 0%N) v.
Proof.
move=> v_lt; rewrite -(off_diagonalE (weights (vertex_at at_))) // /successors.
set marginals := Linear (n_marginals m order) _ _ _.
have rows : value (Linear n (successor_arcs m order base scale) (nseq n zero) marginals) v 0%N =
    sparse (successor_arcs m order base scale) (fun k _ => sparse (marginal_arcs m order) (weights (vertex_at at_)) k) v.
  rewrite -[LHS]/(real R _ + sparse _ (value marginals) v) nth_zeros add0r.
  by apply: sparse_ext => k; rewrite value_marginals.
case none: (loopers m) => [|l rest]; first by rewrite (negbTE (no_loopers none v_lt)) subr0.
rewrite (@value_difference _ _ _ _ (n, 1%N)) // rows; congr (_ - _).
rewrite -[LHS]/(real R _ + sparse _ (weights (vertex_at at_)) v) nth_zeros add0r (sparse_arcs_to nowhere) //.
by rewrite -/(situation_of m v); case: (loops _) => //=; rewrite addr0.
Qed.

Lemma tangent_successors v : (v < n)%N -> tangent (successors m at_ order base scale) v 0%N = off_diagonal dx v.
Proof.
move=> v_lt; rewrite -(off_diagonalE (direction (vertex_at at_))) // /successors.
set rows := Linear n (successor_arcs m order base scale) _ _.
have rows_v : tangent rows v 0%N =
    sparse (successor_arcs m order base scale) (fun k _ => sparse (marginal_arcs m order) (direction (vertex_at at_)) k) v by [].
case none: (loopers m) => [|l rest]; first by rewrite (negbTE (no_loopers none v_lt)) subr0.
set diagonal := Linear n (diagonal_arcs m base scale) _ _.
rewrite -[LHS]/(stretch (n, 1%N) (tangent (Scale one rows)) v 0%N +
                stretch (n, 1%N) (tangent (Scale minus_one diagonal)) v 0%N) !stretch_in //.
rewrite -[LHS]/(real R one * tangent rows v 0%N + real R minus_one * tangent diagonal v 0%N).
rewrite real_one mul1r real_minus_one mulN1r rows_v; congr (_ - _).
rewrite -[LHS]/(sparse _ (direction (vertex_at at_)) v) (sparse_arcs_to nowhere) //.
by rewrite -/(situation_of m v); case: (loops _) => //=; rewrite addr0.
Qed.

(** Nothing stands on the other vertices, and the diagonal is left out. *)
Let off_diagonal_here : off_diagonal (fun w => weights (vertex_at at_) w 0%N) v0 = 0.
Proof.
by apply: total_zero => w w_lt; case: (eqVneq w v0) => // /negbTE w_v0; rewrite at_v0 // w_v0 mulr0.
Qed.

Let slides := SumAll (Product (gate m at_) (successors m at_ order base scale)).

Let shape_gated : shape_of (Product (gate m at_) (successors m at_ order base scale)) = (n, 1%N).
Proof. exact: shape_product shape_successors. Qed.

Lemma value_slides : value slides 0%N 0%N = 0.
Proof.
rewrite -[LHS]/(total (shape_of (Product (gate m at_) (successors m at_ order base scale))).1 (fun i =>
  total (shape_of (Product (gate m at_) (successors m at_ order base scale))).2 (fun j =>
    value (Product (gate m at_) (successors m at_ order base scale)) i j))) shape_gated.
apply: total_zero => v v_lt; rewrite total1 (@value_product _ _ _ _ (n, 1%N)) ?shape_successors //.
rewrite value_gate //; case: eqP => [->|_]; last by rewrite mul0r.
by rewrite value_successors // off_diagonal_here mulr0.
Qed.

Lemma tangent_slides : tangent slides 0%N 0%N = off_diagonal dx v0.
Proof.
rewrite -[LHS]/(total (shape_of (Product (gate m at_) (successors m at_ order base scale))).1 (fun i =>
  total (shape_of (Product (gate m at_) (successors m at_ order base scale))).2 (fun j =>
    tangent (Product (gate m at_) (successors m at_ order base scale)) i j))) shape_gated.
have row v : (v < n)%N -> tangent (Product (gate m at_) (successors m at_ order base scale)) v 0%N =
    if v == v0 then off_diagonal dx v0 else 0.
  move=> v_lt; rewrite -[LHS]/(stretch (n, 1%N) (tangent (gate m at_)) v 0%N *
      stretch (shape_of (successors m at_ order base scale)) (value (successors m at_ order base scale)) v 0%N +
      stretch (n, 1%N) (value (gate m at_)) v 0%N *
      stretch (shape_of (successors m at_ order base scale)) (tangent (successors m at_ order base scale)) v 0%N).
  rewrite shape_successors !stretch_in // tangent_gate // value_gate // tangent_successors // value_successors //.
  by case: eqP => [->|_]; rewrite ?off_diagonal_here ?mulr0 ?mul0r ?mul1r ?add0r.
rewrite (@total_one _ n _ v0) // => [|v v_lt v_v0]; first by rewrite total1 row // eqxx.
by rewrite total1 row // (negbTE v_v0).
Qed.

(** ** The levels and the dips *)

Let level : R := if rests here then - (b ^+ 3 * g) else if loops here then - edge_weight b g d here here else 0.

Let levelE : weight_or_zero R (if rests here then Some (rest_weight base scale)
    else if loops here then Some (minus (self_weight base scale here)) else None) = level.
Proof.
rewrite /level; case: (rests here) => /=; first by rewrite real_rest_weight.
by case: (loops here) => //=; rewrite real_minus real_self_weight.
Qed.

Lemma value_levels : value (levels m at_ base scale) 0%N 0%N = level.
Proof.
rewrite -[LHS]/(0 + sparse _ (value (gate m at_)) 0%N) add0r (sparse_arcs nowhere) // (total_one (k := v0)) //.
  by rewrite value_gate // eqxx mulr1 levelE.
by move=> v v_lt v_v0; rewrite value_gate // (negbTE v_v0) mulr0.
Qed.

Lemma tangent_levels : tangent (levels m at_ base scale) 0%N 0%N = level * (4%:R * dx v0).
Proof.
rewrite -[LHS]/(sparse _ (tangent (gate m at_)) 0%N) (sparse_arcs nowhere) // (total_one (k := v0)) //.
  by rewrite tangent_gate // eqxx levelE.
by move=> v v_lt v_v0; rewrite tangent_gate // (negbTE v_v0) mulr0.
Qed.

(** A sum over the vertices that may follow themselves, of which only the current one counts. *)
Let total_loopers (f : nat * situation -> R) :
  (forall v s, v != v0 -> f (v, s) = 0) ->
  total (size (loopers m)) (fun k => f (nth (0%N, nowhere) (loopers m) k)) = if loops here then f (v0, here) else 0.
Proof.
move=> f0; rewrite totalE -(big_mkord xpredT (fun k => f (nth (0%N, nowhere) (loopers m) k))).
rewrite -(big_nth (0%N, nowhere) xpredT f) /loopers big_filter -/n (big_nth (0%N, nowhere)).
rewrite size_zip size_iota minnn big_mkord.
have nth_v v : (v < n)%N -> nth (0%N, nowhere) (zip (iota 0 n) (table m)) v = (v, situation_of m v).
  by move=> v_lt; rewrite nth_zip ?size_iota // nth_iota.
rewrite big_mkcond (bigD1 (Ordinal v0_lt)) //= big1 ?addr0 => [|v]; first by rewrite nth_v.
by rewrite -val_eqE /= => v_v0; rewrite nth_v //= f0 //; case: ifP.
Qed.

Let before_dips : expression :=
  Linear (size (loopers m)) (arcs_to (fun _ (l : nat * situation) => [:: (l.1, four)]) (loopers m))
    (nseq (size (loopers m)) (Number (-7) 1)) (vertex m at_).

Let looper_lt k : (k < size (loopers m))%N -> ((nth (0%N, nowhere) (loopers m) k).1 < n)%N.
Proof.
move=> /(mem_nth (0%N, nowhere)); rewrite {2}/loopers mem_filter => /andP[_].
case: (nth _ _ _) => v s /(nthP (0%N, nowhere))[j]; rewrite size_zip size_iota minnn => j_lt.
by rewrite nth_zip ?size_iota // nth_iota // => -[<- _].
Qed.

Let value_before_dips k :
  (k < size (loopers m))%N ->
  value before_dips k 0%N = if (nth (0%N, nowhere) (loopers m) k).1 == v0 then 2%:R^-1 else - (7%:R / 2%:R).
Proof.
move=> k_lt; rewrite -[LHS]/(real R (nth zero (nseq _ (Number (-7) 1)) k) + sparse _ (weights (vertex_at at_)) k).
rewrite (sparse_arcs_to (0%N, nowhere)) //= addr0 at_v0 ?looper_lt // nth_nseq k_lt.
have -> : real R (Number (-7) 1) = - (7%:R / 2%:R) by rewrite /real /= expr1 mulNr.
rewrite real_four; have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
by case: eqP => _ /=; field.
Qed.

Lemma value_dips k :
  (k < size (loopers m))%N ->
  value (dips m at_) k 0%N = if (nth (0%N, nowhere) (loopers m) k).1 == v0 then 2%:R^-1 else 0.
Proof.
move=> k_lt; rewrite -[LHS]/(relu (value before_dips k 0%N)) value_before_dips //.
case: eqP => _; first by rewrite relu_pos // invr_ge0 ler0n.
by rewrite relu_neg // oppr_le0 divr_ge0 ?ler0n.
Qed.

Lemma tangent_dips k :
  (k < size (loopers m))%N ->
  tangent (dips m at_) k 0%N = if (nth (0%N, nowhere) (loopers m) k).1 == v0 then 4%:R * dx v0 else 0.
Proof.
move=> k_lt.
rewrite -[LHS]/(if 0 < value before_dips k 0%N then tangent before_dips k 0%N else 0) value_before_dips //.
case: eqP => [k_v0|_]; last by rewrite oppr_gt0 ltNge divr_ge0 ?ler0n.
rewrite invr_gt0 ltr0n /= -[LHS]/(sparse _ (direction (vertex_at at_)) k) (sparse_arcs_to (0%N, nowhere)) //=.
by rewrite addr0 real_four k_v0.
Qed.

(** The dips come with twice their self-edges' weights. *)
Let added (f : expression -> R) (a : matrix R) :
  (forall l, f (Linear 1 l [:: zero] (dips m at_)) = sparse l a 0%N) ->
  summed (fun t => real R t.1 * f t.2) (dip_terms m at_ base scale) =
  total (size (loopers m)) (fun k =>
    2%:R * real R (self_weight base scale (nth (0%N, nowhere) (loopers m) k).2) * a k 0%N).
Proof.
move=> one_by_one; rewrite /dip_terms; case loops_m: {1}(loopers m) => [|l rest]; first by rewrite loops_m.
rewrite summed1; cbn [fst snd]; rewrite one_by_one real_two (sparse_arcs (0%N, nowhere)) // -total_mull.
by apply: total_eq => k _; rewrite mulrA.
Qed.

Let value_dip_terms :
  summed (fun t => real R t.1 * value t.2 0%N 0%N) (dip_terms m at_ base scale) =
  if loops here then edge_weight b g d here here else 0.
Proof.
rewrite (@added (fun e => value e 0%N 0%N) (value (dips m at_))) => [|l]; last exact: add0r.
pose f (l : nat * situation) : R := 2%:R * real R (self_weight base scale l.2) * (if l.1 == v0 then 2%:R^-1 else 0).
rewrite (@total_eq _ _ _ (fun k => f (nth (0%N, nowhere) (loopers m) k))); last by move=> k k_lt; rewrite value_dips.
rewrite total_loopers /f => [|v s /negbTE v_v0]; last by rewrite /= v_v0 mulr0.
by rewrite /= eqxx; case: ifP => // _; rewrite -real_self_weight // mulrAC divff ?mul1r ?pnatr_eq0.
Qed.

Let tangent_dip_terms :
  summed (fun t => real R t.1 * tangent t.2 0%N 0%N) (dip_terms m at_ base scale) =
  if loops here then 8%:R * edge_weight b g d here here * dx v0 else 0.
Proof.
rewrite (@added (fun e => tangent e 0%N 0%N) (tangent (dips m at_))) //.
pose f (l : nat * situation) : R :=
  2%:R * real R (self_weight base scale l.2) * (if l.1 == v0 then 4%:R * dx v0 else 0).
rewrite (@total_eq _ _ _ (fun k => f (nth (0%N, nowhere) (loopers m) k))); last by move=> k k_lt; rewrite tangent_dips.
rewrite total_loopers /f => [|v s /negbTE v_v0]; last by rewrite /= v_v0 mulr0.
rewrite /= eqxx; case: ifP => // _.
by rewrite -real_self_weight //; move: (real R _) (dx v0) => u w; ring.
Qed.

(** ** All of it *)

(** The vertices' part of the loss: the level of a halting vertex, else nothing. *)
Theorem value_vertex_terms :
  summed (fun t => real R t.1 * value t.2 0%N 0%N) (vertex_terms m at_ order base scale) =
  if rests here then - (b ^+ 3 * g) else 0.
Proof.
have loops_rests : rests here -> ~~ loops here by rewrite /rests /loops; case: (what here).
rewrite /vertex_terms summed_cat summed2; cbn [fst snd].
rewrite -/slides value_slides value_levels mulr0 !addr0 real_one mul1r /level.
rewrite value_dip_terms.
case: ifP => [/loops_rests /negbTE ->|_]; first by rewrite addr0.
by case: (loops here); rewrite ?addNr ?addr0.
Qed.

(** Its slopes: four times the weight of the edge, and of the vertex where it halts. *)
Theorem tangent_vertex_terms :
  summed (fun t => real R t.1 * tangent t.2 0%N 0%N) (vertex_terms m at_ order base scale) =
  total n (fun w => (4%:R * edge b g d here (situation_of m w) +
                     (if rests here && (w == v0) then - (4%:R * b ^+ 3 * g) else 0)) * dx w).
Proof.
have loops_rests : rests here -> ~~ loops here by rewrite /rests /loops; case: (what here).
rewrite /vertex_terms summed_cat summed2; cbn [fst snd].
rewrite -/slides tangent_slides tangent_levels real_one mul1r real_four.
rewrite tangent_dip_terms.
rewrite /off_diagonal !totalE (bigD1 (Ordinal v0_lt)) //= eqxx add0r [RHS](bigD1 (Ordinal v0_lt)) //= eqxx andbT.
rewrite -/here addrAC; congr (_ + _).
  rewrite /level; case: ifP => [/loops_rests not_loops|_].
    by rewrite (negbTE not_loops) no_loop_edge //; move: (dx v0) (b) (g) => u w z; ring.
  case: ifP => [loop|/negbT not_loops]; last by rewrite no_loop_edge //; move: (dx v0) => u; ring.
  by rewrite loops_edge //; move: (edge_weight _ _ _ _ _) (dx v0) => u w; ring.
rewrite mulr_sumr; apply: eq_bigr => w; rewrite -val_eqE /= => /negbTE ->.
by rewrite andbF addr0 mulrA.
Qed.

End Vertex.
