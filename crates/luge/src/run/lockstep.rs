//! Lockstep: the simulator steps along with training, and every iterate is compared.
//!
//! Training never sees the simulator; the comparison happens outside.

use std::ops::Range;

use luge_landscape::{Configuration, Control, Undecodable};
use luge_machine::{Cell, Input, Machine, Outcome, Simulator, SymbolId, TapeId};
use luge_train::visit;

use crate::run::step_checker::vertex_of;

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

/// The simulator, and what the network should hold right now.
pub struct Lockstep<'m> {
    simulator: Simulator<'m>,
    window: Window,
    expected: Configuration,
    inside: bool,
    /// What vertices stand for, and the digest of those visited.
    visited: Option<(&'m Control, u64)>,
}

impl<'m> Lockstep<'m> {
    /// A machine with two symbols per tape at the start of its run; `None` if a head starts outside the window.
    #[must_use]
    pub fn new(machine: &'m Machine, input: &Input, window: Window) -> Option<Self> {
        let simulator = Simulator::new(machine, input);
        let contents = |tape: TapeId| {
            let first = window.first[tape.index()];
            let cells = (first..).take(window.n_cells);
            cells.map(|cell| simulator.tape(tape).read(cell) == SymbolId(1)).collect()
        };
        let tapes = machine.tape_ids().map(contents).collect();
        let heads: Option<_> =
            machine.tape_ids().map(|tape| window.index(tape, simulator.head(tape))).collect();
        let expected = Configuration { state: simulator.state(), tapes, heads: heads? };
        Some(Self { simulator, window, expected, inside: true, visited: None })
    }

    /// The same, which also notes the vertices that stand for configurations; at the first one training stays for `extra` steps more.
    pub(crate) fn noting_vertices(mut self, control: &'m Control, extra: u64) -> Self {
        let first = vertex_of(control, &self.simulator);
        self.visited = Some((control, (0..=extra).fold(0, |path, _| visit(path, first))));
        self
    }

    /// The digest of the vertices visited, if they were noted and training is `extra` steps ahead.
    pub(crate) fn path(&self, steps: u64, extra: u64) -> Option<u64> {
        self.visited.filter(|_| self.simulator.steps() + extra == steps).map(|(_, path)| path)
    }

    /// What the network should hold.
    #[must_use]
    pub fn expected(&self) -> &Configuration {
        &self.expected
    }

    /// The simulator.
    #[must_use]
    pub fn simulator(&self) -> &Simulator<'m> {
        &self.simulator
    }

    /// The simulator, where it has come to.
    #[must_use]
    pub fn into_simulator(self) -> Simulator<'m> {
        self.simulator
    }

    /// How the machine has stopped, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<Outcome> {
        self.simulator.stopped()
    }

    /// One step of the machine; nothing happens once it has stopped.
    pub fn step(&mut self) {
        let heads: Vec<Cell> = self.simulator.machine().tape_ids().map(|t| self.simulator.head(t)).collect();
        if self.simulator.step().is_err() {
            return;
        }
        self.expected.state = self.simulator.state();
        if let Some((control, path)) = &mut self.visited {
            *path = visit(*path, vertex_of(control, &self.simulator));
        }
        for (tape, before) in self.simulator.machine().tape_ids().zip(heads) {
            let written = self.simulator.tape(tape).read(before) == SymbolId(1);
            if let Some(cell) = self.window.index(tape, before) {
                self.expected.tapes[tape.index()][cell] = written;
            }
            match self.window.index(tape, self.simulator.head(tape)) {
                Some(cell) => self.expected.heads[tape.index()] = cell,
                None => self.inside = false,
            }
        }
    }

    /// Whether what parameters decode to is the machine's configuration.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, found: Result<Configuration, Undecodable>) -> Result<(), Mismatch> {
        if !self.inside {
            return Err(Mismatch::LeftWindow);
        }
        let found = found?;
        if found == self.expected {
            return Ok(());
        }
        let name = |state| self.simulator.machine().state(state).name.clone();
        if found.state != self.expected.state {
            return Err(Mismatch::State { found: name(found.state), expected: name(self.expected.state) });
        }
        for tape in 0..found.heads.len() {
            let (at, expected) = (found.heads[tape], self.expected.heads[tape]);
            if at != expected {
                return Err(Mismatch::Head { tape, found: at as Cell, expected: expected as Cell });
            }
            let pairs = found.tapes[tape].iter().zip(&self.expected.tapes[tape]);
            if let Some(cell) = pairs.into_iter().position(|(a, b)| a != b) {
                return Err(Mismatch::Cell { tape, cell: cell as Cell });
            }
        }
        Ok(())
    }
}
