//! Measurements around Luge, apart from the library: how fast its engines are, how much noise its landscapes tolerate,
//! and how ordinary networks do on the same data.

pub mod bench;
pub mod compare;
mod ordinary;
pub mod tolerance;

pub use ordinary::{Optimiser, Ordinary};
