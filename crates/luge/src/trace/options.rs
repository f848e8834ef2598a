//! Options of traces.

use luge_landscape::{ConstantOptions, Corrections, Landscape, LandscapeKind, LandscapeOptions, VertexSet};
use luge_machine::{NormalForm, Step, lowering::Moves};
use serde::{Deserialize, Serialize};

use crate::{
    job::JobError,
    run::{
        engine::{Chosen, EngineChoice, EngineError, TrainingConfig},
        follow::Comparisons,
        memory::{self, CellStorage, TooMuch},
    },
};

/// How jobs store moves.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Moves", rename_all = "lowercase")]
enum StoredMoves {
    Keep,
    Strict,
}

/// How to trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// The landscape to build.
    pub landscape: LandscapeKind,
    /// Which symbols a vertex depends on.
    pub vertices: VertexSet,
    /// How to train.
    pub manner: TrainingConfig,
    /// Which iterates of a fast engine are compared with the simulator.
    pub compare: Comparisons,
    /// Cells per tape; default: what the run needs and a margin, or with a fast engine as many as it uses.
    pub cells: Option<usize>,
    /// The most steps; default: until the machine halts.
    pub steps: Option<Step>,
    /// Whether stay moves are kept.
    #[serde(with = "StoredMoves")]
    pub moves: Moves,
    /// The landscape's constants.
    pub constants: ConstantOptions,
    /// Steps to recompute by automatic differentiation, in addition to the distinct situations. Default: none; if a run is
    /// compared only at its end, as many as take no longer than the run.
    #[serde(alias = "spots")]
    pub autodiff_checks: Option<usize>,
    /// The corrections of the printed paper.
    #[serde(skip)]
    pub corrections: Corrections,
}

impl TraceOptions {
    /// A trace by the dense engine.
    pub fn dense(landscape: LandscapeKind) -> Self {
        Self { landscape, manner: TrainingConfig::by(EngineChoice::Dense), ..Self::default() }
    }

    /// Returns why the dense engine trains, if it does.
    pub(super) fn chosen_dense(&self, normal: &NormalForm) -> Result<Option<Chosen>, JobError> {
        if self.landscape == LandscapeKind::Internal && self.manner.engine != EngineChoice::Dense {
            let why = "landscape internal has no sparse layers".to_owned();
            return match self.manner.engine {
                EngineChoice::Auto => Ok(Some(Chosen { engine: EngineChoice::Dense, why })),
                engine => Err(EngineError::Incompatible { engine, why }.into()),
            };
        }
        if let Some(chosen) = self.manner.dense(None)? {
            return Ok(Some(chosen));
        }
        // Whether layers are recognised does not depend on the number of cells.
        let smallest = Landscape::build(normal, &self.landscape_of(1))?;
        Ok(self.manner.dense(Some(smallest.network()))?)
    }

    /// Checks that there is memory for the landscape on this many cells.
    pub(super) fn ask_network(&self, normal: &NormalForm, n_cells: usize) -> Result<(), TooMuch> {
        let n_vertices = n_external_vertices(self.landscape, self.vertices, normal);
        memory::ask_network(n_cells, normal.n_tapes(), n_vertices, CellStorage::Numbers)
    }

    /// Returns the options of the landscape on this many cells.
    pub(super) fn landscape_of(&self, n_cells: usize) -> LandscapeOptions {
        let mut build = LandscapeOptions::new(self.landscape, n_cells);
        build.vertices = self.vertices;
        (build.constants, build.corrections) = (self.constants, self.corrections);
        build
    }
}

/// Counts the vertices of a landscape with external tapes. Returns 0 for `internal`, whose vertices are counted when they are built.
pub(crate) fn n_external_vertices(kind: LandscapeKind, vertices: VertexSet, normal: &NormalForm) -> usize {
    match kind {
        LandscapeKind::Internal => 0,
        _ => usize::try_from(vertices.n_vertices(normal)).unwrap_or(usize::MAX),
    }
}
