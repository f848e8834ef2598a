//! `luge inspect` for a network: its sizes, and the bounds of the paper's corollaries.

use luge::{
    certificate::paper_bounds::{Arrangement, SizeClaim},
    files::Model,
    job::Loaded,
    trace::{PreparedTrace, TraceOptions},
};
use luge_landscape::{Landscape, LandscapeOptions, VertexSet};
use luge_machine::Input;
use luge_net::{Layer, Layers};

use crate::cli::command_prelude::*;

/// The network of a landscape, or an extended network without its primary network.
pub(super) struct NetworkProfile {
    kind: LandscapeKind,
    cells: usize,
    vertices: usize,
    layers: Layers,
    claim: SizeClaim,
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
        Ok(Self { kind: landscape.kind(), cells, vertices, layers, claim })
    }

    /// Builds a model's extended network again and counts it, the primary network left out.
    pub(super) fn of_model(model: &Model) -> Result<Self, Failure> {
        let (learner, extended) = (model.learner()?, model.extended()?);
        let out = extended.nodes.out;
        let layers = Layers::up_to(extended.network(), out, |node| extended.is_primary(node));
        let cells = model.card.n_cells();
        let n_labels = model.card.n_samples * model.card.labels.len();
        let claim = SizeClaim::about(extended.kind(), &learner.lowered().normal, cells, n_labels, &layers);
        Ok(Self { kind: extended.kind(), cells, vertices: extended.n_vertices(), layers, claim })
    }

    /// The sizes as JSON.
    pub(super) fn summary(&self) -> impl Serialize {
        let layer = |layer: &Layer| {
            object! {
                name: layer.name.clone(), kind: layer.kind.word(), units: layer.n_units, depth: layer.depth,
            }
        };
        object! {
            kind: self.kind.word(),
            cells: self.cells,
            vertices: self.vertices,
            units: self.layers.n_units(),
            depth: self.layers.depth(),
            layers: self.layers.groups.iter().map(layer).collect::<Vec<_>>(),
            claim: &self.claim,
        }
    }

    /// Adds its rows to the table.
    pub(super) fn add_to(&self, rows: &mut Rows) {
        let (vertices, cells) = (count(self.vertices), count(self.cells));
        rows.row("landscape", format!("{}, {vertices} vertices, {cells} cells per tape", self.kind.word()));
        let layer = |layer: &Layer| {
            let (kind, depth) = (layer.kind.word().to_owned(), format!("depth {}", layer.depth));
            [layer.name.clone(), kind, count(layer.n_units), depth]
        };
        let layers: Vec<_> = self.layers.groups.iter().map(layer).collect();
        for (index, line) in columns(&layers, 2..3).lines().enumerate() {
            rows.row(if index == 0 { "units" } else { "" }, line);
        }
        let (units, depth) = (count(self.layers.n_units()), self.layers.depth());
        rows.row("units in all", format!("{units}, {depth} deep"));
        let arranged = |Arrangement { layers, widest, .. }: &Arrangement| {
            format!("{layers} layers of at most {} units", count(*widest))
        };
        rows.row("fewest layers", arranged(&self.claim.fewest_layers));
        rows.row("narrowest", arranged(&self.claim.narrowest));
        let SizeClaim { corollary, layers, width, formula, layers_hold, width_holds, .. } = &self.claim;
        let width = width.map_or_else(|| self.claim.width_text(), count);
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

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}
