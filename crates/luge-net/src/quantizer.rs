//! Networks of ReLU and product units that convert numbers to bits and back, with the same results as [`NumberFormat`].
//!
//! [`quantize`] computes the bits of [`NumberFormat::encode`] with [`Overflow::Saturate`](crate::numbers::Overflow::Saturate) for
//! every finite number, not only for numbers of the format: the thresholds are exactly where the rounding changes, the ramp
//! of a threshold is as narrow as the gap between two neighbours in f64, and all differences that matter are exact. Numbers
//! of the format are half a step away from every threshold, so small formats are safe in f32 too; in f16 the slopes
//! overflow.
//!
//! Units for each of the n values, where a format has N bits and floats have E exponent and M mantissa bits:
//!
//! | | quantize | dequantize |
//! |---|---|---|
//! | `fix`, two's complement | 4N ReLU | none |
//! | `fix`, sign-magnitude | 2N + 2 ReLU | 1 product |
//! | `float` | 2 (2^E + M + 1) ReLU, 1 product (none if M = 0) | 1 ReLU, E + 2 products |
//!
//! Departs from the paper: the printed algorithm returns inside its loop, uses an undefined y, ignores the sign, has no
//! exponent below 0 and no zero, and its range `e <= x < 2e` leaves only the lowest mantissa bit. Here the loop
//! over the exponents finds `2^m e <= |x| < 2^(m+1) e` with a biased exponent, zero is a case of its own, and numbers
//! are rounded to nearest. The mantissa is found once, after scaling by the exponent found, not once per exponent.
//!
//! Paper: Appendix B.

mod fixed;
mod float;
mod ramp;
#[cfg(test)]
mod tests;

use crate::{GraphBuilder, NodeId, Shape};

use crate::{NumberFormat, numbers::power_of_two};

/// The bits of a vector of finite numbers, as zeros and ones: a vector with the bits of the first number, the lowest
/// first, then those of the second, and so on. Numbers out of range saturate.
///
/// # Panics
/// If `values` is not a vector.
pub fn quantize(g: &mut GraphBuilder, format: &NumberFormat, values: NodeId) -> NodeId {
    let shape = g.shape(values);
    assert_eq!(shape, Shape::column(shape.rows), "a vector of numbers");
    let by_bit = match format {
        NumberFormat::Fixed(fixed) => fixed::quantize(g, fixed, values),
        NumberFormat::Float(float) => float::quantize(g, float, values),
    };
    let by_bit = by_bit.into_iter().reduce(|upper, lower| g.stack("bits", upper, lower));
    let n_bits = format.n_bits() as usize;
    let positions = (0..shape.rows).flat_map(|value| (0..n_bits).map(move |bit| bit * shape.rows + value));
    g.gather("bits", positions.collect(), by_bit.expect("at least two bits"))
}

/// The numbers with these bits, in the order of [`quantize`]; each bit is exactly 0 or 1.
///
/// # Panics
/// If `bits` is not a vector of whole words.
pub fn dequantize(g: &mut GraphBuilder, format: &NumberFormat, bits: NodeId) -> NodeId {
    let shape = g.shape(bits);
    let n_bits = format.n_bits() as usize;
    assert_eq!(shape, Shape::column(shape.rows), "a vector of bits");
    assert_eq!(shape.rows % n_bits, 0, "whole words of {n_bits} bits");
    match format {
        NumberFormat::Fixed(fixed) => fixed::dequantize(g, fixed, bits),
        NumberFormat::Float(float) => float::dequantize(g, float, bits),
    }
}

/// `|x| = ReLU(x) + ReLU(-x)`, and `-x`.
fn absolute(g: &mut GraphBuilder, values: NodeId) -> (NodeId, NodeId) {
    let negated = g.sum("negated", [(-1.0, values)]);
    let above = g.relu("positive part", values);
    let below = g.relu("negative part", negated);
    (g.sum("absolute value", [(1.0, above), (1.0, below)]), negated)
}

/// How ties between two whole numbers are rounded.
#[derive(Clone, Copy, Debug)]
enum Ties {
    /// To the even one.
    ToEven,
    /// To the odd one where `odd` is 1, to the even one where `even` is 1.
    Either { even: NodeId, odd: NodeId },
}

/// The bits, the lowest first, of the whole number of steps nearest to `of`: from the highest bit down, bit i is 1 if at
/// least `2^i - 1/2` steps are left, and then takes away `2^i` of them.
fn bits_of_steps(g: &mut GraphBuilder, of: NodeId, step: f64, n_bits: u32, ties: Ties) -> Vec<NodeId> {
    let mut rest = of;
    let mut bits = Vec::new();
    for i in (0..i32::try_from(n_bits).expect("at most 32 bits")).rev() {
        let weight = step * power_of_two(i);
        let at = weight - step / 2.0;
        // A number whose lowest set bit is bit i is odd only if i is 0, and it is the upper one of a tie.
        let bit = match ties {
            Ties::ToEven if i == 0 => ramp::above(g, "bit", rest, at),
            Ties::ToEven => ramp::at_least(g, "bit", rest, at),
            Ties::Either { even, .. } if i == 0 => ramp::at_least_or_above(g, "bit", rest, at, even),
            Ties::Either { odd, .. } => ramp::at_least_or_above(g, "bit", rest, at, odd),
        };
        bits.push(bit);
        if i > 0 {
            rest = g.sum("rest", [(1.0, rest), (-weight, bit)]);
        }
    }
    bits.reverse();
    bits
}

/// `(-1)^sign * magnitude` for a sign of 0 or 1, never -0.
fn signed(g: &mut GraphBuilder, sign: NodeId, magnitude: NodeId) -> NodeId {
    let negative = g.product("negative part", sign, magnitude);
    g.sum("number", [(1.0, magnitude), (-2.0, negative)])
}

/// Bit `index` of every word.
fn bit_of_words(g: &mut GraphBuilder, name: &str, bits: NodeId, n_bits: u32, index: u32) -> NodeId {
    let words = (0..g.shape(bits).rows).step_by(n_bits as usize);
    g.gather(name, words.map(|word| word + index as usize).collect(), bits)
}
