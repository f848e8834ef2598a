//! The lab: a page on which one watches the weights of a network become a computation.
//!
//! A [`Job`](luge::job::Job) is prepared on a [`Stage`], which shows a [`Scene`]; a scene is filmed ([`film`]), and the views
//! are drawn from the film: on the page through one socket per tab, or in a report.

mod assets;
mod catalogue;
mod command;
pub mod film;
mod neighbourhood;
mod patience;
mod proof;
mod refusal;
mod report;
mod server;
mod session;
mod stage;
mod views;

pub use command::Command;
pub use proof::Proof;
pub use refusal::{Finding, Refusal, RunError};
pub use report::{MOST_MOMENTS, Report};
pub use server::{Counts, Lab, MOST_BYTES, MOST_TABS, MOST_WAITING};
pub use session::{Client, MOST_RUNS, attend};
pub use stage::{MOST_DENSE_STEPS, MOST_NOISY_STEPS, MOST_STEPS, Scene, Stage};
pub use views::{Around, Boundary, LineProfile, Moment, Nearby, Opening, Overview, PictureView, Surface};
