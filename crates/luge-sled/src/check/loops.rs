//! Loops over integers, `break` and `continue`.

use std::collections::BTreeMap;

use super::{
    Affine, Binding, Checker, Expr, For, LoopVar, MAX_STATEMENTS, Op, Place, Span, Stmt, StmtKind, Store, Ty,
    Value, Variable,
};
use crate::ratio::{self, Ratio};
use crate::syntax::{self, Name};

/// The most rounds of a loop whose variable is used.
const MAX_ROUNDS: i64 = 1 << 16;

/// The most rounds that are counted on a tape; a loop with more rounds counts with a number.
const MAX_COUNTED: i64 = 1 << 12;

impl<'p> Checker<'p> {
    pub(super) fn for_range(
        &mut self,
        name: &'p Name,
        bounds: [&'p syntax::Expr; 2],
        body: &'p [syntax::Stmt],
        unroll: bool,
        span: &Span,
    ) {
        let values = bounds.map(|bound| self.expr(bound));
        let is_number = |value: &Value| matches!(value, Value::Number(_)) && !value.is_bit();
        if values.iter().flatten().any(is_number) && !unroll {
            return self.counting(name, values, bounds.map(|bound| &bound.span), body, span);
        }
        let [from, to] = values;
        let from = from.and_then(|from| self.bound(from, &bounds[0].span));
        let to = to.and_then(|to| self.bound(to, &bounds[1].span));
        let (Some(from), Some(to)) = (from, to) else { return };
        if unroll {
            return self.unroll(name, [&from, &to], body, span);
        }
        let (least, most) = self.interval(&to.minus(&from));
        let constant = from.is_constant() && to.is_constant();
        if least < 0 && !constant {
            let message = format!("the end of the loop can be {} below its start", -least);
            let help = "let it begin at or below its end for every value of the outer loops";
            return self.error(span, message, "the end must not be below the start").remedy(help);
        }
        let most = most.max(0);
        if most == 0 {
            // The body is not checked: a loop may have no rounds for some sizes.
            return;
        }
        if most > MAX_COUNTED && constant && !super::statements::mentions(body, &name.text) {
            return self.repeat(most, body, span);
        }
        if most > MAX_ROUNDS {
            let help = "count with a variable of your own in a `while`";
            return self.error(span, format!("{most} rounds are too many"), "at most 65536").remedy(help);
        }
        let lowest = self.interval(&from).0;
        let var = self.new_variable(lowest, (self.interval(&to).1 - 1).max(lowest));
        let body = self.with_name(name, Value::Index(Affine::variable(var)), |checker| checker.round(body));
        self.emit_for(var, [from, to], body, span);
    }

    fn new_variable(&mut self, lowest: i64, highest: i64) -> LoopVar {
        self.made.variables.push(Variable { lowest, highest, value: None });
        self.made.variables.len() - 1
    }

    /// Checks a loop body with the loop variable bound to a value.
    fn with_name(
        &mut self,
        name: &Name,
        value: Value,
        body: impl FnOnce(&mut Self) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        self.here.scopes.push(BTreeMap::from([(name.text.clone(), Binding::Value(Some(value)))]));
        let body = body(self);
        self.here.scopes.pop();
        body
    }

    /// A loop with a bound that is computed at run time. Its variable has the type of the bounds.
    fn counting(
        &mut self,
        name: &'p Name,
        [from, to]: [Option<Value>; 2],
        spans: [&Span; 2],
        body: &'p [syntax::Stmt],
        span: &Span,
    ) {
        let pair = from.zip(to).and_then(|(from, to)| self.pair(from, to, spans));
        let Some((from, to)) = pair else { return };
        let ty = from.ty();
        if ty.fraction > 0 {
            let help = format!("convert it: `as int<{}>`", ty.integer.max(2));
            let message = format!("a bound of a loop is an integer, this is {ty}");
            return self.error(spans[1], message, "not an integer").remedy(help);
        }
        self.made.held.push(Vec::new());
        let [next, end, current] = [(); 3].map(|()| self.take_slot(ty.width()));
        let number = |slot| Expr::variable(slot, ty);
        self.emit(span, StmtKind::Assign(Place::slot(next), from));
        self.emit(span, StmtKind::Assign(Place::slot(end), to));
        let body = self.with_name(name, Value::Number(number(current)), |checker| checker.round(body));
        self.release();
        let line = self.line(span);
        let more = Expr::binary(Op::Add, number(next), Expr::Constant { raw: 1, ty });
        let count = [(current, number(next)), (next, more)];
        // The loop counts first, so that `continue` cannot skip it. There is a next number, because this one is below the end.
        let count =
            count.map(|(slot, value)| Stmt { line, kind: StmtKind::Assign(Place::slot(slot), value) });
        let body = count.into_iter().chain(body).collect();
        let condition = Expr::binary(Op::Less, number(next), number(end));
        self.emit(span, StmtKind::While { before: Vec::new(), condition, body });
    }

    /// The body of a loop, in which `break` and `continue` are allowed.
    pub(super) fn round(&mut self, body: &'p [syntax::Stmt]) -> Vec<Stmt> {
        let outside = (self.here.in_loop, self.here.unrolled);
        (self.here.in_loop, self.here.unrolled) = (true, false);
        let body = self.inner(body);
        (self.here.in_loop, self.here.unrolled) = outside;
        body
    }

    fn emit_for(&mut self, var: LoopVar, [from, to]: [Affine; 2], body: Vec<Stmt>, span: &Span) {
        let most = self.interval(&to.minus(&from)).1.max(0);
        let value = self.made.variables[var].value.map(|slot| {
            let ty = self.variable_type(var);
            let first = self.number_of_index(&from, ty, span);
            (slot, first.unwrap_or(Expr::Constant { raw: 0, ty }))
        });
        if let Some((slot, _)) = value {
            self.hold(Store::Slot(slot));
        }
        if most > 0 {
            let most = u64::try_from(most).unwrap_or(0);
            self.emit(span, StmtKind::For(For { var, from, to, most, value, body }));
        }
    }

    /// Emits a loop over the elements of a flat array.
    pub(super) fn each(
        &mut self,
        length: usize,
        span: &Span,
        body: impl FnOnce(LoopVar) -> Option<StmtKind>,
    ) {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let var = self.new_variable(0, length - 1);
        let line = self.line(span);
        let body = body(var).into_iter().map(|kind| Stmt { line, kind }).collect();
        self.emit_for(var, [Affine::default(), Affine::constant(length)], body, span);
    }

    /// A bound of a loop: a constant, or an integer that depends on outer loop variables.
    fn bound(&mut self, value: Value, span: &Span) -> Option<Affine> {
        match value {
            Value::Index(affine) => Some(affine),
            Value::Constant(value) => {
                let integer = self.as_integer(value, span)?;
                if integer.unsigned_abs() > 1 << 40 {
                    let message = format!("a loop with the bound {integer} has too many rounds");
                    let help = "count with a variable of your own in a `while`";
                    return self.refuse(span, message, "at most 2^31", help);
                }
                i64::try_from(integer).ok().map(Affine::constant)
            }
            _ => {
                let help = "literals, constants, sizes and variables of `unroll for i in a..b` are known; else leave out `unroll`";
                self.refuse(span, "not known before the program runs", "expected a constant", help)
            }
        }
    }

    fn repeat(&mut self, times: i64, body: &'p [syntax::Stmt], span: &Span) {
        if times > 1 << 31 {
            self.error(span, format!("{times} rounds are too many"), "at most 2^31");
            return;
        }
        self.made.held.push(Vec::new());
        let counter = self.take_slot(self.counter_width(times));
        let body = self.round(body);
        self.release();
        self.emit(span, StmtKind::Repeat { times, counter, body });
    }

    fn unroll(&mut self, name: &Name, [from, to]: [&Affine; 2], body: &'p [syntax::Stmt], span: &Span) {
        if !from.is_constant() || !to.is_constant() {
            return self.only_when_run(span).unwrap_or(());
        }
        for value in from.constant..to.constant {
            if self.made.too_large {
                return;
            }
            // An empty round takes time, too.
            self.made.n_statements += 1;
            let n_findings = self.findings.len();
            let constant = Value::Constant(Ratio::from_integer(i128::from(value)));
            let outside = std::mem::replace(&mut self.here.unrolled, true);
            let inner = self.with_name(name, constant, |checker| checker.inner(body));
            self.here.unrolled = outside;
            self.emit_if(span, Expr::bit(true), inner, Vec::new());
            if self.made.n_statements > MAX_STATEMENTS {
                return self.emit(span, StmtKind::Reject);
            }
            if self.findings.len() > n_findings {
                // The other rounds would report the same errors.
                return;
            }
        }
    }

    /// `break` or `continue`.
    pub(super) fn leave(&mut self, word: &str, kind: StmtKind, span: &Span) {
        if self.here.unrolled {
            self.error(span, format!("`{word}` in a loop that is unrolled"), "its rounds are written out")
                .remedy("leave out `unroll`");
        } else if self.here.in_loop {
            self.emit(span, kind);
        } else {
            let help = "put it into the loop, or end the whole run with `reject`";
            self.error(span, format!("`{word}` outside of a loop"), "no loop around it").remedy(help);
        }
    }

    /// Bits for counting down from `times - 1`: the width of the data's numbers if it is enough, so that they share a ruler.
    fn counter_width(&self, times: i64) -> u32 {
        let needed = (i64::BITS - (times - 1).leading_zeros()).max(1);
        let width = self.sizes.width();
        if (2..=width).contains(&needed) { width } else { needed }
    }

    /// The next random number, at least 0 and below 1.
    pub(super) fn random(&mut self, span: &Span) -> Value {
        let state = self.made.random.unwrap_or_else(|| self.new_slot(32));
        self.made.random = Some(state);
        let ty = Ty { integer: 32, fraction: 0 };
        let constant = |raw| Expr::Constant { raw, ty };
        let product = Expr::binary(Op::Mul, Expr::variable(state, ty), constant(1_664_525));
        let next = Expr::binary(Op::Add, product, constant(1_013_904_223));
        self.emit_wrapping(span, StmtKind::Assign(Place::slot(state), next));
        // The same bits as a fraction from -1 to below 1, divided by 2, plus 1/2.
        let fraction = Ty { integer: 1, fraction: 31 };
        let halved = Expr::Shr(Box::new(Expr::variable(state, fraction)), 1);
        let shifted = Expr::binary(Op::Add, halved, Expr::Constant { raw: 1 << 30, ty: fraction });
        let short = Expr::Cast(Box::new(shifted), Ty { integer: 1, fraction: 15 });
        Value::Number(self.stored_number(short, span))
    }

    /// Emits a statement whose numbers may wrap: it has no line, so its overflow is not reported.
    fn emit_wrapping(&mut self, span: &Span, kind: StmtKind) {
        self.emit(span, kind);
        if let Some(stmt) = self.out.last_mut().and_then(|out| out.last_mut()) {
            stmt.line = 0;
        }
    }

    /// Seeds the random generator at the start of the program.
    pub(super) fn seed_random(&mut self, body: &mut Vec<Stmt>) {
        let Some(slot) = self.made.random else { return };
        let ty = Ty { integer: 32, fraction: 0 };
        let seed = match self.find("SEED") {
            Some(Binding::Value(Some(Value::Constant(seed)))) => ratio::to_integer(*seed).unwrap_or(1),
            _ => 1,
        };
        let value = Expr::Constant { raw: ty.wrap(seed), ty };
        body.insert(0, Stmt { line: 0, kind: StmtKind::Assign(Place::slot(slot), value) });
    }
}
