(** The landscape `compact`: Frank-Wolfe on the vertices, gradient descent with rate 1/g on tapes and heads.

    <<
    omega_v  = -b^3 g on halting vertices, else 0
    omega_vw = -(b^3 + b #(j in S(q) and S(q') : t'_j = t_j)) g where w's state follows v, else 0
    gate_v = ReLU(4 x_v - 3),   dip_v = 2 ReLU(4 x_v - 7/2) - gate_v,   W = (omega_vw) off the diagonal
    write = val x + (keep x) * read(T, H)
    T+    = T + H (write - read(T, H))
    l(x,T,H) = c + sum_v omega_v gate_v + 4 sum_v gate_v (W x)_v + sum_v omega_vv dip_v
             + g/2 |read(T,[H]) - [write]|^2 + 2 b^2 g |[read(T+, shift(x) H)] - now x|^2 + g/2 |[shift(x) H] - H|^2
    >>
    The expression is the one that crates/luge-landscape builds, node by node. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Luge Require Import Number LowestTerms Expression Training Machine Encoding Terms Arcs Tapes CompactSlopes.
From Luge Require Plain.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** To the unit of each item of a list, the arcs that [f] says: from where, with which weight. *)
Definition arcs_to T (f : nat -> T -> seq (nat * number)) (items : seq T) : seq entry :=
  flatten [seq [seq (v.1, N.of_nat e.1, e.2) | e <- f (N.to_nat v.1) v.2] | v <- zip (numbers 0 items) items].

Section Compact.

(** The machine, the number of cells per tape, the places of the weights. *)
Variables (m : machine) (tau : nat) (at_ : places).

(** The hidden units that hold the read-only tapes, if there are such tapes. *)
Variable fixed : option expression.

(** The tapes in the order in which their symbols' sums are listed: any order of 0 .. d - 1. *)
Variable order : seq nat.

(** b, g and c. *)
Variables base scale offset : number.

Definition vertex : expression := Plain.vertex_weights m at_.
Definition heads : expression := Plain.head_weights m tau at_.
Definition tapes : expression := Plain.tapes m tau at_ fixed.

Let n : nat := size (table m).

(** ** The weights *)

Definition cube : number := times base (times base base).

(** omega_v of a halting vertex. *)
Definition rest_weight : number := minus (times cube scale).

(** What an edge gains for every symbol that stays the same. *)
Definition sign_weight : number := minus (times base scale).

(** How many tapes a situation looks at. *)
Definition n_looks (s : situation) : nat := count isSome (looks s).

(** omega_vv. *)
Definition self_weight (s : situation) : number := minus (times (plus cube (times base (count_of (n_looks s)))) scale).

(** ** The vertices *)

(** Whether a state looks at a tape. *)
Definition sees (q i : nat) : bool := has (fun s => (state s == q) && isSome (nth None (looks s) i)) (table m).

(** The sums over vertices: one per state, then one per state, tape that it looks at, and symbol. *)
Definition marginals : seq (nat * option (nat * bool)) :=
  [seq (q, None) | q <- iota 0 (n_states m)] ++
  flatten [seq flatten [seq [:: (q, Some (i, false)); (q, Some (i, true))] | i <- order & sees q i]
          | q <- iota 0 (n_states m)].

(** Whether a sum counts a vertex. *)
Definition in_marginal (k : nat * option (nat * bool)) (s : situation) : bool :=
  (state s == k.1) && if k.2 is Some (i, b) then nth None (looks s) i == Some b else true.

Definition n_marginals : nat := size marginals.

Definition marginal_arcs : seq entry :=
  arcs_of (fun k s => if in_marginal k s then Some one else None) marginals (table m).

(** -b^3 g for the state that follows, -b g for every symbol that stays on the tapes that both states look at. *)
Definition successor_arcs : seq entry :=
  let sums := marginals in
  arcs_to (fun _ s => if what s is Some a then
      (next a, rest_weight) ::
      pmap (fun i => if nth None (looks s) i is Some b then
               if sees (next a) i then Some (index (next a, Some (i, b)) sums, sign_weight) else None
             else None) order
    else [::]) (table m).

Definition diagonal_arcs : seq entry :=
  arcs_to (fun v s => if loops s then [:: (v, self_weight s)] else [::]) (table m).

(** The vertices that may follow themselves. *)
Definition loopers : seq (nat * situation) := [seq v <- zip (iota 0 n) (table m) | loops v.2].

Definition gate : expression :=
  Relu (Linear n (arcs_to (fun v (_ : situation) => [:: (v, four)]) (table m)) (nseq n (whole (-3))) vertex).

(** (W x)_v, through the marginals of x. *)
Definition successors : expression :=
  let sums := Linear n_marginals marginal_arcs (nseq n_marginals zero) vertex in
  let rows := Linear n successor_arcs (nseq n zero) sums in
  if loopers is [::] then rows
  else weighted (one, rows) [:: (minus_one, Linear n diagonal_arcs (nseq n zero) vertex)].

(** sum omega_v gate_v, and the gates' part of the dips. *)
Definition levels : expression :=
  Linear 1 (arcs 1 (fun _ s => if rests s then Some rest_weight
                               else if loops s then Some (minus (self_weight s)) else None) (table m))
         [:: zero] gate.

(** ReLU(4 x_v - 7/2), for every vertex that may follow itself. *)
Definition dips : expression :=
  let k := size loopers in
  Relu (Linear k (arcs_to (fun _ l => [:: (l.1, four)]) loopers) (nseq k (Number (-7) 1)) vertex).

(** The other part of the dips. *)
Definition dip_terms : seq (number * expression) :=
  if loopers is [::] then [::]
  else [:: (two, Linear 1 (arcs 1 (fun _ l => Some (self_weight l.2)) loopers) [:: zero] dips)].

Definition vertex_terms : seq (number * expression) :=
  [:: (one, levels); (four, SumAll (Product gate successors))] ++ dip_terms.

(** ** The tapes *)

(** To each tape, the symbol that a vertex sees there. *)
Definition now_arcs : seq entry := arcs (n_tapes m) (fun i s => omap sign_of (nth None (looks s) i)) (table m).

Definition now_seen : expression := from_vertices vertex (n_tapes m) now_arcs.
Definition read_now : expression := read tapes (Stop heads).
Definition written_next : expression := write m vertex read_now.
Definition heads_next : expression := moved_heads m vertex heads.
Definition read_next : expression := read_ahead m vertex heads tapes read_now.

Definition tape_terms : seq (number * expression) :=
  [:: (times half scale, squared_distance read_now (Stop written_next));
      (times two (times base (times base scale)), squared_distance (Stop read_next) now_seen);
      (times half scale, squared_distance (Stop heads_next) heads)].

(** l(x, T, H). *)
Definition compact : expression := weighted (offset, scalar one) (vertex_terms ++ tape_terms).

End Compact.
