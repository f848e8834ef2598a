//! A run on a stream, recorded: samples that pass, those that the learner takes, its memory, the loss, and the result.
//!
//! Everything is read from the weights of the engine that trains, and from the network evaluated with them.

use std::{collections::BTreeSet, ops::ControlFlow};

use luge::{
    certificate::answer::Answer,
    stream::{PreparedStream, PreparedStreamError, StreamJob},
};
use luge_net::{NodeId, Values, evaluate_node, numbers::from_signs};
use luge_train::{SparseStream, StreamEngine};
use serde::Serialize;

/// Takes that are shown one by one.
const MAX_TAKES: usize = 512;

/// Takes before and after which a moment is recorded.
const MAX_CLOSE: usize = 100;

/// A run on a stream, from its first sample to its result.
#[derive(Debug, Serialize)]
pub struct StreamFilm {
    name: String,
    source: String,
    n_features: usize,
    batch: usize,
    /// A: what the network puts out while it learns.
    carrier: f64,
    steps: u64,
    taken: u64,
    halted: bool,
    /// What the labels of drawn samples depend on.
    hidden: Vec<f64>,
    moments: Vec<StreamMoment>,
    takes: Vec<Take>,
    theta: Vec<f64>,
    judged: Option<(usize, usize)>,
    answer: Answer,
}

/// The network before a step, and the batch of that step.
#[derive(Debug, Serialize)]
struct StreamMoment {
    step: u64,
    /// Batches taken so far.
    taken: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    /// z, the slot for labels.
    labels: Vec<f64>,
    /// The numbers in the memory of one batch.
    memory: Vec<f64>,
    theta: Vec<f64>,
    out: Vec<f64>,
    loss: f64,
}

/// A batch that the learner took.
#[derive(Debug, Serialize)]
struct Take {
    step: u64,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl StreamFilm {
    /// Trains and certifies, and records about `n_moments` of the run.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn new(job: &StreamJob, n_moments: usize) -> Result<Self, PreparedStreamError> {
        let lesson = job.prepare()?;
        let report = lesson.train(|_| ControlFlow::Continue(()))?;
        // The moments around a take are known once the takes are: the run is made once more.
        let takes = Watch::new(&lesson)?.takes(report.steps)?;
        let last = report.steps;
        let even = (0..n_moments as u64).map(|i| last * i / (n_moments as u64 - 1).max(1));
        let close = takes.iter().take(MAX_CLOSE).flat_map(|take| [take.step, take.step + 1]);
        let wanted: BTreeSet<u64> = even.chain(close).collect();
        let moments = Watch::new(&lesson)?.moments(&wanted)?;
        let input = &lesson.network.network.inputs()[0];
        Ok(Self {
            name: lesson.learner.machine().name().unwrap_or(&job.source.name).to_owned(),
            source: job.source.text.clone(),
            n_features: input.shape.cols,
            batch: input.shape.rows,
            carrier: lesson.network.constants.carrier,
            steps: report.steps,
            taken: report.taken,
            halted: report.halted,
            hidden: lesson.stream().hidden().to_vec(),
            moments,
            takes,
            answer: Answer::of_certificate(&report.certificate),
            theta: report.theta,
            judged: report.judged,
        })
    }

    /// Gradient steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the learner has halted.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Moments recorded.
    #[must_use]
    pub fn n_moments(&self) -> usize {
        self.moments.len()
    }
}

/// A run that is looked at.
struct Watch<'a> {
    lesson: &'a PreparedStream,
    engine: SparseStream<'a>,
    x: Values,
    y: Values,
}

impl<'a> Watch<'a> {
    fn new(lesson: &'a PreparedStream) -> Result<Self, PreparedStreamError> {
        let network = &lesson.network;
        let [x, y] = network.network.inputs() else { unreachable!("a stream's network sees x and y") };
        let (x, y) = (Values::filled(x.shape, 0.0), Values::filled(y.shape, 0.0));
        Ok(Self { lesson, engine: SparseStream::new(&network.network, &network.initial)?, x, y })
    }

    /// Whether the slot holds labels: while it is empty, it holds -A.
    fn holds_labels(&self) -> bool {
        let constants = &self.lesson.network.constants;
        self.engine.labels().iter().any(|z| (z + constants.carrier).abs() > constants.carrier / 2.0)
    }

    fn takes(mut self, steps: u64) -> Result<Vec<Take>, PreparedStreamError> {
        let (mut stream, mut takes) = (self.lesson.stream(), Vec::new());
        for step in 0..steps {
            stream.next_batch(&mut self.x.data, &mut self.y.data);
            let held = self.holds_labels();
            self.engine.step_on(&self.x.data, &self.y.data)?;
            if !held && self.holds_labels() && takes.len() < MAX_TAKES {
                takes.push(Take { step, x: self.x.data.clone(), y: self.y.data.clone() });
            }
        }
        Ok(takes)
    }

    fn moments(mut self, wanted: &BTreeSet<u64>) -> Result<Vec<StreamMoment>, PreparedStreamError> {
        let mut stream = self.lesson.stream();
        let (mut moments, mut taken) = (Vec::with_capacity(wanted.len()), 0);
        for step in 0..=wanted.last().copied().unwrap_or(0) {
            stream.next_batch(&mut self.x.data, &mut self.y.data);
            if wanted.contains(&step) {
                moments.push(self.moment(step, taken));
            }
            let held = self.holds_labels();
            self.engine.step_on(&self.x.data, &self.y.data)?;
            taken += usize::from(!held && self.holds_labels());
        }
        Ok(moments)
    }

    fn moment(&self, step: u64, taken: usize) -> StreamMoment {
        let network = &self.lesson.network;
        let (weights, inputs) = (self.engine.weights(), [self.x.clone(), self.y.clone()]);
        let value = |node: NodeId| evaluate_node(&network.network, &weights[..], &inputs, node).data;
        StreamMoment {
            step,
            taken,
            x: self.x.data.clone(),
            y: self.y.data.clone(),
            labels: self.engine.labels().to_vec(),
            memory: from_signs(self.lesson.options.format, self.engine.memory()),
            theta: value(network.nodes.theta),
            out: value(network.nodes.out),
            loss: value(network.network.loss())[0],
        }
    }
}

#[cfg(test)]
mod tests {
    use luge::stream::{Samples, ShippedStream};

    use super::*;

    #[test]
    fn a_film_shows_what_the_learner_took_and_found() {
        let shipped = ShippedStream::find("parity").expect("it ships");
        let draw = "parity:bits=4,hidden=2".parse().expect("a stream");
        let film = StreamFilm::new(&StreamJob::new(shipped.program.source(), Samples::Draw(draw)), 20);
        let film = film.expect("a film");
        assert!(film.halted && film.answer.certified, "{:?}", film.answer.claims);
        assert_eq!((film.takes.len() as u64, &film.theta), (film.taken, &film.hidden));
        assert_eq!(film.judged, Some((10_000, 10_000)));
        let (first, last) = (&film.moments[0], film.moments.last().expect("moments"));
        assert_eq!((first.step, last.step, last.taken), (0, film.steps, film.takes.len()));
        assert_eq!(last.theta, film.theta);
        // While it learns the network puts out A; then the label.
        let level = (film.carrier - first.y[0]) * (film.carrier - first.y[0]) / 2.0;
        assert!((first.loss - level).abs() < 1e-9 * level && last.loss.abs() < 1e-12, "{last:?}");
        for take in &film.takes {
            let after = film.moments.iter().find(|moment| moment.step == take.step + 1).expect("a moment");
            assert_eq!(after.memory[..4], take.x, "the memory holds what was taken");
            assert!((after.labels[0] + take.y[0]).abs() < 0.5, "and the slot its label");
        }
    }
}
