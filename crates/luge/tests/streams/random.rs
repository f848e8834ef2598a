//! Random machines that take samples.

use luge::Table;
use luge_landscape::Learner;
use luge_machine::{Access, Alphabet, Machine, Move, Pattern, SampleUse, StateId, SymbolId, Write};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Uniform};

/// A source of small numbers.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        Uniform::new(0, n).expect("more than nothing").sample(&mut self.0)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
}

/// A machine on 2 to 4 tapes: the data, theta, and work tapes. The first three states take, latch and wait; what the others do with
/// samples is left to chance.
pub(crate) fn learner(dice: &mut Dice) -> Learner {
    let mut b = Machine::builder();
    let n_tapes = 2 + dice.below(3) as usize;
    b.tape_with("data", Alphabet::binary(), Access::ReadOnly);
    b.tape("theta", Alphabet::binary());
    for tape in 2..n_tapes {
        b.tape(format!("work{tape}"), Alphabet::binary());
    }
    let n_states = 4 + dice.below(5) as usize;
    for state in 0..n_states {
        b.push_state(format!("q{state}"));
    }
    let end = b.halting_state("end", true);
    for state in 0..n_states {
        let id = StateId(state as u32);
        b.samples_in(
            id,
            match state {
                0 => SampleUse::Take,
                1 => SampleUse::Latch,
                2 | 3 => SampleUse::Pass,
                _ => dice.pick(&[SampleUse::Pass, SampleUse::Pass, SampleUse::Take, SampleUse::Latch]),
            },
        );
        for last in [false, false, false, true] {
            let next = match (state, dice.below(12)) {
                (0 | 1, _) => StateId(state as u32 + 1),
                (_, 0) => end,
                _ => StateId(dice.below(n_states as u32)),
            };
            let any = |dice: &mut Dice| last || dice.below(2) == 0;
            let symbol = |dice: &mut Dice| SymbolId(dice.below(2) as u8);
            let reads: Vec<Pattern> = (0..n_tapes)
                .map(|_| if any(dice) { Pattern::Any } else { Pattern::Is(symbol(dice)) })
                .collect();
            let writes: Vec<Write> = (0..n_tapes)
                .map(
                    |tape| {
                        if tape == 0 || dice.below(3) == 0 { Write::Keep } else { Write::Put(symbol(dice)) }
                    },
                )
                .collect();
            let moves: Vec<Move> =
                (0..n_tapes).map(|_| dice.pick(&[Move::Left, Move::Stay, Move::Right])).collect();
            b.rule(id, reads, writes, moves, next);
        }
    }
    Learner::new(&b.build().expect("a machine"), None).expect("a learner")
}

/// Numbers of a format with signs and fractions, as a table.
pub(crate) fn table(dice: &mut Dice, n_features: usize, n_labels: usize, unit: f64, steps: i32) -> Table {
    let n_rows = 12;
    let mut numbers = |n: usize| -> Vec<f64> {
        let range = 2 * steps.unsigned_abs() + 1;
        (0..n).map(|_| f64::from(dice.below(range) as i32 - steps) * unit).collect()
    };
    let names = |letter: &str, n: usize| (0..n).map(|i| format!("{letter}{i}")).collect();
    let (x, y) = (numbers(n_rows * n_features), numbers(n_rows * n_labels));
    Table::new(names("x", n_features), names("y", n_labels), x, y)
}
