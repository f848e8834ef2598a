//! Learners on data: the cost of a step, of comparing and of certifying, and how it grows with samples and tapes.

use std::{fmt::Write as _, ops::ControlFlow, time::Instant};

use luge_landscape::LandscapeKind;

use super::{
    Comparison, Effort, Figure, Growth,
    contenders::{DENSE, EXACT, Made, SPARSE, STEPS, landscape},
    native::{Branches, Native},
    simulate,
};
use luge::{
    data::PrepareOptions,
    job::{Data, JobError, TrainJob, catalogue, program},
    run::ObservationRate,
    training::PreparedTraining,
};

/// The machine written out as a program, with a branch for every rule, and as fast as we could make it.
const NATIVE: [(&str, Branches); 2] =
    [("native code, a branch per rule", Branches::Rules), ("tuned native code", Branches::Moves)];
const SIMULATOR: &str = "Luge's simulator";

/// Only the fastest engines make runs of more steps than this, with fewer repetitions.
const LONG: u64 = 20_000_000;

/// Creates a job when it is needed.
type Job = fn() -> Result<TrainJob, JobError>;

/// A learner that ships, on its own data.
fn shipped(name: &str) -> Result<TrainJob, JobError> {
    let shipped = catalogue::find(name).unwrap_or(&catalogue::SHIPPED[0]);
    TrainJob::of(shipped.source())
}

/// A learner that ships, on numbers of the given format.
fn on(
    name: &str,
    text: String,
    target: &str,
    features: Option<Vec<String>>,
    format: &str,
) -> Result<TrainJob, JobError> {
    let mut job = shipped(name)?;
    let target = vec![target.to_owned()];
    job.data = Data::Csv {
        name: "data".to_owned(),
        text,
        target,
        features,
        saturate: false,
        prepare: PrepareOptions::default(),
    };
    if let Ok(format) = format.parse() {
        job.options.format = format;
    }
    Ok(job)
}

/// The learners side by side with simulators, each with its title.
pub(super) fn jobs() -> [(&'static str, Job); 4] {
    [
        ("perceptron on Iris, 4 features, 150 rows", || shipped("perceptron")),
        ("perceptron on digits, 64 features, 1,797 rows", || {
            let features = (0..64).map(|i| format!("p{i}")).collect();
            on("perceptron", catalogue::DIGITS.to_owned(), "zero", Some(features), "fix:8.1")
        }),
        ("k-means on wine", || shipped("k_means")),
        ("parity by elimination, 32 bits", || shipped("parity_elimination")),
    ]
}

/// One learner: its machine as a program and simulated, its network trained by every engine, and the parts of `luge train`.
pub(super) fn compare_learner(
    title: &str,
    job: &TrainJob,
    effort: Effort,
    say: &mut impl FnMut(&str),
) -> Result<Comparison, JobError> {
    let lesson = job.prepare()?;
    let n_steps = lesson.simulated()?.machine_steps;
    let long = n_steps > LONG;
    let repeats = if long { effort.repeats.min(2) } else { effort.repeats };
    let normal = lesson.learner().lowered().normal.machine().clone();
    let (table, layout) = (lesson.table(), lesson.layout());
    let input = lesson.learner().input(layout, &program::bits(table, layout.format));
    let mut figures = Vec::new();
    for (name, branches) in NATIVE {
        let native = Native::compile(&normal, branches);
        match native.and_then(|native| native.run(&normal, &input, effort.repeats)) {
            Ok(run) => figures.push(Figure::new(name, run.steps.into(), run.seconds)),
            Err(error) => say(&format!("no native code to compare with: {error}")),
        }
    }
    let reference = figures.last().map_or(SIMULATOR.to_owned(), |figure: &Figure| figure.name.clone());
    let mut measure =
        |name: &str, run: &mut dyn FnMut() -> Made| figures.push(Figure::measured(name, repeats, run));
    measure(SIMULATOR, &mut || simulate(&normal, &input, effort.most_steps));
    if !long {
        let alone = landscape(&normal, &input, LandscapeKind::Compact, None);
        measure("exact, landscape alone", &mut || EXACT.trace(&alone, effort.most_steps));
    }
    let contenders =
        [(EXACT, u64::MAX), (STEPS, u64::MAX), (SPARSE, u64::MAX), (DENSE, effort.dense_steps.min(20))];
    for (contender, most_steps) in contenders.into_iter().take(if long { 1 } else { 4 }) {
        let most_steps = most_steps.min(effort.most_steps);
        measure(contender.name, &mut || contender.train(lesson.task(), most_steps));
    }
    if n_steps < effort.most_steps {
        figures.extend(parts(job, repeats)?);
    }
    Ok(Comparison::new(title, &reference, figures))
}

/// What `luge train` consists of: training with every iterate compared, the certificate with the situations it
/// differentiates, and all of it, the preparation included.
fn parts(job: &TrainJob, repeats: u32) -> Result<Vec<Figure>, JobError> {
    let (mut steps, mut least) = (0, [f64::INFINITY; 3]);
    for _ in 0..repeats.max(1) {
        let started = Instant::now();
        let lesson = job.prepare()?;
        let (made, compared, certified) = train(&lesson)?;
        steps = made;
        for (least, seconds) in least.iter_mut().zip([compared, certified, started.elapsed().as_secs_f64()]) {
            *least = least.min(seconds);
        }
    }
    let names = ["every iterate compared", "certificate", "luge train in all"];
    Ok(names.into_iter().zip(least).map(|(name, seconds)| Figure::new(name, steps.into(), seconds)).collect())
}

/// Trains. Returns the number of steps, and the seconds for training with comparison and for the certificate.
fn train(lesson: &PreparedTraining) -> Result<(u64, f64, f64), JobError> {
    let started = Instant::now();
    let report = lesson.follow(None, ObservationRate::Moments, |_| ControlFlow::Continue(()))?;
    let compared = report.trained_in.as_secs_f64();
    Ok((report.outcome.steps(), compared, started.elapsed().as_secs_f64() - compared))
}

/// Nanoseconds per step of the whole of `luge train` while samples grow in number: one pass of `sgd_linear` over 4 features.
pub(super) fn growing_samples(effort: Effort) -> Result<Growth, JobError> {
    let mut rows = Vec::new();
    let mut n_rows = 100;
    while n_rows <= effort.most_rows {
        let mut job = on("sgd_linear", table(n_rows), "y", None, "fix:8.4")?;
        job.set = vec!["ROUNDS=1".to_owned()];
        let mut least = f64::INFINITY;
        for _ in 0..(100_000 / n_rows).clamp(1, 3) {
            let started = Instant::now();
            let steps = train(&job.prepare()?)?.0;
            least = least.min(started.elapsed().as_secs_f64() * 1e9 / steps as f64);
        }
        rows.push((n_rows as u64, vec![least]));
        n_rows *= 10;
    }
    let what = "samples: one pass of sgd_linear over 4 features".to_owned();
    Ok(Growth { what, engines: vec!["luge train in all".to_owned()], rows })
}

/// A table of this many rows, always the same ones: y is linear in three of four features.
fn table(n_rows: usize) -> String {
    let mut text = "a,b,c,d,y\n".to_owned();
    let mut state = 1_u32;
    let mut sixteenths = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 26) / 16.0 - 2.0
    };
    for _ in 0..n_rows {
        let [a, b, c, d] = [sixteenths(), sixteenths(), sixteenths(), sixteenths()];
        let y = (16.0 * (0.5 * a - 0.25 * b + c + 0.125)).round() / 16.0;
        let _ = writeln!(text, "{a},{b},{c},{d},{y}");
    }
    text
}
