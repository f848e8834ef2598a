//! Certificates: recomputed steps, the paper's bounds, and the answer in words.

pub mod answer;
pub mod gradient;
pub mod paper_bounds;
pub mod translation;
