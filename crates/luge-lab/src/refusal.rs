//! What a page, or whoever writes a report, asks for.

use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::Diagnostic;
use luge_train::Precision;
use serde::{Deserialize, Serialize};

use crate::film::Choice;

/// Steps beyond which no run is followed.
pub const MOST_STEPS: u64 = 1_000_000_000_000;

/// What to run, and how.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What it is called.
    #[serde(default)]
    pub name: Option<String>,
    /// The program.
    pub source: Program,
    /// What lies on the tapes; none: what the program's file says, else blanks.
    #[serde(default)]
    pub input: Vec<String>,
    /// A table to learn from; none: the machine runs by itself.
    #[serde(default)]
    pub data: Option<Data>,
    /// The network whose weights are learned.
    #[serde(default = "linear")]
    pub primary: String,
    /// How numbers become bits.
    #[serde(default = "fixed")]
    pub format: String,
    /// Which landscape.
    #[serde(default = "compact")]
    pub landscape: String,
    /// How the landscape's loss reaches the output.
    #[serde(default = "offset")]
    pub carrier: String,
    /// What computes the gradients.
    #[serde(default = "auto")]
    pub engine: String,
    /// The arithmetic.
    #[serde(default = "f64_word")]
    pub precision: String,
    /// The most gradient steps.
    #[serde(default = "most_steps")]
    pub steps: u64,
}

/// A program's text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// In which language.
    #[serde(default)]
    pub kind: Language,
    /// The text.
    pub text: String,
    /// The machine file's format; none: told from the text.
    #[serde(default)]
    pub format: Option<String>,
}

/// The languages of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A machine in one of the file formats.
    #[default]
    Machine,
    /// Sled, compiled to a machine.
    Sled,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// CSV with a header.
    pub text: String,
    /// The labels' columns.
    pub target: Vec<String>,
    /// The features' columns; none: all others.
    #[serde(default)]
    pub features: Option<Vec<String>>,
}

fn linear() -> String {
    "linear".to_owned()
}

fn fixed() -> String {
    "fix:4.4".to_owned()
}

fn compact() -> String {
    LandscapeKind::default().word().to_owned()
}

fn offset() -> String {
    Carrier::default().word().to_owned()
}

fn auto() -> String {
    Choice::default().word().to_owned()
}

fn f64_word() -> String {
    Precision::default().word().to_owned()
}

fn most_steps() -> u64 {
    MOST_STEPS
}

impl Request {
    /// A machine's text, everything else as it comes.
    #[must_use]
    pub fn machine(text: impl Into<String>) -> Self {
        Self {
            name: None,
            source: Program { kind: Language::Machine, text: text.into(), format: None },
            input: Vec::new(),
            data: None,
            primary: linear(),
            format: fixed(),
            landscape: compact(),
            carrier: offset(),
            engine: auto(),
            precision: f64_word(),
            steps: MOST_STEPS,
        }
    }
}

/// Why there is no run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// Which part of the request: `source`, `input`, `data` or `options`.
    pub part: &'static str,
    /// Where in the program.
    pub findings: Vec<Finding>,
}

/// One finding in a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// `error` or `warning`.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// What was found or expected there.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

/// The most findings that are passed on.
const MOST_FINDINGS: usize = 50;

impl Refusal {
    pub(super) fn new(part: &'static str, message: impl ToString) -> Self {
        Self { message: message.to_string(), part, findings: Vec::new() }
    }

    pub(super) fn with(mut self, findings: &[Diagnostic], text: &str) -> Self {
        self.findings = located(findings, text);
        self
    }
}

/// Findings with their lines and columns.
pub(super) fn located(findings: &[Diagnostic], text: &str) -> Vec<Finding> {
    let finding = |found: &Diagnostic| {
        let (line, column) = found.position(text);
        Finding {
            line,
            column,
            severity: found.severity.to_string(),
            message: found.message.clone(),
            label: found.label.clone(),
            help: found.help.clone(),
        }
    };
    findings.iter().take(MOST_FINDINGS).map(finding).collect()
}

/// One of a few values by its name.
pub(super) fn named<T: Copy>(
    what: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    asked: &str,
) -> Result<T, Refusal> {
    all.iter().copied().find(|&one| name(one) == asked).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&one| name(one)).collect();
        Refusal::new("options", format!("there is no {what} `{asked}`; there are {}", known.join(", ")))
    })
}
