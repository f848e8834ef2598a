//! The state of an engine at its step, near its heads or in full.

use luge_landscape::Configuration;
use luge_net::Values;
use luge_train::{Engine, PackedCells, Snapshot, TapeSnapshot};

use super::tapes::{cell_weight, head_cell};
use crate::{Scene, prepared_job::Prepared};

impl Prepared {
    /// The tapes of the vertex of a network without tapes; none if the parameters are not at a vertex.
    fn tapes(&self, parameters: &[Values], inputs: &[Values]) -> Vec<TapeSnapshot> {
        let configuration = match self {
            Self::Trace(plan) => plan.landscape.decode(parameters, inputs),
            Self::Training(lesson) => lesson.extended().decode(parameters, None),
        };
        let Ok(Configuration { tapes, heads, .. }) = configuration else { return Vec::new() };
        let tape = |(cells, head): (Vec<bool>, usize)| TapeSnapshot {
            first: 0,
            cells: PackedCells::of_symbols(cells.into_iter()),
            head_first: head as i64,
            head: vec![1.0],
        };
        tapes.into_iter().zip(heads).map(tape).collect()
    }
}

impl Scene<'_> {
    /// The nonzero weights of an engine; with a radius, only cells that close to a head. If the network has no tapes, those of the
    /// vertex.
    pub(super) fn look(&self, engine: &dyn Engine, radius: Option<usize>) -> Snapshot {
        let layers = engine.network().sparse_layers().ok();
        if let (Some(layers), Some(radius), "exact") = (layers, radius, engine.name()) {
            return near(engine, layers.table.rows.len(), radius);
        }
        let mut snapshot = engine.snapshot();
        if let (None, Some(parameters)) = (layers, engine.parameters()) {
            snapshot.tapes = self.prepared.run.tapes(&parameters, &self.task.inputs);
        }
        if let Some(radius) = radius {
            snapshot.tapes.iter_mut().for_each(|tape| cut(tape, radius));
        }
        snapshot
    }
}

/// The cells near the heads of the exact engine, without a snapshot of all others.
fn near(engine: &dyn Engine, n_tracks: usize, radius: usize) -> Snapshot {
    let tape = |track: usize| {
        let head = engine.head(track).unwrap_or(0);
        let first = head - radius as i64;
        let cells: Vec<f64> = (first..=head + radius as i64).map(|cell| engine.cell(track, cell)).collect();
        TapeSnapshot { first, cells: cells.into(), head_first: head, head: vec![1.0] }
    };
    Snapshot {
        step: engine.steps(),
        path: engine.path(),
        vertices: engine.vertex().map(|vertex| (vertex, 1.0)).into_iter().collect(),
        labels: engine.labels().to_vec(),
        tapes: (0..n_tracks).map(tape).collect(),
    }
}

/// Keeps the cells near the head only; cells that are not stored are blank.
fn cut(tape: &mut TapeSnapshot, radius: usize) {
    let head = head_cell(tape).unwrap_or(tape.head_first);
    let first = head - radius as i64;
    let weight = |cell: i64| cell_weight(tape, cell).unwrap_or(-1.0);
    let cells: Vec<f64> = (first..=head + radius as i64).map(weight).collect();
    (tape.first, tape.cells) = (first, cells.into());
}
