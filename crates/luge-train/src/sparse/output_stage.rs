//! The part of an extended network outside its landscape: labels, switches, carrier, squared error.

use luge_net::{
    Carrier, Network, NodeId, OutputWiring, ParameterId, SparseLayers, Values, Weights, bias_rows,
    changing_rows, evaluate_node, evaluate_rows, faults,
};

use crate::{PackedCells, TrainError, snapshot::written_cells};

/// The labels, and what is computed from them.
#[derive(Clone, Debug)]
pub(crate) struct OutputStage<'n> {
    network: &'n Network,
    wiring: OutputWiring,
    inputs: Vec<Values>,
    /// z.
    pub(crate) labels: Values,
    /// y.
    targets: Values,
    /// psi: 1 before the labels are copied, 0 after.
    initial: f64,
    carrier: CarrierState,
}

/// The carrier for the current labels.
#[derive(Clone, Debug)]
enum CarrierState {
    /// The label and the target of the first entry, which carries the loss, and the squares of all other residuals.
    Offset { first: f64, target: f64, others: f64 },
    /// The direction f.
    Direction(Vec<f64>),
}

/// The network's loss, and its derivative by the landscape's loss, which scales the landscape's gradient.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Carried {
    pub(crate) loss: f64,
    pub(crate) gain: f64,
}

impl<'n> OutputStage<'n> {
    pub(crate) fn new(network: &'n Network, wiring: OutputWiring, labels: Values, inputs: &[Values]) -> Self {
        let mut stage = Self {
            network,
            wiring,
            inputs: inputs.to_vec(),
            labels,
            targets: inputs[wiring.targets_input].clone(),
            initial: 0.0,
            carrier: CarrierState::Offset { first: 0.0, target: 0.0, others: 0.0 },
        };
        stage.refresh();
        stage
    }

    /// Whether the labels have not been copied yet. Then the output is z itself.
    pub(crate) fn waiting(&self) -> Result<bool, TrainError> {
        is_open("initial", self.initial)
    }

    /// Whether the output is that of the primary network.
    pub(crate) fn finished(&self, landscape: f64) -> Result<bool, TrainError> {
        is_open("running", self.wiring.running.at(landscape)).map(|running| !running)
    }

    /// Whether the output is the carrier alone.
    #[inline]
    pub(crate) fn running(&self, landscape: f64) -> bool {
        self.wiring.running.at(landscape).total_cmp(&1.0).is_eq()
    }

    /// z + r - y: the residuals before the labels are copied, and the gradient of the loss by z.
    fn residuals(&self) -> impl Iterator<Item = f64> {
        let copied = self.labels.data.iter().map(|z| z + self.wiring.label_offset);
        copied.zip(&self.targets.data).map(|(copied, y)| copied - y)
    }

    /// The loss before the labels are copied.
    pub(crate) fn waiting_loss(&self) -> f64 {
        0.5 * self.residuals().map(|r| r * r).sum::<f64>()
    }

    /// Makes the step that copies the labels. No other weight has a gradient there.
    pub(crate) fn read_labels(&mut self) {
        let rate = faults::number("label rate", 1.0, 0.999);
        let moved: Vec<f64> =
            self.labels.data.iter().zip(self.residuals()).map(|(z, r)| z - rate * r).collect();
        self.labels.data = moved;
        self.refresh();
    }

    /// The network's loss for a loss of the landscape, while the output is the carrier.
    #[inline]
    pub(crate) fn carry(&self, landscape: f64) -> Carried {
        let root = (2.0 * landscape).sqrt();
        match &self.carrier {
            CarrierState::Offset { first, target, others } => {
                let residual = first + root - target;
                Carried {
                    loss: 0.5 * (residual * residual + others),
                    gain: residual / faults::number("gain of the offset", root, 2.0 * root),
                }
            }
            CarrierState::Direction(f) => self.carry_along(f, root),
        }
    }

    /// The same for a direction: computed entry by entry, rounded as the network rounds.
    fn carry_along(&self, f: &[f64], root: f64) -> Carried {
        let (mut squares, mut slope) = (0.0, 0.0);
        for (f, y) in f.iter().zip(&self.targets.data) {
            let residual = root * f - y;
            squares += residual * residual;
            slope += residual * f;
        }
        let gain = faults::number("gain along a direction", slope / root, 1.0 + 1e-6);
        Carried { loss: 0.5 * squares, gain }
    }

    /// The loss of the primary network, once both switches are closed. `cell` returns the value of a cell of a track.
    pub(crate) fn primary_loss_of(&self, layers: &SparseLayers, cell: &dyn Fn(usize, i64) -> f64) -> f64 {
        let weights = self.weights(Some((layers, cell)));
        let out = evaluate_node(self.network, &weights, &self.inputs, self.wiring.primary);
        let half = faults::number("loss once halted", 0.5, 0.25);
        half * out.data.iter().zip(&self.targets.data).map(|(out, y)| (out - y) * (out - y)).sum::<f64>()
    }

    /// The rows of hidden cells that depend on labels or inputs, for the current labels; `None` for all other rows.
    pub(crate) fn changed_cells(&self, layers: &SparseLayers) -> Vec<Option<PackedCells>> {
        let Some(node) = layers.fixed_cells else { return Vec::new() };
        changed_rows(self.network, &self.weights(None), &self.inputs, node)
    }

    fn weights<'a>(&'a self, tapes: Option<Tapes<'a>>) -> Held<'a> {
        Held { network: self.network, labels: (self.wiring.labels, &self.labels), tapes }
    }

    fn refresh(&mut self) {
        let size: f64 = self.labels.data.iter().map(|z| z * z).sum();
        self.initial = self.wiring.initial.at(size);
        let residuals: Vec<f64> = self.residuals().collect();
        self.carrier = match self.wiring.carrier {
            Carrier::Offset => CarrierState::Offset {
                first: self.labels.data[0] + self.wiring.label_offset,
                target: self.targets.data[0],
                others: residuals[1..].iter().map(|r| r * r).sum(),
            },
            Carrier::Direction(node) => {
                let weights = self.weights(None);
                CarrierState::Direction(evaluate_node(self.network, &weights, &self.inputs, node).data)
            }
        };
    }
}

/// Whether a switch is open; an error if it is half open.
fn is_open(switch: &'static str, open: f64) -> Result<bool, TrainError> {
    match open {
        1.0 => Ok(true),
        0.0 => Ok(false),
        _ => Err(TrainError::Between { switch, open }),
    }
}

/// The hidden units that are cells, row by row, without the blank cells at the end.
pub(crate) fn fixed_rows(
    network: &Network,
    weights: &(impl Weights + ?Sized),
    inputs: &[Values],
    node: NodeId,
) -> Vec<PackedCells> {
    let mut rows = changed_rows(network, weights, inputs, node);
    let constants = bias_rows(network, node);
    constants.for_each(|(row, biases)| rows[row] = Some(written_cells(&biases, 0).without_blank_end()));
    rows.into_iter().flatten().collect()
}

/// Those of them that depend on weights or inputs; `None` for all other rows.
fn changed_rows(
    network: &Network,
    weights: &(impl Weights + ?Sized),
    inputs: &[Values],
    node: NodeId,
) -> Vec<Option<PackedCells>> {
    let mut rows = vec![None; network.node(node).shape.rows];
    evaluate_rows(network, weights, inputs, (node, changing_rows(network, node)), |row, _, numbers| {
        rows[row].get_or_insert_with(PackedCells::default).extend(numbers);
    });
    rows.iter().map(|row| row.as_ref().map(PackedCells::without_blank_end)).collect()
}

/// The layers, and a function that returns the value of a cell of a track.
type Tapes<'a> = (&'a SparseLayers, &'a dyn Fn(usize, i64) -> f64);

/// The weights that the evaluated nodes depend on: labels, and the cells of an engine.
struct Held<'a> {
    network: &'a Network,
    labels: (ParameterId, &'a Values),
    tapes: Option<Tapes<'a>>,
}

impl Weights for Held<'_> {
    fn entry(&self, id: ParameterId, position: usize) -> f64 {
        if id == self.labels.0 {
            return self.labels.1.data[position];
        }
        let Some((layers, cell)) = self.tapes.filter(|(layers, _)| layers.cells == Some(id)) else {
            return 0.0;
        };
        let cols = self.network.parameters()[id.index()].shape.cols;
        let track = layers.table.rows.iter().position(|&row| row == position / cols);
        track.map_or(0.0, |track| cell(track, (position % cols) as i64))
    }
}
