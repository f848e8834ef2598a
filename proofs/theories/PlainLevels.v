(** Where the loss of `plain` lies: between c and c + 1 + 3d while the machine runs, at c - Omega once it has halted. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number Expression Training Machine Encoding Terms Saturation Arcs Plain PlainValue PlainStep.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Levels.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression).
Variable units : seq (seq (option bool)).
Variables offset drop : number.
Hypotheses (ok : well_formed m) (fixed_ok : fixed_fits m tau fixed) (units_ok : units_fit m units).
Variables fed weights : nat -> matrix R.
Variable c : configuration.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c) (enc : encodes m tau at_ weights c).
Hypothesis shown : if fixed is Some f then shows m tau (value arith weights fed f) c else True.

Let near : within m tau at_ 0 weights c. Proof. exact/within0. Qed.
Let small : 0 <= 4%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.

Notation level := (value arith weights fed (plain m tau at_ fixed units offset drop) 0%N 0%N).
Notation vertex_error := (vertex_error m at_ weights c).
Notation write_error := (write_error arith m tau at_ fixed weights fed c).
Notation head_error := (head_error m at_ weights c).

Lemma levelE :
  level = real R offset - real R drop * (halted m c)%:R +
    2%:R^-1 * (total (size (table m)) (fun v => vertex_error v ^+ 2) +
               total (n_tapes m) (fun i => write_error i ^+ 2) +
               total (n_tapes m) (fun i => total tau (fun j => head_error i j ^+ 2))).
Proof.
exact: (value_loss offset drop ok fixed_ok units_ok c_in stays near small shown).
Qed.

Lemma vertex_errorE v :
  (v < size (table m))%N -> vertex_error v = (v == vertex_of m c)%:R - (v == vertex_of m (step m c))%:R.
Proof. by move=> v_lt; case: enc => x _ _; rewrite /PlainStep.vertex_error x. Qed.

Lemma write_errorE i : (i < n_tapes m)%N -> write_error i = sign R (reads c i) - sign R (written m c i).
Proof.
move=> i_d; rewrite /PlainStep.write_error (value_tapes _ _ fixed_ok) //; congr (_ - _).
have h_tau : (head c i < tau)%N by case: c_in => _; apply.
case: ltnP => [i_w|w_i]; first by case: enc => _ t _; rewrite t.
move: shown fixed_ok; case: fixed => [f sh _|_ /= /eqP w_d]; last by rewrite w_d leqNgt i_d in w_i.
by rewrite sh ?ltn_sub2r ?(leq_ltn_trans w_i) // subnKC.
Qed.

Lemma head_errorE i j :
  (i < n_tapes m)%N -> (j < tau)%N -> head_error i j = (j == head c i)%:R - (j == head (step m c) i)%:R.
Proof. by move=> i_d j_tau; case: enc => _ _ h; rewrite /PlainStep.head_error h. Qed.

(** Halted, the loss is c - Omega. *)
Theorem halted_level : halted m c -> level = real R offset - real R drop.
Proof.
move=> halts; have same_c := step_halted tau halts.
have step_in := inside_step ok (proj1 c_in) c_in stays.
have x : total (size (table m)) (fun v => vertex_error v ^+ 2) = 0.
  apply: total_zero => v v_lt.
  by rewrite vertex_errorE // (vertex_of_same ok step_in same_c) subrr expr0n.
have t : total (n_tapes m) (fun i => write_error i ^+ 2) = 0.
  apply: total_zero => i i_d; rewrite write_errorE // /written.
  by move: halts; rewrite /halted; case: (action_of m c) => // _; rewrite subrr expr0n.
have h : total (n_tapes m) (fun i => total tau (fun j => head_error i j ^+ 2)) = 0.
  apply: total_zero => i i_d; apply: total_zero => j j_tau.
  by have [_ _ heads] := same_c; rewrite head_errorE // heads // subrr expr0n.
by rewrite levelE halts x t h mulr1 !addr0 mulr0 addr0.
Qed.

Lemma units_apart k a b : (a < k)%N -> (b < k)%N ->
  total k (fun v => ((v == a)%:R - (v == b)%:R) ^+ 2) <= 2%:R :> R.
Proof.
move=> a_k b_k.
have le : total k (fun v => ((v == a)%:R - (v == b)%:R) ^+ 2) <=
    total k (fun v => (v == a)%:R + (v == b)%:R) :> R.
  apply: total_le => v _; case: eqP; case: eqP => _ _ /=.
  - by rewrite subrr expr0n addr_ge0 ?ler01.
  - by rewrite subr0 expr1n addr0.
  - by rewrite sub0r sqrrN expr1n add0r.
  by rewrite subrr expr0n addr0.
apply: le_trans le _; rewrite total_add (total_one (k := a)) // => [|v _ /negbTE -> //].
by rewrite (total_one (k := b)) // => [|v _ /negbTE -> //]; rewrite !eqxx -mulr2n.
Qed.

(** While the machine runs, the loss lies between c and c + 1 + 3d. *)
Theorem running_level :
  ~~ halted m c -> real R offset <= level <= real R offset + 1 + 3%:R * (n_tapes m)%:R.
Proof.
move=> runs; apply/andP; split.
  rewrite levelE (negbTE runs) mulr0 subr0 ler_addl mulr_ge0 ?invr_ge0 ?ler0n // !addr_ge0 //;
    apply: total_ge0 => *; rewrite ?sqr_ge0 //.
  by apply: total_ge0 => *; rewrite sqr_ge0.
rewrite levelE (negbTE runs) mulr0 subr0 -[real R offset + 1 + _]addrA ler_add2l.
have step_in := inside_step ok (proj1 c_in) c_in stays.
have x : total (size (table m)) (fun v => vertex_error v ^+ 2) <= 2%:R.
  rewrite (total_eq (g := fun v => ((v == vertex_of m c)%:R - (v == vertex_of m (step m c))%:R) ^+ 2)).
    by apply: units_apart; apply: vertex_lt => //; [case: c_in | case: step_in].
  by move=> v v_lt; rewrite vertex_errorE.
have t : total (n_tapes m) (fun i => write_error i ^+ 2) <= (n_tapes m)%:R * 4%:R.
  rewrite -total_const; apply: total_le => i i_d; rewrite write_errorE // -real_normK ?num_real //.
  have -> : 4%:R = 2%:R ^+ 2 :> R by rewrite -natrX.
  by rewrite ler_expn2r ?nnegrE ?ler0n // sign_distance.
have h : total (n_tapes m) (fun i => total tau (fun j => head_error i j ^+ 2)) <= (n_tapes m)%:R * 2%:R.
  rewrite -total_const; apply: total_le => i i_d.
  rewrite (total_eq (g := fun j => ((j == head c i)%:R - (j == head (step m c) i)%:R) ^+ 2)).
    by apply: units_apart; [case: c_in => _; apply | case: step_in => _; apply].
  by move=> j j_tau; rewrite head_errorE.
have -> : 1 + 3%:R * (n_tapes m)%:R =
    2%:R^-1 * (2%:R + (n_tapes m)%:R * 4%:R + (n_tapes m)%:R * 2%:R) :> R by field.
by rewrite ler_wpmul2l ?invr_ge0 ?ler0n // !ler_add.
Qed.

End Levels.
