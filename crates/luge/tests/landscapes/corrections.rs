//! Section 9 of the construction: what the printed paper says fails, and what stands here instead works.

use luge::{
    run::engine::{EngineChoice, TrainingConfig},
    trace::{PreparedTrace, Trace, TraceOptions},
};
use luge_landscape::{Configuration, Corrections, Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{Alphabet, Input, Machine, Move, NormalForm, Pattern, SymbolId, Write, lowering::Moves};
use luge_net::{GraphBuilder, LinearMap, Network, Shape, StepRule, Values};
use luge_train::{Dense, Engine, Outcome, Precision, Rate};

use crate::{
    FOUR_STATES, OUTSIDE, THREE_STATES, TWO_STATES, filled, follow, lopsided, machine, options, trace,
};

fn printed(change: impl FnOnce(&mut Corrections)) -> Corrections {
    let mut corrections = Corrections::default();
    change(&mut corrections);
    corrections
}

fn plan(line: &str, input: &Input, options: &TraceOptions) -> PreparedTrace {
    PreparedTrace::new(&machine(line), input, options).expect("a plan")
}

fn argmin(slopes: &[f64]) -> usize {
    (1..slopes.len()).fold(0, |best, v| if slopes[v] < slopes[best] { v } else { best })
}

/// Item 1: Frank-Wolfe updates add (y - x); printed with a minus.
#[test]
fn frank_wolfe_adds() {
    for kind in [LandscapeKind::Internal, LandscapeKind::Compact, LandscapeKind::Relu] {
        let plan = plan(TWO_STATES, &Input::blank(), &options(kind));
        let (parameters, inputs) = plan.landscape.encode(&plan.start).expect("encoded");
        let network = plan.landscape.network();
        let engine = Dense::new(network, &parameters, &inputs, Precision::F64, Rate::One, None);
        let mut engine = engine.expect("an engine");
        let slopes = engine.gradient().expect("a gradient")[0].data.clone();
        let target = Values::unit(slopes.len(), argmin(&slopes));
        let x = &parameters[0].data;
        let minus: Vec<f64> = x.iter().zip(&target.data).map(|(x, y)| x - (y - x)).collect();
        let plus: Vec<f64> = x.iter().zip(&target.data).map(|(x, y)| x + (y - x)).collect();

        engine.step().expect("a step");
        let stepped = engine.parameters().expect("parameters");
        assert_eq!(stepped[0].data, plus, "{kind:?}");
        assert!(plan.landscape.decode(&stepped, &inputs).is_ok(), "{kind:?}");
        assert!(minus.iter().any(|&x| x < 0.0), "{kind:?}: still on the simplex");
        let mut away = stepped.clone();
        away[0].data = minus;
        assert!(plan.landscape.decode(&away, &inputs).is_err(), "{kind:?}");
    }
}

/// Steps and ones of a run of the network alone.
fn steps_and_ones(
    line: &str,
    input: &Input,
    kind: LandscapeKind,
    corrections: Corrections,
) -> (Outcome, usize) {
    let options = TraceOptions { corrections, cells: Some(80), ..options(kind) };
    let plan = plan(line, input, &options);
    let (outcome, iterates) = follow(&plan.landscape, &plan.start, Precision::F64, None, 300);
    let end = iterates.last().expect("an iterate").as_ref().expect("a configuration");
    (outcome, end.tapes[0].iter().filter(|&&one| one).count())
}

/// Item 2: shift uses `H_{i - delta_3}`; printed `i + delta_3`, which mirrors the tape. A blank tape does not notice.
#[test]
fn heads_move_the_right_way() {
    let mirrored = printed(|c| c.forward_shift = false);
    for kind in OUTSIDE {
        for (line, steps, ones) in [(TWO_STATES, 6, 4), (THREE_STATES, 21, 5), (FOUR_STATES, 107, 13)] {
            for corrections in [Corrections::default(), mirrored] {
                let found = steps_and_ones(line, &Input::blank(), kind, corrections);
                assert_eq!(found, (Outcome::Converged { steps }, ones), "{line}, {kind:?}, {corrections:?}");
            }
        }
        let run = |corrections| steps_and_ones(FOUR_STATES, &lopsided(), kind, corrections);
        assert_eq!(run(Corrections::default()), (Outcome::Converged { steps: 75 }, 11), "{kind:?}");
        // What the machine with left and right exchanged does on this tape.
        assert_eq!(run(mirrored), (Outcome::Converged { steps: 49 }, 12), "{kind:?}");
        // Held against the simulator, even the blank tape shows it.
        let options = TraceOptions { corrections: mirrored, cells: Some(80), ..options(kind) };
        let trace = trace(&machine(FOUR_STATES), &Input::blank(), &options);
        assert_eq!(trace.first_mismatch.expect("mirrored at once").step, 1, "{kind:?}");
    }
}

/// Item 3: the sums over edges of A run over unordered pairs; printed over ordered ones, and A never moves.
#[test]
fn edges_of_landscape_a_count_once() {
    for rate in [Rate::One, Rate::LineSearch] {
        let ordered = printed(|c| c.unordered_pairs = false);
        let options = TraceOptions {
            manner: TrainingConfig { rate, ..TrainingConfig::by(EngineChoice::Dense) },
            ..options(LandscapeKind::Internal)
        };
        assert!(trace(&machine(TWO_STATES), &Input::blank(), &options).matches_machine());
        let options = TraceOptions { corrections: ordered, ..options };
        let stuck = trace(&machine(TWO_STATES), &Input::blank(), &options);
        assert_eq!(stuck.outcome, Outcome::StepLimit { steps: 6 });
        assert_eq!(stuck.mismatches, 6, "every iterate after the first is still the first");
        assert_eq!((stuck.loss.min, stuck.loss.max), (stuck.loss.first, stuck.loss.first));
    }
}

/// `|z - 1|^2 / 2`, and a slope down to the last vertex as soon as the label z has arrived: the first steps of every
/// extended network, where no vertex is better than another before the labels are copied.
fn waits_for_label() -> Network {
    let mut g = GraphBuilder::new();
    let (_, x) = g.parameter("vertex", Shape::column(3), StepRule::Simplex);
    let (_, z) = g.parameter("label", Shape::SCALAR, StepRule::Gradient { rate: 1.0 });
    let residual = g.affine("residual", 1.0, z, -1.0);
    let square = g.square("square", residual);
    let arrived = g.affine("arrived", 1.0, z, -0.5);
    let slope = g.linear("slope", LinearMap::new(1, 3, [(0, 0, -1.0), (0, 2, -2.0)]), x);
    let zero = g.scalar("zero", 0.0);
    let slope = g.select("slope", arrived, slope, zero);
    let loss = g.sum("loss", [(0.5, square), (1.0, slope)]);
    g.finish(loss)
}

/// Item 4: ties stay. Printed, any minimiser will do, and at step 0 every vertex is one.
#[test]
fn ties_stay() {
    let network = waits_for_label();
    let start = [Values::unit(3, 1), Values::column(vec![0.0])];
    let engine = Dense::new(&network, &start, &[], Precision::F64, Rate::One, None);
    let mut engine = engine.expect("an engine");
    let slopes = engine.gradient().expect("a gradient")[0].data.clone();
    assert_eq!(slopes, [0.0; 3]);
    assert_ne!(argmin(&slopes), 1, "printed: the first minimiser is not the start");
    engine.step().expect("a step");
    assert_eq!(engine.parameters().expect("parameters"), [Values::unit(3, 1), Values::column(vec![1.0])]);
    engine.step().expect("a step");
    assert_eq!(engine.parameters().expect("parameters")[0], Values::unit(3, 2));
}

/// A trace on the ReLU form with this many copies of every state.
fn with_copies(line: &str, n_copies: u32, no_self_edges: bool) -> Trace {
    let corrections = printed(|c| (c.n_copies, c.no_self_edges) = (n_copies, no_self_edges));
    let options = TraceOptions { corrections, steps: Some(40), ..options(LandscapeKind::Relu) };
    trace(&machine(line), &filled("0000010110001", 1), &options)
}

/// Item 11: the ReLU form needs three copies of every state; with two, v -> w -> v bends the slopes.
#[test]
fn states_are_tripled() {
    for line in [WALKER, TWO_STATES, THREE_STATES, FOUR_STATES] {
        for no_self_edges in [true, false] {
            let tripled = with_copies(line, 3, no_self_edges);
            assert!(
                tripled.matches_machine() && tripled.bounds_held,
                "{line}: three copies have no self-edges anyway"
            );
        }
        for n_copies in [1, 2] {
            assert!(with_copies(line, n_copies, true).mismatches > 0, "{line}: {n_copies} copies");
        }
    }
}

/// Walks right over zeros; with a single copy of every state, from a vertex to itself.
const WALKER: &str = "1RA1RZ_---1RZ";

/// Item 11: with v = w in the sum over edges the loss at a running vertex lies as low as at a halted one, and training
/// stops before it has begun.
#[test]
fn edges_lead_elsewhere() {
    let stopped = with_copies(WALKER, 1, false);
    assert_eq!(stopped.outcome, Outcome::Converged { steps: 0 });
    assert!(!stopped.matches_machine() && !stopped.bounds_held);
    let stuck = with_copies(WALKER, 1, true);
    assert_eq!(stuck.first_mismatch.expect("no way leads on").step, 1);
    // The compact form has self-edges that change no level, and needs no copies.
    let options = TraceOptions { steps: Some(40), ..options(LandscapeKind::Compact) };
    let compact = trace(&machine(WALKER), &filled("0000010110001", 1), &options);
    assert!(compact.matches_machine() && compact.bounds_held);
}

fn halted(landscape: &Landscape, machine: &Machine) -> (Vec<Values>, Vec<Values>) {
    let state = machine.find_state("Z").expect("a halting state");
    let tapes = vec![vec![false, true, true, false, true, false, false]];
    landscape.encode(&Configuration { state, tapes, heads: vec![4] }).expect("encoded")
}

/// Item 12: halting situations write what they read and stay. Printed, delta_2 and delta_3 are undefined there.
#[test]
fn halting_is_a_fixed_point() {
    let machine = machine(TWO_STATES);
    let normal = NormalForm::new(machine.clone()).expect("binary");
    for kind in OUTSIDE {
        let after_a_step = |corrections: Corrections| {
            let options = LandscapeOptions { corrections, ..LandscapeOptions::new(kind, 7) };
            let landscape = Landscape::build(&normal, &options).expect("built");
            let (before, inputs) = halted(&landscape, &machine);
            let network = landscape.network();
            let engine = Dense::new(network, &before, &inputs, Precision::F64, Rate::One, None);
            let mut engine = engine.expect("an engine");
            engine.step().expect("a step");
            (before, engine.parameters().expect("parameters"))
        };
        let (before, after) = after_a_step(Corrections::default());
        assert_eq!(before, after, "{kind:?}");
        let (before, after) = after_a_step(printed(|c| c.halting_stays = false));
        assert_ne!(before[1], after[1], "{kind:?}: the tape under the head");
        assert_ne!(before[2], after[2], "{kind:?}: the head");
    }
}

/// Turns the 0s before the first 1 into 1s, but stays on each cell for a step after writing it.
fn lingering() -> Machine {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    let [zero, one] = [SymbolId(0), SymbolId(1)];
    let (write, look, halt) = (b.state("write"), b.state("look"), b.halting_state("halt", true));
    b.rule(write, [Pattern::Is(zero)], [Write::Put(one)], [Move::Stay], look);
    b.rule(write, [Pattern::Is(one)], [Write::Put(zero)], [Move::Left], halt);
    b.rule(look, [Pattern::Is(one)], [Write::Keep], [Move::Right], write);
    b.rule(look, [Pattern::Is(zero)], [Write::Keep], [Move::Left], look);
    b.build().expect("valid")
}

/// Item 16: stay moves need the tape after the write. Where every head moves the printed read is as good.
#[test]
fn staying_heads_read_what_was_written() {
    let input = filled("0001", 0);
    let before_write = printed(|c| c.write_through_read = false);
    for kind in OUTSIDE {
        assert!(trace(&lingering(), &input, &options(kind)).matches_machine(), "{kind:?}");
        let printed = TraceOptions { corrections: before_write, steps: Some(7), ..options(kind) };
        let failed = trace(&lingering(), &input, &printed);
        assert_eq!(failed.first_mismatch.expect("the first stay").step, 1, "{kind:?}");
        let strict = TraceOptions { corrections: before_write, moves: Moves::Strict, ..options(kind) };
        assert!(
            trace(&lingering(), &input, &strict).matches_machine(),
            "{kind:?}: nothing stays in strict mode"
        );
        let printed = TraceOptions { corrections: before_write, ..options(kind) };
        assert!(trace(&machine(FOUR_STATES), &Input::blank(), &printed).matches_machine(), "{kind:?}");
    }
}
