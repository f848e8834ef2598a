//! Placeholder until the format lands in this series.

use super::{Inexpressible, Loaded};
use crate::{Diagnostic, Input, Machine};

pub fn read(_text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    Err(Vec::new())
}

pub fn write(_machine: &Machine, _input: Option<&Input>) -> Result<String, Inexpressible> {
    Ok(String::new())
}
