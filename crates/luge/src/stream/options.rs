//! How to learn from a stream.

use luge_landscape::{DataLayout, VertexSet, mlp::Float};
use luge_machine::Step;
use luge_net::NumberFormat;
use serde::{Deserialize, Serialize};

use crate::trace::LONGEST_SEARCH;

/// What computes the gradients on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StreamEngineChoice {
    /// Weights that are not zero, from the layers recognised in the graph.
    #[default]
    Sparse,
    /// Every unit, by automatic differentiation.
    Dense,
}

luge_net::names!(StreamEngineChoice, "engine for streams", Sparse "sparse", Dense "dense");

/// The kind of network that learns from a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StreamLandscape {
    /// The learner's tapes as weights.
    #[default]
    Plain,
    /// Linear layers and ReLUs that run the learner as a circuit.
    Mlp,
}

luge_net::names!(StreamLandscape, "landscape of streams", Plain "plain", Mlp "mlp");

/// How a program becomes a circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// Directly, with variables as words of registers.
    Circuit,
    /// Through its machine, with a register for each cell of its tapes.
    Tapes,
}

luge_net::names!(Via, "way to a circuit", Circuit "circuit", Tapes "tapes");

/// How to learn from a stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamOptions {
    /// How numbers become bits.
    pub format: NumberFormat,
    /// Samples per batch.
    pub batch: usize,
    /// The seed of the stream's random numbers.
    pub seed: u64,
    /// The most gradient steps until the machine halts.
    pub steps: Step,
    /// Batches after the end, none of which may move a weight.
    pub after: u64,
    /// The largest absolute value of a label; default: from the stream or the format.
    pub label_bound: Option<f64>,
    /// A; default: the smallest power of two that is large enough.
    pub carrier: Option<f64>,
    /// Cells per tape; default: the smallest power of two that holds the run.
    pub cells: Option<usize>,
    /// What computes the gradients; default: sparse, but on landscape mlp dense, which trains every weight, where that takes seconds.
    pub engine: Option<StreamEngineChoice>,
    /// Which symbols a vertex depends on.
    pub vertices: VertexSet,
    /// New inputs on which the answer is tested.
    pub n_judged: usize,
    /// For a circuit that loops over a table: for how many steps each row passes; default: as many as make the run shortest.
    pub hold: Option<usize>,
    /// The floating-point type of landscape mlp.
    pub precision: Float,
    /// On landscape mlp: how a program becomes a circuit; default: directly. A machine always becomes one through its tapes.
    pub via: Option<Via>,
}

impl StreamOptions {
    /// Default options with this number format.
    pub fn new(format: NumberFormat) -> Self {
        Self { format, ..Self::default() }
    }

    /// Default options on a landscape. On mlp a step takes longer, so the limits are lower.
    pub fn on(landscape: StreamLandscape) -> Self {
        let (steps, after, n_judged) = match landscape {
            StreamLandscape::Plain => (1_000_000_000, 1_000, 10_000),
            StreamLandscape::Mlp => (LONGEST_SEARCH, 20, 200),
        };
        Self {
            format: NumberFormat::default(),
            batch: 1,
            seed: 0,
            steps,
            after,
            label_bound: None,
            carrier: None,
            cells: None,
            engine: None,
            vertices: VertexSet::default(),
            n_judged,
            hold: None,
            precision: Float::default(),
            via: None,
        }
    }

    /// What computes the gradients of a run on tapes.
    pub fn engine(&self) -> StreamEngineChoice {
        self.engine.unwrap_or_default()
    }

    /// Returns the layout of a batch in the machine's memory, given the features and labels per sample.
    pub(super) fn layout(&self, (n_features, n_labels): (usize, usize)) -> DataLayout {
        DataLayout { n_samples: self.batch, n_features, n_labels, format: self.format }
    }
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self::on(StreamLandscape::Plain)
    }
}
