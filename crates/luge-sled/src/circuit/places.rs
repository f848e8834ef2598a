//! Elements of arrays and samples: one select line per element that an index can refer to.

use std::collections::BTreeMap;

use luge_circuit::{Affine, Literal, RegisterId};

use super::{Compiler, Counter, MAX_DEPTH, Step, Word};
use crate::core::{Index, Place, Store};

/// The elements that an index can refer to, and the condition for each.
type Lines = Vec<(usize, Literal)>;

impl Compiler<'_> {
    /// Decodes an index. The run is rejected if it is out of bounds.
    fn lines(&mut self, index: &Index) -> Step<Lines> {
        let first = self.live.len();
        for part in &index.computed {
            let word = self.value(&part.value)?;
            self.live.push(word);
        }
        // Decoding and selecting add layers.
        if self.live[first..].iter().any(|word| self.depth(word) + 4 > MAX_DEPTH) {
            self.cut()?;
        }
        let computed: Vec<Word> = self.live.drain(first..).collect();
        let mut lines = vec![(index.known.constant, Literal::TRUE)];
        for &(var, factor) in &index.known.terms {
            let counter = self.counters[&var].clone();
            let word = self.read_word(&counter.word);
            let values = self.decoded(&word, counter.n_values);
            lines = self.combined(&lines, &values, |at| factor * (counter.least + at));
        }
        for (part, word) in index.computed.iter().zip(&computed) {
            let (sign, size) = (word[word.len() - 1], &word[..word.len() - 1]);
            let inside = self.decoded(size, usize::try_from(part.bound).unwrap_or(usize::MAX));
            let inside: Vec<Literal> = inside.iter().map(|&is| self.b.and([is, !sign])).collect();
            let some = self.b.sum(inside.iter().copied());
            self.reject(!some);
            lines = self.combined(&lines, &inside, |at| part.stride * at);
        }
        let inside = |(at, when): (i64, Literal)| Some((usize::try_from(at).ok()?, when));
        Ok(lines.into_iter().filter_map(inside).collect())
    }

    /// For each number below `n`, whether an unsigned word equals it.
    fn decoded(&mut self, word: &[Literal], n: usize) -> Vec<Literal> {
        let possible = if word.len() < 32 { n.min(1 << word.len()) } else { n };
        let line = |number: usize| {
            let bits = word.iter().enumerate();
            let is = |(at, &bit): (usize, &Literal)| {
                if at < 64 && number >> at & 1 == 1 { bit } else { !bit }
            };
            bits.map(is).collect::<Word>()
        };
        (0..possible).map(|number| self.b.and(line(number))).collect()
    }

    /// All sums of an index and a multiple of a decoded number, and the condition for each.
    fn combined(
        &mut self,
        a: &[(i64, Literal)],
        decoded: &[Literal],
        multiple: impl Fn(i64) -> i64,
    ) -> Vec<(i64, Literal)> {
        let mut sums: BTreeMap<i64, Vec<Literal>> = BTreeMap::new();
        for &(one, one_when) in a {
            for (at, &is) in (0..).zip(decoded) {
                let when = self.b.and([one_when, is]);
                sums.entry(one + multiple(at)).or_default().push(when);
            }
        }
        sums.into_iter().map(|(at, when)| (at, self.b.sum(when))).collect()
    }

    /// The word whose condition holds.
    fn chosen(&mut self, lines: &[(Literal, Word)], n_bits: usize) -> Word {
        let bit = |at: usize| {
            let parts: Vec<Literal> =
                lines.iter().map(|(when, word)| self.b.and([*when, word[at]])).collect();
            self.b.sum(parts)
        };
        (0..n_bits).map(bit).collect()
    }

    /// The registers of an element, or of a slot; `None` if there is no such element.
    fn registers(&self, store: Store, at: usize) -> Option<Vec<RegisterId>> {
        match store {
            Store::Slot(slot) => Some(self.slots[slot].clone()),
            Store::Array(array) => self.arrays[array].get(at).cloned(),
            Store::Data => None,
        }
    }

    /// A number of the held sample, if there are so many.
    fn datum(&mut self, at: usize, n_bits: usize) -> Option<Word> {
        let (n_features, n_labels) = (self.core.n_features, self.core.n_labels);
        let bit = |bit: usize| match at.checked_sub(n_features) {
            None => self.b.feature(at * n_bits + bit),
            Some(label) => self.b.label(label * n_bits + bit),
        };
        (at < n_features + n_labels).then(|| (0..n_bits).map(bit).collect())
    }

    /// The value at a place. Features and labels are 0 before the first sample is taken.
    pub(super) fn load(&mut self, place: &Place, n_bits: usize) -> Step<Word> {
        let mut words = Vec::new();
        for (at, when) in self.lines(&place.index)? {
            let word = match place.store {
                Store::Data => self.datum(at, n_bits),
                store => self.registers(store, at).map(|word| self.read_word(&word)),
            };
            words.extend(word.map(|word| (when, word)));
        }
        let begun = if place.store == Store::Data { self.has_begun() } else { Literal::TRUE };
        let word = self.chosen(&words, n_bits);
        Ok(word.into_iter().map(|bit| self.b.and([bit, begun])).collect())
    }

    /// Assigns a value to a variable or an element.
    pub(super) fn assign(&mut self, place: &Place, value: Word) -> Step<()> {
        self.live.push(value);
        let lines = self.lines(&place.index)?;
        let value = self.live.pop().unwrap_or_default();
        for (at, when) in lines {
            for (register, &bit) in self.registers(place.store, at).into_iter().flatten().zip(&value) {
                self.write(register, when, bit);
            }
        }
        Ok(())
    }

    /// The current value of an affine index or bound.
    pub(super) fn affine(&mut self, affine: &crate::core::Affine) -> Affine {
        let mut sum = Affine::default();
        sum.shift(i128::from(affine.constant));
        for &(var, factor) in &affine.terms {
            let counter = self.counters[&var].clone();
            let word = self.read_word(&counter.word);
            sum.shift(i128::from(factor) * i128::from(counter.least));
            sum.add_word(&word, i128::from(factor));
        }
        sum
    }

    /// The smallest and largest value of an affine index or bound.
    pub(super) fn range(&self, affine: &crate::core::Affine) -> (i64, i64) {
        affine.range(|var| {
            let Counter { least, n_values, .. } = self.counters[&var];
            (least, least + i64::try_from(n_values).unwrap_or(i64::MAX) - 1)
        })
    }

    /// Whether an affine difference is 0 or more.
    pub(super) fn not_negative(&mut self, difference: &crate::core::Affine) -> Literal {
        let (least, most) = self.range(difference);
        if least >= 0 || most < 0 {
            return Literal::constant(least >= 0);
        }
        let sum = self.affine(difference);
        self.is_not_negative(&sum, (least, most))
    }

    /// Whether a sum within these bounds is 0 or more.
    pub(super) fn is_not_negative(&mut self, sum: &Affine, (least, most): (i64, i64)) -> Literal {
        let size = most.unsigned_abs().max(least.unsigned_abs());
        let sign = (u64::BITS - size.leading_zeros()) as usize;
        !self.b.total(sum, sign + 1)[sign]
    }
}
