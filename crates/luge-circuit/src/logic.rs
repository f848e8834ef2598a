//! The usual building blocks: or, xor, multiplexers, words, sums, comparisons, decoders.
//!
//! A word is a slice of literals, lowest bit first. Everything is built from [`Builder::and`], [`Builder::sum`] and
//! [`Builder::parity`]; the documentation of each function states how many layers it adds.

use crate::{Builder, Literal, RegisterId};

impl Builder {
    /// 1 if some operand is 1. One layer.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Literal>) -> Literal {
        !self.and(operands.into_iter().map(|operand| !operand))
    }

    /// 1 if exactly one of two is 1. One layer.
    pub fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        match (a.as_constant(), b.as_constant()) {
            _ if a.wire == b.wire => Literal::constant(a != b),
            (Some(value), _) => b.negated_if(value),
            (_, Some(value)) => a.negated_if(value),
            (None, None) => {
                // a ^ b, !a ^ b and so on share their gates.
                let (low, high): (Literal, Literal) = (a.wire.min(b.wire).into(), a.wire.max(b.wire).into());
                let (one, other) = (self.and([low, !high]), self.and([!low, high]));
                self.sum([one, other]).negated_if(a.negated != b.negated)
            }
        }
    }

    /// `one` if `condition`, else `other`. One layer.
    pub fn mux(&mut self, condition: Literal, one: Literal, other: Literal) -> Literal {
        match condition.as_constant() {
            Some(true) => one,
            Some(false) => other,
            None if one == other => one,
            None if one == !other => self.xor(condition, other),
            None => {
                let (one, other) = (self.and([condition, one]), self.and([!condition, other]));
                self.sum([one, other])
            }
        }
    }

    /// For each operand, whether it is the first that is 1. One layer.
    pub fn first(&mut self, operands: &[Literal]) -> Vec<Literal> {
        let earlier = |i: usize| operands[..i].iter().map(|&operand| !operand);
        (0..operands.len()).map(|i| self.and(earlier(i).chain([operands[i]]))).collect()
    }

    /// For each number, whether the word equals it: 2^n literals of which exactly one is 1. One layer.
    pub fn decode(&mut self, word: &[Literal]) -> Vec<Literal> {
        (0..1_usize << word.len())
            .map(|number| {
                let bit =
                    |(i, &literal): (usize, &Literal)| if number >> i & 1 == 1 { literal } else { !literal };
                let bits: Vec<Literal> = word.iter().enumerate().map(bit).collect();
                self.and(bits)
            })
            .collect()
    }

    /// A register for each bit of a word, named `name[0]`, `name[1]`, ...
    pub fn word_register(&mut self, name: &str, n_bits: usize, initial: u64) -> Vec<RegisterId> {
        let bit = |i: usize| i < 64 && initial >> i & 1 == 1;
        (0..n_bits).map(|i| self.register(format!("{name}[{i}]"), bit(i))).collect()
    }

    /// The values of the registers of a word.
    pub fn word_value(&mut self, word: &[RegisterId]) -> Vec<Literal> {
        word.iter().map(|&register| self.value(register)).collect()
    }

    /// Sets the values that the registers of a word get in a run cycle.
    pub fn set_word(&mut self, word: &[RegisterId], target: &[Literal]) {
        assert_eq!(word.len(), target.len(), "bits of a word and of its target");
        word.iter().zip(target).for_each(|(&register, &literal)| self.set(register, literal));
    }

    /// `one` if `condition`, else `other`, bit by bit. One layer.
    pub fn mux_word(&mut self, condition: Literal, one: &[Literal], other: &[Literal]) -> Vec<Literal> {
        assert_eq!(one.len(), other.len(), "bits of two words");
        one.iter().zip(other).map(|(&one, &other)| self.mux(condition, one, other)).collect()
    }

    /// The sum of two words and a carry, and the carry out. One layer per bit.
    pub fn add(&mut self, a: &[Literal], b: &[Literal], carry: Literal) -> (Vec<Literal>, Literal) {
        assert_eq!(a.len(), b.len(), "bits of two words");
        let mut carry = carry;
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (some, other) = (self.and([a, b]), [self.and([a, !b, carry]), self.and([!a, b, carry])]);
            let after = self.sum([some, other[0], other[1]]);
            sum.push(self.xor3(a, b, carry));
            carry = after;
        }
        (sum, carry)
    }

    /// The sum of many words in two's complement, as a word of `n_bits` bits; further carries are dropped.
    pub fn add_all(&mut self, words: Vec<Vec<Literal>>, n_bits: usize) -> Vec<Literal> {
        let extended = |word: Vec<Literal>| {
            let sign = word.last().copied().unwrap_or(Literal::FALSE);
            word.into_iter().chain(std::iter::repeat(sign)).take(n_bits).collect::<Vec<_>>()
        };
        let mut words: Vec<Vec<Literal>> = words.into_iter().map(extended).collect();
        while words.len() > 1 {
            let pair = |pair: &[Vec<Literal>]| match pair {
                [a, b] => self.add(a, b, Literal::FALSE).0,
                _ => pair[0].clone(),
            };
            words = words.chunks(2).map(pair).collect();
        }
        words.pop().unwrap_or_else(|| vec![Literal::FALSE; n_bits])
    }

    /// Whether two words are equal. Two layers.
    pub fn equal(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let same: Vec<Literal> = a.iter().zip(b).map(|(&a, &b)| !self.xor(a, b)).collect();
        self.and(same)
    }

    /// Whether one unsigned word is less than another. Two layers.
    pub fn less(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let same: Vec<Literal> = a.iter().zip(b).map(|(&a, &b)| !self.xor(a, b)).collect();
        let decided: Vec<Literal> =
            (0..a.len()).map(|i| self.and(same[i + 1..].iter().copied().chain([!a[i], b[i]]))).collect();
        self.sum(decided)
    }

    /// The parity of three as a sum of four ands: one layer, and fewer units than a parity.
    fn xor3(&mut self, a: Literal, b: Literal, c: Literal) -> Literal {
        if [a, b, c].iter().any(|literal| literal.as_constant().is_some()) {
            let ab = self.xor(a, b);
            return self.xor(ab, c);
        }
        let odd = [[a, !b, !c], [!a, b, !c], [!a, !b, c], [a, b, c]].map(|operands| self.and(operands));
        self.sum(odd)
    }
}
