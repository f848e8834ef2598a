(** The signals of a circuit's network are the circuit's wires, in every state of the memory and on every input.

    Wherever symbols are worth what they stand for ([Given]), an and, a sum of exclusive bits and a parity of forms that are bits, up to their
    slack, are bits again ([stands]), and the facts that they rest on are sound. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp Forms MlpPass Circuit MlpLogic.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Linear inequalities, by the combination of hypotheses that shows them. *)
Lemma farkas (R : realFieldType) (e a b : R) : 0 <= e -> b - a = e -> a <= b.
Proof. by move=> e_ge0 E; rewrite -subr_ge0 E. Qed.

Lemma farkas_lt (R : realFieldType) (e a b : R) : 0 < e -> b - a = e -> a < b.
Proof. by move=> e_gt0 E; rewrite -subr_gt0 E. Qed.

Ltac nonnegative :=
  repeat first [assumption | exact: ler0n | exact: ler01 | by rewrite subr_ge0 | apply: addr_ge0 | rewrite invr_ge0 | apply: mulr_ge0].
Ltac by_combination e := apply: (farkas (e := e)); [by nonnegative | by field].

Section Bits.

Variable R : realFieldType.
Notation bit := (fun b : bool => b%:R : R).

Lemma relu_pos (a : R) : 0 <= a -> relu a = a.
Proof. by rewrite /relu le_eqVlt => /orP[/eqP <-|->] //; rewrite ltxx. Qed.

Lemma relu_neg (a : R) : a <= 0 -> relu a = 0.
Proof. by rewrite /relu ltNge => ->. Qed.

Lemma relu_le (a : R) : `|relu a| <= `|a|.
Proof. by rewrite /relu; case: ltrP => _ //; rewrite normr0. Qed.

(** An and of n bits of which m are 1. *)
Lemma relu_all (m n : nat) : (m <= n)%N -> relu (1 - 2%:R * n%:R + 2%:R * m%:R) = bit (m == n).
Proof.
rewrite leq_eqVlt => /orP[/eqP ->|lt]; first by rewrite eqxx subrK relu_pos ?ler01.
have le : m%:R + 1 <= n%:R :> R by rewrite -mulrSr ler_nat.
rewrite ltn_eqF //= relu_neg //; by_combination (2%:R * (n%:R - (m%:R + 1)) + 1 : R).
Qed.

(** Two hinges of a parity. *)
Lemma relu_step (m k : nat) :
  relu (3%:R / 2%:R - 2%:R * k%:R + 2%:R * m%:R) - relu (1 / 2%:R - 2%:R * k%:R + 2%:R * m%:R) = bit (k <= m)%N :> R.
Proof.
case: leqP => [le|lt].
  have {}le : k%:R <= m%:R :> R by rewrite ler_nat.
  rewrite !relu_pos /=; first by field.
    by_combination (2%:R * (m%:R - k%:R) + 1 / 2%:R : R).
  by_combination (2%:R * (m%:R - k%:R) + 3%:R / 2%:R : R).
have {}lt : m%:R + 1 <= k%:R :> R by rewrite -mulrSr ler_nat.
rewrite !relu_neg ?subrr //.
  by_combination (2%:R * (k%:R - (m%:R + 1)) + 3%:R / 2%:R : R).
by_combination (2%:R * (k%:R - (m%:R + 1)) + 1 / 2%:R : R).
Qed.

End Bits.

Section Signals.

Variables (R : realFieldType) (c : circuit) (constants : logic_constants) (rows : index).
Notation r := (@real R).
Notation bit := (fun b : bool => b%:R : R).
Variables (margin largest : number) (val : N -> R) (tan : nat -> N -> R).
Notation value := (form_value val).
Notation speed := (speed tan).
Notation sound := (sound (n_memory c) margin largest val tan).

Hypothesis rows_right : forall f g, look rows f = Some g ->
  [/\ value g = relu (value f), forall k, speed k f = 0 & forall k, speed k g = 0].
Hypothesis large : (4 * most_operands + 4)%:R <= r largest.

Definition eighth : R := 1 / 8%:R.

Lemma speed_mix k b ts : speed k (mix b ts) = \sum_(t <- ts) r t.1 * speed k t.2.
Proof. exact: mix_moves. Qed.

(** Facts about forms that do not change with the memory. *)
Lemma still_sound f g :
  value g = relu (value f) -> (forall k, speed k f = 0) -> (forall k, speed k g = 0) -> `|value g| <= r largest -> sound (f, g).
Proof.
move=> value_g still_f still_g small; split=> //= [k _|k _|]; rewrite ?still_f ?still_g ?eqxx ?if_same //.
by split=> // k _; rewrite still_g normr0.
Qed.

(** ** What a signal stands for *)

(** A bit, and the bit that it would be without the input in front. *)
Definition stands (s : signal) (b b0 : bool) : Prop :=
  [/\ `|value (reading s) - bit b| <= r (slack s), forall k, speed k (reading s) = 0, ~~ ahead s -> b = b0
    & r (slack s) <= eighth -> forall e, List.In e (grounds s) -> sound e].

Fixpoint stand_all (ss : seq signal) (bs b0s : seq bool) : Prop :=
  match ss, bs, b0s with
  | [::], [::], [::] => True
  | s :: ss', b :: bs', b0 :: b0s' => stands s b b0 /\ stand_all ss' bs' b0s'
  | _, _, _ => False
  end.

Lemma real_slack ss : r (slack_of ss) = \sum_(s <- ss) r (slack s).
Proof. by rewrite /slack_of real_sum big_map. Qed.

Lemma stands_size s b b0 : stands s b b0 -> `|value (reading s)| <= 1 + r (slack s).
Proof.
case=> near _ _ _; rewrite -[value _](subrK (bit b)) addrC; apply: le_trans (ler_norm_add _ _) (ler_add _ near).
by case: b {near}; rewrite ?normr1 ?normr0 ?ler01.
Qed.

Lemma stand_allP ss bs b0s :
  stand_all ss bs b0s ->
  [/\ `|\sum_(s <- ss) value (reading s) - (count id bs)%:R| <= r (slack_of ss),
      forall k (a : R), \sum_(s <- ss) a * speed k (reading s) = 0, ~~ has ahead ss -> bs = b0s, size bs = size ss & size b0s = size ss].
Proof.
rewrite real_slack; elim: ss bs b0s => [|s ss IH] [|b bs] [|b0 b0s] //=.
  by rewrite !big_nil subrr normr0; split=> // k a; rewrite big_nil.
case=> -[near still same _] /IH[near' still' same' -> ->]; split=> //.
- rewrite !big_cons natrD opprD addrACA; apply: le_trans (ler_norm_add _ _) (ler_add _ near').
  by case: b near {same}.
- by move=> k a; rewrite big_cons still mulr0 still' addr0.
by rewrite negb_or => /andP[/same -> /same' ->].
Qed.

Let real_whole z : r (whole z) = real_of_Z R z.
Proof. by rewrite NumberOrder.realE /= expr0 divr1. Qed.

Let real_of_ZN z : real_of_Z R (Z.opp z) = - real_of_Z R z.
Proof. by case: z => [|q|q] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma negated_stands s b b0 : stands s b b0 -> stands (negated s) (~~ b) (~~ b0).
Proof.
case=> near still same _; split=> //= [|k|/same ->] //; last by rewrite speed_mix big_seq1 still mulr0.
rewrite mix_value big_seq1 real_one (_ : r minus_one = -1) ?mulN1r; last by rewrite real_whole.
have -> : 1 - value (reading s) - bit (~~ b) = - (value (reading s) - bit b) by case: (b); rewrite /=; ring.
by rewrite normrN.
Qed.

Let real_two : r two = 2%:R. Proof. by rewrite real_whole. Qed.

Let real_nat n : real_of_Z R (Z.of_nat n) = n%:R.
Proof. by rewrite -real_whole; exact: real_of_nat. Qed.

Let sum_twice (T : Type) (ss : seq T) (F : T -> form) :
  \sum_(t <- [seq (two, F s) | s <- ss]) r t.1 * value t.2 = 2%:R * \sum_(s <- ss) value (F s).
Proof. by rewrite big_map mulr_sumr; apply: eq_bigr => s _; rewrite real_two. Qed.

Let count_le (bs : seq bool) : (count id bs <= size bs)%N. Proof. exact: count_size. Qed.

Lemma slack_ge0 ss bs b0s : stand_all ss bs b0s -> 0 <= r (slack_of ss).
Proof. by case/stand_allP=> near _ _ _ _; apply: le_trans near. Qed.

Lemma passed_sound s b b0 : stands s b b0 -> r (slack s) <= eighth -> sound (passed (reading s)).
Proof.
case=> near still _ _ small; have value_g : value (mix one [:: (one, reading s)]) = 1 + value (reading s).
  by rewrite mix_value big_seq1 real_one mul1r.
have {}near := le_trans near small; rewrite ler_norml in near; have {near} /andP[low high] := near.
have b_ge0 : 0 <= bit b by exact: ler0n.
have b_le1 : bit b <= 1 by case: (b); rewrite ?ler01.
have over : 0 <= 1 + value (reading s).
  move: low; rewrite /eighth => low; by_combination ((value (reading s) - bit b - - (1 / 8%:R)) + bit b + 7%:R / 8%:R : R).
have flat k : speed k (mix one [:: (one, reading s)]) = 0 by rewrite speed_mix big_seq1 still mulr0.
apply: still_sound => //=; first by rewrite value_g relu_pos.
rewrite value_g ger0_norm //; apply: le_trans large; rewrite natrD natrM; move: high; rewrite /eighth => high.
by_combination ((1 / 8%:R - (value (reading s) - bit b)) + (1 - bit b) + 4%:R * most_operands%:R + 15%:R / 8%:R : R).
Qed.

Lemma all_of_stands ss bs b0s s : stand_all ss bs b0s -> all_of rows ss = Some s -> stands s (all id bs) (all id b0s).
Proof.
move=> hold; have [near still same size_bs size_b0s] := stand_allP hold.
rewrite /all_of; set f := mix _ _; case E: look => [g|//] [<-]; have [value_g still_f still_g] := rows_right E.
have value_f : value f = 1 - 2%:R * (size ss)%:R + 2%:R * \sum_(s <- ss) value (reading s).
  by rewrite mix_value sum_twice real_whole /Z.sub real_of_ZD real_of_ZN real_of_ZM real_nat.
have close : `|value g - bit (all id bs)| <= r (mul two (slack_of ss)).
  have -> : bit (all id bs) = relu (1 - 2%:R * (size ss)%:R + 2%:R * (count id bs)%:R).
    by rewrite -size_bs relu_all ?count_le // all_count.
  rewrite value_g value_f real_mul real_two; apply: le_trans (relu_distance _ _) _.
  rewrite opprD addrACA subrr add0r -mulrBr normrM (ger0_norm (ler0n _ 2)); exact: ler_wpmul2l.
split=> //= [|slack_le e [<-|//]]; first by move/same ->.
apply: still_sound => //; apply: le_trans (_ : 1 + eighth <= _); last first.
  apply: le_trans large; rewrite /eighth natrD natrM; by_combination (4%:R * most_operands%:R + 23%:R / 8%:R : R).
rewrite -[value g](subrK (bit (all id bs))) addrC; apply: le_trans (ler_norm_add _ _) (ler_add _ (le_trans close slack_le)).
by case: (all _ _); rewrite ?normr1 ?normr0 ?ler01.
Qed.

Lemma any_of_stands ss bs b0s :
  stand_all ss bs b0s -> (count id bs <= 1)%N -> stands (any_of ss) (has id bs) (has id b0s).
Proof.
move=> hold one; have [near still same size_bs size_b0s] := stand_allP hold.
split=> //= [|k|/same -> //]; last by rewrite speed_mix big_map; exact: still.
rewrite mix_value big_map add0r; under eq_bigr do rewrite real_one mul1r.
by move: near; rewrite has_count; case: count one => [|[|]].
Qed.

Lemma odd_of_stands ss bs b0s s :
  stand_all ss bs b0s -> odd_of rows ss = Some s -> stands s (odd (count id bs)) (odd (count id b0s)).
Proof.
move=> hold; have [near still same size_bs size_b0s] := stand_allP hold; have slack0 := slack_ge0 hold.
rewrite /odd_of; case: leqP => // most; case E: all_some => [hs|//] [<-].
pose total := \sum_(s <- ss) value (reading s).
have hinge_value low k : value (hinge ss low k) = (if low then 1 else 3%:R) / 2%:R - 2%:R * k%:R + 2%:R * total.
  rewrite mix_value sum_twice NumberOrder.realE /mantissa /halvings expr1 /Z.sub real_of_ZD real_of_ZN real_of_ZM real_nat.
  rewrite -/total (_ : real_of_Z R (Zpos 4) = 4%:R) //.
  by case: low; [rewrite (_ : real_of_Z R (Zpos 1) = 1) | rewrite (_ : real_of_Z R (Zpos 3) = 3%:R)] => //; field.
have [size_hs each] := all_someP ((no_form, no_form), (no_form, no_form)) E; rewrite size_map size_iota in size_hs each.
have right i : (i < size ss)%N -> let h := nth ((no_form, no_form), (no_form, no_form)) hs i in
  [/\ h.1.1 = hinge ss false i.+1, h.2.1 = hinge ss true i.+1, look rows h.1.1 = Some h.1.2 & look rows h.2.1 = Some h.2.2].
  move=> i_lt; have := each i i_lt; rewrite (nth_map 0%N) ?size_iota // nth_iota // add1n /hinges.
  by case H: look => [high|//]; case L: look => [low|//] [<-] /=.
have one_close (h : fact * fact) i : (i < size ss)%N -> h = nth ((no_form, no_form), (no_form, no_form)) hs i ->
  [/\ `|value h.1.2 - value h.2.2 - bit (i < count id bs)%N| <= 4%:R * r (slack_of ss), forall k, speed k h.1.2 = 0, forall k, speed k h.2.2 = 0
    & r (mul (of_nat (4 * size ss)) (slack_of ss)) <= eighth -> sound h.1 /\ sound h.2].
  move=> i_lt E_h; have := right i i_lt; rewrite -E_h => -[f1 f2 l1 l2].
  have [v1 s1 t1] := rows_right l1; have [v2 s2 t2] := rows_right l2.
  split=> // [|small].
    rewrite v1 v2 f1 f2 !hinge_value -(relu_step R (count id bs) i.+1).
    have le2 low : `|relu ((if low then 1 else 3%:R) / 2%:R - 2%:R * i.+1%:R + 2%:R * total) -
        relu ((if low then 1 else 3%:R) / 2%:R - 2%:R * i.+1%:R + 2%:R * (count id bs)%:R)| <= 2%:R * r (slack_of ss) :> R.
      apply: le_trans (relu_distance _ _) _; rewrite opprD addrACA subrr add0r -mulrBr normrM (ger0_norm (ler0n _ 2)).
      exact: ler_wpmul2l.
    move: (le2 false) (le2 true) => /=; set a := relu _; set b := relu _; set a' := relu _; set b' := relu _ => ha hb.
    rewrite (_ : a - a' - (b - b') = (a - b) - (a' - b')); last by ring.
    apply: le_trans (ler_norm_sub _ _) (le_trans (ler_add ha hb) _); by_combination (0 : R).
  have within low : `|value (hinge ss low i.+1)| <= r largest.
    have total_le : `|total| <= (size ss)%:R + r (slack_of ss).
      rewrite -[total](subrK (count id bs)%:R) addrC; apply: le_trans (ler_norm_add _ _) (ler_add _ near).
      by rewrite normr_nat ler_nat -size_bs count_le.
    have slack_small : r (slack_of ss) <= eighth.
      apply: le_trans small; rewrite real_mul real_of_nat ler_pemull // ler1n muln_gt0 /=.
      exact: leq_ltn_trans i_lt.
    have most' : (size ss)%:R <= most_operands%:R :> R by rewrite ler_nat.
    have i_le : i.+1%:R <= (size ss)%:R :> R by rewrite ler_nat.
    apply: le_trans large; rewrite hinge_value; apply: le_trans (ler_norm_add _ _) _.
    rewrite normrM (ger0_norm (ler0n _ 2)).
    have first_le : `|(if low then 1 else 3%:R) / 2%:R - 2%:R * i.+1%:R : R| <= 2%:R * (size ss)%:R + 3%:R / 2%:R.
      apply: le_trans (ler_norm_sub _ _) _; rewrite !ger0_norm; try by case: (low); nonnegative.
      by case: (low); [by_combination (1 + 2%:R * ((size ss)%:R - i.+1%:R) : R) | by_combination (2%:R * ((size ss)%:R - i.+1%:R) : R)].
    apply: le_trans (ler_add first_le (ler_wpmul2l (ler0n _ 2) (le_trans total_le (ler_add (lexx _) slack_small)))) _.
    rewrite natrD natrM /eighth; by_combination (4%:R * (most_operands%:R - (size ss)%:R) + 9%:R / 4%:R : R).
  split; apply: still_sound => //; rewrite ?v1 ?v2; apply: le_trans (relu_le _) _; rewrite ?f1 ?f2; exact: within.
have flat : forall k plus, \sum_(t <- alternating plus hs) r t.1 * speed k t.2 = 0.
  move=> k; have : forall i, (i < size hs)%N -> speed k (nth ((no_form, no_form), (no_form, no_form)) hs i).1.2 = 0 /\
      speed k (nth ((no_form, no_form), (no_form, no_form)) hs i).2.2 = 0.
    by move=> i i_lt; have [_ t1 t2 _] := one_close _ i (eq_ind _ (fun n => (i < n)%N) i_lt _ size_hs) erefl.
  elim: hs {E size_hs each right one_close} => [|h hs IH] zero_hs plus; first by rewrite big_nil.
  rewrite [alternating _ _]/= !big_cons; have [-> ->] := zero_hs 0%N isT; rewrite !mulr0 !add0r.
  by apply: IH => i i_lt; exact: (zero_hs i.+1).
have close : `|\sum_(t <- alternating true hs) r t.1 * value t.2 - bit (odd (count id bs))| <= (size ss)%:R * (4%:R * r (slack_of ss)).
  have sum_of_bits : forall n m plus (hs : seq (fact * fact)) , size hs = n ->
    (forall i, (i < n)%N -> let h := nth ((no_form, no_form), (no_form, no_form)) hs i in
       `|value h.1.2 - value h.2.2 - bit (m + i < count id bs)%N| <= 4%:R * r (slack_of ss)) ->
    `|\sum_(t <- alternating plus hs) r t.1 * value t.2 -
      (if plus then 1 else -1) * bit (odd (minn n (count id bs - m)))| <= n%:R * (4%:R * r (slack_of ss)).
    elim=> [|n IH] m plus [|h hs'] //= size_hs' close_hs.
      by rewrite big_nil min0n mulr0 subrr normr0 mul0r.
    have := IH m.+1 (~~ plus) hs' (succn_inj size_hs') (fun i => _); rewrite !big_cons.
    have -> : odd (minn n.+1 (count id bs - m)) = (m < count id bs)%N (+) odd (minn n (count id bs - m.+1)) && (m < count id bs)%N.
      rewrite subnS; case: ltnP => [lt|ge]; last by move: ge; rewrite -subn_eq0 => /eqP ->; rewrite minn0.
      by move: lt; rewrite -subn_gt0; case: (count id bs - m)%N => // q _; rewrite minnSS /= andbT.
    move=> /(_ _)/=; have tail_close i : (i < n)%N -> let h := nth ((no_form, no_form), (no_form, no_form)) hs' i in
       `|value h.1.2 - value h.2.2 - bit (m.+1 + i < count id bs)%N| <= 4%:R * r (slack_of ss).
      by move=> i_lt; have := close_hs i.+1 i_lt; rewrite /= addSnnS.
    move=> /(_ tail_close) rest; have := close_hs 0%N isT; rewrite /= addn0 => first.
    have minus1 : r minus_one = -1 by rewrite real_whole.
    move: rest first; rewrite -[n.+1]add1n natrD mulrDl mul1r.
    set tail := \sum_(t <- _) _; set a := value _; set b := value _; set q := odd _ => rest first.
    have zero_tail : ~~ (m < count id bs)%N -> q = false.
      by rewrite -leqNgt /q subnS => ge; move: ge; rewrite -subn_eq0 => /eqP ->; rewrite minn0.
    apply: le_trans (ler_add first rest).
    have -> : (if plus then 1 else -1 : R) * bit ((m < count id bs)%N (+) q && (m < count id bs)%N) =
        (if plus then 1 else -1) * (bit (m < count id bs)%N - bit q).
      by congr (_ * _); case: (m < _)%N zero_tail => zero_tail; rewrite ?(zero_tail isT) /= ?andbT ?subr0 //; case: (q); rewrite ?subr0 ?subrr.
    clear rest first; clearbody tail; case: plus => /=; rewrite ?real_one ?minus1.
      by rewrite (_ : 1 * a + _ - _ = (a - b - bit (m < count id bs)%N) + (tail - -1 * bit q)); [exact: ler_norm_add | ring].
    rewrite (_ : -1 * a + _ - _ = - (a - b - bit (m < count id bs)%N) + (tail - 1 * bit q)); last by ring.
    by rewrite -[`|a - b - _|]normrN; exact: ler_norm_add.
  have := sum_of_bits (size ss) 0%N true hs size_hs _; rewrite subn0 mul1r (minn_idPr _); last by rewrite -size_bs count_le.
  apply=> i i_lt /=; rewrite add0n; by have [] := one_close _ i i_lt erefl.
split=> /=.
- by rewrite mix_value add0r real_mul real_of_nat natrM -mulrA [4%:R * _]mulrCA; apply: le_trans close _; rewrite mulrCA.
- by move=> k; rewrite speed_mix.
- by move/same ->.
move=> small e; rewrite -[hs](mkseq_nth ((no_form, no_form), (no_form, no_form))) size_hs /mkseq.
have every i : (i \in iota 0 (size ss))%N -> (i < size ss)%N by rewrite mem_iota.
elim: (iota _ _) every => //= i rest IH every.
have [_ _ _ /(_ small)[first second]] := one_close _ i (every i (mem_head _ _)) erefl.
by case=> [<-|[<-|]] //; apply: IH => j j_in; apply: every; rewrite inE j_in orbT.
Qed.

(** ** The circuit's wires *)

Variables (st : state) (query : seq bool).

Definition is_positive (k : nat) : bool := Z.eqb (content c st k) (Zpos 1).
Definition is_negative (k : nat) : bool := Z.eqb (content c st k) (Zneg 1).

Hypothesis positive_right : forall k, (k < n_memory c)%N -> val (positive_copy c k) = bit (is_positive k).
Hypothesis negative_right : forall k, (k < n_memory c)%N -> val (negative_copy c k) = bit (is_negative k).
Hypothesis copies_still : forall k' k, (k < n_memory c)%N -> tan k' (positive_copy c k) = 0 /\ tan k' (negative_copy c k) = 0.
Hypothesis inputs_right : forall i, (i < n_inputs c)%N ->
  `|r (input_gain constants) * val (input_symbol c i) - 3%:R - (2%:R * bit (nth false query i) - 1)| <= r (query_slack constants).

Lemma positive_stands k : (k < n_memory c)%N -> stands (copy_signal (positive_copy c k)) (is_positive k) (is_positive k).
Proof.
move=> k_lt; split=> //= [|k']; first by rewrite symbol_value positive_right // subrr normr0.
by rewrite /MlpPass.speed symbol_moves; case: (copies_still k' k_lt).
Qed.

Lemma negative_stands k : (k < n_memory c)%N -> stands (copy_signal (negative_copy c k)) (is_negative k) (is_negative k).
Proof.
move=> k_lt; split=> //= [|k']; first by rewrite symbol_value negative_right // subrr normr0.
by rewrite /MlpPass.speed symbol_moves; case: (copies_still k' k_lt).
Qed.

Lemma query_stands i s : (i < n_inputs c)%N -> query_signal c constants rows i = Some s -> stands s (nth false query i) false.
Proof.
move=> i_lt; rewrite /query_signal; set f := mix _ _; case E: look => [g|//] [<-]; have [value_g still_f still_g] := rows_right E.
have close : `|value g - bit (nth false query i)| <= r (query_slack constants).
  have -> : bit (nth false query i) = relu (2%:R * bit (nth false query i) - 1).
    case: nth; last by rewrite mulr0 sub0r relu_neg // oppr_le0 ler01.
    by rewrite (_ : 2%:R * true%:R - 1 = 1) ?relu_pos ?ler01 //= mulr1 (natrD _ 1 1) addrK.
  rewrite value_g; apply: le_trans (relu_distance _ _) _; rewrite mix_value big_seq1 symbol_value real_whole.
  by rewrite [real_of_Z R _ + _]addrC; exact: inputs_right.
split=> //= slack_le e [<-|//]; apply: still_sound => //; apply: le_trans (_ : 1 + eighth <= _); last first.
  apply: le_trans large; rewrite /eighth natrD natrM; by_combination (4%:R * most_operands%:R + 23%:R / 8%:R : R).
rewrite -[value g](subrK (bit (nth false query i))) addrC; apply: le_trans (ler_norm_add _ _) (ler_add _ (le_trans close slack_le)).
by case: nth; rewrite ?normr1 ?normr0 ?ler01.
Qed.

Definition wires_stand (ss : seq (option signal)) (vs v0s : seq bool) : Prop :=
  [/\ size vs = size ss, size v0s = size ss & forall i s, nth None ss i = Some s -> stands s (nth false vs i) (nth false v0s i)].

Section Gate.

Variables (ss : seq (option signal)) (vs v0s : seq bool).
Hypothesis hold : wires_stand ss vs v0s.

Lemma literal_stands a s : literal_signal ss a = Some s -> stands s (literal_value vs a) (literal_value v0s a).
Proof.
rewrite /literal_signal /literal_value; case E: nth => [t|//] [<-]; case: hold => _ _ /(_ _ _ E) right.
by case: a.2; rewrite ?addbT ?addbF //; exact: negated_stands.
Qed.

Lemma operands_stand operands ts :
  all_some [seq literal_signal ss a | a <- operands] = Some ts ->
  stand_all ts [seq literal_value vs a | a <- operands] [seq literal_value v0s a | a <- operands].
Proof.
elim: operands ts => [|a operands IH] /= ts; first by case=> <-.
case E: literal_signal => [t|//]; case F: all_some => [ts'|//] [<-]; split; [exact: literal_stands | exact: IH].
Qed.

Lemma parity_count (values : seq bool) operands :
  foldr (fun a odd => literal_value values a (+) odd) false operands = odd (count id [seq literal_value values a | a <- operands]).
Proof. by elim: operands => //= a operands ->; rewrite oddD; case: literal_value. Qed.

Lemma gate_stands g s :
  gate_signal c constants rows ss g = Some s ->
  (if g is AnyOf operands then (count (literal_value vs) operands <= 1)%N else true) ->
  stands s (gate_value st query vs g) (gate_value st [::] v0s g).
Proof.
case: g => [|k|i||i|operands|operands|operands] /=.
- case=> <- _; split=> //= [|k]; first by rewrite constant_value subrr normr0.
  exact: constant_moves.
- case: ltnP => // k_lt [<-] _; have k_mem : (k < n_memory c)%N by exact: leq_trans k_lt (leq_addr _ _).
  by have := positive_stands k_mem; rewrite /is_positive /content k_lt; case: nth.
- case: ifP => // /andP[takes i_lt]; case F: feature_signals => [ts|//] [<-] _.
  have mem j : (j <= n_features c)%N -> (n_registers c + j < n_memory c)%N.
    by move=> j_le; rewrite /n_memory takes ltn_add2l ltnS.
  have later j : (n_registers c + j < n_registers c)%N = false by rewrite ltnNge leq_addr.
  move: F; rewrite /feature_signals /=; case P: all_of => [p|//]; case Q: all_of => [q|//] [<-].
  pose X b := if st.2 is Some s then (nth false s.1 i == s.2) == b else false.
  pose Y b := if st.2 is Some s then s.2 == b else false.
  have slot_is : (content c st (n_registers c + i) = if st.2 is Some s then sign_of (nth false s.1 i == s.2) else Z0) /\
      (content c st (n_registers c + n_features c) = if st.2 is Some s then sign_of s.2 else Z0).
    by rewrite /content !later !addKn /slot eqxx; case: (st.2) => [[bits y]|] //=; rewrite (ltn_eqF i_lt).
  have two_p : stands p (X true && Y true) (X true && Y true).
    have := all_of_stands (bs := [:: X true; Y true]) (b0s := [:: X true; Y true]) _ P; rewrite /= andbT; apply.
    have := (positive_stands (mem i (ltnW i_lt)), positive_stands (mem _ (leqnn _))).
    rewrite /is_positive slot_is.1 slot_is.2 /X /Y; case: (st.2) => [[bits y]|] /=; last by case.
    by case: (_ == _); case: (y) => -[].
  have two_q : stands q (X false && Y false) (X false && Y false).
    have := all_of_stands (bs := [:: X false; Y false]) (b0s := [:: X false; Y false]) _ Q; rewrite /= andbT; apply.
    have := (negative_stands (mem i (ltnW i_lt)), negative_stands (mem _ (leqnn _))).
    rewrite /is_negative slot_is.1 slot_is.2 /X /Y; case: (st.2) => [[bits y]|] /=; last by case.
    by case: (_ == _); case: (y) => -[].
  have bits_are : has id [:: X true && Y true; X false && Y false] = (if st.2 is Some s then nth false s.1 i else false).
    by rewrite /X /Y; case: (st.2) => [[bits y]|] //=; case: nth; case: y.
  have pair : stand_all [:: p; q] [:: X true && Y true; X false && Y false] [:: X true && Y true; X false && Y false] by [].
  have := any_of_stands pair; rewrite bits_are => /(_ _)[]; first by rewrite /X /Y; case: (st.2) => [[bits y]|] //=; case: nth; case: y.
  move=> near still same _; split=> // small e in_e.
  have [near_p still_p _ grounds_p] := two_p; have [near_q still_q _ grounds_q] := two_q.
  have slacks : r (slack p) + r (slack q) <= eighth by move: small; rewrite /any_of /= real_slack !big_cons big_nil addr0.
  have p0 : 0 <= r (slack p) by exact: le_trans near_p.
  have q0 : 0 <= r (slack q) by exact: le_trans near_q.
  have small_p : r (slack p) <= eighth by apply: le_trans slacks; rewrite ler_addl.
  have small_q : r (slack q) <= eighth by apply: le_trans slacks; rewrite ler_addr.
  move: in_e; rewrite [grounds _]/= cats0 => -[<-|in_e]; first exact: passed_sound two_p small_p.
  case: (in_either in_e) => [in_p|[<-|in_q]]; first exact: grounds_p small_p e in_p.
    exact: passed_sound two_q small_q.
  exact: grounds_q small_q e in_q.
- case: ifP => // takes [<-] _; have k_mem : (n_registers c + n_features c < n_memory c)%N by rewrite /n_memory takes ltn_add2l.
  have := positive_stands k_mem; rewrite /is_positive /content ltnNge leq_addr addKn /slot.
  by case: (st.2) => [[bits y]|] //=; rewrite eqxx; case: y.
- case: ifP => // /andP[takes i_lt] Q _; have i_in : (i < n_inputs c)%N by rewrite /n_inputs takes.
  by rewrite nth_nil; exact: query_stands i_in Q.
- case E: all_some => [ts|//] A _; have := all_of_stands (operands_stand E) A.
  by rewrite !all_map; exact.
- case E: all_some => [ts|//] [<-] one; have := any_of_stands (operands_stand E).
  by rewrite count_map !has_map; apply.
case E: all_some => [ts|//] O _; rewrite !parity_count; exact: odd_of_stands (operands_stand E) O.
Qed.

End Gate.

Theorem signals_stand : exclusive c st query -> wires_stand (signals c constants rows) (wires c st query) (wires c st [::]).
Proof.
have from gs : forall ss vs v0s, wires_stand ss vs v0s -> exclusive_from st query vs gs ->
    wires_stand (foldl (fun ss g => rcons ss (gate_signal c constants rows ss g)) ss gs)
      (foldl (fun values g => rcons values (gate_value st query values g)) vs gs)
      (foldl (fun values g => rcons values (gate_value st [::] values g)) v0s gs).
  elim: gs => [|g gs IH] // ss vs v0s hold /= /andP[one rest]; apply: IH rest.
  have [size_vs size_v0s right] := hold; split; rewrite ?size_rcons ?size_vs ?size_v0s // => i s.
  rewrite !nth_rcons size_vs size_v0s; case: ltngtP => [_|_ //|_]; first exact: right.
  by move=> E; exact: (gate_stands hold E one).
by apply: from; split=> // i s; rewrite nth_nil.
Qed.

End Signals.
