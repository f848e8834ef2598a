//! A lesson: a learner, a primary network and data, joined into an extended network and trained by gradient descent.
//!
//! The whole way reads as the paper's outline: data, bits, machine, window, extended network, training, certificate.

mod certificate;
mod observer;

use std::ops::ControlFlow;

use luge_landscape::{
    AskedConstants, Bounds, Carrier, Corrections, DataLayout, Extended, ExtendedCorrections, ExtendedError,
    ExtendedOptions, LandscapeKind, Learner, Primary, power_of_two_from,
};
use luge_machine::{Cell, Input, Outcome, Simulator, Step};
use luge_net::{
    NumberFormat, Shape, Unrecognised, Values, evaluate,
    numbers::{from_signs, to_signs},
};
use luge_train::{Dense, Memories, Precision, Rate, Snapshot, StopRule, Tracer, TrainError, train};

use crate::{
    data::Table,
    engine::{self, Chosen, Engine, Start},
    lockstep::{Lockstep, Window},
    predictor::Predictor,
};
pub use certificate::{Certificate, Check};
use observer::Observer;
pub use observer::Seen;

/// How to train.
#[derive(Clone, Debug)]
pub struct LessonOptions {
    /// Which landscape.
    pub landscape: LandscapeKind,
    /// What computes the gradients.
    pub engine: Engine,
    /// How l_TM reaches the output.
    pub carrier: Carrier,
    /// How numbers become bits.
    pub format: NumberFormat,
    /// Cells per tape; left out: what the run needs and a margin.
    pub cells: Option<usize>,
    /// r; left out: 0, or for landscape A large enough for a loss that never rises.
    pub label_offset: Option<f64>,
    /// A bound on the final loss; left out: from the format and the primary network.
    pub final_loss: Option<f64>,
    /// The most machine steps.
    pub steps: Step,
    /// The landscape's constants.
    pub constants: AskedConstants,
    /// What differs from the printed paper inside the landscape.
    pub corrections: Corrections,
    /// What differs from the printed paper around it.
    pub joints: ExtendedCorrections,
}

impl LessonOptions {
    /// Everything chosen but the number format.
    #[must_use]
    pub fn new(format: NumberFormat) -> Self {
        Self {
            landscape: LandscapeKind::default(),
            engine: Engine::default(),
            carrier: Carrier::default(),
            format,
            cells: None,
            label_offset: None,
            final_loss: None,
            steps: LONGEST_LESSON,
            constants: AskedConstants::default(),
            corrections: Corrections::default(),
            joints: ExtendedCorrections::default(),
        }
    }
}

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
    /// An engine that does not apply.
    #[error("engine {engine} cannot be used: {why}", engine = engine.word())]
    Engine {
        /// What was asked for.
        engine: Engine,
        /// Why not.
        why: String,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// Everything made ready: no training yet.
pub struct Lesson<'a> {
    learner: &'a Learner,
    primary: &'a dyn Primary,
    table: &'a Table,
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
    engine: Engine,
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
    /// The largest distance of a tape weight from -1 or 1 over the run.
    pub tape_drift: f64,
    /// The largest distance of a head weight from 0 or 1 over the run.
    pub head_drift: f64,
    /// All trained weights.
    pub parameters: Vec<Values>,
    /// What was proved.
    pub certificate: Certificate,
    /// The engine that trained, and why that one.
    pub chosen: Chosen,
}

/// One moment of training, for whoever wants to watch.
pub struct Moment<'a> {
    /// Gradient steps made.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// The engine, if it is a fast one.
    pub engine: Option<&'a dyn Tracer>,
    /// What was seen so far, this moment included.
    pub seen: &'a Seen,
}

impl<'a> Lesson<'a> {
    /// Lays out the data, runs the machine once to learn what it needs, and builds the network.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn prepare(
        learner: &'a Learner,
        primary: &'a dyn Primary,
        table: &'a Table,
        options: &LessonOptions,
    ) -> Result<Self, LessonError> {
        let layout = layout(primary, table, options.format)?;
        let input = learner.input(&layout, &data_bits(&layout, table));
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
        let window = Window::common(&simulator, &reach, options.cells).map_err(|needed| {
            LessonError::TooFewCells { needed, given: options.cells.unwrap_or_default() }
        })?;
        let mut build = ExtendedOptions {
            kind: options.landscape,
            carrier: options.carrier,
            n_cells: window.n_cells,
            first_cells: window.first.clone(),
            layout: layout.clone(),
            label_offset: options.label_offset.unwrap_or(0.0),
            final_loss: options.final_loss,
            constants: options.constants,
            corrections: options.corrections,
            joints: options.joints,
        };
        let mut extended = Extended::build(learner, primary, &build)?;
        if options.landscape == LandscapeKind::Internal && options.label_offset.is_none() {
            build.label_offset = monotone_offset(&extended, &layout);
            extended = Extended::build(learner, primary, &build)?;
        }
        check_labels(&extended, &table.labels, options.format)?;
        if let (Engine::Sparse | Engine::Exact, Err(why)) =
            (options.engine, extended.network().sparse_layers())
        {
            return Err(LessonError::Engine { engine: options.engine, why: no_layers(why) });
        }
        let copied_labels = table.labels.data.iter().map(|y| y - extended.label_offset()).collect();
        let added_loss = extended.carrier().added_loss(&table.labels);
        let engine = options.engine;
        Ok(Self {
            learner,
            primary,
            table,
            layout,
            input,
            window,
            extended,
            machine_steps,
            theta_bits,
            copied_labels,
            added_loss,
            engine,
        })
    }

    /// The network.
    #[must_use]
    pub fn extended(&self) -> &Extended {
        &self.extended
    }

    /// The data.
    #[must_use]
    pub fn table(&self) -> &Table {
        self.table
    }

    /// The primary network.
    #[must_use]
    pub fn primary(&self) -> &dyn Primary {
        self.primary
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

    /// Trains, holding every iterate to the simulator, and certifies the result. The observer may break off.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn train(
        &self,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        match (self.engine, self.extended.network().sparse_layers()) {
            (Engine::Dense, _) => self.train_dense(Chosen::dense("asked for"), watch),
            (_, Err(why)) => self.train_dense(Chosen::dense(&no_layers(why)), watch),
            (_, Ok(_)) => self.train_fast(Start::Parameters(self.extended.initial()), Seen::default(), watch),
        }
    }

    /// Whether the dense engine trains, which keeps no snapshots.
    #[must_use]
    pub fn dense(&self) -> bool {
        self.engine == Engine::Dense || self.extended.network().sparse_layers().is_err()
    }

    /// Goes on from a snapshot and what was seen until then.
    ///
    /// # Errors
    /// As for [`train`](Self::train).
    pub fn resume(
        &self,
        snapshot: &Snapshot,
        seen: Seen,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        self.train_fast(Start::Snapshot(snapshot, None), seen, watch)
    }

    fn stop_rule(&self) -> StopRule {
        StopRule {
            loss_at_most: self.extended.stop(),
            not_before: Extended::FIRST_STOP,
            most_steps: self.machine_steps + self.extended.extra_steps() + 1,
        }
    }

    fn train_fast(
        &self,
        start: Start<'_>,
        seen: Seen,
        mut watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        let network = self.extended.network();
        let (mut engine, chosen) =
            engine::fast(self.engine, Memories::Steps, network, start, &self.inputs())?;
        let resumed_at = matches!(start, Start::Snapshot(..)).then(|| engine.steps());
        let mut observer = Observer::of_fast(self, engine.steps(), seen).ok_or_else(|| {
            LessonError::Engine { engine: self.engine, why: "the landscape has no tapes".to_owned() }
        })?;
        let stop = self.stop_rule();
        let outcome = loop {
            let (step, loss) = (engine.steps(), engine.loss()?);
            if resumed_at != Some(step) {
                observer.see_fast(step, loss, &*engine);
            }
            let moment = Moment { step, loss, engine: Some(&*engine), seen: &observer.seen };
            let broke_off = watch(moment).is_break();
            match () {
                () if !loss.is_finite() => break luge_train::Outcome::Diverged { steps: step },
                () if step >= stop.not_before && loss <= stop.loss_at_most => {
                    break luge_train::Outcome::Converged { steps: step };
                }
                () if broke_off => break luge_train::Outcome::Interrupted { steps: step },
                () if step >= stop.most_steps => break luge_train::Outcome::StepLimit { steps: step },
                () => {}
            }
            engine.step()?;
        };
        observer.conclude(&*engine);
        Ok(self.conclude(outcome, &observer, chosen))
    }

    fn train_dense(
        &self,
        chosen: Chosen,
        mut watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        let inputs = self.inputs();
        let network = self.extended.network();
        let mut engine =
            Dense::new(network, self.extended.initial(), &inputs, Precision::F64, Rate::One, None)?;
        let mut observer = Observer::of_dense(self);
        let mut broken = None;
        let outcome = train(&mut engine, &self.stop_rule(), |iterate| match iterate.engine.parameters() {
            Ok(parameters) => {
                let (step, loss) = (iterate.step, iterate.loss);
                observer.see(step, loss, parameters);
                watch(Moment { step, loss, engine: None, seen: &observer.seen })
            }
            Err(error) => {
                broken = Some(error);
                ControlFlow::Break(())
            }
        })?;
        match broken {
            Some(error) => Err(error.into()),
            None => Ok(self.conclude(outcome, &observer, chosen)),
        }
    }

    fn conclude(
        &self,
        outcome: luge_train::Outcome,
        observer: &Observer<'_>,
        chosen: Chosen,
    ) -> LessonReport {
        let mut parameters = observer.parameters.clone();
        if !self.extended.network().fits_parameters(&parameters) {
            // The run left the network's cells; the certificate says so.
            parameters = self.extended.initial().to_vec();
        }
        let end = evaluate(self.extended.network(), &parameters, &self.inputs());
        let theta = end.value(self.extended.nodes().theta).data.clone();
        LessonReport {
            outcome,
            machine_steps: self.machine_steps,
            train_loss: end.loss(),
            classified: classified(end.value(self.extended.nodes().out), &self.table.labels),
            tape_drift: observer.seen.tape_drift,
            head_drift: observer.seen.head_drift,
            certificate: Certificate::draw_up(self, outcome, observer, &parameters, &theta),
            theta,
            parameters,
            chosen,
        }
    }

    fn predictor(&self, theta: &[f64]) -> Predictor<'a> {
        Predictor::new(self.primary, theta.to_vec())
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

/// Why a lesson is trained by the dense engine.
fn no_layers(why: &Unrecognised) -> String {
    format!("no sparse layers are recognised in this network: {why}")
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
