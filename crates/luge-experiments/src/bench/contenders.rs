//! Networks ready to be trained, and the engines that train them.

use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Input, Machine, Move, Pattern, SymbolId, Write};
use luge_train::{CacheLevel, Engine, StopRule};

use luge::{
    run::engine::{EngineChoice, EngineError, Task, TrainingConfig},
    trace::{PreparedTrace, TraceOptions},
    training::PreparedTraining,
};

/// What trains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contender {
    /// Remembered blocks and steps.
    Exact,
    /// Remembered steps.
    Steps,
    /// What is not zero.
    Sparse,
    /// Every unit, every gradient by automatic differentiation.
    Dense,
}

luge_net::names!(
    Contender, "contender", Exact "exact", Steps "exact without blocks", Sparse "sparse", Dense "dense",
);

/// What an engine holds for cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Memory {
    pub(super) bytes: usize,
    pub(super) cells: usize,
}

impl Contender {
    fn choice(self) -> (EngineChoice, CacheLevel) {
        match self {
            Self::Exact => (EngineChoice::Exact, CacheLevel::Blocks),
            Self::Steps => (EngineChoice::Exact, CacheLevel::Steps),
            Self::Sparse => (EngineChoice::Sparse, CacheLevel::Blocks),
            Self::Dense => (EngineChoice::Dense, CacheLevel::Blocks),
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
    /// A landscape alone; with `filled`, on a tape with so many ones.
    pub(super) fn landscape(
        machine: &Machine,
        input: &Input,
        kind: LandscapeKind,
        filled: Option<usize>,
    ) -> Self {
        Self::with_cells(machine, input, kind, filled, None)
    }

    /// A landscape for the dense engine, with a thousand cells.
    pub(super) fn wide_landscape(machine: &Machine, input: &Input, kind: LandscapeKind) -> Self {
        Self::with_cells(machine, input, kind, None, Some(DENSE_CELLS))
    }

    fn with_cells(
        machine: &Machine,
        input: &Input,
        kind: LandscapeKind,
        filled: Option<usize>,
        cells: Option<usize>,
    ) -> Self {
        let mut input = input.clone();
        if let Some(n_cells) = filled {
            input.tapes.resize_with(1, Default::default);
            input.tapes[0].symbols = vec![SymbolId(1); n_cells];
        }
        let options =
            TraceOptions { landscape: kind, steps: Some(u64::MAX), cells, ..TraceOptions::default() };
        let plan = PreparedTrace::new(machine, &input, &options);
        Self::Landscape(
            plan.unwrap_or_else(|e| unreachable!("a landscape of a machine written down here: {e}")),
        )
    }

    fn task(&self) -> Task<'_> {
        match self {
            Self::Landscape(plan) => plan
                .task()
                .unwrap_or_else(|e| unreachable!("a landscape of a machine written down here: {e}")),
            Self::Network(lesson) => lesson.task(),
        }
    }

    /// Trains from the start; returns the steps made.
    pub(super) fn run(&self, contender: Contender, most_steps: u64) -> (u64, Option<Memory>) {
        let (choice, cache_level) = contender.choice();
        let mut task = self.task();
        task.manner = TrainingConfig::by(choice);
        task.stop = StopRule { most_steps, ..task.stop };
        let made = task.open(cache_level, None).and_then(|(mut engine, _)| finish(&mut *engine, &task.stop));
        made.map_or((0, None), |(steps, memory)| {
            (steps, Some(memory).filter(|_| contender != Contender::Dense))
        })
    }
}

fn finish(engine: &mut dyn Engine, stop: &StopRule) -> Result<(u64, Memory), EngineError> {
    let outcome = engine.run(stop)?;
    let n_tracks = engine.snapshot().tapes.len();
    let kept = |track: usize| engine.stored_cells(track).end - engine.stored_cells(track).start;
    let cells = (0..n_tracks).map(|track| kept(track) as usize).sum();
    Ok((outcome.steps(), Memory { bytes: engine.cell_bytes(), cells }))
}

/// Cells of the dense engine's landscape; fast engines grow their own tapes.
const DENSE_CELLS: usize = 1021;

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
    match b.build() {
        Ok(machine) => machine,
        Err(error) => unreachable!("a machine written down here: {error:?}"),
    }
}
