//! The cells of the machine that a network holds, and in what an iterate can differ from the machine's configuration.
//!
//! Training never sees the simulator; the comparison happens outside.

use std::ops::Range;

use luge_landscape::{Configuration, Undecodable};
use luge_machine::{Cell, Input, Simulator, SymbolId, TapeId};

/// Which cells of the machine's tapes the network's tapes hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The machine's cell that the network's first cell stands for, per tape.
    pub first: Vec<Cell>,
    /// Cells per tape.
    pub n_cells: usize,
}

impl Window {
    /// The smallest window that holds everything a run has visited and its input, widened to `n_cells`.
    /// `Err` with the number needed if that is too few.
    ///
    /// # Errors
    /// The number of cells the run needs.
    pub fn around(
        finished: &Simulator<'_>,
        input: &Input,
        n_cells: impl Fn(usize) -> usize,
    ) -> Result<Self, usize> {
        let spans = spans(finished, input);
        let length = |&(low, high): &(Cell, Cell)| usize::try_from(high - low + 1).unwrap_or(usize::MAX);
        let needed = spans.iter().map(length).max().unwrap_or(1);
        let n_cells = n_cells(needed);
        if n_cells < needed {
            return Err(needed);
        }
        let centred =
            |span: &(Cell, Cell)| span.0 - Cell::try_from((n_cells - length(span)) / 2).unwrap_or(0);
        Ok(Self { first: spans.iter().map(centred).collect(), n_cells })
    }

    /// The cells from the first of any tape to the last of any.
    #[must_use]
    pub fn cells(&self) -> Range<Cell> {
        let first = self.first.iter().copied().min().unwrap_or(0);
        let last = self.first.iter().copied().max().unwrap_or(0);
        first..last.saturating_add(Cell::try_from(self.n_cells).unwrap_or(Cell::MAX))
    }

    /// One window for all tapes that says nothing of a run but how many cells it has: cell 0 lies where sizes alone put it.
    ///
    /// The first `known` cells are those that sizes say will be needed. They stand in the middle, so that as many cells are
    /// left on either side. Where `n_cells` is not given, it is the smallest power of two that holds the run.
    ///
    /// # Errors
    /// The number of cells the run needs.
    pub fn common(
        finished: &Simulator<'_>,
        input: &Input,
        known: usize,
        n_cells: Option<usize>,
    ) -> Result<Self, usize> {
        let spans = spans(finished, input);
        let reach = |cells: Option<Cell>| usize::try_from(cells.unwrap_or(0)).unwrap_or(0);
        let left = reach(spans.iter().map(|&(low, _)| -low).max());
        let right = reach(spans.iter().map(|&(_, high)| high + 1).max());
        let before = |n_cells: usize| n_cells.saturating_sub(known) / 2;
        let fits = |n_cells: usize| {
            n_cells >= known && left <= before(n_cells) && right <= n_cells - before(n_cells)
        };
        let needed = (known + 2 * left).max((2 * right).saturating_sub(known)).max(1);
        let n_cells = n_cells.unwrap_or(needed.next_power_of_two());
        if !fits(n_cells) {
            return Err(needed);
        }
        let first = -Cell::try_from(before(n_cells)).unwrap_or(0);
        Ok(Self { first: vec![first; spans.len()], n_cells })
    }

    /// Whether a head has been in the first or in the last cell.
    #[must_use]
    pub fn is_touched(&self, simulator: &Simulator<'_>) -> bool {
        simulator.machine().tape_ids().any(|tape| {
            let (low, high) = simulator.visited(tape);
            let inside = |cell| self.index(tape, cell).is_some_and(|at| at > 0 && at + 1 < self.n_cells);
            !inside(low) || !inside(high)
        })
    }

    /// The network's cell for a machine's cell; `None` outside.
    #[must_use]
    pub fn index(&self, tape: TapeId, cell: Cell) -> Option<usize> {
        let index = usize::try_from(cell - self.first[tape.index()]).ok()?;
        (index < self.n_cells).then_some(index)
    }

    /// What the network should hold where the machine is now, with two symbols per tape; `None` if a head is outside.
    #[must_use]
    pub fn configuration(&self, simulator: &Simulator<'_>) -> Option<Configuration> {
        let tapes = || simulator.machine().tape_ids();
        let contents = |tape: TapeId| {
            let cells = (self.first[tape.index()]..).take(self.n_cells);
            cells.map(|cell| simulator.tape(tape).read(cell) == SymbolId(1)).collect()
        };
        let heads: Option<_> = tapes().map(|tape| self.index(tape, simulator.head(tape))).collect();
        Some(Configuration {
            state: simulator.state(),
            tapes: tapes().map(contents).collect(),
            heads: heads?,
        })
    }

    /// Whether what parameters decode to is the machine's configuration.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(
        &self,
        simulator: &Simulator<'_>,
        found: Result<Configuration, Undecodable>,
    ) -> Result<(), Mismatch> {
        let expected = self.configuration(simulator).ok_or(Mismatch::LeftWindow)?;
        let found = found?;
        let name = |state| simulator.machine().state(state).name.clone();
        if found.state != expected.state {
            return Err(Mismatch::State { found: name(found.state), expected: name(expected.state) });
        }
        for tape in 0..found.heads.len() {
            let (at, expected_at) = (found.heads[tape], expected.heads[tape]);
            if at != expected_at {
                return Err(Mismatch::Head { tape, found: at as Cell, expected: expected_at as Cell });
            }
            let mut pairs = found.tapes[tape].iter().zip(&expected.tapes[tape]);
            if let Some(cell) = pairs.position(|(a, b)| a != b) {
                return Err(Mismatch::Cell { tape, cell: cell as Cell });
            }
        }
        Ok(())
    }
}

/// For every tape, the first and last cell that a run has visited or its input fills.
fn spans(finished: &Simulator<'_>, input: &Input) -> Vec<(Cell, Cell)> {
    let span = |tape: TapeId| {
        let (low, high) = finished.visited(tape);
        match input.tapes.get(tape.index()) {
            Some(laid) if !laid.symbols.is_empty() => {
                let last = Cell::try_from(laid.symbols.len()).unwrap_or(Cell::MAX) - 1;
                (low.min(0), high.max(last))
            }
            _ => (low, high),
        }
    };
    finished.machine().tape_ids().map(span).collect()
}

/// Why an iterate is not the machine's configuration at its step.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Mismatch {
    /// The parameters stand for nothing.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// Another state.
    #[error("the network is in state `{found}`, the machine in `{expected}`")]
    State {
        /// What the parameters say.
        found: String,
        /// What the simulator says.
        expected: String,
    },
    /// Another copy of the state: they are visited in turn.
    #[error("the network is in copy {found} of the state, not in copy {expected}")]
    Copy {
        /// What the parameters say.
        found: usize,
        /// What the number of steps says.
        expected: usize,
    },
    /// A head elsewhere.
    #[error("head {tape} is on cell {found} of the network, the machine's on {expected}")]
    Head {
        /// The tape.
        tape: usize,
        /// What the parameters say.
        found: Cell,
        /// What the simulator says.
        expected: Cell,
    },
    /// Another symbol.
    #[error("cell {cell} of tape {tape} differs")]
    Cell {
        /// The tape.
        tape: usize,
        /// The network's cell.
        cell: Cell,
    },
    /// The machine has left the window.
    #[error("the machine has left the cells of the network")]
    LeftWindow,
}
