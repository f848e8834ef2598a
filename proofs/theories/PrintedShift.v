(** A counterexample, computed inside the prover: with the shift as printed in the paper, H_(i + delta_3), theorem 1 is false.

    The machine has one tape and two states. In the first it writes a 1, moves right and halts in the second. Under the
    printed sign its head goes to the left instead. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding Terms Plain PlainTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(** Every shift turned round. *)
Fixpoint mirrored (e : expression) : expression :=
  match e with
  | Weight _ _ | Input _ _ | Constant _ _ => e
  | Linear n l b a => Linear n l b (mirrored a)
  | Scale w a => Scale w (mirrored a)
  | Plus a b => Plus (mirrored a) (mirrored b)
  | Relu a => Relu (mirrored a)
  | Product a b => Product (mirrored a) (mirrored b)
  | Quotient a b => Quotient (mirrored a) (mirrored b)
  | Matmul a b => Matmul (mirrored a) (mirrored b)
  | Root a => Root (mirrored a)
  | SumColumns a => SumColumns (mirrored a)
  | SumAll a => SumAll (mirrored a)
  | Shift by_ a => Shift (Z.opp by_) (mirrored a)
  | Reshape s a => Reshape s (mirrored a)
  | Stack a b => Stack (mirrored a) (mirrored b)
  | Gather l a => Gather l (mirrored a)
  | Quantize f a => Quantize f (mirrored a)
  | Dequantize f a => Dequantize f (mirrored a)
  | Stop a => Stop (mirrored a)
  | Switch o a b => Switch (mirrored o) (mirrored a) (mirrored b)
  | Select o a b => Select (mirrored o) (mirrored a) (mirrored b)
  end.

Definition walker : machine :=
  Machine 2 1 1
    [:: Situation 0 [:: None] (Some (Action 1 [:: Some true] [:: Right])); Situation 1 [:: None] None].

(** On the middle of three blank cells. *)
Definition middle : configuration := Configuration 0 (fun _ _ => false) (fun _ => 1%N).

Definition no_arithmetic : arithmetic [realFieldType of rat] :=
  @Arithmetic [realFieldType of rat] id (fun _ _ _ => 0) (fun _ _ => 0).

Definition printed_step : (nat -> matrix [realFieldType of rat]) -> nat -> matrix [realFieldType of rat] :=
  train_step no_arithmetic (plain_parameters walker 3) (mirrored (plain_loss walker 3 (whole 32) (whole 16)))
    (fun _ _ _ => 0).

Definition our_step : (nat -> matrix [realFieldType of rat]) -> nat -> matrix [realFieldType of rat] :=
  descend no_arithmetic walker 3 (whole 32) (whole 16) (fun _ _ _ => 0).

Definition start_weights := encode [realFieldType of rat] walker (alone walker) middle.

(** The machine's head is on the last cell after its step; so is ours. *)
Theorem our_head_moves_right :
  [seq our_step start_weights 2%N 0%N j | j <- iota 0 3] = [:: 0; 0; 1].
Proof. by apply/eqP; vm_compute. Qed.

(** As printed it is on the first. *)
Theorem printed_head_moves_left :
  [seq printed_step start_weights 2%N 0%N j | j <- iota 0 3] = [:: 1; 0; 0].
Proof. by apply/eqP; vm_compute. Qed.

(** So theorem 1 does not hold of the printed landscape, although the configuration is legal. *)
Theorem printed_shift_is_wrong :
  [/\ well_formed walker, legal walker 3 (fun _ _ _ => 0 : [realFieldType of rat]) middle
    & ~ encodes walker 3 (alone walker) (printed_step start_weights) (step walker middle)].
Proof.
split; first by vm_compute.
  split; [by split=> // -[] | by case | by move=> i j; rewrite ltn0].
case=> _ _ /(_ 0%N 2%N isT isT) head_right.
have := congr1 (nth 0 ^~ 2%N) printed_head_moves_left.
rewrite /= => head_left.
by move: head_right; rewrite -[head_at _]/2%N head_left.
Qed.
