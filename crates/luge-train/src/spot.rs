//! One step of a run looked at closely: the dense engine makes it again by automatic differentiation, from all weights,
//! and every weight it arrives at is compared with the one that was found.

use luge_net::{Network, Values};

use crate::{Dense, Engine, Precision, Rate, Snapshot, TrainError};

/// How far a weight of size 1 may lie from the dense engine's where numbers are rounded on the way: through a carrier whose
/// gain is not exactly 1, or constants that are not powers of two.
pub const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;

/// What the dense engine says about one step.
#[derive(Clone, PartialEq, Debug)]
pub struct Agreement {
    /// The dense engine's loss before the step.
    pub loss: f64,
    /// How many weights were compared.
    pub n_weights: usize,
    /// The largest difference of a weight.
    pub largest: f64,
    /// The first weight that differs by more than is allowed; `None` if the step is the network's own.
    pub differs: Option<Difference>,
}

impl Agreement {
    /// Whether a loss that was found before the step is the dense engine's, up to [`ROUNDING`].
    #[must_use]
    pub fn has_loss(&self, found: f64) -> bool {
        (self.loss - found).abs() <= ROUNDING * self.loss.abs()
    }
}

/// A weight that the dense engine moved elsewhere.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The parameter's name.
    pub parameter: String,
    /// The position in it, row by row.
    pub index: usize,
    /// Where automatic differentiation leads.
    pub dense: f64,
    /// Where the run went.
    pub found: f64,
}

/// Why a step cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SpotError {
    /// The snapshots are not those before and after one step.
    #[error("snapshots of steps {before} and {after} are not one step apart")]
    NotOneStep {
        /// Steps made before.
        before: u64,
        /// Steps made after.
        after: u64,
    },
    /// A weight lies outside the network's matrices.
    #[error("the weights after {step} steps do not fit into the network's matrices")]
    DoesNotFit {
        /// Steps made.
        step: u64,
    },
    /// The dense engine cannot be made or cannot step.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// Looks at steps of one run. Laying out the network is done once, however many steps are looked at.
pub struct SpotCheck<'n> {
    network: &'n Network,
    dense: Dense<'n>,
    shift: Vec<i64>,
}

impl<'n> SpotCheck<'n> {
    /// A network to hold steps to, whose column `c` is cell `c - shift` of each tape; an empty `shift` stands for zeros.
    ///
    /// # Errors
    /// If the inputs do not fit, or the network is too wide to be evaluated unit by unit.
    pub fn new(network: &'n Network, inputs: &[Values], shift: &[i64]) -> Result<Self, TrainError> {
        let zeros: Vec<Values> = network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        let dense = Dense::new(network, &zeros, inputs, Precision::F64, Rate::One, None)?;
        Ok(Self { network, dense, shift: shift.to_vec() })
    }

    /// Makes the step that follows `before` by automatic differentiation and compares every weight with `after`.
    ///
    /// No weight may differ by more than `tolerance`, or by `tolerance` times its size if it is larger than 1. It is the
    /// engine's [`rounding`](crate::Engine::rounding): 0 where arithmetic is exact.
    ///
    /// # Errors
    /// If the snapshots are not one step apart or do not fit, or the gradient cannot be computed.
    pub fn check(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        tolerance: f64,
    ) -> Result<Agreement, SpotError> {
        if before.step.checked_add(1) != Some(after.step) {
            return Err(SpotError::NotOneStep { before: before.step, after: after.step });
        }
        let start = self.parameters(before)?;
        let end = self.parameters(after)?;
        self.dense.go_to(&start)?;
        let loss = self.dense.loss()?;
        self.dense.step()?;
        let mut agreement = Agreement { loss, n_weights: 0, largest: 0.0, differs: None };
        for (block, (dense, found)) in
            self.dense.parameters().unwrap_or_default().iter().zip(&end).enumerate()
        {
            for (index, (&dense, &found)) in dense.data.iter().zip(&found.data).enumerate() {
                agreement.n_weights += 1;
                let difference = (dense - found).abs();
                agreement.largest = agreement.largest.max(difference);
                let far = difference.is_nan() || difference > tolerance * dense.abs().max(1.0);
                if far && agreement.differs.is_none() {
                    let parameter = self.network.parameters()[block].name.clone();
                    agreement.differs = Some(Difference { parameter, index, dense, found });
                }
            }
        }
        Ok(agreement)
    }

    fn parameters(&self, snapshot: &Snapshot) -> Result<Vec<Values>, SpotError> {
        let zeros = vec![0; snapshot.tapes.len()];
        let shift = if self.shift.is_empty() { &zeros } else { &self.shift };
        snapshot.parameters_of(self.network, shift).ok_or(SpotError::DoesNotFit { step: snapshot.step })
    }
}

/// Looks at one step: [`SpotCheck::new`], then [`SpotCheck::check`].
///
/// # Errors
/// As for these.
pub fn spot_check(
    network: &Network,
    inputs: &[Values],
    before: &Snapshot,
    after: &Snapshot,
    tolerance: f64,
) -> Result<Agreement, SpotError> {
    SpotCheck::new(network, inputs, &[])?.check(before, after, tolerance)
}
