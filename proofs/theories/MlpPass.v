(** MLPs as data, and one pass through such a network that holds for all memories and inputs near given ones.

    Directions below [n_memory] are the memory's pre-activations, the others the inputs of the memory's layer. The pass follows
    affine forms through the layers; where every form that moves is clear of its kink, values and slopes of the frozen network
    are those of the forms, exactly. *)

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

(** ** The pass *)

Section Pass.

Variables (n_memory : nat) (unit : number) (held : nat -> number) (inputs : seq number).
Variables (bound : nat -> number) (margin largest steepest : number).

Definition input_forms : seq form := [seq Form (nth zero inputs j) [:: ((n_memory + j)%N, one)] | j <- iota 0 (size inputs)].

Definition memory_forms (l : layer) : seq form :=
  [seq if (i < n_memory)%N then Form (held i) [:: (i, unit)] else weigh input_forms (nth (zero, [::]) l i) | i <- iota 0 (size l)].

(** Activations and tangents are bounded. *)
Definition calm (fs : seq form) : bool :=
  all (fun f => not_above (plus (size_of (center f)) (spread bound f)) largest) fs &&
  not_above (sum_of [seq steepness f | f <- fs]) steepest.

Fixpoint through (ls : seq layer) (fs : seq form) (final : form -> bool) : bool :=
  calm fs &&
  match ls with
  | [::] => false
  | [:: last] => if last is [:: u] then final (weigh fs u) else false
  | l :: ls' =>
      let pres := [seq weigh fs u | u <- l] in
      all (clear bound margin) pres && through ls' [seq rectified f | f <- pres] final
  end.

(** The layers from the memory's on. *)
Definition passes (ls : seq layer) (final : form -> bool) : bool :=
  let pres := memory_forms (head [::] ls) in
  all (clear bound zero) pres && through (behead ls) [seq rectified f | f <- pres] final.

(** ** What the pass shows *)

Section Sound.

Variable R : realFieldType.
Notation r := (@real R).
Variables (n_inputs L : nat) (net : seq layer).
Hypothesis wired : well_wired n_inputs net.
Hypothesis n_layers : size net = L.+2.
Hypothesis n_first : size inputs = width_of n_inputs net 1.

Notation width := (width_of n_inputs net).
Notation width' := (fun l => width l.+1).
Notation memory := (fun i => i < n_memory)%N.
Notation start := (tail (start_of R net)).

Variables (p : mlp R) (x : nat -> R).
Hypothesis same_bias : forall l i, (0 < l)%N || ~~ memory i -> bias p l i = bias start l i.
Hypothesis same_mat : forall l i j, (0 < l)%N || ~~ memory i -> mat p l i j = mat start l i j.

Notation act := (act width').
Notation pre := (pre width').
Notation act_tangent := (act_tangent width').
Notation pre_tangent := (pre_tangent width').

Definition shift (d : nat) : R :=
  if (d < n_memory)%N then (if (d < width 2)%N then (pre p x 0 d - r (held d)) / r unit else 0)
  else if (d - n_memory < width 1)%N then x (d - n_memory)%N - r (nth zero inputs (d - n_memory)) else 0.

Hypothesis near : forall d, `|shift d| <= r (bound d).
Hypothesis margin_ge0 : 0 <= r margin.
Hypothesis unit_gt0 : 0 < r unit.

Notation at_k := (at_bias R 0).

(** The forms are the activations of a layer, and their slopes its tangents, as large as the memory's unit makes them. *)
Definition forms_hold (l : nat) (fs : seq form) : Prop :=
  size fs = width l.+1 /\ forall i, (i < width l.+1)%N ->
  act p x l i = form_value shift (nth no_form fs i) /\
  forall k, (k < n_memory)%N -> act_tangent p x (at_k k) l i * r unit = slope_of R (nth no_form fs i) k.

Definition pre_holds (l i : nat) (f : form) : Prop :=
  pre p x l i = form_value shift f /\ forall k, (k < n_memory)%N -> pre_tangent p x (at_k k) l i * r unit = slope_of R f k.

Lemma weigh_holds l i fs :
  forms_hold l fs -> (l <= L)%N -> (0 < l)%N || ~~ memory i -> pre_holds l i (weigh fs (neuron_at net l.+1 i)).
Proof.
move=> [size_fs hold] l_L other; have l_lt : (l.+1 < size net)%N by rewrite n_layers !ltnS.
have inside : all (fun e => e.1 < width l.+1)%N (neuron_at net l.+1 i).2.
  have /allP/(_ l.+1) := wired; rewrite mem_iota add0n l_lt => /(_ isT)/allP every; rewrite /neuron_at.
  by case: (ltnP i (size (nth [::] net l.+1))) => [i_lt|i_ge]; [exact/every/mem_nth | rewrite nth_default].
have tot v : total (width' l) (fun j => mat (start_of R net) l.+1 i j * v j) = _ := start_total i v wired l_lt.
split.
  rewrite /Mlp.pre same_bias // weigh_value; congr (_ + _).
  rewrite (total_eq (g := fun j => mat (start_of R net) l.+1 i j * act p x l j)) => [|j _]; last by rewrite same_mat.
  rewrite tot big_seq [RHS]big_seq; apply: eq_bigr => e /(allP inside) e_lt.
  by rewrite (hold _ e_lt).1.
move=> k k_lt; rewrite pre_tangent_bias.
have -> : (l == 0%N) && (i == k) = false.
  by case: eqP other => [->|_] //=; apply: contraNF => /eqP ->.
rewrite add0r (total_eq (g := fun j => mat (start_of R net) l.+1 i j * act_tangent p x (at_k k) l j)) => [|j _]; last by rewrite same_mat.
rewrite tot /slope_of weigh_moves mulr_suml big_seq [RHS]big_seq; apply: eq_bigr => e /(allP inside) e_lt.
by rewrite -mulrA (hold _ e_lt).2.
Qed.

Lemma rectified_holds a l fs :
  0 <= r a ->
  size fs = width l.+2 -> (forall i, (i < width l.+2)%N -> pre_holds l i (nth no_form fs i)) ->
  all (clear bound a) fs -> forms_hold l.+1 [seq rectified f | f <- fs].
Proof.
move=> a_ge0 size_fs hold /(all_nthP no_form) ok; split=> [|i i_lt]; first by rewrite size_map.
have i_fs : (i < size fs)%N by rewrite size_fs.
have [value slopes] := hold i i_lt; have ok_i := ok _ i_fs; rewrite (nth_map no_form) //.
split; first by rewrite actS value (rectified_value near a_ge0 ok_i).
by move=> k k_lt; rewrite act_tangentS value (clear_side near a_ge0 ok_i) rectified_slope -slopes //; case: ifP; rewrite ?mul0r.
Qed.

Lemma inputs_hold : forms_hold 0 input_forms.
Proof.
split=> [|i i_lt]; first by rewrite size_map size_iota n_first.
rewrite (nth_map 0%N) ?size_iota ?n_first // nth_iota ?n_first // add0n; split=> [|k k_lt].
  rewrite /form_value /along /= big_seq1 mul1r /shift ltnNge leq_addr /= addKn.
  by move: i_lt; rewrite /= => ->; rewrite addrC subrK.
rewrite /slope_of /along big_seq1 mul1r mul0r (_ : (_ == k) = false) //.
by apply: contraTF k_lt => /eqP <-; rewrite -leqNgt leq_addr.
Qed.

Lemma memory_holds : forall i, (i < width 2)%N -> pre_holds 0 i (nth no_form (memory_forms (nth [::] net 1)) i).
Proof.
move=> i i_lt; rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n; case: ifP => [mem|/negbT other].
  split=> [|k k_lt]; first by rewrite /form_value /along big_seq1 /shift mem i_lt mulrC divfK ?gt_eqF // addrC subrK.
  rewrite pre_tangent_bias /slope_of /along big_seq1 mulrC total_zero ?addr0 // => j _.
  by rewrite mulr0.
exact: weigh_holds inputs_hold (leq0n L) other.
Qed.

(** What a pass shows of the layers from [l] on. *)
Definition shown (l : nat) (final : form -> bool) : Prop :=
  [/\ forall l' j, (l <= l' <= L)%N -> (j < width l'.+1)%N -> `|act p x l' j| <= r largest,
      forall k l', (k < n_memory)%N -> (l <= l' <= L)%N -> norm (width l'.+1) (act_tangent p x (at_k k) l') * r unit <= r steepest,
      forall k l' i, (k < n_memory)%N -> (l <= l' < L)%N -> (i < width l'.+2)%N -> pre_tangent p x (at_k k) l' i != 0 ->
        r margin < `|pre p x l' i|
    & exists2 f, final f & pre_holds L 0 f].

Lemma calm_bounds l fs :
  forms_hold l fs -> calm fs ->
  (forall j, (j < width l.+1)%N -> `|act p x l j| <= r largest) /\
  forall k, (k < n_memory)%N -> norm (width l.+1) (act_tangent p x (at_k k) l) * r unit <= r steepest.
Proof.
move=> [size_fs hold] /andP[/(all_nthP no_form) small flat]; split=> [j j_lt|k k_lt].
  rewrite (hold j j_lt).1; apply: le_trans (form_le near _) _; apply: real_not_above.
  by apply: small; rewrite size_fs.
apply: le_trans (real_not_above R flat); rewrite real_sum big_map (big_nth no_form) big_mkord /norm totalE size_fs mulr_suml.
apply: ler_sum => i _; rewrite -[r unit](gtr0_norm unit_gt0) -normrM (hold i (ltn_ord i)).2 //; exact: slope_of_le.
Qed.

Lemma clear_stable l fs :
  (forall i, (i < width l.+2)%N -> pre_holds l i (nth no_form fs i)) -> size fs = width l.+2 -> all (clear bound margin) fs ->
  forall k i, (k < n_memory)%N -> (i < width l.+2)%N -> pre_tangent p x (at_k k) l i != 0 -> r margin < `|pre p x l i|.
Proof.
move=> hold size_fs /(all_nthP no_form) ok k i k_lt i_lt; have [value slopes] := hold i i_lt; rewrite value => steep.
have {}steep : slope_of R (nth no_form fs i) k != 0 by rewrite -slopes //; apply: mulf_neq0 => //; rewrite gt_eqF.
by apply: (clear_far near) steep; apply: ok; rewrite size_fs.
Qed.

Lemma through_shows ls l fs final :
  drop l.+1 net = ls -> (0 < l)%N -> forms_hold l fs -> through ls fs final -> shown l final.
Proof.
elim: ls l fs => [|u ls IH] l fs E l_gt0 hold.
  by case/andP.
have l_lt : (l.+1 < size net)%N.
  by rewrite ltnNge; apply/negP => big; move: E; rewrite drop_oversize.
have l_L : (l <= L)%N by move: l_lt; rewrite n_layers !ltnS.
have u_here : nth [::] net l.+1 = u by rewrite -[l.+1]addn0 -nth_drop E.
have next : drop l.+2 net = ls by rewrite -[l.+2]add1n -drop_drop E /= drop0.
rewrite [through _ _ _]/=; case/andP=> quiet; have [small flat] := calm_bounds hold quiet.
case: ls IH E next => [|u' ls] IH E next.
  case: u u_here E => [//|n [|//]] u_here E fin.
  have last_L : l = L.
    by apply/eqP; rewrite eqn_leq l_L -ltnS -ltnS -n_layers -subn_eq0 -size_drop next.
  have only l' : (l <= l' <= L)%N -> l' = l by rewrite -last_L => /anti_leq.
  split.
  - by move=> l' j /only ->; exact: small.
  - by move=> k l' k_lt /only ->; exact: flat.
  - by move=> k l' i _ /andP[low]; rewrite -last_L ltnNge low.
  exists (weigh fs n) => //; have := weigh_holds (i := 0) hold l_L; rewrite l_gt0 -last_L /neuron_at u_here.
  exact.
case/andP=> ok more.
have size_pres : size [seq weigh fs n | n <- u] = width l.+2 by rewrite size_map /= u_here.
have pre_hold i : (i < width l.+2)%N -> pre_holds l i (nth no_form [seq weigh fs n | n <- u] i).
  move=> i_lt; rewrite (nth_map (zero, [::])); last by rewrite -u_here.
  by have := weigh_holds (i := i) hold l_L; rewrite l_gt0 /neuron_at u_here; apply.
have [act_le tangent_le stable last] := IH l.+1 _ next isT (rectified_holds margin_ge0 size_pres pre_hold ok) more.
split=> //.
- by move=> l' j /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high]; [exact: small | apply: act_le; rewrite low].
- move=> k l' k_lt /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high]; first exact: flat.
  by apply: tangent_le; rewrite ?low.
move=> k l' i k_lt /andP[]; rewrite leq_eqVlt => /orP[/eqP <- _|low high] i_lt.
  exact: (clear_stable pre_hold size_pres ok k_lt i_lt).
by apply: stable; rewrite ?low.
Qed.

Theorem passes_shows final : passes (behead net) final -> shown 1 final.
Proof.
case/andP; rewrite -nth0 nth_behead => ok more.
have size_pres : size (memory_forms (nth [::] net 1)) = width 2 by rewrite size_map size_iota.
have z_ge0 : 0 <= r zero by [].
apply: through_shows (rectified_holds z_ge0 size_pres memory_holds ok) more => //.
by rewrite -!drop1 drop_drop.
Qed.

End Sound.
End Pass.
