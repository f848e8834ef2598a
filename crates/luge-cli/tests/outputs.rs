//! Files that commands write: an existing file is replaced only on request, and never an input or something that is no file.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const MACHINE: &str = "1RB1LB_1LA1RZ";

/// A folder with one of everything that commands read.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().expect("a folder"));
        fs::write(desk.0.path().join("machine.bb"), format!("{MACHINE}\n")).expect("a file");
        fs::write(desk.0.path().join("data.csv"), "x,y\n-2,1.5\n0.25,-3\n1,2\n").expect("a file");
        let learner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners/copy_label.tm");
        fs::copy(learner, desk.0.path().join("learner.tm")).expect("a file");
        desk.done("train learner.tm --data data.csv --target y --format fix:3.2 --out model.safetensors");
        desk
    }

    fn luge(&self, line: &str) -> Output {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.args(line.split(' ')).current_dir(self.0.path()).output().expect("luge starts")
    }

    fn done(&self, line: &str) {
        let output = self.luge(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The message for a command line that is refused as wrong usage.
    fn refused(&self, line: &str) -> String {
        let output = self.luge(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        said
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Every way to write a file; the file is called `out.` with the extension.
const WRITERS: [(&str, &str); 12] = [
    ("train learner.tm --data data.csv --target y --format fix:3.2 --out", "safetensors"),
    ("train learner.tm --data data.csv --target y --format fix:3.2 --plot", "svg"),
    ("train learner.tm --data data.csv --target y --format fix:3.2 --checkpoint", "checkpoint"),
    ("train learner.tm --data data.csv --target y --format fix:3.2 --record", "record"),
    ("trace machine.bb --plot", "svg"),
    ("trace machine.bb --record", "record"),
    ("run machine.bb --picture", "png"),
    ("landscape machine.bb --at 1 --plot", "svg"),
    ("convert machine.bb", "tm"),
    ("export model.safetensors --graph", "json"),
    ("export machine.bb --rocq", "v"),
    ("report machine.bb -o", "html"),
];

#[test]
fn a_file_is_written_over_only_when_asked() {
    let desk = Desk::new();
    for (writer, extension) in WRITERS {
        let out = format!("out.{extension}");
        fs::write(desk.0.path().join(&out), "somebody's").expect("a file");
        let said = desk.refused(&format!("{writer} {out}"));
        assert!(
            said.contains(&format!("{out} already exists")) && said.contains("--force"),
            "{writer}: {said}"
        );
        assert_eq!(desk.read(&out), b"somebody's", "{writer}");
        desk.done(&format!("{writer} {out} --force"));
        // A run this short ends before its first checkpoint is due.
        assert!(extension == "checkpoint" || desk.read(&out) != b"somebody's", "{writer}");
        fs::remove_file(desk.0.path().join(&out)).expect("gone");
    }
}

/// Commands that write after long work look at the place before it; these are refused at once.
#[test]
fn a_file_is_found_before_long_work() {
    let desk = Desk::new();
    let learner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners/sgd_linear.sled");
    let compile = format!("compile {} --data data.csv --target y --out", learner.display());
    for writer in [
        &compile,
        "tolerance machine.bb --plot",
        "compare xor --plot",
        "compare parity --plot",
        "stream parity --draw parity:bits=4,hidden=2 --graph",
    ] {
        fs::write(desk.0.path().join("out.tm"), "somebody's").expect("a file");
        let said = desk.refused(&format!("{writer} out.tm"));
        assert!(said.contains("out.tm already exists") && said.contains("--force"), "{writer}: {said}");
        assert_eq!(desk.read("out.tm"), b"somebody's", "{writer}");
    }
}

#[test]
fn nothing_that_is_read_is_written_to() {
    let desk = Desk::new();
    let train = "train learner.tm --data data.csv --target y --format fix:3.2 --force";
    for (line, input) in [
        (format!("{train} --out data.csv"), "data.csv"),
        (format!("{train} --out learner.tm"), "learner.tm"),
        (format!("{train} --plot ./data.csv"), "data.csv"),
        (format!("{train} --checkpoint data.csv"), "data.csv"),
        (format!("{train} --record data.csv"), "data.csv"),
        ("export model.safetensors --graph model.safetensors --force".to_owned(), "model.safetensors"),
        ("convert machine.bb machine.bb --force".to_owned(), "machine.bb"),
        ("report machine.bb -o machine.bb --force".to_owned(), "machine.bb"),
        ("run machine.bb --picture machine.bb --force".to_owned(), "machine.bb"),
        ("trace machine.bb --plot machine.bb --force".to_owned(), "machine.bb"),
    ] {
        let before = desk.read(input);
        assert!(desk.refused(&line).contains("is read by this command"), "{line}");
        assert_eq!(desk.read(input), before, "{line}");
    }
    assert!(desk.refused(&format!("{train} --out new --plot new")).contains("named for two results"));
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    let desk = Desk::new();
    fs::write(desk.0.path().join("theirs"), "somebody's").expect("a file");
    std::os::unix::fs::symlink("theirs", desk.0.path().join("link")).expect("a link");
    for (writer, _) in WRITERS {
        // `convert` and `export` choose the format by the file's name.
        let to = if writer.starts_with("convert") { " --to tm" } else { "" };
        assert!(desk.refused(&format!("{writer} link --force{to}")).contains("is a link"), "{writer}");
        assert!(desk.refused(&format!("{writer} /dev/null --force{to}")).contains("is a device"), "{writer}");
    }
    assert!(fs::symlink_metadata(desk.0.path().join("link")).expect("a link").is_symlink());
    assert_eq!(desk.read("theirs"), b"somebody's");
}

/// A checkpoint of the same run is replaced without --force, one of another run is not.
#[test]
fn only_checkpoints_of_the_same_run_are_replaced() {
    let desk = Desk::new();
    let trace = "trace machine.bb --every 0s --checkpoint run";
    desk.done(trace);
    desk.done(trace);
    let other = "trace machine.bb --every 0s --landscape plain --checkpoint run";
    assert!(desk.refused(other).contains("run already exists"));
    desk.done(&format!("{other} --force"));
}

/// What a killed process left is removed by the next one that writes there.
#[test]
fn leftovers_are_swept() {
    let desk = Desk::new();
    fs::write(desk.0.path().join(".luge-a1b2c3.tmp"), "half").expect("a file");
    desk.done("run machine.bb --picture out.png");
    assert!(!desk.0.path().join(".luge-a1b2c3.tmp").exists());
}

/// Everything that can be wrong is found before anything is simulated: this machine never halts.
#[test]
fn a_bad_place_is_found_before_the_first_step() {
    let desk = Desk::new();
    fs::write(desk.0.path().join("endless.bb"), "1RA1RA\n").expect("a file");
    for line in [
        "run endless.bb --steps 1000000000000000 --picture no/such/folder/x.png",
        "trace endless.bb --steps 1000000000000000 --plot no/such/folder/x.svg",
        "report endless.bb -o no/such/folder/x.html",
    ] {
        let output = desk.luge(line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{line}");
    }
}
