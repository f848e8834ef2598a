//! Files: written completely or not at all, and never over existing ones unless asked.

use std::path::PathBuf;

use luge::files::Outputs;
use pyo3::prelude::*;

use crate::refusal::Refusal;

/// Looks at all places before it writes to the first.
pub(crate) fn write(files: &[(PathBuf, Vec<u8>)], force: bool) -> Result<(), Refusal> {
    let mut outputs = Outputs::new(force);
    let places: Vec<_> = files.iter().map(|(path, _)| outputs.place(path)).collect::<Result<_, _>>()?;
    Ok(places.iter().zip(files).try_for_each(|(place, (_, content))| place.write(content))?)
}

/// Writes files, or none of them if a place is refused: each is complete or not there; with `force` they replace files.
#[pyfunction]
pub(crate) fn write_files(
    py: Python<'_>,
    files: Vec<(PathBuf, Vec<u8>)>,
    force: bool,
) -> Result<(), Refusal> {
    py.detach(|| write(&files, force))
}
