//! Fixed point: the bits of |x| by successive thresholds.

use crate::{GraphBuilder, LinearMap, NodeId};

use super::{Ties, absolute, bit_of_words, bits_of_steps, ramp, signed};
use crate::numbers::{FixedPoint, Negatives, power_of_two};

/// One vector per bit, the lowest first.
pub(super) fn quantize(g: &mut GraphBuilder, format: &FixedPoint, values: NodeId) -> Vec<NodeId> {
    let step = format.step();
    let n_bits = format.n_bits() - 1;
    let (magnitude, negated) = absolute(g, values);
    let negative = ramp::above(g, "sign", negated, step / 2.0);
    let mut bits = match format.negatives {
        Negatives::SignMagnitude => bits_of_steps(g, magnitude, step, n_bits, Ties::ToEven),
        Negatives::TwosComplement => {
            // -k is written as the complement of k - 1, which is odd where k is even.
            let even = g.affine("not negative", -1.0, negative, 1.0);
            let magnitude = g.sum("complemented", [(1.0, magnitude), (-step, negative)]);
            let bits = bits_of_steps(g, magnitude, step, n_bits, Ties::Either { even, odd: negative });
            bits.into_iter().map(|bit| differ(g, bit, negative)).collect()
        }
    };
    bits.push(negative);
    bits
}

/// 1 where two bits differ: `|a - b|`.
fn differ(g: &mut GraphBuilder, a: NodeId, b: NodeId) -> NodeId {
    let difference = g.sum("complement", [(1.0, a), (-1.0, b)]);
    absolute(g, difference).0
}

/// The sum of `bit_i 2^i` steps, the highest bit negative or a sign.
pub(super) fn dequantize(g: &mut GraphBuilder, format: &FixedPoint, bits: NodeId) -> NodeId {
    let n_bits = format.n_bits();
    let n_words = g.shape(bits).rows / n_bits as usize;
    let weight = |bit: u32| format.step() * power_of_two(bit.cast_signed());
    let mut weights: Vec<f64> = (0..n_bits - 1).map(weight).collect();
    if format.negatives == Negatives::TwosComplement {
        weights.push(-weight(n_bits - 1));
    }
    let entries = (0..n_words).flat_map(|word| {
        let first = word * n_bits as usize;
        weights.iter().enumerate().map(move |(i, &weight)| (word, first + i, weight))
    });
    let sum = g.linear("number", LinearMap::new(n_words, n_words * n_bits as usize, entries), bits);
    match format.negatives {
        Negatives::TwosComplement => sum,
        Negatives::SignMagnitude => {
            let sign = bit_of_words(g, "sign", bits, n_bits, n_bits - 1);
            signed(g, sign, sum)
        }
    }
}
