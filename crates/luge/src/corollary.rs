//! The sizes that the paper's corollaries promise, beside the sizes that are counted.

use luge_landscape::{LandscapeKind, VertexSet};
use luge_machine::NormalForm;
use luge_net::Layers;
use serde::Serialize;

/// The layers both corollaries allow beside the primary network.
pub const CLAIMED_LAYERS: usize = 12;

/// What the O(n m) of the corollaries may stand for: this many units for every label.
const UNITS_PER_LABEL: u64 = 4;

/// What a corollary claims of a network, and whether the network keeps to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SizeClaim {
    /// 1 for `internal`, 2 for the others.
    pub corollary: u8,
    /// Layers allowed.
    pub layers: usize,
    /// Units per layer allowed, 4 n m included; `null` if there are more than 2^64.
    pub width: Option<u64>,
    /// Where that number comes from.
    pub formula: &'static str,
    /// The same with a vertex only for every combination of symbols that a state looks at; `null` for `internal`.
    pub width_looked_at: Option<u64>,
    /// Units per layer when the network is put into that many layers; `null` if it is deeper.
    pub arrangement: Option<Vec<usize>>,
    /// Whether that many layers suffice.
    pub layers_hold: bool,
    /// Whether no layer is wider.
    pub width_holds: bool,
}

impl SizeClaim {
    /// Holds a network's layers to the corollary about its landscape; `n_labels` is n m, 0 for a landscape alone.
    #[must_use]
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
        let looked_at = (kind != LandscapeKind::Internal).then(|| {
            let vertices = VertexSet::LookedAt.n_vertices(normal);
            vertices.saturating_add(2 * tapes * cells).saturating_add(UNITS_PER_LABEL * n_labels as u64)
        });
        let arrangement = layers.arrange(CLAIMED_LAYERS);
        let widest = arrangement.as_ref().map(|widths| widths.iter().copied().max().unwrap_or(0) as u64);
        Self {
            corollary,
            layers: CLAIMED_LAYERS,
            width,
            formula,
            width_looked_at: looked_at,
            layers_hold: widest.is_some(),
            width_holds: widest.is_some_and(|widest| width.is_none_or(|width| widest <= width)),
            arrangement,
        }
    }

    /// The widest layer of the arrangement.
    #[must_use]
    pub fn widest(&self) -> Option<usize> {
        self.arrangement.as_ref().map(|widths| widths.iter().copied().max().unwrap_or(0))
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
    use super::*;

    #[test]
    fn the_corollaries_widths() {
        assert_eq!(configurations(3, 1, 4), Some(3 * 16 * 4));
        assert_eq!(configurations(3, 2, 3), Some(3 * 64 * 9));
        assert_eq!(configurations(3, 1, 64), None);
        assert_eq!(external(5, 1, 18), Some(46));
        assert_eq!(external(3, 4, 9), Some(48 + 72));
    }
}
