//! The lab: a page on which one watches the weights of a network become a computation.
//!
//! A [`Job`](luge::job::Job) is prepared on a [`PreparedJob`], which shows a [`Scene`]; a scene is replayed ([`replay`]), and the views
//! are drawn from the replay: on the page through one socket per tab, or in a report.

mod assets;
mod catalogue;
mod command;
#[cfg(feature = "server")]
mod connections;
mod figures;
mod neighbourhood;
mod prepared_job;
mod proof;
mod refusal;
pub mod replay;
mod report;
#[cfg(feature = "server")]
mod server;
mod session;
mod stream_recording;
mod views;

pub use command::{Breakpoints, Command, Look, MAX_BYTES, Wish};
pub use figures::Figure;
pub use prepared_job::{MAX_DENSE_STEPS, MAX_NOISY_STEPS, MAX_STEPS, PreparedJob, Scene};
pub use proof::Proof;
pub use refusal::{Refusal, RunError};
pub use report::{MAX_MOMENTS, Report, stream_report};
#[cfg(feature = "server")]
pub use server::{Counts, Lab, MAX_TABS, MAX_WAITING};
pub use session::{Channel, DrivenRun, Gone, MAX_RUNS, Transport, attend, figure, greeting};
pub use stream_recording::StreamRecording;
pub use views::{around, moment};
