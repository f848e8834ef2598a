//! The arguments that give a program its data, and the way from them to a compiled program.

use std::path::PathBuf;

use luge::{
    data::Table,
    program::{self, ProgramError},
    source::Source,
};
use luge_landscape::Learner;
use luge_machine::Input;
use luge_net::NumberFormat;
use luge_sled::Compiled;

use super::{
    failure::Failure,
    table_args::{fit, read_table},
};

#[derive(clap::Args)]
pub(super) struct DataArgs {
    /// A CSV file with a header, `-` for standard input: what a program learns from
    #[arg(long, value_name = "FILE.csv", requires = "target")]
    pub(super) data: Option<PathBuf>,
    /// The label's column, or several with commas between
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "data")]
    target: Vec<String>,
    /// The features' columns; by default all that are no label
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "data")]
    features: Option<Vec<String>>,
    /// How numbers become bits: fix:I.F
    #[arg(long, value_name = "FORMAT", default_value = "fix:4.4")]
    format: NumberFormat,
    /// Take the nearest number of the format for data outside it
    #[arg(long)]
    saturate: bool,
}

/// A program, its data and its machine.
pub(super) struct Prepared {
    pub(super) compiled: Compiled,
    pub(super) table: Table,
    pub(super) format: NumberFormat,
}

impl DataArgs {
    pub(super) fn prepare(&self, source: &Source) -> Result<Prepared, Failure> {
        let Some(place) = &self.data else {
            return Err(Failure::Usage {
                problem: format!("{} is a program: its machine depends on its data", source.name),
                remedy: "give them with --data FILE.csv --target COLUMN".to_owned(),
            });
        };
        let mut table = read_table(place, &self.target, self.features.as_deref())?;
        fit(&mut table, &place.display().to_string(), self.format, self.saturate)?;
        let sizes = program::sizes(self.format, table.feature_names.len(), table.label_names.len())
            .map_err(|error| Failure::of_program(error, source))?;
        let compiled = program::compile(&source.text, &source.name, &sizes)
            .map_err(|error| Failure::of_program(error, source))?;
        Ok(Prepared { compiled, table, format: self.format })
    }
}

impl Prepared {
    /// The data on the machine's tapes.
    pub(super) fn input(&self) -> Result<Input, Failure> {
        let learner = Learner::new(&self.compiled.machine, Some(&self.compiled.input))?;
        let layout = program::layout(&self.table, self.format);
        Ok(learner.source_input(&layout, &program::bits(&self.table, self.format)))
    }
}

impl Failure {
    /// What a program's findings look like when they refuse it.
    pub(super) fn of_program(error: ProgramError, source: &Source) -> Self {
        let problem = error.to_string();
        match error {
            ProgramError::Format { .. } => {
                Self::Usage { problem, remedy: "give --format fix:I.F, such as fix:4.8".to_owned() }
            }
            ProgramError::Broken { findings, .. } => Self::of_findings(problem, &findings, source),
            ProgramError::Backend(_) => Self::Unfit {
                problem,
                remedy: "use shorter loops over indices, or fewer features".to_owned(),
            },
        }
    }
}
