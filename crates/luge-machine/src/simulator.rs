//! Runs a machine step by step. Training is compared with it; no training code uses it.

mod memo;
mod recorded_steps;
mod table;

use crate::{Cell, Input, Machine, Missing, StateId, Step, SymbolId, TapeCells, TapeId, TapeInput};
use memo::{MAX_STEPS, Memo};
pub use recorded_steps::{RecordedSteps, Recording};
use table::{STOPS, SingleTable, Table};

/// How a run ended, or why it paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The machine halted.
    Halted {
        /// The state it halted in.
        state: StateId,
        /// Whether that state accepts.
        accepting: bool,
    },
    /// The step limit was reached before the machine stopped.
    StepLimit,
    /// The state has no rule for the symbols under the heads, which rejects the input.
    NoRule {
        /// The state it stopped in.
        state: StateId,
    },
}

impl Outcome {
    /// The word used in JSON and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Halted { .. } => "halted",
            Self::StepLimit => "step-limit",
            Self::NoRule { .. } => "no-rule",
        }
    }

    /// Whether the machine halted in an accepting state.
    pub fn accepting(self) -> bool {
        matches!(self, Self::Halted { accepting: true, .. })
    }
}

/// What a step changed, as bit sets of tapes. Machines in normal form have few enough tapes for this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    /// The heads that moved to the left.
    pub left: u64,
    /// The heads that moved to the right.
    pub right: u64,
    /// The tapes on which a symbol changed.
    pub changed: u64,
}

/// A machine and its current configuration.
#[derive(Clone, Debug)]
pub struct Simulator<'m> {
    machine: &'m Machine,
    table: Table,
    single: Option<SingleTable>,
    memo: Option<Memo>,
    state: StateId,
    tapes: Vec<TapeCells>,
    heads: Vec<Cell>,
    visited: Vec<(Cell, Cell)>,
    steps: Step,
}

impl<'m> Simulator<'m> {
    /// The machine in its start state on the given input.
    pub fn new(machine: &'m Machine, input: &Input) -> Self {
        let no_input = TapeInput::default();
        let inputs: Vec<&TapeInput> =
            (0..machine.n_tapes()).map(|i| input.tapes.get(i).unwrap_or(&no_input)).collect();
        let tapes =
            machine.tapes().iter().zip(&inputs).map(|(t, input)| TapeCells::new(input, t.alphabet.blank()));
        let heads: Vec<Cell> = inputs.iter().map(|input| input.head).collect();
        Self {
            machine,
            table: Table::new(machine),
            single: SingleTable::new(machine),
            memo: Memo::new(machine),
            state: machine.start(),
            tapes: tapes.collect(),
            visited: heads.iter().map(|&h| (h, h)).collect(),
            heads,
            steps: 0,
        }
    }

    /// The machine being run.
    pub fn machine(&self) -> &'m Machine {
        self.machine
    }

    /// The current state.
    pub fn state(&self) -> StateId {
        self.state
    }

    /// Steps made so far.
    pub fn steps(&self) -> Step {
        self.steps
    }

    /// The cell a head is on.
    pub fn head(&self, tape: TapeId) -> Cell {
        self.heads[tape.index()]
    }

    /// One tape's contents.
    pub fn tape(&self, tape: TapeId) -> &TapeCells {
        &self.tapes[tape.index()]
    }

    /// The leftmost and rightmost cell that a head has visited.
    pub fn visited(&self, tape: TapeId) -> (Cell, Cell) {
        self.visited[tape.index()]
    }

    /// The symbols under the heads.
    pub fn reads(&self) -> Vec<SymbolId> {
        self.tapes.iter().zip(&self.heads).map(|(tape, &head)| tape.read(head)).collect()
    }

    /// Number of cells that are not blank, over all tapes.
    pub fn n_nonblank(&self) -> u64 {
        self.tapes.iter().map(TapeCells::n_nonblank).sum()
    }

    /// The outcome, if the machine has stopped.
    pub fn stopped(&self) -> Option<Outcome> {
        self.next_action().err()
    }

    /// Makes one step.
    ///
    /// # Errors
    /// The outcome, if the machine has stopped; nothing changes then.
    pub fn step(&mut self) -> Result<(), Outcome> {
        self.step_noting().map(|_| ())
    }

    /// Makes one step, and returns what it changed.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn step_noting(&mut self) -> Result<Effect, Outcome> {
        Ok(self.act(self.next_action()?))
    }

    /// Performs the action with this number in the table.
    fn act(&mut self, action: u32) -> Effect {
        let action = &self.table.actions[action as usize];
        let mut effect = Effect::default();
        for &(tape, symbol) in &action.writes {
            let before = self.tapes[tape].replace(self.heads[tape], symbol);
            effect.changed |= u64::from(before != symbol) << (tape & 63);
        }
        for &(tape, offset) in &action.moves {
            let way = if offset < 0 { &mut effect.left } else { &mut effect.right };
            *way |= 1 << (tape & 63);
            let head = self.heads[tape] + offset;
            let (low, high) = self.visited[tape];
            self.visited[tape] = (low.min(head), high.max(head));
            self.heads[tape] = head;
        }
        self.state = action.next;
        self.steps += 1;
        effect
    }

    /// The number of the next action in the table.
    fn next_action(&self) -> Result<u32, Outcome> {
        let state = self.state;
        if let Some(accepting) = self.machine.halting(state) {
            return Err(Outcome::Halted { state, accepting });
        }
        let read = |tape: usize| self.tapes[tape].read(self.heads[tape]);
        self.table.find(state, read).ok_or_else(|| match self.machine.missing() {
            Missing::Halt => Outcome::Halted { state, accepting: false },
            Missing::Reject => Outcome::NoRule { state },
        })
    }

    /// Keeps a bit for each cell from now on, which [`repeat`](Self::repeat) needs; `false`, and no change, if there are more than two
    /// symbols. A run of a machine with one tape keeps a byte again.
    pub fn pack(&mut self) -> bool {
        let binary = self.machine.tapes().iter().all(|tape| tape.alphabet.len() <= 2);
        self.tapes.iter_mut().filter(|_| binary).for_each(TapeCells::pack);
        binary
    }

    /// Writes symbols to cells of a tape, for the samples of a stream.
    pub(crate) fn overwrite(&mut self, tape: TapeId, cells: &[Cell], symbols: &[SymbolId]) {
        for (&cell, &symbol) in cells.iter().zip(symbols) {
            self.tapes[tape.index()].write(cell, symbol);
        }
    }

    /// Runs until the machine stops or has made `limit` steps in all.
    pub fn run(&mut self, limit: Step) -> Outcome {
        if let Some(table) = self.single.take() {
            self.run_single(&table, limit);
            self.single = Some(table);
        }
        if let Some(mut memo) = self.memo.take() {
            while self.steps + MAX_STEPS < limit && memo.pass(self) {}
            self.memo = Some(memo);
        }
        loop {
            if self.steps >= limit {
                return self.stopped().unwrap_or(Outcome::StepLimit);
            }
            if let Err(outcome) = self.step() {
                return outcome;
            }
        }
    }

    /// Makes the same steps as [`step`](Self::step), in a loop over bytes, until the machine stops.
    fn run_single(&mut self, table: &SingleTable, limit: Step) {
        let tape = &mut self.tapes[0];
        tape.unpack();
        let (mut low, mut high) = self.visited[0];
        let mut steps = self.steps;
        let mut row = self.state.index() << table.shift;
        let mut index = tape.hold(self.heads[0]);
        let mut first = tape.extent().start;
        let mut cells = tape.cells.as_mut_slice();
        let (mut leftmost, mut rightmost) = (index, index);
        while steps < limit {
            if index >= cells.len() {
                // The head is one cell outside; on the left the index has wrapped around.
                let head = first.wrapping_add(index as isize as Cell);
                low = low.min(first + leftmost as Cell);
                high = high.max(first + rightmost as Cell);
                index = tape.hold(head);
                first = tape.extent().start;
                cells = &mut tape.cells;
                (leftmost, rightmost) = (index, index);
            }
            let entry = table.entries[row + usize::from(cells[index])];
            if entry & STOPS != 0 {
                break;
            }
            cells[index] = entry as u8;
            leftmost = leftmost.min(index);
            rightmost = rightmost.max(index);
            index = index.wrapping_add_signed((entry >> 8 & 3) as isize - 1);
            row = (entry >> 11) as usize;
            steps += 1;
        }
        let head = first.wrapping_add(index as isize as Cell);
        self.visited[0] =
            (low.min(first + leftmost as Cell).min(head), high.max(first + rightmost as Cell).max(head));
        self.heads[0] = head;
        self.state = StateId::new(row >> table.shift);
        self.steps = steps;
    }
}
