//! Traces of machines.

use std::sync::Arc;

use luge::{
    draw::loss_curve::LossCurve,
    files::summary,
    run::{
        engine::EngineChoice,
        follow::{Comparisons, ObservationRate},
    },
    trace::{self, PreparedTrace as Inner},
};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::{
    arrays,
    refusal::Refusal,
    watch::{Curve, Watch},
};

/// A machine's landscape, ready to be trained.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct PreparedTrace {
    pub(crate) inner: Arc<Inner>,
}

/// What a trace showed.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Trace {
    plan: Arc<Inner>,
    inner: trace::Trace,
    curve: Curve,
    arrays: Option<Arrays>,
}

/// The arrays of every step, in Python's hands.
struct Arrays {
    losses: Py<PyArray1<f64>>,
    vertices: Py<PyArray1<i64>>,
    heads: Py<PyArray2<i64>>,
}

/// One entry per step.
#[derive(Default)]
pub(crate) struct PerStep {
    first_cells: Vec<i64>,
    losses: Vec<f64>,
    vertices: Vec<i64>,
    heads: Vec<i64>,
}

/// Stands for a vertex or a head that is nowhere clearly.
pub(crate) const NOWHERE: i64 = i64::MIN;

impl PerStep {
    fn new(first_cells: &[i64]) -> Self {
        Self { first_cells: first_cells.to_vec(), ..Self::default() }
    }

    fn observe(&mut self, moment: &luge::run::follow::RunProgress<'_>) {
        self.losses.push(moment.loss);
        self.vertices.push(vertex(moment));
        let cells = self.first_cells.iter().enumerate();
        self.heads.extend(cells.map(|(track, first)| head(moment, track, *first)));
    }
}

impl Arrays {
    /// Hands the vectors over.
    fn new(py: Python<'_>, record: PerStep) -> Self {
        let n_moments = record.losses.len();
        Self {
            losses: arrays::vector(py, record.losses).unbind(),
            vertices: arrays::vector(py, record.vertices).unbind(),
            heads: arrays::rows(py, n_moments, record.first_cells.len(), record.heads).unbind(),
        }
    }
}

/// The vertex of a moment, or [`NOWHERE`].
pub(crate) fn vertex(moment: &luge::run::follow::RunProgress<'_>) -> i64 {
    moment.engine.vertex().and_then(|vertex| i64::try_from(vertex).ok()).unwrap_or(NOWHERE)
}

/// The machine's cell that a head is on.
pub(crate) fn head(moment: &luge::run::follow::RunProgress<'_>, track: usize, first: i64) -> i64 {
    moment.engine.head(track).map_or(NOWHERE, |cell| cell + first)
}

#[pymethods]
impl PreparedTrace {
    /// Vertices of the landscape.
    #[getter]
    fn n_vertices(&self) -> usize {
        self.inner.landscape.n_vertices()
    }

    /// Cells per tape that the network starts with.
    #[getter]
    fn n_cells(&self) -> usize {
        self.inner.landscape.n_cells()
    }

    /// Binary tapes.
    #[getter]
    fn n_tracks(&self) -> usize {
        self.inner.first_cells().len()
    }

    /// The most gradient steps.
    #[getter]
    fn most_steps(&self) -> u64 {
        self.inner.most_steps
    }

    /// Trains in lockstep with the simulator. With `arrays` losses, vertices and heads are kept for every step.
    #[pyo3(signature = (*, arrays, callback, every))]
    fn run(&self, py: Python<'_>, arrays: bool, callback: Option<Py<PyAny>>, every: u64) -> PyResult<Trace> {
        let (inner, seen, record) = py.detach(|| self.follow(arrays, callback, every))?;
        // Where only the end is compared, nobody sees every loss.
        let curve = Curve::new(seen, inner.outcome.steps(), self.inner.options.compare == Comparisons::End);
        let arrays = record.map(|record| Arrays::new(py, record));
        Ok(Trace { plan: Arc::clone(&self.inner), inner, curve, arrays })
    }
}

/// What following a run leaves behind.
type TracedRun = (trace::Trace, LossCurve, Option<PerStep>);

impl PreparedTrace {
    fn follow(&self, arrays: bool, callback: Option<Py<PyAny>>, every: u64) -> Result<TracedRun, Refusal> {
        let plan = &self.inner;
        if arrays && plan.options.compare == Comparisons::End && !plan.dense() {
            return Err(Refusal::unfit(
                "there are no arrays of every step if only the end is compared: give arrays=False, or compare=\"every\"",
            ));
        }
        let mut record = arrays.then(|| PerStep::new(plan.first_cells()));
        let mut watch = Watch::new(callback, every);
        let attention = if arrays { ObservationRate::Steps } else { watch.observation_rate() };
        let inner = plan.follow(None, attention, |moment| {
            if let Some(record) = &mut record {
                record.observe(&moment);
            }
            watch.observe(&moment)
        })?;
        let curve = watch.finish()?;
        Ok((inner, curve, record))
    }
}

#[pymethods]
impl Trace {
    /// The result as JSON.
    #[getter]
    fn summary(&self) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&summary::of_trace(&self.plan, &self.inner))?)
    }

    /// Whether every iterate is the machine's configuration, wherever the losses lie.
    #[getter]
    fn exact(&self) -> bool {
        self.inner.decodes_to_machine()
    }

    /// The loss before each step and at the end.
    #[getter]
    fn losses(&self, py: Python<'_>) -> Option<Py<PyArray1<f64>>> {
        self.arrays.as_ref().map(|arrays| arrays.losses.clone_ref(py))
    }

    /// The vertex before each step and at the end.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> Option<Py<PyArray1<i64>>> {
        self.arrays.as_ref().map(|arrays| arrays.vertices.clone_ref(py))
    }

    /// The cell of each binary tape's head before each step and at the end, one column per tape.
    #[getter]
    fn heads(&self, py: Python<'_>) -> Option<Py<PyArray2<i64>>> {
        self.arrays.as_ref().map(|arrays| arrays.heads.clone_ref(py))
    }

    /// The loss over the steps, drawn as SVG.
    fn plot(&self, py: Python<'_>, title: &str, subtitle: &str) -> PyResult<String> {
        let (kind, bounds) = (self.plan.options.landscape, self.plan.landscape.bounds());
        let first_mismatch = self.inner.first_mismatch.as_ref().map(|mismatch| mismatch.step);
        let curve = self.curve.whole(py, |watch| {
            self.plan.follow(None, ObservationRate::Strides, watch)?;
            Ok(())
        })?;
        Ok(curve.draw(title, subtitle, kind, &bounds, first_mismatch))
    }

    /// Whether the dense engine trained.
    #[getter]
    fn dense(&self) -> bool {
        self.inner.chosen.engine == EngineChoice::Dense
    }
}
