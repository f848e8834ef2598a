(** Affine forms over directions in which a network's memory and inputs may move, and what an MLP makes of them.

    [form_value delta f] is the value of [f] where direction [d] has moved by [delta d]; [slope_of f k] its slope along [k]. Where every
    unit that moves stays on its side of its kink, activations are such forms exactly, however far the directions move in their bounds. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** ** Numbers that stay short *)

Fixpoint doubled (m : Z) (n : nat) : Z := if n is n'.+1 then doubled (Z.double m) n' else m.

Definition plus (a b : number) : number :=
  Number (Z.add (doubled (mantissa a) (Nat.sub (halvings b) (halvings a))) (doubled (mantissa b) (Nat.sub (halvings a) (halvings b))))
         (Nat.max (halvings a) (halvings b)).

Fixpoint reduce_from (m : Z) (h : nat) : number :=
  match m, h with
  | Zpos (xO q), h'.+1 => reduce_from (Zpos q) h'
  | Zneg (xO q), h'.+1 => reduce_from (Zneg q) h'
  | Z0, _ => zero
  | _, _ => Number m h
  end.

Definition reduce (a : number) : number := reduce_from (mantissa a) (halvings a).
Definition size_of (a : number) : number := Number (Z.abs (mantissa a)) (halvings a).
Definition of_nat (n : nat) : number := whole (Z.of_nat n).
Definition nonzero (a : number) : bool := ~~ Z.eqb (mantissa a) 0.
Definition below (a b : number) : bool := positive (plus b (minus a)).
Definition not_above (a b : number) : bool := nonnegative (plus b (minus a)).
Definition sum_of (ns : seq number) : number := foldr plus zero ns.

Section Numbers.

Variable R : realFieldType.
Notation r := (@real R).

Let power_neq0 k : 2%:R ^+ k != 0 :> R.
Proof. by rewrite expf_neq0 // pnatr_eq0. Qed.

Let real_doubled m n : real_of_Z R (doubled m n) = real_of_Z R m * 2%:R ^+ n.
Proof.
elim: n m => [|n IH] m; first by rewrite expr0 mulr1.
by rewrite /= IH Z.double_spec real_of_ZM exprS mulrA [_ * 2%:R]mulrC.
Qed.

Lemma real_plus a b : r (plus a b) = r a + r b.
Proof.
have raised (z : R) m n : z * 2%:R ^+ (Nat.sub n m) / 2%:R ^+ (Nat.max m n) = z / 2%:R ^+ m.
  have -> : Nat.max m n = (n - m + m)%N by rewrite addnC -maxnE; case: ssrnat.leqP => [le|lt]; [apply: PeanoNat.Nat.max_r; exact/ssrnat.leP | apply: PeanoNat.Nat.max_l; exact/ssrnat.leP/ltnW].
  by rewrite exprD invfM mulrA mulfK.
rewrite !NumberOrder.realE /= real_of_ZD !real_doubled mulrDl raised; congr (_ + _).
by rewrite PeanoNat.Nat.max_comm raised.
Qed.

Lemma real_reduce a : r (reduce a) = r a.
Proof.
have half_pos q k : (Pos.to_nat q~0)%:R / 2%:R ^+ k.+1 = (Pos.to_nat q)%:R / 2%:R ^+ k :> R.
  have -> : Pos.to_nat q~0 = (2 * Pos.to_nat q)%N by rewrite Pos2Nat.inj_xO.
  by rewrite natrM exprS invfM mulrACA mulfV ?pnatr_eq0 // mul1r.
case: a => m h; rewrite /reduce /=; elim: h m => [|h IH] [|[q|q|]|[q|q|]] //=.
- by rewrite /real /= mul0r.
- by rewrite IH !NumberOrder.realE /= half_pos.
by rewrite IH !NumberOrder.realE /= !mulNr half_pos.
Qed.

Lemma real_size a : r (size_of a) = `|r a|.
Proof.
rewrite !NumberOrder.realE /= normrM normfV normrX normr_nat; congr (_ * _).
by case: (mantissa a) => [|q|q] /=; rewrite ?normr0 ?normrN ?normr_nat.
Qed.

Lemma real_of_nat n : r (of_nat n) = n%:R.
Proof. by case: n => [|n] //=; rewrite /real /= SuccNat2Pos.id_succ. Qed.

Lemma real_nonzero a : ~~ nonzero a -> r a = 0.
Proof. by rewrite negbK NumberOrder.realE => /Z.eqb_spec ->; rewrite mul0r. Qed.

Lemma real_below a b : below a b -> r a < r b.
Proof. by move/(real_positive R); rewrite real_plus real_minus subr_gt0. Qed.

Lemma real_not_above a b : not_above a b -> r a <= r b.
Proof. by move/(real_nonnegative R); rewrite real_plus real_minus subr_ge0. Qed.

Lemma real_sum ns : r (sum_of ns) = \sum_(n <- ns) r n.
Proof. by elim: ns => [|n ns IH]; rewrite ?big_nil ?big_cons //= real_plus IH. Qed.

End Numbers.

(** ** Forms *)

(** A center, and how it moves along some directions. *)
Record form := Form { center : number; moves : seq (nat * number) }.

Definition moved (d : nat) (a : number) (rest : seq (nat * number)) : seq (nat * number) :=
  if nonzero a then (d, a) :: rest else rest.

Fixpoint merge (xs : seq (nat * number)) : seq (nat * number) -> seq (nat * number) :=
  fix inner ys :=
    match xs, ys with
    | [::], _ => ys
    | _, [::] => xs
    | x :: xs', y :: ys' =>
        if Nat.eqb x.1 y.1 then moved x.1 (plus x.2 y.2) (merge xs' ys')
        else if Nat.ltb x.1 y.1 then x :: merge xs' ys else y :: inner ys'
    end.

Definition scaled (c : number) (ms : seq (nat * number)) : seq (nat * number) := [seq (m.1, mul c m.2) | m <- ms].

Definition tidy (f : form) : form := Form (reduce (center f)) [seq (m.1, reduce m.2) | m <- moves f].

Definition no_form : form := Form zero [::].

(** A unit's bias, and its weights with the units they come from. *)
Definition neuron : Type := number * seq (nat * number).

Definition weigh (fs : seq form) (u : neuron) : form :=
  tidy (foldr (fun e f => let g := nth no_form fs e.1 in
                 Form (plus (mul e.2 (center g)) (center f)) (merge (scaled e.2 (moves g)) (moves f)))
              (Form u.1 [::]) u.2).

(** How steep a form is in all its directions together; how far it may be from its center. *)
Definition steepness (f : form) : number := sum_of [seq size_of m.2 | m <- moves f].
Definition spread (bound : nat -> number) (f : form) : number := sum_of [seq reduce (mul (size_of m.2) (bound m.1)) | m <- moves f].
Definition slope_along (f : form) (k : nat) : number := sum_of [seq m.2 | m <- moves f & m.1 == k].

(** A form that moves stays further than [margin] from the kink. *)
Definition clear (bound : nat -> number) (margin : number) (f : form) : bool :=
  if moves f is [::] then true
  else let far := plus (spread bound f) margin in below far (center f) || below far (minus (center f)).

Definition rectified (f : form) : form := if positive (center f) then f else no_form.

Section Real.

Variable R : realFieldType.
Notation r := (@real R).

Definition along (w : nat -> R) (ms : seq (nat * number)) : R := \sum_(m <- ms) r m.2 * w m.1.
Definition form_value (delta : nat -> R) (f : form) : R := r (center f) + along delta (moves f).
Definition slope_of (f : form) (k : nat) : R := along (fun d => (d == k)%:R) (moves f).

Lemma along_moved w d a rest : along w (moved d a rest) = r a * w d + along w rest.
Proof.
rewrite /moved; case: ifP => [_|/negbT/(real_nonzero R) ->]; last by rewrite mul0r add0r.
by rewrite /along big_cons.
Qed.

Lemma along_merge w xs ys : along w (merge xs ys) = along w xs + along w ys.
Proof.
have cons m ms : along w (m :: ms) = r m.2 * w m.1 + along w ms by rewrite /along big_cons.
have nil : along w [::] = 0 by rewrite /along big_nil.
elim: xs ys => [|x xs IHx]; first by case=> [|y ys]; rewrite /= nil add0r.
elim=> [|y ys IHy]; first by rewrite /= nil addr0.
rewrite [merge _ _]/=; case: PeanoNat.Nat.eqb_spec => [same|_].
  by rewrite along_moved IHx real_plus !cons same; ring.
case: ifP => _; first by rewrite !cons IHx !cons; ring.
by rewrite !cons; move: IHy => /= ->; rewrite !cons; ring.
Qed.

Lemma along_scaled w c ms : along w (scaled c ms) = r c * along w ms.
Proof. by rewrite /along /scaled big_map mulr_sumr; apply: eq_bigr => m _; rewrite real_mul mulrA. Qed.

Lemma along_tidy w f : along w (moves (tidy f)) = along w (moves f).
Proof. by rewrite /along big_map; apply: eq_bigr => m _; rewrite real_reduce. Qed.

Lemma weigh_moves w fs u :
  along w (moves (weigh fs u)) = \sum_(e <- u.2) r e.2 * along w (moves (nth no_form fs e.1)).
Proof.
rewrite /weigh along_tidy; elim: u.2 => [|e es IH]; first by rewrite /along !big_nil.
by rewrite big_cons /= along_merge along_scaled IH.
Qed.

Lemma weigh_value delta fs u :
  form_value delta (weigh fs u) = r u.1 + \sum_(e <- u.2) r e.2 * form_value delta (nth no_form fs e.1).
Proof.
rewrite /form_value weigh_moves.
have -> : r (center (weigh fs u)) = r u.1 + \sum_(e <- u.2) r e.2 * r (center (nth no_form fs e.1)).
  rewrite /weigh /= real_reduce; elim: u.2 => [|e es IH]; first by rewrite big_nil addr0.
  by rewrite big_cons /= real_plus real_mul IH; ring.
by rewrite -addrA -big_split; congr (_ + _); apply: eq_bigr => e _; rewrite mulrDr.
Qed.

Lemma slope_alongE f k : r (slope_along f k) = slope_of f k.
Proof.
rewrite /slope_along real_sum big_map big_filter big_mkcond; apply: eq_bigr => m _.
by case: eqP => _; rewrite ?mulr1 ?mulr0.
Qed.

Lemma slope_of_le f k : `|slope_of f k| <= r (steepness f).
Proof.
rewrite /steepness real_sum big_map; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => m _.
by rewrite normrM real_size ler_pimulr //; case: eqP => _; rewrite ?normr1 ?normr0 ?ler01.
Qed.

Variables (bound : nat -> number) (delta : nat -> R).
Hypothesis near : forall d, `|delta d| <= r (bound d).

Lemma along_le f : `|along delta (moves f)| <= r (spread bound f).
Proof.
rewrite /spread real_sum big_map; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => m _.
by rewrite normrM real_reduce real_mul real_size ler_wpmul2l.
Qed.

Lemma form_le f : `|form_value delta f| <= r (plus (size_of (center f)) (spread bound f)).
Proof. by rewrite real_plus real_size; apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l along_le. Qed.

Lemma slope_nil f k : moves f = [::] -> slope_of f k = 0.
Proof. by rewrite /slope_of => ->; rewrite /along big_nil. Qed.

Lemma spread_ge0 f : 0 <= r (spread bound f).
Proof. exact: le_trans (normr_ge0 _) (along_le f). Qed.

Lemma positiveE a : positive a = (0 < r a).
Proof.
apply/idP/idP => [/(real_positive R) //|]; apply: contraLR; rewrite /positive -Z.leb_antisym -leNgt => neg.
rewrite -oppr_ge0 -real_minus; apply: real_nonnegative; move: neg; rewrite /nonnegative /=.
by move/Z.leb_le/Z.opp_nonneg_nonpos/Z.leb_le.
Qed.

(** A form that moves and is clear stays further than the margin from the kink, on the side of its center; *)
Lemma clear_moves margin f :
  clear bound margin f -> moves f <> [::] ->
  (r margin < form_value delta f /\ 0 <= r (center f) - r margin) \/ (r margin < - form_value delta f /\ 0 <= - r (center f) - r margin).
Proof.
have s_ge0 := spread_ge0 f; have := along_le f; rewrite ler_norml => /andP[low high].
have back (a b : R) : a = b + a + - b by ring.
move=> ok some; have {ok some} : below (plus (spread bound f) margin) (center f) ||
    below (plus (spread bound f) margin) (minus (center f)) by move: ok; rewrite /clear; case: (moves f) some.
case/orP=> /(real_below R); rewrite real_plus ?real_minus /form_value => far; [left|right]; split.
- by rewrite (back (r margin) (r (spread bound f))); apply: ltr_le_add.
- by rewrite subr_ge0; apply: le_trans (ltW far); rewrite ler_addr.
- by rewrite (back (r margin) (r (spread bound f))) opprD; apply: ltr_le_add; rewrite // ler_opp2.
by rewrite subr_ge0; apply: le_trans (ltW far); rewrite ler_addr.
Qed.

Lemma clear_side margin f : 0 <= r margin -> clear bound margin f -> (0 < form_value delta f) = positive (center f).
Proof.
move=> m_ge0 ok; rewrite positiveE; case: (boolP (nilp (moves f))) => [/nilP E|/nilP E].
  by rewrite /form_value E /along big_nil addr0.
case: (clear_moves ok E) => -[far c_far]; last first.
  have -> : (0 < form_value delta f) = false.
    by apply/negbTE; rewrite -leNgt -oppr_ge0; apply: le_trans m_ge0 (ltW far).
  by apply/esym/negbTE; rewrite -leNgt -oppr_ge0; apply: le_trans m_ge0 _; rewrite -subr_ge0.
rewrite (le_lt_trans m_ge0 far); apply/esym; move: ok; rewrite /clear; case: (moves f) E => // m ms _.
have s_ge0 := spread_ge0 f; case/orP=> /(real_below R); rewrite real_plus ?real_minus; first exact: le_lt_trans (addr_ge0 s_ge0 m_ge0).
move=> /(le_lt_trans (addr_ge0 s_ge0 m_ge0)); rewrite oppr_gt0 => c_lt0.
by move: c_far; rewrite subr_ge0 => /(le_trans m_ge0); rewrite leNgt c_lt0.
Qed.

Lemma clear_far margin f k : clear bound margin f -> slope_of f k != 0 -> r margin < `|form_value delta f|.
Proof.
move=> ok steep; have E : moves f <> [::] by move=> E; rewrite slope_nil ?eqxx in steep.
by rewrite ltr_normr; case: (clear_moves ok E) => -[-> _]; rewrite ?orbT.
Qed.

(** so its ReLU is itself, or nothing. *)
Lemma rectified_value margin f :
  0 <= r margin -> clear bound margin f -> form_value delta (rectified f) = relu (form_value delta f).
Proof.
move=> m_ge0 ok; have side := clear_side m_ge0 ok; rewrite /relu side /rectified; case: ifP => // _.
by rewrite /form_value /= /along big_nil addr0.
Qed.

Lemma rectified_slope f k : slope_of (rectified f) k = if positive (center f) then slope_of f k else 0.
Proof. by rewrite /rectified; case: ifP => // _; rewrite slope_nil. Qed.

End Real.
