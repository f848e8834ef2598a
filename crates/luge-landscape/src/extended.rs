//! The extended network F: a landscape and a primary network, joined so that plain least squares trains them.
//!
//! Paper: §3, §5, Figure 1.

mod carrier;
mod layout;
mod learner;
mod switch;
#[cfg(test)]
mod tests;

use luge_machine::Input;
use luge_net::{GraphBuilder, LinearMap, Network, NodeId, ParameterId, Shape, StepRule, Values};

use crate::{
    AskedConstants, Bounds, BuildError, Configuration, Corrections, ExternalConstants, Kind, Primary,
    Undecodable,
    internal::{Configurations, Start},
    terrain::{Carving, Holds, Terrain},
};
pub use carrier::Carrier;
pub use layout::{DataLayout, Mark};
pub use learner::{Learner, LearnerError};

/// The corrections to the printed paper that shape the extended network. All are on by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Joints {
    /// The arc from z to f_TM is a stop-gradient; printed it is solid, and z drifts.
    pub labels_stopped: bool,
    /// f_perp's denominators are guarded; printed f_perp(0) is 0/0.
    pub guarded_carrier: bool,
    /// The switches are selects; printed they are sums of products, where 0 times infinity is NaN.
    pub select_switches: bool,
    /// The ramps are rounded once; as two quotients they do not end at exactly 0 and 1.
    pub ramps_rounded_once: bool,
}

impl Default for Joints {
    fn default() -> Self {
        Self { labels_stopped: true, guarded_carrier: true, select_switches: true, ramps_rounded_once: true }
    }
}

/// What to build around a learner.
#[derive(Clone, Debug)]
pub struct ExtendedOptions {
    /// Which landscape.
    pub kind: Kind,
    /// How l_TM reaches the output.
    pub carrier: Carrier,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// The machine's cell that the network's first cell stands for, per binary tape.
    pub first_cells: Vec<i64>,
    /// The sizes of the task and the number format.
    pub layout: DataLayout,
    /// r: what the network puts out before it has seen the labels.
    pub label_offset: f64,
    /// A bound on the final loss; left out: from the format and the primary network.
    pub final_loss: Option<f64>,
    /// The landscape's constants; the scale is chosen so that the final loss fits below the stopping level.
    pub constants: AskedConstants,
    /// Corrections inside the landscape.
    pub corrections: Corrections,
    /// Corrections around it.
    pub joints: Joints,
}

/// Why an extended network cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ExtendedError {
    /// The paper's carrier needs a direction beside the labels.
    #[error("the orthogonal carrier needs at least two labels in all, the data have {n_labels}")]
    OneLabel {
        /// n times m.
        n_labels: usize,
    },
    /// There is nothing to learn from.
    #[error("the data have no samples")]
    NoSamples,
    /// The machine's answer would lie outside the network's tape.
    #[error(
        "theta has {n_weights} numbers of {n_bits} bits, {needed} cells, but the tape has only {available} from theta's first cell on"
    )]
    ThetaDoesNotFit {
        /// Numbers in theta.
        n_weights: usize,
        /// Bits per number.
        n_bits: usize,
        /// Cells needed.
        needed: usize,
        /// Cells there are.
        available: usize,
    },
    /// Labels reach a machine only through z, so its data tape is a hidden layer.
    #[error("landscape {kind} needs the data on a read-only tape, but tape `{tape}` is writable", kind = kind.word())]
    DataWritable {
        /// The landscape.
        kind: Kind,
        /// The tape's name.
        tape: String,
    },
    /// Landscape A has a vertex for every content of the data.
    #[error(
        "landscape internal declares every content of the data's {n_bits} bits, but at most {MOST_BITS} can be declared"
    )]
    TooManyBits {
        /// Bits of data.
        n_bits: usize,
    },
    /// The data do not fit on the network's tapes.
    #[error("the data take cells 0 to {end}, outside the network's cells")]
    DataDoNotFit {
        /// The last cell they need.
        end: usize,
    },
    /// The landscape.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The most data bits landscape A declares.
pub const MOST_BITS: usize = 12;

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
    /// theta, read off the tape.
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
    terrain: Terrain,
    initial: Vec<Values>,
    nodes: Nodes,
    labels: ParameterId,
    carrier: Carrier,
    label_offset: f64,
    epsilon: f64,
    first_primary: usize,
    last_primary: usize,
}

impl Extended {
    /// The first step at which training may stop: before it the labels are not read, and the loss says nothing.
    ///
    /// Departs from the paper: the stopping test at step 0 can fire at once.
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
        let joints = &options.joints;
        let label_shape = Shape::new(n_samples, n_labels);
        let (_, x) = g.input("x", Shape::new(n_samples, n_features));
        let (_, y) = g.input("y", label_shape);
        let (labels, z) = g.parameter("labels", label_shape, StepRule::Gradient { rate: 1.0 });
        let copied = g.affine("copied labels", 1.0, z, options.label_offset);
        let fixed = g.stop_gradient("[labels]", copied);

        let bits = data_bits(g, &options.layout, x, fixed);
        let (terrain, read_only) = carve(g, learner, primary, options, bits)?;
        let theta = read_theta(g, learner, primary, options, &terrain);
        let first_primary = g.n_nodes();
        let output = primary.build(g, theta, x);
        let last_primary = g.n_nodes();

        let carried = if joints.labels_stopped { fixed } else { copied };
        let carrier = carrier::carry(g, options.carrier, terrain.loss, carried, joints.guarded_carrier);
        let Bounds { stop, switch: high, .. } = terrain.bounds;
        let running = switch::ramp(g, "phi", terrain.loss, stop, high, joints.ramps_rounded_once);
        let s_net = switch::switch(g, "s_net", running, carrier, output, joints.select_switches);

        let epsilon = smallest_label(&options.layout).powi(2);
        let squares = g.square("|z|^2", z);
        let size = g.sum_all("|z|^2", squares);
        let (low, high) = (epsilon / 3.0, epsilon * (2.0 / 3.0));
        let initial = switch::falling_ramp(g, "psi", size, low, high, joints.ramps_rounded_once);
        let out = switch::switch(g, "s_init", initial, copied, s_net, joints.select_switches);
        let residual = g.sum("residual", [(1.0, out), (-1.0, y)]);
        let squares = g.square("residual", residual);
        let sum = g.sum_all("residual", squares);
        let loss = g.affine("loss", 0.5, sum, 0.0);
        let nodes = Nodes {
            features: x,
            targets: y,
            labels: z,
            read_only,
            theta,
            primary: output,
            landscape: terrain.loss,
            carrier,
            running,
            initial,
            out,
        };
        let network = graph.finish(loss);
        let initial = initial_parameters(&network, &terrain, &start(learner, options, |_| false));
        Ok(Self {
            network,
            terrain,
            initial,
            nodes,
            labels,
            carrier: options.carrier,
            label_offset: options.label_offset,
            epsilon,
            first_primary,
            last_primary,
        })
    }

    /// The network to train.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The nodes of Figure 1.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The parameter z.
    #[must_use]
    pub fn labels(&self) -> ParameterId {
        self.labels
    }

    /// The parameter s: the vertex.
    #[must_use]
    pub fn vertex(&self) -> ParameterId {
        match &self.terrain.holds {
            Holds::Outside { weights, .. } => weights.vertex.0,
            Holds::Inside { vertex, .. } => *vertex,
        }
    }

    /// Which landscape is inside.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.terrain.kind
    }

    /// How l_TM reaches the output.
    #[must_use]
    pub fn carrier(&self) -> Carrier {
        self.carrier
    }

    /// Where l_TM must lie.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.terrain.bounds
    }

    /// B_stop: training stops at the first step, from [`FIRST_STOP`](Self::FIRST_STOP) on, whose loss is at most this.
    #[must_use]
    pub fn stop(&self) -> f64 {
        self.terrain.bounds.stop
    }

    /// r: what the network puts out before it has seen the labels.
    #[must_use]
    pub fn label_offset(&self) -> f64 {
        self.label_offset
    }

    /// eps: the labels, less the offset, must have at least this squared norm.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Number of vertices.
    #[must_use]
    pub fn n_vertices(&self) -> usize {
        self.terrain.n_vertices()
    }

    /// Gradient steps beside the machine's own: one to copy the labels, one more for landscape A's start vertex.
    #[must_use]
    pub fn extra_steps(&self) -> u64 {
        if self.terrain.at_start().is_some() { 2 } else { 1 }
    }

    /// Whether a node belongs to the primary network.
    #[must_use]
    pub fn is_primary(&self, node: NodeId) -> bool {
        (self.first_primary..self.last_primary).contains(&node.index())
    }

    /// The parameters before training: no labels, and the machine at its start. Nothing of the data goes in but their size.
    #[must_use]
    pub fn initial(&self) -> &[Values] {
        &self.initial
    }

    /// The parameters before training as they would be for another start: to see what becomes of a guess.
    #[must_use]
    pub fn initial_at(&self, start: &Configuration) -> Vec<Values> {
        initial_parameters(&self.network, &self.terrain, start)
    }

    /// The read-only tapes of a configuration, as the node of that name holds them once the labels are copied.
    #[must_use]
    pub fn read_only(&self, configuration: &Configuration) -> Option<Values> {
        self.terrain.read_only(configuration)
    }

    /// The configuration that parameters stand for; `read_only` is the value of that node.
    ///
    /// # Errors
    /// If a weight is in between, or landscape A is still at its start vertex.
    pub fn decode(
        &self,
        parameters: &[Values],
        read_only: Option<&Values>,
    ) -> Result<Configuration, Undecodable> {
        self.terrain.decode(parameters, read_only)
    }
}

fn check(learner: &Learner, primary: &dyn Primary, options: &ExtendedOptions) -> Result<(), ExtendedError> {
    let layout = &options.layout;
    if layout.n_samples == 0 {
        return Err(ExtendedError::NoSamples);
    }
    let n_labels = layout.n_samples * layout.n_labels;
    if options.carrier == Carrier::Orthogonal && n_labels < 2 {
        return Err(ExtendedError::OneLabel { n_labels });
    }
    let (track, first) = learner.theta_track();
    let cell = |track: luge_machine::TapeId, cell: usize| {
        let offset = i64::try_from(cell).unwrap_or(i64::MAX) - options.first_cells[track.index()];
        usize::try_from(offset).ok()
    };
    let (n_weights, n_bits) = (primary.n_weights(), layout.width());
    let needed = n_weights * n_bits;
    let available = cell(track, first).map_or(0, |from| options.n_cells.saturating_sub(from));
    if needed > available {
        return Err(ExtendedError::ThetaDoesNotFit { n_weights, n_bits, needed, available });
    }
    let data = learner.data_track();
    if cell(data, 0).is_none() || cell(data, layout.end()).is_none_or(|end| end >= options.n_cells) {
        return Err(ExtendedError::DataDoNotFit { end: layout.end() });
    }
    if options.kind == Kind::Internal && layout.n_bits() > MOST_BITS {
        return Err(ExtendedError::TooManyBits { n_bits: layout.n_bits() });
    }
    let normal = &learner.lowered().normal;
    if options.kind != Kind::Internal && !normal.read_only(data) {
        let tape = normal.machine().tape(data).name.clone();
        return Err(ExtendedError::DataWritable { kind: options.kind, tape });
    }
    Ok(())
}

/// z_0 = 0, and the landscape's own parameters at the machine's start, or at landscape A's start vertex.
fn initial_parameters(network: &Network, terrain: &Terrain, start: &Configuration) -> Vec<Values> {
    let mut parameters: Vec<Values> =
        network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
    let own = match terrain.at_start() {
        Some(start) => vec![start],
        None => terrain.encode(start).unwrap_or_default(),
    };
    for (id, values) in own {
        parameters[id.index()] = values;
    }
    parameters
}

/// quantize(x, [z]) in the order of the tape, -1 and 1.
fn data_bits(g: &mut GraphBuilder, layout: &DataLayout, x: NodeId, labels: NodeId) -> NodeId {
    let column = |g: &mut GraphBuilder, of: NodeId| {
        let n = g.shape(of).len();
        g.reshape("numbers", Shape::column(n), of)
    };
    let (features, labels) = (column(g, x), column(g, labels));
    let numbers = g.stack("numbers", features, labels);
    let ordered = g.gather("numbers", layout.order(), numbers);
    g.quantize("quantize", layout.format, ordered)
}

/// The landscape, and its read-only tapes made of constants and of the bits of the data.
fn carve(
    g: &mut GraphBuilder,
    learner: &Learner,
    primary: &dyn Primary,
    options: &ExtendedOptions,
    bits: NodeId,
) -> Result<(Terrain, Option<NodeId>), ExtendedError> {
    let normal = &learner.lowered().normal;
    let constants = with_room(normal.n_tapes(), primary, options).map_err(BuildError::Constants)?;
    let carving = Carving {
        kind: options.kind,
        n_cells: options.n_cells,
        constants: &constants,
        corrections: &options.corrections,
    };
    let layout = &options.layout;
    if options.kind == Kind::Internal {
        let declared: Vec<Configuration> = (0..1_u32 << layout.n_bits())
            .map(|word| start(learner, options, |bit| word >> bit & 1 == 1))
            .collect();
        let configurations =
            Configurations::reachable(normal, &declared, options.n_cells).map_err(BuildError::Internal)?;
        let vertices: Vec<usize> = declared.iter().map(|c| configurations.index[c]).collect();
        let matches = matching(g, layout.n_bits(), bits);
        let start = Start { declared: &vertices, matches };
        return Ok((Terrain::inside(g, configurations, &carving, Some(start)), None));
    }
    let blank = start(learner, options, |_| false);
    let read_only = read_only_tapes(g, learner, options, &blank, bits);
    let terrain = Terrain::outside(g, normal, &carving, Some(read_only)).map_err(ExtendedError::Build)?;
    Ok((terrain, Some(read_only)))
}

/// `match_w = ReLU(sum_j bit_j(w) tape_j - (L - 1))` for every word w of L bits: 1 where it holds the data, else 0.
fn matching(g: &mut GraphBuilder, n_bits: usize, bits: NodeId) -> NodeId {
    let n_words = 1_usize << n_bits;
    let sign = |word: usize, bit: usize| if word >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let entries = (0..n_words).flat_map(|word| (0..n_bits).map(move |bit| (word, bit, sign(word, bit))));
    let threshold = 1.0 - f64::from(u32::try_from(n_bits).unwrap_or(u32::MAX));
    let map = LinearMap::new(n_words, n_bits, entries).with_bias(vec![threshold; n_words]);
    let alike = g.linear("data match", map, bits);
    g.relu("data match", alike)
}

/// The machine's start configuration for data with these bits.
fn start(learner: &Learner, options: &ExtendedOptions, bit: impl Fn(usize) -> bool) -> Configuration {
    let bits: Vec<bool> = (0..options.layout.n_bits()).map(bit).collect();
    let input = learner.input(&options.layout, &bits);
    place(learner, &input, options)
}

/// An input of the normal form as the network's cells hold it.
fn place(learner: &Learner, input: &Input, options: &ExtendedOptions) -> Configuration {
    let machine = learner.lowered().normal.machine();
    let mut tapes = vec![vec![false; options.n_cells]; machine.n_tapes()];
    let mut heads = Vec::with_capacity(tapes.len());
    for (tape, cells) in tapes.iter_mut().enumerate() {
        let index = |cell: i64| usize::try_from(cell - options.first_cells[tape]).unwrap_or(usize::MAX);
        let laid = input.tapes.get(tape);
        for (cell, symbol) in laid.into_iter().flat_map(|laid| &laid.symbols).enumerate() {
            if let Some(place) = cells.get_mut(index(i64::try_from(cell).unwrap_or(i64::MAX))) {
                *place = symbol.0 == 1;
            }
        }
        heads.push(index(laid.map_or(0, |laid| laid.head)).min(options.n_cells - 1));
    }
    Configuration { state: machine.start(), tapes, heads }
}

/// tape_RO: constants where the data do not lie, their bits where they do.
fn read_only_tapes(
    g: &mut GraphBuilder,
    learner: &Learner,
    options: &ExtendedOptions,
    blank: &Configuration,
    bits: NodeId,
) -> NodeId {
    let normal = &learner.lowered().normal;
    let tapes: Vec<_> = normal.machine().tape_ids().filter(|&tape| normal.read_only(tape)).collect();
    let n_cells = options.n_cells;
    let mut bias = Vec::with_capacity(tapes.len() * n_cells);
    let mut entries = Vec::new();
    for (row, &tape) in tapes.iter().enumerate() {
        bias.extend(blank.tapes[tape.index()].iter().map(|&one| if one { 1.0 } else { -1.0 }));
        if tape != learner.data_track() {
            continue;
        }
        for bit in 0..options.layout.n_bits() {
            let cell = i64::try_from(options.layout.cell(bit)).unwrap_or(i64::MAX);
            let cell = usize::try_from(cell - options.first_cells[tape.index()]).unwrap_or(0);
            bias[row * n_cells + cell] = 0.0;
            entries.push((row * n_cells + cell, bit, 1.0));
        }
    }
    let map = LinearMap::new(bias.len(), options.layout.n_bits(), entries).with_bias(bias);
    let cells = g.linear("read_only", map, bits);
    g.reshape("read_only", Shape::new(tapes.len(), n_cells), cells)
}

/// theta = dequantize([output cells]).
fn read_theta(
    g: &mut GraphBuilder,
    learner: &Learner,
    primary: &dyn Primary,
    options: &ExtendedOptions,
    terrain: &Terrain,
) -> NodeId {
    let (track, first) = learner.theta_track();
    let n_bits = primary.n_weights() * options.layout.width();
    let first = i64::try_from(first).unwrap_or(i64::MAX) - options.first_cells[track.index()];
    let first = usize::try_from(first).unwrap_or(0);
    let cells = match &terrain.holds {
        Holds::Outside { control, weights } => {
            let row = control.row(track.index()) * options.n_cells;
            g.gather("theta bits", (row + first..row + first + n_bits).collect(), weights.tape)
        }
        Holds::Inside { configurations, vertex_node, .. } => {
            let sign = |one: bool| if one { 1.0 } else { -1.0 };
            let entries = configurations.all.iter().enumerate().flat_map(|(v, configuration)| {
                let cells = &configuration.tapes[track.index()][first..first + n_bits];
                cells.iter().enumerate().map(move |(bit, &one)| (bit, v, sign(one)))
            });
            let map = LinearMap::new(n_bits, terrain.n_vertices(), entries);
            g.linear("theta bits", map, *vertex_node)
        }
    };
    let fixed = g.stop_gradient("[theta bits]", cells);
    g.dequantize("theta", options.layout.format, fixed)
}

/// The user's constants with a scale at which every possible final loss lies below the stopping level.
fn with_room(
    n_tapes: usize,
    primary: &dyn Primary,
    options: &ExtendedOptions,
) -> Result<AskedConstants, crate::ConstantsError> {
    let highest = options.final_loss.unwrap_or_else(|| final_loss(primary, &options.layout));
    let mut constants = options.constants;
    match options.kind {
        Kind::Internal => {
            // The stopping level is 3/2 of the scale.
            let scale = power_of_two_from(highest / 1.5);
            constants.scale = constants.scale.or(Some(scale));
        }
        Kind::Plain => {
            let drop = power_of_two_from((4.0 * highest).max(4.0));
            constants.drop = constants.drop.or(Some(drop));
        }
        Kind::Compact | Kind::Relu => {
            let unit = ExternalConstants::choose(n_tapes, &AskedConstants { scale: Some(1.0), ..constants })?;
            let stop = unit.offset - unit.halting_gap(n_tapes) / 2.0;
            constants.scale = constants.scale.or(Some(power_of_two_from(highest / stop)));
        }
    }
    Ok(constants)
}

/// The smallest power of two that is at least this, and at least 2^-20.
fn power_of_two_from(value: f64) -> f64 {
    value.max(1e-6).log2().ceil().exp2()
}

/// The largest possible 1/2 |f_theta(x) - y|^2 for numbers of the format.
fn final_loss(primary: &dyn Primary, layout: &DataLayout) -> f64 {
    let largest = layout.format.largest_magnitude();
    let residual = primary.largest_output(largest, largest) + largest;
    let n = f64::from(u32::try_from(layout.n_samples * layout.n_labels).unwrap_or(u32::MAX));
    0.5 * n * residual * residual
}

/// The smallest label in size that is not zero.
fn smallest_label(layout: &DataLayout) -> f64 {
    layout.format.smallest_positive()
}
