//! Running a program: its outcome, its weights, and where its steps went.

use indicatif::HumanCount;
use luge::{job, program, source::Source};
use luge_landscape::Learner;
use luge_machine::{Machine, Outcome, Simulator, Step, TapeId};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde::Serialize;

use super::super::{
    data_args::{DataArgs, show_notes},
    failure::Failure,
    output::{print, print_json, table},
    progress::Progress,
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
    /// Left out unless the program came to its end.
    theta: Option<Vec<f64>>,
    /// Only with --profile: the lines that took steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Vec<Line<'a>>>,
}

/// Steps spent on one line; those outside of all lines have no number.
#[derive(Serialize)]
struct Line<'a> {
    line: Option<u32>,
    steps: Step,
    states: usize,
    text: &'a str,
}

/// What a run is asked for.
pub(super) struct Request<'a> {
    pub(super) data: &'a DataArgs,
    pub(super) steps: Step,
    pub(super) profile: bool,
    pub(super) json: bool,
}

pub(super) fn run(source: &Source, request: &Request<'_>) -> Result<(), Failure> {
    let job = request.data.job(source.clone())?;
    let (table, format) = (job.table()?, job.options.format);
    show_notes(&job.data, &table.notes);
    let compiled = &job::compile(&job.source, &table, format)?;
    if compiled.takes {
        return Err(Failure::Unfit {
            problem: format!("{} takes its samples from a stream", source.name),
            remedy: "run it with `luge stream`, which trains the network that runs it".to_owned(),
        });
    }
    let learner = Learner::new(&compiled.machine, Some(&compiled.input))?;
    let input = learner.source_input(&program::layout(&table, format), &program::bits(&table, format));
    let mut simulator = Simulator::new(&compiled.machine, &input);
    let (outcome, spent) = if request.profile {
        profiled(&mut simulator, request.steps)
    } else {
        (Progress::new("running", request.steps).run(&mut simulator, request.steps)?, Vec::new())
    };
    let theta = outcome.accepting().then(|| theta(&simulator, compiled.n_theta, format));
    let lines = request.profile.then(|| lines(compiled, &spent, &source.text));
    let summary = Summary {
        machine: compiled.machine.name(),
        outcome: outcome.word(),
        steps: simulator.steps(),
        limit: request.steps,
        state: &compiled.machine.state(simulator.state()).name,
        accepting: outcome.accepting(),
        theta,
        profile: lines,
    };
    if request.json { print_json(&summary) } else { print(&report(outcome, &summary, compiled, &simulator)) }
}

/// Runs and counts the steps made in each state.
fn profiled(simulator: &mut Simulator<'_>, limit: Step) -> (Outcome, Vec<Step>) {
    let mut spent = vec![0; simulator.machine().states().len()];
    let mut progress = Progress::new("running", limit);
    loop {
        if simulator.steps() >= limit {
            return (simulator.stopped().unwrap_or(Outcome::StepLimit), spent);
        }
        let state = simulator.state();
        if let Err(outcome) = simulator.step() {
            return (outcome, spent);
        }
        spent[state.index()] += 1;
        progress.reach(simulator.steps());
    }
}

/// The weights the machine left behind.
fn theta(simulator: &Simulator<'_>, n_theta: usize, format: NumberFormat) -> Vec<f64> {
    let tape = theta_tape(simulator.machine());
    let n_bits = format.n_bits() as usize;
    let number = |i: usize| {
        let cells = (0..n_bits).map(|bit| i64::try_from(i * n_bits + bit).unwrap_or(i64::MAX));
        let bits: Vec<bool> = cells.map(|cell| simulator.tape(tape).read(cell).0 == 1).collect();
        format.word(&bits).map_or(0.0, |word| format.decode(word))
    };
    (0..n_theta).map(number).collect()
}

fn theta_tape(machine: &Machine) -> TapeId {
    machine.tape_ids().find(|&tape| machine.tape(tape).name == "theta").unwrap_or(TapeId(0))
}

/// Steps by line; `spent` is by state.
fn lines<'a>(compiled: &Compiled, spent: &[Step], text: &'a str) -> Vec<Line<'a>> {
    let mut sums: std::collections::BTreeMap<Option<u32>, (Step, usize)> = Default::default();
    for (line, steps) in compiled.lines.iter().zip(spent) {
        let sum = sums.entry(*line).or_default();
        *sum = (sum.0 + steps, sum.1 + 1);
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
        Outcome::Halted { accepting: true, .. } => "came to its end".to_owned(),
        Outcome::Halted { accepting: false, .. } => "rejected the data".to_owned(),
        Outcome::NoRule { .. } => format!("stopped in state {}: no rule", summary.state),
        Outcome::StepLimit => match line {
            Some(line) => format!("stopped at the step limit, in line {line}"),
            None => "stopped at the step limit, in a product or quotient".to_owned(),
        },
    };
    let mut rows =
        vec![("outcome".to_owned(), ended), ("steps".to_owned(), HumanCount(summary.steps).to_string())];
    if let Some(theta) = &summary.theta {
        let numbers: Vec<String> = theta.iter().map(ToString::to_string).collect();
        rows.push(("theta".to_owned(), numbers.join(" ")));
    }
    let mut text = table(&rows);
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
