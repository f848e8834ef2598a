(** Theorem 2: Frank-Wolfe and gradient descent on `compact` run the machine.

    The network is the landscape alone: the vertex moves by Frank-Wolfe, tapes and heads by gradient descent with rate 1/g,
    and the read-only tapes are the input. The base b is any number with b^3 > 8 b^2 d + 3 d, the scale g any positive one. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes.
From Luge Require Import CompactSlopes Compact CompactGradient CompactLevels.
From Luge Require PlainValue PlainTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Notation alone := PlainTheorem.alone.
Notation legal := PlainTheorem.legal.

(** The landscape alone; [order] is that of its sums over symbols, tape by tape. *)
Definition compact_loss (m : machine) (tau : nat) (order : seq nat) (base scale offset : number) : expression :=
  compact m tau (alone m) (PlainTheorem.alone_fixed m tau) order base scale offset.

(** The vertex, the writable tapes if there are any, the heads, and how they move. *)
Definition compact_parameters (m : machine) (tau : nat) (rate : number) : seq parameter :=
  ParameterOf (size (table m), 1%N) Simplex ::
  (if n_writable m is 0 then [::] else [:: ParameterOf (n_writable m, tau) (Descent rate)]) ++
  [:: ParameterOf (n_tapes m, tau) (Descent rate)].

Section Theorems.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (order : seq nat) (base scale offset rate : number).

(** Every state looks at tapes of its own; where it looks at all, this is the paper's V = Q x {-1, 1}^d. *)
Hypotheses (ok : well_formed m) (by_state : looks_by_state m) (order_ok : perm_eq order (iota 0 (n_tapes m))).

Let b := real R base.
Let g := real R scale.
Let d := n_tapes m.

Hypothesis b_large : 8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3.
Hypothesis g_gt0 : 0 < g.

Notation loss := (compact_loss m tau order base scale offset).
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

(** Frank-Wolfe's vertex, the argmin of the gradient, is the successor's and no other, whether or not the machine halts. *)
Theorem compact_vertex v :
  (v < size (table m))%N -> v != vertex_of m (step m c) ->
  gradient w (vertex_at (alone m)) (vertex_of m (step m c)) 0%N < gradient w (vertex_at (alone m)) v 0%N.
Proof. exact: (least_vertex _ ok fits at_apart order_ok c_in stays enc shown unmoved by_state b_large g_gt0). Qed.

(** A gradient step with rate 1/g takes the tapes to the successor's tapes. *)
Theorem compact_tapes i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  w (tape_at (alone m)) i j - g^-1 * gradient w (tape_at (alone m)) i j = sign R (cell (step m c) i j).
Proof. exact: (tape_lands _ _ ok fits at_apart order_ok c_in stays enc shown unmoved g_gt0). Qed.

(** And the heads to the successor's heads. *)
Theorem compact_heads i j :
  (i < d)%N -> (j < tau)%N ->
  w (head_at (alone m)) i j - g^-1 * gradient w (head_at (alone m)) i j = (j == head (step m c) i)%:R.
Proof. exact: (head_lands _ _ ok fits at_apart order_ok c_in stays enc shown unmoved g_gt0). Qed.

(** Frank-Wolfe goes to the successor's vertex; where that is the current vertex, it stays. *)
Theorem compact_simplex v :
  (v < size (table m))%N ->
  simplex_step (size (table m)) (fun u => w (vertex_at (alone m)) u 0%N)
    (fun u => gradient w (vertex_at (alone m)) u 0%N) v = (v == vertex_of m (step m c))%:R.
Proof. exact: (vertex_lands _ ok fits at_apart order_ok c_in stays enc shown unmoved by_state b_large g_gt0). Qed.

(** ** Where the loss lies *)

Notation level := (value arith w fed loss 0%N 0%N).

(** While the machine runs, the loss lies between c and c + (8 b^2 d + 3 d) g. *)
Theorem compact_running_level :
  ~~ halted m c -> real R offset <= level <= real R offset + (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R) * g.
Proof. exact: (running_level _ _ ok fits order_ok g_gt0 c_in stays enc shown). Qed.

(** Once it has halted, the loss is c - b^3 g, and 2 b^2 g more for every tape that the halting state does not look at. *)
Theorem compact_halted_level :
  halted m c ->
  level = real R offset - b ^+ 3 * g + 2%:R * b ^+ 2 * g * (d - n_looks (situation_of m (vertex_of m c)))%:R.
Proof. exact: (halted_level _ _ _ ok fits order_ok c_in stays enc shown). Qed.

(** Where every state looks at every tape it is c - b^3 g. *)
Theorem compact_halted_level_all : looks_at_all m -> halted m c -> level = real R offset - b ^+ 3 * g.
Proof. exact: (halted_level_all _ _ _ ok fits order_ok c_in stays enc shown). Qed.

(** So it lies at least (b^3 - 8 b^2 d - 3 d) g below c. *)
Theorem compact_halted_gap :
  halted m c -> level <= real R offset - (b ^+ 3 - (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R)) * g.
Proof. exact: (halted_gap _ _ ok fits order_ok g_gt0 c_in stays enc shown). Qed.

Theorem compact_halted_below : halted m c -> level < real R offset.
Proof. exact: (halted_below _ ok fits order_ok g_gt0 c_in stays enc shown b_large). Qed.

(** With the offset that Luge asks for, the loss is positive. *)
Theorem compact_positive : 2%:R * (b ^+ 3 + d%:R * b) * g <= real R offset -> 0 < level.
Proof. exact: (positive_level ok fits order_ok g_gt0 c_in stays enc shown b_large). Qed.

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
move=> legal_c enc v_lt; rewrite -(compact_simplex legal_c enc v_lt) /slide /train_step.
by rewrite /compact_parameters /alone; case: (n_writable m).
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
