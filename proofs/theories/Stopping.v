(** The stop rule: training ends at the first step, from 1 on, whose loss is at most a level.

    While the machine runs the loss lies at c or above. Once it has halted the loss is 1/2 |f_theta(x) - y|^2, so the rule is
    right for all data in a range if the level lies below c and above half the square of the largest possible residual. The
    range is that of the number format. The largest f_theta(x) is found by following sizes through the layers of the primary
    network; only affine layers with ReLU between them are followed. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder LowestTerms Expression Training Network Machine Encoding Terms Plain.
From Luge Require Import Extended Joined Checker ExtendedChecker Wiring ModelChecker.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The largest size of a number of a format. *)
Definition largest (f : format) : number :=
  match f with
  | Fixed i f sign_magnitude =>
      let n := power (i.-1 + f) in Number (if sign_magnitude then Z.sub n 1 else n) f
  | Float e m bias =>
      let top := Z.sub (Z.sub (Z.sub (power e) 1) bias) (Z.of_nat m) in
      let n := Z.sub (power m.+1) 1 in
      if Z.leb 0 top then whole (Z.mul n (Z.pow 2 top)) else Number n (Z.to_nat (Z.opp top))
  end.

Definition size_of (n : number) : number := Number (Z.abs (mantissa n)) (halvings n).

(** How large the entries of an expression can be if no entry of theta or x is larger than [most]. *)
Fixpoint reach (theta : expression) (most : number) (e : expression) : option number :=
  if expression_eqb e theta || is_x e then Some most else
  match e with
  | Scale w a => omap (mul (size_of w)) (reach theta most a)
  | Relu a | Reshape _ a | Gather _ a => reach theta most a
  | Plus a b =>
      if (reach theta most a, reach theta most b) is (Some u, Some v) then Some (add u v) else None
  | Matmul a b =>
      if (reach theta most a, reach theta most b) is (Some u, Some v)
      then Some (mul (count_of (shape_of a).2) (mul u v)) else None
  | _ => None
  end.

Section Reach.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables w fed : nat -> matrix R.
Variables (theta : expression) (most : number).
Notation value := (value arith w fed).

Hypothesis theta_small : forall i j, `|value theta i j| <= real R most.
Hypothesis x_small : forall i j, `|fed 0%N i j| <= real R most.

Lemma real_size_of n : real R (size_of n) = `|real R n|.
Proof.
rewrite !NumberOrder.realE /= normrM normfV normrX [`|2%:R|]ger0_norm ?ler0n //; congr (_ / _).
by case: (mantissa n) => [|p|p] /=; rewrite ?normr0 ?normrN ?ger0_norm ?ler0n.
Qed.

Lemma relu_size (v : R) : `|relu v| <= `|v|.
Proof. by rewrite /relu; case: ifP => // _; rewrite normr0. Qed.

Lemma total_size n (f : nat -> R) b : (forall i, (i < n)%N -> `|f i| <= b) -> `|total n f| <= n%:R * b.
Proof.
move=> small; rewrite totalE; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite -(total_const n b) totalE; apply: ler_sum => i _; exact: small.
Qed.

Lemma reach_start e0 (o : option number) b :
  (if expression_eqb e0 theta || is_x e0 then Some most else o) = Some b ->
  (o = Some b -> forall i j, `|value e0 i j| <= real R b) -> forall i j, `|value e0 i j| <= real R b.
Proof.
case: ifP => [/orP[/expression_eqbE -> [<-] _|]|_ found]; [exact: theta_small | | exact].
by case: e0 => // s [|p] //= _ [<-] _; exact: x_small.
Qed.

Theorem reach_bounds e b i j : reach theta most e = Some b -> `|value e i j| <= real R b.
Proof.
move=> found; move: i j; elim: e b found => [s p|s p|s l|r l c a IH|n a IH|a IHa c IHb|a IH|a IHa c IHb|a IHa c IHb
  |a IHa c IHb|a IH|a IH|a IH|z a IH|s a IH|a IHa c IHb|l a IH|f a IH|f a IH|a IH|o IHo a IHa c IHb|o IHo a IHa c IHb] b found;
  apply: (reach_start found) => {found} //= found i j.
- move: found; rewrite -/(reach theta most a); case ra: (reach theta most a) => [u|] //= [<-].
  by rewrite real_mul real_size_of normrM ler_wpmul2l ?normr_ge0 // (IH _ ra).
- move: found; rewrite -/(reach theta most a) -/(reach theta most c).
  case ra: (reach theta most a) => [u|] //; case rc: (reach theta most c) => [v|] //= [<-].
  by rewrite real_add; apply: le_trans (ler_norm_add _ _) _; apply: ler_add; [exact: IHa ra _ _ | exact: IHb rc _ _].
- exact: le_trans (relu_size _) (IH _ found _ _).
- move: found; rewrite -/(reach theta most a) -/(reach theta most c).
  case ra: (reach theta most a) => [u|] //; case rc: (reach theta most c) => [v|] //= [<-].
  rewrite !real_mul real_count; apply: total_size => k _; rewrite normrM.
  by apply: ler_pmul => //; [exact: IHa ra _ _ | exact: IHb rc _ _].
- exact: IH found _ _.
exact: IH found _ _.
Qed.

End Reach.

(** ** The checker *)

(** What is claimed of a model that stops: the model, and the level at which training stops. *)
Record stop_claim := StopClaim { stopped_model : model_claim; stop_level : number }.

Section Claimed.

Variable sc : stop_claim.
Let mc := stopped_model sc.
Let j := joint mc.
Let wr := wired mc.
Let t := landscape_claim j.
Let m := terrain_machine t.
Let tau := terrain_cells t.
Let s := label_shape j.
Let most := largest (number_format wr).

(** A bound on 1/2 |f_theta(x) - y|^2, if no entry of f_theta(x) is larger than [b]. *)
Definition final_loss (b : number) : number :=
  let residual := add b most in mul half (mul (count_of (s.1 * s.2)) (mul residual residual)).

Definition level_fits (primary : expression) : bool :=
  positive (add (terrain_offset t) (minus (stop_level sc))) &&
  if reach (claimed_theta mc) most primary is Some b then at_most (final_loss b) (stop_level sc) else false.

Definition certified_stopping (net : network) : bool :=
  certified_model mc net && level_fits (node_of net (primary_node j)).

(** ** What the checker is worth *)

Variable net : network.
Hypothesis checked : certified_stopping net.

Variable R : realFieldType.
Variable arith : arithmetic R.
Hypothesis rooted : forall v : R, 0 < v -> root arith v ^+ 2 = v.
Hypothesis signs : bits_are_signs arith.
Hypothesis whole_numbers : reads_its_bits arith.

(** Bits never give a number beyond the largest of their format. *)
Definition numbers_in_range : Prop := forall f b, `|number_of_bits arith f b| <= real R (largest f).
Hypothesis in_range : numbers_in_range.

(** x is [fed 0], y is [fed 1]; neither leaves the format's range. What lies outside their shapes means nothing: take it as 0. *)
Variable fed : nat -> matrix R.
Hypothesis x_in_range : forall i l, `|fed 0%N i l| <= real R most.
Hypothesis y_in_range : forall i l, `|fed 1%N i l| <= real R most.

Notation train := (train_network net arith fed).
Notation labels := (fed 1%N).
Notation loss w := (network_loss net arith fed w).

(** Training from [w] ends after [n] steps: [n] is the first number of steps, from 1 on, after which the loss is at most the
    stop level. *)
Definition ends_after (w : nat -> matrix R) (n : nat) : Prop :=
  [/\ (0 < n)%N, loss (iter n train w) <= real R (stop_level sc)
    & forall i, (0 < i < n)%N -> real R (stop_level sc) < loss (iter i train w)].

(** On all data in the format's range on which the machine halts after [k] steps, training ends after [k + 1]; what the weights
    and the output then are, [certified_model_run] says. *)
Theorem certified_stopping_run start k w :
  (* The labels are not too small to be seen. *)
  real R (initial_slope j) *
    (total s.1 (fun i => total s.2 (fun l => (labels i l - real R (label_offset j)) ^+ 2)) - real R (initial_to j)) <= 0 ->
  holds_data m tau s 0 1 wr arith fed start ->
  inside m tau start -> (forall i, (i <= k)%N -> stays_inside m tau (steps m i start)) ->
  (forall i, (i < k)%N -> ~~ halted m (steps m i start)) -> halted m (steps m k start) ->
  no_labels s 0 w -> encodes m tau (joined_places m) w start ->
  ends_after w k.+1.
Proof.
case/andP: checked => model_ok /andP[/(real_positive R)]; rewrite real_add real_minus subr_gt0 => below.
case found: (reach _ _ _) => [b|] // /(real_at_most R) high.
move=> seen data s_in stays runs halts none enc.
have [low _ [_ end_loss] _ _] :=
  certified_model_run model_ok rooted signs whole_numbers seen data s_in stays runs halts none enc.
split=> // [|[|i] // i_k]; last exact: lt_le_trans below (low i i_k).
apply: le_trans high; rewrite end_loss /final_loss !real_mul real_half real_count.
rewrite ler_pmul2l ?invr_gt0 ?ltr0n // natrM -mulrA -[X in _ <= X]total_const.
apply: total_le => i i_s; rewrite -[X in _ <= X]total_const; apply: total_le => l l_s.
have small : `|value arith (iter k.+1 train w) fed (node_of net (primary_node j)) i l - labels i l| <= real R (add b most).
  rewrite real_add; apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; last exact: y_in_range.
  by apply: (reach_bounds _ x_in_range _ _ found) => i0 l0; exact: in_range.
by rewrite -real_normK ?num_real // -expr2 ler_expn2r ?nnegrE ?(le_trans _ small).
Qed.

End Claimed.
