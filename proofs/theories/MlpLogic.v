(** What the layers of a circuit's network must compute, as forms over symbols: docs/construction.md, section 11.

    Symbols are the memory's numbers, their halves and clean copies, the inputs, and ReLUs of forms over earlier symbols ([rows]).
    From the circuit alone this file says which ReLUs there must be, what each stands for, and what the output is. Nothing here
    depends on how units are laid out in layers. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.
From Luge Require Import Number NumberOrder Forms MlpPass Circuit.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** The constants of the construction: A, kappa, by how much inputs are amplified, how far bits of the input may be off, and how far any
    bit of the logic may be. *)
Record logic_constants := LogicConstants { carrier : number; flip_slope : number; input_gain : number; query_slack : number; logic_slack : number }.

Section Memory.

Variable c : circuit.

Definition n_registers : nat := size (registers c).
Definition n_inputs : nat := if takes_samples c then n_features c else 1.
Definition n_memory : nat := n_registers + (if takes_samples c then (n_features c).+1 else 0).

Definition sign_of (b : bool) : Z := if b then Zpos 1 else Zneg 1.

(** Slots hold the label, and the features times the label. *)
Definition slot (s : option sample) (j : nat) : Z :=
  if s is Some (bits, y) then sign_of (if j == n_features c then y else nth false bits j == y) else Z0.

(** What a unit of the memory holds, in bits, and how far above 0 it stands. *)
Definition content (st : state) (k : nat) : Z :=
  if k < n_registers then (if nth false st.1 k then Zpos 1 else Z0) else slot st.2 (k - n_registers).
Definition lift (k : nat) : Z := if k < n_registers then Zpos 1 else Zpos 2.
Definition lifted (st : state) (k : nat) : Z := Z.add (lift k) (content st k).

(** ** Symbols *)

(** In blocks of [n_memory]: numbers, halves of copies (positive and negative), copies; then the inputs, then rows. *)
Definition in_block (block k : nat) : N := N.of_nat (block * n_memory + k).
Definition number_symbol := in_block 0.
Definition positive_half := in_block 1.
Definition negative_half := in_block 2.
Definition positive_copy := in_block 3.
Definition negative_copy := in_block 4.
Definition input_symbol := in_block 5.
Definition n_given : nat := 5 * n_memory + n_inputs.
Definition row_symbol (j : nat) : N := N.of_nat (n_given + j).

(** Facts about the memory's numbers and copies: passed on, or saturated for the first or the second time. *)
Definition passed (f : form) : fact := let g := mix one [:: (one, f)] in (g, g).

Definition copy_facts (k : nat) (sign : Z) (half copy : N) : seq fact :=
  let twice := (whole (Z.mul 2 sign), symbol (number_symbol k)) in
  let low := mix (Number (Z.sub (Zneg 3) (Z.mul (Z.mul 4 sign) (lift k))) 1) [:: twice] in
  let high := mix (Number (Z.sub (Zneg 1) (Z.mul (Z.mul 4 sign) (lift k))) 1) [:: twice] in
  [:: (low, symbol half); (high, mix zero [:: (one, symbol half); (one, symbol copy)]);
      (mix (Number (Zneg 1) 1) [:: (two, symbol copy)], mix zero [:: (Number (Zpos 3) 1, symbol copy)]);
      (mix (Number (Zneg 3) 1) [:: (two, symbol copy)], mix zero [:: (Number (Zpos 1) 1, symbol copy)]);
      passed (symbol copy)].

Definition memory_facts (k : nat) : seq fact :=
  let u := symbol (number_symbol k) in
  [:: (u, u); passed u] ++ copy_facts k (Zpos 1) (positive_half k) (positive_copy k) ++
  (if k < n_registers then [::] else copy_facts k (Zneg 1) (negative_half k) (negative_copy k)).

(** ** Signals *)

(** A form that is a bit, up to some slack, and whether it depends on the input in front; with facts that it rests on. *)
Record signal := Signal { reading : form; slack : number; ahead : bool; grounds : seq fact }.

Definition negated (s : signal) : signal := Signal (mix one [:: (minus_one, reading s)]) (slack s) (ahead s) [::].

Definition slack_of (ss : seq signal) : number := sum_of [seq slack s | s <- ss].

Variables (constants : logic_constants) (rows : index).

Definition all_of (ss : seq signal) : option signal :=
  let f := mix (whole (Z.sub (Zpos 1) (Z.mul 2 (Z.of_nat (size ss))))) [seq (two, reading s) | s <- ss] in
  if look rows f is Some g then Some (Signal g (mul two (slack_of ss)) (has ahead ss) [:: (f, g)]) else None.

Definition any_of (ss : seq signal) : signal :=
  Signal (mix zero [seq (one, reading s) | s <- ss]) (slack_of ss) (has ahead ss) [::].

(** The k-th hinges of a parity. *)
Definition hinge (ss : seq signal) (low : bool) (k : nat) : form :=
  mix (Number (Z.sub (if low then Zpos 1 else Zpos 3) (Z.mul 4 (Z.of_nat k))) 1) [seq (two, reading s) | s <- ss].

Definition hinges (ss : seq signal) (k : nat) : option (fact * fact) :=
  match look rows (hinge ss false k), look rows (hinge ss true k) with
  | Some high, Some low => Some ((hinge ss false k, high), (hinge ss true k, low))
  | _, _ => None
  end.

Fixpoint alternating (plus : bool) (hs : seq (fact * fact)) : seq (number * form) :=
  if hs is h :: hs' then
    (if plus then one else minus_one, h.1.2) :: (if plus then minus_one else one, h.2.2) :: alternating (~~ plus) hs'
  else [::].

(** No parity has more operands, so that no activation is larger than 4 times as many and 4. *)
Definition most_operands : nat := 256.

Definition odd_of (ss : seq signal) : option signal :=
  if size ss <= most_operands then if all_some [seq hinges ss k | k <- iota 1 (size ss)] is Some hs then
    Some (Signal (mix zero (alternating true hs)) (mul (of_nat (4 * size ss)) (slack_of ss)) (has ahead ss)
            (flatten [seq [:: h.1; h.2] | h <- hs]))
  else None else None.

Definition copy_signal (copy : N) : signal := Signal (symbol copy) zero false [::].

Definition query_signal (i : nat) : option signal :=
  let f := mix (whole (Zneg 3)) [:: (input_gain constants, symbol (input_symbol i))] in
  if look rows f is Some g then Some (Signal g (query_slack constants) true [:: (f, g)]) else None.

(** A slot that agrees with the label's: both positive, or both negative. *)
Definition feature_signals (i : nat) : option (seq signal) :=
  let slot := n_registers + i in let label := n_registers + n_features c in
  all_some [:: all_of [:: copy_signal (positive_copy slot); copy_signal (positive_copy label)];
               all_of [:: copy_signal (negative_copy slot); copy_signal (negative_copy label)]].

Definition literal_signal (ss : seq (option signal)) (a : literal) : option signal :=
  if nth None ss a.1 is Some s then Some (if a.2 then negated s else s) else None.

Definition gate_signal (ss : seq (option signal)) (g : gate) : option signal :=
  let of_operands operands (f : seq signal -> option signal) := obind f (all_some [seq literal_signal ss a | a <- operands]) in
  match g with
  | Never => Some (Signal no_form zero false [::])
  | OfRegister k => if k < n_registers then Some (copy_signal (positive_copy k)) else None
  | OfFeature i =>
      if takes_samples c && (i < n_features c) then
        if feature_signals i is Some ss then
          let s := any_of ss in Some (Signal (reading s) (slack s) (ahead s) (flatten [seq passed (reading s) :: grounds s | s <- ss]))
        else None
      else None
  | OfLabel => if takes_samples c then Some (copy_signal (positive_copy (n_registers + n_features c))) else None
  | OfQuery i => if takes_samples c && (i < n_features c) then query_signal i else None
  | AllOf operands => of_operands operands all_of
  | AnyOf operands => of_operands operands (fun ss => Some (any_of ss))
  | OddOf operands => of_operands operands odd_of
  end.

Definition signals : seq (option signal) := foldl (fun ss g => rcons ss (gate_signal ss g)) [::] (gates c).

(** What the memory depends on must not depend on the input in front. *)
Definition memory_signal (a : literal) : option signal :=
  if literal_signal signals a is Some s then if ahead s then None else Some s else None.

(** ** The last layers *)

(** A gate of the memory: a number that is let through where a signal is 1, and what the output makes of it; where [settles] is that
    signal once more, the number is taken off again as it should be. *)
Record opening := Opening { place : nat; opens : signal; weight : number; settles : option signal }.

Definition open_at (k : nat) (ss : seq signal) (weight : number) (settled : bool) : option opening :=
  if all_of ss is Some s then
    if settled then omap (fun t => Opening k s weight (Some t)) (all_of [:: s]) else Some (Opening k s weight None)
  else None.

(** The parts of a cycle. *)
Record cycle_signals := CycleSignals { stop : signal; running : signal; taking : signal; dropping : signal; held_full : signal }.

Definition full_signal : signal :=
  let label := n_registers + n_features c in any_of [:: copy_signal (positive_copy label); copy_signal (negative_copy label)].

Definition parts_of_cycle : option cycle_signals :=
  if memory_signal (halts c) is Some stop then
    if takes_samples c then
      if all_of [:: negated stop; full_signal] is Some running then
        if all_of [:: negated stop; negated full_signal] is Some taking then
          if obind (fun drop => all_of [:: running; drop]) (memory_signal (drops c)) is Some dropping then
            Some (CycleSignals stop running taking dropping full_signal)
          else None
        else None
      else None
    else if all_of [:: negated stop] is Some running then Some (CycleSignals stop running running running running) else None
  else None.

Definition kept (k : nat) (a : literal) : bool :=
  ~~ a.2 && (if nth Never (gates c) a.1 is OfRegister k' then k' == k else false).
Definition is_constant (a : literal) (b : bool) : bool :=
  (a.2 == b) && (if nth (OfRegister 0) (gates c) a.1 is Never then true else false).

Definition openings_at (cs : cycle_signals) (k : nat) : option (seq opening) :=
  let flip := flip_slope constants in
  let take := mul (carrier constants) flip in
  let copy := copy_signal (positive_copy k) in
  if k < n_registers then
    let a := (nth (false, (0, false)) (registers c) k).2 in
    if kept k a then Some [::]
    else if memory_signal a is Some target then
      all_some ((if is_constant a true then [::] else [:: open_at k [:: running cs; copy; negated target] flip false]) ++
                (if is_constant a false then [::] else [:: open_at k [:: running cs; negated copy; target] (minus flip) false]))
    else None
  else
    let drop := [:: open_at k [:: dropping cs; copy] flip false;
                    open_at k [:: dropping cs; copy_signal (negative_copy k)] (minus flip) false] in
    let i := k - n_registers in
    if i == n_features c then all_some (open_at k [:: taking cs] take true :: drop)
    else if query_signal i is Some q then
      all_some [:: open_at k [:: taking cs; q] take true, open_at k [:: taking cs; negated q] (minus take) true & drop]
    else None.

(** A gate opened by a signal: closed, it lies 8 lower. *)
Definition gate_form (o : opening) : form :=
  mix (whole (Zneg 8)) [:: (one, symbol (number_symbol (place o))); (whole (Zpos 8), reading (opens o))].

(** What is said once the circuit has halted. *)
Definition answer_signals (cs : cycle_signals) : option (seq signal) :=
  if answer c is Some a then
    if literal_signal signals a is Some s then all_some [:: all_of [:: stop cs; s]; all_of [:: stop cs; negated s]] else None
  else Some [::].

(** Everything the output is made of. *)
Record plan := Plan { parts : cycle_signals; openings : seq opening; carried : signal; said : seq signal }.

Definition plan_of : option plan :=
  if parts_of_cycle is Some cs then
    if omap flatten (all_some [seq openings_at cs k | k <- iota 0 n_memory]) is Some os then
      if all_of [:: running cs] is Some carried then
        if answer_signals cs is Some said then Some (Plan cs os carried said) else None
      else None
    else None
  else None.

(** Rows, and gates, which are rows after [n_rows] others. *)
Fixpoint row_facts (j : nat) (fs : seq form) : seq fact :=
  if fs is f :: fs' then (f, symbol (row_symbol j)) :: row_facts j.+1 fs' else [::].

Variable n_rows : nat.

Fixpoint gate_facts (j : nat) (os : seq opening) : seq fact :=
  if os is o :: os' then (gate_form o, symbol (row_symbol (n_rows + j))) :: gate_facts j.+1 os' else [::].

Fixpoint gate_terms (j : nat) (os : seq opening) : seq (number * form) :=
  if os is o :: os' then
    (weight o, symbol (row_symbol (n_rows + j))) ::
    (if settles o is Some s then [:: (minus (mul two (weight o)), reading s)] else [::]) ++ gate_terms j.+1 os'
  else [::].

Definition plan_output (p : plan) : form :=
  mix zero ((carrier constants, reading (carried p)) :: [seq (o.2, reading o.1) | o <- zip (said p) [:: one; minus_one]] ++
            gate_terms 0 (openings p)).

(** How far the output may be from A, 0 or the answer, where some gates may be open and where none is. *)
Definition gate_noise (active : bool) (o : opening) : number :=
  let off := mul (whole (Zpos 12)) (logic_slack constants) in
  mul (size_of (weight o)) (if active then if settles o is Some _ then plus (Number (Zpos 1) 3) off else whole (Zpos 5) else off).
Definition plan_noise (active : bool) (p : plan) : number :=
  reduce (plus (mul (carrier constants) (slack (carried p)))
               (plus (slack_of (said p)) (sum_of [seq gate_noise active o | o <- openings p]))).

(** All signals, and all facts that the network's units may rest on. *)
Definition plan_signals (p : plan) : seq signal :=
  let cs := parts p in
  pmap id signals ++ pmap id [seq query_signal i | i <- iota 0 n_inputs] ++
  [:: running cs; taking cs; dropping cs; held_full cs; carried p] ++ [seq opens o | o <- openings p] ++
  pmap id [seq settles o | o <- openings p] ++ said p.

Definition plan_facts (p : plan) : seq fact :=
  flatten [seq memory_facts k | k <- iota 0 n_memory] ++
  flatten [seq passed (reading s) :: grounds s | s <- plan_signals p] ++ gate_facts 0 (openings p).

End Memory.
