(** Synchronous circuits as data: registers, a sample that is held, and logic.

    In a cycle a circuit that has not halted takes the sample in front if it holds none; else every register becomes its target, and
    the sample is dropped where [drops] is 1. Registers, [drops] and [halts] know nothing of the sample in front (the query): they
    are evaluated without it. *)

From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** A wire, and whether it is negated. *)
Definition literal : Type := nat * bool.

Inductive gate :=
  | Never
  | OfRegister of nat
  | OfFeature of nat
  | OfLabel
  | OfQuery of nat
  | AllOf of seq literal
  | AnyOf of seq literal
  | OddOf of seq literal.

(** A register has an initial value and a target; a circuit without samples has one input, which nothing reads. *)
Record circuit := Circuit {
  n_features : nat;
  takes_samples : bool;
  gates : seq gate;
  registers : seq (bool * literal);
  drops : literal;
  halts : literal;
  answer : option literal
}.

(** Bits of the features, and the label. *)
Definition sample : Type := seq bool * bool.

(** Registers, and the sample that is held. *)
Definition state : Type := seq bool * option sample.

Section Circuit.

Variable c : circuit.

Definition literal_value (values : seq bool) (a : literal) : bool := nth false values a.1 (+) a.2.

Definition gate_value (st : state) (query : seq bool) (values : seq bool) (g : gate) : bool :=
  match g with
  | Never => false
  | OfRegister k => nth false st.1 k
  | OfFeature i => if st.2 is Some s then nth false s.1 i else false
  | OfLabel => if st.2 is Some s then s.2 else false
  | OfQuery i => nth false query i
  | AllOf operands => all (literal_value values) operands
  | AnyOf operands => has (literal_value values) operands
  | OddOf operands => foldr (fun a odd => literal_value values a (+) odd) false operands
  end.

(** The values of all wires. *)
Definition wires (st : state) (query : seq bool) : seq bool :=
  foldl (fun values g => rcons values (gate_value st query values g)) [::] (gates c).

(** At most one operand of a sum is 1: what a circuit's sums promise. *)
Fixpoint exclusive_from (st : state) (query values : seq bool) (gs : seq gate) : bool :=
  if gs is g :: gs' then
    (if g is AnyOf operands then (count (literal_value values) operands <= 1)%N else true) &&
    exclusive_from st query (rcons values (gate_value st query values g)) gs'
  else true.

Definition exclusive (st : state) (query : seq bool) : bool := exclusive_from st query [::] (gates c).

Definition initial : state := ([seq q.1 | q <- registers c], None).

Definition has_halted (st : state) : bool := literal_value (wires st [::]) (halts c).

Definition takes (st : state) : bool := takes_samples c && ~~ has_halted st && (st.2 == None).

(** The state after a cycle that takes nothing. *)
Definition ran (st : state) : state :=
  let values := wires st [::] in
  if literal_value values (halts c) then st
  else ([seq literal_value values q.2 | q <- registers c], if literal_value values (drops c) then None else st.2).

Definition cycle (st : state) (s : sample) : state := if takes st then (st.1, Some s) else ran st.

Fixpoint cycles (stream : nat -> sample) (t : nat) : state :=
  if t is t'.+1 then cycle (cycles stream t') (stream t') else initial.

(** What a halted circuit says of an input. *)
Definition says (st : state) (query : seq bool) : option bool := omap (literal_value (wires st query)) (answer c).

(** All inputs. *)
Fixpoint all_bits (n : nat) : seq (seq bool) :=
  if n is n'.+1 then [seq false :: bits | bits <- all_bits n'] ++ [seq true :: bits | bits <- all_bits n'] else [:: [::]].

Definition fronts : seq (seq bool) := if takes_samples c then all_bits (n_features c) else [:: [:: true]].

Definition is_sample (s : sample) : bool := s.1 \in fronts.

Lemma all_bitsP n bits : (bits \in all_bits n) = (size bits == n).
Proof.
have apart (b b' : bool) (bs : seq bool) bss : (b :: bs \in [seq b' :: bs' | bs' <- bss]) = (b == b') && (bs \in bss).
  apply/mapP/andP => [[bs' here [-> ->]] //|[/eqP -> here]]; by exists bs.
elim: n bits => [|n IH] [|b bits] //; rewrite [all_bits _]/= mem_cat.
  by apply/negbTE/negP => /orP[] /mapP[].
by rewrite !apart IH eqSS; case: b; rewrite ?orbF.
Qed.

(** ** States that can be reached *)

Definition successors (st : state) : seq state :=
  if takes st then [seq (st.1, Some (bits, y)) | bits <- fronts, y <- [:: false; true]] else [:: ran st].

(** All states that follow; none if the fuel does not reach that far. *)
Fixpoint explore (fuel : nat) (todo seen : seq state) : seq state :=
  match fuel, todo with
  | _, [::] => seen
  | fuel'.+1, st :: todo' => if st \in seen then explore fuel' todo' seen else explore fuel' (successors st ++ todo') (st :: seen)
  | _, _ => [::]
  end.

Definition closed (states : seq state) : bool :=
  (initial \in states) && all (fun st => all (mem states) (successors st)) states.

Lemma cycles_inside states stream t :
  closed states -> (forall i, is_sample (stream i)) -> cycles stream t \in states.
Proof.
case/andP=> start /allP stays fine; elim: t => [|t IH] //=; apply: (allP (stays _ IH)).
rewrite /successors /cycle; case: ifP => _; last by rewrite inE.
case: (stream t) (fine t) => bits y here; apply/allpairsP; exists (bits, y); split=> //.
by rewrite /= !inE; case: (y).
Qed.

End Circuit.
