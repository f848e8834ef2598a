//! The number of steps that begin in each state.

use luge::run::engine::EngineError;
use luge_train::Engine;

use super::Replay;

/// The longest run whose steps are all counted.
pub const MAX_PROFILED: u64 = 30_000_000;

/// Steps between two checks of the clock.
const CHUNK: u64 = 1024;

/// The visits counted so far.
pub struct Profile<'a> {
    engine: Box<dyn Engine + 'a>,
    /// The steps that begin in each state.
    pub visits: Vec<u64>,
    /// Whether all steps are counted.
    pub done: bool,
}

impl<'a> Profile<'a> {
    /// An empty profile; `None` if the end of the run is not known, or the run is too long.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(replay: &Replay<'a>) -> Result<Option<Self>, EngineError> {
        if replay.end.is_none_or(|end| end.steps > MAX_PROFILED) {
            return Ok(None);
        }
        let visits = vec![0; replay.scene.machine.states().len()];
        Ok(Some(Self { engine: replay.again()?, visits, done: false }))
    }

    /// Counts steps while `go_on` returns true.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn follow(
        &mut self,
        replay: &Replay<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), EngineError> {
        let end = replay.end.map_or(0, |end| end.steps);
        while self.engine.steps() < end {
            let state = self.engine.vertex().and_then(|vertex| replay.scene.state_at(vertex));
            if let Some(count) = state.and_then(|state| self.visits.get_mut(state.index())) {
                *count += 1;
            }
            self.engine.step()?;
            if self.engine.steps().is_multiple_of(CHUNK) && !go_on() {
                return Ok(());
            }
        }
        self.done = true;
        Ok(())
    }
}
