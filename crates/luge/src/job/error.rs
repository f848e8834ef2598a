//! Errors of jobs.

use luge_landscape::{LearnerError, PrimaryError};
use luge_machine::InputError;

use crate::{
    data::TableError,
    job::{
        auto_format::NoFormat,
        catalogue,
        program::ProgramError,
        source::{ReadError, Source},
        universal,
    },
    trace::TraceError,
    training::TrainingError,
};

/// Why a job cannot be done. Everything is found out before training begins.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A text that is not a machine.
    #[error("{error}")]
    Read {
        /// The text.
        text: Box<Source>,
        /// What is wrong with it.
        error: ReadError,
    },
    /// A text that is not a program for these data.
    #[error("{error}")]
    Program {
        /// The text.
        text: Box<Source>,
        /// What is wrong with it.
        error: ProgramError,
    },
    /// Programs become machines only together with their data.
    #[error("{0} is a Sled program, not a machine")]
    ProgramAlone(String),
    /// A learner without data.
    #[error("{0} has no data of its own")]
    NoData(String),
    /// Data that are not a table.
    #[error("{name}: {error}")]
    Table {
        /// The file.
        name: String,
        /// What is wrong with it.
        error: Box<TableError>,
    },
    /// An input with symbols that the machine does not have.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A machine that is not a learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// No primary network.
    #[error(transparent)]
    Primary(#[from] PrimaryError),
    /// A program whose answer is not the primary network's weights.
    #[error("the program's theta has {n_theta} numbers, but {primary} has {n_weights} weights")]
    ThetaSize {
        /// Numbers that the program leaves.
        n_theta: usize,
        /// The primary network.
        primary: String,
        /// Its weights.
        n_weights: usize,
        /// One that has as many weights as theta has numbers.
        fits: String,
    },
    /// A primary network that is to be the program's own.
    #[error("{0} has no function `predict`")]
    NoPredict(String),
    /// Data without labels for a learner that takes some.
    #[error("{0} takes labels, and the data have none")]
    NoTarget(String),
    /// A program for which no number format is suitable.
    #[error("{name}: {why}")]
    NoFormat {
        /// The program.
        name: String,
        /// Why not.
        why: NoFormat,
    },
    /// A program that never ends.
    #[error("{name} never ends on these data: in line {line} its variables are what they were in an earlier round{}", if *.perceptron { "; no plane separates the classes: perceptron_rounds stops after a number of rounds" } else { "" })]
    Repeats {
        /// The program.
        name: String,
        /// Where.
        line: u32,
        /// Whether it is the perceptron that ships.
        perceptron: bool,
    },
    /// A run on a stream where others are shown, recorded or resumed.
    #[error(
        "{0} learns from a stream, whose runs are neither recorded nor resumed, and have pages of their own"
    )]
    OnStream(String),
    /// A program that the universal learner cannot run.
    #[error("{name} cannot be run as a program by this learner: {error}")]
    Universal {
        /// The program.
        name: String,
        /// Why not.
        error: universal::ProgramError,
    },
    /// A machine that cannot be traced with these options.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Training that cannot be done with these options.
    #[error(transparent)]
    Training(#[from] TrainingError),
}

impl JobError {
    /// A program whose state repeats in this line.
    pub(crate) fn repeats(source: &Source, line: u32) -> Self {
        let perceptron = catalogue::with_text(&source.text).is_some_and(|s| s.name == "perceptron");
        Self::Repeats { name: source.name.clone(), line, perceptron }
    }
}
