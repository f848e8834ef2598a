//! Rows of a table that pass in a cycle: the circuit counts what passes, and waits for the row that is next.
//!
//! Every row passes for a fixed number of steps, then the next one, and after the last the first again. While it runs the circuit
//! counts steps, those that take included, so it knows which row is in front of the network in the step after this one.

use luge_circuit::{Literal, RegisterId};

use super::{
    Again, CircuitCompileError, Compiler, Counter, LoopEnds, Step, Word, cycles::StateId,
    statements::bits_for, values::constant,
};
use crate::core::Stmt;

/// A table whose rows pass in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// How many there are.
    pub n_rows: usize,
    /// For how many steps each passes; `None` if the row that is wanted is always the one in front.
    pub hold: Option<usize>,
}

/// The row that passes in the step after this one.
#[derive(Clone, Debug)]
pub(super) struct Passing {
    /// The row that the program is at.
    pub(super) counter: Counter,
    row: Vec<RegisterId>,
    phase: Vec<RegisterId>,
    /// Whether the first row, which is held from the start, is still to be used.
    fresh: RegisterId,
}

impl Compiler<'_> {
    /// A loop over the rows.
    pub(super) fn each_sample(&mut self, body: &[Stmt], line: u32) -> Step<()> {
        let Some(rows) = self.options.rows else {
            self.error.get_or_insert(CircuitCompileError::NoTable);
            return Ok(());
        };
        if self.in_data {
            self.error.get_or_insert(CircuitCompileError::Nested { line });
            return Ok(());
        }
        self.may_cut()?;
        let passing = self.passing(rows);
        let counter = passing.counter;
        let zero = constant(0, counter.word.len());
        self.write_word(&counter.word, &zero);
        self.cut()?;
        let wait = self.here();
        let [inside, after] = [(); 2].map(|()| self.new_state());
        let fresh = self.read(passing.fresh);
        self.write(passing.fresh, Literal::TRUE, Literal::FALSE);
        self.exit(fresh, inside);
        let wanted = self.b.word_value(&counter.word);
        let due = self.is_due(rows, &passing.row, &wanted);
        self.drop_sample(due);
        self.exit(due, inside);
        self.jump(wait);
        self.begin(inside);
        (self.in_data, self.taken) = (true, Some(true));
        self.rounds(LoopEnds { after, again: Again::Row { wait, inside } }, |c| c.block(body))?;
        self.in_data = false;
        self.begin(after);
        Ok(())
    }

    /// Whether the row that is wanted passes in the step after this one.
    fn is_due(&mut self, rows: Rows, passing: &[RegisterId], wanted: &[Literal]) -> Literal {
        if rows.hold.is_none() {
            return Literal::TRUE;
        }
        let now = self.b.word_value(passing);
        self.b.equal(&now, wanted)
    }

    /// The end of a round over the rows: if the next row is due it is taken at once.
    pub(super) fn row_ends(&mut self, wait: StateId, inside: StateId, after: StateId) {
        let (Some(Passing { counter, row, .. }), Some(rows)) = (self.rows.clone(), self.options.rows) else {
            return;
        };
        let now = self.read_word(&counter.word);
        let more = self.one_more(&now);
        let last = constant(i64::try_from(rows.n_rows - 1).unwrap_or(i64::MAX), now.len());
        let last = self.b.equal(&now, &last);
        self.write_word(&counter.word, &more);
        self.exit(last, after);
        let due = self.is_due(rows, &row, &more);
        self.drop_sample(due);
        self.exit(due, inside);
        self.exit(Literal::TRUE, wait);
    }

    fn passing(&mut self, rows: Rows) -> Passing {
        if let Some(passing) = &self.rows {
            return passing.clone();
        }
        let hold = rows.hold.unwrap_or(1);
        // The first run comes after the step that takes the first row, and two steps later is the one to know about.
        let (row, phase) = (2 / hold % rows.n_rows, 2 % hold);
        let fresh = self.b.register("first_row_unused", true);
        self.registers.push(fresh);
        let word = |c: &mut Self, name: &str, n: usize, value: usize| {
            c.b.word_register(name, bits_for(n), value as u64)
        };
        let counter = self.counter("row", 0, rows.n_rows);
        let passing = Passing {
            counter,
            row: word(self, "passing_row", rows.n_rows, row),
            phase: word(self, "passing_phase", hold, phase),
            fresh,
        };
        self.rows.insert(passing).clone()
    }

    /// Every step counts, and a cycle that drops its sample is followed by a step that takes.
    pub(super) fn row_clock(&mut self) {
        let (Some(passing), Some(rows)) = (self.rows.clone(), self.options.rows) else { return };
        let hold = rows.hold.unwrap_or(1);
        let now = [self.b.word_value(&passing.row), self.b.word_value(&passing.phase)];
        let one = self.after_a_step(&now, rows.n_rows, hold);
        let two = self.after_a_step(&one, rows.n_rows, hold);
        let next = self.b.or(self.next.clone());
        for (at, word) in [&passing.row, &passing.phase].into_iter().enumerate() {
            let target = self.b.mux_word(next, &two[at], &one[at]);
            self.b.set_word(word, &target);
        }
    }

    fn after_a_step(&mut self, [row, phase]: &[Word; 2], n_rows: usize, hold: usize) -> [Word; 2] {
        let mut up = |word: &Word, n_values: usize| {
            let more = self.one_more(word);
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
