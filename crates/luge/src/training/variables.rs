//! Finds a program's variables in the network's weights: which weight holds which bit, and the values at any step of a run.

use luge_landscape::Learner;
use luge_machine::{Access, Cell, Step, TapeId};
use luge_sled::Variable;
use luge_train::{CacheLevel, StopRule};
use serde::Serialize;

use super::PreparedTraining;
use crate::{job::JobError, run::engine::EngineError};

/// Which weights hold a variable: bit `b` of element `e` is the weight in row `row` and column `first + e * pitch + b` of a
/// block, the lowest bit first, 1 for a one and -1 for a zero.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VariableWeights {
    /// The variable's name in the program.
    pub name: String,
    /// The block of weights.
    pub block: &'static str,
    /// The row of its binary tape among the writable ones.
    pub row: usize,
    /// The column of its lowest bit.
    pub first: Cell,
    /// Columns from one element to the next.
    pub pitch: usize,
    /// Bits of an element.
    pub width: u32,
    /// Bits after the point; `None` for a truth value.
    pub fraction: Option<u32>,
    /// The elements of an array; `None` for a single value.
    pub length: Option<usize>,
    /// The first and the last line of the program in which the name means this variable.
    pub lines: (u32, u32),
    /// The machine's tape.
    pub tape: String,
}

impl VariableWeights {
    /// Finds the weights of a learner's variables in a network whose first column holds these cells.
    pub(crate) fn of(variables: &[Variable], learner: &Learner, first_cells: &[Cell]) -> Vec<Self> {
        let tapes = learner.lowered().normal.machine().tapes();
        let place = |variable: &Variable| {
            let track = track(learner, variable)?;
            let written = |tape: &&luge_machine::Tape| tape.access != Access::ReadOnly;
            Some(Self {
                name: variable.name.clone(),
                block: "tape",
                row: tapes[..track].iter().filter(written).count(),
                first: variable.first as Cell - first_cells.get(track)?,
                pitch: variable.pitch,
                width: variable.width,
                fraction: variable.fraction,
                length: variable.length,
                lines: variable.lines,
                tape: learner.machine().tapes()[variable.tape.index()].name.clone(),
            })
        };
        variables.iter().filter_map(place).collect()
    }
}

/// Returns the binary tape that holds a variable.
fn track(learner: &Learner, variable: &Variable) -> Option<usize> {
    learner.lowered().tracks(variable.tape).next().map(TapeId::index)
}

impl PreparedTraining {
    /// Reads the values of variables from the weights after each of these numbers of gradient steps, which must be ascending.
    /// Returns for each step and each variable its elements; after the end of the run, the final values.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn variables_at(
        &self,
        variables: &[Variable],
        steps: &[Step],
    ) -> Result<Vec<Vec<Vec<f64>>>, JobError> {
        let task = self.task();
        let (mut engine, _) = task.open(CacheLevel::Macrosteps, None)?;
        let mut found = Vec::with_capacity(steps.len());
        for &step in steps {
            let most_steps = step.min(task.stop.most_steps);
            engine.run(&StopRule { most_steps, ..task.stop }).map_err(EngineError::from)?;
            let value = |variable: &Variable| {
                let Some(track) = track(self.learner(), variable) else { return Vec::new() };
                let first = self.window().first[track];
                let bit = |cell: usize| engine.cell(track, cell as Cell - first) > 0.0;
                variable.values(variable.length.unwrap_or(1), bit)
            };
            found.push(variables.iter().map(value).collect());
        }
        Ok(found)
    }
}
