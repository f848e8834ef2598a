//! The network of a stream on fewer cells: a step changes nothing but columns around the heads, so that is where it is differentiated.

use luge_landscape::{Corrections, StreamNetwork, power_of_two_from};
use luge_machine::TapeId;
use luge_net::{StreamLayers, Values, stream_layers};

use super::{PreparedStream, PreparedStreamError, lockstep::StreamMismatch};

/// Columns beside those that hold data or theta.
const MARGIN: i64 = 4;

/// The same network with fewer columns.
pub(super) struct Near<'a> {
    lesson: &'a PreparedStream,
    layers: &'a StreamLayers,
    pub(super) network: StreamNetwork,
    n_cells: usize,
}

impl<'a> Near<'a> {
    /// The narrow network; `None` if it would not be much narrower, or its layers are not those of the whole.
    pub(super) fn of(
        lesson: &'a PreparedStream,
        layers: &'a StreamLayers,
    ) -> Result<Option<Self>, PreparedStreamError> {
        let (layout, first) = (&lesson.layout, &lesson.window.first);
        let column = |(tape, cell): (TapeId, usize)| cell as i64 - first[tape.index()] + MARGIN;
        let (theta, at) = lesson.learner.theta_track();
        let end = at + lesson.primary.n_weights() * layout.width();
        let needed = column((lesson.learner.data_track(), layout.end())).max(column((theta, end)));
        let n_cells = power_of_two_from(needed as f64) as usize;
        if n_cells > lesson.window.n_cells / 4 {
            return Ok(None);
        }
        let constants = lesson.network.constants;
        let options = luge_landscape::StreamOptions {
            vertices: lesson.options.vertices,
            n_cells,
            first_cells: first.clone(),
            layout: layout.clone(),
            label_bound: Some(constants.label_bound),
            carrier: Some(constants.carrier),
            corrections: Corrections::default(),
        };
        let network = StreamNetwork::build(&lesson.learner, &*lesson.primary, &options)?;
        let (blank, places) = (Values::filled(luge_net::Shape::new(0, 0), 0.0), Vec::new());
        let without_cells = |layers: &StreamLayers| StreamLayers {
            fixed_cells: blank.clone(),
            places: places.clone(),
            ..layers.clone()
        };
        let alike = stream_layers(&network.network)
            .is_ok_and(|narrow| without_cells(&narrow) == without_cells(layers));
        Ok(alike.then_some(Self { lesson, layers, network, n_cells }))
    }

    /// All weights before and after a step in the columns around the heads; `None` if the head on the data lies outside.
    ///
    /// # Errors
    /// If a weight outside these columns moved, or a head has weight there.
    pub(super) fn weights(
        &self,
        before: &[Values],
        after: &[Values],
        heads: &[i64],
    ) -> Result<Option<[Vec<Values>; 2]>, StreamMismatch> {
        let data = self.lesson.learner.data_track().index();
        let last = self.lesson.window.n_cells - self.n_cells;
        let mut starts = vec![0; heads.len()];
        for (tape, (&row, &head)) in self.layers.table.rows().iter().zip(heads).enumerate() {
            let at = self.lesson.window.index(TapeId::new(tape), head).unwrap_or(0);
            if tape != data {
                starts[row] = at.saturating_sub(self.n_cells / 2).min(last);
            } else if at + 2 >= self.n_cells {
                return Ok(None);
            }
        }
        let (mut narrow_before, mut narrow_after) = (before.to_vec(), after.to_vec());
        for (what, id) in [("cell", self.layers.cells), ("head", self.layers.head)] {
            let (of_before, of_after) = (&before[id.index()], &after[id.index()]);
            let mut parts = [Vec::new(), Vec::new()];
            for (row, &start) in starts.iter().enumerate().take(of_before.shape.rows) {
                let inside = start..start + self.n_cells;
                let both = of_before.row(row).iter().zip(of_after.row(row)).enumerate();
                for (index, (&expected, &found)) in both.filter(|(column, _)| !inside.contains(column)) {
                    let blank = what == "cell" || found.abs() <= 0.0;
                    if found.to_bits() != expected.to_bits() || !blank {
                        return Err(StreamMismatch::Weight { what, index, found, expected });
                    }
                }
                parts[0].extend(&of_before.row(row)[inside.clone()]);
                parts[1].extend(&of_after.row(row)[inside]);
            }
            let shape = luge_net::Shape::new(of_before.shape.rows, self.n_cells);
            let [before, after] = parts;
            narrow_before[id.index()] = Values::new(shape, before);
            narrow_after[id.index()] = Values::new(shape, after);
        }
        Ok(Some([narrow_before, narrow_after]))
    }
}
