//! A lesson: a learner, a primary network and data, joined into an extended network and trained by gradient descent.
//!
//! The whole way reads as the paper's outline: data, bits, machine, window, extended network, training, certificate.

mod certificate;
mod error;
mod loss_figures;
mod options;
mod report;

use std::{ops::ControlFlow, sync::Arc};

use luge_landscape::{
    BitConversion, Bounds, Configuration, DataLayout, Extended, LandscapeKind, Learner, Primary, Undecodable,
    power_of_two_from,
};
use luge_machine::{Cell, Input, Outcome, Simulator, Step};
use luge_net::{
    NumberFormat, Shape, Values, evaluate,
    numbers::{from_signs, to_signs},
};
use luge_sled::Wrap;
use luge_train::{Precision, Snapshot, StopRule};

use crate::{
    corollary::SizeClaim,
    data::Table,
    engine::{EngineChoice, Task},
    follow::{Attention, Comparisons, Course, Decoder, Expected, Moment},
    gradient,
    lockstep::{Lockstep, Window},
    memory::{self, Keeping},
    predictor::Predictor,
    record::{Levels, Record},
};
pub use certificate::{Certificate, Claim};
pub use error::LessonError;
pub use options::{LONGEST_LESSON, LessonOptions};
pub use report::LessonReport;

/// Rounding through the square root and the carrier, relative to the loss.
const LOSS_TOLERANCE: f64 = 1e-9;

/// The most cells of a tape of a lesson's network.
pub const MOST_CELLS: usize = 1 << 28;

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
    /// Where numbers of the learner's program wrap around on these data.
    wraps: Vec<Wrap>,
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
        if learner.machine().takes_samples() {
            return Err(luge_landscape::ExtendedError::TakesSamples.into());
        }
        let layout = layout(&*primary, &table, options.format)?;
        if options.bits == BitConversion::Network && options.precision != Precision::F64 {
            return Err(LessonError::BitsNeedF64 { precision: options.precision });
        }
        check_request(&learner, &*primary, &table, &layout, &options)?;
        let input = learner.input(&layout, &data_bits(&layout, &table));
        let machine = learner.lowered().normal.machine();
        let mut simulator = Simulator::new(machine, &input);
        let refused = |state| LessonError::Rejected { state: machine.state(state).name.clone() };
        match memory::run(&mut simulator, options.steps)? {
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
        ask_network(&learner, &options, window.n_cells)?;
        let mut build = options.network(layout.clone(), window.clone());
        let mut extended = Extended::build(&learner, &*primary, &build)?;
        if options.landscape == LandscapeKind::Internal && options.label_offset.is_none() {
            build.label_offset = monotone_offset(&extended, &layout);
            extended = Extended::build(&learner, &*primary, &build)?;
        }
        check_offset(extended.label_offset(), &table.labels, options.format)?;
        check_labels(&extended, &table.labels)?;
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
            wraps: Vec::new(),
        })
    }

    /// Takes note of where numbers of the learner's program wrap around on these data, for the certificate.
    #[must_use]
    pub fn after_wraps(mut self, wraps: Vec<Wrap>) -> Self {
        self.wraps = wraps;
        self
    }

    /// Where numbers of the learner's program wrap around on these data, as far as that was found out.
    #[must_use]
    pub fn wraps(&self) -> &[Wrap] {
        &self.wraps
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

    /// The weights of the primary network before training: what a blank tape stands for.
    #[must_use]
    pub fn blank_theta(&self) -> Vec<f64> {
        from_signs(self.layout.format, &vec![-1.0; self.theta_bits.len()])
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
        self.follow(None, Attention::Steps, watch)
    }

    /// As [`train`](Self::train), from the start or from a snapshot and what was seen until then; with less attention the watcher sees
    /// fewer moments. Every iterate is compared all the same, many times faster.
    ///
    /// # Errors
    /// As for [`train`](Self::train).
    pub fn follow(
        &self,
        from: Option<(&Snapshot, Record)>,
        attention: Attention,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<LessonReport, LessonError> {
        let task = self.task();
        let course = Course {
            task: &task,
            machine: self.learner.lowered().normal.machine(),
            input: &self.input,
            window: &self.window,
            control: self.extended.control(),
            decoder: self,
            expected: Expected {
                levels: self.levels(),
                extra_steps: self.extended.extra_steps(),
                labels: Some(&self.copied_labels),
                most_cells: None,
            },
            comparisons: Comparisons::Every,
            attention,
            spots: self.options.spots,
        };
        let dense = gradient::Dense { network: task.network, inputs: &task.inputs, shift: Vec::new() };
        let mut followed =
            course.follow(from, watch, |spots| Ok::<_, LessonError>(gradient::check(&dense, spots)?))?;
        if self.options.landscape == LandscapeKind::Internal && self.options.engine == EngineChoice::Auto {
            "landscape internal has no sparse layers".clone_into(&mut followed.chosen.why);
        }
        Ok(LessonReport::conclude(self, followed))
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

/// Everything that can be wrong whatever the machine does is found before its first step: the network is built once on the
/// cells that sizes alone ask for. Where vertices are configurations there is no such network; then numbers are looked at.
fn check_request(
    learner: &Learner,
    primary: &dyn Primary,
    table: &Table,
    layout: &DataLayout,
    options: &LessonOptions,
) -> Result<(), LessonError> {
    let offset = options.label_offset.unwrap_or(0.0);
    check_offset(offset, &table.labels, options.format)?;
    let (_, first) = learner.theta_track();
    let n_theta = primary.n_weights().saturating_mul(layout.width());
    let needed = first.saturating_add(n_theta).max(layout.end() + 1);
    let given = options.cells.unwrap_or(MOST_CELLS);
    if needed > given {
        return Err(LessonError::TooFewCells { needed, given });
    }
    if options.landscape == LandscapeKind::Internal {
        return Ok(());
    }
    ask_network(learner, options, options.cells.unwrap_or(needed))?;
    let first_cells = vec![0; learner.lowered().normal.n_tapes()];
    let smallest = options.network(layout.clone(), Window { first: first_cells, n_cells: needed });
    let extended = Extended::build(learner, primary, &smallest)?;
    check_labels(&extended, &table.labels)?;
    Ok(options.manner().dense(Some(extended.network())).map(drop)?)
}

/// Asks for the memory of a network with so many cells on each tape.
fn ask_network(learner: &Learner, options: &LessonOptions, n_cells: usize) -> Result<(), LessonError> {
    let normal = &learner.lowered().normal;
    // Where vertices are configurations, their number is bounded and known only once they are built.
    let n_vertices = match options.landscape {
        LandscapeKind::Internal => 0,
        _ => usize::try_from(options.vertices.n_vertices(normal)).unwrap_or(usize::MAX),
    };
    let keeping = match options.landscape {
        LandscapeKind::Internal => Keeping::Numbers,
        _ if options.manner().dense(None)?.is_some() => Keeping::Numbers,
        _ => Keeping::Symbols,
    };
    Ok(memory::ask_network(n_cells, normal.n_tapes(), n_vertices, keeping)?)
}

/// Taking r off a label and adding it again must leave its bits as they are.
fn check_offset(offset: f64, labels: &Values, format: NumberFormat) -> Result<(), LessonError> {
    // The tape sees (y - r) + r.
    let seen: Vec<f64> = labels.data.iter().map(|y| (y - offset) + offset).collect();
    if !offset.is_finite() || to_signs(format, &seen) != to_signs(format, &labels.data) {
        return Err(LessonError::LabelOffset { offset });
    }
    Ok(())
}

/// |y - r|^2 must reach eps, or the first switch never opens.
fn check_labels(extended: &Extended, labels: &Values) -> Result<(), LessonError> {
    let offset = extended.label_offset();
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
