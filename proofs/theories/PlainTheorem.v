(** Theorem 1: gradient descent on `plain` runs the machine.

    The network is the landscape alone, as `luge trace` trains it: three blocks of weights, all moved with rate 1, and the
    read-only tapes as its input. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain PlainValue PlainStep.
From Luge Require Import PlainLevels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The vertex first, then the writable tapes if there are any, then the heads. *)
Definition alone (m : machine) : places :=
  if n_writable m is 0 then Places 0 2 1 else Places 0 1 2.

Lemma alone_apart m : apart (alone m).
Proof. by rewrite /alone; case: (n_writable m). Qed.

(** The read-only tapes are the input, if there are any. *)
Definition alone_fixed (m : machine) (tau : nat) : option expression :=
  if (n_writable m < n_tapes m)%N then Some (Input (n_tapes m - n_writable m, tau)%N 0) else None.

Lemma alone_fixed_fits m tau : well_formed m -> fixed_fits m tau (alone_fixed m tau).
Proof.
move=> ok; rewrite /alone_fixed; case: ifP => [lt|ge] /=; first by rewrite lt eqxx.
by rewrite eqn_leq (writable_le ok) leqNgt ge.
Qed.

(** One unit for every combination of symbols that some situation asks for, in the order of the table. *)
Definition all_units (m : machine) : seq (seq (option bool)) := rev (undup (rev (map looks (table m)))).

Lemma all_units_fit m : units_fit m (all_units m).
Proof. by apply/allP => s s_in; rewrite mem_rev mem_undup mem_rev; apply: map_f. Qed.

Definition plain_loss (m : machine) (tau : nat) (offset drop : number) : expression :=
  plain m tau (alone m) (alone_fixed m tau) (all_units m) offset drop.

Definition plain_parameters (m : machine) (tau : nat) : seq parameter :=
  let block s := ParameterOf s (Descent one) in
  block (size (table m), 1%N) ::
  (if n_writable m is 0 then [::] else [:: block (n_writable m, tau)]) ++
  [:: block (n_tapes m, tau)].

Section Theorems.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (offset drop : number).
Hypothesis ok : well_formed m.

Notation loss := (plain_loss m tau offset drop).
Notation encodes := (encodes m tau (alone m)).
Notation within := (within m tau (alone m)).

(** The input: the read-only tapes, which no step changes. *)
Variable fed : nat -> matrix R.

(** One step of training, rate 1 on every weight. *)
Definition descend : (nat -> matrix R) -> nat -> matrix R :=
  train_step arith (plain_parameters m tau) loss fed.

(** The same with an error on every weight. *)
Definition descend_noisily (noise : nat -> matrix R) : (nat -> matrix R) -> nat -> matrix R :=
  noisy_step arith noise loss fed.

(** A configuration whose read-only tapes are fed, with all heads inside the window now and after its step. *)
Definition legal (c : configuration) : Prop :=
  [/\ inside m tau c, stays_inside m tau c & shows m tau (fed 0%N) c].

Lemma shown_alone w c :
  shows m tau (fed 0%N) c ->
  if alone_fixed m tau is Some f then shows m tau (value arith w fed f) c else True.
Proof. by rewrite /alone_fixed; case: ifP. Qed.

Lemma unmoved_alone w :
  if alone_fixed m tau is Some f then forall direction i j, tangent arith w fed direction f i j = 0 else True.
Proof. by rewrite /alone_fixed; case: ifP. Qed.

Lemma descendE w p i j :
  p \in [:: vertex_at (alone m); tape_at (alone m); head_at (alone m)] -> (p < size (plain_parameters m tau))%N ->
  descend w p i j = descend_noisily (fun _ _ _ => 0) w p i j.
Proof.
rewrite /descend /descend_noisily /train_step /noisy_step /plain_parameters /alone addr0.
by case: (n_writable m) => [|k]; case: p => [|[|[|p]]].
Qed.

(** The noise theorem. Let every weight err, in every step, by up to [eta] of its gradient. Where [eta (1 + rho) <= rho]
    and [rho <= 1/4], weights that stand for a configuration up to [rho] are led to weights that stand for the next one up
    to [rho]. *)
Theorem plain_noise c rho eta noise w :
  legal c -> within rho w c -> rho <= 4%:R^-1 -> eta * (1 + rho) <= rho ->
  (forall p i j, `|noise p i j| <= eta) ->
  within rho (descend_noisily noise w) (step m c).
Proof.
move=> [c_in stays shown] near small margin noise_le.
apply: (plain_noisy_step offset drop ok (alone_fixed_fits tau ok) (all_units_fit m) (alone_apart m)
          c_in stays near small (shown_alone w shown) (unmoved_alone w) noise_le margin).
Qed.

(** One gradient step of rate 1 from encode(c) is encode(step c). *)
Theorem plain_step c w : legal c -> encodes w c -> encodes (descend w) (step m c).
Proof.
move=> legal_c enc; have near : within 0 w c by apply/within0.
have: within 0 (descend_noisily (fun _ _ _ => 0) w) (step m c).
  apply: (plain_noise (eta := 0)) => //; rewrite ?mul0r ?invr_ge0 ?ler0n //.
  by move=> p i j; rewrite normr0.
move/within0; rewrite /Encoding.encodes => -[x t h].
split=> [v v_lt|i j i_w j_tau|i j i_d j_tau]; rewrite descendE ?inE ?eqxx ?orbT //;
  do ?[exact: x | exact: t | exact: h];
  by move: ok; rewrite /plain_parameters /alone; case: (n_writable m) i_w || case: (n_writable m).
Qed.

Theorem plain_step_encode c :
  legal c -> agree m tau (alone m) (descend (encode R m (alone m) c)) (encode R m (alone m) (step m c)).
Proof.
move=> legal_c; apply: (encodes_agree (c := step m c)); last exact: encode_encodes (alone_apart m).
apply: plain_step legal_c _; exact: encode_encodes (alone_apart m).
Qed.

(** Halting configurations are fixed points. *)
Theorem plain_fixed_point c w :
  legal c -> halted m c -> encodes w c -> agree m tau (alone m) (descend w) w.
Proof.
move=> legal_c halts enc; apply: (encodes_agree (c := c)) => //.
have [c_in stays _] := legal_c.
apply: encodes_same (step_halted tau halts) (plain_step legal_c enc) => //.
exact: (inside_step ok (proj1 c_in) c_in stays).
Qed.

(** ** Any number of steps *)

Lemma legal_steps k c :
  (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) -> inside m tau c -> shows m tau (fed 0%N) c ->
  forall j, (j <= k)%N -> inside m tau (steps m j c) /\ shows m tau (fed 0%N) (steps m j c).
Proof.
move=> stays c_in shown; elim=> [//|j IH] j_k; rewrite steps_last.
have [in_j shown_j] := IH (ltnW j_k); split; first exact: (inside_step ok (proj1 in_j) in_j (stays j j_k)).
by apply: shows_step => //; case: in_j.
Qed.

(** While the heads stay inside the window, [k] gradient steps are [k] steps of the machine. *)
Theorem plain_trace k c w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes w c -> encodes (iter k descend w) (steps m k c).
Proof.
move=> c_in shown stays enc; suff: forall j, (j <= k)%N -> encodes (iter j descend w) (steps m j c) by exact.
elim=> [//|j IH] j_k; rewrite steps_last iterS; apply: plain_step (IH (ltnW j_k)).
by have [in_j shown_j] := legal_steps stays c_in shown (ltnW j_k); split=> //; apply: stays.
Qed.

(** [k] steps with noise of their own. *)
Fixpoint noisy_trace (noise : nat -> nat -> matrix R) (k : nat) (w : nat -> matrix R) : nat -> matrix R :=
  if k is k'.+1 then descend_noisily (noise k') (noisy_trace noise k' w) else w.

Theorem plain_noisy_trace k c rho eta noise w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  within rho w c -> rho <= 4%:R^-1 -> eta * (1 + rho) <= rho -> (forall k p i j, `|noise k p i j| <= eta) ->
  within rho (noisy_trace noise k w) (steps m k c).
Proof.
move=> c_in shown stays near small margin noise_le.
suff: forall j, (j <= k)%N -> within rho (noisy_trace noise j w) (steps m j c) by exact.
elim=> [//|j IH] j_k; rewrite steps_last /=; apply: (plain_noise (eta := eta)) (IH (ltnW j_k)) _ _ _ => //.
by have [in_j shown_j] := legal_steps stays c_in shown (ltnW j_k); split=> //; apply: stays.
Qed.

(** Up to a fifth of every gradient entry may be wrong, in every step, for ever. *)
Corollary plain_noise_margin k c noise w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes w c -> (forall k p i j, `|noise k p i j| <= 5%:R^-1) ->
  within 4%:R^-1 (noisy_trace noise k w) (steps m k c).
Proof.
move=> c_in shown stays /within0 enc noise_le.
apply: (plain_noisy_trace (eta := 5%:R^-1)) => //.
  by apply: within_le enc; rewrite invr_ge0 ler0n.
by have -> : 5%:R^-1 * (1 + 4%:R^-1) = 4%:R^-1 :> R by field.
Qed.

(** ** Loss levels *)

Notation level w := (value arith w fed loss 0%N 0%N).

(** The loss is at least c while the machine runs, noise or not. *)
Theorem plain_running_low c rho w :
  legal c -> ~~ halted m c -> within rho w c -> rho <= 4%:R^-1 -> real R offset <= level w.
Proof.
move=> [c_in stays shown] /negbTE runs near small.
rewrite (value_loss offset drop ok (alone_fixed_fits tau ok) (all_units_fit m) c_in stays near small
           (shown_alone w shown)) runs mulr0 subr0 ler_addl mulr_ge0 ?invr_ge0 ?ler0n // !addr_ge0 //;
  apply: total_ge0 => *; rewrite ?sqr_ge0 //.
by apply: total_ge0 => *; rewrite sqr_ge0.
Qed.

(** While the machine runs, the loss lies between c and c + 1 + 3d. *)
Theorem plain_running_level c w :
  legal c -> encodes w c -> ~~ halted m c ->
  real R offset <= level w <= real R offset + 1 + 3%:R * (n_tapes m)%:R.
Proof.
move=> [c_in stays shown] enc.
exact: (running_level offset drop ok (alone_fixed_fits tau ok) (all_units_fit m) c_in stays enc (shown_alone w shown)).
Qed.

(** Halted, the loss is c - Omega. *)
Theorem plain_halted_level c w :
  legal c -> encodes w c -> halted m c -> level w = real R offset - real R drop.
Proof.
move=> [c_in stays shown] enc.
exact: (halted_level offset drop ok (alone_fixed_fits tau ok) (all_units_fit m) c_in stays enc (shown_alone w shown)).
Qed.

End Theorems.
