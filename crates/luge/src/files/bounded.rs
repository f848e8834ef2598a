//! Reads files and pipes within the memory budget. All files are read here.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::run::memory;

/// Bytes to read before the memory budget is checked again.
const SLICE: u64 = 1 << 20;

/// Reads a file, or standard input for `-`. The caller will need this many times the file's size in all.
///
/// # Errors
/// If the system refuses, or memory does not have room; the reason is then a [`memory::TooMuch`].
pub fn read(place: &Path, times: u64) -> io::Result<Vec<u8>> {
    let name = place.display().to_string();
    if name == "-" {
        return read_from(io::stdin().lock(), "standard input", times);
    }
    let file = File::open(place)?;
    let length = file.metadata()?.len();
    memory::check_budget(format!("reading {name}"), length.saturating_mul(times))
        .map_err(io::Error::other)?;
    read_from(file, &name, times)
}

/// The same for anything that can be read; messages call it `name`.
///
/// # Errors
/// As for [`read`].
pub fn read_from(mut from: impl Read, name: &str, times: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        // What was read already is in use.
        let needed =
            (bytes.len() as u64).saturating_mul(times.saturating_sub(1)).saturating_add(SLICE * times);
        memory::check_budget(format!("reading {name}"), needed).map_err(io::Error::other)?;
        if from.by_ref().take(SLICE).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
    }
}
