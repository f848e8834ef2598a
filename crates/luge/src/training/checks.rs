//! Checks of the network before training, for the certificate.

use luge_landscape::LandscapeKind;
use luge_machine::{Cell, TapeId};
use luge_net::{NodeId, Op, SparseValues, Unrecognised, Values, check_inputs, evaluate_rows};
use luge_train::{Difference, ROUNDING, SpotCheck};

use super::PreparedTraining;
use crate::job::JobError;

/// The input that takes the labels: x is the first, y the second.
const TARGETS: usize = 1;

impl PreparedTraining {
    /// Returns how the first step, which copies the labels and moves nothing else, differs from the network's gradient step.
    pub(super) fn first_step_differs(&self) -> Result<Option<String>, JobError> {
        let (extended, inputs) = (self.extended(), self.inputs());
        let mut check = SpotCheck::new(extended.network(), &inputs, &[])?;
        let agreement = check.check_weights(extended.initial(), &self.after_first_step(), ROUNDING)?;
        Ok(agreement.differs.map(|weight| {
            let Difference { parameter, index, dense, found } = weight;
            format!("the first step moves {parameter}[{index}] to {dense}, not to {found}")
        }))
    }

    /// The initial weights with the labels copied into z.
    fn after_first_step(&self) -> Vec<SparseValues> {
        let mut weights = self.extended().initial().to_vec();
        let labels = &mut weights[self.extended().labels.index()];
        *labels = Values::new(labels.shape, self.copied_labels.clone()).into();
        weights
    }

    /// Checks that labels reach only the residual of the loss, and features only hidden tapes and the primary network.
    pub(super) fn inputs_are_confined(&self) -> Result<(), Unrecognised> {
        let (extended, network) = (self.extended(), self.extended().network());
        let nodes = extended.nodes;
        let through: Vec<NodeId> = match (network.sparse_layers(), extended.kind()) {
            (Ok(layers), _) => {
                layers.fixed_cells.into_iter().chain(layers.output.map(|output| output.primary)).collect()
            }
            // On `internal` the bits of x choose the start, so features may go anywhere.
            (Err(_), LandscapeKind::Internal) => {
                let is_x =
                    |of: &NodeId| matches!(network.node(*of).op, Op::Input(id) if id.index() != TARGETS);
                let sees_x = network.numbered_nodes().filter(|(_, node)| node.op.operands().iter().any(is_x));
                sees_x.map(|(id, _)| id).collect()
            }
            (Err(_), _) => nodes.read_only.into_iter().chain([nodes.primary]).collect(),
        };
        check_inputs(network, TARGETS, &through)
    }

    /// Whether z is 0 before training, and whether every writable cell is blank.
    pub(super) fn starts_blank(&self) -> (bool, bool) {
        let extended = self.extended();
        let initial = extended.initial();
        let is = |block: &SparseValues, value: f64| {
            block.others().is_empty() && block.common().total_cmp(&value).is_eq()
        };
        let cells = extended.network().sparse_layers().ok().and_then(|layers| layers.cells);
        (is(&initial[extended.labels.index()], 0.0), cells.is_some_and(|id| is(&initial[id.index()], -1.0)))
    }

    /// Whether the hidden tapes, evaluated on the graph after the labels are copied, hold the machine's input.
    pub(super) fn hidden_tapes_are_the_machines(&self) -> bool {
        let (extended, window, simulator) = (self.extended(), self.window(), self.simulator());
        let Ok(layers) = extended.network().sparse_layers() else { return false };
        let Some(node) = layers.fixed_cells else { return true };
        let table = &layers.table;
        let mut tape_of = vec![TapeId::new(0); table.n_tracks];
        table.rows.iter().enumerate().for_each(|(track, &row)| tape_of[row] = TapeId::new(track));
        let mut alike = true;
        evaluate_rows(
            extended.network(),
            &self.after_first_step()[..],
            &self.inputs(),
            (node, 0..extended.network().node(node).shape.rows),
            |row, first, numbers| {
                let tape = tape_of[table.n_trained + row];
                let (start, tape) = (window.first[tape.index()] + first as Cell, simulator.tape(tape));
                let is = |number: &f64, symbol: u8| {
                    number.to_bits() == if symbol == 1 { 1.0_f64 } else { -1.0 }.to_bits()
                };
                let (end, held) = (start + numbers.len() as Cell, tape.extent());
                let (from, to) = (held.start.clamp(start, end), held.end.clamp(start, end));
                let (before, rest) = numbers.split_at((from - start) as usize);
                let (inside, after) = rest.split_at((to - from) as usize);
                let blank = tape.read(held.end).0;
                // Without a branch for each cell, so that it can be vectorised.
                alike &= inside
                    .iter()
                    .zip(tape.held_from(from))
                    .fold(true, |alike, (it, &symbol)| alike & is(it, symbol));
                alike &= before.iter().chain(after).fold(true, |alike, it| alike & is(it, blank));
            },
        );
        alike
    }
}
