//! Compares the sizes that the paper's corollaries claim with those of the network.

use luge_landscape::{Extended, LandscapeKind, VertexSet};
use luge_machine::NormalForm;
use luge_net::Layers;
use serde::Serialize;

/// The layers that both corollaries allow in addition to the primary network.
pub const CLAIMED_LAYERS: usize = 12;

/// The units per label that are allowed for the O(n m) of the corollaries.
const UNITS_PER_LABEL: u64 = 4;

/// An arrangement of a network in layers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Arrangement {
    /// The number of layers.
    pub layers: usize,
    /// Units of the widest layer.
    pub widest: usize,
    /// Units of each layer.
    pub widths: Vec<usize>,
}

impl Arrangement {
    /// Finds the narrowest arrangement in at most this many layers, by a greedy search; in more if the network is deeper.
    fn within(layers: &Layers, most_layers: usize) -> Self {
        let widths = layers.arrange(most_layers.max(layers.depth())).unwrap_or_default();
        Self { layers: widths.len(), widest: widths.iter().copied().max().unwrap_or(0), widths }
    }
}

/// What a corollary claims about a network's size, and whether it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SizeClaim {
    /// 1 for `internal`, 2 for the others.
    pub corollary: u8,
    /// The allowed number of layers.
    pub layers: usize,
    /// The allowed units per layer, 4 n m included; `null` if they exceed 2^64.
    pub width: Option<u64>,
    /// The formula for the width.
    pub formula: &'static str,
    /// The same with a vertex only for every combination of symbols that a state looks at; `null` for `internal`.
    pub width_looked_at: Option<u64>,
    /// The network in as few layers as possible.
    pub fewest_layers: Arrangement,
    /// The network in layers as narrow as the search finds, in at most the allowed number of layers if possible.
    pub narrowest: Arrangement,
    /// Whether the network fits in the allowed layers.
    pub layers_hold: bool,
    /// Whether no layer of the narrowest arrangement is wider than allowed.
    pub width_holds: bool,
}

impl SizeClaim {
    /// Compares an extended network without its primary network with the corollary; `n_labels` is n m.
    pub fn of_extended(extended: &Extended, normal: &NormalForm, n_cells: usize, n_labels: usize) -> Self {
        let out = extended.nodes.out;
        let layers = Layers::up_to(extended.network(), out, |node| extended.is_primary(node));
        Self::about(extended.kind(), normal, n_cells, n_labels, &layers)
    }

    /// Compares a network's layers with the corollary about its landscape; `n_labels` is n m, 0 for a landscape alone.
    pub fn about(
        kind: LandscapeKind,
        normal: &NormalForm,
        n_cells: usize,
        n_labels: usize,
        layers: &Layers,
    ) -> Self {
        let (states, tapes, cells) = (normal.n_states() as u64, normal.n_tapes() as u64, n_cells as u64);
        let (corollary, width, formula) = match kind {
            LandscapeKind::Internal => {
                (1, configurations(states, tapes, cells), "|Q| 2^(d tau) tau^d + O(n m)")
            }
            LandscapeKind::Compact | LandscapeKind::Relu | LandscapeKind::Plain => {
                (2, external(states, tapes, cells), "2^d |Q| + 2 d tau + O(n m)")
            }
        };
        let width = width.and_then(|width| width.checked_add(UNITS_PER_LABEL * n_labels as u64));
        let width_looked_at = (kind != LandscapeKind::Internal).then(|| {
            let vertices = VertexSet::LookedAt.n_vertices(normal);
            vertices.saturating_add(2 * tapes * cells).saturating_add(UNITS_PER_LABEL * n_labels as u64)
        });
        let fewest_layers = Arrangement::within(layers, 0);
        let narrowest = Arrangement::within(layers, CLAIMED_LAYERS);
        Self {
            corollary,
            layers: CLAIMED_LAYERS,
            width,
            formula,
            width_looked_at,
            layers_hold: fewest_layers.layers <= CLAIMED_LAYERS,
            width_holds: width.is_none_or(|width| narrowest.widest as u64 <= width),
            fewest_layers,
            narrowest,
        }
    }

    /// Returns the allowed width as text.
    pub fn width_text(&self) -> String {
        self.width.map_or("more than 2^64".to_owned(), |width| width.to_string())
    }
}

/// |Q| 2^(d tau) tau^d; `None` beyond 2^64.
fn configurations(states: u64, tapes: u64, cells: u64) -> Option<u64> {
    let contents = 2_u64.checked_pow(u32::try_from(tapes.checked_mul(cells)?).ok()?)?;
    let heads = cells.checked_pow(u32::try_from(tapes).ok()?)?;
    states.checked_mul(contents)?.checked_mul(heads)
}

/// 2^d |Q| + 2 d tau; `None` beyond 2^64.
fn external(states: u64, tapes: u64, cells: u64) -> Option<u64> {
    let vertices = 2_u64.checked_pow(u32::try_from(tapes).ok()?)?.checked_mul(states)?;
    vertices.checked_add(tapes.checked_mul(cells)?.checked_mul(2)?)
}

#[cfg(test)]
mod tests {
    use luge_net::{GraphBuilder, NodeId, Shape, StepRule};

    use super::*;

    /// A chain of two layers of three units, and two groups of three that may lie anywhere.
    fn layers(n_in_chain: usize) -> Layers {
        let mut g = GraphBuilder::new();
        let (_, x) = g.parameter("x", Shape::column(3), StepRule::Simplex);
        let chain = (0..n_in_chain).fold(x, |last, _| g.relu("chain", last));
        let free: Vec<NodeId> = (0..2).map(|_| g.relu("free", x)).collect();
        let sum = g.sum("sum", [(1.0, chain), (1.0, free[0]), (1.0, free[1])]);
        let loss = g.sum_all("loss", sum);
        Layers::of(&g.finish(loss))
    }

    /// Two layers need six units each, layers of three units are four: neither pair mixes the two.
    #[test]
    fn layers_and_widths_come_from_one_arrangement() {
        let counted = layers(2);
        let pair = |most: usize| {
            let found = Arrangement::within(&counted, most);
            assert_eq!(found.widths.iter().sum::<usize>(), counted.n_units());
            assert_eq!(found.layers, found.widths.len());
            assert_eq!(Some(&found.widest), found.widths.iter().max());
            (found.layers, found.widest)
        };
        assert_eq!(pair(0), (2, 6));
        assert_eq!(pair(CLAIMED_LAYERS), (4, 3));
        // A network that is deeper than allowed has an arrangement all the same.
        let deep = Arrangement::within(&layers(15), CLAIMED_LAYERS);
        assert_eq!((deep.layers, deep.widest), (15, 6));
    }

    #[test]
    fn the_corollaries_widths() {
        assert_eq!(configurations(3, 1, 4), Some(3 * 16 * 4));
        assert_eq!(configurations(3, 2, 3), Some(3 * 64 * 9));
        assert_eq!(configurations(3, 1, 64), None);
        assert_eq!(external(5, 1, 18), Some(46));
        assert_eq!(external(3, 4, 9), Some(48 + 72));
    }
}
