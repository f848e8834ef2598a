//! The weights of a run on a stream at one step, for checkpoints and records.

use luge_net::{StreamLayers, Values};
use luge_train::{Snapshot, TapeSnapshot};

use super::{PreparedStream, engine::AnyEngine};

/// Takes a snapshot of an engine at a step, with the digest of the vertices visited so far.
pub(super) fn of(engine: &AnyEngine<'_>, layers: &StreamLayers, (step, path): (u64, u64)) -> Snapshot {
    let n_trained = layers.table.n_trained;
    let n_cells = engine.cells().len() / n_trained.max(1);
    let tape = |(tape, &row): (usize, &usize)| {
        let cells = if row < n_trained { &engine.cells()[row * n_cells..][..n_cells] } else { &[] };
        let weights = engine.row(Some(tape));
        let columns = || weights.iter().map(|&(column, _)| column);
        let (first, last) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
        let mut head = vec![0.0; last + 1 - first];
        weights.iter().for_each(|&(column, weight)| head[column - first] = weight);
        TapeSnapshot { first: 0, cells: cells.to_vec().into(), head_first: first as i64, head }
    };
    let mut vertices = engine.row(None).into_owned();
    vertices.sort_by_key(|&(vertex, _)| vertex);
    let labels = [engine.labels(), engine.memory()].concat();
    let tapes = layers.table.rows.iter().enumerate().map(tape).collect();
    Snapshot { step, path, vertices, labels, tapes }.trimmed()
}

/// Restores all weights, zeros included; `None` if they do not fit the network.
pub(super) fn weights(snapshot: &Snapshot, prepared: &PreparedStream) -> Option<Vec<Values>> {
    let PreparedStream { network, layers, .. } = prepared;
    let mut all = network.initial.clone();
    let (z, memory) = (layers.labels.index(), layers.memory.index());
    let (labels, held) = snapshot.labels.split_at_checked(all[z].data.len())?;
    if held.len() != all[memory].data.len() || snapshot.tapes.len() != layers.table.rows.len() {
        return None;
    }
    all[z].data.copy_from_slice(labels);
    all[memory].data.copy_from_slice(held);
    let (vertex, head, cells) = (layers.vertex.index(), layers.head.index(), layers.cells.index());
    all[vertex].data.fill(0.0);
    all[head].data.fill(0.0);
    all[cells].data.fill(-1.0);
    for &(at, weight) in &snapshot.vertices {
        *all[vertex].data.get_mut(at)? = weight;
    }
    for (&row, tape) in layers.table.rows.iter().zip(&snapshot.tapes) {
        let mut put = |block: usize, first: i64, numbers: &mut dyn Iterator<Item = f64>| {
            let n_columns = all[block].shape.cols;
            (first..).zip(numbers).try_for_each(|(column, number)| {
                let column = usize::try_from(column).ok().filter(|&column| column < n_columns)?;
                *all[block].at_mut(row, column) = number;
                Some(())
            })
        };
        put(head, tape.head_first, &mut tape.head.iter().copied())?;
        if row < layers.table.n_trained {
            put(cells, tape.first, &mut tape.cells.iter())?;
        }
    }
    Some(all)
}
