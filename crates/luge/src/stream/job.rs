//! Jobs on streams: a learner, its samples, and how to train.

use luge_landscape::mlp::Float;
use luge_net::NumberFormat;
use serde::{Deserialize, Serialize};

use super::{Concept, Draw, PreparedStream, Samples, StreamLandscape, StreamOptions, Via};
use crate::{
    data::Table,
    job::{
        Data, JobError, Primaries, StandardPrimaries, TrainJob, catalogue, is_circuit,
        program::{self, SizedSource},
        source::Source,
    },
    mlp::sample_format,
};

/// A learner, its stream, and how to train.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamJob {
    /// The learner: a program or a machine that takes samples. On landscape mlp also a program that loops over a table, or a
    /// circuit.
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
    /// Creates a job with default options. A learner that ships comes with its number format and primary network.
    pub fn new(source: Source, samples: Samples) -> Self {
        let options = StreamOptions::new(Self::format_for(&source));
        let known = catalogue::lesson(&source).map(|lesson| lesson.primary);
        let primary = known.unwrap_or_else(|| TrainJob::usual_primary(&source)).to_owned();
        let landscape = StreamLandscape::default();
        Self { source, samples, primary, set: Vec::new(), landscape, options }
    }

    /// Creates the job of a learner that ships, on the samples that ship with it; the rows of a table pass in cycles. A
    /// circuit gets parities of half of its bits.
    ///
    /// # Errors
    /// If no samples ship with it.
    pub fn of(source: Source) -> Result<Self, JobError> {
        let format = Self::format_for(&source);
        Self::in_format(source, format)
    }

    /// The same with another number format.
    ///
    /// # Errors
    /// If no samples ship with it, or they do not fit the format.
    pub fn in_format(source: Source, format: NumberFormat) -> Result<Self, JobError> {
        let samples = match catalogue::lesson(&source) {
            Some(lesson) => lesson.samples(format)?,
            None if is_circuit(&source) => {
                let n_features = source.read_circuit(None)?.circuit.samples().map_or(1, |s| s.n_features);
                let concept = Concept::Parity { n_hidden: n_features.div_ceil(2) };
                Samples::Draw(Draw { concept, n_features, noise: 0.0 })
            }
            None => return Err(JobError::NoData(source.name)),
        };
        let mut job = Self::new(source, samples);
        job.options.format = format;
        Ok(job)
    }

    /// Changes to the default options of another landscape; the number format stays.
    #[must_use]
    pub fn on(self, landscape: StreamLandscape) -> Self {
        let options = StreamOptions { format: self.options.format, ..StreamOptions::on(landscape) };
        Self { landscape, options, ..self }
    }

    /// The learner, for the samples of the stream.
    pub(crate) fn sized(&self) -> SizedSource {
        let (source, set) = (self.source.clone(), self.set.clone());
        SizedSource { source, set, format: self.options.format, sizes: self.samples.sizes() }
    }

    /// Reads a table as numbers of a format, with classes as the learner expects them.
    ///
    /// # Errors
    /// If they are not a table, or do not fit the format.
    pub fn table(source: &Source, data: Data, format: NumberFormat) -> Result<Table, JobError> {
        let mut job = TrainJob::new(source.clone(), data);
        job.options.format = format;
        job.table()
    }

    /// The same without rounding or range check.
    ///
    /// # Errors
    /// If they are not a table.
    pub fn as_given(source: &Source, data: Data) -> Result<Table, JobError> {
        TrainJob::new(source.clone(), data).as_given()
    }

    /// Returns the default number format for a learner.
    pub fn format_for(source: &Source) -> NumberFormat {
        if is_circuit(source) {
            let samples = source.read_circuit(None).ok().and_then(|read| read.circuit.samples());
            return samples.map_or_else(NumberFormat::default, sample_format);
        }
        catalogue::lesson(source).and_then(|lesson| lesson.format.parse().ok()).unwrap_or_default()
    }

    /// Whether landscape mlp runs the learner's machine.
    pub(crate) fn goes_via_tapes(&self) -> bool {
        match program::is_program(&self.source) {
            true => self.options.via == Some(Via::Tapes),
            false => !is_circuit(&self.source),
        }
    }

    /// Checks that every option has an effect on this learner and landscape; `prepare` does this as well.
    ///
    /// # Errors
    /// If an option that was set has none.
    pub fn check_options(&self) -> Result<(), JobError> {
        let Self { source, options, landscape, .. } = self;
        let (mlp, circuit) = (*landscape == StreamLandscape::Mlp, is_circuit(source));
        let program = program::is_program(source);
        let tapes = !mlp || self.goes_via_tapes();
        let idle = [
            ("primary", circuit && self.primary != TrainJob::usual_primary(source)),
            ("set", !program && !self.set.is_empty()),
            ("format", circuit && options.format != Self::format_for(source)),
            ("label_bound", !tapes && options.label_bound.is_some()),
            ("carrier", mlp && options.carrier.is_some()),
            ("cells", !tapes && options.cells.is_some()),
            ("hold", (tapes || circuit) && options.hold.is_some()),
            ("precision", !mlp && options.precision != Float::F64),
            ("via", options.via.is_some_and(|via| !mlp || circuit || !program && via == Via::Circuit)),
        ];
        match idle.into_iter().find(|(_, idle)| *idle) {
            Some((option, _)) => Err(self.no_effect(option)),
            None if mlp && options.batch != 1 => Err(JobError::OneSample(options.batch)),
            None => Ok(()),
        }
    }

    /// The error that an option has no effect.
    pub(crate) fn no_effect(&self, option: &'static str) -> JobError {
        JobError::NoEffect { option, learner: self.source.name.clone(), landscape: self.landscape }
    }

    /// Reads the learner, opens the stream and builds the network: everything but training.
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
        self.check_options()?;
        let sized = self.sized();
        let (learner, primary) = sized.learner(&sized.load()?, &self.primary, primaries)?;
        let stream = PreparedStream::prepare(learner, primary, self.samples.clone(), self.options.clone())?;
        Ok(PreparedStream { program: program::is_program(&self.source).then_some(sized), ..stream })
    }
}
