//! The gradients training follows: against finite differences, and in closed form at the vertices.

#[path = "../../luge-machine/tests/random_machines/mod.rs"]
mod random_machines;

use std::ops::RangeInclusive;

use luge_landscape::{
    Configuration, Control, ExternalConstants, Landscape, LandscapeKind, LandscapeOptions, VertexSet,
    VertexStep,
};
use luge_machine::{
    Bits, NormalForm, StateId,
    lowering::{Moves, lower},
};
use luge_net::{
    Evaluation, GraphBuilder, LinearMap, Network, Op, Shape, StepRule, Values, evaluate, evaluate_frozen,
};
use luge_train::{Dense, Precision, Rate};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};

const N_CELLS: usize = 7;

/// Random machines with two symbols per tape, in normal form.
fn cube(base: f64) -> f64 {
    base * base * base
}

fn normal(n_tapes: RangeInclusive<usize>) -> impl Strategy<Value = NormalForm> {
    let shape = random_machines::Shape { n_tapes, n_symbols: 2..=2, start_may_halt: false, may_stay: true };
    random_machines::machine_and_input(shape)
        .prop_map(|(machine, _)| lower(&machine, Moves::Keep).expect("binary machines lower").normal)
}

fn draw<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("nothing is filtered").current()
}

fn gradient(network: &Network, parameters: &[Values], inputs: &[Values]) -> Vec<Values> {
    let engine = Dense::new(network, parameters, inputs, Precision::F64, Rate::One, None);
    engine.and_then(|mut engine| engine.gradient()).expect("a gradient")
}

/// The smallest distance of any ReLU's input from zero.
fn distance_to_kink(network: &Network, at: &Evaluation) -> f64 {
    let inputs = network.nodes().iter().filter_map(|node| match node.op {
        Op::Relu(of) => Some(at.value(of).data.iter()),
        _ => None,
    });
    inputs.flatten().fold(f64::INFINITY, |least, v| least.min(v.abs()))
}

const STEP: f64 = 1.0 / 4096.0;

/// Whether the gradient equals central differences; `None` too near a kink.
fn agrees(network: &Network, parameters: &[Values], inputs: &[Values]) -> Option<Result<(), String>> {
    let base = evaluate(network, parameters, inputs);
    // No entry enters a ReLU that is not under a stop-gradient with a weight above 4.
    if distance_to_kink(network, &base) < 8.0 * STEP {
        return None;
    }
    let found = gradient(network, parameters, inputs);
    let steepest = found.iter().flat_map(|g| &g.data).fold(1.0_f64, |most, slope| most.max(slope.abs()));
    for (block, slopes) in found.iter().enumerate() {
        for (entry, &slope) in slopes.data.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = parameters.to_vec();
                moved[block].data[entry] += step;
                evaluate_frozen(network, &moved, inputs, Some(&base)).loss()
            };
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            if (slope - difference).abs() > 1e-7 * steepest {
                let name = &network.parameters()[block].name;
                return Some(Err(format!(
                    "{name}, entry {entry}: gradient {slope}, difference {difference}"
                )));
            }
        }
    }
    Some(Ok(()))
}

/// A point inside the simplex at which one or two entries hold most of the weight: gates and edges are open there.
fn on_simplex(n: usize) -> impl Strategy<Value = Values> {
    let share = prop_oneof![0.0_f64..1.0, 0.85_f64..1.0];
    (0..n, 0..n, share, vec(0.01_f64..1.0, n), 0.01_f64..0.6).prop_map(|(v, w, share, rest, spread)| {
        let total: f64 = rest.iter().sum();
        let mut data: Vec<f64> = rest.iter().map(|r| spread * r / total).collect();
        data[v] += (1.0 - spread) * share;
        data[w] += (1.0 - spread) * (1.0 - share);
        Values::column(data)
    })
}

/// Random parameters and inputs: simplex blocks inside the simplex, all else anywhere.
fn point(network: &Network, runner: &mut TestRunner) -> (Vec<Values>, Vec<Values>) {
    let mut at = |shape: Shape, on_the_simplex: bool| {
        if on_the_simplex {
            draw(&on_simplex(shape.rows), runner)
        } else {
            Values::new(shape, draw(&vec(-1.5..1.5, shape.len()), runner))
        }
    };
    let parameters =
        network.parameters().iter().map(|p| at(p.shape, p.step_rule == StepRule::Simplex)).collect();
    (parameters, network.inputs().iter().map(|i| at(i.shape, false)).collect())
}

#[test]
fn gradients_equal_finite_differences() {
    let runner = &mut TestRunner::deterministic();
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let mut n_checked = 0;
        while n_checked < 60 {
            let machine = draw(&normal(1..=3), runner);
            let landscape = Landscape::build(&machine, &LandscapeOptions::new(kind, N_CELLS)).expect("built");
            if landscape.n_vertices() > 48 {
                continue;
            }
            let (parameters, inputs) = point(landscape.network(), runner);
            if let Some(result) = agrees(landscape.network(), &parameters, &inputs) {
                result.unwrap_or_else(|difference| panic!("{kind:?}: {difference}"));
                n_checked += 1;
            }
        }
    }
}

/// Landscape A of a random machine's run, if it halts within twelve cells and a few steps.
fn internal(runner: &mut TestRunner) -> Option<Landscape> {
    let machine = draw(&normal(1..=2), runner);
    let n_tapes = machine.n_tapes();
    let start = Configuration {
        state: machine.start(),
        tapes: draw(&vec(vec(any::<bool>(), 12), n_tapes), runner),
        heads: draw(&vec(0_usize..12, n_tapes), runner),
    };
    let options =
        LandscapeOptions { declared: vec![start], ..LandscapeOptions::new(LandscapeKind::Internal, 12) };
    Landscape::build(&machine, &options).ok().filter(|l| (4..60).contains(&l.n_vertices()))
}

#[test]
fn gradients_of_landscape_a_equal_finite_differences() {
    let runner = &mut TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < 30 {
        let Some(landscape) = internal(runner) else { continue };
        let (parameters, inputs) = point(landscape.network(), runner);
        if let Some(result) = agrees(landscape.network(), &parameters, &inputs) {
            result.unwrap_or_else(|difference| panic!("internal: {difference}"));
            n_checked += 1;
        }
    }
}

/// At e_v the slope towards w is 2 (omega_vw - omega_v), with omega_vw = (omega_v + omega_w) / 2 on edges, B elsewhere.
#[test]
fn slopes_of_landscape_a_at_its_vertices() {
    let runner = &mut TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < 30 {
        let Some(landscape) = internal(runner) else { continue };
        let n = landscape.n_vertices();
        // One input, one run: vertex v leads to v + 1, and the last one halts.
        let level = |v: usize| to_f64(n - v);
        let ceiling = to_f64(n + 1);
        for v in 0..n {
            let slopes = &gradient(landscape.network(), &[Values::unit(n, v)], &[])[0].data;
            for w in (0..n).filter(|&w| w != v) {
                let edge = if v.abs_diff(w) == 1 { f64::midpoint(level(v), level(w)) } else { ceiling };
                assert_near(slopes[w] - slopes[v], 2.0 * (edge - level(v)), &format!("{v} to {w} of {n}"));
            }
        }
        n_checked += 1;
    }
}

fn to_f64(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("small"))
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
        "{what}: {found}, expected {expected}"
    );
}

/// Tapes and heads that fit a vertex, the heads away from the ends; where it does not look, anything lies under them.
fn configuration_at(control: &Control, vertex: usize, cells: &[bool], heads: &[usize]) -> Configuration {
    let d = control.n_tapes();
    let vertex = control.at(vertex);
    let heads: Vec<usize> = heads.iter().take(d).map(|h| 1 + h % (N_CELLS - 2)).collect();
    let mut tapes: Vec<Vec<bool>> =
        (0..d).map(|tape| cells[tape * N_CELLS..(tape + 1) * N_CELLS].to_vec()).collect();
    for (tape, &head) in heads.iter().enumerate().filter(|&(tape, _)| vertex.looks_at.get(tape)) {
        tapes[tape][head] = vertex.reads.get(tape);
    }
    Configuration { state: vertex.state, tapes, heads }
}

/// Tapes and heads after a step, transcribed from the definition: write, then move.
fn after(configuration: &Configuration, step: Option<&VertexStep>) -> Configuration {
    let mut next = configuration.clone();
    let Some(step) = step else { return next };
    for tape in 0..next.heads.len() {
        let cell = configuration.heads[tape];
        next.tapes[tape][cell] = step.written(tape, next.tapes[tape][cell]);
        let moved = i64::try_from(configuration.heads[tape]).expect("small") + step.moves[tape].offset();
        next.heads[tape] = usize::try_from(moved).expect("heads start away from the ends");
    }
    next
}

/// Weights as sections 4 and 4c of the construction define them, not as the library builds them.
struct Weights<'c> {
    control: &'c Control,
    constants: ExternalConstants,
    kind: LandscapeKind,
}

impl Weights<'_> {
    fn vertex(&self, v: usize) -> f64 {
        let halts = self.control.at(v).step.is_none();
        if halts { -cube(self.constants.base) * self.constants.scale } else { 0.0 }
    }

    fn edge(&self, v: usize, w: usize) -> f64 {
        let (from, to) = (self.control.at(v), self.control.at(w));
        let legal = from.step.as_ref().is_some_and(|step| step.next == self.control.table().block(w));
        let both = |&i: &usize| from.looks_at.get(i) && to.looks_at.get(i);
        let stays = |&i: &usize| from.reads.get(i) == to.reads.get(i);
        let n_kept = (0..self.control.n_tapes()).filter(both).filter(stays).count();
        let ExternalConstants { base, scale, .. } = self.constants;
        if legal { -(cube(base) + base * to_f64(n_kept)) * scale } else { 0.0 }
    }

    /// The slope at e_v towards w. In the compact form a vertex that may follow itself is a destination too,
    /// so leaving it costs its self-edge.
    fn slope(&self, v: usize, w: usize, read: Bits) -> f64 {
        let ExternalConstants { base, scale, .. } = self.constants;
        let symbol = |v: usize, i: usize| {
            let vertex = self.control.at(v);
            if vertex.looks_at.get(i) { vertex.reads.sign(i) } else { 0.0 }
        };
        let product = |i: usize| (symbol(v, i) - read.sign(i)) * (symbol(w, i) - symbol(v, i));
        let reading = (0..self.control.n_tapes()).map(product).sum::<f64>();
        let back = match self.kind {
            LandscapeKind::Relu => 2.0 * self.edge(w, v),
            _ => -4.0 * self.edge(v, v),
        };
        4.0 * (self.edge(v, w) - self.vertex(v)) + back + 4.0 * base * base * scale * reading
    }
}

fn check_vertices(
    machine: &NormalForm,
    (kind, vertices): (LandscapeKind, VertexSet),
    cells: &[bool],
    heads: &[usize],
    scale: f64,
) {
    let mut options = LandscapeOptions { vertices, ..LandscapeOptions::new(kind, N_CELLS) };
    options.constants.scale = Some(scale);
    let constants = ExternalConstants::choose(machine.n_tapes(), &options.constants).expect("constants");
    let landscape = Landscape::build(machine, &options).expect("built");
    let control = landscape.control().expect("tapes outside");
    let weights = Weights { control, constants, kind };
    let n_vertices = control.n_vertices();
    for v in 0..n_vertices {
        let here = configuration_at(control, v, cells, heads);
        let (mut parameters, inputs) = landscape.encode(&here).expect("encoded");
        parameters[0] = Values::unit(n_vertices, v);
        let next = after(&here, control.at(v).step.as_ref());
        let found = gradient(landscape.network(), &parameters, &inputs);
        for w in (0..n_vertices).filter(|&w| w != v) {
            let expected = weights.slope(v, w, next.reads());
            assert_near(found[0].data[w] - found[0].data[v], expected, &format!("{kind:?}, {v} to {w}"));
        }
        // T - grad_T / g and H - grad_H / g are the tapes and heads of the next configuration.
        let (expected, _) = landscape.encode(&next).expect("encoded");
        for block in 1..parameters.len() {
            let stepped = parameters[block].data.iter().zip(&found[block].data).map(|(p, g)| p - g / scale);
            assert_eq!(stepped.collect::<Vec<_>>(), expected[block].data, "{kind:?}, {v}, block {block}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn slopes_of_landscape_b_at_its_vertices(
        machine in normal(1..=2),
        cells in vec(any::<bool>(), 2 * N_CELLS),
        heads in vec(any::<usize>(), 2),
        scale in prop_oneof![Just(1.0), Just(0.25), Just(8.0)],
    ) {
        for vertices in VertexSet::ALL {
            check_vertices(&machine, (LandscapeKind::Compact, vertices), &cells, &heads, scale);
            check_vertices(&machine, (LandscapeKind::Relu, vertices), &cells, &heads, scale);
        }
    }
}

/// Landscape C: at every configuration x - grad_x, T - grad_T and H - grad_H are the next one, bit for bit.
fn check_plain(machine: &NormalForm, vertices: VertexSet, cells: &[bool], heads: &[usize]) {
    let options = LandscapeOptions { vertices, ..LandscapeOptions::new(LandscapeKind::Plain, N_CELLS) };
    let landscape = Landscape::build(machine, &options).expect("built");
    let control = landscape.control().expect("tapes outside");
    for v in 0..control.n_vertices() {
        let here = configuration_at(control, v, cells, heads);
        let (parameters, inputs) = landscape.encode(&here).expect("encoded");
        let step = control.at(v).step;
        let step = step.as_ref();
        let mut next = after(&here, step);
        // One copy of every state: the index of a copy is that of its state.
        next.state = step.map_or(here.state, |step| StateId::new(step.next));
        let found = gradient(landscape.network(), &parameters, &inputs);
        let (expected, _) = landscape.encode(&next).expect("encoded");
        for block in 0..parameters.len() {
            let stepped = parameters[block].data.iter().zip(&found[block].data).map(|(p, g)| p - g);
            assert_eq!(stepped.collect::<Vec<_>>(), expected[block].data, "{v}, block {block}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn steps_of_landscape_c_at_its_configurations(
        machine in normal(1..=2),
        cells in vec(any::<bool>(), 2 * N_CELLS),
        heads in vec(any::<usize>(), 2),
    ) {
        for vertices in VertexSet::ALL {
            check_plain(&machine, vertices, &cells, &heads);
        }
    }
}

/// Weight, coefficients and bias of the ReLUs of a function on a simplex with four vertices.
type Units<'a> = &'a [(f64, [f64; 4], f64)];

fn basis(units: Units<'_>) -> Network {
    let mut g = GraphBuilder::new();
    let (_, x) = g.parameter("x", Shape::column(4), StepRule::Simplex);
    let entries = units.iter().enumerate().flat_map(|(i, unit)| (0..4).map(move |v| (i, v, unit.1[v])));
    let map = LinearMap::new(units.len(), 4, entries).with_bias(units.iter().map(|u| u.2).collect());
    let inside = g.linear("inside", map, x);
    let relu = g.relu("relu", inside);
    let weigh = LinearMap::new(1, units.len(), units.iter().enumerate().map(|(i, unit)| (0, i, unit.0)));
    let loss = g.linear("loss", weigh, relu);
    g.finish(loss)
}

/// From every vertex to every other the slope is the given one, and no vertex lies on a kink.
fn check_basis(units: Units<'_>, slope: impl Fn(usize, usize) -> f64) {
    let network = basis(units);
    for v in 0..4 {
        let at = evaluate(&network, &[Values::unit(4, v)], &[]);
        assert!(distance_to_kink(&network, &at) > 0.5, "a kink at vertex {v}");
        let slopes = &gradient(&network, &[Values::unit(4, v)], &[])[0].data;
        for w in (0..4).filter(|&w| w != v) {
            assert_near(slopes[w] - slopes[v], slope(v, w), &format!("{v} to {w}"));
        }
    }
}

#[test]
fn table_of_section_2() {
    let corner = |mu: f64| [(1.0, [0.0, 1.0 / mu, 0.0, 0.0], 1.0 - 1.0 / mu)];
    check_basis(&corner(0.5), |v, _| if v == 1 { -2.0 } else { 0.0 });
    check_basis(&corner(0.25), |v, _| if v == 1 { -4.0 } else { 0.0 });
    let ridge = (1.0, [0.0, 2.0, 2.0, 0.0], -1.0);
    let (first, second) = ((-1.0, [0.0, 2.0, 0.0, 0.0], -1.0), (-1.0, [0.0, 0.0, 2.0, 0.0], -1.0));
    check_basis(&[ridge, first, second], |v, w| match (v, w) {
        (1, 2) | (2, 1) => 2.0,
        _ => 0.0,
    });
    let along = (-1.0, [0.0, 2.0, -2.0, 0.0], -1.0);
    check_basis(&[ridge, second, along], |v, w| match (v, w) {
        (1, 2) => 4.0,
        (2, 1) => 2.0,
        _ => 0.0,
    });
}

/// The draws above are of the kind they are meant to be.
#[test]
fn random_machines_have_self_edges_and_read_only_tapes() {
    let runner = &mut TestRunner::deterministic();
    let control =
        |vertices, runner: &mut TestRunner| Control::new(&draw(&normal(1..=2), runner), vertices, 1);
    let controls: Vec<Control> = (0..60).map(|_| control(VertexSet::LookedAt, runner)).collect();
    let looks_away = |c: &&Control| c.vertices().any(|v| v.step.is_some_and(|s| s.known.0.count_ones() < 2));
    assert!(controls.iter().filter(|c| c.n_tapes() == 2).filter(looks_away).count() > 10);
    let with_self_edge = |c: &&Control| (0..c.n_vertices()).any(|v| c.table().has_self_edge(v));
    assert!(controls.iter().filter(with_self_edge).count() > 20);
    assert!(controls.iter().filter(|c| c.n_writable() < c.n_tapes()).count() > 10);
}

/// The names of the nodes that carry a gradient, each once, in order.
fn carriers(kind: LandscapeKind) -> Vec<String> {
    let machine =
        luge_machine::formats::Format::Bbchallenge.read("1RB1LA_1LA1RZ").expect("a machine").machine;
    let normal = lower(&machine, Moves::Keep).expect("binary").normal;
    let landscape = Landscape::build(&normal, &LandscapeOptions::new(kind, N_CELLS)).expect("a landscape");
    let network = landscape.network();
    let nodes = network.nodes().iter().zip(network.differentiated());
    let mut names: Vec<String> =
        nodes.filter(|(_, carries)| *carries).map(|(node, _)| node.name.clone()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// What stands under a stop-gradient, and only that, carries none: what is written, read ahead and moved.
#[test]
fn which_nodes_carry_a_gradient() {
    let common = ["landscape", "move residual", "now", "read", "read residual", "write residual"];
    let own = |kind| -> Vec<String> {
        let mut names = carriers(kind);
        names.retain(|name| !["vertex", "tape", "head"].contains(&name.as_str()));
        names.sort();
        names
    };
    let with = |others: &[&str]| -> Vec<String> {
        let mut names: Vec<String> = common.iter().chain(others).map(|&name| name.to_owned()).collect();
        names.sort();
        names
    };
    let compact = ["dip", "gate", "levels", "marginals", "self-edges", "slides", "successors"];
    assert_eq!(own(LandscapeKind::Compact), with(&compact));
    assert_eq!(own(LandscapeKind::Relu), with(&["corners", "directed edges", "edges", "halting corners"]));
    // Plain: the weights themselves and nothing that is computed from their saturated copies.
    let plain = ["landscape", "move residual", "read weights", "vertex residual", "write residual"];
    assert_eq!(own(LandscapeKind::Plain), plain);
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        assert!(["vertex", "tape", "head"].iter().all(|name| carriers(kind).iter().any(|n| n == name)));
    }
}
