//! Learning algorithms, given as Turing machines or Sled programs, run by plain gradient descent.
//!
//! Luge goes one way: program, machine, landscape, network, training, certificate. A [`TrainJob`] says what to learn and
//! from what; [`TrainJob::prepare`] builds the network, [`Lesson::train`] trains it and certifies the run.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use luge::{Source, TrainJob};
//!
//! // The mean of four labels, a learner that ships with its data.
//! let lesson = TrainJob::of(Source::open("mean")?)?.prepare()?;
//! let report = lesson.train(|_| ControlFlow::Continue(()))?;
//! assert!(report.certificate.proves_the_run());
//! assert_eq!(report.theta, [2.5625, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`TraceJob`] does the same for a machine without data: its landscape is trained in lockstep with the simulator.
//! The `examples` folder has both at length, a primary network of one's own, and landscapes with one's own constants.
//!
//! The stages, in the order of the paper:
//!
//! | stage | where |
//! |---|---|
//! | program and data | [`source`], [`catalogue`], [`data`], [`program`], [`job`] |
//! | machine | `luge_machine`, `luge_sled` |
//! | landscape and network | `luge_landscape`, `luge_net` |
//! | training | `luge_train`, [`engine`], [`follow`] |
//! | comparison | [`lockstep`], [`record`] |
//! | result | [`answer`], [`trace`], [`lesson`], [`summary`], [`model`], [`predictor`], [`audit`], [`export`] |

pub mod answer;
pub mod atomic_file;
pub mod audit;
pub mod bench;
pub mod catalogue;
pub mod checkpoint;
pub mod compare;
pub mod corollary;
pub mod data;
mod earlier;
pub mod edges;
pub mod engine;
pub mod estimate;
pub mod export;
pub mod follow;
pub mod gradient;
pub mod job;
mod json;
pub mod judge;
pub mod lesson;
pub mod lockstep;
pub mod loss_curve;
pub mod memory;
pub mod model;
pub mod outputs;
pub mod picture;
pub mod plot;
pub mod predictor;
pub mod program;
pub mod record;
pub mod revisit;
pub mod rocq;
pub mod source;
pub mod stream;
pub mod summary;
pub mod thinned;
pub mod tolerance;
pub mod trace;
pub mod universal;
pub mod words;

pub use data::Table;
pub use engine::{EngineChoice, Manner};
pub use job::{Data, Job, JobError, Primaries, StandardPrimaries, TraceJob, TrainJob};
pub use lesson::{Certificate, Lesson, LessonOptions, LessonReport};
pub use luge_landscape::{Carrier, LandscapeKind, Primary};
pub use luge_net::NumberFormat;
pub use model::Model;
pub use predictor::Predictor;
pub use source::Source;
pub use stream::{StreamJob, StreamLesson};
pub use trace::{Plan, Trace, TraceOptions};
