//! Nodes and operations, and the builder that checks shapes.

use crate::{LinearMap, Network, NumberFormat, Shape, Values};

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("at most 2^32 items"))
            }
        }
    };
}

typed_id!(
    /// A node of a network, counted in order of computation.
    NodeId
);
typed_id!(
    /// A block of trainable weights.
    ParameterId
);
typed_id!(
    /// A block of units whose values come from outside and are not trained.
    InputId
);

/// How training moves a block of weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepRule {
    /// Frank-Wolfe on the standard simplex.
    Simplex,
    /// Gradient descent with this rate.
    Gradient {
        /// The learning rate.
        rate: f64,
    },
}

/// A block of trainable weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name, unique among parameters.
    pub name: String,
    /// Rows and columns.
    pub shape: Shape,
    /// How training moves it.
    pub step_rule: StepRule,
}

/// A block of units whose values come from outside and are never trained.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Its name, unique among inputs.
    pub name: String,
    /// Rows and columns.
    pub shape: Shape,
}

/// One operation. Entrywise operations broadcast a side of length 1.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// Trainable weights.
    Parameter(ParameterId),
    /// Values from outside.
    Input(InputId),
    /// Fixed numbers.
    Constant(Values),
    /// A sparse affine map of a vector.
    Linear(LinearMap, NodeId),
    /// A weighted sum, entry by entry.
    Sum(Vec<(f64, NodeId)>),
    /// max(0, v), entry by entry; its derivative at 0 is 0.
    Relu(NodeId),
    /// A product, entry by entry.
    Product(NodeId, NodeId),
    /// A quotient, entry by entry.
    Quotient(NodeId, NodeId),
    /// A product of matrices.
    MatMul(NodeId, NodeId),
    /// The square root, entry by entry.
    Sqrt(NodeId),
    /// The sum of every row: one column remains.
    SumColumns(NodeId),
    /// The sum of all entries.
    SumAll(NodeId),
    /// Every row moved this many columns to the right; zeros enter, and what leaves is lost.
    Shift(i64, NodeId),
    /// The same entries, row by row, in another shape.
    Reshape(NodeId),
    /// The rows of the first, then those of the second.
    Stack(NodeId, NodeId),
    /// The entries with these positions, counted row by row, as a vector.
    Gather(Vec<usize>, NodeId),
    /// Every number of a vector as its bits, -1 and 1, rounded to nearest, saturating; never differentiated.
    Quantize(NumberFormat, NodeId),
    /// Numbers from their bits, which are 1 where positive; never differentiated.
    Dequantize(NumberFormat, NodeId),
    /// The same value, which differentiation treats as a constant.
    StopGradient(NodeId),
    /// `open * on + (1 - open) * off` for a scalar `open`. If that is 0 or 1, the unused branch is neither evaluated into the
    /// result nor differentiated, so that its infinities cannot become NaN.
    Switch {
        /// A scalar from 0 to 1.
        open: NodeId,
        /// The value where `open` is 1.
        on: NodeId,
        /// The value where `open` is 0.
        off: NodeId,
    },
    /// The first branch if the scalar condition is positive, else the second; the unused branch is not differentiated.
    Select {
        /// A scalar.
        condition: NodeId,
        /// The value where the condition is positive.
        positive: NodeId,
        /// The value everywhere else.
        otherwise: NodeId,
    },
}

/// References to the operands of an operation, mutable if the operation is; `$iter` iterates over a sum's terms.
macro_rules! operands {
    ($op:expr, $iter:ident) => {
        match $op {
            Op::Parameter(_) | Op::Input(_) | Op::Constant(_) => Vec::new(),
            Op::Linear(_, a)
            | Op::Relu(a)
            | Op::Sqrt(a)
            | Op::SumColumns(a)
            | Op::SumAll(a)
            | Op::Shift(_, a)
            | Op::Reshape(a)
            | Op::Gather(_, a)
            | Op::Quantize(_, a)
            | Op::Dequantize(_, a)
            | Op::StopGradient(a) => vec![a],
            Op::Product(a, b) | Op::Quotient(a, b) | Op::MatMul(a, b) | Op::Stack(a, b) => vec![a, b],
            Op::Sum(terms) => terms.$iter().map(|(_, a)| a).collect(),
            Op::Switch { open, on, off } => vec![open, on, off],
            Op::Select { condition, positive, otherwise } => vec![condition, positive, otherwise],
        }
    };
}

crate::names! {
    with data Op,
    Parameter "parameter", Input "input", Constant "constant", Linear "linear", Sum "sum", Relu "relu",
    Product "product", Quotient "quotient", MatMul "matmul", Sqrt "sqrt", SumColumns "sum-columns",
    SumAll "sum-all", Shift "shift", Reshape "reshape", Stack "stack", Gather "gather", Quantize "quantize",
    Dequantize "dequantize", StopGradient "stop-gradient", Switch "switch", Select "select",
}

impl Op {
    /// The nodes this one is computed from.
    pub fn operands(&self) -> Vec<NodeId> {
        operands!(self, iter).into_iter().copied().collect()
    }

    /// The same, mutable.
    pub fn operands_mut(&mut self) -> Vec<&mut NodeId> {
        operands!(self, iter_mut)
    }

    /// The same operation on other nodes.
    pub(crate) fn with_operands(&self, other: impl Fn(NodeId) -> NodeId) -> Self {
        let mut op = self.clone();
        op.operands_mut().into_iter().for_each(|of| *of = other(*of));
        op
    }
}

/// One node: a named operation and the shape of its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its name in listings.
    pub name: String,
    /// How it is computed.
    pub op: Op,
    /// Rows and columns of its value.
    pub shape: Shape,
}

/// Builds a network node by node.
///
/// It panics if shapes do not fit: that is a bug in the construction, not an error in the data.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    pub(crate) nodes: Vec<Node>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) inputs: Vec<Input>,
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&mut self, name: &str, op: Op, shape: Shape) -> NodeId {
        self.nodes.push(Node { name: name.to_owned(), op, shape });
        NodeId::new(self.nodes.len() - 1)
    }

    /// Number of nodes so far.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The shape of a node.
    pub fn shape(&self, node: NodeId) -> Shape {
        self.nodes[node.index()].shape
    }

    /// How a node is computed.
    pub fn op(&self, node: NodeId) -> &Op {
        &self.nodes[node.index()].op
    }

    /// A block of trainable weights.
    pub fn parameter(&mut self, name: &str, shape: Shape, step_rule: StepRule) -> (ParameterId, NodeId) {
        let id = ParameterId::new(self.parameters.len());
        self.parameters.push(Parameter { name: name.to_owned(), shape, step_rule });
        (id, self.push(name, Op::Parameter(id), shape))
    }

    /// A block of units whose values come from outside.
    pub fn input(&mut self, name: &str, shape: Shape) -> (InputId, NodeId) {
        let id = InputId::new(self.inputs.len());
        self.inputs.push(Input { name: name.to_owned(), shape });
        (id, self.push(name, Op::Input(id), shape))
    }

    /// Fixed numbers.
    pub fn constant(&mut self, name: &str, values: Values) -> NodeId {
        let shape = values.shape;
        self.push(name, Op::Constant(values), shape)
    }

    /// A fixed number.
    pub fn scalar(&mut self, name: &str, value: f64) -> NodeId {
        self.constant(name, Values::filled(Shape::SCALAR, value))
    }

    /// An affine map of a vector.
    ///
    /// # Panics
    /// If `of` is not a vector of the map's length.
    pub fn linear(&mut self, name: &str, map: LinearMap, of: NodeId) -> NodeId {
        assert_eq!(self.shape(of), Shape::column(map.n_inputs()), "{name}: a map of another length");
        let shape = Shape::column(map.n_outputs());
        self.push(name, Op::Linear(map, of), shape)
    }

    /// A weighted sum.
    ///
    /// # Panics
    /// If it is empty or the shapes do not broadcast.
    pub fn sum(&mut self, name: &str, terms: impl IntoIterator<Item = (f64, NodeId)>) -> NodeId {
        let terms: Vec<_> = terms.into_iter().collect();
        let shape = terms
            .iter()
            .map(|&(_, n)| self.shape(n))
            .reduce(|a, b| a.broadcast(b).unwrap_or_else(|| panic!("{name}: {a:?} and {b:?} do not add")));
        self.push(name, Op::Sum(terms), shape.expect("a sum of something"))
    }

    /// `weight * of + bias`, entry by entry.
    pub fn affine(&mut self, name: &str, weight: f64, of: NodeId, bias: f64) -> NodeId {
        let one = self.scalar("one", 1.0);
        self.sum(name, [(weight, of), (bias, one)])
    }

    /// max(0, v).
    pub fn relu(&mut self, name: &str, of: NodeId) -> NodeId {
        self.push(name, Op::Relu(of), self.shape(of))
    }

    /// The shape of an entrywise operation on two nodes.
    fn broadcast(&self, name: &str, a: NodeId, b: NodeId, verb: &str) -> Shape {
        let (left, right) = (self.shape(a), self.shape(b));
        left.broadcast(right).unwrap_or_else(|| panic!("{name}: {left:?} and {right:?} do not {verb}"))
    }

    /// A product.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    pub fn product(&mut self, name: &str, a: NodeId, b: NodeId) -> NodeId {
        self.push(name, Op::Product(a, b), self.broadcast(name, a, b, "multiply"))
    }

    /// A quotient.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    pub fn quotient(&mut self, name: &str, a: NodeId, b: NodeId) -> NodeId {
        self.push(name, Op::Quotient(a, b), self.broadcast(name, a, b, "divide"))
    }

    /// A product of matrices.
    ///
    /// # Panics
    /// If the first has not as many columns as the second has rows.
    pub fn matmul(&mut self, name: &str, a: NodeId, b: NodeId) -> NodeId {
        let (left, right) = (self.shape(a), self.shape(b));
        assert_eq!(left.cols, right.rows, "{name}: matrices that do not multiply");
        self.push(name, Op::MatMul(a, b), Shape::new(left.rows, right.cols))
    }

    /// The squares of all entries.
    pub fn square(&mut self, name: &str, of: NodeId) -> NodeId {
        self.product(name, of, of)
    }

    /// The sum of the squares of all entries.
    pub fn sum_of_squares(&mut self, name: &str, of: NodeId) -> NodeId {
        let squares = self.square(name, of);
        self.sum_all(name, squares)
    }

    /// The square root.
    pub fn sqrt(&mut self, name: &str, of: NodeId) -> NodeId {
        self.push(name, Op::Sqrt(of), self.shape(of))
    }

    /// The sum of every row.
    pub fn sum_columns(&mut self, name: &str, of: NodeId) -> NodeId {
        self.push(name, Op::SumColumns(of), Shape::column(self.shape(of).rows))
    }

    /// The sum of all entries.
    pub fn sum_all(&mut self, name: &str, of: NodeId) -> NodeId {
        self.push(name, Op::SumAll(of), Shape::SCALAR)
    }

    /// Every row moved `by` columns to the right.
    pub fn shift(&mut self, name: &str, by: i64, of: NodeId) -> NodeId {
        self.push(name, Op::Shift(by, of), self.shape(of))
    }

    /// The same entries, row by row, in another shape.
    ///
    /// # Panics
    /// If the number of entries differs.
    pub fn reshape(&mut self, name: &str, shape: Shape, of: NodeId) -> NodeId {
        assert_eq!(self.shape(of).len(), shape.len(), "{name}: a shape of another size");
        self.push(name, Op::Reshape(of), shape)
    }

    /// The rows of `upper`, then those of `lower`.
    ///
    /// # Panics
    /// If they have different numbers of columns.
    pub fn stack(&mut self, name: &str, upper: NodeId, lower: NodeId) -> NodeId {
        let (a, b) = (self.shape(upper), self.shape(lower));
        assert_eq!(a.cols, b.cols, "{name}: rows of different length do not stack");
        self.push(name, Op::Stack(upper, lower), Shape::new(a.rows + b.rows, a.cols))
    }

    /// Some entries as a vector.
    ///
    /// # Panics
    /// If a position lies outside.
    pub fn gather(&mut self, name: &str, positions: Vec<usize>, of: NodeId) -> NodeId {
        let len = self.shape(of).len();
        assert!(positions.iter().all(|&p| p < len), "{name}: a position outside");
        let shape = Shape::column(positions.len());
        self.push(name, Op::Gather(positions, of), shape)
    }

    /// The bits of a vector of numbers, -1 and 1, the lowest bit of the first number first.
    ///
    /// # Panics
    /// If `of` is not a vector.
    pub fn quantize(&mut self, name: &str, format: NumberFormat, of: NodeId) -> NodeId {
        let shape = self.shape(of);
        assert_eq!(shape.cols, 1, "{name}: numbers come as a vector");
        self.push(name, Op::Quantize(format, of), Shape::column(shape.rows * format.n_bits() as usize))
    }

    /// The numbers whose bits these are.
    ///
    /// # Panics
    /// If `of` is not a vector of whole numbers.
    pub fn dequantize(&mut self, name: &str, format: NumberFormat, of: NodeId) -> NodeId {
        let (shape, n_bits) = (self.shape(of), format.n_bits() as usize);
        assert!(
            shape.cols == 1 && shape.rows % n_bits == 0,
            "{name}: bits of whole numbers come as a vector"
        );
        self.push(name, Op::Dequantize(format, of), Shape::column(shape.rows / n_bits))
    }

    /// The same value, which differentiation treats as a constant.
    pub fn stop_gradient(&mut self, name: &str, of: NodeId) -> NodeId {
        self.push(name, Op::StopGradient(of), self.shape(of))
    }

    /// `open * on + (1 - open) * off`; where `open` is 0 or 1 the unused branch does not count.
    ///
    /// # Panics
    /// If `open` is not a scalar or the branches have different shapes.
    pub fn switch(&mut self, name: &str, open: NodeId, on: NodeId, off: NodeId) -> NodeId {
        let shape = self.branches(name, open, on, off);
        self.push(name, Op::Switch { open, on, off }, shape)
    }

    /// `positive` where the scalar `condition` is positive, else `otherwise`.
    ///
    /// # Panics
    /// If the condition is not a scalar or the branches have different shapes.
    pub fn select(&mut self, name: &str, condition: NodeId, positive: NodeId, otherwise: NodeId) -> NodeId {
        let shape = self.branches(name, condition, positive, otherwise);
        self.push(name, Op::Select { condition, positive, otherwise }, shape)
    }

    /// The shape of two branches between which a scalar chooses.
    fn branches(&self, name: &str, scalar: NodeId, a: NodeId, b: NodeId) -> Shape {
        assert_eq!(self.shape(scalar), Shape::SCALAR, "{name}: a condition that is not a scalar");
        assert_eq!(self.shape(a), self.shape(b), "{name}: branches of different shapes");
        self.shape(a)
    }

    /// The finished network, whose training minimises `loss`.
    ///
    /// # Panics
    /// If the loss is not a scalar.
    pub fn finish(self, loss: NodeId) -> Network {
        assert_eq!(self.shape(loss), Shape::SCALAR, "the loss is a scalar");
        Network::new(crate::faults::altered(self), loss)
    }
}
