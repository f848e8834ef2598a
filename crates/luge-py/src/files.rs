//! Writes files completely or not at all, and over existing ones only on request.

use std::path::PathBuf;

use luge::files::Outputs;
use pyo3::prelude::*;

use crate::refusal::Refusal;

/// Checks all places before it writes the first file.
pub(crate) fn write(files: &[(PathBuf, Vec<u8>)], force: bool) -> Result<(), Refusal> {
    let mut outputs = Outputs::new(force);
    let places: Vec<_> = files.iter().map(|(path, _)| outputs.place(path)).collect::<Result<_, _>>()?;
    Ok(places.iter().zip(files).try_for_each(|(place, (_, content))| place.write(content))?)
}

/// Writes files, or none of them if a place is refused. Each is complete or absent; with `force` they replace existing files.
#[pyfunction]
pub(crate) fn write_files(
    py: Python<'_>,
    files: Vec<(PathBuf, Vec<u8>)>,
    force: bool,
) -> Result<(), Refusal> {
    py.detach(|| write(&files, force))
}
