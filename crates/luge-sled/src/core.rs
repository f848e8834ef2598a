//! The program with nothing left to decide: sizes known, arrays taken apart, functions inlined, loops over indices
//! unrolled. Both the interpreter and the compiler start from here.

/// A fixed-point type in two's complement; without fraction bits, an integer type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ty {
    /// Bits before the point, with the sign.
    pub(crate) integer: u32,
    /// Bits after the point.
    pub(crate) fraction: u32,
}

impl Ty {
    pub(crate) fn width(self) -> u32 {
        self.integer + self.fraction
    }

    /// The largest value, counted in steps of 2^-fraction.
    pub(crate) fn largest(self) -> i64 {
        i64::MAX >> (64 - self.width())
    }

    pub(crate) fn smallest(self) -> i64 {
        -self.largest() - 1
    }

    /// The value with the same low bits.
    pub(crate) fn wrap(self, value: i128) -> i64 {
        let unused = 128 - self.width();
        (value << unused >> unused) as i64
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.fraction {
            0 => write!(f, "int<{}>", self.integer),
            fraction => write!(f, "fix<{},{fraction}>", self.integer),
        }
    }
}

/// A place in memory; slots of ended scopes are used again by variables of the same width.
pub(crate) type Slot = usize;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Constant {
        raw: i64,
        ty: Ty,
    },
    Variable {
        slot: Slot,
        ty: Ty,
    },
    /// A number of the current sample: the features, then the labels.
    Data {
        element: usize,
        ty: Ty,
    },
    Negate(Box<Expr>),
    Abs(Box<Expr>),
    Sign(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Shl(Box<Expr>, u32),
    Shr(Box<Expr>, u32),
    Cast(Box<Expr>, Ty),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    /// The product with all its integer bits.
    MulWide,
    Div,
    Min,
    Max,
}

impl Expr {
    pub(crate) fn ty(&self) -> Ty {
        match self {
            Self::Constant { ty, .. }
            | Self::Variable { ty, .. }
            | Self::Data { ty, .. }
            | Self::Cast(_, ty) => *ty,
            Self::Negate(e) | Self::Abs(e) | Self::Sign(e) | Self::Shl(e, _) | Self::Shr(e, _) => e.ty(),
            Self::Binary(Op::MulWide, a, _) => {
                let ty = a.ty();
                Ty { integer: 2 * ty.integer, ..ty }
            }
            Self::Binary(_, a, _) => a.ty(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cond {
    Constant(bool),
    Flag(Slot),
    Less(Expr, Expr),
    Equal(Expr, Expr),
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Read(usize),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stmt {
    /// The line of the source, counted from 1.
    pub(crate) line: u32,
    pub(crate) kind: StmtKind,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum StmtKind {
    Assign(Slot, Expr),
    SetFlag(Slot, Cond),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `before` is done each time before the condition is looked at.
    While {
        before: Vec<Stmt>,
        condition: Cond,
        body: Vec<Stmt>,
    },
    Repeat {
        times: u64,
        counter: Slot,
        body: Vec<Stmt>,
    },
    EachSample(Vec<Stmt>),
    Write(usize, Cond),
    Shift(usize, i64),
    Reject,
}

/// A checked program.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Core {
    pub(crate) name: String,
    /// Bits of each slot; theta comes first.
    pub(crate) widths: Vec<u32>,
    pub(crate) n_theta: usize,
    /// The format of data and theta.
    pub(crate) format: Ty,
    pub(crate) n_features: usize,
    pub(crate) n_labels: usize,
    /// The program's own tapes, by name.
    pub(crate) tapes: Vec<String>,
    pub(crate) body: Vec<Stmt>,
}
