(** What the parts of a stream's landscape are worth at weights that stand for a configuration and its memory: exactly those
    of the configuration after the step. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Tapes StreamMachine Stream.
From Luge Require Plain PlainValue.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Value.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (takes latches : pred nat) (feature_cell label_cell : nat -> nat -> bool).
Variables (at_ : places) (memory_at z_at x_at : nat) (units : seq (seq (option bool))).
Variables (sx s : shape) (feature_format label_format : format) (feature_bits label_bits : seq nat).

Hypotheses (ok : well_formed m) (units_ok : PlainValue.units_fit m units).
Hypothesis has_memory : (n_writable m < n_tapes m)%N.

Let rows : nat := (n_tapes m - n_writable m)%N.

Notation memory := (memory m tau memory_at).
Notation tapes := (tapes m tau at_ memory_at).
Notation vertex := (vertex m at_).
Notation heads := (heads m tau at_).
Notation cells := (cells m tau at_ memory_at).
Notation read_now := (read_now m tau at_ memory_at).
Notation written_next := (written_next m tau at_ memory_at).
Notation heads_next := (heads_next m tau at_).
Notation flag := (flag m at_).
Notation bits_of_x := (bits_of_x m tau x_at sx feature_format feature_bits).
Notation bits_of_labels := (bits_of_labels m tau z_at s label_format label_bits).
Notation remembered := (remembered m tau memory_at).
Notation renewal := (renewal m tau memory_at).
Notation memory_next := (memory_next m tau takes latches feature_cell label_cell at_ memory_at z_at x_at sx s
  feature_format label_format feature_bits label_bits).
Notation fresh_cells := (fresh_cells m tau takes latches feature_cell label_cell at_ memory_at z_at x_at sx s
  feature_format label_format feature_bits label_bits).
Notation read_next := (read_next m tau takes latches feature_cell label_cell at_ memory_at z_at x_at sx s
  feature_format label_format feature_bits label_bits).
Notation symbols := (symbols m tau takes latches feature_cell label_cell at_ memory_at z_at x_at units sx s
  feature_format label_format feature_bits label_bits).
Notation successor := (successor m tau takes latches feature_cell label_cell at_ memory_at z_at x_at units sx s
  feature_format label_format feature_bits label_bits).

Lemma memory_fits : PlainValue.fixed_fits m tau (Some (Stop memory)).
Proof. by rewrite /= has_memory eqxx. Qed.

Lemma shape_tapes : shape_of tapes = (n_tapes m, tau).
Proof. exact: PlainValue.shape_tapes ok memory_fits. Qed.

Lemma shape_cells : shape_of cells = (n_tapes m, tau).
Proof. exact: shape_saturate_11 shape_tapes. Qed.

Lemma shape_heads : shape_of heads = (n_tapes m, tau).
Proof. exact: PlainValue.shape_heads. Qed.

Lemma shape_read_now : shape_of read_now = (n_tapes m, 1%N).
Proof. exact: (shape_read shape_cells shape_heads). Qed.

Lemma shape_remembered : shape_of remembered = (rows, tau).
Proof. exact: shape_saturate_11. Qed.

Lemma shape_written_next : shape_of written_next = (n_tapes m, 1%N).
Proof. exact: shape_write shape_read_now. Qed.

Lemma shape_heads_next : shape_of heads_next = (n_tapes m, tau).
Proof. exact: shape_moved_heads shape_heads. Qed.

Lemma shape_renewal p cell_ f positions column :
  shape_of (renewal (flag p) cell_ (bits_of m tau f positions column)) = (rows, tau).
Proof.
have inner : shape_of (Product (mask m tau cell_) (weighted (one, bits_of m tau f positions column)
    [:: (minus_one, remembered)])) = (rows, tau).
  by apply: (@shape_product (rows, tau)) => //; apply: shape_difference => //; exact: shape_remembered.
by rewrite /Stream.renewal; move: (Product (mask m tau cell_) _) inner => e e_s; rewrite /= e_s.
Qed.

Let renewals_shapes : all (fun t => shape_of t.2 == (rows, tau))
  [:: (one, remembered); (one, renewal (flag takes) feature_cell bits_of_x);
      (one, renewal (flag latches) label_cell bits_of_labels)].
Proof.
apply/and3P; split; rewrite ?andbT; apply/eqP; [exact: shape_remembered | exact: shape_renewal | exact: shape_renewal].
Qed.

Lemma shape_memory_next : shape_of memory_next = (rows, tau).
Proof.
exact: shape_weighted renewals_shapes.
Qed.

Lemma shape_fresh_cells : shape_of fresh_cells = (n_tapes m, tau).
Proof.
have next_s := shape_memory_next; rewrite /Stream.fresh_cells; case w_m: (n_writable m) => [|k].
  by rewrite next_s /rows w_m subn0.
have upper : shape_of (saturate_11 (Plain.tape_weights m tau at_)) = (n_writable m, tau) by exact: shape_saturate_11.
move: (saturate_11 _) upper => e e_s; rewrite -[LHS]/((shape_of e).1 + (shape_of memory_next).1, (shape_of e).2)%N.
by rewrite e_s next_s /= subnKC // ltnW.
Qed.

Lemma shape_successor : shape_of successor = (size (table m), 1%N).
Proof. by rewrite /Stream.successor; apply: (@shape_product (size (table m), 1%N)). Qed.

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).

Variables (k : nat) (st : streaming) (rho : R).
Let c := running_in st.

Hypotheses (c_in : inside m tau c) (near : within m tau at_ rho weights c) (small : rho <= 4%:R^-1).
Hypothesis memory_near : forall i j, (i < rows)%N -> (j < tau)%N ->
  `|weights memory_at i j - sign R (cell c (n_writable m + i) j)| <= rho *+ 2.

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

Lemma value_remembered i j :
  (i < rows)%N -> (j < tau)%N -> value remembered i j = sign R (cell c (n_writable m + i) j).
Proof.
move=> i_r j_tau; rewrite (@value_saturate_11 _ _ _ _ (rows, tau)) //.
by apply: sat11_near; apply: le_trans (memory_near i_r j_tau) half_of_rho.
Qed.

Lemma value_cells i j : (i < n_tapes m)%N -> (j < tau)%N -> value cells i j = sign R (cell c i j).
Proof.
move=> i_d j_tau; rewrite (@value_saturate_11 _ _ _ _ (n_tapes m, tau)) //; last exact: shape_tapes.
apply: sat11_near; rewrite /Stream.tapes (PlainValue.value_tapes _ _ memory_fits) //; case: ltnP => [i_w|w_i].
  by case: near => _ t _; apply: le_trans (t i j i_w j_tau) half_of_rho.
have i_r : (i - n_writable m < rows)%N by rewrite ltn_sub2r // (leq_ltn_trans w_i).
by have := memory_near i_r j_tau; rewrite subnKC // => near_i; apply: le_trans near_i half_of_rho.
Qed.

Lemma value_read_now i : (i < n_tapes m)%N -> value read_now i 0%N = sign R (reads c i).
Proof.
move=> i_d; rewrite (value_read _ _ _ shape_cells shape_heads) //.
rewrite -[RHS](PlainValue.total_head c_in (fun j => sign R (cell c i j)) i_d).
by apply: total_eq => j j_tau; rewrite value_cells // value_heads.
Qed.

Lemma value_written_next i : (i < n_tapes m)%N -> value written_next i 0%N = sign R (written m c i).
Proof. exact: (value_write shape_read_now ok c_in value_vertex value_read_now). Qed.

(** A flag is 1 in its states. *)
Lemma value_flag p : value (flag p) 0%N 0%N = (p (now c))%:R.
Proof.
rewrite -[LHS]/(value (from_vertices vertex 1 (arcs 1 (fun _ s => if p (state s) then Some one else None)
  (table m))) 0%N 0%N) (value_from_vertices ok c_in value_vertex) //.
by case/andP: (vertex_is_in ok q_in) => /eqP -> _; case: (p (now c)).
Qed.

Lemma value_at_rest : value (at_rest m at_) 0%N 0%N = (halted m c)%:R.
Proof.
rewrite -[LHS]/(value (from_vertices vertex 1 (rest_arcs m)) 0%N 0%N) (value_from_vertices ok c_in value_vertex) //.
by rewrite /rests /halted /action_of; case: (what _).
Qed.

Lemma value_mask cell_ i j : (i < rows)%N -> (j < tau)%N -> value (mask m tau cell_) i j = (cell_ i j)%:R.
Proof.
move=> i_r j_tau.
have k_lt : (i * tau + j < rows * tau)%N.
  apply: leq_trans (_ : (i * tau + tau <= _)%N); first by rewrite ltn_add2l.
  by rewrite addnC -mulSn leq_mul2r i_r orbT.
rewrite /= (nth_map 0%N) ?size_iota // nth_iota // add0n.
rewrite divnMDl ?(leq_ltn_trans _ j_tau) // divn_small // addn0 modnMDl modn_small //.
by case: (cell_ i j).
Qed.

(** A bit of a column of numbers. *)
Lemma value_bits_of f positions column i j :
  let p := nth 0%N positions (i * tau + j) in
  value (bits_of m tau f positions column) i j = bit arith f (value column (p %/ n_bits f)%N 0%N) (p %% n_bits f)%N.
Proof. by rewrite /= /flat /= !divn1. Qed.

Lemma value_renewal p cell_ bits i j (b : bool) :
  shape_of bits = (rows, tau) -> (i < rows)%N -> (j < tau)%N -> value bits i j = sign R b ->
  value (renewal (flag p) cell_ bits) i j =
  (p (now c))%:R * ((cell_ i j)%:R * (sign R b - sign R (cell c (n_writable m + i) j))).
Proof.
move=> bits_s i_r j_tau bits_v.
have inner_s : shape_of (weighted (one, bits) [:: (minus_one, remembered)]) = (rows, tau).
  by apply: shape_difference => //; exact: shape_remembered.
rewrite /Stream.renewal; set inner := Product (mask m tau cell_) _.
have product_s : shape_of inner = (rows, tau) by apply: (@shape_product (rows, tau)).
rewrite -[LHS]/(stretch (shape_of (flag p)) (value (flag p)) i j * stretch (shape_of inner) (value inner) i j).
rewrite product_s stretch_scalar stretch_in // value_flag; congr (_ * _).
rewrite /inner (@value_product _ arith weights fed (rows, tau)) // value_mask //; congr (_ * _).
by rewrite (@value_difference _ arith weights fed (rows, tau)) ?shape_remembered // bits_v value_remembered.
Qed.

(** The bits of the samples, and the discipline. *)
Variables features labels : nat -> nat -> nat -> bool.
Hypothesis features_v : forall i j, (i < rows)%N -> (j < tau)%N -> feature_cell i j ->
  value bits_of_x i j = sign R (features k i j).
Hypothesis labels_v : forall k', slot st = Holds k' -> forall i j, (i < rows)%N -> (j < tau)%N -> label_cell i j ->
  value bits_of_labels i j = sign R (labels k' i j).
Hypothesis signs : forall f v l, bit arith f v l = sign R (0 < bit arith f v l).
Hypothesis fair : disciplined takes latches st.

Notation refreshed := (refreshed m takes latches feature_cell label_cell features labels k st).
Notation after := (refreshed_step m takes latches feature_cell label_cell features labels k st).

Lemma value_memory_next i j :
  (i < rows)%N -> (j < tau)%N -> value memory_next i j = sign R (refreshed i j).
Proof.
move=> i_r j_tau; rewrite (value_weightedE arith weights fed (s := (rows, tau)) i_r j_tau renewals_shapes).
rewrite -[LHS]/(real R one * value remembered i j + (real R one * value (renewal (flag takes) feature_cell bits_of_x) i j +
  (real R one * value (renewal (flag latches) label_cell bits_of_labels) i j + 0))).
rewrite !mul1r addr0 value_remembered //.
have a_bit p cell_ f positions column : exists b, value (renewal (flag p) cell_ (bits_of m tau f positions column)) i j =
    (p (now c))%:R * ((cell_ i j)%:R * (sign R b - sign R (cell c (n_writable m + i) j))).
  have b_v := etrans (value_bits_of f positions column i j) (signs _ _ _).
  by eexists; apply: (value_renewal p cell_ _ i_r j_tau b_v).
have new_x : value (renewal (flag takes) feature_cell bits_of_x) i j =
    if taking takes st && feature_cell i j then sign R (features k i j) - sign R (cell c (n_writable m + i) j) else 0.
  rewrite /taking -/c; case f_c: (feature_cell i j); last first.
    by case: (a_bit takes feature_cell feature_format feature_bits (Reshape (sx.1 * sx.2, 1)%N (Input sx x_at))) => b ->;
       rewrite f_c mul0r mulr0 andbF.
  rewrite (value_renewal takes feature_cell _ i_r j_tau (features_v i_r j_tau f_c)) // f_c mul1r.
  by case: (takes _); rewrite ?mul1r ?mul0r.
have new_z : value (renewal (flag latches) label_cell bits_of_labels) i j =
    if slot st is Holds k' then
      if latching latches st && label_cell i j then sign R (labels k' i j) - sign R (cell c (n_writable m + i) j) else 0
    else 0.
  move: fair; rewrite /disciplined /latching -/c => /andP[_ only].
  case l_c: (label_cell i j); last first.
    case: (a_bit latches label_cell label_format label_bits (Reshape (s.1 * s.2, 1)%N (Scale minus_one (z s z_at)))) => b ->.
    by rewrite l_c mul0r mulr0; case: (slot st) => [|k'|] //; rewrite andbF.
  case latch_q: (latches _) only => only; last first.
    case: (a_bit latches label_cell label_format label_bits (Reshape (s.1 * s.2, 1)%N (Scale minus_one (z s z_at)))) => b ->.
    by rewrite latch_q mul0r; case: (slot st).
  case slot_st: (slot st) only => [|k'|] // _.
  rewrite (value_renewal latches label_cell _ i_r j_tau (labels_v slot_st i_r j_tau l_c)) // l_c mul1r latch_q.
  by rewrite mul1r.
rewrite new_x new_z /StreamMachine.refreshed -/c; move: fair; rewrite /disciplined.
case: (taking takes st) => /=; case: (slot st) => [|k'|] //= _;
  case: (feature_cell i j); rewrite ?add0r ?addr0 //; try by rewrite addrC subrK.
all: by case: (_ && _); rewrite ?addr0 // addrC subrK.
Qed.

Lemma value_fresh_cells i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value fresh_cells i j = sign R (if (i < n_writable m)%N then cell c i j else refreshed (i - n_writable m)%N j).
Proof.
move=> i_d j_tau.
have lower : (n_writable m <= i)%N -> value memory_next (i - n_writable m)%N j = sign R (refreshed (i - n_writable m)%N j).
  by move=> w_i; apply: value_memory_next => //; rewrite ltn_sub2r // (leq_ltn_trans w_i).
rewrite /Stream.fresh_cells; case w_m: (n_writable m) => [|w].
  by move: lower; rewrite w_m ltn0 subn0; apply.
have upper_s : shape_of (saturate_11 (Plain.tape_weights m tau at_)) = (n_writable m, tau) by exact: shape_saturate_11.
rewrite -[LHS]/(if (i < (shape_of (saturate_11 (Plain.tape_weights m tau at_))).1)%N
  then value (saturate_11 (Plain.tape_weights m tau at_)) i j
  else value memory_next (i - (shape_of (saturate_11 (Plain.tape_weights m tau at_))).1)%N j).
rewrite upper_s -w_m -[((n_writable m, tau).1)]/(n_writable m); case: ltnP => [i_w|w_i]; last exact: lower.
rewrite (@value_saturate_11 _ _ _ _ (n_writable m, tau)) //; apply: sat11_near.
by case: near => _ t _; apply: le_trans (t i j i_w j_tau) half_of_rho.
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
have part e l (f : situation -> nat) : l = spread f (table m) ->
    value (Linear n l (nseq n zero) e) v 0%N = value e (f (situation_of m v)) 0%N.
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
