//! `--proofs`: Rocq checks the network, and a proof is reported only if it accepts.
//!
//! Needs Rocq and the proofs built (`.ci/proofs`), so it runs with `LUGE_TEST=proofs` in the environment.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The exit status, standard output and standard error.
fn luge(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_luge")).current_dir(folder).args(args).output();
    let output = output.expect("a process");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn asked() -> bool {
    luge_suite::asked_for("proofs")
}

#[test]
fn landscapes_are_proved() {
    if !asked() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let proofs = root().join("proofs").display().to_string();
    for landscape in ["plain", "compact"] {
        let machine = ["export", "1RB1LB_1LA1RZ", "--landscape", landscape];
        let args = [&machine[..], &["--force", "--rocq", "bb-2.v", "--proofs", &proofs]].concat();
        let (status, printed, failure) = luge(folder.path(), &args);
        assert_eq!(status, Some(0), "{failure}");
        assert!(printed.starts_with("proved for every input: training runs this machine"), "{printed}");
    }
}

#[test]
fn models_are_proved_where_a_theorem_covers_them() {
    if !asked() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| root().join(name).display().to_string();
    let (proofs, machine, data) = (
        place("proofs"),
        place("crates/luge/learners/copy_label.tm"),
        place("crates/luge/learners/copy_label.csv"),
    );
    let certify = ["certify", "model", "--data", &data, "--quick", "--proofs", &proofs];
    let trained = |landscape: &str, carrier: &str| {
        let task = ["train", &machine, "--data", &data, "--target", "y", "--format", "fix:3.2"];
        let kind = ["--landscape", landscape, "--carrier", carrier, "--force", "--out", "model"];
        let (status, _, failure) = luge(folder.path(), &[&task[..], &kind].concat());
        assert_eq!(status, Some(0), "{failure}");
    };
    for landscape in ["plain", "compact"] {
        trained(landscape, "offset");
        let (status, printed, failure) = luge(folder.path(), &certify);
        // The model has a machine and no program.
        assert_eq!(status, Some(3), "{failure}");
        assert!(printed.contains("proved for every input  yes: for all x and y"), "{printed}");
        assert!(printed.contains("stops after k + 1 steps"), "{printed}");
    }

    // On other labels than these the final loss is above the network's stop level.
    std::fs::write(folder.path().join("even.csv"), "x,y\n-2,1.5\n0.25,1.5\n").expect("a file");
    let task = ["train", &machine, "--data", "even.csv", "--target", "y", "--format", "fix:3.2"];
    let kind = ["--landscape", "compact", "--final-loss", "0.01", "--force", "--out", "model"];
    let (status, _, failure) = luge(folder.path(), &[&task[..], &kind].concat());
    assert_eq!(status, Some(0), "{failure}");
    let certify_even = ["certify", "model", "--data", "even.csv", "--quick", "--proofs", &proofs];
    let (status, printed, _) = luge(folder.path(), &certify_even);
    assert_eq!(status, Some(1));
    assert!(printed.contains("proved for every input  NO: the checker refuses the network"), "{printed}");

    trained("plain", "orthogonal");
    let (status, printed, _) = luge(folder.path(), &certify);
    assert_eq!(status, Some(1));
    assert!(printed.contains("proved for every input  NO: no theorem covers it"), "{printed}");
}

#[test]
fn streams_are_proved() {
    if !asked() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let proofs = root().join("proofs").display().to_string();
    let task = ["stream", "stream_average", "--draw", "halfspace:features=2", "--out", "model"];
    let (status, _, failure) = luge(folder.path(), &task);
    assert_eq!(status, Some(0), "{failure}");
    let (_, printed, failure) = luge(folder.path(), &["certify", "model", "--proofs", &proofs]);
    assert!(
        printed.contains("proved for every stream      yes: for every stream of batches"),
        "{printed}{failure}"
    );
}

#[test]
fn ordinary_networks_are_proved_where_a_theorem_covers_them() {
    if !asked() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let proofs = root().join("proofs").display().to_string();
    let trained = |learner: &str, draw: &str| {
        let task = ["stream", learner, "--draw", draw, "--landscape", "mlp", "--force", "--out", "model"];
        let (status, _, failure) = luge(folder.path(), &task);
        assert_eq!(status, Some(0), "{failure}");
    };
    let certify = ["certify", "model", "--proofs", &proofs];
    trained("which_bit", "parity:bits=2,hidden=1");
    let (status, printed, failure) = luge(folder.path(), &certify);
    assert_eq!(status, Some(0), "{failure}");
    assert!(printed.contains("proved for every stream  yes: for every stream of samples"), "{printed}");
    let (status, printed, failure) =
        luge(folder.path(), &["export", "model", "--rocq", "model.v", "--proofs", &proofs]);
    assert_eq!(status, Some(0), "{failure}");
    assert!(printed.starts_with("proved for every stream: for every stream of samples"), "{printed}");

    // Too many states to be listed: its sums promise to be exclusive.
    trained("parity_circuit", "parity:bits=8,hidden=3");
    let (status, printed, failure) = luge(folder.path(), &certify);
    assert_eq!(status, Some(0), "{failure}");
    assert!(
        printed.contains("proved for every stream  yes: for every stream of samples on which no sum"),
        "{printed}"
    );

    // So many layers that theorem 5 does not bound the drift.
    trained("winnow", "junta:bits=3,hidden=1");
    let (status, printed, _) = luge(folder.path(), &certify);
    assert_eq!(status, Some(1));
    assert!(printed.contains("proved for every stream  NO: the checker refuses the network"), "{printed}");
}

#[test]
fn proofs_that_are_not_built_prove_nothing() {
    if !asked() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["export", "1RB1LB_1LA1RZ", "--rocq", "bb.v", "--proofs", "nowhere"];
    let (status, printed, failure) = luge(folder.path(), &args);
    assert_ne!(status, Some(0));
    assert!(printed.is_empty() && failure.contains("make -C proofs"), "{printed}{failure}");
}
