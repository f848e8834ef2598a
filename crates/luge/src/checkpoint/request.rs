//! What was asked for and what was seen, as a checkpoint keeps it. Numbers are kept by their bits.

use luge_landscape::{AskedConstants, Carrier, LandscapeKind, Mlp};
use luge_machine::{Input, Machine, Step, formats::Format, lowering::Moves};
use luge_net::{NumberFormat, Shape, Values};
use luge_train::LossRange;
use serde::{Deserialize, Serialize};

use crate::{
    data::Table,
    engine::Engine,
    lesson::{LessonOptions, Seen},
    lockstep::Mismatch,
    trace::{Record, TraceOptions},
};

/// A command that can be gone on with.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// `luge trace`.
    Trace(TraceRequest),
    /// `luge train`.
    Train(TrainRequest),
}

/// A request that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it asks for {what} `{found}`")]
pub struct RequestError {
    what: &'static str,
    found: String,
}

/// A machine, its input and a landscape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceRequest {
    /// The machine and its input in the native format.
    pub machine: String,
    /// The landscape.
    pub landscape: String,
    /// The engine.
    pub engine: Engine,
    /// The limit on cells.
    pub cells: Option<usize>,
    /// The most steps.
    pub steps: Option<Step>,
    /// Whether only left and right moves are allowed.
    pub strict: bool,
    /// The constants b, gamma, c and Omega where they were given.
    pub constants: [Option<u64>; 4],
}

/// A learner, data and a primary network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrainRequest {
    /// The learner and its own input in the native format.
    pub machine: String,
    /// The primary network.
    pub primary: String,
    /// The number format.
    pub format: String,
    /// The landscape.
    pub landscape: String,
    /// The carrier.
    pub carrier: String,
    /// The engine.
    pub engine: Engine,
    /// Cells per tape.
    pub cells: Option<usize>,
    /// r.
    pub label_offset: Option<u64>,
    /// The bound on the final loss.
    pub final_loss: Option<u64>,
    /// The most machine steps.
    pub steps: Step,
    /// The features' names.
    pub features: Vec<String>,
    /// The labels' names.
    pub labels: Vec<String>,
    /// All numbers: features, then labels, row by row.
    pub numbers: Vec<u64>,
}

fn named<T: Copy, const N: usize>(
    what: &'static str,
    found: &str,
    all: [T; N],
    word: fn(T) -> &'static str,
) -> Result<T, RequestError> {
    let one = all.into_iter().find(|&one| word(one) == found);
    one.ok_or_else(|| RequestError { what, found: found.to_owned() })
}

fn machine(text: &str) -> Result<(Machine, Option<Input>), RequestError> {
    let loaded = Format::Native.read(text);
    let loaded =
        loaded.map_err(|_| RequestError { what: "a machine that is none:", found: text.to_owned() })?;
    Ok((loaded.machine, loaded.input))
}

fn bits(number: Option<f64>) -> Option<u64> {
    number.map(f64::to_bits)
}

fn number(bits: Option<u64>) -> Option<f64> {
    bits.map(f64::from_bits)
}

impl TraceRequest {
    /// The request of a trace that was asked for.
    #[must_use]
    pub fn new(machine: &Machine, input: &Input, options: &TraceOptions) -> Self {
        let AskedConstants { base, scale, offset, drop } = options.constants;
        Self {
            machine: crate::model::native_text(machine, Some(input)),
            landscape: options.landscape.word().to_owned(),
            engine: options.engine,
            cells: options.cells,
            steps: options.steps,
            strict: options.moves == Moves::Strict,
            constants: [base, scale, offset, drop].map(bits),
        }
    }

    /// The machine, its input and how to trace it.
    ///
    /// # Errors
    /// If something of it is not known.
    pub fn read(&self) -> Result<(Machine, Input, TraceOptions), RequestError> {
        let (machine, input) = machine(&self.machine)?;
        let [base, scale, offset, drop] = self.constants.map(number);
        let options = TraceOptions {
            landscape: named("landscape", &self.landscape, LandscapeKind::ALL, LandscapeKind::word)?,
            engine: self.engine,
            cells: self.cells,
            steps: self.steps,
            moves: if self.strict { Moves::Strict } else { Moves::Keep },
            constants: AskedConstants { base, scale, offset, drop },
            ..TraceOptions::default()
        };
        Ok((machine, input.unwrap_or_else(Input::blank), options))
    }
}

/// What training from a request needs.
pub struct Training {
    /// The learner.
    pub machine: Machine,
    /// Its own input.
    pub input: Option<Input>,
    /// The primary network.
    pub primary: Mlp,
    /// The data.
    pub table: Table,
    /// How to train.
    pub options: LessonOptions,
}

impl TrainRequest {
    /// The request of a lesson that was asked for.
    #[must_use]
    pub fn new(
        machine: &Machine,
        input: Option<&Input>,
        primary: &str,
        table: &Table,
        options: &LessonOptions,
    ) -> Self {
        let numbers = table.features.data.iter().chain(&table.labels.data);
        Self {
            machine: crate::model::native_text(machine, input),
            primary: primary.to_owned(),
            format: options.format.to_string(),
            landscape: options.landscape.word().to_owned(),
            carrier: options.carrier.word().to_owned(),
            engine: options.engine,
            cells: options.cells,
            label_offset: bits(options.label_offset),
            final_loss: bits(options.final_loss),
            steps: options.steps,
            features: table.feature_names.clone(),
            labels: table.label_names.clone(),
            numbers: numbers.map(|number| number.to_bits()).collect(),
        }
    }

    /// Everything needed to train.
    ///
    /// # Errors
    /// If something of it is not known.
    pub fn read(&self) -> Result<Training, RequestError> {
        let (machine, input) = machine(&self.machine)?;
        let unknown = |what, found: &str| RequestError { what, found: found.to_owned() };
        let format: NumberFormat = self.format.parse().map_err(|_| unknown("number format", &self.format))?;
        let (n_features, n_labels) = (self.features.len(), self.labels.len());
        let primary = Mlp::parse(&self.primary, n_features, n_labels)
            .map_err(|_| unknown("primary network", &self.primary))?;
        let n_samples = self.numbers.len() / (n_features + n_labels).max(1);
        if n_samples * (n_features + n_labels) != self.numbers.len() {
            return Err(unknown("a table that is none of", &format!("{} numbers", self.numbers.len())));
        }
        let numbers: Vec<f64> = self.numbers.iter().map(|&bits| f64::from_bits(bits)).collect();
        let (features, labels) = numbers.split_at(n_samples * n_features);
        let table = Table {
            feature_names: self.features.clone(),
            label_names: self.labels.clone(),
            features: Values::new(Shape::new(n_samples, n_features), features.to_vec()),
            labels: Values::new(Shape::new(n_samples, n_labels), labels.to_vec()),
            lines: (2..).take(n_samples).collect(),
        };
        let options = LessonOptions {
            landscape: named("landscape", &self.landscape, LandscapeKind::ALL, LandscapeKind::word)?,
            carrier: named("carrier", &self.carrier, Carrier::ALL, Carrier::word)?,
            engine: self.engine,
            cells: self.cells,
            label_offset: number(self.label_offset),
            final_loss: number(self.final_loss),
            steps: self.steps,
            ..LessonOptions::new(format)
        };
        Ok(Training { machine, input, primary, table, options })
    }
}

/// What was seen of a run until a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SeenState {
    iterates: u64,
    mismatches: u64,
    first_mismatch: Option<(u64, String)>,
    /// First, lowest, highest and last loss.
    losses: Option<[u64; 4]>,
    out_of_bounds: bool,
    rose: bool,
    labels_copied: bool,
    tape_read: bool,
    /// Lowest and highest landscape loss, tape drift, head drift.
    figures: [u64; 4],
}

impl SeenState {
    /// The same, with weights that have drifted at least this far: tape, head.
    #[must_use]
    pub fn with_drift(mut self, (tape, head): (f64, f64)) -> Self {
        let larger = |bits: u64, drift: f64| f64::from_bits(bits).max(drift).to_bits();
        self.figures[2] = larger(self.figures[2], tape);
        self.figures[3] = larger(self.figures[3], head);
        self
    }
}

fn first(mismatch: Option<&(u64, Mismatch)>) -> Option<(u64, String)> {
    mismatch.map(|(step, why)| (*step, why.to_string()))
}

fn recorded(mismatch: Option<&(u64, String)>) -> Option<(u64, Mismatch)> {
    mismatch.map(|(step, why)| (*step, Mismatch::Recorded { why: why.clone() }))
}

impl From<&Record> for SeenState {
    fn from(record: &Record) -> Self {
        let bits = |range: LossRange| [range.first, range.min, range.max, range.last].map(f64::to_bits);
        Self {
            mismatches: record.mismatches,
            first_mismatch: first(record.first_mismatch.as_ref()),
            losses: record.loss.map(bits),
            out_of_bounds: record.out_of_bounds,
            rose: record.rose,
            ..Self::default()
        }
    }
}

impl From<&SeenState> for Record {
    fn from(seen: &SeenState) -> Self {
        let range = |bits: [u64; 4]| {
            let [first, min, max, last] = bits.map(f64::from_bits);
            LossRange { first, min, max, last }
        };
        Self {
            mismatches: seen.mismatches,
            first_mismatch: recorded(seen.first_mismatch.as_ref()),
            loss: seen.losses.map(range),
            out_of_bounds: seen.out_of_bounds,
            rose: seen.rose,
        }
    }
}

impl From<&Seen> for SeenState {
    fn from(seen: &Seen) -> Self {
        let last = seen.last_loss.to_bits();
        Self {
            iterates: seen.n_iterates,
            mismatches: seen.mismatches,
            first_mismatch: first(seen.first_mismatch.as_ref()),
            losses: Some([last; 4]),
            out_of_bounds: !seen.bounds_held,
            rose: seen.loss_rose,
            labels_copied: seen.labels_copied,
            tape_read: seen.tape_read,
            figures: [seen.lowest, seen.highest, seen.tape_drift, seen.head_drift].map(f64::to_bits),
        }
    }
}

impl From<&SeenState> for Seen {
    fn from(state: &SeenState) -> Self {
        let [lowest, highest, tape_drift, head_drift] = state.figures.map(f64::from_bits);
        Self {
            n_iterates: state.iterates,
            mismatches: state.mismatches,
            first_mismatch: recorded(state.first_mismatch.as_ref()),
            labels_copied: state.labels_copied,
            bounds_held: !state.out_of_bounds,
            tape_read: state.tape_read,
            loss_rose: state.rose,
            lowest,
            highest,
            tape_drift,
            head_drift,
            last_loss: state.losses.map_or(f64::INFINITY, |losses| f64::from_bits(losses[3])),
        }
    }
}
