//! Runs a program: its outcome, its weights, and the steps of each line.

use std::collections::BTreeMap;

use luge::{certificate::translation, job::program};
use luge_landscape::Learner;
use luge_machine::{Outcome, Simulator, TapeId};
use luge_net::{NumberFormat, numbers::from_signs};
use luge_sled::Compiled;

use super::Args;
use crate::cli::command_prelude::*;

/// The steps of one line; steps that belong to no line have no number.
#[derive(Serialize)]
struct Line<'a> {
    line: Option<u32>,
    steps: Step,
    states: usize,
    text: &'a str,
}

pub(super) fn run(source: &Source, args: &Args) -> Result<(), Failure> {
    let job = args.data.job(source.clone())?;
    let (table, format) = (job.table()?, job.options.format);
    show_notes(&job.data, &table.notes);
    let compiled = &job.for_table(&table).compile()?;
    if compiled.takes {
        return Err(Failure::error(
            format!("{} takes its samples from a stream", source.name),
            "run it with `luge stream`, which trains the network that runs it",
        ));
    }
    let reference = job.interpret(&table, args.steps)?;
    let learner = Learner::new(&compiled.machine, Some(&compiled.input))?;
    let input = learner.source_input(&program::layout(&table, format), &program::bits(&table, format));
    let mut simulator = Simulator::new(&compiled.machine, &input);
    let (outcome, spent) = if args.profile {
        profiled(&mut simulator, compiled, args.steps)
    } else {
        (Progress::new("running", args.steps).run(&mut simulator, args.steps)?, BTreeMap::new())
    };
    // At the step limit, theta is the value so far.
    let has_theta = outcome.accepting() || outcome == Outcome::StepLimit;
    let theta = has_theta.then(|| theta(&simulator, compiled.n_theta, format));
    let compared = reference
        .as_ref()
        .filter(|reference| outcome != Outcome::StepLimit && reference.verdict != luge_sled::Verdict::Limit);
    let rejected_in = reference.as_ref().filter(|_| !has_theta).and_then(|reference| reference.line);
    let lines = args.profile.then(|| lines(compiled, &spent, &source.text));
    let program = compared.map(|reference| {
        let left = theta.as_deref().filter(|_| outcome.accepting());
        translation::claim(Some(reference), left, format)
    });
    let overflow = reference.as_ref().filter(|_| args.check);
    let overflow = overflow
        .map(|reference| program::overflow(source, Some(&table), &reference.wraps))
        .unwrap_or_default();
    let wrap = |wrap: &luge_sled::OverflowSite| {
        // Samples are counted from 1.
        object! { line: wrap.line, count: wrap.count, first_sample: wrap.first_sample.map(|sample| sample + 1) }
    };
    let wraps = || reference.iter().flat_map(|reference| &reference.wraps).map(wrap).collect::<Vec<_>>();
    let printed = reference.as_ref().map(|reference| reference.printed.clone()).unwrap_or_default();
    let (steps, state) = (simulator.steps(), &compiled.machine.state(simulator.state()).name);
    let summary = object! {
        machine: compiled.machine.name(),
        outcome: outcome.word(),
        steps: steps,
        limit: args.steps,
        state: state,
        accepting: outcome.accepting(),
        // None if the program rejected its data; so far, if it stopped at the step limit.
        theta: theta,
        program "unless the step limit was reached: whether the machine did what the program means": program,
        rejected_in "if a statement rejected the data: its line": rejected_in,
        printed "if the program prints": Some(printed).filter(|printed| !printed.is_empty()),
        wraps "with --check: the lines where numbers were too large for their types": args.check.then(wraps),
        profile "with --profile: the lines that took steps": lines,
    };
    show(args.json, &summary, || {
        let mut rows = Rows::default();
        rows.row("outcome", ended(outcome, state, rejected_in, compiled.lines[simulator.state().index()]));
        rows.row("steps", count(steps));
        summary.theta.iter().for_each(|theta| rows.row("theta", numbers(theta)));
        summary.program.iter().for_each(|claim| rows.row("program", verdict(claim)));
        summary.printed.iter().flatten().for_each(|line| rows.row("print", line));
        let profile = summary.profile.as_ref().map(|lines| profile(lines, steps));
        rows.text() + &profile.unwrap_or_default()
    })?;
    if !args.json {
        show_warnings(&overflow, source);
    }
    Failure::of_claims(summary.program.iter().map(|claim| ("program", claim)))
}

/// How a run ended; `rejected_in` is the line that rejected the data, `line` the one where the machine is.
fn ended(outcome: Outcome, state: &str, rejected_in: Option<u32>, line: Option<u32>) -> String {
    match (outcome, rejected_in, line) {
        (Outcome::Halted { accepting: true, .. }, ..) => "finished".to_owned(),
        (Outcome::Halted { .. }, Some(line), _) => format!("rejected the data, in line {line}"),
        (Outcome::Halted { .. }, None, _) => "rejected the data".to_owned(),
        (Outcome::NoRule { .. }, ..) => format!("stopped in state {state}: no rule"),
        (Outcome::StepLimit, _, Some(line)) => format!("stopped at the step limit, in line {line}"),
        (Outcome::StepLimit, ..) => "stopped at the step limit, in a product or quotient".to_owned(),
    }
}

/// Runs the machine and counts the steps of each line; those of a product or quotient count for the line that uses it.
fn profiled(
    simulator: &mut Simulator<'_>,
    compiled: &Compiled,
    limit: Step,
) -> (Outcome, BTreeMap<Option<u32>, Step>) {
    let mut spent = BTreeMap::new();
    let mut line = None;
    let mut progress = Progress::new("running", limit);
    loop {
        if simulator.steps() >= limit {
            return (simulator.stopped().unwrap_or(Outcome::StepLimit), spent);
        }
        line = compiled.lines[simulator.state().index()].or(line);
        if let Err(outcome) = simulator.step() {
            return (outcome, spent);
        }
        *spent.entry(line).or_insert(0) += 1;
        progress.reach(simulator.steps());
    }
}

/// theta, read from the machine's tape.
fn theta(simulator: &Simulator<'_>, n_theta: usize, format: NumberFormat) -> Vec<f64> {
    let tape = simulator.tape(simulator.machine().find_tape("theta").unwrap_or(TapeId(0)));
    let n_cells = i64::try_from(n_theta * format.n_bits() as usize).unwrap_or(i64::MAX);
    let sign = |cell| if tape.read(cell).0 == 1 { 1.0 } else { -1.0 };
    from_signs(format, &(0..n_cells).map(sign).collect::<Vec<f64>>())
}

/// Steps and states by line.
fn lines<'a>(compiled: &Compiled, spent: &BTreeMap<Option<u32>, Step>, text: &'a str) -> Vec<Line<'a>> {
    let mut sums: BTreeMap<Option<u32>, (Step, usize)> = BTreeMap::new();
    compiled.lines.iter().for_each(|line| sums.entry(*line).or_default().1 += 1);
    spent.iter().for_each(|(line, steps)| sums.entry(*line).or_default().0 += steps);
    let texts: Vec<&str> = text.lines().collect();
    let entry = |(line, (steps, states)): (Option<u32>, (Step, usize))| {
        let text = line.and_then(|line| texts.get(line as usize - 1)).copied();
        Line { line, steps, states, text: text.unwrap_or("(products, quotients, start)") }
    };
    sums.into_iter().map(entry).collect()
}

/// The table of steps by line.
fn profile(lines: &[Line<'_>], steps: Step) -> String {
    let mut text = format!("\n{:>14}  {:>6}  {:>6}  {:>4}\n", "steps", "share", "states", "line");
    for line in lines {
        // Per mille, rounded down: the shares never exceed the whole.
        let share = line.steps.saturating_mul(1000) / steps.max(1);
        let share = format!("{}.{} %", share / 10, share % 10);
        let number = line.line.map(|line| line.to_string()).unwrap_or_default();
        let (steps, states) = (count(line.steps), line.states);
        let row = format!("{steps:>14}  {share:>6}  {states:>6}  {number:>4}  {}", line.text);
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
