//! Runs that are killed: a checkpoint is complete or absent, and a run resumed from it ends as if nothing had happened.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use luge::{
    files::checkpoint::{Checkpoint, Frame},
    job::Job,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// The five-state champion, cut off where an optimised build is busy for some tenths of a second.
const MACHINE: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
const STEPS: &str = "3_000_000";

/// A machine with six states that does not halt soon: the exact engine needs more steps to be as busy.
const LONG_RUN: &str = "1RB0LD_1RC0RF_1LC1LA_0LE1RZ_1LF0RB_0RC0RE";

/// A run is killed within this time.
const BRIEF: Duration = Duration::from_millis(100);

fn luge(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luge"));
    command.args(args);
    command
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn finished(args: &[&str]) -> String {
    let output = luge(args).output().expect("a process");
    let (stdout, stderr) = text(&output);
    assert!(output.status.success(), "{args:?}: {stderr}");
    stdout
}

/// How a run ended. If weights drift, a resumed run checks other steps, because the weights before its checkpoint are gone.
fn ending(text: &str) -> serde_json::Value {
    let mut run: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let keys = run.as_object_mut().expect("an object");
    keys.remove("wall_s");
    keys.remove("steps_per_second");
    if let Some(gradient) = run["gradient"].as_object_mut() {
        gradient.remove("steps");
        gradient["seen"].as_object_mut().map(|seen| seen.remove("n_as_they_were"));
    }
    run
}

/// Starts the command and kills it after `wait`, counted from the next checkpoint in `saved` if a file is given. Returns the output
/// if the command had already ended.
fn kill_after(args: &[&str], saved: Option<&Path>, wait: Duration) -> Option<String> {
    let written = || saved.and_then(|file| fs::metadata(file).and_then(|file| file.modified()).ok());
    let before = written();
    let mut child = luge(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a process");
    while saved.is_some() && written() == before && child.try_wait().expect("a status").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(wait);
    let ended = child.try_wait().expect("a status").is_some();
    // SIGKILL: no handler, no clean-up.
    let _ = child.kill();
    let output = child.wait_with_output().expect("output");
    (ended && output.status.success()).then(|| text(&output).0)
}

/// Kills of each run: 100, or as many as `LUGE_TEST=cases=N` says.
fn n_kills() -> usize {
    luge_suite::number("cases", 100)
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Kills a run at random times and resumes it from the last checkpoint. On a busy computer a run may not save anything in the time
/// it is given, so every other one is killed only after it has saved a checkpoint.
fn survives(trace: &[&str], name: &str, longest: Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run");
    let file = file.to_str().expect("a path");
    let expected = ending(&finished(&[trace, &["--json"]].concat()));
    let mut generator = ChaCha8Rng::seed_from_u64(50);
    let (mut kills, mut ends, mut resumed) = (0, 0, 0);
    while kills < n_kills() {
        let wait = longest.mul_f64(f64::from(generator.next_u32()) / f64::from(u32::MAX));
        let saved = (kills % 2 == 1).then_some(Path::new(file));
        let ended = if Path::new(file).exists() {
            resumed += 1;
            kill_after(&["resume", file, "--every", "10ms", "--json"], saved, wait)
        } else {
            kill_after(&[trace, &["--checkpoint", file, "--every", "10ms", "--json"]].concat(), saved, wait)
        };
        match ended {
            Some(found) => {
                assert_eq!(ending(&found), expected, "{name}, {kills} kills");
                ends += 1;
                let _ = fs::remove_file(file);
            }
            None => kills += 1,
        }
        // The next run sweeps what this one was writing when it was killed.
        assert!(names(folder.path()).len() <= 3, "{:?}", names(folder.path()));
    }
    if !Path::new(file).exists() {
        finished(&[trace, &["--checkpoint", file, "--every", "0s"]].concat());
    }
    assert_eq!(ending(&finished(&["resume", file, "--json"])), expected, "{name}, at the end");
    assert_eq!(names(folder.path()), ["run"], "{name}: nothing is left behind");
    // A run that saved a checkpoint before it was killed is resumed next, and half of them did.
    assert!(
        2 * resumed + 2 >= n_kills(),
        "{name}: only {resumed} runs were resumed from a checkpoint, {ends} ended"
    );
}

#[test]
fn a_sparse_run_survives_every_kill() {
    survives(&["trace", MACHINE, "--steps", STEPS, "--engine", "sparse"], "sparse", BRIEF);
}

#[test]
fn an_exact_run_survives_every_kill() {
    survives(&["trace", LONG_RUN, "--steps", "30_000_000", "--engine", "exact"], "exact", 3 * BRIEF);
}

/// Its simulator repeats the steps before a checkpoint, so it needs more time.
#[test]
fn a_stream_survives_every_kill() {
    survives(&["stream", "parity", "--draw", "parity:bits=28,hidden=9"], "stream", 2 * BRIEF);
}

/// A learner whose gain is not 1, so that weights drift: theta, certificate and drift come out the same.
#[test]
fn training_is_resumed_where_it_was_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let learner = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners").join(name);
        path.to_str().expect("a path").to_owned()
    };
    let (machine, data) = (learner("mean.tm"), learner("mean.csv"));
    let train = [
        "train",
        &machine,
        "--data",
        &data,
        "--target",
        "y",
        "--carrier",
        "orthogonal",
        "--engine",
        "sparse",
    ];
    let whole = finished(&[&train[..], &["--out", &path("whole")]].concat());
    // Saved at step 0, before the labels are read.
    let again = finished(&[&train[..], &["--checkpoint", &path("run"), "--every", "0s"]].concat());
    let resumed = finished(&["resume", &path("run"), "--out", &path("resumed")]);
    let without_time = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("time ")).map(str::to_owned).collect()
    };
    assert_eq!(without_time(&again), without_time(&whole));
    assert_eq!(without_time(&resumed), without_time(&whole));
    assert_eq!(fs::read(path("whole")).expect("a model"), fs::read(path("resumed")).expect("a model"));
}

/// Ctrl-C without `--checkpoint`: the run is saved under a new name, and can be resumed.
#[cfg(unix)]
#[test]
fn an_interrupted_run_is_saved_unasked() {
    check_interrupted(&["trace", MACHINE, "--steps", "20_000_000", "--engine", "sparse"], 400);
    check_interrupted(&["stream", "parity", "--draw", "parity:bits=64,hidden=32"], 1000);
}

/// A resumed run waits at its end for the steps before its checkpoint to be verified, and can be interrupted there, too.
#[cfg(unix)]
#[test]
fn a_stream_is_interrupted_while_it_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run");
    let name = file.to_str().expect("a path");
    let run = ["stream", "parity", "--draw", "parity:bits=64,hidden=32", "--json"];
    let whole = finished(&[&run[..], &["--checkpoint", name, "--every", "100ms"]].concat());
    let last = ending(&whole)["steps"].as_u64();
    let resume = ["resume", name, "--every", "0s", "--json"];
    let before = fs::metadata(&file).and_then(|file| file.modified()).expect("a file");
    let mut child = luge(&resume).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    // The run has reached its end once it has saved its last step.
    let at_its_end = || {
        let saved = Checkpoint::load(&file).ok().and_then(|saved| saved.last());
        let is_new = fs::metadata(&file).and_then(|file| file.modified()).is_ok_and(|time| time != before);
        is_new && saved.map(|snapshot| snapshot.step) == last
    };
    while !at_its_end() && child.try_wait().expect("a status").is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("output");
    let (_, stderr) = text(&output);
    assert!(output.status.code() == Some(1) && stderr.contains("interrupted after"), "{stderr}");
    assert_eq!(ending(&finished(&resume)), ending(&whole));
}

#[cfg(unix)]
fn check_interrupted(run: &[&str], after_ms: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("luge.checkpoint"), "somebody else's").expect("a file");
    let run = [run, &["--json"]].concat();
    let mut wait = Duration::from_millis(after_ms);
    let output = loop {
        let mut command = luge(&run);
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("a process");
        thread::sleep(wait);
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(interrupt.success());
        let output = child.wait_with_output().expect("output");
        if output.status.code().is_some() {
            break output;
        }
        // The signal came before the run had begun and ended the process: on a busy computer it needs longer.
        wait *= 2;
    };
    let (_, stderr) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("luge resume luge-2.checkpoint"), "{stderr}");
    let resumed = luge(&["resume", "luge-2.checkpoint", "--json"]).current_dir(folder.path()).output();
    assert_eq!(ending(&text(&resumed.expect("a process")).0), ending(&finished(&run)));
    let kept = fs::read_to_string(folder.path().join("luge.checkpoint")).expect("a file");
    assert_eq!(kept, "somebody else's");
}

fn checkpoint(folder: &Path) -> PathBuf {
    let file = folder.join("run");
    let name = file.to_str().expect("a path");
    finished(&["trace", MACHINE, "--steps", "5_000", "--checkpoint", name, "--every", "0s"]);
    file
}

fn refused(args: &[&str]) -> String {
    let output = luge(args).output().expect("a process");
    assert_eq!(output.status.code(), Some(1));
    text(&output).1
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = checkpoint(folder.path());
    let name = file.to_str().expect("a path");
    let bytes = fs::read(&file).expect("bytes");

    fs::write(&file, &bytes[..bytes.len() / 2]).expect("a cut file");
    assert!(refused(&["resume", name]).contains("damaged"));
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 4;
    fs::write(&file, &changed).expect("a changed file");
    assert!(refused(&["resume", name]).contains("damaged"));
    let mut newer = bytes;
    newer[16] = 9;
    fs::write(&file, &newer).expect("a newer file");
    assert!(refused(&["resume", name]).contains("version 9"));
    fs::write(&file, "something else").expect("a file");
    assert!(refused(&["resume", name]).contains("not a checkpoint"));
    fs::remove_file(&file).expect("gone");
    assert!(refused(&["resume", name]).contains("cannot read"));
}

/// Where a machine is expected, a checkpoint or a record is recognised, and the remedy names the command for it.
#[test]
fn a_saved_run_is_no_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record").to_str().expect("a path").to_owned();
    let file = checkpoint(folder.path());
    let name = file.to_str().expect("a path");
    finished(&["trace", "bb4", "--record", &record]);
    for command in ["inspect", "run", "trace", "train", "check", "fmt"] {
        // A message may be wrapped over several lines.
        let said = |place: &str| refused(&[command, place]).split_whitespace().collect::<Vec<_>>().join(" ");
        let (checkpoint, record) = (said(name), said(&record));
        assert!(checkpoint.contains("is the checkpoint of a run"), "{command}: {checkpoint}");
        assert!(checkpoint.contains("resume the run with: luge resume"), "{command}: {checkpoint}");
        assert!(record.contains("luge revisit"), "{command}: {record}");
    }
}

/// A checkpoint whose job was exchanged for another one, checksum and all, belongs to another network.
#[test]
fn another_network_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = checkpoint(folder.path());
    let mut other = Checkpoint::load(&file).expect("a checkpoint");
    let Job::Trace(job) = &mut other.job else { panic!("a trace") };
    job.options.landscape = luge_landscape::LandscapeKind::Plain;
    other.save(&file).expect("a file");
    assert!(refused(&["resume", file.to_str().expect("a path")]).contains("another network"));
}

/// A false statement in a checkpoint: what it is about, and how to write it.
type Lie = (&'static str, fn(&mut Checkpoint));

/// Statements about losses, vertices and comparisons, which only repeating the run can refute.
const ABOUT_LOSSES: [Lie; 8] = [
    ("first loss", |lie| lie.seen.loss.as_mut().expect("losses").first += 1.0),
    ("last loss", |lie| lie.seen.loss.as_mut().expect("losses").last += 1.0),
    ("lowest loss", |lie| lie.seen.loss.as_mut().expect("losses").min -= 1.0),
    ("highest loss", |lie| lie.seen.loss.as_mut().expect("losses").max += 1.0),
    ("kept bounds", |lie| lie.seen.bounds_held = !lie.seen.bounds_held),
    ("iterates compared", |lie| lie.seen.n_compared += 1),
    ("mismatches", |lie| lie.seen.mismatches = 3),
    ("vertices", |lie| with_snapshot(lie, |snapshot| snapshot.path ^= 1)),
];

/// Statements that only a run with every step compared makes.
const ABOUT_EVERY_STEP: [Lie; 8] = [
    ("no higher loss while running", |lie| {
        let running = lie.seen.running.as_mut().expect("losses");
        running.max = running.min;
    }),
    ("no lower loss while running", |lie| {
        let running = lie.seen.running.as_mut().expect("losses");
        running.min = running.max;
    }),
    ("the step of the lowest loss", |lie| *lie.seen.lowest_at.as_mut().expect("a step") ^= 1),
    ("the step of the highest loss", |lie| *lie.seen.highest_at.as_mut().expect("a step") ^= 1),
    ("a loss after the halt", |lie| lie.seen.halted = Some(0.0)),
    ("whether the loss rose", |lie| lie.seen.rose = !lie.seen.rose),
    ("whether the loss stood still", |lie| lie.seen.stalled = !lie.seen.stalled),
    ("drift", |lie| lie.seen.drift.get_or_insert_default().tape += 0.125),
];

/// Makes a run, changes its checkpoint and signs it again: every false statement is found, and the original checkpoint is resumed to
/// the same end.
fn check_lies(run: &[&str], lies: &[Lie]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run");
    let name = file.to_str().expect("a path");
    let whole = finished(&[run, &["--checkpoint", name, "--every", "0s", "--json"]].concat());
    let honest = Checkpoint::load(&file).expect("a checkpoint");
    assert!(honest.last().is_some_and(|snapshot| snapshot.step > 0), "{run:?}: no steps before it");
    for (what, tell) in lies {
        let mut lie = honest.clone();
        tell(&mut lie);
        lie.save(&file).expect("a file");
        let said = refused(&["resume", name]);
        // A path that is not the machine's is found by the simulator's digest.
        let found = said.contains("the checkpoint") || said.contains("the engine's digest");
        assert!(found, "{run:?}, {what}: {said}");
    }
    honest.save(&file).expect("a file");
    assert_eq!(ending(&finished(&["resume", name, "--json"])), ending(&whole), "{run:?}");
}

/// A checkpoint is compared with the repeated run, for every engine: losses, vertices, weights, and what was compared.
#[test]
fn a_checkpoint_that_lies_is_found_out() {
    let every = [&ABOUT_LOSSES[..], &ABOUT_EVERY_STEP].concat();
    check_lies(&["trace", MACHINE, "--steps", "200_000"], &every);
    check_lies(&["trace", MACHINE, "--steps", "5_000", "--engine", "sparse"], &every);
    check_lies(&["trace", "bb4", "--engine", "dense"], &every);
    check_lies(&["trace", MACHINE, "--check", "end"], &ABOUT_LOSSES);
    // With macrosteps, and a primary network.
    let labels: Lie = ("labels", |lie| lie.seen.labels_copied = false);
    let lies = [ABOUT_LOSSES[2], ABOUT_EVERY_STEP[0], ABOUT_EVERY_STEP[2], labels];
    check_lies(&["train", "perceptron"], &lies);
    check_lies(&["train", "mean", "--engine", "dense"], &lies);
}

/// Changes the weights of a checkpoint.
fn with_snapshot(lie: &mut Checkpoint, change: impl FnOnce(&mut luge_train::Snapshot)) {
    let mut snapshot = lie.last().expect("a snapshot");
    change(&mut snapshot);
    lie.frames = vec![Frame::new(&snapshot)];
}

/// A stream uses only the weights of its checkpoint, and these are compared with the repeated run, bit for bit.
#[test]
fn a_checkpoint_of_a_stream_that_lies_is_found_out() {
    const STREAM: [&str; 3] = ["stream", "parity", "--draw"];
    let lies: [Lie; 7] = [
        ("vertices", |lie| with_snapshot(lie, |snapshot| snapshot.path ^= 1)),
        ("the vertex", |lie| with_snapshot(lie, |snapshot| snapshot.vertices[0].0 ^= 1)),
        ("a weight's last bit", |lie| {
            with_snapshot(lie, |snapshot| {
                let weight = &mut snapshot.tapes[3].head[0];
                *weight = f64::from_bits(weight.to_bits() ^ 1);
            });
        }),
        ("the slot", |lie| with_snapshot(lie, |snapshot| snapshot.labels[0] += 1.0 / 1024.0)),
        ("fewer weights", |lie| with_snapshot(lie, |snapshot| snapshot.labels.truncate(3))),
        ("the step", |lie| with_snapshot(lie, |snapshot| snapshot.step += 1)),
        ("the stream", |lie| {
            let Job::Stream(job) = &mut lie.job else { panic!("a stream") };
            job.options.seed += 1;
        }),
    ];
    check_lies(&[&STREAM[..], &["parity:bits=16,hidden=8"]].concat(), &lies);
    let limit: Lie = ("step limit", |lie| {
        let Job::Stream(job) = &mut lie.job else { panic!("a stream") };
        job.options.steps = 2;
    });
    let fixed = ["parity:bits=16,hidden=8", "--cells", "2048"];
    check_lies(&[&STREAM[..], &fixed].concat(), &[limit]);
    check_lies(&[&STREAM[..], &["parity:bits=3,hidden=2", "--engine", "dense"]].concat(), &lies[..3]);
}

/// The job is part of the file, too.
#[test]
fn a_checkpoint_beyond_its_own_step_limit_is_found_out() {
    let limit: Lie = ("step limit", |lie| {
        let Job::Trace(job) = &mut lie.job else { panic!("a trace") };
        job.options.steps = Some(1);
    });
    check_lies(&["trace", MACHINE, "--steps", "200_000"], &[limit]);
}

/// A trace has no model to write.
#[test]
fn a_trace_is_not_resumed_into_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = checkpoint(folder.path());
    let out = folder.path().join("model.safetensors");
    let (name, model) = (file.to_str().expect("a path"), out.to_str().expect("a path"));
    let output = luge(&["resume", name, "--out", model]).output().expect("a process");
    let (_, said) = text(&output);
    assert!(output.status.code() == Some(2) && said.contains("no model to write"), "{said}");
    assert!(!out.exists());
}

/// Any step of a record is the step of the run itself.
#[test]
fn every_step_of_a_record_can_be_revisited() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record").to_str().expect("a path").to_owned();
    finished(&["trace", MACHINE, "--steps", "1_000_000", "--record", &record]);
    for step in ["0", "1", "1023", "1024", "500_001", "999_999", "1_000_000"] {
        let direct = finished(&["trace", MACHINE, "--steps", step, "--json"]);
        let visited = finished(&["revisit", &record, step, "--json"]);
        assert_eq!(weights(&visited), weights(&direct), "step {step}");
    }
}

/// The digest of the weights.
fn weights(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
    value["weights"].as_str().expect("a digest").to_owned()
}

/// A step of a stream is the same from whichever snapshot it is reached: the last one before it, or the first.
#[test]
fn every_step_of_a_stream_can_be_revisited() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (record, first) = (path("record"), path("first"));
    finished(&["stream", "parity", "--draw", "parity:bits=16,hidden=8", "--record", &record]);
    let mut cut = Checkpoint::load(Path::new(&record)).expect("a record");
    let last = cut.ended.expect("an end").to_string();
    cut.frames.truncate(1);
    cut.save(Path::new(&first)).expect("a file");
    for step in ["1", "1023", "1024", "20_001", &last] {
        let near = finished(&["revisit", &record, step, "--json"]);
        let far = finished(&["revisit", &first, step, "--json"]);
        assert!(
            weights(&near) == weights(&far) && near != far || step.len() <= 4,
            "step {step}: {near} {far}"
        );
    }
    let end: serde_json::Value =
        serde_json::from_str(&finished(&["revisit", &record, &last, "--json"])).expect("JSON");
    assert!(end["loss"].as_f64().expect("a loss") < 1.0, "{end}");
}

/// A run with only some iterates compared still says so after it was resumed.
#[test]
fn a_resumed_run_says_what_was_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run").to_str().expect("a path").to_owned();
    let whole = finished(&["trace", MACHINE, "--check", "end", "--checkpoint", &file, "--every", "0s"]);
    let resumed = finished(&["resume", &file]);
    for printed in [whole, resumed] {
        assert!(printed.contains("mismatches      0, among the iterates compared"), "{printed}");
    }
}
