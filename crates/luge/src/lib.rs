//! Learning algorithms, given as Turing machines or Sled programs, compiled to neural networks and run by gradient
//! descent.
//!
//! The pipeline: program, machine, landscape, network, training, certificate. A [`TrainJob`] says what to learn and
//! from which data; [`TrainJob::train`] builds the network, trains it and certifies the run.
//!
//! ```
//! use luge::{Source, TrainJob};
//!
//! // The mean of four labels, a learner that ships with its data.
//! let (_, report) = TrainJob::of(Source::open("mean")?)?.train()?;
//! assert!(report.certificate.proves_the_run());
//! assert_eq!(report.theta, [2.5625, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`TrainJob::prepare`] and [`PreparedTraining::train`] do the same in two steps and let you watch the run. A
//! [`TraceJob`] does it for a machine without data: its landscape is trained in lockstep with the simulator. A
//! [`StreamJob`] learns from a stream, where every step sees a new sample:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use luge::{Source, StreamJob, stream::Samples};
//!
//! // Which two of four bits a parity counts.
//! let samples = Samples::Draw("parity:bits=4,hidden=2".parse()?);
//! let prepared = StreamJob::new(Source::open("parity")?, samples).prepare()?;
//! let report = prepared.train(|_| ControlFlow::Continue(()))?;
//! assert!(report.certificate.proves_the_run());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The `examples` folder contains longer examples, your own primary network, and landscapes with your own constants.
//! Options have a [`Default`]: write `TrainingOptions { steps: 1000, ..TrainingOptions::default() }`, and a new option
//! will not break your code.
//!
//! The modules, in the order of the paper:
//!
//! | stage | where |
//! |---|---|
//! | program and data | [`job`], [`data`] |
//! | machine | `luge_machine`, `luge_sled` |
//! | landscape and network | `luge_landscape`, `luge_net` |
//! | training in lockstep with the simulator | `luge_train`, [`run`], [`training`], [`trace`], [`stream`], [`mlp`] |
//! | proof | [`certificate`] |
//! | result | [`files`], [`draw`] |

pub mod certificate;
pub mod data;
pub mod draw;
pub mod files;
pub mod job;
pub mod mlp;
pub mod run;
pub mod stream;
pub mod trace;
pub mod training;

pub use data::Table;
pub use files::{
    model::{AnyModel, Model},
    predictor::Predictor,
};
pub use job::{Data, Job, JobError, Primaries, StandardPrimaries, TraceJob, TrainJob, source::Source};
pub use luge_landscape::{Carrier, LandscapeKind, Primary, PrimaryError};
pub use luge_net::{NumberFormat, Values};
pub use run::engine::{EngineChoice, TrainingConfig};
pub use stream::{PreparedStream, StreamJob};
pub use trace::{PreparedTrace, Trace, TraceOptions};
pub use training::{Certificate, PreparedTraining, TrainingOptions, TrainingReport};
