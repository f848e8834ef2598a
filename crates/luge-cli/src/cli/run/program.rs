//! Runs a program: its outcome, its weights, and the steps of each line.

use std::collections::BTreeMap;

use indicatif::HumanCount;
use luge::{
    certificate::translation,
    job::{self, program, source::Source},
    training::Claim,
};
use luge_landscape::Learner;
use luge_machine::{Outcome, Simulator, Step, TapeId};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde::Serialize;

use super::{
    super::{
        data_args::show_notes,
        failure::{Failure, show_warnings},
        output::{Rows, print, print_json, verdict},
        progress::Progress,
    },
    Args,
};

/// The result as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    machine: Option<&'a str>,
    outcome: &'static str,
    steps: Step,
    limit: Step,
    state: &'a str,
    accepting: bool,
    /// Left out if the program rejected its data; so far, if it stopped at the step limit.
    theta: Option<Vec<f64>>,
    /// Whether the machine did what the program means; left out at the step limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<Claim>,
    /// The line of the statement that rejected the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_in: Option<u32>,
    /// What the program prints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    printed: Vec<String>,
    /// Only with --check: the lines where numbers were too large for their types.
    #[serde(skip_serializing_if = "Option::is_none")]
    wraps: Option<Vec<WrapLine>>,
    /// Only with --profile: the lines that took steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Vec<Line<'a>>>,
}

/// Numbers of one line that were too large.
#[derive(Serialize)]
struct WrapLine {
    line: u32,
    count: u64,
    /// Counted from 1.
    first_sample: Option<usize>,
}

fn wraps(reference: Option<&luge_sled::Outcome>) -> Vec<WrapLine> {
    let line = |wrap: &luge_sled::OverflowSite| WrapLine {
        line: wrap.line,
        count: wrap.count,
        first_sample: wrap.first_sample.map(|sample| sample + 1),
    };
    reference.iter().flat_map(|reference| &reference.wraps).map(line).collect()
}

/// Steps spent on one line; those outside of all lines have no number.
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
    let compiled = &job::compile(&job.source, &table, format, &job.set)?;
    if compiled.takes {
        return Err(Failure::unfit(
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
    // At the step limit theta is what it is so far.
    let told = outcome.accepting() || outcome == Outcome::StepLimit;
    let theta = told.then(|| theta(&simulator, compiled.n_theta, format));
    let compared = reference
        .as_ref()
        .filter(|reference| outcome != Outcome::StepLimit && reference.verdict != luge_sled::Verdict::Limit);
    let program = compared.map(|reference| {
        let left = theta.as_deref().filter(|_| outcome.accepting());
        translation::claim(Some(reference), left, format)
    });
    let overflow = reference.as_ref().filter(|_| args.check);
    let overflow = overflow
        .map(|reference| program::overflow(source, Some(&table), &reference.wraps))
        .unwrap_or_default();
    let lines = args.profile.then(|| lines(compiled, &spent, &source.text));
    let summary = Summary {
        machine: compiled.machine.name(),
        outcome: outcome.word(),
        steps: simulator.steps(),
        limit: args.steps,
        state: &compiled.machine.state(simulator.state()).name,
        accepting: outcome.accepting(),
        theta,
        program,
        rejected_in: reference.as_ref().filter(|_| !told).and_then(|reference| reference.line),
        printed: reference.as_ref().map(|reference| reference.printed.clone()).unwrap_or_default(),
        wraps: args.check.then(|| wraps(reference.as_ref())),
        profile: lines,
    };
    if args.json {
        print_json(&summary)?;
    } else {
        print(&report(outcome, &summary, compiled, &simulator))?;
        show_warnings(&overflow, source);
    }
    Failure::of_claims(summary.program.iter().map(|claim| ("program", claim)))
}

/// Runs and counts the steps made on each line; those in a product or quotient count for the line that called it.
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

/// The weights the machine left behind.
fn theta(simulator: &Simulator<'_>, n_theta: usize, format: NumberFormat) -> Vec<f64> {
    let tape = simulator.machine().find_tape("theta").unwrap_or(TapeId(0));
    let n_bits = format.n_bits() as usize;
    let number = |i: usize| {
        let cells = (0..n_bits).map(|bit| i64::try_from(i * n_bits + bit).unwrap_or(i64::MAX));
        let bits: Vec<bool> = cells.map(|cell| simulator.tape(tape).read(cell).0 == 1).collect();
        format.word(&bits).map_or(0.0, |word| format.decode(word))
    };
    (0..n_theta).map(number).collect()
}

/// How many states stand for each line.
pub(in super::super) fn states_by_line(compiled: &Compiled) -> BTreeMap<Option<u32>, usize> {
    let mut states = BTreeMap::new();
    for line in &compiled.lines {
        *states.entry(*line).or_insert(0) += 1;
    }
    states
}

/// Steps and states by line.
fn lines<'a>(compiled: &Compiled, spent: &BTreeMap<Option<u32>, Step>, text: &'a str) -> Vec<Line<'a>> {
    let states = states_by_line(compiled).into_iter();
    let mut sums: BTreeMap<Option<u32>, (Step, usize)> = states.map(|(line, n)| (line, (0, n))).collect();
    for (line, steps) in spent {
        sums.entry(*line).or_default().0 += steps;
    }
    let texts: Vec<&str> = text.lines().collect();
    let entry = |(line, (steps, states)): (Option<u32>, (Step, usize))| {
        let text = line.and_then(|line| texts.get(line as usize - 1)).copied();
        Line { line, steps, states, text: text.unwrap_or("(products, quotients, start)") }
    };
    sums.into_iter().map(entry).collect()
}

fn report(outcome: Outcome, summary: &Summary<'_>, compiled: &Compiled, simulator: &Simulator<'_>) -> String {
    let line = compiled.lines[simulator.state().index()];
    let ended = match outcome {
        Outcome::Halted { accepting: true, .. } => "finished".to_owned(),
        Outcome::Halted { accepting: false, .. } => match summary.rejected_in {
            Some(line) => format!("rejected the data, in line {line}"),
            None => "rejected the data".to_owned(),
        },
        Outcome::NoRule { .. } => format!("stopped in state {}: no rule", summary.state),
        Outcome::StepLimit => match line {
            Some(line) => format!("stopped at the step limit, in line {line}"),
            None => "stopped at the step limit, in a product or quotient".to_owned(),
        },
    };
    let mut rows = Rows::default();
    rows.row("outcome", ended);
    rows.row("steps", HumanCount(summary.steps));
    if let Some(theta) = &summary.theta {
        let numbers: Vec<String> = theta.iter().map(ToString::to_string).collect();
        rows.row("theta", numbers.join(" "));
    }
    if let Some(claim) = &summary.program {
        rows.row("program", verdict(claim));
    }
    summary.printed.iter().for_each(|line| rows.row("print", line));
    let mut text = rows.text();
    if let Some(lines) = &summary.profile {
        text.push_str(&format!("\n{:>14}  {:>6}  {:>6}  {:>4}\n", "steps", "share", "states", "line"));
        for line in lines {
            // Per mille, rounded down: the shares never exceed the whole.
            let share = line.steps.saturating_mul(1000) / summary.steps.max(1);
            let share = format!("{}.{} %", share / 10, share % 10);
            let number = line.line.map(|line| line.to_string()).unwrap_or_default();
            let row = format!(
                "{:>14}  {share:>6}  {:>6}  {number:>4}  {}",
                HumanCount(line.steps).to_string(),
                line.states,
                line.text
            );
            text.push_str(row.trim_end());
            text.push('\n');
        }
    }
    text
}
