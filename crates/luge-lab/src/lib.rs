//! The lab: a page that shows gradient descent running a program.
//!
//! A [`PreparedJob`] prepares a [`Job`](luge::job::Job) and gives a [`Scene`], which can be replayed ([`replay`]). The views are drawn from
//! the replay: on the page through one socket per tab, or in a report.

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

pub use command::{Breakpoints, Command, Look, MAX_BYTES, RunRequest};
pub use figures::Figure;
pub use prepared_job::{MAX_DENSE_STEPS, MAX_NOISY_STEPS, MAX_STEPS, PreparedJob, Scene};
pub use proof::Proof;
pub use refusal::{Refusal, RunError};
pub use report::{MAX_MOMENTS, Report, stream_report};
#[cfg(feature = "server")]
pub use server::{Counts, Lab, MAX_TABS, MAX_WAITING};
pub use session::{Channel, Disconnected, DrivenRun, MAX_RUNS, Transport, figure, greeting, run_session};
pub use stream_recording::StreamRecording;
pub use views::{around, moment};
