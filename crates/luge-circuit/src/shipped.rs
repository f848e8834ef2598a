//! Circuits that ship with Luge: learners for any number of bits, with one run cycle per sample.

use crate::{Builder, Circuit, Code, Literal, SampleShape};

/// A family of circuits, one per number of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shipped {
    /// Finds the bit that every label copies.
    WhichBit,
    /// Finds the bits of a parity, by Gauss-Jordan elimination.
    Parity,
    /// Finds the bits of a disjunction, by Winnow.
    Winnow,
}

/// Bits of a weight of [`Shipped::Winnow`]: 0 means 0, and e means 2^(e-1).
const EXPONENT_BITS: usize = 3;

/// Bits of the counter of samples in a row that Winnow classified correctly; it halts when all are 1.
const ENOUGH_BITS: usize = 5;

impl Shipped {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::WhichBit, Self::Parity, Self::Winnow];

    /// Its name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::WhichBit => "which_bit",
            Self::Parity => "parity_circuit",
            Self::Winnow => "winnow",
        }
    }

    /// What it learns.
    pub fn summary(self) -> &'static str {
        match self {
            Self::WhichBit => {
                "which bit the label copies: a bit stays a candidate while it agrees with every label"
            }
            Self::Parity => "which bits a parity counts, by Gauss-Jordan elimination, one sample a cycle",
            Self::Winnow => {
                "a disjunction of bits, by Winnow: weights double or halve until 31 samples in a row are right"
            }
        }
    }

    /// The circuit for samples of `n_bits` bits.
    ///
    /// # Panics
    /// If there are no bits.
    pub fn circuit(self, n_bits: usize) -> Circuit {
        assert!(n_bits > 0, "a sample has bits");
        let mut builder = Builder::new(self.name());
        builder.samples(SampleShape {
            n_features: n_bits,
            feature: Code::Bit,
            n_labels: 1,
            label: Code::Bit,
        });
        builder.next(Literal::TRUE);
        match self {
            Self::WhichBit => which_bit(&mut builder, n_bits),
            Self::Parity => parity(&mut builder, n_bits),
            Self::Winnow => winnow(&mut builder, n_bits),
        }
        builder.build().expect("a shipped circuit is valid")
    }
}

fn which_bit(b: &mut Builder, n: usize) {
    let registers: Vec<_> = (0..n).map(|i| b.register(format!("candidate[{i}]"), true)).collect();
    let candidates = b.word_value(&registers);
    let y = b.label(0);
    for i in 0..n {
        let x = b.feature(i);
        // The two agree if both are 1 or both are 0.
        let agrees = [b.and([candidates[i], x, y]), b.and([candidates[i], !x, !y])];
        let stays = b.sum(agrees);
        b.set(registers[i], stays);
    }
    let first = b.first(&candidates);
    // One candidate is left if none follows the first.
    let alone: Vec<Literal> = (0..n)
        .map(|i| b.and([first[i]].into_iter().chain(candidates[i + 1..].iter().map(|&c| !c))))
        .collect();
    let none = b.and(candidates.iter().map(|&c| !c));
    let halted = b.sum(alone.into_iter().chain([none]));
    b.halted(halted);
    let f = query_where(b, &first);
    let f = b.sum(f);
    b.output([f]);
}

/// The bits of the query, each and-ed with a condition.
fn query_where(b: &mut Builder, conditions: &[Literal]) -> Vec<Literal> {
    let bit = |(i, &condition): (usize, &Literal)| {
        let query = b.query(i);
        b.and([condition, query])
    };
    conditions.iter().enumerate().map(bit).collect()
}

/// Row `i`, once known, has its pivot at bit `i` and 0 at the pivots of all other rows. So one cycle can reduce the sample
/// by all rows at once, make its lowest remaining bit the pivot of a new row, and clear that bit in the others.
fn parity(b: &mut Builder, n: usize) {
    let known = b.word_register("known", n, 0);
    let rows: Vec<_> = (0..n).map(|i| b.word_register(&format!("row{i}"), n + 1, 0)).collect();
    let is_known = b.word_value(&known);
    let row_values: Vec<Vec<Literal>> = rows.iter().map(|row| b.word_value(row)).collect();
    let mut sample: Vec<Literal> = (0..n).map(|i| b.feature(i)).collect();
    sample.push(b.label(0));
    let reduced: Vec<Literal> = (0..=n)
        .map(|j| {
            let terms: Vec<Literal> = (0..n).map(|i| b.and([sample[i], row_values[i][j]])).collect();
            b.parity(terms.into_iter().chain([sample[j]]))
        })
        .collect();
    let pivot = b.first(&reduced[..n]);
    for i in 0..n {
        let now_known = b.sum([is_known[i], pivot[i]]);
        b.set(known[i], now_known);
        let at_pivot: Vec<Literal> = (0..n).map(|p| b.and([row_values[i][p], pivot[p]])).collect();
        let cleared = b.sum(at_pivot);
        for j in 0..=n {
            // A new row, or an old one to which the reduced sample is added or not.
            let ways = [
                b.and([pivot[i], reduced[j]]),
                b.and([row_values[i][j], !cleared, !pivot[i]]),
                b.and([row_values[i][j], cleared, !reduced[j]]),
                b.and([!row_values[i][j], cleared, reduced[j]]),
            ];
            let after = b.sum(ways);
            b.set(rows[i][j], after);
        }
    }
    let halted = b.and(is_known);
    b.halted(halted);
    let learned: Vec<Literal> = row_values.iter().map(|row| row[n]).collect();
    let f = query_where(b, &learned);
    let f = b.parity(f);
    b.output([f]);
}

/// Littlestone's Winnow: the circuit predicts 1 if the weights of the bits that are 1 sum to `n` or more. Weights are
/// powers of two: a wrong 0 doubles those of the bits that are 1, a wrong 1 halves them, down to 0.
fn winnow(b: &mut Builder, n: usize) {
    let weights: Vec<_> = (0..n).map(|i| b.word_register(&format!("weight{i}"), EXPONENT_BITS, 1)).collect();
    let right = b.word_register("right", ENOUGH_BITS, 0);
    let weight_values: Vec<Vec<Literal>> = weights.iter().map(|weight| b.word_value(weight)).collect();
    let x: Vec<Literal> = (0..n).map(|i| b.feature(i)).collect();
    let query: Vec<Literal> = (0..n).map(|i| b.query(i)).collect();
    let predicted = weigh(b, &weight_values, &x);
    let output = weigh(b, &weight_values, &query);
    b.output([output]);
    let y = b.label(0);
    let (too_low, too_high) = (b.and([y, !predicted]), b.and([!y, predicted]));
    for i in 0..n {
        let levels = b.decode(&weight_values[i]);
        let (up, down) = (b.and([too_low, x[i]]), b.and([too_high, x[i]]));
        // Exponents go up or down by one, but not beyond the first and the last.
        let top = levels.len() - 1;
        let mut after: Vec<Vec<Literal>> = vec![Vec::new(); EXPONENT_BITS];
        for (level, &at) in levels.iter().enumerate() {
            let ways = [b.and([at, up]), b.and([at, down]), b.and([at, !up, !down])];
            for (way, to) in ways.into_iter().zip([(level + 1).min(top), level.saturating_sub(1), level]) {
                (0..EXPONENT_BITS).filter(|bit| to >> bit & 1 == 1).for_each(|bit| after[bit].push(way));
            }
        }
        for (bit, ways) in after.into_iter().enumerate() {
            let target = b.sum(ways);
            b.set(weights[i][bit], target);
        }
    }
    let count = b.word_value(&right);
    let zero = vec![Literal::FALSE; ENOUGH_BITS];
    let (more, _) = b.add(&count, &zero, Literal::TRUE);
    let wrong = b.or([too_low, too_high]);
    let after: Vec<Literal> = more.iter().map(|&bit| b.and([bit, !wrong])).collect();
    b.set_word(&right, &after);
    let halted = b.and(count);
    b.halted(halted);
}

/// Whether the weights of the bits that are 1 sum to the number of bits or more.
fn weigh(b: &mut Builder, weights: &[Vec<Literal>], bits: &[Literal]) -> Literal {
    let n_bits = (1 << EXPONENT_BITS) + usize::BITS as usize - weights.len().leading_zeros() as usize;
    let words: Vec<Vec<Literal>> = weights
        .iter()
        .zip(bits)
        .map(|(weight, &bit)| {
            let levels = b.decode(weight);
            let ones: Vec<Literal> = levels[1..].iter().map(|&level| b.and([level, bit])).collect();
            // The sign bit: weights are nonnegative.
            ones.into_iter().chain([Literal::FALSE]).collect()
        })
        .collect();
    let sum = b.add_all(words, n_bits);
    let threshold: Vec<Literal> =
        (0..n_bits).map(|i| Literal::constant(weights.len() >> i & 1 == 1)).collect();
    !b.less(&sum, &threshold)
}
