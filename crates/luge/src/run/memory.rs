//! The memory budget. Whatever grows with cells, vertices, rows, weights or frames asks here first, so a request
//! that is too large is refused with a message and affects nothing else.
//!
//! Requests are estimates on the large side; the memory in use is what the operating system reports for the
//! process.

use std::{
    fmt, fs,
    sync::atomic::{AtomicU64, Ordering},
};

use luge_machine::{Outcome, Simulator, Step};

/// A request that memory does not allow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} would take about {}, but only {} of the {} for this program are left", Bytes(*needed), Bytes(*left), Bytes(*budget))]
pub struct TooMuch {
    /// What was to be made.
    pub what: String,
    /// Bytes it would take.
    pub needed: u64,
    /// Bytes that are left.
    pub left: u64,
    /// All bytes that the program may use.
    pub budget: u64,
}

/// A number of bytes in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        match units.into_iter().find(|&(_, size)| self.0 >= size) {
            Some((unit, size)) => write!(f, "{:.1} {unit}", self.0 as f64 / size as f64),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// Bytes that the program may use; 0 until somebody asks.
static BUDGET: AtomicU64 = AtomicU64::new(0);

/// What is assumed where the system does not say what it has.
const ASSUMED: u64 = 4 << 30;

/// How a network's cells are kept while it is trained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellStorage {
    /// Every unit of every cell as a number: the dense engine, and networks whose columns cannot be merged.
    Numbers,
    /// Symbols, and one column of each kind.
    Symbols,
}

impl CellStorage {
    /// Bytes for every cell of every tape: weights, constants, and what evaluating and training keep beside them.
    fn bytes_per_cell(self) -> u64 {
        match self {
            Self::Numbers => 600,
            Self::Symbols => 6,
        }
    }
}

/// Bytes for every vertex: its weight, its edges, and what training keeps of them.
const BYTES_PER_VERTEX: u64 = 600;

/// Steps of the simulator between two questions; a tape grows by a cell a step at most.
const SLICE: Step = 1 << 24;

/// Says how many bytes the program may use.
pub fn set_budget(bytes: u64) {
    BUDGET.store(bytes.max(1), Ordering::Relaxed);
}

/// How many bytes the program may use: what was set, or three quarters of what the machine has free.
pub fn budget() -> u64 {
    match BUDGET.load(Ordering::Relaxed) {
        0 => {
            set_budget(of_machine());
            BUDGET.load(Ordering::Relaxed)
        }
        bytes => bytes,
    }
}

/// Asks for bytes before they are used.
///
/// # Errors
/// If there are not that many left.
pub fn check_budget(what: impl Into<String>, needed: u64) -> Result<(), TooMuch> {
    let budget = budget();
    let left = budget.saturating_sub(in_use());
    if needed <= left {
        return Ok(());
    }
    Err(TooMuch { what: what.into(), needed, left, budget })
}

/// Asks for a network with so many cells on each of its tapes, and so many vertices.
///
/// # Errors
/// If there is no room for it.
pub fn ask_network(
    n_cells: usize,
    n_tapes: usize,
    n_vertices: usize,
    keeping: CellStorage,
) -> Result<(), TooMuch> {
    let cells = (n_cells as u64).saturating_mul(n_tapes as u64).saturating_mul(keeping.bytes_per_cell());
    let vertices = (n_vertices as u64).saturating_mul(BYTES_PER_VERTEX);
    let what = format!("a network with {n_tapes} tapes of {n_cells} cells and {n_vertices} vertices");
    check_budget(what, cells.saturating_add(vertices))
}

/// Runs a machine to a step at most, as long as there is memory for its tapes.
///
/// # Errors
/// If the tapes outgrow what there is.
pub fn run(simulator: &mut Simulator<'_>, limit: Step) -> Result<Outcome, TooMuch> {
    run_while(simulator, limit, &mut || true)
}

/// The same while `go_on` says so; broken off, the outcome is that of a step limit.
///
/// # Errors
/// If the tapes outgrow what there is.
pub fn run_while(
    simulator: &mut Simulator<'_>,
    limit: Step,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, TooMuch> {
    loop {
        let pause = simulator.steps().saturating_add(SLICE).min(limit);
        ask_tapes(simulator, pause)?;
        let outcome = simulator.run(pause);
        if outcome != Outcome::StepLimit || pause == limit || !go_on() {
            return Ok(outcome);
        }
    }
}

/// Asks for what the tapes may come to take until a step.
///
/// # Errors
/// If there is no room for them.
pub fn ask_tapes(simulator: &Simulator<'_>, until: Step) -> Result<(), TooMuch> {
    let more = until.saturating_sub(simulator.steps());
    let machine = simulator.machine();
    let grown = |tape| {
        let (low, high) = simulator.visited(tape);
        high.abs_diff(low).saturating_add(1).saturating_add(more)
    };
    let cells = machine.tape_ids().map(grown).fold(0_u64, u64::saturating_add);
    // A tape that grows is copied into one twice its size.
    check_budget(format!("what the tapes may hold after {until} machine steps"), cells.saturating_mul(2))
}

/// What the machine has: free memory, the limit of its group, or the limit of this process, whichever is least.
fn of_machine() -> u64 {
    let free = meminfo("MemAvailable:").map(|free| free.saturating_add(in_use()));
    let group =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let least = [free, group, address_limit()].into_iter().flatten().min();
    least.map_or(ASSUMED, |bytes| bytes / 4 * 3)
}

fn meminfo(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The most addresses that the process may have, if there is a limit.
fn address_limit() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes that the process holds: its addresses where those are limited, else its share of memory.
fn in_use() -> u64 {
    let pages = || -> Option<u64> {
        let text = fs::read_to_string("/proc/self/statm").ok()?;
        let column = usize::from(address_limit().is_none());
        text.split_whitespace().nth(column)?.parse().ok()
    };
    // Pages have 4096 bytes or more; where they have more, what is asked for is estimated on the large side anyway.
    pages().map_or(0, |pages| pages.saturating_mul(4096))
}

#[cfg(test)]
mod tests {
    use luge_machine::{Input, formats::Format};

    use super::*;

    #[test]
    fn more_than_there_is_is_refused_in_words() {
        let refused = check_budget("a mountain", u64::MAX).expect_err("too much");
        assert!(refused.to_string().starts_with("a mountain would take about 17179869184.0 GiB, but only "));
        assert!(check_budget("a grain", 1).is_ok());
        assert!(ask_network(1 << 14, 13, 1000, CellStorage::Numbers).is_ok());
        assert!(ask_network(usize::MAX, 2, 2, CellStorage::Symbols).is_err());
    }

    #[test]
    fn bytes_are_said_in_units() {
        let said = |bytes: u64| Bytes(bytes).to_string();
        assert_eq!([said(5), said(2048), said(3 << 29)], ["5 bytes", "2.0 KiB", "1.5 GiB"]);
    }

    #[test]
    fn a_run_within_memory_is_the_run() {
        let machine = Format::Bbchallenge.read("1RB1LB_1LA1RZ").expect("a machine").machine;
        let mut simulator = Simulator::new(&machine, &Input::blank());
        let outcome = run(&mut simulator, Step::MAX).expect("a few cells");
        assert_eq!((outcome.accepting(), simulator.steps()), (true, 6));
    }
}
