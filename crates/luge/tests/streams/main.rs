//! Learning from streams: random machines, the learners that ship, and what must be refused.

mod random;

use std::{ops::ControlFlow, sync::Arc};

use luge::{
    JobError, PreparedStream, StreamJob,
    stream::{Order, Samples, StreamEngineChoice, StreamOptions, StreamReport},
};
use luge_landscape::{DataLayout, Mlp};
use luge_machine::{
    SymbolId,
    stream::{Batch, StreamSimulator},
};
use luge_net::{Values, numbers::Overflow};
use luge_train::{Dense, Precision, Rate, SparseStream, StreamEngine};
use random::Dice;

/// A lesson of a random machine: batches of 1, 2 or 7 samples, one or two labels with fractions and signs.
fn random_lesson(seed: u64, engine: StreamEngineChoice, steps: u64) -> Option<PreparedStream> {
    let (format, unit, range) =
        [("fix:2.0", 1.0, 1), ("fix:3.2", 0.25, 15), ("fix:2.3:sm", 0.125, 15)][(seed % 3) as usize];
    let batch = [1, 2, 7][(seed / 3 % 3) as usize];
    let n_labels = 1 + (seed / 9 % 2) as usize;
    let mut dice = Dice::new(seed);
    let learner = random::learner(&mut dice);
    let n_features = 1 + dice.below(2) as usize;
    let table = random::table(&mut dice, n_features, n_labels, unit, range);
    let primary = Arc::new(Mlp::linear(n_features, n_labels));
    let mut options = StreamOptions::new(format.parse().expect("a format"));
    (options.batch, options.seed, options.engine, options.steps) = (batch, seed, Some(engine), steps);
    let samples = Samples::Table(table, Order::Draw);
    let prepare = |options: &StreamOptions| {
        PreparedStream::prepare(learner.clone(), primary.clone(), samples.clone(), options.clone())
    };
    match prepare(&options) {
        Ok(lesson) => Some(lesson),
        // Caught when it is run: what comes before is still to be traced.
        Err(JobError::Stopped { step, .. }) if step > 0 => {
            options.steps = step;
            Some(prepare(&options).expect("the same run, shorter"))
        }
        Err(JobError::Stream(_)) => None,
        Err(other) => panic!("seed {seed}: {other}"),
    }
}

fn train(lesson: &PreparedStream) -> StreamReport {
    lesson.train(|_| ControlFlow::Continue(())).expect("an engine that goes on")
}

/// Every step of every machine is the simulator's; where a machine halts, no further batch moves a weight.
fn check(seed: u64, engine: StreamEngineChoice, steps: u64) -> (u64, u64, bool) {
    let Some(lesson) = random_lesson(seed, engine, steps) else { return (0, 0, false) };
    let report = train(&lesson);
    let certificate = &report.certificate;
    for (name, claim) in certificate.claims() {
        let needs_end = matches!(name, "step_count" | "output_equals_primary" | "at_rest");
        assert!(claim.holds || needs_end && !report.halted, "seed {seed}, {name}: {}", claim.figures);
    }
    assert_eq!(report.steps, lesson.rehearsal.steps, "seed {seed}");
    (report.steps, report.taken, report.halted)
}

#[test]
fn random_machines_by_the_sparse_engine() {
    let (mut n_steps, mut n_taken, mut n_halted) = (0, 0, 0);
    for seed in 0..1_000 {
        let (steps, taken, halted) = check(seed, StreamEngineChoice::Sparse, 200);
        (n_steps, n_taken, n_halted) = (n_steps + steps, n_taken + taken, n_halted + u64::from(halted));
    }
    assert!(n_steps > 10_000 && n_taken > 2_000 && n_halted > 100, "{n_steps} {n_taken} {n_halted}");
}

#[test]
fn random_machines_by_the_dense_engine() {
    let taken: u64 = (1_000..1_120).map(|seed| check(seed, StreamEngineChoice::Dense, 30).1).sum();
    assert!(taken > 120, "{taken}");
}

/// In f32 every weight errs more, and the configurations are the same.
#[test]
fn random_machines_in_f32() {
    let mut n_steps = 0;
    for seed in 2_000..2_060 {
        let Some(lesson) = random_lesson(seed, StreamEngineChoice::Sparse, 40) else { continue };
        let stream_network = &lesson.network;
        stream_network.constants.check_rounding(24).unwrap();
        let (network, start) = (&stream_network.network, &stream_network.initial);
        let inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
        let mut dense = Dense::new(network, start, &inputs, Precision::F32, Rate::One, None).unwrap();
        let mut sparse = SparseStream::new(network, start).unwrap();
        let mut stream = lesson.stream();
        let (mut x, mut y) = (inputs[0].data.clone(), inputs[1].data.clone());
        for step in 0..lesson.rehearsal.steps {
            stream.next_batch(&mut x, &mut y);
            sparse.step_on(&x, &y).unwrap();
            dense.step_on(&x, &y).unwrap();
            let (found, expected) =
                (stream_network.decode(&dense.weights()), stream_network.decode(&sparse.weights()));
            assert_eq!(found, expected, "seed {seed}, step {step}");
            n_steps += 1;
        }
    }
    assert!(n_steps > 500, "{n_steps}");
}

/// A learner that breaks the rules of the slot whatever happens is refused; one that does so in some run is caught there.
#[test]
fn taking_too_soon_and_latching_too_late() {
    let lesson = |text: &str| {
        let source = luge::Source {
            name: "learner".to_owned(),
            text: text.to_owned(),
            extension: Some("tm".to_owned()),
        };
        let mut job = StreamJob::new(source, Samples::Draw("halfspace:features=1".parse().unwrap()));
        job.options.steps = 50;
        job.prepare().map(|_| ()).map_err(|error| error.to_string())
    };
    let machine = |rules: &str| {
        format!("machine\ntape data: 0 1 blank 0 read-only\ntape theta: 0 1 blank 0\n{rules}end: accept\n")
    };
    let soon = machine(
        "a: take\n * * -> * *, S S, b\nb: latch\n * * -> * *, S S, c\nc: take\n * * -> * *, S S, end\n",
    );
    let refused = "state `c` takes a batch too soon: between two takes there are at least two steps";
    assert_eq!(lesson(&soon), Err(refused.to_owned()));
    let late =
        machine("a: take\n * * -> * *, S S, b\nb:\n * * -> * *, S S, c\nc: latch\n * * -> * *, S S, end\n");
    let refused = "state `c` latches labels that are not there: a latch is the very next step after a take";
    assert_eq!(lesson(&late), Err(refused.to_owned()));
    let round = machine("a: take\n * * -> * *, S S, b\nb: latch\n * * -> * *, S S, a\n");
    let caught = "after 2 steps and 1 batches taken, state `a` takes a batch too soon: between two takes there are at least two steps";
    assert_eq!(lesson(&round), Err(caught.to_owned()));
    let none = machine("a:\n * * -> * *, S S, end\n");
    assert_eq!(lesson(&none), Err("the learner takes no samples: no state is marked `take`".to_owned()));
}

fn open(learner: &str) -> luge::Source {
    luge::Source::open(learner).expect("it ships")
}

fn parity(learner: &str, bits: usize, hidden: usize, seed: u64) -> StreamJob {
    let draw = format!("parity:bits={bits},hidden={hidden}").parse().expect("a parity");
    let mut job = StreamJob::new(open(learner), Samples::Draw(draw));
    job.options.seed = seed;
    job
}

fn certified(lesson: &PreparedStream) -> StreamReport {
    let report = train(lesson);
    let failed = report.certificate.claims().into_iter().find(|(_, claim)| !claim.holds);
    assert!(failed.is_none(), "{failed:?}");
    report
}

fn finds_parities(learner: &str, sizes: &[(usize, usize)]) {
    for &(bits, hidden) in sizes {
        for seed in 0..3 {
            let lesson = parity(learner, bits, hidden, seed).prepare().expect("a lesson");
            let report = certified(&lesson);
            assert_eq!(report.theta, lesson.stream().hidden(), "{bits} bits");
            assert_eq!(report.judged, Some((10_000, 10_000)));
            assert!(report.taken < bits as u64 + 20, "{} taken", report.taken);
        }
    }
}

#[test]
fn parities_are_found_by_the_program() {
    finds_parities("parity", &[(1, 1), (2, 1), (5, 5), (12, 6)]);
}

#[test]
fn parities_are_found_by_the_machine() {
    finds_parities("parity_machine", &[(1, 1), (2, 1), (5, 5), (8, 4), (16, 8)]);
}

#[test]
fn labels_that_are_no_parity_contradict_themselves() {
    for learner in ["parity", "parity_machine"] {
        let mut job = parity(learner, 6, 3, 1);
        let Samples::Draw(draw) = &mut job.samples else { unreachable!() };
        draw.noise = 0.3;
        let report = train(&job.prepare().unwrap());
        assert!(report.halted && report.certificate.proves_the_run());
    }
}

/// A learner that ships on the stream that its story is about.
fn shipped(name: &str, seed: u64, batch: usize) -> PreparedStream {
    let mut job = StreamJob::of(open(name)).expect("its samples");
    (job.options.seed, job.options.batch) = (seed, batch);
    job.prepare().expect("a lesson")
}

#[test]
fn the_mean_of_sixteen_labels() {
    for (name, batch, taken) in [("stream_mean", 1, 16), ("stream_mean", 5, 4), ("stream_average", 1, 16)] {
        let report = certified(&shipped(name, 5, batch));
        assert_eq!((report.taken, report.theta.len(), report.theta[1].to_bits()), (taken, 2, 0), "{name}");
        assert!((1.0..6.9).contains(&report.theta[0]), "{}", report.theta[0]);
    }
}

/// The samples that the learner takes, found by its simulator alone.
fn samples_taken(lesson: &PreparedStream) -> Vec<(f64, f64)> {
    let (format, batch) = (lesson.options.format, lesson.options.batch);
    let layout = DataLayout { n_samples: batch, n_features: 1, n_labels: 1, format };
    let learner = &lesson.learner;
    let input = learner.input(&layout, &vec![false; layout.n_bits()]);
    let machine = learner.lowered().normal.machine();
    let mut simulator = StreamSimulator::new(machine, &input, learner.memory(&layout));
    let mut stream = lesson.stream();
    let (mut x, mut y, mut taken) = (vec![0.0; batch], vec![0.0; batch], Vec::new());
    for _ in 0..lesson.rehearsal.steps {
        stream.next_batch(&mut x, &mut y);
        let bits = |numbers: &[f64]| {
            let words =
                numbers.iter().map(|&number| format.encode(number, Overflow::Saturate).expect("a number"));
            words.flat_map(|word| format.bits(word)).map(|bit| SymbolId(u8::from(bit))).collect()
        };
        let seen = || {
            taken.extend(x.iter().copied().zip(y.iter().copied()));
            Batch { features: bits(&x), labels: bits(&y) }
        };
        simulator.step(seen).expect("a step");
    }
    taken
}

#[test]
fn the_program_and_the_interpreter_agree_on_the_samples_taken() {
    for batch in [1, 3] {
        let lesson = shipped("stream_mean", 2, batch);
        let report = certified(&lesson);
        let sizes = luge_sled::Sizes { n_features: 1, n_labels: 1, integer: 6, fraction: 4 };
        let raw = |value: f64| (value * 16.0) as i64;
        let samples: Vec<Vec<i64>> =
            samples_taken(&lesson).into_iter().map(|(x, y)| vec![raw(x), raw(y)]).collect();
        let text = open("stream_mean").text;
        let program = luge_sled::Program::new(&text, &sizes, &luge_sled::Settings::default()).unwrap();
        let reference = program.interpret(&samples, 100_000);
        let theta: Vec<i64> = report.theta.iter().map(|&theta| raw(theta)).collect();
        assert_eq!((reference.verdict, reference.theta), (luge_sled::Verdict::Accepted, theta));
    }
}

#[test]
fn irises_that_pass() {
    let lesson = shipped("stream_perceptron", 0, 1);
    let report = certified(&lesson);
    let (right, all) = report.judged.unwrap();
    assert!(right * 100 >= all * 97, "{right} of {all}");
}

/// What belongs to `luge train` is refused here, and the other way round.
#[test]
fn tables_and_streams_are_told_apart() {
    let draw = Samples::Draw("halfspace:features=2".parse().unwrap());
    let perceptron = luge::Source::open("perceptron").unwrap();
    let refused = StreamJob::new(perceptron, draw).prepare().map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "the learner takes no samples: no state is marked `take`");
    let csv = "a,y\n1,1\n".to_owned();
    let data = luge::Data::Csv {
        name: "d".into(),
        text: csv,
        target: vec!["y".into()],
        features: None,
        saturate: false,
        prepare: luge::data::PrepareOptions::default(),
    };
    let learner = open("stream_mean");
    let refused = luge::TrainJob::new(learner, data).prepare().map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("stream"), "{refused}");
}
