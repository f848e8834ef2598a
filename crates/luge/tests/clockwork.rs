//! Sled learners as circuits: interpreter, circuit simulator and MLP agree, and docs/ordinary.md has their sizes.
//!
//! `LUGE_TEST=exhaustive cargo test -p luge --test clockwork -- --nocapture` runs all learners of the page's table and prints it.

#[path = "../../luge-sled/tests/writer/mod.rs"]
mod writer;

use std::{collections::BTreeMap, ops::ControlFlow};

use luge::{
    StreamJob,
    data::Table,
    job::{TrainJob, catalogue, source::Source},
    mlp::{MlpModel, PreparedMlp},
    stream::{Order, Samples, StreamEngineChoice, StreamLandscape, StreamReport, Via},
};

fn is_exhaustive() -> bool {
    luge_suite::asked_for("exhaustive")
}

/// The learner's job on the samples that ship with it.
fn job(name: &str) -> StreamJob {
    StreamJob::of(Source::open(name).expect("ships")).expect("data that ship").on(StreamLandscape::Mlp)
}

fn prepared(job: &StreamJob, engine: Option<StreamEngineChoice>) -> PreparedMlp {
    let mut job = job.clone();
    (job.options.engine, job.options.n_judged) = (engine, 50);
    job.prepare_mlp().unwrap_or_else(|error| panic!("{}: {error}", job.source.name))
}

fn trained(prepared: &PreparedMlp) -> StreamReport {
    let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
    assert!(report.certificate.proves_the_run() && report.halted, "{:?}", report.certificate);
    assert!(report.certificate.get("program").is_some(), "{:?}", report.certificate);
    report
}

fn steps_on_tapes(job: &StreamJob) -> u64 {
    match TrainJob::of(job.source.clone()) {
        Ok(train) => train.prepare().expect("a lesson").simulated().expect("an end").machine_steps,
        Err(_) => job.clone().on(StreamLandscape::Plain).prepare().expect("a lesson").rehearsal.steps,
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// A learner's row in docs/ordinary.md.
fn row(job: &StreamJob, prepared: &PreparedMlp, on_tapes: u64) -> String {
    let network = &prepared.network.network;
    let numbers = [
        on_tapes,
        prepared.rehearsal.steps,
        prepared.rehearsal.n_taken,
        prepared.circuit.registers().len() as u64,
        network.layers().len() as u64,
        network.n_nonzero() as u64,
        network.n_weights(),
    ];
    let numbers: Vec<String> = numbers.into_iter().map(grouped).collect();
    format!("| {} | {} |", job.source.name, numbers.join(" | "))
}

/// What is quick enough for every run of the tests.
const QUICK: [&str; 5] =
    ["perceptron", "least_squares_line", "nearest_centroid", "stream_perceptron", "stream_mean"];

/// Every learner that ships has its line in docs/ordinary.md: a program its sizes, a machine from tables why it has none.
#[test]
fn learners_that_ship_run_as_circuits() {
    let page = include_str!("../../../docs/ordinary.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let learners = catalogue::learners().chain(catalogue::STREAM_LEARNERS.iter());
    let (mut missing, mut machines): (Vec<String>, BTreeMap<String, Vec<String>>) = Default::default();
    let (mut networks, mut ratios) = (Vec::new(), Vec::new());
    for shipped in learners.filter(|shipped| is_exhaustive() || QUICK.contains(&shipped.name)) {
        let job = job(shipped.name);
        if shipped.extension != "sled" {
            // A machine that takes samples makes as many steps as on tapes; others have their data on a tape.
            if let Err(error) = job.prepare() {
                machines.entry(error.to_string()).or_default().push(format!("`{}`", shipped.name));
            }
            continue;
        }
        let prepared = prepared(&job, Some(StreamEngineChoice::Sparse));
        let on_tapes = steps_on_tapes(&job);
        ratios.push(on_tapes as f64 / prepared.rehearsal.steps as f64);
        let row = row(&job, &prepared, on_tapes);
        println!("{row}");
        missing.extend((!page.contains(&row)).then_some(row));
        networks.push(prepared);
    }
    let refused = machines.into_iter().map(|(why, names)| format!("{}: {why}", names.join(", ")));
    missing.extend(refused.filter(|line| !page.contains(line)));
    if is_exhaustive() {
        let n_rows = networks.len();
        // Rounded down: the last number by which all ratios can be divided so that their product is not below 1.
        let divided = |by: u32| ratios.iter().map(|ratio| ratio / f64::from(by)).product::<f64>();
        let mean = (1..).take_while(|&by| divided(by) >= 1.0).last().unwrap_or(0);
        let line = format!("steps on tapes per step of SGD is {mean} for these {n_rows}");
        missing.extend((!page.contains(&line)).then_some(line));
    }
    assert!(missing.is_empty(), "docs/ordinary.md should have\n{}", missing.join("\n"));
    networks.iter().for_each(|prepared| drop(trained(prepared)));
}

/// A program on rows of its own.
fn small(body: &str, format: &str) -> StreamJob {
    with_labels(body, format, ", y: fix<I,F>", &[1.0, 0.0, -1.0])
}

/// A program on three rows with these labels.
fn with_labels(body: &str, format: &str, declared: &str, labels: &[f64]) -> StreamJob {
    let text = format!("learner small(x: [fix<I,F>; 1]{declared}) -> theta: [fix<I,F>; 2] {{\n{body}\n}}");
    let source = Source { name: "small".to_owned(), text, extension: Some("sled".to_owned()) };
    let names = (0..labels.len() / 3).map(|at| format!("y{at}")).collect();
    let table = Table::new(vec!["x".into()], names, vec![1.0, -0.5, 0.25], labels.to_vec());
    let mut job = StreamJob::new(source, Samples::Table(table, Order::Cycle)).on(StreamLandscape::Mlp);
    job.options.format = format.parse().expect("a format");
    job
}

/// Every weight is trained, rows pass in cycles, and the interpreter agrees. How long a row passes changes nothing but the steps.
#[test]
fn dense_training_runs_a_program() {
    let mut job = small("for sample in data { theta[0] += y; theta[1] = x[0]; }", "fix:2.2");
    let best = prepared(&job, Some(StreamEngineChoice::Dense));
    let report = trained(&best);
    assert_eq!((report.theta, best.rehearsal.n_taken, report.engine), (vec![0.0, 0.25], 3, "dense"));
    for hold in [1, 2, 5] {
        job.options.hold = Some(hold);
        let slower = prepared(&job, Some(StreamEngineChoice::Sparse));
        let (steps, least) = (slower.rehearsal.steps, best.rehearsal.steps);
        assert!(steps >= least, "{hold}: {steps} steps, at best {least}");
        assert_eq!(trained(&slower).theta, [0.0, 0.25], "{hold}");
    }
}

/// Random programs on streams and on tables, with one label or more: theta is the interpreter's, and every iterate of every
/// register is the simulator's, whichever engine trains.
#[test]
fn random_programs_are_trained() {
    let mut state = 7_u64;
    let mut number = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let (mut n_sparse, mut n_dense, mut n_refused, mut n_steps) = (0, 0, 0, 0);
    let n_cases = if is_exhaustive() { 400 } else { 12 };
    for case in 0..n_cases {
        let (takes, n_labels) = (case % 2 == 0, 1 + case % 3);
        let dice = (0..100 + number(300)).map(|_| number(256) as u8).collect();
        let text = writer::with_labels(&writer::without_tapes(&writer::program(dice, takes)), n_labels);
        let source = Source { name: "random".to_owned(), text, extension: Some("sled".to_owned()) };
        let mut numbers = |n: usize| (0..n).map(|_| number(16) as f64 / 4.0 - 2.0).collect::<Vec<f64>>();
        let names = |n: usize, what: &str| (0..n).map(|at| format!("{what}{at}")).collect();
        let table = Table::new(names(2, "x"), names(n_labels, "y"), numbers(10), numbers(5 * n_labels));
        let order = if takes { Order::Draw } else { Order::Cycle };
        let mut job = StreamJob::new(source, Samples::Table(table, order)).on(StreamLandscape::Mlp);
        (job.options.steps, job.options.n_judged) = (1_000, 2);
        job.options.format = "fix:3.2".parse().expect("a format");
        job.primary = "raw:13".to_owned();
        let train = |engine| {
            let mut job = job.clone();
            job.options.engine = Some(engine);
            let prepared = job.prepare_mlp().map_err(|error| error.to_string())?;
            let dense = engine == StreamEngineChoice::Dense;
            if dense && prepared.network.network.n_weights() * prepared.rehearsal.steps > 1 << 27 {
                return Err("too much work".to_owned());
            }
            let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
            assert!(report.certificate.proves_the_run(), "{:?}\n{}", report.certificate, job.source.text);
            assert_eq!(report.halted, report.certificate.get("program").is_some());
            Ok((report.halted, report.theta, report.steps))
        };
        match train(StreamEngineChoice::Sparse) {
            Ok(sparse) => {
                (n_sparse, n_steps) = (n_sparse + usize::from(sparse.0), n_steps + sparse.2);
                let dense = train(StreamEngineChoice::Dense);
                n_dense += usize::from(dense.is_ok());
                assert!(dense.is_err() || dense == Ok(sparse));
            }
            Err(why) => {
                assert!(why.contains("rejects its data") || why.contains("inside another"), "{why}");
                n_refused += 1;
            }
        }
    }
    println!(
        "{n_sparse} by sparse, {n_steps} steps; {n_dense} by dense; {n_refused} reject their data or nest loops"
    );
    assert!(n_sparse > n_cases / 2 && n_dense > n_cases / 4, "{n_sparse} by sparse, {n_dense} by dense");
}

/// Several labels come through outputs of their own; where a learner takes none, each row has 1.
#[test]
fn dense_training_takes_any_number_of_labels() {
    let labels = [1.0, 0.25, -1.0, -0.5, 1.5, 0.0, 0.75, -2.0, 1.0];
    let body = "for sample in data { theta[0] += y[1] - y[2]; if y[0] > x[0] { theta[1] = y[2]; } }";
    let three = with_labels(body, "fix:2.2", ", y: [fix<I,F>; 3]", &labels);
    let none = with_labels("for sample in data { theta[0] += x[0]; }", "fix:2.2", "", &[1.0; 3]);
    for (mut job, n_outputs, theta) in [(three, 3, vec![-0.25, 1.0]), (none, 1, vec![0.75, 0.0])] {
        job.primary = "raw:2".to_owned();
        for engine in [StreamEngineChoice::Dense, StreamEngineChoice::Sparse] {
            let prepared = prepared(&job, Some(engine));
            assert_eq!(prepared.network.network.widths().last(), Some(&n_outputs));
            assert_eq!(trained(&prepared).theta, theta);
        }
    }
}

/// A model file gives the same network again.
#[test]
fn a_model_of_a_program_has_its_network() {
    let job = small("for sample in data { theta[0] += x[0] * y; }", "fix:2.2");
    let prepared = prepared(&job, None);
    let model = MlpModel::new(&prepared, &trained(&prepared));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    std::fs::write(&path, model.to_bytes("model").expect("bytes")).expect("a file");
    let read = MlpModel::load(&path).expect("a model of this kind");
    assert_eq!(read.initial().expect("a network").network.widths(), prepared.network.network.widths());
}

/// A circuit that is not the program's is caught by the interpreter, at every run, and so is a machine on tapes that is not.
#[test]
fn the_certificate_catches_another_program() {
    let rows = small("for sample in data { theta[0] += y; }", "fix:2.2");
    let stream = small("take; theta[0] += y; take; theta[0] += y;", "fix:2.2");
    let mut tapes = stream.clone();
    tapes.options.via = Some(Via::Tapes);
    let on_tapes = tapes.circuit();
    for (circuit, job) in [(rows.circuit(), &rows), (stream.circuit(), &stream), (on_tapes, &stream)] {
        for other in ["+= y", "+= x[0] - y"] {
            let mut circuit = circuit.as_ref().expect("a circuit").clone();
            let program = circuit.program.as_mut().expect("a program");
            program.source.text = program.source.text.replace("+= y", other);
            let prepared = PreparedMlp::new(circuit, Some(job.samples.clone()), job.options.clone());
            let report =
                prepared.expect("a network").train(|_| ControlFlow::Continue(())).expect("an engine");
            let failed = luge::certificate::answer::failed(&report.certificate.claims());
            let expected: &[&str] = if other == "+= y" { &[] } else { &["program"] };
            assert_eq!(failed, expected, "{:?}", report.certificate);
        }
    }
}
