//! Primary networks that programs define: `predict` as units, compared with its meaning; theta itself; learners without labels.

use std::ops::ControlFlow;

use luge::{
    Model, Predictor, Primaries, StandardPrimaries,
    data::{PrepareOptions, Table},
    job::{Data, JobError, TrainJob, source::Source},
};
use luge_net::{Shape, Values};
use luge_sled::{Settings, Sizes};

/// Bodies of `predict` for two features and three weights, with all that becomes units.
const BODIES: [&str; 9] = [
    "return theta[0] + theta[1] * x[0] + theta[2] * x[1];",
    "return relu(x[0] * theta[0] - x[1]) * theta[1] + max(x[0], theta[2]) - min(x[1], 0.5);",
    "return abs(x[0] - theta[0]) + sign(x[1] - theta[1]) * theta[2];",
    "return if x[0] > theta[0] { theta[1] } else { -theta[1] };",
    "let s: fix<I,F> = 0.25; if x[0] >= x[1] && !(theta[0] == 1) { s += x[0]; } else if x[1] < 0 || theta[1] != x[0] { s -= half(x[1]); } return s;",
    "let sums: [fix<I,F>; 2]; for i in 0..2 { for j in i..2 { sums[j] += x[i] * theta[j + 1]; } } return sums[0] * sums[1];",
    "return best(theta[0..2], x) + best(x, theta[1..3]) * 2;",
    "let p: bit = x[0] > 0; let q: bit = p ^ (x[1] > theta[0]); return (p as fix<I,F>) + (if q { x[1] >> 1 } else { x[0] << 2 });",
    "let wide: fix<I + 8,F + 4>; unroll for k in 0..3 { wide += (theta[k] as fix<I + 8,F + 4>) * k; } return if wide > 1.5 { 1 } else { 0 };",
];

const HELPERS: &str = "fn half(a: fix<I,F>) -> fix<I,F> { return a >> 1; }
fn best(a: [fix<I,F>; 2], b: [fix<I,F>; 2]) -> fix<I,F> { return if a[0] * b[0] > a[1] * b[1] { a[0] } else { b[1] }; }
";

const SIZES: Sizes = Sizes { n_features: 2, n_labels: 1, integer: 4, fraction: 4 };

fn program(body: &str) -> String {
    format!(
        "{HELPERS}fn predict(x: [fix<I,F>; M], theta: [fix<I,F>; 3]) -> fix<I,F> {{ {body} }}
learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] {{ theta[0] = 1; }}"
    )
}

/// Counts of 2^-4 that depend on their place alone; some are equal.
fn raws(seed: u64, n: usize) -> Vec<i64> {
    let mixed = |i: usize| (seed * 7 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..n).map(|i| (mixed(i) % 64) as i64 - 32).collect()
}

/// Network and interpreter give the same bits.
#[test]
fn units_are_what_predict_means() {
    for body in BODIES {
        let source = program(body);
        let described = luge_sled::predict_network(&source, &SIZES, &Settings::default())
            .unwrap_or_else(|findings| panic!("{}", findings[0].one_line(&source)));
        let network = StandardPrimaries.find(&described, 2, 1).expect("a network");
        for seed in 0..200 {
            let (x, theta) = (raws(seed, 2), raws(seed + 1000, 3));
            let numbers = |raws: &[i64]| raws.iter().map(|&raw| raw as f64 / 16.0).collect::<Vec<f64>>();
            let meant =
                luge_sled::predict(&source, &SIZES, &Settings::default(), &numbers(&x), &numbers(&theta));
            let meant = meant.expect("a right program");
            let outputs = Predictor::new(&*network, numbers(&theta))
                .predict(&Values::new(Shape::new(1, 2), numbers(&x)));
            assert_eq!(outputs.data, meant, "{body} for {x:?} and {theta:?}: {described}");
        }
    }
}

#[test]
fn what_is_no_unit_is_refused_with_its_line() {
    let refused = |body: &str| {
        let source = program(&format!("\n{body}\nreturn x[0];"));
        let findings =
            luge_sled::predict_network(&source, &SIZES, &Settings::default()).expect_err("no network");
        (findings[0].message.clone(), findings[0].position(&source).0)
    };
    for (body, what) in [
        ("let a = x[0] / 3;", "`/`, which rounds"),
        ("let a = x[0]; while a > 0 { a -= 1; }", "rounds are not known"),
        ("let a = (x[0] as int<4>) as fix<I,F>;", "fewer bits after the point"),
        ("let a = x[0] % x[1];", "`%`"),
        ("let k = x[0] as int<4>; let a = theta[k];", "fewer bits"),
        ("let a = x[0] +| x[1];", "nothing is too large here"),
        ("assert(x[0] > 0);", "`reject` or `assert`"),
    ] {
        let (message, line) = refused(body);
        assert!(message.contains(what) && line == 4, "{body}: {message}, line {line}");
    }
}

fn table(rows: &[[f64; 3]]) -> Table {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let x = rows.iter().flat_map(|row| row[..2].to_vec()).collect();
    Table::new(names(&["a", "b"]), names(&["y"]), x, rows.iter().map(|row| row[2]).collect())
}

const ROWS: [[f64; 3]; 3] = [[1.0, 0.5, 2.0], [-1.0, 0.5, 1.0], [0.5, -1.0, 3.0]];

/// The example of the page on Sled, trained, saved and loaded.
#[test]
fn a_model_keeps_the_network_of_its_program() {
    let page = include_str!("../../../docs/sled.md");
    let source = page.split("```sled\n").find(|part| part.contains("fn predict")).expect("the example");
    let source = source.split("```").next().expect("its end");
    let job = TrainJob::new(Source::sled("two_means", source), Data::Table(table(&ROWS)));
    assert_eq!(job.primary, "predict");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("training");
    assert!(report.certificate.claims().iter().all(|(_, claim)| claim.holds));
    assert_eq!(report.theta, [0.0, 2.5, 1.0]);
    let bytes = Model::new(&lesson, &report).with_program_of(&job).to_bytes("it").expect("a file");
    let model = Model::from_bytes(&bytes, "it".to_owned()).expect("a model");
    let primary = model.primary().expect("a network");
    let outputs = Predictor::new(&*primary, model.theta.clone())
        .predict(&Values::new(Shape::new(2, 2), vec![3.0, 0.0, -3.0, 0.0]));
    assert_eq!(outputs.data, [2.5, 1.0]);
    let mut other = job;
    other.source.text = other.source.text.replace("predict", "predicted");
    assert!(matches!(other.prepare(), Err(JobError::NoPredict(_))));
}

#[test]
fn the_message_about_theta_names_a_network_that_fits() {
    let fits = |n: usize| {
        let text =
            format!("learner f(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; {n}] {{ theta[0] = 1; }}");
        match TrainJob::new(Source::sled("f", &text), Data::Table(table(&ROWS))).prepare() {
            Err(JobError::ThetaSize { n_theta, n_weights: 3, fits, .. }) if n_theta == n => fits,
            other => panic!("{:?}", other.err()),
        }
    };
    assert_eq!(
        (fits(2), fits(9), fits(13), fits(7)),
        ("parity".to_owned(), "mlp:2-2-1".to_owned(), "mlp:2-3-1".to_owned(), "raw".to_owned())
    );
}

#[test]
fn learners_without_labels() {
    let text = "learner mean(x: [fix<I,F>; M]) -> theta: [fix<I,F>; M] {
        let n: fix<I,F>;
        for sample in data { n += 1; for i in 0..M { theta[i] += x[i]; } }
        for i in 0..M { theta[i] = theta[i] / n; }
    }";
    let csv = |text: &str, target: Vec<String>| Data::Csv {
        name: "csv".to_owned(),
        text: text.to_owned(),
        target,
        features: None,
        saturate: false,
        prepare: PrepareOptions::default(),
    };
    let mut job = TrainJob::new(Source::sled("mean", text), csv("a,b\n1,2\n3,-1\n", Vec::new()));
    job.choose_format().expect("a format");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("training");
    assert!(report.certificate.claims().iter().all(|(_, claim)| claim.holds));
    assert_eq!((&report.theta[..], lesson.primary().describe()), (&[2.0, 0.5][..], "raw:2".to_owned()));
    assert!(!lesson.table().is_labelled());
    // F(x) is theta for every sample, known and new; the data can be read again as they were.
    let outputs = Predictor::new(lesson.primary(), report.theta.clone()).predict(&lesson.table().features);
    assert_eq!(outputs.data, [2.0, 0.5, 2.0, 0.5]);
    let model = Model::new(&lesson, &report).with_program_of(&job);
    let again = model.data("csv".to_owned(), "a,b\n1,2\n3,-1\n".to_owned(), false).read(job.options.format);
    assert_eq!(again.expect("a table").labels, lesson.table().labels);
    let labelled = "learner f(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] { theta[0] = 1; }";
    let without = TrainJob::new(Source::sled("f", labelled), csv("a,b\n1,2\n", Vec::new())).prepare();
    assert!(matches!(without, Err(JobError::NoTarget(_))));
}
