//! What the command line stands on: finding a machine, and drawing its run.

pub mod picture;
pub mod source;
