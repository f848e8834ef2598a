//! The interpreter, which defines what a program means. It computes with plain integers.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Outcome, OverflowSite, Verdict,
    core::{Core, Expr, For, Index, Op, Place, Shown, Stmt, StmtKind, Store, THETA, Ty},
};

/// The samples of a run, each its features and then its labels, in units of 2^-fraction.
pub(crate) struct Samples<'a> {
    /// The rows that `for sample in data` visits.
    pub(crate) table: &'a [Vec<i64>],
    /// Returns the next sample for `take`.
    pub(crate) next: &'a mut dyn FnMut() -> Option<Vec<i64>>,
}

/// Runs a program on samples.
pub(crate) fn run(core: &Core, samples: Samples<'_>, limit: u64) -> Outcome {
    let mut state = State {
        memory: Memory {
            slots: vec![0; core.widths.len()],
            arrays: core.arrays.iter().map(|array| vec![0; array.length]).collect(),
            tapes: vec![Tape::default(); core.tapes.len()],
            n_taken: 0,
        },
        variables: vec![0; core.n_loop_vars],
        samples,
        sample: None,
        current: Vec::new(),
        n_begun: 0,
        left: limit,
        line: 0,
        wraps: BTreeMap::new(),
        printed: Vec::new(),
    };
    let verdict = match state.block(&core.body) {
        Err(Exit::Run(verdict)) => verdict,
        _ => Verdict::Accepted,
    };
    Outcome {
        verdict,
        theta: state.memory.arrays.swap_remove(THETA),
        statements: limit - state.left,
        line: (verdict != Verdict::Accepted).then_some(state.line),
        taken: state.memory.n_taken,
        samples: state.n_begun,
        wraps: state.wraps.into_values().collect(),
        printed: state.printed,
    }
}

/// The first round of a `while` that later rounds are compared with. Short loops are not compared.
const FIRST_COMPARED: u64 = 64;

/// Everything that the further run of a loop depends on.
#[derive(Clone, PartialEq)]
struct Memory {
    slots: Vec<i64>,
    arrays: Vec<Vec<i64>>,
    tapes: Vec<Tape>,
    n_taken: usize,
}

#[derive(Clone, PartialEq, Default)]
struct Tape {
    head: i64,
    ones: BTreeSet<i64>,
}

/// Why a block ended early.
enum Exit {
    Run(Verdict),
    Break,
    Continue,
}

struct State<'a> {
    memory: Memory,
    variables: Vec<i64>,
    samples: Samples<'a>,
    /// The number of the current sample.
    sample: Option<usize>,
    /// Its features and labels.
    current: Vec<i64>,
    /// Rounds of loops over the data.
    n_begun: u64,
    /// Statements that may still be executed.
    left: u64,
    line: u32,
    wraps: BTreeMap<u32, OverflowSite>,
    printed: Vec<String>,
}

type Done<T> = Result<T, Exit>;

impl State<'_> {
    fn block(&mut self, body: &[Stmt]) -> Done<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    /// Runs the body of a loop once. Returns whether the loop continues.
    fn round(&mut self, body: &[Stmt]) -> Done<bool> {
        self.tick()?;
        match self.block(body) {
            Ok(()) | Err(Exit::Continue) => Ok(true),
            Err(Exit::Break) => Ok(false),
            Err(exit) => Err(exit),
        }
    }

    fn tick(&mut self) -> Done<()> {
        self.left = self.left.checked_sub(1).ok_or(Exit::Run(Verdict::Limit))?;
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Done<()> {
        self.line = stmt.line;
        self.tick()?;
        match &stmt.kind {
            StmtKind::Assign(place, value) => {
                let value = self.value(value)? as i64;
                self.place(place)?.into_iter().for_each(|stored| *stored = value);
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
                    if earlier.as_ref() == Some(&self.memory) {
                        return Err(Exit::Run(Verdict::Repeats));
                    }
                    if rounds >= FIRST_COMPARED && rounds.is_power_of_two() {
                        earlier = Some(self.memory.clone());
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
                self.current = (self.samples.next)().ok_or(Exit::Run(Verdict::Waiting))?;
                self.sample = Some(self.memory.n_taken);
                self.memory.n_taken += 1;
            }
            StmtKind::Break => return Err(Exit::Break),
            StmtKind::Continue => return Err(Exit::Continue),
            StmtKind::Write(tape, cond) => {
                let bit = self.holds(cond)?;
                let tape = &mut self.memory.tapes[*tape];
                if bit {
                    tape.ones.insert(tape.head);
                } else {
                    tape.ones.remove(&tape.head);
                }
            }
            StmtKind::Shift(tape, offset) => self.memory.tapes[*tape].head += offset,
            StmtKind::Print(parts) => self.print(parts)?,
            StmtKind::Reject => return Err(Exit::Run(Verdict::Rejected)),
        }
        Ok(())
    }

    fn for_loop(&mut self, stmt: &For) -> Done<()> {
        let [from, to] = [&stmt.from, &stmt.to].map(|bound| bound.value(|var| self.variables[var]));
        if let Some((slot, first)) = &stmt.value {
            self.memory.slots[*slot] = self.value(first)? as i64;
        }
        for value in from..to {
            self.variables[stmt.var] = value;
            if !self.round(&stmt.body)? {
                break;
            }
            if let Some((slot, _)) = &stmt.value {
                self.memory.slots[*slot] += 1;
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

    /// The number at a place; `None` for features and labels before the first sample.
    fn place(&mut self, place: &Place) -> Done<Option<&mut i64>> {
        if let Store::Slot(slot) = place.store {
            return Ok(Some(&mut self.memory.slots[slot]));
        }
        let at = self.index(&place.index)?;
        Ok(match place.store {
            Store::Array(array) => Some(&mut self.memory.arrays[array][at]),
            _ => self.current.get_mut(at),
        })
    }

    /// The position of an element; an index that is out of bounds ends the run.
    fn index(&mut self, index: &Index) -> Done<usize> {
        let mut at = index.known.value(|var| self.variables[var]);
        for part in &index.computed {
            let value = self.value(&part.value)? as i64;
            if value < 0 || value >= part.bound {
                return Err(Exit::Run(Verdict::Rejected));
            }
            at += value * part.stride;
        }
        Ok(usize::try_from(at).unwrap_or(0))
    }

    fn holds(&mut self, condition: &Expr) -> Done<bool> {
        Ok(self.value(condition)? != 0)
    }

    /// The number reduced to its type; an overflow is recorded with its line. Bits are 0 or 1 in any case.
    fn wrap(&mut self, ty: Ty, exact: i128) -> i128 {
        if ty == Ty::BIT {
            return exact;
        }
        let value = ty.wrap(exact).into();
        if value != exact && self.line > 0 {
            let (line, sample) = (self.line, self.sample);
            self.wraps.entry(line).or_insert(OverflowSite { line, count: 0, first_sample: sample }).count +=
                1;
        }
        value
    }

    /// The value of an expression, in a type that is wide enough for the result of every operator before it wraps.
    fn value(&mut self, expr: &Expr) -> Done<i128> {
        let exact = match expr {
            Expr::Constant { raw, .. } => return Ok((*raw).into()),
            // Before the first sample, features and labels are 0.
            Expr::Load(place, _) => return Ok(self.place(place)?.map_or(0, |stored| (*stored).into())),
            Expr::Read(tape) => {
                let Tape { head, ones } = &self.memory.tapes[*tape];
                return Ok(ones.contains(head).into());
            }
            Expr::Not(e) => return Ok(1 - self.value(e)?),
            Expr::Binary(op, a, b) => {
                let ty = expr.ty();
                let exact = match op {
                    Op::And if ty == Ty::BIT => (self.holds(a)? && self.holds(b)?).into(),
                    Op::Or if ty == Ty::BIT => (self.holds(a)? || self.holds(b)?).into(),
                    _ => binary(*op, ty, self.value(a)?, self.value(b)?),
                };
                return Ok(self.wrap(ty, exact));
            }
            Expr::Negate(e) => -self.value(e)?,
            Expr::Abs(e) => self.value(e)?.abs(),
            Expr::Sign(e) => self.value(e)?.signum() << expr.ty().fraction,
            Expr::Shl(e, k) => self.value(e)? << (*k).min(64),
            Expr::Shr(e, k) => self.value(e)? >> (*k).min(63),
            Expr::Cast(e, to) => match to.fraction.checked_sub(e.ty().fraction) {
                Some(more) => self.value(e)? << more,
                None => self.value(e)? >> (e.ty().fraction - to.fraction),
            },
            Expr::Clamp(e, to) => self.value(e)?.clamp(to.smallest().into(), to.largest().into()),
        };
        Ok(self.wrap(expr.ty(), exact))
    }
}

/// The operators as docs/sled.md defines them, before they wrap.
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
