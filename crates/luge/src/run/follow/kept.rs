//! Snapshots of a run: steps that are recomputed later are reached from the last snapshot before them.

use luge_train::{Engine, Snapshot};

use crate::run::decimated::{Decimated, Thin};

/// How many snapshots are kept at most.
const MAX_SNAPSHOTS: usize = 16;
/// Steps between two of them, at least: shorter runs are made again from the start.
const FEWEST_STEPS: u64 = 1 << 20;
/// What they may take in all, in bytes.
const MAX_BYTES: usize = 1 << 25;

impl Thin for Snapshot {}

/// Memory for snapshots of a run that begins with this engine.
pub(super) fn room_for(engine: &dyn Engine) -> Decimated<Snapshot> {
    // A cell becomes a bit, a number at most an eighth of what the engine holds for it.
    let n_tracks = engine.network().sparse_layers().map_or(0, |layers| layers.table.n_tracks);
    let kept = |track: usize| engine.stored_cells(track).count();
    let bits: usize = (0..n_tracks).map(kept).sum();
    let bytes = (bits.max(engine.cell_bytes()) / 8).max(1);
    Decimated::new((MAX_BYTES / bytes).min(MAX_SNAPSHOTS), FEWEST_STEPS)
}

/// Keeps a snapshot if it is time for one.
pub(super) fn keep(kept: &mut Decimated<Snapshot>, engine: &dyn Engine) {
    let step = engine.steps();
    if step >= kept.due() && kept.begins(step) {
        kept.keep(step, engine.snapshot().trimmed());
    }
}
