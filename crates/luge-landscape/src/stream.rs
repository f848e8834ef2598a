//! `stream`: stock gradient descent on fresh batches. Every step sees a new batch, and the network depends only on that
//! batch and on its own weights.
//!
//! The landscape is [`plain`](crate::LandscapeKind::Plain), except that the data tape is made of weights too: a memory of
//! one batch. The output of a step cannot depend on the batch's labels, so `out - y` cannot be fixed in advance. A large
//! constant carrier A reduces that error to |y| / A, which `plain` tolerates.
//!
//! Departs from the paper, which only remarks that batches could in principle be handled: docs/construction.md, section 5b.

mod constants;
mod error;
mod graph;

use std::ops::Range;

use luge_machine::stream::Memory;
use luge_net::{Network, NodeId, ParameterId, Values};

use crate::{
    BitConversion, Configuration, Control, Corrections, DataLayout, Learner, Primary, Undecodable, VertexSet,
    carved::CarvedLandscape, extended::DataWindow,
};
pub use constants::{StreamConstants, StreamConstantsError};
pub use error::StreamError;

/// Options for the network of a learner that takes its samples from a stream.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    /// Which symbols distinguish vertices.
    pub vertices: VertexSet,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// The machine's cell that is the network's first cell, per binary tape.
    pub first_cells: Vec<i64>,
    /// The sizes of a batch and the number format; its samples are those of one batch.
    pub layout: DataLayout,
    /// A bound on the absolute values of labels; by default, that of the format.
    pub label_bound: Option<f64>,
    /// A; by default, the smallest power of two that is large enough.
    pub carrier: Option<f64>,
    /// Corrections inside the landscape.
    pub corrections: Corrections,
}

impl StreamOptions {
    fn window<'a>(&'a self, learner: &'a Learner) -> DataWindow<'a> {
        DataWindow { learner, layout: &self.layout, n_cells: self.n_cells, first_cells: &self.first_cells }
    }
}

/// The nodes of the network.
#[derive(Clone, Copy, Debug)]
pub struct StreamNodes {
    /// x: the features of this step's batch.
    pub features: NodeId,
    /// y: its labels, which only the loss sees.
    pub targets: NodeId,
    /// The read-only tapes, which contain the memory.
    pub read_only: NodeId,
    /// Two units: whether the step takes a batch, and whether it latches.
    pub uses: NodeId,
    /// theta, read from the tape.
    pub theta: NodeId,
    /// f_theta(x).
    pub primary: NodeId,
    /// 1 once the machine has halted.
    pub halted: NodeId,
    /// The output, F(x).
    pub out: NodeId,
}

/// F for a stream, ready to be trained.
#[derive(Clone, Debug)]
pub struct StreamNetwork {
    /// The network to train.
    pub network: Network,
    /// The nodes of the network.
    pub nodes: StreamNodes,
    /// A, and the labels that it is chosen for.
    pub constants: StreamConstants,
    /// The parameter X: the memory of one batch, bit by bit.
    pub memory: ParameterId,
    /// The parameter z: the slot for labels.
    pub labels: ParameterId,
    /// The parameters before training: the machine at its start, an empty memory, the slot ready.
    pub initial: Vec<Values>,
    carved: CarvedLandscape,
    primary_nodes: Range<usize>,
}

impl StreamNetwork {
    /// Joins the landscape of a learner that takes samples, and a primary network.
    ///
    /// # Errors
    /// If the learner takes none or takes them wrongly, or the sizes do not fit together.
    pub fn build(
        learner: &Learner,
        primary: &dyn Primary,
        options: &StreamOptions,
    ) -> Result<Self, StreamError> {
        error::check(learner, primary, options)?;
        let constants = StreamConstants::choose(options.layout.format, options.label_bound, options.carrier)?;
        Ok(graph::build(learner, primary, options, constants))
    }

    /// The vertices.
    pub fn control(&self) -> &Control {
        self.carved.control().expect("a stream's tapes are outside the vertex")
    }

    /// The parameter whose largest entry is the current vertex.
    pub fn vertex(&self) -> ParameterId {
        self.carved.vertex()
    }

    /// Whether a node belongs to the primary network.
    pub fn is_primary(&self, node: NodeId) -> bool {
        self.primary_nodes.contains(&node.index())
    }

    /// The configuration that parameters represent; the memory is one of its tapes.
    ///
    /// # Errors
    /// If a weight is not near one of its values.
    pub fn decode(&self, parameters: &[Values]) -> Result<Configuration, Undecodable> {
        let held = &parameters[self.memory.index()];
        let read_only = graph::read_only(&self.network, self.nodes.read_only, held);
        self.carved.decode(parameters, Some(&read_only))
    }
}

impl Learner {
    /// The machine's memory of a batch, in its own cells.
    pub fn memory(&self, layout: &DataLayout) -> Memory {
        let cell = |bit: &usize| i64::try_from(layout.cell(*bit)).unwrap_or(i64::MAX);
        let is_feature = |bit: &usize| layout.is_feature(*bit);
        let (features, labels): (Vec<usize>, Vec<usize>) = (0..layout.n_bits()).partition(is_feature);
        Memory {
            tape: self.data_track(),
            features: features.iter().map(cell).collect(),
            labels: labels.iter().map(cell).collect(),
        }
    }
}

// Streams have no option for the conversion of numbers.
const BITS: BitConversion = BitConversion::Native;
