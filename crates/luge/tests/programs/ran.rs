//! Running a program: by the interpreter, and by the machine that is made of it.

use std::sync::Arc;

use luge::{
    data::Table,
    files::predictor::Predictor,
    job::{Primaries, StandardPrimaries, TrainJob, catalogue::find, program},
};
use luge_landscape::{Learner, Primary};
use luge_machine::{
    Simulator, TapeId,
    lowering::{Moves, lower},
};
use luge_sled::{Program, Settings, Verdict};

/// A learner that has run on its data, both ways.
pub(crate) struct Ran {
    pub(crate) table: Table,
    /// Counts of 2^-fraction: features and labels of each sample.
    pub(crate) samples: Vec<Vec<i64>>,
    /// The same as numbers, without the labels, and the labels.
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    pub(crate) theta: Vec<i64>,
    pub(crate) fraction: u32,
    pub(crate) primary: Arc<dyn Primary>,
    pub(crate) vertices: u64,
    /// Its row in docs/sled.md, without times.
    pub(crate) row: String,
}

/// Runs a learner on the data that ship with it.
pub(crate) fn ran(name: &str) -> Ran {
    let shipped = find(name).expect("a learner that ships");
    run(&TrainJob::of(shipped.source()).expect("a learner that ships"))
}

/// Runs a program both ways.
pub(crate) fn run(job: &TrainJob) -> Ran {
    let (name, text) = (&job.source.name, &job.source.text);
    let (table, format) = (job.table().expect("a learner that ships"), job.options.format);
    let (n_features, n_labels) = (table.feature_names.len(), table.label_names.len());
    let sizes = program::sizes(format, n_features, n_labels).expect("a learner that ships");
    let bits = program::bits(&table, format);
    let width = sizes.width() as usize;
    let number = |bits: &[bool]| {
        let raw: i64 = bits.iter().rev().fold(0, |n, &bit| n << 1 | i64::from(bit));
        raw << (64 - width) >> (64 - width)
    };
    let numbers: Vec<i64> = bits.chunks(width).map(number).collect();
    let samples: Vec<Vec<i64>> = numbers.chunks(n_features + n_labels).map(<[i64]>::to_vec).collect();

    let program = Program::new(text, &sizes, &Settings::default()).expect("a learner that ships");
    let reference = program.interpret(&samples, 100_000_000);
    assert_eq!(reference.verdict, Verdict::Accepted, "{name}");
    assert_eq!(reference.wraps, [], "{name}: no number is too large");
    let compiled = program::compile(text, name, &sizes, &[]).expect("a learner that ships");
    let learner = Learner::new(&compiled.machine, Some(&compiled.input)).expect("a learner that ships");
    let input = learner.source_input(&program::layout(&table, format), &bits);
    let mut simulator = Simulator::new(&compiled.machine, &input);
    assert!(simulator.run(200_000_000).accepting(), "{name}");
    let tapes = compiled.machine.tapes();
    let tape = TapeId::new(tapes.iter().position(|tape| tape.name == "theta").expect("a learner that ships"));
    let cell =
        |cell: usize| simulator.tape(tape).read(i64::try_from(cell).expect("a learner that ships")).0 == 1;
    let left: Vec<bool> = (0..compiled.n_theta * width).map(cell).collect();
    let theta: Vec<i64> = left.chunks(width).map(number).collect();
    assert_eq!(theta, reference.theta, "{name}");
    let primary = StandardPrimaries.find(&job.primary, n_features, n_labels).expect("a network that ships");
    assert_eq!(primary.n_weights(), compiled.n_theta, "{name}");
    let size = lower(&compiled.machine, Moves::Keep).expect("a learner that ships").after;
    let (states, n_tapes) = (compiled.machine.states().len(), tapes.len());
    let (tracks, vertices, steps) = (size.tapes, size.vertices, simulator.steps());
    let row = format!("| {name} | {states} | {n_tapes} | {tracks} | {vertices} | {steps} |");
    let number = |&raw: &i64| raw as f64 / f64::from(1_u32 << sizes.fraction);
    let numbers = |sample: &[i64]| sample.iter().map(number).collect::<Vec<f64>>();
    let (x, y) = samples.iter().map(|s| (numbers(&s[..n_features]), numbers(&s[n_features..]))).unzip();
    Ran { table, samples, x, y, theta, fraction: sizes.fraction, primary, vertices, row }
}

impl Ran {
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.theta.iter().map(|&raw| raw as f64 / f64::from(1_u32 << self.fraction)).collect()
    }

    /// f_theta of every sample, as the network computes it.
    pub(crate) fn predictions(&self) -> Vec<Vec<f64>> {
        let predictor = Predictor::new(&*self.primary, self.weights());
        let predicted = predictor.predict(&self.table.features);
        predicted.data.chunks(predicted.shape.cols).map(<[f64]>::to_vec).collect()
    }

    pub(crate) fn label(&self, sample: usize) -> f64 {
        self.table.labels.data[sample]
    }
}

/// Products of fixed-point numbers are rounded down.
pub(crate) fn times(a: i64, b: i64, fraction: u32) -> i64 {
    (a * b) >> fraction
}

impl Ran {
    /// The features of a sample, as the machine was given them.
    pub(crate) fn x(&self, sample: usize) -> &[f64] {
        &self.x[sample]
    }

    /// The labels of a sample.
    pub(crate) fn y(&self, sample: usize) -> &[f64] {
        &self.y[sample]
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    /// How many samples the network puts into their class: by sign if there is one label, else by the largest.
    pub(crate) fn right(&self) -> usize {
        let predictions = self.predictions();
        let right = |&i: &usize| match self.y(i) {
            [y] => predictions[i][0] * y > 0.0,
            labels => largest(&predictions[i]) == largest(labels),
        };
        (0..self.n_samples()).filter(right).count()
    }
}

/// The place of the largest number, the first if there are several.
pub(crate) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}
