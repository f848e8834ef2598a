(** What the parts of `plain` are worth at weights that stand for a configuration: exactly its successor's. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The read-only tapes come from units of the right shape, and from none if there are no such tapes. *)
Definition fixed_fits (m : machine) (tau : nat) (fixed : option expression) : bool :=
  if fixed is Some f then
    ((n_writable m < n_tapes m)%N && (shape_of f == (n_tapes m - n_writable m, tau)%N))
  else n_writable m == n_tapes m.

(** Every combination of symbols that a situation asks for has a unit. *)
Definition units_fit (m : machine) (units : seq (seq (option bool))) : bool :=
  all (fun s => looks s \in units) (table m).

Section Value.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression).
Variable units : seq (seq (option bool)).
Hypotheses (ok : well_formed m) (fixed_ok : fixed_fits m tau fixed) (units_ok : units_fit m units).

Lemma shape_tapes : shape_of (tapes m tau at_ fixed) = (n_tapes m, tau).
Proof.
rewrite /tapes; move: fixed_ok; case: fixed => [f|] /=.
  case/andP=> lt /eqP f_s; case w_m: (n_writable m) lt f_s => [|k] lt f_s /=; first by rewrite f_s subn0.
  by rewrite /tape_weights /= f_s w_m /= subnKC // ltnW.
move/eqP=> w_d; rewrite w_d; have := tapes_gt0 ok; case d_m: (n_tapes m) => [//|k] _ /=.
by rewrite w_d d_m.
Qed.

Lemma shape_heads : shape_of (heads m tau at_) = (n_tapes m, tau).
Proof. exact: shape_saturate_01. Qed.

Lemma shape_cells : shape_of (cells m tau at_ fixed) = (n_tapes m, tau).
Proof. exact: shape_saturate_11 shape_tapes. Qed.

Lemma shape_vertex : shape_of (vertex m at_) = (size (table m), 1%N).
Proof. exact: shape_saturate_01. Qed.

Lemma shape_read_now : shape_of (read_now m tau at_ fixed) = (n_tapes m, 1%N).
Proof. exact: (shape_read shape_cells shape_heads). Qed.

Lemma shape_write : shape_of (write m tau at_ fixed) = (n_tapes m, 1%N).
Proof.
rewrite /write; case: (keep_arcs m) => [//|e l]; apply: shape_difference => //.
exact: shape_product shape_read_now.
Qed.

Lemma shape_moving w : shape_of (moving m at_ w) = (n_tapes m, 1%N).
Proof. by []. Qed.

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).

Variables (c : configuration) (rho : R).
Hypotheses (c_in : inside m tau c) (near : within m tau at_ rho weights c) (small : rho <= 4%:R^-1).
Hypothesis shown : if fixed is Some f then shows m tau (value f) c else True.

Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.
Let here := situation_of m (vertex_of m c).

Lemma value_vertex v : (v < size (table m))%N -> value (vertex m at_) v 0%N = (v == vertex_of m c)%:R.
Proof.
move=> v_lt; rewrite (@value_saturate_01 _ _ _ _ (size (table m), 1%N)) //.
by apply: sat01_near; case: near => x _ _; apply: le_trans (x v v_lt) small.
Qed.

Lemma value_heads i j :
  (i < n_tapes m)%N -> (j < tau)%N -> value (heads m tau at_) i j = (j == head c i)%:R.
Proof.
move=> i_d j_tau; rewrite (@value_saturate_01 _ _ _ _ (n_tapes m, tau)) //.
by apply: sat01_near; case: near => _ _ h; apply: le_trans (h i j i_d j_tau) small.
Qed.

(** The tapes as they are, not saturated. *)
Lemma value_tapes i j :
  (i < n_tapes m)%N ->
  value (tapes m tau at_ fixed) i j =
  if (i < n_writable m)%N then weights (tape_at at_) i j
  else if fixed is Some f then value f (i - n_writable m)%N j else 0.
Proof.
move=> i_d; rewrite /tapes; move: fixed_ok; case: fixed => [f|] /=.
  by case w_m: (n_writable m) => [|k] _ /=; rewrite ?subn0 ?w_m.
move/eqP=> w_d; rewrite w_d i_d; move: i_d; case: (n_tapes m) => //.
Qed.

Lemma near_tapes i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  `|value (tapes m tau at_ fixed) i j - sign R (cell c i j)| <= 2%:R^-1.
Proof.
move=> i_d j_tau; rewrite value_tapes //; case: ltnP => [i_w|w_i].
  case: near => _ t _; apply: le_trans (t i j i_w j_tau) _.
  have -> : 2%:R^-1 = 4%:R^-1 *+ 2 :> R by field.
  by rewrite ler_muln2r.
move: shown fixed_ok; case: fixed => [f sh _|_ /= /eqP w_d]; last by rewrite w_d leqNgt i_d in w_i.
by rewrite sh ?ltn_sub2r ?(leq_ltn_trans w_i) // subnKC // subrr normr0 invr_ge0 ler0n.
Qed.

Lemma value_cells i j :
  (i < n_tapes m)%N -> (j < tau)%N -> value (cells m tau at_ fixed) i j = sign R (cell c i j).
Proof.
move=> i_d j_tau; rewrite (@value_saturate_11 _ _ _ _ (n_tapes m, tau)) //; last exact: shape_tapes.
by apply: sat11_near; apply: near_tapes.
Qed.

Lemma value_from_vertices n f i :
  (i < n)%N ->
  value (from_vertices m at_ n (arcs n f (table m))) i 0%N = weight_or_zero R (f i here).
Proof.
move=> i_n; rewrite -[LHS]/(real R (nth zero (nseq n zero) i) + sparse _ (value (vertex m at_)) i).
rewrite nth_nseq i_n add0r (sparse_arcs nowhere) // (total_one (k := vertex_of m c)) ?vertex_lt //.
  by rewrite value_vertex ?vertex_lt // eqxx mulr1.
by move=> v v_lt v_c; rewrite value_vertex // (negbTE v_c) mulr0.
Qed.

(** A sum under the head is the entry under the head. *)
Lemma total_head (f : nat -> R) i :
  (i < n_tapes m)%N -> total tau (fun j => f j * (j == head c i)%:R) = f (head c i).
Proof.
move=> i_d; case: c_in => _ h; rewrite (total_one (k := head c i)) ?h ?eqxx ?mulr1 // => j _ /negbTE ->.
by rewrite mulr0.
Qed.

Lemma value_read_now i :
  (i < n_tapes m)%N -> value (read_now m tau at_ fixed) i 0%N = sign R (reads c i).
Proof.
move=> i_d; rewrite (value_read _ _ _ shape_cells shape_heads) //.
rewrite -[RHS](total_head (fun j => sign R (cell c i j)) i_d).
by apply: total_eq => j j_tau; rewrite value_cells // value_heads.
Qed.

(** What a situation says about the tapes it looks at is so. *)
Lemma looks_here i b : nth None (looks here) i = Some b -> reads c i = b.
Proof.
case/andP: (vertex_is_in ok q_in) => _ /allP fits look; apply/eqP.
have := fits i; rewrite look mem_iota add0n /=; apply.
by rewrite ltnNge; apply: contra_eqN look => ?; rewrite nth_default.
Qed.

Lemma leaves_here i : sign R (written m c i) =
  if leaves here i is Some b then sign R b else sign R (reads c i).
Proof.
rewrite /written /action_of /leaves -/here.
have look : sign R (reads c i) = if nth None (looks here) i is Some b then sign R b else sign R (reads c i).
  by case look: (nth None (looks here) i) => [b|] //; rewrite (looks_here look).
by case: (what here) => [a|] //; case: (nth None (writes a) i).
Qed.

Lemma real_sign_of b : real R (sign_of b) = sign R b.
Proof. by case: b. Qed.

Lemma value_write i : (i < n_tapes m)%N -> value (write m tau at_ fixed) i 0%N = sign R (written m c i).
Proof.
move=> i_d; rewrite leaves_here.
have known : value (from_vertices m at_ (n_tapes m) (next_arcs m)) i 0%N =
    if leaves here i is Some b then sign R b else 0.
  by rewrite value_from_vertices //; case: (leaves here i) => //= b; rewrite real_sign_of.
have kept : value (from_vertices m at_ (n_tapes m) (keep_arcs m)) i 0%N = (leaves here i == None)%:R.
  by rewrite value_from_vertices //; case: (leaves here i).
have none_kept : keep_arcs m = [::] -> leaves here i != None.
  move=> none; move: kept; rewrite none -[LHS]/(real R (nth zero (nseq (n_tapes m) zero) i) + 0).
  by rewrite nth_nseq i_d addr0; case: (leaves here i) => //= /esym /eqP; rewrite oner_eq0.
have product_s : shape_of (Product (from_vertices m at_ (n_tapes m) (keep_arcs m)) (read_now m tau at_ fixed)) =
    (n_tapes m, 1%N).
  exact: shape_product shape_read_now.
rewrite /write; case keep_m: (keep_arcs m) => [|e l].
  by rewrite known; move: (none_kept keep_m); case: (leaves here i).
rewrite -keep_m (@value_sum _ _ _ _ (n_tapes m, 1%N)) //.
rewrite (@value_product _ _ _ _ (n_tapes m, 1%N)) // ?shape_read_now //.
rewrite known kept value_read_now //.
by case: (leaves here i) => [b|] /=; rewrite ?mul0r ?addr0 ?add0r ?mul1r.
Qed.

(** ** The heads that will be *)

Definition shifted_heads (w : move) : expression :=
  match w with
  | Left => Shift (-1) (heads m tau at_)
  | Stay => heads m tau at_
  | Right => Shift 1 (heads m tau at_)
  end.

Lemma moving_termE w :
  moving_term m tau at_ w =
  if moving_arcs m w is [::] then [::] else [:: (one, Product (moving m at_ w) (shifted_heads w))].
Proof. by case: w. Qed.

Lemma shape_shifted_heads w : shape_of (shifted_heads w) = (n_tapes m, tau).
Proof. by case: w; apply: shape_heads. Qed.

Lemma value_moving w i : (i < n_tapes m)%N -> value (moving m at_ w) i 0%N = (way here i == w)%:R.
Proof. by move=> i_d; rewrite value_from_vertices //; case: (way here i == w). Qed.

Lemma moving_none w i : (i < n_tapes m)%N -> moving_arcs m w = [::] -> way here i != w.
Proof.
move=> i_d none; have := value_moving w i_d; rewrite /moving none.
rewrite -[value _ _ _]/(real R (nth zero (nseq (n_tapes m) zero) i) + 0) nth_nseq i_d addr0.
by case: (way here i == w) => //= /esym /eqP; rewrite oner_eq0.
Qed.

Lemma shifted_left j : shifted (-1) tau j = if (j.+1 < tau)%N then Some j.+1 else None.
Proof.
rewrite /shifted; have -> : Z.sub (Z.of_nat j) (-1) = Z.of_nat j.+1 by lia.
have -> : Z.leb 0 (Z.of_nat j.+1) by lia.
have -> : Z.ltb (Z.of_nat j.+1) (Z.of_nat tau) = (j.+1 < tau)%N by lia.
by rewrite Nat2Z.id.
Qed.

Lemma shifted_right j : (j < tau)%N -> shifted 1 tau j = if j is k.+1 then Some k else None.
Proof.
move=> j_tau; rewrite /shifted; case: j j_tau => [//|k] k_tau.
have -> : Z.sub (Z.of_nat k.+1) 1 = Z.of_nat k by lia.
have -> : Z.leb 0 (Z.of_nat k) by lia.
have -> : Z.ltb (Z.of_nat k) (Z.of_nat tau) = true by lia.
by rewrite Nat2Z.id.
Qed.

Hypothesis stays : stays_inside m tau c.

Lemma value_shifted_heads i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value (shifted_heads (move_of m c i)) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; have := stays i_d; case: c_in => _ /(_ i i_d) h_tau.
rewrite -[head (step m c) i]/(moved (move_of m c i) (head c i)).
case: (move_of m c i) => [h_gt0||h_lt].
- rewrite -[LHS]/(if shifted (-1) (shape_of (heads m tau at_)).2 j is Some k then
                    value (heads m tau at_) i k else 0).
  rewrite shape_heads shifted_left; case: ifP => [j_lt|j_ge]; first rewrite value_heads //.
    by congr (nat_of_bool _)%:R; rewrite /moved; lia.
  by rewrite (_ : (j == _) = false) // /moved; lia.
- by rewrite value_heads.
rewrite -[LHS]/(if shifted 1 (shape_of (heads m tau at_)).2 j is Some k then
                  value (heads m tau at_) i k else 0).
rewrite shape_heads shifted_right //; case: j j_tau => [//|k] k_tau.
by rewrite value_heads //; lia.
Qed.

Lemma way_here i : way here i = move_of m c i.
Proof. by []. Qed.

Lemma value_moving_term w i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (moving_term m tau at_ w) =
  (move_of m c i == w)%:R * value (shifted_heads w) i j.
Proof.
move=> i_d j_tau; rewrite moving_termE; case arcs_w: (moving_arcs m w) => [|e l].
  by rewrite -way_here (negbTE (moving_none i_d arcs_w)) mul0r.
rewrite -[LHS]/(real R one * value (Product (moving m at_ w) (shifted_heads w)) i j + 0).
rewrite (@value_product_column _ _ _ _ (n_tapes m, tau)) ?shape_shifted_heads //.
by rewrite value_moving // mul1r addr0.
Qed.

Lemma moved_heads_sum i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  shape_of (moved_heads m tau at_) = (n_tapes m, tau) /\
  value (moved_heads m tau at_) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; rewrite /moved_heads.
set terms := moving_term m tau at_ Left ++ _.
have sums : foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 terms = (j == head (step m c) i)%:R.
  have cat l l' : foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (l ++ l') =
      foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 l +
      foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 l'.
    by elim: l => [|t l IH] /=; rewrite ?add0r // IH addrA.
  rewrite /terms !cat !value_moving_term // -value_shifted_heads //.
  by case: (move_of m c i); rewrite !mul0r ?mul1r ?add0r ?addr0.
have shapes : all (fun t => shape_of t.2 == (n_tapes m, tau)) terms.
  have one_way w : all (fun t => shape_of t.2 == (n_tapes m, tau)) (moving_term m tau at_ w).
    rewrite moving_termE; case: (moving_arcs m w) => [//|e l].
    rewrite all_seq1; apply/eqP.
    exact: (@shape_product_column (n_tapes m, tau) _ _ (shape_moving w) (shape_shifted_heads w)).
  by rewrite /terms !all_cat !one_way.
have some : ~~ nilp terms.
  have: ~~ nilp (moving_term m tau at_ (way here i)).
    rewrite moving_termE; case arcs_w: (moving_arcs m _) => [|//].
    by have := moving_none i_d arcs_w; rewrite eqxx.
  rewrite /terms /nilp !size_cat -!lt0n !addn_gt0.
  by case: (way here i) => ->; rewrite ?orbT.
move: sums shapes some; case: terms => [//|first rest] sums shapes _.
have [shape_w value_w] := @value_weighted R arith weights fed (n_tapes m, tau) first rest i j i_d j_tau shapes.
by rewrite shape_w value_w.
Qed.

Lemma tau_gt0 : (0 < tau)%N.
Proof. by case: c_in => _ /(_ 0%N (tapes_gt0 ok)); case: tau. Qed.

Lemma shape_moved_heads : shape_of (moved_heads m tau at_) = (n_tapes m, tau).
Proof. by case: (moved_heads_sum (tapes_gt0 ok) tau_gt0). Qed.

Lemma value_moved_heads i j :
  (i < n_tapes m)%N -> (j < tau)%N -> value (moved_heads m tau at_) i j = (j == head (step m c) i)%:R.
Proof. by move=> i_d j_tau; case: (moved_heads_sum i_d j_tau). Qed.

(** ** The symbols that will be read, and the vertex that follows *)

Lemma step_in : inside m tau (step m c).
Proof. exact: inside_step. Qed.

Let change := weighted (one, write m tau at_ fixed) [:: (minus_one, read_now m tau at_ fixed)].
Let change_shape : shape_of change = (n_tapes m, 1%N).
Proof. exact: shape_difference shape_write shape_read_now. Qed.

Let written_tapes := weighted (one, cells m tau at_ fixed) [:: (one, Product (heads m tau at_) change)].
Let product_shape : shape_of (Product (heads m tau at_) change) = (n_tapes m, tau).
Proof. exact: shape_product_matrix shape_heads change_shape. Qed.
Let written_shape : shape_of written_tapes = (n_tapes m, tau).
Proof. exact: shape_difference shape_cells product_shape. Qed.

Lemma value_written i j :
  (i < n_tapes m)%N -> (j < tau)%N -> value written_tapes i j = sign R (cell (step m c) i j).
Proof.
move=> i_d j_tau.
have -> : value written_tapes i j =
    value (cells m tau at_ fixed) i j + value (heads m tau at_) i j * value change i 0%N.
  rewrite -(@value_product_matrix _ arith weights fed (n_tapes m, tau)) //; last exact: shape_heads.
  by rewrite -(@value_sum _ arith weights fed (n_tapes m, tau)) //; exact: shape_cells.
have -> : value change i 0%N = sign R (written m c i) - sign R (reads c i).
  rewrite -value_write // -value_read_now //.
  by apply: (@value_difference _ _ _ _ (n_tapes m, 1%N)) => //; [exact: shape_write | exact: shape_read_now].
rewrite value_cells // value_heads // -[cell (step m c) i j]/(if j == head c i then written m c i else cell c i j).
case: eqP => [->|_]; last by rewrite mul0r addr0.
by rewrite mul1r addrC subrK.
Qed.

Lemma value_read_ahead i :
  (i < n_tapes m)%N -> value (read_ahead m tau at_ fixed) i 0%N = sign R (reads (step m c) i).
Proof.
move=> i_d; rewrite (value_read _ _ _ written_shape shape_moved_heads) //.
case: step_in => _ /(_ i i_d) h_tau.
rewrite (total_one (k := head (step m c) i)) // => [|j j_tau j_h].
  by rewrite value_moved_heads // eqxx mulr1 value_written.
by rewrite value_moved_heads // (negbTE j_h) mulr0.
Qed.

Lemma value_symbols p :
  p \in units -> size p = n_tapes m ->
  value (symbols m tau at_ fixed units) (index p units) 0%N = (matches p (reads (step m c)))%:R.
Proof.
move=> p_in size_p; have k_lt : (index p units < size units)%N by rewrite index_mem.
rewrite -(@relu_agreement R p (reads (step m c)) (value (read_ahead m tau at_ fixed))); last first.
  by move=> i; rewrite size_p; apply: value_read_ahead.
rewrite -[LHS]/(relu (real R (nth zero (map threshold units) (index p units)) +
                      sparse (symbol_arcs m units) (value (read_ahead m tau at_ fixed)) (index p units))).
by rewrite (nth_map [::]) // sparse_symbol_arcs // nth_index // size_p.
Qed.

Lemma follows_here : follows here = next_state m c.
Proof.
rewrite /follows /next_state /action_of -/here; case: (what here) => [//|].
by apply/eqP; case/andP: (vertex_is_in ok q_in).
Qed.

Lemma value_successor v :
  (v < size (table m))%N ->
  value (successor m tau at_ fixed units) v 0%N = (v == vertex_of m (step m c))%:R.
Proof.
move=> v_lt; have [q'_in _] := step_in.
rewrite -(vertex_unique ok q'_in v_lt) /successor.
set n := size (table m) in v_lt *.
rewrite (@value_product _ _ _ _ (n, 1%N)) //.
have part e l (f : situation -> nat) : l = spread f (table m) ->
    value (Linear n l (nseq n zero) e) v 0%N = value e (f (situation_of m v)) 0%N.
  move=> ->; rewrite -[LHS]/(real R (nth zero (nseq n zero) v) + sparse _ (value e) v).
  by rewrite nth_nseq v_lt add0r (sparse_spread nowhere).
rewrite (part _ _ state) // (part _ _ (fun s => index (looks s) units)) //.
have := situation_ok ok v_lt; have := mem_nth nowhere v_lt; rewrite -/(situation_of m v).
set s := situation_of m v => s_in /and3P[/eqP size_p q_lt _].
rewrite /state_arcs value_from_vertices // follows_here value_symbols //; last exact: (allP units_ok _ s_in).
rewrite /is_in [state s == _]eq_sym -[now (step m c)]/(next_state m c).
by case: (next_state m c == state s); rewrite /= ?mul0r // mul1r.
Qed.

Lemma value_at_rest : value (at_rest m at_) 0%N 0%N = (halted m c)%:R.
Proof.
rewrite /at_rest value_from_vertices // /rests /halted /action_of -/here.
by case: (what here).
Qed.

End Value.
