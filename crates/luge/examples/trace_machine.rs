//! Trace a machine: train its landscape by gradient descent, and compare every step with the simulator.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::ops::ControlFlow;

use luge::{EngineChoice, LandscapeKind, Source, TraceJob, TrainingConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The four-state busy beaver. A path to a machine file works as well, and so does its name, bb4.
    let mut job = TraceJob::new(Source::open("1RB1LB_1LA0LC_1RZ1LD_1RD0RA")?);
    for landscape in LandscapeKind::ALL {
        job.options.landscape = landscape;
        let plan = job.prepare()?;
        let trace = plan.run(|_| ControlFlow::Continue(()))?;
        assert!(trace.matches_machine());
        println!(
            "{}: {} gradient steps, {} mismatches",
            landscape.word(),
            trace.outcome.steps(),
            trace.mismatches
        );
    }

    // The same with every gradient from automatic differentiation, watching each iterate.
    job.options.landscape = LandscapeKind::Plain;
    job.options.manner = TrainingConfig::by(EngineChoice::Dense);
    let mut highest = f64::NEG_INFINITY;
    job.prepare()?.run(|moment| {
        highest = highest.max(moment.loss);
        ControlFlow::Continue(())
    })?;
    println!("the loss on plain was never above {highest}");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("no error");
}
