//! A run on a stream, or a part of it: runs engine and simulator step by step and checks every step.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use luge_machine::TapeId;
use luge_train::{ReversePass, Snapshot};

use super::{
    JobError, PreparedStream, Stream, StreamEngineChoice, StreamMoment, batch_of,
    certificate::inputs,
    checker::{Observed, StreamChecker},
    engine::AnyEngine,
    narrow::NarrowNetworks,
    snapshot,
};
use crate::{
    files::checkpoint::snapshot_digest,
    run::{
        engine::EngineChoice,
        revisit::{Visit, VisitedTape},
    },
};

/// Engine and simulator at the current step.
pub(super) struct StreamRun<'a> {
    prepared: &'a PreparedStream,
    pub(super) engine: AnyEngine<'a>,
    pub(super) checker: StreamChecker<'a>,
    pub(super) stream: Stream,
    pub(super) n_steps: u64,
    /// The first mismatch.
    pub(super) wrong: Option<String>,
}

impl<'a> StreamRun<'a> {
    /// The start of the run.
    pub(super) fn new(
        prepared: &'a PreparedStream,
        narrow: Option<&'a NarrowNetworks<'a>>,
    ) -> Result<Self, JobError> {
        let engine = AnyEngine::open(prepared, &prepared.network.initial)?;
        let checker = StreamChecker::new(prepared, narrow, &engine)?;
        Ok(Self { prepared, engine, checker, stream: prepared.stream(), n_steps: 0, wrong: None })
    }

    /// Goes from the start to a snapshot: the simulator makes the steps, and the engine loads the weights.
    pub(super) fn go_to(&mut self, from: &Snapshot) -> Result<(), JobError> {
        let refused = JobError::Checkpoint;
        if from.step > self.prepared.rehearsal.steps {
            return Err(refused("is of a later step than the run has"));
        }
        let weights = snapshot::weights(from, self.prepared);
        let weights = weights.ok_or(refused("does not hold weights of this network"))?;
        let (mut x, mut y) = batch_of(&self.prepared.layout);
        while self.n_steps < from.step {
            self.stream.next_batch(&mut x, &mut y);
            let Ok(()) = self.checker.step(&x, &y) else { break };
            self.checker.skip_step(&y);
            self.n_steps += 1;
        }
        self.engine = AnyEngine::open(self.prepared, &weights)?;
        self.checker.note_weights(&self.engine);
        if from.path != self.checker.path || self.checker.compare_all(&weights).is_err() {
            return Err(refused("does not hold the machine's configuration at its step"));
        }
        Ok(())
    }

    /// The current weights.
    pub(super) fn snapshot(&self) -> Snapshot {
        snapshot::of(&self.engine, &self.prepared.layers, (self.n_steps, self.checker.path))
    }

    /// Trains until this many steps are made, a check fails, or `watch` stops the run.
    pub(super) fn train(
        &mut self,
        until: u64,
        mut watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, JobError> {
        let (mut x, mut y) = batch_of(&self.prepared.layout);
        while self.n_steps < until && self.wrong.is_none() {
            self.stream.next_batch(&mut x, &mut y);
            let loss = self.prepared.running_loss(&y);
            if watch(StreamMoment { step: self.n_steps, loss, snapshot: &|| Some(self.snapshot()) })
                .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
            let Ok(()) = self.checker.step(&x, &y) else { break };
            let before = self.checker.is_new(&y).then(|| self.checker.weights_before(&self.engine));
            self.engine.step(&x, &y)?;
            self.n_steps += 1;
            let mut found = self.checker.check(&self.engine, &y);
            if found.is_ok() && self.checker.all_due(self.n_steps) {
                found = self.checker.compare_all(&self.engine.weights());
            }
            self.wrong = found.err();
            if let Some(before) = before {
                self.checker.differentiate(before, &self.engine, (&x, &y))?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Repeats and checks the run from its start to a snapshot, unless it is interrupted. Returns what is wrong, and what
/// was observed.
pub(super) fn repeat(
    prepared: &PreparedStream,
    to: &Snapshot,
    interrupted: &AtomicBool,
) -> Result<(Option<String>, Observed), JobError> {
    let narrow = NarrowNetworks::of(prepared);
    let mut run = StreamRun::new(prepared, narrow.as_ref())?;
    let _ = run.train(to.step, |_| match interrupted.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })?;
    let differs = run.wrong.is_none() && run.snapshot().to_bytes() != to.trimmed().to_bytes();
    let wrong =
        differs.then(|| format!("the checkpoint of step {} does not hold the weights of the run", to.step));
    Ok((run.wrong.or(wrong), run.checker.observed))
}

impl PreparedStream {
    /// Goes to a step from a snapshot of an earlier one.
    pub(crate) fn visit(&self, from: &Snapshot, step: u64, around: usize) -> Result<Visit, JobError> {
        let refused = JobError::Checkpoint;
        let mut run = StreamRun::new(self, None)?;
        run.go_to(from)?;
        let _ = run.train(step, |_| ControlFlow::Continue(()))?;
        let snapshot = run.snapshot();
        if snapshot.step != step || run.wrong.is_some() {
            return Err(refused("does not lead to that step"));
        }
        let (mut x, mut y) = batch_of(&self.layout);
        run.stream.next_batch(&mut x, &mut y);
        let loss =
            ReversePass::new(&self.network.network).evaluate(&run.engine.weights(), &inputs(self, &x, &y));
        let simulator = run.checker.simulator.simulator();
        let machine = simulator.machine();
        let tape = |id: TapeId| {
            let first = self.window.first[id.index()];
            let cells = first..=first + self.window.n_cells as i64 - 1;
            let weight = |cell: i64| run.engine.cell(id.index(), (cell - first) as usize);
            VisitedTape::around(
                &machine.tapes()[id.index()].name,
                simulator.head(id),
                (around, cells),
                weight,
            )
        };
        Ok(Visit {
            step,
            loss,
            engine: match self.options.engine() {
                StreamEngineChoice::Sparse => EngineChoice::Sparse,
                StreamEngineChoice::Dense => EngineChoice::Dense,
            },
            from: from.step,
            state: machine.state(simulator.state()).name.clone(),
            weights: snapshot_digest(&snapshot),
            tapes: machine.tape_ids().map(tape).collect(),
            snapshot,
        })
    }
}
