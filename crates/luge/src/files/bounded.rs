//! Reads files and pipes within the memory budget.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::{files::FileError, run::memory};

/// Bytes to read before the memory budget is checked again.
const SLICE: u64 = 1 << 20;

/// Reads a file, or standard input for `-`. `times` is the memory that the caller needs in all, relative to the file's size.
///
/// # Errors
/// If the file cannot be read, or exceeds the memory budget; the reason is then a [`memory::TooMuch`].
pub fn read(path: &Path, times: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        if path == Path::new("-") {
            return read_from(io::stdin().lock(), "standard input", times);
        }
        let (name, file) = (path.display().to_string(), File::open(path)?);
        let length = file.metadata()?.len();
        memory::check_budget(format!("reading {name}"), length.saturating_mul(times))
            .map_err(io::Error::other)?;
        read_from(file, &name, times)
    };
    read().map_err(|reason| FileError::new("read", path, reason))
}

/// The same for any reader; messages call it `name`.
///
/// # Errors
/// If it cannot be read, or exceeds the memory budget.
pub fn read_from(mut from: impl Read, name: &str, times: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        // The bytes read so far already count as used memory.
        let needed =
            (bytes.len() as u64).saturating_mul(times.saturating_sub(1)).saturating_add(SLICE * times);
        memory::check_budget(format!("reading {name}"), needed).map_err(io::Error::other)?;
        if from.by_ref().take(SLICE).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
    }
}
