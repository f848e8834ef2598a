//! What a run proved: its steps recomputed by automatic differentiation, the paper's bounds, the answer in words.

pub mod answer;
pub mod gradient;
pub mod paper_bounds;
pub mod translation;
