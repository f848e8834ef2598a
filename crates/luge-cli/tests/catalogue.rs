//! What ships is found by its name, or by its text, by every command.

use std::{path::Path, process::Command};

fn prints(args: &[&str], expected: &str) {
    let luge = Command::new(env!("CARGO_BIN_EXE_luge")).args(args).output().expect("luge starts");
    assert!(luge.status.success(), "{args:?}: {}", String::from_utf8_lossy(&luge.stderr));
    let printed = String::from_utf8_lossy(&luge.stdout);
    assert!(printed.contains(expected), "{args:?}: {printed}");
}

#[test]
fn machines_and_learners_that_ship_have_names() {
    prints(&["trace", "bb4"], "gradient steps  107");
    prints(&["run", "bb3"], "steps      21");
    prints(&["train", "mean"], "y = 2.5625 + 0 x");
}

#[test]
fn a_learner_that_ships_is_known_by_its_text() {
    let learner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners/mean.tm");
    prints(&["train", &learner.to_string_lossy()], "y = 2.5625 + 0 x");
}
