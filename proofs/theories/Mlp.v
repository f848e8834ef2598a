(** An ordinary MLP: Linear layers with ReLU between them, all weights and biases trained by stochastic gradient descent.

    Layer [l] has the weights [mat p l i j] (to unit [i], from unit [j]) and the biases [bias p l i]; it reads [width l] units.
    Layers 0 to L - 1 are followed by ReLU, layer L is the output. Slopes are taken by forward-mode differentiation, with
    derivative 0 of ReLU at 0; how far activations and slopes move when the weights do is bounded here, layer by layer, in the
    1-norm: what a layer can do to a vector is at most its largest column. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Terms.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** Weights and biases of all layers, or a direction in which they move. *)
Record mlp (R : Type) := Mlp { mat : nat -> nat -> nat -> R; bias : nat -> nat -> R }.

Section Norms.

Variable R : realFieldType.

(** The 1-norm of a vector. *)
Definition norm (n : nat) (v : nat -> R) : R := total n (fun i => `|v i|).

Lemma total_sub n (f g : nat -> R) : total n f - total n g = total n (fun i => f i - g i).
Proof. by rewrite !totalE sumrB. Qed.

Lemma norm_ge0 n v : 0 <= norm n v.
Proof. by apply: total_ge0. Qed.

Lemma norm_eq n (u v : nat -> R) : (forall i, (i < n)%N -> u i = v i) -> norm n u = norm n v.
Proof. by move=> uv; apply: total_eq => i i_n; rewrite uv. Qed.

Lemma norm_le n (u v : nat -> R) : (forall i, (i < n)%N -> `|u i| <= `|v i|) -> norm n u <= norm n v.
Proof. exact: total_le. Qed.

Lemma norm_add n (u v : nat -> R) : norm n (fun i => u i + v i) <= norm n u + norm n v.
Proof. by rewrite /norm -total_add; apply: total_le => i _; apply: ler_norm_add. Qed.

Lemma norm_entry n (v : nat -> R) i : (i < n)%N -> `|v i| <= norm n v.
Proof.
move=> i_n; rewrite /norm totalE (bigD1 (Ordinal i_n)) //= ler_addl.
by apply: sumr_ge0.
Qed.

Lemma norm_const n (v : nat -> R) b : (forall i, (i < n)%N -> `|v i| <= b) -> norm n v <= n%:R * b.
Proof. by move=> small; rewrite -total_const; apply: total_le. Qed.

(** A vector with one entry. *)
Lemma norm_single n (v : nat -> R) k : (forall i, (i < n)%N -> i != k -> v i = 0) -> norm n v <= `|v k|.
Proof.
move=> zero; case: (ltnP k n) => [k_n|n_k].
  by rewrite /norm (total_one k_n) // => i i_n i_k; rewrite zero ?normr0.
rewrite /norm total_zero // => i i_n; rewrite zero ?normr0 //.
by apply: contraTneq i_n => ->; rewrite -leqNgt.
Qed.

Lemma total_norm n (f : nat -> R) : `|total n f| <= total n (fun i => `|f i|).
Proof. by rewrite !totalE; apply: ler_norm_sum. Qed.

(** A matrix stretches a vector at most by the largest of the columns that the vector uses. *)
Lemma norm_matrix n m (M : nat -> nat -> R) (v : nat -> R) K :
  (forall j, (j < m)%N -> v j != 0 -> norm n (fun i => M i j) <= K) ->
  norm n (fun i => total m (fun j => M i j * v j)) <= K * norm m v.
Proof.
move=> columns; apply: (@le_trans _ _ (total n (fun i => total m (fun j => `|M i j| * `|v j|)))).
  apply: total_le => i _; apply: le_trans (total_norm _ _) _.
  by apply: total_le => j _; rewrite normrM.
rewrite /norm -total_mull totalE (eq_bigr (fun i : 'I_n => \sum_(j < m) `|M i j| * `|v j|)); last first.
  by move=> i _; rewrite totalE.
rewrite exchange_big totalE; apply: ler_sum => j _; rewrite -mulr_suml.
have [->|v0] := eqVneq (v j) 0; first by rewrite normr0 !mulr0.
by apply: ler_wpmul2r => //; have := columns j (ltn_ord j) v0; rewrite /norm totalE.
Qed.

Lemma relu_distance (a b : R) : `|relu a - relu b| <= `|a - b|.
Proof.
rewrite /relu; case: ltrP => a0; case: ltrP => b0 //; rewrite ?subr0 ?sub0r ?normrN ?normr0 //.
  by rewrite !ger0_norm ?subr_ge0 ?(le_trans b0) ?(ltW a0) // ler_addl oppr_ge0.
rewrite distrC !ger0_norm ?subr_ge0 ?(le_trans a0) ?(ltW b0) // ler_addl oppr_ge0 //.
Qed.

End Norms.

Section Mlp.

Variable R : realFieldType.

(** L + 1 Linear layers; the last has one unit. *)
Variables (L : nat) (width : nat -> nat).
Hypothesis one_output : width L.+1 = 1%N.

(** ** Values and slopes *)

Section Forward.

Variables (p : mlp R) (x : nat -> R).

Fixpoint act (l : nat) : nat -> R :=
  if l is l'.+1 then fun i => relu (bias p l' i + total (width l') (fun j => mat p l' i j * act l' j)) else x.

Definition pre (l i : nat) : R := bias p l i + total (width l) (fun j => mat p l i j * act l j).

Definition output : R := pre L 0.

Lemma actS l i : act l.+1 i = relu (pre l i).
Proof. by []. Qed.

Variable q : mlp R.

(** How fast activations change when the weights move along [q]. *)
Fixpoint act_tangent (l : nat) : nat -> R :=
  if l is l'.+1 then fun i =>
    if 0 < pre l' i then bias q l' i + total (width l') (fun j => mat q l' i j * act l' j + mat p l' i j * act_tangent l' j)
    else 0
  else fun _ => 0.

Definition pre_tangent (l i : nat) : R :=
  bias q l i + total (width l) (fun j => mat q l i j * act l j + mat p l i j * act_tangent l j).

(** How fast the output changes. *)
Definition slope : R := pre_tangent L 0.

Lemma act_tangentS l i : act_tangent l.+1 i = if 0 < pre l i then pre_tangent l i else 0.
Proof. by []. Qed.

End Forward.

(** One bias moves, or one weight. *)
Definition at_bias (l i : nat) : mlp R := Mlp (fun _ _ _ => 0) (fun l' i' => ((l' == l) && (i' == i))%:R).
Definition at_weight (l i j : nat) : mlp R :=
  Mlp (fun l' i' j' => ((l' == l) && (i' == i) && (j' == j))%:R) (fun _ _ => 0).

(** One step of stochastic gradient descent on 1/2 (F(x) - y)^2, all weights and biases at once. *)
Definition sgd_step (eta : R) (sample : (nat -> R) * R) (p : mlp R) : mlp R :=
  let x := sample.1 in
  let residual := output p x - sample.2 in
  Mlp (fun l i j => mat p l i j - eta * (residual * slope p x (at_weight l i j)))
      (fun l i => bias p l i - eta * (residual * slope p x (at_bias l i))).

Section Slopes.

Variables (p : mlp R) (x : nat -> R).

Lemma pre_tangent_bias l0 i0 l i :
  pre_tangent p x (at_bias l0 i0) l i =
  ((l == l0) && (i == i0))%:R + total (width l) (fun j => mat p l i j * act_tangent p x (at_bias l0 i0) l j).
Proof. by rewrite /pre_tangent /=; congr (_ + _); apply: total_eq => j _; rewrite mul0r add0r. Qed.

(** A weight's slope is its unit's, times what it carries. *)
Lemma tangent_weight l0 i0 j0 l i :
  (j0 < width l0)%N ->
  act_tangent p x (at_weight l0 i0 j0) l i = act p x l0 j0 * act_tangent p x (at_bias l0 i0) l i /\
  pre_tangent p x (at_weight l0 i0 j0) l i = act p x l0 j0 * pre_tangent p x (at_bias l0 i0) l i.
Proof.
move=> j0_lt.
have lift l1 i1 : (forall k, act_tangent p x (at_weight l0 i0 j0) l1 k = act p x l0 j0 * act_tangent p x (at_bias l0 i0) l1 k) ->
    pre_tangent p x (at_weight l0 i0 j0) l1 i1 = act p x l0 j0 * pre_tangent p x (at_bias l0 i0) l1 i1.
  move=> IH; rewrite pre_tangent_bias /pre_tangent /= add0r mulrDr -total_mull total_add; congr (_ + _).
    case: (eqVneq l1 l0) => [->|_] /=; last by rewrite mulr0 total_zero // => j _; rewrite mul0r.
    case: (eqVneq i1 i0) => [_|_] /=; last by rewrite mulr0 total_zero // => j _; rewrite mul0r.
    rewrite (total_one j0_lt) ?eqxx ?mul1r ?mulr1 // => j _ /negbTE ->; exact: mul0r.
  by apply: total_eq => j _; rewrite IH mulrCA.
elim: l i => [|l IH] i; first by split; [rewrite mulr0 | apply: lift => k; rewrite mulr0].
have IH' k : act_tangent p x (at_weight l0 i0 j0) l.+1 k = act p x l0 j0 * act_tangent p x (at_bias l0 i0) l.+1 k.
  by rewrite !act_tangentS; case: ifP => _; [exact: lift (fun k => (IH k).1) | rewrite mulr0].
by split; [exact: IH' | exact: lift].
Qed.

Lemma slope_weight l i j : (j < width l)%N -> slope p x (at_weight l i j) = act p x l j * slope p x (at_bias l i).
Proof. by move=> j_lt; apply: (tangent_weight i L 0 j_lt).2. Qed.

(** Nothing moves before the layer that is moved, *)
Lemma tangent_before l0 i0 l i : (l <= l0)%N -> act_tangent p x (at_bias l0 i0) l i = 0.
Proof.
elim: l i => [|l IH] i // l_lt; rewrite act_tangentS pre_tangent_bias ltn_eqF //= add0r.
by rewrite total_zero ?if_same // => j _; rewrite IH ?mulr0 // ltnW.
Qed.

(** and there, nothing but its unit. *)
Lemma tangent_there l0 i0 i : act_tangent p x (at_bias l0 i0) l0.+1 i = ((i == i0) && (0 < pre p x l0 i))%:R.
Proof.
rewrite act_tangentS pre_tangent_bias eqxx /= total_zero ?addr0 // => [|j _]; last by rewrite tangent_before ?mulr0.
by case: ifP => _; rewrite ?andbT ?andbF.
Qed.

End Slopes.
End Mlp.
