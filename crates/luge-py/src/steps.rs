//! A run step by step: it runs on its own thread, which waits until Python asks for the next step.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use luge::run::follow::RunProgress;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::{
    arrays,
    lesson::PreparedTraining,
    plan::{PreparedTrace, head, vertex},
    refusal::Refusal,
};

/// One step of a run: the weights before it, in the machine's words.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Step {
    /// Gradient steps made before.
    #[pyo3(get)]
    step: u64,
    /// The loss.
    #[pyo3(get)]
    loss: f64,
    /// The vertex that has all the weight.
    #[pyo3(get)]
    vertex: i64,
    heads: Vec<i64>,
    /// The machine's cell at which each tape's entries begin, and the entries.
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

/// A run that is made as far as somebody has looked.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Steps {
    ends: Mutex<Option<Ends>>,
}

struct Ends {
    asked: SyncSender<()>,
    seen: Receiver<Result<Step, Refusal>>,
}

/// Makes a run when asked: `run` is given what watches it.
fn begin<R>(run: R) -> Steps
where
    R: FnOnce(&mut dyn FnMut(Step) -> ControlFlow<()>) -> Result<(), Refusal> + Send + 'static,
{
    let (asked, ask) = sync_channel::<()>(0);
    let (give, seen) = sync_channel::<Result<Step, Refusal>>(0);
    thread::spawn(move || {
        let mut watch = |step: Step| match ask.recv() {
            Ok(()) if give.send(Ok(step)).is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        if let Err(refusal) = run(&mut watch) {
            // Whoever is gone does not want to know.
            let _ = ask.recv().map(|()| give.send(Err(refusal)));
        }
    });
    Steps { ends: Mutex::new(Some(Ends { asked, seen })) }
}

#[pymethods]
impl Steps {
    /// The steps of a trace.
    #[staticmethod]
    fn of_plan(plan: &PreparedTrace) -> Self {
        let plan = Arc::clone(&plan.inner);
        begin(move |watch| {
            let first_cells = plan.first_cells().to_vec();
            plan.run(|moment| watch(Step::of(&moment, &first_cells)))?;
            Ok(())
        })
    }

    /// The steps of a lesson.
    #[staticmethod]
    fn of_lesson(lesson: &PreparedTraining) -> Self {
        let lesson = Arc::clone(&lesson.inner);
        begin(move |watch| {
            let first_cells = lesson.window().first.clone();
            lesson.train(|moment| watch(Step::of(&moment, &first_cells)))?;
            Ok(())
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        py.detach(|| {
            let mut ends = self.ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let next = ends.as_ref().map_or(Ok(None), Ends::next);
            // Nobody asks again after the end, nor after an interruption in the middle of a step.
            if !matches!(next, Ok(Some(_))) {
                *ends = None;
            }
            next
        })
    }
}

impl Ends {
    /// Asks for a step and waits for it; signals are looked at meanwhile.
    fn next(&self) -> PyResult<Option<Step>> {
        if self.asked.send(()).is_err() {
            return Ok(None);
        }
        loop {
            match self.seen.recv_timeout(Duration::from_millis(50)) {
                Ok(step) => return step.map(Some).map_err(PyErr::from),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}
