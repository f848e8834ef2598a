(** The counterexample of PrintedShift.v for `compact`: with the shift as printed, H_(i + delta_3), theorem 2 is false.

    It is computed for the same machine, which makes one move to the right and halts, with b = 9 (the smallest whole number
    with b^3 > 8 b^2 d + 3 d for one tape), g = 1 and c = 2 (b^3 + d b) g. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Machine Encoding PrintedShift CompactSlopes CompactTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Counterexample.

Let Q := [realFieldType of rat].

(** What theorem 2 says of one step, said of the landscape with every shift turned round. *)
Definition printed_claim : Prop :=
  forall (arith : arithmetic Q) m tau base scale offset rate (fed : nat -> matrix Q) c w,
  well_formed m -> looks_by_state m ->
  8%:R * real Q base ^+ 2 * (n_tapes m)%:R + 3%:R * (n_tapes m)%:R < real Q base ^+ 3 ->
  0 < real Q scale -> real Q rate * real Q scale = 1 ->
  legal m tau fed c -> encodes m tau (alone m) w c ->
  encodes m tau (alone m)
    (train_step arith (compact_parameters m tau rate)
      (mirrored (compact_loss m tau (iota 0 (n_tapes m)) base scale offset)) fed w) (step m c).

Definition printed_compact_step : nat -> matrix Q :=
  train_step no_arithmetic (compact_parameters walker 3 one)
    (mirrored (compact_loss walker 3 [:: 0%N] (whole 9) one (whole 1476))) (fun _ _ _ => 0) start_weights.

(** The head is on the first cell; it should be on the last. *)
Lemma printed_compact_head_moves_left :
  (printed_compact_step (head_at (alone walker)) 0%N 2%N == 0) &&
  (printed_compact_step (head_at (alone walker)) 0%N 0%N == 1).
Proof. by vm_compute. Qed.

Theorem printed_shift_is_wrong_for_compact : ~ printed_claim.
Proof.
move=> claim.
have [_ _ /(_ 0%N 2%N isT isT)] : encodes walker 3 (alone walker) printed_compact_step (step walker middle).
  by apply: claim => //; split=> [|i|i j] //; case: i => // i.
by case/andP: printed_compact_head_moves_left => /eqP -> _ /esym /eqP; rewrite oner_eq0.
Qed.

End Counterexample.
