//! What Python sees while Rust trains: signals, and the caller's function. The GIL is released in between.

use std::{
    ops::ControlFlow,
    sync::{
        OnceLock,
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use luge::{
    draw::loss_curve::LossCurve,
    run::follow::{ObservationRate, RunProgress, STRIDE},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::refusal::Refusal;

/// How often signals are looked at: soon enough for a hand on the keyboard.
const PATIENCE: Duration = Duration::from_millis(50);

/// The most steps between two looks at the clock.
const LONGEST_STRIDE: u64 = 1 << 14;

/// Watches a run for Python.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    every: u64,
    next_call: u64,
    next_look: u64,
    stride: u64,
    looked: Instant,
    /// The loss over the steps.
    pub(crate) curve: LossCurve,
    /// What Python raised meanwhile.
    failure: Option<PyErr>,
}

impl Watch {
    /// Calls `callback(step, loss)` every so many steps; it stops the run by returning something true.
    pub(crate) fn new(callback: Option<Py<PyAny>>, every: u64) -> Self {
        Self {
            next_call: if callback.is_some() { 0 } else { u64::MAX },
            callback,
            every: every.max(1),
            next_look: 0,
            stride: 1,
            looked: Instant::now(),
            curve: LossCurve::default(),
            failure: None,
        }
    }

    /// How closely the run is to be watched: no closer than the caller wants to be called.
    pub(crate) fn observation_rate(&self) -> ObservationRate {
        match &self.callback {
            None => ObservationRate::Moments,
            Some(_) if self.every >= STRIDE => ObservationRate::Strides,
            Some(_) => ObservationRate::Steps,
        }
    }

    /// Sees one moment, and the losses since the last one.
    #[inline]
    pub(crate) fn observe(&mut self, moment: &RunProgress<'_>) -> ControlFlow<()> {
        let &RunProgress { step, loss, since, .. } = moment;
        (step - since.len() as u64..).zip(since).for_each(|(at, &loss)| self.curve.add(at, loss));
        self.see(step, loss)
    }

    /// Sees one step; a loss that is not known is not drawn.
    #[inline]
    pub(crate) fn see(&mut self, step: u64, loss: f64) -> ControlFlow<()> {
        if !loss.is_nan() {
            self.curve.add(step, loss);
        }
        if step >= self.next_look {
            self.look(step)?;
        }
        if step >= self.next_call {
            self.next_call = step.saturating_add(self.every);
            return self.call(step, loss);
        }
        ControlFlow::Continue(())
    }

    /// Looks at the clock, and at signals if it is time. Few steps a second mean few steps between two looks.
    fn look(&mut self, step: u64) -> ControlFlow<()> {
        let waited = self.looked.elapsed();
        self.stride = match waited {
            waited if waited < PATIENCE / 8 => (self.stride * 2).min(LONGEST_STRIDE),
            waited if waited > PATIENCE => (self.stride / 2).max(1),
            _ => self.stride,
        };
        self.next_look = step.saturating_add(self.stride);
        if waited < PATIENCE {
            return ControlFlow::Continue(());
        }
        self.looked = Instant::now();
        self.ask(|py| py.check_signals().map(|()| false))
    }

    fn call(&mut self, step: u64, loss: f64) -> ControlFlow<()> {
        let Some(callback) = self.callback.take() else { return ControlFlow::Continue(()) };
        let flow = self.ask(|py| callback.call1(py, (step, loss))?.is_truthy(py));
        self.callback = Some(callback);
        flow
    }

    /// Asks Python whether to stop; an exception stops too.
    fn ask(&mut self, question: impl FnOnce(Python<'_>) -> PyResult<bool>) -> ControlFlow<()> {
        match Python::attach(question) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The curve, unless Python raised something.
    pub(crate) fn finish(self) -> Result<LossCurve, Refusal> {
        self.failure.map_or(Ok(self.curve), |error| Err(error.into()))
    }
}

/// The loss over the steps of a run. What was watched from afar is made once more, step by step, when somebody wants to see it.
pub(crate) struct Curve(OnceLock<LossCurve>);

impl Curve {
    /// The curve of a run that ended with this step; kept if it has every loss, or if no other can be had.
    pub(crate) fn new(seen: LossCurve, steps: u64, only: bool) -> Self {
        let whole = only || seen.n_seen == steps + 1;
        Self(if whole { OnceLock::from(seen) } else { OnceLock::new() })
    }

    /// The whole curve.
    pub(crate) fn whole(
        &self,
        py: Python<'_>,
        follow: impl FnOnce(&mut dyn FnMut(RunProgress<'_>) -> ControlFlow<()>) -> Result<(), Refusal> + Send,
    ) -> Result<&LossCurve, Refusal> {
        if self.0.get().is_none() {
            let mut watch = Watch::new(None, 1);
            py.detach(|| follow(&mut |moment| watch.observe(&moment)))?;
            // Another thread may have been quicker, with the same curve.
            let _ = self.0.set(watch.finish()?);
        }
        Ok(self.0.get_or_init(LossCurve::default))
    }
}

/// Does work that has no moments to watch on a thread of its own, so that signals are seen meanwhile. If one raises, the thread
/// is left alone: it ends by itself, and what it finds is dropped.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let (give, take) = sync_channel(1);
    thread::spawn(move || drop(give.send(work())));
    py.detach(move || {
        loop {
            match take.recv_timeout(PATIENCE) {
                Ok(found) => return Ok(found),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work ended without a result").into());
                }
            }
        }
    })
}
