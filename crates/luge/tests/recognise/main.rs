//! No number, operand or stop-gradient of a graph can change without the fast engines noticing: either the sparse layers
//! are not recognised any more, or sparse and dense go the same way, weight for weight. Every node of every kind of network
//! is changed in every way below, one at a time.

#[path = "../extended/classroom.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod classroom;

mod changes;
mod streams;

use changes::{StepDelta, all_changes};
use classroom::Classroom;
use luge::trace::{PreparedTrace, TraceOptions};
use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::{Input, formats::Format, parse_inputs};
use luge_net::{Network, SparseValues, Values};
use luge_train::{CacheLevel, Dense, Engine, Exact, Precision, Rate, Snapshot, Sparse};

/// A head's weight beyond which its products are no longer comparable.
const EXPLODED: f64 = 16.0;

/// Steps over which engines are compared.
const N_STEPS: u64 = 9;

/// Where numbers are rounded in different order, weights may differ by this much, or relatively so.
const TOLERANCE: f64 = 1e-9;

/// A loss beyond all that a landscape here can have.
const DIVERGED: f64 = 1e8;

/// How one altered network fared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Noticed {
    /// The graph is not recognised, or the engine stopped with an error.
    Refused,
    /// The engine went where the dense engine went.
    Followed,
}

/// A network and where its training begins.
struct Case {
    network: Network,
    parameters: Vec<Values>,
    inputs: Vec<Values>,
}

/// Whether a head's next move may take some of its weight out of the network's matrices: tapes of the fast engines have no
/// ends, but the dense one loses what is moved beyond them.
fn at_the_edge(snapshot: &Snapshot, network: &Network) -> bool {
    let Some(head) = network.parameters().iter().find(|parameter| parameter.name == "head") else {
        return false;
    };
    let last = head.shape.cols as i64 - 1;
    snapshot.tapes.iter().any(|tape| {
        let end = tape.head_first + tape.head.len() as i64 - 1;
        tape.head_first <= 0 || end >= last
    })
}

impl Case {
    fn dense<'n>(&self, network: &'n Network) -> Dense<'n> {
        Dense::new(network, &self.parameters, &self.inputs, Precision::F64, Rate::One, None)
            .expect("an engine")
    }

    /// What a fast engine does on an altered network.
    fn notice(&self, network: &Network, change: &StepDelta, engine: Option<Box<dyn Engine + '_>>) -> Noticed {
        let Some(mut engine) = engine else { return Noticed::Refused };
        let mut dense = self.dense(network);
        let shift = vec![0; engine.snapshot().tapes.len()];
        let forgives = engine.name() == "exact" && engine.rounding() > 0.0;
        for step in 0..=N_STEPS {
            // A run that leaves the network's cells continues without it.
            let Some(weights) = engine.snapshot().parameters_of(network, &shift) else { break };
            if at_the_edge(&engine.snapshot(), network) {
                break;
            }
            let Ok(found) = engine.loss() else { return Noticed::Refused };
            let expected = dense.loss().expect("a loss");
            // What explodes also magnifies the rounding of either engine: heads whose weights alternate and grow.
            if engine
                .snapshot()
                .tapes
                .iter()
                .flat_map(|tape| &tape.head)
                .any(|weight| weight.abs() > EXPLODED)
            {
                break;
            }
            let beyond = |loss: f64, most: f64| loss.is_nan() || loss.abs() > most;
            if beyond(expected, DIVERGED) {
                let too = beyond(found, DIVERGED / 2.0);
                assert!(too, "{change}: {found} where dense explodes, step {step}");
                break;
            }
            // On landscapes that forgive, remembered steps are those of weights without errors.
            let tolerance = if forgives { TOLERANCE + engine.rounding() } else { TOLERANCE };
            let near = |a: f64, b: f64| (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0);
            assert!(
                forgives || near(expected, found),
                "{change}: loss {expected}, {found} in {}, step {step}",
                engine.name()
            );
            for (block, (a, b)) in dense.parameters().expect("weights").iter().zip(&weights).enumerate() {
                let far = a.data.iter().zip(&b.data).position(|(&a, &b)| !near(a, b));
                if let Some(at) = far {
                    let (name, kind) = (&network.parameters()[block].name, engine.name());
                    let (a, b) = (a.data[at], b.data[at]);
                    panic!("{change}: {name}[{at}] is {a} in dense, {b} in {kind}, step {step}");
                }
            }
            if engine.step().is_err() {
                return Noticed::Refused;
            }
            dense.step().expect("a gradient");
        }
        Noticed::Followed
    }
}

/// Changes everything in a network, one thing at a time; returns how many changes were refused and how many followed.
fn check(case: &Case) -> (usize, usize) {
    case.network.sparse_layers().expect("recognised before anything changes");
    let (mut n_refused, mut n_followed) = (0, 0);
    for (change, network) in all_changes(&case.network) {
        let fast = Sparse::new(&network, &case.parameters, &case.inputs).ok();
        let refused = fast.is_none();
        let sparse = case.notice(&network, &change, fast.map(|e| Box::new(e) as Box<dyn Engine>));
        if !refused {
            let exact = Exact::new(&network, &case.parameters, &case.inputs, CacheLevel::Steps).ok();
            case.notice(&network, &change, exact.map(|e| Box::new(e) as Box<dyn Engine>));
        }
        n_refused += usize::from(sparse == Noticed::Refused);
        n_followed += usize::from(sparse == Noticed::Followed);
    }
    (n_refused, n_followed)
}

/// One tape: moves either way, stays, a self-loop, a state that only halts.
const ONE_TAPE: &str = "machine\ntape a: 0 1 blank 0\nstart: go\ngo:\n  0 -> 1, R, go\n  1 -> 0, S, back\nback:\n  0 -> 1, L, back\n  1 -> 1, R, end\nend: accept\n";

/// No state follows itself.
const NO_LOOP: &str = "machine\ntape a: 0 1 blank 0\nstart: go\ngo:\n  0 -> 1, R, back\n  1 -> 0, S, back\nback:\n  0 -> 1, L, go\n  1 -> 1, R, end\nend: accept\n";

/// Two tapes, one of them read-only, heads that move apart.
const TWO_TAPES: &str = "machine\ntape a: 0 1 blank 0 read-only\ntape b: 0 1 blank 0\nstart: go\ngo:\n  0 0 -> * 1, R L, go\n  1 0 -> * 1, R R, back\n  0 1 -> * 0, L S, go\n  1 1 -> * 0, S L, end\nback:\n  * 0 -> * 1, L L, go\n  * 1 -> * 0, R R, go\nend: accept\n";

fn alone(text: &str, inputs: &[&str], kind: LandscapeKind) -> Case {
    let machine = Format::Native.read(text).unwrap_or_else(|errors| panic!("{errors:?}")).machine;
    let input: Input = parse_inputs(&machine, inputs).expect("an input");
    let options = TraceOptions { steps: Some(N_STEPS), cells: Some(32), ..TraceOptions::dense(kind) };
    let plan = PreparedTrace::new(&machine, &input, &options).expect("a plan");
    let (parameters, inputs) = plan.landscape.encode(&plan.start).expect("a configuration");
    Case { network: plan.landscape.network().clone(), parameters, inputs }
}

/// A learner on two tracks that halts after a few steps.
const LEARNER: &str = "machine\ntape data: 0 1 blank 0 read-only\ntape theta: 0 1 blank 0\nstart: first\nfirst:\n  * * -> * 1, R S, seek\nseek:\n  0 * -> * 0, R R, seek\n  1 * -> * 1, S R, last\nlast:\n  * 0 -> * 1, R L, done\n  * 1 -> * 0, L S, done\ndone: accept\n";

fn extended(kind: LandscapeKind, carrier: Carrier, label_offset: Option<f64>) -> Case {
    let mut room =
        Classroom::new(classroom::written(LEARNER), "x,y\n1,-2\n-1,1\n", "fix:2.0").on(kind, carrier);
    room.options.label_offset = label_offset;
    // Room for heads that go astray.
    room.options.cells = Some(48);
    let lesson = room.lesson();
    let extended = lesson.extended();
    let (network, mut parameters) =
        (extended.network().clone(), SparseValues::all_values(extended.initial()));
    // Away from the first cell, where dense tapes end and sparse ones do not: the data head on a 1, as at its start.
    let head = network.sparse_layers().expect("recognised").head;
    parameters[head.index()].data.fill(0.0);
    *parameters[head.index()].at_mut(0, 20) = 1.0;
    *parameters[head.index()].at_mut(1, 4) = 1.0;
    Case { network, parameters, inputs: lesson.inputs() }
}

fn check_all(cases: impl IntoIterator<Item = Case>) {
    for case in cases {
        let (n_refused, n_followed) = check(&case);
        assert!(n_refused > 200 && n_followed > 10, "{n_refused} refused, {n_followed} followed");
    }
}

fn check_alone(kind: LandscapeKind) {
    check_all([
        alone(ONE_TAPE, &["0101"], kind),
        alone(NO_LOOP, &["0101"], kind),
        alone(TWO_TAPES, &["0110", "1010"], kind),
    ]);
}

#[test]
fn compact_alone() {
    check_alone(LandscapeKind::Compact);
}

#[test]
fn relu_alone() {
    check_alone(LandscapeKind::Relu);
}

#[test]
fn plain_alone() {
    check_alone(LandscapeKind::Plain);
}

#[test]
fn compact_extended() {
    check_all(Carrier::ALL.map(|carrier| extended(LandscapeKind::Compact, carrier, None)));
}

#[test]
fn relu_extended() {
    check_all(Carrier::ALL.map(|carrier| extended(LandscapeKind::Relu, carrier, None)));
}

#[test]
fn plain_extended() {
    check_all(Carrier::ALL.map(|carrier| extended(LandscapeKind::Plain, carrier, None)));
}

#[test]
fn with_a_label_offset() {
    check_all([extended(LandscapeKind::Compact, Carrier::Offset, Some(4.0))]);
}
