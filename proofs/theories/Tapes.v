(** Tapes and heads as weights: what is read, what is written, where the heads go, what will be read next.

    These are the parts that crates/luge-landscape/src/tapes.rs builds, over any expressions for the vertex, the heads and
    the cells. At expressions worth exactly a configuration, they are worth exactly its successor's. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From Luge Require Import Number Expression Machine Encoding Terms Arcs.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Tapes.

Variables (m : machine) (tau : nat).

(** The vertex, the heads, the cells of all tapes, and the symbols under the heads. *)
Variables vertex heads cells read_now : expression.

(** A map from the vertices. *)
Definition from_vertices (rows : nat) (entries : seq entry) : expression :=
  Linear rows entries (nseq rows zero) vertex.

(** The symbols that are left behind: val x + (keep x) * read(T, H). *)
Definition write : expression :=
  let known := from_vertices (n_tapes m) (next_arcs m) in
  if keep_arcs m is [::] then known
  else weighted (one, known) [:: (one, Product (from_vertices (n_tapes m) (keep_arcs m)) read_now)].

Definition moving (w : move) : expression := from_vertices (n_tapes m) (moving_arcs m w).

(** The heads, all moved this way. *)
Definition shifted_heads (w : move) : expression :=
  match w with Left => Shift (-1) heads | Stay => heads | Right => Shift 1 heads end.

(** The heads that move this way, if the machine ever moves one so. *)
Definition moving_term (w : move) : seq (number * expression) :=
  if moving_arcs m w is [::] then [::] else [:: (one, Product (moving w) (shifted_heads w))].

(** The heads where they will be: [shift(x) H]_ij = sum_v x_v H_(i - delta_3(v)_j, j). *)
Definition moved_heads : expression :=
  if moving_term Left ++ moving_term Stay ++ moving_term Right is first :: rest then weighted first rest
  else heads.

(** The tapes after the write, T + H (write - read(T, H)). *)
Definition written_cells : expression :=
  let change := weighted (one, write) [:: (minus_one, read_now)] in
  weighted (one, cells) [:: (one, Product heads change)].

(** The symbols that will be read once this step is made. *)
Definition read_ahead : expression := read written_cells moved_heads.

End Tapes.

Section Shapes.

Variables (m : machine) (tau : nat) (vertex heads cells read_now : expression).
Hypotheses (heads_s : shape_of heads = (n_tapes m, tau)) (cells_s : shape_of cells = (n_tapes m, tau)).
Hypothesis read_s : shape_of read_now = (n_tapes m, 1%N).

Lemma shape_write : shape_of (write m vertex read_now) = (n_tapes m, 1%N).
Proof.
rewrite /write; case: (keep_arcs m) => [//|e l]; apply: shape_difference => //.
exact: shape_product read_s.
Qed.

Lemma shape_shifted_heads w : shape_of (shifted_heads heads w) = (n_tapes m, tau).
Proof. by case: w. Qed.

Lemma moving_term_shapes w :
  all (fun t => shape_of t.2 == (n_tapes m, tau)) (moving_term m vertex heads w).
Proof.
rewrite /moving_term; case: (moving_arcs m w) => [//|e l]; rewrite all_seq1; apply/eqP.
exact: (@shape_product_column (n_tapes m, tau) (moving m vertex w) _ erefl (shape_shifted_heads w)).
Qed.

Lemma shape_moved_heads : shape_of (moved_heads m vertex heads) = (n_tapes m, tau).
Proof.
rewrite /moved_heads.
have: all (fun t => shape_of t.2 == (n_tapes m, tau)) (moving_term m vertex heads Left ++
    moving_term m vertex heads Stay ++ moving_term m vertex heads Right).
  by rewrite !all_cat !moving_term_shapes.
case: (_ ++ _) => [//|first rest]; elim: rest first => [|t rest IH] first /=.
  by rewrite andbT => /eqP.
case/andP=> /eqP first_s rest_s; rewrite first_s IH //= ?joinednn //.
Qed.

Lemma shape_change :
  shape_of (weighted (one, write m vertex read_now) [:: (minus_one, read_now)]) = (n_tapes m, 1%N).
Proof. exact: shape_difference shape_write read_s. Qed.

Lemma shape_written_cells : shape_of (written_cells m vertex heads cells read_now) = (n_tapes m, tau).
Proof.
apply: shape_difference cells_s _; exact: shape_product_matrix heads_s shape_change.
Qed.

Lemma shape_read_ahead : shape_of (read_ahead m vertex heads cells read_now) = (n_tapes m, 1%N).
Proof. exact: (shape_read shape_written_cells shape_moved_heads). Qed.

End Shapes.

Section Value.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (vertex heads cells read_now : expression).
Hypotheses (heads_s : shape_of heads = (n_tapes m, tau)) (cells_s : shape_of cells = (n_tapes m, tau)).
Hypothesis read_s : shape_of read_now = (n_tapes m, 1%N).
Hypothesis ok : well_formed m.

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).

Variable c : configuration.
Hypothesis c_in : inside m tau c.

(** The expressions are worth the configuration. *)
Hypothesis vertex_v : forall v, (v < size (table m))%N -> value vertex v 0%N = (v == vertex_of m c)%:R.
Hypothesis heads_v : forall i j, (i < n_tapes m)%N -> (j < tau)%N -> value heads i j = (j == head c i)%:R.
Hypothesis cells_v : forall i j, (i < n_tapes m)%N -> (j < tau)%N -> value cells i j = sign R (cell c i j).
Hypothesis read_v : forall i, (i < n_tapes m)%N -> value read_now i 0%N = sign R (reads c i).

Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.
Let here := situation_of m (vertex_of m c).

(** A map from the vertices has the weights of the current vertex. *)
Lemma value_from_vertices n f i :
  (i < n)%N ->
  value (from_vertices vertex n (arcs n f (table m))) i 0%N = weight_or_zero R (f i here).
Proof.
move=> i_n; rewrite -[LHS]/(real R (nth zero (nseq n zero) i) + sparse _ (value vertex) i).
rewrite nth_nseq i_n add0r (sparse_arcs nowhere) // (total_one (k := vertex_of m c)) ?vertex_lt //.
  by rewrite vertex_v ?vertex_lt // eqxx mulr1.
by move=> v v_lt v_c; rewrite vertex_v // (negbTE v_c) mulr0.
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

Lemma value_write i : (i < n_tapes m)%N -> value (write m vertex read_now) i 0%N = sign R (written m c i).
Proof.
move=> i_d; rewrite leaves_here.
have known : value (from_vertices vertex (n_tapes m) (next_arcs m)) i 0%N =
    if leaves here i is Some b then sign R b else 0.
  by rewrite value_from_vertices //; case: (leaves here i) => //= b; rewrite real_sign_of.
have kept : value (from_vertices vertex (n_tapes m) (keep_arcs m)) i 0%N = (leaves here i == None)%:R.
  by rewrite value_from_vertices //; case: (leaves here i).
have none_kept : keep_arcs m = [::] -> leaves here i != None.
  move=> none; move: kept; rewrite none -[LHS]/(real R (nth zero (nseq (n_tapes m) zero) i) + 0).
  by rewrite nth_nseq i_d addr0; case: (leaves here i) => //= /esym /eqP; rewrite oner_eq0.
have product_s : shape_of (Product (from_vertices vertex (n_tapes m) (keep_arcs m)) read_now) = (n_tapes m, 1%N).
  exact: shape_product read_s.
rewrite /write; case keep_m: (keep_arcs m) => [|e l].
  by rewrite known; move: (none_kept keep_m); case: (leaves here i).
rewrite -keep_m (@value_sum _ _ _ _ (n_tapes m, 1%N)) // (@value_product _ _ _ _ (n_tapes m, 1%N)) //.
rewrite known kept read_v //.
by case: (leaves here i) => [b|] /=; rewrite ?mul0r ?addr0 ?add0r ?mul1r.
Qed.

Lemma value_moving w i : (i < n_tapes m)%N -> value (moving m vertex w) i 0%N = (move_of m c i == w)%:R.
Proof. by move=> i_d; rewrite value_from_vertices // -[move_of m c i]/(way here i); case: (way here i == w). Qed.

Lemma moving_none w i : (i < n_tapes m)%N -> moving_arcs m w = [::] -> move_of m c i != w.
Proof.
move=> i_d none; have := value_moving w i_d; rewrite /moving none.
rewrite -[value _ _ _]/(real R (nth zero (nseq (n_tapes m) zero) i) + 0) nth_nseq i_d addr0.
by case: (move_of m c i == w) => //= /esym /eqP; rewrite oner_eq0.
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
  value (shifted_heads heads (move_of m c i)) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; have := stays i_d; case: c_in => _ /(_ i i_d) h_tau.
rewrite -[head (step m c) i]/(moved (move_of m c i) (head c i)).
case: (move_of m c i) => [h_gt0||h_lt].
- rewrite -[LHS]/(if shifted (-1) (shape_of heads).2 j is Some k then value heads i k else 0).
  rewrite heads_s shifted_left; case: ifP => [j_lt|j_ge]; first rewrite heads_v //.
    by congr (nat_of_bool _)%:R; rewrite /moved; lia.
  by rewrite (_ : (j == _) = false) // /moved; lia.
- by rewrite heads_v.
rewrite -[LHS]/(if shifted 1 (shape_of heads).2 j is Some k then value heads i k else 0).
rewrite heads_s shifted_right //; case: j j_tau => [//|k] k_tau.
by rewrite heads_v //; lia.
Qed.

Lemma value_moving_term w i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (moving_term m vertex heads w) =
  (move_of m c i == w)%:R * value (shifted_heads heads w) i j.
Proof.
move=> i_d j_tau; rewrite /moving_term; case arcs_w: (moving_arcs m w) => [|e l].
  by rewrite (negbTE (moving_none i_d arcs_w)) mul0r.
rewrite -[LHS]/(real R one * value (Product (moving m vertex w) (shifted_heads heads w)) i j + 0).
rewrite (@value_product_column _ _ _ _ (n_tapes m, tau)) ?(shape_shifted_heads heads_s) //.
by rewrite value_moving // mul1r addr0.
Qed.

Lemma value_moved_heads i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value (moved_heads m vertex heads) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; rewrite /moved_heads.
set terms := moving_term m vertex heads Left ++ _.
have sums : foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 terms = (j == head (step m c) i)%:R.
  have cat l l' : foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 (l ++ l') =
      foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 l +
      foldr (fun t sum => real R t.1 * value t.2 i j + sum) 0 l'.
    by elim: l => [|t l IH] /=; rewrite ?add0r // IH addrA.
  rewrite /terms !cat !value_moving_term // -value_shifted_heads //.
  by case: (move_of m c i); rewrite !mul0r ?mul1r ?add0r ?addr0.
have shapes : all (fun t => shape_of t.2 == (n_tapes m, tau)) terms.
  by rewrite /terms !all_cat !(moving_term_shapes _ heads_s).
have some : ~~ nilp terms.
  have: ~~ nilp (moving_term m vertex heads (move_of m c i)).
    rewrite /moving_term; case arcs_w: (moving_arcs m _) => [|//].
    by have := moving_none i_d arcs_w; rewrite eqxx.
  rewrite /terms /nilp !size_cat -!lt0n !addn_gt0.
  by case: (move_of m c i) => ->; rewrite ?orbT.
move: sums shapes some; case: terms => [//|first rest] sums shapes _.
have [_ value_w] := @value_weighted R arith weights fed (n_tapes m, tau) first rest i j i_d j_tau shapes.
by rewrite value_w.
Qed.

Lemma value_written_cells i j :
  (i < n_tapes m)%N -> (j < tau)%N ->
  value (written_cells m vertex heads cells read_now) i j = sign R (cell (step m c) i j).
Proof.
move=> i_d j_tau; have change_s := shape_change vertex read_s.
rewrite (@value_sum _ _ _ _ (n_tapes m, tau)) //; [|exact: shape_product_matrix heads_s change_s].
rewrite (@value_product_matrix _ _ _ _ (n_tapes m, tau)) //.
rewrite (@value_difference _ _ _ _ (n_tapes m, 1%N)) //; [|exact: shape_write].
rewrite cells_v // heads_v // value_write // read_v //=.
case: eqP => [->|_]; last by rewrite mul0r addr0.
by rewrite mul1r addrC subrK.
Qed.

Lemma value_read_ahead i :
  (i < n_tapes m)%N ->
  value (read_ahead m vertex heads cells read_now) i 0%N = sign R (reads (step m c) i).
Proof.
move=> i_d.
rewrite (value_read _ _ _ (shape_written_cells vertex heads_s cells_s read_s) (shape_moved_heads _ heads_s)) //.
case: (inside_step ok q_in c_in stays) => _ /(_ i i_d) h_tau.
rewrite (total_one (k := head (step m c) i)) // => [|j j_tau j_h].
  by rewrite value_moved_heads // eqxx mulr1 value_written_cells.
by rewrite value_moved_heads // (negbTE j_h) mulr0.
Qed.

End Value.
