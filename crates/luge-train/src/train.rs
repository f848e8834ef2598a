//! The training loop.

use std::ops::ControlFlow;

use crate::{Engine, Moved, TrainError};

/// When training is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopRule {
    /// Done at the first step whose loss is at most this.
    pub loss_at_most: f64,
    /// Not before this step.
    pub not_before: u64,
    /// Give up after this many steps.
    pub most_steps: u64,
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
    /// The observer asked to stop.
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

impl Outcome {
    /// Gradient steps made.
    #[must_use]
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

/// What an observer sees before each step, and once more at the end.
pub struct Iterate<'a> {
    /// Gradient steps made so far.
    pub step: u64,
    /// The loss here.
    pub loss: f64,
    /// Where the last step moved the simplex blocks; empty before the first.
    pub moved: &'a [Moved],
    /// Everything else: parameters, gradients.
    pub engine: &'a mut dyn Engine,
}

/// Steps until the stop rule holds, the observer breaks off or the loss is lost.
///
/// # Errors
/// If a gradient cannot be computed. How training ends is the outcome, never an error.
pub fn train(
    engine: &mut dyn Engine,
    stop: &StopRule,
    mut observe: impl FnMut(Iterate<'_>) -> ControlFlow<()>,
) -> Result<Outcome, TrainError> {
    let mut moved = Vec::new();
    let mut steps = 0;
    loop {
        let loss = engine.loss()?;
        let broke_off =
            observe(Iterate { step: steps, loss, moved: &moved, engine: &mut *engine }).is_break();
        if !loss.is_finite() {
            return Ok(Outcome::Diverged { steps });
        }
        if steps >= stop.not_before && loss <= stop.loss_at_most {
            return Ok(Outcome::Converged { steps });
        }
        if broke_off {
            return Ok(Outcome::Interrupted { steps });
        }
        if steps >= stop.most_steps {
            return Ok(Outcome::StepLimit { steps });
        }
        moved = engine.step()?;
        steps += 1;
    }
}
