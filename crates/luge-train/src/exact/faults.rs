//! Faults to plant, to test that they are found. Only in builds with the feature of that name.

use super::{Body, Exact};
use crate::{Engine, TrainError};

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
        let (here, ahead) = (self.here(), self.ahead()?);
        let block = self.layers().table.block(self.at());
        match &mut self.body {
            Body::Waiting(_) => Ok(false),
            Body::SingleHead(_, memory) | Body::Blocks(_, memory) => {
                let situation = memory.situation(block, here);
                memory.spoil(&mut self.probe, situation, ahead as u8, fault)
            }
            Body::MultiHead(many) => Ok(many.spoil(&self.probe.layers().table, fault)),
        }
    }

    /// Spoils every remembered crossing of a block, or macrostep of steps; `false` if there is none.
    pub fn plant_in_blocks(&mut self) -> bool {
        match &mut self.body {
            Body::Blocks(blocks, _) => blocks.spoil(),
            Body::MultiHead(many) => many.spoil_stretches(),
            _ => false,
        }
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
