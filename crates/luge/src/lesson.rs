//! A lesson: a learner, a primary network and data, joined into an extended network and trained by gradient descent.
//!
//! The whole way reads as the paper's outline: data, bits, machine, window, extended network, training, certificate.

mod certificate;
mod loss_figures;

use std::{ops::ControlFlow, sync::Arc};

use luge_landscape::{
    AskedConstants, BitConversion, Bounds, Carrier, Configuration, Corrections, DataLayout, Extended,
    ExtendedCorrections, ExtendedError, ExtendedOptions, LandscapeKind, Learner, Primary, Undecodable,
    power_of_two_from,
};
use luge_machine::{Cell, Input, Outcome, Simulator, Step};
use luge_net::{
    NumberFormat, Shape, Values, evaluate,
    numbers::{from_signs, to_signs},
};
use luge_train::{Engine, Precision, Snapshot, StopRule, TrainError};
use serde::{Deserialize, Serialize};

use crate::{
    corollary::SizeClaim,
    data::Table,
    engine::{Chosen, EngineChoice, EngineError, Manner, Task},
    follow::{Beside, Comparisons, Decoder, Expected, Moment, Referee},
    gradient::{self, GradientCheck},
    lockstep::{Judge, Lockstep, Mismatch, Window},
    predictor::Predictor,
    record::{Drift, Levels, Record},
    words,
};
pub use certificate::{Certificate, Claim};

/// How to train.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LessonOptions {
    /// The landscape to build.
    #[serde(with = "words")]
    pub landscape: LandscapeKind,
    /// What computes the gradients.
    #[serde(with = "words")]
    pub engine: EngineChoice,
    /// The arithmetic; anything but f64 needs the dense engine.
    #[serde(with = "words")]
    pub precision: Precision,
    /// How l_TM reaches the output.
    #[serde(with = "words")]
    pub carrier: Carrier,
    /// How numbers become bits.
    #[serde(with = "crate::job::number_format")]
    pub format: NumberFormat,
    /// What converts them: nodes of the network, or units like all others.
    #[serde(with = "words")]
    pub bits: BitConversion,
    /// Cells per tape; left out: the smallest power of two that holds the run.
    pub cells: Option<usize>,
    /// r; left out: 0, or for `internal` large enough for a loss that never rises.
    pub label_offset: Option<f64>,
    /// A bound on the final loss; left out: from the format and the primary network.
    pub final_loss: Option<f64>,
    /// The most machine steps.
    pub steps: Step,
    /// The landscape's constants.
    #[serde(with = "crate::job::constants")]
    pub constants: AskedConstants,
    /// Steps that are made again by automatic differentiation; left out: as many as cost no more than the run.
    pub spots: Option<usize>,
    /// What differs from the printed paper inside the landscape.
    #[serde(skip)]
    pub corrections: Corrections,
    /// What differs from the printed paper around it.
    #[serde(skip)]
    pub extended_corrections: ExtendedCorrections,
}

impl LessonOptions {
    /// Everything chosen but the number format.
    #[must_use]
    pub fn new(format: NumberFormat) -> Self {
        Self { format, ..Self::default() }
    }

    fn manner(&self) -> Manner {
        Manner { precision: self.precision, ..Manner::by(self.engine) }
    }

    /// The extended network that these options ask for, on data of these sizes and in this window.
    pub(crate) fn network(&self, layout: DataLayout, window: Window) -> ExtendedOptions {
        ExtendedOptions {
            kind: self.landscape,
            carrier: self.carrier,
            bits: self.bits,
            n_cells: window.n_cells,
            first_cells: window.first,
            layout,
            label_offset: self.label_offset.unwrap_or(0.0),
            final_loss: self.final_loss,
            constants: self.constants,
            corrections: self.corrections,
            joints: self.extended_corrections,
        }
    }
}

impl Default for LessonOptions {
    fn default() -> Self {
        Self {
            landscape: LandscapeKind::default(),
            engine: EngineChoice::default(),
            precision: Precision::default(),
            carrier: Carrier::default(),
            format: crate::data::default_format(),
            bits: BitConversion::default(),
            cells: None,
            label_offset: None,
            final_loss: None,
            steps: LONGEST_LESSON,
            constants: AskedConstants::default(),
            spots: None,
            corrections: Corrections::default(),
            extended_corrections: ExtendedCorrections::default(),
        }
    }
}

/// Rounding through the square root and the carrier, relative to the loss.
const LOSS_TOLERANCE: f64 = 1e-9;

/// Machine steps after which a learner is taken not to halt, if the user names no limit.
pub const LONGEST_LESSON: Step = 1_000_000_000;

/// Why there is no lesson. Everything is found out before training begins.
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// The learner runs on.
    #[error("the learner does not halt on these data within {tried} steps")]
    DoesNotHalt {
        /// Steps simulated.
        tried: Step,
    },
    /// The learner gave up.
    #[error("the learner stops in state `{state}` without accepting: it has no answer for these data")]
    Rejected {
        /// Where.
        state: String,
    },
    /// The run does not fit.
    #[error("the run needs {needed} cells per tape, but only {given} are allowed")]
    TooFewCells {
        /// What it needs.
        needed: usize,
        /// What was allowed.
        given: usize,
    },
    /// The network would not notice that it has read the labels.
    #[error("the labels differ too little from {offset}: |y - r|^2 = {found} is below eps = {epsilon}")]
    LabelsTooSmall {
        /// r.
        offset: f64,
        /// |y - r|^2.
        found: f64,
        /// eps.
        epsilon: f64,
    },
    /// Taking r off a label and adding it again must not change its bits.
    #[error(
        "label offset {offset:e} changes the labels: some are no longer the same number of the format after subtracting and adding it"
    )]
    LabelOffset {
        /// r.
        offset: f64,
    },
    /// Thresholds between neighbouring numbers need all digits.
    #[error(
        "bits converted by the network's own units need precision f64, not {precision}: a threshold is as narrow as the gap between two numbers",
        precision = precision.word()
    )]
    BitsNeedF64 {
        /// The precision asked for.
        precision: Precision,
    },
    /// Another number of features or labels.
    #[error(
        "the primary network takes {features} features to {outputs} outputs, the data have {found_features} and {found_labels}"
    )]
    Shapes {
        /// What it takes.
        features: usize,
        /// What it gives.
        outputs: usize,
        /// What there is.
        found_features: usize,
        /// What there is.
        found_labels: usize,
    },
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The network cannot be built.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
}

impl From<TrainError> for LessonError {
    fn from(error: TrainError) -> Self {
        Self::Engine(error.into())
    }
}

/// Everything made ready: no training yet.
pub struct Lesson {
    learner: Learner,
    primary: Arc<dyn Primary>,
    table: Table,
    options: LessonOptions,
    layout: DataLayout,
    input: Input,
    window: Window,
    extended: Extended,
    machine_steps: Step,
    /// The bits the simulator leaves where theta lies.
    theta_bits: Vec<bool>,
    /// What z must be once the labels are read: y - r.
    copied_labels: Vec<f64>,
    /// What the carrier adds to the landscape's loss.
    added_loss: f64,
}

/// What training left behind.
#[derive(Clone, Debug)]
pub struct LessonReport {
    /// How training ended.
    pub outcome: luge_train::Outcome,
    /// Steps of the machine.
    pub machine_steps: Step,
    /// The weights of the primary network.
    pub theta: Vec<f64>,
    /// 1/2 |F(x) - y|^2 at the end.
    pub train_loss: f64,
    /// Rows whose class the network tells right, if the labels are classes: -1 and 1, or a 1 among zeros.
    pub classified: Option<usize>,
    /// How far weights came from the values they stand for, over the run.
    pub drift: Drift,
    /// The digest of all vertices visited.
    pub path: u64,
    /// All trained weights.
    pub parameters: Vec<Values>,
    /// What was proved.
    pub certificate: Certificate,
    /// The engine that trained, and why that one.
    pub chosen: Chosen,
}

impl Lesson {
    /// Lays out the data, runs the machine once to learn what it needs, and builds the network.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn prepare(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: LessonOptions,
    ) -> Result<Self, LessonError> {
        let layout = layout(&*primary, &table, options.format)?;
        if options.bits == BitConversion::Network && options.precision != Precision::F64 {
            return Err(LessonError::BitsNeedF64 { precision: options.precision });
        }
        let input = learner.input(&layout, &data_bits(&layout, &table));
        let machine = learner.lowered().normal.machine();
        let mut simulator = Simulator::new(machine, &input);
        let refused = |state| LessonError::Rejected { state: machine.state(state).name.clone() };
        match simulator.run(options.steps) {
            Outcome::StepLimit => return Err(LessonError::DoesNotHalt { tried: options.steps }),
            Outcome::Halted { state, accepting: false } | Outcome::NoRule { state } => {
                return Err(refused(state));
            }
            Outcome::Halted { accepting: true, .. } => {}
        }
        let machine_steps = simulator.steps();
        let (track, first) = learner.theta_track();
        let n_theta = primary.n_weights() * layout.width();
        let theta_cells = first..first + n_theta;
        let theta_bits =
            theta_cells.clone().map(|cell| simulator.tape(track).read(to_cell(cell)).0 == 1).collect();
        let mut reach = input.clone();
        // The window also covers theta's cells and the end of the data, whether or not a head goes there.
        reach.cover(track.index(), theta_cells.end);
        reach.cover(learner.data_track().index(), layout.end() + 1);
        let known = theta_cells.end.max(layout.end() + 1);
        let window = Window::common(&simulator, &reach, known, options.cells).map_err(|needed| {
            LessonError::TooFewCells { needed, given: options.cells.unwrap_or_default() }
        })?;
        let mut build = options.network(layout.clone(), window.clone());
        let mut extended = Extended::build(&learner, &*primary, &build)?;
        if options.landscape == LandscapeKind::Internal && options.label_offset.is_none() {
            build.label_offset = monotone_offset(&extended, &layout);
            extended = Extended::build(&learner, &*primary, &build)?;
        }
        check_labels(&extended, &table.labels, options.format)?;
        options.manner().dense(Some(extended.network()))?;
        let copied_labels = table.labels.data.iter().map(|y| y - extended.label_offset()).collect();
        let added_loss = extended.carrier().added_loss(&table.labels);
        Ok(Self {
            learner,
            primary,
            table,
            options,
            layout,
            input,
            window,
            extended,
            machine_steps,
            theta_bits,
            copied_labels,
            added_loss,
        })
    }

    /// The network.
    #[must_use]
    pub fn extended(&self) -> &Extended {
        &self.extended
    }

    /// The learner.
    #[must_use]
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// The data.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The primary network.
    #[must_use]
    pub fn primary(&self) -> &dyn Primary {
        &*self.primary
    }

    /// How to train.
    #[must_use]
    pub fn options(&self) -> &LessonOptions {
        &self.options
    }

    /// The machine at the start of its run, and what the network should then hold.
    #[must_use]
    pub fn lockstep(&self) -> Option<Lockstep<'_>> {
        Lockstep::new(self.learner.lowered().normal.machine(), &self.input, self.window.clone())
    }

    /// Where the numbers lie on the tape.
    #[must_use]
    pub fn layout(&self) -> &DataLayout {
        &self.layout
    }

    /// Which cells the network holds.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Steps the machine makes.
    #[must_use]
    pub fn machine_steps(&self) -> Step {
        self.machine_steps
    }

    /// Where the loss of the whole network must lie: the landscape's levels and what the carrier adds while the machine runs.
    #[must_use]
    pub fn loss_levels(&self) -> Bounds {
        let bounds = self.extended.bounds();
        Bounds {
            running_low: bounds.running_low + self.added_loss,
            running_high: bounds.running_high + self.added_loss,
            halted_high: bounds.halted_high + self.added_loss,
            ..bounds
        }
    }

    /// What every loss of a run is held to.
    fn levels(&self) -> Levels {
        let bounds = self.extended.bounds();
        Levels {
            bounds,
            added: self.added_loss,
            halted_high: bounds.stop,
            tolerance: LOSS_TOLERANCE,
            from: Extended::FIRST_STOP,
        }
    }

    /// The network's layers and widths beside the primary network, next to what the paper's corollary claims.
    #[must_use]
    pub fn size_claim(&self) -> SizeClaim {
        let normal = &self.learner.lowered().normal;
        SizeClaim::of_extended(&self.extended, normal, self.window.n_cells, self.table.labels.data.len())
    }

    /// What the network is fed: x and y.
    #[must_use]
    pub fn inputs(&self) -> Vec<Values> {
        vec![self.table.features.clone(), self.table.labels.clone()]
    }

    /// What the simulator says theta is.
    #[must_use]
    pub fn expected_theta(&self) -> Vec<f64> {
        let signs: Vec<f64> = self.theta_bits.iter().map(|&bit| if bit { 1.0 } else { -1.0 }).collect();
        from_signs(self.layout.format, &signs)
    }

    /// The network, where it starts, and when training is done.
    #[must_use]
    pub fn task(&self) -> Task<'_> {
        let stop = StopRule {
            loss_at_most: self.extended.stop(),
            not_before: Extended::FIRST_STOP,
            most_steps: self.machine_steps + self.extended.extra_steps() + 1,
        };
        Task {
            network: self.extended.network(),
            parameters: self.extended.initial().to_vec(),
            inputs: self.inputs(),
            stop,
            manner: self.options.manner(),
        }
    }

    /// Trains, holding every iterate to the simulator, and certifies the result. The watcher may break off.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn train(
        &self,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        self.follow(None, watch)
    }

    /// Resumes training from a snapshot and what was seen until then.
    ///
    /// # Errors
    /// As for [`train`](Self::train).
    pub fn resume(
        &self,
        snapshot: &Snapshot,
        record: Record,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        self.follow(Some((snapshot, record)), watch)
    }

    fn follow(
        &self,
        from: Option<(&Snapshot, Record)>,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        let task = self.task();
        let moment = from.as_ref().map(|(snapshot, _)| (*snapshot, None));
        let (mut engine, mut chosen) = task.open(Comparisons::Every.memories(), moment)?;
        if self.options.landscape == LandscapeKind::Internal && self.options.engine == EngineChoice::Auto {
            "landscape internal has no sparse layers".clone_into(&mut chosen.why);
        }
        let machine = self.learner.lowered().normal.machine();
        let beside = match self.extended.control().filter(|_| chosen.engine != EngineChoice::Dense) {
            Some(control) => {
                Beside::Changes(Judge::new(machine, &self.input, control, self.window.first.clone()))
            }
            None => Beside::Configurations(self.lockstep(), self),
        };
        let expected = Expected {
            levels: self.levels(),
            extra_steps: self.extended.extra_steps(),
            labels: Some(&self.copied_labels),
            most_cells: None,
        };
        let record = from.map_or_else(Record::default, |(_, record)| record);
        let mut referee = Referee::new(beside, expected, record);
        let outcome = referee.follow(&mut *engine, &task.stop, Comparisons::Every, watch)?;
        let gradient = match chosen.engine {
            EngineChoice::Dense => GradientCheck::of_dense(),
            _ => self.look_again(&task, &engine.snapshot(), &referee.record)?,
        };
        Ok(self.conclude(outcome, referee.record, &*engine, (chosen, gradient)))
    }

    /// Holds some steps of a run to automatic differentiation.
    fn look_again(
        &self,
        task: &Task<'_>,
        snapshot: &Snapshot,
        record: &Record,
    ) -> Result<GradientCheck, LessonError> {
        let end = gradient::End { snapshot, record };
        let steps = gradient::choose(&end, task.network, self.options.spots);
        let dense = gradient::Dense { network: task.network, inputs: &task.inputs, shift: Vec::new() };
        Ok(match gradient::collect(task, Comparisons::Every.memories(), &steps, &end)? {
            Ok(spots) => gradient::check(&dense, &spots)?,
            Err(why) => GradientCheck { steps, every: false, differs: Some(why) },
        })
    }

    fn conclude(
        &self,
        outcome: luge_train::Outcome,
        mut record: Record,
        engine: &dyn Engine,
        (chosen, gradient): (Chosen, GradientCheck),
    ) -> LessonReport {
        let parameters = engine.parameters().unwrap_or_else(|| {
            record.differs(engine.steps(), &Mismatch::LeftWindow);
            self.extended.initial().to_vec()
        });
        let end = evaluate(self.extended.network(), &parameters, &self.inputs());
        let theta = end.value(self.extended.nodes().theta).data.clone();
        LessonReport {
            outcome,
            machine_steps: self.machine_steps,
            train_loss: end.loss(),
            classified: classified(end.value(self.extended.nodes().out), &self.table.labels),
            drift: record.drift,
            certificate: Certificate::draw_up(
                self,
                outcome,
                (&record, &gradient, engine.path()),
                &parameters,
                &theta,
            ),
            theta,
            parameters,
            path: engine.path(),
            chosen,
        }
    }

    fn predictor(&self, theta: &[f64]) -> Predictor<'_> {
        Predictor::new(&*self.primary, theta.to_vec())
    }
}

impl Decoder for Lesson {
    fn decode(&self, parameters: &[Values], expected: &Configuration) -> Result<Configuration, Undecodable> {
        self.extended.decode(parameters, self.extended.read_only(expected).as_ref())
    }

    /// The loss of the run depends on the hidden read-only tapes; z does not change any more once they hold its bits.
    fn tape_read(&self, parameters: &[Values], expected: &Configuration) -> bool {
        let Some(node) = self.extended.nodes().read_only else { return true };
        let here = evaluate(self.extended.network(), parameters, &self.inputs());
        Some(here.value(node)) == self.extended.read_only(expected).as_ref()
    }
}

/// How many rows of the output tell the class in the labels; `None` if the labels are no classes.
#[expect(clippy::float_cmp, reason = "labels that are classes are exactly -1, 0 or 1")]
fn classified(out: &Values, labels: &Values) -> Option<usize> {
    let n_labels = labels.shape.cols;
    let signs = n_labels == 1 && labels.data.iter().all(|&y| y == 1.0 || y == -1.0);
    let one_hot = |row: &[f64]| {
        row.iter().all(|&y| y == 0.0 || y == 1.0) && row.iter().filter(|&&y| y == 1.0).count() == 1
    };
    let classes = n_labels > 1 && labels.data.chunks(n_labels).all(one_hot);
    let highest = |row: &[f64]| (0..row.len()).reduce(|a, b| if row[b] > row[a] { b } else { a });
    let right = |row: &usize| {
        let (out, labels) = (out.row(*row), labels.row(*row));
        if signs { out[0] * labels[0] > 0.0 } else { highest(out) == highest(labels) }
    };
    (signs || classes).then(|| (0..labels.shape.rows).filter(right).count())
}

/// The bits of the data as the machine finds them.
fn data_bits(layout: &DataLayout, table: &Table) -> Vec<bool> {
    let numbers: Vec<f64> = table.features.data.iter().chain(&table.labels.data).copied().collect();
    let ordered: Vec<f64> = layout.order().into_iter().map(|i| numbers[i]).collect();
    to_signs(layout.format, &ordered).into_iter().map(|bit| bit > 0.0).collect()
}

fn layout(primary: &dyn Primary, table: &Table, format: NumberFormat) -> Result<DataLayout, LessonError> {
    let (Shape { rows, cols: found_features }, found_labels) =
        (table.features.shape, table.labels.shape.cols);
    let (features, outputs) = (primary.n_features(), primary.n_outputs());
    if (features, outputs) != (found_features, found_labels) {
        return Err(LessonError::Shapes { features, outputs, found_features, found_labels });
    }
    Ok(DataLayout { n_samples: rows, n_features: features, n_labels: outputs, format })
}

/// |y - r|^2 must reach eps, or the first switch never opens.
fn check_labels(extended: &Extended, labels: &Values, format: NumberFormat) -> Result<(), LessonError> {
    let offset = extended.label_offset();
    // The tape sees (y - r) + r.
    let seen: Vec<f64> = labels.data.iter().map(|y| (y - offset) + offset).collect();
    if !offset.is_finite() || to_signs(format, &seen) != to_signs(format, &labels.data) {
        return Err(LessonError::LabelOffset { offset });
    }
    let found: f64 = labels.data.iter().map(|y| (y - offset) * (y - offset)).sum();
    let epsilon = extended.epsilon();
    if found < epsilon {
        return Err(LessonError::LabelsTooSmall { offset, found, epsilon });
    }
    Ok(())
}

/// A power of two r at which 1/2 |r - y|^2 is above every loss that follows, for all labels of the format.
fn monotone_offset(extended: &Extended, layout: &DataLayout) -> f64 {
    let largest = layout.format.largest_magnitude();
    let n = f64::from(u32::try_from(layout.n_samples * layout.n_labels).unwrap_or(u32::MAX));
    let highest = extended.bounds().running_high + n * largest * largest / 2.0;
    power_of_two_from(largest + (2.0 * highest / n).sqrt())
}

fn to_cell(cell: usize) -> Cell {
    Cell::try_from(cell).unwrap_or(Cell::MAX)
}
