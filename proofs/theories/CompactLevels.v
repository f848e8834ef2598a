(** Where the loss of `compact` lies: between c and c + (8 b^2 d + 3 d) g while the machine runs, below c once it has halted. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes.
From Luge Require Import CompactSlopes Compact CompactVertex CompactStep.
From Luge Require PlainValue PlainStep PlainLevels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Levels.

Variable R : realFieldType.
Variable arith : arithmetic R.
Variables (m : machine) (tau : nat) (at_ : places) (fixed : option expression) (order : seq nat).
Variables base scale offset : number.
Hypotheses (ok : well_formed m) (fixed_ok : PlainValue.fixed_fits m tau fixed).
Hypothesis order_ok : perm_eq order (iota 0 (n_tapes m)).

Let b := real R base.
Let g := real R scale.
Let d := n_tapes m.
Hypothesis g_gt0 : 0 < g.

Variables fed w : nat -> matrix R.
Variable c : configuration.
Hypotheses (c_in : inside m tau c) (stays : stays_inside m tau c) (enc : encodes m tau at_ w c).
Hypothesis shown : if fixed is Some f then shows m tau (value arith w fed f) c else True.

Let q_in : (now c < n_states m)%N. Proof. by case: c_in. Qed.
Let next_in : inside m tau (step m c) := inside_step ok q_in c_in stays.
Let here := situation_of m (vertex_of m c).

Notation level := (value arith w fed (compact m tau at_ fixed order base scale offset) 0%N 0%N).

Let levelE := value_compact base scale offset ok fixed_ok order_ok c_in stays enc shown.

Let write_bound : 0 <= total d (fun i => write_error R m c i ^+ 2) <= d%:R * 4%:R.
Proof.
rewrite total_ge0 => [|i _]; last by rewrite sqr_ge0.
rewrite -total_const; apply: total_le => i _; rewrite -real_normK ?num_real //.
have -> : 4%:R = 2%:R ^+ 2 :> R by rewrite -natrX.
by rewrite ler_expn2r ?nnegrE ?ler0n // PlainStep.sign_distance.
Qed.

Let head_bound : 0 <= total d (fun i => total tau (fun j => head_error R m c i j ^+ 2)) <= d%:R * 2%:R.
Proof.
rewrite total_ge0 => [|i _]; last by apply: total_ge0 => j _; rewrite sqr_ge0.
rewrite -total_const; apply: total_le => i i_d; apply: PlainLevels.units_apart.
  by case: c_in => _; apply.
by case: next_in => _; apply.
Qed.

Let read_bound : 0 <= total d (fun i => read_error R m c i ^+ 2) <= d%:R * 4%:R.
Proof.
rewrite total_ge0 => [|i _]; last by rewrite sqr_ge0.
rewrite -total_const; apply: total_le => i _.
by case/andP: (seen_square R (nth None (looks here) i) (reads (step m c) i)).
Qed.

Let half_g : 0 <= g / 2%:R. Proof. by rewrite divr_ge0 ?ler0n // ltW. Qed.
Let twice_b : 0 <= 2%:R * b ^+ 2 * g. Proof. exact: mulr_ge0 (mulr_ge0 (ler0n _ _) (sqr_ge0 _)) (ltW g_gt0). Qed.

(** While the machine runs, the loss lies between c and c + (8 b^2 d + 3 d) g. *)
Theorem running_level :
  ~~ halted m c -> real R offset <= level <= real R offset + (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R) * g.
Proof.
move=> /negbTE runs; rewrite levelE runs subr0 -/b -/g -/d.
case/andP: write_bound => w_ge w_le; case/andP: head_bound => h_ge h_le; case/andP: read_bound => r_ge r_le.
have -> : (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R) * g =
    g / 2%:R * (d%:R * 4%:R + d%:R * 2%:R) + 2%:R * b ^+ 2 * g * (d%:R * 4%:R) by field.
rewrite -[real R offset + _ + _]addrA ler_addl.
rewrite addr_ge0; [|exact: mulr_ge0 half_g (addr_ge0 w_ge h_ge)|exact: mulr_ge0 twice_b r_ge] => /=.
by rewrite ler_add2l ler_add // ler_wpmul2l // ler_add.
Qed.

(** Once it has halted, the loss is c - b^3 g, and 2 b^2 g more for every tape that the halting state does not look at. *)
Theorem halted_level :
  halted m c -> level = real R offset - b ^+ 3 * g + 2%:R * b ^+ 2 * g * (d - n_looks here)%:R.
Proof.
move=> halts; have [_ cells heads] := step_halted tau halts.
have size_here : size (looks here) = d by case/and3P: (situation_ok ok (vertex_lt ok q_in)) => /eqP.
have w0 : total d (fun i => write_error R m c i ^+ 2) = 0.
  apply: total_zero => i _; rewrite /write_error /written.
  by move: halts; rewrite /halted; case: (action_of m c) => // _; rewrite subrr expr0n.
have h0 : total d (fun i => total tau (fun j => head_error R m c i j ^+ 2)) = 0.
  by apply: total_zero => i i_d; apply: total_zero => j _; rewrite /head_error heads // subrr expr0n.
have r1 : total d (fun i => read_error R m c i ^+ 2) = (d - n_looks here)%:R.
  rewrite (_ : d - n_looks here = count (predC isSome) (looks here))%N; last first.
    by rewrite -size_here -(count_predC isSome) addKn.
  rewrite -sum1_count (big_nth None) big_mkcond big_mkord natr_sum size_here totalE.
  apply: eq_bigr => i _; rewrite /read_error -/here.
  have same_read : reads (step m c) i = reads c i.
    by rewrite /reads heads // cells //; case: c_in => _; apply.
  rewrite same_read; case look: (nth None (looks here) i) => [x|].
    by rewrite (looks_here ok c_in look) subrr expr0n.
  by rewrite -[seen R None]/(0 : R) subr0; case: (reads c i); rewrite /sign ?sqrrN expr1n.
by rewrite levelE halts -/b -/g -/d w0 h0 r1 addr0 mulr0 addr0.
Qed.

(** Where every state looks at every tape it is c - b^3 g. *)
Corollary halted_level_all : looks_at_all m -> halted m c -> level = real R offset - b ^+ 3 * g.
Proof.
move=> /allP all_seen halts; have here_lt := vertex_lt ok q_in; rewrite halted_level //.
have size_here : size (looks here) = d by case/and3P: (situation_ok ok here_lt) => /eqP.
have -> : n_looks here = d by apply/eqP; rewrite -size_here -all_count; apply: all_seen; rewrite mem_nth.
by rewrite subnn mulr0 addr0.
Qed.

(** So it lies at least (b^3 - 8 b^2 d - 3 d) g below c. *)
Theorem halted_gap :
  halted m c -> level <= real R offset - (b ^+ 3 - (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R)) * g.
Proof.
move=> /halted_level ->; rewrite -subr_ge0.
have -> : real R offset - (b ^+ 3 - (8%:R * b ^+ 2 * d%:R + 3%:R * d%:R)) * g -
    (real R offset - b ^+ 3 * g + 2%:R * b ^+ 2 * g * (d - n_looks here)%:R) =
    2%:R * b ^+ 2 * g * (4%:R * d%:R - (d - n_looks here)%:R) + 3%:R * d%:R * g by ring.
rewrite addr_ge0 //; last exact: mulr_ge0 (mulr_ge0 (ler0n _ _) (ler0n _ _)) (ltW g_gt0).
rewrite mulr_ge0 // subr_ge0 -natrM ler_nat.
by apply: leq_trans (leq_subr _ _) _; rewrite leq_pmull.
Qed.

(** With the base that training needs, a halted machine is seen in the loss: it falls below c. *)
Corollary halted_below :
  8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3 -> halted m c -> level < real R offset.
Proof.
move=> b_large /halted_gap gap; apply: le_lt_trans gap _.
by rewrite ltr_subl_addr ltr_addl mulr_gt0 // subr_gt0.
Qed.

(** With the offset that Luge asks for, c >= 2 (b^3 + d b) g, the loss is positive: the carrier can take its root. *)
Theorem positive_level :
  8%:R * b ^+ 2 * d%:R + 3%:R * d%:R < b ^+ 3 -> 2%:R * (b ^+ 3 + d%:R * b) * g <= real R offset -> 0 < level.
Proof.
move=> b_large offset_ge; have b_gt0 := base_gt0 (tapes_gt0 ok) b_large.
have cube_gt0 : 0 < b ^+ 3 * g by rewrite mulr_gt0 // exprn_gt0.
have above : b ^+ 3 * g < real R offset.
  apply: lt_le_trans offset_ge; rewrite -subr_gt0.
  have -> : 2%:R * (b ^+ 3 + d%:R * b) * g - b ^+ 3 * g = b ^+ 3 * g + 2%:R * d%:R * b * g by ring.
  rewrite ltr_paddr // mulr_ge0 ?(ltW g_gt0) // mulr_ge0 ?(ltW b_gt0) // mulr_ge0 ?ler0n //.
case: (boolP (halted m c)) => [/halted_level ->|runs].
  by rewrite ltr_paddr ?subr_gt0 // mulr_ge0 ?ler0n.
by case/andP: (running_level runs) => low _; apply: lt_le_trans low; apply: lt_trans above.
Qed.

End Levels.
