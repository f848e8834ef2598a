//! Reads the cases of `tests/suite` for every executor, and the variable `LUGE_TEST`.
//!
//! A case is a `.toml` file next to a machine file. It states how the run must end, whatever runs it.
//!
//! ```
//! let cases = luge_suite::cases("formats/bbchallenge");
//! let champion = cases.iter().find(|case| case.path.ends_with("two-states.toml")).expect("the case");
//! assert_eq!((champion.outcome.as_str(), champion.steps), ("halted", 6));
//! ```

mod asked;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use asked::{asked_for, number};
use serde::Deserialize;

/// One run and its expected end.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The machine file, relative to the case, unless `line` is given.
    pub machine: Option<String>,
    /// A machine as one bbchallenge line, instead of a file.
    pub line: Option<String>,
    /// One text per tape. By default, the input in the file, or blank tapes.
    pub inputs: Option<Vec<String>>,
    /// The step limit.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// "halted", "step-limit" or "no-rule".
    pub outcome: String,
    /// Number of steps.
    pub steps: u64,
    /// The last state's name.
    pub state: Option<String>,
    /// Whether it accepts.
    pub accepting: Option<bool>,
    /// Number of cells that are not blank, over all tapes.
    pub nonzero: Option<u64>,
    /// The contents of each tape without outer blanks, as joined symbol names.
    pub tapes: Option<Vec<String>>,
    /// The heads' cells; cell 0 holds the first input symbol.
    pub heads: Option<Vec<i64>>,
    /// The expected warnings, as `line:column: warning: …`.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Options for reading the file.
    pub asked: Option<Asked>,
    /// The path of the case.
    #[serde(skip)]
    pub path: PathBuf,
}

/// Options for reading a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    /// The state to start in.
    pub start: Option<String>,
    /// The line of a list that holds the machine, counted from 1.
    pub line: Option<usize>,
    /// Whether the inputs contain characters that the file does not mention.
    pub any_character: bool,
}

fn default_limit() -> u64 {
    1_000_000
}

impl Case {
    /// The machine file's path, if the case names one.
    pub fn machine_path(&self) -> Option<PathBuf> {
        self.machine.as_ref().map(|name| self.path.with_file_name(name))
    }
}

/// The folder `tests/suite` of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suite")
}

/// The cases under `folder`, relative to the suite, that need no options; sorted by path.
///
/// # Panics
/// If a file cannot be read or parsed.
pub fn cases(folder: &str) -> Vec<Case> {
    all_cases(folder).into_iter().filter(|case| case.asked.is_none()).collect()
}

/// All cases under `folder`, including those that need the options in [`Asked`].
///
/// # Panics
/// As [`cases`].
pub fn all_cases(folder: &str) -> Vec<Case> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let case: Case = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Case { path, ..case }
    };
    files(folder, "toml").into_iter().map(read).collect()
}

/// All files under `folder` with the given extension, sorted by path.
///
/// # Panics
/// If a folder cannot be listed.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root().join(folder)];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
