//! The result of training.

use std::time::Duration;

use luge_machine::{Cell, Step};
use luge_net::{SparseValues, Values, evaluate_some};
use luge_train::Outcome;
use serde::Serialize;

use super::{
    Certificate, Claim, PreparedTraining, Simulated,
    certificate::{certify, output_equals_primary},
};
use crate::{
    certificate::gradient::GradientCheck,
    data::Score,
    files::json,
    run::{engine::Chosen, follow::FinishedRun, lockstep::Mismatch, run_stats::Drift, situations::near},
};

/// The result of training, and its certificate.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TrainingReport {
    /// How training ended.
    #[serde(flatten, serialize_with = "json::outcome")]
    pub outcome: Outcome,
    /// Steps of the machine.
    pub machine_steps: Step,
    /// The weights of the primary network.
    pub theta: Vec<f64>,
    /// 1/2 |F(x) - y|^2 at the end.
    pub train_loss: f64,
    /// Rows whose class the network predicts correctly, if the labels are classes: -1 and 1, 0 and 1, or a 1 among zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classified: Option<usize>,
    /// The score on the held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested: Option<Score>,
    /// The largest distance during the run between a weight of a cell or head and the value that it represents; `None` if there
    /// are no such weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The digest of the visited vertices.
    #[serde(serialize_with = "json::path")]
    pub path: u64,
    /// How long training took, with every iterate compared.
    #[serde(skip)]
    pub trained_in: Duration,
    /// All trained weights.
    #[serde(skip)]
    pub parameters: Vec<SparseValues>,
    /// The claims about the run.
    pub certificate: Certificate,
    /// The engine, and why it was chosen.
    #[serde(flatten)]
    pub chosen: Chosen,
}

/// The trained network, and its outputs on the data.
pub(super) struct End {
    parameters: Vec<SparseValues>,
    /// Whether the run has left the network's cells.
    left_window: bool,
    theta: Vec<f64>,
    out: Values,
    loss: f64,
    /// The claim that the network outputs what the primary network does.
    output: Claim,
    /// Whether the hidden tapes of the graph hold the machine's input; checked only if every step was observed.
    tapes_read: bool,
}

/// Returns the network's weights after a run; `None` if they do not fit the network. Cell 0 of the engine's tapes is cell
/// `shift` of the network's.
pub(super) fn end_weights(
    prepared: &PreparedTraining,
    run: &FinishedRun<'_>,
    shift: &[Cell],
) -> Option<Vec<SparseValues>> {
    match shift.iter().all(|&shift| shift == 0) {
        true => run.engine.sparse_parameters(),
        false => run.snapshot.trimmed().weights_of(prepared.extended().network(), shift),
    }
}

impl End {
    /// Evaluates the network after a run, with these weights, or with its initial weights if there are none.
    pub(super) fn of(
        prepared: &PreparedTraining,
        parameters: Option<Vec<SparseValues>>,
        simulated: Option<&Simulated>,
        looked_at: bool,
    ) -> Self {
        let left_window = parameters.is_none();
        let parameters = parameters.unwrap_or_else(|| prepared.extended().initial().to_vec());
        let (network, nodes) = (prepared.extended().network(), prepared.extended().nodes);
        let wanted = [nodes.theta, nodes.out, network.loss()];
        let values = evaluate_some(network, &parameters, &prepared.inputs(), &wanted);
        let (theta, out, loss) = (values[0].data.clone(), values[1].clone(), values[2].data[0]);
        let output = output_equals_primary(prepared, &parameters, (&theta, &out), simulated);
        let tapes_read = !looked_at || prepared.hidden_tapes_are_the_machines();
        Self { parameters, left_window, theta, out, loss, output, tapes_read }
    }
}

impl TrainingReport {
    /// Builds the report of a run.
    pub(super) fn conclude(
        prepared: &PreparedTraining,
        mut run: FinishedRun<'_>,
        gradient: &GradientCheck,
        end: End,
    ) -> Self {
        let engine = &run.engine;
        // A run that was interrupted has not widened its network.
        if end.left_window && !matches!(run.outcome, Outcome::Interrupted { .. }) {
            run.record.differs(engine.steps(), &Mismatch::LeftWindow);
        }
        // The loss that the engine reports once the machine has halted must be the network's.
        let halted = run.record.halted.filter(|_| gradient.seen.is_some());
        if let Some(loss) = halted.filter(|&loss| !near(end.loss, loss)) {
            let why = format!("the network ends with the loss {}, the run reports {loss}", end.loss);
            run.record.differs(engine.steps(), &why);
        }
        Self {
            outcome: run.outcome,
            machine_steps: run.simulator.steps(),
            train_loss: end.loss,
            classified: prepared.table().right_rows(&end.out),
            tested: prepared.table().held_out.as_ref().and_then(|held_out| {
                let out = prepared.predictor(&end.theta).predict(&held_out.features);
                held_out.preparation.score(&out, &held_out.labels)
            }),
            trained_in: run.trained_in,
            drift: run.record.drift,
            certificate: certify(prepared, &run, gradient, (end.output, end.tapes_read)),
            theta: end.theta,
            parameters: end.parameters,
            path: run.path,
            chosen: run.chosen,
        }
    }
}
