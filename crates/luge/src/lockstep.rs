//! Lockstep: the simulator steps beside training, and every iterate is held to it.
//!
//! Training never sees the simulator; this is the outside view that compares the two.

use luge_landscape::{Configuration, Control, Undecodable};
use luge_machine::{Bits, Cell, Effect, Input, Machine, Outcome, Simulator, SymbolId, TapeId};
use luge_train::{Change, Engine};

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
        Some(Self { simulator, window, expected, inside: true })
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

/// The simulator beside an engine that keeps only what is not zero: what a step can change is compared after every step,
/// and everything when asked.
///
/// Cells that no head was on are the same as before on both sides, so comparing the cells that were just left, the heads
/// and the vertex at every step, and all cells once, compares every configuration.
pub struct Judge<'m> {
    simulator: Simulator<'m>,
    control: &'m Control,
    /// The machine's cell that the network's first column stands for, per tape.
    first: Vec<Cell>,
    /// Where the heads were before the last step.
    left: Vec<Cell>,
    /// How many cells the input fills, per tape.
    filled: Vec<Cell>,
}

impl<'m> Judge<'m> {
    /// A machine with two symbols per tape at the start of its run.
    #[must_use]
    pub fn new(machine: &'m Machine, input: &Input, control: &'m Control, first: Vec<Cell>) -> Self {
        let simulator = Simulator::new(machine, input);
        let left = machine.tape_ids().map(|tape| simulator.head(tape)).collect();
        let filled =
            |tape: TapeId| input.tapes.get(tape.index()).map_or(0, |laid| laid.symbols.len() as Cell);
        let filled = machine.tape_ids().map(filled).collect();
        Self { simulator, control, first, left, filled }
    }

    /// The simulator.
    #[must_use]
    pub fn simulator(&self) -> &Simulator<'m> {
        &self.simulator
    }

    /// The most cells of a tape that the heads have visited or the input fills.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        let span = |tape: TapeId| {
            let (low, high) = self.simulator.visited(tape);
            let filled = self.filled[tape.index()];
            let (low, high) = if filled > 0 { (low.min(0), high.max(filled - 1)) } else { (low, high) };
            usize::try_from(high - low + 1).unwrap_or(usize::MAX)
        };
        self.simulator.machine().tape_ids().map(span).max().unwrap_or(0)
    }

    /// Whether the machine has stopped.
    #[must_use]
    pub fn stopped(&self) -> bool {
        // A vertex without a column is where the machine has no step.
        self.simulator.stopped().is_some()
    }

    /// Brings the machine to a step, or as far as it goes. After more than one step at once only
    /// [`compare_all`](Self::compare_all) sees all that has changed.
    pub fn go_to(&mut self, step: luge_machine::Step) {
        if step == self.simulator.steps() + 1 {
            self.note_heads();
            // The outcome is asked for elsewhere.
            let _ = self.simulator.step();
        } else if step > self.simulator.steps() {
            let _ = self.simulator.run(step);
            self.note_heads();
        }
    }

    /// Makes the machine's step beside one of training, and holds what each has changed to the other: state, symbols that the vertex
    /// knows, heads, and the cells under them. A machine that has stopped changes nothing.
    ///
    /// # Errors
    /// The first difference.
    pub fn step_beside(&mut self, change: &Change) -> Result<(), Mismatch> {
        self.note_heads();
        let effect = self.simulator.step_noting().unwrap_or_default();
        let Change { vertex, left, right, flipped, .. } = *change;
        let state = self.simulator.state();
        let copies = self.control.n_copied_states() / self.simulator.machine().states().len();
        let copy = usize::try_from(self.simulator.steps() % copies as u64).unwrap_or(0);
        let table = self.control.table();
        let block = state.index() * copies + copy;
        let reads = luge_net::tracks(table.looks_at(block)).fold(0, |reads, tape| {
            let id = TapeId::new(tape);
            reads | u32::from(self.simulator.tape(id).read(self.simulator.head(id)) == SymbolId(1)) << tape
        });
        let effects = (effect.left, effect.right, effect.changed);
        if vertex == table.vertex(block, reads)
            && (u64::from(left), u64::from(right), u64::from(flipped)) == effects
        {
            return Ok(());
        }
        Err(self.difference(change, &effect, (block, reads)))
    }

    /// In what a step of training differs from the machine's.
    #[cold]
    fn difference(&self, change: &Change, effect: &Effect, (block, reads): (usize, u32)) -> Mismatch {
        let found = self.control.state(change.vertex);
        if found != self.simulator.state() {
            let name = |state| self.simulator.machine().state(state).name.clone();
            return Mismatch::State { found: name(found), expected: name(self.simulator.state()) };
        }
        let (copy, n_copies) = self.control.copy_of(change.vertex);
        if copy != block % n_copies {
            return Mismatch::Copy { found: copy, expected: block % n_copies };
        }
        for (tape, &first) in self.first.iter().enumerate() {
            let bit = |mask: u64| i64::from(mask >> tape & 1 == 1);
            let found = bit(change.right.into()) - bit(change.left.into());
            let made = bit(effect.right) - bit(effect.left);
            let expected = self.simulator.head(TapeId::new(tape)) - first;
            if found != made {
                return Mismatch::Head { tape, found: expected - made + found, expected };
            }
            if bit(change.flipped.into()) != bit(effect.changed) {
                return Mismatch::Cell { tape, cell: self.left[tape] - first };
            }
        }
        let tape = self.control.differs(change.vertex, Bits(reads)).unwrap_or(0);
        Undecodable::Symbol { tape }.into()
    }

    fn note_heads(&mut self) {
        for (tape, left) in self.left.iter_mut().enumerate() {
            *left = self.simulator.head(TapeId::new(tape));
        }
    }

    /// Whether vertex, heads and the cells last left are the machine's.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare<T: Engine + ?Sized>(&self, engine: &T) -> Result<(), Mismatch> {
        let vertex = engine.vertex();
        let vertex = vertex.ok_or(Undecodable::Vertex { index: 0, value: f64::NAN })?;
        let state = self.control.state(vertex);
        if state != self.simulator.state() {
            let name = |state| self.simulator.machine().state(state).name.clone();
            return Err(Mismatch::State { found: name(state), expected: name(self.simulator.state()) });
        }
        let (found, n_copies) = self.control.copy_of(vertex);
        let expected = usize::try_from(self.simulator.steps() % n_copies as u64).unwrap_or(0);
        if found != expected {
            return Err(Mismatch::Copy { found, expected });
        }
        let mut reads = Bits(0);
        for (tape, (&first, &left)) in self.first.iter().zip(&self.left).enumerate() {
            let id = TapeId::new(tape);
            let expected = self.simulator.head(id) - first;
            let found = engine.head(tape);
            let found = found.ok_or(Undecodable::Head { tape, cell: 0, value: f64::NAN })?;
            if found != expected {
                return Err(Mismatch::Head { tape, found, expected });
            }
            reads = reads.with(tape, self.simulator.tape(id).read(expected + first) == SymbolId(1));
            self.compare_cell(engine, tape, left)?;
        }
        match self.control.differs(vertex, reads) {
            Some(tape) => Err(Undecodable::Symbol { tape }.into()),
            None => Ok(()),
        }
    }

    /// As [`compare`](Self::compare), and all cells that either side has touched.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare_all<T: Engine + ?Sized>(&self, engine: &T) -> Result<(), Mismatch> {
        self.compare(engine)?;
        for (tape, &first) in self.first.iter().enumerate() {
            let kept = engine.kept(tape);
            let extent = self.simulator.tape(TapeId::new(tape)).extent();
            for cell in (kept.start + first).min(extent.start)..(kept.end + first).max(extent.end) {
                self.compare_cell(engine, tape, cell)?;
            }
        }
        Ok(())
    }

    fn compare_cell<T: Engine + ?Sized>(&self, engine: &T, tape: usize, cell: Cell) -> Result<(), Mismatch> {
        let value = engine.cell(tape, cell - self.first[tape]);
        if value.is_nan() || value.abs() <= 0.5 {
            let cell = usize::try_from(cell - self.first[tape]).unwrap_or(0);
            return Err(Undecodable::Cell { tape, cell, value }.into());
        }
        if (value > 0.0) != (self.simulator.tape(TapeId::new(tape)).read(cell) == SymbolId(1)) {
            return Err(Mismatch::Cell { tape, cell: cell - self.first[tape] });
        }
        Ok(())
    }
}
