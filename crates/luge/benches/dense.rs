//! Steps per second of the dense engine on the five-state busy beaver with 1,024 cells.
//!
//! `cargo bench -p luge --bench dense` prints the time per step on each landscape, and how many times faster that is than
//! the 0.46 ms that PyTorch eager needs for a step of the same network on one thread.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{ops::ControlFlow, time::Instant};

use luge_landscape::{Configuration, Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{NormalForm, formats::Format};
use luge_train::{Dense, Precision, Rate, StopRule, train};

const CHAMPION: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
const N_CELLS: usize = 1024;
const N_STEPS: u64 = 20_000;
const PYTORCH_EAGER: f64 = 0.46e-3;

fn main() {
    let machine = Format::Bbchallenge.read(CHAMPION).expect("a machine").machine;
    let normal = NormalForm::new(machine.clone()).expect("a binary machine");
    let tapes = vec![vec![false; N_CELLS]];
    let start = Configuration { state: machine.start(), tapes, heads: vec![N_CELLS / 2] };
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let landscape =
            Landscape::build(&normal, &LandscapeOptions::new(kind, N_CELLS)).expect("a landscape");
        let (parameters, inputs) = landscape.encode(&start).expect("a vertex");
        let network = landscape.network();
        let mut engine =
            Dense::new(network, &parameters, &inputs, Precision::F64, Rate::One, None).expect("an engine");
        let stop = StopRule { loss_at_most: landscape.bounds().stop, not_before: 0, most_steps: N_STEPS };
        let started = Instant::now();
        let outcome = train(&mut engine, &stop, |_| ControlFlow::Continue(())).expect("gradients");
        let per_step = started.elapsed().as_secs_f64() / outcome.steps() as f64;
        println!(
            "{:<8} {:>7.1} us per step, {:>4.1} times PyTorch eager",
            kind.word(),
            per_step * 1e6,
            PYTORCH_EAGER / per_step
        );
    }
}
