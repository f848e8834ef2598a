//! How much noise, and how little precision, a landscape tolerates before training no longer traces the machine.

use std::ops::ControlFlow;

use luge_landscape::LandscapeKind;
use luge_machine::{Input, Machine};
use luge_train::Precision;

use luge::{
    JobError,
    draw::{Axis, Chart, Stroke},
    run::{FirstMismatch, TrainingConfig},
    trace::{PreparedTrace, TraceOptions},
};

/// The relative sizes of noise that are tried.
pub const SIGMAS: [f64; 8] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

/// How much noise and rounding one landscape tolerates.
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
    /// Every iterate was the machine's configuration.
    Exact,
    /// An iterate was not the machine's configuration.
    Mismatch(FirstMismatch),
    /// Every iterate was right, but training did not stop where the machine does.
    WrongEnd,
}

impl Tolerance {
    /// Traces a machine on one landscape at every noise with seeds from 0 on, and at every precision.
    /// `progress` is called after each trace.
    ///
    /// # Errors
    /// If the machine cannot be traced on this landscape at all.
    pub fn of(
        machine: &Machine,
        input: &Input,
        landscape: LandscapeKind,
        n_seeds: u64,
        mut progress: impl FnMut(),
    ) -> Result<Self, JobError> {
        let plain = TraceOptions::dense(landscape);
        let mut plan = PreparedTrace::new(machine, input, &plain)?;
        let mut verdict = |manner: TrainingConfig| {
            plan.options.manner = manner;
            let verdict = verdict(&plan);
            progress();
            verdict
        };
        let mut noise = Vec::with_capacity(SIGMAS.len());
        for sigma in SIGMAS {
            let manner = |seed| TrainingConfig { noise: Some((sigma, seed)), ..plain.manner };
            noise.push((sigma, (0..n_seeds).map(|seed| verdict(manner(seed))).collect::<Result<_, _>>()?));
        }
        let precisions = Precision::ALL
            .map(|precision| Ok((precision, verdict(TrainingConfig { precision, ..plain.manner })?)));
        let precision = precisions.into_iter().collect::<Result<_, JobError>>()?;
        Ok(Self { landscape, noise, precision })
    }

    /// Traces that [`Tolerance::of`] makes.
    pub fn n_traces(n_seeds: u64) -> u64 {
        (SIGMAS.len() as u64).saturating_mul(n_seeds).saturating_add(Precision::ALL.len() as u64)
    }

    /// The smallest noise at which some seed breaks the trace.
    pub fn breaks_at(&self) -> Option<f64> {
        let broken = self.noise.iter().find(|(_, verdicts)| n_exact(verdicts) < verdicts.len());
        broken.map(|&(sigma, _)| sigma)
    }
}

/// The number of traces that were exact.
pub fn n_exact(verdicts: &[Verdict]) -> usize {
    verdicts.iter().filter(|verdict| **verdict == Verdict::Exact).count()
}

/// Draws, for every landscape, the share of seeds whose trace is exact at each size of noise.
pub fn draw(results: &[Tolerance], title: &str) -> String {
    const COLOURS: [&str; 4] = ["#0b5cad", "#d9822b", "#2f7d4f", "#7b3fa0"];
    let per_cent = |sigma: f64| 100.0 * sigma;
    let x = Axis::over("noise on every step, per cent", SIGMAS.map(per_cent).into_iter().chain([0.0]))
        .with_room();
    let y = Axis::over("traces that are exact, per cent", [0.0, 100.0]).with_room();
    let n_seeds = results.first().and_then(|result| result.noise.first()).map_or(0, |(_, seeds)| seeds.len());
    let mut chart = Chart::new(title, &format!("{n_seeds} seeds at each size of noise"), x, y);
    for (result, colour) in results.iter().zip(COLOURS.into_iter().cycle()) {
        let point = |(sigma, verdicts): &(f64, Vec<Verdict>)| {
            (per_cent(*sigma), 100.0 * n_exact(verdicts) as f64 / verdicts.len().max(1) as f64)
        };
        let points: Vec<(f64, f64)> = result.noise.iter().map(point).collect();
        let stroke = Stroke::solid(colour, 2.0);
        chart.line(points.iter().copied(), stroke);
        points.iter().for_each(|&point| chart.dot(point, 4.0, colour));
        chart.explain(stroke, result.landscape.word());
    }
    chart.finish()
}

fn verdict(plan: &PreparedTrace) -> Result<Verdict, JobError> {
    // After the first mismatch there is nothing more to learn.
    let trace = plan.run(|moment| match moment.record.mismatches {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    })?;
    let exact = trace.decodes_to_machine();
    Ok(match trace.first_mismatch {
        Some(first) => Verdict::Mismatch(first),
        None if exact => Verdict::Exact,
        None => Verdict::WrongEnd,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_landscape_has_its_line_and_every_noise_its_dot() {
        let result = |landscape: LandscapeKind, n_exact: usize| Tolerance {
            landscape,
            noise: SIGMAS
                .iter()
                .map(|&sigma| {
                    let verdict = |seed| if seed < n_exact { Verdict::Exact } else { Verdict::WrongEnd };
                    (sigma, (0..2).map(verdict).collect())
                })
                .collect(),
            precision: Vec::new(),
        };
        let svg = draw(&[result(LandscapeKind::Plain, 2), result(LandscapeKind::Compact, 0)], "BB(4)");
        assert_eq!(svg.matches("<circle").count(), 2 * SIGMAS.len());
        for words in [">plain</text>", ">compact</text>", "per cent</text>", "2 seeds at each size of noise"]
        {
            assert!(svg.contains(words), "{words}");
        }
    }
}
