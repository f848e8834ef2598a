//! A run step by step: it runs on its own thread, which waits until Python asks for the next step.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
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

impl Steps {
    /// Makes the run of a trace or a training on a table when asked.
    pub(crate) fn of(network: Arc<Network>) -> Self {
        let (asked, ask) = sync_channel::<()>(0);
        let (give, seen) = sync_channel::<Result<Step, Refusal>>(0);
        thread::spawn(move || {
            let watch = |step: Step| match ask.recv() {
                Ok(()) if give.send(Ok(step)).is_ok() => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            };
            if let Err(refusal) = run(&network, watch) {
                // Whoever is gone does not want to know.
                let _ = ask.recv().map(|()| give.send(Err(refusal)));
            }
        });
        Self { ends: Mutex::new(Some(Ends { asked, seen })) }
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
            return Err(Refusal::unfit("the steps of a stream are seen by a callback"));
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
    fn next(&self) -> Result<Option<Step>, Refusal> {
        if self.asked.send(()).is_err() {
            return Ok(None);
        }
        wait(&self.seen)?.transpose()
    }
}
