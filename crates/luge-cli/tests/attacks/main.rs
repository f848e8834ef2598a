//! Attacks on the command line, by class: changed files (`mutation`), option values, torture (too much of everything,
//! kills, failing writes), resealed models and checkpoints, texts for terminals, limits at powers of two, and servers.
//! Commands run under a limit of memory (`ulimit -v`). Each ends with words and a status of its own; none is killed,
//! none panics. Every class prints its number of cases; `LUGE_TEST=cases=N` asks for more of those that are drawn.
#![cfg(unix)]

mod boundaries;
mod mutation;
mod options;
mod resealed;
mod server;
mod text;
mod torture;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Addresses that a process may have, in kilobytes.
const MAX_KILOBYTES: usize = 2_000_000;

/// A learner that is quick in all that it does.
const SUM: &str = "learner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
    for sample in data { theta[0] += y; }
}
";

/// A folder of one's own to run commands in.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A desk with a learner and its data.
    fn with_learner() -> Self {
        let desk = Self::new();
        desk.write("sum.sled", SUM);
        desk.write("data.csv", "x,y\n1,2\n2,1\n0,3\n");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    /// The files that are there; what killed processes left does not count.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with(".luge-")).collect();
        names.sort();
        names
    }

    /// Runs a command line, its words separated by spaces, after the shell has set a limit.
    fn under(&self, limits: &str, line: &str) -> Output {
        let script = format!("{limits}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_luge")]).args(line.split(' '));
        shell.current_dir(self.0.path()).stdin(Stdio::null()).output().expect("a shell")
    }

    /// A command line that may end with any status of ours.
    fn survives(&self, line: &str) -> Output {
        let output = self.under(&format!("ulimit -v {MAX_KILOBYTES}"), line);
        let said = said(&output);
        assert!(matches!(output.status.code(), Some(0..=3)), "{line}: {:?}\n{said}", output.status);
        assert!(!said.contains("panicked"), "{line}: {said}");
        output
    }

    /// The message for a command line, which must be refused.
    fn refused(&self, line: &str) -> String {
        let output = self.survives(line);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: {:?}", output.status);
        said(&output)
    }

    /// A command line that must succeed.
    fn done(&self, line: &str) -> Output {
        let output = self.survives(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
        output
    }
}

/// The standard error of a command.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn learner(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners").join(name).display().to_string()
}

/// How many cases to draw: as many as `LUGE_TEST=cases=N` says, or the number that every run has time for.
fn n_cases(usual: u64) -> u64 {
    luge_suite::number("cases", usual)
}
