(** Theorem 2: Frank-Wolfe and gradient descent on `compact` run the machine.

    The network is the landscape alone: the vertex moves by Frank-Wolfe, tapes and heads by gradient descent with rate 1/g,
    and the read-only tapes are the input. The base b is any number with b^3 > 8 b^2 d + 3 d, the scale g any positive one. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes.
From Luge Require Import CompactSlopes Compact CompactVertex CompactStep.
From Luge Require PlainValue PlainTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Notation alone := PlainTheorem.alone.
Notation legal := PlainTheorem.legal.

Definition compact_loss (m : machine) (tau : nat) (base scale offset : number) : expression :=
  compact m tau (alone m) (PlainTheorem.alone_fixed m tau) (iota 0 (n_tapes m)) base scale offset.

(** The vertex, the writable tapes if there are any, the heads, and how they move. *)
Definition compact_parameters (m : machine) (tau : nat) (rate : number) : seq parameter :=
  ParameterOf (size (table m), 1%N) Simplex ::
  (if n_writable m is 0 then [::] else [:: ParameterOf (n_writable m, tau) (Descent rate)]) ++
  [:: ParameterOf (n_tapes m, tau) (Descent rate)].

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

End Gradient.

Section Theorems.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (base scale offset rate : number).

(** Every state looks at tapes of its own; where it looks at all, this is the paper's V = Q x {-1, 1}^d. *)
Hypotheses (ok : well_formed m) (by_state : looks_by_state m).

Let b := real R base.
Let g := real R scale.
Let d := n_tapes m.

Hypothesis b_large : 8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3.
Hypothesis g_gt0 : 0 < g.

Notation loss := (compact_loss m tau base scale offset).
Notation encodes := (encodes m tau (alone m)).

(** The input: the read-only tapes, which no step changes. *)
Variable fed : nat -> matrix R.

Notation gradient w := (gradient arith w fed loss).

Section At.

Variables (c : configuration) (w : nat -> matrix R).
Hypotheses (legal_c : legal m tau fed c) (enc : encodes w c).

Let c_in : inside m tau c. Proof. by case: legal_c. Qed.
Let stays : stays_inside m tau c. Proof. by case: legal_c. Qed.
Let shown := PlainTheorem.shown_alone arith w (let: And3 _ _ s := legal_c in s).
Let fits := PlainTheorem.alone_fixed_fits tau ok.
Let at_apart := PlainTheorem.alone_apart m.
Let unmoved := PlainTheorem.unmoved_alone arith m tau fed w.
Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.
Let next_in : inside m tau (step m c) := inside_step ok q_in c_in stays.
Let q'_in : (now (step m c) < n_states m)%N. Proof. by case: next_in. Qed.
Let slopes v (v_lt : (v < size (table m))%N) :=
  gradient_vertex base scale offset ok fits at_apart (perm_refl _) c_in stays enc shown unmoved v_lt.

(** Frank-Wolfe's vertex, the argmin of the gradient, is the successor's and no other, whether or not the machine halts. *)
Theorem compact_vertex v :
  (v < size (table m))%N -> v != vertex_of m (step m c) ->
  gradient w (vertex_at (alone m)) (vertex_of m (step m c)) 0%N < gradient w (vertex_at (alone m)) v 0%N.
Proof.
move=> v_lt v_next; have next_lt := vertex_lt ok q'_in; have here_lt := vertex_lt ok q_in.
rewrite !slopes //.
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

(** A gradient step with rate 1/g takes the tapes to the successor's tapes. *)
Theorem compact_tapes i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  w (tape_at (alone m)) i j - g^-1 * gradient w (tape_at (alone m)) i j = sign R (cell (step m c) i j).
Proof.
move=> i_w j_tau; case: enc => _ t _; rewrite t //.
rewrite (gradient_tape base scale offset ok fits at_apart (perm_refl _) c_in stays enc shown unmoved) //.
rewrite -[cell (step m c) i j]/(if j == head c i then written m c i else cell c i j).
case: eqP => [->|_]; last by rewrite mulr0 subr0.
by rewrite mulKf ?lt0r_neq0 // /write_error opprB addrC subrK.
Qed.

(** And the heads to the successor's heads. *)
Theorem compact_heads i j :
  (i < d)%N -> (j < tau)%N ->
  w (head_at (alone m)) i j - g^-1 * gradient w (head_at (alone m)) i j = (j == head (step m c) i)%:R.
Proof.
move=> i_d j_tau; case: enc => _ _ h; rewrite h //.
rewrite (gradient_head base scale offset ok fits at_apart (perm_refl _) c_in stays enc shown unmoved) //.
by rewrite mulKf ?lt0r_neq0 // /head_error opprB addrC subrK.
Qed.

End At.

(** ** Training *)

(** The rate of tapes and heads is 1/g. *)
Hypothesis rate_g : real R rate * g = 1.

(** One step of training. *)
Definition slide : (nat -> matrix R) -> nat -> matrix R := train_step arith (compact_parameters m tau rate) loss fed.

Let rateE : real R rate = g^-1.
Proof. by apply: (mulIf (lt0r_neq0 g_gt0)); rewrite rate_g mulVf // lt0r_neq0. Qed.

(** The step goes to the successor's vertex; where that is the current vertex, it stays. *)
Theorem compact_vertex_step c w v :
  legal m tau fed c -> encodes w c -> (v < size (table m))%N ->
  slide w (vertex_at (alone m)) v 0%N = (v == vertex_of m (step m c))%:R.
Proof.
move=> legal_c enc v_lt; have least := compact_vertex legal_c enc; case: (legal_c) => c_in stays _.
have [q_in _] := c_in; have [q'_in _] := inside_step ok q_in c_in stays.
have here_lt := vertex_lt ok q_in; have next_lt := vertex_lt ok q'_in.
have [x _ _] := enc.
have at0 : vertex_at (alone m) = 0%N by rewrite /alone; case: (n_writable m).
rewrite /slide /train_step {1 2}at0 /= /simplex_step.
have n_gt0 : (0 < size (table m))%N by apply: leq_ltn_trans here_lt.
rewrite (@first_leastP _ _ _ (vertex_of m (step m c))); first last.
- by move=> u; rewrite -ltnS prednK // => u_lt; apply: least.
- by rewrite -ltnS prednK.
rewrite (total_one (k := vertex_of m c)) // => [|u u_lt u_c]; last by rewrite x // (negbTE u_c) mulr0.
rewrite x // eqxx mulr1.
case: (eqVneq (vertex_of m c) (vertex_of m (step m c))) => [<-|moves]; first by rewrite ltxx x.
by rewrite least // x // addrC subrK.
Qed.

(** One training step from encode(c) is encode(step c). *)
Theorem compact_step c w : legal m tau fed c -> encodes w c -> encodes (slide w) (step m c).
Proof.
move=> legal_c enc; split=> [v v_lt|i j i_w j_tau|i j i_d j_tau]; first exact: compact_vertex_step.
- rewrite -(compact_tapes legal_c enc i_w j_tau) -rateE /slide /train_step.
  by move: i_w; rewrite /compact_parameters /alone; case: (n_writable m).
rewrite -(compact_heads legal_c enc i_d j_tau) -rateE /slide /train_step.
by rewrite /compact_parameters /alone; case: (n_writable m).
Qed.

Theorem compact_step_encode c :
  legal m tau fed c ->
  agree m tau (alone m) (slide (encode R m (alone m) c)) (encode R m (alone m) (step m c)).
Proof.
move=> legal_c; apply: (encodes_agree (c := step m c)); last exact: encode_encodes (PlainTheorem.alone_apart m).
apply: compact_step legal_c _; exact: encode_encodes (PlainTheorem.alone_apart m).
Qed.

(** While the heads stay inside the window, [k] training steps are [k] steps of the machine. *)
Theorem compact_trace k c w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes w c -> encodes (iter k slide w) (steps m k c).
Proof.
move=> c_in shown stays enc; suff: forall j, (j <= k)%N -> encodes (iter j slide w) (steps m j c) by exact.
elim=> [//|j IH] j_k; rewrite steps_last iterS; apply: compact_step (IH (ltnW j_k)).
by have [in_j shown_j] := PlainTheorem.legal_steps ok stays c_in shown (ltnW j_k); split=> //; apply: stays.
Qed.

(** At a halting configuration nothing moves. *)
Theorem compact_fixed_point c w :
  legal m tau fed c -> halted m c -> encodes w c -> agree m tau (alone m) (slide w) w.
Proof.
move=> legal_c halts enc; apply: (encodes_agree (c := c)) => //; have [c_in stays _] := legal_c.
apply: encodes_same (step_halted tau halts) (compact_step legal_c enc) => //.
exact: (inside_step ok (proj1 c_in) c_in stays).
Qed.

End Theorems.
