//! A landscape's network as `luge inspect` shows it: counted, and beside it what the paper's corollaries promise.

use indicatif::HumanCount;
use luge::trace::{Plan, TraceError, TraceOptions};
use luge_landscape::{Kind, Landscape, LandscapeOptions};
use luge_machine::{
    Input, NormalForm,
    formats::Loaded,
    lowering::{Moves, lower},
};
use luge_net::Layers;
use serde::Serialize;

use super::super::{failure::Failure, landscape_args::TOWARDS_HALT};

/// The layers both corollaries allow.
const CLAIMED_LAYERS: usize = 12;

/// The network of a landscape.
#[derive(Serialize)]
pub(super) struct NetworkProfile {
    kind: &'static str,
    cells: usize,
    vertices: usize,
    units: usize,
    depth: usize,
    layers: Vec<LayerProfile>,
    /// Units per layer when the layers above are put into at most 12; `null` if the network is deeper.
    arrangement: Option<Vec<usize>>,
    claim: Claim,
}

#[derive(Serialize)]
struct LayerProfile {
    name: String,
    kind: &'static str,
    units: usize,
    depth: usize,
}

/// What the paper claims, and whether this network keeps to it.
#[derive(Serialize)]
struct Claim {
    corollary: u8,
    layers: usize,
    /// Units per layer; `null` if there are more than 2^64.
    width: Option<u64>,
    formula: &'static str,
    layers_hold: bool,
    width_holds: bool,
}

impl NetworkProfile {
    /// Builds a machine's landscape and counts it.
    pub(super) fn build(loaded: &Loaded, kind: Kind, cells: Option<usize>) -> Result<Self, Failure> {
        let lowered = lower(&loaded.machine, Moves::Keep)?;
        let landscape = match cells {
            // Landscapes with the tapes outside know nothing of any run.
            Some(cells) if kind != Kind::Internal => {
                Landscape::build(&lowered.normal, &LandscapeOptions::new(kind, cells))
                    .map_err(TraceError::from)?
            }
            _ => {
                let input = loaded.input.clone().unwrap_or_else(Input::blank);
                let options = TraceOptions { landscape: kind, cells, ..TraceOptions::default() };
                let remedy = match kind {
                    Kind::Internal => TOWARDS_HALT,
                    Kind::Compact | Kind::Relu | Kind::Plain => "say how many cells a tape has with --cells",
                };
                let plan = Plan::new(&loaded.machine, &input, &options);
                plan.map_err(|error| Failure::of_endless(error, remedy))?.landscape
            }
        };
        Ok(Self::of(&lowered.normal, &landscape))
    }

    fn of(normal: &NormalForm, landscape: &Landscape) -> Self {
        let layers = Layers::of(landscape.network());
        let arrangement = layers.arrange(CLAIMED_LAYERS);
        let cells = landscape.n_cells();
        let claim = Claim::of(landscape.kind(), normal, cells, arrangement.as_deref());
        let profile = |group: &luge_net::Layer| LayerProfile {
            name: group.name.clone(),
            kind: group.kind.word(),
            units: group.n_units,
            depth: group.depth,
        };
        Self {
            kind: landscape.kind().word(),
            cells,
            vertices: landscape.n_vertices(),
            units: layers.n_units(),
            depth: layers.depth(),
            layers: layers.groups().iter().map(profile).collect(),
            arrangement,
            claim,
        }
    }

    /// The rows of the table.
    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
        let count = |n: usize| HumanCount(n as u64).to_string();
        let (vertices, cells) = (count(self.vertices), count(self.cells));
        row("landscape", format!("{}, {vertices} vertices, {cells} cells per tape", self.kind));
        let name_width = self.layers.iter().map(|layer| layer.name.chars().count()).max().unwrap_or(0);
        for (index, layer) in self.layers.iter().enumerate() {
            let LayerProfile { name, kind, units, depth } = layer;
            let title = if index == 0 { "units" } else { "" };
            row(title, format!("{name:<name_width$}  {kind:<7}  {:>7}  depth {depth}", count(*units)));
        }
        row("units in all", format!("{}, {} deep", count(self.units), self.depth));
        let arranged = match &self.arrangement {
            Some(widths) => format!(
                "{} layers of at most {} units",
                widths.len(),
                count(widths.iter().copied().max().unwrap_or(0))
            ),
            None => format!("not within {CLAIMED_LAYERS} layers"),
        };
        row("arranged", arranged);
        let Claim { corollary, layers, width, formula, layers_hold, width_holds } = &self.claim;
        let width = width.map_or("more than 2^64".to_owned(), |width| HumanCount(width).to_string());
        row(
            &format!("Corollary {corollary}"),
            format!(
                "{layers} layers ({}) of {width} units ({})",
                verdict(*layers_hold),
                verdict(*width_holds)
            ),
        );
        row("", (*formula).to_owned());
        rows
    }
}

impl Claim {
    fn of(kind: Kind, normal: &NormalForm, cells: usize, arrangement: Option<&[usize]>) -> Self {
        let (states, tapes, cells) = (normal.n_states() as u64, normal.n_tapes() as u64, cells as u64);
        let (corollary, width, formula) = match kind {
            Kind::Internal => (1, configurations(states, tapes, cells), "|Q| 2^(d tau) tau^d + O(n m)"),
            Kind::Compact | Kind::Relu | Kind::Plain => {
                (2, external(states, tapes, cells), "2^d |Q| + 2 d tau + O(n m)")
            }
        };
        let widest = arrangement.map(|widths| widths.iter().copied().max().unwrap_or(0) as u64);
        Self {
            corollary,
            layers: CLAIMED_LAYERS,
            width,
            formula,
            layers_hold: widest.is_some(),
            width_holds: widest.is_some_and(|widest| width.is_none_or(|width| widest <= width)),
        }
    }
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
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
