(** Theorem 4: stock SGD with rate 1 on fresh batches runs a machine that takes and latches samples, for any sequence of
    samples.

    With |y| <= Y for all labels, 16 Y <= A and 4 Y^2 2^F <= A, for labels with F fraction bits. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Tapes StreamMachine Wiring Stream.
From Luge Require Import StreamCarrier StreamValue StreamStep.
From Luge Require Plain PlainValue PlainStep PlainTheorem ExtendedTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Numbers.

Variable R : realFieldType.

(** A whole multiple of 1/2^F. *)
Definition on_grid (fraction : nat) (v : R) : Prop := exists z : Z, v = real_of_Z R z / 2%:R ^+ fraction.

(** The bits of fixed-point numbers round to nearest: less than half a unit beside a number of the grid they are its bits. *)
Definition rounds_to_nearest (arith : arithmetic R) : Prop :=
  forall integer fraction sign_magnitude (v grid : R) l,
    on_grid fraction grid -> `|v - grid| * 2%:R ^+ fraction.+1 < 1 ->
    bit arith (Fixed integer fraction sign_magnitude) v l = bit arith (Fixed integer fraction sign_magnitude) grid l.

(** How far z may be off: [eta] is the largest label over A, [Y] the largest label. *)
Variables (eta Y : R).
Hypotheses (eta0 : 0 <= eta) (Y0 : 0 <= Y) (eta_small : eta <= 16%:R^-1).

Definition slack : R := 9%:R / 8%:R * (eta * Y).

Lemma slack_ge0 : 0 <= slack.
Proof. by rewrite !mulr_ge0 ?invr_ge0 ?ler0n. Qed.

Lemma slack_shrinks : eta * slack <= slack.
Proof.
rewrite ler_pimull ?slack_ge0 //; apply: le_trans eta_small _.
by rewrite invf_le1 ?ltr0n // ler1n.
Qed.

(** Two steps after the labels stood there, z is back up to [slack]. *)
Lemma back_in_two : eta * (Y + eta * Y + eta * slack) <= slack.
Proof.
have -> : eta * (Y + eta * Y + eta * slack) = (1 + eta + 9%:R / 8%:R * (eta * eta)) * (eta * Y).
  by rewrite /slack; ring.
rewrite /slack ler_wpmul2r ?mulr_ge0 //.
have square : eta * eta <= 16%:R^-1 * 16%:R^-1 by apply: ler_pmul.
have bound : 1 + eta + 9%:R / 8%:R * (eta * eta) <= 1 + 16%:R^-1 + 9%:R / 8%:R * (16%:R^-1 * 16%:R^-1).
  by rewrite !ler_add // ler_wpmul2l // mulr_ge0 ?invr_ge0 ?ler0n.
apply: le_trans bound _; rewrite -subr_ge0.
have -> : 9%:R / 8%:R - (1 + 16%:R^-1 + 9%:R / 8%:R * (16%:R^-1 * 16%:R^-1)) = 119%:R / 2048%:R :> R by field.
by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
Qed.

End Numbers.

Section Theorem4.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** The machine, and the states that take and latch. *)
Variables (m : machine) (tau : nat) (takes latches : pred nat).

(** The network: where its weights and inputs are, the shape of y, how the bits of a batch lie, and f_theta(x). *)
Variables (at_ : places) (memory_at z_at x_at y_at : nat) (s : shape) (wr : wires).
Variables (integer fraction : nat) (sign_magnitude : bool).
Variables (large inverse : number) (primary : expression).

Let f := number_format wr.
Let sx := feature_shape wr.
Let order := number_order sx.1 sx.2 s.2.
Let rows : nat := (n_tapes m - n_writable m)%N.
Let A := real R large.

Hypothesis ok : well_formed m.
Hypothesis has_memory : (n_writable m < n_tapes m)%N.
Hypothesis fit : wires_fit m tau s wr.
Hypothesis fixed_point : number_format wr = Fixed integer fraction sign_magnitude.
Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis all_apart : uniq [:: vertex_at at_; tape_at at_; head_at at_; memory_at; z_at].
Hypothesis primary_shape : shape_of primary = s.

(** f_theta(x) takes nothing from the weights but through stop-gradients. *)
Hypothesis primary_frozen : ExtendedTheorem.frozen primary.

Hypothesis signs : bits_are_signs arith.
Hypothesis rounds : rounds_to_nearest arith.

(** The samples: step [k] is fed sample [k]. *)
Variable samples : nat -> nat -> matrix R.

(** The largest label, and what A must be. *)
Variable Y : R.
Hypothesis inverse_ok : real R inverse * A = 1.
Hypothesis labels_le : forall k i j, (i < s.1)%N -> (j < s.2)%N -> `|samples k y_at i j| <= Y.
Hypothesis labels_on_grid : forall k i j, (i < s.1)%N -> (j < s.2)%N -> on_grid fraction (samples k y_at i j).
Hypothesis large_enough : 16%:R * Y <= A.
Hypothesis fine_enough : 4%:R * Y ^+ 2 * 2%:R ^+ fraction <= A.

Notation n_kept := (n_data_bits s wr).
Notation feature_cell := (feature_cell s wr).
Notation label_cell := (label_cell s wr).

(** D, the network's loss and its output. *)
Definition distance_of_stream : expression :=
  stream_landscape m tau takes latches at_ memory_at z_at x_at (PlainTheorem.all_units m) s wr large.

Definition loss_of_stream : expression :=
  stream_loss s z_at y_at large inverse distance_of_stream (take m takes latches at_) (at_rest m at_) primary.

Definition output_of_stream : expression :=
  stream_out s z_at large inverse distance_of_stream (take m takes latches at_) (at_rest m at_) primary.

(** One step of stock SGD, rate 1 on every weight, on one batch. *)
Definition sgd_step (batch w : nat -> matrix R) : nat -> matrix R :=
  fun p i j => w p i j - gradient arith w batch loss_of_stream p i j.

(** [k] steps, each on its own batch. *)
Fixpoint sgd (k : nat) (w : nat -> matrix R) : nat -> matrix R :=
  if k is k'.+1 then sgd_step (samples k') (sgd k' w) else w.

(** The bits of the samples, by the cell of the tapes they belong to: those of x and of y. *)
Definition sample_bit (k i j : nat) : bool :=
  0 < bit arith f (number_at s x_at y_at wr (samples k) ((j - data_cell wr) %/ n_bits f)) ((j - data_cell wr) %% n_bits f)%N.

Notation stream_step := (stream_step m takes latches feature_cell label_cell sample_bit sample_bit).
Notation stream_steps := (stream_steps m takes latches feature_cell label_cell sample_bit sample_bit).
Notation disciplined := (disciplined takes latches).
Notation slack := (slack (real R inverse * Y) Y).

(** Where z is: at -A, up to [slack], when a sample may be taken; at minus the labels when they may be latched. *)
Definition slot_near (w : nat -> matrix R) (sl : label_slot) : Prop :=
  forall i j, (i < s.1)%N -> (j < s.2)%N ->
    match sl with
    | Ready => `|w z_at i j + A| <= slack
    | Holds k => `|w z_at i j + samples k y_at i j| <= slack
    | Returns => `|w z_at i j + A| <= Y + real R inverse * Y * Y + real R inverse * Y * slack
    end.

(** The weights stand for a configuration, its memory and the slot. *)
Definition stands_for (w : nat -> matrix R) (st : streaming) : Prop :=
  [/\ within m tau at_ 15%:R^-1 w (running_in st), remembers m tau memory_at s wr w st 15%:R^-1
    & slot_near w (slot st)].

Let Y0 : 0 <= Y.
Proof. by case/andP: sides => s1 s2; apply: le_trans (normr_ge0 _) (labels_le 0 s1 s2). Qed.

Let A_gt0 : 0 < A.
Proof.
rewrite lt_def; apply/andP; split; last by apply: le_trans large_enough; rewrite mulr_ge0 ?ler0n.
by apply/eqP => A0; move: inverse_ok; rewrite A0 mulr0 => /eqP; rewrite eq_sym oner_eq0.
Qed.

Let inverseE : real R inverse = A^-1.
Proof. by apply: (mulIf (lt0r_neq0 A_gt0)); rewrite inverse_ok mulVf // lt0r_neq0. Qed.

Let inverse_ge0 : 0 <= real R inverse.
Proof. by rewrite inverseE invr_ge0 ltW. Qed.

Let eta := real R inverse * Y.
Let eta0 : 0 <= eta. Proof. exact: mulr_ge0. Qed.

Let eta_small : eta <= 16%:R^-1.
Proof. by rewrite /eta inverseE mulrC ler_pdivr_mulr // ler_pdivl_mull ?ltr0n. Qed.

Let eta_A : eta * A = Y.
Proof. by rewrite /eta mulrAC inverse_ok mul1r. Qed.

(** What z errs by does not reach half a unit of the labels. *)
Lemma slack_rounds : slack * 2%:R ^+ fraction.+1 < 1.
Proof.
have -> : slack * 2%:R ^+ fraction.+1 = 9%:R / 16%:R * (real R inverse * (4%:R * Y ^+ 2 * 2%:R ^+ fraction)).
  by rewrite /StreamTheorem.slack exprS; field.
have le1 : real R inverse * (4%:R * Y ^+ 2 * 2%:R ^+ fraction) <= 1.
  by have := ler_wpmul2l inverse_ge0 fine_enough; rewrite inverse_ok.
apply: le_lt_trans (_ : 9%:R / 16%:R * 1 < 1).
  by rewrite ler_wpmul2l // mulr_ge0 ?invr_ge0 ?ler0n.
by rewrite mulr1 ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
Qed.

Let as_sign g v l : bit arith g v l = sign R (0 < bit arith g v l).
Proof. by case: (signs g v l) => ->; rewrite ?ltr01 // ltr0N1. Qed.

(** A bit that is offered to the memory: of a feature, or of -z. *)
Let offered w fed b :
  let p := nth 0%N order (b %/ n_bits f) in
  (b < n_kept)%N -> value arith w fed (fresh_bits z_at x_at s wr) b 0%N =
  bit arith f (if (p < sx.1 * sx.2)%N then flat sx (fed x_at) p else - flat s (w z_at) (p - sx.1 * sx.2)%N) (b %% n_bits f)%N.
Proof.
move=> p b_lt; rewrite -[LHS]/(bit arith f (value arith w fed (Stack (Reshape (sx.1 * sx.2, 1)%N (Input sx x_at))
  (Reshape (s.1 * s.2, 1)%N (affine minus_one (Stop (z s z_at)) zero))) (p %/ 1)%N (p %% 1)%N) (b %% n_bits f)%N).
rewrite divn1 modn1; congr (bit _ _ _ _).
rewrite -[LHS]/(if (p < sx.1 * sx.2)%N then flat sx (fed x_at) (p * 1 + 0)%N
  else flat (shape_of (affine minus_one (Stop (z s z_at)) zero)) (value arith w fed (affine minus_one (Stop (z s z_at)) zero))
    ((p - sx.1 * sx.2) * 1 + 0)%N) !muln1 !addn0.
case: ifP => // no_feature; rewrite (@shape_affine s) // /flat; set q := (p - sx.1 * sx.2)%N.
rewrite -[LHS]/(stretch s (fun i j => real R minus_one * w z_at i j) (q %/ s.2)%N (q %% s.2)%N +
  stretch (1, 1)%N (fun i j => real R zero * value arith w fed (scalar one) i j) (q %/ s.2)%N (q %% s.2)%N).
have nb : (0 < n_bits f)%N by move: b_lt; rewrite /n_data_bits -/f; case: (n_bits f) => //; rewrite muln0.
have e_lt : (b %/ n_bits f < size order)%N by rewrite ltn_divLR.
have le_p : (sx.1 * sx.2 <= p)%N by rewrite leqNgt no_feature.
have q_lt : (q < s.1 * s.2)%N by rewrite (ltn_subLR _ le_p); exact: (order_lt fit e_lt).
have row_lt : (q %/ s.2 < s.1)%N by rewrite ltn_divLR //; case/andP: sides.
have col_lt : (q %% s.2 < s.2)%N by rewrite ltn_mod; case/andP: sides.
by rewrite stretch_scalar mul0r addr0 stretch_in // real_minus_one mulN1r.
Qed.

(** The memory is offered the bits of this step's x, *)
Let features_shown k w b : (b < n_kept)%N -> is_feature s wr b ->
  value arith w (samples k) (fresh_bits z_at x_at s wr) b 0%N = sign R (sample_bit k (data_row wr) (data_cell wr + b)).
Proof.
move=> b_lt feature_b; rewrite offered // as_sign /sample_bit addKn /number_at; congr (sign R (0 < bit arith _ _ _)).
by rewrite /is_feature -/f -/sx -/order in feature_b; rewrite feature_b.
Qed.

(** and those of the labels where z holds them. *)
Let labels_shown k w st b :
  slot_near w (slot st) -> slot st = Holds k -> (b < n_kept)%N -> ~~ is_feature s wr b ->
  forall fed, value arith w fed (fresh_bits z_at x_at s wr) b 0%N = sign R (sample_bit k (data_row wr) (data_cell wr + b)).
Proof.
move=> near_z held b_lt label_b fed.
rewrite offered // as_sign /sample_bit addKn /number_at -/order; set p := nth 0%N order _.
have no_feature : (p < sx.1 * sx.2)%N = false by apply: negbTE.
have nb : (0 < n_bits f)%N by move: b_lt; rewrite /n_data_bits -/f; case: (n_bits f) => //; rewrite muln0.
have e_lt : (b %/ n_bits f < size order)%N by rewrite ltn_divLR.
have p_lt : (p < sx.1 * sx.2 + s.1 * s.2)%N by exact: (order_lt fit e_lt).
rewrite -/sx no_feature; set q := (p - sx.1 * sx.2)%N.
have le_p : (sx.1 * sx.2 <= p)%N by rewrite leqNgt no_feature.
have q_lt : (q < s.1 * s.2)%N by rewrite (ltn_subLR _ le_p).
have row_lt : (q %/ s.2 < s.1)%N by rewrite ltn_divLR //; case/andP: sides.
have col_lt : (q %% s.2 < s.2)%N by rewrite ltn_mod; case/andP: sides.
rewrite /f fixed_point /flat (@rounds _ _ _ _ (samples k y_at (q %/ s.2)%N (q %% s.2)%N)) //; first exact: labels_on_grid.
apply: le_lt_trans slack_rounds; rewrite ler_wpmul2r ?exprn_ge0 ?ler0n //.
have := near_z _ _ row_lt col_lt; rewrite held.
by rewrite -opprD normrN.
Qed.

Section OneStep.

Variables (k : nat) (st : streaming) (w : nat -> matrix R).
Let c := running_in st.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c) (fair : disciplined st) (near : stands_for w st).

Let small : 15%:R^-1 <= 4%:R^-1 :> R.
Proof. by rewrite lef_pinv ?posrE ?ltr0n // ler_nat. Qed.

Let near_x : within m tau at_ 15%:R^-1 w c. Proof. by case: near. Qed.
Let near_m := let: And3 _ h _ := near in h.
Let near_z : slot_near w (slot st). Proof. by case: near. Qed.

Let shown_z k' (held : slot st = Holds k') b (b_lt : (b < n_kept)%N) (no_feature : ~~ is_feature s wr b) :=
  labels_shown near_z held b_lt no_feature (samples k).

Let units_ok := PlainTheorem.all_units_fit m.

(** Once the machine has halted, the gradient is zero, for every batch, *)
Lemma halted_gradient batch p i j : halted m c -> gradient arith w batch loss_of_stream p i j = 0.
Proof.
move=> halts; apply: (gradient_halted _ _ _ _ _ _ _ _ _ _ ok primary_shape c_in near_x small) => // *.
exact: ExtendedTheorem.tangent_frozen.
Qed.

(** and the output is f_theta(x). *)
Lemma halted_output batch i j :
  halted m c -> value arith w batch output_of_stream i j = value arith w batch primary i j.
Proof.
move=> halts; rewrite /output_of_stream halted_out //.
by rewrite (value_at_rest arith ok batch c_in near_x small) halts.
Qed.

Let noise : R := - (real R inverse * samples k y_at 0%N 0%N).

Let noise_le : `|noise| <= 16%:R^-1.
Proof.
rewrite normrN normrM (ger0_norm inverse_ge0); apply: le_trans eta_small.
by case/andP: sides => s1 s2; rewrite ler_wpmul2l // labels_le.
Qed.

Let noise_eta : `|noise| <= eta.
Proof.
rewrite normrN normrM (ger0_norm inverse_ge0).
by case/andP: sides => s1 s2; rewrite ler_wpmul2l // labels_le.
Qed.

Let shareE : share y_at inverse (samples k) = 1 + noise.
Proof. by []. Qed.

Let margin : 16%:R^-1 * (15%:R^-1 + 1) = 15%:R^-1 :> R.
Proof. by field. Qed.

Let margin2 : 16%:R^-1 * (15%:R^-1 *+ 2 + 2%:R) = 15%:R^-1 *+ 2 :> R.
Proof. by field. Qed.

(** Where the machine runs, one step of SGD is one step of the machine on the sample of this step. *)
Lemma running_step : ~~ halted m c -> stands_for (sgd_step (samples k) w) (stream_step k st).
Proof.
move=> runs; rewrite /StreamMachine.stream_step -/c (negbTE runs); have [x t h] := near_x.
split; first split=> [v v_n|i j i_w j_tau|i j i_d j_tau]; rewrite /sgd_step.
- rewrite (gradient_vertex _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x small near_m
     runs (features_shown k w) shown_z fair v_n) shareE /vertex_error -margin.
  exact: (PlainStep.drawn_to noise_le (x v v_n) (PlainStep.bit_distance _ _ _)).
- rewrite (gradient_tape _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x small near_m
     runs (features_shown k w) shown_z fair i_w j_tau) shareE /= i_w.
  case: eqP => [->|_]; last by rewrite mulr0 subr0; apply: t.
  have h_tau : (head c i < tau)%N.
    by case: c_in => _; apply; apply: leq_trans i_w (writable_le ok).
  rewrite /write_error (PlainValue.value_tapes _ _ (memory_fits tau memory_at s wr has_memory)) ?i_w; last first.
    exact: leq_trans i_w (writable_le ok).
  by rewrite -margin2; exact: (PlainStep.drawn_to noise_le (t i _ i_w h_tau) (PlainStep.sign_distance _ _ _)).
- rewrite (gradient_head _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x small near_m
     runs (features_shown k w) shown_z fair i_d j_tau) shareE /head_error -margin.
  exact: (PlainStep.drawn_to noise_le (h i j i_d j_tau) (PlainStep.bit_distance _ _ _)).
- split=> [b b_lt|i j i_r j_tau no_data].
    rewrite /sgd_step (gradient_memory _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x small near_m
     runs (features_shown k w) shown_z fair b_lt) shareE /memory_error -margin2.
    exact: (PlainStep.drawn_to noise_le (proj1 near_m b b_lt) (PlainStep.sign_distance _ _ _)).
  rewrite /= ltnNge leq_addr /= addKn refreshed_elsewhere //; exact: (proj2 near_m).
move=> i j i_s j_s; rewrite /sgd_step.
rewrite (gradient_slot _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x small near_m
     runs (features_shown k w) shown_z fair i_s j_s) shareE /next_slot.
have near_ij := near_z i_s j_s; move: fair; rewrite /StreamMachine.disciplined /=.
case: (taking takes st) => /= [/andP[ready _]|_].
  have -> : w z_at i j - - (A - samples k y_at i j) + samples k y_at i j = w z_at i j + A by ring.
  by move: near_ij ready; case: (slot st).
have back : w z_at i j - (1 + noise) * (w z_at i j + A) + A = - (noise * (w z_at i j + A)) by ring.
have shrinks b : `|w z_at i j + A| <= b -> `|w z_at i j - (1 + noise) * (w z_at i j + A) + A| <= eta * b.
  by move=> le_b; rewrite back normrN normrM ler_pmul.
case: (slot st) near_ij => [|k'|] near_ij.
- exact: le_trans (shrinks _ near_ij) (slack_shrinks eta0 Y0 eta_small).
- have far : `|w z_at i j + A| <= A + Y + slack.
    have -> : w z_at i j + A = A - samples k' y_at i j + (w z_at i j + samples k' y_at i j) by ring.
    apply: le_trans (ler_norm_add _ _) _; apply: ler_add near_ij.
    apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; last exact: labels_le.
    by rewrite ger0_norm // ltW.
  apply: le_trans (shrinks _ far) _; rewrite !mulrDr eta_A.
  by [].
exact: le_trans (shrinks _ near_ij) (back_in_two eta0 Y0 eta_small).
Qed.

End OneStep.

(** One step of SGD, on whatever batch comes, is one step of the machine on that batch. *)
Theorem stream_sgd_step k st w :
  inside m tau (running_in st) -> stays_inside m tau (running_in st) -> disciplined st ->
  stands_for w st -> stands_for (sgd_step (samples k) w) (stream_step k st).
Proof.
move=> c_in stays fair near; case halts: (halted m (running_in st)); last exact: running_step (negbT halts).
rewrite /StreamMachine.stream_step halts.
have still p i j : sgd_step (samples k) w p i j = w p i j.
  by rewrite /sgd_step (halted_gradient c_in near) // subr0.
have [[x t h] mem sl] := near; split; first split.
- by move=> v v_n; rewrite still; apply: x.
- by move=> i j i_w j_tau; rewrite still; apply: t.
- by move=> i j i_d j_tau; rewrite still; apply: h.
- by split=> [b b_lt|]; [rewrite still; exact: (proj1 mem) | exact: (proj2 mem)].
by move=> i j i_s j_s; rewrite still; apply: sl.
Qed.

Lemma inside_stream_steps k st :
  inside m tau (running_in st) ->
  (forall j, (j < k)%N -> stays_inside m tau (running_in (stream_steps j st))) ->
  forall j, (j <= k)%N -> inside m tau (running_in (stream_steps j st)).
Proof.
move=> c_in stays; elim=> [//|j IH] j_k /=; apply: inside_stream_step => //; first exact: IH (ltnW j_k).
exact: stays.
Qed.

(** Any sequence of samples: after any number of steps of SGD, the weights stand for the configuration that the machine
    reaches on the same samples, with the features and the labels of the samples it has taken in its memory. *)
Theorem stream_trace k st w :
  inside m tau (running_in st) ->
  (forall j, (j < k)%N -> stays_inside m tau (running_in (stream_steps j st))) ->
  (forall j, (j < k)%N -> disciplined (stream_steps j st)) ->
  stands_for w st -> stands_for (sgd k w) (stream_steps k st).
Proof.
move=> c_in stays fair near.
have in_j := inside_stream_steps c_in stays.
suff: forall j, (j <= k)%N -> stands_for (sgd j w) (stream_steps j st) by exact.
elim=> [//|j IH] j_k /=; apply: stream_sgd_step (IH (ltnW j_k)); [exact: in_j (ltnW j_k) | exact: stays | exact: fair].
Qed.

(** The same where the discipline can be read off the table. *)
Corollary stream_trace_static k st w :
  two_between m takes latches -> slot st = Ready -> ~~ latching latches st ->
  inside m tau (running_in st) ->
  (forall j, (j < k)%N -> stays_inside m tau (running_in (stream_steps j st))) ->
  stands_for w st -> stands_for (sgd k w) (stream_steps k st).
Proof.
move=> between ready idle c_in stays; apply: stream_trace => // j _.
by case: c_in => q_in _; apply: disciplined_always.
Qed.

(** After the end: for every batch the gradient is zero and the output is f_theta(x). *)
Theorem stream_end k st w :
  inside m tau (running_in st) ->
  (forall j, (j < k)%N -> stays_inside m tau (running_in (stream_steps j st))) ->
  (forall j, (j < k)%N -> disciplined (stream_steps j st)) ->
  stands_for w st -> halted m (running_in (stream_steps k st)) ->
  forall batch, (forall p i j, gradient arith (sgd k w) batch loss_of_stream p i j = 0) /\
    (forall i j, value arith (sgd k w) batch output_of_stream i j = value arith (sgd k w) batch primary i j).
Proof.
move=> c_in stays fair near halts batch.
have in_k := inside_stream_steps c_in stays (leqnn k).
have near_k := stream_trace c_in stays fair near.
by split=> [p i j|i j]; [exact: (halted_gradient in_k near_k) | exact: (halted_output in_k near_k)].
Qed.

(** The weights that training starts from: encode(c), the memory's cells in X, and z = -A. *)
Lemma stands_at_start c w :
  encodes m tau at_ w c ->
  (forall b, (b < n_kept)%N -> w memory_at b 0%N = sign R (cell c (n_writable m + data_row wr) (data_cell wr + b))) ->
  (forall i j, (i < rows)%N -> (j < tau)%N -> ~~ is_data s wr i j -> cell c (n_writable m + i) j = blank_at wr i j) ->
  (forall i j, (i < s.1)%N -> (j < s.2)%N -> w z_at i j = - A) ->
  stands_for w (Streaming c Ready).
Proof.
move=> enc mem blank_ sl; have fifteenth : 0 <= 15%:R^-1 :> R by rewrite invr_ge0 ler0n.
split; first by apply: within_le fifteenth _; apply/within0.
  by split=> [b b_lt|//]; rewrite mem // subrr normr0 mulrn_wge0.
move=> i j i_s j_s; rewrite /= sl // addNr normr0; exact: slack_ge0.
Qed.

(** Weights stand for one configuration and one memory. *)
Theorem stands_for_unique w st st' :
  inside m tau (running_in st) -> inside m tau (running_in st') -> stands_for w st -> stands_for w st' ->
  same m tau (running_in st) (running_in st').
Proof.
move=> c_in c'_in [near mem _] [near' mem' _].
have small : 15%:R^-1 *+ 2 < 1 :> R.
  have -> : 15%:R^-1 *+ 2 = 2%:R / 15%:R :> R by field.
  by rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
have [x t h] := near; have [x' t' h'] := near'; have [q hd] := c_in; have [q' hd'] := c'_in.
have v_v' : vertex_of m (running_in st) = vertex_of m (running_in st').
  have v_lt := vertex_lt ok q; apply/eqP; rewrite -(bit_apart (x _ v_lt) (x' _ v_lt) small) eqxx.
  by [].
split.
- case/andP: (vertex_is_in ok q) => /eqP <- _; case/andP: (vertex_is_in ok q') => /eqP <- _.
  by rewrite v_v'.
- move=> i j i_d j_tau; case: (ltnP i (n_writable m)) => [i_w|w_i].
    exact: sign_apart (t _ _ i_w j_tau) (t' _ _ i_w j_tau) small.
  have i_r : (i - n_writable m < rows)%N by rewrite ltn_sub2r // (leq_ltn_trans w_i).
  case data_ij: (is_data s wr (i - n_writable m)%N j); last first.
    by have := proj2 mem _ _ i_r j_tau; rewrite data_ij subnKC // => ->; have := proj2 mem' _ _ i_r j_tau; rewrite data_ij subnKC // => ->.
  case/andP: data_ij => /eqP i_row /andP[low high].
  have b_lt : (j - data_cell wr < n_kept)%N by rewrite ltn_subLR.
  by have := sign_apart (proj1 mem _ b_lt) (proj1 mem' _ b_lt) small; rewrite -i_row !subnKC.
by move=> i i_d; apply/eqP; rewrite -(bit_apart (h _ _ i_d (hd i i_d)) (h' _ _ i_d (hd i i_d)) small) eqxx.
Qed.

(** ** Why a sample cannot be taken right after a latch *)

(** Where z holds labels and the next two steps latch and take, z misses the new labels by 7/8 of the first label of the
    step between, at least, however large A is: more than half a unit, unless that label is 0. *)
Theorem take_after_latch k k0 st w :
  let st' := stream_step k st in
  inside m tau (running_in st) -> stays_inside m tau (running_in st) -> disciplined st -> stands_for w st ->
  ~~ halted m (running_in st) -> slot st = Holds k0 ->
  ~~ halted m (running_in st') -> stays_inside m tau (running_in st') -> taking takes st' -> ~~ latching latches st' ->
  forall i j, (i < s.1)%N -> (j < s.2)%N ->
    7%:R / 8%:R * `|samples k y_at 0%N 0%N| <=
    `|sgd_step (samples k.+1) (sgd_step (samples k) w) z_at i j + samples k.+1 y_at i j|.
Proof.
move=> st' c_in stays fair near runs held runs' stays' takes' latches' i j i_s j_s.
have near' : stands_for (sgd_step (samples k) w) st' by exact: stream_sgd_step.
have c_in' : inside m tau (running_in st') by exact: inside_stream_step.
have small : 15%:R^-1 <= 4%:R^-1 :> R by rewrite lef_pinv ?posrE ?ltr0n // ler_nat.
have units_ok := PlainTheorem.all_units_fit m.
set w' := sgd_step (samples k) w in near' *.
have back : w' z_at i j + A = real R inverse * samples k y_at 0%N 0%N * (w z_at i j + A).
  have [near_x near_m near_z] := near.
  rewrite /w' /sgd_step (gradient_slot _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in stays near_x
    small near_m runs (features_shown k w) (fun k' h b b_lt l => labels_shown near_z h b_lt l (samples k)) fair i_s j_s).
  have -> : taking takes st = false.
    by move: fair; rewrite /StreamMachine.disciplined held; case: (taking takes st).
  by rewrite /share -/A; ring.
have moved : sgd_step (samples k.+1) w' z_at i j + samples k.+1 y_at i j = w' z_at i j + A.
  have [near_x near_m _] := near'.
  pose ready := Streaming (running_in st') Ready.
  have fair' : disciplined ready.
    by rewrite /StreamMachine.disciplined implybT implybF.
  rewrite /sgd_step (gradient_slot (st := ready) _ ok units_ok has_memory fit sides primary_shape inverse_ok all_apart c_in' stays'
    near_x small near_m runs' (features_shown k.+1 w') (labels := sample_bit) _ fair' i_s j_s) //.
  have -> : taking takes ready by [].
  by rewrite -/A; ring.
rewrite moved back !normrM (ger0_norm inverse_ge0) [7%:R / 8%:R * _]mulrC.
have -> : real R inverse * `|samples k y_at 0%N 0%N| * `|w z_at i j + A| =
    `|samples k y_at 0%N 0%N| * (real R inverse * `|w z_at i j + A|) by ring.
rewrite ler_wpmul2l //.
have far : 7%:R / 8%:R * A <= `|w z_at i j + A|.
  have [_ _ near_z] := near; have := near_z _ _ i_s j_s; rewrite held => near_ij.
  have -> : w z_at i j + A = A - (samples k0 y_at i j - (w z_at i j + samples k0 y_at i j)) by ring.
  apply: le_trans (ler_sub_dist _ _); rewrite (gtr0_norm A_gt0) ler_subr_addl -ler_subr_addr.
  apply: le_trans (ler_norm_sub _ _) _; apply: le_trans (ler_add (labels_le k0 i_s j_s) near_ij) _.
  have Y_A : Y <= 16%:R^-1 * A by rewrite mulrC ler_pdivl_mulr ?ltr0n // mulrC.
  have slack_A : slack <= 16%:R^-1 * A.
    apply: le_trans Y_A; rewrite /StreamTheorem.slack mulrA ler_pimull // -/eta.
    apply: le_trans (ler_wpmul2l _ eta_small) _; first by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
    by rewrite -mulrA -invfM -natrM ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
  apply: le_trans (ler_add Y_A slack_A) _.
  by have -> : A - 7%:R / 8%:R * A = 16%:R^-1 * A + 16%:R^-1 * A by field.
have -> : 7%:R / 8%:R = real R inverse * (7%:R / 8%:R * A) by rewrite mulrCA inverse_ok mulr1.
by rewrite ler_wpmul2l.
Qed.

End Theorem4.
