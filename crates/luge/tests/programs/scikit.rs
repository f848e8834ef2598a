//! With `LUGE_TEST=sklearn` in the environment: scikit-learn fits the same data, and classifies as many rows right.

use std::{env, fs, path::Path, process::Command};

use luge::job::catalogue;
use serde_json::json;

use crate::ran::ran;

/// The learners that scikit-learn has as well.
const KNOWN: [&str; 7] = [
    "ridge",
    "logistic_regression",
    "naive_bayes",
    "decision_stump",
    "decision_tree",
    "k_means",
    "condensed_neighbours",
];

#[test]
fn scikit_learn_agrees() {
    if !luge_suite::asked_for("sklearn") {
        return;
    }
    let lessons = KNOWN.map(|name| {
        let (ran, shipped) = (ran(name), catalogue::find(name).expect("a learner that ships"));
        let lesson = shipped.lesson.as_ref().expect("a learner that ships");
        json!({
            "learner": name,
            "x": (0..ran.n_samples()).map(|i| ran.x(i)).collect::<Vec<_>>(),
            "y": (0..ran.n_samples()).map(|i| ran.y(i)).collect::<Vec<_>>(),
            "primary": lesson.primary,
            "theta": ran.weights(),
            "output": ran.predictions(),
        })
    });
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scikit");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("lessons.json");
    fs::write(&file, json!(lessons).to_string()).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scikit/check.py");
    let done = Command::new("python3").arg(script).arg(file).arg(folder.join("venv")).status();
    assert!(done.expect("python3").success());
}
