//! The lab: a page on which one watches the weights of a network become a computation.
//!
//! A [`Request`] becomes a [`Stage`], a stage builds a [`Scene`], a scene is filmed ([`crate::film`]), and the views are
//! drawn from the film: on the page through one socket per tab, or in a report.

mod assets;
mod catalogue;
mod command;
pub mod film;
mod neighbourhood;
mod report;
mod request;
mod server;
mod session;
mod stage;
mod views;

pub use catalogue::{Catalogue, Shipped};
pub use command::Command;
pub use report::{MOST_MOMENTS, Report};
pub use request::{Data, Finding, Language, MOST_STEPS, Program, Refusal, Request};
pub use server::{Counts, Lab, MOST_BYTES, MOST_TABS};
pub use session::{Client, MOST_RUNS, attend};
pub use stage::{MOST_DENSE_STEPS, Scene, Stage};
pub use views::{Around, Boundary, LineProfile, Moment, Opening, Overview, PictureView};
