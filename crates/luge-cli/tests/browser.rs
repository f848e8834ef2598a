//! The page in a browser: with `LUGE_TEST=browser` in the environment `tests/browser/check.mjs` does there what users do.

use std::{path::Path, process::Command};

#[test]
fn users_can_do_what_they_should_and_the_console_stays_silent() {
    if !luge_suite::asked_for("browser") {
        return;
    }
    let checked = Command::new("node")
        .arg("tests/browser/check.mjs")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("LUGE_BIN", env!("CARGO_BIN_EXE_luge"))
        .status()
        .expect("node");
    assert!(checked.success(), "the page fails in the browser");
}
