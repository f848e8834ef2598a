(** The arcs between the vertices and the tapes: sparse maps made from a machine's table.

    Entries come row by row, and by column within a row, as an exported graph lists them. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From Luge Require Import Number Expression Machine Encoding Terms Saturation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Arcs.

(** As many numbers, from [k] on, as a list has items. *)
Fixpoint numbers T (k : N) (items : seq T) : seq N :=
  if items is _ :: items' then k :: numbers (N.succ k) items' else [::].

(** The items of a list with their numbers. *)
Definition numbered_rows U (rows : seq U) : seq (N * U) := zip (numbers 0 rows) rows.

Variable T : Type.

(** To each of [n] rows from each item of a list, the weight that [f] says, if any. *)
Definition arcs (n : nat) (f : nat -> T -> option number) (items : seq T) : seq entry :=
  let numbered := zip (numbers 0 items) items in
  flatten [seq pmap (fun v => omap (fun w => (N.of_nat i, v.1, w)) (f i v.2)) numbered | i <- iota 0 n].

(** The same with rows that are items of a list of their own. *)
Definition arcs_of U (f : U -> T -> option number) (rows : seq U) (items : seq T) : seq entry :=
  let numbered := zip (numbers 0 items) items in
  flatten [seq pmap (fun v => omap (fun w => (r.1, v.1, w)) (f r.2 v.2)) numbered | r <- numbered_rows rows].

(** From each item of a list to its own unit, the weight of the place that [f] says. *)
Definition spread (f : T -> nat) (items : seq T) : seq entry :=
  [seq (v.1, N.of_nat (f v.2), one) | v <- zip (numbers 0 items) items].

Variable R : realFieldType.

Lemma N_eqb i j : N.eqb (N.of_nat i) (N.of_nat j) = (i == j).
Proof. by lia. Qed.

Lemma sparse_cat (l l' : seq entry) (a : matrix R) i : sparse (l ++ l') a i = sparse l a i + sparse l' a i.
Proof. by elim: l => [|e l IH] /=; rewrite ?add0r // IH; case: ifP; rewrite ?addrA. Qed.

Definition weight_or_zero (w : option number) : R := if w is Some w then real R w else 0.

Lemma sparse_row (f : nat -> T -> option number) items k (a : matrix R) r i :
  sparse (pmap (fun v => omap (fun w => (N.of_nat r, v.1, w)) (f r v.2)) (zip (numbers k items) items)) a i =
  if r == i then
    foldr (fun v s => weight_or_zero (f r v.2) * a (N.to_nat v.1) 0%N + s) 0 (zip (numbers k items) items)
  else 0.
Proof.
elim: items k => [|x items IH] k /=; first by case: ifP.
by case f_x: (f r x) => [w|] /=; rewrite IH ?N_eqb; case: (r == i); rewrite ?mul0r ?add0r.
Qed.

Lemma total_zip (x0 : T) (g : nat -> T -> R) items :
  foldr (fun v s => g (N.to_nat v.1) v.2 + s) 0 (zip (numbers 0 items) items) =
  total (size items) (fun v => g v (nth x0 items v)).
Proof.
suff shifted k : foldr (fun v s => g (N.to_nat v.1) v.2 + s) 0 (zip (numbers k items) items) =
    total (size items) (fun v => g (N.to_nat k + v)%N (nth x0 items v)) by rewrite shifted.
rewrite totalE; elim: items k => [|x items IH] k /=; first by rewrite big_ord0.
rewrite big_ord_recl /= addn0 IH; congr (_ + _); apply: eq_bigr => i _.
by rewrite /bump /= N2Nat.inj_succ addSnnS.
Qed.

Lemma sparse_arcs (x0 : T) n f items (a : matrix R) i :
  (i < n)%N ->
  sparse (arcs n f items) a i =
  total (size items) (fun v => weight_or_zero (f i (nth x0 items v)) * a v 0%N).
Proof.
move=> i_n; rewrite -(total_zip x0 (fun v x => weight_or_zero (f i x) * a v 0%N)) /arcs.
have rows l : uniq l -> sparse (flatten [seq pmap (fun v => omap (fun w => (N.of_nat r, v.1, w)) (f r v.2))
      (zip (numbers 0 items) items) | r <- l]) a i =
    if i \in l then foldr (fun v s => weight_or_zero (f i v.2) * a (N.to_nat v.1) 0%N + s) 0
      (zip (numbers 0 items) items) else 0.
  elim: l => [//|r l IH] /= /andP[r_l uniq_l]; rewrite sparse_cat sparse_row IH // inE.
  rewrite [i == r]eq_sym; case: (eqVneq r i) r_l => [->|_] r_l /=; last by rewrite add0r.
  by rewrite (negbTE r_l) addr0.
by rewrite rows ?iota_uniq // mem_iota i_n.
Qed.

Lemma sparse_arcs_of U (r0 : U) (x0 : T) f rows items (a : matrix R) k :
  (k < size rows)%N ->
  sparse (arcs_of f rows items) a k =
  total (size items) (fun v => weight_or_zero (f (nth r0 rows k) (nth x0 items v)) * a v 0%N).
Proof.
move=> k_lt; rewrite -(sparse_arcs x0 (fun k => f (nth r0 rows k)) items a k_lt) /arcs_of /arcs; congr (sparse (flatten _) a k).
have -> : numbered_rows rows = [seq (N.of_nat i, nth r0 rows i) | i <- iota 0 (size rows)].
  rewrite /numbered_rows; suff shifted j : zip (numbers j rows) rows =
      [seq (N.add j (N.of_nat i), nth r0 rows i) | i <- iota 0 (size rows)] by rewrite shifted.
  elim: rows j {k_lt} => [//|r rows IH] j /=; rewrite N.add_0_r IH; congr (_ :: _).
  rewrite -[1%N]addn0 iotaDl -map_comp; apply: eq_map => i /=; congr (_, _); lia.
by rewrite -map_comp.
Qed.

Lemma sparse_spread (x0 : T) f items (a : matrix R) i :
  (i < size items)%N -> sparse (spread f items) a i = a (f (nth x0 items i)) 0%N.
Proof.
rewrite /spread => i_lt.
suff shifted k : sparse [seq (v.1, N.of_nat (f v.2), one) | v <- zip (numbers k items) items] a (N.to_nat k + i) =
    a (f (nth x0 items i)) 0%N by rewrite -(shifted 0%num).
elim: items i i_lt k => [//|x items IH] i i_lt k /=.
have later l k' j : (j < N.to_nat k')%N ->
    sparse [seq (v.1, N.of_nat (f v.2), one) | v <- zip (numbers k' l) l] a j = 0.
  elim: l k' => [//|y l IHl] k' j_k /=.
  have -> : N.eqb k' (N.of_nat j) = false by lia.
  by apply: IHl; lia.
case: i i_lt => [|i] i_lt.
  have -> : N.eqb k (N.of_nat (N.to_nat k + 0)) by lia.
  by rewrite later ?addr0 ?mul1r ?Nat2N.id //; lia.
have -> : N.eqb k (N.of_nat (N.to_nat k + i.+1)) = false by lia.
have -> : (N.to_nat k + i.+1 = N.to_nat (N.succ k) + i)%N by lia.
by rewrite IH.
Qed.

End Arcs.

(** ** The maps of a machine's table *)

Definition sign_of (b : bool) : number := if b then one else minus_one.

Section Table.

(** The symbol that is left on a tape, as far as the situation knows it; [None] if it keeps a tape it has not looked at. *)
Definition leaves (s : situation) (i : nat) : option bool :=
  if what s is Some a then
    if nth None (writes a) i is Some b then Some b else nth None (looks s) i
  else nth None (looks s) i.

Definition way (s : situation) (i : nat) : move := if what s is Some a then nth Stay (moves a) i else Stay.

Definition follows (s : situation) : nat := if what s is Some a then next a else state s.

Definition rests (s : situation) : bool := ~~ what s.

Variable m : machine.

(** To each tape, the symbol left behind where it is known. *)
Definition next_arcs : seq entry := arcs (n_tapes m) (fun i s => omap sign_of (leaves s i)) (table m).

(** To each tape, whether it is kept unseen. *)
Definition keep_arcs : seq entry :=
  arcs (n_tapes m) (fun i s => if leaves s i is None then Some one else None) (table m).

(** To each tape, whether its head moves this way. *)
Definition moving_arcs (w : move) : seq entry :=
  arcs (n_tapes m) (fun i s => if way s i == w then Some one else None) (table m).

(** To each state, the situations it follows; those at rest follow themselves. *)
Definition state_arcs : seq entry :=
  arcs (n_states m) (fun q s => if follows s == q then Some one else None) (table m).

(** To one unit, all situations at rest. *)
Definition rest_arcs : seq entry := arcs 1 (fun _ s => if rests s then Some one else None) (table m).

(** From each state to its situations. *)
Definition of_state : seq entry := spread state (table m).

(** From each combination of symbols to the situations that ask for it. *)
Definition of_symbols (units : seq (seq (option bool))) : seq entry :=
  spread (fun s => index (looks s) units) (table m).

(** From each tape to each combination of symbols: the symbols. *)
Definition symbol_arcs (units : seq (seq (option bool))) : seq entry :=
  flatten [seq pmap (fun i => omap (fun b => (p.1, N.of_nat i, sign_of b)) (nth None p.2 i)) (iota 0 (n_tapes m))
          | p <- zip (numbers 0 units) units].

(** 1 less the number of tapes that a combination names. *)
Definition threshold (p : seq (option bool)) : number := whole (1 - Z.of_nat (count isSome p)).

End Table.

Section SymbolArcs.

Variable R : realFieldType.

Lemma real_of_nat n : real_of_Z R (Z.of_nat n) = n%:R.
Proof. by case: n => //= n; rewrite SuccNat2Pos.id_succ. Qed.

Lemma real_of_minus_nat n : real_of_Z R (- Z.of_nat n) = - n%:R.
Proof. by case: n => [|n] /=; rewrite ?oppr0 // SuccNat2Pos.id_succ. Qed.

Lemma real_threshold p : real R (threshold p) = 1 - (count isSome p)%:R.
Proof.
rewrite -[LHS]/(real_of_Z R (Z.sub 1 (Z.of_nat (count isSome p)))).
case: (count isSome p) => [|n]; first by rewrite subr0.
have -> : Z.sub 1 (Z.of_nat n.+1) = Z.opp (Z.of_nat n) by lia.
by rewrite real_of_minus_nat -addn1 natrD opprD addrCA subrr addr0.
Qed.

(** What one symbol adds to its unit. *)
Definition agreement (p : seq (option bool)) (a : matrix R) (i : nat) : R :=
  if nth None p i is Some b then sign R b * a i 0%N else 0.

Lemma sparse_symbol_arcs m units (a : matrix R) k :
  (k < size units)%N ->
  sparse (symbol_arcs m units) a k = total (n_tapes m) (agreement (nth [::] units k) a).
Proof.
rewrite /symbol_arcs => k_lt.
have one_row p r l j : sparse (pmap (fun i => omap (fun b => (r, N.of_nat i, sign_of b)) (nth None p i)) l) a j =
    if N.eqb r (N.of_nat j) then foldr (fun i s => agreement p a i + s) 0 l else 0.
  elim: l => [|i l IH] /=; first by case: ifP.
  rewrite /agreement; case p_i: (nth None p i) => [b|] /=; rewrite IH; case: (N.eqb r _); rewrite ?add0r //.
  by rewrite Nat2N.id; case: b {p_i}.
suff shifted o : sparse (flatten [seq pmap (fun i => omap (fun b => (p.1, N.of_nat i, sign_of b)) (nth None p.2 i))
      (iota 0 (n_tapes m)) | p <- zip (numbers o units) units]) a (N.to_nat o + k) =
    total (n_tapes m) (agreement (nth [::] units k) a) by rewrite -(shifted 0%num).
have later l o' j : (j < N.to_nat o')%N ->
    sparse (flatten [seq pmap (fun i => omap (fun b => (p.1, N.of_nat i, sign_of b)) (nth None p.2 i))
      (iota 0 (n_tapes m)) | p <- zip (numbers o' l) l]) a j = 0.
  elim: l o' => [//|y l IHl] o' j_o /=; rewrite sparse_cat one_row.
  have -> : N.eqb o' (N.of_nat j) = false by lia.
  by rewrite add0r; apply: IHl; lia.
elim: units k k_lt o => [//|p units IH] k k_lt o /=; rewrite sparse_cat one_row.
case: k k_lt => [|k] k_lt.
  have -> : N.eqb o (N.of_nat (N.to_nat o + 0)) by lia.
  by rewrite later ?addr0 //; lia.
have -> : N.eqb o (N.of_nat (N.to_nat o + k.+1)) = false by lia.
have -> : (N.to_nat o + k.+1 = N.to_nat (N.succ o) + k)%N by lia.
by rewrite add0r IH.
Qed.

(** A unit is 1 where all its symbols are those on the tapes, else 0. *)
Lemma relu_agreement p (r : nat -> bool) (a : matrix R) :
  (forall i, (i < size p)%N -> a i 0%N = sign R (r i)) ->
  relu (real R (threshold p) + total (size p) (agreement p a)) = (matches p r)%:R.
Proof.
move=> a_r; pose gap i : R := if nth None p i is Some b then (if r i == b then 0 else - 2%:R) else 0.
have -> : real R (threshold p) + total (size p) (agreement p a) = 1 + total (size p) gap.
  rewrite real_threshold -addrA; congr (_ + _).
  have -> : (count isSome p)%:R = total (size p) (fun i => (isSome (nth None p i))%:R) :> R.
    rewrite totalE -sum1_count big_mkcond (big_nth None) big_mkord natr_sum.
    by apply: eq_bigr => i _; case: (nth None p i).
  rewrite addrC !totalE -sumrB; apply: eq_bigr => i _; rewrite /agreement /gap a_r //.
  case: (nth None p i) => [b|] /=; last by rewrite subrr.
  by case: b; case: (r i); rewrite /= ?mul1r ?mulr1 ?mulrN1 ?opprK ?subrr // -opprD -mulr2n.
have gap_le0 i : gap i <= 0.
  by rewrite /gap; case: (nth None p i) => // b; case: ifP => // _; rewrite oppr_le0 ler0n.
case fits: (matches p r).
  rewrite total_zero ?addr0 ?relu_pos ?ler01 // => i i_lt; rewrite /gap.
  have := allP fits i; rewrite mem_iota add0n => /(_ i_lt).
  by case: (nth None p i) => // b ->.
rewrite relu_neg //; move/negbT: fits; rewrite /matches -has_predC => /hasP[i].
rewrite mem_iota add0n => /andP[_ i_lt] bad.
rewrite totalE (bigD1 (Ordinal i_lt)) //=.
have -> : gap i = - 2%:R by move: bad; rewrite /gap /=; case: (nth None p i) => // b /negbTE ->.
have : \sum_(j < size p | j != Ordinal i_lt) gap j <= 0.
  by rewrite -oppr_ge0 -sumrN sumr_ge0 // => j _; rewrite oppr_ge0.
move=> rest; rewrite addrA; apply: le_trans (ler_add (lexx _) rest) _.
by rewrite addr0 subr_le0 ler1n.
Qed.

End SymbolArcs.
