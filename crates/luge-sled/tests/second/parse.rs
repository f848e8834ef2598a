//! The parser of the second interpreter.

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    /// A literal: a numerator and a denominator.
    Number(i128, i128),
    Bool(bool),
    Name(String),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
    Unary(char, Box<Expr>),
    Binary(String, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    Read(String),
    Cast(Box<Expr>, Type, bool),
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Bit,
    Tape,
    Fix(Box<Expr>, Box<Expr>),
    Array(Box<Type>, Box<Expr>),
    Named(String),
}

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Let(String, Option<Type>, Option<Expr>),
    Const(String, Expr),
    Assign(Expr, Option<String>, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    For(String, Expr, Expr, Vec<Stmt>),
    Samples(Vec<Stmt>),
    Write(String, Expr),
    Move(String, i64),
    Assert(Expr),
    Print(Vec<Expr>),
    Take,
    Break,
    Continue,
    Return(Option<Expr>),
    Reject,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<(String, Type)>,
    pub(crate) result: Type,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) constants: Vec<(String, Expr)>,
    pub(crate) types: Vec<(String, Type)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) features: String,
    pub(crate) labels: (String, bool),
    pub(crate) theta: Option<(String, Type)>,
    pub(crate) body: Vec<Stmt>,
}

fn tokens(source: &str) -> Vec<String> {
    let mut rest = source;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let Some(first) = rest.chars().next() else { return tokens };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if first.is_ascii_digit() {
            let whole = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let after = &rest[whole..];
            let fraction = after
                .strip_prefix('.')
                .map_or(0, |after| after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
            if fraction > 0 { whole + 1 + fraction } else { whole }
        } else if rest.starts_with("as|") {
            3
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').expect("a closing quote") + 2
        } else {
            let long = [
                "+|=", "-|=", "*|=", "*~=", "<<=", ">>=", "*~", "->", "..", "+|", "-|", "*|", "+=", "-=",
                "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
            ];
            long.iter().find(|symbol| rest.starts_with(**symbol)).map_or(1, |symbol| symbol.len())
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
}

/// Binary operators, lowest precedence first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["<", "<=", ">", ">=", "==", "!="],
    &["<<", ">>"],
    &["+", "-", "+|", "-|"],
    &["*", "/", "%", "*|", "*~"],
];

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

/// Parses a program that is known to be correct.
pub(crate) fn program(source: &str) -> Program {
    let mut reader = Reader { tokens: tokens(source), at: 0 };
    let mut program = Program::default();
    while reader.at < reader.tokens.len() {
        match reader.next().as_str() {
            "const" => program.constants.push(reader.constant()),
            "type" => {
                let name = reader.next();
                reader.expect("=");
                program.types.push((name, reader.ty()));
                reader.expect(";");
            }
            "fn" => program.functions.push(reader.function()),
            "learner" => {
                reader.next();
                let parameters = reader.parameters();
                program.features = parameters[0].0.clone();
                program.labels = (parameters[1].0.clone(), matches!(parameters[1].1, Type::Array(..)));
                reader.expect("->");
                let name = reader.next();
                reader.expect(":");
                program.theta = Some((name, reader.ty()));
                program.body = reader.block();
            }
            other => panic!("an item begins with {other}"),
        }
    }
    program
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "expected {token}, found {}", self.peek());
    }

    fn constant(&mut self) -> (String, Expr) {
        let name = self.next();
        self.expect("=");
        let value = self.expr(0);
        self.expect(";");
        (name, value)
    }

    fn parameters(&mut self) -> Vec<(String, Type)> {
        self.expect("(");
        let mut parameters = Vec::new();
        while !self.take(")") {
            let name = self.next();
            self.expect(":");
            parameters.push((name, self.ty()));
            self.take(",");
        }
        parameters
    }

    fn function(&mut self) -> Function {
        let name = self.next();
        let parameters = self.parameters();
        self.expect("->");
        let result = self.ty();
        Function { name, parameters, result, body: self.block() }
    }

    /// Sizes are parsed as sums, so that a `>` ends them.
    fn size(&mut self) -> Box<Expr> {
        Box::new(self.expr(7))
    }

    fn ty(&mut self) -> Type {
        match self.next().as_str() {
            "bit" => Type::Bit,
            "tape" => Type::Tape,
            "int" => {
                self.expect("<");
                let width = self.size();
                self.expect(">");
                Type::Fix(width, Box::new(Expr::Number(0, 1)))
            }
            "fix" => {
                self.expect("<");
                let integer = self.size();
                self.expect(",");
                let fraction = self.size();
                self.expect(">");
                Type::Fix(integer, fraction)
            }
            "[" => {
                let element = self.ty();
                self.expect(";");
                let length = self.expr(0);
                self.expect("]");
                Type::Array(Box::new(element), Box::new(length))
            }
            name => Type::Named(name.to_owned()),
        }
    }

    fn block(&mut self) -> Vec<Stmt> {
        self.expect("{");
        let mut body = Vec::new();
        while !self.take("}") {
            body.push(self.stmt());
        }
        body
    }

    fn stmt(&mut self) -> Stmt {
        let start = self.at;
        let word = self.next();
        let stmt = match word.as_str() {
            "if" => return self.branch(),
            "while" => {
                let condition = self.expr(0);
                return Stmt::While(condition, self.block());
            }
            "unroll" | "for" => {
                if word == "unroll" {
                    self.expect("for");
                }
                let name = self.next();
                self.expect("in");
                if self.take("data") {
                    return Stmt::Samples(self.block());
                }
                let from = self.expr(0);
                self.expect("..");
                let to = self.expr(0);
                return Stmt::For(name, from, to, self.block());
            }
            "const" => {
                let (name, value) = self.constant();
                return Stmt::Const(name, value);
            }
            "let" => {
                let name = self.next();
                let ty = self.take(":").then(|| self.ty());
                let value = self.take("=").then(|| self.expr(0));
                Stmt::Let(name, ty, value)
            }
            "take" => Stmt::Take,
            "break" => Stmt::Break,
            "continue" => Stmt::Continue,
            "reject" => Stmt::Reject,
            "return" => Stmt::Return((self.peek() != ";").then(|| self.expr(0))),
            "assert" => Stmt::Assert(self.arguments().remove(0)),
            "print" => Stmt::Print(self.arguments()),
            _ if self.peek() == "." => {
                self.next();
                let (what, mut arguments) = (self.next(), self.arguments());
                match what.as_str() {
                    "write" => Stmt::Write(word, arguments.remove(0)),
                    "left" => Stmt::Move(word, -1),
                    _ => Stmt::Move(word, 1),
                }
            }
            _ => {
                self.at = start;
                let place = self.expr(9);
                let op = self.next();
                let value = self.expr(0);
                Stmt::Assign(
                    place,
                    op.strip_suffix('=').filter(|op| !op.is_empty()).map(str::to_owned),
                    value,
                )
            }
        };
        self.expect(";");
        stmt
    }

    fn branch(&mut self) -> Stmt {
        let condition = self.expr(0);
        let then = self.block();
        let otherwise = match (self.take("else"), self.peek()) {
            (true, "if") => {
                self.next();
                vec![self.branch()]
            }
            (true, _) => self.block(),
            _ => Vec::new(),
        };
        Stmt::If(condition, then, otherwise)
    }

    fn arguments(&mut self) -> Vec<Expr> {
        self.expect("(");
        self.list(")")
    }

    fn list(&mut self, end: &str) -> Vec<Expr> {
        let mut list = Vec::new();
        while !self.take(end) {
            if self.peek().starts_with('"') {
                self.next();
            } else {
                list.push(self.expr(0));
            }
            self.take(",");
        }
        list
    }

    fn expr(&mut self, level: usize) -> Expr {
        if level == LEVELS.len() {
            return self.cast();
        }
        let mut left = self.expr(level + 1);
        while LEVELS[level].contains(&self.peek()) {
            let op = self.next();
            left = Expr::Binary(op, Box::new(left), Box::new(self.expr(level + 1)));
        }
        left
    }

    fn cast(&mut self) -> Expr {
        let mut value = self.unary();
        while matches!(self.peek(), "as" | "as|") {
            let saturating = self.next() == "as|";
            value = Expr::Cast(Box::new(value), self.ty(), saturating);
        }
        value
    }

    fn unary(&mut self) -> Expr {
        if matches!(self.peek(), "-" | "!") {
            let sign = if self.next() == "-" { '-' } else { '!' };
            return Expr::Unary(sign, Box::new(self.unary()));
        }
        let mut value = self.primary();
        while self.take("[") {
            let (array, index) = (Box::new(value), Box::new(self.expr(0)));
            value = match self.take("..") {
                true => Expr::Slice(array, index, Box::new(self.expr(0))),
                false => Expr::Index(array, index),
            };
            self.expect("]");
        }
        value
    }

    fn braced(&mut self) -> Expr {
        self.expect("{");
        let value = self.expr(0);
        self.expect("}");
        value
    }

    fn primary(&mut self) -> Expr {
        let token = self.next();
        match token.as_str() {
            "(" => {
                let inner = self.expr(0);
                self.expect(")");
                inner
            }
            "[" => Expr::List(self.list("]")),
            "if" => {
                let condition = Box::new(self.expr(0));
                let yes = self.braced();
                self.expect("else");
                let no = if self.peek() == "if" { self.primary() } else { self.braced() };
                Expr::If(condition, Box::new(yes), Box::new(no))
            }
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
                let digits = format!("{whole}{fraction}").replace('_', "");
                let scale = 10_i128.pow(u32::try_from(fraction.len()).expect("few digits"));
                Expr::Number(digits.parse().expect("digits"), scale)
            }
            _ if self.peek() == "(" => Expr::Call(token, self.arguments()),
            _ if self.peek() == "." && self.tokens[self.at + 1] == "read" => {
                self.at += 2;
                self.arguments();
                Expr::Read(token)
            }
            _ => Expr::Name(token),
        }
    }
}
