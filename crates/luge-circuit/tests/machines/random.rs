//! Random machines, with and without samples, and their tapes.

use luge_circuit::{Code, SampleShape};
use luge_machine::{
    Access, Alphabet, Cell, Input, Machine, Missing, Move, Pattern, SampleUse, StateId, SymbolId, TapeId,
    TapeInput, Write, stream::Memory,
};

/// Random numbers that are the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn symbols(&mut self, n: usize) -> Vec<SymbolId> {
        (0..n).map(|_| SymbolId(u8::from(self.chance(50)))).collect()
    }
}

/// A machine with wildcards, stay moves, read-only tapes and missing rules; with a stream its tape 0 shows samples.
pub(crate) fn random_machine(random: &mut Random, stream: bool) -> Machine {
    let mut b = Machine::builder();
    let n_tapes = 1 + usize::from(stream) + usize::try_from(random.below(2)).expect("small");
    let read_only: Vec<bool> = (0..n_tapes).map(|t| stream && t == 0 || random.chance(15)).collect();
    for (tape, &read_only) in read_only.iter().enumerate() {
        let access = if read_only { Access::ReadOnly } else { Access::ReadWrite };
        b.tape_with(format!("t{tape}"), Alphabet::binary(), access);
    }
    let n_states = 2 + random.below(6);
    let states: Vec<StateId> = (0..n_states).map(|q| b.state(format!("q{q}"))).collect();
    let end = b.halting_state("end", true);
    for &state in &states {
        for _ in 0..1 + random.below(5) {
            let n = n_tapes;
            let reads: Vec<Pattern> = (0..n)
                .map(|_| if random.chance(40) { Pattern::Any } else { Pattern::Is(random.symbols(1)[0]) })
                .collect();
            let writes: Vec<Write> = (0..n)
                .map(|t| {
                    if read_only[t] || random.chance(30) {
                        Write::Keep
                    } else {
                        Write::Put(random.symbols(1)[0])
                    }
                })
                .collect();
            let moves: Vec<Move> = (0..n)
                .map(|_| {
                    [Move::Left, Move::Stay, Move::Right][usize::try_from(random.below(3)).expect("small")]
                })
                .collect();
            let next = if random.chance(4) {
                end
            } else {
                states[usize::try_from(random.below(n_states)).expect("small")]
            };
            b.rule(state, reads, writes, moves, next);
        }
        if random.chance(70) {
            let next = states[usize::try_from(random.below(n_states)).expect("small")];
            b.rule(
                state,
                vec![Pattern::Any; n_tapes],
                vec![Write::Keep; n_tapes],
                vec![Move::Right; n_tapes],
                next,
            );
        }
        if stream && random.chance(45) {
            b.samples_in(state, if random.chance(50) { SampleUse::Take } else { SampleUse::Latch });
        }
    }
    b.missing(if random.chance(50) { Missing::Halt } else { Missing::Reject });
    b.build().expect("a machine")
}

/// Filled, asymmetric tapes with heads off the first cell.
pub(crate) fn random_input(random: &mut Random, n_tapes: usize) -> Input {
    let tape = |random: &mut Random| TapeInput {
        symbols: random.symbols(9),
        head: Cell::try_from(random.below(7)).expect("small"),
    };
    Input { tapes: (0..n_tapes).map(|_| tape(random)).collect() }
}

/// Two bits and a label.
pub(crate) const SHAPE: SampleShape =
    SampleShape { n_features: 2, feature: Code::Bit, n_labels: 1, label: Code::Bit };

/// The cells of tape 0 that show a sample.
pub(crate) fn memory() -> Memory {
    Memory { tape: TapeId(0), features: vec![1, 4], labels: vec![2] }
}
