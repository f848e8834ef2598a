//! `fn predict(x, theta)` as a network: sums, products, ReLUs and thresholds of features and weights.
//!
//! Numbers are exact: nothing rounds or wraps around, and operators that round are refused. Loops are unrolled. If a
//! condition depends on the sample, both branches are evaluated and the condition selects a value. With numbers instead
//! of symbolic features and weights, the same evaluator is an interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use luge_machine::Diagnostic;

use crate::core::{ArrayId, Core, Expr, Op, Place, Stmt, StmtKind, Store, THETA, Ty};

/// The most units of a network.
const MAX_UNITS: usize = 20_000;

/// The most fraction bits of numbers that are compared, because the ramp of a threshold is 2^-64 wide.
const MAX_FRACTION: u32 = 64;

/// A term of a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Atom {
    Feature(usize),
    Weight(usize),
    Unit(usize),
}

/// A constant plus multiples of atoms.
#[derive(Clone, PartialEq, Debug, Default)]
struct Sum {
    constant: f64,
    terms: BTreeMap<Atom, f64>,
    /// An upper bound on the fraction bits of its values.
    fraction: u32,
}

impl Sum {
    fn number(constant: f64, fraction: u32) -> Self {
        Self { constant, terms: BTreeMap::new(), fraction }
    }

    fn atom(atom: Atom, fraction: u32) -> Self {
        Self { constant: 0.0, terms: BTreeMap::from([(atom, 1.0)]), fraction }
    }

    fn plus(&self, other: &Self, factor: f64) -> Self {
        let mut sum = self.clone();
        sum.constant += factor * other.constant;
        sum.fraction = sum.fraction.max(other.fraction);
        for (&atom, of) in &other.terms {
            *sum.terms.entry(atom).or_default() += factor * of;
        }
        sum.terms.retain(|_, factor| *factor != 0.0);
        sum
    }

    fn times(&self, factor: f64) -> Self {
        Self { fraction: self.fraction, ..Self::default() }.plus(self, factor)
    }

    fn as_constant(&self) -> Option<f64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// One unit.
#[derive(Clone, PartialEq, Debug)]
enum Unit {
    Product(Sum, Sum),
    Relu(Sum),
    /// 1 if the sum is above 0, else 0.
    Above(Sum),
}

impl Unit {
    fn sums(&self) -> Vec<&Sum> {
        match self {
            Self::Product(a, b) => vec![a, b],
            Self::Relu(a) | Self::Above(a) => vec![a],
        }
    }
}

/// Why `predict` is not a network, and in which line.
pub(crate) struct NotANetwork {
    pub(crate) line: u32,
    pub(crate) what: &'static str,
}

impl NotANetwork {
    pub(crate) fn diagnostic(&self, source: &str) -> Diagnostic {
        let before = self.line.saturating_sub(1) as usize;
        let start: usize = source.split_inclusive('\n').take(before).map(str::len).sum();
        let line = source[start..].lines().next().unwrap_or("");
        let indent = line.len() - line.trim_start().len();
        let message = format!("`predict` has what no network computes exactly: {}", self.what);
        Diagnostic::error(start + indent..start + line.len(), message, "in this line").with_help(
            "sums, products, min, max, relu, abs, sign, comparisons, `if` and loops with constant bounds are units",
        )
    }
}

type Done<T> = Result<T, &'static str>;

struct Evaluator {
    /// The values of slots, of all elements of arrays, and of features, with the types they were assigned as.
    memory: Vec<(Sum, Ty)>,
    /// The position in `memory` of each array, and of the features.
    arrays: Vec<usize>,
    data: usize,
    variables: Vec<i64>,
    units: Vec<Unit>,
    line: u32,
}

/// The network of a function that stores its result in the array `answer`, in the syntax of `--primary`.
pub(crate) fn network(core: &Core, answer: ArrayId) -> Result<String, NotANetwork> {
    let fraction = core.format.fraction;
    let atoms = |n: usize, atom: fn(usize) -> Atom| (0..n).map(|i| Sum::atom(atom(i), fraction)).collect();
    let n_weights = core.arrays[THETA].length;
    let (features, weights) = (atoms(core.n_features, Atom::Feature), atoms(n_weights, Atom::Weight));
    let (outputs, units) = walk(core, answer, features, weights)?;
    Ok(text(core.n_features, n_weights, &units, &outputs))
}

/// The result of the function for one sample.
pub(crate) fn answer(
    core: &Core,
    answer: ArrayId,
    x: &[f64],
    theta: &[f64],
) -> Result<Vec<f64>, NotANetwork> {
    let numbers =
        |of: &[f64]| of.iter().map(|&value| Sum::number(value, core.format.fraction)).collect::<Vec<Sum>>();
    let (outputs, _) = walk(core, answer, numbers(x), numbers(theta))?;
    Ok(outputs.iter().map(|output| output.constant).collect())
}

fn walk(
    core: &Core,
    answer: ArrayId,
    features: Vec<Sum>,
    weights: Vec<Sum>,
) -> Result<(Vec<Sum>, Vec<Unit>), NotANetwork> {
    let nothing = (Sum::default(), Ty { integer: 1, fraction: 0 });
    let mut memory = vec![nothing.clone(); core.widths.len()];
    let mut arrays = Vec::new();
    for array in &core.arrays {
        arrays.push(memory.len());
        memory.resize(memory.len() + array.length, nothing.clone());
    }
    for (at, weight) in (arrays[THETA]..).zip(weights) {
        memory[at] = (weight, core.format);
    }
    let data = memory.len();
    memory.extend(features.into_iter().map(|feature| (feature, core.format)));
    let variables = vec![0; core.n_loop_vars];
    let mut walk = Evaluator { memory, arrays, data, variables, units: Vec::new(), line: 0 };
    match walk.block(&core.body) {
        Ok(()) => {
            let outputs = &walk.memory[walk.arrays[answer]..][..core.arrays[answer].length];
            Ok((outputs.iter().map(|(sum, _)| sum.clone()).collect(), walk.units))
        }
        Err(what) => Err(NotANetwork { line: walk.line, what }),
    }
}

impl Evaluator {
    fn block(&mut self, body: &[Stmt]) -> Done<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Done<()> {
        self.line = stmt.line;
        match &stmt.kind {
            StmtKind::Assign(place, value) => {
                let sum = self.value(value)?;
                let at = self.place(place)?;
                self.memory[at] = (sum, value.ty());
                Ok(())
            }
            StmtKind::If(condition, then, otherwise) => {
                let holds = self.value(condition)?;
                match holds.as_constant() {
                    Some(holds) => self.block(if holds > 0.5 { then } else { otherwise }),
                    None => self.both(&holds, then, otherwise),
                }
            }
            StmtKind::For(stmt) => {
                let [from, to] = [&stmt.from, &stmt.to].map(|bound| bound.value(|var| self.variables[var]));
                if let Some((slot, first)) = &stmt.value {
                    let sum = self.value(first)?;
                    self.memory[*slot] = (sum, first.ty());
                }
                for value in from..to {
                    self.variables[stmt.var] = value;
                    self.block(&stmt.body)?;
                    if let Some((slot, _)) = &stmt.value {
                        self.memory[*slot].0.constant += 1.0;
                    }
                }
                Ok(())
            }
            StmtKind::Repeat { times, body, .. } => (0..*times).try_for_each(|_| self.block(body)),
            StmtKind::Print(_) => Ok(()),
            StmtKind::While { .. } => {
                Err("a loop whose rounds are not known before, or `return` before the end")
            }
            StmtKind::Break | StmtKind::Continue => Err("`break` or `continue`"),
            StmtKind::EachSample(_) | StmtKind::Take => Err("the data: `predict` sees one sample"),
            StmtKind::Write(..) | StmtKind::Shift(..) => Err("a tape"),
            StmtKind::Reject => Err("`reject` or `assert`"),
        }
    }

    /// Evaluates both branches, and then selects the value of every variable by the condition.
    fn both(&mut self, holds: &Sum, then: &[Stmt], otherwise: &[Stmt]) -> Done<()> {
        let before = self.memory.clone();
        self.block(then)?;
        let yes = std::mem::replace(&mut self.memory, before);
        self.block(otherwise)?;
        for (at, (chosen, ty)) in yes.into_iter().enumerate() {
            let other = self.memory[at].0.clone();
            self.memory[at] = (self.chosen(holds, &chosen, &other)?, ty);
        }
        Ok(())
    }

    fn chosen(&mut self, holds: &Sum, yes: &Sum, no: &Sum) -> Done<Sum> {
        if yes == no {
            return Ok(no.clone());
        }
        let difference = self.product(holds, &yes.plus(no, -1.0))?;
        Ok(no.plus(&difference, 1.0))
    }

    /// The position of a place in `memory`.
    fn place(&self, Place { store, index }: &Place) -> Done<usize> {
        if !index.computed.is_empty() {
            return Err("an index that is computed");
        }
        let at = usize::try_from(index.known.value(|var| self.variables[var])).unwrap_or(0);
        Ok(match store {
            Store::Slot(slot) => *slot,
            Store::Array(array) => self.arrays[*array] + at,
            Store::Data => self.data + at,
        })
    }

    fn unit(&mut self, unit: Unit, fraction: u32) -> Done<Sum> {
        if self.units.len() >= MAX_UNITS {
            return Err("more than 20,000 units");
        }
        self.units.push(unit);
        Ok(Sum::atom(Atom::Unit(self.units.len() - 1), fraction))
    }

    fn product(&mut self, a: &Sum, b: &Sum) -> Done<Sum> {
        let fraction = a.fraction + b.fraction;
        Ok(match (a.as_constant(), b.as_constant()) {
            (Some(number), _) => Sum { fraction, ..b.times(number) },
            (_, Some(number)) => Sum { fraction, ..a.times(number) },
            _ => self.unit(Unit::Product(a.clone(), b.clone()), fraction)?,
        })
    }

    fn relu(&mut self, a: Sum) -> Done<Sum> {
        let fraction = a.fraction;
        match a.as_constant() {
            Some(number) => Ok(Sum::number(number.max(0.0), fraction)),
            None => self.unit(Unit::Relu(a), fraction),
        }
    }

    fn above(&mut self, a: Sum) -> Done<Sum> {
        match a.as_constant() {
            Some(number) => Ok(Sum::number(f64::from(u8::from(number > 0.0)), 0)),
            None if a.fraction > MAX_FRACTION => {
                Err("a comparison of numbers with more than 64 bits after the point")
            }
            None => self.unit(Unit::Above(a), 0),
        }
    }

    fn value(&mut self, expr: &Expr) -> Done<Sum> {
        let one = Sum::number(1.0, 0);
        Ok(match expr {
            Expr::Constant { raw, ty } => Sum::number(*raw as f64 / power(ty.fraction), ty.fraction),
            Expr::Load(place, ty) => {
                let (sum, kept) = self.memory.get(self.place(place)?).ok_or("a label")?;
                let is_variable = matches!(place.store, Store::Slot(_));
                if is_variable && kept.fraction != ty.fraction && *sum != Sum::default() {
                    return Err("`%` or `random()`");
                }
                sum.clone()
            }
            Expr::Read(_) => return Err("a tape"),
            Expr::Negate(e) => self.value(e)?.times(-1.0),
            Expr::Not(e) => one.plus(&self.value(e)?, -1.0),
            Expr::Abs(e) => {
                let sum = self.value(e)?;
                let (up, down) = (self.relu(sum.clone())?, self.relu(sum.times(-1.0))?);
                up.plus(&down, 1.0)
            }
            Expr::Sign(e) => {
                let sum = self.value(e)?;
                let (up, down) = (self.above(sum.clone())?, self.above(sum.times(-1.0))?);
                up.plus(&down, -1.0)
            }
            Expr::Binary(op, a, b) => {
                let are_bits = a.ty() == Ty::BIT;
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    Op::And if are_bits => self.relu(a.plus(&b, 1.0).plus(&one, -1.0))?,
                    Op::Or if are_bits => one.plus(&self.relu(one.plus(&a, -1.0).plus(&b, -1.0))?, -1.0),
                    Op::Less => self.above(b.plus(&a, -1.0))?,
                    Op::Equal => {
                        let (more, less) = (self.above(a.plus(&b, -1.0))?, self.above(b.plus(&a, -1.0))?);
                        one.plus(&more, -1.0).plus(&less, -1.0)
                    }
                    Op::Add => a.plus(&b, 1.0),
                    Op::Sub => a.plus(&b, -1.0),
                    Op::Mul => self.product(&a, &b)?,
                    Op::Min => a.plus(&self.relu(a.plus(&b, -1.0))?, -1.0),
                    Op::Max => b.plus(&self.relu(a.plus(&b, -1.0))?, 1.0),
                    Op::Div => return Err("`/`, which rounds"),
                    Op::MulRound => return Err("`*~`, which rounds: `*` is exact here"),
                    Op::MulWide => return Err("`*|`: nothing is too large here"),
                    Op::And | Op::Or | Op::Xor => return Err("`&`, `|` or `^` of numbers"),
                }
            }
            Expr::Shl(e, by) => self.value(e)?.times(power(*by)),
            Expr::Shr(e, by) => {
                let sum = self.value(e)?;
                Sum { fraction: sum.fraction + by, ..sum.times(1.0 / power(*by)) }
            }
            Expr::Cast(e, to) if to.fraction >= e.ty().fraction => self.value(e)?,
            Expr::Cast(..) => return Err("`as` a type with fewer bits after the point, which rounds"),
            Expr::Clamp(..) => return Err("`as|`, `+|` or `-|`: nothing is too large here"),
        })
    }
}

fn power(exponent: u32) -> f64 {
    (1_u128 << exponent.min(127)) as f64
}

/// The network as text: the units that the outputs need, renumbered, and the outputs.
fn text(n_features: usize, n_weights: usize, units: &[Unit], outputs: &[Sum]) -> String {
    let mut needed = BTreeSet::new();
    let mut open: Vec<&Sum> = outputs.iter().collect();
    while let Some(sum) = open.pop() {
        for atom in sum.terms.keys() {
            if let Atom::Unit(unit) = *atom
                && needed.insert(unit)
            {
                open.extend(units[unit].sums());
            }
        }
    }
    let number: BTreeMap<usize, usize> = needed.iter().enumerate().map(|(new, &old)| (old, new)).collect();
    let sum = |sum: &Sum| {
        let mut text = sum.constant.to_string();
        for (atom, factor) in &sum.terms {
            let (letter, of) = match *atom {
                Atom::Feature(of) => ('x', of),
                Atom::Weight(of) => ('w', of),
                Atom::Unit(of) => ('u', number[&of]),
            };
            let _ = write!(text, " {factor}{letter}{of}");
        }
        text
    };
    let mut text = format!("units:{n_features},{n_weights}");
    for &unit in &needed {
        text.push(';');
        text.push_str(&match &units[unit] {
            Unit::Product(a, b) => format!("{} * {}", sum(a), sum(b)),
            Unit::Relu(a) => format!("relu {}", sum(a)),
            Unit::Above(a) => format!("above {}", sum(a)),
        });
    }
    for output in outputs {
        let _ = write!(text, ";= {}", sum(output));
    }
    text
}
