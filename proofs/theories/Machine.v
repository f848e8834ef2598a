(** Turing machines in normal form: two symbols, several tapes, some of them read-only, heads that may stay.

    A machine is a table of situations. A situation is a state and the symbols under the heads of the tapes which that state
    looks at; the others may hold anything. It says what to do, or that the machine halts there. States that look at every
    tape give the paper's vertices, Q x {-1, 1}^d. *)

From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Inductive move := Left | Stay | Right.

Definition move_eqb (a b : move) : bool :=
  match a, b with Left, Left | Stay, Stay | Right, Right => true | _, _ => false end.

Lemma move_eqP : Equality.axiom move_eqb.
Proof. by do 2!case; constructor. Qed.

Definition move_eqMixin := EqMixin move_eqP.
Canonical move_eqType := Eval hnf in EqType move move_eqMixin.

(** What a machine does: the state that follows, the symbol for every tape ([None] keeps what is there), the moves. *)
Record action := Action { next : nat; writes : seq (option bool); moves : seq move }.

Definition action_parts (a : action) := (next a, writes a, moves a).
Definition action_from p : action := let: (n, w, m) := p in Action n w m.
Lemma action_partsK : cancel action_parts action_from. Proof. by case. Qed.
Definition action_eqMixin := CanEqMixin action_partsK.
Canonical action_eqType := Eval hnf in EqType action action_eqMixin.

(** A state, the symbols it sees ([None]: it does not look at this tape), and what to do; [None] where it halts. *)
Record situation := Situation { state : nat; looks : seq (option bool); what : option action }.

Definition situation_parts (s : situation) := (state s, looks s, what s).
Definition situation_from p : situation := let: (q, l, a) := p in Situation q l a.
Lemma situation_partsK : cancel situation_parts situation_from. Proof. by case. Qed.
Definition situation_eqMixin := CanEqMixin situation_partsK.
Canonical situation_eqType := Eval hnf in EqType situation situation_eqMixin.

(** Tapes are counted from 0; the first [n_writable] may be written, the others are read-only. *)
Record machine := Machine {
  n_states : nat;
  n_tapes : nat;
  n_writable : nat;
  table : seq situation
}.

(** Cells and heads are counted from the left end of the window; [true] is the symbol 1, [false] the blank -1. *)
Record configuration := Configuration {
  now : nat;
  cell : nat -> nat -> bool;
  head : nat -> nat
}.

(** Whether symbols are those that a pattern asks for. *)
Definition matches (pattern : seq (option bool)) (symbols : nat -> bool) : bool :=
  all (fun i => if nth None pattern i is Some b then symbols i == b else true) (iota 0 (size pattern)).

Section Step.

Variable m : machine.

Definition nowhere : situation := Situation 0 [::] None.

Definition situation_of (v : nat) : situation := nth nowhere (table m) v.

(** The symbols under the heads. *)
Definition reads (c : configuration) (i : nat) : bool := cell c i (head c i).

(** Whether a configuration is in a situation. *)
Definition is_in (c : configuration) (s : situation) : bool :=
  (state s == now c) && matches (looks s) (reads c).

(** The position in the table of the situation that a configuration is in: the vertex of the network. *)
Definition vertex_of (c : configuration) : nat := find (is_in c) (table m).

Definition action_of (c : configuration) : option action := what (situation_of (vertex_of c)).

Definition halted (c : configuration) : bool := ~~ action_of c.

(** The symbol that a tape's head leaves behind. *)
Definition written (c : configuration) (i : nat) : bool :=
  if action_of c is Some a then
    if nth None (writes a) i is Some b then b else reads c i
  else reads c i.

Definition move_of (c : configuration) (i : nat) : move :=
  if action_of c is Some a then nth Stay (moves a) i else Stay.

Definition moved (way : move) (h : nat) : nat :=
  match way with Left => h.-1 | Stay => h | Right => h.+1 end.

Definition next_state (c : configuration) : nat := if action_of c is Some a then next a else now c.

(** One step of the machine; where it halts, nothing changes. *)
Definition step (c : configuration) : configuration :=
  Configuration (next_state c)
    (fun i j => if j == head c i then written c i else cell c i j)
    (fun i => moved (move_of c i) (head c i)).

Fixpoint steps (k : nat) (c : configuration) : configuration := if k is k'.+1 then steps k' (step c) else c.

Lemma steps_last k c : steps k.+1 c = step (steps k c).
Proof. by elim: k c => //= k IH c; rewrite -IH. Qed.

(** The window has [tau] cells: the state is one of the machine's, and all heads are inside. *)
Definition inside (tau : nat) (c : configuration) : Prop :=
  (now c < n_states m)%N /\ (forall i, (i < n_tapes m)%N -> (head c i < tau)%N).

(** No head leaves the window in this step. *)
Definition stays_inside (tau : nat) (c : configuration) : Prop :=
  forall i, (i < n_tapes m)%N ->
    match move_of c i with Left => (0 < head c i)%N | Stay => true | Right => ((head c i).+1 < tau)%N end.

(** The same state, cells and heads, as far as the window shows them. *)
Definition same (tau : nat) (c c' : configuration) : Prop :=
  [/\ now c = now c',
      forall i j, (i < n_tapes m)%N -> (j < tau)%N -> cell c i j = cell c' i j
    & forall i, (i < n_tapes m)%N -> head c i = head c' i].

End Step.

(** ** Well-formed machines *)

(** The patterns that this symbol on the first tape leaves possible, without that tape. *)
Definition with_symbol (b : bool) (patterns : seq (seq (option bool))) : seq (seq (option bool)) :=
  [seq behead p | p <- patterns & if nth None p 0 is Some b' then b == b' else true].

(** Whether exactly one of these patterns, each of length [d], fits any symbols whatsoever. Patterns that do not look at
    the first tape go into both halves; where none looks at it, one half is enough. *)
Fixpoint partition (d : nat) (patterns : seq (seq (option bool))) : bool :=
  if d is d'.+1 then
    if all (fun p => ~~ nth None p 0) patterns then partition d' (map behead patterns)
    else partition d' (with_symbol true patterns) && partition d' (with_symbol false patterns)
  else size patterns == 1.

(** A read-only tape is kept, or written with the very symbol that was seen on it. *)
Definition keeps (p : option bool * option bool) : bool := if p.2 is Some b then p.1 == Some b else true.

Definition well_formed_situation (m : machine) (s : situation) : bool :=
  [&& size (looks s) == n_tapes m, (state s < n_states m)%N &
      if what s is Some a then
        [&& (next a < n_states m)%N, size (writes a) == n_tapes m, size (moves a) == n_tapes m &
            all keeps (drop (n_writable m) (zip (looks s) (writes a)))]
      else true].

(** In every state, exactly one situation fits any symbols under the heads. *)
Definition well_formed (m : machine) : bool :=
  [&& (0 < n_tapes m)%N, (n_writable m <= n_tapes m)%N, all (well_formed_situation m) (table m) &
      all (fun q => partition (n_tapes m) [seq looks s | s <- table m & state s == q]) (iota 0 (n_states m))].

Lemma matches_cons b p symbols :
  matches (b :: p) symbols =
  (if b is Some b' then symbols 0 == b' else true) && matches p (fun i => symbols i.+1).
Proof.
rewrite /matches /=; congr (_ && _).
by rewrite -[1]addn0 iotaDl all_map; apply: eq_all => i.
Qed.

Lemma partitionP d patterns symbols :
  all (fun p => size p == d) patterns -> partition d patterns ->
  count (fun p => matches p symbols) patterns = 1.
Proof.
elim: d patterns symbols => [|d IH] patterns symbols sizes /=.
  move=> /eqP <-; rewrite -count_predT; apply: eq_in_count => p /(allP sizes).
  by move/nilP=> ->.
have sizes' (l : seq _) : {subset l <= patterns} -> all (fun p => size p == d) (map behead l).
  move=> sub; rewrite all_map; apply/allP => p /sub /(allP sizes) /=.
  by case: p.
case: ifP => [blind /(IH _ (fun i => symbols i.+1)) <-|_ /andP[]].
- rewrite count_map; apply: eq_in_count => p p_in /=.
  move: (allP blind p p_in) (allP sizes p p_in).
  by case: p p_in => [|[b|] p] //= _ _ _; rewrite matches_cons.
- exact: sizes'.
have split b : symbols 0 == b ->
    partition d (with_symbol b patterns) -> count (fun p => matches p symbols) patterns = 1.
  move=> s_b /(IH _ (fun i => symbols i.+1)) <-; last first.
    by apply: sizes' => p; rewrite mem_filter => /andP[].
  rewrite /with_symbol count_map count_filter; apply: eq_in_count => p /(allP sizes) /=.
  case: p => [//|x p] _ /=; rewrite matches_cons andbC; congr (_ && _).
  by case: x => //= x; rewrite (eqP s_b).
move=> on_true on_false; case s0: (symbols 0).
  by apply: (split true) on_true; rewrite s0.
by apply: (split false) on_false; rewrite s0.
Qed.

(** Where only one entry of a list satisfies a test, two positions that do are the same. *)
Lemma only_one T (x0 : T) (p : pred T) (l : seq T) i j :
  count p l = 1 -> i < size l -> j < size l -> p (nth x0 l i) -> p (nth x0 l j) -> i = j.
Proof.
have found k (l' : seq T) : k < size l' -> p (nth x0 l' k) -> count p l' <> 0.
  by move=> k_lt p_k; apply/eqP; rewrite -lt0n -has_count; apply/(has_nthP x0); exists k.
elim: l i j => [|x l IH] [|i] [|j] //=; rewrite ?ltnS.
- move=> one _ j_lt p_x p_j; move: one; rewrite p_x add1n => -[none].
  by case: (found _ _ j_lt p_j).
- move=> one i_lt _ p_i p_x; move: one; rewrite p_x add1n => -[none].
  by case: (found _ _ i_lt p_i).
case: (p x) => /=; last by rewrite add0n => one i_lt j_lt p_i p_j; congr _.+1; exact: IH.
by rewrite add1n => -[none] i_lt _ p_i; case: (found _ _ i_lt p_i).
Qed.

Section WellFormed.

Variables (m : machine).
Hypothesis ok : well_formed m.

Lemma writable_le : (n_writable m <= n_tapes m)%N.
Proof. by case/and4P: ok. Qed.

Lemma tapes_gt0 : (0 < n_tapes m)%N.
Proof. by case/and4P: ok. Qed.

Lemma situation_ok v : (v < size (table m))%N -> well_formed_situation m (situation_of m v).
Proof. by move=> v_in; case/and4P: ok => _ _ /allP all_ok _; apply: all_ok; rewrite mem_nth. Qed.

Lemma one_situation c : (now c < n_states m)%N -> count (is_in c) (table m) = 1%N.
Proof.
move=> q_in; case/and4P: ok => _ _ sizes /allP /(_ (now c)).
rewrite mem_iota add0n q_in => /(_ isT) covers.
rewrite -(@partitionP _ _ (reads c) _ covers); last first.
  apply/allP => _ /mapP[s + ->]; rewrite mem_filter => /andP[_ /(allP sizes)].
  by case/and3P.
by rewrite count_map count_filter; apply: eq_count => s; rewrite /is_in /= andbC.
Qed.

Section At.

Variable c : configuration.
Hypothesis q_in : (now c < n_states m)%N.

Lemma vertex_lt : (vertex_of m c < size (table m))%N.
Proof. by rewrite /vertex_of -has_find has_count one_situation. Qed.

Lemma vertex_is_in : is_in c (situation_of m (vertex_of m c)).
Proof. by apply: nth_find; rewrite has_count one_situation. Qed.

(** No other situation fits. *)
Lemma vertex_unique v : (v < size (table m))%N -> is_in c (situation_of m v) = (v == vertex_of m c).
Proof.
move=> v_in; apply/idP/eqP => [fits|->]; last exact: vertex_is_in.
by apply: (only_one (one_situation q_in) v_in vertex_lt fits vertex_is_in).
Qed.

(** Read-only tapes are never written. *)
Lemma written_read_only i : (n_writable m <= i < n_tapes m)%N -> written m c i = reads c i.
Proof.
case/andP=> w_i i_d; rewrite /written /action_of.
have := situation_ok vertex_lt; case/andP: vertex_is_in => _.
case: (situation_of m _) => q p [a|] //= fits /and3P[/eqP size_p _].
case/and4P=> _ /eqP size_w _ /(all_nthP (None, None)) /(_ (i - n_writable m)).
rewrite size_drop size_zip size_p size_w minnn ltn_sub2r ?(leq_ltn_trans w_i) // => /(_ isT).
rewrite nth_drop subnKC // nth_zip ?size_p ?size_w // /keeps /=.
case: (nth None (writes a) i) => // b /eqP p_i.
move/allP: fits => /(_ i); rewrite mem_iota size_p i_d p_i => /(_ isT) /eqP ->.
by [].
Qed.

Lemma cell_read_only i j : (n_writable m <= i < n_tapes m)%N -> cell (step m c) i j = cell c i j.
Proof. by move=> i_ro; rewrite /=; case: eqP => // ->; rewrite written_read_only. Qed.

Lemma next_state_lt : (next_state m c < n_states m)%N.
Proof.
rewrite /next_state /action_of; have := situation_ok vertex_lt.
by case: (situation_of m _) => q p [a|] //= /and3P[_ _ /and4P[]].
Qed.

Lemma inside_step tau : inside m tau c -> stays_inside m tau c -> inside m tau (step m c).
Proof.
case=> _ heads stays; split; first exact: next_state_lt.
move=> i i_d /=; have := stays i i_d; have := heads i i_d.
by case: (move_of m c i) => //= h_lt _; apply: leq_ltn_trans (leq_pred _) h_lt.
Qed.

End At.
End WellFormed.

(** Where a machine halts, a step changes nothing. *)
Lemma step_halted m tau c : halted m c -> same m tau (step m c) c.
Proof.
rewrite /halted /step /next_state /written /move_of; case: (action_of m c) => //= _.
by split=> //= i j _ _; rewrite /reads; case: eqP => // ->.
Qed.

(** The situation depends only on the state and on the symbols under the heads. *)
Lemma vertex_of_ext m c c' :
  well_formed m -> now c = now c' -> (forall i, i < n_tapes m -> reads c i = reads c' i) ->
  vertex_of m c = vertex_of m c'.
Proof.
move=> ok q r; case/and4P: ok => _ _ sizes _; rewrite /vertex_of.
elim: (table m) sizes => [//|s t IH] /= /andP[/and3P[/eqP size_s _ _] sizes]; rewrite IH //.
suff -> : is_in c s = is_in c' s by [].
rewrite /is_in q; congr (_ && _); apply: eq_in_all => i.
by rewrite mem_iota add0n size_s => /r ->.
Qed.

Lemma vertex_of_same m tau c c' :
  well_formed m -> inside m tau c -> same m tau c c' -> vertex_of m c = vertex_of m c'.
Proof.
move=> ok [_ h] [q t h']; apply: vertex_of_ext => // i i_d.
by rewrite /reads -h' // t // h.
Qed.
