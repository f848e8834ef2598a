//! The lab: a page on which one watches the weights of a network become a computation.

mod request;
mod stage;
mod views;

pub use request::{Data, Finding, Language, MOST_STEPS, Program, Refusal, Request};
pub use stage::{MOST_DENSE_STEPS, Scene, Stage};
pub use views::{Around, Boundary, Moment, Opening, Overview, PictureView};
