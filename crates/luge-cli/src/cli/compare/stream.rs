//! `luge compare parity` and `luge compare stream`: compares a learner with ordinary networks.

use luge::{
    data::PrepareOptions,
    job::catalogue::STREAM_LEARNERS,
    stream::{Concept, Draw, Order, Samples, StreamJob},
};
use luge_experiments::compare::stream::{
    BATCH, DEPTHS, N_CONTROL_NEW, N_NEW, OrdinaryRun, RATES, SameArchitecture, StreamComparison, WIDTH,
    n_ordinary,
};

use super::{
    super::stream::{default_draw, fit},
    Args,
};
use crate::cli::command_prelude::*;

/// A learner compared with ordinary networks, and for parities also with networks of its own architecture.
type Compared = (StreamComparison, Option<SameArchitecture>);

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let Args { learner, draw: draws, data, target, format, primary, .. } = args;
    let parity = args.parity()?;
    let columns: Vec<String> = target.iter().cloned().collect();
    let read =
        |place: &PathBuf| named_table(place, (columns.clone(), None), false, PrepareOptions::default());
    let table = data.as_ref().map(read).transpose()?;
    let draws: Vec<Option<Draw>> = match (&table, parity) {
        (Some(_), _) => vec![None],
        (None, Some(_)) => vec![parity],
        (None, None) => draws.iter().copied().map(Some).collect(),
    };
    let mut outputs = learner.iter().fold(args.force.outputs(), Outputs::reading);
    outputs = data.iter().fold(outputs, Outputs::reading);
    let plot = place(&mut outputs, args.plot.as_deref())?;
    let source = match learner {
        _ if parity.is_some() => Source::open("parity")?,
        Some(learner) if !draws.is_empty() => open_learner(learner, STREAM_LEARNERS.iter())?,
        _ => {
            return Err(Failure::usage(
                "a learner or what it learns from is missing",
                "give --learner and --draw, for example --draw halfspace:features=4, or --data and --target",
            ));
        }
    };
    let (n_seeds, most) = (args.seeds.unwrap_or(1), args.samples.unwrap_or(1_000_000));
    let n_networks = draws.len() as u64 * n_seeds * n_ordinary();
    let mut progress = Progress::new("training", n_networks).in_units("networks");
    let mut all: Vec<Compared> = Vec::new();
    for draw in draws {
        let mut job = StreamJob::new(source.clone(), Samples::Draw(draw.unwrap_or_else(default_draw)));
        job.primary = primary.clone().unwrap_or(job.primary);
        fit(&mut job, *format, table.clone().map(|data| (data, Order::Draw)))?;
        for seed in 0..n_seeds {
            job.options.seed = seed;
            let before = all.len() as u64 * n_ordinary();
            let compared = StreamComparison::run(&job, most, |done| progress.reach(before + done))?;
            let same = parity.map(|_| SameArchitecture::run(&job, most)).transpose()?;
            all.push((compared, same.flatten()));
        }
    }
    drop(progress);
    let title = if parity.is_some() { "Luge, Gaussian elimination" } else { "Luge, the learner" };
    if let (Some(plot), Some((first, _))) = (plot, all.first()) {
        plot.write(first.chart(title))?;
    }
    let Some(Draw { concept: Concept::Parity { n_hidden }, n_features: bits, .. }) = parity else {
        let compared: Vec<&StreamComparison> = all.iter().map(|(compared, _)| compared).collect();
        return show_rows(args.json, &compared, |rows| describe(rows, Some(&source.name), &all));
    };
    let summary = |(StreamComparison { seed, learner, ordinary, .. }, same): &Compared| {
        object! {
            options: object! { bits: bits, hidden: n_hidden, most_samples: most, seed: *seed },
            learner: learner.clone(),
            ordinary: ordinary.clone(),
            same_architecture: same.clone(),
        }
    };
    let summaries: Vec<_> = all.iter().map(summary).collect();
    show_rows(args.json, &summaries, |rows| describe(rows, None, &all))
}

impl Args {
    /// What `luge compare parity` draws.
    fn parity(&self) -> Result<Option<Draw>, Failure> {
        if self.problem != "parity" {
            return Ok(None);
        }
        let bits = usize::from(self.bits.unwrap_or(16));
        let hidden = self.hidden.map_or(bits.div_ceil(2), usize::from);
        if hidden > bits {
            return Err(Failure::usage(
                format!("--hidden {hidden} of --bits {bits} cannot be"),
                "hide at most as many bits as there are",
            ));
        }
        Ok(Some(Draw { concept: Concept::Parity { n_hidden: hidden }, n_features: bits, noise: 0.0 }))
    }
}

/// Without a name, the learner is that of `luge compare parity`.
fn describe(rows: &mut Rows, name: Option<&str>, all: &[Compared]) {
    for (compared, same) in all {
        let seed = compared.seed;
        match (compared.draw, name) {
            (Some(Draw { concept: Concept::Parity { n_hidden }, n_features, .. }), None) => {
                rows.row("parity", format!("{n_hidden} of {n_features} bits, seed {seed}"));
            }
            (Some(draw), _) => rows.row("stream", format!("{draw}, seed {seed}")),
            (None, _) => rows.row("stream", format!("rows of the table, seed {seed}")),
        }
        describe_runs(rows, name.unwrap_or("Gaussian elimination by SGD"), compared);
        same.iter().for_each(|same| describe_same(rows, same));
    }
}

/// A learner and the best ordinary networks.
fn describe_runs(rows: &mut Rows, name: &str, StreamComparison { learner, ordinary, .. }: &StreamComparison) {
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
    let (passed, taken) = (count(learner.passed), count(learner.taken));
    rows.row("", format!("{passed} samples passed, {taken} taken"));
    rows.row(
        "ordinary networks",
        format!(
            "{} of them: width {WIDTH}, {} depths, {n_rates} rates; {} samples each, in batches of {BATCH}",
            ordinary.len(),
            DEPTHS.len(),
            count(seen)
        ),
    );
    rows.row("  best by SGD", best("SGD"));
    rows.row("  best by Adam", best("Adam"));
}

/// One architecture, with the learner in its initial weights and with random ones.
fn describe_same(rows: &mut Rows, same: &SameArchitecture) {
    let SameArchitecture { n_layers, n_weights, steps, right: (n_right, n_new), .. } = *same;
    let certified = if same.certified { "certified" } else { "NOT certified" };
    rows.row("MLP with the learner in it", format!("{n_right} of {n_new} new inputs right, {certified}"));
    rows.row(
        "",
        format!("{n_layers} layers, {} weights, {steps} steps of SGD, batch size 1", count(n_weights)),
    );
    let best = same.controls.iter().max_by_key(|(_, right)| *right);
    let best = best.map_or_else(String::new, |(rate, right)| {
        format!("{right} of {N_CONTROL_NEW} new inputs right: best of {} rates, {rate}", same.controls.len())
    });
    rows.row("  PyTorch's initialisation", best);
    rows.row("", format!("the same layers and stream, {} steps", count(same.control_steps)));
}
