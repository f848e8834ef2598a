//! The training loop.

use std::ops::ControlFlow;

use crate::{Engine, TrainError};

/// When training is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopRule {
    /// Training stops at the first step whose loss is at most this.
    pub loss_at_most: f64,
    /// It does not stop before this step.
    pub not_before: u64,
    /// It gives up after this many steps.
    pub most_steps: u64,
}

impl StopRule {
    /// The outcome if training ends at a step with this loss; `None` if it continues.
    #[inline]
    pub fn verdict(&self, steps: u64, loss: f64) -> Option<Outcome> {
        match () {
            () if !loss.is_finite() => Some(Outcome::Diverged { steps }),
            () if steps >= self.not_before && loss <= self.loss_at_most => Some(Outcome::Converged { steps }),
            () if steps >= self.most_steps => Some(Outcome::StepLimit { steps }),
            () => None,
        }
    }
}

/// How training ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    /// The loss reached the stopping level.
    Converged {
        /// Gradient steps made.
        steps: u64,
    },
    /// The allowed number of steps is used up.
    StepLimit {
        /// Gradient steps made.
        steps: u64,
    },
    /// The observer stopped the training.
    Interrupted {
        /// Gradient steps made.
        steps: u64,
    },
    /// A tape would need more cells than allowed.
    OutOfCells {
        /// Gradient steps made.
        steps: u64,
    },
    /// The loss is no longer a finite number.
    Diverged {
        /// Gradient steps made.
        steps: u64,
    },
}

luge_net::names! {
    with data Outcome,
    Converged "halted", StepLimit "step-limit", Interrupted "interrupted", OutOfCells "out-of-cells", Diverged "diverged",
}

impl Outcome {
    /// Gradient steps made.
    pub fn steps(self) -> u64 {
        match self {
            Self::Converged { steps }
            | Self::StepLimit { steps }
            | Self::Interrupted { steps }
            | Self::OutOfCells { steps }
            | Self::Diverged { steps } => steps,
        }
    }
}

/// The argument of an observer, before each step and once more at the end.
pub struct Iterate<'a, E: ?Sized> {
    /// Gradient steps made so far.
    pub step: u64,
    /// The loss here.
    pub loss: f64,
    /// The engine, for everything else.
    pub engine: &'a mut E,
}

/// Steps until the stop rule holds or the observer breaks.
///
/// # Errors
/// If the engine cannot compute a gradient. How training ends is the outcome, never an error.
pub fn train<E: Engine + ?Sized>(
    engine: &mut E,
    stop: &StopRule,
    mut observe: impl FnMut(Iterate<'_, E>) -> ControlFlow<()>,
) -> Result<Outcome, TrainError> {
    loop {
        let (step, loss) = (engine.steps(), engine.loss()?);
        let broke_off = observe(Iterate { step, loss, engine: &mut *engine }).is_break();
        if let Some(outcome) = stop.verdict(step, loss) {
            return Ok(outcome);
        }
        if broke_off {
            return Ok(Outcome::Interrupted { steps: step });
        }
        engine.step()?;
    }
}
