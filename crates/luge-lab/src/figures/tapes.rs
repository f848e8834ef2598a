//! Why tapes become weights: a run whose cells are weights, and how many corners it would need without them.

use luge::job::{Job, TraceJob, source::Source};
use luge_landscape::{Configuration, Landscape, LandscapeKind, LandscapeOptions};
use serde::Serialize;

use crate::{Moment, Opening, PreparedJob};

/// Cells that are drawn on each side of the head.
const RADIUS: usize = 4;

/// The longest tape whose configurations are counted.
const MAX_CELLS: usize = 8;

/// A run of the two-state busy beaver on `compact`, and the corners of `internal` for longer and longer tapes.
#[derive(Debug, Serialize)]
pub(super) struct TapeWeights {
    opening: Opening,
    moments: Vec<Moment>,
    /// Corners where tapes are weights, whatever their length.
    corners: usize,
    /// Cells of the tape, and corners if every configuration reachable from any content of it has one.
    inside: Vec<(usize, usize)>,
}

impl TapeWeights {
    pub(super) fn new() -> Result<Self, String> {
        let job = TraceJob::new(Source::open("bb2").map_err(|error| error.to_string())?);
        let stage = PreparedJob::open(&Job::Trace(job)).map_err(|error| error.to_string())?;
        let scene = stage.scene().map_err(|error| error.to_string())?;
        let mut replay = scene.replay().map_err(|error| error.to_string())?;
        let opening = Opening::of(&scene, &replay.chosen);
        let mut moments = Vec::new();
        for step in 0.. {
            replay.seek(step, &mut || true).map_err(|error| error.to_string())?;
            if replay.step() < step {
                break;
            }
            moments.push(Moment::of(&scene, &mut replay, RADIUS).map_err(|error| error.to_string())?);
        }
        let normal = &scene.lowered.normal;
        let count = |n_cells: usize| {
            let content = |code: usize| Configuration {
                state: normal.machine().start(),
                tapes: vec![(0..n_cells).map(|cell| code >> cell & 1 == 1).collect()],
                heads: vec![n_cells / 2],
            };
            let options = LandscapeOptions {
                declared: (0..1 << n_cells).map(content).collect(),
                ..LandscapeOptions::new(LandscapeKind::Internal, n_cells)
            };
            Landscape::build(normal, &options).ok().map(|landscape| (n_cells, landscape.n_vertices()))
        };
        let inside = (1..=MAX_CELLS).filter_map(count).collect();
        let corners = scene.control.map_or(0, |control| control.n_vertices());
        Ok(Self { opening, moments, corners, inside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_grow_with_the_tape_unless_its_cells_are_weights() {
        let figure = TapeWeights::new().expect("a figure");
        assert_eq!((figure.moments.len(), figure.corners), (7, 5));
        let counts: Vec<usize> = figure.inside.iter().map(|&(_, corners)| corners).collect();
        assert!(counts.len() >= 6 && counts.windows(2).all(|pair| pair[1] * 2 > pair[0] * 3), "{counts:?}");
    }
}
