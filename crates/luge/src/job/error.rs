//! The errors of all jobs.

use luge_circuit::{NotExclusive, machine::MachineError};
use luge_landscape::{
    BuildError, ExtendedError, LearnerError, PrimaryError, StreamError, mlp::MlpConstantsError,
};
use luge_machine::{Diagnostic, InputError, Step, lowering::LoweringError};
use luge_net::NumberFormat;
use luge_train::{Precision, TrainError};

use crate::{
    data::TableError,
    job::{
        auto_format::NoFormat,
        catalogue,
        program::ProgramError,
        source::{ReadError, Source},
        universal,
    },
    run::{engine::EngineError, memory::TooMuch},
    stream::StreamLandscape,
    trace,
};

/// Why a job cannot be done, or has no result. Almost everything is found before training begins.
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
        /// The numbers of the program's theta.
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
    /// A learner from a stream where one from a table, or a machine, is needed.
    #[error("{0} learns from a stream, not from a table")]
    OnStream(String),
    /// A program that the universal learner cannot run.
    #[error("{name} cannot be run as a program by this learner: {error}")]
    Universal {
        /// The program.
        name: String,
        /// Why not.
        error: universal::ProgramError,
    },
    /// A machine without a normal form.
    #[error(transparent)]
    Lowering(#[from] LoweringError),
    /// More memory than there is.
    #[error(transparent)]
    Memory(#[from] TooMuch),
    /// An engine that cannot train this network.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A landscape that cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An extended network that cannot be built.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
    /// A network for streams that cannot be built.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// No constants for an MLP that trains so long.
    #[error(transparent)]
    MlpConstants(#[from] MlpConstantsError),
    /// A machine that is not a circuit.
    #[error(transparent)]
    Circuit(#[from] MachineError),
    /// A machine without a way to a halt.
    #[error("no halting situation can be reached from the start state `{0}`")]
    HaltingUnreachable(String),
    /// A machine that runs on.
    #[error("the machine does not halt within {0} steps")]
    DoesNotHalt(Step),
    /// A learner that runs on.
    #[error("the learner does not halt on these data within {0} steps")]
    LearnerDoesNotHalt(Step),
    /// A learner that halts without accepting.
    #[error("the learner stops in state `{0}` without accepting: it has no answer for these data")]
    Rejected(String),
    /// A program that rejects its samples: out of range, `assert` or `reject`.
    #[error("after {steps} steps and {taken} samples taken, the program rejects its data")]
    SamplesRejected {
        /// Steps made.
        steps: Step,
        /// Samples taken.
        taken: u64,
    },
    /// A machine on a stream that stops where it should not, or takes or latches wrongly.
    #[error("after {step} steps and {taken} batches taken, {why}")]
    Stopped {
        /// Steps made.
        step: Step,
        /// Batches taken.
        taken: u64,
        /// What happened.
        why: String,
    },
    /// A circuit that breaks its own promise.
    #[error("after {step} steps {reason}")]
    NotExclusive {
        /// Steps made.
        step: Step,
        /// The sum.
        #[source]
        reason: NotExclusive,
    },
    /// A run that needs more cells than are allowed.
    #[error("the run needs {needed} cells per tape, but only {given} are allowed")]
    TooFewCells {
        /// Cells needed.
        needed: usize,
        /// Cells allowed.
        given: usize,
    },
    /// A run that needs more cells than are built.
    #[error(
        "the run needs {needed} cells on each of {n_tapes} binary tapes, but at most {most} are built in all",
        most = trace::MAX_CELLS
    )]
    TooManyCells {
        /// Cells per tape.
        needed: usize,
        /// Binary tapes.
        n_tapes: usize,
    },
    /// `internal` has a vertex for every configuration of every declared input.
    #[error(
        "landscape internal declares every content of the input's {0} binary cells, but at most {most} can be declared",
        most = trace::MAX_DECLARED_CELLS
    )]
    TooManyDeclared(usize),
    /// The wider network has other layers.
    #[error("on {0} cells the network has other layers than the one that was trained")]
    OtherLayers(usize),
    /// The network would not notice that it has read the labels.
    #[error("the labels differ too little from {offset}: |y - r|^2 = {found} is below eps = {epsilon}")]
    LabelsTooSmall {
        /// r.
        offset: f64,
        /// |y - r|^2.
        found: f64,
        /// eps.
        epsilon: f64,
    },
    /// Subtracting r from a label and adding it again must not change its bits.
    #[error(
        "label offset {0:e} changes the labels: some are no longer the same number of the format after subtracting and adding it"
    )]
    LabelOffset(f64),
    /// A label that exceeds the stated bound.
    #[error("a label of the table is {label}, but labels were said to be at most {bound} in size")]
    LabelBound {
        /// The label.
        label: f64,
        /// The bound.
        bound: f64,
    },
    /// Thresholds between neighbouring numbers need all digits.
    #[error(
        "bits converted by the network's own units need precision f64, not {}: a threshold is as narrow as the gap between two numbers",
        .0.word()
    )]
    BitsNeedF64(Precision),
    /// A primary network for another number of features or labels.
    #[error(
        "the primary network takes {features} features to {outputs} outputs, the data have {found_features} and {found_labels}"
    )]
    Shapes {
        /// Its features.
        features: usize,
        /// Its outputs.
        outputs: usize,
        /// The features of the data.
        found_features: usize,
        /// The labels of the data.
        found_labels: usize,
    },
    /// A circuit that ships, for an impossible number of bits.
    #[error("`{0}` does not say how many bits a sample has")]
    CircuitBits(String),
    /// A circuit for another number of features or labels.
    #[error(
        "the circuit's samples have {} features and {} labels, but the stream has {} features and {} labels",
        .expected.0, .expected.1, .found.0, .found.1
    )]
    SampleShape {
        /// Features and labels of the circuit's samples.
        expected: (usize, usize),
        /// Features and labels of the stream.
        found: (usize, usize),
    },
    /// A circuit that takes samples needs a stream, and no other does.
    #[error("{}", if *.takes { "the circuit takes samples, but there is no stream" } else { "the circuit takes no samples from the stream" })]
    NeedsStream {
        /// Whether the circuit takes samples.
        takes: bool,
    },
    /// Only two's complement can be read from a weight.
    #[error("landscape mlp reads numbers in two's complement, and {0} is not")]
    MlpFormat(NumberFormat),
    /// A circuit takes one sample.
    #[error("landscape mlp takes one sample a step, not {0}")]
    OneSample(usize),
    /// An option without effect on this run.
    #[error("`{option}` has no effect on {learner} on landscape {}", .landscape.word())]
    NoEffect {
        /// The option's name in [`StreamJob`](crate::StreamJob) or its options.
        option: &'static str,
        /// The learner.
        learner: String,
        /// The landscape.
        landscape: StreamLandscape,
    },
    /// A checkpoint that is not of this run.
    #[error("the checkpoint {0}")]
    Checkpoint(&'static str),
}

impl From<TrainError> for JobError {
    fn from(error: TrainError) -> Self {
        Self::Engine(error.into())
    }
}

impl JobError {
    /// A program whose state repeats in this line.
    pub(crate) fn repeats(source: &Source, line: u32) -> Self {
        let perceptron = catalogue::with_text(&source.text).is_some_and(|s| s.name == "perceptron");
        Self::Repeats { name: source.name.clone(), line, perceptron }
    }

    /// What was found in a text that breaks its language's rules, and the text.
    pub fn findings(&self) -> Option<(&Source, &[Diagnostic])> {
        match self {
            Self::Read {
                text,
                error: ReadError::Broken { findings, .. } | ReadError::BrokenCircuit { findings, .. },
            }
            | Self::Program { text, error: ProgramError::Broken { findings, .. } } => Some((text, findings)),
            _ => None,
        }
    }
}
