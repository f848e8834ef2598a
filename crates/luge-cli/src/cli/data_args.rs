//! Arguments that describe a table.

use std::str::FromStr;

use luge::{
    data::{ClassCode, Missing, PrepareOptions, Scale, Split, decode},
    files::bounded,
    job::{Data, OpenError, TrainJob, is_circuit, program},
};
use luge_net::{NumberFormat, numbers::FormatError};

use crate::cli::command_prelude::*;

/// A table, its number format, and the constants of a program.
#[derive(clap::Args)]
pub(super) struct CsvArgs {
    /// A CSV file with a header, or `-` for standard input [default: the data that ship with the learner]
    #[arg(long, value_name = "FILE.csv")]
    pub(super) data: Option<PathBuf>,
    /// The label column, or several separated by commas
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "data")]
    target: Vec<String>,
    /// The feature columns, separated by commas [default: all columns that are not labels]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "data")]
    features: Option<Vec<String>>,
    /// How numbers become bits: fix:I.F, and for machines also fix:I.F:sm or float:E.M; auto for the smallest fix:I.F in which no number of a program wraps around [default: fix:4.4, or that of a learner that ships]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<FormatArg>,
    /// Clamp numbers outside the format to its range
    #[arg(long, requires = "data")]
    saturate: bool,
    /// Set a constant of a program, as NAME=VALUE; repeat for several
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Missing values: refuse them, replace them by the column's mean or zero, or drop the row
    #[arg(long, value_name = "HOW", default_value = Missing::default().word(), value_parser = word::<Missing>(), requires = "data", help_heading = "Columns")]
    missing: Missing,
    /// Scale every feature: standard to mean 0 and deviation 1, minmax to the range 0 to 1; stored in the model
    #[arg(long, value_name = "HOW", default_value = Scale::default().word(), value_parser = word::<Scale>(), requires = "data", help_heading = "Columns")]
    scale: Scale,
    /// One-hot encode features that contain words
    #[arg(long, requires = "data", help_heading = "Columns")]
    one_hot: bool,
    /// Encode the classes of a target: signs -1 and 1, numbers 0, 1, 2 and so on, each with a column per class, or auto as the learner expects
    #[arg(long, value_name = "HOW", default_value = ClassCode::default().word(), value_parser = word::<ClassCode>(), requires = "data", help_heading = "Columns")]
    classes: ClassCode,
}

/// The same, and the rows that are held out of training.
#[derive(clap::Args)]
pub(super) struct DataArgs {
    #[command(flatten)]
    pub(super) csv: CsvArgs,
    /// Hold out this share of the rows and test on them
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "data", help_heading = "Columns")]
    split: Option<f64>,
    /// Seed of the random choice of held-out rows
    #[arg(long, value_name = "N", default_value_t = 0, requires = "split", help_heading = "Columns")]
    seed: u64,
}

/// A number format, or `auto` for the smallest that works.
#[derive(Clone, Copy)]
pub(super) enum FormatArg {
    Auto,
    Given(NumberFormat),
}

impl FromStr for FormatArg {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given) }
    }
}

/// Parses a share of the rows.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a share between 0 and 1, such as 0.2".to_owned())
}

impl CsvArgs {
    /// Protects the data from being overwritten.
    pub(super) fn protect(&self, outputs: Outputs) -> Outputs {
        self.data.iter().fold(outputs, Outputs::reading)
    }

    /// The number format, if one is named.
    pub(super) fn format(&self) -> Option<NumberFormat> {
        match self.format {
            Some(FormatArg::Given(format)) => Some(format),
            Some(FormatArg::Auto) | None => None,
        }
    }

    /// Whether an option is given that only programs have.
    pub(super) fn is_for_a_program(&self) -> bool {
        self.data.is_some() || !self.set.is_empty()
    }

    /// The constants to set, which only a program has.
    pub(super) fn constants(&self, source: &Source) -> Result<Vec<String>, Failure> {
        if !self.set.is_empty() && !program::is_program(source) {
            let kind = if is_circuit(source) { "circuit" } else { "machine" };
            return Err(Failure::usage(
                format!("--set is for programs, and {} is a {kind}", source.name),
                "leave --set out, or give a .sled file",
            ));
        }
        Ok(self.set.clone())
    }

    /// The data, if any are named.
    pub(super) fn read(&self, split: Option<Split>) -> Result<Option<Data>, Failure> {
        let Self { missing, scale, one_hot, classes, .. } = *self;
        let prepare = PrepareOptions { missing, scale, one_hot, classes, split };
        let named = |place: &PathBuf| {
            let columns = (self.target.clone(), self.features.clone());
            named_table(place, columns, self.saturate, prepare.clone())
        };
        self.data.as_ref().map(named).transpose()
    }
}

impl DataArgs {
    /// A learner on the named data, or on those that ship with it.
    pub(super) fn job(&self, source: Source) -> Result<TrainJob, Failure> {
        let split = self.split.map(|fraction| Split { fraction, seed: self.seed });
        let mut job = match self.csv.read(split)? {
            Some(data) => TrainJob::new(source, data),
            None => TrainJob::of(source)?,
        };
        job.set = self.csv.constants(&job.source)?;
        match self.csv.format {
            Some(FormatArg::Given(format)) => job.options.format = format,
            Some(FormatArg::Auto) => note(&format!("format {}", job.choose_format()?)),
            None => {}
        }
        Ok(job)
    }
}

/// A CSV file and how its columns are prepared; `-` is standard input.
pub(super) fn named_table(
    place: &Path,
    (target, features): (Vec<String>, Option<Vec<String>>),
    saturate: bool,
    prepare: PrepareOptions,
) -> Result<Data, Failure> {
    let (name, text) = read_text(place)?;
    Ok(Data::Csv { name, text, target, features, saturate, prepare })
}

/// The name and the text of a CSV file; `-` is standard input.
pub(super) fn read_text(place: &Path) -> Result<(String, String), Failure> {
    let name = place.display().to_string();
    // The text, its columns and their numbers are in memory at the same time.
    let bytes = bounded::read(place, 8).map_err(OpenError::from)?;
    let not_text = |offset| OpenError::NotText { name: name.clone(), offset };
    let text = decode(bytes).map_err(not_text)?;
    Ok((name, text))
}

/// Prints the notes about a table.
pub(super) fn show_notes(data: &Data, notes: &[String]) {
    let name = match data {
        Data::Csv { name, .. } => name,
        Data::Table(_) => "the data",
    };
    notes.iter().for_each(|text| note(&format!("{name}: {text}")));
}
