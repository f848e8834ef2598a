//! Jobs on streams: a learner, its samples, and how to train.

use luge_landscape::Learner;
use luge_machine::formats::ReadOptions;
use luge_net::NumberFormat;
use serde::{Deserialize, Serialize};

use super::{PreparedStream, Samples, StreamLandscape, StreamOptions};
use crate::{
    data::Table,
    job::{
        Data, JobError, Primaries, StandardPrimaries, TrainJob, catalogue,
        program::{self, SizedSource},
        source::Source,
    },
};

/// A learner, its stream, and how to train.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamJob {
    /// The learner: a program that takes, or a machine with states that do.
    pub source: Source,
    /// Where its samples come from.
    pub samples: Samples,
    /// The network whose weights are learned, as `--primary` takes it.
    pub primary: String,
    /// Constants of a program to set, each as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The network.
    #[serde(default)]
    pub landscape: StreamLandscape,
    /// How to train.
    #[serde(default)]
    pub options: StreamOptions,
}

impl StreamJob {
    /// A learner on a stream, with default options. A learner that ships comes with its number format and primary network.
    #[must_use]
    pub fn new(source: Source, samples: Samples) -> Self {
        let options = StreamOptions::new(Self::format_for(&source));
        let known = catalogue::lesson(&source).map(|lesson| lesson.primary);
        let primary = known.unwrap_or_else(|| TrainJob::usual_primary(&source)).to_owned();
        let landscape = StreamLandscape::default();
        Self { source, samples, primary, set: Vec::new(), landscape, options }
    }

    /// A learner that ships, on the samples that ship with it; the rows of a table pass in cycles.
    ///
    /// # Errors
    /// If it comes with none.
    pub fn of(source: Source) -> Result<Self, JobError> {
        match catalogue::lesson(&source) {
            Some(lesson) => {
                let samples = lesson.samples(Self::format_for(&source))?;
                Ok(Self::new(source, samples))
            }
            None => Err(JobError::NoData(source.name)),
        }
    }

    /// The learner, for the samples of the stream.
    pub(crate) fn sized(&self) -> SizedSource<'_> {
        let (format, sizes) = (self.options.format, self.samples.sizes());
        SizedSource { source: &self.source, set: &self.set, format, sizes }
    }

    /// The rows of a table as numbers of a format, with classes as the learner wants them.
    ///
    /// # Errors
    /// If they are not a table, or do not fit the format.
    pub fn table(source: &Source, data: Data, format: NumberFormat) -> Result<Table, JobError> {
        let mut job = TrainJob::new(source.clone(), data);
        job.options.format = format;
        job.table()
    }

    /// The same as numbers of any size.
    ///
    /// # Errors
    /// If they are not a table.
    pub fn as_given(source: &Source, data: Data) -> Result<Table, JobError> {
        TrainJob::new(source.clone(), data).as_given()
    }

    /// The default number format for a learner.
    #[must_use]
    pub fn format_for(source: &Source) -> NumberFormat {
        catalogue::lesson(source).and_then(|lesson| lesson.format.parse().ok()).unwrap_or_default()
    }

    /// Learner, stream, primary network, window, network: everything but training.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare(&self) -> Result<PreparedStream, JobError> {
        self.prepare_with(&StandardPrimaries)
    }

    /// The same with your own primary networks.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare_with(&self, primaries: &dyn Primaries) -> Result<PreparedStream, JobError> {
        let (learner, n_theta) = learner(self.sized())?;
        let primary = self.sized().primary(&self.primary, primaries)?;
        if let Some(n_theta) = n_theta {
            self.sized().check_theta(n_theta, &*primary)?;
        }
        let stream = PreparedStream::prepare(learner, primary, self.samples.clone(), self.options.clone())?;
        Ok(PreparedStream { program: n_theta.map(|_| (self.source.clone(), self.set.clone())), ..stream })
    }
}

/// The machine of a learner for samples of these sizes, compiled if it is a program, and how many numbers a program leaves.
pub(super) fn learner(sized: SizedSource<'_>) -> Result<(Learner, Option<usize>), JobError> {
    if program::is_program(sized.source) {
        let compiled = sized.compile()?;
        return Ok((Learner::new(&compiled.machine, Some(&compiled.input))?, Some(compiled.n_theta)));
    }
    let (_, loaded) = sized.source.read_with(&ReadOptions::default())?;
    Ok((Learner::new(&loaded.machine, loaded.input.as_ref())?, None))
}
