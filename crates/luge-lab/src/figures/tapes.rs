//! Why tapes are weights: a run whose cells are weights, and the number of corners it would need otherwise.

use luge_landscape::{Configuration, Landscape, LandscapeOptions};

use super::*;

/// Cells on each side of the head.
const RADIUS: usize = 4;

/// The longest tape whose configurations are counted.
const MAX_CELLS: usize = 8;

/// A run whose tape is made of weights.
pub(super) fn tape_weights() -> FigureResult {
    let job = TraceJob::new(Source::open("bb2")?);
    let prepared = PreparedJob::open(&Job::Trace(job))?;
    let scene = prepared.scene()?;
    let mut replay = scene.replay()?;
    let mut moments = Vec::new();
    for step in 0.. {
        replay.seek(step, &mut || true)?;
        if replay.step() < step {
            break;
        }
        moments.push(views::moment(&mut replay, RADIUS)?);
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
    Ok(json!({
        "opening": views::opening(&replay),
        "moments": moments,
        // Corners where tapes are weights, whatever their length.
        "corners": scene.control.map_or(0, |control| control.n_vertices()),
        // Cells of the tape, and corners if every configuration reachable from any content of it has one.
        "inside": (1..=MAX_CELLS).filter_map(count).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_grow_with_the_tape_unless_its_cells_are_weights() {
        let figure = tape_weights().expect("a figure");
        let moments = figure["moments"].as_array().expect("moments");
        assert_eq!((moments.len(), &figure["corners"]), (7, &json!(5)));
        let inside: Vec<(usize, usize)> = serde_json::from_value(figure["inside"].clone()).expect("counts");
        let counts: Vec<usize> = inside.iter().map(|&(_, corners)| corners).collect();
        assert!(counts.len() >= 6 && counts.windows(2).all(|pair| pair[1] * 2 > pair[0] * 3), "{counts:?}");
    }
}
