//! Plots and pictures.

#[doc(hidden)]
pub mod edges;
pub mod loss_curve;
pub mod picture;
pub mod plot;

pub use loss_curve::LossCurve;
pub use picture::{Picture, Size};
pub use plot::{Axis, Chart, Stroke, grouped, numeral};
