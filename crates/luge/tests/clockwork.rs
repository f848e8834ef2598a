//! Sled learners as circuits: interpreter, circuit simulator and MLP agree, and docs/ordinary.md has their sizes.
//!
//! `LUGE_EXHAUSTIVE=1 cargo test -p luge --test clockwork -- --nocapture` runs all learners of the page's table and prints it.

use std::ops::ControlFlow;

use luge::{
    StreamJob,
    data::Table,
    job::{TrainJob, catalogue, source::Source},
    ordinary::{OrdinaryModel, OrdinaryOptions, OrdinaryReport, PreparedOrdinary},
    stream::{self, Order, STREAM_LEARNERS, Samples, StreamEngineChoice},
};

fn is_exhaustive() -> bool {
    std::env::var_os("LUGE_EXHAUSTIVE").is_some()
}

/// The learner's job on the samples that ship with it, if they have one label.
fn job(name: &str) -> Option<StreamJob> {
    let source = stream::open(name).expect("ships");
    let samples = stream::own_samples(&source, StreamJob::format_for(&source)).expect("data that fit");
    Some(StreamJob::new(source, samples?)).filter(|job| job.samples.sizes().1 == 1)
}

fn prepared(job: &StreamJob, engine: Option<StreamEngineChoice>) -> PreparedOrdinary {
    let circuit = job.circuit().unwrap_or_else(|error| panic!("{}: {error}", job.source.name));
    let options = OrdinaryOptions { engine, n_new: 50, ..OrdinaryOptions::default() };
    PreparedOrdinary::new(circuit, Some(job.samples.clone()), options)
        .unwrap_or_else(|error| panic!("{}: {error}", job.source.name))
}

fn trained(prepared: &PreparedOrdinary) -> OrdinaryReport {
    let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
    assert!(report.proves_the_run() && report.halted, "{:?}", report.certificate);
    assert!(report.certificate.iter().any(|(name, _)| *name == "program"), "{:?}", report.certificate);
    report
}

fn steps_on_tapes(job: &StreamJob) -> u64 {
    match catalogue::find(&job.source.name) {
        Some(shipped) => {
            let lesson = TrainJob::of(shipped.source()).expect("data").prepare().expect("a lesson");
            lesson.simulated().expect("an end").machine_steps
        }
        None => job.prepare().expect("a lesson").rehearsal.steps,
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// A learner's row in docs/ordinary.md.
fn row(job: &StreamJob, prepared: &PreparedOrdinary, on_tapes: u64) -> String {
    let network = &prepared.network.network;
    let numbers = [
        on_tapes,
        prepared.steps,
        prepared.n_taken,
        prepared.circuit.registers().len() as u64,
        network.layers().len() as u64,
        network.n_nonzero() as u64,
        network.n_weights(),
    ];
    let numbers: Vec<String> = numbers.into_iter().map(grouped).collect();
    format!("| {} | {} |", job.source.name, numbers.join(" | "))
}

/// What is quick enough for every run of the tests.
const QUICK: [&str; 4] = ["perceptron", "least_squares_line", "stream_perceptron", "stream_mean"];

#[test]
fn learners_that_ship_run_as_circuits() {
    let page = include_str!("../../../docs/ordinary.md");
    let tables = catalogue::SHIPPED.iter().filter(|shipped| shipped.extension == "sled").map(|s| s.name);
    let streams = STREAM_LEARNERS.iter().map(|shipped| &shipped.program).filter(|p| p.extension == "sled");
    let mut missing = Vec::new();
    for name in tables.chain(streams.map(|program| program.name)) {
        let wanted = QUICK.contains(&name) || is_exhaustive() && page.contains(&format!("| {name} |"));
        let Some(job) = job(name).filter(|_| wanted) else { continue };
        let prepared = prepared(&job, Some(StreamEngineChoice::Sparse));
        let on_tapes = steps_on_tapes(&job);
        let row = row(&job, &prepared, on_tapes);
        println!("{row}");
        trained(&prepared);
        missing.extend((!page.contains(&row)).then_some(row));
    }
    assert!(missing.is_empty(), "docs/ordinary.md should have\n{}", missing.join("\n"));
}

/// A program on rows of its own.
fn small(body: &str, format: &str) -> StreamJob {
    let text = format!("learner small(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] {{\n{body}\n}}");
    let source = Source { name: "small".to_owned(), text, extension: Some("sled".to_owned()) };
    let table = Table::new(vec!["x".into()], vec!["y".into()], vec![1.0, -0.5, 0.25], vec![1.0, 0.0, -1.0]);
    let mut job = StreamJob::new(source, Samples::Table(table, Order::Cycle));
    job.options.format = format.parse().expect("a format");
    job
}

/// Every weight is trained, rows pass in cycles, and the interpreter agrees. How long a row passes changes nothing but the steps.
#[test]
fn dense_training_runs_a_program() {
    let mut job = small("for sample in data { theta[0] += y; theta[1] = x[0]; }", "fix:2.2");
    let best = prepared(&job, Some(StreamEngineChoice::Dense));
    let report = trained(&best);
    assert_eq!((report.theta, best.n_taken, report.engine), (Some(vec![0.0, 0.25]), 3, "dense"));
    for hold in [1, 2, 5] {
        job.options.hold = Some(hold);
        let slower = prepared(&job, Some(StreamEngineChoice::Sparse));
        assert!(slower.steps >= best.steps, "{hold}: {} steps, at best {}", slower.steps, best.steps);
        assert_eq!(trained(&slower).theta, Some(vec![0.0, 0.25]), "{hold}");
    }
}

/// A model file gives the same network again.
#[test]
fn a_model_of_a_program_has_its_network() {
    let job = small("for sample in data { theta[0] += x[0] * y; }", "fix:2.2");
    let prepared = prepared(&job, None);
    let model = OrdinaryModel::new(&prepared, &trained(&prepared));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    std::fs::write(&path, model.to_bytes("model").expect("bytes")).expect("a file");
    let read = OrdinaryModel::load(&path).expect("valid").expect("a model of this kind");
    assert_eq!(read.initial().expect("a network").network.widths(), prepared.network.network.widths());
}

/// A circuit that is not the program's is caught by the interpreter, at every run.
#[test]
fn the_certificate_catches_another_program() {
    let job = small("for sample in data { theta[0] += y; }", "fix:2.2");
    let mut circuit = job.circuit().expect("a circuit");
    let program = circuit.program.as_mut().expect("a program");
    program.source.text = program.source.text.replace("+= y", "-= x[0]");
    let options = OrdinaryOptions { n_new: 50, ..OrdinaryOptions::default() };
    let prepared = PreparedOrdinary::new(circuit, Some(job.samples), options).expect("a network");
    let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
    let failed: Vec<&str> =
        report.certificate.iter().filter(|(_, c)| !c.holds).map(|(name, _)| *name).collect();
    assert_eq!(failed, ["program"], "{:?}", report.certificate);
}
