//! The learners that ship: the machine leaves what the interpreter leaves, and both what a plain implementation says.

use luge::{
    catalogue::{self, find},
    data::Table,
    job::TrainJob,
    predictor::Predictor,
    program,
};
use luge_landscape::{Learner, Mlp};
use luge_machine::{
    Simulator, TapeId,
    lowering::{Moves, lower},
};
use luge_sled::{Verdict, interpret};

struct Ran {
    table: Table,
    /// Counts of 2^-fraction: features and labels of each sample.
    samples: Vec<Vec<i64>>,
    theta: Vec<i64>,
    fraction: u32,
    primary: Mlp,
    vertices: u64,
    /// Its row in docs/sled.md, without times.
    row: String,
}

/// Runs a learner both ways.
fn ran(name: &str) -> Ran {
    let shipped = find(name).expect("a learner that ships");
    let lesson = shipped.lesson.as_ref().expect("a learner that ships");
    let job = TrainJob::of(shipped.source()).expect("a learner that ships");
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

    let reference = interpret(shipped.text, &sizes, &samples, 100_000_000).expect("a learner that ships");
    assert_eq!(reference.verdict, Verdict::Accepted);
    let compiled = program::compile(shipped.text, name, &sizes, &[]).expect("a learner that ships");
    let learner = Learner::new(&compiled.machine, Some(&compiled.input)).expect("a learner that ships");
    let input = learner.source_input(&program::layout(&table, format), &bits);
    let mut simulator = Simulator::new(&compiled.machine, &input);
    assert!(simulator.run(100_000_000).accepting(), "{name}");
    let tapes = compiled.machine.tapes();
    let tape = TapeId::new(tapes.iter().position(|tape| tape.name == "theta").expect("a learner that ships"));
    let cell =
        |cell: usize| simulator.tape(tape).read(i64::try_from(cell).expect("a learner that ships")).0 == 1;
    let left: Vec<bool> = (0..compiled.n_theta * width).map(cell).collect();
    let theta: Vec<i64> = left.chunks(width).map(number).collect();
    assert_eq!(theta, reference.theta, "{name}");
    let primary = Mlp::parse(lesson.primary, n_features, n_labels).expect("a learner that ships");
    let size = lower(&compiled.machine, Moves::Keep).expect("a learner that ships").report().after;
    let (states, n_tapes) = (compiled.machine.states().len(), tapes.len());
    let (tracks, vertices, steps) = (size.tapes, size.vertices, simulator.steps());
    let row = format!("| {name} | {states} | {n_tapes} | {tracks} | {vertices} | {steps} |");
    Ran { table, samples, theta, fraction: sizes.fraction, primary, vertices, row }
}

impl Ran {
    fn weights(&self) -> Vec<f64> {
        self.theta.iter().map(|&raw| raw as f64 / f64::from(1_u32 << self.fraction)).collect()
    }

    /// f_theta of every sample, as the network computes it.
    fn predictions(&self) -> Vec<Vec<f64>> {
        let predictor = Predictor::new(&self.primary, self.weights());
        let predicted = predictor.predict(&self.table.features);
        predicted.data.chunks(predicted.shape.cols).map(<[f64]>::to_vec).collect()
    }

    fn label(&self, sample: usize) -> f64 {
        self.table.labels.data[sample]
    }
}

/// Products of fixed-point numbers are rounded down.
fn times(a: i64, b: i64, fraction: u32) -> i64 {
    (a * b) >> fraction
}

#[test]
fn every_learner_is_as_large_as_the_page_says() {
    let page = include_str!("../../../docs/sled.md");
    let mut missing = Vec::new();
    for shipped in catalogue::SHIPPED.iter().filter(|shipped| shipped.extension == "sled") {
        let ran = ran(shipped.name);
        assert!(ran.vertices <= 20_000, "{}: {} vertices", shipped.name, ran.vertices);
        if !page.contains(&ran.row) {
            missing.push(ran.row);
        }
    }
    assert!(missing.is_empty(), "docs/sled.md should have\n{}", missing.join("\n"));
}

#[test]
fn perceptron() {
    let ran = ran("perceptron");
    let one = 1 << ran.fraction;
    let mut theta = vec![0_i64; 5];
    loop {
        let mut mistakes = 0;
        for sample in &ran.samples {
            let products = (0..4).map(|i| times(sample[i], theta[i + 1], ran.fraction));
            let score = theta[0] + products.sum::<i64>();
            if score.signum() != sample[4].signum() {
                mistakes += 1;
                theta[0] += sample[4].signum() * one;
                for i in 0..4 {
                    theta[i + 1] += sample[4].signum() * sample[i];
                }
            }
        }
        if mistakes == 0 {
            break;
        }
    }
    assert_eq!(ran.theta, theta);
    let right = ran.predictions().iter().enumerate().filter(|(i, p)| p[0] * ran.label(*i) > 0.0).count();
    assert_eq!(right, 150);
}

#[test]
fn least_squares_line() {
    let ran = ran("least_squares_line");
    let n = 11.0;
    let (x, y) = (&ran.table.features.data, &ran.table.labels.data);
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sxx: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let (slope, intercept) = (sxy / sxx, my - sxy / sxx * mx);
    assert!((slope - 0.5).abs() < 0.0005 && (intercept - 3.0).abs() < 0.005);
    let nearest = |value: f64| (value * 256.0).round() as i64;
    assert_eq!(ran.theta, [nearest(intercept), nearest(slope)]);
    assert_eq!(ran.theta, [768, 128]);
}

#[test]
fn sgd_linear() {
    let ran = ran("sgd_linear");
    let mut theta = vec![0_i64; 3];
    for _ in 0..24 {
        for sample in &ran.samples {
            let products = (0..2).map(|i| times(sample[i], theta[i + 1], ran.fraction));
            let step = (sample[2] - theta[0] - products.sum::<i64>()) >> 3;
            theta[0] += step;
            for i in 0..2 {
                theta[i + 1] += times(sample[i], step, ran.fraction);
            }
        }
    }
    assert_eq!(ran.theta, theta);
    for (found, expected) in ran.weights().iter().zip([1.0, 2.0, -1.0]) {
        assert!((found - expected).abs() < 0.02, "{:?}", ran.weights());
    }
}

#[test]
fn nearest_centroid() {
    let ran = ran("nearest_centroid");
    let class = |sample: &[i64]| (0..3).find(|k| sample[4 + k] > 0).expect("a learner that ships");
    // Plain means of the measurements as they stand in the file.
    let row = |i: usize| &ran.table.features.data[4 * i..4 * i + 4];
    let mut centroids = vec![vec![0.0; 4]; 3];
    for (i, sample) in ran.samples.iter().enumerate() {
        for (sum, x) in centroids[class(sample)].iter_mut().zip(row(i)) {
            *sum += x / 50.0;
        }
    }
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let nearest = |i: usize| {
        let best = (0..3)
            .min_by(|&a, &b| distance(&centroids[a], row(i)).total_cmp(&distance(&centroids[b], row(i))));
        best.expect("a learner that ships")
    };
    let weights = ran.weights();
    for (k, centroid) in centroids.iter().enumerate() {
        for (found, mean) in weights[5 * k + 1..5 * k + 5].iter().zip(centroid) {
            // Rounded down, and the data to the nearest before.
            assert!((found - mean).abs() < 1.5 / 64.0, "{found} {mean}");
        }
    }
    let predictions = ran.predictions();
    let largest = |i: usize| {
        (0..3).max_by(|&a, &b| predictions[i][a].total_cmp(&predictions[i][b])).expect("a learner that ships")
    };
    // Two samples between two species go to the other one for the bits that are missing.
    let agreeing = (0..150).filter(|&i| largest(i) == nearest(i)).count();
    let right = |classify: &dyn Fn(usize) -> usize| {
        (0..150).filter(|&i| classify(i) == class(&ran.samples[i])).count()
    };
    assert_eq!((agreeing, right(&largest), right(&nearest)), (148, 139, 139));
}

/// The outputs of an mlp:2-2-1 on the four corners.
fn network(theta: &[f64], x: [f64; 2]) -> f64 {
    let hidden = |j: usize| (theta[3 * j] + theta[3 * j + 1] * x[0] + theta[3 * j + 2] * x[1]).max(0.0);
    theta[6] + theta[7] * hidden(0) + theta[8] * hidden(1)
}

#[test]
fn xor_search() {
    let ran = ran("xor_search");
    let cases = [([0.0, 0.0], 0.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], 0.0)];
    let error = |theta: &[f64]| {
        cases.iter().map(|&(x, y)| (network(theta, x) - y) * (network(theta, x) - y)).sum::<f64>()
    };
    // The first weight turns fastest.
    let candidate = |n: usize| (0..9).map(|i| (n / 3_usize.pow(i) % 3) as f64 - 1.0).collect::<Vec<f64>>();
    let best = (0..3_usize.pow(9))
        .map(candidate)
        .min_by(|a, b| error(a).total_cmp(&error(b)))
        .expect("a learner that ships");
    assert_eq!(ran.weights(), best);
    let predicted: Vec<f64> = ran.predictions().concat();
    assert_eq!(predicted, [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn mlp_backprop() {
    let ran = ran("mlp_backprop");
    let fraction = ran.fraction;
    let mut theta: Vec<i64> =
        [0.0, 0.75, -0.5, 0.0, -0.5, 0.75, 0.0, 0.5, 0.5].iter().map(|w| (w * 256.0) as i64).collect();
    for _ in 0..40 {
        for sample in &ran.samples {
            let product = |a: i64, b: i64| times(a, b, fraction);
            let unit = |t: &[i64], j: usize| {
                (t[3 * j] + product(t[3 * j + 1], sample[0]) + product(t[3 * j + 2], sample[1])).max(0)
            };
            let hidden = [unit(&theta, 0), unit(&theta, 1)];
            let error = theta[6] - sample[2] + product(theta[7], hidden[0]) + product(theta[8], hidden[1]);
            let step = error >> 2;
            for j in 0..2 {
                if hidden[j] > 0 {
                    let back = product(theta[7 + j], step);
                    theta[7 + j] -= product(hidden[j], step);
                    theta[3 * j] -= back;
                    theta[3 * j + 1] -= product(sample[0], back);
                    theta[3 * j + 2] -= product(sample[1], back);
                }
            }
            theta[6] -= step;
        }
    }
    assert_eq!(ran.theta, theta);
    for (i, predicted) in ran.predictions().iter().enumerate() {
        assert!((predicted[0] - ran.label(i)).abs() < 0.1, "{predicted:?}");
    }
}
