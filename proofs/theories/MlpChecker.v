(** The checker of exported MLPs, and what it checks; [MlpSound.v] says what follows if it accepts one.

    The network is walked through once: every unit must be one of those that the circuit's plan knows ([plan_facts]), and the output the plan's.
    That costs about as much as the network is large. The constants of theorem 5 are computed anew, from sizes that are claimed and checked. *)

From Coq Require Import ZArith FMapPositive.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Forms MlpPass Circuit MlpLogic MlpValues.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The constants of theorem 5. [scale] is what a bit of memory counts, and [memory_rate] the rate in its units. *)
Record mlp_claim := MlpClaim {
  claimed_circuit : circuit;
  claimed_logic : logic_constants;
  input_scale : number;
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

Section Checker.

Variables (cl : mlp_claim) (net : seq layer).

Notation c := (claimed_circuit cl).
Notation T := (horizon cl).

Definition n_layers_after : nat := (size net).-2.
Notation L := n_layers_after.
Notation width := (width_of (n_inputs c) net).
Notation n := (n_memory c).
Definition widest : nat := foldr maxn (n_inputs c) [seq size l | l <- net].

(** What the memory holds. *)
Definition held_number (st : Circuit.state) (k : nat) : number := mul (scale cl) (whole (lifted c st k)).

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

(** The sums of sizes of weights that leave each unit, for weights into units [counted]. *)
Definition column_of (sums : PositiveMap.t number) (j : nat) : number := odflt zero (PositiveMap.find (Pos.of_succ_nat j) sums).
Definition add_weight (sums : PositiveMap.t number) (e : nat * number) : PositiveMap.t number :=
  PositiveMap.add (Pos.of_succ_nat e.1) (plus (size_of e.2) (column_of sums e.1)) sums.
Definition column_sums (counted : nat -> bool) (l : nat) : PositiveMap.t number :=
  foldl add_weight (PositiveMap.empty _) (flatten [seq if counted i then (neuron_at net l i).2 else [::] | i <- iota 0 (width l.+1)]).

Definition columns_fit : bool :=
  let drifted := mul widest_number drift_number in
  all (fun l => let sums := column_sums xpredT l.+1 in
    all (fun j => (l == 1%N) && (j < n)%N || not_above (plus (column_of sums j) drifted) (column_bound l)) (iota 0 (width l.+1))) (iota 1 L) &&
  let sums := column_sums (fun i => ~~ (i < n)%N) 1 in
  all (fun j => not_above (plus (column_of sums j) drifted) (first_column cl)) (iota 0 (width 1)).

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

(** The constants of the construction fit those of theorem 5. *)
Definition logic_fits : bool :=
  let lc := claimed_logic cl in
  let take := mul (carrier lc) (flip_slope lc) in
  [&& ~~ nonzero (plus (mul (memory_rate cl) take) (minus (scale cl))), ~~ nonzero (plus (mul (input_gain lc) (input_scale cl)) (minus two)),
      all nonnegative [:: carrier lc; flip_slope lc; input_gain lc],
      not_above (margin cl) (Number (Zpos 1) 3), not_above (logic_slack lc) (Number (Zpos 1) 6),
      not_above (mul (input_gain lc) (input_radius cl)) (query_slack lc), all (not_above (input_radius cl)) [:: input_scale cl], not_above (plus (input_scale cl) (input_radius cl)) (input_bound cl),
      all (fun a => not_above a one) [:: scale cl; input_scale cl], not_above (of_nat (4 * most_operands + 4)) (act_bound cl),
      not_above (of_nat (widest * 2)) (mul (memory_tangent cl) (scale cl)),
      all (fun a => not_above (mul two a) (mul (memory_slope cl) (scale cl))) [:: flip_slope lc; take]
    & not_above (mul two (scale cl)) (longest_step cl)].

(** The shape, the layers before and with the memory, and what the memory holds before training. *)
Definition shape_fits : bool :=
  [&& (2 < size net)%N, size (nth [::] net (size net).-1) == 1%N, well_wired (n_inputs c) net, (0 < n)%N,
      width 1 == n_inputs c, width 2 == (n + n_inputs c)%N,
      all (fun k => nilp (neuron_at net 1 k).2 &&
        (let d := plus (neuron_at net 1 k).1 (minus (held_number (initial c) k)) in ~~ nonzero d)) (iota 0 n)
    & all (fun i => (neuron_at net 0 i == (zero, [:: (i, input_scale cl)])) &&
        (neuron_at net 1 (n + i) == (input_scale cl, [:: (i, one)]))) (iota 0 (n_inputs c))].

(** The activations of the memory's layer. *)
Definition first_forms : seq form :=
  [seq mix zero [:: (scale cl, symbol (number_symbol c k))] | k <- iota 0 n] ++ [seq symbol (input_symbol c i) | i <- iota 0 (n_inputs c)].

(** The rows that the network seems to have: forms over copies and inputs with even weights. Nothing rests on this guess. *)
Definition guess_unit (found : index * seq form * nat * seq form) (f : form) : index * seq form * nat * seq form :=
  let: (known, rows, next, acts) := found in
  if look known f is Some g then (known, rows, next, g :: acts)
  else if has (fun m => N.ltb m.1 (positive_copy c 0) || Z.odd (mantissa m.2)) (moves f) then (known, rows, next, f :: acts)
  else let g := symbol (row_symbol c next) in (enter known (f, g), f :: rows, next.+1, g :: acts).

Fixpoint guess_rows (ls : seq layer) (fs : seq form) (known : index) (rows : seq form) (next : nat) : seq form :=
  if ls is l :: ls' then
    if ls' is [::] then rev rows
    else let: (known', rows', next', acts) := foldl guess_unit (known, rows, next, [::]) [seq weigh fs u | u <- l] in
      guess_rows ls' (rev acts) known' rows' next'
  else rev rows.

Definition rows_of : seq form :=
  guess_rows (drop 2 net) first_forms (index_of (flatten [seq memory_facts c k | k <- iota 0 n])) [::] 0.

(** The plan fits the network, and its noise the constants. *)
Definition plan_fits (fs : seq form) (p : plan) : bool :=
  let lc := claimed_logic cl in
  let known := index_of (row_facts c 0 fs) in
  let noise := plan_noise lc in
  [&& ordered (positive_copy c 0) (row_symbol c 0) fs, ordered N0 (row_symbol c 0) (fs ++ [seq gate_form c o | o <- openings p]),
      all (fun s => not_above (slack s) (logic_slack lc)) (plan_signals c lc known p),
      all (fun b => not_above (plus (plus (carrier lc) (noise b p)) (of_nat 3)) (residual_bound cl)) [:: true; false],
      not_above (mul (mul two (mul (memory_rate cl) (flip_slope lc))) (plus (noise true p) one)) (frozen_error cl),
      not_above (mul (mul two (scale cl)) (noise true p)) (frozen_error cl),
      not_above (plus (noise false p) (output_error cl)) (answer_error cl)
    & if walk (index_of (plan_facts c lc known (size fs) p)) (drop 2 net) first_forms is Some out
      then same_form out (plan_output c lc (size fs) p) else false].

(** The network runs its circuit wherever the circuit's sums are exclusive. *)
Definition fitting_mlp : bool :=
  if shape_fits then if constants_fit then if logic_fits then
    let fs := rows_of in
    if plan_of c (claimed_logic cl) (index_of (row_facts c 0 fs)) is Some p then plan_fits fs p else false
  else false else false else false.

(** Sums are exclusive in all states that the circuit can reach, which are listed; a circuit without sums has nothing to list. *)
Definition always_exclusive : bool :=
  if has (fun g => if g is AnyOf _ then true else false) (gates c) then
    let states := explore c (Nat.pow 2 12) [:: initial c] [::] in
    closed c states && all (fun st => all (exclusive c st) (fronts c)) states
  else true.

Definition certified_mlp : bool := if fitting_mlp then always_exclusive else false.

End Checker.
