//! The gradient of one step on cells, heads and labels, and where the vertex goes.

use luge_net::{ParameterId, Structure, Values};
use luge_train::{Sparse, TapeSnapshot, Tracer, TrainError, best_vertex};

use super::{Runner, Task};

/// Derivatives that are not zero.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepGradient {
    /// For every lane, cells and the derivative by their weights.
    pub cells: Vec<Vec<(i64, f64)>>,
    /// For every lane, cells and the derivative by the head's weight there.
    pub heads: Vec<Vec<(i64, f64)>>,
    /// By z.
    pub labels: Vec<f64>,
    /// The vertex after the step; `None` if it stays.
    pub to: Option<usize>,
}

impl StepGradient {
    pub(super) fn at(
        task: &Task<'_>,
        runner: &mut Runner<'_>,
        radius: Option<usize>,
    ) -> Result<Self, TrainError> {
        match (runner, task.network.structure()) {
            (Runner::Dense(dense), layers) => {
                let gradient = dense.gradient()?;
                let snapshot = dense.snapshot(task)?;
                let labels = task.network.parameters().iter().position(|p| p.name == "labels");
                let mut pull = Self {
                    labels: labels.map_or(Vec::new(), |i| gradient[i].data.clone()),
                    ..Self::default()
                };
                if let Some(layers) = layers {
                    pull.of_blocks(layers, &gradient);
                }
                if let Some(id) = super::runner::vertex_parameter(task.network) {
                    let slopes = &gradient[id.index()].data;
                    let mut point = vec![0.0; slopes.len()];
                    snapshot.vertices.iter().for_each(|&(vertex, weight)| point[vertex] = weight);
                    pull.to = match task.network.parameters()[id.index()].step_rule {
                        luge_net::StepRule::Simplex => best_vertex(slopes, &point),
                        luge_net::StepRule::Gradient { rate } => {
                            let after = point.iter().zip(slopes).map(|(x, slope)| x - rate * slope);
                            let to = after.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(to, _)| to);
                            to.filter(|&to| point[to] < 0.5)
                        }
                    };
                }
                Ok(pull)
            }
            (runner, Some(layers)) => Self::by_stepping(task, layers, runner, radius),
            (_, None) => Ok(Self::default()),
        }
    }

    /// From the sparse engine's step at these very weights: what a weight moves by is its rate times its derivative.
    fn by_stepping(
        task: &Task<'_>,
        layers: &Structure,
        runner: &Runner<'_>,
        radius: Option<usize>,
    ) -> Result<Self, TrainError> {
        let before = runner.look(task, radius)?;
        let mut sparse = Sparse::resume(task.network, &before, None, &task.inputs, None)?;
        sparse.step()?;
        let after = sparse.snapshot();
        let vertex =
            sparse.vertex().filter(|&to| before.vertices.iter().all(|&(from, w)| w < 0.5 || from != to));
        let rate = |id: ParameterId| match task.network.parameters()[id.index()].step_rule {
            luge_net::StepRule::Gradient { rate } => rate,
            luge_net::StepRule::Simplex => 1.0,
        };
        let cell_rate = layers.cells.map_or(1.0, rate);
        let head_rate = rate(layers.head);
        let lanes = || before.tapes.iter().zip(&after.tapes);
        let cells = lanes().map(|(a, b)| moved(&cells_of(a), &cells_of(b), -1.0, cell_rate));
        let heads = lanes().map(|(a, b)| moved(&heads_of(a), &heads_of(b), 0.0, head_rate));
        let labels = before.labels.iter().zip(&after.labels).map(|(a, b)| a - b);
        Ok(Self { cells: cells.collect(), heads: heads.collect(), labels: labels.collect(), to: vertex })
    }

    fn of_blocks(&mut self, layers: &Structure, gradient: &[Values]) {
        let nonzero = |id: Option<ParameterId>, row: usize| -> Vec<(i64, f64)> {
            let Some(block) = id.map(|id| &gradient[id.index()]).filter(|b| row < b.shape.rows) else {
                return Vec::new();
            };
            let entries = block.row(row).iter().enumerate();
            entries.filter(|(_, slope)| **slope != 0.0).map(|(i, &slope)| (i as i64, slope)).collect()
        };
        self.cells = layers.table.rows().iter().map(|&row| nonzero(layers.cells, row)).collect();
        self.heads = layers.table.rows().iter().map(|&row| nonzero(Some(layers.head), row)).collect();
    }
}

fn cells_of(lane: &TapeSnapshot) -> (i64, &[f64]) {
    (lane.first, &lane.cells)
}

fn heads_of(lane: &TapeSnapshot) -> (i64, &[f64]) {
    (lane.head_first, &lane.head)
}

/// Where two lists of weights differ, by how much, over the rate; beyond its end a list holds `beyond`.
fn moved(before: &(i64, &[f64]), after: &(i64, &[f64]), beyond: f64, rate: f64) -> Vec<(i64, f64)> {
    let at = |&(first, weights): &(i64, &[f64]), cell: i64| {
        usize::try_from(cell - first).ok().and_then(|i| weights.get(i)).copied().unwrap_or(beyond)
    };
    let end = |&(first, weights): &(i64, &[f64])| first + weights.len() as i64;
    let cells = before.0.min(after.0)..end(before).max(end(after));
    let slope = |cell: i64| (cell, (at(before, cell) - at(after, cell)) / rate);
    cells.map(slope).filter(|&(_, slope)| slope != 0.0).collect()
}
