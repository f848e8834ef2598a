(** Affine forms over symbols, in numbers that stay short, and an index that finds what is known of a form.

    [form_value val f] is the value of [f] where symbol [i] is [val i]; [along w (moves f)] how fast it changes where symbols change at
    the speeds [w]. Forms are kept sorted and in lowest terms, so that equal forms are equal lists. *)

From Coq Require Import ZArith FMapPositive.
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

(** A constant, and the weights of some symbols. *)
Record form := Form { center : number; moves : seq (N * number) }.

Definition moved (d : N) (a : number) (rest : seq (N * number)) : seq (N * number) :=
  if nonzero a then (d, a) :: rest else rest.

Fixpoint merge (xs : seq (N * number)) : seq (N * number) -> seq (N * number) :=
  fix inner ys :=
    match xs, ys with
    | [::], _ => ys
    | _, [::] => xs
    | x :: xs', y :: ys' =>
        if N.eqb x.1 y.1 then moved x.1 (plus x.2 y.2) (merge xs' ys')
        else if N.ltb x.1 y.1 then x :: merge xs' ys else y :: inner ys'
    end.

Definition scaled (c : number) (ms : seq (N * number)) : seq (N * number) := [seq (m.1, mul c m.2) | m <- ms].

Definition tidy (f : form) : form := Form (reduce (center f)) [seq (m.1, reduce m.2) | m <- moves f].

Definition constant (a : number) : form := Form a [::].
Definition symbol (i : N) : form := Form zero [:: (i, one)].
Definition no_form : form := constant zero.

(** A constant and weighted forms, added up. *)
Definition mix (b : number) (ts : seq (number * form)) : form :=
  tidy (foldr (fun t f => Form (plus (mul t.1 (center t.2)) (center f)) (merge (scaled t.1 (moves t.2)) (moves f))) (constant b) ts).

(** A unit's bias, and its weights with the units they come from. *)
Definition neuron : Type := number * seq (nat * number).

Definition weigh (fs : seq form) (u : neuron) : form := mix u.1 [seq (e.2, nth no_form fs e.1) | e <- u.2].

Section Real.

Variable R : realFieldType.
Notation r := (@real R).

Definition along (w : N -> R) (ms : seq (N * number)) : R := \sum_(m <- ms) r m.2 * w m.1.
Definition form_value (val : N -> R) (f : form) : R := r (center f) + along val (moves f).

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
rewrite [merge _ _]/=; case: N.eqb_spec => [same|_].
  by rewrite along_moved IHx real_plus !cons same; ring.
case: ifP => _; first by rewrite !cons IHx !cons; ring.
by rewrite !cons; move: IHy => /= ->; rewrite !cons; ring.
Qed.

Lemma along_scaled w c ms : along w (scaled c ms) = r c * along w ms.
Proof. by rewrite /along /scaled big_map mulr_sumr; apply: eq_bigr => m _; rewrite real_mul mulrA. Qed.

Lemma along_tidy w f : along w (moves (tidy f)) = along w (moves f).
Proof. by rewrite /along big_map; apply: eq_bigr => m _; rewrite real_reduce. Qed.

Lemma mix_moves w b ts : along w (moves (mix b ts)) = \sum_(t <- ts) r t.1 * along w (moves t.2).
Proof.
rewrite /mix along_tidy; elim: ts => [|t ts IH]; first by rewrite /along !big_nil.
by rewrite big_cons /= along_merge along_scaled IH.
Qed.

Lemma mix_value val b ts : form_value val (mix b ts) = r b + \sum_(t <- ts) r t.1 * form_value val t.2.
Proof.
rewrite /form_value mix_moves.
have -> : r (center (mix b ts)) = r b + \sum_(t <- ts) r t.1 * r (center t.2).
  rewrite /mix /= real_reduce; elim: ts => [|t ts IH]; first by rewrite big_nil addr0.
  by rewrite big_cons /= real_plus real_mul IH; ring.
by rewrite -addrA -big_split; congr (_ + _); apply: eq_bigr => t _; rewrite mulrDr.
Qed.

Lemma weigh_moves w fs u : along w (moves (weigh fs u)) = \sum_(e <- u.2) r e.2 * along w (moves (nth no_form fs e.1)).
Proof. by rewrite mix_moves big_map. Qed.

Lemma weigh_value val fs u :
  form_value val (weigh fs u) = r u.1 + \sum_(e <- u.2) r e.2 * form_value val (nth no_form fs e.1).
Proof. by rewrite mix_value big_map. Qed.

Lemma symbol_value val i : form_value val (symbol i) = val i.
Proof. by rewrite /form_value /along big_seq1 real_one mul1r /= add0r. Qed.

Lemma symbol_moves w i : along w (moves (symbol i)) = w i.
Proof. by rewrite /along big_seq1 real_one mul1r. Qed.

Lemma constant_value val a : form_value val (constant a) = r a.
Proof. by rewrite /form_value /along big_nil addr0. Qed.

Lemma constant_moves w a : along w (moves (constant a)) = 0.
Proof. by rewrite /along big_nil. Qed.

End Real.

(** ** What is known of forms *)

Fixpoint same_moves (xs ys : seq (N * number)) : bool :=
  match xs, ys with
  | [::], [::] => true
  | x :: xs', y :: ys' => if N.eqb x.1 y.1 then if number_eqb x.2 y.2 then same_moves xs' ys' else false else false
  | _, _ => false
  end.

Definition same_form (f g : form) : bool := if number_eqb (center f) (center g) then same_moves (moves f) (moves g) else false.

Lemma same_formP f g : same_form f g -> f = g.
Proof.
case: f g => a xs [b ys]; rewrite /same_form /=; case: ifP => // /number_eqP -> same; congr Form.
elim: xs ys same => [|[i x] xs IH] [|[j y] ys] //=; case: N.eqb_spec => // ->; case: ifP => // /number_eqP ->.
by move=> /IH ->.
Qed.

(** A form, and what its ReLU is. *)
Definition fact : Type := form * form.
Definition index : Type := PositiveMap.t (seq fact).

Definition hash (f : form) : BinNums.positive :=
  let mixed := foldl (fun h m => Z.modulo (Z.add (Z.mul h 1000003) (Z.add (Z.mul (Z.of_N m.1) 8191) (mantissa m.2))) 1073741789)%Z
                     (Z.add (mantissa (center f)) (Z.of_nat (halvings (center f)))) (moves f) in
  Z.to_pos (Z.add (Z.modulo mixed 1048573) 1)%Z.

Definition enter (m : index) (e : fact) : index :=
  let h := hash e.1 in PositiveMap.add h (e :: odflt [::] (PositiveMap.find h m)) m.

Definition index_of (es : seq fact) : index := foldl enter (PositiveMap.empty _) es.

Fixpoint look_in (b : seq fact) (f : form) : option form :=
  if b is e :: b' then if same_form f e.1 then Some e.2 else look_in b' f else None.

Definition look (m : index) (f : form) : option form :=
  if PositiveMap.find (hash f) m is Some b then look_in b f else None.

Lemma in_either T (x : T) (a b : seq T) : List.In x (a ++ b) -> List.In x a \/ List.In x b.
Proof. exact: List.in_app_or. Qed.

Lemma in_left T (x : T) (a b : seq T) : List.In x a -> List.In x (a ++ b).
Proof. by move=> here; apply: List.in_or_app; left. Qed.

Lemma in_right T (x : T) (a b : seq T) : List.In x b -> List.In x (a ++ b).
Proof. by move=> here; apply: List.in_or_app; right. Qed.

Lemma in_flatten T (x : T) (ss : seq (seq T)) : List.In x (flatten ss) -> exists2 s, List.In s ss & List.In x s.
Proof.
elim: ss => // s ss IH here; case: (in_either here) => [in_s|in_ss]; first by exists s => //; left.
by have [t t_in x_in] := IH in_ss; exists t => //; right.
Qed.

Lemma in_map T U (f : T -> U) (s : seq T) y : List.In y [seq f x | x <- s] -> exists2 x, List.In x s & y = f x.
Proof.
elim: s => // x s IH [<-|in_s]; first by exists x => //; left.
by have [x' x'_in ->] := IH in_s; exists x' => //; right.
Qed.

Lemma look_found es f g : look (index_of es) f = Some g -> List.In (f, g) es.
Proof.
pose holds (m : index) es := forall h b e, PositiveMap.find h m = Some b -> List.In e b -> List.In e es.
suff right : holds (index_of es) es.
  rewrite /look; case E: PositiveMap.find => [b|//]; have {E} := right _ _ _ E.
  elim: b => //= e b IH right_b; case: ifP => [/same_formP same [<-]|_ /IH]; last by apply=> e' e'_in; apply: right_b; right.
  by apply: right_b; left; rewrite same; case: (e).
rewrite /index_of -[es in holds _ es]cat0s; have : holds (PositiveMap.empty _) [::] by move=> h b e; rewrite PositiveMap.gempty.
move: (PositiveMap.empty _) => m; elim: es [::] m => [|e es IH] before m right /=; first by rewrite cats0.
rewrite -cat_rcons; apply: IH => h b e'; rewrite /enter -cats1.
have old b' : PositiveMap.find h m = Some b' -> List.In e' b' -> List.In e' (before ++ [:: e]).
  by move=> E here; apply/List.in_or_app; left; apply: right E here.
case: (Pos.eq_dec h (hash e.1)) => [eq_h|ne_h]; last by rewrite PositiveMap.gso //; exact: old.
rewrite -eq_h PositiveMap.gss => -[<-] /= [<-|]; first by apply/List.in_or_app; right; left.
case E: PositiveMap.find => [b'|] //=; exact: old E.
Qed.
