(** From proof to program: a checker that decides whether an exported graph is the landscape `plain` of a machine, and the
    theorems for every graph it accepts.

    The graph is data. The checker unfolds its loss into an expression and compares that with the expression which theorem 1
    speaks of. It runs by computation, and is proved sound below. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number Expression Training Network Machine Encoding Terms Plain PlainValue.
From Luge Require Import PlainTheorem PlainLevels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Equality by computation *)

(** Whether two lists are the same, by a test for their items. *)
Fixpoint list_eqb (T : Type) (eqb : T -> T -> bool) (l l' : seq T) : bool :=
  match l, l' with
  | [::], [::] => true
  | x :: l, x' :: l' => eqb x x' && list_eqb eqb l l'
  | _, _ => false
  end.

Lemma list_eqbE T (eqb : T -> T -> bool) l l' :
  (forall x y, eqb x y -> x = y) -> list_eqb eqb l l' -> l = l'.
Proof. by move=> sound; elim: l l' => [|x l IH] [|x' l'] //= /andP[/sound -> /IH ->]. Qed.

Definition entry_eqb (e e' : entry) : bool :=
  N.eqb e.1.1 e'.1.1 && N.eqb e.1.2 e'.1.2 && number_eqb e.2 e'.2.

Lemma entry_eqbE e e' : entry_eqb e e' -> e = e'.
Proof.
by case: e e' => [[r c] w] [[r' c'] w'] /andP[/andP[/N.eqb_eq /= -> /N.eqb_eq /= ->] /number_eqP /= ->].
Qed.

Definition format_eqb (f f' : format) : bool :=
  match f, f' with
  | Fixed i f s, Fixed i' f' s' => (i == i') && (f == f') && (s == s')
  | Float e m b, Float e' m' b' => (e == e') && (m == m') && Z.eqb b b'
  | _, _ => false
  end.

Lemma format_eqbE f f' : format_eqb f f' -> f = f'.
Proof.
case: f f' => [i f s|e m b] [i' f' s'|e' m' b'] //= /andP[/andP[/eqP -> /eqP ->]].
  by move/eqP->.
by move/Z.eqb_eq ->.
Qed.

Fixpoint expression_eqb (e e' : expression) : bool :=
  match e, e' with
  | Weight s p, Weight s' p' | Input s p, Input s' p' => (s == s') && (p == p')
  | Constant s l, Constant s' l' => (s == s') && list_eqb number_eqb l l'
  | Linear r l b a, Linear r' l' b' a' =>
      [&& r == r', list_eqb entry_eqb l l', list_eqb number_eqb b b' & expression_eqb a a']
  | Scale w a, Scale w' a' => number_eqb w w' && expression_eqb a a'
  | Plus a b, Plus a' b' | Product a b, Product a' b' | Quotient a b, Quotient a' b'
  | Matmul a b, Matmul a' b' | Stack a b, Stack a' b' => expression_eqb a a' && expression_eqb b b'
  | Relu a, Relu a' | Root a, Root a' | SumColumns a, SumColumns a' | SumAll a, SumAll a' | Stop a, Stop a' =>
      expression_eqb a a'
  | Shift z a, Shift z' a' => Z.eqb z z' && expression_eqb a a'
  | Reshape s a, Reshape s' a' => (s == s') && expression_eqb a a'
  | Gather l a, Gather l' a' => (l == l') && expression_eqb a a'
  | Quantize f a, Quantize f' a' | Dequantize f a, Dequantize f' a' => format_eqb f f' && expression_eqb a a'
  | Switch o a b, Switch o' a' b' | Select o a b, Select o' a' b' =>
      [&& expression_eqb o o', expression_eqb a a' & expression_eqb b b']
  | _, _ => false
  end.

Lemma numbers_eqbE l l' : list_eqb number_eqb l l' -> l = l'.
Proof. by apply: list_eqbE => x y /number_eqP. Qed.

Lemma entries_eqbE l l' : list_eqb entry_eqb l l' -> l = l'.
Proof. exact: list_eqbE entry_eqbE. Qed.

Lemma expression_eqbE e e' : expression_eqb e e' -> e = e'.
Proof.
elim: e e' => [s p|s p|s l|r l b a IH|w a IH|a IHa b IHb|a IH|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IH|a IH|a IH
              |z a IH|s a IH|a IHa b IHb|l a IH|f a IH|f a IH|a IH|o IHo a IHa b IHb|o IHo a IHa b IHb] [] //=.
all: move=> *.
all: repeat match goal with H : is_true (_ && _) |- _ => case/andP: H => ? ? end.
all: repeat match goal with
  | H : is_true (_ == _) |- _ => move/eqP: H => H
  | H : is_true (number_eqb _ _) |- _ => move/number_eqP: H => H
  | H : is_true (Z.eqb _ _) |- _ => move/Z.eqb_eq: H => H
  | H : is_true (format_eqb _ _) |- _ => move/format_eqbE: H => H
  | H : is_true (list_eqb number_eqb _ _) |- _ => move/numbers_eqbE: H => H
  | H : is_true (list_eqb entry_eqb _ _) |- _ => move/entries_eqbE: H => H
  | IH : (forall e', is_true (expression_eqb ?a e') -> _), H : is_true (expression_eqb ?a _) |- _ => move/IH: H => H
  end.
all: by subst.
Qed.

Definition parameter_eqb (p p' : parameter) : bool :=
  (parameter_shape p == parameter_shape p') &&
  match rule p, rule p' with
  | Simplex, Simplex => true
  | Descent r, Descent r' => number_eqb r r'
  | _, _ => false
  end.

Lemma parameter_eqbE p p' : parameter_eqb p p' -> p = p'.
Proof. by case: p p' => [s [|r]] [s' [|r']] /andP[/eqP /= ->] // /number_eqP ->. Qed.

(** ** The checker *)

(** What is claimed of a graph: the machine it runs, the number of cells of its tapes, c and Omega. *)
Record claim := Claim {
  claimed_machine : machine;
  claimed_cells : nat;
  claimed_offset : number;
  claimed_drop : number
}.

Definition claimed_loss (c : claim) : expression :=
  plain_loss (claimed_machine c) (claimed_cells c) (claimed_offset c) (claimed_drop c).

(** Whether a graph is the landscape `plain` of the machine it claims to run. *)
Definition certified (c : claim) (net : network) : bool :=
  [&& well_formed (claimed_machine c),
      list_eqb parameter_eqb (parameters net) (plain_parameters (claimed_machine c) (claimed_cells c)) &
      if loss_expression net is Some e then expression_eqb e (claimed_loss c) else false].

(** ** What the checker is worth *)

Section Sound.

Variables (cl : claim) (net : network).
Hypothesis checked : certified cl net.

Let m := claimed_machine cl.
Let tau := claimed_cells cl.

Lemma certified_ok : well_formed m.
Proof. by case/and3P: checked. Qed.

Lemma certified_parameters : parameters net = plain_parameters m tau.
Proof. by case/and3P: checked => _ /(list_eqbE parameter_eqbE). Qed.

Lemma certified_loss : loss_expression net = Some (claimed_loss cl).
Proof. by case/and3P: checked => _ _; case: (loss_expression net) => // e /expression_eqbE ->. Qed.

Variable R : realFieldType.
Variable arith : arithmetic R.

(** One step of training of the exported graph. *)
Definition train_network (fed : nat -> matrix R) (w : nat -> matrix R) : nat -> matrix R :=
  if loss_expression net is Some e then train_step arith (parameters net) e fed w else w.

Definition network_loss (fed w : nat -> matrix R) : R :=
  if loss_expression net is Some e then value arith w fed e 0%N 0%N else 0.

Variable fed : nat -> matrix R.

Lemma train_networkE w : train_network fed w = descend arith m tau (claimed_offset cl) (claimed_drop cl) fed w.
Proof. by rewrite /train_network certified_loss certified_parameters. Qed.

(** For every input and every number of steps: training the exported graph runs the machine. *)
Theorem certified_trace k c w :
  inside m tau c -> shows m tau (fed 0%N) c -> (forall j, (j < k)%N -> stays_inside m tau (steps m j c)) ->
  encodes m tau (alone m) w c -> encodes m tau (alone m) (iter k (train_network fed) w) (steps m k c).
Proof.
move=> c_in shown stays enc.
rewrite (eq_iter train_networkE); exact: (plain_trace _ _ _ certified_ok c_in shown stays enc).
Qed.

(** Its loss is c - Omega where the machine has halted, and at least c where it has not. *)
Theorem certified_levels c w :
  legal m tau fed c -> encodes m tau (alone m) w c ->
  if halted m c then network_loss fed w = real R (claimed_offset cl) - real R (claimed_drop cl)
  else real R (claimed_offset cl) <= network_loss fed w <=
         real R (claimed_offset cl) + 1 + 3%:R * (n_tapes m)%:R.
Proof.
move=> legal_c enc; rewrite /network_loss certified_loss /claimed_loss; case: ifP => [halts|/negbT runs].
  exact: (plain_halted_level _ _ _ certified_ok legal_c enc halts).
exact: (plain_running_level _ _ _ certified_ok legal_c enc runs).
Qed.

End Sound.
