//! `luge compare parity`.

use indicatif::HumanCount;
use luge_experiments::compare::parity::{
    BATCH, DEPTHS, LearnerRun, N_CONTROL_NEW, N_NEW, OrdinaryRun, ParityComparison, ParityOptions, RATES,
    SameArchitecture, WIDTH,
};

use super::super::{
    failure::Failure,
    output::{Rows, count, place, show_rows},
    progress::Progress,
};
use super::{Args, refuse};

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    refuse(args.rate.is_some(), "--rate", "xor")?;
    refuse(args.steps.is_some(), "--steps", "xor")?;
    let bits = usize::from(args.bits.unwrap_or(16));
    let hidden = args.hidden.map_or(bits.div_ceil(2), usize::from);
    if hidden > bits {
        return Err(Failure::usage(
            format!("--hidden {hidden} of --bits {bits} cannot be"),
            "hide at most as many bits as there are",
        ));
    }
    let plot = place(&mut args.force.outputs(), args.plot.as_deref())?;
    let n_seeds = args.seeds.unwrap_or(1);
    let per_seed = ParityComparison::n_ordinary();
    let mut progress = Progress::new("training", n_seeds * per_seed).in_units("networks");
    let mut all = Vec::new();
    for seed in 0..n_seeds {
        let most_samples = args.samples.unwrap_or(1_000_000);
        let options = ParityOptions { bits, hidden, most_samples, seed };
        let compared = ParityComparison::run(options, |done| progress.reach(seed * per_seed + done));
        all.push(compared?);
    }
    drop(progress);
    if let (Some(plot), Some(first)) = (plot, all.first()) {
        plot.write(first.draw())?;
    }
    show_rows(args.json, &all, |rows| {
        all.iter().for_each(|compared| add_rows(rows, compared));
    })
}

/// A learner and the best ordinary networks.
pub(super) fn add_runs(rows: &mut Rows, name: &str, learner: &LearnerRun, ordinary: &[OrdinaryRun]) {
    let right = |n: usize| format!("{} of {} new inputs right", count(n), count(N_NEW));
    let certified = if learner.certified { "certified" } else { "NOT certified" };
    let n_rates: usize = RATES.iter().map(|(_, rates)| rates.len()).sum();
    let seen = ordinary.first().and_then(|run| run.curve.last()).map_or(0, |&(seen, _)| seen);
    let best = |optimiser: &str| {
        let runs = ordinary.iter().filter(|run| run.optimiser == optimiser);
        runs.max_by_key(|run| run.right()).map_or_else(String::new, |run: &OrdinaryRun| {
            let layers = if run.depth == 1 { "one hidden layer" } else { "two hidden layers" };
            format!("{}: {layers}, rate {}", right(run.right()), run.rate)
        })
    };
    rows.row(name, format!("{}, {certified}", right(learner.right)));
    let (passed, taken) = (HumanCount(learner.passed), HumanCount(learner.taken));
    rows.row("", format!("{passed} samples passed, {taken} taken"));
    rows.row(
        "ordinary networks",
        format!(
            "{} of them: width {WIDTH}, {} depths, {n_rates} rates; {} samples each, in batches of {BATCH}",
            ordinary.len(),
            DEPTHS.len(),
            HumanCount(seen)
        ),
    );
    rows.row("  best by SGD", best("SGD"));
    rows.row("  best by Adam", best("Adam"));
}

fn add_rows(rows: &mut Rows, compared: &ParityComparison) {
    let options = &compared.options;
    rows.row("parity", format!("{} of {} bits, seed {}", options.hidden, options.bits, options.seed));
    add_runs(rows, "Gaussian elimination by SGD", &compared.learner, &compared.ordinary);
    let Some(same) = &compared.same_architecture else { return };
    let SameArchitecture { n_layers, n_weights, steps, right: (n_right, n_new), .. } = *same;
    let certified = if same.certified { "certified" } else { "NOT certified" };
    rows.row("MLP with the learner in it", format!("{n_right} of {n_new} new inputs right, {certified}"));
    rows.row(
        "",
        format!("{n_layers} layers, {} weights, {steps} steps of SGD, batch size 1", HumanCount(n_weights)),
    );
    let best = same.controls.iter().max_by_key(|(_, right)| *right);
    let best = best.map_or_else(String::new, |(rate, right)| {
        format!("{right} of {N_CONTROL_NEW} new inputs right: best of {} rates, {rate}", same.controls.len())
    });
    rows.row("  PyTorch's initialisation", best);
    rows.row("", format!("the same layers and stream, {} steps", HumanCount(same.control_steps)));
}
