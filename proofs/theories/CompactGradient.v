(** The gradient of `compact` at encode(c), weight by weight, wherever the network keeps its weights: the vertex that follows
    is its only argmin, and tapes and heads are drawn to the successor's. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes.
From Luge Require Import CompactSlopes Compact CompactVertex CompactStep.
From Luge Require PlainValue.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Gradient.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression).
Variable order : seq nat.
Variables base scale offset : number.
Hypotheses (ok : well_formed m) (fixed_ok : PlainValue.fixed_fits m tau fixed) (at_apart : apart at_).
Hypothesis order_ok : perm_eq order (iota 0 (n_tapes m)).
Variables weights fed : nat -> matrix R.
Notation gradient := (gradient arith weights fed (compact m tau at_ fixed order base scale offset)).

Variable c : configuration.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c) (enc : encodes m tau at_ weights c).
Hypothesis shown : if fixed is Some f then shows m tau (value arith weights fed f) c else True.
Hypothesis unmoved :
  if fixed is Some f then forall direction i j, tangent arith weights fed direction f i j = 0 else True.

Let n := size (table m).
Let d := n_tapes m.
Let g := real R scale.
Let tangent_loss := tangent_compact base scale offset ok fixed_ok order_ok c_in stays enc shown unmoved.

Let elsewhere p i j p' i' j' : p' != p -> unit_direction R p i j p' i' j' = 0.
Proof. by rewrite /unit_direction => /negbTE ->. Qed.

Let no_vertex direction (f : nat -> R) : (forall v, direction (vertex_at at_) v 0%N = 0) ->
  total n (fun v => f v * direction (vertex_at at_) v 0%N) = 0.
Proof. by move=> none; apply: total_zero => v _; rewrite none mulr0. Qed.

Let no_tape direction (f : nat -> R) : (forall i j, direction (tape_at at_) i j = 0) ->
  total d (fun i => f i * (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)) = 0.
Proof. by move=> none; apply: total_zero => i _; rewrite none; case: ifP; rewrite mulr0. Qed.

Let no_head direction (f : nat -> nat -> R) : (forall i j, direction (head_at at_) i j = 0) ->
  total d (fun i => total tau (fun j => f i j * direction (head_at at_) i j)) = 0.
Proof. by move=> none; apply: total_zero => i _; apply: total_zero => j _; rewrite none mulr0. Qed.

Lemma gradient_vertex v :
  (v < n)%N -> gradient (vertex_at at_) v 0%N = slope (real R base) g d m (vertex_of m c) v (reads (step m c)).
Proof.
move=> v_n; case/and3P: at_apart => vt vh _; rewrite /gradient tangent_loss.
rewrite no_tape => [|i j]; last by rewrite elsewhere // eq_sym.
rewrite no_head => [|i j]; last by rewrite elsewhere // eq_sym.
rewrite !mulr0 !addr0 (total_one (k := v)) // => [|u _ u_v]; first by rewrite /unit_direction !eqxx mulr1.
by rewrite /unit_direction (negbTE u_v) andbF mulr0.
Qed.

Lemma gradient_tape i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  gradient (tape_at at_) i j = if j == head c i then g * write_error R m c i else 0.
Proof.
move=> i_w j_tau; case/and3P: at_apart => vt _ th; rewrite /gradient tangent_loss.
have i_d : (i < d)%N by apply: leq_trans i_w (writable_le ok).
rewrite no_vertex => [|v]; last by rewrite elsewhere.
rewrite no_head => [|i' j']; last by rewrite elsewhere // eq_sym.
rewrite mulr0 add0r addr0 (total_one (k := i)) // => [|k _ k_i]; rewrite /unit_direction.
  by rewrite i_w !eqxx /= [head c i == j]eq_sym; case: eqP; rewrite ?mulr1 ?mulr0.
by rewrite (negbTE k_i) andbF; case: ifP; rewrite mulr0.
Qed.

Lemma gradient_head i j : (i < d)%N -> (j < tau)%N -> gradient (head_at at_) i j = g * head_error R m c i j.
Proof.
move=> i_d j_tau; case/and3P: at_apart => _ vh th; rewrite /gradient tangent_loss.
rewrite no_vertex => [|v]; last by rewrite elsewhere.
rewrite no_tape => [|i' j']; last by rewrite elsewhere.
rewrite mulr0 !add0r (total_one (k := i)) // => [|k _ k_i]; rewrite /unit_direction.
  rewrite (total_one (k := j)) // => [|k _ k_j]; first by rewrite !eqxx mulr1.
  by rewrite (negbTE k_j) andbF mulr0.
by apply: total_zero => j' _; rewrite (negbTE k_i) andbF mulr0.
Qed.

(** No other weight is moved. *)
Lemma gradient_elsewhere p i j :
  p \notin [:: vertex_at at_; tape_at at_; head_at at_] -> gradient p i j = 0.
Proof.
rewrite !inE !negb_or => /and3P[pv pt ph]; rewrite /gradient tangent_loss.
rewrite no_vertex => [|v]; last by rewrite elsewhere // eq_sym.
rewrite no_tape => [|i' j']; last by rewrite elsewhere // eq_sym.
by rewrite no_head ?mulr0 ?addr0 // => i' j'; rewrite elsewhere // eq_sym.
Qed.

(** ** Where training goes *)

Let b := real R base.
Hypothesis by_state : looks_by_state m.
Hypothesis b_large : 8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3.
Hypothesis g_gt0 : 0 < g.

Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.
Let next_in : inside m tau (step m c) := inside_step ok q_in c_in stays.
Let q'_in : (now (step m c) < n_states m)%N. Proof. by case: next_in. Qed.
Let here_lt : (vertex_of m c < n)%N := vertex_lt ok q_in.
Let next_lt : (vertex_of m (step m c) < n)%N := vertex_lt ok q'_in.

(** The argmin of the gradient is the successor's vertex and no other, whether or not the machine halts. *)
Theorem least_vertex v :
  (v < n)%N -> v != vertex_of m (step m c) ->
  gradient (vertex_at at_) (vertex_of m (step m c)) 0%N < gradient (vertex_at at_) v 0%N.
Proof.
move=> v_lt v_next; rewrite !gradient_vertex //.
case act: (what (situation_of m (vertex_of m c))) => [a|].
  have q' : now (step m c) = next a by rewrite /= /next_state /action_of act.
  have/andP[/eqP next_q next_fits] := vertex_is_in ok q'_in.
  apply: (slope_least (tapes_gt0 ok) g_gt0 b_large ok erefl by_state act v_lt next_lt _ next_fits).
    by rewrite next_q q'.
  by rewrite -q'; have := vertex_unique ok q'_in v_lt; rewrite (negbTE v_next) /is_in => ->.
have halts : halted m c by rewrite /halted /action_of act.
have same_v : vertex_of m (step m c) = vertex_of m c := vertex_of_same ok next_in (step_halted tau halts).
rewrite same_v; rewrite same_v in v_next.
have here_fits : matches (looks (situation_of m (vertex_of m c))) (reads (step m c)).
  by rewrite -same_v; case/andP: (vertex_is_in ok q'_in).
by case: (slope_halted (tapes_gt0 ok) g_gt0 b_large ok erefl act here_lt here_fits v_next).
Qed.

(** Frank-Wolfe goes to the successor's vertex; where that is the current vertex, it stays. *)
Theorem vertex_lands v :
  (v < n)%N ->
  simplex_step n (fun u => weights (vertex_at at_) u 0%N) (fun u => gradient (vertex_at at_) u 0%N) v =
  (v == vertex_of m (step m c))%:R.
Proof.
move=> v_lt; have [x _ _] := enc; have n_gt0 : (0 < n)%N by apply: leq_ltn_trans here_lt.
rewrite /simplex_step (@first_leastP _ _ _ (vertex_of m (step m c))); first last.
- by move=> u; rewrite -ltnS prednK // => u_lt; apply: least_vertex.
- by rewrite -ltnS prednK.
rewrite (total_one (k := vertex_of m c)) // => [|u u_lt u_c]; last by rewrite x // (negbTE u_c) mulr0.
rewrite x // eqxx mulr1.
case: (eqVneq (vertex_of m c) (vertex_of m (step m c))) => [<-|moves]; first by rewrite ltxx x.
by rewrite least_vertex // x // addrC subrK.
Qed.

(** A gradient step with rate 1/g takes the tapes to the successor's tapes. *)
Theorem tape_lands i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  weights (tape_at at_) i j - g^-1 * gradient (tape_at at_) i j = sign R (cell (step m c) i j).
Proof.
move=> i_w j_tau; case: enc => _ t _; rewrite t // gradient_tape //.
rewrite -[cell (step m c) i j]/(if j == head c i then written m c i else cell c i j).
case: eqP => [->|_]; last by rewrite mulr0 subr0.
by rewrite mulKf ?lt0r_neq0 // /write_error opprB addrC subrK.
Qed.

(** And the heads to the successor's heads. *)
Theorem head_lands i j :
  (i < d)%N -> (j < tau)%N ->
  weights (head_at at_) i j - g^-1 * gradient (head_at at_) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; case: enc => _ _ h; rewrite h // gradient_head //.
by rewrite mulKf ?lt0r_neq0 // /head_error opprB addrC subrK.
Qed.

End Gradient.
