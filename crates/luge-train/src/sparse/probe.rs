//! Single steps at any vertex, for an engine that stores steps.

use luge_net::Form;

use super::{Place, Sparse, symbol};
use crate::TrainError;

/// The result of a step at a vertex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Probed {
    /// The landscape's loss before the step.
    pub(crate) landscape: f64,
    /// The factor of the gradient.
    pub(crate) gain: f64,
    /// The vertex after the step.
    pub(crate) to: usize,
    /// The symbols left behind.
    pub(crate) written: u32,
    /// The heads that moved to the left.
    pub(crate) left: u32,
    /// The heads that moved to the right.
    pub(crate) right: u32,
}

impl Sparse<'_> {
    /// Makes the network's gradient step at a vertex, with the symbols `here` under the heads and `ahead` on both sides of
    /// them.
    ///
    /// No stored step is used: the tapes are new, with three cells each, the loss is differentiated, cells and heads move by
    /// their gradients, and the result is read from the weights.
    pub(crate) fn probe(&mut self, vertex: usize, here: u32, ahead: u32) -> Result<Probed, TrainError> {
        let table = &self.layers.table;
        for (i, (tape, &row)) in self.tapes.rows.iter_mut().zip(&table.rows).enumerate() {
            let beside = symbol(ahead, i);
            tape.reset([beside, symbol(here, i), beside], row < table.n_trained);
        }
        self.place = Place { vertex, weight: 1.0, others: Vec::new() };
        self.tapes.unsettle();
        self.here = None;
        let (landscape, to, busy) = self.look_at_landscape::<false>()?;
        let gain = self.output_stage.as_ref().map_or(1.0, |stage| stage.carry(landscape).gain);
        self.go_to::<false>(to, gain, busy);
        let mut probed = Probed { landscape, to, gain, written: 0, left: 0, right: 0 };
        for (i, tape) in self.tapes.rows.iter().enumerate() {
            let (head, tolerance) = match self.layers.form {
                Form::Slides { .. } => (tape.head.only(), 0.0),
                Form::Targets { .. } => (tape.head.clear(), 0.25),
            };
            match head {
                Some(-1) => probed.left |= 1 << i,
                Some(0) => {}
                Some(1) => probed.right |= 1 << i,
                _ => {
                    let why = format!("head {i} is not on one cell after a step");
                    return Err(TrainError::NotExact { why });
                }
            }
            let written = tape.cells.at(0);
            if (written.abs() - 1.0).abs() > tolerance {
                let why = format!("a cell holds {written} after a step, neither -1 nor 1");
                return Err(TrainError::NotExact { why });
            }
            probed.written |= u32::from(written > 0.0) << i;
        }
        Ok(probed)
    }
}
