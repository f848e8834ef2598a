(** Tapes without ends: what the window of the network shows of them.

    A network has finitely many cells. While the heads of a machine on endless tapes stay among the cells that the network
    has, its steps are those of the window, so training follows the endless machine. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From Luge Require Import Number Expression Training Machine Encoding Plain PlainTheorem.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** A configuration on tapes without ends: cells are counted by whole numbers. *)
Record endless := Endless { endless_now : nat; endless_cell : nat -> Z -> bool; endless_head : nat -> Z }.

Section Endless.

Variable m : machine.

(** What the machine sees: its state, and on every tape the symbol under the head. *)
Definition seen (e : endless) : configuration :=
  Configuration (endless_now e) (fun i _ => endless_cell e i (endless_head e i)) (fun _ => 0).

Definition offset_of (w : move) : Z := match w with Left => Zneg xH | Stay => Z0 | Right => Zpos xH end.

Definition endless_step (e : endless) : endless :=
  Endless (next_state m (seen e))
    (fun i j => if Z.eqb j (endless_head e i) then written m (seen e) i else endless_cell e i j)
    (fun i => Z.add (endless_head e i) (offset_of (move_of m (seen e) i))).

Fixpoint endless_steps (k : nat) (e : endless) : endless :=
  if k is k'.+1 then endless_step (endless_steps k' e) else e.

(** The window: its first cell on every tape, and the number of its cells. *)
Variables (first : nat -> Z) (tau : nat).

Definition view (e : endless) : configuration :=
  Configuration (endless_now e) (fun i j => endless_cell e i (Z.add (first i) (Z.of_nat j)))
    (fun i => Z.to_nat (Z.sub (endless_head e i) (first i))).

(** All heads are in the window. *)
Definition in_view (e : endless) : Prop :=
  forall i, (i < n_tapes m)%N ->
    Z.le (first i) (endless_head e i) /\ Z.lt (endless_head e i) (Z.add (first i) (Z.of_nat tau)).

Hypothesis ok : well_formed m.

Section OneStep.

Variable e : endless.
Hypotheses (here : in_view e) (there : in_view (endless_step e)).

Lemma view_reads i : (i < n_tapes m)%N -> reads (view e) i = reads (seen e) i.
Proof.
move=> /here[low high]; rewrite /reads /=.
by have -> : Z.add (first i) (Z.of_nat (Z.to_nat (Z.sub (endless_head e i) (first i)))) = endless_head e i by lia.
Qed.

Lemma view_vertex : vertex_of m (view e) = vertex_of m (seen e).
Proof. by apply: vertex_of_ext => // i i_d; apply: view_reads. Qed.

Lemma view_move i : move_of m (view e) i = move_of m (seen e) i.
Proof. by rewrite /move_of /action_of view_vertex. Qed.

Lemma view_stays : stays_inside m tau (view e).
Proof.
move=> i i_d; have [low high] := here i_d; have := there i_d; rewrite view_move /=.
by case: (move_of m (seen e) i) => //= -[low' high']; lia.
Qed.

(** A step in the window is the window of the step. *)
Lemma view_step : same m tau (step m (view e)) (view (endless_step e)).
Proof.
split=> [|i j i_d j_tau|i i_d].
- by rewrite /= /next_state /action_of view_vertex.
- have [low high] := here i_d; rewrite /=.
  have -> : Z.eqb (Z.add (first i) (Z.of_nat j)) (endless_head e i) =
      (j == Z.to_nat (Z.sub (endless_head e i) (first i))) by lia.
  case: eqP => // _; rewrite /written /action_of view_vertex.
  by case: (what _) => [a|]; rewrite ?view_reads //; case: (nth None _ i) => // *; rewrite view_reads.
have [low high] := here i_d; have := there i_d; rewrite /= view_move.
by case: (move_of m (seen e) i) => //= -[low' high']; lia.
Qed.

End OneStep.

Lemma view_inside e : (endless_now e < n_states m)%N -> in_view e -> inside m tau (view e).
Proof. by move=> q_in here; split=> // i i_d; have [low high] := here i i_d; rewrite /=; lia. Qed.

Import GRing.Theory.

Section Trace.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables offset drop : number.
Variable fed : nat -> matrix R.

(** While the heads stay in the window, [k] gradient steps are [k] steps of the machine on endless tapes. *)
Theorem plain_endless_trace k e w :
  (endless_now e < n_states m)%N -> (forall j, (j <= k)%N -> in_view (endless_steps j e)) ->
  shows m tau (fed 0%N) (view e) -> encodes m tau (alone m) w (view e) ->
  encodes m tau (alone m) (iter k (descend arith m tau offset drop fed) w) (view (endless_steps k e)).
Proof.
move=> q_in here shown enc.
suff: forall j, (j <= k)%N -> [/\ (endless_now (endless_steps j e) < n_states m)%N,
    shows m tau (fed 0%N) (view (endless_steps j e))
  & encodes m tau (alone m) (iter j (descend arith m tau offset drop fed) w) (view (endless_steps j e))].
  by move=> /(_ k (leqnn k))[].
elim=> [//|j IH] j_k; have [q_j shown_j enc_j] := IH (ltnW j_k).
have here_j := here j (ltnW j_k); have there_j := here j.+1 j_k.
have in_j := view_inside q_j here_j.
have stays_j := view_stays here_j there_j.
have same_j := view_step here_j there_j.
have step_in := inside_step ok (proj1 in_j) in_j stays_j.
split.
- by have [q_eq _ _] := same_j; move: (proj1 step_in); rewrite q_eq.
- have shown_step := shows_step ok (proj1 in_j) shown_j.
  move=> i l i_lt l_tau; have [_ cells _] := same_j.
  by rewrite shown_step // cells // -ltn_subRL.
rewrite iterS; apply: encodes_same step_in same_j _ => //.
by apply: plain_step.
Qed.

End Trace.
End Endless.
