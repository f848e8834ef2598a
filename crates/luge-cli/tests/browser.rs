//! The page in a browser: with `LUGE_BROWSER=1` in the environment `tests/browser/check.mjs` does there what users do.

use std::{
    env,
    path::Path,
    process::{Command, Output},
};

fn luge(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let done =
        Command::new(env!("CARGO_BIN_EXE_luge")).args(arguments).current_dir(root).output().expect("luge");
    assert!(done.status.success(), "luge {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    done
}

#[test]
fn users_can_do_what_they_should_and_the_console_stays_silent() {
    if env::var_os("LUGE_BROWSER").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (mean, model, of_model) = (place("mean.html"), place("model.safetensors"), place("model.html"));
    luge(&["report", "mean", "-o", &mean]);
    luge(&["train", "sgd_linear", "--out", &model]);
    luge(&["report", &model, "--data", "crates/luge/learners/sgd_linear.csv", "-o", &of_model]);
    let stream = place("stream.html");
    luge(&["report", "parity", "--draw", "parity:bits=8,hidden=4", "-o", &stream]);
    let checked = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser/check.mjs"))
        .args([&mean, &of_model, &stream])
        .env("LUGE_BIN", env!("CARGO_BIN_EXE_luge"))
        .status()
        .expect("node");
    assert!(checked.success(), "the page fails in the browser");
}
