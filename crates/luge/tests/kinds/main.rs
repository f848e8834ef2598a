//! Eleven kinds of learners that do not ship, written in Sled: each is trained and certified, and most are compared with a plain
//! implementation in integers.

use std::ops::ControlFlow;

use luge::{
    data::Table,
    job::{Data, TrainJob, source::Source},
};

/// Bits after the point.
const F: u32 = 6;

/// A number as a count of 2^-F; numbers here are small enough that nothing wraps around.
fn raw(value: f64) -> i64 {
    (value * f64::from(1 << F)) as i64
}

fn mul(a: i64, b: i64) -> i64 {
    (a * b) >> F
}

fn div(a: i64, b: i64) -> i64 {
    (a << F) / b
}

/// Trains a learner on rows of features and, if it takes some, a label; gives theta in counts of 2^-F, and the primary network.
fn trained(name: &str, rows: &[Vec<f64>], labelled: bool) -> (Vec<i64>, String) {
    let text = std::fs::read_to_string(format!("tests/kinds/{name}.sled")).expect("a file");
    let n_features = rows[0].len() - usize::from(labelled);
    let names = |letter: char, n: usize| (0..n).map(|i| format!("{letter}{i}")).collect();
    let x = rows.iter().flat_map(|row| row[..n_features].to_vec()).collect();
    let y = rows.iter().flat_map(|row| row[n_features..].to_vec()).collect();
    let table = Table::new(names('x', n_features), names('y', usize::from(labelled)), x, y);
    let mut job = TrainJob::new(Source::sled(name, &text), Data::Table(table));
    job.options.format = format!("fix:10.{F}").parse().expect("a format");
    if job.primary == "linear" && !matches!(name, "pegasos" | "lasso" | "adaboost" | "annealing") {
        "raw".clone_into(&mut job.primary);
    }
    let lesson = job.prepare().unwrap_or_else(|error| panic!("{name}: {error}"));
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("training");
    let claims = report.certificate.claims();
    let failed: Vec<_> = claims.iter().filter(|(_, claim)| !claim.holds).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "{name}: {failed:?}");
    (report.theta.iter().map(|&value| raw(value)).collect(), lesson.primary().describe())
}

/// Rows with labels that a plane separates, as raw numbers too.
fn separable() -> (Vec<Vec<f64>>, Vec<Vec<i64>>) {
    let rows: Vec<Vec<f64>> =
        [[1.5, 0.25, 1.0], [0.5, -1.0, 1.0], [-1.0, 0.5, -1.0], [-0.25, 1.0, -1.0], [1.0, 1.0, 1.0]]
            .map(Vec::from)
            .to_vec();
    let counted = rows.iter().map(|row| row.iter().map(|&value| raw(value)).collect()).collect();
    (rows, counted)
}

#[test]
fn pegasos() {
    let (rows, counted) = separable();
    let (mut bias, mut weights, mut t) = (0, [0_i64; 2], 0);
    for row in counted.iter().cycle().take(2 * rows.len()) {
        t += 1;
        let t = raw(1.0) * t;
        let score = bias + mul(row[0], weights[0]) + mul(row[1], weights[1]);
        for weight in &mut weights {
            *weight -= div(*weight, t);
        }
        if mul(score, row[2]) < raw(1.0) {
            let rate = mul(div(raw(4.0), t), row[2]);
            bias += rate;
            weights[0] += mul(rate, row[0]);
            weights[1] += mul(rate, row[1]);
        }
    }
    assert_eq!(trained("pegasos", &rows, true).0, [bias, weights[0], weights[1]]);
}

#[test]
fn lasso() {
    let (rows, counted) = separable();
    let mut weights = [0_i64; 2];
    for step in 0..4 {
        let j = step % 2;
        let (mut fits, mut squares) = (0, 0);
        for row in &counted {
            fits += mul(row[2] - mul(row[1 - j], weights[1 - j]), row[j]);
            squares += mul(row[j], row[j]);
        }
        let drawn = fits.signum() * (fits.abs() - raw(0.5)).max(0);
        weights[j] = div(drawn, squares);
    }
    assert_eq!(trained("lasso", &rows, true).0, [0, weights[0], weights[1]]);
}

#[test]
fn principal_component() {
    let rows = [[1.0, 0.5], [2.0, 1.25], [-1.0, -0.25], [-0.5, -0.5]].map(Vec::from);
    let mut theta = [raw(1.0), 0];
    for _ in 0..3 {
        let mut next = [0, 0];
        for row in &rows {
            let row = [raw(row[0]), raw(row[1])];
            let along = mul(row[0], theta[0]) + mul(row[1], theta[1]);
            next = [next[0] + mul(along, row[0]), next[1] + mul(along, row[1])];
        }
        let largest = next[0].abs().max(next[1].abs());
        theta = next.map(|n| div(n, largest));
    }
    let (found, primary) = trained("pca", &rows, false);
    assert_eq!(found, theta);
    assert_eq!(primary, "units:2,2;0 1x0 * 0 1w0;0 1x1 * 0 1w1;= 0 1u0 1u1");
}

#[test]
fn kalman() {
    let seen = [1.0, 1.5, 0.75, 1.25];
    let (mut estimate, mut variance) = (0, raw(4.0));
    for value in seen {
        variance += raw(0.25);
        let gain = div(variance, variance + raw(1.0));
        estimate += mul(gain, raw(value) - estimate);
        variance -= mul(gain, variance);
    }
    let (theta, primary) = trained("kalman", &seen.map(|value| vec![value]), false);
    assert_eq!((theta, primary.as_str()), (vec![estimate, variance], "raw:2"));
}

#[test]
fn adaboost() {
    let (rows, _) = separable();
    let mut votes = [0_i32; 2];
    for _ in 0..3 {
        let mut gains = [0.0, 0.0];
        for row in &rows {
            let agree = [row[0] * row[2], row[1] * row[2]].map(|product| if product > 0.0 { 1 } else { -1 });
            let margin = votes[0] * agree[0] + votes[1] * agree[1];
            let weight = if margin < 0 { f64::from(1 << -margin) } else { 1.0 / f64::from(1 << margin) };
            gains = [gains[0] + weight * f64::from(agree[0]), gains[1] + weight * f64::from(agree[1])];
        }
        votes[usize::from(gains[1] > gains[0])] += 1;
    }
    let expected = [0, raw(votes[0].into()), raw(votes[1].into())];
    assert_eq!(trained("adaboost", &rows, true).0, expected);
}

/// The two means move apart, to where the rows are.
#[test]
fn expectation_maximisation() {
    let rows = [-3.0, -2.5, 2.5, 3.0].map(|value| vec![value]);
    let theta = trained("em", &rows, false).0;
    assert!(theta[0] < raw(-2.0) && theta[1] > raw(2.0), "{theta:?}");
}

#[test]
fn winnow() {
    let rows: Vec<Vec<f64>> =
        [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, -1.0], [1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0]]
            .map(Vec::from)
            .to_vec();
    let mut weights = [1.0_f64; 3];
    for row in rows.iter().chain(&rows) {
        let total: f64 = (0..3).filter(|&i| row[i] > 0.0).map(|i| weights[i]).sum::<f64>() - 1.5;
        if total * row[3] <= 0.0 {
            for i in (0..3).filter(|&i| row[i] > 0.0) {
                weights[i] *= if row[3] > 0.0 { 2.0 } else { 0.5 };
            }
        }
    }
    let (theta, primary) = trained("winnow", &rows, true);
    assert_eq!(theta, weights.map(raw));
    assert!(primary.starts_with("units:3,3;above 0 1x0;"), "{primary}");
}

#[test]
fn q_learning() {
    // A corridor of three states: action 1 goes right, and the end pays 8.
    let rows: Vec<Vec<f64>> =
        [[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 2.0, 8.0], [1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 1.0, 0.0]]
            .map(Vec::from)
            .to_vec();
    let mut table = [0_i64; 6];
    for row in rows.iter().cycle().take(4 * rows.len()) {
        let [state, action, then] = [row[0], row[1], row[2]].map(|value| value as usize);
        let goal = raw(row[3]) + (table[2 * then].max(table[2 * then + 1]) >> 1);
        table[2 * state + action] += (goal - table[2 * state + action]) >> 1;
    }
    assert_eq!(trained("q_learning", &rows, true).0, table);
}

/// Every path is tried.
#[test]
fn viterbi() {
    let seen = [0.25, -0.25, 0.75, 1.0, 0.25, 1.25, 0.0];
    let cost = |path: u32| {
        let state = |at: usize| (path >> at) & 1;
        let moves = (1..seen.len()).filter(|&at| state(at) != state(at - 1)).count();
        let distances: f64 = seen.iter().enumerate().map(|(at, x)| (x - f64::from(state(at))).abs()).sum();
        // In quarters, so that costs are whole.
        (16.0 * distances) as usize + 8 * moves
    };
    let best = (0..1 << seen.len()).min_by_key(|&path| cost(path)).expect("a path");
    let theta = trained("viterbi", &seen.map(|value| vec![value]), false).0;
    let found = (0..seen.len()).fold(0, |path, at| path | (u32::from(theta[at] > 0) << at));
    assert_eq!(cost(found), cost(best));
    assert!(theta[seen.len()..].iter().all(|&rest| rest == 0));
}

#[test]
fn annealing() {
    let (rows, _) = separable();
    let theta = trained("annealing", &rows, true).0;
    let mistakes = rows.iter().filter(|row| {
        (theta[0] as f64 + theta[1] as f64 * row[0] + theta[2] as f64 * row[1]) * row[2] <= 0.0
    });
    // All five at the start.
    assert!(mistakes.count() <= 2, "{theta:?}");
}

#[test]
fn automaton() {
    // Toggles on 1, and goes to state 0 on 0 from state 1 only.
    let rule = [[0_usize, 1], [0, 0]];
    let mut state = 0;
    let rows: Vec<Vec<f64>> = [1, 1, 0, 1, 0, 0, 1, 1, 1]
        .map(|symbol: usize| {
            state = rule[state][symbol];
            vec![symbol as f64, if state == 1 { 1.0 } else { -1.0 }]
        })
        .to_vec();
    assert_eq!(trained("automaton", &rows, true).0, [0, 1, 0, 0].map(|bit: i64| bit << F));
    let mut broken = rows;
    broken.push(vec![0.0, 1.0]);
    let table = Table::new(
        vec!["x".to_owned()],
        vec!["y".to_owned()],
        broken.iter().map(|row| row[0]).collect(),
        broken.iter().map(|row| row[1]).collect(),
    );
    let text = std::fs::read_to_string("tests/kinds/automaton.sled").expect("a file");
    let mut job = TrainJob::new(Source::sled("automaton", &text), Data::Table(table));
    "raw".clone_into(&mut job.primary);
    let trained = job.prepare().and_then(|lesson| lesson.train(|_| ControlFlow::Continue(())));
    assert!(trained.is_err(), "no automaton explains these");
}
