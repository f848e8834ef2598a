//! Tokens to syntax, by recursive descent. After an error in a statement the next one is tried.

use luge_machine::Diagnostic;

use crate::{
    lex::{Kind, Span, Token, tokens},
    ratio::Ratio,
    syntax::{
        Binary, Expr, ExprKind, Function, Learner, Name, Program, Side, Stmt, StmtKind, Type, TypeKind,
    },
};

/// Expressions and blocks nest at most this deep.
const DEEPEST: usize = 64;

/// An expression has at most this many levels: long sums count, too.
const HIGHEST: usize = 100;

/// Words that cannot name anything.
const KEYWORDS: [&str; 20] = [
    "learner", "fn", "const", "type", "let", "if", "else", "while", "for", "in", "data", "return", "reject",
    "as", "true", "false", "bit", "int", "fix", "tape",
];

/// The program and everything that is wrong with its form.
pub(crate) fn parse(source: &str) -> (Program, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let tokens = tokens(source, &mut findings);
    let mut parser = Parser { source, tokens, at: 0, depth: 0, findings };
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
    findings: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn text(&self) -> &str {
        &self.source[self.peek().span.clone()]
    }

    fn span(&self) -> Span {
        self.peek().span.clone()
    }

    /// From `start` to the end of the last token taken.
    fn since(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span.end);
        start..end.max(start)
    }

    fn advance(&mut self) {
        if self.peek().kind != Kind::End {
            self.at += 1;
        }
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek().kind, Kind::Symbol(found) if found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek().kind == Kind::Name && self.text() == word
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.peek().kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text()),
        };
        let finding = Diagnostic::error(
            self.span(),
            format!("expected {expected}, found {found}"),
            format!("expected {expected}"),
        );
        self.findings.push(finding);
        Err(Reported)
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { self.fail(&format!("`{symbol}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.peek().kind != Kind::Name {
            return self.fail(what);
        }
        if KEYWORDS.contains(&self.text()) {
            let word = self.text().to_owned();
            let finding = Diagnostic::error(
                self.span(),
                format!("expected {what}, found the keyword `{word}`"),
                "a keyword",
            )
            .with_help("choose another name");
            self.findings.push(finding);
            return Err(Reported);
        }
        let name = Name { text: self.text().to_owned(), span: self.span() };
        self.advance();
        Ok(name)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            let finding =
                Diagnostic::error(self.span(), format!("nested more than {DEEPEST} deep"), "too deep here")
                    .with_help("name parts of it with `let`");
            self.findings.push(finding);
            return Err(Reported);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

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
        if self.take_word("const") {
            let name = self.name("the constant's name")?;
            self.expect("=")?;
            let value = self.expr()?;
            self.expect(";")?;
            program.constants.push((name, value));
        } else if self.take_word("type") {
            let name = self.name("the type's name")?;
            self.expect("=")?;
            let ty = self.ty()?;
            self.expect(";")?;
            program.types.push((name, ty));
        } else if self.take_word("fn") {
            let function = self.function()?;
            program.functions.push(function);
        } else if self.take_word("learner") {
            let name = self.name("the learner's name")?;
            let parameters = self.parameters()?;
            self.expect("->")?;
            let result = self.parameter()?;
            let body = self.block()?;
            program.learners.push(Learner { name, parameters, result, body });
        } else {
            return self.fail("`learner`, `fn`, `const` or `type`");
        }
        Ok(())
    }

    fn skip_to_item(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        let begins = ["const", "type", "fn", "learner"];
        while self.peek().kind != Kind::End && !begins.iter().any(|word| self.is_word(word)) {
            self.advance();
        }
    }

    fn parameters(&mut self) -> Parsed<Vec<(Name, Type)>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            parameters.push(self.parameter()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parsed<(Name, Type)> {
        let name = self.name("a name")?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    fn function(&mut self) -> Parsed<Function> {
        let name = self.name("the function's name")?;
        let parameters = self.parameters()?;
        self.expect("->")?;
        let result = self.ty()?;
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.is("}") && !self.is_word("return") && self.peek().kind != Kind::End {
            self.recovering(&mut body);
        }
        if !self.take_word("return") {
            return self.fail("`return` and the function's value");
        }
        let value = self.expr()?;
        self.expect(";")?;
        self.expect("}")?;
        Ok(Function { name, parameters, result, body, value })
    }

    fn ty(&mut self) -> Parsed<Type> {
        self.nested(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Parsed<Type> {
        let start = self.span().start;
        let kind = if self.take_word("bit") {
            TypeKind::Bit
        } else if self.take_word("tape") {
            TypeKind::Tape
        } else if self.take_word("int") {
            self.expect("<")?;
            let width = self.additive()?;
            self.expect(">")?;
            TypeKind::Int(Box::new(width))
        } else if self.take_word("fix") {
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
            self.recovering(&mut body);
        }
        self.advance();
        Ok(body)
    }

    /// Takes one statement, or reports it and goes on behind it.
    fn recovering(&mut self, body: &mut Vec<Stmt>) {
        let start = self.at;
        match self.nested(Self::stmt) {
            Ok(stmt) => body.push(stmt),
            Err(Reported) => self.skip_stmt(start),
        }
    }

    /// To behind the next `;` or block at this level, or in front of the `}` that ends the level.
    fn skip_stmt(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        let mut level = 0_usize;
        loop {
            if self.peek().kind == Kind::End {
                return;
            }
            if self.is("{") {
                level += 1;
            } else if self.is("}") {
                if level == 0 {
                    return;
                }
                level -= 1;
                if level == 0 {
                    self.advance();
                    return;
                }
            } else if self.is(";") && level == 0 {
                self.advance();
                return;
            }
            self.advance();
        }
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.span().start;
        let kind = if self.take_word("let") {
            self.let_stmt()?
        } else if self.take_word("if") {
            return self.if_stmt(start);
        } else if self.take_word("while") {
            let condition = self.expr()?;
            let span = self.since(start);
            let body = self.block()?;
            return Ok(Stmt { kind: StmtKind::While { condition, body }, span });
        } else if self.take_word("for") {
            return self.for_stmt(start);
        } else if self.take_word("reject") {
            self.expect(";")?;
            StmtKind::Reject
        } else if self.peek().kind == Kind::Name {
            self.place_stmt()?
        } else {
            return self.fail("a statement");
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    fn let_stmt(&mut self) -> Parsed<StmtKind> {
        let name = self.name("the variable's name")?;
        let ty = if self.take(":") { Some(self.ty()?) } else { None };
        let value = if self.take("=") { Some(self.expr()?) } else { None };
        self.expect(";")?;
        Ok(StmtKind::Let { name, ty, value })
    }

    fn if_stmt(&mut self, start: usize) -> Parsed<Stmt> {
        let condition = self.expr()?;
        let span = self.since(start);
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.take_word("else") {
            let start = self.span().start;
            if self.take_word("if") {
                otherwise.push(self.nested(|parser| parser.if_stmt(start))?);
            } else {
                otherwise = self.block()?;
            }
        }
        Ok(Stmt { kind: StmtKind::If { condition, then, otherwise }, span })
    }

    fn for_stmt(&mut self, start: usize) -> Parsed<Stmt> {
        let name = self.name("the loop's variable")?;
        if !self.take_word("in") {
            return self.fail("`in`");
        }
        if self.take_word("data") {
            let span = self.since(start);
            let body = self.block()?;
            return Ok(Stmt { kind: StmtKind::ForData { body }, span });
        }
        let from = self.additive()?;
        self.expect("..")?;
        let to = self.additive()?;
        let span = self.since(start);
        let body = self.block()?;
        Ok(Stmt { kind: StmtKind::ForRange { name, from, to, body }, span })
    }

    /// An assignment, or something done to a tape.
    fn place_stmt(&mut self) -> Parsed<StmtKind> {
        let start = self.span().start;
        let name = self.name("a statement")?;
        if self.take(".") {
            let kind = if self.take_word("left") {
                self.expect("(")?;
                StmtKind::Shift(name, Side::Left)
            } else if self.take_word("right") {
                self.expect("(")?;
                StmtKind::Shift(name, Side::Right)
            } else if self.take_word("write") {
                self.expect("(")?;
                StmtKind::Write(name, self.expr()?)
            } else {
                return self.fail("`write`, `left` or `right`");
            };
            self.expect(")")?;
            self.expect(";")?;
            return Ok(kind);
        }
        let place = if self.take("[") {
            let index = self.expr()?;
            self.expect("]")?;
            ExprKind::Index(name, Box::new(index))
        } else {
            ExprKind::Name(name.text)
        };
        let place = Expr { kind: place, span: self.since(start), depth: 1 };
        let ops = [
            ("=", None),
            ("+=", Some(Binary::Add)),
            ("-=", Some(Binary::Sub)),
            ("*=", Some(Binary::Mul)),
            ("/=", Some(Binary::Div)),
            ("+|=", Some(Binary::SatAdd)),
            ("-|=", Some(Binary::SatSub)),
            ("*|=", Some(Binary::SatMul)),
        ];
        let Some((_, op)) = ops.into_iter().find(|(symbol, _)| self.take(symbol)) else {
            return self.fail("`=`");
        };
        let value = self.expr()?;
        self.expect(";")?;
        Ok(StmtKind::Assign { place, op, value })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    fn additive(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(4))
    }

    /// Operators by how tightly they bind, the loosest first.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        use Binary::*;
        const LEVELS: [&[(&str, Binary)]; 6] = [
            &[("||", Or)],
            &[("&&", And)],
            &[
                ("<=", LessEqual),
                (">=", GreaterEqual),
                ("==", Equal),
                ("!=", NotEqual),
                ("<", Less),
                (">", Greater),
            ],
            &[("<<", Shl), (">>", Shr)],
            &[("+|", SatAdd), ("-|", SatSub), ("+", Add), ("-", Sub)],
            &[("*|", SatMul), ("*", Mul), ("/", Div)],
        ];
        let Some(ops) = LEVELS.get(level) else { return self.cast() };
        let start = self.span().start;
        let mut left = self.binary(level + 1)?;
        let mut n_taken = 0;
        while let Some(&(_, op)) = ops.iter().find(|(symbol, _)| self.is(symbol)) {
            if level == 2 && n_taken > 0 {
                return self.fail("`&&` between two comparisons");
            }
            n_taken += 1;
            self.advance();
            let right = self.binary(level + 1)?;
            let depth = left.depth.max(right.depth);
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = self.make(kind, start, depth)?;
        }
        Ok(left)
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let mut value = self.unary()?;
        while self.take_word("as") {
            let saturating = self.take("|");
            let to = self.ty()?;
            let depth = value.depth;
            let kind = ExprKind::Cast { value: Box::new(value), to, saturating };
            value = self.make(kind, start, depth)?;
        }
        Ok(value)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let wrap: fn(Box<Expr>) -> ExprKind = if self.take("-") {
            ExprKind::Negate
        } else if self.take("!") {
            ExprKind::Not
        } else {
            return self.atom();
        };
        let value = self.nested(Self::unary)?;
        let depth = value.depth;
        self.make(wrap(Box::new(value)), start, depth)
    }

    /// An expression one level above its parts.
    fn make(&mut self, kind: ExprKind, start: usize, below: usize) -> Parsed<Expr> {
        let span = self.since(start);
        if below >= HIGHEST {
            let finding =
                Diagnostic::error(span, format!("an expression of more than {HIGHEST} levels"), "too long")
                    .with_help("name parts of it with `let`");
            self.findings.push(finding);
            return Err(Reported);
        }
        Ok(Expr { kind, span, depth: below + 1 })
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if self.take("(") {
            let inner = self.expr()?;
            self.expect(")")?;
            return Ok(Expr { span: self.since(start), ..inner });
        }
        let kind = if self.is("[") {
            self.advance();
            ExprKind::List(self.list("]")?)
        } else if self.peek().kind == Kind::Number {
            let Some(value) = Ratio::parse(self.text()) else {
                return self.fail("a number with fewer digits");
            };
            self.advance();
            ExprKind::Number(value)
        } else if self.take_word("true") {
            ExprKind::Bool(true)
        } else if self.take_word("false") {
            ExprKind::Bool(false)
        } else {
            let name = self.name("an expression")?;
            if self.take("(") {
                ExprKind::Call(name, self.list(")")?)
            } else if self.take("[") {
                let index = self.expr()?;
                self.expect("]")?;
                ExprKind::Index(name, Box::new(index))
            } else if self.take(".") {
                if !self.take_word("read") {
                    return self.fail("`read`");
                }
                self.expect("(")?;
                self.expect(")")?;
                ExprKind::Read(name)
            } else {
                ExprKind::Name(name.text)
            }
        };
        let deepest = |list: &[Expr]| list.iter().map(|e| e.depth).max().unwrap_or(0);
        let depth = match &kind {
            ExprKind::List(list) | ExprKind::Call(_, list) => deepest(list),
            ExprKind::Index(_, index) => index.depth,
            _ => 0,
        };
        self.make(kind, start, depth)
    }

    fn list(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.is(end) {
            list.push(self.expr()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(end)?;
        Ok(list)
    }
}
