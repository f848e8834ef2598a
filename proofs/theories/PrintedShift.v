(** A counterexample: with the shift as the paper prints it, H_(i + delta_3), neither `compact` nor `plain` runs the machine.

    The machine has one tape. It makes one move to the right and halts. From the middle of three cells the printed landscapes
    send the head to the left: computed here, with rational numbers. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding PlainTheorem CompactSlopes CompactTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The network with every shift made the other way. *)
Fixpoint mirror (e : expression) : expression :=
  match e with
  | Shift by_ a => Shift (Z.opp by_) (mirror a)
  | Weight _ _ | Input _ _ | Constant _ _ => e
  | Linear rows entries bias a => Linear rows entries bias (mirror a)
  | Scale w a => Scale w (mirror a)
  | Plus a b => Plus (mirror a) (mirror b)
  | Relu a => Relu (mirror a)
  | Product a b => Product (mirror a) (mirror b)
  | Quotient a b => Quotient (mirror a) (mirror b)
  | Matmul a b => Matmul (mirror a) (mirror b)
  | Root a => Root (mirror a)
  | SumColumns a => SumColumns (mirror a)
  | SumAll a => SumAll (mirror a)
  | Reshape s a => Reshape s (mirror a)
  | Stack a b => Stack (mirror a) (mirror b)
  | Gather positions a => Gather positions (mirror a)
  | Quantize f a => Quantize f (mirror a)
  | Dequantize f a => Dequantize f (mirror a)
  | Stop a => Stop (mirror a)
  | Switch o a b => Switch (mirror o) (mirror a) (mirror b)
  | Select o a b => Select (mirror o) (mirror a) (mirror b)
  end.

(** State 0 moves right, whatever it sees; state 1 halts. *)
Definition mover : machine :=
  let go := Some (Action 1 [:: None] [:: Right]) in
  Machine 2 1 1 [:: Situation 0 [:: Some true] go; Situation 0 [:: Some false] go; Situation 1 [:: None] None].

(** The head stands on the middle cell of a blank tape. *)
Definition middle : configuration := Configuration 0 (fun _ _ => false) (fun _ => 1%N).

Section Counterexample.

Let Q := [realFieldType of rat].

(** No root and no bits occur in these networks, and nothing is fed. *)
Definition no_arithmetic : arithmetic Q := Arithmetic (fun v => v) (fun _ _ _ => 0) (fun _ _ => 0).
Definition nothing_fed : nat -> matrix Q := fun _ _ _ => 0.

(** Training with the printed shift, from the middle cell. *)
Definition printed_step (parameters : seq parameter) (loss : expression) : nat -> matrix Q :=
  train_step no_arithmetic parameters (mirror loss) nothing_fed (encode Q mover (alone mover) middle).

(** Whether the head has gone to the left instead of the right. *)
Definition mirrored (w : nat -> matrix Q) : bool :=
  (w (head_at (alone mover)) 0%N 2%N == 0) && (w (head_at (alone mover)) 0%N 0%N == 1).

Lemma mirrored_fails w : mirrored w -> ~ encodes mover 3 (alone mover) w (step mover middle).
Proof.
by case/andP=> /eqP away _ [_ _ /(_ 0%N 2%N isT isT)]; rewrite away => /esym /eqP; rewrite oner_eq0.
Qed.

Lemma middle_legal : legal mover 3 nothing_fed middle.
Proof. by split=> [|i|i j] //; case: i => // i. Qed.

(** What theorem 2 says of one step, said of `compact` with the printed shift. *)
Definition printed_compact : Prop :=
  forall (arith : arithmetic Q) m tau base scale offset rate (fed : nat -> matrix Q) c w,
  well_formed m -> looks_by_state m ->
  8%:R * real Q base ^+ 2 * (n_tapes m)%:R + 3%:R * (n_tapes m)%:R < real Q base ^+ 3 ->
  0 < real Q scale -> real Q rate * real Q scale = 1 ->
  legal m tau fed c -> encodes m tau (alone m) w c ->
  encodes m tau (alone m)
    (train_step arith (compact_parameters m tau rate) (mirror (compact_loss m tau base scale offset)) fed w) (step m c).

(** It is false: b = 9, g = 1 and c = 2 (b^3 + d b) g = 1476. *)
Theorem printed_shift_fails_compact : ~ printed_compact.
Proof.
move=> claim; pose loss := compact_loss mover 3 (whole 9) one (whole 1476).
apply: (@mirrored_fails (printed_step (compact_parameters mover 3 one) loss)); first by vm_compute.
apply: claim => //; exact: middle_legal.
Qed.

(** What theorem 1 says of one step, said of `plain` with the printed shift. *)
Definition printed_plain : Prop :=
  forall (arith : arithmetic Q) m tau offset drop (fed : nat -> matrix Q) c w,
  well_formed m -> legal m tau fed c -> encodes m tau (alone m) w c ->
  encodes m tau (alone m)
    (train_step arith (plain_parameters m tau) (mirror (plain_loss m tau offset drop)) fed w) (step m c).

(** It is false as well. *)
Theorem printed_shift_fails_plain : ~ printed_plain.
Proof.
move=> claim; pose loss := plain_loss mover 3 (whole 32) (whole 16).
apply: (@mirrored_fails (printed_step (plain_parameters mover 3) loss)); first by vm_compute.
apply: claim => //; exact: middle_legal.
Qed.

End Counterexample.

Print Assumptions printed_shift_fails_compact.
Print Assumptions printed_shift_fails_plain.
