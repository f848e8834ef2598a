(** Theorem 3: training the extended network copies the labels, runs the machine, and ends with f_theta(x).

    The landscape is `plain`, the carrier is the offset carrier. The first step copies the labels and nothing else moves;
    each further step is a step of the machine, and z keeps the labels; once the machine has halted the network's output is
    the primary network's. So k steps of the machine take k + 1 gradient steps. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain PlainValue PlainStep.
From Luge Require Import PlainLevels Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Whether an expression does not depend on the weights as far as differentiation sees. *)
Fixpoint frozen (e : expression) : bool :=
  match e with
  | Weight _ _ => false
  | Input _ _ | Constant _ _ | Quantize _ _ | Dequantize _ _ | Stop _ => true
  | Linear _ _ _ a | Scale _ a | Relu a | Root a | SumColumns a | SumAll a | Shift _ a | Reshape _ a | Gather _ a =>
      frozen a
  | Plus a b | Product a b | Quotient a b | Matmul a b | Stack a b => frozen a && frozen b
  | Switch o a b => [&& frozen o, frozen a & frozen b]
  | Select _ a b => frozen a && frozen b
  end.

Section Frozen.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed direction : nat -> matrix R.

Lemma tangent_frozen e i j : frozen e -> tangent arith weights fed direction e i j = 0.
Proof.
elim: e i j => //=; rewrite /stretch /flat.
- move=> n l b a IH i j /IH a0; elim: l => //= x l ->; by rewrite a0 mulr0 addr0; case: ifP.
- by move=> w a IH i j /IH ->; rewrite mulr0.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite addr0.
- by move=> a IH i j /IH ->; case: ifP.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite mul0r mulr0 addr0.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite mul0r mulr0 subr0 mul0r.
- by move=> a IHa b IHb i j /andP[/IHa a0 /IHb b0]; apply: total_zero => k _; rewrite a0 b0 mul0r mulr0 addr0.
- by move=> a IH i j /IH ->; rewrite mul0r.
- by move=> a IH i j /IH a0; apply: total_zero => k _.
- by move=> a IH i j /IH a0; apply: total_zero => k _; apply: total_zero.
- by move=> z a IH i j /IH a0; case: shifted.
- by move=> s a IH i j /IH ->.
- by move=> a IHa b IHb i j /andP[/IHa a0 /IHb b0]; case: ifP.
- by move=> l a IH i j /IH ->.
- move=> o IHo a IHa b IHb i j /and3P[/IHo o0 /IHa a0 /IHb b0]; rewrite o0 a0 b0.
  by do 2!case: ifP => // _; rewrite mul0r !mulr0 !addr0.
by move=> o IHo a IHa b IHb i j /andP[/IHa a0 /IHb b0]; case: ifP.
Qed.

End Frozen.

Section Theorem3.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** The machine and its landscape. The read-only tapes are hidden units [ro]. *)
Variables (m : machine) (tau : nat) (at_ : places) (ro : expression).
Variable units : seq (seq (option bool)).
Variables offset drop : number.
Hypotheses (ok : well_formed m) (ro_fits : fixed_fits m tau (Some ro)) (units_ok : units_fit m units).
Hypothesis at_apart : apart at_.
Hypothesis ro_frozen : frozen ro.

(** The labels' shape, the places of z, of y, and the primary network. *)
Variables (s : shape) (z_at y_at : nat) (r : number) (primary : expression).
Variables stop phi_slope full psi_slope : number.
Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis z_apart : z_at \notin [:: vertex_at at_; tape_at at_; head_at at_].
Hypothesis primary_shape : shape_of primary = s.

Notation landscape := (plain m tau at_ (Some ro) units offset drop).
Notation loss := (extended_loss s z_at y_at r landscape primary stop phi_slope full psi_slope).
Notation output := (out s z_at r landscape primary stop phi_slope full psi_slope).

(** The levels: the switch is open from c on, and closed from c - Omega down; psi is 1 at z = 0. *)
Hypothesis offset_gt0 : 0 < real R offset.
Hypothesis slope_gt0 : 0 < real R phi_slope.
Hypothesis open_running : 1 <= real R phi_slope * (real R offset - real R stop).
Hypothesis closed_halted : real R phi_slope * (real R offset - real R drop - real R stop) <= 0.
Hypothesis copies_first : 1 <= real R psi_slope * (0 - real R full).

(** Square roots are square roots. *)
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.

(** All weights are moved with rate 1. *)
Variable ps : seq parameter.
Notation rate_of p := (rule (nth (ParameterOf (0, 0)%N (Descent zero)) ps p)).
Hypothesis rates : forall p, p \in [:: z_at; vertex_at at_; head_at at_] -> rate_of p = Descent one.
Hypothesis tape_rate : (0 < n_writable m)%N -> rate_of (tape_at at_) = Descent one.

(** The data: labels that are not too small, and hidden units that show them once z holds them. *)
Variable fed : nat -> matrix R.
Notation labels := (fed y_at).
Hypothesis labels_seen :
  real R psi_slope *
    (total s.1 (fun i => total s.2 (fun j => (labels i j - real R r) ^+ 2)) - real R full) <= 0.

(** z holds the labels. *)
Definition copied_labels (w : nat -> matrix R) : Prop :=
  forall i j, (i < s.1)%N -> (j < s.2)%N -> w z_at i j + real R r = labels i j.

(** z is empty. *)
Definition no_labels (w : nat -> matrix R) : Prop :=
  forall i j, (i < s.1)%N -> (j < s.2)%N -> w z_at i j = 0.

Variable start : configuration.
Hypothesis data_shown : forall w, copied_labels w -> shows m tau (value arith w fed ro) start.

Notation train := (train_step arith ps loss fed).
Notation encodes := (encodes m tau at_).
Notation value_at w := (value arith w fed).

Lemma landscape_shape : shape_of landscape = (1, 1)%N.
Proof. by []. Qed.

Lemma value_size w : value_at w (SumAll (Product (z s z_at) (z s z_at))) 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => w z_at i j ^+ 2)).
Proof.
rewrite /= !joinednn; apply: total_eq => i i_s; apply: total_eq => j j_s.
by rewrite stretch_in // expr2.
Qed.

Lemma psi_one w : no_labels w -> value_at w (psi s z_at full psi_slope) 0%N 0%N = 1.
Proof.
move=> none; apply: ramp_one => //; rewrite value_size.
rewrite (_ : total _ _ = 0) //; apply: total_zero => i i_s; apply: total_zero => j j_s.
by rewrite none // expr0n.
Qed.

Lemma psi_zero w : copied_labels w -> value_at w (psi s z_at full psi_slope) 0%N 0%N = 0.
Proof.
move=> copied_; apply: ramp_zero => //; rewrite value_size.
rewrite (_ : total s.1 _ = total s.1 (fun i => total s.2 (fun j => (labels i j - real R r) ^+ 2))) //.
by apply: total_eq => i i_s; apply: total_eq => j j_s; rewrite -copied_ // addrK.
Qed.

Lemma trainE w p i j :
  (p \in [:: z_at; vertex_at at_; head_at at_]) || ((0 < n_writable m)%N && (p == tape_at at_)) ->
  train w p i j = w p i j - gradient arith w fed loss p i j.
Proof.
case/orP=> [p_in|/andP[w_gt0 /eqP ->]]; first by rewrite /train_step rates // mul1r.
by rewrite /train_step tape_rate // mul1r.
Qed.

(** The first step copies the labels, and nothing else moves. *)
Theorem first_step w c : no_labels w -> encodes w c -> copied_labels (train w) /\ encodes (train w) c.
Proof.
move=> none [x t h].
have moved_ p i j : gradient arith w fed loss p i j =
    total s.1 (fun i' => total s.2 (fun j' =>
      (w z_at i' j' + real R r - labels i' j') * unit_direction R p i j z_at i' j')).
  by apply: before_copying; rewrite // psi_one.
have still p i j : p != z_at -> gradient arith w fed loss p i j = 0.
  move=> p_z; rewrite moved_; apply: total_zero => i' _; apply: total_zero => j' _.
  by rewrite /unit_direction eq_sym (negbTE p_z) mulr0.
move: z_apart; rewrite !inE !negb_or !(eq_sym z_at) => /and3P[vz tz hz].
split; last first.
  split=> [v v_lt|i j i_w j_tau|i j i_d j_tau].
  - by rewrite trainE ?inE ?eqxx ?orbT // still // subr0; apply: x.
  - by rewrite trainE ?eqxx ?(leq_ltn_trans _ i_w) ?orbT // still // subr0; apply: t.
  by rewrite trainE ?inE ?eqxx ?orbT // still // subr0; apply: h.
move=> i j i_s j_s; rewrite trainE ?inE ?eqxx // moved_.
rewrite (total_one (k := i)) // => [|k _ k_i].
  rewrite (total_one (k := j)) // => [|k _ k_j]; last by rewrite /unit_direction (negbTE k_j) andbF mulr0.
  rewrite /unit_direction !eqxx mulr1.
  have -> (a b c' : R) : a - (a + b - c') + b = c' by ring.
  by [].
by apply: total_zero => j' _; rewrite /unit_direction (negbTE k_i) andbF mulr0.
Qed.

(** ** While the machine runs *)

Section Running.

Variables (w : nat -> matrix R) (c : configuration).
Hypotheses (copied_ : copied_labels w) (enc : encodes w c).
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c).
Hypothesis shown : shows m tau (value_at w ro) c.

Let near : within m tau at_ 0 w c. Proof. exact/within0. Qed.
Let small : 0 <= 4%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.
Let unmoved : forall direction i j, tangent arith w fed direction ro i j = 0.
Proof. by move=> *; apply: tangent_frozen. Qed.

Lemma landscape_level : ~~ halted m c -> real R offset <= value_at w landscape 0%N 0%N.
Proof.
move=> /negbTE runs.
rewrite (value_loss offset drop ok ro_fits units_ok c_in stays near small shown) runs mulr0 subr0 ler_addl.
rewrite mulr_ge0 ?invr_ge0 ?ler0n // !addr_ge0 //; apply: total_ge0 => *; rewrite ?sqr_ge0 //.
by apply: total_ge0 => *; rewrite sqr_ge0.
Qed.

Hypothesis runs : ~~ halted m c.

Lemma phi_one : value_at w (phi landscape stop phi_slope) 0%N 0%N = 1.
Proof.
apply: ramp_one => //; apply: le_trans open_running _; rewrite ler_pmul2l //.
by rewrite ler_add2r landscape_level.
Qed.

Lemma landscape_positive : 0 < value_at w landscape 0%N 0%N.
Proof. exact: lt_le_trans offset_gt0 (landscape_level runs). Qed.

Let twice_positive : 0 < 2%:R * value_at w landscape 0%N 0%N.
Proof. by rewrite mulr_gt0 ?ltr0n ?landscape_positive. Qed.

(** The loss is the landscape's, and lies above the stopping level. *)
Theorem extended_running_loss : value_at w loss 0%N 0%N = value_at w landscape 0%N 0%N.
Proof.
by apply: running_loss; rewrite ?psi_zero ?phi_one ?rooted.
Qed.

(** The gradient is the landscape's: in particular none flows through the primary network. *)
Theorem extended_gradient p i j :
  gradient arith w fed loss p i j = gradient arith w fed landscape p i j.
Proof.
by apply: running_tangent; rewrite ?psi_zero ?phi_one ?rooted ?landscape_positive.
Qed.

(** A step of training is a step of the machine, and z keeps the labels. *)
Theorem extended_step : copied_labels (train w) /\ encodes (train w) (step m c).
Proof.
have kept i j : gradient arith w fed loss z_at i j = 0.
  rewrite extended_gradient.
  exact: (gradient_elsewhere offset drop ok ro_fits units_ok c_in stays near small shown unmoved).
split=> [i j i_s j_s|]; first by rewrite trainE ?inE ?eqxx // kept subr0 copied_.
have : within m tau at_ 0 (noisy_step arith (fun _ _ _ => 0) landscape fed w) (step m c).
  apply: (plain_noisy_step offset drop ok ro_fits units_ok at_apart c_in stays near small shown unmoved (eta := 0)).
    by move=> p i j; rewrite normr0.
  by rewrite mul0r.
move/within0 => -[x t h].
split=> [v v_lt|i j i_w j_tau|i j i_d j_tau].
- by rewrite trainE ?inE ?eqxx ?orbT // extended_gradient -x // /noisy_step addr0 mul1r.
- by rewrite trainE ?eqxx ?(leq_ltn_trans _ i_w) ?orbT // extended_gradient -t // /noisy_step addr0 mul1r.
by rewrite trainE ?inE ?eqxx ?orbT // extended_gradient -h // /noisy_step addr0 mul1r.
Qed.

End Running.

(** ** The whole run *)

Lemma start_steps k :
  inside m tau start -> (forall j, (j < k)%N -> stays_inside m tau (steps m j start)) ->
  forall j, (j <= k)%N -> inside m tau (steps m j start) /\
    forall w, copied_labels w -> shows m tau (value_at w ro) (steps m j start).
Proof.
move=> s_in stays; elim=> [|j IH] j_k; first by split.
have [in_j shown_j] := IH (ltnW j_k); rewrite steps_last.
split; first exact: (inside_step ok (proj1 in_j) in_j (stays j j_k)).
by move=> w copied_; apply: shows_step; [|case: in_j|apply: shown_j].
Qed.

(** After [k + 1] gradient steps the weights are those of the machine after [k] steps, and z holds the labels. *)
Theorem extended_trace k w :
  inside m tau start -> (forall j, (j < k)%N -> stays_inside m tau (steps m j start)) ->
  (forall j, (j < k)%N -> ~~ halted m (steps m j start)) ->
  no_labels w -> encodes w start ->
  copied_labels (iter k.+1 train w) /\ encodes (iter k.+1 train w) (steps m k start).
Proof.
move=> s_in stays runs none enc.
suff: forall j, (j <= k)%N -> copied_labels (iter j.+1 train w) /\ encodes (iter j.+1 train w) (steps m j start).
  exact.
elim=> [_|j IH j_k]; first exact: first_step.
have [copied_ enc_j] := IH (ltnW j_k); have [in_j shown_j] := start_steps s_in stays (ltnW j_k).
rewrite steps_last iterS; apply: extended_step => //; [exact: stays | exact: shown_j | exact: runs].
Qed.

(** Once the machine has halted, the network's output is the primary network's, for every theta the tapes hold. *)
Theorem extended_output w c i j :
  copied_labels w -> encodes w c -> inside m tau c -> stays_inside m tau c -> shows m tau (value_at w ro) c ->
  halted m c -> value_at w output i j = value_at w primary i j.
Proof.
move=> copied_ enc c_in stays shown halts; apply: halted_output; first exact: psi_zero.
by apply: ramp_zero => //; rewrite (halted_level offset drop ok ro_fits units_ok c_in stays enc shown).
Qed.

(** The whole run of a machine that halts after [k] steps: the loss stays at c or above through [k] steps of training, and
    after [k + 1] the network puts out f_theta(x), and its loss is 1/2 |f_theta(x) - y|^2. *)
Theorem extended_run k w :
  inside m tau start -> (forall j, (j <= k)%N -> stays_inside m tau (steps m j start)) ->
  (forall j, (j < k)%N -> ~~ halted m (steps m j start)) -> halted m (steps m k start) ->
  no_labels w -> encodes w start ->
  let end_ := iter k.+1 train w in
  [/\ forall j, (j < k)%N -> real R offset <= value_at (iter j.+1 train w) loss 0%N 0%N,
      forall i j, value_at end_ output i j = value_at end_ primary i j
    & value_at end_ loss 0%N 0%N =
      2%:R^-1 * total s.1 (fun i => total s.2 (fun j => (value_at end_ primary i j - labels i j) ^+ 2))].
Proof.
move=> s_in stays runs halts none enc end_.
have stays' n j : (n <= k)%N -> (j < n)%N -> stays_inside m tau (steps m j start).
  by move=> n_k j_n; apply: stays; apply: leq_trans (ltnW j_n) n_k.
have [in_k shown_k] := start_steps s_in (fun j => stays' k j (leqnn k)) (leqnn k).
have [copied_ enc_k] := extended_trace s_in (fun j => stays' k j (leqnn k)) runs none enc.
have same_out i j : value_at end_ output i j = value_at end_ primary i j.
  by apply: extended_output copied_ enc_k in_k (stays k (leqnn k)) (shown_k _ copied_) halts.
split=> [j j_k||] //.
  have [in_j shown_j] := start_steps s_in (fun j => stays' k j (leqnn k)) (ltnW j_k).
  have runs_j i : (i < j)%N -> ~~ halted m (steps m i start) by move=> i_j; apply: runs (ltn_trans i_j j_k).
  have [copied_j enc_j] := extended_trace s_in (fun i => stays' j i (ltnW j_k)) runs_j none enc.
  have stays_j := stays j (ltnW j_k).
  rewrite (extended_running_loss copied_j enc_j in_j stays_j (shown_j _ copied_j) (runs j j_k)).
  exact: landscape_level enc_j in_j stays_j (shown_j _ copied_j) (runs j j_k).
rewrite value_extended_loss; congr (_ * _).
by apply: total_eq => i _; apply: total_eq => j _; rewrite same_out.
Qed.

End Theorem3.
