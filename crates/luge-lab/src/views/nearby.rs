//! The loss step by step, shortly before and after the current step.

use luge::run::engine::EngineChoice;

use super::*;

/// Steps before and after.
const REACH: u64 = 40;

/// The most weights of a network whose steps the dense engine repeats for this.
const MAX_DENSE_WEIGHTS: usize = 1 << 13;

/// The losses of the steps around the current one; `None` if they take too long to compute.
///
/// # Errors
/// If a gradient cannot be computed.
pub(crate) fn nearby(replay: &Replay<'_>) -> Result<Option<Value>, EngineError> {
    if replay.chosen.engine == EngineChoice::Dense && replay.scene.n_weights() > MAX_DENSE_WEIGHTS {
        return Ok(None);
    }
    let step = replay.step();
    let from = step.saturating_sub(REACH);
    let to = replay.end.map_or(replay.front(), |end| end.steps).min(step + REACH);
    let mut engine = replay.engine_at(from)?;
    let mut losses = vec![drawn(engine.loss()?)];
    while engine.steps() < to {
        engine.step()?;
        losses.push(drawn(engine.loss()?));
    }
    Ok(Some(json!({ "step": step, "from": from, "losses": losses })))
}
