//! Recomputes one step of a run with the dense engine, by automatic differentiation from all weights, and compares every
//! resulting weight.

use luge_net::{Columns, Network, SparseValues, Values};

use crate::{Dense, Engine, Precision, Rate, Snapshot, TrainError};

/// The largest difference of a weight of size 1 from the dense engine's where numbers are rounded: because the gain of the
/// carrier is not exactly 1, or constants are not powers of two.
pub const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;

/// The comparison of one step with the dense engine.
#[derive(Clone, PartialEq, Debug)]
pub struct Agreement {
    /// The dense engine's loss before the step.
    pub loss: f64,
    /// Number of compared weights.
    pub n_weights: usize,
    /// The largest difference of a weight.
    pub largest: f64,
    /// The first weight that differs by more than allowed, if any.
    pub differs: Option<Difference>,
}

impl Agreement {
    /// Whether a loss before the step agrees with the dense engine's, up to [`ROUNDING`].
    pub fn has_loss(&self, found: f64) -> bool {
        (self.loss - found).abs() <= ROUNDING * self.loss.abs()
    }
}

/// A weight that the dense engine updates to another value.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The parameter's name.
    pub parameter: String,
    /// The position in it, row by row.
    pub index: usize,
    /// Its value by automatic differentiation.
    pub dense: f64,
    /// Its value in the run.
    pub found: f64,
}

/// Why a step cannot be checked.
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

/// Checks steps of one run.
///
/// Columns of the network's matrices that are equal, before the step and after it, are evaluated and differentiated once:
/// see [`Columns`]. If that is not possible, every column is.
pub struct SpotCheck<'n> {
    network: &'n Network,
    inputs: Vec<Values>,
    shift: Vec<i64>,
    columns: Option<Columns<'n>>,
}

impl<'n> SpotCheck<'n> {
    /// Checks steps on a network whose column `c` is cell `c - shift` of each tape; an empty `shift` stands for zeros.
    ///
    /// # Errors
    /// If the inputs do not fit.
    pub fn new(network: &'n Network, inputs: &[Values], shift: &[i64]) -> Result<Self, TrainError> {
        if !network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        let columns = Columns::of(network).ok();
        Ok(Self { network, inputs: inputs.to_vec(), shift: shift.to_vec(), columns })
    }

    /// Evaluates and differentiates every column, even if several are equal.
    #[must_use]
    pub fn column_by_column(mut self) -> Self {
        self.columns = None;
        self
    }

    /// Makes the step that follows `before` by automatic differentiation and compares every weight with `after`.
    ///
    /// No weight may differ by more than `tolerance`, or by `tolerance` times its size if it is larger than 1. It is the
    /// engine's [`rounding`](crate::Engine::rounding): 0 where arithmetic is exact.
    ///
    /// # Errors
    /// If the snapshots are not one step apart or do not fit, the network is too wide to be evaluated, or the gradient cannot be computed.
    pub fn check(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        tolerance: f64,
    ) -> Result<Agreement, SpotError> {
        if before.step.checked_add(1) != Some(after.step) {
            return Err(SpotError::NotOneStep { before: before.step, after: after.step });
        }
        let (start, end) = (self.weights(before)?, self.weights(after)?);
        Ok(self.check_weights(&start, &end, tolerance)?)
    }

    /// As [`check`](Self::check), from all weights before the step and after it.
    ///
    /// # Errors
    /// If the network is too wide to be evaluated, or the gradient cannot be computed.
    pub fn check_weights(
        &mut self,
        start: &[SparseValues],
        end: &[SparseValues],
        tolerance: f64,
    ) -> Result<Agreement, TrainError> {
        let columns = self.columns.as_ref();
        let merged = columns.and_then(|columns| columns.merge(start, Some(end), &self.inputs, &[]).ok());
        let (loss, stepped) = match &merged {
            Some(merged) => step(&merged.network, &merged.parameters(start), &self.inputs)?,
            None => step(self.network, &SparseValues::all_values(start), &self.inputs)?,
        };
        let mut agreement = Agreement { loss, n_weights: 0, largest: 0.0, differs: None };
        for (block, (dense, found)) in stepped.iter().zip(end).enumerate() {
            // The first of several equal weights, their number, and the dense engine's value.
            let weights: Box<dyn Iterator<Item = (usize, usize, f64)>> =
                match merged.as_ref().filter(|merged| merged.is_wide(found)) {
                    None => Box::new(dense.data.iter().enumerate().map(|(index, &dense)| (index, 1, dense))),
                    Some(merged) => Box::new((0..found.shape.rows).flat_map(move |row| {
                        let first = row * found.shape.cols;
                        let kinds = merged.kinds.iter();
                        kinds.map(move |kind| (first + kind.column, kind.count, dense.at(row, kind.place)))
                    })),
                };
            for (index, count, dense) in weights {
                let found = found.entry(index);
                let difference = (dense - found).abs();
                agreement.n_weights += count;
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

    fn weights(&self, snapshot: &Snapshot) -> Result<Vec<SparseValues>, SpotError> {
        snapshot.weights_of(self.network, &self.shift).ok_or(SpotError::DoesNotFit { step: snapshot.step })
    }
}

/// One step of the dense engine: the loss before it, and the weights after it.
fn step(network: &Network, start: &[Values], inputs: &[Values]) -> Result<(f64, Vec<Values>), TrainError> {
    let mut dense = Dense::new(network, start, inputs, Precision::F64, Rate::One, None)?;
    let loss = dense.loss()?;
    dense.step()?;
    Ok((loss, dense.parameters().unwrap_or_default()))
}
