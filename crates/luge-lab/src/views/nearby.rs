//! The loss step by step, shortly before and after a moment.

use luge::engine::{EngineChoice, EngineError};
use serde::Serialize;

use super::drawn;
use crate::film::{End, Film};

/// Steps before and after.
const REACH: u64 = 40;

/// Weights beyond which the dense engine does not go over steps again for this.
const MOST_DENSE_WEIGHTS: usize = 1 << 13;

/// The losses of consecutive steps.
#[derive(Debug, Serialize)]
pub struct Nearby {
    step: u64,
    /// The step of the first loss.
    from: u64,
    losses: Vec<f64>,
}

impl Nearby {
    /// The losses around the film's step; `None` where they take too long to compute.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn of(film: &Film<'_>) -> Result<Option<Self>, EngineError> {
        let n_weights: usize = film.task.network.parameters().iter().map(|p| p.shape.len()).sum();
        if film.chosen.engine == EngineChoice::Dense && n_weights > MOST_DENSE_WEIGHTS {
            return Ok(None);
        }
        let step = film.step();
        let from = step.saturating_sub(REACH);
        let to = film.end().map_or(film.front(), End::steps).min(step + REACH);
        let mut engine = film.engine_at(from)?;
        let mut losses = vec![engine.loss()?];
        while engine.steps() < to {
            engine.step()?;
            losses.push(engine.loss()?);
        }
        Ok(Some(Self { step, from, losses: losses.into_iter().map(drawn).collect() }))
    }
}
