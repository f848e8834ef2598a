//! `luge run`: runs a machine or a program without a network.

mod program;

use luge::{
    draw::{Picture, Size},
    files::summary,
    job::TraceJob,
    stream::Draw,
};
use luge_machine::{Input, Machine, Outcome, Simulator, formats::bbchallenge, parse_inputs};

use super::circuit;
use crate::cli::command_prelude::*;

/// Run a machine, or a program on its data, without a network
///
/// A run ends when the machine halts, where no rule applies, or at the step limit. All three are results, not
/// failures: the exit status is 0. A circuit that takes samples runs on those of --draw.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    input: InputArgs,
    /// Maximum number of steps; digits may be grouped by `_` or `,`
    #[arg(long, value_name = "N", default_value = "1_000_000_000", value_parser = step_count)]
    steps: Step,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the run as a space-time diagram of 1024 x 1024 pixels, time downwards
    #[arg(long, value_name = "OUT.png")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// What a circuit's samples are drawn from, such as parity:bits=8,hidden=3
    #[arg(long, value_name = "WHAT")]
    draw: Option<Draw>,
    /// Run every machine of a bbchallenge list, one result a line
    #[arg(long, conflicts_with_all = ["line", "picture", "profile"])]
    each: bool,
    /// Show how many steps each line of a program took
    #[arg(long, conflicts_with = "picture")]
    profile: bool,
    /// Report where numbers of a program overflowed their types, and for which sample first
    #[arg(long, conflicts_with = "picture")]
    check: bool,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(source) = args.machine.program()? {
        if args.picture.is_some() || !args.input.input.is_empty() {
            return Err(Failure::usage(
                "--picture and --input are for machines",
                "give its data with --data, or make a machine of it with luge compile",
            ));
        }
        return program::run(&source, args);
    }
    let n_bits = args.draw.map(|draw| draw.n_features);
    let job = args.machine.job(&args.input)?;
    if let Some(circuit) = circuit::read(&job.source, n_bits)? {
        let for_others =
            args.picture.is_some() || !args.input.input.is_empty() || args.data.csv.is_for_a_program();
        if for_others || args.profile || args.check || args.each {
            return Err(Failure::usage(
                "--picture, --input, --data, --profile, --check and --each are not for circuits",
                "a circuit takes --draw, --steps and --json",
            ));
        }
        return circuit::run(&circuit, args.draw, args.steps, args.json);
    }
    if args.draw.is_some() {
        return Err(Failure::usage(
            "--draw is for circuits",
            "luge stream trains other learners on drawn samples",
        ));
    }
    if args.profile || args.check || args.data.csv.is_for_a_program() {
        return Err(Failure::usage(
            "--data, --set, --profile and --check are for programs",
            "give a .sled file, or the machine's --input",
        ));
    }
    let picture = place(&mut args.force.outputs().reading(&args.machine.file), args.picture.as_deref())?;
    if args.each {
        return each(&job, args);
    }
    let loaded = args.machine.load(&job)?;
    let (machine, input) = (&loaded.machine, job.initial_tapes(&loaded)?);
    let mut simulator = Simulator::new(machine, &input);
    let outcome = Progress::new("running", args.steps).run(&mut simulator, args.steps)?;
    if let Some(picture) = picture {
        let drawn = draw(&input, &simulator);
        picture.write_with(|out| Ok(drawn.write_png(out)?))?;
    }
    let summary = summary::of_run(args.steps, outcome, &simulator);
    show_rows(args.json, &summary, |rows| describe(rows, machine, outcome, &simulator))
}

/// Runs every machine of a bbchallenge list.
fn each(job: &TraceJob, args: &Args) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for entry in bbchallenge::entries(&job.source.text) {
        let loaded = bbchallenge::read_entry(&job.source.text, &entry).map_err(|findings| {
            let headline = format!("{} does not read as a list of bbchallenge machines", job.source.name);
            Failure::of_findings(headline, &findings, &job.source)
        })?;
        let input =
            if job.input.is_empty() { Input::blank() } else { parse_inputs(&loaded.machine, &job.input)? };
        let mut simulator = Simulator::new(&loaded.machine, &input);
        let outcome = Progress::new("running", args.steps).run(&mut simulator, args.steps)?;
        runs.push(object! {
            line: entry.line,
            machine: entry.machine,
            note: entry.note,
            outcome: outcome.word(),
            steps: simulator.steps(),
            nonzero: simulator.n_nonblank(),
        });
    }
    show_rows(args.json, &runs, |rows| {
        for run in &runs {
            let (steps, nonzero) = (count(run.steps), count(run.nonzero));
            let note = if run.note.is_empty() { String::new() } else { format!("  ({})", run.note) };
            let end = format!("{}, {steps} steps, {nonzero} non-blank{note}", run.outcome);
            rows.row(&format!("{:>4}  {}", run.line, run.machine), end);
        }
    })
}

fn draw(input: &Input, finished: &Simulator<'_>) -> Picture {
    let mut progress = Progress::new("drawing", finished.steps());
    Picture::of_run(Size::default(), input, finished, |simulator, step| {
        // The same run has already fitted into memory.
        let _ = progress.run(simulator, step);
    })
}

fn describe(rows: &mut Rows, machine: &Machine, outcome: Outcome, simulator: &Simulator<'_>) {
    let name = &machine.state(simulator.state()).name;
    let outcome = match outcome {
        Outcome::Halted { accepting: true, .. } => format!("halted in state {name}, accepting"),
        Outcome::Halted { accepting: false, .. } => format!("halted in state {name}, not accepting"),
        Outcome::StepLimit => format!("stopped at the step limit in state {name}"),
        Outcome::NoRule { .. } => {
            let reads = machine.tapes().iter().zip(simulator.reads());
            let reads: Vec<&str> = reads.map(|(tape, read)| tape.alphabet.name(read)).collect();
            format!("stopped in state {name}: no rule for {}", reads.join(", "))
        }
    };
    rows.row("outcome", outcome);
    rows.row("steps", count(simulator.steps()));
    rows.row("non-blank", count(simulator.n_nonblank()));
    for tape in machine.tape_ids() {
        let head = simulator.head(tape);
        let shown = window(&machine.tape(tape).alphabet, simulator.tape(tape), head);
        let title = if machine.n_tapes() == 1 {
            "tape".to_owned()
        } else {
            format!("tape {}", machine.tape(tape).name)
        };
        rows.row(&title, shown);
        rows.row("", format!("head on cell {head}"));
    }
}
