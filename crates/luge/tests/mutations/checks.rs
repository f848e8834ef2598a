//! The checks that catch the faults: each holds as long as nothing is planted, and panics where it does not.

use std::ops::ControlFlow;

use luge::{
    Data, Source, TrainJob, TrainingOptions, data::PrepareOptions as DataOptions,
    run::engine::EngineChoice as PrepareOptions, trace::TraceOptions,
};
use luge_landscape::{
    Carrier, ConstantOptions, ExternalConstants, Landscape, LandscapeKind, LandscapeOptions, VertexSet,
};
use luge_machine::{Input, Machine, SymbolId, TapeInput, formats::Format, parse_inputs};
use luge_net::{
    Arcs, Form, GraphBuilder, LinearMap, Network, NumberFormat, Op, Shape, Values, evaluate, evaluate_node,
    numbers,
    quantizer::{dequantize, quantize},
};
use luge_train::{
    CacheLevel, Dense, Engine, Exact, Precision, ROUNDING, Rate, Sparse, SpotCheck, TrainError, best_vertex,
};

use crate::{
    Run,
    classroom::{Classroom, written},
    shipped::{Verdict, certify},
};

/// A learner on two tracks, whose heads move apart, that halts after a few steps.
const LEARNER: &str = "machine\ntape data: 0 1 blank 0 read-only\ntape theta: 0 1 blank 0\nstart: first\nfirst:\n  * * -> * 1, R S, seek\nseek:\n  0 * -> * 0, R R, seek\n  1 * -> * 1, S R, last\nlast:\n  * 0 -> * 1, R L, back\n  * 1 -> * 0, L S, back\nback:\n  * * -> * 1, L R, wait\nwait:\n  * * -> * *, R L, done\ndone: accept\n";

const DATA: &str = "x,y\n-2,-2\n-1,1\n";

/// One tape, four states, moves both ways.
const FOUR_STATES: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";

fn classroom((kind, carrier, engine): Run, vertices: VertexSet) -> Classroom {
    let mut room = Classroom::new(written(LEARNER), DATA, "fix:2.0").on(kind, carrier);
    (room.options.engine, room.options.vertices) = (engine, vertices);
    room
}

/// The certificate that `luge train learner.tm --data data.csv --target y` prints with these options, and nothing else.
pub(crate) fn certificate((landscape, carrier, engine): Run, vertices: VertexSet) -> Verdict {
    let source =
        Source { name: "learner.tm".to_owned(), text: LEARNER.to_owned(), extension: Some("tm".to_owned()) };
    let data = Data::Csv {
        name: "data.csv".to_owned(),
        text: DATA.to_owned(),
        target: vec!["y".to_owned()],
        features: None,
        saturate: false,
        prepare: DataOptions::default(),
    };
    let mut job = TrainJob::new(source, data);
    job.options = TrainingOptions { landscape, carrier, engine, vertices, ..job.options };
    job.options.format = "fix:2.0".parse().expect("a format");
    certify(&job)
}

/// The certificate of a run that is watched step by step, as the lab does.
pub(crate) fn certificate_step_by_step() {
    let run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Exact);
    let lesson = classroom(run, VertexSet::LookedAt).lesson();
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
    assert!(report.certificate.proves_the_run());
}

fn machine(line: &str) -> Machine {
    Format::Bbchallenge.read(line).unwrap_or_else(|errors| panic!("{errors:?}")).machine
}

/// Two tapes, heads that stay, a state that follows itself.
const TWO_TAPES: &str = "machine
tape a: 0 1 blank 0
tape b: 0 1 blank 0
start: go
go:
  0 0 -> 1 1, R S, go
  1 0 -> 0 1, S R, back
  0 1 -> 1 0, L S, go
  1 1 -> 0 0, S L, end
back:
  * 0 -> * 1, L S, go
  * 1 -> * 0, S R, back
end: accept
";

/// A landscape of a machine, its parameters and inputs.
type Start = (Landscape, Vec<Values>, Vec<Values>);

fn alone(kind: LandscapeKind, constants: Option<ExternalConstants>, n_cells: usize) -> Start {
    on(&machine(FOUR_STATES), &filled(), (kind, VertexSet::LookedAt), constants, n_cells)
}

fn filled() -> Input {
    let symbols = "1101000101110".bytes().map(|digit| SymbolId(digit - b'0')).collect();
    Input { tapes: vec![TapeInput { symbols, head: 7 }] }
}

fn on_two_tapes(
    kind: (LandscapeKind, VertexSet),
    constants: Option<ExternalConstants>,
    n_cells: usize,
) -> Start {
    let machine = Format::Native.read(TWO_TAPES).unwrap_or_else(|errors| panic!("{errors:?}")).machine;
    let input = parse_inputs(&machine, &["0010110", "1101"]).expect("an input");
    on(&machine, &input, kind, constants, n_cells)
}

fn on(
    machine: &Machine,
    input: &Input,
    (kind, vertices): (LandscapeKind, VertexSet),
    constants: Option<ExternalConstants>,
    n_cells: usize,
) -> Start {
    let options =
        TraceOptions { vertices, cells: Some(n_cells), steps: Some(20), ..TraceOptions::dense(kind) };
    let plan = luge::trace::PreparedTrace::new(machine, input, &options).expect("a plan");
    let landscape = match constants {
        None => plan.landscape,
        Some(constants) => {
            let build = LandscapeOptions {
                vertices,
                unchecked: Some(constants),
                ..LandscapeOptions::new(kind, plan.window.n_cells)
            };
            Landscape::build(&plan.lowered.normal, &build).expect("a landscape")
        }
    };
    let (parameters, inputs) = landscape.encode(&plan.start).expect("a configuration");
    (landscape, parameters, inputs)
}

/// Dense and sparse, step for step: the same loss and the same path, to the last bit.
fn agree(network: &Network, parameters: &[Values], inputs: &[Values], steps: u64, at: &str) {
    let mut dense = Dense::new(network, parameters, inputs, Precision::F64, Rate::One, None).expect("dense");
    let mut sparse = Sparse::new(network, parameters, inputs).expect("layers");
    for step in 0..steps {
        let losses = (dense.loss().expect("a loss"), sparse.loss().expect("a loss"));
        assert_eq!(losses.0.to_bits(), losses.1.to_bits(), "{at}, step {step}");
        assert_eq!(dense.path(), sparse.path(), "{at}, step {step}");
        dense.step().expect("a gradient");
        sparse.step().expect("a gradient");
    }
}

/// Dense and sparse go the same way where constants violate the construction: by the tie rule, to vertices no edge leads
/// to, along edges backwards.
pub(crate) fn agreement_on_flat_landscapes() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu] {
        for base in [0.0625, 0.125, 0.25, 0.5, 1.0, 8.0] {
            let offset = 2.0 * (base * base * base + base) + 512.0;
            let constants = Some(ExternalConstants { base, scale: 1.0, offset });
            let two_tapes = VertexSet::ALL.map(|vertices| on_two_tapes((kind, vertices), constants, 80));
            for (landscape, parameters, inputs) in two_tapes.into_iter().chain([alone(kind, constants, 120)])
            {
                agree(landscape.network(), &parameters, &inputs, 25, &format!("{kind:?}, base {base}"));
            }
        }
    }
}

/// Dense and sparse agree until the machine has halted and stays, and where the level of rest is that of running: then
/// every slope is 0 and the tie stays.
pub(crate) fn agreement_at_rest() {
    // A halted vertex that looks at no tape is pulled elsewhere; ties need a vertex that knows all symbols.
    let all = (LandscapeKind::Compact, VertexSet::All);
    let (landscape, parameters, inputs) = on_two_tapes(all, None, 40);
    let network = landscape.network();
    agree(network, &parameters, &inputs, 25, "right constants");
    let levels = network.find("levels").expect("levels");
    let Op::Linear(map, gate) = &network.node(levels).op else { panic!("a map") };
    let Some((table, Arcs::Levels { block, symbol, .. })) = map.as_arcs() else { panic!("levels") };
    let level = LinearMap::of_vertices(table, Arcs::Levels { at_rest: 0.0, block, symbol });
    let level = network.with_op(levels, Op::Linear(level, *gate));
    agree(&level, &parameters, &inputs, 25, "no level of rest");
}

/// Dense and sparse agree where a landscape is another one: edges that rise, so that vertices no edge leads to are lower;
/// no level of rest, so that edges are followed backwards; hardly any reading, so that vertices hold other symbols than lie
/// under their heads.
pub(crate) fn agreement_on_other_landscapes() {
    let kind = |kind: LandscapeKind| (kind, VertexSet::All);
    let (landscape, parameters, inputs) =
        on(&machine(NO_LOOPS), &filled(), kind(LandscapeKind::Compact), None, 60);
    let network = landscape.network();
    let successors = network.find("successors").expect("edges");
    let Op::Linear(map, of) = &network.node(successors).op else { panic!("a map") };
    let Some((table, Arcs::Successors { block, symbol })) = map.as_arcs() else { panic!("edges") };
    let rising = LinearMap::of_vertices(table, Arcs::Successors { block: -block, symbol });
    agree(&network.with_op(successors, Op::Linear(rising, *of)), &parameters, &inputs, 20, "rising edges");

    let (landscape, parameters, inputs) =
        on(&machine(NO_LOOPS), &Input::blank(), kind(LandscapeKind::Relu), None, 60);
    agree(&weighing(landscape.network(), 1, 0.0), &parameters, &inputs, 20, "no level of rest");

    let staying = Format::Native.read(STAYING).unwrap_or_else(|errors| panic!("{errors:?}")).machine;
    let input = parse_inputs(&staying, &["0", "00000001"]).expect("an input");
    let (landscape, parameters, inputs) = on(&staying, &input, kind(LandscapeKind::Compact), None, 60);
    let n_terms = landscape.network().node(landscape.network().loss()).op.operands().len();
    let reading = weighing(landscape.network(), n_terms - 2, 1.0 / 1_048_576.0);
    agree(&reading, &parameters, &inputs, 20, "hardly any reading");
}

/// A machine none of whose states follows itself.
const NO_LOOPS: &str = "1RB1LB_1LA1RZ";

/// A machine with a head that stays and writes the same symbol again, and one that moves.
const STAYING: &str = "machine\ntape a: 0 1 blank 0\ntape b: 0 1 blank 0\nstart: go\ngo:\n  0 * -> 1 *, S R, walk\n  1 * -> 0 *, S R, walk\nwalk:\n  * 0 -> 1 *, S R, walk\n  * 1 -> * *, S S, end\nend: accept\n";

/// The landscape with one of its terms multiplied.
fn weighing(network: &Network, term: usize, by: f64) -> Network {
    let Op::Sum(terms) = &network.node(network.loss()).op else { panic!("a sum") };
    let mut terms = terms.clone();
    terms[term].0 *= by;
    network.with_op(network.loss(), Op::Sum(terms))
}

/// Exact, with remembered steps and macrosteps, and sparse end with the same weights after the same path.
pub(crate) fn remembered_steps_are_the_gradients() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let (landscape, parameters, inputs) = alone(kind, None, 64);
        let network = landscape.network();
        let stop =
            luge_train::StopRule { loss_at_most: landscape.bounds().stop, not_before: 0, most_steps: 400 };
        let mut sparse = Sparse::new(network, &parameters, &inputs).expect("layers");
        let outcome = sparse.run(&stop).expect("gradients");
        for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
            let mut exact = Exact::new(network, &parameters, &inputs, cache_level).expect("exact");
            assert_eq!(exact.run(&stop).expect("gradients"), outcome);
            assert!(exact.snapshot().trimmed() == sparse.snapshot().trimmed(), "{kind:?}, {cache_level:?}");
            assert_eq!(exact.losses(), sparse.losses(), "{kind:?}, {cache_level:?}");
        }
    }
}

/// Where no vertex is strictly lower, Frank-Wolfe stays.
pub(crate) fn ties_stay() {
    assert_eq!(best_vertex(&[0.0; 3], &[0.0, 1.0, 0.0]), None);
    assert_eq!(best_vertex(&[-1.0, -1.0, 0.0], &[0.0, 1.0, 0.0]), None);
    assert_eq!(best_vertex(&[0.0, -1.0, -1.0], &[1.0, 0.0, 0.0]), Some(1));
}

/// A head with a second, tiny weight takes it along, as the dense engine does.
pub(crate) fn tiny_weights_are_kept() {
    let (landscape, parameters, inputs) = alone(LandscapeKind::Compact, None, 64);
    let network = landscape.network();
    let mut before = Sparse::new(network, &parameters, &inputs).expect("layers").snapshot();
    before.tapes[0].head = vec![1e-20, 1.0, 1e-20];
    before.tapes[0].head_first -= 1;
    let mut sparse = Sparse::resume(network, &before, None, &inputs).expect("layers");
    sparse.step().expect("a gradient");
    let agreement = SpotCheck::new(network, &inputs, &[])
        .expect("a network that fits")
        .check(&before, &sparse.snapshot(), 0.0)
        .expect("one step");
    assert_eq!(agreement.differs, None);
}

/// Weights between the values of plain's saturated copies and beyond them are taken as the dense engine takes them.
pub(crate) fn saturated_copies_forgive() {
    let (landscape, parameters, inputs) = alone(LandscapeKind::Plain, None, 64);
    let network = landscape.network();
    let start = Sparse::new(network, &parameters, &inputs).expect("layers").snapshot();
    for (weight, beside, cell) in
        [(1.0, 0.0, 1.0), (0.8125, 0.1875, 0.5625), (0.75, 0.25, 0.5), (1.25, -0.25, 1.75)]
    {
        let mut before = start.clone();
        before.tapes[0].head = vec![weight, beside];
        before.vertices[0].1 = weight;
        let scaled: Vec<f64> = before.tapes[0].cells.iter().map(|value| value * cell).collect();
        before.tapes[0].cells = scaled.into();
        let mut sparse = Sparse::resume(network, &before, None, &inputs).expect("layers");
        let loss = sparse.loss().expect("a loss");
        sparse.step().expect("a gradient");
        let agreement = SpotCheck::new(network, &inputs, &[])
            .expect("a network that fits")
            .check(&before, &sparse.snapshot(), ROUNDING)
            .expect("one step");
        assert!(agreement.differs.is_none() && agreement.has_loss(loss), "{weight} {cell}: {agreement:?}");
    }
}

/// The switches that were read are those of the graph, at both ends and in between.
pub(crate) fn switches_are_the_graphs() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let room = classroom((kind, Carrier::Offset, PrepareOptions::Auto), VertexSet::LookedAt);
        let lesson = room.lesson();
        let (extended, inputs) = (lesson.extended(), lesson.inputs());
        let network = extended.network();
        let output = network.sparse_layers().expect("layers").output.expect("an extended network");
        let one =
            network.numbered_nodes().find(|(_, node)| matches!(&node.op, Op::Constant(v) if v.data == [1.0]));
        let one = one.expect("a constant").0;
        let bounds = extended.bounds();
        let ends =
            [bounds.stop, bounds.switch, bounds.running_low, f64::midpoint(bounds.stop, bounds.switch)];
        for level in ends.into_iter().flat_map(|end| [end * (1.0 - 1e-4), end, end * (1.0 + 1e-4)]) {
            let flat = network.with_op(extended.nodes.landscape, Op::Sum(vec![(level, one)]));
            let open = evaluate_node(&flat, extended.initial(), &inputs, extended.nodes.running).data[0];
            assert_eq!(open.to_bits(), output.running.at(level).to_bits(), "at {level}");
        }
    }
}

/// The exact engine is refused for a label with which the carrier is exact at every level but those where all symbols flip.
pub(crate) fn every_level_is_tried_for_its_gain() {
    let label = label_for("1").expect("a label that is exact at all levels but the highest");
    let room = scaled(&label.to_string());
    let lesson = room.lesson();
    let extended = lesson.extended();
    let exact = Exact::new(extended.network(), extended.initial(), &lesson.inputs(), CacheLevel::Steps);
    assert!(matches!(exact, Err(TrainError::NotExact { .. })), "{label}");
}

/// A lesson with this first label, on a landscape whose scale is 2^-9.
fn scaled(label: &str) -> Classroom {
    let csv = format!("x,y\n1,{label}\n-1,1\n");
    let mut room = Classroom::new(written(LEARNER), &csv, SCALED).on(LandscapeKind::Compact, Carrier::Offset);
    room.options.constants.scale = Some(1.0 / 512.0);
    room.options.vertices = VertexSet::All;
    room
}

/// Its numbers: up to 16, in quarters.
const SCALED: &str = "fix:5.2";

/// A number of the format with which `(z + s) - z` is s at all levels but some of those where all symbols flip.
fn label_for(first: &str) -> Option<f64> {
    let room = scaled(first);
    let lesson = room.lesson();
    let layers = lesson.extended().network().sparse_layers().ok()?;
    let Form::Slides { offset, write, read, shift, .. } = layers.form else { return None };
    let n = layers.table.n_tracks;
    let exact = |label: f64, flips: usize| {
        (0..=n).flat_map(|writes| (0..=n).map(move |moves| (writes, moves))).all(|(writes, moves)| {
            let level =
                offset + 4.0 * write * writes as f64 + 4.0 * read * flips as f64 + 2.0 * shift * moves as f64;
            let root = (2.0 * level).sqrt();
            (label + root - label).to_bits() == root.to_bits()
        })
    };
    let format: NumberFormat = SCALED.parse().ok()?;
    format
        .all_values()
        .filter(|&v| v != 0.0)
        .find(|&label| (0..n).all(|flips| exact(label, flips)) && !exact(label, n))
}

/// Steps are remembered only where constants are powers of two.
pub(crate) fn exact_needs_powers_of_two() {
    let constants = ConstantOptions { base: Some(20.0), ..ConstantOptions::default() };
    let chosen = ExternalConstants::choose(1, &constants).expect("constants");
    let (landscape, parameters, inputs) = alone(LandscapeKind::Compact, Some(chosen), 64);
    let exact = Exact::new(landscape.network(), &parameters, &inputs, CacheLevel::Steps);
    assert!(matches!(exact, Err(TrainError::NotExact { .. })));
}

/// Numbers to bits and back, natively and as the explicit networks do it.
pub(crate) fn conversions_are_the_networks() {
    for format in ["fix:2.2", "fix:3.1", "float:3.2"] {
        let format: NumberFormat = format.parse().expect("a format");
        // All numbers, and all places half way between two.
        let values: Vec<f64> = format.all_values().collect();
        let halfway = values.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
        let all: Vec<f64> = values.iter().copied().chain(halfway).collect();
        let mut g = GraphBuilder::new();
        let (_, input) = g.input("input", Shape::column(all.len()));
        let bits = quantize(&mut g, &format, input);
        let back = dequantize(&mut g, &format, bits);
        let loss = g.sum_all("loss", back);
        let evaluation = evaluate(&g.finish(loss), &[], &[Values::column(all.clone())]);
        let native = numbers::to_signs(format, &all);
        let by_network: Vec<f64> = evaluation.value(bits).data.iter().map(|bit| 2.0 * bit - 1.0).collect();
        assert_eq!(native, by_network, "{format}");
        assert_eq!(numbers::from_signs(format, &native), evaluation.value(back).data, "{format}");
    }
}

/// The recogniser reads stop-gradients and gates: a graph without them is not recognised.
pub(crate) fn what_is_missing_is_not_recognised() {
    let (landscape, _, _) = alone(LandscapeKind::Compact, None, 64);
    let network = landscape.network();
    let stop = network.find("[read ahead]").expect("a stop-gradient");
    let Op::StopGradient(of) = network.node(stop).op else { panic!("a stop-gradient") };
    let residual = network.find("read residual").expect("a residual");
    let Op::Sum(terms) = &network.node(residual).op else { panic!("a difference") };
    let unstopped =
        terms.iter().map(|&(weight, node)| (weight, if node == stop { of } else { node })).collect();
    assert!(network.with_op(residual, Op::Sum(unstopped)).sparse_layers().is_err());
    let gate = network.find("gate").expect("a gate");
    let Op::Linear(map, of) = &network.node(gate).op else { panic!("a map") };
    let other = network.with_op(gate, Op::Linear(map.clone().with_same_bias(-2.9), *of));
    assert!(other.sparse_layers().is_err());
}
