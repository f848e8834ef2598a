(** What the symbols are worth in a state and on an input: those of [MlpLogic.v] that are given, and rows, one after the other. *)

From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp Forms MlpPass Circuit MlpLogic MlpSignals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Rows read symbols from [low] on, and rows before them. *)
Fixpoint ordered (low next : N) (fs : seq form) : bool :=
  if fs is f :: fs' then all (fun m => N.leb low m.1 && N.ltb m.1 next) (moves f) && ordered low (N.succ next) fs' else true.

Section Values.

Variables (R : realFieldType) (c : circuit) (st : state) (delta inputs : nat -> R).
Notation n := (n_memory c).
Notation bit := (fun b : bool => b%:R : R).

Definition given (i : nat) : R * (nat -> R) :=
  let k := (i %% n)%N in
  match (i %/ n)%N with
  | 0 => (real_of_Z R (lifted c st k) + delta k, fun k' => bit (k == k'))
  | 1 => (bit (is_positive c st k) * (1 / 2%:R + 2%:R * delta k), fun k' => bit (is_positive c st k) * (2%:R * bit (k == k')))
  | 2 => (bit (is_negative c st k) * (1 / 2%:R - 2%:R * delta k), fun k' => bit (is_negative c st k) * (- (2%:R * bit (k == k'))))
  | 3 => (bit (is_positive c st k), fun=> 0)
  | 4 => (bit (is_negative c st k), fun=> 0)
  | _ => (inputs (i - 5 * n)%N, fun=> 0)
  end.

Definition no_worth : R * (nat -> R) := (0, fun=> 0).
Definition worth_of (e : seq (R * (nat -> R))) (s : N) : R := (nth no_worth e (N.to_nat s)).1.
Definition speed_of (e : seq (R * (nat -> R))) (k : nat) (s : N) : R := (nth no_worth e (N.to_nat s)).2 k.

Definition extended (e : seq (R * (nat -> R))) (f : form) : seq (R * (nat -> R)) :=
  rcons e (relu (form_value (worth_of e) f), fun k => if 0 < form_value (worth_of e) f then along (speed_of e k) (moves f) else 0).

Definition worths (fs : seq form) : seq (R * (nat -> R)) := foldl extended (mkseq given (n_given c)) fs.

Let keeps fs : forall e i, (i < size e)%N -> nth no_worth (foldl extended e fs) i = nth no_worth e i.
Proof.
elim: fs => //= f fs IH e i i_lt; rewrite IH ?size_rcons; last exact: leq_trans i_lt (leqnSn _).
by rewrite nth_rcons i_lt.
Qed.

Let below_size (next : N) m : N.ltb m next -> (N.to_nat m < N.to_nat next)%N.
Proof. by move/N.ltb_lt => lt; apply/ssrnat.ltP; lia. Qed.

Let along_eq (w w' : N -> R) ms : (forall m, List.In m ms -> w m.1 = w' m.1) -> along w ms = along w' ms.
Proof.
elim: ms => [|m ms IH] same; first by rewrite /along !big_nil.
by rewrite /along !big_cons same; [congr (_ + _); apply: IH => m' m'_in; apply: same; right | left].
Qed.

Let all_in (T : Type) (f : T -> bool) s x : all f s -> List.In x s -> f x.
Proof. by elim: s => //= y s IH /andP[fy rest] [<-|]; [| exact: IH]. Qed.

(** A row is the ReLU of its form. *)
Lemma row_worth low fs j f : ordered low (row_symbol c 0) fs -> List.nth_error fs j = Some f ->
  let e := worths fs in
  worth_of e (row_symbol c j) = relu (form_value (worth_of e) f) /\
  forall k, speed_of e k (row_symbol c j) = if 0 < form_value (worth_of e) f then along (speed_of e k) (moves f) else 0.
Proof.
rewrite /worths /row_symbol addn0; move=> sorted at_j.
have from : forall fs e j f, ordered low (N.of_nat (size e)) fs -> List.nth_error fs j = Some f ->
  let e' := foldl extended e fs in
  worth_of e' (N.of_nat (size e + j)) = relu (form_value (worth_of e') f) /\
  forall k, speed_of e' k (N.of_nat (size e + j)) = if 0 < form_value (worth_of e') f then along (speed_of e' k) (moves f) else 0.
  elim=> [|g gs IH] e [|i] h //=.
    move=> /andP[small sorted'] [<-]; rewrite addn0.
    have same m : List.In m (moves g) -> nth no_worth (foldl extended (extended e g) gs) (N.to_nat m.1) = nth no_worth e (N.to_nat m.1).
      move=> m_in; have /andP[_ /below_size] := all_in small m_in; rewrite Nnat.Nat2N.id => m_lt.
      by rewrite keeps ?size_rcons ?nth_rcons ?m_lt //; exact: leq_trans m_lt (leqnSn _).
    have same_value : form_value (worth_of (foldl extended (extended e g) gs)) g = form_value (worth_of e) g.
      by congr (_ + _); apply: along_eq => m m_in; rewrite /worth_of same.
    rewrite same_value /worth_of /speed_of Nnat.Nat2N.id keeps ?size_rcons // nth_rcons ltnn eqxx; split=> // k /=.
    by case: ifP => // _; apply: along_eq => m m_in; rewrite /speed_of same.
  move=> /andP[_ sorted'] at_i; have := IH (extended e g) i h; rewrite size_rcons -addSnnS; apply=> //.
  by rewrite Nnat.Nat2N.inj_succ.
by have := from fs (mkseq given (n_given c)) j f; rewrite size_mkseq; apply.
Qed.

Lemma worths_given fs i : (i < n_given c)%N -> nth no_worth (worths fs) i = given i.
Proof. by move=> i_lt; rewrite keeps ?size_mkseq // nth_mkseq. Qed.

Let in_blockE fs b k : (k < n)%N -> (b < 5)%N -> worth_of (worths fs) (in_block c b k) = (given (b * n + k)).1 /\
  forall k', speed_of (worths fs) k' (in_block c b k) = (given (b * n + k)).2 k'.
Proof.
move=> k_lt b_lt; have lt : (b * n + k < n_given c)%N.
  rewrite /n_given; apply: (@leq_trans (b.+1 * n)%N); first by rewrite mulSn addnC ltn_add2r.
  by apply: leq_trans (leq_addr _ _); rewrite leq_mul2r b_lt orbT.
by rewrite /worth_of /speed_of /in_block Nnat.Nat2N.id worths_given.
Qed.

Let divided b k : (k < n)%N -> ((b * n + k) %/ n = b)%N /\ ((b * n + k) %% n = k)%N.
Proof. by move=> k_lt; have n_gt0 := leq_ltn_trans (leq0n k) k_lt; rewrite divnMDl // divn_small // addn0 modnMDl modn_small. Qed.

Section Block.

Variables (fs : seq form) (k : nat).
Hypothesis k_lt : (k < n)%N.
Notation worth := (worth_of (worths fs)).
Notation speed := (speed_of (worths fs)).

Lemma number_worth : worth (number_symbol c k) = real_of_Z R (lifted c st k) + delta k /\
  forall k', speed k' (number_symbol c k) = bit (k == k').
Proof. by have := in_blockE fs k_lt (isT : (0 < 5)%N); have [d m] := divided 0 k_lt; rewrite /given d m. Qed.

Lemma positive_half_worth : worth (positive_half c k) = bit (is_positive c st k) * (1 / 2%:R + 2%:R * delta k) /\
  forall k', speed k' (positive_half c k) = bit (is_positive c st k) * (2%:R * bit (k == k')).
Proof. by have := in_blockE fs k_lt (isT : (1 < 5)%N); have [d m] := divided 1 k_lt; rewrite /given d m. Qed.

Lemma negative_half_worth : worth (negative_half c k) = bit (is_negative c st k) * (1 / 2%:R - 2%:R * delta k) /\
  forall k', speed k' (negative_half c k) = bit (is_negative c st k) * (- (2%:R * bit (k == k'))).
Proof. by have := in_blockE fs k_lt (isT : (2 < 5)%N); have [d m] := divided 2 k_lt; rewrite /given d m. Qed.

Lemma positive_worth : worth (positive_copy c k) = bit (is_positive c st k) /\ forall k', speed k' (positive_copy c k) = 0.
Proof. by have := in_blockE fs k_lt (isT : (3 < 5)%N); have [d m] := divided 3 k_lt; rewrite /given d m. Qed.

Lemma negative_worth : worth (negative_copy c k) = bit (is_negative c st k) /\ forall k', speed k' (negative_copy c k) = 0.
Proof. by have := in_blockE fs k_lt (isT : (4 < 5)%N); have [d m] := divided 4 k_lt; rewrite /given d m. Qed.

End Block.

Hypothesis n_gt0 : (0 < n)%N.

Let given_late i : (3 * n <= i)%N -> forall k, (given i).2 k = 0.
Proof.
move=> late k; have : (3 <= i %/ n)%N by rewrite leq_divRL.
by rewrite /given; case: (i %/ n)%N => [|[|[|[|[|q]]]]].
Qed.

Lemma input_worth fs i : (i < n_inputs c)%N -> worth_of (worths fs) (input_symbol c i) = inputs i /\
  forall k, speed_of (worths fs) k (input_symbol c i) = 0.
Proof.
move=> i_lt; have lt : (5 * n + i < n_given c)%N by rewrite /n_given ltn_add2l.
rewrite /worth_of /speed_of /input_symbol /in_block Nnat.Nat2N.id worths_given //; split=> [|k].
  have : (5 <= (5 * n + i) %/ n)%N by rewrite leq_divRL ?leq_addr.
  by rewrite /given addKn; case: (_ %/ _)%N => [|[|[|[|[|q]]]]].
by apply: given_late; apply: leq_trans (leq_addr _ _); rewrite leq_mul2r orbT.
Qed.

(** Rows over copies and inputs do not change with the memory. *)
Lemma rows_still gs hs f j k : ordered (positive_copy c 0) (row_symbol c 0) gs -> ordered N0 (row_symbol c 0) (gs ++ hs) ->
  List.nth_error gs j = Some f ->
  along (speed_of (worths (gs ++ hs)) k) (moves f) = 0 /\ speed_of (worths (gs ++ hs)) k (row_symbol c j) = 0.
Proof.
move=> flat sorted; elim/ltn_ind: j f => j IH f at_j.
have sorted_at gs' next i f' : ordered (positive_copy c 0) next gs' -> List.nth_error gs' i = Some f' ->
    all (fun m => N.leb (positive_copy c 0) m.1 && N.ltb m.1 (next + N.of_nat i)%num) (moves f').
  elim: gs' next i => [|g gs' IHg] next [|i] //= /andP[small rest]; first by case=> <-; rewrite N.add_0_r.
  move=> at_i; have := IHg _ _ rest at_i; rewrite (_ : (N.succ next + N.of_nat i = next + N.pos (Pos.of_succ_nat i))%num) //.
  by rewrite -[N.pos _]/(N.of_nat i.+1) Nnat.Nat2N.inj_succ N.add_succ_l N.add_succ_r.
have all_low := sorted_at _ _ _ _ flat at_j.
have zero : along (speed_of (worths (gs ++ hs)) k) (moves f) = 0.
  rewrite (along_eq (w' := fun=> 0)); first by rewrite /along big1 // => m _; rewrite mulr0.
  move=> m m_in; have /andP[low high] := all_in all_low m_in.
  have {}low : (3 * n <= N.to_nat m.1)%N.
    move/N.leb_le: low; rewrite /positive_copy /in_block addn0; move: (3 * n)%N => b low; apply/ssrnat.leP; lia.
  have {}high : (N.to_nat m.1 < n_given c + j)%N.
    have := below_size high; rewrite /row_symbol addn0 Nnat.N2Nat.inj_add !Nnat.Nat2N.id; exact.
  case: (ltnP (N.to_nat m.1) (n_given c)) => [early|late].
    by rewrite /speed_of worths_given // given_late.
  have i_lt : (N.to_nat m.1 - n_given c < j)%N by rewrite ltn_subLR.
  have : List.nth_error gs (N.to_nat m.1 - n_given c) <> None.
    apply/List.nth_error_Some; apply: (PeanoNat.Nat.lt_trans _ j); first exact/ssrnat.ltP.
    by apply/List.nth_error_Some; rewrite at_j.
  case E: List.nth_error => [g|//] _; have [_] := IH _ i_lt g E.
  by rewrite /row_symbol subnKC // Nnat.N2Nat.id.
split=> //; have at_j' : List.nth_error (gs ++ hs) j = Some f.
  by rewrite List.nth_error_app1 //; apply/List.nth_error_Some; rewrite at_j.
by have [_ ->] := row_worth sorted at_j'; rewrite zero if_same.
Qed.

End Values.
