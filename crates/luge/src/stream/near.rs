//! The network of a stream on fewer cells: a step changes only columns around the heads, so it is differentiated on these.

use std::cell::OnceCell;

use luge_landscape::{StreamNetwork, power_of_two_from};
use luge_net::{StreamLayers, stream_layers};

use super::{PreparedStream, StreamOptions};
use crate::{certificate::same_bits, run::lockstep::Window};

/// Columns on either side of those that hold data or theta.
const MARGIN: i64 = 20;
/// The nonzero weights of a head that moves in one direction lie this close to it: every step leaves a sixteenth behind, and less than
/// 2^-60 is dropped.
const TRAIL: usize = 16;
/// The most networks that are kept.
const MOST: usize = 64;

/// The same network with fewer columns, around different cells of the read-only tapes.
pub(super) struct Near<'a> {
    lesson: &'a PreparedStream,
    layers: &'a StreamLayers,
    pub(super) n_cells: usize,
    networks: OnceCell<Box<Link>>,
}

/// A network that is kept, and those made after it.
struct Link {
    /// The content of its columns on the read-only tapes.
    fixed: Vec<f64>,
    /// `None` if it is not a part of the whole network.
    network: Option<StreamNetwork>,
    next: OnceCell<Box<Link>>,
}

/// A narrow network: one that is kept, by its number, or one that is not.
pub(super) enum Part<'a> {
    Kept(usize, &'a StreamNetwork),
    Temporary(Box<StreamNetwork>),
}

impl<'a> Near<'a> {
    /// Narrow networks; `None` if they would not be much narrower.
    pub(super) fn of(lesson: &'a PreparedStream, layers: &'a StreamLayers) -> Option<Self> {
        let layout = &lesson.layout;
        let (_, theta) = lesson.learner.theta_track();
        let end = layout.end().max(theta + lesson.primary.n_weights() * layout.width());
        let n_cells = power_of_two_from((end as i64 + 2 * MARGIN) as f64) as usize;
        (n_cells <= lesson.window.n_cells / 4).then(|| Self {
            lesson,
            layers,
            n_cells,
            networks: OnceCell::new(),
        })
    }

    /// For every row of cells, the whole network's column that the narrow one begins with where the heads are in these columns; `None` if
    /// the head on the data is too far from them.
    pub(super) fn starts(&self, columns: &[usize]) -> Option<Vec<usize>> {
        let (window, half) = (&self.lesson.window, self.n_cells / 2);
        let last = window.n_cells - self.n_cells;
        let mut starts = vec![0; columns.len()];
        for (tape, (&row, &at)) in self.layers.table.rows().iter().zip(columns).enumerate() {
            starts[row] = if row < self.layers.table.n_trained() {
                at.saturating_sub(half).min(last)
            } else if tape == self.lesson.learner.data_track().index() {
                let start = usize::try_from(-MARGIN - window.first[tape]).ok()?;
                let inside = (start + TRAIL..start + self.n_cells - TRAIL).contains(&at);
                Some(start).filter(|_| inside && start <= last)?
            } else {
                // Few different places, each with a margin around the head.
                (at.saturating_sub(half / 2) / half * half).min(last)
            };
        }
        Some(starts)
    }

    /// The narrow network that begins with these columns; `None` if it is not a part of the whole network.
    pub(super) fn part(&self, starts: &[usize]) -> Option<Part<'_>> {
        let rows = starts[self.layers.table.n_trained()..].iter().enumerate();
        let cells =
            |(at, &start): (usize, &usize)| &self.layers.fixed_cells.row(at)[start..start + self.n_cells];
        let fixed: Vec<f64> = rows.flat_map(cells).copied().collect();
        let (mut place, mut n_kept) = (&self.networks, 0);
        while let Some(link) = place.get() {
            if same_bits(&link.fixed, &fixed) {
                return Some(Part::Kept(n_kept, link.network.as_ref()?));
            }
            (place, n_kept) = (&link.next, n_kept + 1);
        }
        if n_kept == MOST {
            return Some(Part::Temporary(Box::new(self.build(starts)?)));
        }
        let link = place
            .get_or_init(|| Box::new(Link { fixed, network: self.build(starts), next: OnceCell::new() }));
        Some(Part::Kept(n_kept, link.network.as_ref()?))
    }

    fn build(&self, starts: &[usize]) -> Option<StreamNetwork> {
        let Self { lesson, layers, n_cells, .. } = *self;
        let first = layers.table.rows().iter().zip(&lesson.window.first).map(|(&row, &first)| {
            if row < layers.table.n_trained() { -MARGIN } else { first + starts[row] as i64 }
        });
        let window = Window { first: first.collect(), n_cells };
        let constants = lesson.network.constants;
        let options = StreamOptions {
            label_bound: Some(constants.label_bound),
            carrier: Some(constants.carrier),
            ..lesson.options.clone()
        };
        let parts = (&lesson.layout, &window);
        let network = super::network(&lesson.learner, &*lesson.primary, &options, parts, None).ok()?;
        let narrow = stream_layers(&network.network).ok()?;
        // Constants and bits of the memory must be those of the whole network in these columns.
        for (at, &start) in starts[layers.table.n_trained()..].iter().enumerate() {
            let whole = &layers.fixed_cells.row(at)[start..start + n_cells];
            let in_row = |place: usize, width: usize| (place / width == at).then_some(place % width);
            let places = layers.places.iter().zip(&narrow.places).all(|(&whole, &narrow)| {
                let whole = in_row(whole, lesson.window.n_cells).map(|column| column.wrapping_sub(start));
                whole == in_row(narrow, n_cells)
            });
            if !same_bits(whole, narrow.fixed_cells.row(at)) || !places {
                return None;
            }
        }
        let (fixed_cells, places) = (layers.fixed_cells.clone(), layers.places.clone());
        (StreamLayers { fixed_cells, places, ..narrow } == *layers).then_some(network)
    }
}
