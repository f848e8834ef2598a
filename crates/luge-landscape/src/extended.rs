//! The extended network F: a landscape and a primary network, joined so that training with squared error trains both.
//!
//! Paper: §3, §5, Figure 1.

mod bits;
mod carrier;
mod layout;
mod learner;
mod scale;
mod switch;
#[cfg(test)]
mod tests;
mod wiring;

use std::ops::Range;

use luge_net::{GraphBuilder, Network, NodeId, ParameterId, Shape, SparseValues, StepRule, Values, faults};

use crate::{
    Bounds, BuildError, Configuration, ConstantOptions, Control, Corrections, LandscapeKind, Primary,
    Undecodable, VertexSet, carved::CarvedLandscape,
};
pub use bits::BitConversion;
pub use carrier::Carrier;
pub(crate) use carrier::axis;
pub use layout::{DataLayout, Mark};
pub use learner::{Learner, LearnerError};
pub use scale::final_loss;
pub use wiring::OutsideCells;
pub(crate) use wiring::{DataWindow, least_squares, numbers_in_order, read_theta};

/// Options for an extended network.
#[derive(Clone, Debug)]
pub struct ExtendedOptions {
    /// Which landscape.
    pub kind: LandscapeKind,
    /// Which symbols distinguish vertices.
    pub vertices: VertexSet,
    /// How l_TM is carried to the output.
    pub carrier: Carrier,
    /// How numbers are converted to bits and back.
    pub bits: BitConversion,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// The machine's cell that is the network's first cell, per binary tape.
    pub first_cells: Vec<i64>,
    /// The sizes of the task and the number format.
    pub layout: DataLayout,
    /// r: what the network outputs before it has seen the labels.
    pub label_offset: f64,
    /// A bound on the final loss; by default it follows from the format and the primary network.
    pub final_loss: Option<f64>,
    /// The landscape's constants; the scale is chosen so that the final loss fits below the stopping level.
    pub constants: ConstantOptions,
    /// The corrections to the printed paper.
    pub corrections: Corrections,
}

impl ExtendedOptions {
    fn window<'a>(&'a self, learner: &'a Learner) -> DataWindow<'a> {
        DataWindow { learner, layout: &self.layout, n_cells: self.n_cells, first_cells: &self.first_cells }
    }
}

/// Why an extended network cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ExtendedError {
    /// The paper's carrier needs a direction orthogonal to the labels.
    #[error("the orthogonal carrier needs at least two labels in all, the data have {0}")]
    OneLabel(usize),
    /// The stopping level must be above every final loss.
    #[error("the bound on the final loss is {0}, not a number from 0 to {LARGEST_LOSS:e}")]
    FinalLoss(f64),
    /// The primary network has too many weights.
    #[error("theta has {n_weights} numbers of {n_bits} bits, but at most {MAX_THETA_BITS} bits are built")]
    ThetaTooLarge {
        /// Numbers in theta.
        n_weights: usize,
        /// Bits per number.
        n_bits: usize,
    },
    /// The learner takes samples from a stream, which needs another network.
    #[error("the learner takes samples from a stream, not from a table")]
    TakesSamples,
    /// There are no samples.
    #[error("the data have no samples")]
    NoSamples,
    /// Data or theta would lie outside the network's tapes.
    #[error(transparent)]
    Outside(#[from] OutsideCells),
    /// Labels reach a machine only through z, so its data tape consists of hidden units.
    #[error("landscape {kind} needs the data on a read-only tape, but tape `{tape}` is writable", kind = kind.word())]
    DataWritable {
        /// The landscape.
        kind: LandscapeKind,
        /// The tape's name.
        tape: String,
    },
    /// `internal` has a vertex for every content of the data.
    #[error(
        "landscape internal declares every content of the data's {0} bits, but at most {MAX_BITS} can be declared"
    )]
    TooManyBits(usize),
    /// The landscape.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The largest bound on the final loss: the levels above it are still numbers.
const LARGEST_LOSS: f64 = 1e300;

/// The most bits theta may have.
const MAX_THETA_BITS: usize = 1 << 18;

/// The most data bits that `internal` declares.
pub const MAX_BITS: usize = 12;

/// The nodes of Figure 1.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// x: the features.
    pub features: NodeId,
    /// y: the labels, which only the loss sees.
    pub targets: NodeId,
    /// z: the network's copy of the labels, less the offset.
    pub labels: NodeId,
    /// The read-only tapes as hidden units, if the landscape has tapes.
    pub read_only: Option<NodeId>,
    /// theta, read from the tape.
    pub theta: NodeId,
    /// f_theta(x).
    pub primary: NodeId,
    /// l_TM.
    pub landscape: NodeId,
    /// f_TM.
    pub carrier: NodeId,
    /// phi: 1 while the machine runs.
    pub running: NodeId,
    /// psi: 1 until the labels are read.
    pub initial: NodeId,
    /// The output, F(x).
    pub out: NodeId,
}

/// F, ready to be trained.
#[derive(Clone, Debug)]
pub struct Extended {
    network: Network,
    carved: CarvedLandscape,
    initial: Vec<SparseValues>,
    /// The nodes of Figure 1.
    pub nodes: Nodes,
    /// The parameter z.
    pub labels: ParameterId,
    /// How l_TM is carried to the output.
    pub carrier: Carrier,
    /// r: what the network outputs before it has seen the labels.
    pub label_offset: f64,
    /// eps: the labels, less the offset, must have at least this squared norm.
    pub epsilon: f64,
    primary_nodes: Range<usize>,
}

impl Extended {
    /// The first step at which training may stop: before it the labels are not read, and the loss means nothing.
    ///
    /// Departs from the paper, where training may stop at step 0.
    pub const FIRST_STOP: u64 = 1;

    /// Joins a landscape for `learner` and a primary network.
    ///
    /// # Errors
    /// If the sizes do not fit together.
    pub fn build(
        learner: &Learner,
        primary: &dyn Primary,
        options: &ExtendedOptions,
    ) -> Result<Self, ExtendedError> {
        check(learner, primary, options)?;
        let DataLayout { n_samples, n_features, n_labels, .. } = options.layout;
        let mut graph = GraphBuilder::new();
        let g = &mut graph;
        let corrections = &options.corrections;
        let label_shape = Shape::new(n_samples, n_labels);
        let (_, x) = g.input("x", Shape::new(n_samples, n_features));
        let (_, y) = g.input("y", label_shape);
        let (labels, z) = g.parameter("labels", label_shape, StepRule::Gradient { rate: 1.0 });
        let copied = g.affine("copied labels", 1.0, z, options.label_offset);
        let fixed = g.stop_gradient("[labels]", copied);

        let ordered = numbers_in_order(g, &options.layout, x, fixed);
        let bits = options.bits.quantize(g, options.layout.format, ordered);
        let window = options.window(learner);
        let blank = window.blank_start();
        let (carved, read_only) = wiring::carve(g, learner, primary, options, (bits, &blank))?;
        let theta = read_theta(g, window, primary, options.bits, &carved.encoding);
        let first_primary = g.n_nodes();
        let output = primary.build(g, theta, x);
        let primary_nodes = first_primary..g.n_nodes();

        let carried = if corrections.labels_stopped { fixed } else { copied };
        let carrier = carrier::carry(g, options.carrier, carved.loss, carried, corrections.guarded_carrier);
        let Bounds { stop, switch, .. } = carved.bounds;
        let running = switch::ramp(g, "phi", carved.loss, (stop, switch), corrections.ramps_rounded_once);
        let s_net = switch::switch(g, "s_net", running, carrier, output, corrections.select_switches);

        let smallest = options.layout.format.smallest_positive();
        let epsilon = smallest * smallest;
        let size = g.sum_of_squares("|z|^2", z);
        let epsilon = faults::number("epsilon", epsilon, epsilon * 4096.0);
        let ends = (epsilon / 3.0, epsilon * (2.0 / 3.0));
        let initial = switch::falling_ramp(g, "psi", size, ends, corrections.ramps_rounded_once);
        let out = switch::switch(g, "s_init", initial, copied, s_net, corrections.select_switches);
        let loss = wiring::least_squares(g, out, y);
        let nodes = Nodes {
            features: x,
            targets: y,
            labels: z,
            read_only,
            theta,
            primary: output,
            landscape: carved.loss,
            carrier,
            running,
            initial,
            out,
        };
        let network = graph.finish(loss);
        let initial = initial_parameters(&network, &carved, &blank);
        Ok(Self {
            network,
            carved,
            initial,
            nodes,
            labels,
            carrier: options.carrier,
            label_offset: options.label_offset,
            epsilon,
            primary_nodes,
        })
    }

    /// The network to train.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The parameter s: the vertex.
    pub fn vertex(&self) -> ParameterId {
        self.carved.vertex()
    }

    /// The vertices of landscapes B and C.
    pub fn control(&self) -> Option<&Control> {
        self.carved.control()
    }

    /// Which landscape is inside.
    pub fn kind(&self) -> LandscapeKind {
        self.carved.kind
    }

    /// The bounds of l_TM. Training stops at the first step, from [`FIRST_STOP`](Self::FIRST_STOP) on, whose loss is at most
    /// `stop`.
    pub fn bounds(&self) -> Bounds {
        self.carved.bounds
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.carved.n_vertices()
    }

    /// Gradient steps in addition to the machine's: one to copy the labels, and for `internal` one from its start vertex.
    pub fn extra_steps(&self) -> u64 {
        if self.carved.at_start().is_some() { 2 } else { 1 }
    }

    /// Whether a node belongs to the primary network.
    pub fn is_primary(&self, node: NodeId) -> bool {
        self.primary_nodes.contains(&node.index())
    }

    /// The parameters before training: no labels, and the machine at its start. They depend on the data only through their
    /// size.
    pub fn initial(&self) -> &[SparseValues] {
        &self.initial
    }

    /// The parameters before training for another start configuration.
    pub fn initial_at(&self, start: &Configuration) -> Vec<SparseValues> {
        initial_parameters(&self.network, &self.carved, start)
    }

    /// The read-only tapes of a configuration, as the node of that name holds them once the labels are copied.
    pub fn read_only(&self, configuration: &Configuration) -> Option<Values> {
        self.carved.read_only(configuration).map(|cells| cells.to_values())
    }

    /// The configuration that parameters represent; `read_only` is the value of that node.
    ///
    /// # Errors
    /// If a weight is not near one of its values, or `internal` is still at its start vertex.
    pub fn decode(
        &self,
        parameters: &[Values],
        read_only: Option<&Values>,
    ) -> Result<Configuration, Undecodable> {
        self.carved.decode(parameters, read_only)
    }
}

fn check(learner: &Learner, primary: &dyn Primary, options: &ExtendedOptions) -> Result<(), ExtendedError> {
    let layout = &options.layout;
    if layout.n_samples == 0 {
        return Err(ExtendedError::NoSamples);
    }
    if learner.machine().takes_samples() {
        return Err(ExtendedError::TakesSamples);
    }
    let n_labels = layout.n_samples * layout.n_labels;
    if options.carrier == Carrier::Orthogonal && n_labels < 2 {
        return Err(ExtendedError::OneLabel(n_labels));
    }
    let (n_weights, n_bits) = (primary.n_weights(), layout.width());
    if n_weights.saturating_mul(n_bits) > MAX_THETA_BITS {
        return Err(ExtendedError::ThetaTooLarge { n_weights, n_bits });
    }
    let bound = scale::highest_final_loss(primary, options);
    if !(0.0..=LARGEST_LOSS).contains(&bound) {
        return Err(ExtendedError::FinalLoss(bound));
    }
    options.window(learner).check(primary)?;
    if options.kind == LandscapeKind::Internal && layout.n_bits() > MAX_BITS {
        return Err(ExtendedError::TooManyBits(layout.n_bits()));
    }
    let normal = &learner.lowered().normal;
    let data = learner.data_track();
    if options.kind != LandscapeKind::Internal && !normal.read_only(data) {
        let tape = normal.machine().tape(data).name.clone();
        return Err(ExtendedError::DataWritable { kind: options.kind, tape });
    }
    Ok(())
}

/// z_0 = 0, and the landscape's own parameters at the machine's start, or at the start vertex of `internal`.
fn initial_parameters(
    network: &Network,
    carved: &CarvedLandscape,
    start: &Configuration,
) -> Vec<SparseValues> {
    let mut parameters: Vec<SparseValues> =
        network.parameters().iter().map(|p| SparseValues::filled(p.shape, 0.0)).collect();
    let own = match carved.at_start() {
        Some(start) => vec![start],
        None => carved.encode(start).unwrap_or_default(),
    };
    for (id, values) in own {
        parameters[id.index()] = values;
    }
    parameters
}
