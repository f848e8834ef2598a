//! Which engine trains, and why.

use luge_net::{Network, Values};
use luge_train::{Exact, LossRange, Memories, Snapshot, Sparse, Tracer, TrainError};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The fastest that applies.
    #[default]
    Auto,
    /// Every unit, every gradient by automatic differentiation.
    Dense,
    /// Only what is not zero.
    Sparse,
    /// Remembered steps, where arithmetic is exact.
    Exact,
}

impl Engine {
    /// All choices.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Dense, Self::Sparse, Self::Exact];

    /// The choice's name on the command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Exact => "exact",
        }
    }
}

/// The engine that was chosen, never [`Engine::Auto`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Which.
    pub engine: Engine,
    /// Why this one.
    pub why: String,
}

impl Chosen {
    pub(crate) fn dense(why: &str) -> Self {
        Self { engine: Engine::Dense, why: why.to_owned() }
    }
}

/// Where a fast engine starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// From all parameters, zeros included.
    Parameters(&'a [Values]),
    /// From a snapshot and the losses before it.
    Snapshot(&'a Snapshot, Option<LossRange>),
}

/// A fast engine for a network that names its layers.
///
/// # Errors
/// If the engine asked for does not apply.
pub(crate) fn fast<'n>(
    asked: Engine,
    memories: Memories,
    network: &'n Network,
    start: Start<'_>,
    inputs: &[Values],
) -> Result<(Box<dyn Tracer + 'n>, Chosen), TrainError> {
    let exact = || match start {
        Start::Parameters(parameters) => Exact::new(network, parameters, inputs, memories),
        Start::Snapshot(snapshot, losses) => Exact::resume(network, snapshot, losses, inputs, memories),
    };
    let sparse = || match start {
        Start::Parameters(parameters) => Sparse::new(network, parameters, inputs),
        Start::Snapshot(snapshot, losses) => Sparse::resume(network, snapshot, losses, inputs),
    };
    match asked {
        Engine::Sparse | Engine::Dense => {
            let why = "asked for".to_owned();
            Ok((Box::new(sparse()?), Chosen { engine: Engine::Sparse, why }))
        }
        Engine::Exact => {
            let why = "asked for".to_owned();
            Ok((Box::new(exact()?), Chosen { engine: Engine::Exact, why }))
        }
        Engine::Auto => match exact() {
            Ok(engine) => {
                let why = match engine.drift() {
                    (0.0, 0.0) => {
                        "arithmetic is exact: constants are powers of two, the gain is 1".to_owned()
                    }
                    (most, _) => format!("a step forgets the last one's error, at most {most:.1e} on a cell"),
                };
                Ok((Box::new(engine), Chosen { engine: Engine::Exact, why }))
            }
            Err(TrainError::NotExact { why }) => {
                let why = format!("arithmetic is not exact: {why}");
                Ok((Box::new(sparse()?), Chosen { engine: Engine::Sparse, why }))
            }
            Err(error) => Err(error),
        },
    }
}
