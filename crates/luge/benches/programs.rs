//! The figures of docs/sled.md: sizes and steps of the learners that ship, steps of the operators.

use std::{ops::ControlFlow, time::Instant};

use luge::{
    data::Table,
    job::{
        TrainJob,
        catalogue::{SHIPPED, Shipped},
        program,
    },
};
use luge_landscape::Learner;
use luge_machine::{
    Simulator,
    lowering::{Moves, lower},
};
use luge_net::NumberFormat;

/// A program on a table: states, tapes, tracks, vertices, steps, and seconds to compile and to run.
fn figures(text: &str, table: &Table, format: NumberFormat) -> (usize, usize, usize, u64, u64, f64, f64) {
    let sizes = program::sizes(format, table.feature_names.len(), table.label_names.len()).expect("sizes");
    let started = Instant::now();
    let compiled = program::compile(text, "program", &sizes, &[]).expect("a program");
    let compiling = started.elapsed().as_secs_f64();
    let learner = Learner::new(&compiled.machine, Some(&compiled.input)).expect("a learner");
    let input = learner.source_input(&program::layout(table, format), &program::bits(table, format));
    let started = Instant::now();
    let mut simulator = Simulator::new(&compiled.machine, &input);
    assert!(simulator.run(1_000_000_000).accepting());
    let running = started.elapsed().as_secs_f64();
    let size = lower(&compiled.machine, Moves::Keep).expect("a normal form").after;
    let states = compiled.machine.states().len();
    (states, compiled.machine.n_tapes(), size.tapes, size.vertices, simulator.steps(), compiling, running)
}

/// Seconds from data to certificate, every iterate compared with the simulator.
fn training(shipped: &Shipped) -> f64 {
    let started = Instant::now();
    let lesson = TrainJob::of(shipped.source()).expect("data").prepare().expect("a lesson");
    let lessons = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
    assert!(lessons.certificate.proves_the_run());
    started.elapsed().as_secs_f64()
}

fn steps(value: &str, a: &str, b: &str, format: &str) -> u64 {
    let text = format!(
        "learner one(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
            let a: fix<I,F>; let b: fix<I,F>;
            for sample in data {{ a = x[0]; b = x[1]; theta[0] = {value}; }}
        }}"
    );
    let table = Table::read(format!("a,b,y\n{a},{b},0\n").as_bytes(), &["y".to_owned()], None);
    figures(&text, &table.expect("a table"), format.parse().expect("a format")).4
}

fn main() {
    let mut out = String::from(
        "| learner | states | tapes | tracks | vertices | machine steps | compiled in | simulated in | trained and certified in |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for shipped in SHIPPED.iter().filter(|shipped| shipped.extension == "sled") {
        let job = TrainJob::of(shipped.source()).expect("data");
        let table = job.table().expect("data that fit");
        let (states, tapes, tracks, vertices, steps, compiling, running) =
            figures(shipped.text, &table, job.options.format);
        out.push_str(&format!(
            "| {} | {states} | {tapes} | {tracks} | {vertices} | {steps} | {:.1} ms | {:.1} ms | {:.2} s |\n",
            shipped.name,
            compiling * 1e3,
            running * 1e3,
            training(shipped)
        ));
    }
    out.push_str("\n| operator | 8 bits | 16 bits | 32 bits |\n|---|---|---|---|\n");
    // The smallest number below zero is all ones, which makes the longest products.
    let formats = [("fix:4.4", "0.0625"), ("fix:8.8", "0.00390625"), ("fix:16.16", "0.0000152587890625")];
    for op in ["a + b", "a - b", "a * b", "a / b"] {
        out.push_str(&format!("| `{op}` |"));
        for (format, least) in formats {
            let below = format!("-{least}");
            let pairs =
                [(&*below, &*below), ("5", &below), (&below, "3"), ("-7", least), ("7.9", least), ("1", "3")];
            let difference = |(a, b)| steps(op, a, b, format) - steps("a", a, b, format);
            out.push_str(&format!(" {} |", pairs.map(difference).into_iter().max().unwrap_or(0)));
        }
        out.push('\n');
    }
    std::io::Write::write_all(&mut std::io::stdout(), out.as_bytes()).expect("standard output");
}
