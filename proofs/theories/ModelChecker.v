(** The checker for whole models: an extended network whose read-only tapes are wired to the bits of the data, and whose
    primary network takes x and theta, read off the machine's tape, and nothing else: neither y nor another weight. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Network Machine Encoding Terms Plain PlainValue.
From Luge Require Import Extended Joined Checker ExtendedChecker Wiring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** What is claimed of a model: an extended network and its wires. *)
Record model_claim := ModelClaim { joint : joint_claim; wired : wires }.

Section Claimed.

Variable mc : model_claim.
Let j := joint mc.
Let wr := wired mc.
Let t := landscape_claim j.
Let m := terrain_machine t.
Let tau := terrain_cells t.
Let s := label_shape j.

(** x is input 0, y is input 1, z is parameter 0. *)
Definition claimed_read_only : expression := wired_read_only m tau s 0 0 (label_offset j) wr.
Definition claimed_theta : expression := wired_theta m tau (joined_places m) wr claimed_read_only.

Definition certified_model (net : network) : bool :=
  [&& certified_extended j net, wires_fit m tau s wr,
      expression_eqb (node_of net (read_only_node j)) claimed_read_only &
      through claimed_theta (node_of net (primary_node j))].

(** ** What the checker is worth *)

Variable net : network.
Hypothesis checked : certified_model net.

Let primary := node_of net (primary_node j).

Variable R : realFieldType.
Variable arith : arithmetic R.
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.
Hypothesis signs : bits_are_signs arith.
Hypothesis whole_numbers : reads_its_bits arith.

(** x is [fed 0], y is [fed 1]. *)
Variable fed : nat -> matrix R.
Notation train := (train_network net arith fed).
Notation value_at w := (value arith w fed).
Notation labels := (fed 1%N).

(** From x and y to f_theta(x): the machine starts with the bits of x and y on its read-only tapes; the first step of training
    copies the labels, each further one is a step of the machine; where the machine halts after [k] steps, the output is what
    the primary network makes of x and of the numbers that the machine has left on its output cells, and of nothing else. *)
Theorem certified_model_run start k w :
  (* The labels are not too small to be seen. *)
  real R (initial_slope j) *
    (total s.1 (fun i => total s.2 (fun l => (labels i l - real R (label_offset j)) ^+ 2)) - real R (initial_to j)) <= 0 ->
  holds_data m tau s 0 1 wr arith fed start ->
  inside m tau start -> (forall i, (i <= k)%N -> stays_inside m tau (steps m i start)) ->
  (forall i, (i < k)%N -> ~~ halted m (steps m i start)) -> halted m (steps m k start) ->
  no_labels s 0 w -> encodes m tau (joined_places m) w start ->
  let end_ := iter k.+1 train w in
  [/\ forall i, (i < k)%N -> real R (terrain_offset t) <= network_loss net arith fed (iter i.+1 train w),
      copied_labels s 0 1 (label_offset j) fed end_ /\ encodes m tau (joined_places m) end_ (steps m k start),
      (forall i l, value_at end_ (claimed_output j (node_of net (read_only_node j)) primary) i l = value_at end_ primary i l) /\
      network_loss net arith fed end_ = 2%:R^-1 * total s.1 (fun i => total s.2 (fun l =>
        (value_at end_ primary i l - labels i l) ^+ 2)),
      forall i, (i < n_weights wr)%N -> value_at end_ claimed_theta i 0%N = theta_of wr arith (steps m k start) i
    & forall w' fed', (forall i l, fed' 0%N i l = fed 0%N i l) ->
      (forall i l, value arith w' fed' claimed_theta i l = value_at end_ claimed_theta i l) ->
      forall i l, value arith w' fed' primary i l = value_at end_ primary i l].
Proof.
case/and4P: checked => joint_ok fit /expression_eqbE ro_is only_theta.
move=> labels_seen data s_in stays runs halts none enc end_.
have shown w0 : copied_labels s 0 1 (label_offset j) fed w0 ->
    shows m tau (value_at w0 (node_of net (read_only_node j))) start.
  by move=> copied_; rewrite ro_is; apply: read_only_shows copied_ data.
have [low held same_out] := certified_extended_run joint_ok rooted labels_seen shown s_in stays runs halts none enc.
have [terrain_ok_ _ _ [_ [fits _]] _] := joint_parts joint_ok; have ok := terrain_ok terrain_ok_.
split=> // [i i_lt|w' fed' same_x same i l]; last exact: (through_theta whole_numbers same_x i l same only_theta).
have fits' : fixed_fits m tau (Some claimed_read_only) by rewrite ro_is in fits.
exact: (theta_read fit fed whole_numbers fits' ok (proj2 held) i_lt).
Qed.

End Claimed.
