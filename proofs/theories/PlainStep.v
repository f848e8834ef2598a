(** One step of gradient descent on `plain` is one step of the machine, and noise is forgiven. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain PlainValue.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Step.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression).
Variable units : seq (seq (option bool)).
Variables offset drop : number.

(** The network fits the machine. *)
Hypotheses (ok : well_formed m) (fixed_ok : fixed_fits m tau fixed) (units_ok : units_fit m units).
Hypothesis at_apart : apart at_.

Notation loss := (plain m tau at_ fixed units offset drop).

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed).
Notation gradient := (gradient arith weights fed loss).

Variables (c : configuration) (rho : R).
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c).
Hypotheses (near : within m tau at_ rho weights c) (small : rho <= 4%:R^-1).

(** The read-only tapes are shown, and do not depend on the weights. *)
Hypothesis shown : if fixed is Some f then shows m tau (value f) c else True.
Hypothesis unmoved : if fixed is Some f then forall direction i j, tangent direction f i j = 0 else True.

Let n := size (table m).
Let d := n_tapes m.

Let stopped_shape : shape_of (Stop (heads m tau at_)) = (d, tau) := shape_heads m tau at_.

Lemma shape_read_raw : shape_of (read (tapes m tau at_ fixed) (Stop (heads m tau at_))) = (d, 1%N).
Proof. exact: (shape_read (shape_tapes at_ ok fixed_ok) (shape_heads m tau at_)). Qed.

Lemma value_read_raw i :
  (i < d)%N ->
  value (read (tapes m tau at_ fixed) (Stop (heads m tau at_))) i 0%N =
  value (tapes m tau at_ fixed) i (head c i).
Proof.
move=> i_d; rewrite (value_read _ _ _ (shape_tapes at_ ok fixed_ok) stopped_shape) //.
rewrite -(total_head c_in (fun j => value (tapes m tau at_ fixed) i j) i_d).
by apply: total_eq => j j_tau; rewrite -(value_heads arith fed near small).
Qed.

Lemma tangent_tapes direction i j :
  (i < d)%N ->
  tangent direction (tapes m tau at_ fixed) i j = if (i < n_writable m)%N then direction (tape_at at_) i j else 0.
Proof.
move=> i_d; rewrite /tapes; move: fixed_ok unmoved; case: fixed => [f|] /=.
  by case w_m: (n_writable m) => [|k] _ f0 /=; rewrite ?w_m; [|case: ifP => _]; rewrite ?f0.
move/eqP=> w_d _; rewrite w_d i_d; move: i_d; rewrite /d; case: (n_tapes m) => //.
Qed.

Lemma tangent_read_raw direction i :
  (i < d)%N ->
  tangent direction (read (tapes m tau at_ fixed) (Stop (heads m tau at_))) i 0%N =
  if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0.
Proof.
move=> i_d; rewrite (tangent_read_stop _ _ _ _ (shape_tapes at_ ok fixed_ok) (shape_heads m tau at_)) //.
rewrite -(tangent_tapes _ _ i_d) -(total_head c_in (fun j => tangent direction (tapes m tau at_ fixed) i j) i_d).
by apply: total_eq => j j_tau; rewrite -(value_heads arith fed near small).
Qed.

(** The errors that the loss squares. *)
Definition vertex_error v : R := weights (vertex_at at_) v 0%N - (v == vertex_of m (step m c))%:R.
Definition write_error i : R := value (tapes m tau at_ fixed) i (head c i) - sign R (written m c i).
Definition head_error i j : R := weights (head_at at_) i j - (j == head (step m c) i)%:R.

Let succ_shape : shape_of (successor m tau at_ fixed units) = (n, 1%N).
Proof. by rewrite /successor; apply: (@shape_product (n, 1%N)). Qed.

Let moved_shape : shape_of (Stop (moved_heads m tau at_)) = (d, tau) :=
  shape_moved_heads arith ok fixed_ok units_ok fed c_in near small stays.
Let write_shape : shape_of (Stop (write m tau at_ fixed)) = (d, 1%N) := shape_write at_ ok fixed_ok.
Let successor_value := value_successor ok fixed_ok units_ok c_in near small shown stays.
Let write_value := value_write ok fixed_ok c_in near small shown.
Let moved_value := value_moved_heads arith ok fixed_ok units_ok fed c_in near small stays.

Lemma value_loss :
  value loss 0%N 0%N =
  real R offset - real R drop * (halted m c)%:R +
  2%:R^-1 * (total n (fun v => vertex_error v ^+ 2) + total d (fun i => write_error i ^+ 2) +
             total d (fun i => total tau (fun j => head_error i j ^+ 2))).
Proof.
rewrite /plain (@value_weightedE _ arith weights fed (1, 1)%N _ _ 0 0) //.
rewrite -[foldr _ _ _]/(real R offset * 1 + (real R (minus drop) * value (at_rest m at_) 0%N 0%N +
  (real R half * value (squared_distance (vertex_weights m at_) (Stop (successor m tau at_ fixed units))) 0%N 0%N +
  (real R half * value (squared_distance (read (tapes m tau at_ fixed) (Stop (heads m tau at_)))
     (Stop (write m tau at_ fixed))) 0%N 0%N +
  (real R half * value (squared_distance (head_weights m tau at_) (Stop (moved_heads m tau at_))) 0%N 0%N + 0))))).
rewrite (value_at_rest arith ok fed c_in near small) real_minus !real_half.
rewrite (@value_squared_distance _ _ _ _ (n, 1%N)) // (@value_squared_distance _ _ _ _ (d, 1%N)) //;
  last exact: shape_read_raw.
rewrite (@value_squared_distance _ _ _ _ (d, tau)) //.
have column k (f : nat -> nat -> R) : total k (fun i => total 1 (f i)) = total k (fun i => f i 0%N).
  by apply: total_eq => i _; rewrite /total /= addr0.
rewrite !column.
have -> : total n (fun v => (value (vertex_weights m at_) v 0%N -
    value (Stop (successor m tau at_ fixed units)) v 0%N) ^+ 2) = total n (fun v => vertex_error v ^+ 2).
  by apply: total_eq => v v_lt; rewrite /vertex_error -successor_value //.
have -> : total d (fun i => (value (read (tapes m tau at_ fixed) (Stop (heads m tau at_))) i 0%N -
    value (Stop (write m tau at_ fixed)) i 0%N) ^+ 2) = total d (fun i => write_error i ^+ 2).
  apply: total_eq => i i_d; rewrite value_read_raw //.
  by rewrite /write_error -write_value //.
have -> : total d (fun i => total tau (fun j => (value (head_weights m tau at_) i j -
    value (Stop (moved_heads m tau at_)) i j) ^+ 2)) = total d (fun i => total tau (fun j => head_error i j ^+ 2)).
  apply: total_eq => i i_d; apply: total_eq => j j_tau.
  by rewrite /head_error -moved_value //.
by rewrite !mulrDr mulr1 mulNr addr0 !addrA.
Qed.

Lemma tangent_loss direction :
  tangent direction loss 0%N 0%N =
  total n (fun v => vertex_error v * direction (vertex_at at_) v 0%N) +
  total d (fun i => write_error i * (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)) +
  total d (fun i => total tau (fun j => head_error i j * direction (head_at at_) i j)).
Proof.
rewrite /plain (@tangent_weighted _ arith weights fed direction (1, 1)%N _ _ 0 0) //.
rewrite -[foldr _ _ _]/(real R offset * 0 + (real R (minus drop) * 0 +
  (real R half * tangent direction (squared_distance (vertex_weights m at_) (Stop (successor m tau at_ fixed units)))
     0%N 0%N +
  (real R half * tangent direction (squared_distance (read (tapes m tau at_ fixed) (Stop (heads m tau at_)))
     (Stop (write m tau at_ fixed))) 0%N 0%N +
  (real R half * tangent direction (squared_distance (head_weights m tau at_) (Stop (moved_heads m tau at_)))
     0%N 0%N + 0))))).
rewrite !real_half !mulr0 !add0r addr0.
rewrite (@tangent_squared_distance _ _ _ _ _ (n, 1%N)) // (@tangent_squared_distance _ _ _ _ _ (d, 1%N)) //;
  last exact: shape_read_raw.
rewrite (@tangent_squared_distance _ _ _ _ _ (d, tau)) // addrA.
have column k (f : nat -> nat -> R) : total k (fun i => total 1 (f i)) = total k (fun i => f i 0%N).
  by apply: total_eq => i _; rewrite /total /= addr0.
have halved (a b : R) : 2%:R^-1 * (2%:R * a * b) = a * b by field.
rewrite !column -!total_mull; congr (_ + _ + _).
- apply: total_eq => v v_lt; rewrite halved.
  by rewrite /vertex_error -successor_value //.
- apply: total_eq => i i_d; rewrite halved value_read_raw // tangent_read_raw //.
  by rewrite /write_error -write_value //.
apply: total_eq => i i_d; rewrite -total_mull; apply: total_eq => j j_tau; rewrite halved.
by rewrite /head_error -moved_value //.
Qed.

(** ** The gradient, weight by weight *)

Lemma unit_elsewhere p i j p' i' j' : p' != p -> unit_direction R p i j p' i' j' = 0.
Proof. by rewrite /unit_direction => /negbTE ->. Qed.

Let no_vertex direction : (forall v, direction (vertex_at at_) v 0%N = 0) ->
  total n (fun v => vertex_error v * direction (vertex_at at_) v 0%N) = 0.
Proof. by move=> none; apply: total_zero => v _; rewrite none mulr0. Qed.

Let no_tape direction : (forall i j, direction (tape_at at_) i j = 0) ->
  total d (fun i => write_error i *
    (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)) = 0.
Proof. by move=> none; apply: total_zero => i _; rewrite none; case: ifP; rewrite mulr0. Qed.

Let no_head direction : (forall i j, direction (head_at at_) i j = 0) ->
  total d (fun i => total tau (fun j => head_error i j * direction (head_at at_) i j)) = 0.
Proof. by move=> none; apply: total_zero => i _; apply: total_zero => j _; rewrite none mulr0. Qed.

Lemma gradient_vertex v : (v < n)%N -> gradient (vertex_at at_) v 0%N = vertex_error v.
Proof.
move=> v_n; case/and3P: at_apart => vt vh _; rewrite /gradient tangent_loss.
rewrite no_tape => [|i j]; last by rewrite unit_elsewhere // eq_sym.
rewrite no_head => [|i j]; last by rewrite unit_elsewhere // eq_sym.
rewrite !addr0 (total_one (k := v)) // => [|u _ u_v]; first by rewrite /unit_direction !eqxx mulr1.
by rewrite /unit_direction (negbTE u_v) andbF mulr0.
Qed.

Lemma gradient_tape i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  gradient (tape_at at_) i j = if j == head c i then write_error i else 0.
Proof.
move=> i_w j_tau; case/and3P: at_apart => vt _ th; rewrite /gradient tangent_loss.
have i_d : (i < d)%N by apply: leq_trans i_w (writable_le ok).
rewrite no_vertex => [|v]; last by rewrite unit_elsewhere.
rewrite no_head => [|i' j']; last by rewrite unit_elsewhere // eq_sym.
rewrite add0r addr0 (total_one (k := i)) // => [|k _ k_i]; rewrite /unit_direction.
  by rewrite i_w !eqxx /= [head c i == j]eq_sym; case: eqP; rewrite ?mulr1 ?mulr0.
by rewrite (negbTE k_i) andbF; case: ifP; rewrite mulr0.
Qed.

Lemma gradient_head i j : (i < d)%N -> (j < tau)%N -> gradient (head_at at_) i j = head_error i j.
Proof.
move=> i_d j_tau; case/and3P: at_apart => _ vh th; rewrite /gradient tangent_loss.
rewrite no_vertex => [|v]; last by rewrite unit_elsewhere.
rewrite no_tape => [|i' j']; last by rewrite unit_elsewhere.
rewrite !add0r (total_one (k := i)) // => [|k _ k_i]; rewrite /unit_direction.
  rewrite (total_one (k := j)) // => [|k _ k_j]; first by rewrite !eqxx mulr1.
  by rewrite (negbTE k_j) andbF mulr0.
by apply: total_zero => j' _; rewrite (negbTE k_i) andbF mulr0.
Qed.

(** No other weight is moved. *)
Lemma gradient_elsewhere p i j :
  p \notin [:: vertex_at at_; tape_at at_; head_at at_] -> gradient p i j = 0.
Proof.
rewrite !inE !negb_or => /and3P[pv pt ph]; rewrite /gradient tangent_loss.
rewrite no_vertex => [|v]; last by rewrite unit_elsewhere // eq_sym.
rewrite no_tape => [|i' j']; last by rewrite unit_elsewhere // eq_sym.
by rewrite no_head ?addr0 // => i' j'; rewrite unit_elsewhere // eq_sym.
Qed.

(** ** The step *)

Variables (noise : nat -> matrix R) (eta : R).
Hypothesis noise_le : forall p i j, `|noise p i j| <= eta.
Hypothesis margin : eta * (1 + rho) <= rho.

Let after := noisy_step arith noise loss fed weights.

Let eta_ge0 : 0 <= eta.
Proof. exact: le_trans (normr_ge0 _) (noise_le 0%N 0%N 0%N). Qed.

(** A weight that lies near [s] and is drawn to [t] ends near [t]. *)
Lemma drawn_to (a s t e near_ apart_ : R) :
  `|e| <= eta -> `|a - s| <= near_ -> `|s - t| <= apart_ ->
  `|a - (1 + e) * (a - t) - t| <= eta * (near_ + apart_).
Proof.
move=> e_le a_s s_t.
have -> : a - (1 + e) * (a - t) - t = - (e * (a - t)) by ring.
rewrite normrN normrM; apply: ler_pmul => //.
have -> : a - t = (a - s) + (s - t) by rewrite addrA subrK.
by apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
Qed.

Lemma bit_distance (a b : bool) : `|a%:R - b%:R| <= 1 :> R.
Proof. by case: a; case: b; rewrite ?subrr ?subr0 ?sub0r ?normrN ?normr0 ?normr1 ?ler01. Qed.

Lemma sign_distance (a b : bool) : `|sign R a - sign R b| <= 2%:R.
Proof.
case: a; case: b; rewrite /sign ?subrr ?normr0 ?ler0n //.
  by rewrite opprK -mulr2n normr_nat.
by rewrite -opprD normrN -mulr2n normr_nat.
Qed.

(** The noise theorem, one step: where the weights stand for a configuration up to [rho], a step in which every weight
    errs by up to [eta] of its gradient leads to weights that stand for the next configuration up to [rho]. *)
Theorem plain_noisy_step : within m tau at_ rho after (step m c).
Proof.
have [x t h] := near.
split=> [v v_n|i j i_w j_tau|i j i_d j_tau]; rewrite /after /noisy_step.
- rewrite gradient_vertex // /vertex_error; apply: le_trans (drawn_to _ (x v v_n) (bit_distance _ _)) _ => //.
  by rewrite addrC.
- have i_d : (i < d)%N by apply: leq_trans i_w (writable_le ok).
  rewrite gradient_tape // -[cell (step m c) i j]/(if j == head c i then written m c i else cell c i j).
  case: eqP => [->|_]; last by rewrite mulr0 subr0; apply: t.
  have h_tau : (head c i < tau)%N by case: c_in => _; apply.
  rewrite /write_error value_tapes // i_w.
  apply: le_trans (drawn_to _ (t i (head c i) i_w h_tau) (sign_distance _ _)) _ => //.
  rewrite -[2%:R]/(1 *+ 2) -mulrnDl mulrnAr ler_muln2r //= addrC.
  exact: margin.
rewrite gradient_head // /head_error; apply: le_trans (drawn_to _ (h i j i_d j_tau) (bit_distance _ _)) _ => //.
by rewrite addrC.
Qed.

End Step.
