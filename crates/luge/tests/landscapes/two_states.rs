//! All 20,736 machines with two states and two symbols.
//!
//! Each of the four cells writes 0 or 1, moves left or right and goes on to A, B or Z, which halts: 12 choices. Every
//! machine runs 60 steps or until it halts, on a tape filled without symmetry: its mirror image, its inverse and
//! its shifts all differ from it. A sample runs always; `LUGE_TEST=exhaustive` runs them all.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use luge::trace::TraceOptions;
use luge_landscape::LandscapeKind;
use luge_machine::{Input, Machine};

use crate::{filled, machine, options, trace};

const N_MACHINES: usize = 12_usize.pow(4);

/// Every how many-th machine is in the sample; shares no factor with 12.
const SAMPLE: usize = 97;

fn cell(choice: usize) -> String {
    let (write, way, next) = (choice % 2, ["L", "R"][choice / 2 % 2], ["A", "B", "Z"][choice / 4]);
    format!("{write}{way}{next}")
}

fn number(index: usize) -> Machine {
    let cells: Vec<String> = (0..4).map(|place| cell(index / 12_usize.pow(place) % 12)).collect();
    machine(&format!("{}{}_{}{}", cells[0], cells[1], cells[2], cells[3]))
}

fn tape() -> Input {
    filled("1101000101110010100001101111001", 14)
}

/// Machine steps traced; the trace itself must be exact.
fn check(index: usize, kind: LandscapeKind) -> u64 {
    let trace = trace(&number(index), &tape(), &TraceOptions { steps: Some(60), ..options(kind) });
    assert!(trace.matches_machine() && trace.bounds_held, "machine {index} on {kind:?}: {trace:?}");
    trace.outcome.steps()
}

#[test]
fn every_one_of_them() {
    let stride = if luge_suite::asked_for("exhaustive") { 1 } else { SAMPLE };
    let indices: Vec<usize> = (0..N_MACHINES).step_by(stride).collect();
    let (next, n_steps) = (AtomicUsize::new(0), AtomicU64::new(0));
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(&index) = indices.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
                        n_steps.fetch_add(check(index, kind), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // Most machines halt early; still, a trace makes 15 steps and more on average.
    let n_traces = 2 * indices.len() as u64;
    println!("{n_traces} traces, {} steps, 0 mismatches", n_steps.load(Ordering::Relaxed));
    assert!(n_steps.into_inner() > n_traces * 15);
}

#[test]
fn all_machines_differ_and_the_tape_has_no_symmetry() {
    let all: std::collections::BTreeSet<String> =
        (0..N_MACHINES).map(|i| format!("{:?}", number(i))).collect();
    assert_eq!(all.len(), N_MACHINES);
    let cells = &tape().tapes[0].symbols;
    let mirrored: Vec<_> = cells.iter().rev().copied().collect();
    assert_ne!(cells, &mirrored);
    assert_eq!(cells.iter().filter(|s| s.0 == 1).count(), 16);
}
