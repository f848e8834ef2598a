//! How much noise, and how little precision, a landscape forgives before training no longer traces the machine.

use std::ops::ControlFlow;

use luge_landscape::LandscapeKind;
use luge_machine::{Input, Machine};
use luge_train::Precision;

use crate::{
    engine::Manner,
    record::FirstMismatch,
    trace::{Plan, TraceError, TraceOptions},
};

/// The relative sizes of noise that are tried.
pub const SIGMAS: [f64; 8] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

/// What one landscape forgives.
#[derive(Clone, PartialEq, Debug)]
pub struct Tolerance {
    /// The landscape.
    pub landscape: LandscapeKind,
    /// For each of [`SIGMAS`], one entry per seed.
    pub noise: Vec<(f64, Vec<Verdict>)>,
    /// One entry per precision.
    pub precision: Vec<(Precision, Verdict)>,
}

/// Whether a trace was exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It was.
    Exact,
    /// The first iterate that was not the machine's configuration.
    Mismatch {
        /// Its step.
        step: u64,
        /// What differed.
        why: String,
    },
    /// Every iterate was right, but training did not stop where the machine does.
    WrongEnd,
}

impl Tolerance {
    /// Traces a machine on one landscape at every noise with seeds from 0 on, and at every precision.
    /// `progress` is told after each trace.
    ///
    /// # Errors
    /// If the machine cannot be traced on this landscape at all.
    pub fn of(
        machine: &Machine,
        input: &Input,
        landscape: LandscapeKind,
        n_seeds: u64,
        mut progress: impl FnMut(),
    ) -> Result<Self, TraceError> {
        let plain = TraceOptions::dense(landscape);
        let mut plan = Plan::new(machine, input, &plain)?;
        let mut verdict = |manner: Manner| {
            plan.options.manner = manner;
            let verdict = verdict(&plan);
            progress();
            verdict
        };
        let mut noise = Vec::with_capacity(SIGMAS.len());
        for sigma in SIGMAS {
            let manner = |seed| Manner { noise: Some((sigma, seed)), ..plain.manner };
            noise.push((sigma, (0..n_seeds).map(|seed| verdict(manner(seed))).collect::<Result<_, _>>()?));
        }
        let precisions =
            Precision::ALL.map(|precision| Ok((precision, verdict(Manner { precision, ..plain.manner })?)));
        let precision = precisions.into_iter().collect::<Result<_, TraceError>>()?;
        Ok(Self { landscape, noise, precision })
    }

    /// Traces that [`Tolerance::of`] makes.
    #[must_use]
    pub fn n_traces(n_seeds: u64) -> u64 {
        (SIGMAS.len() as u64).saturating_mul(n_seeds).saturating_add(Precision::ALL.len() as u64)
    }

    /// The smallest noise at which some seed breaks the trace.
    #[must_use]
    pub fn breaks_at(&self) -> Option<f64> {
        let breaks = |verdicts: &[Verdict]| verdicts.iter().any(|v| *v != Verdict::Exact);
        self.noise.iter().find(|(_, verdicts)| breaks(verdicts)).map(|&(sigma, _)| sigma)
    }
}

fn verdict(plan: &Plan) -> Result<Verdict, TraceError> {
    // After the first mismatch there is nothing more to learn.
    let trace = plan.run(|moment| match moment.record.mismatches {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    })?;
    Ok(match &trace.first_mismatch {
        Some(FirstMismatch { step, why }) => Verdict::Mismatch { step: *step, why: why.clone() },
        None if trace.exact() => Verdict::Exact,
        None => Verdict::WrongEnd,
    })
}
