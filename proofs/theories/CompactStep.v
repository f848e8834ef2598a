(** The loss `compact` at encode(c): what it is worth, and how it slopes in every direction of the weights. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes.
From Luge Require Import CompactSlopes Compact CompactVertex.
From Luge Require Plain PlainValue PlainStep.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Squares.

Variable R : realFieldType.
Variables (arith : arithmetic R) (weights fed direction : nat -> matrix R).

(** |[a] - b|^2 pulls b towards a. *)
Lemma tangent_squared_distance_left s a b :
  shape_of a = s -> shape_of b = s ->
  tangent arith weights fed direction (squared_distance (Stop a) b) 0%N 0%N =
  total s.1 (fun i => total s.2 (fun j =>
    2%:R * (value arith weights fed b i j - value arith weights fed a i j) *
    tangent arith weights fed direction b i j)).
Proof.
move=> a_s b_s; rewrite /squared_distance /= a_s b_s !joinednn.
apply: total_eq => i i_s; apply: total_eq => j j_s.
by rewrite !stretch_in // mulr0 add0r mul1r !mulN1r; ring.
Qed.

Lemma total_columns k (f : nat -> nat -> R) : total k (fun i => total 1 (f i)) = total k (fun i => f i 0%N).
Proof. by apply: total_eq => i _; rewrite total1. Qed.

End Squares.

Section Step.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression).
Variable order : seq nat.
Variables base scale offset : number.

(** The network fits the machine. *)
Hypotheses (ok : well_formed m) (fixed_ok : PlainValue.fixed_fits m tau fixed).
Hypothesis order_ok : perm_eq order (iota 0 (n_tapes m)).

Notation loss := (compact m tau at_ fixed order base scale offset).

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed).

Variable c : configuration.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c) (enc : encodes m tau at_ weights c).

(** The read-only tapes are shown, and do not depend on the weights. *)
Hypothesis shown : if fixed is Some f then shows m tau (value f) c else True.
Hypothesis unmoved : if fixed is Some f then forall direction i j, tangent direction f i j = 0 else True.

Let n := size (table m).
Let d := n_tapes m.
Let b := real R base.
Let g := real R scale.
Let v0 := vertex_of m c.
Let here := situation_of m v0.
Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.

(** ** What the parts are worth *)

Let vertex_v v : (v < n)%N -> value (vertex m at_) v 0%N = (v == v0)%:R.
Proof. by case: enc => x _ _; apply: x. Qed.

Let heads_s : shape_of (heads m tau at_) = (d, tau). Proof. by []. Qed.

Let heads_v i j : (i < d)%N -> (j < tau)%N -> value (heads m tau at_) i j = (j == head c i)%:R.
Proof. by case: enc => _ _ h; apply: h. Qed.

Let tapes_s : shape_of (tapes m tau at_ fixed) = (d, tau) := PlainValue.shape_tapes at_ ok fixed_ok.

Let tapes_v i j : (i < d)%N -> (j < tau)%N -> value (tapes m tau at_ fixed) i j = sign R (cell c i j).
Proof.
move=> i_d j_tau; rewrite PlainValue.value_tapes //; case: ltnP => [i_w|w_i]; first by case: enc => _ t _; apply: t.
move: shown fixed_ok; case: fixed => [f sh _|_ /= /eqP w_d]; last by rewrite w_d leqNgt i_d in w_i.
by rewrite sh ?ltn_sub2r ?(leq_ltn_trans w_i) // subnKC.
Qed.

Let read_s : shape_of (read_now m tau at_ fixed) = (d, 1%N) := shape_read tapes_s heads_s.

Let read_v i : (i < d)%N -> value (read_now m tau at_ fixed) i 0%N = sign R (reads c i).
Proof.
move=> i_d; rewrite (@value_read _ _ _ _ (d, tau)) //.
rewrite -(PlainValue.total_head c_in (fun j => sign R (cell c i j)) i_d).
apply: total_eq => j j_tau; rewrite tapes_v //.
by rewrite -[value (Stop (heads m tau at_)) i j]/(value (heads m tau at_) i j) heads_v.
Qed.

Let write_v i : (i < d)%N -> value (written_next m tau at_ fixed) i 0%N = sign R (written m c i).
Proof. exact: (value_write read_s ok c_in vertex_v read_v). Qed.

Let next_v i j :
  (i < d)%N -> (j < tau)%N -> value (heads_next m tau at_) i j = (j == head (step m c) i)%:R.
Proof. exact: (value_moved_heads heads_s ok c_in vertex_v heads_v stays). Qed.

Let ahead_v i : (i < d)%N -> value (read_next m tau at_ fixed) i 0%N = sign R (reads (step m c) i).
Proof. exact: (value_read_ahead heads_s tapes_s read_s ok c_in vertex_v heads_v tapes_v read_v stays). Qed.

Let now_v i : (i < d)%N -> value (now_seen m at_) i 0%N = seen R (nth None (looks here) i).
Proof.
move=> i_d; rewrite (value_from_vertices ok c_in vertex_v) // -/v0 -/here.
by case: (nth None (looks here) i) => [[]|].
Qed.

Let write_s : shape_of (written_next m tau at_ fixed) = (d, 1%N) := shape_write (vertex m at_) read_s.
Let next_s : shape_of (heads_next m tau at_) = (d, tau) := shape_moved_heads (vertex m at_) heads_s.
Let ahead_s : shape_of (read_next m tau at_ fixed) = (d, 1%N) :=
  shape_read_ahead (vertex m at_) heads_s tapes_s read_s.

(** The errors that the loss squares. *)
Definition write_error i : R := sign R (reads c i) - sign R (written m c i).
Definition read_error i : R := sign R (reads (step m c) i) - seen R (nth None (looks (situation_of m (vertex_of m c))) i).
Definition head_error i j : R := (j == head c i)%:R - (j == head (step m c) i)%:R.

Lemma terms_shapes :
  all (fun t => shape_of t.2 == (1, 1)%N)
    ((offset, scalar one) :: vertex_terms m at_ order base scale ++ tape_terms m tau at_ fixed base scale).
Proof. by rewrite /vertex_terms /dip_terms; case: (loopers m). Qed.

(** The loss at encode(c). *)
Theorem value_compact :
  value loss 0%N 0%N =
  real R offset - (if halted m c then b ^+ 3 * g else 0) +
  g / 2%:R * (total d (fun i => write_error i ^+ 2) + total d (fun i => total tau (fun j => head_error i j ^+ 2))) +
  2%:R * b ^+ 2 * g * total d (fun i => read_error i ^+ 2).
Proof.
rewrite /compact (@value_weightedE _ arith weights fed (1, 1)%N _ _ 0 0 _ _ terms_shapes) //.
rewrite -[foldr _ _ _]/(real R offset * value (scalar one) 0%N 0%N +
  summed (fun t => real R t.1 * value t.2 0%N 0%N) 
    (vertex_terms m at_ order base scale ++ tape_terms m tau at_ fixed base scale)).
rewrite summed_cat (value_vertex_terms arith base scale ok order_ok fed (vertex_lt ok q_in) vertex_v).
rewrite -[summed _ (tape_terms _ _ _ _ _ _)]/(real R (times half scale) *
    value (squared_distance (read_now m tau at_ fixed) (Stop (written_next m tau at_ fixed))) 0%N 0%N +
  (real R (times two (times base (times base scale))) *
    value (squared_distance (Stop (read_next m tau at_ fixed)) (now_seen m at_)) 0%N 0%N +
  (real R (times half scale) *
    value (squared_distance (Stop (heads_next m tau at_)) (heads m tau at_)) 0%N 0%N + 0))).
rewrite (@value_squared_distance _ _ _ _ (d, 1%N)) // (@value_squared_distance _ _ _ _ (d, 1%N)) //.
rewrite (@value_squared_distance _ _ _ _ (d, tau)) // !total_columns.
have write_t : total d (fun i => (value (read_now m tau at_ fixed) i 0%N - value (written_next m tau at_ fixed) i 0%N) ^+ 2) =
    total d (fun i => write_error i ^+ 2).
  by apply: total_eq => i i_d; rewrite read_v // write_v.
have read_t : total d (fun i => (value (read_next m tau at_ fixed) i 0%N - value (now_seen m at_) i 0%N) ^+ 2) =
    total d (fun i => read_error i ^+ 2).
  by apply: total_eq => i i_d; rewrite now_v // ahead_v.
have head_t : total d (fun i => total tau (fun j => (value (heads_next m tau at_) i j -
    value (heads m tau at_) i j) ^+ 2)) = total d (fun i => total tau (fun j => head_error i j ^+ 2)).
  apply: total_eq => i i_d; apply: total_eq => j j_tau; rewrite heads_v // next_v //.
  by rewrite /head_error -sqrrN opprB.
rewrite write_t read_t head_t.
rewrite !real_times real_half real_two -/b -/g.
rewrite -[value (scalar one) 0%N 0%N]/(1 : R) -[rests _]/(halted m c).
move: (total d _) (total d _) (total d _) => t1 t2 t3.
have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
by case: (halted m c); field.
Qed.

Variable direction : nat -> matrix R.

Let tangent_read_now i :
  (i < d)%N -> tangent direction (read_now m tau at_ fixed) i 0%N =
  if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0.
Proof.
move=> i_d; rewrite (@tangent_read_stop _ _ _ _ _ (d, tau)) //.
rewrite -(PlainStep.tangent_tapes at_ fixed_ok unmoved direction _ i_d).
rewrite -(PlainValue.total_head c_in (fun j => tangent direction (Plain.tapes m tau at_ fixed) i j) i_d).
by apply: total_eq => j j_tau; rewrite heads_v.
Qed.

Let tangent_now i :
  (i < d)%N -> tangent direction (now_seen m at_) i 0%N =
  total n (fun w => seen R (nth None (looks (situation_of m w)) i) * direction (vertex_at at_) w 0%N).
Proof.
move=> i_d; rewrite -[LHS]/(sparse (now_arcs m) (direction (vertex_at at_)) i) (sparse_arcs nowhere) //.
by apply: total_eq => w _; rewrite -/(situation_of m w); case: (nth None _ i) => [[]|].
Qed.

(** Along every direction: the slopes between the vertices, the write, the move. *)
Theorem tangent_compact :
  tangent direction loss 0%N 0%N =
  total n (fun w => slope b g d m v0 w (reads (step m c)) * direction (vertex_at at_) w 0%N) +
  g * total d (fun i => write_error i *
                        (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)) +
  g * total d (fun i => total tau (fun j => head_error i j * direction (head_at at_) i j)).
Proof.
rewrite /compact (@tangent_weighted _ arith weights fed direction (1, 1)%N _ _ 0 0 _ _ terms_shapes) //.
rewrite -[foldr _ _ _]/(real R offset * tangent direction (scalar one) 0%N 0%N +
  summed (fun t => real R t.1 * tangent direction t.2 0%N 0%N) 
    (vertex_terms m at_ order base scale ++ tape_terms m tau at_ fixed base scale)) summed_cat.
rewrite (tangent_vertex_terms arith base scale ok order_ok fed direction (vertex_lt ok q_in) vertex_v).
rewrite -[summed _ (tape_terms _ _ _ _ _ _)]/(real R (times half scale) *
    tangent direction (squared_distance (read_now m tau at_ fixed) (Stop (written_next m tau at_ fixed))) 0%N 0%N +
  (real R (times two (times base (times base scale))) *
    tangent direction (squared_distance (Stop (read_next m tau at_ fixed)) (now_seen m at_)) 0%N 0%N +
  (real R (times half scale) *
    tangent direction (squared_distance (Stop (heads_next m tau at_)) (heads m tau at_)) 0%N 0%N + 0))).
rewrite (@tangent_squared_distance _ _ _ _ _ (d, 1%N)) // (@tangent_squared_distance_left _ _ _ _ _ (d, 1%N)) //.
rewrite (@tangent_squared_distance_left _ _ _ _ _ (d, tau)) // !total_columns.
have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
have write_t : total d (fun i => 2%:R * (value (read_now m tau at_ fixed) i 0%N - value (written_next m tau at_ fixed) i 0%N) *
      tangent direction (read_now m tau at_ fixed) i 0%N) =
    2%:R * total d (fun i => write_error i *
      (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)).
  by rewrite -total_mull; apply: total_eq => i i_d; rewrite read_v // write_v // tangent_read_now // mulrA.
have head_t : total d (fun i => total tau (fun j => 2%:R * (value (heads m tau at_) i j -
      value (heads_next m tau at_) i j) * tangent direction (heads m tau at_) i j)) =
    2%:R * total d (fun i => total tau (fun j => head_error i j * direction (head_at at_) i j)).
  rewrite -total_mull; apply: total_eq => i i_d; rewrite -total_mull; apply: total_eq => j j_tau.
  by rewrite heads_v // next_v // mulrA.
have read_t : total d (fun i => 2%:R * (value (now_seen m at_) i 0%N - value (read_next m tau at_ fixed) i 0%N) *
      tangent direction (now_seen m at_) i 0%N) =
    - (2%:R * total n (fun w => total d (fun i => read_error i * seen R (nth None (looks (situation_of m w)) i)) *
      direction (vertex_at at_) w 0%N)).
  rewrite -mulNr -total_mull !totalE.
  rewrite (eq_bigr (fun i : 'I_d => \sum_(w < n) - (2%:R * (read_error i * seen R (nth None (looks (situation_of m w)) i) *
      direction (vertex_at at_) w 0%N)))).
    rewrite exchange_big; apply: eq_bigr => w _; rewrite totalE mulr_suml mulr_sumr.
    by apply: eq_bigr => i _; rewrite mulNr.
  move=> i _; rewrite now_v // ahead_v // tangent_now // totalE mulr_sumr; apply: eq_bigr => w _.
  rewrite /read_error -/v0 -/here.
  by move: (sign R _) (seen R _) (seen R _) (direction _ _ _) => x y z u; ring.
rewrite write_t head_t read_t !real_times real_half real_two -/b -/g.
rewrite -[tangent direction (scalar one) 0%N 0%N]/(0 : R).
have slopes : total n (fun w => slope b g d m v0 w (reads (step m c)) * direction (vertex_at at_) w 0%N) =
    total n (fun w => (4%:R * edge b g d here (situation_of m w) +
      (if rests here && (w == v0) then - (4%:R * b ^+ 3 * g) else 0)) * direction (vertex_at at_) w 0%N) -
    4%:R * b ^+ 2 * g * total n (fun w => total d (fun i =>
      read_error i * seen R (nth None (looks (situation_of m w)) i)) * direction (vertex_at at_) w 0%N).
  rewrite -total_mull !totalE -sumrB; apply: eq_bigr => w _.
  by rewrite [slope _ _ _ _ _ _ _]/slope mulrBl mulrA.
rewrite slopes -/here -/n -/d.
move: (total n _) (total n _) (total d _) (total d _) => t1 t2 t3 t4.
by field.
Qed.

End Step.
