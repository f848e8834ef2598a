//! The simulator beside a plain table loop over bytes, in one run: the five-state busy beaver from start to halt.
//!
//! Fails where the simulator is less than half as fast.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use luge_machine::{Alphabet, Input, Machine, Move, Pattern::Is, Simulator, SymbolId, Write::Put};

/// Per state and symbol read: the symbol written, the move, the next state; state 5 halts.
const RULES: [[(u8, i8, u8); 2]; 5] = [
    [(1, 1, 1), (1, -1, 2)],
    [(1, 1, 2), (1, 1, 1)],
    [(1, 1, 3), (0, -1, 4)],
    [(1, -1, 0), (1, -1, 3)],
    [(1, 1, 5), (0, -1, 0)],
];
const N_STEPS: u64 = 47_176_870;
const N_ONES: u64 = 4098;
const N_ROUNDS: usize = 15;
const TARGET: f64 = 0.5;

fn plain_loop(rules: &[[(u8, i8, u8); 2]; 5]) -> (u64, u64) {
    let mut tape = vec![0_u8; 1 << 16];
    let (mut state, mut head, mut steps) = (0_u8, tape.len() / 2, 0);
    while let Some(row) = rules.get(usize::from(state)) {
        let (written, offset, next) = row[usize::from(tape[head])];
        tape[head] = written;
        head = head.wrapping_add_signed(isize::from(offset));
        state = next;
        steps += 1;
    }
    (steps, tape.iter().map(|&cell| u64::from(cell)).sum())
}

fn machine() -> Machine {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    let mut states = ["A", "B", "C", "D", "E"].map(|name| b.state(name)).to_vec();
    states.push(b.halting_state("Z", true));
    for (&state, row) in states.iter().zip(&RULES) {
        for (read, &(written, offset, next)) in row.iter().enumerate() {
            let head_move = if offset > 0 { Move::Right } else { Move::Left };
            let next = states[usize::from(next)];
            b.rule(state, [Is(SymbolId::new(read))], [Put(SymbolId(written))], [head_move], next);
        }
    }
    b.build().expect("the table is a machine")
}

fn timed(run: impl FnOnce() -> (u64, u64)) -> Duration {
    let start = Instant::now();
    let end = black_box(run());
    let time = start.elapsed();
    assert_eq!(end, (N_STEPS, N_ONES));
    time
}

fn report(what: &str, time: Duration) {
    let rate = N_STEPS as f64 / time.as_secs_f64() / 1e6;
    println!("{what:<12}{:>8.1} ms{rate:>10.1} million steps/s", time.as_secs_f64() * 1e3);
}

fn main() -> ExitCode {
    let machine = machine();
    let (mut plain, mut simulated) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        plain.push(timed(|| plain_loop(black_box(&RULES))));
        simulated.push(timed(|| {
            let mut simulator = Simulator::new(black_box(&machine), &Input::blank());
            simulator.run(u64::MAX);
            (simulator.steps(), simulator.n_nonblank())
        }));
    }
    plain.sort();
    simulated.sort();
    let (plain, simulated) = (plain[N_ROUNDS / 2], simulated[N_ROUNDS / 2]);
    let ratio = plain.as_secs_f64() / simulated.as_secs_f64();
    println!("five-state busy beaver, median of {N_ROUNDS} interleaved runs");
    report("plain loop", plain);
    report("simulator", simulated);
    println!("ratio       {ratio:>8.2}    (at least {TARGET})");
    if ratio >= TARGET { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
