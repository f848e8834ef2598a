//! What the lab's frames cost: a busy beaver at full speed, bare and with sixty moments a second sent to a page.
//!
//! `cargo bench -p luge-lab --bench lab` prints a table, and fails if the engine loses a fifth of its steps per second.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    process::ExitCode,
    sync::{Arc, atomic::AtomicUsize, mpsc},
    thread,
    time::{Duration, Instant},
};

use luge::job::{Job, TraceJob, source::Source};
use luge_lab::{Channel, Command, PreparedJob, RunRequest, Scene, moment, replay::Survey, run_session};
use luge_train::{CacheLevel, Engine, Exact, StopRule};

const FIVE: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
/// The same machine, except that it continues where the other one halts.
const ENDLESS: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RA0LA";
/// Runs of the five-state busy beaver.
const RUNS: u32 = 30;
/// How long the endless machine is watched.
const WATCHED: Duration = Duration::from_secs(4);
/// The share of its speed that an engine may lose.
const MAX_LOST: f64 = 0.2;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn with<R>(text: &str, act: impl FnOnce(&Scene<'_>) -> R) -> R {
    act(&PreparedJob::open(&job(text)).expect("a machine").scene().expect("a network"))
}

fn job(text: &str) -> Job {
    Job::Trace(TraceJob::new(Source::open(text).expect("a line")))
}

/// Seconds that a bare engine takes for some steps.
fn bare(text: &str, most_steps: u64) -> f64 {
    with(text, |scene| {
        let task = &scene.task;
        let started = Instant::now();
        let mut engine =
            Exact::new(task.network, &task.parameters, &task.inputs, CacheLevel::Macrosteps).expect("exact");
        engine.run(&StopRule { most_steps, ..task.stop }).expect("gradients");
        started.elapsed().as_secs_f64()
    })
}

/// Seconds that a replay takes from the start to the halt, with a moment and a share of the survey in every frame; and the
/// number of moments.
fn replayed(text: &str) -> (f64, u32) {
    with(text, |scene| {
        let started = Instant::now();
        let mut replay = scene.replay().expect("an engine");
        let mut survey = Survey::new(&replay).expect("an engine");
        let mut moments = 0;
        while replay.end.is_none() {
            let frame = Instant::now();
            replay.play(&mut || frame.elapsed() < FRAME * 19 / 20).expect("gradients");
            survey.follow(&replay, &mut || frame.elapsed() < FRAME).expect("gradients");
            let moment = moment(&mut replay, 12).expect("a moment");
            assert!(!serde_json::to_string(&moment).expect("JSON").is_empty());
            moments += 1;
        }
        (started.elapsed().as_secs_f64(), moments)
    })
}

/// Steps and moments of a tab that plays at full speed for a while.
fn watched(text: &str) -> (u64, u32, f64) {
    let (commands, received) = mpsc::channel();
    let (sender, messages) = mpsc::channel::<String>();
    let tab = thread::spawn(move || {
        let send = |text: String| sender.send(text).is_ok();
        run_session(&mut Channel { commands: received, send }, &Arc::new(AtomicUsize::new(0)));
    });
    commands
        .send(Command::Open(RunRequest { job: Box::new(job(text)), step: 0, held_out: None, ticket: 0 }))
        .expect("a tab");
    commands.send(Command::Drawn {}).expect("a tab");
    let (mut first, mut last, mut moments) = (None, (0, Instant::now()), 0);
    for text in &messages {
        let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        if told["kind"] != "moment" {
            continue;
        }
        commands.send(Command::Drawn {}).expect("a tab");
        let step = told["moment"]["step"].as_u64().expect("a step");
        if first.is_none() {
            commands.send(Command::Play { speed: None }).expect("a tab");
            first = Some(Instant::now());
        }
        (last, moments) = ((step, Instant::now()), moments + 1);
        if first.is_some_and(|first| first.elapsed() > WATCHED) {
            break;
        }
    }
    drop((commands, messages));
    tab.join().expect("the tab's thread");
    let seconds = first.map_or(0.0, |first| (last.1 - first).as_secs_f64());
    (last.0, moments, seconds)
}

fn main() -> ExitCode {
    let steps = 47_176_870;
    // The fastest of many runs in turn: whatever else the machine does slows some of both.
    let (mut alone, mut shown) = (f64::INFINITY, f64::INFINITY);
    let (mut moments, mut total) = (0, 0.0);
    for _ in 0..RUNS {
        alone = alone.min(bare(FIVE, u64::MAX));
        let (seconds, more) = replayed(FIVE);
        shown = shown.min(seconds);
        (moments, total) = (moments + more, total + seconds);
    }
    let speed = |steps: u64, seconds: f64| steps as f64 / seconds;
    let lost_five = 1.0 - alone / shown;
    println!("BB(5), best of {RUNS}     steps/s");
    println!("  bare engine         {:>14.3e}", speed(steps, alone));
    println!("  with {:>5.1} moments/s {:>14.3e}", f64::from(moments) / total, speed(steps, shown));
    println!("  lost                {:>13.1}%", 100.0 * lost_five);

    let (steps, moments, seconds) = watched(ENDLESS);
    let alone = bare(ENDLESS, steps);
    let lost = 1.0 - alone / seconds;
    println!("a tab at full speed, {steps} steps");
    println!("  bare engine         {:>14.3e}", speed(steps, alone));
    println!("  with {:>5.1} moments/s {:>14.3e}", f64::from(moments) / seconds, speed(steps, seconds));
    println!("  lost                {:>13.1}%", 100.0 * lost);
    if lost.max(lost_five) < MAX_LOST && f64::from(moments) / seconds > 50.0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
