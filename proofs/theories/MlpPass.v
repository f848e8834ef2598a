(** MLPs as data, and a walk through such a network that holds for every state of its memory and every input.

    The walk follows affine forms over symbols through the layers. What a symbol is worth, and how fast it changes with the memory, depends on
    the state and the input; the forms do not. Of every unit the ReLU must be known: a fact that is sound in every state. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp MlpInputs Forms.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** ** Networks *)

Definition layer : Type := seq neuron.
Definition neuron_at (net : seq layer) (l i : nat) : neuron := nth (zero, [::]) (nth [::] net l) i.

(** Units that layer [l] reads. *)
Definition width_of (n_inputs : nat) (net : seq layer) (l : nat) : nat := if l is l'.+1 then size (nth [::] net l') else n_inputs.

(** Weights come from units that exist. *)
Definition well_wired (n_inputs : nat) (net : seq layer) : bool :=
  all (fun l => all (fun u : neuron => all (fun e => e.1 < width_of n_inputs net l)%N u.2) (nth [::] net l)) (iota 0 (size net)).

Section Start.

Variable R : realFieldType.
Notation r := (@real R).

Definition start_of (net : seq layer) : mlp R :=
  Mlp (fun l i j => \sum_(e <- (neuron_at net l i).2 | e.1 == j) r e.2) (fun l i => r (neuron_at net l i).1).

Lemma start_total n_inputs net l i (v : nat -> R) :
  well_wired n_inputs net -> (l < size net)%N ->
  total (width_of n_inputs net l) (fun j => mat (start_of net) l i j * v j) =
  \sum_(e <- (neuron_at net l i).2) r e.2 * v e.1.
Proof.
move=> wired l_lt; set n := width_of _ _ _.
have inside : all (fun e => e.1 < n)%N (neuron_at net l i).2.
  have /allP/(_ l) := wired; rewrite mem_iota add0n l_lt => /(_ isT)/allP every; rewrite /neuron_at.
  by case: (ltnP i (size (nth [::] net l))) => [i_lt|i_ge]; [exact/every/mem_nth | rewrite nth_default].
rewrite totalE /=; under eq_bigr do rewrite big_mkcond mulr_suml; rewrite exchange_big big_seq [RHS]big_seq /=.
apply: eq_bigr => e /(allP inside) e_lt; rewrite (bigD1 (Ordinal e_lt)) //= eqxx big1 ?addr0 // => j j_e.
by rewrite (_ : (e.1 == j :> nat) = false) ?mul0r //; apply: contraNF j_e => /eqP same; apply/eqP/val_inj.
Qed.

End Start.

(** ** The walk *)

(** All of them, if there are all. *)
Fixpoint all_some T (s : seq (option T)) : option (seq T) :=
  match s with
  | [::] => Some [::]
  | Some x :: s' => if all_some s' is Some xs then Some (x :: xs) else None
  | None :: _ => None
  end.

Lemma all_someP T (x0 : T) s xs : all_some s = Some xs -> size xs = size s /\ forall i, (i < size s)%N -> nth None s i = Some (nth x0 xs i).
Proof.
elim: s xs => [|[x|] s IH] //= xs; first by case=> <-.
case: all_some IH => // ys /(_ _ erefl)[same IH] [<-]; split=> [|[|i] i_lt] //=; first by rewrite same.
exact: IH.
Qed.

(** The form of the output, from the forms of a layer's activations on. *)
Fixpoint walk (known : index) (ls : seq layer) (fs : seq form) : option form :=
  match ls with
  | [::] => None
  | [:: last] => if last is [:: u] then Some (weigh fs u) else None
  | l :: ls' => if all_some [seq look known (weigh fs u) | u <- l] is Some fs' then walk known ls' fs' else None
  end.

Section Sound.

Variable R : realFieldType.
Notation r := (@real R).
Variables (n_memory : nat) (unit margin largest : number).
Variables (n_inputs L : nat) (net : seq layer).
Hypothesis wired : well_wired n_inputs net.
Hypothesis n_layers : size net = L.+2.

Notation width := (width_of n_inputs net).
Notation width' := (fun l => width l.+1).
Notation memory := (fun i => i < n_memory)%N.
Notation start := (tail (start_of R net)).

Variables (p : mlp R) (x : nat -> R).
Hypothesis same_bias : forall l i, (0 < l)%N || ~~ memory i -> bias p l i = bias start l i.
Hypothesis same_mat : forall l i j, (0 < l)%N || ~~ memory i -> mat p l i j = mat start l i j.
Hypothesis unit_gt0 : 0 < r unit.

Notation act := (act width').
Notation pre := (pre width').
Notation act_tangent := (act_tangent width').
Notation pre_tangent := (pre_tangent width').
Notation at_k := (at_bias R 0).

(** What symbols are worth, and how fast they change with unit [k] of the memory. *)
Variables (val : N -> R) (tan : nat -> N -> R).
Definition speed (k : nat) (f : form) : R := along (tan k) (moves f).
Notation value := (form_value val).

Definition tame (f : form) : Prop := `|value f| <= r largest /\ forall k, (k < n_memory)%N -> `|speed k f| <= 2%:R.

(** A fact says what the ReLU of its form is; a form that changes with the memory stays off its kink. *)
Definition sound (e : fact) : Prop :=
  [/\ value e.2 = relu (value e.1),
      forall k, (k < n_memory)%N -> speed k e.2 = if 0 < value e.1 then speed k e.1 else 0,
      forall k, (k < n_memory)%N -> speed k e.1 != 0 -> r margin < `|value e.1|
    & tame e.2].

(** The forms are the activations of a layer, and their speeds its tangents, as large as the memory's unit makes them. *)
Definition forms_hold (l : nat) (fs : seq form) : Prop :=
  size fs = width l.+1 /\ forall i, (i < width l.+1)%N ->
  [/\ act p x l i = value (nth no_form fs i),
      forall k, (k < n_memory)%N -> act_tangent p x (at_k k) l i * r unit = speed k (nth no_form fs i)
    & tame (nth no_form fs i)].

Definition pre_holds (l i : nat) (f : form) : Prop :=
  pre p x l i = value f /\ forall k, (k < n_memory)%N -> pre_tangent p x (at_k k) l i * r unit = speed k f.

Lemma weigh_holds l i fs :
  forms_hold l fs -> (0 < l <= L)%N -> pre_holds l i (weigh fs (neuron_at net l.+1 i)).
Proof.
move=> [size_fs hold] /andP[l_gt0 l_L]; have l_lt : (l.+1 < size net)%N by rewrite n_layers !ltnS.
have other : (0 < l)%N || ~~ memory i by rewrite l_gt0.
have inside : all (fun e => e.1 < width l.+1)%N (neuron_at net l.+1 i).2.
  have /allP/(_ l.+1) := wired; rewrite mem_iota add0n l_lt => /(_ isT)/allP every; rewrite /neuron_at.
  by case: (ltnP i (size (nth [::] net l.+1))) => [i_lt|i_ge]; [exact/every/mem_nth | rewrite nth_default].
have tot v : total (width' l) (fun j => mat (start_of R net) l.+1 i j * v j) = _ := start_total i v wired l_lt.
split.
  rewrite /Mlp.pre same_bias // weigh_value; congr (_ + _).
  rewrite (total_eq (g := fun j => mat (start_of R net) l.+1 i j * act p x l j)) => [|j _]; last by rewrite same_mat.
  rewrite tot big_seq [RHS]big_seq; apply: eq_bigr => e /(allP inside) e_lt.
  by case: (hold _ e_lt) => ->.
move=> k k_lt; rewrite pre_tangent_bias (_ : (l == 0%N) = false); last by case: (l) l_gt0.
rewrite add0r (total_eq (g := fun j => mat (start_of R net) l.+1 i j * act_tangent p x (at_k k) l j)) => [|j _]; last by rewrite same_mat.
rewrite tot /speed weigh_moves mulr_suml big_seq [RHS]big_seq; apply: eq_bigr => e /(allP inside) e_lt.
by rewrite -mulrA; case: (hold _ e_lt) => _ ->.
Qed.

Lemma fact_holds l i f g : pre_holds l i f -> sound (f, g) ->
  [/\ act p x l.+1 i = value g, forall k, (k < n_memory)%N -> act_tangent p x (at_k k) l.+1 i * r unit = speed k g & tame g].
Proof.
move=> [value_f speed_f] [value_g speed_g _ quiet]; split=> // [|k k_lt]; first by rewrite actS value_f.
by rewrite act_tangentS value_f speed_g // -speed_f //; case: ifP => //; rewrite mul0r.
Qed.

(** What a walk shows of the layers from [l] on. *)
Definition shown (l : nat) (out : form) : Prop :=
  [/\ forall l' j, (l <= l' <= L)%N -> (j < width l'.+1)%N -> `|act p x l' j| <= r largest,
      forall k l', (k < n_memory)%N -> (l <= l' <= L)%N ->
        norm (width l'.+1) (act_tangent p x (at_k k) l') * r unit <= (width l'.+1)%:R * 2%:R,
      forall k l' i, (k < n_memory)%N -> (l <= l' < L)%N -> (i < width l'.+2)%N -> pre_tangent p x (at_k k) l' i != 0 ->
        r margin < `|pre p x l' i|
    & pre_holds L 0 out].

Lemma tame_bounds l fs :
  forms_hold l fs ->
  (forall j, (j < width l.+1)%N -> `|act p x l j| <= r largest) /\
  forall k, (k < n_memory)%N -> norm (width l.+1) (act_tangent p x (at_k k) l) * r unit <= (width l.+1)%:R * 2%:R.
Proof.
move=> [size_fs hold]; split=> [j j_lt|k k_lt]; first by case: (hold j j_lt) => -> _ [].
rewrite mulrC /norm -total_mull; apply: (@le_trans _ _ (norm (width l.+1) (fun i => r unit * act_tangent p x (at_k k) l i))).
  by apply: total_le => i _; rewrite normrM (gtr0_norm unit_gt0).
by apply: norm_const => i i_lt; rewrite mulrC; case: (hold i i_lt) => _ -> // [_]; apply.
Qed.

Variable facts : seq fact.
Hypothesis all_sound : forall e, List.In e facts -> sound e.
Notation known := (index_of facts).

Theorem walk_shows ls l fs out :
  drop l.+1 net = ls -> (0 < l)%N -> forms_hold l fs -> walk known ls fs = Some out -> shown l out.
Proof.
elim: ls l fs => [|u ls IH] l fs E l_gt0 hold //.
have l_lt : (l.+1 < size net)%N.
  by rewrite ltnNge; apply/negP => big; move: E; rewrite drop_oversize.
have l_L : (l <= L)%N by move: l_lt; rewrite n_layers !ltnS.
have u_here : nth [::] net l.+1 = u by rewrite -[l.+1]addn0 -nth_drop E.
have next : drop l.+2 net = ls by rewrite -[l.+2]add1n -drop_drop E /= drop0.
have [small flat] := tame_bounds hold.
rewrite [walk _ _ _]/=; case: ls IH E next => [|u' ls] IH E next.
  case: u u_here E => [//|n [|//]] u_here E [<-].
  have last_L : l = L.
    by apply/eqP; rewrite eqn_leq l_L -ltnS -ltnS -n_layers -subn_eq0 -size_drop next.
  have only l' : (l <= l' <= L)%N -> l' = l by rewrite -last_L => /anti_leq.
  split.
  - by move=> l' j /only ->; exact: small.
  - by move=> k l' k_lt /only ->; exact: flat.
  - by move=> k l' i _ /andP[low]; rewrite -last_L ltnNge low.
  have := weigh_holds 0 hold; rewrite l_gt0 l_L -last_L /neuron_at u_here => /(_ isT); exact.
case S: all_some => [fs'|//] more; have [size_fs' each] := all_someP no_form S; rewrite size_map in size_fs' each.
have size_u : size u = width l.+2 by rewrite /= u_here.
have pre_hold i : (i < width l.+2)%N -> pre_holds l i (weigh fs (nth (zero, [::]) u i)).
  by move=> i_lt; have := weigh_holds i hold; rewrite l_gt0 l_L /neuron_at u_here => /(_ isT); exact.
have found i : (i < width l.+2)%N -> sound (weigh fs (nth (zero, [::]) u i), nth no_form fs' i).
  move=> i_lt; apply/all_sound/look_found; have := each i; rewrite size_u => /(_ i_lt) <-.
  by rewrite (nth_map (zero, [::])) ?size_u.
have hold' : forms_hold l.+1 fs'.
  by split=> [|i i_lt]; [rewrite size_fs' size_u | exact: fact_holds (pre_hold i i_lt) (found i i_lt)].
have [act_le tangent_le stable last] := IH l.+1 _ next isT hold' more.
split=> //.
- by move=> l' j /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high]; [exact: small | apply: act_le; rewrite low].
- move=> k l' k_lt /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high]; first exact: flat.
  by apply: tangent_le; rewrite ?low.
move=> k l' i k_lt /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high] i_lt; last by apply: stable; rewrite ?low.
have [value_i speed_i] := pre_hold i i_lt; have [_ _ clear _] := found i i_lt; rewrite value_i => steep.
by apply: (clear k k_lt); rewrite -speed_i //; apply: mulf_neq0 => //; rewrite gt_eqF.
Qed.

End Sound.
