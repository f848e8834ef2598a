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
    /// Steps that the machine has made.
    pub machine_steps: Step,
    /// The weights of the primary network.
    pub theta: Vec<f64>,
    /// 1/2 |F(x) - y|^2 at the end.
    pub train_loss: f64,
    /// Rows whose class the network predicts correctly, if the labels are classes: -1 and 1, 0 and 1, or a 1 among zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classified: Option<usize>,
    /// The score on the rows that were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested: Option<Score>,
    /// The largest distance of the weights from the values they stand for, over the run; `None` where no weights stand for cells and heads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The digest of all vertices visited.
    #[serde(serialize_with = "json::path")]
    pub path: u64,
    /// How long training took, with every iterate compared.
    #[serde(skip)]
    pub trained_in: Duration,
    /// All trained weights.
    #[serde(skip)]
    pub parameters: Vec<SparseValues>,
    /// What was proved.
    pub certificate: Certificate,
    /// The engine that trained, and why that one.
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
    /// Whether the hidden tapes hold what the machine is given, on the graph, where every step was looked at.
    tapes_read: bool,
}

/// The network's weights after a run; cell 0 of the engine's tapes lies `shift` cells into the network's. `None` if they do not fit.
pub(super) fn end_weights(
    lesson: &PreparedTraining,
    followed: &FinishedRun<'_>,
    shift: &[Cell],
) -> Option<Vec<SparseValues>> {
    match shift.iter().all(|&shift| shift == 0) {
        true => followed.engine.sparse_parameters(),
        false => followed.snapshot.trimmed().weights_of(lesson.extended().network(), shift),
    }
}

impl End {
    /// Evaluates the network with these weights after a run; with its initial weights if there are none.
    pub(super) fn of(
        lesson: &PreparedTraining,
        parameters: Option<Vec<SparseValues>>,
        simulated: Option<&Simulated>,
        looked_at: bool,
    ) -> Self {
        let left_window = parameters.is_none();
        let parameters = parameters.unwrap_or_else(|| lesson.extended().initial().to_vec());
        let (network, nodes) = (lesson.extended().network(), lesson.extended().nodes());
        let asked = [nodes.theta, nodes.out, network.loss()];
        let values = evaluate_some(network, &parameters, &lesson.inputs(), &asked);
        let (theta, out, loss) = (values[0].data.clone(), values[1].clone(), values[2].data[0]);
        let output = output_equals_primary(lesson, &parameters, (&theta, &out), simulated);
        let tapes_read = !looked_at || lesson.hidden_tapes_are_the_machines();
        Self { parameters, left_window, theta, out, loss, output, tapes_read }
    }
}

impl TrainingReport {
    /// The report of a run.
    pub(super) fn conclude(
        lesson: &PreparedTraining,
        mut followed: FinishedRun<'_>,
        gradient: &GradientCheck,
        end: End,
    ) -> Self {
        let engine = &followed.engine;
        // A run that was interrupted has not widened its network.
        if end.left_window && !matches!(followed.outcome, Outcome::Interrupted { .. }) {
            followed.record.differs(engine.steps(), &Mismatch::LeftWindow);
        }
        // The loss that the engine reports once the machine has halted must be the network's.
        let halted = followed.record.halted.filter(|_| gradient.seen.is_some());
        if let Some(loss) = halted.filter(|&loss| !near(end.loss, loss)) {
            let why = format!("the network ends with the loss {}, the run reports {loss}", end.loss);
            followed.record.differs(engine.steps(), &why);
        }
        Self {
            outcome: followed.outcome,
            machine_steps: followed.simulator.steps(),
            train_loss: end.loss,
            classified: lesson.table().right_rows(&end.out),
            tested: lesson.table().held_out.as_ref().and_then(|held_out| {
                let out = lesson.predictor(&end.theta).predict(&held_out.features);
                held_out.preparation.score(&out, &held_out.labels)
            }),
            trained_in: followed.trained_in,
            drift: followed.record.drift,
            certificate: certify(lesson, &followed, gradient, (end.output, end.tapes_read)),
            theta: end.theta,
            parameters: end.parameters,
            path: followed.path,
            chosen: followed.chosen,
        }
    }
}
