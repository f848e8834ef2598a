(** The checker of exported MLPs, and what it checks; [MlpSound.v] says what follows if it accepts one.

    For every state that the circuit can reach and every input it passes through the network once ([passes]). The constants of
    theorem 5 are computed anew, from sizes that are claimed and checked. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Forms MlpPass Circuit.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The constants of theorem 5. [scale] is what a bit of memory counts, and [memory_rate] the rate in its units. *)
Record mlp_claim := MlpClaim {
  claimed_circuit : circuit;
  scale : number;
  rate : number;
  memory_rate : number;
  horizon : nat;
  column_bounds : seq number;
  first_column : number;
  input_bound : number;
  act_bound : number;
  residual_bound : number;
  memory_slope : number;
  memory_tangent : number;
  longest_step : number;
  frozen_error : number;
  tolerance : number;
  margin : number;
  input_radius : number;
  output_error : number;
  drift_bound : number;
  answer_error : number
}.

(** [all], which computes no further than the first that fails. *)
Fixpoint every T (f : T -> bool) (s : seq T) : bool := if s is x :: s' then if f x then every f s' else false else true.

Lemma everyE T (f : T -> bool) s : every f s = all f s.
Proof. by elim: s => //= x s ->; case: (f x). Qed.

Section Checker.

Variables (cl : mlp_claim) (net : seq layer).

Notation c := (claimed_circuit cl).
Notation T := (horizon cl).

Definition n_layers_after : nat := (size net).-2.
Notation L := n_layers_after.
Definition n_inputs : nat := if takes_samples c then n_features c else 1%N.
Notation width := (width_of n_inputs net).
Definition widest : nat := foldr maxn n_inputs [seq size l | l <- net].
Definition n_memory : nat := (size (registers c) + (if takes_samples c then (n_features c).+1 else 0))%N.

(** ** What the memory holds *)

Definition sign_of (b : bool) : Z := if b then Zpos 1 else Zneg 1.

(** Slots hold the label, and the features times the label. *)
Definition slot (s : option Circuit.sample) (j : nat) : Z :=
  if s is Some (bits, y) then sign_of (if j == n_features c then y else nth false bits j == y) else Z0.

Definition lifted (st : Circuit.state) (k : nat) : Z :=
  if (k < size (registers c))%N then (if nth false st.1 k then Zpos 2 else Zpos 1)
  else Z.add (Zpos 2) (slot st.2 (k - size (registers c))).

Definition held_number (st : Circuit.state) (k : nat) : number := mul (scale cl) (whole (lifted st k)).

(** ** Theorem 5's constants, by computation *)

Definition widest_number : number := of_nat widest.
Definition steps_number : number := of_nat T.
Definition column_bound (l : nat) : number := nth one (column_bounds cl) l.
Fixpoint gain_number (l : nat) : number := if l is l'.+1 then mul (column_bound l') (gain_number l') else one.
Definition gain_bound : number := gain_number L.+1.
Definition drift_step_number : number :=
  mul (rate cl) (mul (residual_bound cl) (mul gain_bound (plus (act_bound cl) one))).
Definition drift_number : number := mul steps_number drift_step_number.
Definition nu_number : number :=
  reduce (mul (mul (of_nat L.+1) (mul widest_number (mul (plus (mul widest_number (act_bound cl)) one) drift_number))) gain_bound).
Definition slope_off_number : number := mul (mul (of_nat L.+1) (mul (mul widest_number drift_number) (memory_tangent cl))) gain_bound.
Definition step_error_number : number :=
  plus (frozen_error cl)
    (mul (rate cl) (plus (mul nu_number (memory_slope cl)) (mul (residual_bound cl) slope_off_number))).
Definition input_step_number : number := mul (plus (longest_step cl) step_error_number) (input_bound cl).
Definition first_slope_number : number :=
  plus (mul (first_column cl) gain_bound)
       (mul (mul widest_number (mul steps_number input_step_number)) (plus (memory_slope cl) slope_off_number)).
Definition first_drift_number : number := mul (rate cl) (mul (residual_bound cl) first_slope_number).
Definition input_error_number : number := reduce (mul (mul steps_number first_drift_number) (plus widest_number one)).

(** ** The checks *)

(** The largest sum of sizes of weights that leave unit [j], for units [counted]. *)
Definition column (counted : nat -> bool) (l j : nat) : number :=
  sum_of [seq if counted i then sum_of [seq size_of e.2 | e <- (neuron_at net l i).2 & e.1 == j] else zero
         | i <- iota 0 (width l.+1)].

Definition columns_fit : bool :=
  all (fun l => all (fun j => (l == 1%N) && (j < n_memory)%N ||
    not_above (plus (column xpredT l.+1 j) (mul widest_number drift_number)) (column_bound l)) (iota 0 (width l.+1))) (iota 1 L) &&
  all (fun j => not_above (plus (column (fun i => ~~ (i < n_memory)%N) 1 j) (mul widest_number drift_number)) (first_column cl))
      (iota 0 (width 1)).

Definition constants_fit : bool :=
  [&& all nonnegative [:: memory_rate cl; rate cl; input_bound cl; act_bound cl; residual_bound cl; memory_slope cl; memory_tangent cl;
                          longest_step cl; frozen_error cl; tolerance cl; input_radius cl],
      all (not_above one) (column_bounds cl),
      columns_fit,
      not_above nu_number one,
      not_above (mul steps_number (plus step_error_number (mul widest_number (mul input_step_number (input_bound cl))))) (tolerance cl),
      not_above (mul (whole (Zpos 8)) (tolerance cl)) (scale cl),
      all (fun d => not_above d (drift_bound cl))
          [:: drift_number; mul steps_number first_drift_number; mul steps_number input_step_number],
      not_above (input_bound cl) (act_bound cl),
      not_above nu_number (margin cl), not_above nu_number (output_error cl),
      positive (scale cl), ~~ nonzero (plus (mul (memory_rate cl) (scale cl)) (minus (rate cl)))
    & not_above input_error_number (input_radius cl)].

(** The shape, the memory's units, and what the memory holds before training. *)
Definition shape_fits : bool :=
  [&& (2 < size net)%N, size (nth [::] net (size net).-1) == 1%N, well_wired n_inputs net, (n_memory <= width 2)%N
    & all (fun k => nilp (neuron_at net 1 k).2 &&
        (let d := plus (neuron_at net 1 k).1 (minus (held_number (initial c) k)) in ~~ nonzero d)) (iota 0 n_memory)].

(** In what it measures the memory, and how far the directions may move. *)
Definition bound (d : nat) : number := if (d < n_memory)%N then Number (Zpos 1) 3 else input_radius cl.

Definition pushed (bits : seq bool) : seq form := [seq Form (whole (sign_of b)) [::] | b <- bits].

(** What the first layer makes of an input. *)
Definition small_inputs (bits : seq bool) : seq number :=
  [seq center (rectified (weigh (pushed bits) u)) | u <- nth [::] net 0].

(** A pass ends well if, for both labels, the memory's step is the circuit's; and, halted, if the output is the circuit's. *)
Definition step_fits (st : Circuit.state) (bits : seq bool) (f : form) (y : bool) : bool :=
  let after := cycle c st (bits, y) in
  let residual := plus (center f) (whole (sign_of (~~ y))) in
  let far := spread bound f in
  not_above (plus (plus (size_of residual) far) one) (residual_bound cl) &&
  all (fun k =>
    let slope := slope_along f k in
    let goal := plus (held_number after k) (minus (held_number st k)) in
    [&& not_above (size_of slope) (mul (memory_slope cl) (scale cl)),
        not_above (size_of goal) (longest_step cl)
      & not_above (plus (size_of (plus (reduce (mul (mul (memory_rate cl) slope) residual)) goal))
                        (reduce (mul (mul (memory_rate cl) (size_of slope)) far))) (frozen_error cl)])
    (iota 0 n_memory).

Definition answer_fits (st : Circuit.state) (bits : seq bool) (f : form) : bool :=
  if has_halted c st then
    if says c st bits is Some b then
      not_above (plus (plus (size_of (plus (center f) (whole (sign_of (~~ b))))) (spread bound f)) (output_error cl)) (answer_error cl)
    else true
  else true.

Definition ends_well (st : Circuit.state) (bits : seq bool) (f : form) : bool :=
  [&& step_fits st bits f false, step_fits st bits f true & answer_fits st bits f].

Definition state_fits (st : Circuit.state) : bool :=
  let held := held_number st in
  let steep := reduce (mul (memory_tangent cl) (scale cl)) in
  every (fun bits =>
    let inputs := small_inputs bits in
    all (fun a => not_above (plus (size_of a) (input_radius cl)) (input_bound cl)) inputs &&
    passes n_memory (scale cl) held inputs bound (margin cl) (act_bound cl) steep (behead net) (ends_well st bits))
  (fronts c).

Definition reachable : seq Circuit.state := explore c (Nat.pow 2 12) [:: initial c] [::].

Definition certified_mlp : bool :=
  if shape_fits then if constants_fit then
    let states := reachable in if closed c states then every state_fits states else false
  else false else false.

End Checker.
