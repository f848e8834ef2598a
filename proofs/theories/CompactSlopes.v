(** Where the landscape `compact` slopes down most: towards the vertex that follows, and nowhere else as much.

    This file is about numbers only. [slope] is the derivative of the loss by one vertex's weight, as CompactTangent.v finds
    it; here it is compared between vertices. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Machine Encoding Terms Arcs.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Every two situations of a state look at the same tapes, S(q). *)
Definition looks_by_state (m : machine) : bool :=
  all (fun s => all (fun s' => (state s == state s') ==> (map isSome (looks s) == map isSome (looks s'))) (table m))
      (table m).

(** Every state looks at every tape: the paper's vertices, Q x {-1, 1}^d. *)
Definition looks_at_all (m : machine) : bool := all (fun s => all isSome (looks s)) (table m).

Lemma looks_at_all_by_state m : well_formed m -> looks_at_all m -> looks_by_state m.
Proof.
case/and4P=> _ _ /allP sizes _ /allP all_seen; apply/allP => s s_in; apply/allP => s' s'_in; apply/implyP => _.
have seen s0 : s0 \in table m -> map isSome (looks s0) = nseq (n_tapes m) true.
  move=> s0_in; case/and3P: (sizes _ s0_in) => /eqP <- _ _; rewrite -(size_map isSome); apply/all_pred1P.
  by rewrite all_map; apply: sub_all (all_seen _ s0_in) => -[].
by rewrite !seen.
Qed.

(** A situation that may be followed by one of its own state, so perhaps by itself. *)
Definition loops (s : situation) : bool := if what s is Some a then next a == state s else false.

Section Slopes.

Variable R : realFieldType.

(** b, g, and the number of tapes, d. *)
Variables (b g : R) (d : nat).

(** A symbol as a number; 0 for a tape that is not looked at. *)
Definition seen (o : option bool) : R := if o is Some s then sign R s else 0.

(** Whether both vertices look at a tape and see the same symbol there. *)
Definition alike (t t' : option bool) : bool := isSome t && (t == t').

(** omega_vw: -(b^3 + b #(symbols that stay the same)) g along an edge, else 0. *)
Definition edge_weight (s s' : situation) : R :=
  - (b ^+ 3 + b * total d (fun j => (alike (nth None (looks s) j) (nth None (looks s') j))%:R)) * g.

Definition edge (s s' : situation) : R :=
  if what s is Some a then if next a == state s' then edge_weight s s' else 0 else 0.

(** The derivative at vertex [v] by the weight of vertex [w], where the symbols [r] will be read next. *)
Definition slope (m : machine) (v w : nat) (r : nat -> bool) : R :=
  let (s, s') := (situation_of m v, situation_of m w) in
  4%:R * edge s s' + (if rests s && (w == v) then - (4%:R * b ^+ 3 * g) else 0)
  - 4%:R * b ^+ 2 * g * total d (fun j => (sign R (r j) - seen (nth None (looks s) j)) * seen (nth None (looks s') j)).

(** What one tape adds to the descent towards a vertex of the next state. *)
Definition pull (t t' : option bool) (r : bool) : R :=
  b * (alike t t')%:R + b ^+ 2 * ((sign R r - seen t) * seen t').

(** How much better the symbol that will be read is than the other one. *)
Lemma pull_gain t r :
  pull t (Some r) r - pull t (Some (~~ r)) r =
  if t is Some s then if s == r then b else b * (4%:R * b - 1) else 2%:R * b ^+ 2.
Proof. by rewrite /pull; case: t => [[]|]; case: r => /=; ring. Qed.

Lemma pull_none t r : pull t None r = 0.
Proof. by rewrite /pull /alike; case: t => [s|] /=; ring. Qed.

Lemma pull_some t r :
  pull t (Some r) r = if t is Some s then if s == r then b else 2%:R * b ^+ 2 else b ^+ 2.
Proof. by rewrite /pull; case: t => [[]|]; case: r => /=; ring. Qed.

Lemma seen_bound (t t' : option bool) (r : bool) : (sign R r - seen t) * seen t' <= 2%:R.
Proof.
rewrite -subr_ge0.
have -> : 2%:R - (sign R r - seen t) * seen t' =
    (if t' is Some s' then
       if t is Some s then if s == r then 2%:R else if s' == r then 0 else 4%:R
       else if s' == r then 1 else 3%:R
     else 2%:R) :> R.
  by case: t => [[]|]; case: t' => [[]|]; case: r => /=; ring.
by case: t' => [s'|]; case: t => [s|]; do ?case: ifP => _; rewrite ?ler0n ?ler01.
Qed.

Lemma seen_square (t : option bool) (r : bool) : 0 <= (sign R r - seen t) ^+ 2 <= 4%:R.
Proof.
rewrite sqr_ge0 -subr_ge0 /=.
have -> : 4%:R - (sign R r - seen t) ^+ 2 = if t is Some s then if s == r then 4%:R else 0 else 3%:R :> R.
  by case: t => [[]|]; case: r => /=; ring.
by case: t => [s|]; do ?case: ifP => _; rewrite ?ler0n.
Qed.

(** ** The conditions on b and g *)

Hypotheses (d_gt0 : (0 < d)%N) (g_gt0 : 0 < g).
Hypothesis b_large : 8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3.

Lemma base_large : 8%:R * d%:R < b.
Proof.
rewrite ltNge; apply/negP => small; have := b_large; rewrite ltNge => /negP; apply.
have step1 : b ^+ 3 <= 8%:R * b ^+ 2 * d%:R.
  rewrite -subr_ge0; have -> : 8%:R * b ^+ 2 * d%:R - b ^+ 3 = b ^+ 2 * (8%:R * d%:R - b) by ring.
  by rewrite mulr_ge0 ?sqr_ge0 ?subr_ge0.
by apply: le_trans step1 _; rewrite ler_addl mulr_ge0 ?ler0n.
Qed.

Lemma base_gt1 : 1 < b.
Proof.
apply: le_lt_trans base_large; rewrite -natrM ler1n muln_gt0 d_gt0 //.
Qed.

Lemma base_gt0 : 0 < b.
Proof. exact: lt_trans ltr01 base_gt1. Qed.

Let b2_gt0 : 0 < b ^+ 2. Proof. by rewrite exprn_gt0 // base_gt0. Qed.

Lemma gain_gt0 t r : 0 < pull t (Some r) r - pull t (Some (~~ r)) r.
Proof.
rewrite pull_gain; case: t => [s|]; last by rewrite mulr_gt0 ?ltr0n.
case: ifP => _; first exact: base_gt0.
rewrite mulr_gt0 ?base_gt0 // subr_gt0; apply: lt_le_trans base_gt1 _.
by rewrite ler_pmull ?base_gt0 // ler1n.
Qed.

Lemma pull_ge0 t r : 0 <= pull t (Some r) r.
Proof.
rewrite pull_some; case: t => [s|]; last exact: ltW.
by case: ifP => _; rewrite ?(ltW base_gt0) // mulr_ge0 ?ler0n ?ltW.
Qed.

(** ** A running machine *)

(** Whether a symbol, if any, is the one that will be read. *)
Definition fits (t : option bool) (r : bool) : bool := if t is Some s then r == s else true.

Lemma matchesE p r : matches p r = all (fun j => fits (nth None p j) (r j)) (iota 0 (size p)).
Proof. by []. Qed.

Section Running.

Variables (s : situation) (a : action) (r : nat -> bool).
Hypothesis s_a : what s = Some a.

Let t j := nth None (looks s) j.

(** The slope towards a vertex of the next state. *)
Lemma slope_inside m v w :
  situation_of m v = s -> state (situation_of m w) = next a ->
  slope m v w r = - (4%:R * g * (b ^+ 3 + total d (fun j => pull (t j) (nth None (looks (situation_of m w)) j) (r j)))).
Proof.
move=> v_s w_q; rewrite /slope v_s /edge /rests s_a /= w_q eqxx /edge_weight /pull.
rewrite (@total_add _ _ (fun j => b * (alike (t j) (nth None (looks (situation_of m w)) j))%:R)).
by rewrite !total_mull /t; ring.
Qed.

(** The slope towards any other vertex. *)
Lemma slope_outside m v w :
  situation_of m v = s -> state (situation_of m w) != next a -> - (8%:R * b ^+ 2 * d%:R * g) <= slope m v w r.
Proof.
move=> v_s w_q; rewrite /slope v_s /edge /rests s_a /= [next a == _]eq_sym (negbTE w_q) mulr0 !add0r.
rewrite ler_opp2.
have -> : 8%:R * b ^+ 2 * d%:R * g = 4%:R * b ^+ 2 * g * total d (fun=> 2%:R) by rewrite total_const; ring.
rewrite ler_pmul2l; first by apply: total_le => j _; apply: seen_bound.
by rewrite mulr_gt0 // mulr_gt0 // ltr0n.
Qed.

End Running.

Variables (m : machine) (r : nat -> bool).
Hypotheses (ok : well_formed m) (d_m : d = n_tapes m) (by_state : looks_by_state m).

Lemma size_looks v : (v < size (table m))%N -> size (looks (situation_of m v)) = d.
Proof. by move=> /(situation_ok ok) /and3P[/eqP -> _ _]; rewrite d_m. Qed.

Lemma looks_alike v w j :
  (v < size (table m))%N -> (w < size (table m))%N -> (j < d)%N ->
  state (situation_of m v) = state (situation_of m w) ->
  isSome (nth None (looks (situation_of m v)) j) = isSome (nth None (looks (situation_of m w)) j).
Proof.
move=> v_lt w_lt j_d same_q.
have /allP/(_ _ (mem_nth nowhere v_lt))/allP/(_ _ (mem_nth nowhere w_lt)) := by_state.
rewrite -!/(situation_of m _) same_q eqxx => /eqP alike.
have size_v := size_looks v_lt; have size_w := size_looks w_lt.
by rewrite -(nth_map None false) ?size_v // alike (nth_map None) // size_w.
Qed.

(** The vertex [w'] is the one that follows [v] when [r] is read next: strictly below every other one. *)
Theorem slope_least v a w' w :
  what (situation_of m v) = Some a ->
  (w < size (table m))%N -> (w' < size (table m))%N ->
  state (situation_of m w') = next a -> matches (looks (situation_of m w')) r ->
  ~~ ((state (situation_of m w) == next a) && matches (looks (situation_of m w)) r) ->
  slope m v w' r < slope m v w r.
Proof.
move=> v_a w_lt w'_lt w'_q w'_fits other.
rewrite (@slope_inside _ a r v_a m v w' erefl w'_q).
have w'_at j : (j < d)%N -> fits (nth None (looks (situation_of m w')) j) (r j).
  move=> j_d; move: w'_fits; rewrite matchesE => /allP/(_ j).
  by rewrite mem_iota size_looks // => /(_ j_d).
case: (eqVneq (state (situation_of m w)) (next a)) other => [w_q other|w_q _]; last first.
  apply: lt_le_trans (@slope_outside _ a r v_a m v w erefl w_q).
  rewrite ltr_opp2.
  have -> : 8%:R * b ^+ 2 * d%:R * g = 4%:R * g * (2%:R * b ^+ 2 * d%:R) by ring.
  rewrite ltr_pmul2l ?mulr_gt0 ?ltr0n //; apply: lt_le_trans (_ : b ^+ 3 <= _).
    rewrite -subr_gt0; have -> : b ^+ 3 - 2%:R * b ^+ 2 * d%:R = b ^+ 2 * (b - 2%:R * d%:R) by ring.
    rewrite mulr_gt0 // subr_gt0; apply: le_lt_trans base_large.
    by rewrite ler_wpmul2r ?ler0n ?ler_nat.
  rewrite ler_addl; apply: total_ge0 => j j_d; have := w'_at j j_d.
  by case: (nth None (looks (situation_of m w')) j) => [s /eqP ->|_]; rewrite ?pull_ge0 ?pull_none.
rewrite (@slope_inside _ a r v_a m v w erefl w_q) ltr_opp2 ltr_pmul2l ?mulr_gt0 ?ltr0n // ltr_add2l.
have /allPn [i] := other; rewrite mem_iota size_looks //= add0n => i_d w_bad.
have alike j : (j < d)%N -> isSome (nth None (looks (situation_of m w')) j) =
    isSome (nth None (looks (situation_of m w)) j) by move=> j_d; apply: looks_alike => //; rewrite w'_q.
have le j : (j < d)%N -> pull (nth None (looks (situation_of m v)) j) (nth None (looks (situation_of m w)) j) (r j) <=
    pull (nth None (looks (situation_of m v)) j) (nth None (looks (situation_of m w')) j) (r j).
  move=> j_d; have := w'_at j j_d; have := alike j j_d.
  case: (nth None _ j) => [s'|]; case: (nth None _ j) => [s''|] //= _ /eqP <-.
  by case: (eqVneq s'' (r j)) => [-> //|/negPf s''_r]; rewrite -subr_ge0
       (_ : s'' = ~~ r j) ?(ltW (gain_gt0 _ _)) //; move: s''_r; case: s''; case: (r j).
rewrite !totalE (bigD1 (Ordinal i_d)) //= [X in _ < X](bigD1 (Ordinal i_d)) //=.
apply: ltr_le_add; last by apply: ler_sum => j _; apply: le.
have := w'_at i i_d; have := alike i i_d; move: w_bad; rewrite /fits.
case: (nth None _ i) => [s''|] //=; case: (nth None _ i) => [s'|] //= bad _ /eqP <-.
by rewrite -subr_gt0 (_ : s'' = ~~ r i) ?gain_gt0 //; move: bad; case: s''; case: (r i).
Qed.

(** At a halting vertex that sees what is read, the vertex itself is strictly below every other one. *)
Theorem slope_halted v w :
  what (situation_of m v) = None -> (v < size (table m))%N -> matches (looks (situation_of m v)) r -> w != v ->
  slope m v v r = - (4%:R * b ^+ 3 * g) /\ slope m v v r < slope m v w r.
Proof.
move=> v_halts v_lt v_fits w_v.
have here : slope m v v r = - (4%:R * b ^+ 3 * g).
  rewrite /slope /edge /rests v_halts eqxx /= mulr0 add0r total_zero ?mulr0 ?subr0 // => j j_d.
  have /allP/(_ j) : matches (looks (situation_of m v)) r by [].
  rewrite mem_iota size_looks // => /(_ j_d).
  by case: (nth None _ j) => [s /eqP ->|_] /=; rewrite ?subrr ?mul0r ?mulr0.
split=> //; rewrite here /slope /edge /rests v_halts (negbTE w_v) /= mulr0 !add0r ltr_opp2.
have step1 : total d (fun j => (sign R (r j) - seen (nth None (looks (situation_of m v)) j)) *
    seen (nth None (looks (situation_of m w)) j)) <= total d (fun=> 2%:R).
  by apply: total_le => j _; apply: seen_bound.
apply: le_lt_trans (_ : 4%:R * b ^+ 2 * g * total d (fun=> 2%:R) < _).
  by rewrite ler_pmul2l // mulr_gt0 // mulr_gt0 // ltr0n.
rewrite total_const -subr_gt0.
have -> : 4%:R * b ^+ 3 * g - 4%:R * b ^+ 2 * g * (d%:R * 2%:R) = 4%:R * b ^+ 2 * g * (b - 2%:R * d%:R) by ring.
rewrite mulr_gt0 //; first by rewrite mulr_gt0 // mulr_gt0 // ltr0n.
rewrite subr_gt0; apply: le_lt_trans base_large; by rewrite ler_wpmul2r ?ler0n ?ler_nat.
Qed.

End Slopes.
