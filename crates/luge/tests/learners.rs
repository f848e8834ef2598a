//! The learners that ship, end to end: interpreter, simulator and gradient descent agree bit for bit, the certificate holds,
//! the dense engine agrees wherever it looks, and the saved model predicts what a plain implementation predicts.
//! Learners that take millions of steps on their data learn from a few rows here; `programs` runs them on all.

#[path = "programs/plain.rs"]
mod plain;

use std::{ops::ControlFlow, sync::Arc};

use luge::{
    data::Table,
    files::model::Model,
    job::{
        Data, Primaries, StandardPrimaries, TrainJob,
        catalogue::{self, Shipped},
        program,
    },
    run::engine::EngineChoice,
    training::{PreparedTraining, TrainingOptions, TrainingReport},
};
use luge_landscape::{Carrier, Learner, Primary};
use luge_net::{NumberFormat, Values};
use luge_train::{CacheLevel, Dense, Engine, Exact, Precision, Rate, StopRule};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A learner that ships, compiled for its own data or a few rows of them.
struct Subject {
    job: TrainJob,
    table: Table,
    format: NumberFormat,
    primary: Arc<dyn Primary>,
    learner: Learner,
}

/// Learners that take long, and how they are kept short: so many rows, from all over the table, so many features, and these constants.
const LONG: [(&str, usize, usize, &[&str]); 11] = [
    ("perceptron_rounds", 20, 4, &[]),
    ("mlp", 4, 2, &["ROUNDS=8"]),
    ("ridge", 12, 3, &[]),
    ("logistic_regression", 20, 4, &[]),
    ("naive_bayes", 20, 4, &[]),
    ("decision_stump", 20, 4, &[]),
    ("decision_tree", 20, 2, &[]),
    ("k_means", 12, 4, &[]),
    ("condensed_neighbours", 12, 4, &[]),
    ("early_stopping", 20, 3, &[]),
    ("evolution", 16, 2, &["ROUNDS=12"]),
];

fn subject(shipped: &'static Shipped) -> Subject {
    let mut job = TrainJob::of(shipped.source()).expect("data that ship");
    if let Some((_, n_rows, n_features, constants)) = LONG.iter().find(|(name, ..)| *name == shipped.name) {
        job.data = Data::Table(part(&job.table().expect("data that fit"), *n_rows, *n_features));
        job.set = constants.iter().map(|&constant| constant.to_owned()).collect();
    }
    let table = job.table().expect("data that fit");
    let loaded = job.load(&table).expect("a program");
    let (n_features, n_labels) = (table.feature_names.len(), table.label_names.len());
    let primary = StandardPrimaries.find(&job.primary, n_features, n_labels).expect("a network");
    let learner = Learner::new(&loaded.machine, loaded.input.as_ref()).expect("a learner");
    Subject { format: job.options.format, job, table, primary, learner }
}

/// Rows as far apart as they can be, and the first features of each.
fn part(table: &Table, n_rows: usize, n_features: usize) -> Table {
    let rows = || (0..n_rows).map(|i| i * table.n_samples() / n_rows);
    let x = rows().flat_map(|row| table.features.row(row)[..n_features].to_vec()).collect();
    let y = rows().flat_map(|row| table.labels.row(row).to_vec()).collect();
    Table::new(table.feature_names[..n_features].to_vec(), table.label_names.clone(), x, y)
}

/// The learners in Sled.
fn programs() -> impl Iterator<Item = &'static Shipped> {
    catalogue::SHIPPED.iter().filter(|shipped| shipped.extension == "sled")
}

impl Subject {
    fn options(&self, engine: EngineChoice) -> TrainingOptions {
        TrainingOptions { engine, ..TrainingOptions::new(self.format) }
    }

    fn lesson(&self, options: &TrainingOptions) -> PreparedTraining {
        PreparedTraining::prepare(
            self.learner.clone(),
            self.primary.clone(),
            self.table.clone(),
            options.clone(),
        )
        .expect("a lesson")
    }

    fn train(&self, options: &TrainingOptions) -> TrainingReport {
        self.lesson(options).train(|_| ControlFlow::Continue(())).expect("gradients")
    }

    /// What the direct interpreter makes of program and data.
    fn interpreted(&self) -> Vec<f64> {
        let ended = self.job.interpret(&self.table, 100_000_000).expect("a program").expect("a program");
        assert_eq!(ended.verdict, luge_sled::Verdict::Accepted, "{}", self.job.source.name);
        let sizes = program::sizes(self.format, 1, 1).expect("fixed point");
        ended.theta.iter().map(|&raw| raw as f64 / f64::from(1_u32 << sizes.fraction)).collect()
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn check(shipped: &'static Shipped) {
    let name = shipped.name;
    let subject = subject(shipped);
    let expected = subject.interpreted();
    let options = subject.options(EngineChoice::Exact);
    let exact = subject.train(&options);
    assert_eq!(bits(&exact.theta), bits(&expected), "{name}: exact");
    let failed: Vec<_> = exact.certificate.claims().into_iter().filter(|(_, check)| !check.holds).collect();
    assert!(failed.is_empty(), "{name}: {failed:?}");
    let sparse = subject.train(&subject.options(EngineChoice::Sparse));
    assert_eq!(bits(&sparse.theta), bits(&expected), "{name}: sparse");
    assert!(sparse.certificate.proves_the_run(), "{name}: sparse");
    assert_eq!(exact.parameters, sparse.parameters, "{name}: every weight");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let lesson = subject.lesson(&options);
    Model::new(&lesson, &exact).save(&path).expect("a file");
    let model = Model::load(&path).expect("a model");
    let predictor = luge::files::predictor::Predictor::new(&*subject.primary, model.theta.clone());
    let predicted = predictor.predict(&subject.table.features);
    let n_labels = subject.table.label_names.len();
    for (row, x) in subject.table.features.data.chunks(subject.table.features.shape.cols).enumerate() {
        let plain = plain::prediction(&subject.job.primary, &model.theta, x, n_labels);
        let own = predicted.row(row);
        assert!(own.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0)), "{name}");
    }
}

#[test]
fn interpreter_simulator_and_network_agree() {
    let programs = std::sync::Mutex::new(programs());
    let next = || programs.lock().expect("no check panics with the list").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(shipped) = next() {
                    check(shipped);
                }
            });
        }
    });
}

/// Where weights drift the sparse engine still ends with the same theta.
#[test]
fn with_the_paper_s_carrier() {
    let mut n_drifting = 0;
    for shipped in
        catalogue::SHIPPED.iter().filter(|s| ["least_squares_line", "sgd_linear"].contains(&s.name))
    {
        let subject = subject(shipped);
        let options =
            TrainingOptions { carrier: Carrier::Orthogonal, ..subject.options(EngineChoice::Sparse) };
        let lessons = subject.train(&options);
        assert_eq!(bits(&lessons.theta), bits(&subject.interpreted()), "{}", shipped.name);
        assert!(lessons.certificate.proves_the_run(), "{}", shipped.name);
        n_drifting += u32::from(lessons.drift.is_some_and(|drift| drift.head > 0.0));
    }
    assert!(n_drifting > 0, "a carrier whose gain is not 1");
}

/// The dense engine continues from 20 random steps of a run and agrees in every weight of every step.
fn spots(shipped: &'static Shipped, n_steps: u64) {
    let name = shipped.name;
    let subject = subject(shipped);
    let options = subject.options(EngineChoice::Exact);
    let lesson = subject.lesson(&options);
    let machine_steps = lesson.simulated().expect("an answer").machine_steps;
    let extended = lesson.extended();
    let (network, inputs) = (extended.network(), lesson.inputs());
    let mut exact = Exact::new(network, extended.initial(), &inputs, CacheLevel::Steps).expect("exact");
    let mut generator = ChaCha8Rng::seed_from_u64(20);
    let mut moments: Vec<u64> = (0..19).map(|_| generator.next_u64() % machine_steps).collect();
    // The end, where the loss drops, is one of them.
    moments.push(machine_steps - n_steps.min(2) + 1);
    moments.sort_unstable();
    moments.dedup();
    let parameters = |engine: &Exact<'_>| -> Vec<Values> {
        let snapshot = engine.snapshot();
        let shift = vec![0; snapshot.tapes.len()];
        snapshot.parameters_of(network, &shift).expect("a run inside the window")
    };
    let mut dense =
        Dense::new(network, extended.initial(), &inputs, Precision::F64, Rate::One, None).expect("dense");
    for at in moments {
        let stop = StopRule {
            loss_at_most: extended.bounds().stop,
            not_before: 1,
            most_steps: at.max(exact.steps()),
        };
        exact.run(&stop).expect("gradients");
        dense.go_to(&parameters(&exact)).expect("weights that fit");
        for step in 0..n_steps {
            let (own, expected) = (exact.loss().expect("a loss"), dense.loss().expect("a loss"));
            assert!(
                (own - expected).abs() <= 1e-12 * expected.abs(),
                "{name}: {own} {expected}, {step} after {at}"
            );
            exact.step().expect("a gradient");
            dense.step().expect("a gradient");
            assert!(
                parameters(&exact) == dense.parameters().expect("weights"),
                "{name}: {step} steps after {at}"
            );
        }
    }
}

#[test]
fn dense_agrees_wherever_it_looks() {
    // Half a million vertices, all evaluated, take a second a step; where everything is checked there are more steps.
    let all = luge_suite::asked_for("exhaustive");
    for shipped in programs() {
        spots(shipped, if all { 3 } else { 1 });
    }
}
