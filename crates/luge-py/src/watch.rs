//! Python while Rust trains: checks signals and calls the callback. The GIL is released in between.

use std::{
    ops::ControlFlow,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use luge::{
    draw::LossCurve,
    run::{ObservationRate, RunProgress, follow::STRIDE},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::refusal::Refusal;

/// How often signals are checked, so that Ctrl-C acts at once.
const PATIENCE: Duration = Duration::from_millis(50);

/// The most steps between two checks of the clock.
const LONGEST_STRIDE: u64 = 1 << 14;

/// Watches a run for Python.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    every: u64,
    next_call: u64,
    next_check: u64,
    stride: u64,
    checked: Instant,
    /// How often the run reports its steps: no more often than the callback needs.
    pub(crate) rate: ObservationRate,
    /// The loss over the steps.
    curve: LossCurve,
    record: Option<PerStep>,
    /// An exception of the callback or of a signal.
    failure: Option<PyErr>,
}

impl Watch {
    /// Calls `callback(step, loss)` every `every` steps. The run stops if it returns something true.
    pub(crate) fn new(callback: Option<Py<PyAny>>, every: u64) -> Self {
        Self {
            next_call: if callback.is_some() { 0 } else { u64::MAX },
            rate: match &callback {
                None => ObservationRate::Moments,
                Some(_) if every >= STRIDE => ObservationRate::Strides,
                Some(_) => ObservationRate::Steps,
            },
            callback,
            every: every.max(1),
            next_check: 0,
            stride: 1,
            checked: Instant::now(),
            curve: LossCurve::default(),
            record: None,
            failure: None,
        }
    }

    /// Records loss, vertex and heads of every step; the network's tapes begin at these cells of the machine.
    pub(crate) fn recording(self, first_cells: &[i64]) -> Self {
        let record = PerStep { first_cells: first_cells.to_vec(), ..PerStep::default() };
        Self { rate: ObservationRate::Steps, record: Some(record), ..self }
    }

    /// Observes a step, and the losses since the last one.
    #[inline]
    pub(crate) fn observe(&mut self, moment: &RunProgress<'_>) -> ControlFlow<()> {
        let &RunProgress { step, loss, since, .. } = moment;
        (step - since.len() as u64..).zip(since).for_each(|(at, &loss)| self.curve.add(at, loss));
        self.record.iter_mut().for_each(|record| record.observe(moment));
        self.observe_step(step, loss)
    }

    /// Observes a step; an unknown loss is NaN, and is not drawn.
    #[inline]
    pub(crate) fn observe_step(&mut self, step: u64, loss: f64) -> ControlFlow<()> {
        if !loss.is_nan() {
            self.curve.add(step, loss);
        }
        if step >= self.next_check {
            self.check_clock(step)?;
        }
        if step >= self.next_call {
            self.next_call = step.saturating_add(self.every);
            return self.call(step, loss);
        }
        ControlFlow::Continue(())
    }

    /// Checks the clock, and signals if it is time. Slow steps are checked more often.
    fn check_clock(&mut self, step: u64) -> ControlFlow<()> {
        let waited = self.checked.elapsed();
        self.stride = match waited {
            waited if waited < PATIENCE / 8 => (self.stride * 2).min(LONGEST_STRIDE),
            waited if waited > PATIENCE => (self.stride / 2).max(1),
            _ => self.stride,
        };
        self.next_check = step.saturating_add(self.stride);
        if waited < PATIENCE {
            return ControlFlow::Continue(());
        }
        self.checked = Instant::now();
        self.call_python(|py| py.check_signals().map(|()| false))
    }

    fn call(&mut self, step: u64, loss: f64) -> ControlFlow<()> {
        let Some(callback) = self.callback.take() else { return ControlFlow::Continue(()) };
        let flow = self.call_python(|py| callback.call1(py, (step, loss))?.is_truthy(py));
        self.callback = Some(callback);
        flow
    }

    /// Calls Python, which returns whether to stop; an exception also stops the run.
    fn call_python(&mut self, call: impl FnOnce(Python<'_>) -> PyResult<bool>) -> ControlFlow<()> {
        match Python::attach(call) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The recorded losses and steps, or the exception.
    pub(crate) fn finish(self) -> Result<(LossCurve, Option<PerStep>), Refusal> {
        self.failure.map_or(Ok((self.curve, self.record)), |error| Err(error.into()))
    }
}

/// One entry per step.
#[derive(Default)]
pub(crate) struct PerStep {
    pub(crate) first_cells: Vec<i64>,
    pub(crate) losses: Vec<f64>,
    pub(crate) vertices: Vec<i64>,
    /// One per binary tape for every step.
    pub(crate) heads: Vec<i64>,
}

impl PerStep {
    fn observe(&mut self, moment: &RunProgress<'_>) {
        self.losses.push(moment.loss);
        self.vertices.push(vertex(moment));
        let cells = self.first_cells.iter().enumerate();
        self.heads.extend(cells.map(|(track, first)| head(moment, track, *first)));
    }
}

/// Stands for a vertex or a head without a definite place.
const NOWHERE: i64 = i64::MIN;

/// The vertex, or [`NOWHERE`].
pub(crate) fn vertex(moment: &RunProgress<'_>) -> i64 {
    moment.engine.vertex().and_then(|vertex| i64::try_from(vertex).ok()).unwrap_or(NOWHERE)
}

/// The machine's cell that a head is on, or [`NOWHERE`].
pub(crate) fn head(moment: &RunProgress<'_>, track: usize, first: i64) -> i64 {
    moment.engine.head(track).map_or(NOWHERE, |cell| cell + first)
}

/// Runs work that cannot be watched on a separate thread, and checks signals meanwhile. If a signal raises an exception, the thread
/// continues, and its result is dropped.
pub(crate) fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let (give, take) = sync_channel(1);
    thread::spawn(move || drop(give.send(work())));
    let found = py.detach(move || wait(&take))?;
    found.ok_or_else(|| PyRuntimeError::new_err("the work ended without a result").into())
}

/// Waits for another thread, and checks signals meanwhile; `None` if the thread has ended without a result.
pub(crate) fn wait<T>(receiver: &Receiver<T>) -> Result<Option<T>, Refusal> {
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(found) => return Ok(Some(found)),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}
