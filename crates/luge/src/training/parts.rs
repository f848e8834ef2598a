//! The parts of a training job, from which its network is built with as many cells as a run needs.

use std::sync::Arc;

use luge_landscape::{DataLayout, Extended, LandscapeKind, Learner, Primary, power_of_two_from};
use luge_machine::{Cell, Input, Machine, Outcome, Simulator, Step};
use luge_net::{
    NumberFormat, Values,
    numbers::{from_signs, to_signs},
};

use super::{MAX_CELLS, TrainingOptions};
use crate::{
    data::Table,
    job::{JobError, program},
    run::{
        lockstep::Window,
        memory::{self, CellStorage},
    },
    trace::n_external_vertices,
};

/// Machine steps that are simulated to find how many cells a run needs: a few seconds.
const LOOK_AHEAD: Step = 1 << 28;

/// A whole run of the simulator.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// Steps until the machine halts.
    pub machine_steps: Step,
    /// The weights of the primary network that it leaves on its tape.
    pub theta: Vec<f64>,
}

/// The network on some cells.
pub(super) struct Built {
    pub(super) window: Window,
    pub(super) extended: Extended,
}

/// A learner, a primary network and data that fit together, and the layout of the data.
pub(super) struct TrainingParts {
    pub(super) learner: Learner,
    pub(super) primary: Arc<dyn Primary>,
    pub(super) table: Table,
    pub(super) options: TrainingOptions,
    pub(super) layout: DataLayout,
    pub(super) input: Input,
    /// Cells that the data and theta need.
    known: usize,
}

impl TrainingParts {
    /// Checks that the parts fit together, and puts the data on the tape.
    pub(super) fn new(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: TrainingOptions,
    ) -> Result<Self, JobError> {
        let layout = layout(&*primary, &table, options.format)?;
        check_offset(options.label_offset.unwrap_or(0.0), &table.labels, options.format)?;
        let n_theta = primary.n_weights().saturating_mul(layout.width());
        let known = learner.theta_track().1.saturating_add(n_theta).max(layout.end() + 1);
        let given = options.cells.unwrap_or(MAX_CELLS);
        if known > given {
            return Err(JobError::TooFewCells { needed: known, given });
        }
        let input = learner.input(&layout, &program::bits(&table, options.format));
        Ok(Self { learner, primary, table, options, layout, input, known })
    }

    /// The machine in normal form.
    pub(super) fn machine(&self) -> &Machine {
        self.learner.lowered().normal.machine()
    }

    /// The machine at the start of its run.
    pub(super) fn simulator(&self) -> Simulator<'_> {
        Simulator::new(self.machine(), &self.input)
    }

    /// Builds the network on the cells that data and theta need; `None` on `internal`.
    pub(super) fn first_network(&self) -> Result<Option<Built>, JobError> {
        let internal = self.options.landscape == LandscapeKind::Internal;
        (!internal).then(|| self.build(self.window(&self.simulator())?)).transpose()
    }

    /// Returns the first network if its tapes can grow, otherwise a network on all cells that the simulator's run needs.
    pub(super) fn network_that_holds_the_run(
        &self,
        first: Option<Built>,
    ) -> Result<(Built, Option<Simulated>), JobError> {
        if let Some(built) = first
            && self.options.manner().dense(Some(built.extended.network()))?.is_none()
        {
            return Ok((built, None));
        }
        let finished = self.simulate(&mut || true)?;
        Ok((self.build(self.window(&finished)?)?, Some(self.read(&finished))))
    }

    /// Returns the cells that a run needed.
    pub(super) fn window(&self, simulator: &Simulator<'_>) -> Result<Window, JobError> {
        let too_few = |needed| {
            let given = self.options.cells.unwrap_or(MAX_CELLS);
            JobError::TooFewCells { needed, given }
        };
        let window = Window::common(simulator, &self.input, self.known, self.options.cells);
        let window = window.map_err(too_few)?;
        if window.n_cells > MAX_CELLS { Err(too_few(window.n_cells)) } else { Ok(window) }
    }

    /// Builds the network on these cells.
    pub(super) fn build(&self, window: Window) -> Result<Built, JobError> {
        let Self { learner, primary, options, layout, .. } = self;
        self.check_budget(window.n_cells)?;
        let mut build = options.network(layout.clone(), window.clone());
        let mut extended = Extended::build(learner, &**primary, &build)?;
        if options.landscape == LandscapeKind::Internal && options.label_offset.is_none() {
            build.label_offset = monotone_offset(&extended, layout);
            extended = Extended::build(learner, &**primary, &build)?;
        }
        check_offset(extended.label_offset, &self.table.labels, options.format)?;
        check_labels(&extended, &self.table.labels)?;
        options.manner().dense(Some(extended.network()))?;
        Ok(Built { window, extended })
    }

    /// Checks that there is memory for a network with this many cells on each tape.
    pub(super) fn check_budget(&self, n_cells: usize) -> Result<(), JobError> {
        let (normal, options) = (&self.learner.lowered().normal, &self.options);
        let n_vertices = n_external_vertices(options.landscape, options.vertices, normal);
        let storage = match options.landscape {
            LandscapeKind::Internal => CellStorage::Numbers,
            _ if options.manner().dense(None)?.is_some() => CellStorage::Numbers,
            _ => CellStorage::Symbols,
        };
        Ok(memory::ask_network(n_cells, normal.n_tapes(), n_vertices, storage)?)
    }

    /// Runs the machine until it halts.
    pub(super) fn simulate(&self, go_on: &mut dyn FnMut() -> bool) -> Result<Simulator<'_>, JobError> {
        let mut simulator = self.simulator();
        memory::run_while(&mut simulator, self.options.steps, go_on)?;
        self.accepted(&simulator)?;
        Ok(simulator)
    }

    /// Runs the machine for a few seconds, to find how many cells a run needs that does not fit.
    pub(super) fn look_ahead(&self) -> Result<Simulator<'_>, JobError> {
        let mut simulator = self.simulator();
        memory::run(&mut simulator, self.options.steps.min(LOOK_AHEAD))?;
        Ok(simulator)
    }

    /// Checks that a run has ended with an answer.
    pub(super) fn accepted(&self, simulator: &Simulator<'_>) -> Result<(), JobError> {
        match simulator.stopped() {
            Some(Outcome::Halted { accepting: true, .. }) => Ok(()),
            Some(Outcome::Halted { state, .. } | Outcome::NoRule { state }) => {
                Err(JobError::Rejected(self.machine().state(state).name.clone()))
            }
            Some(Outcome::StepLimit) | None => Err(JobError::LearnerDoesNotHalt(simulator.steps())),
        }
    }

    /// Reads the result of a machine that has halted.
    pub(super) fn read(&self, finished: &Simulator<'_>) -> Simulated {
        let theta = read_theta(&self.learner, &self.layout, self.primary.n_weights(), finished);
        Simulated { machine_steps: finished.steps(), theta }
    }
}

/// Reads the weights that a machine has left on its tape.
pub(crate) fn read_theta(
    learner: &Learner,
    layout: &DataLayout,
    n_weights: usize,
    finished: &Simulator<'_>,
) -> Vec<f64> {
    let (track, first) = learner.theta_track();
    let tape = finished.tape(track);
    let sign = |cell: usize| {
        let symbol = tape.read(Cell::try_from(cell).unwrap_or(Cell::MAX));
        if symbol.0 == 1 { 1.0 } else { -1.0 }
    };
    let signs: Vec<f64> = (first..first + n_weights * layout.width()).map(sign).collect();
    from_signs(layout.format, &signs)
}

fn layout(primary: &dyn Primary, table: &Table, format: NumberFormat) -> Result<DataLayout, JobError> {
    let layout = program::layout(table, format);
    let (found_features, found_labels) = (layout.n_features, layout.n_labels);
    let (features, outputs) = (primary.n_features(), primary.n_outputs());
    if (features, outputs) != (found_features, found_labels) {
        return Err(JobError::Shapes { features, outputs, found_features, found_labels });
    }
    Ok(layout)
}

/// Checks that subtracting r from a label and adding it again does not change the label's bits.
fn check_offset(offset: f64, labels: &Values, format: NumberFormat) -> Result<(), JobError> {
    // The tape sees (y - r) + r.
    let seen: Vec<f64> = labels.data.iter().map(|y| (y - offset) + offset).collect();
    if !offset.is_finite() || to_signs(format, &seen) != to_signs(format, &labels.data) {
        return Err(JobError::LabelOffset(offset));
    }
    Ok(())
}

/// Checks that |y - r|^2 is at least eps; otherwise the first switch never opens.
fn check_labels(extended: &Extended, labels: &Values) -> Result<(), JobError> {
    let offset = extended.label_offset;
    let found: f64 = labels.data.iter().map(|y| (y - offset) * (y - offset)).sum();
    let epsilon = extended.epsilon;
    if found < epsilon {
        return Err(JobError::LabelsTooSmall { offset, found, epsilon });
    }
    Ok(())
}

/// Returns a power of two r for which 1/2 |r - y|^2 exceeds every later loss, for all labels of the format.
fn monotone_offset(extended: &Extended, layout: &DataLayout) -> f64 {
    let largest = layout.format.largest_magnitude();
    let n = f64::from(u32::try_from(layout.n_samples * layout.n_labels).unwrap_or(u32::MAX));
    let highest = extended.bounds().running_high + n * largest * largest / 2.0;
    power_of_two_from(largest + (2.0 * highest / n).sqrt())
}
