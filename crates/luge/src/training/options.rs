//! Options of training.

use luge_landscape::{
    BitConversion, Carrier, ConstantOptions, Corrections, DataLayout, ExtendedOptions, LandscapeKind,
    VertexSet,
};
use luge_machine::Step;
use luge_net::NumberFormat;
use luge_train::Precision;
use serde::{Deserialize, Serialize};

use crate::run::{
    engine::{EngineChoice, TrainingConfig},
    lockstep::Window,
};

/// Machine steps after which a learner is assumed not to halt, if the user sets no limit.
pub const MAX_MACHINE_STEPS: Step = 100_000_000_000;

/// How to train.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingOptions {
    /// The landscape to build.
    pub landscape: LandscapeKind,
    /// Which symbols a vertex depends on.
    pub vertices: VertexSet,
    /// What computes the gradients.
    pub engine: EngineChoice,
    /// The floating-point precision; all but f64 need the dense engine.
    pub precision: Precision,
    /// How l_TM reaches the output.
    pub carrier: Carrier,
    /// How numbers become bits.
    pub format: NumberFormat,
    /// What converts numbers to bits: native operations, or units of the network.
    pub bits: BitConversion,
    /// Cells per tape; default: the smallest power of two that holds the run.
    pub cells: Option<usize>,
    /// r; default: 0, or for `internal` large enough for a loss that never rises.
    pub label_offset: Option<f64>,
    /// A bound on the final loss; default: from the format and the primary network.
    pub final_loss: Option<f64>,
    /// The most machine steps.
    pub steps: Step,
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

impl TrainingOptions {
    /// Default options with this number format.
    pub fn new(format: NumberFormat) -> Self {
        Self { format, ..Self::default() }
    }

    pub(super) fn manner(&self) -> TrainingConfig {
        TrainingConfig { precision: self.precision, ..TrainingConfig::by(self.engine) }
    }

    /// Returns the options of the extended network for data of this layout and for this window.
    pub(crate) fn network(&self, layout: DataLayout, window: Window) -> ExtendedOptions {
        ExtendedOptions {
            kind: self.landscape,
            vertices: self.vertices,
            carrier: self.carrier,
            bits: self.bits,
            n_cells: window.n_cells,
            first_cells: window.first,
            layout,
            label_offset: self.label_offset.unwrap_or(0.0),
            final_loss: self.final_loss,
            constants: self.constants,
            corrections: self.corrections,
        }
    }
}

impl Default for TrainingOptions {
    fn default() -> Self {
        Self {
            landscape: LandscapeKind::default(),
            vertices: VertexSet::default(),
            engine: EngineChoice::default(),
            precision: Precision::default(),
            carrier: Carrier::default(),
            format: NumberFormat::default(),
            bits: BitConversion::default(),
            cells: None,
            label_offset: None,
            final_loss: None,
            steps: MAX_MACHINE_STEPS,
            constants: ConstantOptions::default(),
            autodiff_checks: None,
            corrections: Corrections::default(),
        }
    }
}
