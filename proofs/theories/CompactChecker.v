(** The checker for `compact`: whether an exported graph is the landscape `compact` of a machine, and theorem 2 for every
    graph it accepts. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number NumberOrder LowestTerms Expression Training Network Machine Encoding Terms.
From Luge Require Import CompactSlopes Compact CompactTheorem Checker.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** What is claimed of a graph: the machine it runs, the number of cells of its tapes, the order of its sums over symbols,
    b, g, c, and the rate 1/g. *)
Record compact_claim := CompactClaim {
  slid_machine : machine;
  slid_cells : nat;
  slid_order : seq nat;
  slid_base : number;
  slid_scale : number;
  slid_offset : number;
  slid_rate : number
}.

Section Claimed.

Variable cl : compact_claim.
Let m := slid_machine cl.
Let tau := slid_cells cl.
Let b := slid_base cl.
Let g := slid_scale cl.
Let d := count_of (n_tapes m).

Definition claimed_compact_loss : expression := compact_loss m tau (slid_order cl) b g (slid_offset cl).

(** b^3 - 8 b^2 d - 3 d: times g, how much lower than a running machine's a halted machine's loss is. *)
Definition gap : number :=
  add (mul b (mul b b)) (minus (add (mul (mul (whole 8) (mul b b)) d) (mul (whole 3) d))).

(** b^3 > 8 b^2 d + 3 d, g > 0, the rate is 1/g, and c >= 2 (b^3 + d b) g. *)
Definition constants_fit : bool :=
  [&& positive gap, positive g,
      at_most (mul (slid_rate cl) g) one, at_most one (mul (slid_rate cl) g) &
      at_most (mul (mul two (add (mul b (mul b b)) (mul d b))) g) (slid_offset cl)].

(** What the constants' check means. *)
Section Constants.

Variable R : realFieldType.

Lemma real_gap :
  real R gap = real R b ^+ 3 - (8%:R * real R b ^+ 2 * (n_tapes m)%:R + 3%:R * (n_tapes m)%:R).
Proof.
rewrite /gap real_add real_minus !real_add !real_mul !real_count.
by rewrite -[real R (whole 8)]/(8%:R : R) -[real R (whole 3)]/(3%:R : R) !exprS expr0 mulr1.
Qed.

Hypothesis constants : constants_fit.

Lemma compact_constants :
  [/\ 8%:R * real R b ^+ 2 * (n_tapes m)%:R + 3%:R * (n_tapes m)%:R < real R b ^+ 3, 0 < real R g,
      real R (slid_rate cl) * real R g = 1
    & 2%:R * (real R b ^+ 3 + (n_tapes m)%:R * real R b) * real R g <= real R (slid_offset cl)].
Proof.
case/and5P: constants => /(real_positive R) large /(real_positive R) g_gt0 /(real_at_most R) le
  /(real_at_most R) ge /(real_at_most R) high; split=> //.
- by move: large; rewrite real_gap subr_gt0.
- by apply/eqP; rewrite Order.POrderTheory.eq_le; move: le ge; rewrite real_mul real_one => -> ->.
by move: high; rewrite !real_mul real_add !real_mul real_count real_two !exprS expr0 mulr1.
Qed.

End Constants.

Definition certified_compact (net : network) : bool :=
  [&& well_formed m, looks_by_state m, perm_eq (slid_order cl) (iota 0 (n_tapes m)), constants_fit &
      list_eqb parameter_eqb (parameters net) (compact_parameters m tau (slid_rate cl)) &&
      if loss_expression net is Some e then expression_eqb e claimed_compact_loss else false].

(** ** What the checker is worth *)

Variable net : network.
Hypothesis checked : certified_compact net.

Lemma compact_parts :
  [/\ well_formed m, looks_by_state m, perm_eq (slid_order cl) (iota 0 (n_tapes m)),
      parameters net = compact_parameters m tau (slid_rate cl) & loss_expression net = Some claimed_compact_loss].
Proof.
case/and5P: checked => ok by_state order_ok _ /andP[/(list_eqbE parameter_eqbE) -> rest]; split=> //.
by move: rest; case: (loss_expression net) => // e /expression_eqbE ->.
Qed.

Lemma compact_fit : constants_fit.
Proof. by case/and5P: checked. Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.

Variable fed : nat -> matrix R.
Notation train := (train_network net arith fed).

Lemma train_compactE w : train w = slide arith m tau (slid_order cl) b g (slid_offset cl) (slid_rate cl) fed w.
Proof. by case: compact_parts => _ _ _ ps le; rewrite /train_network le ps. Qed.

(** For every input and every number of steps: training the exported graph runs the machine. *)
Theorem certified_compact_trace k c w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes m tau (alone m) w c -> encodes m tau (alone m) (iter k train w) (steps m k c).
Proof.
case: compact_parts (compact_constants R compact_fit) => ok by_state order_ok _ _ [large g_gt0 rate_g _] c_in shown stays enc.
rewrite (eq_iter train_compactE).
exact: (compact_trace _ _ ok by_state order_ok large g_gt0 rate_g c_in shown stays enc).
Qed.

(** Its loss is positive, at least c where the machine runs, and lower by (b^3 - 8 b^2 d - 3 d) g where it has halted. *)
Theorem certified_compact_levels c w :
  legal m tau fed c -> encodes m tau (alone m) w c ->
  let gap := 8%:R * real R b ^+ 2 * (n_tapes m)%:R + 3%:R * (n_tapes m)%:R in
  0 < network_loss net arith fed w /\
  if halted m c then
    network_loss net arith fed w <= real R (slid_offset cl) - (real R b ^+ 3 - gap) * real R g
  else real R (slid_offset cl) <= network_loss net arith fed w <= real R (slid_offset cl) + gap * real R g.
Proof.
case: compact_parts (compact_constants R compact_fit) => ok by_state order_ok _ le [large g_gt0 _ high] legal_c enc gap.
rewrite /network_loss le; split; first exact: (compact_positive _ ok order_ok large g_gt0 legal_c enc).
case: ifP => [halts|/negbT runs]; first exact: (compact_halted_gap _ _ _ ok order_ok g_gt0 legal_c enc).
exact: (compact_running_level _ _ _ ok order_ok g_gt0 legal_c enc).
Qed.

End Claimed.
