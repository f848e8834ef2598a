//! The checked program: sizes are known, functions are inlined, arrays of arrays are flattened. The interpreter and the
//! compilers start from it.

/// A fixed-point type in two's complement; without fraction bits, an integer type. [`Ty::BIT`] is not a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Ty {
    /// Bits before the point, including the sign.
    pub(crate) integer: u32,
    /// Bits after the point.
    pub(crate) fraction: u32,
}

impl Ty {
    /// A truth value: 0 or 1, without a sign. Numbers have at least two bits.
    pub(crate) const BIT: Self = Self { integer: 1, fraction: 0 };

    pub(crate) fn width(self) -> u32 {
        self.integer + self.fraction
    }

    /// The largest value, in units of 2^-fraction.
    pub(crate) fn largest(self) -> i64 {
        i64::MAX >> (64 - self.width())
    }

    pub(crate) fn smallest(self) -> i64 {
        -self.largest() - 1
    }

    /// The value with the same low bits.
    pub(crate) fn wrap(self, value: i128) -> i64 {
        let unused = 64 - self.width();
        (value as i64) << unused >> unused
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (*self, self.fraction) {
            (Self::BIT, _) => f.write_str("bit"),
            (_, 0) => write!(f, "int<{}>", self.integer),
            (_, fraction) => write!(f, "fix<{},{fraction}>", self.integer),
        }
    }
}

/// A variable that holds one number or bit. When its scope ends, the slot is reused for variables of the same width.
pub(crate) type Slot = usize;

/// An array, reused like a slot. Theta is the first.
pub(crate) type ArrayId = usize;

/// The variable of a `for` loop.
pub(crate) type LoopVar = usize;

/// The array of the weights.
pub(crate) const THETA: ArrayId = 0;

/// A constant plus multiples of loop variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Affine {
    pub(crate) constant: i64,
    /// Sorted by variable; no factor is 0.
    pub(crate) terms: Vec<(LoopVar, i64)>,
}

impl Affine {
    pub(crate) fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub(crate) fn variable(var: LoopVar) -> Self {
        Self { constant: 0, terms: vec![(var, 1)] }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for &(var, factor) in &other.terms {
            match sum.terms.binary_search_by_key(&var, |term| term.0) {
                Ok(at) => sum.terms[at].1 += factor,
                Err(at) => sum.terms.insert(at, (var, factor)),
            }
        }
        sum.terms.retain(|term| term.1 != 0);
        sum
    }

    pub(crate) fn times(&self, factor: i64) -> Self {
        let mut product = self.clone();
        product.constant *= factor;
        product.terms.iter_mut().for_each(|term| term.1 *= factor);
        product.terms.retain(|term| term.1 != 0);
        product
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(-1))
    }

    pub(crate) fn offset(&self, by: i64) -> Self {
        Self { constant: self.constant + by, terms: self.terms.clone() }
    }

    /// The form with `value` substituted for a variable.
    pub(crate) fn with(&self, var: LoopVar, value: &Self) -> Self {
        match self.factor(var) {
            0 => self.clone(),
            factor => {
                let mut rest = self.clone();
                rest.terms.retain(|term| term.0 != var);
                rest.plus(&value.times(factor))
            }
        }
    }

    pub(crate) fn factor(&self, var: LoopVar) -> i64 {
        self.terms.iter().find(|term| term.0 == var).map_or(0, |term| term.1)
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The smallest and largest value, given those of the variables.
    pub(crate) fn range(&self, of: impl Fn(LoopVar) -> (i64, i64)) -> (i64, i64) {
        self.terms.iter().fold((self.constant, self.constant), |(low, high), &(var, factor)| {
            let (a, b) = of(var);
            let (a, b) = (a * factor, b * factor);
            (low + a.min(b), high + a.max(b))
        })
    }

    pub(crate) fn value(&self, of: impl Fn(LoopVar) -> i64) -> i64 {
        self.terms.iter().fold(self.constant, |sum, &(var, factor)| sum + factor * of(var))
    }
}

/// A part of an index that is computed at run time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Computed {
    /// An integer; the run is rejected if it is not in `0..bound`.
    pub(crate) value: Expr,
    pub(crate) bound: i64,
    /// Distance between neighbours, in elements.
    pub(crate) stride: i64,
}

/// The position of an element in a flat array.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Index {
    pub(crate) known: Affine,
    pub(crate) computed: Vec<Computed>,
}

/// What holds numbers or bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Slot(Slot),
    Array(ArrayId),
    /// The current sample: the features, then the labels. It cannot be assigned to.
    Data,
}

/// A stored number or bit.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Place {
    pub(crate) store: Store,
    /// The element; in a slot the only one.
    pub(crate) index: Index,
}

impl Place {
    /// The first element.
    pub(crate) fn first(store: Store) -> Self {
        Self { store, index: Index::default() }
    }

    pub(crate) fn slot(slot: Slot) -> Self {
        Self::first(Store::Slot(slot))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    /// A constant, in units of 2^-fraction.
    Constant { raw: i64, ty: Ty },
    /// The value at a place.
    Load(Place, Ty),
    /// The bit under the head of one of the program's own tapes.
    Read(usize),
    /// The negative.
    Negate(Box<Expr>),
    /// The magnitude.
    Abs(Box<Expr>),
    /// -1, 0 or 1.
    Sign(Box<Expr>),
    /// The other bit.
    Not(Box<Expr>),
    /// An operator with two operands of one type.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A shift to the left.
    Shl(Box<Expr>, u32),
    /// A shift to the right that repeats the sign.
    Shr(Box<Expr>, u32),
    /// The number in another type; excess bits are dropped.
    Cast(Box<Expr>, Ty),
    /// The nearest number of a narrower type with as many fraction bits.
    Clamp(Box<Expr>, Ty),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    /// The product, rounded to nearest, ties up.
    MulRound,
    /// The product with all its integer bits.
    MulWide,
    Div,
    /// Bitwise. Of two bits the second is evaluated only if the first does not decide.
    And,
    Or,
    Xor,
    Min,
    Max,
    /// Comparisons of numbers give a bit.
    Less,
    Equal,
}

impl Expr {
    pub(crate) fn binary(op: Op, a: Self, b: Self) -> Self {
        Self::Binary(op, Box::new(a), Box::new(b))
    }

    /// The value of a slot.
    pub(crate) fn variable(slot: Slot, ty: Ty) -> Self {
        Self::Load(Place::slot(slot), ty)
    }

    /// Whether it is a constant or a variable, which cost nothing to evaluate twice.
    pub(crate) fn is_simple(&self) -> bool {
        matches!(self, Self::Constant { .. } | Self::Load(Place { store: Store::Slot(_), .. }, _))
    }

    pub(crate) fn bit(value: bool) -> Self {
        Self::Constant { raw: i64::from(value), ty: Ty::BIT }
    }

    pub(crate) fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    pub(crate) fn ty(&self) -> Ty {
        match self {
            Self::Read(_) | Self::Not(_) | Self::Binary(Op::Less | Op::Equal, ..) => Ty::BIT,
            Self::Constant { ty, .. } | Self::Load(_, ty) | Self::Cast(_, ty) | Self::Clamp(_, ty) => *ty,
            Self::Negate(e) | Self::Abs(e) | Self::Sign(e) | Self::Shl(e, _) | Self::Shr(e, _) => e.ty(),
            Self::Binary(Op::MulWide, a, _) => {
                let ty = a.ty();
                Ty { integer: 2 * ty.integer, ..ty }
            }
            Self::Binary(_, a, _) => a.ty(),
        }
    }

    /// Whether the predicate holds for this expression or one of its operands.
    pub(crate) fn any(&self, predicate: &dyn Fn(&Self) -> bool) -> bool {
        let inside = match self {
            Self::Constant { .. } | Self::Load(..) | Self::Read(_) => false,
            Self::Negate(e) | Self::Abs(e) | Self::Sign(e) | Self::Not(e) => e.any(predicate),
            Self::Shl(e, _) | Self::Shr(e, _) | Self::Cast(e, _) | Self::Clamp(e, _) => e.any(predicate),
            Self::Binary(_, a, b) => a.any(predicate) || b.any(predicate),
        };
        inside || predicate(self)
    }

    /// Whether evaluating it can end the run.
    pub(crate) fn has_computed_index(&self) -> bool {
        self.any(&|e| matches!(e, Self::Load(place, _) if !place.index.computed.is_empty()))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stmt {
    /// The line of the source, counted from 1.
    pub(crate) line: u32,
    pub(crate) kind: StmtKind,
}

/// A loop over the integers from `from` to `to - 1`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct For {
    pub(crate) var: LoopVar,
    pub(crate) from: Affine,
    pub(crate) to: Affine,
    /// The most rounds for any values of the outer loop variables; `to - from` is never negative.
    pub(crate) most: u64,
    /// The slot that holds the variable as a number, if it is needed as one, and its first value.
    pub(crate) value: Option<(Slot, Expr)>,
    pub(crate) body: Vec<Stmt>,
}

/// A part of the text that `print` shows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shown<E = Expr> {
    Text(String),
    Value(E),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum StmtKind {
    /// Stores a value of the place's type.
    Assign(Place, Expr),
    /// A condition, the statements if it holds, and those if it does not.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `before` runs each time before the condition is evaluated.
    While { before: Vec<Stmt>, condition: Expr, body: Vec<Stmt> },
    /// A loop over integers.
    For(For),
    /// A loop whose body does not use the loop variable.
    Repeat { times: i64, counter: Slot, body: Vec<Stmt> },
    /// A loop over the samples of a table.
    EachSample(Vec<Stmt>),
    /// Takes the next sample of a stream.
    Take,
    /// Leaves the innermost loop.
    Break,
    /// Ends the round of the innermost loop.
    Continue,
    /// Writes a bit to one of the program's own tapes.
    Write(usize, Expr),
    /// Moves the head of such a tape by -1 or 1.
    Shift(usize, i64),
    /// Only the interpreter prints; machines and circuits do not.
    Print(Vec<Shown>),
    /// Ends the run: the data are rejected.
    Reject,
}

/// A flat array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Array {
    pub(crate) width: u32,
    pub(crate) length: usize,
}

/// A variable of the program, and the lines in which it is in scope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) store: Store,
    pub(crate) ty: Ty,
    pub(crate) length: usize,
    /// The line of its declaration and the last line of its scope.
    pub(crate) lines: (u32, u32),
}

/// A checked program.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Core {
    pub(crate) name: String,
    /// Bits of each slot.
    pub(crate) widths: Vec<u32>,
    /// Theta comes first.
    pub(crate) arrays: Vec<Array>,
    pub(crate) n_loop_vars: usize,
    /// The variables that the program names.
    pub(crate) names: Vec<Named>,
    /// The format of data and theta.
    pub(crate) format: Ty,
    pub(crate) n_features: usize,
    pub(crate) n_labels: usize,
    /// The program's own tapes, by name.
    pub(crate) tapes: Vec<String>,
    /// Whether its samples come from a stream.
    pub(crate) takes: bool,
    pub(crate) body: Vec<Stmt>,
}
