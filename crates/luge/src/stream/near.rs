//! The network of a stream on fewer cells: a step changes nothing but columns around the heads, so that is where it is differentiated.

use luge_landscape::{StreamNetwork, power_of_two_from};
use luge_net::{StreamLayers, Values, stream_layers};

use super::{PreparedStream, PreparedStreamError, StreamOptions, lockstep::StreamMismatch};
use crate::run::lockstep::Window;

/// Columns on either side of those that hold data or theta.
const MARGIN: i64 = 20;
/// A head's weights that are not zero lie this close to it, if it is on its way in one direction: a sixteenth is left at every step, and
/// less than 2^-60 is dropped.
const TRAIL: usize = 16;

/// The same network with fewer columns.
pub(super) struct Near<'a> {
    lesson: &'a PreparedStream,
    layers: &'a StreamLayers,
    pub(super) network: StreamNetwork,
    n_cells: usize,
    /// The column of the whole network where the narrow one begins on read-only tapes.
    fixed_start: Vec<usize>,
}

impl<'a> Near<'a> {
    /// The narrow network; `None` if it would not be much narrower, or its layers are not those of the whole.
    pub(super) fn of(
        lesson: &'a PreparedStream,
        layers: &'a StreamLayers,
    ) -> Result<Option<Self>, PreparedStreamError> {
        let (layout, window) = (&lesson.layout, &lesson.window);
        let (_, theta) = lesson.learner.theta_track();
        let end = layout.end().max(theta + lesson.primary.n_weights() * layout.width());
        let n_cells = power_of_two_from((end as i64 + 2 * MARGIN) as f64) as usize;
        let start = |&first: &i64| {
            usize::try_from(-MARGIN - first).ok().filter(|start| start + n_cells <= window.n_cells)
        };
        let fixed_start: Option<Vec<usize>> = window.first.iter().map(start).collect();
        let Some(fixed_start) = fixed_start.filter(|_| n_cells <= window.n_cells / 4) else {
            return Ok(None);
        };
        let narrow = Window { first: vec![-MARGIN; window.first.len()], n_cells };
        let constants = lesson.network.constants;
        let options = StreamOptions {
            label_bound: Some(constants.label_bound),
            carrier: Some(constants.carrier),
            ..lesson.options.clone()
        };
        let network = super::network(&lesson.learner, &*lesson.primary, &options, (layout, &narrow), None)?;
        let (blank, places) = (Values::filled(luge_net::Shape::new(0, 0), 0.0), Vec::new());
        let without_cells = |layers: &StreamLayers| StreamLayers {
            fixed_cells: blank.clone(),
            places: places.clone(),
            ..layers.clone()
        };
        let alike = stream_layers(&network.network)
            .is_ok_and(|narrow| without_cells(&narrow) == without_cells(layers));
        Ok(alike.then_some(Self { lesson, layers, network, n_cells, fixed_start }))
    }

    /// All weights before and after a step in the columns around the heads; `None` if a head on a read-only tape lies outside.
    ///
    /// # Errors
    /// If a weight outside these columns moved, or a head has weight there.
    pub(super) fn weights(
        &self,
        before: &[Values],
        after: &[Values],
        columns: &[usize],
    ) -> Result<Option<[Vec<Values>; 2]>, StreamMismatch> {
        let last = self.lesson.window.n_cells - self.n_cells;
        let mut starts = vec![0; columns.len()];
        for ((&row, &at), &fixed) in self.layers.table.rows().iter().zip(columns).zip(&self.fixed_start) {
            if row < self.layers.table.n_trained() {
                starts[row] = at.saturating_sub(self.n_cells / 2).min(last);
            } else if (fixed + TRAIL..fixed + self.n_cells - TRAIL).contains(&at) {
                starts[row] = fixed;
            } else {
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
