(** Theorem 3: training the extended network copies the labels, runs the machine, and ends with f_theta(x).

    The landscape is `plain` or `compact`, the carrier is the offset carrier. Joined.v has the theorem for any landscape that
    runs a machine when it is trained alone; here these two are shown to be such. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain PlainValue PlainStep.
From Luge Require Import PlainLevels Extended Joined.
From Luge Require CompactSlopes Compact CompactGradient CompactLevels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Whether an expression does not depend on the weights as far as differentiation sees. *)
Fixpoint frozen (e : expression) : bool :=
  match e with
  | Weight _ _ => false
  | Input _ _ | Constant _ _ | Quantize _ _ | Dequantize _ _ | Stop _ => true
  | Linear _ _ _ a | Scale _ a | Relu a | Root a | SumColumns a | SumAll a | Shift _ a | Reshape _ a | Gather _ a =>
      frozen a
  | Plus a b | Product a b | Quotient a b | Matmul a b | Stack a b => frozen a && frozen b
  | Switch o a b => [&& frozen o, frozen a & frozen b]
  | Select _ a b => frozen a && frozen b
  end.

Section Frozen.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed direction : nat -> matrix R.

Lemma tangent_frozen e i j : frozen e -> tangent arith weights fed direction e i j = 0.
Proof.
elim: e i j => //=; rewrite /stretch /flat.
- move=> n l b a IH i j /IH a0; elim: l => //= x l ->; by rewrite a0 mulr0 addr0; case: ifP.
- by move=> w a IH i j /IH ->; rewrite mulr0.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite addr0.
- by move=> a IH i j /IH ->; case: ifP.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite mul0r mulr0 addr0.
- by move=> a IHa b IHb i j /andP[/IHa -> /IHb ->]; rewrite mul0r mulr0 subr0 mul0r.
- by move=> a IHa b IHb i j /andP[/IHa a0 /IHb b0]; apply: total_zero => k _; rewrite a0 b0 mul0r mulr0 addr0.
- by move=> a IH i j /IH ->; rewrite mul0r.
- by move=> a IH i j /IH a0; apply: total_zero => k _.
- by move=> a IH i j /IH a0; apply: total_zero => k _; apply: total_zero.
- by move=> z a IH i j /IH a0; case: shifted.
- by move=> s a IH i j /IH ->.
- by move=> a IHa b IHb i j /andP[/IHa a0 /IHb b0]; case: ifP.
- by move=> l a IH i j /IH ->.
- move=> o IHo a IHa b IHb i j /and3P[/IHo o0 /IHa a0 /IHb b0]; rewrite o0 a0 b0.
  by do 2!case: ifP => // _; rewrite mul0r !mulr0 !addr0.
by move=> o IHo a IHa b IHb i j /andP[/IHa a0 /IHb b0]; case: ifP.
Qed.

End Frozen.

(** ** `plain` *)

Section OnPlain.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (ro : expression).
Variable units : seq (seq (option bool)).
Variables offset drop : number.
Hypotheses (ok : well_formed m) (ro_fits : fixed_fits m tau (Some ro)) (units_ok : units_fit m units).
Hypotheses (at_apart : apart at_) (ro_frozen : frozen ro).

Notation landscape := (plain m tau at_ (Some ro) units offset drop).

(** All weights are moved with rate 1. *)
Variable ps : seq parameter.
Notation rule_of p := (rule (nth (ParameterOf (0, 0)%N (Descent zero)) ps p)).
Hypothesis rates : forall p, p \in [:: vertex_at at_; head_at at_] -> rule_of p = Descent one.
Hypothesis tape_rate : (0 < n_writable m)%N -> rule_of (tape_at at_) = Descent one.

Variable fed : nat -> matrix R.
Notation stands := (stands arith m tau at_ ro fed).

Let small : 0 <= 4%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.
Let unmoved (w : nat -> matrix R) : forall direction i j, tangent arith w fed direction ro i j = 0.
Proof. by move=> *; apply: tangent_frozen. Qed.

Lemma plain_high w c : stands w c -> ~~ halted m c -> real R offset <= value arith w fed landscape 0%N 0%N.
Proof.
case=> /within0 near c_in stays shown /negbTE runs.
rewrite (value_loss offset drop ok ro_fits units_ok c_in stays near small shown) runs mulr0 subr0 ler_addl.
rewrite mulr_ge0 ?invr_ge0 ?ler0n // !addr_ge0 //; apply: total_ge0 => *; rewrite ?sqr_ge0 //.
by apply: total_ge0 => *; rewrite sqr_ge0.
Qed.

Lemma plain_low w c :
  stands w c -> halted m c -> value arith w fed landscape 0%N 0%N = real R offset - real R drop.
Proof. by case=> enc c_in stays shown halts; rewrite (halted_level offset drop ok ro_fits units_ok c_in stays enc shown). Qed.

Lemma plain_keeps w c z_at :
  z_at \notin [:: vertex_at at_; tape_at at_; head_at at_] -> stands w c ->
  forall i j, gradient arith w fed landscape z_at i j = 0.
Proof.
move=> z_apart [/within0 near c_in stays shown] i j.
exact: (gradient_elsewhere offset drop ok ro_fits units_ok c_in stays near small shown (unmoved w)).
Qed.

Lemma plain_steps w c : stands w c -> encodes m tau at_ (train_step arith ps landscape fed w) (step m c).
Proof.
case=> /within0 near c_in stays shown.
have : within m tau at_ 0 (noisy_step arith (fun _ _ _ => 0) landscape fed w) (step m c).
  apply: (plain_noisy_step offset drop ok ro_fits units_ok at_apart c_in stays near small shown (unmoved w) (eta := 0)).
    by move=> p i j; rewrite normr0.
  by rewrite mul0r.
move/within0 => -[x t h].
split=> [v v_lt|i j i_w j_tau|i j i_d j_tau]; rewrite /train_step.
- by rewrite rates ?inE ?eqxx // -x // /noisy_step addr0 real_one !mul1r.
- by rewrite tape_rate ?(leq_ltn_trans _ i_w) // -t // /noisy_step addr0 real_one !mul1r.
by rewrite rates ?inE ?eqxx ?orbT // -h // /noisy_step addr0 real_one !mul1r.
Qed.

End OnPlain.

(** ** `compact` *)

Section OnCompact.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (ro : expression) (order : seq nat).
Variables base scale offset rate : number.
Hypotheses (ok : well_formed m) (ro_fits : fixed_fits m tau (Some ro)) (at_apart : apart at_) (ro_frozen : frozen ro).
Hypotheses (by_state : CompactSlopes.looks_by_state m) (order_ok : perm_eq order (iota 0 (n_tapes m))).

Let b := real R base.
Let g := real R scale.
Let d := n_tapes m.
Hypothesis b_large : 8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3.
Hypothesis g_gt0 : 0 < g.
Hypothesis rate_g : real R rate * g = 1.

Notation landscape := (Compact.compact m tau at_ (Some ro) order base scale offset).

(** The vertex is moved by Frank-Wolfe, tapes and heads with rate 1/g. *)
Variable ps : seq parameter.
Notation block p := (nth (ParameterOf (0, 0)%N (Descent zero)) ps p).
Hypothesis vertex_block : block (vertex_at at_) = ParameterOf (size (table m), 1%N) Simplex.
Hypothesis head_rate : rule (block (head_at at_)) = Descent rate.
Hypothesis tape_rate : (0 < n_writable m)%N -> rule (block (tape_at at_)) = Descent rate.

Variable fed : nat -> matrix R.
Notation stands := (stands arith m tau at_ ro fed).

Let unmoved (w : nat -> matrix R) : forall direction i j, tangent arith w fed direction ro i j = 0.
Proof. by move=> *; apply: tangent_frozen. Qed.

Let rateE : real R rate = g^-1.
Proof. by apply: (mulIf (lt0r_neq0 g_gt0)); rewrite rate_g mulVf // lt0r_neq0. Qed.

Lemma compact_high w c : stands w c -> ~~ halted m c -> real R offset <= value arith w fed landscape 0%N 0%N.
Proof.
case=> enc c_in stays shown runs.
by case/andP: (CompactLevels.running_level base offset ok ro_fits order_ok g_gt0 c_in stays enc shown runs).
Qed.

Lemma compact_low w c :
  stands w c -> halted m c ->
  value arith w fed landscape 0%N 0%N <= real R offset - (b ^+ 3 - (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R)) * g.
Proof.
case=> enc c_in stays shown halts.
exact: (CompactLevels.halted_gap base offset ok ro_fits order_ok g_gt0 c_in stays enc shown halts).
Qed.

Lemma compact_keeps w c z_at :
  z_at \notin [:: vertex_at at_; tape_at at_; head_at at_] -> stands w c ->
  forall i j, gradient arith w fed landscape z_at i j = 0.
Proof.
move=> z_apart [enc c_in stays shown] i j.
exact: (CompactGradient.gradient_elsewhere _ _ _ ok ro_fits order_ok c_in stays enc shown (unmoved w)).
Qed.

Lemma compact_steps w c : stands w c -> encodes m tau at_ (train_step arith ps landscape fed w) (step m c).
Proof.
case=> enc c_in stays shown; split=> [v v_lt|i j i_w j_tau|i j i_d j_tau]; rewrite /train_step.
- rewrite vertex_block /=.
  exact: (CompactGradient.vertex_lands _ ok ro_fits at_apart order_ok c_in stays enc shown (unmoved w) by_state b_large
    g_gt0 v_lt).
- rewrite tape_rate ?(leq_ltn_trans _ i_w) // rateE.
  exact: (CompactGradient.tape_lands _ _ ok ro_fits at_apart order_ok c_in stays enc shown (unmoved w) g_gt0 i_w j_tau).
rewrite head_rate rateE.
exact: (CompactGradient.head_lands _ _ ok ro_fits at_apart order_ok c_in stays enc shown (unmoved w) g_gt0 i_d j_tau).
Qed.

End OnCompact.
