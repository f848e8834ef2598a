//! Plots and pictures.

pub mod edges;
pub mod loss_curve;
pub mod picture;
pub mod plot;
