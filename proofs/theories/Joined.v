(** Theorem 3 for any landscape: a landscape on which training runs a machine still does so inside the extended network.

    What is asked of the landscape l: a step of training on l alone takes the weights of a configuration to those of the next
    one and does not touch z; l lies at c or above while the machine runs, and low enough once it has halted. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Steps.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (ps : seq parameter) (fed w : nat -> matrix R).

Lemma first_least_ext n (f g : nat -> R) : (forall v, f v = g v) -> first_least n f = first_least n g.
Proof. by move=> f_g; elim: n => //= n ->; rewrite !f_g. Qed.

(** Training looks at the gradient alone. *)
Lemma train_step_ext loss loss' p i j :
  (forall i j, gradient arith w fed loss p i j = gradient arith w fed loss' p i j) ->
  train_step arith ps loss fed w p i j = train_step arith ps loss' fed w p i j.
Proof.
move=> same; rewrite /train_step; case: (rule _) => [|rate]; last by rewrite same.
rewrite /simplex_step (first_least_ext _ (fun v => same v 0%N)) same.
rewrite (@total_eq _ _ _ (fun u => gradient arith w fed loss' p u 0%N * w p u 0%N)) // => u _.
by rewrite same.
Qed.

(** Where the gradient is zero, nothing moves; Frank-Wolfe stays too. *)
Lemma train_step_still loss p i j :
  (forall i j, gradient arith w fed loss p i j = 0) ->
  train_step arith ps loss fed w p i j = if rule (nth (ParameterOf (0, 0)%N (Descent zero)) ps p) is Simplex then w p i 0%N
                                         else w p i j.
Proof.
move=> none; rewrite /train_step; case: (rule _) => [|rate]; last by rewrite none mulr0 subr0.
rewrite /simplex_step none (total_zero (f := fun u => _)) ?ltxx // => u _.
by rewrite none mul0r.
Qed.

End Steps.

Section Joined.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** The machine and a landscape. The read-only tapes are hidden units [ro]. *)
Variables (m : machine) (tau : nat) (at_ : places) (ro landscape : expression).
Hypothesis ok : well_formed m.
Hypothesis landscape_shape : shape_of landscape = (1, 1)%N.

(** The labels' shape, the places of z, of y, and the primary network. *)
Variables (s : shape) (z_at y_at : nat) (r : number) (primary : expression).
Variables stop phi_slope full psi_slope : number.
Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis z_apart : z_at \notin [:: vertex_at at_; tape_at at_; head_at at_].

Notation loss := (extended_loss s z_at y_at r landscape primary stop phi_slope full psi_slope).
Notation output := (out s z_at r landscape primary stop phi_slope full psi_slope).

(** The level c of a running machine, from which on the switch is open; psi is 1 at z = 0. *)
Variable low : R.
Hypothesis low_gt0 : 0 < low.
Hypothesis slope_gt0 : 0 < real R phi_slope.
Hypothesis open_running : 1 <= real R phi_slope * (low - real R stop).
Hypothesis copies_first : 1 <= real R psi_slope * (0 - real R full).

(** Square roots are square roots. *)
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.

(** z is moved with rate 1, the rest as the landscape says; only a column may be a simplex. *)
Variable ps : seq parameter.
Notation rule_of p := (rule (nth (ParameterOf (0, 0)%N (Descent zero)) ps p)).
Hypothesis z_rate : rule_of z_at = Descent one.
Hypothesis tape_rule : (0 < n_writable m)%N -> rule_of (tape_at at_) <> Simplex.
Hypothesis head_rule : rule_of (head_at at_) <> Simplex.

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

(** What is asked of the landscape, at weights that stand for a configuration. *)
Definition stands (w : nat -> matrix R) (c : configuration) : Prop :=
  [/\ encodes w c, inside m tau c, stays_inside m tau c & shows m tau (value_at w ro) c].

Hypothesis running_high : forall w c, stands w c -> ~~ halted m c -> low <= value_at w landscape 0%N 0%N.
Hypothesis halted_low : forall w c, stands w c -> halted m c ->
  real R phi_slope * (value_at w landscape 0%N 0%N - real R stop) <= 0.
Hypothesis keeps_z : forall w c, stands w c -> forall i j, gradient arith w fed landscape z_at i j = 0.
Hypothesis steps_on : forall w c, stands w c -> encodes (train_step arith ps landscape fed w) (step m c).

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

Lemma train_z w i j : train w z_at i j = w z_at i j - gradient arith w fed loss z_at i j.
Proof. by rewrite /train_step z_rate mul1r. Qed.

(** The first step copies the labels, and nothing else moves. *)
Theorem first_step w c : no_labels w -> encodes w c -> copied_labels (train w) /\ encodes (train w) c.
Proof.
move=> none [x t h].
have moved_ p i j : gradient arith w fed loss p i j =
    total s.1 (fun i' => total s.2 (fun j' =>
      (w z_at i' j' + real R r - labels i' j') * unit_direction R p i j z_at i' j')).
  by apply: before_copying; rewrite // psi_one.
have still p : p != z_at -> forall i j, gradient arith w fed loss p i j = 0.
  move=> p_z i j; rewrite moved_; apply: total_zero => i' _; apply: total_zero => j' _.
  by rewrite /unit_direction eq_sym (negbTE p_z) mulr0.
move: z_apart; rewrite !inE !negb_or !(eq_sym z_at) => /and3P[vz tz hz].
split; last first.
  split=> [v v_lt|i j i_w j_tau|i j i_d j_tau].
  - by rewrite (train_step_still _ _ _ (still _ vz)); case: (rule _) => [|rate]; apply: x.
  - rewrite (train_step_still _ _ _ (still _ tz)).
    by have := tape_rule (leq_ltn_trans (leq0n _) i_w); case: (rule _) => [/(_ erefl)|rate _] //; apply: t.
  rewrite (train_step_still _ _ _ (still _ hz)).
  by have := head_rule; case: (rule _) => [/(_ erefl)|rate _] //; apply: h.
move=> i j i_s j_s; rewrite train_z moved_.
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
Hypotheses (copied_ : copied_labels w) (here : stands w c) (runs : ~~ halted m c).

Lemma phi_one : value_at w (phi landscape stop phi_slope) 0%N 0%N = 1.
Proof.
apply: ramp_one => //; apply: le_trans open_running _; rewrite ler_pmul2l //.
by rewrite ler_add2r (running_high here).
Qed.

Lemma landscape_positive : 0 < value_at w landscape 0%N 0%N.
Proof. exact: lt_le_trans low_gt0 (running_high here runs). Qed.

Let twice_positive : 0 < 2%:R * value_at w landscape 0%N 0%N.
Proof. by rewrite mulr_gt0 ?ltr0n ?landscape_positive. Qed.

(** The loss is the landscape's, and lies above the stopping level. *)
Theorem extended_running_loss : value_at w loss 0%N 0%N = value_at w landscape 0%N 0%N.
Proof. by apply: running_loss; rewrite ?psi_zero ?phi_one ?rooted ?landscape_positive. Qed.

(** The gradient is the landscape's: in particular none flows through the primary network. *)
Theorem extended_gradient p i j :
  gradient arith w fed loss p i j = gradient arith w fed landscape p i j.
Proof. by apply: running_tangent; rewrite ?psi_zero ?phi_one ?rooted ?landscape_positive. Qed.

(** A step of training is a step of the machine, and z keeps the labels. *)
Theorem extended_step : copied_labels (train w) /\ encodes (train w) (step m c).
Proof.
split=> [i j i_s j_s|].
  by rewrite train_z extended_gradient (keeps_z here) subr0 copied_.
have [x t h] := steps_on here.
by split=> *; rewrite (train_step_ext _ _ _ (extended_gradient _)); [apply: x | apply: t | apply: h].
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

(** After [k + 1] steps of training the weights are those of the machine after [k] steps, and z holds the labels. *)
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
rewrite steps_last iterS; apply: extended_step; [by [] | | exact: runs].
by split=> //; [exact: stays | exact: shown_j].
Qed.

(** Once the machine has halted, the network's output is the primary network's, for every theta the tapes hold. *)
Theorem extended_output w c i j :
  copied_labels w -> stands w c -> halted m c -> value_at w output i j = value_at w primary i j.
Proof.
move=> copied_ here halts; apply: halted_output; first exact: psi_zero.
by apply: ramp_zero => //; exact: halted_low here halts.
Qed.

(** The whole run of a machine that halts after [k] steps: the loss stays at c or above through [k] steps of training, and
    after [k + 1] the network puts out f_theta(x), and its loss is 1/2 |f_theta(x) - y|^2. *)
Theorem extended_run k w :
  shape_of primary = s ->
  inside m tau start -> (forall j, (j <= k)%N -> stays_inside m tau (steps m j start)) ->
  (forall j, (j < k)%N -> ~~ halted m (steps m j start)) -> halted m (steps m k start) ->
  no_labels w -> encodes w start ->
  let end_ := iter k.+1 train w in
  [/\ forall j, (j < k)%N -> low <= value_at (iter j.+1 train w) loss 0%N 0%N,
      forall i j, value_at end_ output i j = value_at end_ primary i j
    & value_at end_ loss 0%N 0%N =
      2%:R^-1 * total s.1 (fun i => total s.2 (fun j => (value_at end_ primary i j - labels i j) ^+ 2))].
Proof.
move=> primary_shape s_in stays runs halts none enc end_.
have stays' n j : (n <= k)%N -> (j < n)%N -> stays_inside m tau (steps m j start).
  by move=> n_k j_n; apply: stays; apply: leq_trans (ltnW j_n) n_k.
have [in_k shown_k] := start_steps s_in (fun j => stays' k j (leqnn k)) (leqnn k).
have [copied_ enc_k] := extended_trace s_in (fun j => stays' k j (leqnn k)) runs none enc.
have same_out i j : value_at end_ output i j = value_at end_ primary i j.
  apply: (extended_output (c := steps m k start)) => //; split=> //; [exact: stays | exact: shown_k].
split=> [j j_k||] //.
  have [in_j shown_j] := start_steps s_in (fun j => stays' k j (leqnn k)) (ltnW j_k).
  have runs_j i : (i < j)%N -> ~~ halted m (steps m i start) by move=> i_j; apply: runs (ltn_trans i_j j_k).
  have [copied_j enc_j] := extended_trace s_in (fun i => stays' j i (ltnW j_k)) runs_j none enc.
  have here : stands (iter j.+1 train w) (steps m j start).
    by split=> //; [exact: stays j (ltnW j_k) | exact: shown_j].
  rewrite (extended_running_loss copied_j here (runs j j_k)).
  exact: running_high here (runs j j_k).
rewrite value_extended_loss; congr (_ * _).
by apply: total_eq => i _; apply: total_eq => j _; rewrite same_out.
Qed.

End Joined.
