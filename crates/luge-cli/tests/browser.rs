//! The page in a browser: with `LUGE_BROWSER=1` in the environment `tests/browser/check.mjs` does there what users do.

use std::{env, path::Path, process::Command};

#[test]
fn users_can_do_what_they_should_and_the_console_stays_silent() {
    if env::var_os("LUGE_BROWSER").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    let luge = env!("CARGO_BIN_EXE_luge");
    let written = Command::new(luge).args(["report", "mean", "-o"]).arg(&report).status().expect("luge");
    assert!(written.success(), "no report");
    let checked = Command::new("node")
        .arg(root.join("tests/browser/check.mjs"))
        .arg(&report)
        .env("LUGE_BIN", luge)
        .status()
        .expect("node");
    assert!(checked.success(), "the page fails in the browser");
}
