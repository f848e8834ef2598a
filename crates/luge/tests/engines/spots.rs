//! Compares the dense engine with runs that are too long for it: for 50 steps from each of some recorded snapshots.

use luge_landscape::{Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{
    Input,
    formats::Format,
    lowering::{Moves, lower},
};
use luge_net::{Arcs, LinearMap, Local, Network, NodeId, Op};
use luge_train::{
    CacheLevel, Dense, Engine, Exact, HeadColumn, Precision, ROUNDING, Rate, Situation, SituationCheck,
    Sparse, SpotCheck, SpotError, StopRule,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use luge_landscape::Carrier;

use crate::{OUTSIDE, classroom::Classroom, machine, options, plan, start};

const CHAMPION: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
const N_STEPS: u64 = 50;

/// Compares the dense engine, from the exact engine's position and on a network wide enough for the next steps, with exact and sparse.
fn agree_from(kind: LandscapeKind, at: u64) {
    let machine = machine(CHAMPION);
    let plan =
        plan(&machine, &Input::blank(), &luge::trace::TraceOptions { steps: Some(10), ..options(kind) });
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let mut exact =
        Exact::new(plan.landscape.network(), &parameters, &inputs, CacheLevel::Macrosteps).expect("exact");
    let loss_at_most = plan.landscape.bounds().stop;
    exact.run(&StopRule { loss_at_most, not_before: 0, most_steps: at }).expect("gradients");
    let snapshot = exact.snapshot().trimmed();
    let reach = N_STEPS as i64 + 2;
    let low =
        snapshot.tapes.iter().map(|lane| lane.first.min(lane.head_first - reach)).min().expect("a tape");
    let end = |lane: &luge_train::TapeSnapshot| lane.first + lane.cells.len() as i64;
    let high =
        snapshot.tapes.iter().map(|lane| end(lane).max(lane.head_first + reach)).max().expect("a tape");
    let n_cells = usize::try_from(high - low + 1).expect("a window");
    let normal = lower(&machine, Moves::Keep).expect("binary").normal;
    let wide = Landscape::build(&normal, &LandscapeOptions::new(kind, n_cells)).expect("a landscape");
    let shift = vec![-low; snapshot.tapes.len()];
    let weights = snapshot.parameters_of(wide.network(), &shift).expect("a window that fits");
    let mut dense =
        Dense::new(wide.network(), &weights, &inputs, Precision::F64, Rate::One, None).expect("dense");
    let mut sparse = Sparse::resume(plan.landscape.network(), &snapshot, None, &inputs).expect("sparse");
    for step in 0..=N_STEPS {
        let loss = dense.loss().expect("a loss").to_bits();
        let parameters = dense.parameters().expect("weights");
        for engine in [&mut exact as &mut dyn Engine, &mut sparse] {
            let name = engine.name();
            assert_eq!(engine.loss().expect("a loss").to_bits(), loss, "{name}, {step} steps after {at}");
            let own = engine
                .snapshot()
                .trimmed()
                .parameters_of(wide.network(), &shift)
                .expect("a window that fits");
            assert!(own == parameters, "{name}, {step} steps after {at} on {kind:?}");
            engine.step().expect("a gradient");
        }
        dense.step().expect("a gradient");
    }
}

#[test]
fn of_the_five_state_champion() {
    let mut generator = ChaCha8Rng::seed_from_u64(47_176_870);
    for kind in OUTSIDE {
        for _ in 0..4 {
            agree_from(kind, generator.next_u64() % 47_000_000);
        }
    }
}

/// Every step of a lesson is the network's own, with either carrier; without tolerance wherever the engine claims that.
#[test]
fn every_step_of_a_lesson_is_the_gradient_of_its_network() {
    let (mut n_exact, mut n_rounded) = (0, 0);
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let room = Classroom::copy().on(kind, carrier);
            let lesson = room.lesson();
            let (extended, inputs) = (lesson.extended(), lesson.inputs());
            let network = extended.network();
            let mut engines: Vec<Box<dyn Engine>> =
                vec![Box::new(Sparse::new(network, extended.initial(), &inputs).expect("layers"))];
            if let Ok(exact) = Exact::new(network, extended.initial(), &inputs, CacheLevel::Steps) {
                engines.push(Box::new(exact));
            }
            let mut dense = SpotCheck::new(network, &inputs, &[]).expect("a network that fits");
            for engine in &mut engines {
                for _ in 0..lesson.simulated().expect("an answer").machine_steps + 3 {
                    let (before, loss) = (engine.snapshot(), engine.loss().expect("a loss"));
                    engine.step().expect("a gradient");
                    let rounding = engine.rounding();
                    let agreement = dense.check(&before, &engine.snapshot(), rounding).expect("one step");
                    assert_eq!(agreement.differs, None, "{}, {} {before:?}", room.name(), engine.name());
                    assert!(agreement.has_loss(loss), "{}", room.name());
                    n_exact += u32::from(rounding == 0.0);
                    n_rounded += u32::from(rounding > 0.0);
                }
            }
        }
    }
    assert!(n_exact > 50 && n_rounded > 50, "{n_exact} exact, {n_rounded} rounded");
}

/// One weight that went elsewhere is found, whichever it is.
#[test]
fn a_step_that_is_not_the_gradients_is_found() {
    let room = Classroom::copy().on(LandscapeKind::Compact, Carrier::Offset);
    let lesson = room.lesson();
    let (network, inputs) = (lesson.extended().network(), lesson.inputs());
    let mut engine = Sparse::new(network, lesson.extended().initial(), &inputs).expect("layers");
    let first = engine.snapshot();
    for _ in 0..4 {
        engine.step().expect("a gradient");
    }
    let before = engine.snapshot();
    engine.step().expect("a gradient");
    let after = engine.snapshot();
    let differs = |after: &luge_train::Snapshot| {
        let agreement = SpotCheck::new(network, &inputs, &[])
            .expect("a network that fits")
            .check(&before, after, ROUNDING)
            .expect("one step");
        agreement.differs.map(|weight| weight.parameter)
    };
    assert_eq!(differs(&after), None);
    let mut wrong = after.clone();
    wrong.labels[1] += 1e-9;
    assert_eq!(differs(&wrong).as_deref(), Some("labels"));
    let mut wrong = after.clone();
    wrong.vertices[0].0 ^= 1;
    assert_eq!(differs(&wrong).as_deref(), Some("vertex"));
    let mut wrong = after.clone();
    wrong.tapes[0].head[0] -= 1e-9;
    assert_eq!(differs(&wrong).as_deref(), Some("head"));
    let cells: Vec<Option<String>> = (0..after.tapes.len())
        .map(|tape| {
            let mut wrong = after.clone();
            let at = usize::try_from(-wrong.tapes[tape].first).expect("column 0 is kept");
            let mut cells: Vec<f64> = wrong.tapes[tape].cells.iter().collect();
            cells[at] += 1e-9;
            wrong.tapes[tape].cells = cells.into();
            differs(&wrong)
        })
        .collect();
    assert!(cells.iter().flatten().any(|name| name == "tape"), "{cells:?}");
    let far =
        SpotCheck::new(network, &inputs, &[]).expect("a network that fits").check(&first, &after, ROUNDING);
    assert!(matches!(far, Err(SpotError::NotOneStep { before: 0, after: 5 })));
}

/// On wide networks equal columns are evaluated once; the verdict on every step, right or wrong, is that of all columns.
#[test]
fn columns_taken_together_give_the_verdict_of_all_columns() {
    let mut n_wrong = 0;
    for kind in OUTSIDE {
        let mut room = Classroom::copy().on(kind, Carrier::Offset);
        room.options.cells = Some(1024);
        let lesson = room.lesson();
        let (network, inputs) = (lesson.extended().network(), lesson.inputs());
        let mut merged = SpotCheck::new(network, &inputs, &[]).expect("a network that fits");
        let mut whole =
            SpotCheck::new(network, &inputs, &[]).expect("a network that fits").column_by_column();
        let mut engine = Sparse::new(network, lesson.extended().initial(), &inputs).expect("layers");
        for step in 0..lesson.simulated().expect("an answer").machine_steps + 2 {
            let before = engine.snapshot();
            engine.step().expect("a gradient");
            let after = engine.snapshot();
            let mut alike = |after: &luge_train::Snapshot| {
                let found = merged.check(&before, after, engine.rounding()).expect("one step");
                let expected = whole.check(&before, after, engine.rounding()).expect("one step");
                assert_eq!(found, expected, "{}, step {step}", room.name());
                found.differs
            };
            assert_eq!(alike(&after), None, "{}, step {step}", room.name());
            for tape in 0..after.tapes.len() {
                let mut far = after.clone();
                far.tapes[tape].first = 0;
                let cell = |cell: i64| if cell == 900 { 1.0_f64 } else { -1.0 };
                let cells: Vec<f64> = (0..1000).map(|c| cell(c).max(engine.cell(tape, c))).collect();
                far.tapes[tape].cells = cells.into();
                n_wrong += usize::from(alike(&far).is_some_and(|weight| weight.index % 1024 == 900));
            }
            let mut moved = after.clone();
            moved.tapes[step as usize % after.tapes.len()].head_first += 1;
            assert!(alike(&moved).is_some(), "{}, step {step}", room.name());
        }
    }
    assert!(n_wrong > 10, "a cell far from every head that changed was found {n_wrong} times");
}

/// A state that looks at one tape, and one that looks at the other two.
const THREE_TAPES: &str = "machine
tape a: 0 1 blank 0
tape b: 0 1 blank 0
tape c: 0 1 blank 0
start: one
one:
  0 * * -> 1 * *, R S S, one
  1 * * -> * * *, S S S, two
two:
  * 0 0 -> * 1 1, S S S, end
  * 0 1 -> * 1 1, S S S, end
  * 1 0 -> * 1 1, S S S, end
  * 1 1 -> * 1 1, S S S, end
end: accept
";

/// The map made of these arcs.
fn map_of(network: &Network, wanted: Arcs) -> (NodeId, &LinearMap, NodeId) {
    let mut found = network.numbered_nodes().filter_map(|(id, node)| match &node.op {
        Op::Linear(map, of) if map.as_arcs().is_some_and(|(_, arcs)| arcs == wanted) => Some((id, map, *of)),
        _ => None,
    });
    found.next().expect("a map")
}

/// The arcs of a map.
fn arcs_of(map: &LinearMap) -> Vec<(usize, usize, f64)> {
    map.entries().iter().map(|&(row, col, weight)| (row as usize, col as usize, weight)).collect()
}

/// The same map with something added to one bias.
fn biased(map: &LinearMap, row: usize, more: f64) -> LinearMap {
    let mut bias = map.bias().into_owned();
    bias[row] += more;
    map.clone().with_bias(bias)
}

/// A fault in a block that no step of a situation reaches is noticed there, whatever was looked at before: a gate that is open, an arc
/// into the block, a bias within it.
#[test]
fn a_fault_in_a_block_that_is_not_reached_is_noticed() {
    let machine = Format::Native.read(THREE_TAPES).unwrap_or_else(|errors| panic!("{errors:?}")).machine;
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let options = luge::trace::TraceOptions { steps: Some(10), ..options(kind) };
        let plan = plan(&machine, &Input::blank(), &options);
        let network = plan.landscape.network();
        let layers = network.sparse_layers().expect("layers");
        let table = &layers.table;
        let [go, leave] = [0, 1].map(|symbols| table.vertex(0, symbols) as u32);
        let (two, end) = (table.vertex(1, 0), table.vertices_of(2).start);
        let goes =
            Situation { vertex: go, to: go, here: (1, 0), ahead: (1, 0), left: 0, right: 1, flipped: 1 };
        let known = (0b111, 0b001);
        let leaves =
            Situation { vertex: leave, to: two as u32, here: known, ahead: known, ..Situation::default() };
        let looks = |network: &Network| {
            let local = Local::of(network, layers).expect("columns");
            let mut check = SituationCheck::new(&local, layers, (&[], &[]), (0.0, 0.0));
            [(goes, false), (leaves, true), (goes, true), (leaves, false), (goes, false)]
                .map(|(situation, fill)| check.look(&situation, fill, HeadColumn::Inside, false).is_ok())
        };
        assert_eq!(looks(network), [true; 5], "{kind:?}");
        let altered =
            |id: NodeId, map: LinearMap, of: NodeId| looks(&network.with_op(id, Op::Linear(map, of)));
        let faults = if kind == LandscapeKind::Plain {
            let (id, map, of) = map_of(network, Arcs::NextBlock);
            let arcs = arcs_of(map).into_iter().chain([go, leave].map(|vertex| (2, vertex as usize, 1.0)));
            let arc = altered(id, LinearMap::new(map.n_outputs(), map.n_inputs(), arcs), of);
            let (id, map, of) = map_of(network, Arcs::OfBlock);
            [arc, altered(id, biased(map, end, 1.0), of)]
        } else {
            let gate = network.find("gate").expect("a gate");
            let Op::Linear(map, of) = &network.node(gate).op else { panic!("a map") };
            let open = altered(gate, biased(map, two, 8.0), *of);
            let successors = network.find("successors").expect("edges");
            let Op::Linear(map, of) = &network.node(successors).op else { panic!("a map") };
            let lowest = arcs_of(map).iter().map(|arc| arc.2).fold(0.0, f64::min);
            let arcs =
                arcs_of(map).into_iter().chain([go, leave].map(|vertex| (vertex as usize, 2, 2.0 * lowest)));
            [open, altered(successors, LinearMap::new(map.n_outputs(), map.n_inputs(), arcs), *of)]
        };
        assert_eq!(faults, [[false; 5]; 2], "{kind:?}");
    }
}

/// On `plain` a situation leaves symbols open. A block that must stay closed is seen to be, not only where the symbols shown would
/// put weight on one of its vertices.
#[test]
fn an_open_block_is_noticed_whatever_the_symbols() {
    let machine = Format::Native.read(THREE_TAPES).unwrap_or_else(|errors| panic!("{errors:?}")).machine;
    let options = luge::trace::TraceOptions { steps: Some(10), ..options(LandscapeKind::Plain) };
    let plan = plan(&machine, &Input::blank(), &options);
    let network = plan.landscape.network();
    let layers = network.sparse_layers().expect("layers");
    let table = &layers.table;
    let vertex = table.vertex(0, 0) as u32;
    let situation =
        Situation { vertex, to: vertex, here: (1, 0), ahead: (1, 0), left: 0, right: 1, flipped: 1 };
    let looks = |network: &Network| {
        let local = Local::of(network, layers).expect("columns");
        let mut check = SituationCheck::new(&local, layers, (&[], &[]), (0.0, 0.0));
        [false, true].map(|fill| check.look(&situation, fill, HeadColumn::Inside, false).is_ok())
    };
    assert_eq!(looks(network), [true; 2]);
    // The second block opens as well, and its vertices for equal symbols never fire.
    let (id, map, of) = map_of(network, Arcs::NextBlock);
    let entries = arcs_of(map).into_iter().chain([(1, vertex as usize, 1.0)]);
    let opened = LinearMap::new(map.n_outputs(), map.n_inputs(), entries);
    let open = network.with_op(id, Op::Linear(opened, of));
    let (id, map, of) = map_of(network, Arcs::OfSymbols);
    let mixed = [1, 2].map(|symbols| table.vertex(1, symbols << 1));
    let fires = |row: usize| table.block(row) != 1 || mixed.contains(&row);
    let entries = arcs_of(map).into_iter().filter(|&(row, ..)| fires(row));
    let silent = LinearMap::new(map.n_outputs(), map.n_inputs(), entries);
    assert_eq!(looks(&open.with_op(id, Op::Linear(silent, of))), [false; 2]);
}
