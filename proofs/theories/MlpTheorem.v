(** SGD on all weights of an ordinary MLP is a synchronous circuit, step by step.

    The circuit is any system of states: [next] says which state follows on a sample, [held] what a memory unit's bias should be
    in a state. The MLP is any whose *frozen* steps are right: as long as only the memory has moved, the gradient step moves the
    memory as the circuit does, up to [first_error] ([frozen_step] below says exactly what is asked). The theorem is that then
    training *all* weights and biases, zeros included, does so too, for as many steps as the inequalities allow: the other
    weights' drift is of second order. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Terms Mlp MlpDrift.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Trace.

Variable R : realFieldType.

(** The shape of the network, its memory units and its weights before training. *)
Variables (L : nat) (width : nat -> nat) (memory : nat -> bool) (start : mlp R).
Hypothesis one_output : width L.+1 = 1%N.
Hypothesis L_gt0 : (0 < L)%N.

Notation act := (act width).
Notation pre := (pre width).
Notation act_tangent := (act_tangent width).
Notation pre_tangent := (pre_tangent width).
Notation output := (output L width).
Notation slope := (slope L width).

(** The circuit. *)
Variables (state : Type) (next : state -> (nat -> R) * R -> state) (held : state -> nat -> R).

(** The rate; how many steps. *)
Variables (eta : R) (T : nat).
Hypothesis eta_ge0 : 0 <= eta.

(** Sizes: units per layer; inputs; activations; columns of weights; the residual; a memory unit's slope and tangents; the
    longest step of a memory unit. *)
Variables (N : nat) (sigma B : R) (K : nat -> R) (Q S theta longest : R).

(** Errors: of one frozen step; and how far the memory may be from the circuit's. *)
Variables first_error tolerance : R.

Hypotheses (sigma_ge0 : 0 <= sigma) (B_ge0 : 0 <= B) (Q_ge0 : 0 <= Q) (S_ge0 : 0 <= S) (theta_ge0 : 0 <= theta).
Hypotheses (longest_ge0 : 0 <= longest) (first_ge0 : 0 <= first_error).
Hypothesis widths : forall l, (l <= L.+1)%N -> (width l <= N)%N.
Hypothesis K_ge1 : forall l, 1 <= K l.

Notation G := (gain K L.+1).

(** How far a weight that is not the memory's moves in one step, and in T. *)
Definition drift_step : R := eta * (Q * (G * (B + 1))).
Definition drift : R := T%:R * drift_step.

(** How far values and slopes then are from the frozen network's; and what that adds to the error of one step. *)
Definition nu : R := value_error L N drift B K.
Definition slope_off : R := slope_error L N drift K theta.
Definition second_error : R := eta * (nu * S + Q * slope_off).
Definition step_error : R := first_error + second_error.

(** A weight from an input to a memory unit moves with it, as much less as the input is small. *)
Definition input_step : R := (longest + step_error) * sigma.

(** ** The inequalities *)

Hypothesis columns : forall l j, (0 < l <= L)%N -> (j < width l)%N -> (l = 1%N -> ~~ memory j) ->
  norm (width l.+1) (fun i => mat start l i j) + N%:R * drift <= K l.
Hypothesis nu_small : nu <= 1.
Hypothesis enough : T%:R * (step_error + N%:R * (input_step * sigma)) <= tolerance.

(** ** What is asked of the frozen network *)

(** The network before training but for its memory, which is near a state. *)
Definition frozen (st : state) (x : nat -> R) (p : mlp R) : Prop :=
  [/\ forall l i, (0 < l)%N || ~~ memory i -> bias p l i = bias start l i,
      forall l i j, (0 < l)%N || ~~ memory i -> mat p l i j = mat start l i j
    & forall k, memory k -> (k < width 1)%N -> `|pre p x 0 k - held st k| <= tolerance].

(** Its values are bounded, the residual too, with room for 1; every memory unit's tangents are bounded and cross no kink within
    [nu]; and its step of gradient descent is the circuit's, up to [first_error]. *)
Definition frozen_step (st : state) (sample : (nat -> R) * R) : Prop :=
  let x := sample.1 in
  (forall j, (j < width 0)%N -> `|x j| <= sigma) /\
  forall p, frozen st x p ->
  [/\ forall l j, (l <= L)%N -> (j < width l)%N -> `|act p x l j| <= B,
      `|output p x - sample.2| + 1 <= Q
    & forall k, memory k -> (k < width 1)%N ->
      [/\ forall l, (0 < l <= L)%N -> norm (width l) (act_tangent p x (at_bias R 0 k) l) <= theta,
          forall l i, (0 < l < L)%N -> (i < width l.+1)%N -> pre_tangent p x (at_bias R 0 k) l i != 0 ->
            nu < `|pre p x l i|,
          `|slope p x (at_bias R 0 k)| <= S,
          `|held (next st sample) k - held st k| <= longest
        & `|- (eta * ((output p x - sample.2) * slope p x (at_bias R 0 k))) - (held (next st sample) k - held st k)|
            <= first_error]].

(** ** One step *)

(** After [t] steps in state [st]. *)
Definition reached (t : nat) (st : state) (p : mlp R) : Prop :=
  [/\ forall l i, (l <= L)%N -> (i < width l.+1)%N -> (0 < l)%N || ~~ memory i ->
        `|bias p l i - bias start l i| <= t%:R * drift_step,
      forall l i j, (l <= L)%N -> (i < width l.+1)%N -> (j < width l)%N -> (0 < l)%N || ~~ memory i ->
        `|mat p l i j - mat start l i j| <= t%:R * drift_step,
      forall k, memory k -> (k < width 1)%N -> `|bias p 0 k - held st k| <= t%:R * step_error
    & forall k j, memory k -> (k < width 1)%N -> (j < width 0)%N -> `|mat p 0 k j| <= t%:R * input_step].

Let G_ge0 : 0 <= G. Proof. exact: gain_ge0. Qed.
Let drift_step_ge0 : 0 <= drift_step.
Proof. exact: mulr_ge0 eta_ge0 (mulr_ge0 Q_ge0 (mulr_ge0 G_ge0 (addr_ge0 B_ge0 ler01))). Qed.
Let drift_ge0 : 0 <= drift. Proof. exact: mulr_ge0 (ler0n _ _) drift_step_ge0. Qed.
Let nu_ge0 : 0 <= nu. Proof. exact: value_error_ge0. Qed.
Let slope_off_ge0 : 0 <= slope_off.
Proof. exact: mulr_ge0 (mulr_ge0 (ler0n _ _) (mulr_ge0 (mulr_ge0 (ler0n _ _) drift_ge0) theta_ge0)) G_ge0. Qed.
Let second_ge0 : 0 <= second_error.
Proof. exact: mulr_ge0 eta_ge0 (addr_ge0 (mulr_ge0 nu_ge0 S_ge0) (mulr_ge0 Q_ge0 slope_off_ge0)). Qed.
Let step_error_ge0 : 0 <= step_error. Proof. exact: addr_ge0 first_ge0 second_ge0. Qed.
Let input_step_ge0 : 0 <= input_step. Proof. exact: mulr_ge0 (addr_ge0 longest_ge0 step_error_ge0) sigma_ge0. Qed.

(** The network with the weights from before training, but the memory as it is. *)
Definition thawed (p : mlp R) : mlp R :=
  Mlp (fun l i j => if (l == 0%N) && memory i then mat p l i j else mat start l i j)
      (fun l i => if (l == 0%N) && memory i then bias p l i else bias start l i).

Let at_most_T t : (t <= T)%N -> t%:R * drift_step <= drift.
Proof. by move=> t_T; apply: ler_wpmul2r => //; rewrite ler_nat. Qed.

Lemma thawed_frozen t st x p :
  (t <= T)%N -> (forall j, (j < width 0)%N -> `|x j| <= sigma) -> reached t st p -> frozen st x (thawed p).
Proof.
move=> t_T x_small [_ _ near_held near_zero]; split=> [l i|l i j|k mem k_lt] /=.
- by rewrite lt0n; case: eqP => //= _ /negbTE ->.
- by rewrite lt0n; case: eqP => //= _ /negbTE ->.
rewrite /Mlp.pre /= mem addrAC; apply: le_trans (ler_norm_add _ _) _; apply: le_trans enough.
apply: (@le_trans _ _ (t%:R * (step_error + N%:R * (input_step * sigma)))); last first.
  apply: ler_wpmul2r; rewrite ?ler_nat //; apply: addr_ge0 => //; apply: mulr_ge0; first exact: ler0n.
  exact: mulr_ge0.
rewrite mulrDr; apply: ler_add; first exact: near_held.
apply: le_trans (total_norm _ _) _; rewrite mulrCA.
apply: (@le_trans _ _ ((width 0)%:R * (t%:R * (input_step * sigma)))); last first.
  by apply: ler_wpmul2r; rewrite ?ler_nat ?widths //; apply: mulr_ge0; [exact: ler0n | exact: mulr_ge0].
rewrite -total_const; apply: total_le => j j_lt; rewrite normrM mulrA; apply: ler_pmul => //.
  exact: near_zero.
exact: x_small.
Qed.

(** What holds of a network that has drifted: its output is near that of the frozen network, its residual, activations and
    slopes are bounded, and its memory's step is the circuit's. *)
Lemma drifted t st x y p :
  (t <= T)%N -> frozen_step st (x, y) -> reached t st p ->
  [/\ `|output p x - output (thawed p) x| <= nu, `|output p x - y| <= Q,
      forall l j, (l <= L)%N -> (j < width l)%N -> `|act p x l j| <= B + 1,
      forall l i, (l <= L)%N -> (i < width l.+1)%N -> (0 < l)%N || ~~ memory i -> `|slope p x (at_bias R l i)| <= G
    & forall k, memory k -> (k < width 1)%N -> `|slope p x (at_bias R 0 k)| <= S + slope_off /\
      `|- (eta * ((output p x - y) * slope p x (at_bias R 0 k))) - (held (next st (x, y)) k - held st k)| <= step_error].
Proof.
move=> t_T [/= x_small right] here.
have p0_frozen := thawed_frozen t_T x_small here.
have [bounded residual memory_right] := right _ p0_frozen.
have [near_bias near_mat near_held near_zero] := here.
set p0 := thawed p in p0_frozen bounded residual memory_right.
have same_memory i : memory i -> (i < width 1)%N ->
    bias p 0 i = bias p0 0 i /\ forall j, (j < width 0)%N -> mat p 0 i j = mat p0 0 i j by move=> /= ->.
have near_b l i : (l <= L)%N -> (i < width l.+1)%N -> `|bias p l i - bias p0 l i| <= drift.
  move=> l_L i_lt /=; case: ifP => [_|/negbT]; first by rewrite subrr normr0.
  by rewrite negb_and -lt0n => other; apply: le_trans (near_bias l i l_L i_lt other) (at_most_T t_T).
have near_m l i j : (l <= L)%N -> (i < width l.+1)%N -> (j < width l)%N -> `|mat p l i j - mat p0 l i j| <= drift.
  move=> l_L i_lt j_lt /=; case: ifP => [_|/negbT]; first by rewrite subrr normr0.
  by rewrite negb_and -lt0n => other; apply: le_trans (near_mat l i j l_L i_lt j_lt other) (at_most_T t_T).
have columns_p l j : (0 < l <= L)%N -> (j < width l)%N -> (l = 1%N -> ~~ memory j) ->
    norm (width l.+1) (fun i => mat p l i j) <= K l.
  move=> l_in j_lt other; apply: le_trans (columns l_in j_lt other); case/andP: l_in => l_gt0 l_L.
  rewrite (norm_eq (v := fun i => mat start l i j + (mat p l i j - mat start l i j))); last by move=> i _; ring.
  apply: le_trans (norm_add _ _ _) _; apply: ler_add => //.
  apply: (@le_trans _ _ ((width l.+1)%:R * drift)); last by apply: ler_wpmul2r; rewrite // ler_nat widths.
  apply: norm_const => i i_lt; apply: le_trans (near_mat l i j l_L i_lt j_lt _) (at_most_T t_T).
  by rewrite l_gt0.
have out_near := output_moves one_output widths drift_ge0 B_ge0 same_memory near_b near_m bounded K_ge1 columns_p.
rewrite -/nu in out_near.
have residual_p : `|output p x - y| <= Q.
  have -> : output p x - y = (output p0 x - y) + (output p x - output p0 x) by ring.
  apply: le_trans (ler_norm_add _ _) _; apply: le_trans residual; apply: ler_add => //; exact: le_trans out_near nu_small.
split=> //.
- move=> l j l_L j_lt; apply: le_trans (act_moves widths drift_ge0 B_ge0 same_memory near_b near_m bounded K_ge1 columns_p l_L j_lt) _.
  exact: ler_add.
- move=> l i l_L i_lt other; apply: (slope_bound one_output x K_ge1 columns_p) => // l_0.
  by move: other; rewrite l_0.
move=> k mem k_lt; have [small_tangent stable slope_small _ first_ok] := memory_right k mem k_lt.
have := memory_slope_moves one_output widths drift_ge0 B_ge0 same_memory near_b near_m bounded K_ge1 columns_p
  mem k_lt theta_ge0 small_tangent stable L_gt0; rewrite -/slope_off => slope_near.
set s := slope p x _; set s0 := slope p0 x (at_bias R 0 k) in slope_near first_ok slope_small.
split.
  have -> : s = s0 + (s - s0) by ring.
  by apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
have -> : - (eta * ((output p x - y) * s)) - (held (next st (x, y)) k - held st k) =
    (- (eta * ((output p0 x - y) * s0)) - (held (next st (x, y)) k - held st k)) -
    eta * ((output p x - output p0 x) * s0 + (output p x - y) * (s - s0)) by ring.
apply: le_trans (ler_norm_sub _ _) _; apply: ler_add => //; rewrite normrM (ger0_norm eta_ge0).
apply: ler_wpmul2l => //; apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
by apply: ler_add; apply: ler_pmul.
Qed.

Theorem mlp_step t st sample p :
  (t < T)%N -> frozen_step st sample -> reached t st p -> reached t.+1 (next st sample) (sgd_step L width eta sample p).
Proof.
case: sample => x y t_T right here; have [_ residual_p act_p slope_p memory_p] := drifted (ltnW t_T) right here.
have [near_bias near_mat near_held near_zero] := here; have [/= x_small frozen_right] := right.
have [_ _ memory_right] := frozen_right _ (thawed_frozen (ltnW t_T) x_small here).
have one_more (n : nat) (a : R) : n.+1%:R * a = n%:R * a + a by rewrite mulrS mulrDl mul1r addrC.
have moved k : memory k -> (k < width 1)%N ->
    `|eta * ((output p x - y) * slope p x (at_bias R 0 k))| <= longest + step_error.
  move=> mem k_lt; have [_ _ _ short _] := memory_right k mem k_lt; set u := eta * _.
  have -> : u = - ((held (next st (x, y)) k - held st k) + (- u - (held (next st (x, y)) k - held st k))) by ring.
  by rewrite normrN; apply: le_trans (ler_norm_add _ _) _; apply: ler_add => //; exact: (memory_p k mem k_lt).2.
split=> [l i l_L i_lt other|l i j l_L i_lt j_lt other|k mem k_lt|k j mem k_lt j_lt]; rewrite /= one_more.
- rewrite addrAC; apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; first exact: near_bias.
  rewrite !normrM (ger0_norm eta_ge0); apply: ler_wpmul2l => //; apply: ler_pmul => //.
  by apply: le_trans (slope_p l i l_L i_lt other) _; rewrite ler_pemulr // ler_addr.
- rewrite addrAC; apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; first exact: near_mat.
  rewrite slope_weight // !normrM (ger0_norm eta_ge0); apply: ler_wpmul2l => //; apply: ler_pmul; rewrite ?mulr_ge0 //.
  by rewrite mulrC; apply: ler_pmul => //; [exact: slope_p | exact: act_p].
- set u := eta * _.
  have -> : bias p 0 k - u - held (next st (x, y)) k =
      (bias p 0 k - held st k) + (- u - (held (next st (x, y)) k - held st k)) by ring.
  by apply: le_trans (ler_norm_add _ _) _; apply: ler_add; [exact: near_held | exact: (memory_p k mem k_lt).2].
apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; first exact: near_zero.
rewrite slope_weight //; set u := slope p x (at_bias R 0 k).
have -> : eta * ((output p x - y) * (act p x 0 j * u)) = eta * ((output p x - y) * u) * act p x 0 j by ring.
by rewrite normrM /input_step; apply: ler_pmul => //; [exact: moved | exact: x_small].
Qed.

(** ** All steps *)

(** A stream of samples: what the circuit makes of it, and what SGD does. *)
Fixpoint run (samples : nat -> (nat -> R) * R) (t : nat) (st : state) : state :=
  if t is t'.+1 then next (run samples t' st) (samples t') else st.

Fixpoint sgd (samples : nat -> (nat -> R) * R) (t : nat) (p : mlp R) : mlp R :=
  if t is t'.+1 then sgd_step L width eta (samples t') (sgd samples t' p) else p.

(** Any samples on which the frozen steps are right, any number of steps up to T: after [t] steps on all weights, the memory is
    within [t * step_error] of the circuit's, and every other weight within [t * drift_step] of where it started. *)
Theorem mlp_trace samples st t :
  (forall k, memory k -> (k < width 1)%N -> bias start 0 k = held st k) ->
  (forall k j, memory k -> (k < width 1)%N -> (j < width 0)%N -> mat start 0 k j = 0) ->
  (forall i, (i < T)%N -> frozen_step (run samples i st) (samples i)) ->
  (t <= T)%N -> reached t (run samples t st) (sgd samples t start).
Proof.
move=> held_start zero_start right; elim: t => [|t IH] t_T; last by apply: mlp_step (right t t_T) (IH (ltnW t_T)).
split=> [l i _ _ _|l i j _ _ _ _|k mem k_lt|k j mem k_lt j_lt] /=; rewrite mul0r ?subrr ?normr0 //.
  by rewrite held_start // subrr normr0.
by rewrite zero_start // normr0.
Qed.

(** So the memory is within [tolerance] of the circuit's at every step, as the next sample sees it, *)
Theorem mlp_memory samples st t x k :
  reached t (run samples t st) (sgd samples t start) -> (t <= T)%N -> (forall j, (j < width 0)%N -> `|x j| <= sigma) ->
  memory k -> (k < width 1)%N -> `|pre (sgd samples t start) x 0 k - held (run samples t st) k| <= tolerance.
Proof.
move=> here t_T x_small mem k_lt; have [_ _ near] := thawed_frozen t_T x_small here.
by have := near k mem k_lt; rewrite /Mlp.pre /= mem.
Qed.

(** and the output on any input is within [nu] of the frozen network's, which has its memory there. *)
Theorem mlp_output samples st t sample :
  reached t (run samples t st) (sgd samples t start) -> (t <= T)%N -> frozen_step (run samples t st) sample ->
  exists2 p, frozen (run samples t st) sample.1 p & `|output (sgd samples t start) sample.1 - output p sample.1| <= nu.
Proof.
case: sample => x y here t_T right; have [near _ _ _ _] := drifted t_T right here.
by exists (thawed (sgd samples t start)) => //; apply: thawed_frozen here => //; case: right.
Qed.

End Trace.
