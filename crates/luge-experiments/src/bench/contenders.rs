//! Networks ready to be trained, and the engines that train them.

use std::fmt::Debug;

use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Input, Machine, Move, Pattern, SymbolId, TapeInput, Write};
use luge_train::{CacheLevel, Engine, StopRule};

use luge::{
    run::{EngineChoice, EngineError, Task, TrainingConfig},
    trace::{PreparedTrace, TraceOptions},
};

/// An engine, with what it caches.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    engine: EngineChoice,
    cache: CacheLevel,
}

const fn contender(name: &'static str, engine: EngineChoice, cache: CacheLevel) -> Contender {
    Contender { name, engine, cache }
}

/// Caches macrosteps and steps.
pub(super) const EXACT: Contender = contender("exact", EngineChoice::Exact, CacheLevel::Macrosteps);
/// Caches steps alone.
pub(super) const STEPS: Contender =
    contender("exact without macrosteps", EngineChoice::Exact, CacheLevel::Steps);
/// Computes only what is not zero.
pub(super) const SPARSE: Contender = contender("sparse", EngineChoice::Sparse, CacheLevel::Macrosteps);
/// Evaluates every unit, and differentiates automatically.
pub(super) const DENSE: Contender = contender("dense", EngineChoice::Dense, CacheLevel::Macrosteps);

/// The result of a run: its steps, the bytes that an engine uses for cells, and the number of cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Made {
    pub(super) steps: u64,
    pub(super) cell_bytes: Option<usize>,
    pub(super) cells: Option<usize>,
}

impl From<u64> for Made {
    fn from(steps: u64) -> Self {
        Self { steps, ..Self::default() }
    }
}

/// Unwraps the result for a literal of this program, which cannot be wrong.
pub(super) fn written_down<T, E: Debug>(read: Result<T, E>) -> T {
    read.unwrap_or_else(|error| unreachable!("written down here: {error:?}"))
}

/// Prepares a landscape alone; for the dense engine the number of cells is required.
pub(super) fn landscape(
    machine: &Machine,
    input: &Input,
    landscape: LandscapeKind,
    cells: Option<usize>,
) -> PreparedTrace {
    let options = TraceOptions { landscape, steps: Some(u64::MAX), cells, ..TraceOptions::default() };
    written_down(PreparedTrace::new(machine, input, &options))
}

impl Contender {
    /// Trains a landscape alone, from the start.
    pub(super) fn trace(self, plan: &PreparedTrace, most_steps: u64) -> Made {
        self.train(written_down(plan.task()), most_steps)
    }

    /// Trains a network from the start.
    pub(super) fn train(self, mut task: Task<'_>, most_steps: u64) -> Made {
        task.manner = TrainingConfig::by(self.engine);
        task.stop = StopRule { most_steps, ..task.stop };
        let made = task.open(self.cache, None).and_then(|(mut engine, _)| finish(&mut *engine, &task.stop));
        let made = made.unwrap_or_default();
        if self.engine == EngineChoice::Dense { made.steps.into() } else { made }
    }
}

fn finish(engine: &mut dyn Engine, stop: &StopRule) -> Result<Made, EngineError> {
    let steps = engine.run(stop)?.steps();
    let n_tracks = engine.snapshot().tapes.len();
    let stored = |track: usize| engine.stored_cells(track).end - engine.stored_cells(track).start;
    let cells = (0..n_tracks).map(|track| stored(track) as usize).sum();
    Ok(Made { steps, cell_bytes: Some(engine.cell_bytes()), cells: Some(cells) })
}

/// A machine that goes through all its states in turn, to and fro, and changes what it reads.
pub(super) fn ring(n_states: usize) -> Machine {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    let states: Vec<_> = (0..n_states).map(|i| b.state(format!("s{i}"))).collect();
    for (i, &state) in states.iter().enumerate() {
        let way = if i % 4 < 2 { Move::Right } else { Move::Left };
        let next = states[(i + 1) % n_states];
        for symbol in [SymbolId(0), SymbolId(1)] {
            let write = Write::Put(SymbolId(1 - symbol.0));
            b.rule(state, [Pattern::Is(symbol)], [write], [way], next);
        }
    }
    written_down(b.build())
}

/// On every tape in turn: right to the next mark, back to the mark it came from.
pub(super) fn walker(n_tapes: usize) -> (Machine, Input) {
    let mut b = Machine::builder();
    (0..n_tapes).for_each(|i| _ = b.tape(format!("t{i}"), Alphabet::binary()));
    let names = |i: usize| [format!("leave{i}"), format!("right{i}"), format!("turn{i}"), format!("left{i}")];
    let states: Vec<[_; 4]> = (0..n_tapes).map(|i| names(i).map(|name| b.state(name))).collect();
    for (i, &[leave, right, turn, left]) in states.iter().enumerate() {
        let [next, ..] = states[(i + 1) % n_tapes];
        let only =
            |way: Move| (0..n_tapes).map(move |t| if t == i { way } else { Move::Stay }).collect::<Vec<_>>();
        let read = |symbol: Option<u8>| {
            let pattern = |t: usize| match symbol {
                Some(symbol) if t == i => Pattern::Is(SymbolId(symbol)),
                _ => Pattern::Any,
            };
            (0..n_tapes).map(pattern).collect::<Vec<_>>()
        };
        let keep = || vec![Write::Keep; n_tapes];
        b.rule(leave, read(None), keep(), only(Move::Right), right);
        b.rule(right, read(Some(0)), keep(), only(Move::Right), right);
        b.rule(right, read(Some(1)), keep(), only(Move::Stay), turn);
        b.rule(turn, read(None), keep(), only(Move::Left), left);
        b.rule(left, read(Some(0)), keep(), only(Move::Left), left);
        b.rule(left, read(Some(1)), keep(), only(Move::Stay), next);
    }
    let mark = |cell: usize| SymbolId(u8::from(cell == 0 || cell == 500));
    let tape = TapeInput { symbols: (0..=500).map(mark).collect(), head: 0 };
    (written_down(b.build()), Input { tapes: vec![tape; n_tapes] })
}
