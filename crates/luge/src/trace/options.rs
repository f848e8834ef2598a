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

/// Moves as jobs store them.
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
    /// Which symbols tell vertices apart.
    pub vertices: VertexSet,
    /// How to train.
    pub manner: TrainingConfig,
    /// The iterates of a fast engine that are compared with the simulator.
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
    /// Steps to recompute by automatic differentiation beside the distinct situations; default: none, or on runs that are compared only at
    /// their end as many as cost no more than the run.
    #[serde(alias = "spots")]
    pub autodiff_checks: Option<usize>,
    /// What differs from the printed paper.
    #[serde(skip)]
    pub corrections: Corrections,
}

impl TraceOptions {
    /// A trace by the dense engine.
    pub fn dense(landscape: LandscapeKind) -> Self {
        Self { landscape, manner: TrainingConfig::by(EngineChoice::Dense), ..Self::default() }
    }

    /// Whether the dense engine trains, and why.
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
        // Where vertices are configurations, their number is bounded and known only once they are built.
        let n_vertices = match self.landscape {
            LandscapeKind::Internal => 0,
            _ => usize::try_from(self.vertices.n_vertices(normal)).unwrap_or(usize::MAX),
        };
        memory::ask_network(n_cells, normal.n_tapes(), n_vertices, CellStorage::Numbers)
    }

    /// The options of the landscape on this many cells.
    pub(super) fn landscape_of(&self, n_cells: usize) -> LandscapeOptions {
        let mut build = LandscapeOptions::new(self.landscape, n_cells);
        build.vertices = self.vertices;
        (build.constants, build.corrections) = (self.constants, self.corrections);
        build
    }
}
