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
use luge_machine::{Input, Machine, Simulator, SymbolId, TapeInput, formats::Format};
use serde::Serialize;

use contenders::{Contender, DENSE, EXACT, Made, SPARSE, STEPS, landscape};
use luge::job::JobError;
use reference::Table as Rules;

/// The five-state busy beaver champion, 47,176,870 steps.
const FIVE_STATES: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
/// The champion with two states and four symbols, 3,932,964 steps.
const FOUR_SYMBOLS: &str = "1RB2LA1RA1RA_1LB1LA3RB1RZ";
/// Runs back and forth between the ends of its input.
const SHUTTLE: &str = "0LB1RA_0RA1LB";

/// Cells of the dense engine's landscape; fast engines grow their own tapes.
const DENSE_CELLS: usize = 1021;

/// How much to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The number of repetitions of each run.
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
    /// The name of the engine or simulator.
    pub name: String,
    /// The number of steps.
    pub steps: u64,
    /// Steps per second.
    pub per_second: f64,
    /// The speed divided by that of the reference.
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

/// Runs several times. Returns the result of the last run, and the seconds of the fastest one.
fn best(repeats: u32, mut run: impl FnMut() -> Made) -> (Made, f64) {
    let (mut least, mut made) = (f64::INFINITY, Made::default());
    for _ in 0..repeats.max(1) {
        let started = Instant::now();
        made = run();
        least = least.min(started.elapsed().as_secs_f64());
    }
    (made, least)
}

impl Figure {
    /// The ratio is known once all runs of a comparison are.
    fn new(name: &str, Made { steps, cell_bytes, cells }: Made, seconds: f64) -> Self {
        let per_second = steps as f64 / seconds;
        Self { name: name.to_owned(), steps, per_second, ratio: f64::NAN, cell_bytes, cells }
    }

    fn measured(name: &str, repeats: u32, run: impl FnMut() -> Made) -> Self {
        let (made, seconds) = best(repeats, run);
        Self::new(name, made, seconds)
    }
}

impl Comparison {
    fn new(title: &str, reference: &str, mut figures: Vec<Figure>) -> Self {
        let base = figures.iter().find(|figure| figure.name == reference);
        let base = base.map_or(f64::NAN, |figure| figure.per_second);
        figures.iter_mut().for_each(|figure| figure.ratio = figure.per_second / base);
        Self { title: title.to_owned(), reference: reference.to_owned(), figures }
    }
}

/// Runs everything, or what has `only` in its title; `say` gets the title of each measurement.
///
/// # Errors
/// If a learner that ships cannot be prepared, which tests would find first.
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
    for (what, engines, sizes, subject) in growing(effort) {
        if wanted(what, &mut say) {
            growths.push(growth(what, &engines, &sizes, subject, effort));
        }
    }
    if wanted("samples", &mut say) {
        growths.push(learners::growing_samples(effort)?);
    }
    Ok(Report { comparisons, growths, peak_memory: peak_memory() })
}

fn champion(title: &str, line: &str, effort: Effort) -> Comparison {
    let machine = machine(line);
    let mut figures = Vec::new();
    let mut measure =
        |name: &str, run: &mut dyn FnMut() -> Made| figures.push(Figure::measured(name, effort.repeats, run));
    if let Some(rules) = Rules::new(&machine) {
        measure("straightforward simulator", &mut || rules.straightforward(effort.most_steps).into());
        measure("tuned simulator", &mut || rules.tuned(effort.most_steps).into());
        measure("block simulator", &mut || rules.blocks(effort.most_steps).into());
    }
    measure("Luge's simulator", &mut || simulate(&machine, &Input::blank(), effort.most_steps));
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let plan = landscape(&machine, &Input::blank(), kind, None);
        for contender in [EXACT, STEPS, SPARSE] {
            let name = format!("{} on {}", contender.name, kind.word());
            measure(&name, &mut || contender.trace(&plan, effort.most_steps));
        }
        let wide = landscape(&machine, &Input::blank(), kind, Some(DENSE_CELLS));
        let name = format!("dense on {}, 1,021 cells", kind.word());
        measure(&name, &mut || DENSE.trace(&wide, effort.dense_steps));
    }
    Comparison::new(title, "tuned simulator", figures)
}

/// Creates a machine of some size with its input, and the number of steps to train.
type Sized = fn(usize) -> (Machine, Input, u64);

/// What grows: its name, the engines, the sizes, and what is trained.
fn growing(effort: Effort) -> [(&'static str, Vec<Contender>, Vec<usize>, Sized); 3] {
    let cells = std::iter::successors(Some(1000), |n_cells| Some(n_cells * 10));
    let cells = cells.take_while(|&n_cells| n_cells <= effort.most_cells).collect();
    let all = vec![SPARSE, STEPS, EXACT];
    [
        ("cells visited, to and fro", all.clone(), cells, |n_cells| {
            let ones = TapeInput { symbols: vec![SymbolId(1); n_cells], head: 0 };
            (machine(SHUTTLE), Input { tapes: vec![ones] }, (3 * n_cells as u64).max(6_000_000))
        }),
        ("states visited in turn", all[..2].to_vec(), vec![10, 100, 1000, 10_000], |n_states| {
            (contenders::ring(n_states), Input::blank(), 3_000_000)
        }),
        ("tapes, walked along in turn from mark to mark", all, vec![2, 4, 8, 16], |n_tapes| {
            let (machine, input) = contenders::walker(n_tapes);
            (machine, input, 6_000_000)
        }),
    ]
}

/// Nanoseconds per step of every engine as something grows.
fn growth(what: &str, engines: &[Contender], sizes: &[usize], sized: Sized, effort: Effort) -> Growth {
    let row = |&size: &usize| {
        let (machine, input, steps) = sized(size);
        let steps = steps.min(effort.most_steps.saturating_mul(10));
        let plan = landscape(&machine, &input, LandscapeKind::Compact, None);
        let time = |&engine: &Contender| {
            let (made, seconds) = best(effort.repeats.min(3), || engine.trace(&plan, steps));
            seconds * 1e9 / made.steps as f64
        };
        (size as u64, engines.iter().map(time).collect())
    };
    let rows = sizes.iter().map(row).collect();
    let engines = engines.iter().map(|engine| engine.name.to_owned()).collect();
    Growth { what: what.to_owned(), engines, rows }
}

fn simulate(machine: &Machine, input: &Input, most_steps: u64) -> Made {
    let mut simulator = Simulator::new(machine, input);
    // How it ended does not matter here.
    let _ = simulator.run(most_steps);
    simulator.steps().into()
}

fn machine(line: &str) -> Machine {
    contenders::written_down(Format::Bbchallenge.read(line)).machine
}

/// The most memory this process has held.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
