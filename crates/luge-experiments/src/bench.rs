//! Engines and simulators side by side, in one run on one machine.
//!
//! A figure is the best of several runs, because other programs can only slow a run down. Ratios are relative to
//! the tuned simulator, or where there is none, to the simulator that checks training.

mod contenders;
mod learners;
pub mod native;
pub mod reference;

use std::time::Instant;

use luge_landscape::LandscapeKind;
use luge_machine::{Input, Machine, Simulator, formats::Format};
use serde::Serialize;

use contenders::{Contender, Memory, Subject};
use luge::job::JobError;
use reference::Table as Rules;

/// The five-state busy beaver champion, 47,176,870 steps.
const FIVE_STATES: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
/// The champion with two states and four symbols, 3,932,964 steps.
const FOUR_SYMBOLS: &str = "1RB2LA1RA1RA_1LB1LA3RB1RZ";
/// Runs to and fro between the ends of what lies on its tape.
const SHUTTLE: &str = "0LB1RA_0RA1LB";

/// How much to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How often each run is repeated.
    pub repeats: u32,
    /// The most steps of one run.
    pub most_steps: u64,
    /// The most cells of the longest tape.
    pub most_cells: usize,
    /// The most rows of the largest table.
    pub most_rows: usize,
    /// Steps of the dense engine.
    pub dense_steps: u64,
}

impl Effort {
    /// What the figures in the documentation come from.
    pub const FULL: Self = Self {
        repeats: 5,
        most_steps: u64::MAX,
        most_cells: 10_000_000,
        most_rows: 1_000_000,
        dense_steps: 20_000,
    };
    /// To see that everything works.
    pub const QUICK: Self =
        Self { repeats: 1, most_steps: 200_000, most_cells: 10_000, most_rows: 100, dense_steps: 50 };
}

/// One line of figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// Who ran.
    pub name: String,
    /// Steps made.
    pub steps: u64,
    /// Steps per second.
    pub per_second: f64,
    /// That, divided by the reference's.
    pub ratio: f64,
    /// Bytes for cells, where an engine keeps them.
    pub cell_bytes: Option<usize>,
    /// Cells touched, if those bytes are known.
    pub cells: Option<usize>,
}

/// Figures of runs that can be compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// What was run.
    pub title: String,
    /// Whose speed the ratios are relative to.
    pub reference: String,
    /// One per contender.
    pub figures: Vec<Figure>,
}

/// Nanoseconds per step as something grows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Growth {
    /// What grows.
    pub what: String,
    /// The engines, in the order of the figures.
    pub engines: Vec<String>,
    /// The size, and nanoseconds per step of each engine.
    pub rows: Vec<(u64, Vec<f64>)>,
}

/// Everything that was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Side by side.
    pub comparisons: Vec<Comparison>,
    /// As sizes grow.
    pub growths: Vec<Growth>,
    /// The most memory the process has held, in bytes; 0 where the system does not say.
    pub peak_memory: u64,
}

/// Steps made and the best time in seconds.
fn best(repeats: u32, mut run: impl FnMut() -> (u64, Option<Memory>)) -> (u64, f64, Option<Memory>) {
    let mut best = f64::INFINITY;
    let mut last = (0, None);
    for _ in 0..repeats.max(1) {
        let started = Instant::now();
        last = run();
        best = best.min(started.elapsed().as_secs_f64());
    }
    (last.0, best, last.1)
}

/// Runs everything, or what has `only` in its title; `say` hears what is running.
///
/// # Errors
/// If a learner that ships is none, which tests would find first.
pub fn run(effort: Effort, only: Option<&str>, mut say: impl FnMut(&str)) -> Result<Report, JobError> {
    let wanted = |title: &str, say: &mut dyn FnMut(&str)| {
        let wanted = only.is_none_or(|only| title.contains(only));
        if wanted {
            say(&format!("measuring {title}"));
        }
        wanted
    };
    let (mut comparisons, mut growths) = (Vec::new(), Vec::new());
    for (title, line) in
        [("BB(5), blank tape", FIVE_STATES), ("2 states, 4 symbols, blank tape", FOUR_SYMBOLS)]
    {
        if wanted(title, &mut say) {
            comparisons.push(champion(title, line, effort));
        }
    }
    for (title, job) in learners::jobs() {
        if wanted(title, &mut say) {
            comparisons.push(learners::compare_learner(title, &job()?, effort, &mut say)?);
        }
    }
    for (title, grow) in [
        ("cells visited, to and fro", growing_cells as fn(Effort) -> Growth),
        ("states visited in turn", growing_states),
        ("tapes, walked along in turn from mark to mark", learners::growing_tapes),
    ] {
        if wanted(title, &mut say) {
            growths.push(grow(effort));
        }
    }
    if wanted("samples", &mut say) {
        growths.push(learners::growing_samples(effort)?);
    }
    Ok(Report { comparisons, growths, peak_memory: peak_memory() })
}

fn compare(title: &str, runs: Vec<(String, u64, f64, Option<Memory>)>, reference: &str) -> Comparison {
    let speed = |(_, steps, seconds, _): &(String, u64, f64, Option<Memory>)| *steps as f64 / seconds;
    let base = runs.iter().find(|run| run.0 == reference).map_or(f64::NAN, speed);
    let figure = |run: &(String, u64, f64, Option<Memory>)| Figure {
        name: run.0.clone(),
        steps: run.1,
        per_second: speed(run),
        ratio: speed(run) / base,
        cell_bytes: run.3.map(|memory| memory.bytes),
        cells: run.3.map(|memory| memory.cells),
    };
    let figures = runs.iter().map(figure).collect();
    Comparison { title: title.to_owned(), reference: reference.to_owned(), figures }
}

fn champion(title: &str, line: &str, effort: Effort) -> Comparison {
    let machine = machine(line);
    let mut runs = Vec::new();
    let mut measure = |name: &str, run: &mut dyn FnMut() -> (u64, Option<Memory>)| {
        let (steps, seconds, memory) = best(effort.repeats, run);
        runs.push((name.to_owned(), steps, seconds, memory));
    };
    if let Some(rules) = Rules::new(&machine) {
        measure("straightforward simulator", &mut || (rules.straightforward(effort.most_steps), None));
        measure("tuned simulator", &mut || (rules.tuned(effort.most_steps), None));
        measure("block simulator", &mut || (rules.blocks(effort.most_steps), None));
    }
    measure("Luge's simulator", &mut || (simulate(&machine, &Input::blank(), effort.most_steps), None));
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let scene = Subject::landscape(&machine, &Input::blank(), kind, None);
        for contender in [Contender::Exact, Contender::Steps, Contender::Sparse] {
            let name = format!("{} on {}", contender.word(), kind.word());
            measure(&name, &mut || scene.run(contender, effort.most_steps));
        }
        let wide = Subject::wide_landscape(&machine, &Input::blank(), kind);
        let name = format!("dense on {}, 1,021 cells", kind.word());
        measure(&name, &mut || wide.run(Contender::Dense, effort.dense_steps));
    }
    compare(title, runs, "tuned simulator")
}

/// Nanoseconds per step while the cells that are visited grow in number.
fn growing_cells(effort: Effort) -> Growth {
    let machine = machine(SHUTTLE);
    let engines = [Contender::Sparse, Contender::Steps, Contender::Exact];
    let mut rows = Vec::new();
    let mut n_cells = 1000;
    while n_cells <= effort.most_cells {
        let scene = Subject::landscape(&machine, &Input::blank(), LandscapeKind::Compact, Some(n_cells));
        let steps = (3 * n_cells as u64).max(6_000_000).min(effort.most_steps.saturating_mul(10));
        let time = |&engine: &Contender| {
            let (made, seconds, _) = best(effort.repeats.min(3), || scene.run(engine, steps));
            seconds * 1e9 / made as f64
        };
        rows.push((n_cells as u64, engines.iter().map(time).collect()));
        n_cells *= 10;
    }
    let engines = engines.iter().map(|engine| engine.word().to_owned()).collect();
    Growth { what: "cells visited, to and fro".to_owned(), engines, rows }
}

/// Nanoseconds per step while the states that are visited grow in number.
fn growing_states(effort: Effort) -> Growth {
    let engines = [Contender::Sparse, Contender::Steps];
    let mut rows = Vec::new();
    for n_states in [10, 100, 1000, 10_000] {
        let machine = contenders::ring(n_states);
        let scene = Subject::landscape(&machine, &Input::blank(), LandscapeKind::Compact, None);
        let steps = 3_000_000.min(effort.most_steps.saturating_mul(10));
        let time = |&engine: &Contender| {
            let (made, seconds, _) = best(effort.repeats.min(3), || scene.run(engine, steps));
            seconds * 1e9 / made as f64
        };
        rows.push((n_states as u64, engines.iter().map(time).collect()));
    }
    let engines = engines.iter().map(|engine| engine.word().to_owned()).collect();
    Growth { what: "states visited in turn".to_owned(), engines, rows }
}

fn simulate(machine: &Machine, input: &Input, most_steps: u64) -> u64 {
    let mut simulator = Simulator::new(machine, input);
    // How it ended does not matter here.
    let _ = simulator.run(most_steps);
    simulator.steps()
}

fn machine(line: &str) -> Machine {
    match Format::Bbchallenge.read(line) {
        Ok(loaded) => loaded.machine,
        Err(findings) => unreachable!("a machine written down here: {findings:?}"),
    }
}

/// The most memory this process has held.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
