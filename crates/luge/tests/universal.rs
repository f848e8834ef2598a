//! The universal learner: under the simulator it does what its program does, and one network trained by gradient descent
//! from other initial weights is another learner.

use std::{fs, ops::ControlFlow, path::Path};

use luge::{
    data::Table,
    files::export,
    job::universal::{MACHINE, Program},
    training::{PreparedTraining, TrainingOptions, TrainingReport},
};
use luge_landscape::{DataLayout, LandscapeKind, Learner, Mlp};
use luge_machine::{
    Access, Alphabet, Input, Machine, Move, Outcome, Pattern, Simulator, Step, SymbolId, Write,
    formats::{Format, Loaded},
};
use luge_net::{Network, NumberFormat, Values};
use proptest::prelude::*;
use serde_json::Value;

/// The cheapest step of a program: seven fields, one sign of the jump and its end.
const LEAST_STEPS: Step = 9;

fn read(text: &str) -> Loaded {
    Format::Native.read(text).expect("a valid machine")
}

fn shipped(name: &str) -> Loaded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("learners").join(name);
    read(&fs::read_to_string(path).expect("a learner that ships"))
}

/// The universal learner with another learner's rules on its tape.
fn universal(program: &Machine) -> Learner {
    let Loaded { machine, input, .. } = read(MACHINE);
    let program = Program::encode(program, None).expect("a program");
    let input = program.load(&machine, input.as_ref()).expect("a tape for programs");
    Learner::new(&machine, Some(&input)).expect("a learner")
}

/// How a run ends, whatever the state is called, and the bits that are left on theta around cell 0.
fn run(machine: &Machine, input: &Input, most_steps: Step) -> (Option<bool>, Vec<bool>) {
    let theta = machine.tape_ids().find(|&tape| machine.tape(tape).name == "theta").expect("theta");
    let mut simulator = Simulator::new(machine, input);
    let end = match simulator.run(most_steps) {
        Outcome::Halted { accepting, .. } => Some(accepting),
        Outcome::NoRule { .. } => Some(false),
        Outcome::StepLimit => None,
    };
    (end, (-200..200).map(|cell| simulator.tape(theta).read(cell) == SymbolId(1)).collect())
}

/// Runs a program as a machine of its own and through the universal learner.
fn compare(program: &Machine, layout: &DataLayout, bits: &[bool], most_steps: Step) -> Option<bool> {
    let direct = Learner::new(program, None).expect("a learner");
    let universal = universal(program);
    let (end, theta) = run(program, &direct.source_input(layout, bits), most_steps);
    let input = universal.source_input(layout, bits);
    if end.is_none() {
        let (interpreted, _) = run(universal.machine(), &input, LEAST_STEPS * most_steps);
        assert_eq!(interpreted, None, "the program runs on");
    } else {
        assert_eq!(run(universal.machine(), &input, 1_000_000), (end, theta));
    }
    end
}

/// The first number of theta for these labels, in a format without fraction bits.
type Answer = fn(&[u64]) -> u64;

/// What ships, and the same in plain Rust.
const PROGRAMS: [(&str, Answer); 3] = [
    ("copy_label.tm", |labels| labels[0]),
    ("ballot.tm", |labels| {
        let ones = labels.iter().filter(|&label| label & 1 == 1).count();
        u64::from(2 * ones > labels.len())
    }),
    ("largest.tm", |labels| labels.iter().copied().max().unwrap_or(0)),
];

fn layout(n_samples: usize, n_features: usize, format: &str) -> DataLayout {
    let format: NumberFormat = format.parse().expect("a format");
    DataLayout { n_samples, n_features, n_labels: 1, format }
}

#[test]
fn the_file_lays_the_first_program() {
    let Loaded { machine, input, .. } = read(MACHINE);
    let program = Program::encode(&shipped("copy_label.tm").machine, None).expect("a program");
    assert_eq!(program.load(&machine, None).ok(), input);
    assert_eq!(program.signs, "010.0111;110.1111;.....1.0;;000.0110;100.1110;.......1;;.;;");
}

#[test]
fn it_is_small() {
    let learner = universal(&shipped("largest.tm").machine);
    let normal = learner.lowered().normal.machine();
    assert_eq!((normal.states().len(), normal.n_tapes()), (14, 7));
    let cells = |name| Program::encode(&shipped(name).machine, None).expect("a program").signs.len();
    assert_eq!(PROGRAMS.map(|(name, _)| cells(name)), [59, 170, 180]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_programs_that_ship_do_what_they_say(
        (width, samples) in (2_usize..6).prop_flat_map(|width| {
            // Labels are not negative: their last bit is 0.
            let sample = prop::collection::vec(any::<bool>(), 3 * width - 1);
            (Just(width), prop::collection::vec(sample, 1..8))
        }),
    ) {
        let layout = layout(samples.len(), 2, &format!("fix:{width}.0"));
        let bits: Vec<bool> = samples.iter().flat_map(|sample| sample.iter().copied().chain([false])).collect();
        let labels: Vec<u64> = samples.iter().map(|sample| number(&sample[2 * width..])).collect();
        for (name, answer) in PROGRAMS {
            let program = shipped(name).machine;
            prop_assert_eq!(compare(&program, &layout, &bits, 10_000), Some(true), "{}", name);
            let learner = universal(&program);
            let (_, theta) = run(learner.machine(), &learner.source_input(&layout, &bits), 1_000_000);
            prop_assert_eq!(number(&theta[200..]), answer(&labels), "{}", name);
        }
    }

    #[test]
    fn any_program_does_what_its_machine_does(
        machine in any_machine(),
        bits in prop::collection::vec(any::<bool>(), 12),
    ) {
        compare(&machine, &layout(2, 1, "fix:2.1"), &bits, 150);
    }
}

/// Bits, lowest first.
fn number(bits: &[bool]) -> u64 {
    let ones = bits.iter().enumerate().filter(|(_, bit)| **bit);
    ones.map(|(place, _)| 1 << place.min(63)).sum()
}

/// Machines with the tapes of a program, some states, and states that accept and reject among the first and the last.
fn any_machine() -> impl Strategy<Value = Machine> {
    let is = |n: u8| prop::option::weighted(0.4, 0..n);
    let heads = || prop::sample::select(vec![Move::Left, Move::Stay, Move::Right]);
    let rule = (is(2), is(4), is(2), is(2), heads(), heads(), any::<prop::sample::Index>());
    // If the last rule matches everything, a run continues and reaches cells that it has written.
    let state = (prop::collection::vec(rule, 0..5), prop::bool::weighted(0.9));
    let states = prop::collection::vec(state, 1..5);
    (states, any::<bool>()).prop_map(|(states, halting_first)| {
        let mut b = Machine::builder();
        b.tape_with("data", Alphabet::binary(), Access::ReadOnly);
        b.tape_with("marks", Alphabet::new(["_", "x", "y", "e"], SymbolId(0)), Access::ReadOnly);
        b.tape("theta", Alphabet::binary());
        let mut ids = Vec::new();
        let halting_states = |b: &mut luge_machine::MachineBuilder| {
            [b.halting_state("yes", true), b.halting_state("no", false)]
        };
        if halting_first {
            ids.extend(halting_states(&mut b));
        }
        let running: Vec<_> = (0..states.len()).map(|n| b.state(format!("q{n}"))).collect();
        ids.extend(&running);
        if !halting_first {
            ids.extend(halting_states(&mut b));
        }
        b.start(running[0]);
        for (&state, (rules, goes_on)) in running.iter().zip(states) {
            let last = rules.len().saturating_sub(1);
            for (n, (data, mark, theta, write, data_move, theta_move, next)) in rules.into_iter().enumerate()
            {
                let read = |symbol: Option<u8>| symbol.map_or(Pattern::Any, |s| Pattern::Is(SymbolId(s)));
                let reads = match goes_on && n == last {
                    true => vec![Pattern::Any; 3],
                    false => vec![read(data), read(mark), read(theta)],
                };
                let write = write.map_or(Write::Keep, |s| Write::Put(SymbolId(s)));
                let moves = vec![data_move, data_move, theta_move];
                b.rule(
                    state,
                    reads,
                    vec![Write::Keep, Write::Keep, write],
                    moves,
                    ids[next.index(ids.len())],
                );
            }
        }
        b.build().expect("a machine")
    })
}

/// Three labels for which the three learners differ: 2, then 1 (two of three lowest bits are set), then 3.
const DATA: &str = include_str!("../learners/universal.csv");

/// What there is to compare after training the universal learner's network from the weights that hold a program.
struct Trained {
    network: Network,
    initial: Vec<Values>,
    graph: Value,
    lessons: TrainingReport,
}

/// A lesson for a learner on these data, in a network with room for the longest of the programs.
fn with_lesson<T>(
    learner: &Learner,
    landscape: LandscapeKind,
    look: impl FnOnce(&PreparedTraining) -> T,
) -> T {
    let table = Table::read(DATA.as_bytes(), &["y".to_owned()], None).expect("a table");
    let primary = Mlp::linear(1, 1);
    let format = "fix:3.0".parse().expect("a format");
    let options = TrainingOptions { landscape, cells: Some(512), ..TrainingOptions::new(format) };
    look(
        &PreparedTraining::prepare(
            learner.clone(),
            std::sync::Arc::new(primary.clone()),
            table.clone(),
            options.clone(),
        )
        .expect("a lesson"),
    )
}

fn train(name: &str, landscape: LandscapeKind) -> Trained {
    with_lesson(&universal(&shipped(name).machine), landscape, |lesson| {
        let extended = lesson.extended();
        Trained {
            network: extended.network().clone(),
            initial: extended.initial().iter().map(Into::into).collect(),
            graph: serde_json::to_value(export::graph(extended)).expect("JSON"),
            lessons: lesson.train(|_| ControlFlow::Continue(())).expect("gradients"),
        }
    })
}

#[test]
fn the_programs_on_their_own() {
    let own_steps = PROGRAMS.map(|(name, _)| {
        let learner = Learner::new(&shipped(name).machine, None).expect("a learner");
        with_lesson(&learner, LandscapeKind::Compact, |lesson| {
            lesson.simulated().expect("an answer").machine_steps
        })
    });
    assert_eq!(own_steps, [8, 21, 38]);
}

/// The names of the parameters whose initial values are not the same.
fn differing(a: &Trained, b: &Trained) -> Vec<String> {
    let parameters = a.network.parameters().iter().zip(a.initial.iter().zip(&b.initial));
    parameters.filter(|(_, (a, b))| a != b).map(|(parameter, _)| parameter.name.clone()).collect()
}

/// The graph without the parameters' initial values.
fn without_weights(trained: &Trained) -> Value {
    let mut graph = trained.graph.clone();
    for parameter in graph["parameters"].as_array_mut().expect("a list") {
        assert!(parameter["initial"].take().is_array());
    }
    graph
}

/// Programs, their biases, and the steps that docs/universal.md says they take.
fn check(kind: LandscapeKind, expected: &[(&str, f64, Step)]) {
    let trained: Vec<Trained> = expected.iter().map(|(name, ..)| train(name, kind)).collect();
    for ((name, bias, steps), Trained { lessons, .. }) in expected.iter().zip(&trained) {
        assert_eq!(lessons.theta, [*bias, 0.0], "{name} on {}", kind.word());
        assert_eq!(lessons.machine_steps, *steps, "{name}");
        assert!(lessons.certificate.proves_the_run(), "{name} on {}: {:?}", kind.word(), lessons.certificate);
    }
    for pair in trained.windows(2) {
        assert!(pair[0].network == pair[1].network, "one network");
        assert!(without_weights(&pair[0]) == without_weights(&pair[1]), "one graph");
        assert_eq!(differing(&pair[0], &pair[1]), ["tape"], "other initial weights");
    }
}

#[test]
fn one_network_is_three_learners() {
    check(
        LandscapeKind::Compact,
        &[("copy_label.tm", 2.0, 341), ("ballot.tm", 1.0, 1748), ("largest.tm", 3.0, 2722)],
    );
}

#[test]
fn one_network_is_two_learners_for_stock_gradient_descent() {
    check(LandscapeKind::Plain, &[("copy_label.tm", 2.0, 341), ("ballot.tm", 1.0, 1748)]);
}
