//! Learners on small data: what they leave, number by number.

use luge::{
    data::PrepareOptions,
    job::{Data, TrainJob, source::Source},
};

use crate::ran::{ran, run, times};

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
    // The means of the measurements in the file.
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

/// The generator of `random()`: a `fix<1,15>` from 0 on.
struct Generator(i64);

impl Generator {
    fn next(&mut self) -> i64 {
        self.0 = i64::from((1_664_525 * self.0 + 1_013_904_223) as i32);
        (self.0 + (1 << 31)) >> 17
    }
}

/// Products rounded to the nearest, ties up.
fn rounded(a: i64, b: i64, fraction: u32) -> i64 {
    (a * b + (1 << fraction >> 1)) >> fraction
}

#[test]
fn mlp() {
    let ran = ran("mlp");
    let product = |a: i64, b: i64| rounded(a, b, ran.fraction);
    let mut generator = Generator(5);
    // 2-4-1: twelve weights of hidden units, then five of the output.
    let mut theta: Vec<i64> = (0..17).map(|_| ((generator.next() - (1 << 14)) >> 5) << 1).collect();
    for _ in 0..150 {
        for sample in &ran.samples {
            let unit = |t: &[i64], j: usize| {
                (t[3 * j] + product(t[3 * j + 1], sample[0]) + product(t[3 * j + 2], sample[1])).max(0)
            };
            let hidden: Vec<i64> = (0..4).map(|j| unit(&theta, j)).collect();
            let error = (0..4).fold(theta[12] - sample[2], |e, j| e + product(theta[13 + j], hidden[j]));
            let step = error >> 3;
            theta[12] -= step;
            for j in 0..4 {
                let back = product(theta[13 + j], step);
                theta[13 + j] -= product(hidden[j], step);
                if hidden[j] > 0 {
                    theta[3 * j] -= back;
                    theta[3 * j + 1] -= product(sample[0], back);
                    theta[3 * j + 2] -= product(sample[1], back);
                }
            }
        }
    }
    assert_eq!(ran.theta, theta);
    for (i, predicted) in ran.predictions().iter().enumerate() {
        assert!((predicted[0] - ran.label(i)).abs() < 0.1, "{predicted:?}");
    }
}

#[test]
fn evolution() {
    let ran = ran("evolution");
    let mut generator = Generator(3);
    let (mut parent, mut child) = (vec![0_i64; 3], vec![0_i64; 3]);
    let (mut step, mut least) = (1_i64 << 12, i64::MAX);
    for _ in 0..150 {
        let miss = |sample: &Vec<i64>| {
            let products = (0..2).map(|i| rounded(sample[i], child[i + 1], ran.fraction));
            sample[2] - child[0] - products.sum::<i64>()
        };
        let error: i64 = ran.samples.iter().map(miss).map(|miss| miss * miss).sum();
        if error <= least {
            least = error;
            parent.clone_from(&child);
            step = rounded(step, 6144, 12).min(2 << 12);
        } else {
            // 0.9 with twelve bits after the point.
            step = rounded(step, 3686, 12);
        }
        for i in 0..3 {
            let one = generator.next() >> 3;
            let two = generator.next() >> 3;
            child[i] = parent[i] + (rounded(step, one - two, 12) >> 4);
        }
    }
    assert_eq!(ran.theta, parent);
    for (found, expected) in ran.weights().iter().zip([1.0, 2.0, -1.0]) {
        assert!((found - expected).abs() < 0.02, "{:?}", ran.weights());
    }
}

/// A table of random bits with the parity of some of them.
fn parity_table(n_bits: usize, n_samples: usize, inside: &[usize]) -> String {
    let mut generator = Generator(77);
    let mut csv: String = (0..n_bits).map(|i| format!("b{i},")).collect();
    csv.push_str("y\n");
    for _ in 0..n_samples {
        let bits: Vec<i64> = (0..n_bits).map(|_| generator.next() >> 14 & 1).collect();
        bits.iter().for_each(|bit| csv.push_str(&format!("{bit},")));
        csv.push_str(&format!("{}\n", inside.iter().map(|&i| bits[i]).sum::<i64>() % 2));
    }
    csv
}

fn parity_job(csv: String) -> TrainJob {
    let data = Data::Csv {
        name: "bits".to_owned(),
        text: csv,
        target: vec!["y".to_owned()],
        features: None,
        saturate: false,
        prepare: PrepareOptions::default(),
    };
    TrainJob::new(Source::open("parity_elimination").expect("a learner that ships"), data)
}

#[test]
fn parity_elimination() {
    let shipped = ran("parity_elimination");
    let inside = [0, 1, 3, 4, 6, 7, 9, 10, 15, 16, 19, 20, 22, 26, 29, 31];
    let subset = |n_bits: usize, inside: &[usize]| -> Vec<i64> {
        (0..n_bits).map(|i| i64::from(inside.contains(&i))).collect()
    };
    assert_eq!(shipped.theta, subset(32, &inside));
    for (i, predicted) in shipped.predictions().iter().enumerate() {
        assert_eq!(predicted[..], shipped.table.labels.data[i..=i]);
    }
    // Twice as many bits, and the same states.
    let inside: Vec<usize> = (0..64).filter(|i| i * i % 3 == 1).collect();
    let large = run(&parity_job(parity_table(64, 80, &inside)));
    assert_eq!(large.theta, subset(64, &inside));
    // The same bits with both labels: no subset has that parity.
    let contradiction = parity_job("a,b,y\n1,0,1\n0,1,1\n1,0,0\n".to_owned());
    let table = contradiction.table().expect("a table");
    let outcome = contradiction.interpret(&table, 10_000).expect("a program").expect("a program");
    assert_eq!((outcome.verdict, outcome.line), (luge_sled::Verdict::Rejected, Some(37)));
}
