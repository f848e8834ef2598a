//! The files and JSON that Luge writes and reads back.

pub mod atomic_file;
pub mod audit;
pub mod bounded;
pub mod checkpoint;
pub mod export;
pub(crate) mod json;
pub mod model;
pub mod outputs;
pub mod predictor;
pub mod rocq;
pub mod summary;
