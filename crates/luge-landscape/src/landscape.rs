//! Landscapes: a network, the bounds of its loss, and the conversion between parameters and configurations.

use luge_machine::NormalForm;
use luge_net::{GraphBuilder, Network, NodeId, Shape, SparseValues, Values};

use crate::{
    Bounds, Configuration, ConstantOptions, ConstantsError, Control, Corrections, ExternalConstants,
    InternalError, Undecodable, VertexSet,
    carved::{CarvedLandscape, StateEncoding},
    internal::Configurations,
};

/// Which landscape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LandscapeKind {
    /// B, product units.
    #[default]
    Compact,
    /// B, the paper's ReLU units.
    Relu,
    /// A, tape inside the vertex.
    Internal,
    /// C, stock gradient descent.
    Plain,
}

luge_net::names!(LandscapeKind, "landscape", Compact "compact", Relu "relu", Internal "internal", Plain "plain");

/// Options for building a landscape.
#[derive(Clone, Debug)]
pub struct LandscapeOptions {
    /// Which landscape.
    pub kind: LandscapeKind,
    /// Which symbols distinguish vertices; not used by `internal`.
    pub vertices: VertexSet,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// Constants set by the user.
    pub constants: ConstantOptions,
    /// Constants of `compact` and `relu` that are not checked, to show the effect of a violated inequality.
    pub unchecked: Option<ExternalConstants>,
    /// For `internal`: the start configurations that it is built for.
    pub declared: Vec<Configuration>,
    /// The corrections to the printed paper.
    pub corrections: Corrections,
}

impl LandscapeOptions {
    /// Options with all constants chosen automatically and all corrections.
    pub fn new(kind: LandscapeKind, n_cells: usize) -> Self {
        Self {
            kind,
            vertices: VertexSet::default(),
            n_cells,
            constants: ConstantOptions::default(),
            unchecked: None,
            declared: Vec::new(),
            corrections: Corrections::default(),
        }
    }
}

/// Why a landscape cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BuildError {
    /// The user's constants violate an inequality.
    #[error(transparent)]
    Constants(#[from] ConstantsError),
    /// `internal` is too large, or has nothing to trace.
    #[error(transparent)]
    Internal(#[from] InternalError),
    /// Every vertex has at least one unit.
    #[error(
        "{n_states} states on {n_tapes} binary tapes need {n_vertices} vertices, but at most {MAX_GATES} are built"
    )]
    TooManyVertices {
        /// Vertices, the states not copied.
        n_vertices: u64,
        /// |Q|.
        n_states: usize,
        /// d.
        n_tapes: usize,
    },
    /// A state has a column for every combination of the symbols that it looks at.
    #[error("the states look at {0} combinations of symbols in all, but at most {MAX_COLUMNS} are built")]
    TooManyColumns(u64),
    /// `relu` has units for every edge.
    #[error(
        "landscape relu needs units for {n_edges} edges between the vertices of {n_states} states on {n_tapes} binary tapes, but at most {MAX_EDGES} are built"
    )]
    TooManyEdges {
        /// Edges.
        n_edges: u64,
        /// |Q|.
        n_states: usize,
        /// d.
        n_tapes: usize,
    },
}

/// The most vertices that are built where the tapes are outside.
pub const MAX_GATES: u64 = 1 << 24;

/// The most combinations of symbols that the states may look at, over all states.
pub const MAX_COLUMNS: u64 = 1 << 22;

/// The most edges that `relu` is built with.
pub const MAX_EDGES: u64 = 1 << 18;

/// A network whose training traces a machine.
#[derive(Clone, Debug)]
pub struct Landscape {
    network: Network,
    carved: CarvedLandscape,
}

impl Landscape {
    /// Builds a landscape for a machine.
    ///
    /// # Errors
    /// If constants are violated or `internal` is too large.
    pub fn build(normal: &NormalForm, options: &LandscapeOptions) -> Result<Self, BuildError> {
        let mut g = GraphBuilder::new();
        let carved = match options.kind {
            LandscapeKind::Internal => {
                let configurations = Configurations::reachable(normal, &options.declared, options.n_cells)?;
                CarvedLandscape::inside(&mut g, configurations, options, None)
            }
            _ => {
                let read_only = read_only_input(&mut g, normal, options.n_cells);
                CarvedLandscape::outside(&mut g, normal, options, read_only)?
            }
        };
        Ok(Self { network: g.finish(carved.loss), carved })
    }

    /// The kind of the landscape.
    pub fn kind(&self) -> LandscapeKind {
        self.carved.kind
    }

    /// The network to train.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The bounds of the loss.
    pub fn bounds(&self) -> Bounds {
        self.carved.bounds
    }

    /// tau: cells per tape.
    pub fn n_cells(&self) -> usize {
        self.carved.n_cells
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.carved.n_vertices()
    }

    /// The vertices of landscapes B and C; `None` for A, whose vertices are configurations.
    pub fn control(&self) -> Option<&Control> {
        self.carved.control()
    }

    /// The configuration that a vertex of `internal` represents.
    pub fn configuration(&self, vertex: usize) -> Option<&Configuration> {
        match &self.carved.encoding {
            StateEncoding::Outside { .. } => None,
            StateEncoding::Inside { configurations, .. } => configurations.all.get(vertex),
        }
    }

    /// The parameters and inputs that represent a configuration; `None` if `internal` has no such vertex.
    ///
    /// # Panics
    /// If the configuration has other numbers of tapes or cells than the landscape.
    pub fn encode(&self, configuration: &Configuration) -> Option<(Vec<Values>, Vec<Values>)> {
        let (parameters, inputs) = self.encode_sparse(configuration)?;
        Some((parameters.iter().map(SparseValues::to_values).collect(), inputs))
    }

    /// As [`encode`](Self::encode), with sparse parameters.
    pub fn encode_sparse(&self, configuration: &Configuration) -> Option<(Vec<SparseValues>, Vec<Values>)> {
        let parameters = self.carved.encode(configuration)?.into_iter().map(|(_, values)| values);
        let read_only = self.carved.read_only(configuration).map(|cells| cells.to_values());
        Some((parameters.collect(), read_only.into_iter().collect()))
    }

    /// The configuration that parameters represent. Every weight must be near one of the values that it can have.
    ///
    /// # Errors
    /// The first weight that is not, or a vertex whose symbols are not those under the heads.
    pub fn decode(&self, parameters: &[Values], inputs: &[Values]) -> Result<Configuration, Undecodable> {
        self.carved.decode(parameters, inputs.first())
    }
}

fn read_only_input(g: &mut GraphBuilder, normal: &NormalForm, n_cells: usize) -> Option<NodeId> {
    let n_read_only = normal.machine().tape_ids().filter(|&tape| normal.read_only(tape)).count();
    (n_read_only > 0).then(|| g.input("read_only", Shape::new(n_read_only, n_cells)).1)
}

#[cfg(test)]
mod tests {
    use luge_machine::{Alphabet, Machine, Move, Pattern, Write};

    use super::*;

    /// A machine that halts at once, on this many binary tapes.
    fn wide(n_tapes: usize) -> NormalForm {
        let mut b = Machine::builder();
        for tape in 0..n_tapes {
            b.tape(format!("{tape}"), Alphabet::binary());
        }
        let (start, end) = (b.state("start"), b.halting_state("end", true));
        let all = |n| std::iter::repeat_n(n, n_tapes);
        b.rule(start, vec![Pattern::Any; n_tapes], vec![Write::Keep; n_tapes], all(Move::Stay), end);
        NormalForm::new(b.build().expect("a machine")).expect("binary tapes")
    }

    fn check(kind: LandscapeKind, vertices: VertexSet, n_tapes: usize, expected: Option<u64>) {
        let options = LandscapeOptions { vertices, ..LandscapeOptions::new(kind, 3) };
        let too_many = match Landscape::build(&wide(n_tapes), &options) {
            Err(BuildError::TooManyVertices { n_vertices, .. }) => Some(n_vertices),
            Err(BuildError::TooManyEdges { n_edges, .. }) => Some(n_edges),
            Ok(_) => None,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(too_many, expected, "{} with {n_tapes} tapes", kind.word());
    }

    #[test]
    fn what_would_fill_the_memory_is_refused_before_it_is_built() {
        let all = VertexSet::All;
        check(LandscapeKind::Compact, all, 24, Some(2 << 24));
        check(LandscapeKind::Plain, all, 24, Some(2 << 24));
        check(LandscapeKind::Plain, all, 21, None);
        check(LandscapeKind::Relu, all, 10, Some(3 << 20));
        check(LandscapeKind::Relu, all, 6, None);
        check(LandscapeKind::Compact, all, 12, None);
    }

    #[test]
    fn tapes_that_no_state_looks_at_cost_nothing() {
        for kind in [LandscapeKind::Compact, LandscapeKind::Plain, LandscapeKind::Relu] {
            check(kind, VertexSet::LookedAt, luge_machine::MAX_TAPES, None);
        }
    }
}
