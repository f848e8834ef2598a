(** The checker for extended networks: whether an exported graph is the landscape `plain` of a machine, joined with a primary
    network by the offset carrier, and theorem 3 for every graph it accepts. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number NumberOrder Expression Training Network Machine Encoding Terms Plain PlainValue.
From Luge Require Import PlainTheorem Extended ExtendedTheorem Checker.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** What is claimed of an extended network: its landscape, the labels' shape and offset, where the two ramps begin and how
    steep they are, and which nodes are the read-only tapes and f_theta(x). *)
Record joint_claim := JointClaim {
  landscape_claim : claim;
  label_shape : shape;
  label_offset : number;
  running_from : number;
  running_slope : number;
  initial_to : number;
  initial_slope : number;
  read_only_node : nat;
  primary_node : nat
}.

(** z comes before the landscape's weights; the inputs are x and y. *)
Definition joined_places (m : machine) : places :=
  if n_writable m is 0 then Places 1 3 2 else Places 1 2 3.

Definition joined_parameters (s : shape) (m : machine) (tau : nat) : seq parameter :=
  ParameterOf s (Descent one) :: plain_parameters m tau.

Section Claimed.

Variable j : joint_claim.
Let cl := landscape_claim j.
Let m := claimed_machine cl.
Let tau := claimed_cells cl.

Definition claimed_landscape (ro : expression) : expression :=
  plain m tau (joined_places m) (Some ro) (all_units m) (claimed_offset cl) (claimed_drop cl).

Definition claimed_extended_loss (ro primary : expression) : expression :=
  extended_loss (label_shape j) 0 1 (label_offset j) (claimed_landscape ro) primary
    (running_from j) (running_slope j) (initial_to j) (initial_slope j).

(** The switch is open from c on and closed from c - Omega down; psi is 1 at z = 0. *)
Definition levels_fit : bool :=
  [&& positive (claimed_offset cl), positive (running_slope j),
      at_most one (mul (running_slope j) (add (claimed_offset cl) (minus (running_from j)))),
      at_most (mul (running_slope j)
                   (add (add (claimed_offset cl) (minus (claimed_drop cl))) (minus (running_from j)))) zero &
      at_most one (mul (initial_slope j) (minus (initial_to j)))].

Definition certified_extended (net : network) : bool :=
  [&& well_formed m, levels_fit, (0 < (label_shape j).1)%N && (0 < (label_shape j).2)%N,
      list_eqb parameter_eqb (parameters net) (joined_parameters (label_shape j) m tau) &
      if expressions net is Some es then
        let ro := nth (scalar zero) es (read_only_node j) in
        let primary := nth (scalar zero) es (primary_node j) in
        [&& frozen ro, fixed_fits m tau (Some ro), shape_of primary == label_shape j &
            if loss_expression net is Some e then expression_eqb e (claimed_extended_loss ro primary) else false]
      else false].

(** ** What the checker is worth *)

Variable net : network.
Hypothesis checked : certified_extended net.

(** The expressions of the two nodes. *)
Definition node_of (k : nat) : expression := nth (scalar zero) (odflt [::] (expressions net)) k.
Let ro := node_of (read_only_node j).
Let primary := node_of (primary_node j).

Lemma joint_parts :
  [/\ well_formed m, levels_fit, parameters net = joined_parameters (label_shape j) m tau,
      frozen ro /\ fixed_fits m tau (Some ro) /\ shape_of primary = label_shape j
    & loss_expression net = Some (claimed_extended_loss ro primary)].
Proof.
case/and5P: checked => ok fit _ /(list_eqbE parameter_eqbE) -> rest; split=> //.
all: move: rest; rewrite /ro /primary /node_of; case: (expressions net) => //= es /and4P[fr fx /eqP sh].
  by [].
by case: (loss_expression net) => // e /expression_eqbE ->.
Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.

Variable fed : nat -> matrix R.
Notation train := (train_network net arith fed).
Notation value_at w := (value arith w fed).

(** The network's output F(x), as an expression. *)
Definition claimed_output : expression :=
  out (label_shape j) 0 (label_offset j) (claimed_landscape ro) primary
    (running_from j) (running_slope j) (initial_to j) (initial_slope j).

(** Training the exported graph copies the labels in the first step, then runs the machine, and ends with f_theta(x). *)
Theorem certified_extended_run start k w :
  (* The labels are not too small to be seen, *)
  real R (initial_slope j) *
    (total (label_shape j).1 (fun i => total (label_shape j).2 (fun l => (fed 1%N i l - real R (label_offset j)) ^+ 2))
     - real R (initial_to j)) <= 0 ->
  (* and the hidden units show the machine's data once z holds the labels. *)
  (forall w, copied_labels (label_shape j) 0 1 (label_offset j) fed w -> shows m tau (value_at w ro) start) ->
  inside m tau start -> (forall i, (i <= k)%N -> stays_inside m tau (steps m i start)) ->
  (forall i, (i < k)%N -> ~~ halted m (steps m i start)) -> halted m (steps m k start) ->
  no_labels (label_shape j) 0 w -> encodes m tau (joined_places m) w start ->
  let end_ := iter k.+1 train w in
  [/\ forall i, (i < k)%N -> real R (claimed_offset cl) <= network_loss net arith fed (iter i.+1 train w),
      copied_labels (label_shape j) 0 1 (label_offset j) fed end_ /\
        encodes m tau (joined_places m) end_ (steps m k start)
    & forall i l, value_at end_ claimed_output i l = value_at end_ primary i l].
Proof.
move=> labels_seen data s_in stays runs halts none enc end_.
case: joint_parts => ok fit ps [fr [fx sh]] le.
case/and5P: checked => _ _ sides _ _.
case/and5P: (fit) => /(real_positive R) offset0 /(real_positive R) slope0 /(real_at_most R).
rewrite real_one real_mul real_add real_minus => open_ /(real_at_most R).
rewrite real_zero real_mul !real_add !real_minus => closed_ /(real_at_most R).
rewrite real_one real_mul real_minus -sub0r => first_.
have at_apart : apart (joined_places m) by rewrite /joined_places; case: (n_writable m).
have z_apart : 0%N \notin [:: vertex_at (joined_places m); tape_at (joined_places m); head_at (joined_places m)].
  by rewrite /joined_places; case: (n_writable m).
have trainE : train = train_step arith (joined_parameters (label_shape j) m tau)
    (claimed_extended_loss ro primary) fed by rewrite /train_network le ps.
have lossE v : network_loss net arith fed v = value_at v (claimed_extended_loss ro primary) 0%N 0%N.
  by rewrite /network_loss le.
have rates p : p \in [:: 0%N; vertex_at (joined_places m); head_at (joined_places m)] ->
    rule (nth (ParameterOf (0, 0)%N (Descent zero)) (joined_parameters (label_shape j) m tau) p) = Descent one.
  by rewrite /joined_parameters /plain_parameters /joined_places; case: (n_writable m) => [|n];
     rewrite !inE; case/or3P => /eqP ->.
have tape_rate : (0 < n_writable m)%N -> rule (nth (ParameterOf (0, 0)%N (Descent zero))
    (joined_parameters (label_shape j) m tau) (tape_at (joined_places m))) = Descent one.
  by rewrite /joined_parameters /plain_parameters /joined_places; case: (n_writable m).
have stays' i : (i < k)%N -> stays_inside m tau (steps m i start) by move=> i_k; apply: stays (ltnW i_k).
have [low same_out _] := extended_run ok fx (all_units_fit m) at_apart fr primary sides z_apart offset0 slope0 open_ closed_
  first_ rooted rates tape_rate labels_seen data s_in stays runs halts none enc.
have held := extended_trace (claimed_drop cl) ok fx (all_units_fit m) at_apart fr primary sides z_apart offset0 slope0 open_
  first_ rooted rates tape_rate labels_seen data s_in stays' runs none enc.
rewrite /end_ trainE; split=> [i i_k||i l] //; first by rewrite lossE; apply: low.
Qed.

End Claimed.
