//! The recursive-descent parser. After an error it continues with the next statement.

mod cursor;
mod exprs;

use luge_machine::Diagnostic;

use crate::{
    core::Shown,
    lex::{Kind, Token, tokens},
    ratio::Ratio,
    syntax::{Binary, Expr, ExprKind, Function, Name, Program, Stmt, StmtKind, Type, TypeKind},
};

/// The deepest nesting of expressions and blocks.
const MAX_NESTING: usize = 64;

/// The greatest height of an expression tree, including long sums.
const MAX_EXPR_DEPTH: usize = 100;

/// Words that cannot be names.
const KEYWORDS: [&str; 26] = [
    "learner", "fn", "const", "type", "let", "if", "else", "while", "for", "in", "data", "return", "reject",
    "as", "true", "false", "bit", "int", "fix", "tape", "break", "continue", "unroll", "print", "assert",
    "take",
];

/// The program and all syntax errors.
pub(crate) fn parse(source: &str) -> (Program, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let tokens = tokens(source, &mut findings);
    let mut parser = Parser { source, tokens, at: 0, depth: 0, weights: None, findings };
    let program = parser.program();
    let mut findings = parser.findings;
    findings.sort_by_key(|finding| finding.span.start);
    (program, findings)
}

/// The error has been reported.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// The name of the weights, inside a learner.
    weights: Option<String>,
    findings: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn program(&mut self) -> Program {
        let mut program = Program::default();
        while self.peek().kind != Kind::End {
            let start = self.at;
            if self.item(&mut program).is_err() {
                self.skip_to_item(start);
            }
        }
        program
    }

    fn item(&mut self, program: &mut Program) -> Parsed<()> {
        if self.take("const") {
            program.constants.push(self.constant()?);
        } else if self.take("type") {
            let name = self.name("the type's name")?;
            self.expect("=")?;
            program.types.push((name, self.with_semicolon(Self::ty)?));
        } else if self.take("fn") {
            program.functions.push(self.function("the function's name", Self::ty, |_| None)?);
        } else if self.take("learner") {
            let weights = |(name, _): &(Name, Type)| Some(name.text.clone());
            program.learners.push(self.function("the learner's name", Self::parameter, weights)?);
        } else {
            return self.fail("`learner`, `fn`, `const` or `type`");
        }
        Ok(())
    }

    /// A constant, after `const`.
    fn constant(&mut self) -> Parsed<(Name, Expr)> {
        let name = self.name("the constant's name")?;
        self.expect("=")?;
        Ok((name, self.with_semicolon(Self::expr)?))
    }

    fn skip_to_item(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        let begins = ["const", "type", "fn", "learner"];
        while self.peek().kind != Kind::End && !begins.iter().any(|word| self.is(word)) {
            self.advance();
        }
    }

    fn parameters(&mut self) -> Parsed<Vec<(Name, Type)>> {
        self.expect("(")?;
        self.list(")", Self::parameter)
    }

    fn parameter(&mut self) -> Parsed<(Name, Type)> {
        let name = self.name("a name")?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    /// A function or a learner, after its keyword.
    fn function<R>(
        &mut self,
        what: &str,
        result: fn(&mut Self) -> Parsed<R>,
        weights: fn(&R) -> Option<String>,
    ) -> Parsed<Function<R>> {
        let name = self.name(what)?;
        let parameters = self.parameters()?;
        self.expect("->")?;
        let result = result(self)?;
        self.weights = weights(&result);
        let body = self.block();
        self.weights = None;
        Ok(Function { name, parameters, result, body: body? })
    }

    fn ty(&mut self) -> Parsed<Type> {
        self.nested(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Parsed<Type> {
        let start = self.span().start;
        let kind = if self.take("bit") {
            TypeKind::Bit
        } else if self.take("tape") {
            TypeKind::Tape
        } else if self.take("int") {
            let width = self.between("<", Self::additive, ">")?;
            let fraction = self.make(ExprKind::Number(Ratio::ZERO), start)?;
            TypeKind::Fix(Box::new(width), Box::new(fraction))
        } else if self.take("fix") {
            self.expect("<")?;
            let integer = self.additive()?;
            self.expect(",")?;
            let fraction = self.additive()?;
            self.expect(">")?;
            TypeKind::Fix(Box::new(integer), Box::new(fraction))
        } else if self.take("[") {
            let element = self.ty()?;
            self.expect(";")?;
            let length = self.expr()?;
            self.expect("]")?;
            TypeKind::Array(Box::new(element), Box::new(length))
        } else {
            TypeKind::Named(self.name("a type")?.text)
        };
        Ok(Type { kind, span: self.since(start) })
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.is("}") {
            if self.peek().kind == Kind::End {
                return self.fail("`}`");
            }
            let start = self.at;
            match self.nested(Self::stmt) {
                Ok(stmt) => body.push(stmt),
                Err(Reported) => self.skip_stmt(start),
            }
        }
        self.advance();
        Ok(body)
    }

    /// Skips to the end of the statement: past the next `;` or block (with its `else`) at this level, or before a closing `}`.
    fn skip_stmt(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        let mut level = 0_usize;
        while self.peek().kind != Kind::End {
            let closes = self.is("}");
            match (self.text(), level) {
                ("}", 0) => return,
                ("}", _) => level -= 1,
                ("{", _) => level += 1,
                _ => {}
            }
            let ends = level == 0 && (closes || self.is(";"));
            self.advance();
            if ends && !(closes && self.is("else")) {
                return;
            }
        }
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.span().start;
        let kind = if self.take("let") {
            self.let_stmt()?
        } else if self.take("if") {
            return self.if_stmt(start);
        } else if self.take("while") {
            let condition = self.expr()?;
            let span = self.since(start);
            let body = self.block()?;
            return Ok(Stmt { kind: StmtKind::While { condition, body }, span });
        } else if self.take("for") {
            return self.for_stmt(start, false);
        } else if self.take("unroll") {
            self.expect("for")?;
            return self.for_stmt(start, true);
        } else if self.take("const") {
            let (name, value) = self.constant()?;
            StmtKind::Const(name, value)
        } else if let Some(kind) = self.keyword_stmt() {
            self.semicolon()?;
            kind
        } else if self.take("assert") {
            StmtKind::Assert(self.with_semicolon(|parser| parser.between("(", Self::expr, ")"))?)
        } else if self.take("print") {
            self.expect("(")?;
            StmtKind::Print(self.with_semicolon(|parser| parser.list(")", Self::printed))?)
        } else if self.take("return") {
            self.return_stmt(start)?
        } else if self.peek().kind == Kind::Name {
            self.place_stmt()?
        } else {
            return self.fail("a statement");
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// A statement that consists of one keyword.
    fn keyword_stmt(&mut self) -> Option<StmtKind> {
        let words = [
            ("break", StmtKind::Break),
            ("continue", StmtKind::Continue),
            ("take", StmtKind::Take),
            ("reject", StmtKind::Reject),
        ];
        words.into_iter().find(|(word, _)| self.take(word)).map(|(_, kind)| kind)
    }

    /// After `return`: a value in a function, nothing in a learner.
    fn return_stmt(&mut self, start: usize) -> Parsed<StmtKind> {
        let nothing = self.is(";") || self.is("}");
        let value = if nothing { None } else { Some(self.expr()?) };
        if let (Some(weights), Some(_)) = (&self.weights, &value) {
            let help =
                format!("a learner answers through `{weights}`: assign to its elements, then `return;`");
            return self.refuse(self.since(start), "a learner returns no value", "only functions do", &help);
        }
        if self.weights.is_none() && nothing {
            return self.fail("the function's value");
        }
        self.semicolon()?;
        Ok(StmtKind::Return(value))
    }

    fn let_stmt(&mut self) -> Parsed<StmtKind> {
        let name = self.name("the variable's name")?;
        let ty = if self.take(":") { Some(self.ty()?) } else { None };
        let value = if self.take("=") { Some(self.expr()?) } else { None };
        self.semicolon()?;
        Ok(StmtKind::Let { name, ty, value })
    }

    fn if_stmt(&mut self, start: usize) -> Parsed<Stmt> {
        let condition = self.expr()?;
        let span = self.since(start);
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.take("else") {
            let start = self.span().start;
            if self.take("if") {
                otherwise.push(self.nested(|parser| parser.if_stmt(start))?);
            } else {
                otherwise = self.block()?;
            }
        }
        Ok(Stmt { kind: StmtKind::If { condition, then, otherwise }, span })
    }

    /// An argument of `print`.
    fn printed(&mut self) -> Parsed<Shown<Expr>> {
        if self.peek().kind != Kind::Text {
            return Ok(Shown::Value(self.expr()?));
        }
        let text = self.text().trim_matches('"').to_owned();
        self.advance();
        Ok(Shown::Text(text))
    }

    fn for_stmt(&mut self, start: usize, unroll: bool) -> Parsed<Stmt> {
        let name = self.name("the loop's variable")?;
        self.expect("in")?;
        if self.is("data") && unroll {
            let help = "leave out `unroll`: the number of samples is not known";
            return self.refuse(self.span(), "a loop over the data cannot be unrolled", "not known", help);
        }
        if self.take("data") {
            let span = self.since(start);
            let body = self.block()?;
            return Ok(Stmt { kind: StmtKind::ForData { body }, span });
        }
        let from = self.additive()?;
        self.expect("..")?;
        let to = self.additive()?;
        let span = self.since(start);
        let body = self.block()?;
        Ok(Stmt { kind: StmtKind::ForRange { name, from, to, body, unroll }, span })
    }

    /// An assignment, or an operation on a tape.
    fn place_stmt(&mut self) -> Parsed<StmtKind> {
        let start = self.span().start;
        let name = self.name("a statement")?;
        if self.take(".") {
            let moves = [("left", -1), ("right", 1)];
            let kind = if let Some((_, offset)) = moves.into_iter().find(|(word, _)| self.take(word)) {
                self.expect("(")?;
                StmtKind::Shift(name, offset)
            } else if self.take("write") {
                self.expect("(")?;
                StmtKind::Write(name, self.expr()?)
            } else if self.weights.as_ref() == Some(&name.text) {
                let message = format!("`{}` is an array, not a tape", name.text);
                let help = format!("assign to its elements: `{}[0] = …`", name.text);
                return self.refuse(name.span, message, "an array", &help);
            } else {
                return self.fail("`write`, `left` or `right`");
            };
            self.expect(")")?;
            self.semicolon()?;
            return Ok(kind);
        }
        let name = self.make(ExprKind::Name(name.text), start)?;
        let place = self.indices(name, start)?;
        let arithmetic = Binary::LEVELS.into_iter().flatten().filter(|(_, op)| op.is_arithmetic());
        let op = arithmetic.map(|&(_, op)| op).find(|op| self.take(&format!("{}=", op.text())));
        if op.is_none() && !self.take("=") {
            return self.fail("`=`");
        }
        Ok(StmtKind::Assign { place, op, value: self.with_semicolon(Self::expr)? })
    }
}
