//! Compares learners on measured data with plain implementations in floating point.

use luge::{
    data::PrepareOptions,
    job::{Data, TrainJob, source::Source},
};

use crate::{
    plain,
    ran::{Ran, largest, ran, run},
};

fn exp(x: f64) -> f64 {
    // The standard library leaves the last bits of `exp` to the platform; a series is enough here.
    let small = x / 1024.0;
    let mut power = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0));
    for _ in 0..10 {
        power *= power;
    }
    power
}

/// The natural logarithm of a positive number, by Newton's method.
fn ln(x: f64) -> f64 {
    (0..60).fold(0.0, |l, _| l + 2.0 * (x - exp(l)) / (x + exp(l)))
}

fn close(found: &[f64], expected: &[f64], most: f64) {
    assert_eq!(found.len(), expected.len());
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= most, "{off} off: {found:?} instead of {expected:?}");
}

fn score(theta: &[f64], x: &[f64]) -> f64 {
    x.iter().zip(&theta[1..]).fold(theta[0], |sum, (x, w)| sum + x * w)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Solves a system by elimination with pivots; every row has its right side at the end.
fn solve(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("a row");
        a.swap(k, pivot);
        let chosen = a[k].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let part = row[k] / chosen[k];
            row.iter_mut().zip(&chosen).for_each(|(own, chosen)| *own -= part * chosen);
        }
    }
    (0..n).map(|k| a[k][n] / a[k][k]).collect()
}

#[test]
fn ridge() {
    let ran = ran("ridge");
    let mut a = vec![vec![0.0; 12]; 11];
    for (i, row) in a.iter_mut().enumerate().skip(1) {
        row[i] = 1.0;
    }
    for sample in 0..ran.n_samples() {
        let v: Vec<f64> = [&[1.0][..], ran.x(sample), ran.y(sample)].concat();
        for i in 0..11 {
            for j in 0..12 {
                a[i][j] += v[i] * v[j];
            }
        }
    }
    // A bit of theta is 2.4e-4; scikit-learn's answer may be 1e-3 off.
    close(&ran.weights(), &solve(a), 4e-4);
}

#[test]
fn perceptron_rounds() {
    let ran = ran("perceptron_rounds");
    let mut theta = vec![0.0; 5];
    for _ in 0..4 {
        for sample in 0..ran.n_samples() {
            let (x, label) = (ran.x(sample), ran.label(sample));
            // A product has eight bits after the point.
            let product = |(w, x): (&f64, &f64)| (w * x * 256.0).floor() / 256.0;
            let score = theta[0] + theta[1..].iter().zip(x).map(product).sum::<f64>();
            if score * label <= 0.0 {
                theta[0] += label;
                theta[1..].iter_mut().zip(x).for_each(|(w, x)| *w += label * x);
            }
        }
    }
    assert_eq!((ran.weights(), ran.right()), (theta, 538));
}

#[test]
fn logistic_regression() {
    let ran = ran("logistic_regression");
    let mut theta = vec![0.0; 5];
    for _ in 0..3 {
        for sample in 0..ran.n_samples() {
            let x = ran.x(sample);
            let truth = f64::from(u8::from(ran.label(sample) > 0.0));
            let step = (truth - 1.0 / (1.0 + exp(-score(&theta, x)))) / 8.0;
            theta[0] += step;
            for (w, x) in theta[1..].iter_mut().zip(x) {
                *w += x * step;
            }
        }
    }
    // Eight bits after the point, and a sigmoid that is a little steeper.
    close(&ran.weights(), &theta, 0.2);
    let right =
        |theta: &[f64]| (0..ran.n_samples()).filter(|&i| score(theta, ran.x(i)) * ran.label(i) > 0.0).count();
    // One tumour lies on the other side if its measurements are not rounded to bits.
    assert_eq!((ran.right(), right(&ran.weights())), (549, 550));
    assert!(right(&theta).abs_diff(550) <= 3, "{}", right(&theta));
}

#[test]
fn naive_bayes() {
    let ran = ran("naive_bayes");
    let mut theta = Vec::new();
    for class in 0..3 {
        let own: Vec<usize> = (0..ran.n_samples()).filter(|&i| ran.y(i)[class] > 0.0).collect();
        let n = own.len() as f64;
        let there = (0..13).map(|f| own.iter().filter(|&&i| ran.x(i)[f] > 0.0).count() as f64);
        let p: Vec<f64> = there.map(|there| (there + 1.0) / (n + 2.0)).collect();
        theta.push(ln(n) + p.iter().map(|p| ln(1.0 - p)).sum::<f64>());
        theta.extend(p.iter().map(|p| ln(p / (1.0 - p))));
    }
    // Rounded down to multiples of 1/64.
    close(&ran.weights(), &theta, 1.1 / 64.0);
    let right = |i: &usize| largest(&plain::prediction("linear", &theta, ran.x(*i), 3)) == largest(ran.y(*i));
    assert_eq!((ran.right(), (0..178).filter(right).count()), (167, 167));
}

/// Mistakes of the question whether a feature is above a threshold, with the better of both answers.
fn mistakes(ran: &Ran, feature: usize, threshold: f64) -> usize {
    let n = ran.n_samples();
    let wrong = (0..n).filter(|&i| (ran.x(i)[feature] > threshold) != (ran.label(i) > 0.0)).count();
    wrong.min(n - wrong)
}

#[test]
fn decision_stump() {
    let ran = ran("decision_stump");
    let thresholds = (-32..32).map(|edge| f64::from(edge) / 8.0 - 1.0 / 256.0);
    let asked = thresholds.flat_map(|t| (0..4).map(move |feature| (feature, t)));
    let least = asked.map(|(feature, t)| mistakes(&ran, feature, t)).min().expect("a question");
    let answer = |i: usize| plain::prediction("tree:1", &ran.weights(), ran.x(i), 1)[0];
    let right = (0..ran.n_samples()).filter(|&i| answer(i) * ran.label(i) > 0.0).count();
    assert_eq!(ran.n_samples() - right, least);
    // Any threshold at all, between any two samples, is hardly better.
    let every = (0..4).flat_map(|feature| (0..ran.n_samples()).map(move |i| (feature, i)));
    let best = every.map(|(feature, i)| mistakes(&ran, feature, ran.x(i)[feature])).min().expect("a sample");
    assert!(least - best <= 5, "{least} mistakes instead of {best}");
}

/// The node or leaf that a sample walks down to, from the root to a node below which nothing is known.
fn walk(questions: &[(usize, f64)], x: &[f64], last: usize) -> usize {
    let mut at = 0;
    while at < last {
        let (feature, edge) = questions[at];
        at = 2 * at + 1 + usize::from(x[feature] >= edge);
    }
    at
}

#[test]
fn decision_tree() {
    let ran = ran("decision_tree");
    let mut questions: Vec<(usize, f64)> = Vec::new();
    for node in 0..3 {
        let here: Vec<usize> =
            (0..ran.n_samples()).filter(|&i| walk(&questions, ran.x(i), node) == node).collect();
        let apart = |&(feature, edge): &(usize, f64)| {
            let side = |i: usize| if ran.x(i)[feature] < edge { -ran.label(i) } else { ran.label(i) };
            here.iter().map(|&i| side(i)).sum::<f64>().abs()
        };
        let asked = (0..4).flat_map(|feature| (-31..32).map(move |e| (feature, f64::from(e) / 8.0)));
        let best = asked.reduce(|best, next| if apart(&next) > apart(&best) { next } else { best });
        questions.push(best.expect("a question"));
    }
    let mut theta = Vec::new();
    for &(feature, edge) in &questions {
        theta.push(1.0 / 256.0 - edge);
        theta.extend((0..4).map(|i| f64::from(u8::from(i == feature))));
    }
    for leaf in 3..7 {
        let own = (0..ran.n_samples()).filter(|&i| walk(&questions, ran.x(i), 3) == leaf);
        theta.push(if own.map(|i| ran.label(i)).sum::<f64>() > 0.0 { 1.0 } else { -1.0 });
    }
    assert_eq!(ran.weights(), theta);
    assert_eq!(ran.right(), 540);
}

/// Lloyd's algorithm from samples that lie far apart.
fn centres(ran: &Ran, k: usize) -> Vec<Vec<f64>> {
    let n = ran.n_samples();
    let mut centres: Vec<Vec<f64>> = vec![ran.x(0).to_vec()];
    let near = |centres: &[Vec<f64>], x: &[f64]| {
        centres.iter().map(|c| distance(c, x)).fold(f64::INFINITY, f64::min)
    };
    while centres.len() < k {
        let farthest: Vec<f64> = (0..n).map(|i| near(&centres, ran.x(i))).collect();
        centres.push(ran.x(largest(&farthest)).to_vec());
    }
    for _ in 0..50 {
        let negated = |x: &[f64]| centres.iter().map(|c| -distance(c, x)).collect::<Vec<f64>>();
        let own: Vec<usize> = (0..n).map(|i| largest(&negated(ran.x(i)))).collect();
        for (c, centre) in centres.iter_mut().enumerate() {
            let members: Vec<usize> = (0..n).filter(|&i| own[i] == c).collect();
            for (f, mean) in centre.iter_mut().enumerate() {
                *mean = members.iter().map(|&i| ran.x(i)[f]).sum::<f64>() / members.len() as f64;
            }
        }
    }
    centres
}

#[test]
fn k_means() {
    let ran = ran("k_means");
    let theta = ran.weights();
    let found: Vec<f64> = theta.chunks(7).flat_map(|prototype| prototype[..4].to_vec()).collect();
    close(&found, &centres(&ran, 3).concat(), 0.1);
    let labels: Vec<&[f64]> = theta.chunks(7).map(|prototype| &prototype[4..]).collect();
    assert_eq!(labels, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert!(ran.right().abs_diff(134) <= 1, "{}", ran.right());
}

#[test]
fn condensed_neighbours() {
    let ran = ran("condensed_neighbours");
    let mut stored: Vec<usize> = Vec::new();
    loop {
        let before = stored.len();
        for i in 0..150 {
            let nearest = stored.iter().copied().reduce(|best, k| {
                if distance(ran.x(k), ran.x(i)) < distance(ran.x(best), ran.x(i)) { k } else { best }
            });
            if nearest.is_none_or(|k| ran.y(k) != ran.y(i)) {
                stored.push(i);
            }
        }
        if stored.len() == before {
            break;
        }
    }
    assert!(stored.len() <= 24, "{}", stored.len());
    stored.resize(24, stored[stored.len() - 1]);
    let expected: Vec<f64> = stored.iter().flat_map(|&i| [ran.x(i), ran.y(i)].concat()).collect();
    assert_eq!(ran.weights(), expected);
    assert_eq!(ran.right(), 150);
}

#[test]
fn early_stopping() {
    let ran = ran("early_stopping");
    let squares = |theta: &[f64]| {
        let aside = (0..ran.n_samples()).filter(|i| i % 4 == 3);
        aside.map(|i| ran.y(i)[0] - score(theta, ran.x(i))).map(|miss| miss * miss).sum::<f64>()
    };
    let mut w = vec![0.0; 4];
    let (mut best, mut least, mut waited) = (w.clone(), f64::INFINITY, 0);
    while waited < 2 {
        for i in (0..ran.n_samples()).filter(|i| i % 4 != 3) {
            let step = (ran.y(i)[0] - score(&w, ran.x(i))) / 32.0;
            w[0] += step;
            for (w, x) in w[1..].iter_mut().zip(ran.x(i)) {
                *w += step * x;
            }
        }
        waited += 1;
        if squares(&w) < least {
            (least, waited) = (squares(&w), 0);
            best.clone_from(&w);
        }
    }
    // Errors of late rounds differ by less than the format resolves, so another round may be the best.
    close(&ran.weights(), &best, 0.01);
    assert!((squares(&ran.weights()) - least).abs() < 0.001 * least);
}

/// A learner that ships on a table that does.
fn job(learner: &str, csv: &str, target: &[&str], features: Option<Vec<String>>, format: &str) -> TrainJob {
    let target = target.iter().map(|&target| target.to_owned()).collect();
    let (name, text) = ("a table".to_owned(), csv.to_owned());
    let data =
        Data::Csv { name, text, target, features, saturate: false, prepare: PrepareOptions::default() };
    let mut job = TrainJob::new(Source::open(learner).expect("a learner that ships"), data);
    job.options.format = format.parse().expect("a format");
    job
}

const DIGITS: &str = include_str!("../../data/digits.csv");

fn pixels() -> Option<Vec<String>> {
    Some((0..64).map(|i| format!("p{i}")).collect())
}

#[test]
fn nearest_centroid_of_ten_digits() {
    let targets = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"];
    let ran = run(&job("nearest_centroid", DIGITS, &targets, pixels(), "fix:6.8"));
    let mut means = vec![vec![0.0; 64]; 10];
    for (k, mean) in means.iter_mut().enumerate() {
        let own: Vec<usize> = (0..ran.n_samples()).filter(|&i| ran.y(i)[k] > 0.0).collect();
        for (f, mean) in mean.iter_mut().enumerate() {
            *mean = own.iter().map(|&i| ran.x(i)[f]).sum::<f64>() / own.len() as f64;
        }
    }
    let nearer = |x: &[f64]| largest(&means.iter().map(|m| -distance(m, x)).collect::<Vec<f64>>());
    let plain = (0..ran.n_samples()).filter(|&i| nearer(ran.x(i)) == largest(ran.y(i))).count();
    assert_eq!(plain, 1626);
    assert!(ran.right().abs_diff(plain) <= 9, "{}", ran.right());
}

/// States do not grow with the features.
#[test]
fn a_perceptron_of_any_width() {
    let states = |n_features: usize| {
        let header: Vec<String> = (0..n_features).map(|i| format!("p{i}")).collect();
        let csv = format!("{},y\n{}1\n", header.join(","), "0,".repeat(n_features));
        let job = job("perceptron", &csv, &["y"], None, "fix:8.4");
        job.load(&job.table().expect("a table")).expect("a machine").machine.states().len()
    };
    let (few, many) = (states(4), states(256));
    assert!(many * 10 <= few * 11, "{few} and {many}");
    let digits = job("perceptron", DIGITS, &["zero"], pixels(), "fix:8.1");
    let loaded = digits.load(&digits.table().expect("a table")).expect("a machine");
    assert!(loaded.machine.states().len() <= 400);
}
