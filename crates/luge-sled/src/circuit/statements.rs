//! Statements.

use std::ops::RangeInclusive;

use luge_circuit::{Literal, RegisterId};

use super::{
    Compiler, Counter, Full, LoopTargets, MAX_UNROLLED, NextRound, Step, cycles::StateId, values::constant,
};
use crate::core::{Affine, Expr, For, Stmt, StmtKind};

impl Compiler<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Step<()> {
        for stmt in body {
            if self.cycle.is_dead() {
                break;
            }
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Step<()> {
        match &stmt.kind {
            StmtKind::Assign(place, value) => self.in_a_cycle(|c| {
                let value = c.value(value)?;
                c.assign(place, value)
            }),
            StmtKind::If(condition, then, otherwise) => self.branch(condition, then, otherwise),
            StmtKind::While { before, condition, body } => self.while_loop(before, condition, body),
            StmtKind::For(body) => self.for_loop(body),
            StmtKind::Repeat { times, body, .. } => {
                self.may_cut()?;
                let n_values = usize::try_from(*times).unwrap_or(usize::MAX);
                let bounds = [0, *times].map(Affine::constant);
                let counter = self.counter("repeat", 0, n_values);
                self.counted(counter, &bounds, None, body)
            }
            StmtKind::EachSample(body) => self.each_sample(body, stmt.line),
            StmtKind::Take => self.take(),
            StmtKind::Break => {
                match self.loops.last_mut() {
                    Some(LoopTargets::Inline { broken, .. }) => {
                        broken.push(self.cycle.clone());
                        self.cycle.path = Literal::FALSE;
                    }
                    Some(&mut LoopTargets::Cycles { after, .. }) => self.exit(Literal::TRUE, after),
                    None => {}
                }
                Ok(())
            }
            StmtKind::Continue => {
                self.round_ends();
                Ok(())
            }
            // Programs with tapes are refused earlier, and a circuit prints nothing.
            StmtKind::Write(..) | StmtKind::Shift(..) | StmtKind::Print(_) => Ok(()),
            StmtKind::Reject => {
                self.reject(Literal::TRUE);
                self.cycle.path = Literal::FALSE;
                Ok(())
            }
        }
    }

    /// Runs `act` in this cycle if it fits, else in a new one, else in several.
    fn in_a_cycle<T>(&mut self, act: impl Fn(&mut Self) -> Step<T>) -> Step<T> {
        if self.inline > 0 || self.cycle.is_fresh() {
            return act(self);
        }
        match self.attempt(&act) {
            Ok(done) => Ok(done),
            Err(Full) => {
                self.cut()?;
                act(self)
            }
        }
    }

    /// Runs `act` in this cycle, or in a new one, if one cycle is enough. Returns whether it was.
    fn in_one_cycle(&mut self, act: impl Fn(&mut Self) -> Step<()> + Copy) -> Step<bool> {
        if self.attempt(act).is_ok() {
            return Ok(true);
        }
        if self.inline > 0 || self.cycle.is_fresh() || !self.fits_alone(act) {
            return Ok(false);
        }
        self.cut()?;
        Ok(self.attempt(act).is_ok())
    }

    fn branch(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> Step<()> {
        let both = |c: &mut Self| {
            let condition = c.bit(condition)?;
            c.branches(condition, |c| c.block(then), |c| c.block(otherwise))
        };
        if self.in_one_cycle(both)? {
            return Ok(());
        }
        self.may_cut()?;
        let condition = self.in_a_cycle(|c| c.bit(condition))?;
        let before = self.taken;
        let after = self.new_state();
        let other = if otherwise.is_empty() { after } else { self.new_state() };
        self.exit(!condition, other);
        self.block(then)?;
        self.jump(after);
        let taken = std::mem::replace(&mut self.taken, before);
        if !otherwise.is_empty() {
            self.begin(other);
            self.block(otherwise)?;
            self.jump(after);
        }
        self.taken = self.taken.filter(|_| self.taken == taken);
        self.begin_if_reached(after);
        Ok(())
    }

    fn while_loop(&mut self, before: &[Stmt], condition: &Expr, body: &[Stmt]) -> Step<()> {
        self.cut()?;
        let head = self.here();
        let after = self.new_state();
        let taken = self.entering([before, body]);
        self.rounds(LoopTargets::Cycles { after, next: NextRound::Head(head) }, |c| {
            c.block(before)?;
            let holds = c.in_a_cycle(|c| c.bit(condition))?;
            c.exit(!holds, after);
            c.block(body)
        })?;
        // The loop may have had no rounds.
        self.taken = taken;
        self.begin_if_reached(after);
        Ok(())
    }

    /// Compiles a round of a loop that takes several cycles, and the transition to the next.
    pub(super) fn rounds(
        &mut self,
        ends: LoopTargets,
        round: impl FnOnce(&mut Self) -> Step<()>,
    ) -> Step<()> {
        self.loops.push(ends);
        round(self)?;
        self.round_ends();
        self.loops.pop();
        Ok(())
    }

    /// Declares a loop counter.
    pub(super) fn counter(&mut self, name: &str, least: i64, n_values: usize) -> Counter {
        let name = format!("{name}.c{}", self.registers.len());
        Counter { word: self.word(&name, bits_for(n_values)), least, n_values }
    }

    fn for_loop(&mut self, stmt: &For) -> Step<()> {
        let (least, last) = (self.range(&stmt.from).0, self.range(&stmt.to).1 - 1);
        if last < least {
            return Ok(());
        }
        let in_one = |c: &mut Self| c.unrolled(stmt, least..=last);
        if !self.too_large.contains(&stmt.var) && self.in_one_cycle(in_one)? {
            return Ok(());
        }
        self.may_cut()?;
        let value = match &stmt.value {
            None => None,
            Some((slot, first)) => {
                let word = self.in_a_cycle(|c| c.value(first))?;
                let registers = self.slots[*slot].clone();
                self.write_word(&registers, &word);
                Some(registers)
            }
        };
        let n_values = usize::try_from(last - least + 1).unwrap_or(usize::MAX);
        let counter = self.counter("loop", least, n_values);
        self.counters.insert(stmt.var, counter.clone());
        self.counted(counter, &[stmt.from.clone(), stmt.to.clone()], value, &stmt.body)
    }

    /// Unrolls all rounds in this cycle.
    fn unrolled(&mut self, stmt: &For, values: RangeInclusive<i64>) -> Step<()> {
        let n_before = self.b.n_wires();
        self.loops.push(LoopTargets::Inline { broken: Vec::new(), continued: Vec::new() });
        let result = values.into_iter().try_for_each(|value| {
            self.unrolled_round(stmt, value)?;
            let full = self.b.n_wires() - n_before > MAX_UNROLLED;
            if full {
                self.too_large.insert(stmt.var);
            }
            if full || self.is_deep() { Err(Full) } else { Ok(()) }
        });
        if let Some(LoopTargets::Inline { broken, .. }) = self.loops.pop() {
            broken.into_iter().for_each(|way| self.join(way.path, way));
        }
        result
    }

    fn unrolled_round(&mut self, stmt: &For, value: i64) -> Step<()> {
        self.counters.insert(stmt.var, Counter { word: Vec::new(), least: value, n_values: 1 });
        if let Some((slot, _)) = stmt.value {
            let word = self.slots[slot].clone();
            self.write_word(&word, &constant(value, word.len()));
        }
        let begun = self.not_negative(&Affine::constant(value).minus(&stmt.from));
        let more = self.not_negative(&stmt.to.offset(-1 - value));
        let inside = self.b.and([begun, more]);
        self.branches(inside, |c| c.block(&stmt.body), |_| Ok(()))?;
        if let Some(LoopTargets::Inline { continued, .. }) = self.loops.last_mut() {
            let ways = std::mem::take(continued);
            ways.into_iter().for_each(|way| self.join(way.path, way));
        }
        Ok(())
    }

    /// Compiles a loop with a counter.
    fn counted(
        &mut self,
        counter: Counter,
        [from, to]: &[Affine; 2],
        value: Option<Vec<RegisterId>>,
        body: &[Stmt],
    ) -> Step<()> {
        self.may_cut()?;
        let start = self.affine(&from.offset(-counter.least));
        let start = self.b.total(&start, counter.word.len());
        let some = self.not_negative(&to.minus(from).offset(-1));
        let after = self.new_state();
        self.exit(!some, after);
        if self.cycle.is_dead() {
            self.begin(after);
            return Ok(());
        }
        self.write_word(&counter.word, &start);
        self.cut()?;
        let inside = self.here();
        let taken = self.entering([body, &[]]);
        let next = NextRound::Count { counter, end: to.clone(), value, body: inside };
        self.rounds(LoopTargets::Cycles { after, next }, |c| c.block(body))?;
        self.taken = taken;
        self.begin_if_reached(after);
        Ok(())
    }

    /// Compiles the end of a round, or `continue`.
    pub(super) fn round_ends(&mut self) {
        if self.cycle.is_dead() {
            return;
        }
        if let Some(LoopTargets::Inline { continued, .. }) = self.loops.last_mut() {
            continued.push(self.cycle.clone());
            self.cycle.path = Literal::FALSE;
            return;
        }
        let Some(LoopTargets::Cycles { after, next }) = self.loops.last().cloned() else { return };
        match next {
            NextRound::Head(head) => self.exit(Literal::TRUE, head),
            NextRound::Row { wait, inside } => self.row_ends(wait, inside, after),
            NextRound::Count { counter, end, value, body } => {
                let now = self.read_word(&counter.word);
                let more = self.incremented(&now);
                // There is another round unless this value is the last.
                let continues = if end.is_constant() {
                    let last = constant(end.constant - 1 - counter.least, now.len());
                    !self.b.equal(&now, &last)
                } else {
                    self.continues(&counter, &end)
                };
                self.write_word(&counter.word, &more);
                if let Some(registers) = value {
                    let now = self.read_word(&registers);
                    let more = self.incremented(&now);
                    self.write_word(&registers, &more);
                }
                self.exit(continues, body);
                self.exit(Literal::TRUE, after);
            }
        }
    }

    pub(super) fn incremented(&mut self, word: &[Literal]) -> Vec<Literal> {
        let mut sum = luge_circuit::Affine::default();
        sum.shift(1);
        sum.add_word(word, 1);
        self.b.total(&sum, word.len())
    }

    /// Whether a counter is below its last value, if the end depends on other counters.
    fn continues(&mut self, counter: &Counter, end: &Affine) -> Literal {
        let (least, most) = self.range(end);
        let last = counter.least + i64::try_from(counter.n_values).unwrap_or(i64::MAX) - 1;
        let mut sum = self.affine(&end.offset(-counter.least - 2));
        let now = self.read_word(&counter.word);
        sum.add_word(&now, -1);
        self.is_not_negative(&sum, (least - last - 2, most - counter.least))
    }

    fn take(&mut self) -> Step<()> {
        let begun = self.begun();
        let drops = self.has_begun();
        self.write(begun, Literal::TRUE, Literal::TRUE);
        self.taken = Some(true);
        if drops == Literal::FALSE {
            return Ok(());
        }
        self.may_cut()?;
        self.drop_sample(drops);
        self.cut()
    }

    /// The register that records whether a sample was taken.
    pub(super) fn begun(&mut self) -> RegisterId {
        if let Some(begun) = self.begun {
            return begun;
        }
        let begun = self.word("begun", 1)[0];
        *self.begun.insert(begun)
    }

    /// Whether a sample has been taken at this point.
    pub(super) fn has_begun(&mut self) -> Literal {
        self.taken.map(Literal::constant).unwrap_or_else(|| {
            let begun = self.begun();
            self.read(begun)
        })
    }

    /// Updates `taken` for the start of a loop, and returns it.
    fn entering(&mut self, bodies: [&[Stmt]; 2]) -> Option<bool> {
        if self.taken == Some(false) && bodies.into_iter().flatten().any(takes) {
            self.taken = None;
        }
        self.taken
    }

    fn begin_if_reached(&mut self, state: StateId) {
        self.begin(state);
        if !self.is_reached(state) {
            self.cycle.path = Literal::FALSE;
        }
    }
}

/// Bits needed to count `n_values` values.
pub(super) fn bits_for(n_values: usize) -> usize {
    (usize::BITS - n_values.saturating_sub(1).leading_zeros()).max(1) as usize
}

fn takes(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Take => true,
        StmtKind::If(_, a, b) | StmtKind::While { before: a, body: b, .. } => a.iter().chain(b).any(takes),
        StmtKind::For(For { body, .. }) | StmtKind::Repeat { body, .. } | StmtKind::EachSample(body) => {
            body.iter().any(takes)
        }
        _ => false,
    }
}
