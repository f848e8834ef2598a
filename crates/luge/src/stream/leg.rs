//! A part of a run on a stream: engine and simulator step by step, every step checked.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use luge_machine::{SampleUse, TapeId};
use luge_net::{StreamLayers, Values, stream_layers};
use luge_train::{ReversePass, Snapshot, SparseStream};

use super::{
    PreparedStream, PreparedStreamError, Stream, StreamEngineChoice, StreamMoment, batch_of,
    certificate::{dense, inputs},
    lockstep::{AnyEngine, Lockstep},
    near::Near,
    snapshot,
    steps::{Observed, Steps},
};
use crate::{
    files::checkpoint::snapshot_digest,
    run::{
        engine::EngineChoice,
        revisit::{Visit, VisitedTape},
    },
};

/// Both sides of a run, where they are now.
pub(super) struct Leg<'a> {
    lesson: &'a PreparedStream,
    layers: Option<&'a StreamLayers>,
    pub(super) engine: AnyEngine<'a>,
    pub(super) both: Lockstep<'a>,
    pub(super) steps: Steps<'a>,
    pub(super) stream: Stream,
    pub(super) n_steps: u64,
    /// The first step that was not as it should be.
    pub(super) wrong: Option<String>,
}

impl<'a> Leg<'a> {
    /// The start of the run.
    pub(super) fn new(
        lesson: &'a PreparedStream,
        (layers, near): (Option<&'a StreamLayers>, Option<&'a Near<'a>>),
    ) -> Result<Self, PreparedStreamError> {
        let engine = open(lesson, &lesson.network.initial)?;
        let both = Lockstep::new(&lesson.network, &lesson.window, &lesson.layout, lesson.simulator());
        let steps = Steps::new(lesson, (layers, near), (&both, &engine))?;
        let (stream, n_steps, wrong) = (lesson.stream(), 0, None);
        Ok(Self { lesson, layers, engine, both, steps, stream, n_steps, wrong })
    }

    /// Goes from the start to a snapshot: the simulator makes the steps until then, the engine takes over the weights.
    pub(super) fn go_to(&mut self, from: &Snapshot) -> Result<(), PreparedStreamError> {
        let refused = PreparedStreamError::Checkpoint;
        if from.step > self.lesson.rehearsal.steps {
            return Err(refused("is of a later step than the run has"));
        }
        let layers = self.layers.ok_or(refused("is of a network whose layers are not recognised"))?;
        let weights = snapshot::weights(from, &self.lesson.network, layers);
        let weights = weights.ok_or(refused("does not hold weights of this network"))?;
        let (mut x, mut y) = batch_of(&self.lesson.layout);
        while self.n_steps < from.step {
            self.stream.pass(&mut y);
            let samples_use = self.both.simulator.next_use();
            if samples_use == SampleUse::Take {
                self.stream.features(&mut x);
            }
            let Ok(effect) = self.both.step(&x, &y) else { break };
            self.steps.pass_over(&self.both, (effect, samples_use), &y);
            self.n_steps += 1;
        }
        self.engine = open(self.lesson, &weights)?;
        self.steps.show(&self.engine);
        if from.path != self.steps.path || self.both.compare_all(&weights).is_err() {
            return Err(refused("does not hold the machine's configuration at its step"));
        }
        Ok(())
    }

    /// The weights now.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        Some(snapshot::of(&self.engine, self.layers?, (self.n_steps, self.steps.path)))
    }

    /// Trains until so many steps are made, one goes wrong, or `watch` breaks off.
    pub(super) fn run(
        &mut self,
        until: u64,
        mut watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PreparedStreamError> {
        let (mut x, mut y) = batch_of(&self.lesson.layout);
        while self.n_steps < until && self.wrong.is_none() {
            self.stream.pass(&mut y);
            let loss = self.lesson.running_loss(&y);
            if watch(StreamMoment { step: self.n_steps, loss, snapshot: &|| self.snapshot() }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let samples_use = self.both.simulator.next_use();
            let shown = samples_use == SampleUse::Take || self.engine.looks_at_features();
            if shown {
                self.stream.features(&mut x);
            }
            let Ok(effect) = self.both.step(&x, &y) else { break };
            self.steps.follow(&self.both, effect, samples_use);
            let before = self.steps.is_new(&y).then(|| self.steps.note(&self.engine));
            if before.is_some() && !shown {
                self.stream.features(&mut x);
            }
            self.engine.step(&x, &y)?;
            self.n_steps += 1;
            let mut found = self.steps.check(&self.engine, &y);
            if found.is_ok() && (self.steps.all_due(self.n_steps) || self.layers.is_none()) {
                found = self.both.compare_all(&self.engine.weights());
            }
            self.wrong = found.err().map(|mismatch| mismatch.to_string());
            if let Some(before) = before {
                self.steps.look(before, &self.engine, (&x, &y))?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The engine that was chosen, at these weights.
fn open<'a>(lesson: &'a PreparedStream, weights: &[Values]) -> Result<AnyEngine<'a>, PreparedStreamError> {
    Ok(match lesson.options.engine {
        StreamEngineChoice::Sparse => {
            AnyEngine::Sparse(Box::new(SparseStream::new(&lesson.network.network, weights)?))
        }
        StreamEngineChoice::Dense => AnyEngine::dense(dense(lesson, weights)?),
    })
}

/// Makes and checks the run from its start to a snapshot, unless the rest is broken off: what is wrong, and what was seen.
pub(super) fn again(
    lesson: &PreparedStream,
    to: &Snapshot,
    broken_off: &AtomicBool,
) -> Result<(Option<String>, Observed), PreparedStreamError> {
    let layers = stream_layers(&lesson.network.network).ok();
    let near = layers.as_ref().and_then(|layers| Near::of(lesson, layers));
    let mut leg = Leg::new(lesson, (layers.as_ref(), near.as_ref()))?;
    let _ = leg.run(to.step, |_| match broken_off.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })?;
    let made = leg.snapshot().map(|made| made.to_bytes());
    let differs = leg.wrong.is_none() && made != Some(to.trimmed().to_bytes());
    let wrong =
        differs.then(|| format!("the checkpoint of step {} does not hold the weights of the run", to.step));
    Ok((leg.wrong.take().or(wrong), leg.steps.observed()))
}

impl PreparedStream {
    /// Goes to a step from a snapshot of an earlier one.
    pub(crate) fn visit(
        &self,
        from: &Snapshot,
        step: u64,
        around: usize,
    ) -> Result<Visit, PreparedStreamError> {
        let refused = PreparedStreamError::Checkpoint;
        let layers = stream_layers(&self.network.network).map_err(luge_train::TrainError::from)?;
        let mut leg = Leg::new(self, (Some(&layers), None))?;
        leg.go_to(from)?;
        let _ = leg.run(step, |_| ControlFlow::Continue(()))?;
        let snapshot = leg.snapshot().filter(|made| made.step == step && leg.wrong.is_none());
        let snapshot = snapshot.ok_or(refused("does not lead to that step"))?;
        let (mut x, mut y) = batch_of(&self.layout);
        leg.stream.next_batch(&mut x, &mut y);
        let loss =
            ReversePass::new(&self.network.network).evaluate(&leg.engine.weights(), &inputs(self, &x, &y));
        let judge = leg.both.simulator.simulator();
        let machine = judge.machine();
        let tape = |id: TapeId| {
            let (head, first) = (judge.head(id), self.window.first[id.index()]);
            let last = first + self.window.n_cells as i64 - 1;
            let reach = i64::try_from(around).unwrap_or(i64::MAX / 4);
            let shown = first.max(head.saturating_sub(reach))..=last.min(head.saturating_add(reach));
            let weight = |cell: i64| leg.engine.cell(&layers, id.index(), (cell - first) as usize);
            let name = machine.tapes()[id.index()].name.clone();
            VisitedTape { name, head, first: *shown.start(), cells: shown.map(weight).collect() }
        };
        Ok(Visit {
            step,
            loss,
            engine: match self.options.engine {
                StreamEngineChoice::Sparse => EngineChoice::Sparse,
                StreamEngineChoice::Dense => EngineChoice::Dense,
            },
            from: from.step,
            state: machine.state(judge.state()).name.clone(),
            weights: snapshot_digest(&snapshot),
            tapes: machine.tape_ids().map(tape).collect(),
            snapshot,
        })
    }
}
