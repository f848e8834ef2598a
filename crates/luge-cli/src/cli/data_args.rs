//! The arguments that name a table, and the way from them to it.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use luge::{
    data::Table,
    job::{Data, JobError, TrainJob},
    program,
    source::{OpenError, Source},
};
use luge_net::NumberFormat;

use super::failure::Failure;

#[derive(clap::Args)]
pub(super) struct DataArgs {
    /// A CSV file with a header, `-` for standard input; by default the data that ship with the learner
    #[arg(long, value_name = "FILE.csv", requires = "target")]
    pub(super) data: Option<PathBuf>,
    /// The label's column, or several with commas between
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "data")]
    target: Vec<String>,
    /// The features' columns; by default all that are no label
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "data")]
    features: Option<Vec<String>>,
    /// How numbers become bits: fix:I.F, and for machines also fix:I.F:sm or float:E.M [default: fix:4.4, or what a learner that ships is for]
    #[arg(long, value_name = "FORMAT")]
    format: Option<NumberFormat>,
    /// Take the nearest number of the format for data outside it
    #[arg(long)]
    saturate: bool,
    /// Set a constant of a program, as NAME=VALUE; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

impl DataArgs {
    /// A program or learner on the data that were named, or on those that ship with it.
    pub(super) fn job(&self, source: Source) -> Result<TrainJob, Failure> {
        let mut job = match self.read()? {
            Some(data) => TrainJob::new(source, data),
            None => TrainJob::of(source)?,
        };
        job.options.format = self.format.unwrap_or(job.options.format);
        if !self.set.is_empty() && !program::is_program(&job.source) {
            return Err(Failure::Usage {
                problem: format!("--set is for programs, and {} is a machine", job.source.name),
                remedy: "leave --set out, or give a .sled file".to_owned(),
            });
        }
        job.set.clone_from(&self.set);
        Ok(job)
    }

    /// Whether something is given that machines without data cannot use.
    pub(super) fn is_for_a_program(&self) -> bool {
        self.data.is_some() || !self.set.is_empty()
    }

    /// The data that were named, if any.
    fn read(&self) -> Result<Option<Data>, Failure> {
        let named =
            |place: &PathBuf| named_table(place, &self.target, self.features.as_deref(), self.saturate);
        self.data.as_ref().map(named).transpose()
    }
}

/// A CSV file as it stands; `-` is standard input.
pub(super) fn named_table(
    place: &Path,
    target: &[String],
    features: Option<&[String]>,
    saturate: bool,
) -> Result<Data, Failure> {
    let name = place.display().to_string();
    let mut bytes = Vec::new();
    let read = if name == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(place).map(|read| bytes = read)
    };
    read.map_err(|reason| Failure::Unreadable(OpenError::Read { name: name.clone(), reason }))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::Unreadable(OpenError::NotText {
            name: name.clone(),
            offset: error.utf8_error().valid_up_to(),
        })
    })?;
    Ok(Data::Csv { name, text, target: target.to_vec(), features: features.map(<[_]>::to_vec), saturate })
}

/// The features of a table, for a model that predicts.
pub(super) fn read_features(place: &Path, features: &[String]) -> Result<Table, Failure> {
    let Data::Csv { name, text, .. } = named_table(place, &[], Some(features), false)? else {
        unreachable!("a table that was named is a file")
    };
    Ok(Table::read(text.as_bytes(), &[], Some(features)).map_err(|error| JobError::Table { name, error })?)
}
