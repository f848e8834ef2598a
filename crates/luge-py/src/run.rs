//! Runs machines with the simulator, and compiles programs.

use luge::{
    draw::{Picture, Size},
    files::summary,
    job::{
        Job as Inner, Loaded,
        program::{self, SizedSource},
    },
};
use luge_landscape::Learner;
use luge_machine::{
    Input, Machine, Simulator,
    formats::Format,
    lowering::{Moves, lower},
};
use luge_net::NumberFormat;
use pyo3::{prelude::*, types::PyBytes};

use crate::{job::Job, refusal::Refusal, source::Source, watch::on_thread};

/// A machine's run by the simulator.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Run {
    machine: Machine,
    input: Input,
    steps: u64,
    /// The result as JSON.
    #[pyo3(get)]
    summary: String,
}

#[pymethods]
impl Run {
    /// Runs the machine of a job, for at most `limit` steps.
    #[staticmethod]
    fn of(py: Python<'_>, job: &Job, limit: u64) -> Result<Self, Refusal> {
        let job = job.inner.clone();
        on_thread(py, move || simulate(&job, limit))?
    }

    /// A space-time picture as PNG: time downwards.
    fn picture<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
    ) -> Result<Bound<'py, PyBytes>, Refusal> {
        if width < self.machine.n_tapes() || height == 0 {
            return Err(Refusal::new(format!("{width} x {height} pixels are too few for a picture")));
        }
        let (machine, input, steps) = (self.machine.clone(), self.input.clone(), self.steps);
        let bytes = on_thread(py, move || {
            let mut simulator = Simulator::new(&machine, &input);
            simulator.run(steps);
            let picture = Picture::of_run(Size { width, height }, &input, &simulator, |simulator, step| {
                simulator.run(step);
            });
            let mut bytes = Vec::new();
            picture.write_png(&mut bytes).map(|()| bytes)
        })??;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn simulate(job: &Inner, limit: u64) -> Result<Run, Refusal> {
    let (Loaded { machine, .. }, input) = match job {
        Inner::Trace(job) => {
            let loaded = job.load()?;
            let input = job.initial_tapes(&loaded)?;
            (loaded, input)
        }
        Inner::Stream(job) => return Err(luge::JobError::OnStream(job.source.name.clone()).into()),
        Inner::Train(job) => {
            let (table, format) = (job.table()?, job.options.format);
            let loaded = job.load(&table)?;
            let learner = Learner::new(&loaded.machine, loaded.input.as_ref())?;
            let (layout, bits) = (program::layout(&table, format), program::bits(&table, format));
            (loaded, learner.source_input(&layout, &bits))
        }
    };
    let mut simulator = Simulator::new(&machine, &input);
    let outcome = luge::run::memory::run(&mut simulator, limit)?;
    let summary = serde_json::to_string(&summary::of_run(limit, outcome, &simulator))?;
    let steps = simulator.steps();
    Ok(Run { machine, input, steps, summary })
}

/// Compiles a program for samples of these sizes. Returns the machine in the native format, and its sizes as JSON.
#[pyfunction]
pub(crate) fn compile(
    source: &Source,
    n_features: usize,
    n_labels: usize,
    format: &str,
) -> Result<(String, String), Refusal> {
    let format: NumberFormat = format.parse()?;
    let sizes = (n_features, n_labels);
    let compiled = SizedSource { source: source.inner.clone(), set: Vec::new(), format, sizes }.compile()?;
    let text = Format::Native.write(&compiled.machine, Some(&compiled.input))?;
    let size = lower(&compiled.machine, Moves::Keep)?.after;
    let summary = summary::of_compiled(&compiled, (n_features, n_labels, format), &size);
    Ok((text, serde_json::to_string(&summary)?))
}
