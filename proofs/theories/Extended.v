(** The extended network with the offset carrier: a landscape and a primary network, joined by least squares.

    <<
    u     = [z + r] + sqrt(2 l) e_1
    s_net = phi u + (1 - phi) f_theta(x)          phi = 1 while the machine runs, 0 once it has halted
    out   = psi (z + r) + (1 - psi) s_net         psi = 1 before the labels are copied, 0 after
    loss  = 1/2 |out - y|^2
    >>
    Nothing is assumed of the landscape l or of the primary network f_theta(x) but their shapes. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Terms Saturation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** ReLU(a) - ReLU(a - 1) with a = slope (t - low). *)
Definition ramp (t : expression) (low slope : number) : expression :=
  let a := affine slope (affine one t (minus low)) zero in
  weighted (one, Relu a) [:: (minus_one, Relu (affine one a minus_one))].

Section Extended.

(** The labels' shape, the parameter z, the input y, and the label offset r. *)
Variables (s : shape) (z_at y_at : nat) (r : number).

(** l and f_theta(x). *)
Variables landscape primary : expression.

(** The ramps: phi rises from [stop] on; psi falls to 0 at [full]. *)
Variables stop phi_slope full psi_slope : number.

Definition z : expression := Weight s z_at.
Definition y : expression := Input s y_at.
Definition copied : expression := affine one z r.

(** The unit matrix with its 1 in the first place. *)
Definition axis : expression := Constant s (one :: nseq (s.1 * s.2).-1 zero).

(** sqrt(2 l) e_1. *)
Definition along : expression := Product (Root (affine two landscape zero)) axis.

Definition carrier : expression := weighted (one, Stop copied) [:: (one, along)].

Definition phi : expression := ramp landscape stop phi_slope.
Definition psi : expression := ramp (SumAll (Product z z)) full psi_slope.

Definition s_net : expression := Switch phi carrier primary.
Definition out : expression := Switch psi copied s_net.

Definition extended_loss : expression := affine half (squared_distance out y) zero.

Section Semantics.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed).

Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis landscape_shape : shape_of landscape = (1, 1)%N.
Hypothesis primary_shape : shape_of primary = s.

Let s1 : (0 < s.1)%N. Proof. by case/andP: sides. Qed.
Let s2 : (0 < s.2)%N. Proof. by case/andP: sides. Qed.

Lemma ramp_zero t low slope :
  shape_of t = (1, 1)%N -> real R slope * (value t 0%N 0%N - real R low) <= 0 -> value (ramp t low slope) 0%N 0%N = 0.
Proof.
move=> t_s; rewrite /ramp /= t_s /stretch /= real_minus !mul1r !mulr1 !mulN1r real_zero addr0 => a_le0.
by rewrite !relu_neg ?subr0 // (le_trans _ a_le0) // ler_subl_addr ler_addl ler01.
Qed.

Lemma ramp_one t low slope :
  shape_of t = (1, 1)%N -> 1 <= real R slope * (value t 0%N 0%N - real R low) -> value (ramp t low slope) 0%N 0%N = 1.
Proof.
move=> t_s; rewrite /ramp /= t_s /stretch /= real_minus !mul1r !mulr1 !mulN1r real_zero addr0 => a_ge1.
by rewrite !relu_pos ?subr_ge0 // ?(le_trans ler01) // opprB addrCA subrr addr0.
Qed.

Lemma value_copied i j : (i < s.1)%N -> (j < s.2)%N -> value copied i j = weights z_at i j + real R r.
Proof. by move=> i_s j_s; rewrite /copied (@value_affine _ _ _ _ s) // real_one mul1r. Qed.

Lemma tangent_copied direction i j :
  (i < s.1)%N -> (j < s.2)%N -> tangent direction copied i j = direction z_at i j.
Proof. by move=> i_s j_s; rewrite /= stretch_in // /stretch /= mulr0 addr0 mul1r. Qed.

Lemma shape_copied : shape_of copied = s.
Proof. exact: shape_affine. Qed.

(** ** Before the labels are copied *)

Lemma shape_out : shape_of out = s.
Proof. exact: shape_copied. Qed.

Lemma value_extended_loss :
  value extended_loss 0%N 0%N =
  2%:R^-1 * total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) ^+ 2)).
Proof.
rewrite /extended_loss (@value_affine _ _ _ _ (1, 1)%N) // real_half real_zero addr0.
by rewrite (@value_squared_distance _ _ _ _ s) // shape_out.
Qed.

Lemma tangent_extended_loss direction :
  tangent direction extended_loss 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) * tangent direction out i j)).
Proof.
have -> : tangent direction extended_loss 0%N 0%N =
    2%:R^-1 * tangent direction (squared_distance out y) 0%N 0%N.
  rewrite /extended_loss /affine (@tangent_weighted _ _ _ _ _ (1, 1)%N) //.
  by rewrite -[LHS]/(real R half * tangent direction (squared_distance out y) 0%N 0%N + (real R zero * 0 + 0))
    real_half mulr0 !addr0.
rewrite (@tangent_squared_distance_fixed _ _ _ _ _ s) // ?shape_out //.
rewrite -total_mull; apply: total_eq => i _; rewrite -total_mull; apply: total_eq => j _.
by rewrite -!mulrA mulKf ?pnatr_eq0.
Qed.

(** While psi is 1 the network puts out what z holds, and only z is moved, by its distance from the labels. *)
Lemma before_copying direction :
  value psi 0%N 0%N = 1 ->
  tangent direction extended_loss 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j =>
    (weights z_at i j + real R r - fed y_at i j) * direction z_at i j)).
Proof.
move=> psi1; rewrite tangent_extended_loss.
apply: total_eq => i i_s; apply: total_eq => j j_s.
rewrite -(tangent_copied direction i_s j_s) -(value_copied i_s j_s).
by rewrite -[value out i j]/(if value psi 0%N 0%N == 1 then value copied i j else _)
  -[tangent direction out i j]/(if value psi 0%N 0%N == 1 then tangent direction copied i j else _) psi1 eqxx.
Qed.

(** ** While the machine runs *)

Lemma value_axis i j : (i < s.1)%N -> (j < s.2)%N -> value axis i j = ((i == 0%N) && (j == 0%N))%:R.
Proof.
move=> i_s j_s; rewrite /axis /=.
have -> : ((i == 0%N) && (j == 0%N)) = ((i * s.2 + j)%N == 0%N).
  by rewrite addn_eq0 muln_eq0 [s.2 == 0%N]eqn0Ngt s2 orbF.
by case: (i * s.2 + j)%N => [|k] //=; rewrite nth_nseq; case: ifP.
Qed.

Let shape_twice : shape_of (affine two landscape zero) = (1, 1)%N.
Proof. exact: shape_affine. Qed.

Lemma shape_along : shape_of along = s.
Proof.
have root_s : shape_of (Root (affine two landscape zero)) = (1, 1)%N by exact: shape_twice.
by rewrite /along; move: (Root _) root_s => e e_s; rewrite /= e_s; case: (s).
Qed.

Notation size_ := (2%:R * value landscape 0%N 0%N).

Lemma value_twice : value (affine two landscape zero) 0%N 0%N = size_.
Proof. by rewrite (@value_affine _ _ _ _ (1, 1)%N) // real_two real_zero addr0. Qed.

Lemma value_along i j :
  (i < s.1)%N -> (j < s.2)%N -> value along i j = root arith size_ * ((i == 0%N) && (j == 0%N))%:R.
Proof.
move=> i_s j_s; rewrite -value_axis // -value_twice.
by rewrite -[LHS]/(stretch (shape_of (affine two landscape zero)) (fun i j =>
  root arith (value (affine two landscape zero) i j)) i j * stretch s (value axis) i j)
  shape_twice stretch_scalar stretch_in.
Qed.

Lemma value_carrier i j :
  (i < s.1)%N -> (j < s.2)%N ->
  value carrier i j = weights z_at i j + real R r + root arith size_ * ((i == 0%N) && (j == 0%N))%:R.
Proof.
move=> i_s j_s; have copied_s : shape_of (Stop copied) = s by exact: shape_copied.
rewrite /carrier (value_sum arith weights fed i_s j_s copied_s shape_along).
by rewrite -[value (Stop copied) i j]/(value copied i j) value_copied // value_along.
Qed.

Lemma tangent_twice direction :
  tangent direction (affine two landscape zero) 0%N 0%N = 2%:R * tangent direction landscape 0%N 0%N.
Proof. by rewrite /= landscape_shape /stretch /= mulr0 addr0. Qed.

Lemma tangent_along direction i j :
  (i < s.1)%N -> (j < s.2)%N ->
  tangent direction along i j =
  tangent direction landscape 0%N 0%N / root arith size_ * ((i == 0%N) && (j == 0%N))%:R.
Proof.
move=> i_s j_s; have -> : tangent direction along i j =
    tangent direction (affine two landscape zero) 0%N 0%N /
      (2%:R * root arith (value (affine two landscape zero) 0%N 0%N)) * value axis i j.
  rewrite /along; move: (affine two landscape zero) shape_twice => e e_s.
  rewrite -[LHS]/(stretch (shape_of e) (fun i j => tangent direction e i j / (2%:R * root arith (value e i j))) i j *
     stretch s (value axis) i j + stretch (shape_of e) (fun i j => root arith (value e i j)) i j *
     stretch s (fun _ _ => 0) i j).
  by rewrite e_s !stretch_scalar !stretch_in // mulr0 addr0.
rewrite tangent_twice value_twice value_axis //; congr (_ * _).
by rewrite -mulf_div divff ?mul1r // pnatr_eq0.
Qed.

Lemma tangent_carrier direction i j :
  (i < s.1)%N -> (j < s.2)%N ->
  tangent direction carrier i j =
  tangent direction landscape 0%N 0%N / root arith size_ * ((i == 0%N) && (j == 0%N))%:R.
Proof.
move=> i_s j_s; rewrite -tangent_along //.
rewrite -[LHS]/(stretch (shape_of copied) (fun _ _ => real R one * 0) i j +
                stretch (shape_of along) (fun i j => real R one * tangent direction along i j) i j).
by rewrite shape_copied shape_along !stretch_in // mulr0 add0r mul1r.
Qed.

(** While phi is 1 and psi is 0, and z holds the labels, the loss is l and so is its tangent: training the whole
    network is training the landscape. *)
Section Running.

Hypothesis psi0 : value psi 0%N 0%N = 0.
Hypothesis phi1 : value phi 0%N 0%N = 1.
Hypothesis labels : forall i j, (i < s.1)%N -> (j < s.2)%N -> weights z_at i j + real R r = fed y_at i j.
Hypothesis positive : 0 < value landscape 0%N 0%N.
Hypothesis rooted : root arith size_ ^+ 2 = size_.

Let root_neq0 : root arith size_ != 0.
Proof.
apply/eqP => root0; move: rooted; rewrite root0 expr0n /= => /esym /eqP.
by rewrite mulf_eq0 pnatr_eq0 /= => /eqP l0; move: positive; rewrite l0 ltxx.
Qed.

Let out_is_carrier i j : value out i j = value carrier i j.
Proof.
rewrite -[LHS]/(if value psi 0%N 0%N == 1 then value copied i j else if value psi 0%N 0%N == 0 then
  (if value phi 0%N 0%N == 1 then value carrier i j else _) else _).
by rewrite psi0 phi1 !eqxx eq_sym oner_eq0.
Qed.

Let tangent_out direction i j : tangent direction out i j = tangent direction carrier i j.
Proof.
rewrite -[LHS]/(if value psi 0%N 0%N == 1 then tangent direction copied i j else if value psi 0%N 0%N == 0 then
  (if value phi 0%N 0%N == 1 then tangent direction carrier i j else _) else _).
by rewrite psi0 phi1 !eqxx eq_sym oner_eq0.
Qed.

(** A sum over all labels of which only the first counts. *)
Lemma total_first (f : nat -> nat -> R) :
  total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R * f i j)) = f 0%N 0%N.
Proof.
rewrite (total_one (k := 0%N)) // => [|i _ /negbTE i0].
  by rewrite (total_one (k := 0%N)) // => [|j _ /negbTE ->]; rewrite /= ?mul1r ?mul0r.
by apply: total_zero => j _; rewrite i0 mul0r.
Qed.

Theorem running_loss : value extended_loss 0%N 0%N = value landscape 0%N 0%N.
Proof.
rewrite value_extended_loss.
have -> : total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) ^+ 2)) =
    total s.1 (fun i => total s.2 (fun j => ((i == 0%N) && (j == 0%N))%:R * size_)).
  apply: total_eq => i i_s; apply: total_eq => j j_s.
  rewrite out_is_carrier value_carrier // labels // addrAC subrr add0r -[in RHS]rooted.
  by case: (_ && _); rewrite ?mulr1 ?mul1r ?mulr0 ?mul0r ?expr0n.
by rewrite total_first mulKf ?pnatr_eq0.
Qed.

Theorem running_tangent direction :
  tangent direction extended_loss 0%N 0%N = tangent direction landscape 0%N 0%N.
Proof.
rewrite tangent_extended_loss.
have -> : total s.1 (fun i => total s.2 (fun j => (value out i j - fed y_at i j) * tangent direction out i j)) =
    total s.1 (fun i => total s.2 (fun j =>
      ((i == 0%N) && (j == 0%N))%:R * tangent direction landscape 0%N 0%N)).
  apply: total_eq => i i_s; apply: total_eq => j j_s.
  rewrite tangent_out out_is_carrier value_carrier // tangent_carrier // labels // addrAC subrr add0r.
  by case: (_ && _); rewrite ?mulr1 ?mul1r ?mulr0 ?mul0r //; rewrite mulrC divfK.
by rewrite total_first.
Qed.

End Running.

(** Once phi and psi are 0, the network puts out what the primary network does. *)
Theorem halted_output i j :
  value psi 0%N 0%N = 0 -> value phi 0%N 0%N = 0 -> value out i j = value primary i j.
Proof.
move=> psi0 phi0.
rewrite -[LHS]/(if value psi 0%N 0%N == 1 then value copied i j else if value psi 0%N 0%N == 0 then
  (if value phi 0%N 0%N == 1 then value carrier i j else if value phi 0%N 0%N == 0 then value primary i j else _)
  else _).
by rewrite psi0 phi0 !eqxx eq_sym oner_eq0.
Qed.

End Semantics.
End Extended.
