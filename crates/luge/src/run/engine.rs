//! Chooses the engine, with the reason. Every engine is opened here.

use luge_net::{Network, SparseValues, Unrecognised, Values};
use luge_train::{
    CacheLevel, Dense, Engine, Exact, LossRange, Noise, Precision, Rate, Snapshot, Sparse, StopRule,
    TrainError,
};
use serde::{Deserialize, Serialize};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
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

luge_net::names!(EngineChoice, "engine", Auto "auto", Dense "dense", Sparse "sparse", Exact "exact");

/// The engine that was chosen, never [`EngineChoice::Auto`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Chosen {
    /// The engine.
    pub engine: EngineChoice,
    /// Why this one.
    #[serde(rename = "engine_why")]
    pub why: String,
}

impl Chosen {
    fn new(engine: EngineChoice, why: impl Into<String>) -> Self {
        Self { engine, why: why.into() }
    }
}

/// How to train: by which engine, in which arithmetic.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// What computes the gradients.
    pub engine: EngineChoice,
    /// The arithmetic.
    pub precision: Precision,
    /// How far a Frank-Wolfe step goes.
    pub rate: Rate,
    /// Relative noise on every update, and its seed.
    pub noise: Option<(f64, u64)>,
}

impl TrainingConfig {
    /// Training by one engine.
    #[must_use]
    pub fn by(engine: EngineChoice) -> Self {
        Self { engine, ..Self::default() }
    }

    /// Refuses noise that is no number.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        self.drawn_noise().map(|_| ())
    }

    fn drawn_noise(&self) -> Result<Option<Noise>, EngineError> {
        let noise = |(sigma, seed)| Noise::new(sigma, seed).ok_or(EngineError::Noise { sigma });
        self.noise.map(noise).transpose()
    }

    /// Why only the dense engine can train in this manner, whatever the network; `None` if others can.
    fn needs_dense(&self) -> Option<&'static str> {
        match () {
            () if self.precision != Precision::F64 => {
                Some("other precisions than f64 are rounded unit by unit")
            }
            () if self.noise.is_some() => Some("noise falls on every weight"),
            () if self.rate != Rate::One => Some("a line search looks at every kink"),
            () => None,
        }
    }

    /// Whether the dense engine trains this network, and why; without a network, whether it must train any.
    pub(crate) fn dense(&self, network: Option<&Network>) -> Result<Option<Chosen>, EngineError> {
        let unrecognised = || network.and_then(|network| network.sparse_layers().err()).map(no_layers);
        match (self.engine, self.needs_dense().map(str::to_owned).or_else(unrecognised)) {
            (EngineChoice::Dense, _) => Ok(Some(Chosen::new(EngineChoice::Dense, ASKED_FOR))),
            (EngineChoice::Auto, Some(why)) => Ok(Some(Chosen::new(EngineChoice::Dense, why))),
            (engine @ (EngineChoice::Sparse | EngineChoice::Exact), Some(why)) => {
                Err(EngineError::Incompatible { engine, why })
            }
            (_, None) => Ok(None),
        }
    }
}

const ASKED_FOR: &str = "asked for";

/// Why only the dense engine can train a network.
fn no_layers(why: &Unrecognised) -> String {
    format!("no sparse layers are recognised in this network: {why}")
}

/// Why an engine cannot train.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// An engine that does not apply.
    #[error("engine {engine} cannot be used: {why}", engine = engine.word())]
    Incompatible {
        /// What was asked for.
        engine: EngineChoice,
        /// Why not.
        why: String,
    },
    /// Noise must be a number.
    #[error("noise of relative size {sigma}: expected a finite number of at least 0")]
    Noise {
        /// What was given.
        sigma: f64,
    },
    /// The network's maps and its table of vertices say different things: no engine can be trusted with it.
    #[error("the network contradicts itself: {0}")]
    Arcs(Unrecognised),
    /// The engine itself refuses.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// A network ready to be trained: where it starts, what it is fed, how to train and when that is done.
#[derive(Clone, Debug)]
pub struct Task<'n> {
    /// The network.
    pub network: &'n Network,
    /// Its parameters before the first step.
    pub parameters: Vec<SparseValues>,
    /// What it is fed.
    pub inputs: Vec<Values>,
    /// When training is done.
    pub stop: StopRule,
    /// How to train.
    pub manner: TrainingConfig,
}

/// A moment to resume from: the weights, and the losses before it.
pub type ResumePoint<'a> = (&'a Snapshot, Option<LossRange>);

/// An engine at its start, and why it is this one.
pub type Opened<'n> = (Box<dyn Engine + 'n>, Chosen);

impl<'n> Task<'n> {
    /// Opens the engine that the manner asks for, at the start or where a snapshot was taken.
    ///
    /// Of those that apply `auto` takes the fastest: `exact` unless arithmetic is not exact, then `sparse`; `dense` where only
    /// it can train.
    ///
    /// # Errors
    /// If the engine asked for does not apply.
    pub fn open(
        &self,
        cache_level: CacheLevel,
        from: Option<ResumePoint<'_>>,
    ) -> Result<Opened<'n>, EngineError> {
        self.network.check_arcs().map_err(|why| EngineError::Arcs(why.clone()))?;
        if let Some(chosen) = self.manner.dense(Some(self.network))? {
            return Ok((Box::new(self.open_dense(from)?), chosen));
        }
        let Self { network, parameters, inputs, .. } = self;
        let exact = || match from {
            None => Exact::new(network, parameters, inputs, cache_level),
            Some((snapshot, losses)) => Exact::resume(network, snapshot, losses, inputs, cache_level),
        };
        let sparse = || match from {
            None => Sparse::new(network, parameters, inputs),
            Some((snapshot, losses)) => Sparse::resume(network, snapshot, losses, inputs),
        };
        match self.manner.engine {
            EngineChoice::Sparse | EngineChoice::Dense => {
                Ok((Box::new(sparse()?), Chosen::new(EngineChoice::Sparse, ASKED_FOR)))
            }
            EngineChoice::Exact => Ok((Box::new(exact()?), Chosen::new(EngineChoice::Exact, ASKED_FOR))),
            EngineChoice::Auto => match exact() {
                Ok(engine) => {
                    let why = match engine.left_out() {
                        (0.0, 0.0) => {
                            "arithmetic is exact: constants are powers of two, the gain is 1".to_owned()
                        }
                        (most, _) => {
                            format!("a step forgets the last one's error, at most {most:.1e} on a cell")
                        }
                    };
                    Ok((Box::new(engine), Chosen::new(EngineChoice::Exact, why)))
                }
                Err(TrainError::NotExact { why }) => {
                    let why = format!("arithmetic is not exact: {why}");
                    Ok((Box::new(sparse()?), Chosen::new(EngineChoice::Sparse, why)))
                }
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Opens the dense engine, whatever the manner asks for.
    ///
    /// # Errors
    /// If it does not apply.
    pub fn open_dense(&self, from: Option<ResumePoint<'_>>) -> Result<Dense<'n>, EngineError> {
        let TrainingConfig { precision, rate, .. } = self.manner;
        let noise = self.manner.drawn_noise()?;
        let dense = Dense::new(self.network, &self.parameters, &self.inputs, precision, rate, noise)?;
        Ok(match from {
            None => dense,
            Some((snapshot, losses)) => dense.at(snapshot, losses)?,
        })
    }
}
