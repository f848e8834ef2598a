//! `luge trace`: trains a machine's landscape and compares it with the simulator.

use luge::{
    files::summary,
    mlp::PreparedMlp,
    run::{Comparisons, EngineChoice, FirstMismatch, TrainingConfig, memory},
    stream::{StreamEngineChoice, StreamLandscape, StreamOptions},
    trace::{MAX_CELLS, PreparedTrace, Trace, TraceOptions},
};
use luge_landscape::Bounds;
use luge_machine::Simulator;
use luge_train::{Outcome, Precision, Rate};

use super::mlp::{self, TorchArgs};
use crate::cli::command_prelude::*;

/// Train a machine's landscape, and compare every step of training with the simulator
///
/// The exit status is 1 if an iterate is not the machine's configuration at its step, or training does not end where the
/// machine does.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    landscape: LandscapeArgs,
    /// The engine that makes gradient steps
    #[arg(long, value_name = "ENGINE", default_value = EngineChoice::default().word(), value_parser = word::<EngineChoice>())]
    engine: EngineChoice,
    /// Which iterates of a fast engine to compare with the simulator: every one, or only the last and a few others, so that
    /// the engine runs at full speed
    #[arg(long, value_name = "WHICH", default_value = Comparisons::default().word(), value_parser = word::<Comparisons>())]
    check: Comparisons,
    /// Step size on the simplex: 1, or by exact line search (landscape internal only)
    #[arg(long, value_name = "RATE", default_value = Rate::default().word(), value_parser = word::<Rate>())]
    rate: Rate,
    /// The floating-point format
    #[arg(long, value_name = "FORMAT", default_value = Precision::default().word(), value_parser = word::<Precision>())]
    precision: Precision,
    /// Multiply every entry of every update by 1 + SIGMA times a normal random number
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true)]
    noise: Option<f64>,
    /// Seed of the noise [default: 0]
    #[arg(long, value_name = "N", requires = "noise")]
    seed: Option<u64>,
    /// Maximum number of steps; digits may be grouped by `_` or `,` [default: until the machine halts]
    #[arg(long, value_name = "N", value_parser = step_count)]
    steps: Option<Step>,
    /// Steps to recompute by automatic differentiation, in addition to the distinct situations of the run [default: none; at
    /// least 5 where situations are not collected]
    #[arg(long, value_name = "N")]
    autodiff_checks: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the loss over the steps, with its bounds
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    torch: TorchArgs,
    #[command(flatten)]
    long_run: LongRunArgs,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let is_mlp = args.landscape.is_mlp();
    if is_mlp {
        args.refuse()?
    } else {
        args.torch.refuse(false)?
    }
    let mut job = args.machine.job(&args.input)?;
    let mut outputs = args.force.outputs().reading(&args.machine.file);
    let out = place(&mut outputs, args.torch.out.as_deref())?;
    let results = (args.json, out, place(&mut outputs, args.plot.as_deref())?);
    job.options = if is_mlp { TraceOptions { steps: args.steps, ..job.options } } else { args.options()? };
    let unsaved = if is_mlp { Some(mlp::UNSAVED) } else { args.noise.map(|_| NOISY) };
    let run = args.long_run.open(&mut outputs, results, Job::Trace(job.clone()), unsaved)?;
    let loaded = args.machine.load(&job)?;
    if is_mlp {
        let prepared = PreparedMlp::new(job.circuit(&loaded)?, None, args.mlp_options()?)?;
        return mlp::run(&prepared, (&args.torch, outputs), run);
    }
    let plan = job.plan(&loaded).map_err(|error| args.landscape.refusal(error))?;
    train(&plan, &args.machine.title(&loaded), run)
}

/// Why a run with noise is not saved, and the remedy.
const NOISY: (&str, &str) = (
    "a run with noise cannot be resumed or revisited: its random numbers are not saved",
    "leave --checkpoint and --record out, or --noise",
);

/// Trains, and writes and shows the result; the plot has this title.
pub(super) fn train(plan: &PreparedTrace, title: &str, mut run: LongRun) -> Result<(), Failure> {
    let (network, most, input) = (plan.landscape.network(), plan.most_steps, plan.input.clone());
    let machine = plan.lowered.normal.machine().clone();
    let progress = Progress::new("training", most).estimated_by(move || {
        let mut simulator = Simulator::new(&machine, &input);
        memory::run(&mut simulator, most).ok().map(|_| simulator.steps())
    });
    let trace =
        &run.follow((network, plan.dense()), progress, |start, rate, watch| plan.follow(start, rate, watch))?;
    show_rows(run.json, &summary::of_trace(plan, trace), |rows| describe(rows, plan, trace, &run))?;
    run.finish(Some(network), trace.outcome, |curve| {
        let kind = plan.options.landscape;
        let title = format!("{title} on {}", kind.word());
        let first_mismatch = trace.first_mismatch.as_ref().map(|mismatch| mismatch.step);
        curve.draw(&title, &headline(plan, trace), kind, &plan.landscape.bounds(), first_mismatch)
    })?;
    let differs = |reason| Failure::of(format!("training did not trace the machine: {reason}"));
    reason(trace).map_or(Ok(()), |reason| Err(differs(reason)))
}

impl Args {
    /// Refuses options that have no effect on landscape mlp.
    fn refuse(&self) -> Result<(), Failure> {
        mlp::refuse(&[
            ("--engine exact", self.engine == EngineChoice::Exact),
            ("--check", self.check != Comparisons::default()),
            ("--rate", self.rate != Rate::default()),
            ("--noise", self.noise.is_some()),
            ("--autodiff-checks", self.autodiff_checks.is_some()),
            ("--plot", self.plot.is_some()),
        ])?;
        mlp::refuse(&self.landscape.of_others())
    }

    /// The options of landscape mlp.
    fn mlp_options(&self) -> Result<StreamOptions, Failure> {
        let usual = StreamOptions::on(StreamLandscape::Mlp);
        Ok(StreamOptions {
            engine: match self.engine {
                EngineChoice::Dense => Some(StreamEngineChoice::Dense),
                EngineChoice::Sparse => Some(StreamEngineChoice::Sparse),
                _ => None,
            },
            precision: mlp::float_of(self.precision)?,
            steps: self.steps.unwrap_or(usual.steps),
            ..usual
        })
    }

    fn options(&self) -> Result<TraceOptions, Failure> {
        Ok(TraceOptions {
            manner: TrainingConfig {
                engine: self.engine,
                precision: self.precision,
                rate: self.rate,
                noise: self.noise.map(|sigma| (sigma, self.seed.unwrap_or(0))),
            },
            compare: self.check,
            autodiff_checks: self.autodiff_checks,
            steps: self.steps,
            ..self.landscape.options()?
        })
    }
}

fn describe(rows: &mut Rows, plan: &PreparedTrace, trace: &Trace, run: &LongRun) {
    let options = &plan.options;
    let steps = trace.outcome.steps();
    rows.row("outcome", trace.outcome.word());
    match (trace.outcome, options.cells) {
        (Outcome::OutOfCells { .. }, Some(cells)) => {
            rows.row("", format!("the run needs more than the {cells} cells per tape that --cells allows"));
        }
        (Outcome::OutOfCells { .. }, None) => {
            rows.row("", format!("a tape needs more than {MAX_CELLS} cells"));
        }
        _ => {}
    }
    rows.row("gradient steps", count(steps));
    let endless = || "does not halt within the steps traced".to_owned();
    rows.row("machine steps", trace.machine_steps.map_or_else(endless, count));
    let some = ", among the iterates compared: the last, and one every 16,777,216 steps";
    let compared = if trace.n_compared <= steps { some } else { "" };
    rows.row("mismatches", format!("{}{compared}", count(trace.mismatches)));
    if let Some(FirstMismatch { step, why }) = &trace.first_mismatch {
        rows.row("", format!("first at step {}: {why}", count(*step)));
    }
    rows.row("gradient", trace.gradient.figures());
    let Bounds { running_low, running_high, halted_high, stop, .. } = plan.landscape.bounds();
    let [first, min, max, last] =
        [trace.loss.first, trace.loss.min, trace.loss.max, trace.loss.last].map(numeral);
    rows.row("loss", format!("first {first}, lowest {min}, highest {max}, last {last}"));
    let [low, high, halted, stop] = [running_low, running_high, halted_high, stop].map(numeral);
    let bounds = format!("running {low} to {high}, halted at most {halted}");
    rows.row("bounds", format!("{bounds}; training stops at {stop}"));
    let yes = |held: bool| if held { "yes" } else { "no" };
    rows.row("bounds held", yes(trace.bounds_held));
    if options.landscape == LandscapeKind::Internal {
        rows.row("strictly falling", yes(trace.strictly_falling));
    }
    let (vertices, cells) = (count(plan.landscape.n_vertices()), count(trace.n_cells));
    let which = if trace.chosen.engine == EngineChoice::Dense { "per tape" } else { "touched" };
    let kind = options.landscape.word();
    rows.row("landscape", format!("{kind}, {vertices} vertices, {cells} cells {which}"));
    rows.row("network", format!("{} units in {} layers", count(trace.n_units), trace.n_layers));
    rows.row("engine", format!("{}, {}", trace.chosen.engine.word(), manner(plan)));
    if options.manner.engine == EngineChoice::Auto {
        rows.row("", &trace.chosen.why);
    }
    rows.row("speed", run.steps_per_second(trace.outcome));
}

/// Precision, rate and noise as text.
fn manner(plan: &PreparedTrace) -> String {
    let TrainingConfig { precision, rate, noise, .. } = &plan.options.manner;
    let noise = noise.map(|(sigma, seed)| format!(", noise {sigma} (seed {seed})"));
    format!("{}, rate {}{}", precision.word(), rate.word(), noise.unwrap_or_default())
}

fn headline(plan: &PreparedTrace, trace: &Trace) -> String {
    let (steps, manner) = (count(trace.outcome.steps()), manner(plan));
    let verdict = match reason(trace) {
        None => "every iterate is the machine's configuration".to_owned(),
        Some(_) => format!("{} iterates are not the machine's configuration", trace.mismatches),
    };
    format!("{steps} gradient steps, {manner}: {verdict}")
}

/// Why a trace is not exact; `None` if it is.
fn reason(trace: &Trace) -> Option<String> {
    if trace.matches_machine() {
        return None;
    }
    if let Some(FirstMismatch { step, why }) = &trace.first_mismatch {
        let (mismatches, iterates) = (count(trace.mismatches), count(trace.outcome.steps() + 1));
        return Some(format!("{mismatches} of {iterates} iterates differ, the first at step {step}: {why}"));
    }
    if let Some(why) = &trace.gradient.differs {
        return Some(why.clone());
    }
    if trace.ended_alike() && !trace.bounds_held {
        return Some("a loss lies outside the bounds".to_owned());
    }
    let ended = format!("it ended after {} steps ({})", count(trace.outcome.steps()), trace.outcome.word());
    Some(match trace.machine_steps {
        Some(machine_steps) => format!("{ended}, the machine after {}", count(machine_steps)),
        None => format!("{ended}, and the machine does not"),
    })
}
