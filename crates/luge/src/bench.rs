//! Side by side.
pub mod reference;
