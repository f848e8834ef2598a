(** The output of a circuit's network and its slopes are what section 11 says, in every state and on every input.

    [memory_sound] and [plan_sound]: every fact is sound. [plan_value]: the output is A while the circuit runs, 0 while it takes a sample and
    the answer once it has halted, up to [plan_noise]. [plan_speed]: the slopes are those that move the memory as the circuit does. *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ring.
From Luge Require Import Number NumberOrder Expression Terms Mlp Forms MlpPass Circuit MlpLogic MlpSignals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Plan.

Variables (R : realFieldType) (c : circuit) (constants : logic_constants) (rows : index).
Notation r := (@real R).
Notation z := (real_of_Z R).
Notation bit := (fun b : bool => b%:R : R).
Variables (margin largest : number) (val : N -> R) (tan : nat -> N -> R).
Notation value := (form_value val).
Notation speed := (speed tan).
Notation sound := (sound (n_memory c) margin largest val tan).
Notation eighth := (eighth R).

Hypothesis rows_right : forall f g, look rows f = Some g ->
  [/\ value g = relu (value f), forall k, speed k f = 0 & forall k, speed k g = 0].
Hypothesis large : (4 * most_operands + 4)%:R <= r largest.
Hypothesis margin_small : r margin <= eighth.

Variables (st : state) (query : seq bool) (delta : nat -> R).
Hypothesis near : forall k, (k < n_memory c)%N -> `|delta k| <= eighth.
Hypothesis numbers_right : forall k, (k < n_memory c)%N ->
  val (number_symbol c k) = z (lifted c st k) + delta k /\ forall k', tan k' (number_symbol c k) = bit (k == k').
Hypothesis positive_right : forall k, (k < n_memory c)%N -> val (positive_copy c k) = bit (is_positive c st k).
Hypothesis negative_right : forall k, (k < n_memory c)%N -> val (negative_copy c k) = bit (is_negative c st k).
Hypothesis copies_still : forall k' k, (k < n_memory c)%N -> tan k' (positive_copy c k) = 0 /\ tan k' (negative_copy c k) = 0.
Hypothesis positive_halves : forall k, (k < n_memory c)%N ->
  val (positive_half c k) = bit (is_positive c st k) * (1 / 2%:R + 2%:R * delta k) /\
  forall k', tan k' (positive_half c k) = bit (is_positive c st k) * (2%:R * bit (k == k')).
Hypothesis negative_halves : forall k, (k < n_memory c)%N ->
  val (negative_half c k) = bit (is_negative c st k) * (1 / 2%:R - 2%:R * delta k) /\
  forall k', tan k' (negative_half c k) = bit (is_negative c st k) * (- (2%:R * bit (k == k'))).
Hypothesis inputs_right : forall i, (i < n_inputs c)%N ->
  `|r (input_gain constants) * val (input_symbol c i) - 3%:R - (2%:R * bit (nth false query i) - 1)| <= r (query_slack constants).

Notation stands := (stands c margin largest val tan).

(** ** The memory's own facts *)

Let real_whole x : r (whole x) = z x.
Proof. by rewrite NumberOrder.realE /= expr0 divr1. Qed.

Lemma content_cases k : [\/ content c st k = Z0, content c st k = Zpos 1 | content c st k = Zneg 1].
Proof.
rewrite /content /slot; case: ifP => _; first by case: nth; [constructor 2 | constructor 1].
by case: st.2 => [[bits y]|]; [rewrite /sign_of; case: ifP => _; [constructor 2 | constructor 3] | constructor 1].
Qed.

Let wide (a : R) : a <= 4%:R -> a <= r largest.
Proof.
move=> a_le; apply: le_trans a_le (le_trans _ large); rewrite natrD natrM; by_combination (4%:R * most_operands%:R : R).
Qed.

Let margin_lt : r margin < 1 / 4%:R.
Proof. by apply: le_lt_trans margin_small _; apply: (farkas_lt (e := 1 / 8%:R)); rewrite ?divr_gt0 ?ltr01 ?ltr0n /MlpSignals.eighth //; field. Qed.

(** A pair of hinges at 2 q - 1/2 and 2 q - 3/2, where q is 0, 1 or -1 up to an eighth. *)
Let pair_sound f g h (d q s : R) (b : bool) k0 :
  `|d| <= eighth -> q = 1 /\ b \/ q <= 0 /\ ~~ b -> (k0 < n_memory c)%N -> `|s| = 1 ->
  value f = - (1 / 2%:R) - bit g + 2%:R * q + 2%:R * d -> (forall k, speed k f = 2%:R * s * bit (k0 == k)) ->
  value h = bit b * (3%:R / 2%:R - bit g + 2%:R * d) -> (forall k, speed k h = bit b * (2%:R * s * bit (k0 == k))) ->
  sound (f, h).
Proof.
rewrite ler_norml /MlpSignals.eighth => /andP[d_low d_high] cases k0_lt s1 value_f speed_f value_h speed_h.
have g_ge0 : 0 <= bit g by exact: ler0n.
have g_le1 : bit g <= 1 by case: (g); rewrite ?ler01.
have d_low' : 0 <= d + 1 / 8%:R by rewrite -[1 / 8%:R]opprK subr_ge0.
have small k : `|2%:R * s * bit (k0 == k)| <= 2%:R.
  by rewrite !normrM s1 mulr1 normr_nat; case: (k0 == k); rewrite ?normr1 ?normr0 ?mulr1 ?mulr0 ?ler0n.
case: cases => -[q_is b_is].
  have far : 1 / 4%:R <= value f.
    rewrite value_f q_is; by_combination ((1 - bit g) + 2%:R * (d + 1 / 8%:R) : R).
  have f_gt0 : 0 < value f by apply: lt_le_trans far; rewrite divr_gt0 ?ltr01 ?ltr0n.
  split=> /= [|k _|k _ _|].
  - by rewrite relu_pos ?(ltW f_gt0) // value_h value_f q_is b_is /=; field.
  - by rewrite f_gt0 speed_h speed_f b_is mul1r.
  - by rewrite gtr0_norm //; exact: lt_le_trans margin_lt far.
  split=> [|k _]; last by rewrite speed_h b_is mul1r.
  apply: wide; rewrite value_h b_is mul1r ger0_norm.
    by_combination (bit g + 2%:R * (1 / 8%:R - d) + 9%:R / 4%:R : R).
  by_combination ((1 - bit g) + 2%:R * (d + 1 / 8%:R) + 1 / 4%:R : R).
have far : 1 / 4%:R <= - value f.
  rewrite value_f; by_combination (bit g + 2%:R * (0 - q) + 2%:R * (1 / 8%:R - d) : R).
have f_le0 : value f <= 0 by rewrite -oppr_ge0; apply: le_trans far; rewrite divr_ge0 ?ler01 ?ler0n.
split=> /= [|k _|k _ _|].
- by rewrite relu_neg // value_h (negbTE b_is) mul0r.
- by rewrite ltNge f_le0 speed_h (negbTE b_is) mul0r.
- by rewrite ler0_norm //; exact: lt_le_trans margin_lt far.
split=> [|k _]; last by rewrite speed_h (negbTE b_is) mul0r normr0 ler0n.
by apply: wide; rewrite value_h (negbTE b_is) mul0r normr0 ler0n.
Qed.

Let flat_sound f g : value g = relu (value f) -> (forall k, speed k f = 0) -> (forall k, speed k g = 0) -> `|value g| <= 4%:R -> sound (f, g).
Proof. by move=> *; apply: still_sound => //; exact: wide. Qed.

Let half3 : r (Number (Zpos 3) 1) = 3%:R / 2%:R. Proof. by rewrite NumberOrder.realE /= expr1. Qed.
Let half1 : r (Number (Zpos 1) 1) = 1 / 2%:R. Proof. by rewrite NumberOrder.realE /= expr1. Qed.
Let halfm1 : r (Number (Zneg 1) 1) = - (1 / 2%:R). Proof. by rewrite NumberOrder.realE /= expr1 mulNr. Qed.
Let halfm3 : r (Number (Zneg 3) 1) = - (3%:R / 2%:R). Proof. by rewrite NumberOrder.realE /= expr1 mulNr. Qed.
Let real_two : r two = 2%:R. Proof. by rewrite real_whole. Qed.

Let zN x : z (Z.opp x) = - z x.
Proof. by case: x => [|q|q] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma copy_sound k sign half copy (b : bool) :
  (k < n_memory c)%N -> sign = Zpos 1 \/ sign = Zneg 1 -> b = Z.eqb (content c st k) sign ->
  val half = bit b * (1 / 2%:R + z sign * (2%:R * delta k)) -> (forall k', tan k' half = bit b * (2%:R * z sign * bit (k == k'))) ->
  val copy = bit b -> (forall k', tan k' copy = 0) ->
  forall e, List.In e (copy_facts c k sign half copy) -> sound e.
Proof.
move=> k_lt signs b_is half_is tan_half copy_is tan_copy.
have [number_is tan_number] := numbers_right k_lt.
have sign1 : `|z sign| = 1 by case: signs => ->; rewrite /= ?normrN normr1.
have sign2 : z sign * z sign = 1 by case: signs => ->; rewrite /= ?mulrNN mulr1.
have d_small : `|z sign * delta k| <= eighth by rewrite normrM sign1 mul1r; exact: near.
have cases : z sign * z (content c st k) = 1 /\ b \/ z sign * z (content c st k) <= 0 /\ ~~ b.
  by rewrite b_is; case: (content_cases k) => ->; case: signs => -> /=; rewrite ?mulr0 ?mulr1 ?mulN1r ?opprK ?mul1r;
    [right | right | left | right | right | left]; rewrite ?lexx ?oppr_le0 ?ler01.
have twice : z (Z.mul 2 sign) = 2%:R * z sign by rewrite real_of_ZM.
have pre_is m g : z m = - 1 - 2%:R * bit g ->
    let f := mix (Number (Z.sub m (Z.mul (Z.mul 4 sign) (lift c k))) 1) [:: (whole (Z.mul 2 sign), symbol (number_symbol c k))] in
    value f = - (1 / 2%:R) - bit g + 2%:R * (z sign * z (content c st k)) + 2%:R * (z sign * delta k) /\
    forall k', speed k' f = 2%:R * z sign * bit (k == k').
  move=> m_is f; split=> [|k']; last by rewrite speed_mix big_seq1 real_whole twice /MlpPass.speed symbol_moves tan_number.
  rewrite mix_value big_seq1 real_whole twice symbol_value number_is NumberOrder.realE /mantissa /halvings expr1.
  rewrite /Z.sub real_of_ZD zN !real_of_ZM m_is /lifted real_of_ZD (_ : z (Zpos 4) = 4%:R) //.
  by field.
have m3 : z (Zneg 3) = - 1 - 2%:R * bit true by rewrite (_ : z (Zneg 3) = - 3%:R) //=; ring.
have m1 : z (Zneg 1) = - 1 - 2%:R * bit false by rewrite (_ : z (Zneg 1) = - 1) //=; ring.
have [value_low speed_low] := pre_is _ true m3; have [value_high speed_high] := pre_is _ false m1.
have speed_copy k' : speed k' (symbol copy) = 0 by rewrite /MlpPass.speed symbol_moves.
have speed_half k' : speed k' (symbol half) = bit b * (2%:R * z sign * bit (k == k')).
  by rewrite /MlpPass.speed symbol_moves.
have b_le1 : `|bit b| <= 1 by case: (b); rewrite ?normr1 ?normr0 ?ler01.
have one4 : 1 <= 4%:R :> R by rewrite ler1n.
move=> e [<-|[<-|[<-|[<-|[<-|//]]]]].
- apply: (pair_sound (g := true) d_small cases k_lt sign1 value_low speed_low) => //.
  by rewrite symbol_value half_is /=; field.
- apply: (pair_sound (g := false) d_small cases k_lt sign1 value_high speed_high).
    by rewrite mix_value !big_cons big_nil !symbol_value half_is copy_is real_one (_ : r zero = 0) //=; field.
  by move=> k'; rewrite speed_mix !big_cons big_nil speed_half speed_copy real_one mul1r mulr0 !addr0.
- apply: flat_sound => [|k'|k'|].
  + rewrite !mix_value !big_seq1 !symbol_value copy_is halfm1 half3 real_two add0r.
    case: (b) => /=; first by rewrite relu_pos; [field | by_combination (3%:R / 2%:R : R)].
    by rewrite relu_neg; [rewrite mulr0 | by_combination (1 / 2%:R : R)].
  + by rewrite speed_mix big_seq1 speed_copy mulr0.
  + by rewrite speed_mix big_seq1 speed_copy mulr0.
  rewrite mix_value big_seq1 symbol_value copy_is half3 add0r normrM ger0_norm; last by nonnegative.
  apply: le_trans (ler_wpmul2l _ b_le1) _; first by nonnegative.
  by rewrite mulr1; by_combination (5%:R / 2%:R : R).
- apply: flat_sound => [|k'|k'|].
  + rewrite !mix_value !big_seq1 !symbol_value copy_is halfm3 half1 real_two add0r.
    case: (b) => /=; first by rewrite relu_pos; [field | by_combination (1 / 2%:R : R)].
    by rewrite relu_neg; [rewrite mulr0 | by_combination (3%:R / 2%:R : R)].
  + by rewrite speed_mix big_seq1 speed_copy mulr0.
  + by rewrite speed_mix big_seq1 speed_copy mulr0.
  rewrite mix_value big_seq1 symbol_value copy_is half1 add0r normrM ger0_norm; last by nonnegative.
  apply: le_trans (ler_wpmul2l _ b_le1) _; first by nonnegative.
  by rewrite mulr1; by_combination (7%:R / 2%:R : R).
have stands_copy : stands (copy_signal copy) b b.
  by split=> //=; rewrite symbol_value copy_is subrr normr0.
by apply: passed_sound stands_copy _ => //=; rewrite /MlpSignals.eighth; nonnegative.
Qed.

Lemma number_bounds k : (k < n_memory c)%N -> 7%:R / 8%:R <= val (number_symbol c k) <= 25%:R / 8%:R.
Proof.
move=> k_lt; have := near k_lt; rewrite /MlpSignals.eighth ler_norml => /andP[low high].
have [-> _] := numbers_right k_lt; set d := delta k in low high *.
have low' : 0 <= d + 1 / 8%:R by rewrite -[1 / 8%:R]opprK subr_ge0.
have lo_l : 1 <= z (lifted c st k).
  rewrite /lifted real_of_ZD /lift; case: ltnP => [lt|ge].
    by rewrite /content lt; case: nth; rewrite /= ?addr0 // -(natrD _ 1 1) ler1n.
  case: (content_cases k) => -> /=; rewrite ?addr0 -?natrD ?ler1n //.
  by rewrite (natrD _ 1 1) addrK.
have hi_l : z (lifted c st k) <= 3%:R.
  rewrite /lifted real_of_ZD /lift; case: ltnP => [lt|ge].
    by rewrite /content lt; case: nth; rewrite /= ?addr0 -?natrD ?ler_nat // ler1n.
  case: (content_cases k) => -> /=; rewrite ?addr0 -?natrD ?ler_nat //.
  by rewrite (natrD _ 1 1) addrK ler1n.
apply/andP; split; first by_combination ((z (lifted c st k) - 1) + (d + 1 / 8%:R) : R).
by_combination ((3%:R - z (lifted c st k)) + (1 / 8%:R - d) : R).
Qed.

Theorem memory_sound k : (k < n_memory c)%N -> forall e, List.In e (memory_facts c k) -> sound e.
Proof.
move=> k_lt e; rewrite /memory_facts; have [number_is tan_number] := numbers_right k_lt; have /andP[low high] := number_bounds k_lt.
have u_gt0 : 0 < val (number_symbol c k) by apply: lt_le_trans low; rewrite divr_gt0 ?ltr0n.
have plain b : value (mix b [:: (one, symbol (number_symbol c k))]) = r b + val (number_symbol c k).
  by rewrite mix_value big_seq1 symbol_value real_one mul1r.
have one_speed k' b : speed k' (mix b [:: (one, symbol (number_symbol c k))]) = bit (k == k').
  by rewrite speed_mix big_seq1 /MlpPass.speed symbol_moves tan_number real_one mul1r.
have positive_sound f : 7%:R / 8%:R <= value f <= 4%:R + 1 / 8%:R -> (forall k', speed k' f = bit (k == k')) -> sound (f, f).
  move=> /andP[lo hi] speeds; have f_gt0 : 0 < value f by apply: lt_le_trans lo; rewrite divr_gt0 ?ltr0n.
  split=> /= [|k' _|k' _ _|]; rewrite ?relu_pos ?(ltW f_gt0) ?f_gt0 //.
    rewrite gtr0_norm //; apply: lt_le_trans margin_lt (le_trans _ lo); by_combination (5%:R / 8%:R : R).
  split=> [|k' _]; last by rewrite speeds; case: (k == k'); rewrite ?normr1 ?normr0 ?ler0n // ler1n.
  rewrite gtr0_norm //; apply: le_trans hi (le_trans _ large); rewrite natrD natrM.
  have most : 1 <= most_operands%:R :> R by rewrite ler1n.
  by_combination (4%:R * (most_operands%:R - 1) + 31%:R / 8%:R : R).
move=> in_e; case: (in_either in_e) => {in_e} [[<-|[<-|//]]|in_e]; last case: (in_either in_e) => {}in_e.
- apply: positive_sound => [|k']; last by rewrite /MlpPass.speed symbol_moves.
  rewrite symbol_value low; apply: le_trans high _; by_combination (1 : R).
- apply: positive_sound; last by move=> k'; exact: one_speed.
  rewrite plain real_one; apply/andP; split; first by_combination (1 + (val (number_symbol c k) - 7%:R / 8%:R) : R).
  by_combination (25%:R / 8%:R - val (number_symbol c k) : R).
- have [half_is tan_half] := positive_halves k_lt.
  apply: (copy_sound (b := is_positive c st k) k_lt _ _ _ _ _ _ in_e) => //; rewrite ?positive_right ?half_is ?mul1r //; first by left.
    by move=> k'; rewrite tan_half mulr1.
  by move=> k'; case: (copies_still k' k_lt).
have [half_is tan_half] := negative_halves k_lt; move: in_e; case: ifP => // _ in_e.
apply: (copy_sound (b := is_negative c st k) k_lt _ _ _ _ _ _ in_e) => //; rewrite ?negative_right ?half_is ?mulN1r //; first by right.
  by move=> k'; rewrite tan_half mulrN1 mulNr.
by move=> k'; case: (copies_still k' k_lt).
Qed.

(** ** The parts of a cycle *)

Hypothesis sums_exclusive : exclusive c st query.

Notation ws := (signals c constants rows).
Notation bit_of := (fun a => literal_value (wires c st [::]) a).

Let hold : wires_stand c margin largest val tan ws (wires c st query) (wires c st [::]).
Proof. exact: signals_stand. Qed.

Let memory_stands a s : memory_signal c constants rows a = Some s -> stands s (bit_of a) (bit_of a).
Proof.
rewrite /memory_signal; case E: literal_signal => [t|//]; case A: (ahead t) => // -[<-].
by have := literal_stands hold E; case=> near_t still same grounds; move: near_t; rewrite same ?A //; split.
Qed.

Definition is_full : bool := if takes_samples c then isSome st.2 else true.
Definition is_running : bool := ~~ has_halted c st && is_full.
Definition is_dropping : bool := is_running && bit_of (drops c).

Let label_mem : takes_samples c -> (n_registers c + n_features c < n_memory c)%N.
Proof. by move=> takes; rewrite /n_memory takes ltn_add2l. Qed.

Let label_content : content c st (n_registers c + n_features c) = if st.2 is Some s then sign_of s.2 else Z0.
Proof. by rewrite /content ltnNge leq_addr addKn /slot eqxx; case: (st.2) => [[]|]. Qed.

Let full_stands : takes_samples c -> stands (full_signal c) is_full is_full.
Proof.
move=> takes; have mem := label_mem takes.
have pair : stand_all c margin largest val tan [:: copy_signal (positive_copy c (n_registers c + n_features c));
    copy_signal (negative_copy c (n_registers c + n_features c))]
    [:: is_positive c st (n_registers c + n_features c); is_negative c st (n_registers c + n_features c)]
    [:: is_positive c st (n_registers c + n_features c); is_negative c st (n_registers c + n_features c)].
  by split; [exact: positive_stands | split=> //; exact: negative_stands].
have := any_of_stands pair; rewrite /is_positive /is_negative label_content /is_full takes.
by case: (st.2) => [[bits y]|] /=; [case: y | ] => /=; apply.
Qed.

Lemma parts_right cs : parts_of_cycle c constants rows = Some cs ->
  [/\ stands (stop cs) (has_halted c st) (has_halted c st), stands (running cs) is_running is_running &
   if takes_samples c then [/\ stands (taking cs) (takes c st) (takes c st), stands (dropping cs) is_dropping is_dropping & held_full cs = full_signal c]
   else [/\ taking cs = running cs, dropping cs = running cs & held_full cs = running cs]].
Proof.
rewrite /parts_of_cycle; case S: memory_signal => [s|//]; have right_s := memory_stands S; have not_s := negated_stands right_s.
case: ifP => sampled; last first.
  case A: all_of => [run|//] [<-] /=; split=> //.
  have one_s : stand_all c margin largest val tan [:: negated s] [:: ~~ has_halted c st] [:: ~~ has_halted c st] by [].
  by have := all_of_stands rows_right large one_s A; rewrite /= andbT /is_running /is_full sampled andbT.
have full := full_stands sampled.
case A: all_of => [run|//]; case T: all_of => [tak|//]; case D: obind => [dr|//] [<-] /=.
have right_run : stands run is_running is_running.
  have two : stand_all c margin largest val tan [:: negated s; full_signal c] [:: ~~ has_halted c st; is_full] [:: ~~ has_halted c st; is_full] by [].
  by have := all_of_stands rows_right large two A; rewrite /= andbT.
split=> //; split=> //.
  have two : stand_all c margin largest val tan [:: negated s; negated (full_signal c)] [:: ~~ has_halted c st; ~~ is_full] [:: ~~ has_halted c st; ~~ is_full].
    by split=> //; split=> //; exact: negated_stands.
  have := all_of_stands rows_right large two T; rewrite /= andbT /is_full sampled /takes sampled /=.
  by case: (st.2).
move: D; case N: memory_signal => [d|//] /= D; have right_d := memory_stands N.
have two : stand_all c margin largest val tan [:: run; d] [:: is_running; bit_of (drops c)] [:: is_running; bit_of (drops c)] by [].
by have := all_of_stands rows_right large two D; rewrite /= andbT.
Qed.

(** ** Gates *)

(** Some gates may be open. *)
Definition is_active : bool := is_running || takes c st.

Definition opened (k : nat) (o : opening) (b : bool) : Prop :=
  [/\ place o = k, exists b0, stands (opens o) b b0, if settles o is Some t then exists b0, stands t b b0 else True
    & (isSome (settles o) -> b -> lifted c st k = Zpos 2) /\ (b -> is_active)].

Fixpoint opened_all (k : nat) (os : seq opening) (bs : seq bool) : Prop :=
  match os, bs with
  | [::], [::] => True
  | o :: os', b :: bs' => opened k o b /\ opened_all k os' bs'
  | _, _ => False
  end.

Fixpoint pull (os : seq opening) (bs : seq bool) : R :=
  match os, bs with o :: os', b :: bs' => r (weight o) * bit b + pull os' bs' | _, _ => 0 end.

Lemma open_at_opened k ss bs b0s w settled o :
  stand_all c margin largest val tan ss bs b0s -> open_at rows k ss w settled = Some o -> (settled -> all id bs -> lifted c st k = Zpos 2) ->
  (all id bs -> is_active) ->
  opened k o (all id bs) /\ weight o = w.
Proof.
move=> right; rewrite /open_at; case A: all_of => [s|//]; have right_s := all_of_stands rows_right large right A.
case: settled => [|[<-] _ active]; last by split=> //; split=> //; exists (all id b0s).
case B: all_of => [t|//] [<-] empty active; split=> //; split=> //=; first by exists (all id b0s).
have one_s : stand_all c margin largest val tan [:: s] [:: all id bs] [:: all id b0s] by [].
by exists (all id b0s); have := all_of_stands rows_right large one_s B; rewrite /= !andbT.
Qed.

Notation flip := (r (flip_slope constants)).
Notation high := (r (carrier constants)).
Definition label_value (y : bool) : R := z (sign_of y).
Definition goal (y : bool) (k : nat) : R := z (content c (cycle c st (query, y)) k) - z (content c st k).

Let wire_leaf q w : (w < size (gates c))%N -> exists vs, nth false (wires c st q) w = gate_value st q vs (nth Never (gates c) w).
Proof.
rewrite /wires -[w in nth false _ w]add0n -[0%N]/(size ([::] : seq bool)).
have old gs : forall vs i, (i < size vs)%N -> nth false (foldl (fun values g => rcons values (gate_value st q values g)) vs gs) i = nth false vs i.
  elim: gs => //= g gs IH vs i i_lt; rewrite IH ?size_rcons; last exact: leq_trans i_lt (leqnSn _).
  by rewrite nth_rcons i_lt.
elim: (gates c) [::] w => //= g gs IH vs [|w] w_lt.
  by exists vs; rewrite addn0 old ?size_rcons // nth_rcons ltnn eqxx.
by have [vs' E] := IH (rcons vs (gate_value st q vs g)) w w_lt; exists vs'; rewrite -E size_rcons addSnnS.
Qed.

Let kept_bit k a : kept c k a -> bit_of a = nth false st.1 k.
Proof.
case: a => w neg; rewrite /kept /literal_value /= => /andP[/negbTE -> leaf]; rewrite addbF.
have w_lt : (w < size (gates c))%N by rewrite ltnNge; apply/negP => ge; rewrite nth_default in leaf.
by have [vs ->] := wire_leaf [::] w_lt; move: leaf; case: nth => //= k' /eqP ->.
Qed.

Let constant_bit a b : is_constant c a b -> bit_of a = b.
Proof.
case: a => w neg; rewrite /is_constant /literal_value /= => /andP[/eqP <- leaf].
have w_lt : (w < size (gates c))%N by rewrite ltnNge; apply/negP => ge; rewrite nth_default in leaf.
have [vs ->] := wire_leaf [::] w_lt; move: leaf; rewrite (set_nth_default Never) //.
by case: nth.
Qed.

Lemma stopped_goal y k : ~~ is_running -> ~~ takes c st -> goal y k = 0.
Proof.
rewrite /goal /cycle /is_running /is_full => not_run /negbTE not_take; rewrite not_take.
have halted : has_halted c st.
  by apply/negPn/negP => going; move: not_run not_take; rewrite /takes going /=; case: (takes_samples c) => //; case: (st.2).
by rewrite /ran -/(has_halted c st) halted subrr.
Qed.

Let run_not_take : is_running -> takes c st = false.
Proof. by rewrite /is_running /is_full /takes => /andP[_]; case: (takes_samples c) => //; case: (st.2) => // s _; rewrite andbF. Qed.

(** What the gates of one unit of the memory do together. *)
Definition pulls_right (k : nat) (y : bool) (s : R) : Prop :=
  [/\ is_running -> s = - (flip * goal y k), takes c st -> s = high * flip * (label_value y * goal y k) &
      ~~ is_running -> ~~ takes c st -> s = 0].

Let register_right cs k os y :
  parts_of_cycle c constants rows = Some cs -> (k < n_registers c)%N -> openings_at c constants rows cs k = Some os ->
  exists bs, opened_all k os bs /\ pulls_right k y (pull os bs).
Proof.
move=> P k_lt; have [_ run _] := parts_right P; rewrite /openings_at k_lt; set a := (nth _ _ _).2.
have k_mem : (k < n_memory c)%N by exact: leq_trans k_lt (leq_addr _ _).
pose m := nth false st.1 k; pose t := bit_of a.
have now : z (content c st k) = bit m by rewrite /content k_lt -/m; case: (m).
have goal_run : is_running -> goal y k = bit t - bit m.
  move=> running; rewrite /goal /cycle (run_not_take running) now; congr (_ - _).
  rewrite /content k_lt /ran -/(has_halted c st); have /andP[/negbTE -> _] := running.
  by rewrite (nth_map (false, (0%N, false))) // -/a -/t; case: (t).
have goal_take : takes c st -> goal y k = 0 by rewrite /goal /cycle => ->; rewrite /content k_lt subrr.
have take_not_run : takes c st -> is_running = false by move=> tk; apply/negP => /run_not_take; rewrite tk.
have right_of (s : R) : s = - (flip * (bit is_running * (bit t - bit m))) -> pulls_right k y s.
  move=> ->; split=> [run_|tk|/negbTE not_run _]; first by rewrite run_ mul1r goal_run.
    by rewrite goal_take // take_not_run // mul0r !mulr0 oppr0.
  by rewrite not_run mul0r mulr0 oppr0.
case: ifP => [/kept_bit same [<-]|_].
  by exists [::]; split=> //; apply: right_of; rewrite /t same subrr !mulr0 oppr0.
case T: memory_signal => [target|//]; have right_t := memory_stands T.
have copy : stands (copy_signal (positive_copy c k)) (is_positive c st k) (is_positive c st k) by exact: positive_stands.
have is_m : is_positive c st k = m by rewrite /is_positive /content k_lt -/m; case: (m).
rewrite is_m in copy; have not_t := negated_stands right_t; have not_m := negated_stands copy.
have down o : open_at rows k [:: running cs; copy_signal (positive_copy c k); negated target] (flip_slope constants) false = Some o ->
    opened k o (is_running && (m && ~~ t)) /\ weight o = flip_slope constants.
  have three : stand_all c margin largest val tan [:: running cs; copy_signal (positive_copy c k); negated target]
    [:: is_running; m; ~~ t] [:: is_running; m; ~~ t] by [].
  by move=> O; have := open_at_opened three O; rewrite /= andbT; apply=> // /andP[run_ _]; rewrite /is_active run_.
have up o : open_at rows k [:: running cs; negated (copy_signal (positive_copy c k)); target] (minus (flip_slope constants)) false = Some o ->
    opened k o (is_running && (~~ m && t)) /\ weight o = minus (flip_slope constants).
  have three : stand_all c margin largest val tan [:: running cs; negated (copy_signal (positive_copy c k)); target]
    [:: is_running; ~~ m; t] [:: is_running; ~~ m; t] by [].
  by move=> O; have := open_at_opened three O; rewrite /= andbT; apply=> // /andP[run_ _]; rewrite /is_active run_.
case CT: (is_constant c a true); case CF: (is_constant c a false); rewrite /=.
- by have := constant_bit CT; rewrite (constant_bit CF).
- have t1 : t = true := constant_bit CT.
  case O: open_at => [o|//] [<-]; have [op w] := up o O; exists [:: is_running && (~~ m && t)]; split=> //=.
  by apply: right_of; rewrite w real_minus t1; case: is_running; case: (m) => /=; ring.
- have t0 : t = false := constant_bit CF.
  case O: open_at => [o|//] [<-]; have [op w] := down o O; exists [:: is_running && (m && ~~ t)]; split=> //=.
  by apply: right_of; rewrite w t0; case: is_running; case: (m) => /=; ring.
case D: open_at => [o|//]; case U: open_at => [o'|//] [<-]; have [op w] := down o D; have [op' w'] := up o' U.
exists [:: is_running && (m && ~~ t); is_running && (~~ m && t)]; split=> //=.
by apply: right_of; rewrite w w' real_minus; case: is_running; case: (m); case: (t) => /=; ring.
Qed.

Let slot_right cs k os y :
  parts_of_cycle c constants rows = Some cs -> (n_registers c <= k < n_memory c)%N -> openings_at c constants rows cs k = Some os ->
  exists bs, opened_all k os bs /\ pulls_right k y (pull os bs).
Proof.
move=> P /andP[k_ge k_lt]; have takes_ : takes_samples c.
  by move: k_lt; rewrite /n_memory; case: (takes_samples c) => //; rewrite addn0 ltnNge k_ge.
have [_ _] := parts_right P; rewrite takes_ => -[tak dro _]; rewrite /openings_at ltnNge k_ge /=.
have copy : stands (copy_signal (positive_copy c k)) (is_positive c st k) (is_positive c st k) by exact: positive_stands.
have copy' : stands (copy_signal (negative_copy c k)) (is_negative c st k) (is_negative c st k) by exact: negative_stands.
pose p := is_positive c st k; pose q := is_negative c st k; pose i := (k - n_registers c)%N.
have now : z (content c st k) = bit p - bit q.
  by rewrite /p /q /is_positive /is_negative; case: (content_cases k) => -> /=; rewrite ?subrr ?subr0 ?sub0r.
have slot_is s : content c s k = slot c s.2 i by rewrite /content ltnNge k_ge.
have goal_run : is_running -> goal y k = - (bit is_dropping * (bit p - bit q)).
  move=> running; rewrite /goal /cycle (run_not_take running) now; rewrite /is_dropping running /=.
  rewrite /ran -/(has_halted c st); have /andP[/negbTE -> _] := running.
  rewrite slot_is /=; case: (bit_of (drops c)) => /=; first by rewrite sub0r mul1r.
  by rewrite -slot_is now subrr mul0r oppr0.
have empty : takes c st -> content c st k = Z0.
  by rewrite slot_is /takes => /andP[_ /eqP ->].
have ready : takes c st -> lifted c st k = Zpos 2 by move=> tk; rewrite /lifted empty // /lift ltnNge k_ge.
have goal_take : takes c st -> goal y k = z (sign_of (if i == n_features c then y else nth false query i == y)).
  by move=> tk; rewrite /goal empty // subr0 /cycle tk slot_is.
have take_not_run : takes c st -> is_running = false by move=> tk; apply/negP => /run_not_take; rewrite tk.
have drop_not : takes c st -> is_dropping = false by move=> tk; rewrite /is_dropping take_not_run.
have right_of (s g : R) : (takes c st -> g = label_value y * goal y k) ->
    s = bit (takes c st) * (high * flip * g) + flip * (bit is_dropping * (bit p - bit q)) -> pulls_right k y s.
  move=> g_is ->; split=> [run_|tk|not_run /negbTE not_take].
  - by rewrite run_not_take // mul0r add0r goal_run // mulrN opprK.
  - by rewrite tk mul1r drop_not // mul0r mulr0 addr0 g_is.
  by rewrite not_take /is_dropping (negbTE not_run) !mul0r mulr0 addr0.
have drop1 o : open_at rows k [:: dropping cs; copy_signal (positive_copy c k)] (flip_slope constants) false = Some o ->
    opened k o (is_dropping && p) /\ weight o = flip_slope constants.
  have two : stand_all c margin largest val tan [:: dropping cs; copy_signal (positive_copy c k)] [:: is_dropping; p] [:: is_dropping; p] by [].
  by move=> O; have := open_at_opened two O; rewrite /= andbT; apply=> // /andP[/andP[run_ _] _]; rewrite /is_active run_.
have drop2 o : open_at rows k [:: dropping cs; copy_signal (negative_copy c k)] (minus (flip_slope constants)) false = Some o ->
    opened k o (is_dropping && q) /\ weight o = minus (flip_slope constants).
  have two : stand_all c margin largest val tan [:: dropping cs; copy_signal (negative_copy c k)] [:: is_dropping; q] [:: is_dropping; q] by [].
  by move=> O; have := open_at_opened two O; rewrite /= andbT; apply=> // /andP[/andP[run_ _] _]; rewrite /is_active run_.
have sign2 (b : bool) : label_value b * label_value b = 1 by rewrite /label_value; case: b; rewrite /= ?mulrNN mulr1.
rewrite -/i; case: eqP => [is_label|not_label].
  rewrite /=; case T: open_at => [o|//]; case D1: open_at => [o1|//]; case D2: open_at => [o2|//] [<-].
  have [op1 w1] := drop1 o1 D1; have [op2 w2] := drop2 o2 D2.
  have one_t : stand_all c margin largest val tan [:: taking cs] [:: takes c st] [:: takes c st] by [].
  have [||op w] := open_at_opened one_t T; [by rewrite /= andbT => _; exact: ready | by rewrite /= andbT /is_active => ->; rewrite orbT |].
  rewrite /= andbT in op.
  exists [:: takes c st; is_dropping && p; is_dropping && q]; split=> //=.
  apply: (right_of _ 1); first by move=> tk; rewrite goal_take // is_label eqxx; exact/esym/sign2.
  by rewrite w w1 w2 real_minus real_mul; case: (takes c st); case: is_dropping; case: (p); case: (q) => /=; ring.
have i_lt : (i < n_inputs c)%N.
  rewrite /n_inputs takes_ /i ltn_neqAle; apply/andP; split; first exact/eqP.
  by rewrite leq_subLR -ltnS -addnS; move: k_lt; rewrite /n_memory takes_.
case Q: query_signal => [s|//]; have right_q : stands s (nth false query i) false by exact: query_stands i_lt Q.
have not_q := negated_stands right_q; pose x := nth false query i.
rewrite /=; case T: open_at => [o|//]; case T': open_at => [o'|//]; case D1: open_at => [o1|//]; case D2: open_at => [o2|//] [<-].
have [op1 w1] := drop1 o1 D1; have [op2 w2] := drop2 o2 D2.
have two : stand_all c margin largest val tan [:: taking cs; s] [:: takes c st; x] [:: takes c st; false] by [].
have two' : stand_all c margin largest val tan [:: taking cs; negated s] [:: takes c st; ~~ x] [:: takes c st; ~~ false] by [].
have [||op w] := open_at_opened two T; [by rewrite /= andbT => _ /andP[tk _]; exact: ready | by rewrite /= andbT /is_active => /andP[-> _]; rewrite orbT |].
have [||op' w'] := open_at_opened two' T'; [by rewrite /= andbT => _ /andP[tk _]; exact: ready | by rewrite /= andbT /is_active => /andP[-> _]; rewrite orbT |].
rewrite /= andbT in op; rewrite /= andbT in op'.
exists [:: takes c st && x; takes c st && ~~ x; is_dropping && p; is_dropping && q]; split=> //=.
apply: (right_of _ (label_value x)).
  move=> tk; rewrite goal_take //; case: eqP not_label => // _ _; rewrite -/x /label_value.
  by case: (x); case: (y); rewrite /= ?mulrNN ?mulr1 ?mul1r ?mulN1r.
rewrite w w' w1 w2 !real_minus real_mul (_ : label_value x = bit x - bit (~~ x)); last first.
  by rewrite /label_value; case: (x); rewrite /= ?subr0 ?sub0r.
by case: (takes c st); case: (x); case: is_dropping; case: (p); case: (q) => /=; ring.
Qed.

Lemma openings_right cs k os y :
  parts_of_cycle c constants rows = Some cs -> (k < n_memory c)%N -> openings_at c constants rows cs k = Some os ->
  exists bs, opened_all k os bs /\ pulls_right k y (pull os bs).
Proof.
move=> P k_lt; case: (ltnP k (n_registers c)) => [low|high_]; first exact: register_right.
by apply: slot_right; rewrite ?high_.
Qed.

(** ** The output *)

Variables (p : plan) (n_rows : nat).
Hypothesis planned : plan_of c constants rows = Some p.
Hypothesis slacks_small : forall s, List.In s (plan_signals c constants rows p) -> r (slack s) <= r (logic_slack constants).
Hypothesis slack_small : r (logic_slack constants) <= 1 / 64%:R.
Hypothesis gates_right : forall o j, List.nth_error (openings p) j = Some o ->
  let g := row_symbol c (n_rows + j) in
  val g = relu (value (gate_form c o)) /\ forall k, tan k g = if 0 < value (gate_form c o) then speed k (gate_form c o) else 0.

Hypothesis carrier_ge0 : 0 <= high.

Notation slack_bound := (r (logic_slack constants)).

Let number_le k : (k < n_memory c)%N -> `|val (number_symbol c k)| <= 4%:R.
Proof.
move=> k_lt; have /andP[low high_] := number_bounds k_lt; rewrite ger0_norm; first by apply: le_trans high_ _; by_combination (7%:R / 8%:R : R).
by apply: le_trans low; nonnegative.
Qed.

(** A gate lets its number through, or nothing. *)
Let gate_right o b k0 g : (k0 < n_memory c)%N -> opened k0 o b -> r (slack (opens o)) <= slack_bound ->
  val g = relu (value (gate_form c o)) -> (forall k, tan k g = if 0 < value (gate_form c o) then speed k (gate_form c o) else 0) ->
  [/\ `|val g - bit b * val (number_symbol c k0)| <= 8%:R * slack_bound, forall k, tan k g = bit (b && (k0 == k)) & sound (gate_form c o, symbol g)].
Proof.
move=> k0_lt [place_o [b0 [near_b still_b _ _]] _ _] slack_o val_g tan_g.
have /andP[low high_] := number_bounds k0_lt; have [_ tan_number] := numbers_right k0_lt.
set u := val _ in low high_ *; set s := value (reading (opens o)) in near_b.
have value_f : value (gate_form c o) = - 8%:R + u + 8%:R * s.
  by rewrite /gate_form place_o mix_value !big_cons big_nil symbol_value real_one mul1r !real_whole addr0 addrA.
have speed_f k : speed k (gate_form c o) = bit (k0 == k).
  rewrite /gate_form place_o speed_mix !big_cons big_nil still_b mulr0 addr0 addr0 real_one mul1r /MlpPass.speed symbol_moves.
  exact: tan_number.
have {}near_b := le_trans near_b slack_o; have close := le_trans near_b slack_small.
move: close; rewrite ler_norml => /andP[s_low s_high].
have sides : if b then 3%:R / 4%:R <= value (gate_form c o) else 4%:R <= - value (gate_form c o).
  rewrite value_f; case: (b) s_low s_high => /= s_low s_high.
    by_combination ((u - 7%:R / 8%:R) + 8%:R * (s - 1%:R - - (1 / 64%:R)) : R).
  by_combination ((25%:R / 8%:R - u) + 8%:R * (1 / 64%:R - (s - 0%:R)) + 3%:R / 4%:R : R).
have positive_f : (0 < value (gate_form c o)) = b.
  case: (b) sides => far; first by apply: lt_le_trans far; rewrite divr_gt0 ?ltr0n.
  by apply/negbTE; rewrite -leNgt -oppr_ge0; apply: le_trans far; exact: ler0n.
have near_u : `|val g - bit b * u| <= 8%:R * slack_bound.
  have -> : bit b * u = relu (- 8%:R + u + 8%:R * bit b).
    case: (b); first by rewrite mulr1 mul1r addrAC addNr add0r relu_pos //; apply: le_trans low; nonnegative.
    by rewrite mul0r mulr0 addr0 relu_neg //; by_combination ((25%:R / 8%:R - u) + 39%:R / 8%:R : R).
  rewrite val_g value_f; apply: le_trans (relu_distance _ _) _.
  rewrite (_ : - 8%:R + u + 8%:R * s - _ = 8%:R * (s - bit b)); last by ring.
  by rewrite normrM (ger0_norm (ler0n _ 8)); apply: ler_wpmul2l => //; exact: ler0n.
have tan_is k : tan k g = bit (b && (k0 == k)) by rewrite tan_g positive_f speed_f; case: (b).
split=> //; split=> /= [|k _|k _ _|].
- by rewrite symbol_value.
- by rewrite /MlpPass.speed symbol_moves tan_g.
- have margin3 : r margin < 3%:R / 4%:R by apply: lt_le_trans margin_lt _; by_combination (1 / 2%:R : R).
  case: (b) sides => far; first by apply: lt_le_trans margin3 (le_trans far (ler_norm _)).
  rewrite -normrN; apply: lt_le_trans margin3 (le_trans _ (le_trans far (ler_norm _))); by_combination (13%:R / 4%:R : R).
split=> [|k _]; last by rewrite /MlpPass.speed symbol_moves tan_is; case: (_ && _); rewrite ?normr1 ?normr0 ?ler0n // ler1n.
rewrite symbol_value -[val g](subrK (bit b * u)) addrC; apply: le_trans (ler_norm_add _ _) _.
have bu : `|bit b * u| <= 25%:R / 8%:R.
  rewrite normrM ger0_norm ?ler0n // [`|u|]ger0_norm; last by apply: le_trans low; nonnegative.
  by case: (b); rewrite ?mul1r ?mul0r //; nonnegative.
apply: le_trans (ler_add bu near_u) (wide _); by_combination (8%:R * (1 / 64%:R - slack_bound) + 3%:R / 4%:R : R).
Qed.

Let split_plan : exists cs oss, [/\ parts_of_cycle c constants rows = Some cs,
    all_some [seq openings_at c constants rows cs k | k <- iota 0 (n_memory c)] = Some oss,
    all_of rows [:: running cs] = Some (carried p), answer_signals c constants rows cs = Some (said p) & parts p = cs /\ openings p = flatten oss].
Proof.
move: planned; rewrite /plan_of; case P: parts_of_cycle => [cs|//]; case O: all_some => [oss|//] /=.
by case A: all_of => [carr|//]; case S: answer_signals => [sd|//] [<-]; exists cs, oss.
Qed.

Let opens_small o : List.In o (openings p) -> r (slack (opens o)) <= slack_bound.
Proof.
move=> o_in; apply: slacks_small; do 3 apply: in_right; apply: in_left; exact: List.in_map.
Qed.

Let settles_small o t : List.In o (openings p) -> settles o = Some t -> r (slack t) <= slack_bound.
Proof.
move=> o_in E; apply: slacks_small; do 4 apply: in_right; apply: in_left.
by elim: (openings p) o_in => //= o' os IH [->|/IH here]; [rewrite E; left | case: (settles o') => [t'|] //; right].
Qed.

(** Gates of units [k], [k + 1], ... with what opens them. *)
Fixpoint opened_from (k : nat) (oss : seq (seq opening)) (bss : seq (seq bool)) : Prop :=
  match oss, bss with
  | [::], [::] => True
  | os :: oss', bs :: bss' => [/\ (k < n_memory c)%N, opened_all k os bs & opened_from k.+1 oss' bss']
  | _, _ => False
  end.

Fixpoint terms_speed (k k0 : nat) (oss : seq (seq opening)) (bss : seq (seq bool)) : R :=
  match oss, bss with os :: oss', bs :: bss' => bit (k0 == k) * pull os bs + terms_speed k k0.+1 oss' bss' | _, _ => 0 end.

Let all_opened y : exists oss bss, [/\ openings p = flatten oss, size oss = n_memory c, opened_from 0 oss bss
  & forall k, (k < n_memory c)%N -> pulls_right k y (pull (nth [::] oss k) (nth [::] bss k))].
Proof.
have [cs [oss [P O _ _ [_ ->]]]] := split_plan; exists oss.
have [size_oss each] := all_someP [::] O; rewrite size_map size_iota in size_oss each.
have have_bs k : (k < n_memory c)%N -> exists bs, opened_all k (nth [::] oss k) bs /\ pulls_right k y (pull (nth [::] oss k) bs).
  move=> k_lt; apply: (openings_right y P k_lt).
  by have := each k k_lt; rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n.
have from n k0 : (k0 + n = n_memory c)%N -> exists bss, opened_from k0 (drop k0 oss) bss /\
    forall k, (k0 <= k < n_memory c)%N -> pulls_right k y (pull (nth [::] oss k) (nth [::] bss (k - k0))).
  elim: n k0 => [|n IH] k0 sum.
    exists [::]; rewrite drop_oversize ?size_oss -?sum ?addn0 //; split=> // k /andP[ge lt].
    by move: (leq_ltn_trans ge lt); rewrite ltnn.
  have k0_lt : (k0 < n_memory c)%N by rewrite -sum -addSnnS leq_addr.
  have [bs [op pu]] := have_bs k0 k0_lt; have [|bss [ops pus]] := IH k0.+1; first by rewrite addSnnS.
  exists (bs :: bss); rewrite (drop_nth [::]) ?size_oss //; split=> [//|k /andP[]].
  rewrite leq_eqVlt => /orP[/eqP <- _|gt lt]; first by rewrite subnn.
  by rewrite -[(k - k0)%N]prednK ?subn_gt0 //= -subnS; apply: pus; rewrite gt.
have [bss [ops pus]] := from (n_memory c) 0%N (add0n _); rewrite drop0 in ops.
by exists bss; split=> // k k_lt; have := pus k; rewrite subn0; apply.
Qed.

Let rows_from j os := forall o i, List.nth_error os i = Some o ->
  let g := row_symbol c (n_rows + (j + i)) in
  [/\ val g = relu (value (gate_form c o)), forall k, tan k g = if 0 < value (gate_form c o) then speed k (gate_form c o) else 0,
      r (slack (opens o)) <= slack_bound & forall t, settles o = Some t -> r (slack t) <= slack_bound].

Let gates_of_unit k0 os bs j : (k0 < n_memory c)%N -> opened_all k0 os bs -> rows_from j os ->
  [/\ forall k, \sum_(t <- gate_terms c n_rows j os) r t.1 * speed k t.2 = bit (k0 == k) * pull os bs,
      `|\sum_(t <- gate_terms c n_rows j os) r t.1 * value t.2| <= \sum_(o <- os) r (gate_noise constants is_active o)
    & forall e, List.In e (gate_facts c n_rows j os) -> sound e].
Proof.
move=> k0_lt; elim: os bs j => [|o os IH] [|b bs] j //=.
  by move=> _ _; split=> // [k|]; rewrite !big_nil ?mulr0 ?normr0.
move=> [op ops] right; have [val_g tan_g slack_o slack_t] := right o 0%N erefl.
have [] := IH bs j.+1 ops; first by move=> o' i E; have := right o' i.+1 E; rewrite /= addSnnS.
move=> speeds values facts; rewrite addn0 in val_g tan_g.
have [near_g tan_is sound_g] := gate_right k0_lt op slack_o val_g tan_g.
have [_ _ settled [empty active]] := op.
have w0 : 0 <= r (size_of (weight o)) by rewrite real_size.
have e0 : 0 <= slack_bound.
  by case: op => _ [b0 [near_b _ _ _]] _ _; apply: le_trans (le_trans near_b slack_o); exact: normr_ge0.
split=> [k||e [<-|in_e]] //; last exact: facts.
  rewrite big_cons big_cat /= speeds /MlpPass.speed symbol_moves tan_is mulrDr; congr (_ + _).
    by rewrite mulrCA; congr (_ * _); case: (b); case: (k0 == k); rewrite /= ?mulr1 ?mulr0 ?mul0r.
  case: (settles o) settled => [t [b0 [_ still_t _ _]]|_]; last by rewrite big_nil add0r.
  by rewrite big_seq1 /=; have := still_t k; rewrite /MlpPass.speed => ->; rewrite mulr0 add0r.
rewrite !big_cons big_cat /= addrA; apply: le_trans (ler_norm_add _ _) (ler_add _ values).
rewrite /gate_noise real_mul symbol_value; have := near_g; set u := val (number_symbol c k0); set v := val _ => near_v.
case S: (settles o) settled empty slack_t => [t|] settled empty slack_t; last first.
  rewrite big_nil addr0 normrM -real_size; apply: ler_wpmul2l => //.
  case A: is_active active => active; last first.
    move: near_v; rewrite (_ : b = false) ?mul0r ?subr0; last by apply/negP => /active.
    by move/le_trans; apply; rewrite real_mul real_whole (_ : z (Zpos 12) = 12%:R) //; by_combination (4%:R * slack_bound : R).
  rewrite real_whole (_ : z (Zpos 5) = 5%:R) // -[v](subrK (bit b * u)); apply: le_trans (ler_norm_add _ _) _.
  have bu : `|bit b * u| <= 4%:R.
    rewrite normrM ger0_norm ?ler0n //; have := number_le k0_lt; rewrite -/u.
    by case: (b); rewrite ?mul1r ?mul0r // => _; exact: ler0n.
  by apply: le_trans (ler_add near_v bu) _; by_combination (8%:R * (1 / 64%:R - slack_bound) + 7%:R / 8%:R : R).
  have [b0 [near_t _ _ _]] := settled; have {}near_t := le_trans near_t (slack_t t erefl).
  rewrite big_seq1 /= real_minus real_mul real_two; set q := value (reading t) in near_t *.
  have -> : r (weight o) * v + - (2%:R * r (weight o)) * q = r (weight o) * ((v - bit b * u) + (bit b * (u - 2%:R) - 2%:R * (q - bit b))) by ring.
  rewrite normrM -real_size; apply: ler_wpmul2l => //.
  case A: is_active active => active; last first.
    move: near_v near_t; rewrite (_ : b = false) ?mul0r ?subr0 ?sub0r; last by apply/negP => /active.
    move=> near_v near_t; apply: le_trans (ler_norm_sub _ _) _; rewrite normrM (ger0_norm (ler0n _ 2)).
    apply: le_trans (ler_add near_v (ler_wpmul2l (ler0n _ 2) near_t)) _.
    by rewrite real_mul real_whole (_ : z (Zpos 12) = 12%:R) //; by_combination (2%:R * slack_bound : R).
  rewrite real_plus real_mul.
  have eighth_is : r (Number (Zpos 1) 3) = 1 / 8%:R by rewrite NumberOrder.realE /= -natrX.
  have part : `|bit b * (u - 2%:R)| <= 1 / 8%:R.
    case: (b) empty => empty; last by rewrite mul0r normr0; nonnegative.
    rewrite [true%:R * _]mul1r /u; have [-> _] := numbers_right k0_lt; rewrite (empty isT isT) (_ : z (Zpos 2) = 2%:R) //.
    have -> : 2%:R + delta k0 - 2%:R = delta k0 by ring.
    exact: (near k0_lt).
  rewrite eighth_is; apply: le_trans (ler_norm_add _ _) _.
  have three : `|bit b * (u - 2%:R) - 2%:R * (q - bit b)| <= 1 / 8%:R + 2%:R * slack_bound.
    apply: le_trans (ler_norm_sub _ _) (ler_add part _); rewrite normrM (ger0_norm (ler0n _ 2)); apply: ler_wpmul2l => //; exact: ler0n.
  apply: le_trans (ler_add near_v three) _; rewrite real_whole (_ : z (Zpos 12) = 12%:R) //; by_combination (2%:R * slack_bound : R).
Qed.

Let gates_from k0 oss bss j : opened_from k0 oss bss -> rows_from j (flatten oss) ->
  [/\ forall k, \sum_(t <- gate_terms c n_rows j (flatten oss)) r t.1 * speed k t.2 = terms_speed k k0 oss bss,
      `|\sum_(t <- gate_terms c n_rows j (flatten oss)) r t.1 * value t.2| <= \sum_(o <- flatten oss) r (gate_noise constants is_active o)
    & forall e, List.In e (gate_facts c n_rows j (flatten oss)) -> sound e].
Proof.
have terms_cat os : forall j os', gate_terms c n_rows j (os ++ os') = gate_terms c n_rows j os ++ gate_terms c n_rows (j + size os) os'.
  elim: os => [|o os IH] j' os' /=; first by rewrite addn0.
  by rewrite IH addSnnS catA.
have facts_cat os : forall j os', gate_facts c n_rows j (os ++ os') = gate_facts c n_rows j os ++ gate_facts c n_rows (j + size os) os'.
  by elim: os => [|o os IH] j' os' /=; rewrite ?addn0 // IH addSnnS.
elim: oss k0 bss j => [|os oss IH] k0 [|bs bss] j //=.
  by move=> _ _; split=> // [k|]; rewrite !big_nil ?normr0.
case=> k0_lt ops more right.
have right1 : rows_from j os.
  move=> o i E; apply: right; rewrite List.nth_error_app1 //; apply/List.nth_error_Some; by rewrite E.
have right2 : rows_from (j + size os) (flatten oss).
  move=> o i E; rewrite -addnA; apply: right.
  rewrite List.nth_error_app2; last by apply/ssrnat.leP; rewrite -[List.length os]/(size os) leq_addr.
  by rewrite (_ : Nat.sub (size os + i) (List.length os) = i) // -[List.length os]/(size os); exact: addKn.
have [speed1 value1 facts1] := gates_of_unit k0_lt ops right1; have [speed2 value2 facts2] := IH _ _ _ more right2.
split=> [k||e].
- by rewrite terms_cat big_cat /= speed1 speed2.
- by rewrite terms_cat !big_cat /=; apply: le_trans (ler_norm_add _ _) (ler_add value1 value2).
by rewrite facts_cat => in_e; case: (in_either in_e); [exact: facts1 | exact: facts2].
Qed.

Let all_rows : rows_from 0 (openings p).
Proof.
move=> o i E; have o_in := List.nth_error_In _ _ E; have [val_g tan_g] := gates_right E.
by split=> // [|t]; [exact: opens_small | exact: settles_small].
Qed.

(** *** Every fact is sound *)

Let every_stands s : List.In s (plan_signals c constants rows p) -> exists b b0, stands s b b0.
Proof.
have [cs [oss [P O A S [parts_is _]]]] := split_plan; have [stop_right run rest] := parts_right P.
have one_run : stand_all c margin largest val tan [:: running cs] [:: is_running] [:: is_running] by [].
have carried_right := all_of_stands rows_right large one_run A.
have [oss' [bss [flat _ ops _]]] := all_opened true.
have open_right o : List.In o (openings p) -> exists k b, opened k o b.
  rewrite flat; elim: oss' 0%N bss ops {flat} => [|os oss' IH] k [|bs bss] //= [_ ops more] in_o.
  case: (in_either in_o) => [|in_o']; last exact: IH more in_o'.
  elim: os bs ops {in_o} => [|o' os IHo] [|b bs] //= [op ops] [<-|]; [by exists k, b | exact: IHo ops].
move=> in_s; case: (in_either in_s) => {}in_s.
  have : exists i, nth None ws i = Some s.
    elim: ws in_s => //= -[t|] ss IH; last by move/IH=> [i E]; exists i.+1.
    by case=> [->|/IH[i E]]; [exists 0%N | exists i.+1].
  by case=> i E; have [_ _ right] := hold; exists (nth false (wires c st query) i), (nth false (wires c st [::]) i); exact: right.
case: (in_either in_s) => {}in_s.
  have : exists2 i, (i < n_inputs c)%N & query_signal c constants rows i = Some s.
    have every i : (i \in iota 0 (n_inputs c))%N -> (i < n_inputs c)%N by rewrite mem_iota.
    elim: (iota 0 _) every in_s => //= i is_ IH every; case Q: query_signal => [t|] /=.
      case=> [<-|]; first by exists i => //; apply: every; rewrite mem_head.
      by apply: IH => j j_in; apply: every; rewrite inE j_in orbT.
    by apply: IH => j j_in; apply: every; rewrite inE j_in orbT.
  by case=> i i_lt Q; exists (nth false query i), false; exact: query_stands i_lt Q.
case: (in_either in_s) => {}in_s.
  move: in_s; rewrite parts_is; case: ifP rest => sampled [].
    move=> tak dro full_is [<-|[<-|[<-|[<-|[<-|//]]]]]; do 2 eexists; try eassumption.
    by rewrite full_is; exact: full_stands.
  by move=> -> -> -> [<-|[<-|[<-|[<-|[<-|//]]]]]; do 2 eexists; eassumption.
case: (in_either in_s) => {}in_s.
  by have [o o_in ->] := in_map in_s; have [k [b [_ [b0 right] _ _]]] := open_right o o_in; exists b, b0.
case: (in_either in_s) => {}in_s.
  have [o o_in E] : exists2 o, List.In o (openings p) & settles o = Some s.
    elim: (openings p) in_s => //= o os IH; case S': (settles o) => [t|] /=.
      by case=> [<-|/IH[o' o'_in E]]; [exists o => //; left | exists o' => //; right].
    by move=> /IH[o' o'_in E]; exists o' => //; right.
  by have [k [b [_ _ right _]]] := open_right o o_in; move: right; rewrite E => -[b0 right]; exists b, b0.
move: S; rewrite /answer_signals; case: (answer c) => [a|[E]]; last by rewrite -E in in_s.
case L: literal_signal => [t|//] /=; have right_t := literal_stands hold L; have not_t := negated_stands right_t.
case H1: all_of => [h1|//]; case H0: all_of => [h0|//] [E]; rewrite -E in in_s.
case: in_s => [<-|[<-|//]].
  have two : stand_all c margin largest val tan [:: stop cs; t] [:: has_halted c st; literal_value (wires c st query) a] [:: has_halted c st; bit_of a] by [].
  by have := all_of_stands rows_right large two H1; exists (all id [:: has_halted c st; literal_value (wires c st query) a]), (all id [:: has_halted c st; bit_of a]).
have two : stand_all c margin largest val tan [:: stop cs; negated t] [:: has_halted c st; ~~ literal_value (wires c st query) a] [:: has_halted c st; ~~ bit_of a] by [].
by have := all_of_stands rows_right large two H0; exists (all id [:: has_halted c st; ~~ literal_value (wires c st query) a]), (all id [:: has_halted c st; ~~ bit_of a]).
Qed.

Theorem plan_sound e : List.In e (plan_facts c constants rows n_rows p) -> sound e.
Proof.
move=> in_e; case: (in_either in_e) => {}in_e.
  have [fs fs_in e_in] := in_flatten in_e; have [k k_in fs_is] := in_map fs_in; rewrite fs_is in e_in.
  by apply: memory_sound e_in; have [_ /ssrnat.ltP] := proj1 (List.in_seq _ _ _) k_in.
case: (in_either in_e) => {}in_e.
  have [fs fs_in e_in] := in_flatten in_e; have [s s_in fs_is] := in_map fs_in; rewrite fs_is in e_in.
  have [b [b0 right]] := every_stands s_in.
  have small : r (slack s) <= eighth.
    apply: le_trans (slacks_small s_in) (le_trans slack_small _); rewrite /MlpSignals.eighth; by_combination (7%:R / 64%:R : R).
  by case: e_in => [<-|]; [exact: passed_sound right small | case: right => _ _ _; apply].
have [oss [bss [flat _ ops _]]] := all_opened true; rewrite flat in in_e.
have right := all_rows; rewrite flat in right.
by have [_ _] := gates_from ops right; apply.
Qed.

(** *** The output and its slopes *)

Definition target : R := high * bit is_running + bit (has_halted c st) * (if says c st query is Some b then label_value b else 0).

Theorem plan_value : `|value (plan_output c constants n_rows p) - target| <= r (plan_noise constants is_active p).
Proof.
have [cs [oss' [P _ A S [_ _]]]] := split_plan; have [stop_right run _] := parts_right P.
have one_run : stand_all c margin largest val tan [:: running cs] [:: is_running] [:: is_running] by [].
have [near_c _ _ _] := all_of_stands rows_right large one_run A; rewrite /= andbT in near_c.
have [oss [bss [flat _ ops _]]] := all_opened true.
have right := all_rows; rewrite flat in right.
have [_ near_g _] := gates_from ops right; rewrite -flat in near_g.
have near_s : `|\sum_(t <- [seq (o.2, reading o.1) | o <- zip (said p) [:: one; minus_one]]) r t.1 * value t.2 -
    bit (has_halted c st) * (if says c st query is Some b then label_value b else 0)| <= r (slack_of (said p)).
  move: S; rewrite /answer_signals /says; case: (answer c) => [a|[<-]] /=; last by rewrite big_nil mulr0 subrr normr0 real_slack big_nil.
  case L: literal_signal => [t|//] /=; have right_t := literal_stands hold L; have not_t := negated_stands right_t.
  case H1: all_of => [h1|//]; case H0: all_of => [h0|//] [<-].
  have two1 : stand_all c margin largest val tan [:: stop cs; t] [:: has_halted c st; literal_value (wires c st query) a] [:: has_halted c st; bit_of a] by [].
  have two0 : stand_all c margin largest val tan [:: stop cs; negated t] [:: has_halted c st; ~~ literal_value (wires c st query) a] [:: has_halted c st; ~~ bit_of a] by [].
  have [n1 _ _ _] := all_of_stands rows_right large two1 H1; have [n0 _ _ _] := all_of_stands rows_right large two0 H0.
  rewrite /= !andbT in n1 n0; rewrite /= !big_cons big_nil /= real_one real_minus_one real_slack !big_cons big_nil !addr0.
  set h := has_halted c st in n1 n0 *; set w := literal_value _ _ in n1 n0 *.
  have -> : 1 * value (reading h1) + -1 * value (reading h0) - bit h * label_value w =
      (value (reading h1) - bit (h && w)) - (value (reading h0) - bit (h && ~~ w)).
    by rewrite (_ : bit h * label_value w = bit (h && w) - bit (h && ~~ w)); [ring | rewrite /label_value; case: (h); case: (w); rewrite /= ?mul0r ?mul1r ?subr0 ?sub0r ?subrr].
  exact: le_trans (ler_norm_sub _ _) (ler_add n1 n0).
have noise : r (sum_of [seq gate_noise constants is_active o | o <- openings p]) = \sum_(o <- openings p) r (gate_noise constants is_active o).
  by rewrite real_sum big_map.
rewrite /plan_output mix_value add0r big_cons big_cat [(_, _).1]/= [(_, _).2]/= /target real_reduce !real_plus real_mul noise.
set a := value (reading _) in near_c *; set s := \sum_(t <- [seq _ | _ <- _]) _ in near_s *.
set g := \sum_(t <- gate_terms _ _ _ _) _ in near_g *.
have -> : high * a + (s + g) - (high * bit is_running + bit (has_halted c st) * (if says c st query is Some b then label_value b else 0)) =
    high * (a - bit is_running) + ((s - bit (has_halted c st) * (if says c st query is Some b then label_value b else 0)) + g) by ring.
apply: le_trans (ler_norm_add _ _) (ler_add _ (le_trans (ler_norm_add _ _) (ler_add near_s near_g))).
by rewrite normrM (ger0_norm carrier_ge0); exact: ler_wpmul2l.
Qed.

Let terms_speed_at k k0 oss bss : opened_from k0 oss bss ->
  terms_speed k k0 oss bss = if (k0 <= k)%N then pull (nth [::] oss (k - k0)) (nth [::] bss (k - k0)) else 0.
Proof.
elim: oss k0 bss => [|os oss IH] k0 [|bs bss] //=; first by rewrite !nth_nil if_same.
case=> _ _ /IH ->; case: ltngtP => [lt|gt|<-]; rewrite ?mul0r ?add0r ?mul1r ?addr0 ?subnn //=.
by rewrite -[(k - k0)%N]prednK ?subn_gt0 //= -subnS.
Qed.

Theorem plan_speed y k : (k < n_memory c)%N -> pulls_right k y (speed k (plan_output c constants n_rows p)).
Proof.
move=> k_lt; have [cs [oss' [P _ A S [_ _]]]] := split_plan; have [stop_right run _] := parts_right P.
have one_run : stand_all c margin largest val tan [:: running cs] [:: is_running] [:: is_running] by [].
have [_ still_c _ _] := all_of_stands rows_right large one_run A.
have [oss [bss [flat _ ops pulls]]] := all_opened y.
have right := all_rows; rewrite flat in right; have [speeds _ _] := gates_from ops right; rewrite -flat in speeds.
have still_s : \sum_(t <- [seq (o.2, reading o.1) | o <- zip (said p) [:: one; minus_one]]) r t.1 * speed k t.2 = 0.
  have every s : List.In s (said p) -> speed k (reading s) = 0.
    by move=> s_in; have [|b [b0 []]] := every_stands (s := s); first by do 5 apply: in_right.
  case: (said p) every => [|s1 [|s0 ss]] every; rewrite /= ?big_nil //.
    by rewrite big_cons big_nil (every s1 (or_introl erefl)) mulr0 addr0.
  by case: ss every => [|s2 ss] every; rewrite !big_cons big_nil (every s1 (or_introl erefl)) (every s0 (or_intror (or_introl erefl))) !mulr0 !addr0.
rewrite /plan_output speed_mix big_cons big_cat [(_, _).2]/= still_c mulr0 [X in _ + (X + _)]still_s !add0r speeds terms_speed_at // subn0.
exact: pulls.
Qed.

End Plan.
