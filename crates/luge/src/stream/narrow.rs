//! Builds the network of a stream on fewer cells. A step changes only the columns near the heads, so differentiating
//! those columns is enough.

use std::cell::OnceCell;

use luge_landscape::{StreamNetwork, power_of_two_from};
use luge_net::{StreamLayers, stream_layers};

use super::PreparedStream;
use crate::{certificate::same_bits, run::lockstep::Window};

/// Columns added on each side of those that hold data or theta.
const MARGIN: i64 = 20;
/// How far from a moving head its nonzero weights can be: each step leaves at most a sixteenth of the weight behind, and
/// weights below 2^-60 are dropped.
const TRAIL: usize = 16;
/// The number of narrow networks that are cached.
const CACHE_SIZE: usize = 64;

/// The same network with fewer columns, around different cells of the read-only tapes.
pub(super) struct NarrowNetworks<'a> {
    prepared: &'a PreparedStream,
    pub(super) n_cells: usize,
    cache: Vec<OnceCell<Cached>>,
}

/// A narrow network in the cache.
struct Cached {
    /// The content of its columns on the read-only tapes.
    fixed: Vec<f64>,
    /// `None` if it is not a part of the whole network.
    network: Option<StreamNetwork>,
}

/// A narrow network.
pub(super) enum NarrowNetwork<'a> {
    /// In this slot of the cache.
    Cached(usize, &'a StreamNetwork),
    /// Built while the cache was full.
    Temporary(Box<StreamNetwork>),
}

impl<'a> NarrowNetworks<'a> {
    /// Returns `None` if narrow networks would not be much narrower than the whole one.
    pub(super) fn of(prepared: &'a PreparedStream) -> Option<Self> {
        let layout = &prepared.layout;
        let (_, theta) = prepared.learner.theta_track();
        let end = layout.end().max(theta + prepared.primary.n_weights() * layout.width());
        let n_cells = power_of_two_from((end as i64 + 2 * MARGIN) as f64) as usize;
        let cache = (0..CACHE_SIZE).map(|_| OnceCell::new()).collect();
        (n_cells <= prepared.window.n_cells / 4).then_some(Self { prepared, n_cells, cache })
    }

    /// Returns for every row of cells the whole network's column that becomes the first column of the narrow network,
    /// given the columns of the heads; `None` if the head of the data tape is too far from the data.
    pub(super) fn starts(&self, columns: &[usize]) -> Option<Vec<usize>> {
        let (window, half) = (&self.prepared.window, self.n_cells / 2);
        let last = window.n_cells - self.n_cells;
        let mut starts = vec![0; columns.len()];
        let table = &self.prepared.layers.table;
        for (tape, (&row, &at)) in table.rows.iter().zip(columns).enumerate() {
            starts[row] = if row < table.n_trained {
                at.saturating_sub(half).min(last)
            } else if tape == self.prepared.learner.data_track().index() {
                let start = usize::try_from(-MARGIN - window.first[tape]).ok()?;
                let inside = (start + TRAIL..start + self.n_cells - TRAIL).contains(&at);
                Some(start).filter(|_| inside && start <= last)?
            } else {
                // A multiple of half the width, so that few different networks are needed.
                (at.saturating_sub(half / 2) / half * half).min(last)
            };
        }
        Some(starts)
    }

    /// Returns the narrow network whose rows begin with these columns; `None` if it is not a part of the whole network.
    pub(super) fn part(&self, starts: &[usize]) -> Option<NarrowNetwork<'_>> {
        let layers = &self.prepared.layers;
        let rows = starts[layers.table.n_trained..].iter().enumerate();
        let cells = |(at, &start): (usize, &usize)| &layers.fixed_cells.row(at)[start..start + self.n_cells];
        let fixed: Vec<f64> = rows.flat_map(cells).copied().collect();
        for (slot, cell) in self.cache.iter().enumerate() {
            let cached = cell.get_or_init(|| Cached { fixed: fixed.clone(), network: self.build(starts) });
            if same_bits(&cached.fixed, &fixed) {
                return Some(NarrowNetwork::Cached(slot, cached.network.as_ref()?));
            }
        }
        Some(NarrowNetwork::Temporary(Box::new(self.build(starts)?)))
    }

    fn build(&self, starts: &[usize]) -> Option<StreamNetwork> {
        let Self { prepared, n_cells, .. } = *self;
        let layers = &prepared.layers;
        let first = layers.table.rows.iter().zip(&prepared.window.first).map(|(&row, &first)| {
            if row < layers.table.n_trained { -MARGIN } else { first + starts[row] as i64 }
        });
        let window = Window { first: first.collect(), n_cells };
        let (options, parts) = (prepared.chosen_options(), (&prepared.layout, &window));
        let network = super::network(&prepared.learner, &*prepared.primary, &options, parts, None).ok()?;
        let narrow = stream_layers(&network.network).ok()?;
        // In these columns the constants and the memory's bits must be those of the whole network.
        for (at, &start) in starts[layers.table.n_trained..].iter().enumerate() {
            let whole = &layers.fixed_cells.row(at)[start..start + n_cells];
            let in_row = |place: usize, width: usize| (place / width == at).then_some(place % width);
            let places = layers.places.iter().zip(&narrow.places).all(|(&whole, &narrow)| {
                let whole = in_row(whole, prepared.window.n_cells).map(|column| column.wrapping_sub(start));
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
