//! A landscape inside a network's graph: its loss node, and the conversion between parameters and configurations.

use luge_machine::NormalForm;
use luge_net::{GraphBuilder, NodeId, ParameterId, Shape, SparseValues, Values};

use crate::{
    Bounds, BuildError, Configuration, Control, Corrections, ExternalConstants, LandscapeKind,
    LandscapeOptions, PlainConstants, Undecodable, VertexSet, compact,
    configuration::{bit, one_hot},
    internal::{self, Configurations, Levels},
    landscape::{MAX_COLUMNS, MAX_EDGES, MAX_GATES},
    plain, relu,
    tapes::{Tapes, Weights},
};

/// A landscape whose nodes are part of a graph.
#[derive(Clone, Debug)]
pub(crate) struct CarvedLandscape {
    pub(crate) kind: LandscapeKind,
    /// l_TM.
    pub(crate) loss: NodeId,
    pub(crate) bounds: Bounds,
    pub(crate) n_cells: usize,
    pub(crate) encoding: StateEncoding,
}

/// How the parameters represent a configuration: with external tapes, or as a vertex of `internal`.
#[derive(Clone, Debug)]
pub(crate) enum StateEncoding {
    Outside { control: Control, weights: Weights },
    Inside { configurations: Configurations, vertex: ParameterId, vertex_node: NodeId, has_start: bool },
}

impl CarvedLandscape {
    /// `compact`, `relu` or `plain`; the read-only tapes are nodes of the graph.
    pub(crate) fn outside(
        g: &mut GraphBuilder,
        normal: &NormalForm,
        options: &LandscapeOptions,
        read_only: Option<NodeId>,
    ) -> Result<Self, BuildError> {
        let LandscapeOptions { kind, vertices, n_cells, ref corrections, .. } = *options;
        check_size(normal, kind, vertices, corrections)?;
        let n_copies = if kind == LandscapeKind::Relu { corrections.n_copies as usize } else { 1 };
        let control = Control::new(normal, vertices, n_copies);
        let tapes = Tapes { control: &control, corrections, n_cells, read_only };
        let n_tapes = control.n_tapes();
        let ((loss, weights), bounds) = if kind == LandscapeKind::Plain {
            let constants = PlainConstants::choose(n_tapes, &options.constants)?;
            (plain::build(g, tapes, &constants), constants.bounds(n_tapes))
        } else {
            let chosen = || ExternalConstants::choose(n_tapes, &options.constants);
            let constants = options.unchecked.map_or_else(chosen, Ok)?;
            let vertex_loss = |g: &mut GraphBuilder, vertex| match kind {
                LandscapeKind::Relu => relu::vertex_loss(g, tapes, &constants, vertex),
                _ => compact::vertex_loss(g, &control, &constants, vertex),
            };
            (compact::build(g, tapes, &constants, vertex_loss), constants.bounds(n_tapes))
        };
        Ok(Self { kind, loss, bounds, n_cells, encoding: StateEncoding::Outside { control, weights } })
    }

    /// `internal` for these configurations.
    pub(crate) fn inside(
        g: &mut GraphBuilder,
        configurations: Configurations,
        options: &LandscapeOptions,
        start: Option<internal::Start<'_>>,
    ) -> Self {
        let has_start = start.is_some();
        let levels = Levels::new(&configurations, options.constants.scale.unwrap_or(1.0), has_start);
        let (loss, vertex, vertex_node) =
            internal::build(g, &configurations, &levels, start, &options.corrections);
        let encoding = StateEncoding::Inside { configurations, vertex, vertex_node, has_start };
        Self { kind: options.kind, loss, bounds: levels.bounds(), n_cells: options.n_cells, encoding }
    }

    fn n_tapes(&self) -> usize {
        match &self.encoding {
            StateEncoding::Outside { control, .. } => control.n_tapes(),
            StateEncoding::Inside { configurations, .. } => configurations.all[0].tapes.len(),
        }
    }

    /// The vertices of landscapes B and C.
    pub(crate) fn control(&self) -> Option<&Control> {
        match &self.encoding {
            StateEncoding::Outside { control, .. } => Some(control),
            StateEncoding::Inside { .. } => None,
        }
    }

    /// The parameter that holds the vertex.
    pub(crate) fn vertex(&self) -> ParameterId {
        match &self.encoding {
            StateEncoding::Outside { weights, .. } => weights.vertex.0,
            StateEncoding::Inside { vertex, .. } => *vertex,
        }
    }

    /// Number of vertices.
    pub(crate) fn n_vertices(&self) -> usize {
        match &self.encoding {
            StateEncoding::Outside { control, .. } => control.n_vertices(),
            StateEncoding::Inside { configurations, has_start, .. } => {
                configurations.all.len() + usize::from(*has_start)
            }
        }
    }

    /// The values of the landscape's parameters for a configuration; `None` if `internal` has no such vertex.
    pub(crate) fn encode(&self, configuration: &Configuration) -> Option<Vec<(ParameterId, SparseValues)>> {
        assert_eq!(configuration.tapes.len(), self.n_tapes(), "another number of tapes");
        assert!(configuration.tapes.iter().all(|t| t.len() <= self.n_cells), "more cells than there are");
        match &self.encoding {
            StateEncoding::Inside { configurations, vertex, .. } => {
                let index = *configurations.index.get(configuration)?;
                Some(vec![(*vertex, unit(self.n_vertices(), index))])
            }
            StateEncoding::Outside { control, weights } => {
                let index = control.vertex(configuration.state, configuration.reads());
                let mut values = vec![(weights.vertex.0, unit(self.n_vertices(), index))];
                let tape = |id| (id, self.cells(control, configuration, 0..control.n_writable()));
                values.extend(weights.writable.map(tape));
                let heads = tapes_by_row(control).enumerate();
                let heads = heads.map(|(row, tape)| (row * self.n_cells + configuration.heads[tape], 1.0));
                let shape = Shape::new(self.n_tapes(), self.n_cells);
                values.push((weights.head.0, SparseValues::new(shape, 0.0, heads)));
                Some(values)
            }
        }
    }

    /// The parameter that holds the vertex, at the start vertex of `internal`.
    pub(crate) fn at_start(&self) -> Option<(ParameterId, SparseValues)> {
        match &self.encoding {
            StateEncoding::Inside { configurations, vertex, has_start: true, .. } => {
                Some((*vertex, unit(self.n_vertices(), configurations.all.len())))
            }
            _ => None,
        }
    }

    /// The read-only tapes of a configuration, one row each, if there are any.
    pub(crate) fn read_only(&self, configuration: &Configuration) -> Option<SparseValues> {
        let control = self.control()?;
        let rows = control.n_writable()..self.n_tapes();
        (!rows.is_empty()).then(|| self.cells(control, configuration, rows))
    }

    /// The tapes in these rows as -1 and 1.
    fn cells(
        &self,
        control: &Control,
        configuration: &Configuration,
        rows: std::ops::Range<usize>,
    ) -> SparseValues {
        let tapes = tapes_by_row(control).skip(rows.start).take(rows.len()).enumerate();
        let others = tapes.flat_map(|(row, tape)| {
            let ones = configuration.tapes[tape].iter().enumerate().filter(|&(_, &one)| one);
            ones.map(move |(cell, _)| (row * self.n_cells + cell, 1.0))
        });
        SparseValues::new(Shape::new(rows.len(), self.n_cells), -1.0, others)
    }

    /// The configuration that parameters and read-only tapes represent.
    pub(crate) fn decode(
        &self,
        parameters: &[Values],
        read_only: Option<&Values>,
    ) -> Result<Configuration, Undecodable> {
        let vertex = one_hot(&parameters[self.vertex().index()].data)
            .map_err(|(index, value)| Undecodable::Vertex { index, value })?;
        match &self.encoding {
            StateEncoding::Inside { configurations, .. } => {
                configurations.all.get(vertex).cloned().ok_or(Undecodable::Start)
            }
            StateEncoding::Outside { control, weights } => {
                let head = &parameters[weights.head.0.index()];
                let mut tapes = Vec::with_capacity(self.n_tapes());
                let mut heads = Vec::with_capacity(self.n_tapes());
                for tape in 0..self.n_tapes() {
                    let row = control.row(tape);
                    let cells = match row.checked_sub(control.n_writable()) {
                        None => weights.writable.map(|id| parameters[id.index()].row(row)),
                        Some(row) => read_only.map(|values| values.row(row)),
                    };
                    let cell = |(cell, &value): (usize, &f64)| {
                        bit(value).ok_or(Undecodable::Cell { tape, cell, value })
                    };
                    let cells = cells.unwrap_or_default().iter().enumerate();
                    tapes.push(cells.map(cell).collect::<Result<Vec<_>, _>>()?);
                    let at = one_hot(head.row(row));
                    heads.push(at.map_err(|(cell, value)| Undecodable::Head { tape, cell, value })?);
                }
                let configuration = Configuration { state: control.state(vertex), tapes, heads };
                match control.differs(vertex, configuration.reads()) {
                    Some(tape) => Err(Undecodable::Symbol(tape)),
                    None => Ok(configuration),
                }
            }
        }
    }
}

/// Checks the numbers of vertices, columns and edges before anything is built.
pub(crate) fn check_size(
    normal: &NormalForm,
    kind: LandscapeKind,
    vertices: VertexSet,
    corrections: &Corrections,
) -> Result<(), BuildError> {
    let (n_states, n_tapes) = (normal.n_states(), normal.n_tapes());
    let n_vertices = vertices.n_vertices(normal);
    if n_vertices > MAX_GATES {
        return Err(BuildError::TooManyVertices { n_vertices, n_states, n_tapes });
    }
    let n_columns = VertexSet::LookedAt.n_vertices(normal);
    if n_columns > MAX_COLUMNS {
        return Err(BuildError::TooManyColumns(n_columns));
    }
    if kind == LandscapeKind::Relu {
        let control = Control::new(normal, vertices, 1);
        let n_edges = u64::from(corrections.n_copies) * relu::n_edges(&control);
        if n_edges > MAX_EDGES {
            return Err(BuildError::TooManyEdges { n_edges, n_states, n_tapes });
        }
    }
    Ok(())
}

/// The tape of each row of the matrices, from the first row on.
fn tapes_by_row(control: &Control) -> impl Iterator<Item = usize> {
    let mut tapes: Vec<usize> = (0..control.n_tapes()).collect();
    tapes.sort_by_key(|&tape| control.row(tape));
    tapes.into_iter()
}

/// The unit vector with a 1 at `index`.
fn unit(len: usize, index: usize) -> SparseValues {
    SparseValues::new(Shape::column(len), 0.0, [(index, 1.0)])
}
