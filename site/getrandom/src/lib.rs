//! What the crate `zip` names of the crate `getrandom`, for encryption that nothing here uses. Without the rest, no
//! bindings need a tool to be built.

use std::{error, fmt};

/// There is no randomness.
#[derive(Clone, Copy, Debug)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this page has no source of randomness")
    }
}

impl error::Error for Error {}

/// Refuses.
///
/// # Errors
/// Always.
pub fn fill(_: &mut [u8]) -> Result<(), Error> {
    Err(Error)
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn u64() -> Result<u64, Error> {
    Err(Error)
}
