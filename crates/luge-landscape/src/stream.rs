//! `stream`: stock gradient descent on fresh batches. Every step sees another batch, and the network knows no other
//! data than the current batch and its own weights.
//!
//! The landscape is [`plain`](crate::LandscapeKind::Plain), with the read-only tape in weights as well: a memory of
//! one batch. The labels are not known when a step is made, so `out - y` is not known either. A large constant
//! carrier A reduces that error to |y| / A, which `plain` tolerates.
//!
//! Departs from the paper, which only remarks that batches could in principle be handled: docs/construction.md, section 5b.

mod constants;
mod error;
mod graph;

use std::ops::Range;

use luge_machine::stream::Memory;
use luge_net::{GraphBuilder, Network, NodeId, ParameterId, Values};

use crate::{
    BitConversion, Configuration, Control, Corrections, DataLayout, Learner, Primary, Undecodable, VertexSet,
    carved::CarvedLandscape, extended::DataWindow,
};
pub use constants::{StreamConstants, StreamConstantsError};
pub use error::StreamError;

/// What to build around a learner that takes its samples from a stream.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    /// Which symbols tell vertices apart.
    pub vertices: VertexSet,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// The machine's cell that the network's first cell stands for, per binary tape.
    pub first_cells: Vec<i64>,
    /// The sizes of a batch and the number format; its samples are those of one batch.
    pub layout: DataLayout,
    /// No label is larger in size; left out: what the format can hold.
    pub label_bound: Option<f64>,
    /// A; left out: the smallest power of two that is large enough.
    pub carrier: Option<f64>,
    /// Corrections inside the landscape.
    pub corrections: Corrections,
}

impl StreamOptions {
    fn window(&self) -> DataWindow<'_> {
        DataWindow { layout: &self.layout, n_cells: self.n_cells, first_cells: &self.first_cells }
    }
}

/// The nodes that callers may want to inspect.
#[derive(Clone, Copy, Debug)]
pub struct StreamNodes {
    /// x: the features of this step's batch.
    pub features: NodeId,
    /// y: its labels, which only the loss sees.
    pub targets: NodeId,
    /// The read-only tapes as the memory shows them.
    pub read_only: NodeId,
    /// Two units: whether the step takes a batch, and whether it latches.
    pub uses: NodeId,
    /// theta, read off the tape.
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
    /// The nodes that callers may want to inspect.
    pub nodes: StreamNodes,
    /// A, and what it was chosen for.
    pub constants: StreamConstants,
    /// The parameter X: the memory of one batch, bit by bit.
    pub memory: ParameterId,
    /// The parameter z: the slot for labels.
    pub labels: ParameterId,
    /// The parameters before training: the machine at its start, nothing in its memory, the slot ready.
    pub initial: Vec<Values>,
    terrain: CarvedLandscape,
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
        let mut g = GraphBuilder::new();
        let built = graph::build(&mut g, learner, primary, options, constants.carrier);
        let network = g.finish(built.loss);
        let graph::Built { terrain, memory, labels, nodes, primary_nodes, .. } = built;
        let mut initial: Vec<Values> = network
            .parameters()
            .iter()
            .map(|p| Values::filled(p.shape, if p.name == graph::LABELS { -constants.carrier } else { -1.0 }))
            .collect();
        for (id, values) in terrain.encode(&options.window().start(learner, |_| false)).unwrap_or_default() {
            initial[id.index()] = values.to_values();
        }
        Ok(Self { network, nodes, constants, memory, labels, initial, terrain, primary_nodes })
    }

    /// The vertices.
    pub fn control(&self) -> &Control {
        self.terrain.control().expect("a stream's tapes are outside the vertex")
    }

    /// The parameter whose largest entry is the current vertex.
    pub fn vertex(&self) -> ParameterId {
        self.terrain.vertex()
    }

    /// Whether a node belongs to the primary network.
    pub fn is_primary(&self, node: NodeId) -> bool {
        self.primary_nodes.contains(&node.index())
    }

    /// The configuration that parameters stand for, the memory among its tapes.
    ///
    /// # Errors
    /// If a weight is in between.
    pub fn decode(&self, parameters: &[Values]) -> Result<Configuration, Undecodable> {
        let held = &parameters[self.memory.index()];
        let read_only = graph::read_only(&self.network, self.nodes.read_only, held);
        self.terrain.decode(parameters, Some(&read_only))
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

// The network's own conversion of numbers is the only one for streams.
const BITS: BitConversion = BitConversion::Native;
