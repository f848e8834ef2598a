//! A run step by step, on a thread that waits until Python reads the step.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

use luge::run::RunProgress;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::{
    arrays,
    prepared::Network,
    refusal::Refusal,
    watch::{head, vertex, wait},
};

/// One step of a run: the weights before it.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Step {
    /// The number of gradient steps before it.
    #[pyo3(get)]
    step: u64,
    /// The loss.
    #[pyo3(get)]
    loss: f64,
    /// The vertex that has all the weight.
    #[pyo3(get)]
    vertex: i64,
    heads: Vec<i64>,
    /// For each binary tape, the machine's cell of the first weight, and the weights.
    tapes: Vec<(i64, Vec<f64>)>,
}

impl Step {
    fn of(moment: &RunProgress<'_>, first_cells: &[i64]) -> Self {
        let tracks = || first_cells.iter().enumerate();
        let tape = |(track, first): (usize, &i64)| {
            let kept = moment.engine.stored_cells(track);
            (kept.start + first, kept.map(|cell| moment.engine.cell(track, cell)).collect())
        };
        Self {
            step: moment.step,
            loss: moment.loss,
            vertex: vertex(moment),
            heads: tracks().map(|(track, first)| head(moment, track, *first)).collect(),
            tapes: tracks().map(tape).collect(),
        }
    }
}

#[pymethods]
impl Step {
    /// The cell of each binary tape's head.
    #[getter]
    fn heads<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.heads)
    }

    /// For each binary tape the cell at which its weights begin, and the weights, -1 and 1.
    #[getter]
    fn tapes<'py>(&self, py: Python<'py>) -> Vec<(i64, Bound<'py, PyArray1<f64>>)> {
        let tape = |(first, cells): &(i64, Vec<f64>)| (*first, arrays::vector(py, cells.clone()));
        self.tapes.iter().map(tape).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Step(step={}, loss={}, vertex={}, heads={:?})",
            self.step, self.loss, self.vertex, self.heads
        )
    }
}

/// An iterator over the steps of a run. The run advances as steps are read.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Steps {
    /// `None` after the end of the run, or after an interruption.
    steps: Mutex<Option<Receiver<Result<Step, Refusal>>>>,
}

impl Steps {
    /// The steps of a trace or a training on a table.
    pub(crate) fn of(network: Arc<Network>) -> Self {
        // Without a buffer, the thread waits until its step is read.
        let (sender, steps) = sync_channel(0);
        thread::spawn(move || {
            let watch = |step: Step| match sender.send(Ok(step)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if let Err(refusal) = run(&network, watch) {
                // If the iterator was dropped, the error is dropped, too.
                let _ = sender.send(Err(refusal));
            }
        });
        Self { steps: Mutex::new(Some(steps)) }
    }
}

fn run(network: &Network, mut watch: impl FnMut(Step) -> ControlFlow<()>) -> Result<(), Refusal> {
    match network {
        Network::Trace(plan) => drop(plan.run(|moment| watch(Step::of(&moment, plan.first_cells())))?),
        Network::Training(lesson, _) => {
            let first_cells = lesson.window().first.clone();
            lesson.train(|moment| watch(Step::of(&moment, &first_cells)))?;
        }
        Network::Stream(..) | Network::Mlp(..) => {
            return Err(Refusal::new("the steps of a stream are seen by a callback"));
        }
    }
    Ok(())
}

#[pymethods]
impl Steps {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<Step>, Refusal> {
        py.detach(|| {
            let mut steps = self.steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let next = steps.as_ref().map_or(Ok(None), |steps| wait(steps)?.transpose());
            if !matches!(next, Ok(Some(_))) {
                *steps = None;
            }
            next
        })
    }
}
