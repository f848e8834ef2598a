(** A counterexample to the paper's Figure 1: with a solid arc from z to the carrier, instead of a stop-gradient, z drifts.

    Whatever the landscape and the primary network are, the first label's copy is moved by sqrt(2 l) in every step in which
    the machine runs. The labels are lost at once. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Terms Saturation Extended.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Solid.

Variables (s : shape) (z_at y_at : nat) (r : number) (landscape primary : expression).
Variables stop phi_slope full psi_slope : number.

(** The carrier as printed. *)
Definition solid_carrier : expression :=
  weighted (one, copied s z_at r) [:: (one, along s landscape)].

Definition solid_out : expression :=
  Switch (psi s z_at full psi_slope) (copied s z_at r)
    (Switch (phi landscape stop phi_slope) solid_carrier primary).

Definition solid_loss : expression := affine half (squared_distance solid_out (y s y_at)) zero.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation gradient := (gradient arith weights fed).

Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis landscape_shape : shape_of landscape = (1, 1)%N.
Hypothesis psi0 : value (psi s z_at full psi_slope) 0%N 0%N = 0.
Hypothesis phi1 : value (phi landscape stop phi_slope) 0%N 0%N = 1.
Hypothesis labels : forall i j, (i < s.1)%N -> (j < s.2)%N -> weights z_at i j + real R r = fed y_at i j.

Notation length := (root arith (2%:R * value landscape 0%N 0%N)).

(** The landscape does not depend on z, as is the case for all of ours. *)
Hypothesis no_z : gradient landscape z_at 0%N 0%N = 0.

Theorem solid_arc_drifts : gradient solid_loss z_at 0%N 0%N = length.
Proof.
case/andP: sides => s1 s2; set direction := unit_direction R z_at 0 0.
have l0 : tangent arith weights fed direction landscape 0%N 0%N = 0 by exact: no_z.
have copied_s := shape_copied s z_at r; have along_s := shape_along s landscape_shape.
have value_out i j : (i < s.1)%N -> (j < s.2)%N ->
    value solid_out i j = fed y_at i j + length * ((i == 0%N) && (j == 0%N))%:R.
  move=> i_s j_s; rewrite -[LHS]/(if value (psi s z_at full psi_slope) 0%N 0%N == 1 then _ else
    if value (psi s z_at full psi_slope) 0%N 0%N == 0 then
      (if value (phi landscape stop phi_slope) 0%N 0%N == 1 then value solid_carrier i j else _) else _).
  rewrite psi0 phi1 !eqxx eq_sym oner_eq0 /solid_carrier (value_sum arith weights fed i_s j_s copied_s along_s).
  by rewrite value_copied // labels // value_along.
have tangent_out i j : (i < s.1)%N -> (j < s.2)%N ->
    tangent arith weights fed direction solid_out i j = ((i == 0%N) && (j == 0%N))%:R.
  move=> i_s j_s; rewrite -[LHS]/(if value (psi s z_at full psi_slope) 0%N 0%N == 1 then _ else
    if value (psi s z_at full psi_slope) 0%N 0%N == 0 then
      (if value (phi landscape stop phi_slope) 0%N 0%N == 1 then
         tangent arith weights fed direction solid_carrier i j else _) else _).
  rewrite psi0 phi1 !eqxx eq_sym oner_eq0.
  rewrite -[LHS]/(stretch (shape_of (copied s z_at r)) (fun i j =>
      real R one * tangent arith weights fed direction (copied s z_at r) i j) i j +
    stretch (shape_of (along s landscape)) (fun i j =>
      real R one * tangent arith weights fed direction (along s landscape) i j) i j).
  rewrite copied_s along_s !stretch_in // !mul1r tangent_copied // tangent_along // l0 mul0r mul0r addr0.
  by rewrite /direction /unit_direction eqxx.
have -> : gradient solid_loss z_at 0%N 0%N =
    2%:R^-1 * tangent arith weights fed direction (squared_distance solid_out (y s y_at)) 0%N 0%N.
  rewrite /Training.gradient /solid_loss /affine (@tangent_weighted _ _ _ _ _ (1, 1)%N) //.
  by rewrite -[LHS]/(real R half * tangent arith weights fed direction (squared_distance solid_out (y s y_at)) 0%N 0%N +
    (real R zero * 0 + 0)) real_half mulr0 !addr0.
rewrite (@tangent_squared_distance_fixed _ _ _ _ _ s) //.
have -> : total s.1 (fun i => total s.2 (fun j => 2%:R * (value solid_out i j - value (y s y_at) i j) *
      tangent arith weights fed direction solid_out i j)) =
    total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R * (2%:R * length))).
  apply: total_eq => i i_s; apply: total_eq => j j_s; rewrite value_out // tangent_out //.
  rewrite -[value (y s y_at) i j]/(fed y_at i j) addrAC subrr add0r.
  by case: (_ && _); rewrite ?mulr1 ?mul1r ?mulr0 ?mul0r.
by rewrite (total_first sides (fun _ _ => 2%:R * length)) mulKf ?pnatr_eq0.
Qed.

End Solid.
