(** What the parts of a stream's landscape are worth at weights that stand for a configuration and its memory: exactly those
    of the configuration after the step. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Tapes StreamMachine Wiring Stream.
From Luge Require Plain PlainValue.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** ** Entries of the memory's maps *)

Section Maps.

Variable R : realFieldType.

(** A list of bits, placed from cell [o] on. *)
Lemma sparse_placed (o l : nat) (a : matrix R) k :
  sparse [seq (N.of_nat (o + b), N.of_nat b, one) | b <- iota 0 l] a k =
  if (o <= k < o + l)%N then a (k - o)%N 0%N else 0.
Proof.
suff from i : sparse [seq (N.of_nat (o + b), N.of_nat b, one) | b <- iota i l] a k =
    if (o + i <= k < o + i + l)%N then a (k - o)%N 0%N else 0 by rewrite from addn0.
elim: l i => [|l IH] i /=; first by rewrite addn0; case: ifP => // /andP[le lt]; lia.
rewrite IH Nat2N.id mul1r; case: (eqVneq (o + i)%N k) => [<-|neq].
  have -> : N.eqb (N.of_nat (o + i)) (N.of_nat (o + i)) by lia.
  have -> : (o + i.+1 <= o + i)%N = false by lia.
  have -> : (o + i <= o + i < o + i + l.+1)%N by lia.
  by rewrite addr0 addKn.
have -> : N.eqb (N.of_nat (o + i)) (N.of_nat k) = false by lia.
by have -> : (o + i.+1 <= k < o + i.+1 + l)%N = (o + i <= k < o + i + l.+1)%N by lia.
Qed.

(** To each of [l] bits from one unit. *)
Lemma sparse_chosen (l : nat) (from : nat -> N) (a : matrix R) b :
  (b < l)%N -> sparse [seq (N.of_nat b, from b, one) | b <- iota 0 l] a b = a (N.to_nat (from b)) 0%N.
Proof.
have start i n : sparse [seq (N.of_nat b, from b, one) | b <- iota i n] a b =
    if (i <= b < i + n)%N then a (N.to_nat (from b)) 0%N else 0.
  elim: n i => [|n IH] i /=; first by rewrite addn0; case: ifP => // /andP[le lt]; lia.
  rewrite IH mul1r; case: (eqVneq i b) => [->|neq].
    have -> : N.eqb (N.of_nat b) (N.of_nat b) by lia.
    have -> : (b < b)%N = false by lia.
    have -> : (b <= b < b + n.+1)%N by lia.
    by rewrite addr0.
  have -> : N.eqb (N.of_nat i) (N.of_nat b) = false by lia.
  by have -> : (i.+1 <= b < i.+1 + n)%N = (i <= b < i + n.+1)%N by lia.
by move=> b_lt; rewrite start add0n b_lt.
Qed.

(** A cell of row [r], counted row by row. *)
Lemma in_row (tau r i j o l : nat) :
  (j < tau)%N -> (o + l <= tau)%N ->
  (r * tau + o <= i * tau + j < r * tau + o + l)%N = (i == r) && (o <= j < o + l)%N.
Proof.
move=> j_tau fits; case: (eqVneq i r) => [->|neq] /=; first by rewrite -!addnA leq_add2l ltn_add2l.
have [lt|ge] := ltnP i r.
  have : (i.+1 * tau <= r * tau)%N by rewrite leq_mul2r lt orbT.
  rewrite mulSn; move: (i * tau)%N (r * tau)%N => a b le; lia.
have {}ge : (r < i)%N by rewrite ltn_neqAle eq_sym neq.
have : (r.+1 * tau <= i * tau)%N by rewrite leq_mul2r ge orbT.
rewrite mulSn; move: (i * tau)%N (r * tau)%N => a b le; lia.
Qed.

End Maps.

Section Value.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (takes latches : pred nat).
Variables (at_ : places) (memory_at z_at x_at : nat) (units : seq (seq (option bool))).
Variables (s : shape) (wr : wires).

Hypotheses (ok : well_formed m) (units_ok : PlainValue.units_fit m units).
Hypothesis has_memory : (n_writable m < n_tapes m)%N.
Hypothesis fit : wires_fit m tau s wr.

Let rows : nat := (n_tapes m - n_writable m)%N.
Notation n_kept := (n_data_bits s wr).
Notation is_feature := (is_feature s wr).
Notation feature_cell := (feature_cell s wr).
Notation label_cell := (label_cell s wr).
Notation memory := (memory memory_at s wr).
Notation held := (held memory_at s wr).
Notation shown_memory := (shown_memory m tau memory_at s wr).
Notation tapes := (tapes m tau at_ memory_at s wr).
Notation vertex := (vertex m at_).
Notation heads := (heads m tau at_).
Notation cells := (cells m tau at_ memory_at s wr).
Notation read_now := (read_now m tau at_ memory_at s wr).
Notation written_next := (written_next m tau at_ memory_at s wr).
Notation heads_next := (heads_next m tau at_).
Notation uses := (uses m takes latches at_).
Notation take := (take m takes latches at_).
Notation fresh_bits := (fresh_bits z_at x_at s wr).
Notation change := (change m takes latches at_ memory_at z_at x_at s wr).
Notation memory_next := (memory_next m takes latches at_ memory_at z_at x_at s wr).
Notation fresh := (fresh m tau takes latches at_ memory_at z_at x_at s wr).
Notation fresh_cells := (fresh_cells m tau takes latches at_ memory_at z_at x_at s wr).
Notation read_next := (read_next m tau takes latches at_ memory_at z_at x_at s wr).
Notation symbols := (symbols m tau takes latches at_ memory_at z_at x_at units s wr).
Notation successor := (successor m tau takes latches at_ memory_at z_at x_at units s wr).

Lemma memory_fits : PlainValue.fixed_fits m tau (Some shown_memory).
Proof. by rewrite /= has_memory eqxx. Qed.

Lemma shape_tapes : shape_of tapes = (n_tapes m, tau).
Proof. exact: PlainValue.shape_tapes ok memory_fits. Qed.

Lemma shape_cells : shape_of cells = (n_tapes m, tau).
Proof. exact: shape_saturate_11 shape_tapes. Qed.

Lemma shape_heads : shape_of heads = (n_tapes m, tau).
Proof. exact: PlainValue.shape_heads. Qed.

Lemma shape_read_now : shape_of read_now = (n_tapes m, 1%N).
Proof. exact: (shape_read shape_cells shape_heads). Qed.

Lemma shape_held : shape_of held = (n_kept, 1%N).
Proof. by rewrite -[LHS]/(shape_of (saturate_11 memory)) (@shape_saturate_11 (n_kept, 1%N)). Qed.

Lemma shape_written_next : shape_of written_next = (n_tapes m, 1%N).
Proof. exact: shape_write shape_read_now. Qed.

Lemma shape_heads_next : shape_of heads_next = (n_tapes m, tau).
Proof. exact: shape_moved_heads shape_heads. Qed.

Let difference := weighted (one, fresh_bits) [:: (minus_one, held)].
Let shape_bits : shape_of fresh_bits = (n_kept, 1%N). Proof. by []. Qed.
Let shape_difference_ : shape_of difference = (n_kept, 1%N).
Proof. by apply: shape_difference => //; exact: shape_held. Qed.

Lemma shape_change_ : shape_of change = (n_kept, 1%N).
Proof. exact: (@shape_product (n_kept, 1%N)). Qed.

Lemma shape_memory_next : shape_of memory_next = (n_kept, 1%N).
Proof. by apply: shape_difference; [exact: shape_held | exact: shape_change_]. Qed.

Lemma shape_fresh_cells : shape_of fresh_cells = (n_tapes m, tau).
Proof. by apply: shape_difference => //; exact: shape_cells. Qed.

Lemma shape_successor : shape_of successor = (size (table m), 1%N).
Proof. by rewrite /Stream.successor; apply: (@shape_product (size (table m), 1%N)). Qed.

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).

Variables (k : nat) (st : streaming) (rho : R).
Let c := running_in st.

Hypotheses (c_in : inside m tau c) (near : within m tau at_ rho weights c) (small : rho <= 4%:R^-1).

(** X holds the cells of the data; the other read-only cells are constants of the network. *)
Definition remembers : Prop :=
  (forall b, (b < n_kept)%N ->
    `|weights memory_at b 0%N - sign R (cell c (n_writable m + data_row wr) (data_cell wr + b))| <= rho *+ 2) /\
  (forall i j, (i < rows)%N -> (j < tau)%N -> ~~ is_data s wr i j -> cell c (n_writable m + i) j = blank_at wr i j).

Hypothesis memory_near : remembers.

Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.

Let half_of_rho : rho *+ 2 <= 2%:R^-1.
Proof.
have -> : 2%:R^-1 = 4%:R^-1 *+ 2 :> R by field.
by rewrite ler_muln2r.
Qed.

Lemma value_vertex v : (v < size (table m))%N -> value vertex v 0%N = (v == vertex_of m c)%:R.
Proof. exact: (PlainValue.value_vertex arith fed near small). Qed.

Lemma value_heads i j : (i < n_tapes m)%N -> (j < tau)%N -> value heads i j = (j == head c i)%:R.
Proof. exact: (PlainValue.value_heads arith fed near small). Qed.

Lemma value_held b :
  (b < n_kept)%N -> value held b 0%N = sign R (cell c (n_writable m + data_row wr) (data_cell wr + b)).
Proof.
move=> b_lt; rewrite -[LHS]/(value (saturate_11 memory) b 0%N) (@value_saturate_11 _ _ _ _ (n_kept, 1%N)) //.
by apply: sat11_near; apply: le_trans (proj1 memory_near b b_lt) half_of_rho.
Qed.

(** The memory shows the read-only tapes. *)
Lemma memory_shows : shows m tau (value shown_memory) c.
Proof.
move=> i j i_r j_tau; have k_lt : (i * tau + j < rows * tau)%N.
  apply: leq_trans (_ : (i * tau + tau <= _)%N); first by rewrite ltn_add2l.
  by rewrite addnC -mulSn leq_mul2r i_r orbT.
have tau0 : (0 < tau)%N by exact: leq_ltn_trans j_tau.
rewrite -[LHS]/(value (Linear (rows * tau) (data_arcs tau s wr) (data_bias m tau s wr) held)
  ((i * tau + j) %/ 1)%N ((i * tau + j) %% 1)%N) divn1 modn1.
rewrite -[LHS]/(real R (nth zero (data_bias m tau s wr) (i * tau + j)) +
  sparse (data_arcs tau s wr) (value held) (i * tau + j)) sparse_placed.
rewrite /data_bias (nth_map 0%N) ?size_iota // nth_iota // add0n divnMDl // divn_small // addn0 modnMDl modn_small //.
have [_ data_le _ _ _] := and5P fit; rewrite in_row // -/(is_data s wr i j).
case data_ij: (is_data s wr i j); last first.
  by rewrite addr0 (proj2 memory_near) ?data_ij //; case: (blank_at wr i j).
case/andP: data_ij => /eqP i_row /andP[low high]; rewrite add0r i_row.
have -> : (data_row wr * tau + j - (data_row wr * tau + data_cell wr) = j - data_cell wr)%N.
  by rewrite subnDl.
by rewrite value_held ?subnKC // ltn_subLR.
Qed.

Lemma value_cells i j : (i < n_tapes m)%N -> (j < tau)%N -> value cells i j = sign R (cell c i j).
Proof. exact: (PlainValue.value_cells ok memory_fits near small memory_shows). Qed.

Lemma value_read_now i : (i < n_tapes m)%N -> value read_now i 0%N = sign R (reads c i).
Proof.
move=> i_d; rewrite (value_read _ _ _ shape_cells shape_heads) //.
rewrite -[RHS](PlainValue.total_head c_in (fun j => sign R (cell c i j)) i_d).
by apply: total_eq => j j_tau; rewrite value_cells // value_heads.
Qed.

Lemma value_written_next i : (i < n_tapes m)%N -> value written_next i 0%N = sign R (written m c i).
Proof. exact: (value_write shape_read_now ok c_in value_vertex value_read_now). Qed.

Lemma value_at_rest : value (at_rest m at_) 0%N 0%N = (halted m c)%:R.
Proof.
rewrite -[LHS]/(value (from_vertices vertex 1 (rest_arcs m)) 0%N 0%N) (value_from_vertices ok c_in value_vertex) //.
by rewrite /rests /halted /action_of; case: (what _).
Qed.

(** ** While the machine runs *)

Hypothesis runs : ~~ halted m c.

Lemma value_uses i :
  (i < 2)%N -> value uses i 0%N = (if i is 0%N then takes (now c) else latches (now c))%:R.
Proof.
move=> i_lt; rewrite (value_from_vertices ok c_in value_vertex) // /used.
case/andP: (vertex_is_in ok q_in) => /eqP -> _; move: runs; rewrite /halted /action_of.
by case: (what _) => //= a _; case: i i_lt => [|i] _ /=; case: ifP.
Qed.

Lemma value_take : value take 0%N 0%N = (taking takes st)%:R.
Proof. by rewrite -[LHS]/(value uses 0%N 0%N) value_uses. Qed.

(** The bits of the samples, and the discipline. *)
Variables features labels : nat -> nat -> nat -> bool.
Hypothesis features_v : forall b, (b < n_kept)%N -> is_feature b ->
  value fresh_bits b 0%N = sign R (features k (data_row wr) (data_cell wr + b)%N).
Hypothesis labels_v : forall k', slot st = Holds k' -> forall b, (b < n_kept)%N -> ~~ is_feature b ->
  value fresh_bits b 0%N = sign R (labels k' (data_row wr) (data_cell wr + b)%N).
Hypothesis fair : disciplined takes latches st.

Notation refreshed := (refreshed m takes latches feature_cell label_cell features labels k st).
Notation after := (refreshed_step m takes latches feature_cell label_cell features labels k st).

Let kept_is_data b : (b < n_kept)%N -> is_data s wr (data_row wr) (data_cell wr + b).
Proof. by move=> b_lt; rewrite /is_data eqxx leq_addr ltn_add2l. Qed.

Lemma value_change b :
  (b < n_kept)%N -> value change b 0%N =
  sign R (refreshed (data_row wr) (data_cell wr + b)) - sign R (cell c (n_writable m + data_row wr) (data_cell wr + b)).
Proof.
move=> b_lt; rewrite (@value_product _ _ _ _ (n_kept, 1%N)) //.
rewrite -[value (Linear _ _ _ _) b 0%N]/(real R (nth zero (nseq n_kept zero) b) + sparse (renewal_arcs s wr) (value uses) b).
rewrite nth_nseq b_lt add0r sparse_chosen // -[N.to_nat _]/(N.to_nat (if is_feature b then 0%num else 1%num)).
rewrite (@value_difference _ _ _ _ (n_kept, 1%N)) ?shape_held // value_held //.
have data_b := kept_is_data b_lt.
rewrite /StreamMachine.refreshed /Stream.feature_cell /Stream.label_cell data_b !andTb addKn -/c.
case feature_b: (is_feature b).
  rewrite -[N.to_nat _]/0%N value_uses // features_v // !andbT !andbF /taking -/c.
  by case: (takes _); rewrite ?mul1r ?mul0r //; case: (slot st) => [|k'|]; rewrite ?subrr.
rewrite -[N.to_nat _]/1%N value_uses // !andbF !andbT /latching -/c; move: fair; rewrite /disciplined /latching -/c => /andP[_ only].
case latch_q: (latches _) only => only; last by rewrite mul0r; case: (slot st) => [|k'|]; rewrite subrr.
by case slot_st: (slot st) only => [|k'|] // _; rewrite mul1r (labels_v slot_st) // feature_b.
Qed.

Lemma value_memory_next b :
  (b < n_kept)%N -> value memory_next b 0%N = sign R (refreshed (data_row wr) (data_cell wr + b)).
Proof.
move=> b_lt; rewrite (@value_sum _ _ _ _ (n_kept, 1%N)) ?shape_held ?shape_change_ // value_held // value_change //.
by rewrite addrC subrK.
Qed.

(** Cells that are no data stay. *)
Lemma refreshed_elsewhere i j : ~~ is_data s wr i j -> refreshed i j = cell c (n_writable m + i) j.
Proof.
move=> /negbTE no_data; rewrite /StreamMachine.refreshed /Stream.feature_cell /Stream.label_cell no_data !andbF.
by case: (slot st).
Qed.

Lemma value_fresh_cells i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value fresh_cells i j = sign R (if (i < n_writable m)%N then cell c i j else refreshed (i - n_writable m)%N j).
Proof.
move=> i_d j_tau; rewrite (@value_sum _ _ _ _ (n_tapes m, tau)) ?shape_cells // value_cells //.
have k_lt : (i * tau + j < n_tapes m * tau)%N.
  apply: leq_trans (_ : (i * tau + tau <= _)%N); first by rewrite ltn_add2l.
  by rewrite addnC -mulSn leq_mul2r i_d orbT.
have -> : value fresh i j = if (i == n_writable m + data_row wr)%N && (data_cell wr <= j < data_cell wr + n_kept)%N
    then value change (j - data_cell wr)%N 0%N else 0.
  rewrite -[LHS]/(value (Linear (n_tapes m * tau) (fresh_arcs m tau s wr) (nseq (n_tapes m * tau) zero) change)
    ((i * tau + j) %/ 1)%N ((i * tau + j) %% 1)%N) divn1 modn1.
  rewrite -[LHS]/(real R (nth zero (nseq (n_tapes m * tau) zero) (i * tau + j)) +
    sparse (fresh_arcs m tau s wr) (value change) (i * tau + j)) nth_nseq k_lt add0r sparse_placed.
  have [_ data_le _ _ _] := and5P fit; rewrite in_row //; case: eqP => [->|//] /=; case: ifP => // _.
  by rewrite subnDl.
case: (ltnP i (n_writable m)) => [i_w|w_i].
  have -> : (i == n_writable m + data_row wr)%N = false.
    by apply: contraTF i_w => /eqP ->; rewrite ltnNge leq_addr.
  by rewrite addr0.
have -> : (i == n_writable m + data_row wr)%N = (i - n_writable m == data_row wr)%N.
  by rewrite -{1}(subnKC w_i) eqn_add2l.
rewrite -/(is_data s wr (i - n_writable m)%N j).
case data_ij: (is_data s wr (i - n_writable m)%N j); last first.
  by rewrite addr0 refreshed_elsewhere ?data_ij // subnKC.
case/andP: data_ij => /eqP i_row /andP[low high]; rewrite value_change ?ltn_subLR //.
by rewrite i_row subnKC // -i_row subnKC // addrC subrK.
Qed.

Hypothesis stays : stays_inside m tau c.

Lemma value_heads_next i j :
  (i < n_tapes m)%N -> (j < tau)%N -> value heads_next i j = (j == head (step m c) i)%:R.
Proof. exact: (value_moved_heads shape_heads ok c_in value_vertex value_heads stays). Qed.

Let written_s := shape_written_cells vertex shape_heads shape_fresh_cells shape_read_now.

Lemma value_written i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value (written_cells m vertex heads fresh_cells read_now) i j = sign R (cell after i j).
Proof.
move=> i_d j_tau; have change_s := shape_change vertex shape_read_now.
rewrite (@value_sum _ _ _ _ (n_tapes m, tau)) ?shape_fresh_cells //; last first.
  exact: shape_product_matrix shape_heads change_s.
rewrite (@value_product_matrix _ _ _ _ (n_tapes m, tau)) ?shape_heads //.
rewrite (@value_difference _ _ _ _ (n_tapes m, 1%N)) ?shape_read_now //; [|exact: shape_written_next].
rewrite value_fresh_cells // value_heads // value_written_next // value_read_now //= -/c.
case: ltnP => [i_w|w_i].
  by case: eqP => [->|_]; rewrite ?mul0r ?addr0 ?mul1r // addrC subrK.
by rewrite (written_read_only ok q_in) ?w_i ?i_d // subrr mulr0 addr0.
Qed.

Lemma value_read_next i : (i < n_tapes m)%N -> value read_next i 0%N = sign R (reads after i).
Proof.
move=> i_d; rewrite (value_read _ _ _ written_s (shape_moved_heads _ shape_heads)) //.
case: (inside_step ok q_in c_in stays) => _ /(_ i i_d) h_tau.
rewrite (total_one (k := head (step m c) i)) // => [|j j_tau j_h].
  by rewrite value_heads_next // eqxx mulr1 value_written.
by rewrite value_heads_next // (negbTE j_h) mulr0.
Qed.

Lemma value_symbols p :
  p \in units -> size p = n_tapes m ->
  value symbols (index p units) 0%N = (matches p (reads after))%:R.
Proof.
move=> p_in size_p; have k_lt : (index p units < size units)%N by rewrite index_mem.
rewrite -(@relu_agreement R p (reads after) (value read_next)); last first.
  by move=> i; rewrite size_p; apply: value_read_next.
rewrite -[LHS]/(relu (real R (nth zero (map threshold units) (index p units)) +
                      sparse (symbol_arcs m units) (value read_next) (index p units))).
by rewrite (nth_map [::]) // sparse_symbol_arcs // nth_index // size_p.
Qed.

Lemma value_successor v : (v < size (table m))%N -> value successor v 0%N = (v == vertex_of m after)%:R.
Proof.
move=> v_lt; have q'_in : (now after < n_states m)%N.
  exact: (@next_state_lt m ok c q_in).
rewrite -(vertex_unique ok q'_in v_lt) /Stream.successor.
set n := size (table m) in v_lt *.
rewrite (@value_product _ _ _ _ (n, 1%N)) //.
have part e l (g : situation -> nat) : l = spread g (table m) ->
    value (Linear n l (nseq n zero) e) v 0%N = value e (g (situation_of m v)) 0%N.
  move=> ->; rewrite -[LHS]/(real R (nth zero (nseq n zero) v) + sparse _ (value e) v).
  by rewrite nth_nseq v_lt add0r (sparse_spread nowhere).
rewrite (part _ _ state) // (part _ _ (fun s => index (looks s) units)) //.
have := situation_ok ok v_lt; have := mem_nth nowhere v_lt; rewrite -/(situation_of m v).
set sv := situation_of m v => s_in /and3P[/eqP size_p q_lt _].
rewrite /state_arcs (value_from_vertices ok c_in value_vertex) // (PlainValue.follows_here ok c_in).
rewrite value_symbols //; last exact: (allP units_ok _ s_in).
rewrite /is_in [state sv == _]eq_sym -[now after]/(next_state m c).
by case: (next_state m c == state sv); rewrite /= ?mul0r // mul1r.
Qed.

End Value.
