//! Learners end to end: from data to a certificate, on every landscape and carrier that applies.

use std::{ops::ControlFlow, path::Path};

use luge::{
    data::Table,
    lesson::{Lesson, LessonOptions, LessonReport},
    source::Source,
};
use luge_landscape::{Carrier, LandscapeKind, Learner, Mlp, VertexSet};

/// A learner that ships, a tiny table, and the theta worked out by hand.
struct Task {
    machine: &'static str,
    csv: &'static str,
    format: &'static str,
    theta: &'static [f64],
    landscapes: &'static [LandscapeKind],
}

/// Predicts 1.5 whatever x is: theta = (bias, weight).
const COPY: Task = Task {
    machine: "copy_label.tm",
    csv: "x,y\n-2,1.5\n0.25,-3\n1,2\n",
    format: "fix:3.2",
    theta: &[1.5, 0.0],
    landscapes: &[LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain],
};

/// Three ones against two zeros.
const MAJORITY: Task = Task {
    machine: "majority.tm",
    csv: "a,b,y\n1,-1,1\n0,1,0\n-2,0,1\n1,1,0\n0,0,1\n",
    format: "fix:2.0",
    theta: &[1.0, 0.0, 0.0],
    landscapes: &[LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain],
};

/// (1 + 2.25 + 2 + 5) / 4 = 2.5625, rounded down to quarters.
const MEAN: Task = Task {
    machine: "mean.tm",
    csv: "x,y\n1,1\n2,2.25\n-3,2\n0.5,5\n",
    format: "fix:4.2",
    theta: &[2.5, 0.0],
    landscapes: &[LandscapeKind::Compact, LandscapeKind::Plain],
};

/// The first label, on one tape with everything inside the vertex.
const KEEP: Task = Task {
    machine: "keep_label.tm",
    csv: "x,y\n1,-2\n-1,1\n",
    format: "fix:2.0",
    theta: &[-2.0, 0.0],
    landscapes: &[LandscapeKind::Internal],
};

fn learner(machine: &str) -> Learner {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../learners").join(machine);
    let source = Source::open(&path.to_string_lossy()).expect("a learner that ships");
    let (_, loaded) = source.read(None).expect("a valid machine");
    Learner::new(&loaded.machine, loaded.input.as_ref()).expect("a learner")
}

fn learn(task: &Task, kind: LandscapeKind, carrier: Carrier) -> LessonReport {
    let learner = learner(task.machine);
    let table = Table::read(task.csv.as_bytes(), &["y".to_owned()], None).expect("a table");
    let primary = Mlp::linear(table.feature_names.len(), 1);
    let mut options = LessonOptions::new(task.format.parse().expect("a format"));
    options.landscape = kind;
    options.carrier = carrier;
    if kind == LandscapeKind::Relu {
        options.vertices = VertexSet::All;
    }
    let lesson = Lesson::prepare(
        learner.clone(),
        std::sync::Arc::new(primary.clone()),
        table.clone(),
        options.clone(),
    )
    .expect("a lesson");
    lesson.train(|_| ControlFlow::Continue(())).expect("gradients")
}

fn check(task: &Task) {
    for &kind in task.landscapes {
        for carrier in Carrier::ALL {
            let lessons = learn(task, kind, carrier);
            let at = format!("{} on {} with {}", task.machine, kind.word(), carrier.word());
            assert_eq!(lessons.theta, task.theta, "{at}");
            for (name, check) in lessons.certificate.claims() {
                let expected = match (kind, name) {
                    // The ReLU units on the paper's own vertices are wider than its corollary says, and the certificate says so.
                    (LandscapeKind::Relu, "units") => false,
                    // No corollary is about landscape C.
                    (LandscapeKind::Plain, "units") => continue,
                    _ => true,
                };
                assert_eq!(check.holds, expected, "{at}: {name}: {}", check.figures);
            }
            assert!(lessons.certificate.proves_the_run(), "{at}");
        }
    }
}

#[test]
fn copy_label() {
    check(&COPY);
}

#[test]
fn majority() {
    check(&MAJORITY);
}

#[test]
fn mean() {
    check(&MEAN);
}

#[test]
fn keep_label() {
    check(&KEEP);
}
