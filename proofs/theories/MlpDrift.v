(** What a drift of the weights does to an MLP: how far its activations, its output and its slopes move.

    [p0] is a reference network and [p] the network as it has become: every weight and bias within [drift] of the reference,
    those of the memory units (some units of layer 0) the same. Which ReLUs are on may change anywhere but on the paths of the
    memory units' own tangents: elsewhere columns of weights bound everything, whatever is on. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Terms Mlp.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** K_0 ... K_(l-1), where K_l bounds the columns of layer l. *)
Fixpoint gain (R : realFieldType) (K : nat -> R) (l : nat) : R := if l is l'.+1 then K l' * gain K l' else 1.

Section Drift.

Variable R : realFieldType.
Variables (L : nat) (width : nat -> nat).
Hypothesis one_output : width L.+1 = 1%N.

(** The memory units of layer 0. *)
Variable memory : nat -> bool.

Variables (p0 p : mlp R) (x : nat -> R).
Notation act := (act width).
Notation pre := (pre width).
Notation act_tangent := (act_tangent width).
Notation pre_tangent := (pre_tangent width).

(** No layer has more than [N] units; no weight has moved by more than [drift]; no activation of the reference is larger than
    [B]. *)
Variables (N : nat) (drift B : R) (K : nat -> R).
Hypothesis widths : forall l, (l <= L.+1)%N -> (width l <= N)%N.
Hypothesis drift_ge0 : 0 <= drift.
Hypothesis B_ge0 : 0 <= B.
Hypothesis same_memory : forall i, memory i -> (i < width 1)%N ->
  bias p 0 i = bias p0 0 i /\ forall j, (j < width 0)%N -> mat p 0 i j = mat p0 0 i j.
Hypothesis near_bias : forall l i, (l <= L)%N -> (i < width l.+1)%N -> `|bias p l i - bias p0 l i| <= drift.
Hypothesis near_mat : forall l i j, (l <= L)%N -> (i < width l.+1)%N -> (j < width l)%N ->
  `|mat p l i j - mat p0 l i j| <= drift.
Hypothesis bounded : forall l j, (l <= L)%N -> (j < width l)%N -> `|act p0 x l j| <= B.

(** Columns: of layer 1 only those of units that are not memory. *)
Hypothesis K_ge1 : forall l, 1 <= K l.
Hypothesis columns : forall l j, (0 < l <= L)%N -> (j < width l)%N -> (l = 1%N -> ~~ memory j) ->
  norm (width l.+1) (fun i => mat p l i j) <= K l.

Notation G := (gain K L.+1).

Lemma gain_ge1 l : 1 <= gain K l.
Proof. by elim: l => //= l IH; rewrite -[1]mulr1; apply: ler_pmul. Qed.

Lemma gain_ge0 l : 0 <= gain K l.
Proof. exact: le_trans ler01 (gain_ge1 l). Qed.

Lemma gain_le l l' : (l <= l')%N -> gain K l <= gain K l'.
Proof.
move=> /subnK <-; elim: (l' - l)%N => [|n IH] //; apply: le_trans IH _.
by rewrite addSn /= ler_pemull ?gain_ge0.
Qed.

Let N_le l : (l <= L.+1)%N -> (width l)%:R <= N%:R :> R.
Proof. by move=> l_L; rewrite ler_nat widths. Qed.

(** ** Values *)

(** How much a layer's own drift can add to its pre-activations. *)
Definition value_unit : R := N%:R * ((N%:R * B + 1) * drift).

Lemma value_unit_ge0 : 0 <= value_unit.
Proof. by rewrite !mulr_ge0 ?addr_ge0 ?mulr_ge0 ?ler0n ?ler01. Qed.

Lemma pre_memory i : memory i -> (i < width 1)%N -> pre p x 0 i = pre p0 x 0 i.
Proof.
move=> mem i_lt; have [same_b same_w] := same_memory mem i_lt.
by rewrite /Mlp.pre same_b; congr (_ + _); apply: total_eq => j j_lt; rewrite same_w.
Qed.

Lemma pre_difference l i :
  pre p x l i - pre p0 x l i =
  total (width l) (fun j => mat p l i j * (act p x l j - act p0 x l j)) +
  ((bias p l i - bias p0 l i) + total (width l) (fun j => (mat p l i j - mat p0 l i j) * act p0 x l j)).
Proof.
rewrite /Mlp.pre opprD addrACA total_sub [RHS]addrCA -total_add; congr (_ + _).
by apply: total_eq => j _; ring.
Qed.

Lemma own_drift l :
  (l <= L)%N ->
  norm (width l.+1) (fun i => (bias p l i - bias p0 l i) +
    total (width l) (fun j => (mat p l i j - mat p0 l i j) * act p0 x l j)) <= value_unit.
Proof.
move=> l_L; apply: (@le_trans _ _ ((width l.+1)%:R * ((N%:R * B + 1) * drift))); last first.
  by apply: ler_wpmul2r; rewrite ?N_le // mulr_ge0 // addr_ge0 ?mulr_ge0 ?ler0n ?ler01.
apply: norm_const => i i_lt; apply: le_trans (ler_norm_add _ _) _.
rewrite mulrDl mul1r addrC; apply: ler_add; last exact: near_bias.
apply: le_trans (total_norm _ _) _.
apply: (@le_trans _ _ (total (width l) (fun=> drift * B))).
  by apply: total_le => j j_lt; rewrite normrM; apply: ler_pmul => //; [exact: near_mat | exact: bounded].
rewrite total_const -mulrA [drift * B]mulrC; apply: ler_wpmul2r; rewrite ?mulr_ge0 // N_le //.
exact: leq_trans l_L (leqnSn L).
Qed.

Lemma value_drift l :
  (l <= L)%N -> norm (width l.+1) (fun i => pre p x l i - pre p0 x l i) <= l.+1%:R * value_unit * gain K l.+1.
Proof.
suff step l1 : (l1 <= L)%N -> norm (width l1) (fun i => act p x l1 i - act p0 x l1 i) <= l1%:R * value_unit * gain K l1 ->
    norm (width l1.+1) (fun i => pre p x l1 i - pre p0 x l1 i) <= l1.+1%:R * value_unit * gain K l1.+1.
  elim: l => [|l IH] l_L; apply: step => //.
    by rewrite mul0r mul0r /norm total_zero // => i _; rewrite subrr normr0.
  by apply: le_trans _ (IH (ltnW l_L)); apply: norm_le => i _; rewrite !actS; apply: relu_distance.
move=> l_L IH; rewrite (norm_eq (fun i _ => pre_difference l1 i)).
apply: le_trans (norm_add _ _ _) _; rewrite [l1.+1%:R]mulrS !mulrDl mul1r [X in _ <= X]addrC; apply: ler_add; last first.
  by apply: le_trans (own_drift l_L) _; rewrite ler_pemulr ?value_unit_ge0 // gain_ge1.
apply: (@le_trans _ _ (K l1 * norm (width l1) (fun i => act p x l1 i - act p0 x l1 i))); last first.
  by rewrite /= mulrCA; apply: ler_wpmul2l => //; apply: le_trans ler01 (K_ge1 _).
apply: norm_matrix => j j_lt; case: l1 l_L j_lt {IH} => [|l1] l_L j_lt; first by rewrite subrr eqxx.
move=> moved; apply: columns => // -[l1_0]; apply: contraNN moved => mem.
by move: j_lt; rewrite l1_0 => j_lt; rewrite !actS pre_memory ?subrr.
Qed.

(** A bound on how far any pre-activation, the output included, has moved. *)
Definition value_error : R := L.+1%:R * value_unit * G.

Lemma value_error_ge0 : 0 <= value_error.
Proof. by apply: mulr_ge0 (gain_ge0 _); apply: mulr_ge0 value_unit_ge0; rewrite ler0n. Qed.

Lemma pre_moves l i : (l <= L)%N -> (i < width l.+1)%N -> `|pre p x l i - pre p0 x l i| <= value_error.
Proof.
move=> l_L i_lt; apply: le_trans (norm_entry (fun i => pre p x l i - pre p0 x l i) i_lt) _.
apply: le_trans (value_drift l_L) _; apply: ler_pmul (gain_ge0 _) _ _; first by apply: mulr_ge0 value_unit_ge0; rewrite ler0n.
  by apply: ler_wpmul2r; rewrite ?value_unit_ge0 // ler_nat.
exact: gain_le.
Qed.

Theorem output_moves : `|output L width p x - output L width p0 x| <= value_error.
Proof. by apply: pre_moves; rewrite ?one_output. Qed.

Lemma act_moves l i : (l <= L)%N -> (i < width l)%N -> `|act p x l i| <= B + value_error.
Proof.
move=> l_L i_lt; have -> : act p x l i = act p0 x l i + (act p x l i - act p0 x l i) by rewrite addrCA subrr addr0.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add; first exact: bounded.
case: l l_L i_lt => [|l] l_L i_lt; first by rewrite subrr normr0 value_error_ge0.
by rewrite !actS; apply: le_trans (relu_distance _ _) _; apply: pre_moves => //; apply: ltnW.
Qed.

(** ** Slopes of weights that are not memory *)

Theorem slope_bound l0 i0 :
  (l0 <= L)%N -> (i0 < width l0.+1)%N -> (l0 = 0%N -> ~~ memory i0) -> `|slope L width p x (at_bias R l0 i0)| <= G.
Proof.
move=> l0_L i0_lt not_memory.
pose tau l := act_tangent p x (at_bias R l0 i0) l.
have step l : (l0 < l <= L)%N -> norm (width l) (tau l) <= gain K l ->
    norm (width l.+1) (pre_tangent p x (at_bias R l0 i0) l) <= gain K l.+1.
  case/andP=> l0_l l_L IH.
  rewrite (norm_eq (v := fun i => total (width l) (fun j => mat p l i j * tau l j))); last first.
    by move=> i _; rewrite pre_tangent_bias gtn_eqF //= add0r.
  apply: (@le_trans _ _ (K l * norm (width l) (tau l))); last first.
    by apply: ler_wpmul2l IH; apply: le_trans ler01 (K_ge1 _).
  apply: norm_matrix => j j_lt moved; apply: columns => //; first by rewrite l_L andbT (leq_ltn_trans _ l0_l).
  move=> l_1; have l0_0 : l0 = 0%N by move: l0_l; rewrite l_1 ltnS leqn0 => /eqP.
  apply: contraTN moved => mem; move: (not_memory l0_0); rewrite /tau l_1 l0_0 tangent_there negbK.
  by case: (eqVneq j i0) => [<-|_]; rewrite ?mem ?eqxx.
have all_l l : (l0 < l <= L)%N -> norm (width l) (tau l) <= gain K l.
  elim: l => // l IH /andP[l0_l l_L]; move: l0_l; rewrite ltnS leq_eqVlt => /orP[/eqP <-|l0_l].
    apply: le_trans (norm_single (k := i0) _) _ => [i _ /negbTE i_i0|]; rewrite /tau tangent_there ?i_i0 //.
    by rewrite normr_nat; apply: le_trans (gain_ge1 _); rewrite lern1 leq_b1.
  have low : (l0 < l <= L)%N by rewrite l0_l ltnW.
  apply: le_trans _ (step l low (IH low)); apply: norm_le => i _; rewrite /tau act_tangentS.
  by case: ifP => // _; rewrite normr0.
rewrite /slope; have out_lt : (0 < width L.+1)%N by rewrite one_output.
apply: le_trans (norm_entry (fun i => pre_tangent p x (at_bias R l0 i0) L i) out_lt) _.
move: l0_L; rewrite leq_eqVlt => /orP[/eqP l0_L|l0_L]; last by apply: step => //; [rewrite l0_L leqnn | apply: all_l; rewrite l0_L leqnn].
apply: le_trans (norm_single (k := i0) _) _ => [i _ i_i0|]; rewrite pre_tangent_bias l0_L eqxx /=.
  by rewrite (negbTE i_i0) add0r total_zero // => j _; rewrite tangent_before ?mulr0.
rewrite eqxx total_zero ?addr0 => [|j _]; last by rewrite tangent_before ?mulr0.
by rewrite normr1; exact: (gain_ge1 L.+1).
Qed.

(** ** Slopes of the memory *)

Section Memory.

Variable k : nat.
Hypotheses (k_memory : memory k) (k_lt : (k < width 1)%N).
Notation at_k := (at_bias R 0 k).

(** The reference's tangents are no larger than [theta], and every ReLU that they reach is further from its kink than the drift
    can take it. *)
Variable theta : R.
Hypothesis theta_ge0 : 0 <= theta.
Hypothesis small_tangent : forall l, (0 < l <= L)%N -> norm (width l) (act_tangent p0 x at_k l) <= theta.
Hypothesis stable : forall l i, (0 < l < L)%N -> (i < width l.+1)%N ->
  pre_tangent p0 x at_k l i != 0 -> value_error < `|pre p0 x l i|.

Lemma same_side l i :
  (l < L)%N -> (i < width l.+1)%N -> pre_tangent p0 x at_k l i != 0 -> (0 < pre p x l i) = (0 < pre p0 x l i).
Proof.
case: l => [|l] l_L i_lt reached.
  suff -> : i = k by rewrite pre_memory.
  apply: contraNeq reached => i_k; rewrite pre_tangent_bias (negbTE i_k) andbF total_zero ?addr0 // => j _.
  by rewrite tangent_before ?mulr0.
have far := @stable l.+1 i l_L i_lt reached; have := pre_moves (ltnW l_L) i_lt; rewrite ler_distl => /andP[low high].
case: (ltrP 0 (pre p0 x l.+1 i)) => [pos|neg].
  by apply: lt_le_trans low; rewrite subr_gt0; rewrite gtr0_norm in far.
apply/negbTE; rewrite -leNgt; apply: le_trans high _; rewrite ler0_norm // in far.
by rewrite -ler_subr_addr sub0r ler_oppr; exact: ltW far.
Qed.

Definition slope_unit : R := N%:R * drift * theta.
Let slope_unit_ge0 : 0 <= slope_unit. Proof. by rewrite !mulr_ge0 ?ler0n. Qed.

Lemma tangent_step l :
  (0 < l <= L)%N ->
  norm (width l) (fun i => act_tangent p x at_k l i - act_tangent p0 x at_k l i) <= l%:R * slope_unit * gain K l ->
  (l = 1%N -> forall i, act_tangent p x at_k l i = act_tangent p0 x at_k l i) ->
  norm (width l.+1) (fun i => pre_tangent p x at_k l i - pre_tangent p0 x at_k l i) <= l.+1%:R * slope_unit * gain K l.+1.
Proof.
move=> l_in IH first.
rewrite (norm_eq (v := fun i =>
  total (width l) (fun j => mat p l i j * (act_tangent p x at_k l j - act_tangent p0 x at_k l j)) +
  total (width l) (fun j => (mat p l i j - mat p0 l i j) * act_tangent p0 x at_k l j))); last first.
  by move=> i _; rewrite !pre_tangent_bias opprD addrACA subrr add0r total_sub -total_add; apply: total_eq => j _; ring.
apply: le_trans (norm_add _ _ _) _; rewrite [l.+1%:R]mulrS !mulrDl mul1r [X in _ <= X]addrC; apply: ler_add.
  apply: (@le_trans _ _ (K l * norm (width l) (fun i => act_tangent p x at_k l i - act_tangent p0 x at_k l i))); last first.
    by rewrite /= mulrCA; apply: ler_wpmul2l => //; apply: le_trans ler01 (K_ge1 _).
  apply: norm_matrix => j j_lt moved; apply: columns => // l_1.
  by move: moved; rewrite first // subrr eqxx.
case/andP: l_in => l_pos l_L; apply: le_trans (_ : slope_unit <= _); last by rewrite ler_pemulr // gain_ge1.
apply: (@le_trans _ _ (N%:R * drift * norm (width l) (act_tangent p0 x at_k l))).
  apply: norm_matrix => j j_lt _; apply: le_trans (norm_const _) _ => [i i_lt|]; first exact: near_mat.
  by apply: ler_wpmul2r; rewrite ?N_le.
by apply: ler_wpmul2l; rewrite ?mulr_ge0 ?ler0n // small_tangent // l_pos.
Qed.

(** How far a memory unit's slope has moved. *)
Definition slope_error : R := L.+1%:R * slope_unit * G.

Theorem memory_slope_moves : (0 < L)%N -> `|slope L width p x at_k - slope L width p0 x at_k| <= slope_error.
Proof.
move=> L_gt0.
have first i : act_tangent p x at_k 1 i = act_tangent p0 x at_k 1 i.
  by rewrite !tangent_there; case: eqP => [->|] //=; rewrite pre_memory.
have all_l l : (0 < l <= L)%N ->
    norm (width l) (fun i => act_tangent p x at_k l i - act_tangent p0 x at_k l i) <= l%:R * slope_unit * gain K l.
  elim: l => // -[|l] IH /andP[_ l_L].
    rewrite [norm _ _]total_zero => [|i _]; last by rewrite first subrr normr0.
    by apply: mulr_ge0 (gain_ge0 _); apply: mulr_ge0 slope_unit_ge0; rewrite ler0n.
  have low : (0 < l.+1 <= L)%N := ltnW l_L.
  apply: le_trans _ (tangent_step low (IH low) _); last by case=> -> i; exact: first.
  apply: norm_le => i i_lt; rewrite !act_tangentS.
  case: (eqVneq (pre_tangent p0 x at_k l.+1 i) 0) => [->|reached].
    by rewrite if_same subr0; case: ifP => _; rewrite ?subr0 ?normr0.
  by rewrite (same_side _ _ reached) //; case: ifP => _ //; rewrite subrr normr0.
have last_ : (0 < L <= L)%N by rewrite L_gt0 leqnn.
have out_lt : (0 < width L.+1)%N by rewrite one_output.
apply: le_trans (norm_entry (fun i => pre_tangent p x at_k L i - pre_tangent p0 x at_k L i) out_lt) _.
by apply: tangent_step (all_l L last_) _ => // L_1 i; rewrite L_1 first.
Qed.

End Memory.
End Drift.
