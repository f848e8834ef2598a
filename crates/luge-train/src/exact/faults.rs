//! Faults to plant, to test that they are found. Only in builds with the feature of that name.

use super::{Body, Exact};
use crate::{Engine, MacrostepId, MacrostepSteps, TrainError};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A remembered step leads to another vertex.
    WrongEntry,
    /// A step does not change its cell.
    SkippedWrite,
    /// A step goes on with what it read before, whatever lies ahead.
    StaleRead,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 3] = [Self::WrongEntry, Self::SkippedWrite, Self::StaleRead];
}

impl Exact<'_> {
    /// Spoils what is remembered of the step at the current vertex; `false` if the fault would make no difference there.
    ///
    /// # Errors
    /// If that step cannot be computed.
    pub fn plant(&mut self, fault: Fault) -> Result<bool, TrainError> {
        // Now the step is remembered.
        self.loss()?;
        match &mut self.body {
            Body::Waiting(_) => Ok(false),
            Body::MultiHead(many) => Ok(many.spoil(&self.probe.layers().table, fault)),
        }
    }

    /// Spoils every remembered macrostep; `false` if there is none.
    pub fn plant_in_macrosteps(&mut self) -> bool {
        match &mut self.body {
            Body::Waiting(_) => false,
            Body::MultiHead(many) => many.spoil_stretches(),
        }
    }

    /// Flips a cell that no head comes to soon, and later flips it back.
    pub(super) fn flip_for_a_while(&mut self) {
        let (early, late) = (100_000, 300_000);
        let Body::MultiHead(many) = &mut self.body else { return };
        if luge_net::faults::planted("a cell flipped and flipped back") {
            many.tapes.set_last((early..late).contains(&self.steps));
        }
    }

    /// The steps of a macrostep with each loss in the place of the one before.
    pub(super) fn shifted(&mut self, macrostep: MacrostepId) -> Result<MacrostepSteps, TrainError> {
        let Body::MultiHead(many) = &mut self.body else { return Ok(MacrostepSteps::default()) };
        let (table, probe) = (&self.probe.layers().table, &mut self.probe);
        let mut steps = many.macrostep(macrostep, table, probe, &mut self.carried)?;
        let losses: Vec<f64> = steps.changes.iter().map(|change| change.loss).collect();
        let shifted = losses.iter().cycle().skip(1);
        steps.changes.iter_mut().zip(shifted).for_each(|(change, loss)| change.loss = *loss);
        Ok(steps)
    }

    /// Lets macrosteps become longer after a few of them, for tests that cannot wait.
    pub fn widen_soon(&mut self) {
        if let Body::MultiHead(many) = &mut self.body
            && let Some(macrosteps) = many.stretches_mut()
        {
            macrosteps.widen_soon();
        }
    }

    /// Whether macrosteps have become longer, and whether they have become shorter again.
    pub fn has_widened(&mut self) -> (bool, bool) {
        match &mut self.body {
            Body::MultiHead(many) => many.stretches_mut().map_or((false, false), |all| all.have_tried()),
            _ => (false, false),
        }
    }
}
