//! The interpreter: it defines what a program means, in plain integers.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Outcome, OverflowSite, Verdict,
    core::{ArrayId, Core, Expr, For, Index, Op, Place, Shown, Stmt, StmtKind, THETA, Ty},
};

/// The features and then the labels of each sample, as counts of 2^-fraction.
pub(crate) struct Samples<'a> {
    /// Those that are looped over.
    pub(crate) table: &'a [Vec<i64>],
    /// Gives those that are taken, one after the other.
    pub(crate) next: &'a mut dyn FnMut() -> Option<Vec<i64>>,
}

/// Runs a program on samples.
pub(crate) fn run(core: &Core, samples: Samples<'_>, limit: u64) -> Outcome {
    let mut state = State {
        slots: vec![0; core.widths.len()],
        arrays: core.arrays.iter().map(|array| vec![0; array.length]).collect(),
        variables: vec![0; core.n_loop_vars],
        tapes: vec![Tape::default(); core.tapes.len()],
        samples,
        sample: None,
        current: Vec::new(),
        n_taken: 0,
        n_begun: 0,
        left: limit,
        line: 0,
        wraps: BTreeMap::new(),
        printed: Vec::new(),
    };
    let verdict = match state.block(&core.body) {
        Err(End::Run(verdict)) => verdict,
        _ => Verdict::Accepted,
    };
    Outcome {
        verdict,
        theta: state.arrays[THETA].clone(),
        statements: limit - state.left,
        line: (verdict != Verdict::Accepted).then_some(state.line),
        taken: state.n_taken,
        samples: state.n_begun,
        wraps: state.wraps.into_values().collect(),
        printed: state.printed,
    }
}

/// The first round of a `while` that later ones are compared with: short loops cost nothing.
const FIRST_COMPARED: u64 = 64;

/// What a program remembers: variables, arrays, tapes, and how many samples it took.
type Memory = (Vec<i64>, Vec<Vec<i64>>, Vec<Tape>, usize);

#[derive(Clone, PartialEq, Default)]
struct Tape {
    head: i64,
    ones: BTreeSet<i64>,
}

/// Why a block was left before its end.
enum End {
    Run(Verdict),
    Break,
    Continue,
}

struct State<'a> {
    slots: Vec<i64>,
    arrays: Vec<Vec<i64>>,
    variables: Vec<i64>,
    tapes: Vec<Tape>,
    samples: Samples<'a>,
    /// The number of the sample that is read.
    sample: Option<usize>,
    /// Its features and labels.
    current: Vec<i64>,
    n_taken: usize,
    /// Rounds of loops over the data.
    n_begun: u64,
    left: u64,
    line: u32,
    wraps: BTreeMap<u32, OverflowSite>,
    printed: Vec<String>,
}

type Done<T> = Result<T, End>;

impl State<'_> {
    fn block(&mut self, body: &[Stmt]) -> Done<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    /// The body of a loop; says whether there is another round.
    fn round(&mut self, body: &[Stmt]) -> Done<bool> {
        self.tick()?;
        match self.block(body) {
            Ok(()) | Err(End::Continue) => Ok(true),
            Err(End::Break) => Ok(false),
            Err(end) => Err(end),
        }
    }

    fn tick(&mut self) -> Done<()> {
        self.left = self.left.checked_sub(1).ok_or(End::Run(Verdict::Limit))?;
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Done<()> {
        self.line = stmt.line;
        self.tick()?;
        match &stmt.kind {
            StmtKind::Assign(place, value) => {
                let value = self.value(value)?;
                *self.place(place)? = value;
            }
            StmtKind::If(cond, then, otherwise) => {
                let branch = if self.holds(cond)? { then } else { otherwise };
                self.block(branch)?;
            }
            StmtKind::While { before, condition, body } => {
                let (mut rounds, mut earlier) = (0_u64, None);
                loop {
                    self.tick()?;
                    self.block(before)?;
                    self.line = stmt.line;
                    if !self.holds(condition)? || !self.round(body)? {
                        break;
                    }
                    self.line = stmt.line;
                    rounds += 1;
                    if earlier.as_ref().is_some_and(|earlier| self.is_as(earlier)) {
                        return Err(End::Run(Verdict::Repeats));
                    }
                    if rounds >= FIRST_COMPARED && rounds.is_power_of_two() {
                        let Self { slots, arrays, tapes, n_taken, .. } = &*self;
                        earlier = Some((slots.clone(), arrays.clone(), tapes.clone(), *n_taken));
                    }
                }
            }
            StmtKind::For(body) => self.for_loop(body)?,
            StmtKind::Repeat { times, body, .. } => {
                for _ in 0..*times {
                    if !self.round(body)? {
                        break;
                    }
                }
            }
            StmtKind::EachSample(body) => {
                let (table, outside) = (self.samples.table, (self.sample, self.current.clone()));
                for (sample, values) in table.iter().enumerate() {
                    self.sample = Some(sample);
                    self.current.clone_from(values);
                    self.n_begun += 1;
                    if !self.round(body)? {
                        break;
                    }
                }
                (self.sample, self.current) = outside;
            }
            StmtKind::Take => {
                self.current = (self.samples.next)().ok_or(End::Run(Verdict::Waiting))?;
                self.sample = Some(self.n_taken);
                self.n_taken += 1;
            }
            StmtKind::Break => return Err(End::Break),
            StmtKind::Continue => return Err(End::Continue),
            StmtKind::Write(tape, cond) => {
                let bit = self.holds(cond)?;
                let tape = &mut self.tapes[*tape];
                if bit {
                    tape.ones.insert(tape.head);
                } else {
                    tape.ones.remove(&tape.head);
                }
            }
            StmtKind::Shift(tape, offset) => self.tapes[*tape].head += offset,
            StmtKind::Print(parts) => self.print(parts)?,
            StmtKind::Reject => return Err(End::Run(Verdict::Rejected)),
        }
        Ok(())
    }

    /// Whether everything is as it was after an earlier round of the same loop.
    fn is_as(&self, (slots, arrays, tapes, n_taken): &Memory) -> bool {
        self.n_taken == *n_taken && self.slots == *slots && self.arrays == *arrays && self.tapes == *tapes
    }

    fn for_loop(&mut self, stmt: &For) -> Done<()> {
        let [from, to] = [&stmt.from, &stmt.to].map(|bound| bound.value(|var| self.variables[var]));
        if let Some((slot, first)) = &stmt.value {
            self.slots[*slot] = self.value(first)?;
        }
        for value in from..to {
            self.variables[stmt.var] = value;
            if !self.round(&stmt.body)? {
                break;
            }
            if let Some((slot, _)) = &stmt.value {
                self.slots[*slot] += 1;
            }
        }
        Ok(())
    }

    fn print(&mut self, parts: &[Shown]) -> Done<()> {
        let mut line = String::new();
        for part in parts {
            match part {
                Shown::Text(text) => line += text,
                Shown::Value(bit) if bit.ty() == Ty::BIT => line += &self.holds(bit)?.to_string(),
                Shown::Value(number) => {
                    let steps = (1_u64 << number.ty().fraction.min(63)) as f64;
                    line += &(self.value(number)? as f64 / steps).to_string();
                }
            }
        }
        self.printed.push(line);
        Ok(())
    }

    fn place(&mut self, place: &Place) -> Done<&mut i64> {
        match place {
            Place::Slot(slot) => Ok(&mut self.slots[*slot]),
            Place::Element(array, index) => self.element(*array, index),
        }
    }

    fn element(&mut self, array: ArrayId, index: &Index) -> Done<&mut i64> {
        let at = self.index(index)?;
        Ok(&mut self.arrays[array][at])
    }

    /// The number of an element; an index outside of its array ends the run.
    fn index(&mut self, index: &Index) -> Done<usize> {
        let mut at = index.known.value(|var| self.variables[var]);
        for part in &index.computed {
            let value = self.value(&part.value)?;
            if value < 0 || value >= part.bound as i64 {
                return Err(End::Run(Verdict::Rejected));
            }
            at += value * part.stride as i64;
        }
        Ok(usize::try_from(at).unwrap_or(0))
    }

    fn holds(&mut self, condition: &Expr) -> Done<bool> {
        Ok(self.value(condition)? != 0)
    }

    /// The number with the same low bits; one that had more is noted down with its line.
    fn wrap(&mut self, ty: Ty, exact: i128) -> i64 {
        let value = ty.wrap(exact);
        if i128::from(value) != exact && self.line > 0 {
            let (line, sample) = (self.line, self.sample);
            self.wraps.entry(line).or_insert(OverflowSite { line, count: 0, first_sample: sample }).count +=
                1;
        }
        value
    }

    fn value(&mut self, expr: &Expr) -> Done<i64> {
        let ty = expr.ty();
        let exact = match expr {
            Expr::Constant { raw, .. } => return Ok(*raw),
            Expr::Variable { slot, .. } => return Ok(self.slots[*slot]),
            Expr::Element { array, index, .. } => return Ok(*self.element(*array, index)?),
            Expr::Data { index, .. } => {
                let at = self.index(index)?;
                // Before the first sample there is nothing to read.
                return Ok(self.current.get(at).copied().unwrap_or(0));
            }
            Expr::Read(tape) => {
                let Tape { head, ones } = &self.tapes[*tape];
                return Ok(i64::from(ones.contains(head)));
            }
            Expr::Not(e) => return Ok(1 - self.value(e)?),
            Expr::Binary(Op::And, a, b) if ty == Ty::BIT => {
                return Ok((self.holds(a)? && self.holds(b)?).into());
            }
            Expr::Binary(Op::Or, a, b) if ty == Ty::BIT => {
                return Ok((self.holds(a)? || self.holds(b)?).into());
            }
            Expr::Negate(e) => -self.exact(e)?,
            Expr::Abs(e) => self.exact(e)?.abs(),
            Expr::Sign(e) => self.exact(e)?.signum() << ty.fraction,
            Expr::Binary(op, a, b) => binary(*op, ty, self.exact(a)?, self.exact(b)?),
            Expr::Shl(e, k) => self.exact(e)? << (*k).min(64),
            Expr::Shr(e, k) => self.exact(e)? >> (*k).min(63),
            Expr::Cast(e, to) => match to.fraction.checked_sub(e.ty().fraction) {
                Some(more) => self.exact(e)? << more,
                None => self.exact(e)? >> (e.ty().fraction - to.fraction),
            },
            Expr::Clamp(e, to) => self.exact(e)?.clamp(to.smallest().into(), to.largest().into()),
        };
        Ok(if ty == Ty::BIT { exact as i64 } else { self.wrap(ty, exact) })
    }

    /// The value of an operand, with room for what an operator makes of it.
    fn exact(&mut self, expr: &Expr) -> Done<i128> {
        Ok(i128::from(self.value(expr)?))
    }
}

/// The operators of the page on semantics, before they wrap.
fn binary(op: Op, ty: Ty, a: i128, b: i128) -> i128 {
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul | Op::MulWide => (a * b) >> ty.fraction,
        Op::MulRound => (a * b + (1_i128 << ty.fraction >> 1)) >> ty.fraction,
        Op::Div if b == 0 => 0,
        // Rounds towards zero.
        Op::Div => (a << ty.fraction) / b,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Less => i128::from(a < b),
        Op::Equal => i128::from(a == b),
    }
}
