//! The syntax tree.

use crate::{
    core::{Op, Shown},
    lex::Span,
    ratio::Ratio,
};

#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// Everything in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) constants: Vec<(Name, Expr)>,
    pub(crate) types: Vec<(Name, Type)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) learners: Vec<Learner>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function<R = Type> {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<(Name, Type)>,
    pub(crate) result: R,
    pub(crate) body: Vec<Stmt>,
}

/// A function of features and labels, whose result are weights with a name.
pub(crate) type Learner = Function<(Name, Type)>;

#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Bit,
    Tape,
    /// Bits before and after the point; `int<N>` has 0 after it.
    Fix(Box<Expr>, Box<Expr>),
    Array(Box<Type>, Box<Expr>),
    Named(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// Height of the expression tree.
    pub(crate) depth: usize,
}

impl Type {
    /// The expressions in its sizes.
    fn sizes(&self) -> Vec<&Expr> {
        match &self.kind {
            TypeKind::Bit | TypeKind::Tape | TypeKind::Named(_) => Vec::new(),
            TypeKind::Fix(integer, fraction) => vec![integer, fraction],
            TypeKind::Array(element, length) => [element.sizes(), vec![length]].concat(),
        }
    }
}

impl Expr {
    /// Whether the predicate holds for this expression or a part of it.
    pub(crate) fn any(&self, predicate: &dyn Fn(&ExprKind) -> bool) -> bool {
        predicate(&self.kind) || self.kind.parts().into_iter().any(|part| part.any(predicate))
    }
}

impl ExprKind {
    /// Its direct subexpressions, including those in types.
    pub(crate) fn parts(&self) -> Vec<&Expr> {
        match self {
            Self::Number(_) | Self::Bool(_) | Self::Name(_) | Self::Read(_) => Vec::new(),
            Self::Negate(e) | Self::Not(e) => vec![e],
            Self::Index(a, b) | Self::Binary(_, a, b) => vec![a, b],
            Self::Slice(a, b, c) | Self::If(a, b, c) => vec![a, b, c],
            Self::List(list) | Self::Call(_, list) => list.iter().collect(),
            Self::Cast { value, to, .. } => [vec![&**value], to.sizes()].concat(),
        }
    }

    /// Whether it is a variable or a tape with this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        matches!(self, Self::Name(text) | Self::Read(Name { text, .. }) if text == name)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A literal.
    Number(Ratio),
    /// `true` or `false`.
    Bool(bool),
    /// A name, except that of a tape.
    Name(String),
    /// An array and an index.
    Index(Box<Expr>, Box<Expr>),
    /// The elements of an array from one index up to, but not including, another.
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[a, b, c]`.
    List(Vec<Expr>),
    /// `-a`.
    Negate(Box<Expr>),
    /// `!a`.
    Not(Box<Expr>),
    /// A binary operator and its operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A condition, the value if it holds, and the value if not.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function and its arguments.
    Call(Name, Vec<Expr>),
    /// `t.read()` for a tape `t`.
    Read(Name),
    /// `value as to`, or `value as| to` if it saturates.
    Cast { value: Box<Expr>, to: Type, saturating: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    /// An operator of two numbers, or of two bits.
    Plain(Op),
    /// A sum, a difference or a product, clamped to the type of its operands.
    Saturating(Op),
    Rem,
    Shl,
    Shr,
    /// `Less` or `Equal`; it can swap its operands, and negate its result.
    Compare {
        op: Op,
        swaps: bool,
        negates: bool,
    },
    /// `And` or `Or`: the second operand is evaluated only if the first does not decide.
    Lazy(Op),
}

impl Binary {
    /// The operators by precedence, lowest first.
    pub(crate) const LEVELS: [&[(&str, Self)]; 9] = [
        &[("||", Self::Lazy(Op::Or))],
        &[("&&", Self::Lazy(Op::And))],
        &[("|", Self::Plain(Op::Or))],
        &[("^", Self::Plain(Op::Xor))],
        &[("&", Self::Plain(Op::And))],
        &[
            ("<=", Self::Compare { op: Op::Less, swaps: true, negates: true }),
            (">=", Self::Compare { op: Op::Less, swaps: false, negates: true }),
            ("==", Self::Compare { op: Op::Equal, swaps: false, negates: false }),
            ("!=", Self::Compare { op: Op::Equal, swaps: false, negates: true }),
            ("<", Self::Compare { op: Op::Less, swaps: false, negates: false }),
            (">", Self::Compare { op: Op::Less, swaps: true, negates: false }),
        ],
        &[("<<", Self::Shl), (">>", Self::Shr)],
        &[
            ("+|", Self::Saturating(Op::Add)),
            ("-|", Self::Saturating(Op::Sub)),
            ("+", Self::Plain(Op::Add)),
            ("-", Self::Plain(Op::Sub)),
        ],
        &[
            ("*|", Self::Saturating(Op::MulWide)),
            ("*~", Self::Plain(Op::MulRound)),
            ("*", Self::Plain(Op::Mul)),
            ("/", Self::Plain(Op::Div)),
            ("%", Self::Rem),
        ],
    ];

    /// The level of comparisons, which cannot be chained.
    pub(crate) const COMPARISONS: usize = 5;

    /// The level of sums. Sizes and bounds are parsed from here on, because they end before `>` and `..`.
    pub(crate) const SUMS: usize = 7;

    /// Whether it can be combined with `=`: it maps two numbers to a number, or two bits to a bit.
    pub(crate) fn is_arithmetic(self) -> bool {
        !matches!(self, Self::Compare { .. } | Self::Lazy(_))
    }

    pub(crate) fn text(self) -> &'static str {
        let mut all = Self::LEVELS.into_iter().flatten();
        all.find(|(_, op)| *op == self).map_or("", |(text, _)| text)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    /// `let name: ty = value;`.
    Let { name: Name, ty: Option<Type>, value: Option<Expr> },
    /// `place = value;`, or with an operator such as `+=`.
    Assign { place: Expr, op: Option<Binary>, value: Expr },
    /// `if condition { then } else { otherwise }`.
    If { condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// `while condition { body }`.
    While { condition: Expr, body: Vec<Stmt> },
    /// `for name in from..to { body }`.
    ForRange { name: Name, from: Expr, to: Expr, body: Vec<Stmt>, unroll: bool },
    /// `for sample in data { body }`.
    ForData { body: Vec<Stmt> },
    /// Writes a bit to a tape.
    Write(Name, Expr),
    /// Moves the head of a tape by -1 or 1.
    Shift(Name, i64),
    /// `const NAME = value;`.
    Const(Name, Expr),
    /// `break;`.
    Break,
    /// `continue;`.
    Continue,
    /// `return`, with a value in a function and without one in a learner.
    Return(Option<Expr>),
    /// `take;`.
    Take,
    /// `assert(condition);`.
    Assert(Expr),
    /// `print(…);`.
    Print(Vec<Shown<Expr>>),
    /// `reject;`.
    Reject,
}

impl Stmt {
    /// The expressions of a statement, not including those in its blocks.
    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        use StmtKind as S;
        match &self.kind {
            S::Let { ty, value, .. } => ty.iter().flat_map(Type::sizes).chain(value).collect(),
            S::Assign { place, value, .. } => vec![place, value],
            S::If { condition, .. } | S::While { condition, .. } | S::Assert(condition) => vec![condition],
            S::ForRange { from, to, .. } => vec![from, to],
            S::Write(_, value) | S::Const(_, value) | S::Return(Some(value)) => vec![value],
            S::Print(parts) => {
                let values = parts.iter().filter_map(|part| match part {
                    Shown::Value(value) => Some(value),
                    Shown::Text(_) => None,
                });
                values.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The blocks of a statement.
    pub(crate) fn blocks(&self) -> Vec<&[Self]> {
        match &self.kind {
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::While { body, .. } | StmtKind::ForRange { body, .. } | StmtKind::ForData { body } => {
                vec![body]
            }
            _ => Vec::new(),
        }
    }

    /// The first statement that satisfies the predicate, including those in blocks.
    pub(crate) fn first<'s>(body: &'s [Self], predicate: &dyn Fn(&Self) -> bool) -> Option<&'s Self> {
        body.iter().find_map(|stmt| {
            let inside = || stmt.blocks().into_iter().find_map(|body| Self::first(body, predicate));
            if predicate(stmt) { Some(stmt) } else { inside() }
        })
    }
}
