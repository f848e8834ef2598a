//! Expressions, from the operators of lowest precedence to the atoms.

use super::{MAX_EXPR_DEPTH, Parsed, Parser};
use crate::{
    lex::Kind,
    ratio,
    syntax::{Binary, Expr, ExprKind, Name},
};

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    pub(super) fn additive(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(Binary::SUMS))
    }

    /// Binary operators from this precedence level on.
    pub(super) fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let Some(ops) = Binary::LEVELS.get(level) else { return self.cast() };
        let start = self.span().start;
        let mut left = self.binary(level + 1)?;
        let mut n_taken = 0;
        while let Some(&(_, op)) = ops.iter().find(|(symbol, _)| self.is(symbol)) {
            if level == Binary::COMPARISONS && n_taken > 0 {
                return self.fail("`&&` between two comparisons");
            }
            n_taken += 1;
            self.advance();
            let right = self.binary(level + 1)?;
            left = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), start)?;
        }
        Ok(left)
    }

    pub(super) fn cast(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let mut value = self.unary()?;
        while self.take("as") {
            let saturating = self.take("|");
            let to = self.ty()?;
            value = self.make(ExprKind::Cast { value: Box::new(value), to, saturating }, start)?;
        }
        Ok(value)
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let wrap: fn(Box<Expr>) -> ExprKind = if self.take("-") {
            ExprKind::Negate
        } else if self.take("!") {
            ExprKind::Not
        } else {
            return self.atom();
        };
        let value = self.nested(Self::unary)?;
        self.make(wrap(Box::new(value)), start)
    }

    /// Makes an expression, unless its tree would be too high.
    pub(super) fn make(&mut self, kind: ExprKind, start: usize) -> Parsed<Expr> {
        let span = self.since(start);
        let below = kind.parts().into_iter().map(|part| part.depth).max().unwrap_or(0);
        if below >= MAX_EXPR_DEPTH {
            let message = format!("an expression of more than {MAX_EXPR_DEPTH} levels");
            return self.refuse(span, message, "too long", "name parts of it with `let`");
        }
        Ok(Expr { kind, span, depth: below + 1 })
    }

    pub(super) fn atom(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if self.is("(") {
            let inner = self.between("(", Self::expr, ")")?;
            return Ok(Expr { span: self.since(start), ..inner });
        }
        if self.take("if") {
            return self.choice(start);
        }
        let kind = if self.take("[") {
            ExprKind::List(self.list("]", Self::expr)?)
        } else if self.peek().kind == Kind::Number {
            let Some(value) = ratio::parse(self.text()) else {
                let n_digits = self.text().bytes().filter(u8::is_ascii_digit).count();
                let message = format!("a literal of {n_digits} digits");
                return self.refuse(self.span(), message, "too long", "literals have at most 38 digits");
            };
            self.advance();
            ExprKind::Number(value)
        } else if self.take("true") {
            ExprKind::Bool(true)
        } else if self.take("false") {
            ExprKind::Bool(false)
        } else {
            self.foreign_expression()?;
            let name = self.name("an expression")?;
            if self.take("(") {
                ExprKind::Call(name, self.list(")", Self::expr)?)
            } else if self.is(".") {
                self.method(name)?
            } else {
                ExprKind::Name(name.text)
            }
        };
        let atom = self.make(kind, start)?;
        self.indices(atom, start)
    }

    /// Indices after an array: `a[i]`, `a[i][j]`.
    pub(super) fn indices(&mut self, mut array: Expr, start: usize) -> Parsed<Expr> {
        use ExprKind::{Call, Index, Name, Slice};
        while matches!(array.kind, Name(_) | Index(..) | Slice(..) | Call(..)) && self.take("[") {
            let index = self.expr()?;
            let end = if self.take("..") { Some(self.expr()?) } else { None };
            self.expect("]")?;
            let (of, index) = (Box::new(array), Box::new(index));
            let kind = match end {
                Some(end) => Slice(of, index, Box::new(end)),
                None => Index(of, index),
            };
            array = self.make(kind, start)?;
        }
        Ok(array)
    }

    /// `if c { a } else { b }` as a value, after `if`.
    fn choice(&mut self, start: usize) -> Parsed<Expr> {
        let condition = self.expr()?;
        let yes = self.braced()?;
        if !self.take("else") {
            return self.fail("`else`: as a value, `if` has two branches");
        }
        let other = self.span().start;
        let no = if self.take("if") { self.nested(|parser| parser.choice(other))? } else { self.braced()? };
        self.make(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)), start)
    }

    fn braced(&mut self) -> Parsed<Expr> {
        self.between("{", Self::expr, "}")
    }

    /// `t.read()`; arrays have no methods.
    fn method(&mut self, name: Name) -> Parsed<ExprKind> {
        self.advance();
        if ["len", "length", "size", "shape"].iter().any(|word| self.is(word)) {
            let message = format!("`{}` has no `{}`", name.text, self.text());
            let help = "lengths have names: those of the data are in the learner's signature, such as M, others can be a `const`";
            return self.refuse(self.span(), message, "not part of Sled", help);
        }
        self.expect("read")?;
        self.expect("(")?;
        self.expect(")")?;
        Ok(ExprKind::Read(name))
    }

    /// Reports expressions that only other languages have.
    fn foreign_expression(&mut self) -> Parsed<()> {
        if self.is("match") {
            let help = "choose with `if c { a } else if d { b } else { e }`";
            return self.refuse(self.span(), "`match` is not part of Sled", "no expression", help);
        }
        if self.peek().kind == Kind::Text {
            let help = "strings are allowed only in `print(\"…\", a)`";
            return self.refuse(self.span(), "a text", "not a value", help);
        }
        Ok(())
    }
}
