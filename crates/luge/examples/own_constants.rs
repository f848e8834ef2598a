//! A landscape with constants of your own, and what happens if they violate an inequality of the construction.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::ops::ControlFlow;

use luge::{LandscapeKind, Source, TraceJob};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut job = TraceJob::new(Source::open("bb3")?);
    job.options.landscape = LandscapeKind::Compact;
    for base in [16.0, 32.0, 64.0] {
        job.options.constants.base = Some(base);
        let plan = job.prepare()?;
        let bounds = plan.landscape.bounds();
        let trace = plan.run(|_| ControlFlow::Continue(()))?;
        assert!(trace.matches_machine() && trace.bounds_held);
        println!("b = {base}: running loss {} to {}", bounds.running_low, bounds.running_high);
    }

    // b^3 > 8 b^2 d + 3 d does not hold for b = 8 and one tape: no landscape is built.
    job.options.constants.base = Some(8.0);
    let refused = job.prepare().expect_err("the inequality is violated");
    println!("b = 8: {refused}");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("no error");
}
