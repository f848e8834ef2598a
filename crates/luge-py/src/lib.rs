//! The Python module `luge._luge`: a thin caller of the library's jobs.
//!
//! It turns arrays into tables, strings into options and errors into exceptions, and returns results as JSON and
//! arrays. `python/luge`, written in Python on top of it, is what users see.

mod arrays;
mod files;
mod job;
mod model;
mod ordinary;
mod prepared;
mod refusal;
mod run;
mod source;
mod steps;
mod watch;

use luge::job::catalogue;
use pyo3::prelude::*;

/// What ships: one object per learner and machine, as JSON.
#[pyfunction]
fn shipped() -> String {
    // Texts and words alone: nothing of it can fail.
    serde_json::to_string(&*catalogue::SHIPPED).unwrap_or_default()
}

#[pymodule]
mod _luge {
    #[pymodule_export]
    use super::{
        files::write_files,
        job::{Job, compare},
        model::Model,
        ordinary::ordinary,
        prepared::{Finished, Prepared},
        run::{Run, compile},
        shipped,
        source::Source,
        steps::{Step, Steps},
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
