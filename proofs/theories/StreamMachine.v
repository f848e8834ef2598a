(** Machines that read a stream of samples: some states take the sample in front of them, some latch its labels.

    The read-only tapes are a memory of samples. Some of its cells hold bits of features, some hold bits of labels, the others
    never change. A step in a taking state puts the features of this step's sample into the memory; its labels go into a slot,
    where the next step finds them. A step in a latching state puts the labels in the slot into the memory. The slot then
    needs one more step to be ready for the next sample. *)

From mathcomp Require Import all_ssreflect.
From Luge Require Import Machine.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** The slot for labels: ready for a sample, holding the labels of the sample with this number, or on its way back. *)
Inductive label_slot := Ready | Holds (sample : nat) | Returns.

(** A configuration of the machine, its read-only tapes being the memory, and the slot. *)
Record streaming := Streaming { running_in : configuration; slot : label_slot }.

Section Stream.

Variable m : machine.

(** The states that take a sample, and those that latch its labels. *)
Variables takes latches : pred nat.

(** Which cells of the memory hold features, and which labels. *)
Variables feature_cell label_cell : nat -> nat -> bool.

(** The bits of the samples, by their number and by the cell of the memory that they belong to. *)
Variables features labels : nat -> nat -> nat -> bool.

Definition taking (st : streaming) : bool := takes (now (running_in st)).
Definition latching (st : streaming) : bool := latches (now (running_in st)).

(** A state takes only where the slot is ready, and latches only where it holds labels. *)
Definition disciplined (st : streaming) : bool :=
  (taking st ==> if slot st is Ready then true else false) &&
  (latching st ==> if slot st is Holds _ then true else false).

(** A cell of the memory after the step that sees sample [k]. *)
Definition refreshed (k : nat) (st : streaming) (i j : nat) : bool :=
  if taking st && feature_cell i j then features k i j
  else match slot st with
    | Holds k' => if latching st && label_cell i j then labels k' i j else cell (running_in st) (n_writable m + i) j
    | _ => cell (running_in st) (n_writable m + i) j
    end.

(** The configuration after the step: that of the machine, but for the memory. *)
Definition refreshed_step (k : nat) (st : streaming) : configuration :=
  let c := running_in st in
  Configuration (next_state m c)
    (fun i j => if i < n_writable m then cell (step m c) i j else refreshed k st (i - n_writable m) j)
    (head (step m c)).

Definition next_slot (k : nat) (st : streaming) : label_slot :=
  if taking st then Holds k else if slot st is Holds _ then Returns else Ready.

(** One step, which sees sample [k]. Where the machine has halted, nothing changes. *)
Definition stream_step (k : nat) (st : streaming) : streaming :=
  if halted m (running_in st) then st else Streaming (refreshed_step k st) (next_slot k st).

(** The first [k] steps; step [j] sees sample [j]. *)
Fixpoint stream_steps (k : nat) (st : streaming) : streaming :=
  if k is k'.+1 then stream_step k' (stream_steps k' st) else st.

(** A step that takes and one that latches: then the memory holds the features and the labels of one and the same sample. *)
Theorem taken_and_latched k st :
  let st' := stream_step k st in let st'' := stream_step k.+1 st' in
  ~~ halted m (running_in st) -> taking st -> ~~ halted m (running_in st') -> latching st' -> ~~ taking st' ->
  (forall i j, feature_cell i j -> ~~ label_cell i j -> cell (running_in st'') (n_writable m + i) j = features k i j) /\
  (forall i j, label_cell i j -> cell (running_in st'') (n_writable m + i) j = labels k i j).
Proof.
move=> st' st'' runs takes_ runs'; rewrite /st'' /stream_step (negbTE runs').
have -> : st' = Streaming (refreshed_step k st) (Holds k).
  by rewrite /st' /stream_step (negbTE runs) /next_slot takes_.
move: takes_; set c := refreshed_step k st => takes_ latches_ /negbTE not_taking.
have later i : n_writable m + i < n_writable m = false by rewrite ltnNge leq_addr.
split=> i j cell_ => [no_label|]; rewrite /= later addKn /refreshed not_taking /= latches_.
  by rewrite (negbTE no_label) /c /= later addKn /refreshed takes_ cell_.
by rewrite cell_.
Qed.

Hypothesis ok : well_formed m.

Lemma inside_stream_step tau k st :
  inside m tau (running_in st) -> stays_inside m tau (running_in st) -> inside m tau (running_in (stream_step k st)).
Proof.
move=> c_in stays; rewrite /stream_step; case: ifP => // _.
by have [q h] := inside_step ok (proj1 c_in) c_in stays; split.
Qed.

(** ** Discipline that can be read off the table *)

(** After a taking state come two that do not take, and only a taking state comes before a latching one. *)
Definition two_between : bool :=
  all (fun s => if what s is Some a then
      (takes (state s) ==>
        ~~ takes (next a) &&
        all (fun s' => if what s' is Some a' then (state s' == next a) ==> ~~ takes (next a') else true) (table m)) &&
      (latches (next a) ==> takes (state s))
    else true) (table m).

Let holds (st : streaming) : bool :=
  let q := now (running_in st) in
  (q < n_states m) &&
  match slot st with
  | Ready => ~~ latches q
  | Holds _ => ~~ takes q &&
      all (fun s' => if what s' is Some a' then (state s' == q) ==> ~~ takes (next a') else true) (table m)
  | Returns => ~~ takes q && ~~ latches q
  end.

Lemma disciplined_always st k :
  two_between -> now (running_in st) < n_states m -> slot st = Ready -> ~~ latching st ->
  disciplined (stream_steps k st).
Proof.
move=> /allP between q_in ready idle.
have start : holds st by rewrite /holds q_in ready.
suff: holds (stream_steps k st).
  rewrite /holds /disciplined /taking /latching.
  case: (slot _) => [|k'|] /andP[_]; rewrite ?implybT ?implybF /= ?andbT //.
  by case/andP.
elim: k => [//|k] /=; move: (stream_steps k st) => {start q_in ready idle} {}st here.
rewrite /stream_step; case: ifP => // runs.
case/andP: here => {}q_in here.
have v_lt := vertex_lt ok q_in.
have s_in : situation_of m (vertex_of m (running_in st)) \in table m by rewrite mem_nth.
have state_s : state (situation_of m (vertex_of m (running_in st))) = now (running_in st).
  by apply/eqP; case/andP: (vertex_is_in ok q_in).
have next_lt := next_state_lt ok q_in.
have := between _ s_in; move: runs next_lt.
rewrite /halted /holds /= /next_state /action_of state_s /next_slot /taking.
case a_s: (what _) => [a|//] _ -> /= /andP[after before].
move: here; case takes_q: (takes _) after before => /= after before here.
  by [].
rewrite implybF in before; move: here; case: (slot st) => [|k'|] here; rewrite ?before //.
by move/allP: here => /(_ _ s_in); rewrite a_s state_s eqxx /= => ->.
Qed.

End Stream.
