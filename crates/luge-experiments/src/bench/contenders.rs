//! Networks ready to be trained, and the engines that train them.

use std::fmt::Debug;

use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Input, Machine, Move, Pattern, SymbolId, TapeInput, Write};
use luge_train::{CacheLevel, Engine, StopRule};

use luge::{
    run::{EngineChoice, EngineError, Task, TrainingConfig},
    trace::{PreparedTrace, TraceOptions},
    training::PreparedTraining,
};

/// What trains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contender {
    /// Remembered macrosteps and steps.
    Exact,
    /// Remembered steps.
    Steps,
    /// What is not zero.
    Sparse,
    /// Every unit, every gradient by automatic differentiation.
    Dense,
}

luge_net::names!(
    Contender, "contender", Exact "exact", Steps "exact without macrosteps", Sparse "sparse", Dense "dense",
);

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

impl Contender {
    fn choice(self) -> (EngineChoice, CacheLevel) {
        match self {
            Self::Exact => (EngineChoice::Exact, CacheLevel::Macrosteps),
            Self::Steps => (EngineChoice::Exact, CacheLevel::Steps),
            Self::Sparse => (EngineChoice::Sparse, CacheLevel::Macrosteps),
            Self::Dense => (EngineChoice::Dense, CacheLevel::Macrosteps),
        }
    }
}

/// Something to train.
#[expect(clippy::large_enum_variant, reason = "a benchmark has few subjects, and never moves them")]
pub(super) enum Subject {
    /// A landscape alone.
    Landscape(PreparedTrace),
    /// A whole extended network.
    Network(PreparedTraining),
}

impl Subject {
    /// A landscape alone; for the dense engine the number of cells is required.
    pub(super) fn landscape(
        machine: &Machine,
        input: &Input,
        landscape: LandscapeKind,
        cells: Option<usize>,
    ) -> Self {
        let options = TraceOptions { landscape, steps: Some(u64::MAX), cells, ..TraceOptions::default() };
        Self::Landscape(written_down(PreparedTrace::new(machine, input, &options)))
    }

    fn task(&self) -> Task<'_> {
        match self {
            Self::Landscape(plan) => written_down(plan.task()),
            Self::Network(lesson) => lesson.task(),
        }
    }

    /// Trains from the start.
    pub(super) fn run(&self, contender: Contender, most_steps: u64) -> Made {
        let (choice, cache_level) = contender.choice();
        let mut task = self.task();
        task.manner = TrainingConfig::by(choice);
        task.stop = StopRule { most_steps, ..task.stop };
        let made = task.open(cache_level, None).and_then(|(mut engine, _)| finish(&mut *engine, &task.stop));
        let made = made.unwrap_or_default();
        if contender == Contender::Dense { made.steps.into() } else { made }
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
