//! Records a run on a stream: the samples, those that the learner takes, its memory, the loss, and the result.
//!
//! Everything is read from the weights of the engine that trains, and from the network evaluated with them.

use std::{collections::BTreeSet, ops::ControlFlow};

use luge::{
    certificate::answer::Answer,
    job::JobError,
    stream::{PreparedStream, Stream, StreamJob},
};
use luge_net::{NodeId, Values, evaluate_node, numbers::from_signs};
use luge_train::{SparseStream, StreamEngine};
use serde_json::{Value, json};

use crate::replay::evenly_spaced;

/// The most batches taken that are listed.
const MAX_TAKES: usize = 512;

/// The most batches taken around which moments are recorded.
const MAX_CLOSE: usize = 100;

/// A run on a stream, from its first sample to its result.
#[derive(Debug)]
pub struct StreamRecording {
    /// Gradient steps made.
    pub steps: u64,
    /// Whether the learner has halted.
    pub halted: bool,
    /// Moments recorded.
    pub n_moments: usize,
    /// The data of the page.
    pub(crate) record: Value,
}

impl StreamRecording {
    /// Trains and certifies, and records about `n_moments` of the run.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn new(job: &StreamJob, n_moments: usize) -> Result<Self, JobError> {
        let lesson = job.prepare()?;
        let report = lesson.train(|_| ControlFlow::Continue(()))?;
        let (mut watch, mut takes) = (Watch::new(&lesson)?, Vec::new());
        for step in 0..report.steps {
            watch.draw();
            if watch.step()? && takes.len() < MAX_TAKES {
                takes.push((step, json!({ "step": step, "x": watch.x.data, "y": watch.y.data })));
            }
        }
        // Which moments are recorded depends on the batches taken, so the run is repeated.
        let last = report.steps;
        let even = evenly_spaced(last, n_moments);
        let close = takes.iter().take(MAX_CLOSE).flat_map(|(step, _)| [*step, step + 1]);
        let wanted: BTreeSet<u64> = even.chain(close).collect();
        let (mut watch, mut moments) = (Watch::new(&lesson)?, Vec::with_capacity(wanted.len()));
        for step in 0..=wanted.last().copied().unwrap_or(0) {
            watch.draw();
            if wanted.contains(&step) {
                moments.push(watch.moment(step));
            }
            watch.step()?;
        }
        let (steps, halted, n_moments) = (report.steps, report.halted, moments.len());
        let input = &lesson.network.network.inputs()[0];
        let record = json!({
            "name": lesson.learner.machine().name().unwrap_or(&job.source.name),
            "source": job.source.text,
            "n_features": input.shape.cols,
            "batch": input.shape.rows,
            // A: what the network puts out while it learns.
            "carrier": lesson.network.constants.carrier,
            "steps": steps,
            "taken": report.taken,
            "halted": halted,
            // What the labels of drawn samples depend on.
            "hidden": lesson.stream().hidden(),
            "moments": moments,
            "takes": takes.into_iter().map(|(_, take)| take).collect::<Vec<_>>(),
            "answer": Answer::of_certificate(&report.certificate),
            "theta": report.theta,
            "judged": report.judged,
        });
        Ok(Self { steps, halted, n_moments, record })
    }
}

/// A run that is being recorded.
struct Watch<'a> {
    lesson: &'a PreparedStream,
    engine: SparseStream<'a>,
    stream: Stream,
    x: Values,
    y: Values,
    /// Batches taken so far.
    taken: usize,
}

impl<'a> Watch<'a> {
    fn new(lesson: &'a PreparedStream) -> Result<Self, JobError> {
        let network = &lesson.network;
        let [x, y] = network.network.inputs() else { unreachable!("a stream's network sees x and y") };
        let (x, y) = (Values::filled(x.shape, 0.0), Values::filled(y.shape, 0.0));
        let engine = SparseStream::new(&network.network, &network.initial)?;
        Ok(Self { lesson, engine, stream: lesson.stream(), x, y, taken: 0 })
    }

    /// Whether the slot for labels is full; an empty slot holds -A.
    fn holds_labels(&self) -> bool {
        let constants = &self.lesson.network.constants;
        self.engine.labels.iter().any(|z| (z + constants.carrier).abs() > constants.carrier / 2.0)
    }

    /// Draws the next batch.
    fn draw(&mut self) {
        self.stream.next_batch(&mut self.x.data, &mut self.y.data);
    }

    /// Makes a step on the batch, and returns whether the learner took it.
    fn step(&mut self) -> Result<bool, JobError> {
        let held = self.holds_labels();
        self.engine.step_on(&self.x.data, &self.y.data)?;
        let took = !held && self.holds_labels();
        self.taken += usize::from(took);
        Ok(took)
    }

    /// The network before a step, and the batch of that step.
    fn moment(&self, step: u64) -> Value {
        let network = &self.lesson.network;
        let (weights, inputs) = (self.engine.weights(), [self.x.clone(), self.y.clone()]);
        let value = |node: NodeId| evaluate_node(&network.network, &weights[..], &inputs, node).data;
        json!({
            "step": step,
            "taken": self.taken,
            "x": self.x.data,
            "y": self.y.data,
            // z, the slot for labels.
            "labels": self.engine.labels,
            // The numbers in the memory of one batch.
            "memory": from_signs(self.lesson.options.format, &self.engine.memory),
            "theta": value(network.nodes.theta),
            "out": value(network.nodes.out),
            "loss": value(network.network.loss())[0],
        })
    }
}

#[cfg(test)]
mod tests {
    use luge::{Source, stream::Samples};

    use super::*;

    #[test]
    fn a_recording_shows_what_the_learner_took_and_found() {
        let source = Source::open("parity").expect("it ships");
        let draw = "parity:bits=4,hidden=2".parse().expect("a stream");
        let recording = StreamRecording::new(&StreamJob::new(source, Samples::Draw(draw)), 20);
        let StreamRecording { steps, halted, record, .. } = recording.expect("a recording");
        let list = |value: &Value| -> Vec<Value> { value.as_array().expect("a list").clone() };
        let number = |value: &Value| value.as_f64().expect("a number");
        assert!(halted && record["answer"]["certified"] == true, "{}", record["answer"]);
        let (takes, moments) = (list(&record["takes"]), list(&record["moments"]));
        assert_eq!((json!(takes.len()), &record["theta"]), (record["taken"].clone(), &record["hidden"]));
        assert_eq!(record["judged"], json!([10_000, 10_000]));
        let (first, last) = (&moments[0], moments.last().expect("moments"));
        assert_eq!((&first["step"], &last["step"]), (&json!(0), &json!(steps)));
        assert_eq!((&last["taken"], &last["theta"]), (&json!(takes.len()), &record["theta"]));
        // While it learns the network puts out A; then the label.
        let from_label = number(&record["carrier"]) - number(&first["y"][0]);
        let level = from_label * from_label / 2.0;
        let losses = [first, last].map(|moment| number(&moment["loss"]));
        assert!((losses[0] - level).abs() < 1e-9 * level && losses[1].abs() < 1e-12, "{last}");
        assert!(!takes.is_empty());
        for take in &takes {
            let step = take["step"].as_u64().expect("a step") + 1;
            let after = moments.iter().find(|moment| moment["step"] == step).expect("a moment");
            assert_eq!(list(&after["memory"])[..4], list(&take["x"]), "the memory holds what was taken");
            let sum = number(&after["labels"][0]) + number(&take["y"][0]);
            assert!(sum.abs() < 0.5, "and the slot its label");
        }
    }
}
