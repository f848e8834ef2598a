//! Jobs: complete descriptions of what to do, used by the command line, the lab, reports, checkpoints and
//! benchmarks.
//!
//! Preparing a job reads its program and its data, converts the data to the number format, and builds the network
//! ([`TrainJob::prepare`], [`TraceJob::prepare`]). The result is trained and compared with the simulator
//! ([`PreparedTraining::train`], [`PreparedTrace::run`]).

pub mod auto_format;
#[doc(hidden)]
pub mod catalogue;
#[doc(hidden)]
pub mod circuits;
mod classes;
mod error;
mod primaries;
#[doc(hidden)]
pub mod program;
pub mod source;
#[doc(hidden)]
pub mod universal;

use std::ops::ControlFlow;

use luge_machine::{
    Diagnostic, Input, Machine,
    formats::{Format, Loaded as MachineFile, ReadOptions},
    parse_inputs,
};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde::{Deserialize, Serialize};

use crate::{
    data::{Preparation, PrepareOptions, Range, Table},
    mlp,
    stream::StreamJob,
    trace::{PreparedTrace, Trace, TraceOptions},
    training::{PreparedTraining, TrainingOptions, TrainingReport},
};

use catalogue::ShippedLesson;
pub use circuits::is_circuit;
pub use classes::classes_as_wanted;
pub use error::JobError;
pub use primaries::{Primaries, StandardPrimaries};
use program::SizedSource;
pub use program::{ProgramError, is_program};
pub use source::{OpenError, ReadError, Source};

/// A job of any kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Job {
    /// Train a machine's landscape in lockstep with the simulator.
    Trace(TraceJob),
    /// Train an extended network on data, and certify the run.
    Train(TrainJob),
    /// Train a network on a stream, and certify the run.
    Stream(StreamJob),
}

/// A machine, its input, and how to trace it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceJob {
    /// The machine.
    pub source: Source,
    /// The content of the tapes; if empty, the input in the machine's file, or blanks.
    #[serde(default)]
    pub input: Vec<String>,
    /// The start state, instead of the one in the file.
    #[serde(default)]
    pub start: Option<String>,
    /// The line of a bbchallenge list that holds the machine, counted from 1.
    #[serde(default)]
    pub line: Option<usize>,
    /// How to trace.
    #[serde(default)]
    pub options: TraceOptions,
}

/// A learner, its data, the network whose weights it finds, and how to train.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainJob {
    /// The learner: a Sled program or a machine.
    pub source: Source,
    /// For a universal learner: the learner that it runs.
    #[serde(default)]
    pub program: Option<Source>,
    /// The data.
    pub data: Data,
    /// The network whose weights are learned, as `--primary` takes it.
    #[serde(default = "linear")]
    pub primary: String,
    /// Constants of a program to set, each as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// How to train.
    #[serde(default)]
    pub options: TrainingOptions,
}

fn linear() -> String {
    "linear".to_owned()
}

/// The data of a learner.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// A CSV file with a header.
    Csv {
        /// Its name in messages.
        name: String,
        /// The text.
        text: String,
        /// The labels' columns.
        target: Vec<String>,
        /// The features' columns; `None` for all others.
        #[serde(default)]
        features: Option<Vec<String>>,
        /// Whether numbers outside the format are clamped to its range.
        #[serde(default)]
        saturate: bool,
        /// How its columns are prepared.
        #[serde(default)]
        prepare: PrepareOptions,
    },
    /// A table that was read before.
    Table(Table),
}

/// A machine that was read, and its source's format and warnings.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The machine.
    pub machine: Machine,
    /// The content of its tapes, if its file has it.
    pub input: Option<Input>,
    /// Warnings about its text.
    pub warnings: Vec<Diagnostic>,
    /// The format it was read as; `None` for a program.
    pub format: Option<Format>,
    /// The compiled program, if it is one.
    pub compiled: Option<Compiled>,
}

impl From<(Format, MachineFile)> for Loaded {
    fn from((format, loaded): (Format, MachineFile)) -> Self {
        let MachineFile { machine, input, warnings } = loaded;
        Self { machine, input, warnings, format: Some(format), compiled: None }
    }
}

impl TraceJob {
    /// Creates a trace of a machine on its own input, with default options.
    pub fn new(source: Source) -> Self {
        Self { source, input: Vec::new(), start: None, line: None, options: TraceOptions::default() }
    }

    /// Reads the machine.
    ///
    /// # Errors
    /// If the text is not a machine.
    pub fn load(&self) -> Result<Loaded, JobError> {
        if program::is_program(&self.source) {
            return Err(JobError::ProgramAlone(self.source.name.clone()));
        }
        let options = ReadOptions { inputs: self.input.clone(), start: self.start.clone(), line: self.line };
        Ok(self.source.read_with(&options)?.into())
    }

    /// Returns the initial content of the tapes.
    ///
    /// # Errors
    /// If the input has symbols that the machine does not have.
    pub fn initial_tapes(&self, loaded: &Loaded) -> Result<Input, JobError> {
        if self.input.is_empty() {
            return Ok(loaded.input.clone().unwrap_or_else(Input::blank));
        }
        Ok(parse_inputs(&loaded.machine, &self.input)?)
    }

    /// Reads the machine and builds the landscape: everything but training.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare(&self) -> Result<PreparedTrace, JobError> {
        self.plan(&self.load()?)
    }

    /// The same for a machine that was read before.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn plan(&self, loaded: &Loaded) -> Result<PreparedTrace, JobError> {
        PreparedTrace::new(&loaded.machine, &self.initial_tapes(loaded)?, &self.options)
    }

    /// Prepares the job and trains the landscape, comparing it with the simulator at every step.
    ///
    /// ```
    /// use luge::{Source, TraceJob};
    ///
    /// // The four-state busy beaver, a machine that ships.
    /// let trace = TraceJob::new(Source::open("bb4")?).trace()?;
    /// assert!(trace.matches_machine());
    /// assert_eq!(trace.outcome.steps(), 107);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn trace(&self) -> Result<Trace, JobError> {
        self.prepare()?.run(|_| ControlFlow::Continue(()))
    }

    /// Converts the machine with its input to a circuit.
    ///
    /// # Errors
    /// If it does not halt within the steps, or is not a circuit.
    pub fn circuit(&self, loaded: &Loaded) -> Result<luge_circuit::Circuit, JobError> {
        mlp::machine_circuit(&loaded.machine, &self.initial_tapes(loaded)?, self.options.steps)
    }
}

impl TrainJob {
    /// Creates a job with default options. A learner that ships comes with its number format, primary network and landscape.
    pub fn new(source: Source, data: Data) -> Self {
        let mut options = TrainingOptions::default();
        let mut primary = Self::usual_primary(&source).to_owned();
        if let Some(known) = catalogue::lesson(&source) {
            options.landscape = known.landscape;
            options.format = known.format.parse().unwrap_or(options.format);
            known.primary.clone_into(&mut primary);
        }
        Self { source, program: None, data, primary, set: Vec::new(), options }
    }

    /// Creates the job of a learner that ships, on the data that ship with it.
    ///
    /// # Errors
    /// If no table ships with it.
    pub fn of(source: Source) -> Result<Self, JobError> {
        match catalogue::lesson(&source).map(ShippedLesson::table) {
            Some(Some(table)) => Ok(Self::new(source, table.data())),
            Some(None) => Err(JobError::OnStream(source.name)),
            None => Err(JobError::NoData(source.name)),
        }
    }

    /// Reads the data as numbers of the format.
    ///
    /// # Errors
    /// If they are not a table, or do not fit the format.
    pub fn table(&self) -> Result<Table, JobError> {
        let mut table = self.as_given()?;
        self.data.fit(&mut table, self.options.format)?;
        Ok(table)
    }

    /// Reads the data without a range check, with classes as the learner expects them.
    pub(crate) fn as_given(&self) -> Result<Table, JobError> {
        self.with_labels(self.data.for_learner(Some(&self.source))?)
    }

    /// Reads the learner, and compiles it for the sizes of its data if it is a program.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn load(&self, table: &Table) -> Result<Loaded, JobError> {
        let mut loaded = self.for_table(table).load()?;
        if let Some(program) = &self.program {
            loaded.input = Some(load_program(program, &loaded)?);
        }
        Ok(loaded)
    }

    /// Runs a program in the interpreter for at most this many statements; `None` if the learner is a machine.
    ///
    /// # Errors
    /// If the program is wrong.
    pub fn interpret(&self, table: &Table, limit: u64) -> Result<Option<luge_sled::Outcome>, JobError> {
        if !program::is_program(&self.source) {
            return Ok(None);
        }
        self.for_table(table).interpret(table, limit).map(Some)
    }

    /// Reads data and learner and builds the network: everything but training.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare(&self) -> Result<PreparedTraining, JobError> {
        self.prepare_with(&StandardPrimaries)
    }

    /// The same with your own primary networks.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare_with(&self, primaries: &dyn Primaries) -> Result<PreparedTraining, JobError> {
        let table = self.table()?;
        let loaded = self.load(&table)?;
        self.assemble(table, &loaded, primaries)
    }

    /// Prepares the job and trains the network to the end. To watch the run, or to stop it, use [`PreparedTraining::train`].
    ///
    /// ```
    /// use luge::{Data, Source, Table, TrainJob};
    ///
    /// let (x, y) = (vec![1.0, 2.0, 3.0, 4.0], vec![2.0, 4.0, 6.0, 8.0]);
    /// let table = Table::new(vec!["x".to_owned()], vec!["y".to_owned()], x, y);
    /// let mut job = TrainJob::new(Source::open("least_squares_line")?, Data::Table(table));
    /// job.options.format = "fix:8.8".parse()?;
    /// let (_, report) = job.train()?;
    /// assert!(report.certificate.proves_the_run());
    /// assert_eq!(report.theta, [0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Everything that can be wrong with the job. A run that goes wrong gives a certificate that does not hold.
    pub fn train(&self) -> Result<(PreparedTraining, TrainingReport), JobError> {
        let prepared = self.prepare()?;
        let report = prepared.train(|_| ControlFlow::Continue(()))?;
        Ok((prepared, report))
    }

    /// Prepares a table and a learner that were read before.
    ///
    /// # Errors
    /// If the parts do not fit together.
    pub fn assemble(
        &self,
        table: Table,
        loaded: &Loaded,
        primaries: &dyn Primaries,
    ) -> Result<PreparedTraining, JobError> {
        let sized = self.for_table(&table);
        let (learner, primary) = sized.learner(loaded, &self.primary, primaries)?;
        let program = program::is_program(&self.source).then_some(sized);
        PreparedTraining::prepare_program(learner, primary, table, self.options.clone(), program)
    }

    /// The learner, for samples with this many features and labels.
    fn sized(&self, sizes: (usize, usize)) -> SizedSource {
        let (source, set) = (self.source.clone(), self.set.clone());
        SizedSource { source, set, format: self.options.format, sizes }
    }

    /// The learner, for the samples of a table.
    pub fn for_table(&self, table: &Table) -> SizedSource {
        self.sized(table.sizes())
    }
}

/// An upper bound on the statements per machine step: most statements take many steps, a few take none.
pub(crate) const STATEMENTS_PER_STEP: u64 = 64;

impl Data {
    /// A CSV file with the columns of other data, to be prepared as those were.
    pub fn like(preparation: &Preparation, name: String, text: String, saturate: bool) -> Self {
        let features = Some(preparation.features.iter().map(|feature| feature.column.clone()).collect());
        let target = preparation.targets.iter().map(|target| target.column.clone()).collect();
        Self::Csv { name, text, target, features, saturate, prepare: preparation.options.clone() }
    }

    /// Reads the data as numbers of a format.
    ///
    /// # Errors
    /// If they are not a table, or do not fit the format.
    pub fn read(&self, format: NumberFormat) -> Result<Table, JobError> {
        let mut table = self.as_given()?;
        self.fit(&mut table, format)?;
        Ok(table)
    }

    /// Checks that all numbers of a CSV file are in the format's range, or clamps them; a table that was read before is not changed.
    fn fit(&self, table: &mut Table, format: NumberFormat) -> Result<(), JobError> {
        let Self::Csv { name, saturate, .. } = self else { return Ok(()) };
        let range = if *saturate { Range::Saturate } else { Range::Refuse };
        table
            .fit(format, range)
            .map_err(|error| JobError::Table { name: name.clone(), error: Box::new(error) })
    }

    /// Reads the data without a range check.
    ///
    /// # Errors
    /// If they are not a table.
    pub fn as_given(&self) -> Result<Table, JobError> {
        self.for_learner(None)
    }

    /// The same, with the classes of a CSV file as this learner expects them.
    fn for_learner(&self, learner: Option<&Source>) -> Result<Table, JobError> {
        let (name, text, target, features, prepare) = match self {
            Self::Table(table) => return Ok(table.clone()),
            Self::Csv { name, text, target, features, prepare, .. } => {
                (name, text, target, features, prepare)
            }
        };
        let read =
            |prepare: &PrepareOptions| Table::read_prepared(text, target, features.as_deref(), prepare);
        let table = match learner.filter(|_| !target.is_empty()) {
            Some(learner) => classes_as_wanted(learner, prepare, read),
            None => read(prepare),
        };
        table.map_err(|error| JobError::Table { name: name.clone(), error: Box::new(error) })
    }
}

/// Returns the universal learner's input with another learner as its program.
fn load_program(source: &Source, universal: &Loaded) -> Result<Input, JobError> {
    let (_, loaded) = source.read_with(&ReadOptions::default())?;
    universal::Program::encode(&loaded.machine, loaded.input.as_ref())
        .and_then(|program| program.load(&universal.machine, universal.input.as_ref()))
        .map_err(|error| JobError::Universal { name: source.name.clone(), error })
}
