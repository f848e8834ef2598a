//! `luge inspect` for a network: its sizes beside the bounds of the paper's corollaries.

use indicatif::HumanCount;
use luge::{
    certificate::paper_bounds::{Arrangement, SizeClaim},
    files::Model,
    job::Loaded,
    trace::{PreparedTrace, TraceOptions},
};
use luge_landscape::{Landscape, LandscapeKind, LandscapeOptions, VertexSet};
use luge_machine::{
    Input,
    lowering::{Moves, lower},
};
use luge_net::Layers;
use serde::Serialize;

use super::super::{Failure, Rows, TOWARDS_HALT, count};

/// The network of a landscape, or an extended network without its primary network.
#[derive(Serialize)]
pub(super) struct NetworkProfile {
    kind: &'static str,
    cells: usize,
    vertices: usize,
    units: usize,
    depth: usize,
    layers: Vec<LayerProfile>,
    claim: SizeClaim,
}

#[derive(Serialize)]
struct LayerProfile {
    name: String,
    kind: &'static str,
    units: usize,
    depth: usize,
}

impl NetworkProfile {
    /// Builds a machine's landscape and counts it.
    pub(super) fn of_machine(
        loaded: &Loaded,
        (kind, vertices): (LandscapeKind, VertexSet),
        cells: Option<usize>,
    ) -> Result<Self, Failure> {
        let lowered = lower(&loaded.machine, Moves::Keep)?;
        let landscape = match cells {
            // Except for internal, a landscape does not depend on a run.
            Some(cells) if kind != LandscapeKind::Internal => {
                let options = LandscapeOptions { vertices, ..LandscapeOptions::new(kind, cells) };
                Landscape::build(&lowered.normal, &options)?
            }
            _ => {
                let input = loaded.input.clone().unwrap_or_else(Input::blank);
                let options = TraceOptions { cells, vertices, ..TraceOptions::dense(kind) };
                let remedy = match kind {
                    LandscapeKind::Internal => TOWARDS_HALT,
                    LandscapeKind::Compact | LandscapeKind::Relu | LandscapeKind::Plain => {
                        "say how many cells a tape has with --cells"
                    }
                };
                let plan = PreparedTrace::new(&loaded.machine, &input, &options);
                plan.map_err(|error| Failure::of_endless(error, remedy))?.landscape
            }
        };
        let layers = Layers::of(landscape.network());
        let (cells, vertices) = (landscape.n_cells(), landscape.n_vertices());
        let claim = SizeClaim::about(landscape.kind(), &lowered.normal, cells, 0, &layers);
        Ok(Self::new(landscape.kind(), cells, vertices, &layers, claim))
    }

    /// Builds a model's extended network again and counts it, the primary network left out.
    pub(super) fn of_model(model: &Model) -> Result<Self, Failure> {
        let (learner, extended) = (model.learner()?, model.extended()?);
        let layers = Layers::up_to(extended.network(), extended.nodes().out);
        let layers = layers.without(|node| extended.is_primary(node));
        let cells = model.card.n_cells();
        let n_labels = model.card.n_samples * model.card.labels.len();
        let claim = SizeClaim::about(extended.kind(), &learner.lowered().normal, cells, n_labels, &layers);
        Ok(Self::new(extended.kind(), cells, extended.n_vertices(), &layers, claim))
    }

    fn new(kind: LandscapeKind, cells: usize, vertices: usize, layers: &Layers, claim: SizeClaim) -> Self {
        let profile = |group: &luge_net::Layer| LayerProfile {
            name: group.name.clone(),
            kind: group.kind.word(),
            units: group.n_units,
            depth: group.depth,
        };
        Self {
            kind: kind.word(),
            cells,
            vertices,
            units: layers.n_units(),
            depth: layers.depth(),
            layers: layers.groups.iter().map(profile).collect(),
            claim,
        }
    }

    /// Adds its rows to the table.
    pub(super) fn add_to(&self, rows: &mut Rows) {
        let (vertices, cells) = (count(self.vertices), count(self.cells));
        rows.row("landscape", format!("{}, {vertices} vertices, {cells} cells per tape", self.kind));
        let name_width =
            self.layers.iter().map(|layer| layer.name.chars().count()).max().unwrap_or(0).min(WIDEST);
        let kind_width = self.layers.iter().map(|layer| layer.kind.len()).max().unwrap_or(0);
        for (index, layer) in self.layers.iter().enumerate() {
            let LayerProfile { name, kind, units, depth } = layer;
            let title = if index == 0 { "units" } else { "" };
            rows.row(
                title,
                format!("{name:<name_width$}  {kind:<kind_width$}  {:>7}  depth {depth}", count(*units)),
            );
        }
        rows.row("units in all", format!("{}, {} deep", count(self.units), self.depth));
        let arranged = |Arrangement { layers, widest, .. }: &Arrangement| {
            format!("{layers} layers of at most {} units", count(*widest))
        };
        rows.row("fewest layers", arranged(&self.claim.fewest_layers));
        rows.row("narrowest", arranged(&self.claim.narrowest));
        let SizeClaim { corollary, layers, width, formula, layers_hold, width_holds, .. } = &self.claim;
        let width = width.map_or_else(|| self.claim.width_text(), |width| HumanCount(width).to_string());
        rows.row(
            &format!("Corollary {corollary}"),
            format!(
                "{layers} layers ({}) of {width} units ({})",
                verdict(*layers_hold),
                verdict(*width_holds)
            ),
        );
        rows.row("", formula);
    }
}

/// Longer names are not aligned.
const WIDEST: usize = 64;

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}
