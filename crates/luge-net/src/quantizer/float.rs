//! Small floats: the exponent by the paper's loop over all exponents, unrolled; the mantissa as fixed point.

use crate::{GraphBuilder, LinearMap, NodeId, Shape, Values};

use super::{Ties, absolute, bit_of_words, bits_of_steps, ramp, signed};
use crate::numbers::{SmallFloat, power_of_two};

/// Vectors with all lowest bits, then all bits above, and so on: mantissa, exponent, sign.
pub(super) fn quantize(g: &mut GraphBuilder, format: &SmallFloat, values: NodeId) -> Vec<NodeId> {
    let thresholds: Vec<f64> = (1..=format.largest_exponent()).map(|k| threshold(format, k)).collect();
    let (magnitude, negated) = absolute(g, values);
    let negative = ramp::at_least(g, "sign", negated, thresholds[0]);
    let reached = ramp::at_least_each(g, "exponent", magnitude, &thresholds);
    let mut bits = Vec::new();
    if format.n_mantissa > 0 {
        let fraction = fraction(g, format, magnitude, reached);
        bits = bits_of_steps(g, fraction, mantissa_step(format), format.n_mantissa, Ties::ToEven);
    }
    bits.push(exponent_bits(g, format, reached));
    bits.push(negative);
    bits
}

/// The mantissa without its leading 1: `|x|` divided by the power of two found for it, minus 1; for zero, 0.
fn fraction(g: &mut GraphBuilder, format: &SmallFloat, magnitude: NodeId, reached: NodeId) -> NodeId {
    let Shape { rows: n_values, cols: n_exponents } = g.shape(reached);
    let beyond = g.shift("next exponent", -1, reached);
    let exponent = g.sum("exponent", [(1.0, reached), (-1.0, beyond)]);
    let scales = (1..=format.largest_exponent()).map(|k| power_of_two(format.bias() - k)).collect();
    let scales = g.constant("scales", Values::new(Shape::new(1, n_exponents), scales));
    let scale = g.product("scale", exponent, scales);
    let scale = g.sum_columns("scale", scale);
    let scaled = g.product("mantissa", magnitude, scale);
    let first = (0..n_values).map(|value| value * n_exponents).collect();
    let leading = g.gather("leading bit", first, reached);
    g.sum("mantissa", [(1.0, scaled), (-1.0, leading)])
}

/// The bits of the number of thresholds reached: counting up to it, bit j changes at the multiples of `2^j`.
fn exponent_bits(g: &mut GraphBuilder, format: &SmallFloat, reached: NodeId) -> NodeId {
    let Shape { rows: n_values, cols: n_exponents } = g.shape(reached);
    let n_bits = format.n_exponent as usize;
    let mut entries = Vec::new();
    for (j, value) in (0..n_bits).flat_map(|j| (0..n_values).map(move |value| (j, value))) {
        let mut sign = 1.0;
        for k in (1 << j..=n_exponents).step_by(1 << j) {
            entries.push((j * n_values + value, value * n_exponents + k - 1, sign));
            sign = -sign;
        }
    }
    let reached = g.gather("exponent", (0..n_values * n_exponents).collect(), reached);
    g.linear("exponent bits", LinearMap::new(n_bits * n_values, n_values * n_exponents, entries), reached)
}

/// The smallest number that rounds to one with written exponent `k` or a larger one.
fn threshold(format: &SmallFloat, k: i32) -> f64 {
    let power = format.scale(k);
    if k == 1 {
        return (power / 2.0).next_up();
    }
    let middle = power - power * mantissa_step(format) / 4.0;
    // Without mantissa bits a tie is decided by the lowest bit of the exponent.
    if format.n_mantissa == 0 && k % 2 == 1 { middle.next_up() } else { middle }
}

/// The weight of the lowest mantissa bit, relative to the leading 1.
fn mantissa_step(format: &SmallFloat) -> f64 {
    power_of_two(-i32::try_from(format.n_mantissa).expect("at most 32 bits"))
}

/// Sign, mantissa and the product of the factors `2^(b_j 2^j)`.
///
/// Departs from the paper: printed as a product of the terms `b_j 2^j`, which is 0 as soon as one bit is.
pub(super) fn dequantize(g: &mut GraphBuilder, format: &SmallFloat, bits: NodeId) -> NodeId {
    let n_bits = format.n_bits();
    let bit = |g: &mut GraphBuilder, name: &str, i: u32| bit_of_words(g, name, bits, n_bits, i);

    // Scaled by 2^-bias already: the largest factors would overflow otherwise.
    let unit = power_of_two(-format.bias());
    let one = g.scalar("one", 1.0);
    let mut mantissa = vec![(unit, one)];
    let mut weight = unit * mantissa_step(format);
    for i in 0..format.n_mantissa {
        mantissa.push((weight, bit(g, "mantissa bit", i)));
        weight *= 2.0;
    }
    let mantissa = g.sum("mantissa", mantissa);

    let exponent: Vec<NodeId> =
        (0..format.n_exponent).map(|j| bit(g, "exponent bit", format.n_mantissa + j)).collect();
    let none = g.sum("zero", [(1.0, one)].into_iter().chain(exponent.iter().map(|&b| (-1.0, b))));
    let zero = g.relu("zero", none);
    let nonzero = g.affine("nonzero", -1.0, zero, 1.0);
    let mut magnitude = g.product("nonzero", mantissa, nonzero);
    let factors = exponent.iter().zip(0..).map(|(&b, j)| {
        let factor = power_of_two(1 << j);
        g.sum("factor", [(1.0, one), (-1.0, b), (factor, b)])
    });
    for factor in factors.collect::<Vec<_>>() {
        magnitude = g.product("magnitude", magnitude, factor);
    }
    let sign = bit(g, "sign", n_bits - 1);
    signed(g, sign, magnitude)
}
