(** The checker for extended networks: whether an exported graph is the landscape `plain` or `compact` of a machine, joined with
    a primary network by the offset carrier, and theorem 3 for every graph it accepts. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number NumberOrder LowestTerms Expression Training Network Machine Encoding Terms.
From Luge Require Import Plain PlainValue PlainTheorem Extended Joined ExtendedTheorem Checker CompactChecker Wiring.
From Luge Require CompactSlopes Compact CompactStep CompactTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** z comes before the landscape's weights; the inputs are x and y. *)
Definition joined_places (m : machine) : places :=
  if n_writable m is 0 then Places 1 3 2 else Places 1 2 3.

(** ** The landscape *)

Inductive terrain := PlainTerrain (c : claim) | CompactTerrain (c : compact_claim).

Section Terrain.

Variable t : terrain.

Definition terrain_machine : machine :=
  match t with PlainTerrain c => claimed_machine c | CompactTerrain c => slid_machine c end.
Definition terrain_cells : nat := match t with PlainTerrain c => claimed_cells c | CompactTerrain c => slid_cells c end.

(** c: a running machine's loss is at least this. *)
Definition terrain_offset : number :=
  match t with PlainTerrain c => claimed_offset c | CompactTerrain c => slid_offset c end.

(** A halted machine's landscape is at most this. *)
Definition terrain_bottom : number :=
  match t with
  | PlainTerrain c => add (claimed_offset c) (minus (claimed_drop c))
  | CompactTerrain c => add (slid_offset c) (minus (mul (gap c) (slid_scale c)))
  end.

Definition terrain_fits : bool :=
  well_formed terrain_machine &&
  match t with
  | PlainTerrain _ => true
  | CompactTerrain c =>
      [&& CompactSlopes.looks_by_state terrain_machine, perm_eq (slid_order c) (iota 0 (n_tapes terrain_machine)) &
          constants_fit c]
  end.

Let m := terrain_machine.
Let tau := terrain_cells.
Let at_ := joined_places m.

Definition terrain_expression (ro : expression) : expression :=
  match t with
  | PlainTerrain c => plain m tau at_ (Some ro) (all_units m) (claimed_offset c) (claimed_drop c)
  | CompactTerrain c =>
      Compact.compact m tau at_ (Some ro) (slid_order c) (slid_base c) (slid_scale c) (slid_offset c)
  end.

Definition terrain_parameters : seq parameter :=
  match t with
  | PlainTerrain _ => plain_parameters m tau
  | CompactTerrain c => CompactTheorem.compact_parameters m tau (slid_rate c)
  end.

Definition joined_parameters (s : shape) : seq parameter := ParameterOf s (Descent one) :: terrain_parameters.

Hypothesis fits : terrain_fits.

Lemma terrain_ok : well_formed m.
Proof. by case/andP: fits. Qed.

Lemma terrain_apart : apart at_ /\ 0%N \notin [:: vertex_at at_; tape_at at_; head_at at_].
Proof. by rewrite /at_ /joined_places; case: (n_writable m). Qed.

Lemma terrain_shape ro : shape_of (terrain_expression ro) = (1, 1)%N.
Proof.
rewrite /terrain_expression; case: t => // c; apply: shape_weighted.
exact: CompactStep.terms_shapes.
Qed.

Lemma terrain_rules s :
  let rule_of p := rule (nth (ParameterOf (0, 0)%N (Descent zero)) (joined_parameters s) p) in
  ((0 < n_writable m)%N -> rule_of (tape_at at_) <> Simplex) /\ rule_of (head_at at_) <> Simplex.
Proof.
rewrite /joined_parameters /terrain_parameters /at_ /joined_places /plain_parameters /CompactTheorem.compact_parameters.
by case: t => c; case: (n_writable m) => [|n].
Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (ro : expression) (s : shape) (fed : nat -> matrix R).
Hypotheses (ro_fits : fixed_fits m tau (Some ro)) (ro_frozen : frozen ro).
Notation stands := (stands arith m tau at_ ro fed).
Notation level w := (value arith w fed (terrain_expression ro) 0%N 0%N).

Lemma terrain_high w c : stands w c -> ~~ halted m c -> real R terrain_offset <= level w.
Proof.
move: fits ro_fits; rewrite /terrain_fits /terrain_expression /terrain_offset /at_ /m /tau /terrain_machine /terrain_cells.
case: t => cl /andP[ok rest] rf; first exact: (plain_high _ _ ok rf (all_units_fit _)).
case/and3P: rest => by_state order_ok constants.
by have [large g_gt0 _ _] := compact_constants R constants; apply: (compact_high _ _ ok rf order_ok g_gt0).
Qed.

Lemma terrain_low w c : stands w c -> halted m c -> level w <= real R terrain_bottom.
Proof.
move: fits ro_fits; rewrite /terrain_fits /terrain_expression /terrain_bottom /at_ /m /tau /terrain_machine /terrain_cells.
case: t => cl /andP[ok rest] rf here halts.
  by rewrite (plain_low _ _ ok rf (all_units_fit _) here halts) real_add real_minus.
case/and3P: rest => by_state order_ok constants.
have [large g_gt0 _ _] := compact_constants R constants.
have := compact_low _ _ ok rf order_ok g_gt0 here halts; rewrite real_add real_minus real_mul real_gap.
by [].
Qed.

Lemma terrain_keeps w c : stands w c -> forall i j, gradient arith w fed (terrain_expression ro) 0%N i j = 0.
Proof.
have [_ z_apart] := terrain_apart; move: fits ro_fits z_apart.
rewrite /terrain_fits /terrain_expression /at_ /m /tau /terrain_machine /terrain_cells.
case: t => cl /andP[ok rest] rf z_apart here; first exact: (plain_keeps _ _ ok rf (all_units_fit _) ro_frozen z_apart here).
by case/and3P: rest => by_state order_ok constants; apply: (compact_keeps _ _ _ ok rf ro_frozen order_ok z_apart here).
Qed.

Lemma terrain_steps w c :
  stands w c -> encodes m tau at_ (train_step arith (joined_parameters s) (terrain_expression ro) fed w) (step m c).
Proof.
have [at_apart _] := terrain_apart; move: fits ro_fits at_apart.
rewrite /terrain_fits /terrain_expression /joined_parameters /terrain_parameters /at_ /m /tau /terrain_machine /terrain_cells.
case: t => cl /andP[ok rest] rf at_apart here.
  apply: (plain_steps _ _ ok rf (all_units_fit _) at_apart ro_frozen _ _ here).
    by move=> p; rewrite /plain_parameters /joined_places; case: (n_writable _) => [|n]; rewrite !inE => /orP[] /eqP ->.
  by rewrite /plain_parameters /joined_places; case: (n_writable _).
case/and3P: rest => by_state order_ok constants; have [large g_gt0 rate_g _] := compact_constants R constants.
apply: (compact_steps _ ok rf at_apart ro_frozen by_state order_ok large g_gt0 rate_g _ _ _ here).
- by rewrite /CompactTheorem.compact_parameters /joined_places; case: (n_writable _).
- by rewrite /CompactTheorem.compact_parameters /joined_places; case: (n_writable _).
by rewrite /CompactTheorem.compact_parameters /joined_places; case: (n_writable _).
Qed.

End Terrain.

(** ** The whole network *)

(** What is claimed of an extended network: its landscape, the labels' shape and offset, where the two ramps begin and how
    steep they are, and which nodes are the read-only tapes and f_theta(x). *)
Record joint_claim := JointClaim {
  landscape_claim : terrain;
  label_shape : shape;
  label_offset : number;
  running_from : number;
  running_slope : number;
  initial_to : number;
  initial_slope : number;
  read_only_node : nat;
  primary_node : nat
}.

Section Claimed.

Variable j : joint_claim.
Let t := landscape_claim j.
Let m := terrain_machine t.
Let tau := terrain_cells t.

Definition claimed_extended_loss (ro primary : expression) : expression :=
  extended_loss (label_shape j) 0 1 (label_offset j) (terrain_expression t ro) primary
    (running_from j) (running_slope j) (initial_to j) (initial_slope j).

(** The network's output F(x), as an expression. *)
Definition claimed_output (ro primary : expression) : expression :=
  out (label_shape j) 0 (label_offset j) (terrain_expression t ro) primary
    (running_from j) (running_slope j) (initial_to j) (initial_slope j).

(** The switch is open from c on and closed from a halted machine's level down; psi is 1 at z = 0. *)
Definition levels_fit : bool :=
  [&& positive (terrain_offset t), positive (running_slope j),
      at_most one (mul (running_slope j) (add (terrain_offset t) (minus (running_from j)))),
      at_most (mul (running_slope j) (add (terrain_bottom t) (minus (running_from j)))) zero &
      at_most one (mul (initial_slope j) (minus (initial_to j)))].

Definition certified_extended (net : network) : bool :=
  [&& terrain_fits t, levels_fit, (0 < (label_shape j).1)%N && (0 < (label_shape j).2)%N,
      list_eqb parameter_eqb (parameters net) (joined_parameters t (label_shape j)) &
      if expressions net is Some es then
        let ro := nth (scalar zero) es (read_only_node j) in
        let primary := nth (scalar zero) es (primary_node j) in
        [&& frozen ro, fixed_fits m tau (Some ro), shape_of primary == label_shape j, only_x (claimed_output ro primary) &
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
  [/\ terrain_fits t, levels_fit, parameters net = joined_parameters t (label_shape j),
      frozen ro /\ fixed_fits m tau (Some ro) /\ shape_of primary = label_shape j /\ only_x (claimed_output ro primary)
    & loss_expression net = Some (claimed_extended_loss ro primary)].
Proof.
case/and5P: checked => ok fit _ /(list_eqbE parameter_eqbE) -> rest; split=> //.
all: move: rest; rewrite /ro /primary /node_of; case: (expressions net) => //= es /and5P[fr fx /eqP sh no_y].
  by [].
by case: (loss_expression net) => // e /expression_eqbE ->.
Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.

Variable fed : nat -> matrix R.
Notation train := (train_network net arith fed).
Notation value_at w := (value arith w fed).

Notation F := (claimed_output ro primary).

(** The output depends on the weights and on x alone: y reaches the residual and nothing else. *)
Theorem certified_without_labels w fed' i l :
  reads_its_bits arith -> (forall i l, fed 0%N i l = fed' 0%N i l) -> value arith w fed F i l = value arith w fed' F i l.
Proof. by move=> whole_numbers same; case: joint_parts => _ _ _ [_ [_ [_ no_y]]] _; apply: only_x_value. Qed.

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
  [/\ forall i, (i < k)%N -> real R (terrain_offset t) <= network_loss net arith fed (iter i.+1 train w),
      copied_labels (label_shape j) 0 1 (label_offset j) fed end_ /\
        encodes m tau (joined_places m) end_ (steps m k start)
    & (forall i l, value_at end_ F i l = value_at end_ primary i l) /\
      network_loss net arith fed end_ = 2%:R^-1 * total (label_shape j).1 (fun i => total (label_shape j).2 (fun l =>
        (value_at end_ primary i l - fed 1%N i l) ^+ 2))].
Proof.
move=> labels_seen data s_in stays runs halts none enc end_.
case: joint_parts => fits fit ps [fr [fx [sh _]]] le.
case/and5P: checked => _ _ sides _ _.
case/and5P: (fit) => /(real_positive R) offset0 /(real_positive R) slope0 /(real_at_most R).
rewrite real_one real_mul real_add real_minus => open_ /(real_at_most R).
rewrite real_zero real_mul !real_add !real_minus => closed_ /(real_at_most R).
rewrite real_one real_mul real_minus -sub0r => first_.
have ok := terrain_ok fits; have [_ z_apart] := terrain_apart t.
have [tape_rule head_rule] := terrain_rules t (label_shape j).
have trainE : train = train_step arith (joined_parameters t (label_shape j))
    (claimed_extended_loss ro primary) fed by rewrite /train_network le ps.
have lossE v : network_loss net arith fed v = value_at v (claimed_extended_loss ro primary) 0%N 0%N.
  by rewrite /network_loss le.
have low w0 c : stands arith m tau (joined_places m) ro fed w0 c -> halted m c ->
    real R (running_slope j) * (value_at w0 (terrain_expression t ro) 0%N 0%N - real R (running_from j)) <= 0.
  move=> here stops; apply: le_trans closed_; rewrite ler_pmul2l // ler_add2r.
  exact: (terrain_low fits fx here stops).
have stays' i : (i < k)%N -> stays_inside m tau (steps m i start) by move=> i_k; apply: stays (ltnW i_k).
have [high same_out end_loss] := extended_run ok (terrain_shape t ro) sides z_apart offset0 slope0 open_ first_ rooted
  (erefl : rule (nth _ (joined_parameters t (label_shape j)) 0%N) = Descent one) tape_rule head_rule labels_seen data
  (fun w c => @terrain_high t fits R arith ro fed fx w c) low
  (fun w c => @terrain_keeps t fits R arith ro fed fx fr w c)
  (fun w c => @terrain_steps t fits R arith ro (label_shape j) fed fx fr w c) sh s_in stays runs halts none enc.
have held := extended_trace ok (terrain_shape t ro) primary sides z_apart offset0 slope0 open_ first_ rooted
  (erefl : rule (nth _ (joined_parameters t (label_shape j)) 0%N) = Descent one) tape_rule head_rule labels_seen data
  (fun w c => @terrain_high t fits R arith ro fed fx w c)
  (fun w c => @terrain_keeps t fits R arith ro fed fx fr w c)
  (fun w c => @terrain_steps t fits R arith ro (label_shape j) fed fx fr w c) s_in stays' runs none enc.
by rewrite /end_ trainE; split=> [i i_k||]; rewrite ?lossE //; apply: high.
Qed.

End Claimed.
