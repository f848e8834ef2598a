//! The failures of commands, with file, place and remedy.

#[cfg(test)]
mod tests;
mod text;

use std::{error::Error, fmt, io, path::Path, process::ExitCode};

use luge::{
    data::TableError,
    draw::edges::EdgesError,
    files::{Checkpoint, CheckpointError, ModelError, OutputError},
    job::{
        JobError, OpenError, ProgramError, ReadError, Source,
        auto_format::NoFormat,
        catalogue::{self, Shipped},
        circuits::MAX_BITS,
    },
    mlp::TorchError,
    run::{EngineError, memory::TooMuch, revisit::RevisitError},
    trace::LONGEST_SEARCH,
    training::{Certificate, Claim},
};
use luge_experiments::compare::stream::CompareError;
use luge_lab::RunError;
use luge_landscape::{
    BuildError, ConstantsError, ExtendedError, InternalError, LearnerError, PrimaryError,
    StreamConstantsError, StreamError,
};
use luge_machine::{Diagnostic as Finding, InputError, Severity, lowering::LoweringError};
use luge_sled::{BackendError, CircuitCompileError};
use luge_train::TrainError;
use miette::{Diagnostic, LabeledSpan, Report, SourceCode};

use super::output::note;
use text::Excerpt;
pub(super) use text::{did_you_mean, escape_control};

/// The most findings of one file that are printed.
const MAX_SHOWN: usize = 20;

/// An error of any type.
type Problem = Box<dyn Error + Send + Sync>;

/// Why a command failed.
#[derive(Debug, Diagnostic)]
pub(crate) struct Failure {
    problem: Problem,
    #[help]
    remedy: Option<String>,
    #[related]
    findings: Vec<Located>,
    /// The exit status: 2 if the command line is wrong.
    code: u8,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_control(&self.problem.to_string()))
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.problem.source()
    }
}

/// What could not be done, and why.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
struct Because {
    problem: String,
    #[source]
    reason: Problem,
}

/// One finding in a source text, as it is printed.
#[derive(Debug, thiserror::Error)]
#[error("{}", finding.message)]
pub(super) struct Located {
    finding: Finding,
    label: LabeledSpan,
    excerpt: Excerpt,
}

impl Located {
    fn new(finding: &Finding, source: &Source) -> Self {
        let excerpt = Excerpt::around(&escape_control(&source.name), &source.text, &finding.span);
        let note = (!finding.label.is_empty()).then(|| escape_control(&finding.label));
        let label = LabeledSpan::new(note, excerpt.span.start, excerpt.span.len());
        let (message, help) = (escape_control(&finding.message), finding.help.as_deref().map(escape_control));
        Self { finding: Finding { message, help, ..finding.clone() }, label, excerpt }
    }
}

impl Diagnostic for Located {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.finding.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
}

/// The remedy for a file that cannot be read.
const READABLE: &str = "name a file that exists and that you may read";

/// What to do about errors.
const REMEDIES: &str = include_str!("failure/remedies.txt");

/// Converts errors to failures, with the remedies of [`REMEDIES`]. The variants after `passing` only contain another error;
/// those in braces need more than a fixed remedy.
macro_rules! failures {
    ($(for $type:ident($error:ident, $problem:ident) $(passing $($inner:ident),+)? {
        $($pattern:pat => $failure:expr,)*
    })*) => {$(
        impl From<$type> for Failure {
            #[allow(unused_variables, unreachable_patterns, reason = "where no variant, or every one, is in braces")]
            fn from($error: $type) -> Self {
                let $problem = $error.to_string();
                match $error {
                    $($pattern => $failure,)*
                    $($($type::$inner(error) => error.into(),)+)?
                    error => Self::listed(stringify!($type), error),
                }
            }
        }
    )*};
}

failures! {
    for TooMuch(error, problem) {}
    for EdgesError(error, problem) {}
    for LoweringError(error, problem) {}
    for TrainError(error, problem) {}
    for ConstantsError(error, problem) {}
    for InternalError(error, problem) {}
    for EngineError(error, problem) passing Train {}
    for PrimaryError(error, problem) {}
    for LearnerError(error, problem) passing Lowering {}
    for StreamConstantsError(error, problem) {}
    for StreamError(error, problem) passing Constants {}
    for TorchError(error, problem) {}
    for ProgramError(error, problem) passing Backend {}
    for BackendError(error, problem) passing Circuit {}
    for CircuitCompileError(error, problem) {}
    for CompareError(error, problem) passing Job {}
    for RunError(error, problem) passing Job, Engine {}
    for BuildError(error, problem) passing Constants, Internal {}
    for ExtendedError(error, problem) passing Build {
        ExtendedError::Build(BuildError::Constants(_)) => {
            Self::error(problem, "choose a narrower --format, or give another --final-loss")
        },
    }
    for TableError(error, problem) {
        TableError::NoColumn { column, known } => {
            let near = did_you_mean(&column, &known.split(", ").collect::<Vec<_>>());
            Self::error(problem, format!("{near}name columns of the header with --target and --features"))
        },
    }
    for OpenError(error, problem) {
        OpenError::Read { .. } => Self::of_file(error, READABLE),
        OpenError::NotText { name, .. } => Self::of_bytes(problem, &name),
        OpenError::Missing(name) => {
            let names: Vec<&str> = catalogue::SHIPPED.iter().map(|shipped| shipped.name).collect();
            let near = did_you_mean(&name, &names);
            let places = "give a machine file, `-` for standard input, a line such as 1RB1LB_1LA1RZ, or the name of a machine that ships, such as bb4";
            Self::error(problem, near + places)
        },
    }
    for OutputError(error, problem) {
        OutputError::File(_) => {
            Self::error(error, "name a place in a folder that exists and that you may write to")
        },
    }
    for RevisitError(error, problem) passing Checkpoint, Job, Engine {
        RevisitError::TooEarly { first, .. } => Self::error(problem, format!("ask for step {first} or a later one")),
        RevisitError::TooLate { last, .. } => Self::error(problem, format!("ask for step {last} or an earlier one")),
    }
    for JobError(error, problem) passing Input, Learner, Primary, Lowering, Memory, Engine, Build, Extended, Stream {
        JobError::Read { text, error } => Self::of_reading(error, &text),
        JobError::Program { text, error } => Self::of_program(error, &text),
        JobError::Table { name, error } => Self::of_table(&name, *error),
        JobError::DoesNotHalt(_) => {
            let halting = format!("without it the machine must halt within {LONGEST_SEARCH}");
            Self::error(problem, format!("limit the steps with --steps; {halting}"))
        },
        JobError::CircuitBits(_) => {
            Self::usage(problem, format!("give a number from 1 to {MAX_BITS}, as in parity_circuit:16"))
        },
        JobError::ThetaSize { fits, .. } => {
            Self::usage(problem, format!("give the network the program is for with --primary, such as {fits}"))
        },
        JobError::NoFormat { why: NoFormat::Endless | NoFormat::Rejects(_), .. } => {
            Self::error(problem, "name a --format, and see what the learner asks of its data")
        },
        JobError::TooFewCells { needed, .. } => {
            Self::error(problem, format!("give --cells {needed} or more, or leave --cells out"))
        },
        JobError::NoEffect { option, .. } => {
            Self::usage(problem, format!("leave --{} out", option.replace('_', "-")))
        },
        JobError::OtherLayers(n_cells) => Self::error(problem, format!("give --cells {n_cells}")),
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Job(error) => error.into(),
            ModelError::Io(error) => Self::of_file(error, READABLE),
            ModelError::OtherData => Self::not_certified(error),
            ModelError::NoData | ModelError::Inconsistent(_) => Self::listed("ModelError", error),
            error => Self::error(error, "give a model that `luge train --out` wrote, unchanged"),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        Self::of_file(
            error,
            "give a file that --checkpoint or --record wrote, unchanged, to the same version of luge",
        )
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::because("invalid --input", error.to_string()).with_remedy(
            "give --input at most once per tape, in the order of the tapes, with symbols of that tape",
        )
    }
}

impl Failure {
    /// A failure without a remedy.
    pub(super) fn of(problem: impl Into<Problem>) -> Self {
        Self { problem: problem.into(), remedy: None, findings: Vec::new(), code: 1 }
    }

    /// A failure with a reason.
    pub(super) fn because(problem: impl Into<String>, reason: impl Into<Problem>) -> Self {
        // The reason may quote a file or the command line.
        let reason = escape_control(&reason.into().to_string()).into();
        Self::of(Because { problem: problem.into(), reason })
    }

    /// A wrong command line, and what to write instead.
    pub(super) fn usage(problem: impl Into<Problem>, remedy: impl Into<String>) -> Self {
        Self { code: 2, ..Self::error(problem, remedy) }
    }

    /// A failure with a remedy.
    pub(super) fn error(problem: impl Into<Problem>, remedy: impl Into<String>) -> Self {
        Self::of(problem).with_remedy(remedy)
    }

    /// A failure with the remedy that is listed for an error of this type, if there is one.
    pub(super) fn listed(kind: &str, error: impl Error + Send + Sync + 'static) -> Self {
        // A derived `Debug` begins with the name of the variant.
        let debug = format!("{error:?}");
        let variant = debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let name = format!("{kind}.{variant}:");
        match REMEDIES.lines().find_map(|line| line.strip_prefix(&name)) {
            None => Self::of(error),
            Some(remedy) => {
                let (code, remedy) = remedy.strip_prefix('!').map_or((1, remedy), |remedy| (2, remedy));
                Self { code, ..Self::error(error.to_string(), remedy.trim_start()) }
            }
        }
    }

    /// A file that cannot be used: a folder, a file that is too large, or another with this remedy.
    fn of_file(error: impl Error + Send + Sync + 'static, remedy: &str) -> Self {
        let reason = error.source().and_then(|reason| reason.downcast_ref::<io::Error>());
        if reason.is_some_and(|reason| reason.kind() == io::ErrorKind::IsADirectory) {
            return Self::error(format!("{error}: it is a folder"), "name a file in it");
        }
        match reason.and_then(|reason| reason.get_ref()?.downcast_ref::<TooMuch>()) {
            Some(too_much) => too_much.clone().into(),
            None => Self::error(error, remedy),
        }
    }

    /// A file that is not text; a checkpoint or a record is recognised.
    fn of_bytes(problem: String, name: &str) -> Self {
        let path = Path::new(name);
        if !Checkpoint::begins(path) {
            return Self::error(problem, "save it as UTF-8 text");
        }
        let (kind, remedy) = match Checkpoint::load(path) {
            Ok(Checkpoint { record: true, .. }) => {
                ("record", format!("show a step of the run with: luge revisit {name} STEP"))
            }
            _ => ("checkpoint", format!("resume the run with: luge resume {name}")),
        };
        Self::error(format!("{name} is the {kind} of a run"), remedy)
    }

    pub(super) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// A result could not be printed.
    pub(super) fn print(reason: impl Into<Problem>) -> Self {
        Self::because("cannot print the result", reason)
    }

    /// A model or a run that is not certified. Its result is still printed.
    pub(super) fn not_certified(reason: impl fmt::Display) -> Self {
        Self::of(format!("not certified: {reason}"))
    }

    /// Fails with the first claim that does not hold.
    pub(super) fn of_claims<'a>(claims: impl IntoIterator<Item = (&'a str, &'a Claim)>) -> Result<(), Self> {
        match claims.into_iter().find(|(_, claim)| !claim.holds) {
            None => Ok(()),
            Some((name, claim)) => Err(Self::not_certified(format!("{name}: {}", claim.figures))),
        }
    }

    /// Fails with the first claim that does not hold, unless the run is proved.
    pub(super) fn of_certificate(certificate: &Certificate) -> Result<(), Self> {
        if certificate.proves_the_run() { Ok(()) } else { Self::of_claims(certificate.claims()) }
    }

    /// No claim fails, but not everything could be checked.
    pub(super) fn certified_in_part(what: &str) -> Self {
        let remedy = "if the machine was compiled from a program, train again with that program";
        Self { code: 3, ..Self::error(format!("certified only in part: {what}"), remedy) }
    }

    /// [`Failure::from`] for requests to which `--steps` is no answer: what to do about a machine that runs on.
    pub(super) fn of_endless(error: JobError, remedy: &str) -> Self {
        match error {
            JobError::HaltingUnreachable(_) | JobError::DoesNotHalt(_) => {
                Self::error(error.to_string(), remedy)
            }
            error => error.into(),
        }
    }

    /// A table that cannot be used, with the file's name.
    pub(super) fn of_table(name: &str, error: TableError) -> Self {
        let problem = format!("{name}: {error}").into();
        Self { problem, ..error.into() }
    }

    /// A text that is not a program.
    pub(super) fn of_program(error: ProgramError, source: &Source) -> Self {
        match error {
            ProgramError::Broken { ref findings, .. } => {
                Self::of_findings(error.to_string(), findings, source)
            }
            error => error.into(),
        }
    }

    /// A text that is not a machine.
    pub(super) fn of_reading(error: ReadError, source: &Source) -> Self {
        match error {
            ReadError::Broken { ref findings, .. } | ReadError::BrokenCircuit { ref findings, .. } => {
                Self::of_findings(error.to_string(), findings, source)
            }
            ReadError::Unrecognised { .. } => Self::error(error, "name the format with --from"),
            error => Self::listed("ReadError", error),
        }
    }

    /// A text with errors.
    pub(super) fn of_findings(mut headline: String, findings: &[Finding], source: &Source) -> Self {
        if findings.len() > MAX_SHOWN {
            headline.push_str(&format!(": {} findings, the first {MAX_SHOWN} of them", findings.len()));
        }
        let shown = findings.iter().take(MAX_SHOWN);
        let findings = shown.map(|finding| Located::new(finding, source)).collect();
        Self { findings, ..Self::of(escape_control(&headline)) }
    }
}

/// Opens a learner: a file, or one of those that ship.
pub(super) fn open_learner(
    named: &str,
    ships: impl IntoIterator<Item = &'static Shipped>,
) -> Result<Source, Failure> {
    Source::open(named).map_err(|error| {
        let OpenError::Missing(_) = error else { return error.into() };
        let names: Vec<&str> = ships.into_iter().map(|shipped| shipped.name).collect();
        Failure::error(
            format!("there is no file `{named}`, and no learner of that name ships"),
            format!("{}give a file, or one of {}", did_you_mean(named, &names), names.join(", ")),
        )
    })
}

/// Prints a file's warnings on standard error.
pub(super) fn show_warnings(warnings: &[Finding], source: &Source) {
    for warning in warnings {
        show(&Report::new(Located::new(warning, source)));
    }
}

/// Prints a failure on standard error, and returns the exit status.
pub(crate) fn show_failure(failure: Failure) -> ExitCode {
    let code = failure.code;
    show(&Report::new(failure));
    ExitCode::from(code)
}

fn show(report: &Report) {
    note(format!("{report:?}").trim_end());
}
