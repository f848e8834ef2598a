//! What training left behind.

use luge_machine::Step;
use luge_net::{Values, evaluate};
use serde::Serialize;

use super::{Certificate, Lesson};
use crate::{engine::Chosen, follow::Followed, json, lockstep::Mismatch, record::Drift};

/// What training left behind, and what was proved of it.
#[derive(Clone, Debug, Serialize)]
pub struct LessonReport {
    /// How training ended.
    #[serde(flatten, serialize_with = "json::outcome")]
    pub outcome: luge_train::Outcome,
    /// Steps of the machine.
    pub machine_steps: Step,
    /// The weights of the primary network.
    pub theta: Vec<f64>,
    /// 1/2 |F(x) - y|^2 at the end.
    pub train_loss: f64,
    /// Rows whose class the network tells right, if the labels are classes: -1 and 1, 0 and 1, or a 1 among zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classified: Option<usize>,
    /// How far weights came from the values they stand for, over the run.
    pub drift: Drift,
    /// The digest of all vertices visited.
    #[serde(serialize_with = "json::path")]
    pub path: u64,
    /// All trained weights.
    #[serde(skip)]
    pub parameters: Vec<Values>,
    /// What was proved.
    pub certificate: Certificate,
    /// The engine that trained, and why that one.
    #[serde(flatten)]
    pub chosen: Chosen,
}

impl LessonReport {
    /// Looks at the network as a run has left it.
    pub(super) fn conclude(lesson: &Lesson, mut followed: Followed<'_>) -> Self {
        let engine = &followed.engine;
        let parameters = engine.parameters().unwrap_or_else(|| {
            followed.record.differs(engine.steps(), &Mismatch::LeftWindow);
            lesson.extended.initial().to_vec()
        });
        let end = evaluate(lesson.extended.network(), &parameters, &lesson.inputs());
        let theta = end.value(lesson.extended.nodes().theta).data.clone();
        Self {
            outcome: followed.outcome,
            machine_steps: lesson.machine_steps,
            train_loss: end.loss(),
            classified: right_rows(end.value(lesson.extended.nodes().out), &lesson.table.labels),
            drift: followed.record.drift,
            certificate: Certificate::draw_up(lesson, &followed, &parameters, &theta),
            theta,
            parameters,
            path: followed.engine.path(),
            chosen: followed.chosen,
        }
    }
}

/// How many rows of the output tell the class in the labels; `None` if the labels are no classes: -1 and 1, 0 and 1, or a 1
/// among zeros. What lies in the middle between two classes tells neither.
#[expect(clippy::float_cmp, reason = "labels that are classes are exactly -1, 0 or 1")]
pub(crate) fn right_rows(out: &Values, labels: &Values) -> Option<usize> {
    let n_labels = labels.shape.cols;
    let only = |low: f64| n_labels == 1 && labels.data.iter().all(|&y| y == 1.0 || y == low);
    let some = |class: f64| labels.data.contains(&class);
    let middle = match () {
        () if only(-1.0) => Some(0.0),
        () if only(0.0) && some(0.0) && some(1.0) => Some(0.5),
        () => None,
    };
    let one_hot = |row: &[f64]| {
        row.iter().all(|&y| y == 0.0 || y == 1.0) && row.iter().filter(|&&y| y == 1.0).count() == 1
    };
    let classes = n_labels > 1 && labels.data.chunks(n_labels).all(one_hot);
    let highest = |row: &[f64]| (0..row.len()).reduce(|a, b| if row[b] > row[a] { b } else { a });
    let right = |row: &usize| {
        let (out, labels) = (out.row(*row), labels.row(*row));
        match middle {
            Some(middle) => (out[0] - middle) * (labels[0] - middle) > 0.0,
            None => highest(out) == highest(labels),
        }
    };
    (middle.is_some() || classes).then(|| (0..labels.shape.rows).filter(right).count())
}
