//! Integers as weighted sums of bits. A network adds without carries: a sum is one affine form, and thresholds convert
//! it to bits, highest first.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Builder, Gate, Literal, WireId};

/// A nonnegative number: a constant plus the weights of the operands that are 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Total {
    /// The value if all operands are 0.
    pub constant: u64,
    /// The bits of the sum.
    pub operands: Vec<Literal>,
    /// The weight of each operand.
    pub weights: Vec<u64>,
}

/// A sum with more bits is computed in several parts with carries between them, so that 32-bit floats are exact.
const MAX_PART: usize = 16;

/// Bits per digit: a digit of n bits takes 2^n - 1 thresholds in one layer.
const DIGIT: u32 = 3;

/// The first digit of a sum with more operands has one bit, because each of its thresholds reads all operands.
const MANY_OPERANDS: usize = 8;

impl Total {
    /// Whether each operand has a weight and the sum is small.
    pub(crate) fn is_valid(&self) -> bool {
        let sum = self.weights.iter().try_fold(self.constant, |sum, &weight| sum.checked_add(weight));
        self.operands.len() == self.weights.len() && sum.is_some_and(|sum| sum < 1 << 40)
    }

    /// The largest value.
    pub fn most(&self) -> u64 {
        self.constant + self.weights.iter().sum::<u64>()
    }

    /// Number of bits of the largest value.
    pub fn n_bits(&self) -> u32 {
        u64::BITS - self.most().leading_zeros()
    }

    /// The lowest bit of each digit, highest digit first. Each digit is one layer of thresholds.
    pub fn digits(&self) -> Vec<u32> {
        let first = if self.operands.len() > MANY_OPERANDS { 1 } else { DIGIT };
        let mut lowest = self.n_bits().saturating_sub(first);
        let mut digits = vec![lowest];
        while lowest > 0 {
            lowest = lowest.saturating_sub(DIGIT);
            digits.push(lowest);
        }
        digits
    }

    /// Number of layers from the operands to a bit.
    pub fn layers_until(&self, bit: u32) -> usize {
        1 + self.digits().iter().take_while(|&&lowest| lowest > bit).count()
    }

    /// The value, given those of the operands.
    pub fn value(&self, of: impl Fn(Literal) -> bool) -> u64 {
        let terms = self.operands.iter().zip(&self.weights);
        terms.filter(|(literal, _)| of(**literal)).fold(self.constant, |sum, (_, weight)| sum + weight)
    }
}

/// A weighted sum of literals, used modulo a power of two.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    constant: i128,
    terms: BTreeMap<WireId, i128>,
}

impl Affine {
    /// Adds a constant.
    pub fn shift(&mut self, by: i128) {
        self.constant = self.constant.wrapping_add(by);
    }

    /// Adds a literal times a weight.
    pub fn add(&mut self, literal: Literal, weight: i128) {
        match (literal.as_constant(), literal.negated) {
            (Some(value), _) => self.shift(if value { weight } else { 0 }),
            (None, false) => *self.terms.entry(literal.wire).or_default() += weight,
            (None, true) => {
                self.shift(weight);
                *self.terms.entry(literal.wire).or_default() -= weight;
            }
        }
    }

    /// Adds another sum, times a weight.
    pub fn add_sum(&mut self, other: &Self, weight: i128) {
        self.shift(other.constant * weight);
        other.terms.iter().for_each(|(&wire, &own)| *self.terms.entry(wire).or_default() += own * weight);
    }

    /// The sum with all weights reduced modulo 2^`n_bits`.
    #[must_use]
    pub fn modulo(mut self, n_bits: usize) -> Self {
        let modulus = 1_i128 << n_bits;
        self.constant = self.constant.rem_euclid(modulus);
        self.terms.values_mut().for_each(|weight| *weight = weight.rem_euclid(modulus));
        self.terms.retain(|_, weight| *weight != 0);
        self
    }

    /// Number of wires in the sum.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// Adds an unsigned word times a weight.
    pub fn add_word(&mut self, word: &[Literal], weight: i128) {
        word.iter().enumerate().for_each(|(bit, &literal)| self.add(literal, weight << bit));
    }
}

impl Builder {
    /// The low bits of a sum, lowest first.
    ///
    /// # Panics
    /// If `n_bits` is more than 126.
    pub fn total(&mut self, sum: &Affine, n_bits: usize) -> Vec<Literal> {
        assert!(n_bits <= 126, "{n_bits} bits of a sum");
        let modulus = 1_i128 << n_bits;
        let mut constant = sum.constant;
        let mut terms: Vec<(Literal, u128)> = Vec::new();
        for (&wire, weight) in &sum.terms {
            let weight = weight.rem_euclid(modulus);
            // Modulo 2^n, w l = w + (2^n - w) !l: use the smaller of the two weights.
            if weight > modulus / 2 {
                constant += weight;
                terms.push((!Literal::from(wire), (modulus - weight).unsigned_abs()));
            } else if weight > 0 {
                terms.push((wire.into(), weight.unsigned_abs()));
            }
        }
        let constant = constant.rem_euclid(modulus).unsigned_abs();
        let n_parts = n_bits.div_ceil(MAX_PART).max(1);
        let width = n_bits.div_ceil(n_parts);
        let mut bits = Vec::new();
        let mut carries: Vec<(Literal, u64)> = Vec::new();
        for first in (0..n_bits).step_by(width.max(1)) {
            let part = |number: u128| (number >> first) as u64 & ((1 << width) - 1);
            let here = terms.iter().map(|&(literal, weight)| (literal, part(weight))).chain(carries);
            let found = self.number(part(constant), here.filter(|term| term.1 > 0).collect());
            let split = found.len().min(width);
            carries = found[split..].iter().enumerate().map(|(bit, &carry)| (carry, 1 << bit)).collect();
            bits.extend_from_slice(&found[..split]);
            bits.resize(first + width, Literal::FALSE);
        }
        bits.truncate(n_bits);
        bits
    }

    /// All bits of a small sum.
    fn number(&mut self, mut constant: u64, mut terms: Vec<(Literal, u64)>) -> Vec<Literal> {
        let mut bits = Vec::new();
        // As long as the lowest bit has at most one term, it needs no sum.
        loop {
            let mut odd = terms.iter().enumerate().filter(|(_, term)| term.1 % 2 == 1).map(|(at, _)| at);
            let (first, more) = (odd.next(), odd.next().is_some());
            match (constant % 2, first) {
                _ if constant == 0 && terms.is_empty() => return bits,
                (_, None) => bits.push(Literal::constant(constant % 2 == 1)),
                (0, Some(at)) if !more && terms[at].1 == 1 => bits.push(terms.swap_remove(at).0),
                _ => break,
            }
            constant /= 2;
            terms.iter_mut().for_each(|term| term.1 /= 2);
        }
        terms.sort_unstable();
        let (operands, weights) = terms.into_iter().unzip();
        let total = Arc::new(Total { constant, operands, weights });
        let n_bits = total.n_bits();
        bits.extend((0..n_bits).map(|bit| self.gate(Gate::Bit(Arc::clone(&total), bit))));
        bits
    }

    /// Whether one number in two's complement is less than another. One layer up to 15 bits.
    pub fn less_signed(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let n_bits = a.len().max(b.len());
        // With the sign bit inverted the numbers are unsigned, and a < b if b + !a has a carry.
        let bit = |word: &[Literal], at: usize| {
            let literal = word[at.min(word.len() - 1)];
            if at + 1 == n_bits { !literal } else { literal }
        };
        if b.iter().all(|&bit| bit == Literal::FALSE) {
            return a[a.len() - 1];
        }
        let mut sum = Affine::default();
        for at in 0..n_bits {
            sum.add(bit(b, at), 1 << at);
            sum.add(!bit(a, at), 1 << at);
        }
        self.total(&sum, n_bits + 1)[n_bits]
    }
}
