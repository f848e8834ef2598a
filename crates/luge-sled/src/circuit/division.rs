//! Quotients: schoolbook division of magnitudes, a few bits per cycle.

use luge_circuit::{Affine, Literal};

use super::{Compiler, MAX_DEPTH, Step, Word};
use crate::core::Ty;

impl Compiler<'_> {
    /// Pops the last two live words and returns their quotient, rounded towards zero; 0 if the divisor is 0.
    pub(super) fn quotient(&mut self, ty: Ty) -> Step<Word> {
        let (n_bits, fraction) = (ty.width() as usize, ty.fraction as usize);
        let divisor = &self.live[self.live.len() - 1];
        let known: Option<Vec<bool>> = divisor.iter().map(|bit| bit.as_constant()).collect();
        let power = known.filter(|bits| !bits[n_bits - 1] && bits.iter().filter(|&&bit| bit).count() == 1);
        if let Some(power) = power.and_then(|bits| bits.iter().position(|&bit| bit)) {
            // Dividing by a power of two shifts the magnitude.
            return self.operate(2, |c, words| {
                let (sign, size) = (words[0][n_bits - 1], c.magnitude(&words[0]));
                let bit = |at: usize| (at + power).checked_sub(fraction).and_then(|at| size.get(at).copied());
                let size: Word = (0..n_bits).map(|at| bit(at).unwrap_or(Literal::FALSE)).collect();
                c.negated_if(sign, &size)
            });
        }
        // The magnitudes replace the operands, followed by the other state of the loop.
        let first = self.live.len() - 2;
        let [a, b] = [first, first + 1].map(|at| self.live[at].clone());
        let sign = self.b.xor(a[n_bits - 1], b[n_bits - 1]);
        let some = self.b.or(b.iter().copied());
        let step_depth = n_bits.div_ceil(3) + 3;
        let n_at_once = (MAX_DEPTH / step_depth).max(1);
        let n_rounds = (n_bits + fraction).div_ceil(n_at_once);
        let mut digits = vec![Literal::FALSE; fraction];
        digits.extend(self.magnitude(&a));
        digits.resize(n_rounds * n_at_once, Literal::FALSE);
        let n_count = usize::BITS - n_rounds.leading_zeros();
        self.live[first] = digits;
        self.live[first + 1] = self.magnitude(&b);
        self.live.push(vec![Literal::FALSE; n_bits]);
        self.live.push(vec![Literal::FALSE; n_count as usize]);
        self.live.push(vec![sign, some]);
        self.cut()?;
        let body = self.here();
        let [digits, divisor, rest, count] = [0, 1, 2, 3].map(|at| self.live[first + at].clone());
        let (digits, rest) = self.divided(digits, &divisor, rest, n_at_once);
        let counted = self.incremented(&count);
        let last = super::values::constant(i64::try_from(n_rounds - 1).unwrap_or(i64::MAX), count.len());
        let done = self.b.equal(&count, &last);
        for (at, word) in [(0, &digits), (2, &rest), (3, &counted)] {
            let kept = self.temporaries[first + at][..word.len()].to_vec();
            self.write_word(&kept, word);
        }
        self.exit(!done, body);
        let end = self.new_state();
        self.jump(end);
        self.begin(end);
        let flags = self.live[first + 4].clone();
        self.live.truncate(first + 1);
        self.live[first].truncate(n_bits);
        self.live.push(flags);
        self.operate(2, |c, words| {
            let quotient = c.negated_if(words[1][0], &words[0]);
            quotient.into_iter().map(|bit| c.b.and([bit, words[1][1]])).collect()
        })
    }

    /// `n` steps: the highest digit moves into the remainder, and a bit of the quotient enters at the bottom.
    fn divided(&mut self, mut digits: Word, divisor: &[Literal], mut rest: Word, n: usize) -> (Word, Word) {
        let n_bits = divisor.len();
        for _ in 0..n {
            rest.insert(0, digits.pop().unwrap_or(Literal::FALSE));
            // The highest bit of rest - divisor + 2^n is 1 if the difference is not negative.
            let inverted: Word = divisor.iter().map(|&bit| !bit).collect();
            let mut difference = Affine::default();
            difference.shift(1);
            difference.add_word(&rest, 1);
            difference.add_word(&inverted, 1);
            let less = self.b.total(&difference, n_bits + 1);
            let fits = less[n_bits];
            rest = self.b.mux_word(fits, &less[..n_bits], &rest[..n_bits]);
            digits.insert(0, fits);
        }
        (digits, rest)
    }
}
