//! The number of steps that begin in each state.

use luge::run::engine::EngineError;
use luge_train::Engine;

use super::{End, Replay};

/// The longest run whose every step is looked at.
pub const MAX_PROFILED: u64 = 30_000_000;

/// Steps between two looks at the clock.
const CHUNK: u32 = 1024;

/// The visits counted so far.
pub struct Profile<'n> {
    engine: Box<dyn Engine + 'n>,
    /// Steps that begin in each state.
    pub visits: Vec<u64>,
    /// Whether all are counted.
    pub done: bool,
}

impl<'n> Profile<'n> {
    /// A profile of a run that is over, of a machine with this many states; `None` if the run is not over, or too long.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(replay: &Replay<'n>, n_states: usize) -> Result<Option<Self>, EngineError> {
        if replay.end().is_none_or(|end| end.steps() > MAX_PROFILED) {
            return Ok(None);
        }
        Ok(Some(Self { engine: replay.again()?, visits: vec![0; n_states], done: false }))
    }

    /// Counts on while `go_on` says so. `state` is the state that a vertex stands for.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn follow(
        &mut self,
        replay: &Replay<'n>,
        state: &dyn Fn(usize) -> Option<usize>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), EngineError> {
        let end = replay.end().map_or(0, End::steps);
        while self.engine.steps() < end {
            for _ in 0..CHUNK {
                if self.engine.steps() >= end {
                    break;
                }
                let here = self.engine.vertex().and_then(state);
                if let Some(count) = here.and_then(|state| self.visits.get_mut(state)) {
                    *count += 1;
                }
                self.engine.step()?;
            }
            if !go_on() {
                return Ok(());
            }
        }
        self.done = true;
        Ok(())
    }
}
