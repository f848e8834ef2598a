//! The gradient of one step by cells, heads and labels, and the next vertex.

use luge::run::engine::{EngineError, Task};
use luge_net::{Network, ParameterId, SparseLayers, StepRule, Values};
use luge_train::{Engine, Snapshot, Sparse, TapeSnapshot, best_vertex, vertex_parameter};

/// The nonzero derivatives of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepGradient {
    /// For every binary tape, cells and the derivatives by their weights.
    pub cells: Vec<Vec<(i64, f64)>>,
    /// For every binary tape, cells and the derivatives by the head's weights there.
    pub heads: Vec<Vec<(i64, f64)>>,
    /// The derivatives by z.
    pub labels: Vec<f64>,
    /// The vertex after the step; `None` if it does not change.
    pub to: Option<usize>,
}

impl StepGradient {
    /// The gradient of an engine's next step. `before` has its weights, or those near its heads.
    pub(super) fn at(
        task: &Task<'_>,
        engine: &mut dyn Engine,
        before: &Snapshot,
    ) -> Result<Self, EngineError> {
        match (engine.whole_gradient()?, task.network.sparse_layers().ok()) {
            (Some(gradient), _) => Ok(Self::of_blocks(task.network, before, &gradient)),
            (None, Some(layers)) => Self::by_stepping(task, layers, before),
            (None, None) => Ok(Self::default()),
        }
    }

    /// From a step of the sparse engine at these weights: a weight moves by its rate times its derivative.
    fn by_stepping(task: &Task<'_>, layers: &SparseLayers, before: &Snapshot) -> Result<Self, EngineError> {
        let mut sparse = Sparse::resume(task.network, before, None, &task.inputs)?;
        sparse.step()?;
        let after = sparse.snapshot();
        let to = sparse.vertex().filter(|&to| before.vertices.iter().all(|&(from, w)| w < 0.5 || from != to));
        let rate = |id: ParameterId| match task.network.parameters()[id.index()].step_rule {
            StepRule::Gradient { rate } => rate,
            StepRule::Simplex => 1.0,
        };
        let (cell_rate, head_rate) = (layers.cells.map_or(1.0, rate), rate(layers.head));
        let tracks = || before.tapes.iter().zip(&after.tapes);
        // Cells that are hidden units follow the labels, and have no derivative.
        let trained = |track: usize| layers.table.rows[track] < layers.table.n_trained;
        // Cells that are not stored are blank, and heads have no weight there.
        let cells = |tape: &TapeSnapshot| (tape.first, tape.cells.iter().collect());
        let pull = |(track, (a, b))| match trained(track) {
            true => moved(cells(a), cells(b), -1.0, cell_rate),
            false => Vec::new(),
        };
        let cells = tracks().enumerate().map(pull).collect();
        let heads = |tape: &TapeSnapshot| (tape.head_first, tape.head.clone());
        let heads = tracks().map(|(a, b)| moved(heads(a), heads(b), 0.0, head_rate)).collect();
        let labels = before.labels.iter().zip(&after.labels).map(|(a, b)| a - b).collect();
        Ok(Self { cells, heads, labels, to })
    }

    /// From the derivatives by all parameters.
    fn of_blocks(network: &Network, before: &Snapshot, gradient: &[Values]) -> Self {
        let labels = network.parameters().iter().position(|parameter| parameter.name == "labels");
        let nonzero = |id: Option<ParameterId>, row: usize| -> Vec<(i64, f64)> {
            let Some(block) = id.map(|id| &gradient[id.index()]).filter(|b| row < b.shape.rows) else {
                return Vec::new();
            };
            (0..).zip(block.row(row).iter().copied()).filter(|&(_, slope)| slope != 0.0).collect()
        };
        let layers = network.sparse_layers().ok();
        let rows = layers.map_or(&[][..], |layers| &layers.table.rows[..]);
        let of = |id: Option<ParameterId>| rows.iter().map(|&row| nonzero(id, row)).collect();
        Self {
            cells: of(layers.and_then(|layers| layers.cells)),
            heads: of(layers.map(|layers| layers.head)),
            labels: labels.map_or_else(Vec::new, |i| gradient[i].data.clone()),
            to: vertex_parameter(network).and_then(|id| vertex_after(network, id, before, gradient)),
        }
    }
}

/// The vertex after a step; `None` if it does not change.
fn vertex_after(network: &Network, id: ParameterId, before: &Snapshot, gradient: &[Values]) -> Option<usize> {
    let slopes = &gradient[id.index()].data;
    let mut point = vec![0.0; slopes.len()];
    before.vertices.iter().for_each(|&(vertex, weight)| point[vertex] = weight);
    match network.parameters()[id.index()].step_rule {
        StepRule::Simplex => best_vertex(slopes, &point),
        StepRule::Gradient { rate } => {
            let after = point.iter().zip(slopes).map(|(x, slope)| x - rate * slope);
            let to = after.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(to, _)| to);
            to.filter(|&to| point[to] < 0.5)
        }
    }
}

/// The cell of the first weight, and consecutive weights.
type Weights = (i64, Vec<f64>);

/// The cells whose weights differ, and the difference divided by the rate; cells outside a list hold `beyond`.
fn moved(before: Weights, after: Weights, beyond: f64, rate: f64) -> Vec<(i64, f64)> {
    let at = |(first, weights): &Weights, cell: i64| {
        usize::try_from(cell - first).ok().and_then(|i| weights.get(i)).copied().unwrap_or(beyond)
    };
    let end = |(first, weights): &Weights| first + weights.len() as i64;
    let cells = before.0.min(after.0)..end(&before).max(end(&after));
    let slope = |cell: i64| (cell, (at(&before, cell) - at(&after, cell)) / rate);
    cells.map(slope).filter(|&(_, slope)| slope != 0.0).collect()
}
