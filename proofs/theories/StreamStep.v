(** One step of gradient descent on a stream's loss: where every weight goes. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Tapes StreamMachine Wiring Stream.
From Luge Require Import StreamCarrier StreamValue.
From Luge Require Plain PlainValue PlainStep.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Pick.

Variable R : realFieldType.

(** Along one weight's direction, only that weight's term counts. *)
Lemma pick_column n (f : nat -> R) p q v j :
  (v < n)%N -> total n (fun u => f u * unit_direction R q v j p u 0%N) = if (p == q) && (j == 0%N) then f v else 0.
Proof.
move=> v_n; rewrite /unit_direction; case: (p == q) => /=; last by apply: total_zero => u _; rewrite mulr0.
case: (eqVneq j 0%N) => _; last by apply: total_zero => u _; rewrite andbF mulr0.
rewrite (total_one (k := v)) // => [|u _ /negbTE ->]; last by rewrite mulr0.
by rewrite eqxx mulr1.
Qed.

Lemma pick n k (f : nat -> nat -> R) p q i j :
  (i < n)%N -> (j < k)%N ->
  total n (fun a => total k (fun b => f a b * unit_direction R q i j p a b)) = if p == q then f i j else 0.
Proof.
move=> i_n j_k; rewrite /unit_direction; case: (p == q) => /=; last first.
  by apply: total_zero => a _; apply: total_zero => b _; rewrite mulr0.
rewrite (total_one (k := i)) // => [|a _ /negbTE a_i].
  rewrite (total_one (k := j)) // => [|b _ /negbTE ->]; last by rewrite andbF mulr0.
  by rewrite !eqxx mulr1.
by apply: total_zero => b _; rewrite a_i mulr0.
Qed.

Lemma pick_none n k (f : nat -> nat -> R) p q i j :
  p != q -> total n (fun a => total k (fun b => f a b * unit_direction R q i j p a b)) = 0.
Proof.
by move=> /negbTE p_q; apply: total_zero => a _; apply: total_zero => b _; rewrite /unit_direction p_q mulr0.
Qed.

Lemma sparse_nothing (l : seq entry) i : sparse l (fun _ _ => 0) i = 0 :> R.
Proof. by elim: l => //= e l ->; case: ifP => // _; rewrite mulr0 addr0. Qed.

End Pick.

Section Step.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (takes latches : pred nat).
Variables (at_ : places) (memory_at z_at x_at y_at : nat) (units : seq (seq (option bool))).
Variables (s : shape) (wr : wires) (large inverse : number) (primary : expression).

Hypotheses (ok : well_formed m) (units_ok : PlainValue.units_fit m units).
Hypothesis has_memory : (n_writable m < n_tapes m)%N.
Hypothesis fit : wires_fit m tau s wr.
Hypothesis sides : (0 < s.1)%N && (0 < s.2)%N.
Hypothesis primary_shape : shape_of primary = s.
Hypothesis inverse_ok : real R inverse * real R large = 1.
Hypothesis all_apart : uniq [:: vertex_at at_; tape_at at_; head_at at_; memory_at; z_at].

Let A := real R large.

Notation n_kept := (n_data_bits s wr).
Notation D := (stream_landscape m tau takes latches at_ memory_at z_at x_at units s wr large).
Notation take := (take m takes latches at_).
Notation loss := (stream_loss s z_at y_at large inverse D take (at_rest m at_) primary).
Notation memory := (memory memory_at s wr).
Notation tapes := (tapes m tau at_ memory_at s wr).
Notation heads := (heads m tau at_).
Notation written_next := (written_next m tau at_ memory_at s wr).
Notation heads_next := (heads_next m tau at_).
Notation memory_next := (memory_next m takes latches at_ memory_at z_at x_at s wr).
Notation successor := (successor m tau takes latches at_ memory_at z_at x_at units s wr).
Notation slot_term := (slot_term m takes latches at_ z_at s large).

Variables weights fed : nat -> matrix R.
Notation value := (value arith weights fed).
Notation tangent := (tangent arith weights fed).
Notation gradient := (gradient arith weights fed loss).

Variables (k : nat) (st : streaming) (rho : R).
Let c := running_in st.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c).
Hypotheses (near : within m tau at_ rho weights c) (small : rho <= 4%:R^-1).
Hypothesis memory_near : remembers m tau memory_at s wr weights st rho.

(** Once the machine has halted, no weight moves, whatever the batch. *)
Lemma gradient_halted p i j :
  halted m c -> (forall direction i j, tangent direction primary i j = 0) -> gradient p i j = 0.
Proof.
move=> halts none; rewrite /gradient (halted_tangent (s := s)) //.
by rewrite (value_at_rest arith ok fed c_in near small) halts.
Qed.

(** ** While the machine runs *)

Hypothesis runs : ~~ halted m c.

Variables features labels : nat -> nat -> nat -> bool.
Hypothesis features_v : forall b, (b < n_kept)%N -> is_feature s wr b ->
  value (fresh_bits z_at x_at s wr) b 0%N = sign R (features k (data_row wr) (data_cell wr + b)%N).
Hypothesis labels_v : forall k', slot st = Holds k' -> forall b, (b < n_kept)%N -> ~~ is_feature s wr b ->
  value (fresh_bits z_at x_at s wr) b 0%N = sign R (labels k' (data_row wr) (data_cell wr + b)%N).
Hypothesis fair : disciplined takes latches st.

Notation after := (refreshed_step m takes latches (feature_cell s wr) (label_cell s wr) features labels k st).

Let n := size (table m).
Let d := n_tapes m.
Let fits := memory_fits tau memory_at s wr has_memory.
Let tapes_s : shape_of tapes = (d, tau) := shape_tapes tau at_ memory_at s wr ok has_memory.
Let heads_s : shape_of heads = (d, tau) := shape_heads m tau at_.

(** The errors that D squares. *)
Definition vertex_error v : R := weights (vertex_at at_) v 0%N - (v == vertex_of m after)%:R.
Definition write_error i : R := value tapes i (head c i) - sign R (written m c i).
Definition head_error i j : R := weights (head_at at_) i j - (j == head after i)%:R.
Definition memory_error b : R :=
  weights memory_at b 0%N - sign R (cell after (n_writable m + data_row wr) (data_cell wr + b)).

Let took : R := (taking takes st)%:R.

Let memory_value b : (b < n_kept)%N ->
  value memory_next b 0%N = sign R (cell after (n_writable m + data_row wr) (data_cell wr + b)).
Proof.
move=> b_lt; rewrite (value_memory_next ok c_in near small memory_near runs features_v labels_v fair) //=.
by rewrite ltnNge leq_addr /= addKn.
Qed.

Let take_value : value take 0%N 0%N = took.
Proof. exact: (value_take arith takes latches ok fed c_in near small runs). Qed.

Lemma tangent_slot_term direction :
  tangent direction slot_term 0%N 0%N =
  (1 - took) * total s.1 (fun i => total s.2 (fun j => 2%:R * (weights z_at i j + A) * direction z_at i j)).
Proof.
have open_s : shape_of (affine minus_one take one) = (1, 1)%N by [].
have open_v : value (affine minus_one take one) 0%N 0%N = 1 - took.
  by rewrite (@value_affine _ _ _ _ (1, 1)%N) // take_value mulN1r addrC.
have open_t : tangent direction (affine minus_one take one) 0%N 0%N = 0.
  by rewrite /= /stretch /= !mulr0 addr0.
rewrite /Stream.slot_term; move: (affine _ _ _) open_s open_v open_t => open open_s open_v open_t.
rewrite -[LHS]/(stretch (shape_of open) (tangent direction open) 0%N 0%N * _ +
  stretch (shape_of open) (value open) 0%N 0%N *
  tangent direction (slot_squares s z_at large) 0%N 0%N).
rewrite open_s !stretch_scalar open_t open_v mul0r add0r; congr (_ * _).
pose away := affine one (z s z_at) large.
have away_s : shape_of away = s by exact: shape_affine.
rewrite -[LHS]/(total (shape_of (Product away away)).1 (fun i => total (shape_of (Product away away)).2
  (fun j => stretch (shape_of away) (tangent direction away) i j * stretch (shape_of away) (value away) i j +
    stretch (shape_of away) (value away) i j * stretch (shape_of away) (tangent direction away) i j))).
have -> : shape_of (Product away away) = s by exact: shape_product.
apply: total_eq => i i_s; apply: total_eq => j j_s; rewrite away_s !stretch_in //.
have -> : value away i j = weights z_at i j + A by rewrite (@value_affine _ _ _ _ s) // mul1r.
have -> : tangent direction away i j = direction z_at i j.
  by rewrite /= stretch_in // stretch_scalar mul1r mulr0 addr0.
by ring.
Qed.

Lemma tangent_landscape direction :
  tangent direction D 0%N 0%N =
  total n (fun v => vertex_error v * direction (vertex_at at_) v 0%N) +
  total d (fun i => write_error i * (if (i < n_writable m)%N then direction (tape_at at_) i (head c i) else 0)) +
  total d (fun i => total tau (fun j => head_error i j * direction (head_at at_) i j)) +
  total n_kept (fun b => memory_error b * direction memory_at b 0%N) +
  (1 - took) * total s.1 (fun i => total s.2 (fun j => (weights z_at i j + A) * direction z_at i j)).
Proof.
rewrite /stream_landscape (@tangent_weighted _ arith weights fed direction (1, 1)%N _ _ 0 0) //.
rewrite -[foldr _ _ _]/(
  real R half * tangent direction (squared_distance (Plain.vertex_weights m at_) (Stop successor)) 0%N 0%N +
  (real R half * tangent direction (squared_distance (read tapes (Stop heads)) (Stop written_next)) 0%N 0%N +
  (real R half * tangent direction (squared_distance (Plain.head_weights m tau at_) (Stop heads_next)) 0%N 0%N +
  (real R half * tangent direction (squared_distance memory (Stop memory_next)) 0%N 0%N +
  (real R half * tangent direction slot_term 0%N 0%N + 0))))).
have succ_s : shape_of (Stop successor) = (n, 1%N) by exact: shape_successor.
have write_s : shape_of (Stop written_next) = (d, 1%N) by exact: shape_written_next.
have next_s : shape_of (Stop heads_next) = (d, tau) by exact: shape_heads_next.
have memory_s : shape_of (Stop memory_next) = (n_kept, 1%N) by exact: shape_memory_next.
have read_s : shape_of (read tapes (Stop heads)) = (d, 1%N) by exact: (shape_read tapes_s heads_s).
rewrite !real_half addr0 !addrA.
rewrite (@tangent_squared_distance _ _ _ _ _ (n, 1%N)) // (@tangent_squared_distance _ _ _ _ _ (d, 1%N)) //.
rewrite (@tangent_squared_distance _ _ _ _ _ (d, tau)) // (@tangent_squared_distance _ _ _ _ _ (n_kept, 1%N)) //.
rewrite tangent_slot_term.
have column l (f : nat -> nat -> R) : total l (fun i => total 1 (f i)) = total l (fun i => f i 0%N).
  by apply: total_eq => i _; rewrite /total /= addr0.
have halved (a b : R) : 2%:R^-1 * (2%:R * a * b) = a * b by field.
rewrite !column -!total_mull; congr (_ + _ + _ + _ + _).
- apply: total_eq => v v_lt; rewrite halved /vertex_error.
  by rewrite -(value_successor ok units_ok has_memory fit c_in near small memory_near runs features_v labels_v fair stays).
- apply: total_eq => i i_d; rewrite halved.
  rewrite (PlainStep.value_read_raw arith ok fits fed c_in near small) //.
  rewrite (PlainStep.tangent_read_raw (arith := arith) (fed := fed) ok fits c_in near small) //; last first.
    by move=> dir i0 j0; exact: sparse_nothing.
  by rewrite /write_error -(value_written_next arith z_at x_at ok has_memory fit fed c_in near small memory_near).
- apply: total_eq => i i_d; rewrite -total_mull; apply: total_eq => j j_tau; rewrite halved.
  by rewrite /head_error -(value_heads_next arith ok fed c_in near small stays).
- by apply: total_eq => b b_lt; rewrite halved /memory_error -memory_value.
apply: total_eq => i _; rewrite mulrCA; congr (_ * _); rewrite -total_mull.
by apply: total_eq => j _; rewrite halved.
Qed.

(** How much of the gradient of D there is: 1 - y_1/A. *)
Definition share : R := 1 - real R inverse * fed y_at 0%N 0%N.

Lemma tangent_running direction :
  tangent direction loss 0%N 0%N =
  share * tangent direction D 0%N 0%N -
  took * total s.1 (fun i => total s.2 (fun j => (A - fed y_at i j) * direction z_at i j)).
Proof.
rewrite (stream_tangent z_at y_at (arith := arith) (take := take) (large := large) sides) // ?take_value //.
by rewrite (value_at_rest arith ok fed c_in near small) (negbTE runs).
Qed.

Let places_apart :
  [/\ [/\ vertex_at at_ != tape_at at_, vertex_at at_ != head_at at_, vertex_at at_ != memory_at & vertex_at at_ != z_at],
      [/\ tape_at at_ != head_at at_, tape_at at_ != memory_at & tape_at at_ != z_at],
      head_at at_ != memory_at /\ head_at at_ != z_at & memory_at != z_at].
Proof.
move: all_apart; rewrite /= !inE !negb_or !andbT.
by case/and4P=> /and4P[? ? ? ?] /and3P[? ? ?] /andP[? ?] ?.
Qed.

Let no_tape p i j : tape_at at_ != p ->
  total d (fun a => write_error a *
    (if (a < n_writable m)%N then unit_direction R p i j (tape_at at_) a (head c a) else 0)) = 0.
Proof.
by move=> /negbTE t_p; apply: total_zero => a _; rewrite /unit_direction t_p; case: ifP; rewrite mulr0.
Qed.

Let no_vertex p i j : vertex_at at_ != p ->
  total n (fun v => vertex_error v * unit_direction R p i j (vertex_at at_) v 0%N) = 0.
Proof. by move=> /negbTE v_p; apply: total_zero => v _; rewrite /unit_direction v_p mulr0. Qed.

Let no_memory p i j : memory_at != p ->
  total n_kept (fun b => memory_error b * unit_direction R p i j memory_at b 0%N) = 0.
Proof. by move=> /negbTE m_p; apply: total_zero => b _; rewrite /unit_direction m_p mulr0. Qed.

Lemma gradient_vertex v : (v < n)%N -> gradient (vertex_at at_) v 0%N = share * vertex_error v.
Proof.
move=> v_n; have [[vt vh vm vz] _ _ _] := places_apart.
rewrite /gradient tangent_running tangent_landscape no_tape 1?eq_sym // no_memory 1?eq_sym //.
rewrite !pick_none 1?eq_sym // pick_column // !eqxx.
by rewrite !mulr0 !addr0 subr0.
Qed.

Lemma gradient_tape i j :
  (i < n_writable m)%N -> (j < tau)%N ->
  gradient (tape_at at_) i j = share * (if j == head c i then write_error i else 0).
Proof.
move=> i_w j_tau; have [[vt _ _ _] [th tm tz] _ _] := places_apart.
have i_d : (i < d)%N by apply: leq_trans i_w (writable_le ok).
rewrite /gradient tangent_running tangent_landscape no_vertex // no_memory 1?eq_sym //.
rewrite !pick_none 1?eq_sym // add0r !mulr0 !addr0 subr0.
congr (_ * _); rewrite (total_one (k := i)) // => [|a _ a_i]; rewrite /unit_direction.
  by rewrite i_w !eqxx /= [head c i == j]eq_sym; case: eqP; rewrite ?mulr1 ?mulr0.
by rewrite (negbTE a_i) andbF; case: ifP; rewrite mulr0.
Qed.

Lemma gradient_head i j : (i < d)%N -> (j < tau)%N -> gradient (head_at at_) i j = share * head_error i j.
Proof.
move=> i_d j_tau; have [[_ vh _ _] [th _ _] [hm hz] _] := places_apart.
rewrite /gradient tangent_running tangent_landscape no_vertex // no_tape // no_memory 1?eq_sym //.
rewrite pick // eqxx pick_none 1?eq_sym // pick_none 1?eq_sym //.
by rewrite !add0r !mulr0 !addr0 subr0.
Qed.

Lemma gradient_memory b : (b < n_kept)%N -> gradient memory_at b 0%N = share * memory_error b.
Proof.
move=> b_lt; have [[_ _ vm _] [_ tm _] [hm _] mz] := places_apart.
rewrite /gradient tangent_running tangent_landscape no_vertex // no_tape //.
rewrite (@pick_none _ _ _ _ (head_at at_)) // pick_column // !eqxx !(@pick_none _ _ _ _ z_at) 1?eq_sym //.
by rewrite !add0r !mulr0 !addr0 subr0.
Qed.

Lemma gradient_slot i j :
  (i < s.1)%N -> (j < s.2)%N ->
  gradient z_at i j = if taking takes st then - (A - fed y_at i j) else share * (weights z_at i j + A).
Proof.
move=> i_s j_s; have [[_ _ _ vz] [_ _ tz] [_ hz] mz] := places_apart.
rewrite /gradient tangent_running tangent_landscape no_vertex // no_tape // no_memory //.
rewrite (@pick_none _ _ _ _ (head_at at_)) // !pick // !eqxx !add0r /took.
by case: (taking takes st); rewrite /= ?subrr ?subr0 !(mul1r, mul0r, mulr0, sub0r, subr0).
Qed.

End Step.
