//! Numbers and conditions as logic. Quotients: schoolbook division of magnitudes, a few bits per cycle.

use luge_circuit::{Affine, Literal};

use super::{Compiler, MAX_DEPTH, Step, Word};
use crate::core::{Expr, Op, Ty};

/// A term of a sum: a live word, or two that are multiplied.
struct Term {
    factor: i128,
    /// The kind of product, and the number of fraction bits that it drops.
    product: Option<(Op, usize)>,
}

impl Term {
    fn product(op: Op, ty: Ty, factor: i128) -> Self {
        Self { factor, product: Some((op, ty.fraction as usize)) }
    }
}

/// Sums with more literals are not expanded inside other sums.
const MAX_TERMS: usize = 1_024;

/// A constant as a word.
pub(super) fn constant(raw: i64, n_bits: usize) -> Word {
    (0..n_bits).map(|bit| Literal::constant(raw >> bit.min(63) & 1 == 1)).collect()
}

/// A word sign-extended or truncated to a number of bits.
fn resized(word: &[Literal], n_bits: usize) -> Word {
    (0..n_bits).map(|bit| word[bit.min(word.len() - 1)]).collect()
}

fn sign(word: &[Literal]) -> Literal {
    word[word.len() - 1]
}

impl Compiler<'_> {
    pub(super) fn depth(&self, word: &[Literal]) -> usize {
        word.iter().map(|&bit| self.b.depth(bit)).max().unwrap_or(0)
    }

    /// Pops the last live words and applies an operator. If its logic is too deep, a new cycle begins first.
    fn operate(&mut self, n_operands: usize, operator: impl Fn(&mut Self, &[Word]) -> Word) -> Step<Word> {
        let first = self.live.len() - n_operands;
        let operands = self.live[first..].to_vec();
        let mut result = operator(self, &operands);
        if self.depth(&result) > MAX_DEPTH && operands.iter().any(|word| self.depth(word) > 0) {
            self.cut()?;
            let operands = self.live[first..].to_vec();
            result = operator(self, &operands);
        }
        self.live.truncate(first);
        Ok(result)
    }

    /// The value of a condition.
    pub(super) fn bit(&mut self, condition: &Expr) -> Step<Literal> {
        Ok(self.value(condition)?[0])
    }

    fn push(&mut self, expr: &Expr) -> Step<()> {
        let word = self.value(expr)?;
        self.live.push(word);
        Ok(())
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Step<Word> {
        let ty = expr.ty();
        let n_bits = ty.width() as usize;
        match expr {
            Expr::Constant { raw, .. } => Ok(constant(*raw, n_bits)),
            Expr::Load(place, _) => self.load(place, n_bits),
            // Programs with tapes are refused earlier.
            Expr::Read(_) => Ok(vec![Literal::FALSE]),
            Expr::Not(e) => Ok(vec![!self.bit(e)?]),
            Expr::Binary(op @ (Op::And | Op::Or), a, b) if ty == Ty::BIT => self.both(*op, a, b),
            Expr::Negate(_) | Expr::Binary(Op::Add | Op::Sub, ..) => self.sum(expr, n_bits),
            Expr::Abs(e) => {
                self.push(e)?;
                self.operate(1, |c, words| c.magnitude(&words[0]))
            }
            Expr::Sign(e) => {
                self.push(e)?;
                self.operate(1, move |c, words| {
                    let (sign, some) = (sign(&words[0]), c.b.or(words[0].iter().copied()));
                    let one = ty.fraction as usize;
                    [vec![Literal::FALSE; one], vec![some], vec![sign; n_bits - one - 1]].concat()
                })
            }
            Expr::Binary(op, a, b) => {
                self.push(a)?;
                self.push(b)?;
                match op {
                    Op::Div => self.quotient(a.ty()),
                    Op::And | Op::Or | Op::Xor => self.operate(2, |c, words| {
                        let pairs = words[0].iter().zip(&words[1]);
                        let both = pairs.map(|(&a, &b)| match op {
                            Op::And => c.b.and([a, b]),
                            Op::Or => c.b.or([a, b]),
                            _ => c.b.xor(a, b),
                        });
                        both.collect()
                    }),
                    Op::Less => self.operate(2, |c, words| vec![c.b.less_signed(&words[0], &words[1])]),
                    Op::Equal => self.operate(2, |c, words| vec![c.equal(&words[0], &words[1])]),
                    Op::Min | Op::Max => self.operate(2, |c, words| {
                        let less = c.b.less_signed(&words[0], &words[1]);
                        let first = if *op == Op::Min { less } else { !less };
                        c.b.mux_word(first, &words[0], &words[1])
                    }),
                    _ => {
                        let terms = [Term::product(*op, a.ty(), 1)];
                        self.operate(2, |c, words| c.added(&terms, words, n_bits))
                    }
                }
            }
            Expr::Shl(e, k) => {
                let word = self.value(e)?;
                let k = *k as usize;
                Ok((0..n_bits).map(|bit| if bit < k { Literal::FALSE } else { word[bit - k] }).collect())
            }
            Expr::Shr(e, k) => {
                let word = self.value(e)?;
                Ok((0..n_bits).map(|bit| word[(bit + *k as usize).min(n_bits - 1)]).collect())
            }
            Expr::Cast(e, to) => {
                let (word, from) = (self.value(e)?, e.ty());
                Ok(converted(&word, from, *to))
            }
            Expr::Clamp(e, _) => {
                self.push(e)?;
                self.operate(1, move |c, words| c.clamped(&words[0], n_bits))
            }
        }
    }

    /// A sum of terms of one type. Overflow is dropped, so it can be dropped once at the end.
    fn sum(&mut self, expr: &Expr, n_bits: usize) -> Step<Word> {
        let first = self.live.len();
        let mut terms = Vec::new();
        self.terms(expr, 1, &mut terms)?;
        self.operate(self.live.len() - first, |c, words| c.added(&terms, words, n_bits))
    }

    /// Collects the terms of a sum, and pushes their operands as live words.
    fn terms(&mut self, expr: &Expr, factor: i128, terms: &mut Vec<Term>) -> Step<()> {
        match expr {
            Expr::Negate(e) => self.terms(e, -factor, terms),
            Expr::Binary(op @ (Op::Add | Op::Sub), a, b) => {
                self.terms(a, factor, terms)?;
                self.terms(b, if *op == Op::Add { factor } else { -factor }, terms)
            }
            Expr::Binary(op @ (Op::Mul | Op::MulRound | Op::MulWide), a, b) => {
                self.push(a)?;
                self.push(b)?;
                terms.push(Term::product(*op, a.ty(), factor));
                Ok(())
            }
            _ => {
                self.push(expr)?;
                terms.push(Term { factor, product: None });
                Ok(())
            }
        }
    }

    /// The magnitude of a number, as a word of the same width.
    pub(super) fn magnitude(&mut self, word: &[Literal]) -> Word {
        self.negated_if(sign(word), word)
    }

    /// The number, or its negative if `when` holds.
    pub(super) fn negated_if(&mut self, when: Literal, word: &[Literal]) -> Word {
        let mut sum = Affine::default();
        sum.add(when, 1);
        let inverted: Word = word.iter().map(|&bit| self.b.xor(bit, when)).collect();
        sum.add_word(&inverted, 1);
        self.b.total(&sum, word.len())
    }

    /// A sum of words and products as one affine form, whose bits are extracted once. A product drops its lowest bits; for
    /// one product the sum can drop them instead, because all other terms are multiples of the unit that is kept.
    fn added(&mut self, terms: &[Term], words: &[Word], n_bits: usize) -> Word {
        let mut words = words.iter();
        let mut parts = Vec::new();
        for term in terms {
            let Some(word) = words.next() else { break };
            let (form, shift) = match (term.product, words.as_slice().first()) {
                (Some((op, fraction)), Some(other)) => {
                    words.next();
                    (self.product(op, fraction, n_bits, [word, other]), fraction)
                }
                _ => self.origin(word),
            };
            parts.push((form, shift, term));
        }
        let shift = parts.iter().map(|part| part.1).max().unwrap_or(0);
        let mut sum = Affine::default();
        let mut exact = true;
        for (mut form, own, term) in parts {
            if term.product.is_some() && own > 0 {
                if exact && own == shift {
                    exact = false;
                    // A product that is subtracted rounds the other way.
                    sum.shift(if term.factor < 0 { (1 << own) - 1 } else { 0 });
                } else {
                    let low = self.b.total(&form, own);
                    form.add_word(&low, -1);
                }
            }
            sum.add_sum(&form, term.factor << (shift - own));
        }
        let n_wide = n_bits + shift;
        let word = self.b.total(&sum, n_wide)[shift..].to_vec();
        if sum.n_terms() <= MAX_TERMS {
            if !exact {
                let low = self.b.total(&sum, shift);
                sum.add_word(&low, -1);
            }
            self.origins.insert(word.clone(), (sum.modulo(n_wide), shift));
        }
        word
    }

    /// The affine form of a word, scaled by a power of two: sums can use it without waiting for the word's bits.
    fn origin(&self, word: &Word) -> (Affine, usize) {
        self.origins.get(word).cloned().unwrap_or_else(|| {
            let mut form = Affine::default();
            form.add_word(word, 1);
            (form, 0)
        })
    }

    /// The product of two numbers with all its fraction bits: an affine form over the ands of their bits.
    pub(super) fn product(&mut self, op: Op, fraction: usize, n_bits: usize, [a, b]: [&Word; 2]) -> Affine {
        let n_wanted = n_bits + fraction;
        let mut sum = Affine::default();
        let weight = |word: &Word, at: usize| if at + 1 == word.len() { -(1_i128 << at) } else { 1 << at };
        for (i, &bit) in a.iter().enumerate() {
            for (j, &other) in b.iter().enumerate().take(n_wanted.saturating_sub(i)) {
                let both = self.b.and([bit, other]);
                sum.add(both, weight(a, i) * weight(b, j));
            }
        }
        if op == Op::MulRound {
            sum.shift(1 << fraction >> 1);
        }
        sum
    }

    /// The nearest number with fewer bits.
    fn clamped(&mut self, word: &[Literal], n_bits: usize) -> Word {
        if n_bits >= word.len() {
            return resized(word, n_bits);
        }
        let (sign, cut) = (sign(word), &word[n_bits - 1..word.len() - 1]);
        let some = self.b.or(cut.iter().copied());
        let all = self.b.and(cut.iter().copied());
        let (above, below) = (self.b.and([!sign, some]), self.b.and([sign, !all]));
        let mut bits: Word = Vec::with_capacity(n_bits);
        for &bit in &word[..n_bits - 1] {
            let within = self.b.and([bit, !above, !below]);
            bits.push(self.b.sum([within, above]));
        }
        bits.push(sign);
        bits
    }

    /// Whether two words are equal: neither is less.
    pub(super) fn equal(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let n_bits = a.len().max(b.len());
        let (a, b) = (resized(a, n_bits), resized(b, n_bits));
        if a.iter().all(|bit| bit.as_constant().is_some()) || b.iter().all(|bit| bit.as_constant().is_some())
        {
            return self.b.equal(&a, &b);
        }
        let (less, more) = (self.b.less_signed(&a, &b), self.b.less_signed(&b, &a));
        self.b.and([!less, !more])
    }

    /// `And` or `Or` of two bits. The second is evaluated, and may end the run, only if the first does not decide.
    fn both(&mut self, op: Op, a: &Expr, b: &Expr) -> Step<Word> {
        self.push(a)?;
        self.guards.push((self.live.len() - 1, op == Op::And));
        let second = self.value(b);
        self.guards.pop();
        self.live.push(second?);
        self.operate(2, |c, words| {
            let bits = [words[0][0], words[1][0]];
            vec![if op == Op::And { c.b.and(bits) } else { c.b.or(bits) }]
        })
    }

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
        let last = constant(i64::try_from(n_rounds - 1).unwrap_or(i64::MAX), count.len());
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

/// Converts a number to another type: shifts the point and drops the excess bits.
fn converted(word: &[Literal], from: Ty, to: Ty) -> Word {
    let n_bits = to.width() as usize;
    if to.fraction >= from.fraction {
        let by = (to.fraction - from.fraction) as usize;
        let shifted: Word = std::iter::repeat_n(Literal::FALSE, by).chain(word.iter().copied()).collect();
        return resized(&shifted, n_bits);
    }
    let by = ((from.fraction - to.fraction) as usize).min(word.len() - 1);
    resized(&word[by..], n_bits)
}
