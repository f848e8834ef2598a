//! Loops over the rows of a table, which the network sees in a fixed cycle: the circuit waits for the row it needs.
//!
//! Every row stays for a fixed number of steps; after the last row comes the first again. The circuit counts all its
//! steps, including those that take a sample, so it knows which row the network will see in the next step.

use luge_circuit::{Literal, RegisterId};

use super::{
    CircuitCompileError, Compiler, Counter, LoopTargets, NextRound, Step, Word, cycles::StateId,
    statements::bits_for, values::constant,
};
use crate::core::Stmt;

/// A table whose rows come round in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of steps that each row stays; `None` if the network always sees the row that the program needs.
    pub hold: Option<usize>,
}

/// Registers that track which row the network will see in the next step.
#[derive(Clone, Debug)]
pub(super) struct RowClock {
    /// The current row of the program's loop.
    pub(super) counter: Counter,
    row: Vec<RegisterId>,
    phase: Vec<RegisterId>,
    /// Whether the first row, which is held from the start, is still unused.
    fresh: RegisterId,
}

impl Compiler<'_> {
    /// Compiles a loop over the rows.
    pub(super) fn each_sample(&mut self, body: &[Stmt], line: u32) -> Step<()> {
        let Some(rows) = self.options.rows else {
            self.error.get_or_insert(CircuitCompileError::NoTable);
            return Ok(());
        };
        if self.in_data {
            self.error.get_or_insert(CircuitCompileError::Nested(line));
            return Ok(());
        }
        self.may_cut()?;
        let clock = self.clock(rows);
        let counter = clock.counter;
        let zero = constant(0, counter.word.len());
        self.write_word(&counter.word, &zero);
        self.cut()?;
        let wait = self.here();
        let [inside, after] = [(); 2].map(|()| self.new_state());
        let fresh = self.read(clock.fresh);
        self.write(clock.fresh, Literal::TRUE, Literal::FALSE);
        self.exit(fresh, inside);
        let wanted = self.b.word_value(&counter.word);
        let due = self.is_due(rows, &clock.row, &wanted);
        self.drop_sample(due);
        self.exit(due, inside);
        self.jump(wait);
        self.begin(inside);
        (self.in_data, self.taken) = (true, Some(true));
        self.rounds(LoopTargets::Cycles { after, next: NextRound::Row { wait, inside } }, |c| c.block(body))?;
        self.in_data = false;
        self.begin(after);
        Ok(())
    }

    /// Whether the network will see the wanted row in the next step.
    fn is_due(&mut self, rows: Rows, row: &[RegisterId], wanted: &[Literal]) -> Literal {
        if rows.hold.is_none() {
            return Literal::TRUE;
        }
        let now = self.b.word_value(row);
        self.b.equal(&now, wanted)
    }

    /// The end of a round: takes the next row at once if it is due.
    pub(super) fn row_ends(&mut self, wait: StateId, inside: StateId, after: StateId) {
        let (Some(RowClock { counter, row, .. }), Some(rows)) = (self.rows.clone(), self.options.rows) else {
            return;
        };
        let now = self.read_word(&counter.word);
        let more = self.incremented(&now);
        let last = constant(i64::try_from(rows.n_rows - 1).unwrap_or(i64::MAX), now.len());
        let last = self.b.equal(&now, &last);
        self.write_word(&counter.word, &more);
        self.exit(last, after);
        let due = self.is_due(rows, &row, &more);
        self.drop_sample(due);
        self.exit(due, inside);
        self.exit(Literal::TRUE, wait);
    }

    /// Declares the registers of the clock for the first loop.
    fn clock(&mut self, rows: Rows) -> RowClock {
        if let Some(clock) = &self.rows {
            return clock.clone();
        }
        let hold = rows.hold.unwrap_or(1);
        // The first run cycle follows the step that takes row 0, so the clock starts two steps ahead.
        let (row, phase) = (2 / hold % rows.n_rows, 2 % hold);
        let fresh = self.b.register("first_row_unused", true);
        self.registers.push(fresh);
        let word = |c: &mut Self, name: &str, n: usize, value: usize| {
            c.b.word_register(name, bits_for(n), value as u64)
        };
        let counter = self.counter("row", 0, rows.n_rows);
        let clock = RowClock {
            counter,
            row: word(self, "passing_row", rows.n_rows, row),
            phase: word(self, "passing_phase", hold, phase),
            fresh,
        };
        self.rows.insert(clock).clone()
    }

    /// Advances the clock: by one step, or by two if the cycle drops its sample, because a step that takes follows.
    pub(super) fn row_clock(&mut self) {
        let (Some(clock), Some(rows)) = (self.rows.clone(), self.options.rows) else { return };
        let hold = rows.hold.unwrap_or(1);
        let now = [self.b.word_value(&clock.row), self.b.word_value(&clock.phase)];
        let one = self.after_a_step(&now, rows.n_rows, hold);
        let two = self.after_a_step(&one, rows.n_rows, hold);
        let next = self.b.or(self.next.clone());
        for (at, word) in [&clock.row, &clock.phase].into_iter().enumerate() {
            let target = self.b.mux_word(next, &two[at], &one[at]);
            self.b.set_word(word, &target);
        }
    }

    fn after_a_step(&mut self, [row, phase]: &[Word; 2], n_rows: usize, hold: usize) -> [Word; 2] {
        let mut up = |word: &Word, n_values: usize| {
            let more = self.incremented(word);
            let last = constant(i64::try_from(n_values - 1).unwrap_or(i64::MAX), word.len());
            let last = self.b.equal(word, &last);
            let more: Word = more.into_iter().map(|bit| self.b.and([bit, !last])).collect();
            (more, last)
        };
        let (next_row, _) = up(row, n_rows);
        let (next_phase, last) = up(phase, hold);
        [self.b.mux_word(last, &next_row, row), next_phase]
    }
}
