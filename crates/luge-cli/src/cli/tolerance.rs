//! `luge tolerance`: finds the noise and the precision at which a trace fails.

use luge_experiments::tolerance::{self, SIGMAS, Tolerance, Verdict, n_exact};

use crate::cli::command_prelude::*;

/// Show how much noise and how little precision each landscape tolerates
///
/// Every landscape is trained with increasing relative Gaussian noise on every update, with several seeds, and without
/// noise in every precision. A trace counts only if every iterate is the machine's configuration.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    input: InputArgs,
    /// The landscapes to try
    #[arg(long, value_name = "KIND", default_values = ["compact", "relu", "plain"], value_parser = word::<LandscapeKind>())]
    landscape: Vec<LandscapeKind>,
    /// Number of seeds per noise level
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Draw the share of exact traces over the noise level
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let plot = place(&mut args.force.outputs().reading(&args.machine.file), args.plot.as_deref())?;
    let job = args.machine.job(&args.input)?;
    let loaded = args.machine.load(&job)?;
    let input = job.initial_tapes(&loaded)?;
    let expected = Tolerance::n_traces(args.seeds).saturating_mul(args.landscape.len() as u64);
    let mut progress = Progress::new("tracing", expected).in_units("traces");
    let mut n_done = 0;
    let mut results = Vec::with_capacity(args.landscape.len());
    for &kind in &args.landscape {
        let result = Tolerance::of(&loaded.machine, &input, kind, args.seeds, || {
            n_done += 1;
            progress.reach(n_done);
        });
        results.push(
            result.map_err(|e| Failure::of_endless(e, "only a run that ends can be traced to its end"))?,
        );
    }
    drop(progress);
    if let Some(plot) = plot {
        plot.write(tolerance::draw(&results, &args.machine.title(&loaded)))?;
    }
    let summaries: Vec<_> = results.iter().map(|result| summary(result, args.seeds)).collect();
    show(args.json, &summaries, || report(&results, args.seeds))
}

/// One landscape's result as JSON.
fn summary(result: &Tolerance, seeds: u64) -> impl Serialize {
    let mismatch = |verdict: &Verdict| match verdict {
        Verdict::Mismatch(first) => Some(first.clone()),
        Verdict::Exact | Verdict::WrongEnd => None,
    };
    let step = |verdict: &Verdict| mismatch(verdict).map(|first| first.step);
    let noise = result.noise.iter().map(|(sigma, verdicts)| {
        object! {
            noise: *sigma,
            exact: n_exact(verdicts),
            // The steps of the first mismatches, one per seed that is not exact.
            mismatches_at: verdicts.iter().filter(|v| **v != Verdict::Exact).map(step).collect::<Vec<_>>(),
        }
    });
    let precision = result.precision.iter().map(|(precision, verdict)| {
        object! {
            precision: precision.word(),
            exact: *verdict == Verdict::Exact,
            mismatch_at: step(verdict),
            why: mismatch(verdict).map(|first| first.why),
        }
    });
    object! {
        landscape: result.landscape.word(),
        seeds: seeds,
        // The smallest noise at which a seed breaks the trace; `null` if none does.
        breaks_at: result.breaks_at(),
        noise: noise.collect::<Vec<_>>(),
        precision: precision.collect::<Vec<_>>(),
    }
}

fn report(results: &[Tolerance], seeds: u64) -> String {
    let mut rows = Vec::new();
    let mut row = |name: &str, cell: &dyn Fn(&Tolerance) -> String| {
        rows.push(std::iter::once(name.to_owned()).chain(results.iter().map(cell)).collect::<Vec<_>>());
    };
    row("noise", &|result| result.landscape.word().to_owned());
    for (index, sigma) in SIGMAS.iter().enumerate() {
        row(&sigma.to_string(), &|result| format!("{} of {seeds}", n_exact(&result.noise[index].1)));
    }
    row("breaks at", &|result| result.breaks_at().map_or("none of these".to_owned(), |at| at.to_string()));
    row("", &|_| String::new());
    row("precision", &|result| result.landscape.word().to_owned());
    for (index, (precision, _)) in results.first().map_or(&[][..], |r| &r.precision).iter().enumerate() {
        row(precision.word(), &|result| match &result.precision[index].1 {
            Verdict::Exact => "exact".to_owned(),
            Verdict::Mismatch(first) => format!("wrong at step {}", first.step),
            Verdict::WrongEnd => "ends elsewhere".to_owned(),
        });
    }
    columns(&rows, 0..0)
}
