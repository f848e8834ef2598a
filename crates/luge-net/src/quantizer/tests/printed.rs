//! The algorithm of Appendix B as printed, and what each of its mistakes does to the numbers of a small format.

use crate::numbers::{NumberFormat, Overflow, SmallFloat, Word, power_of_two};

/// What is mended of the printed algorithm.
#[derive(Clone, Copy)]
struct Mended {
    /// Returns after the loop over the exponents; printed inside it, after the first exponent.
    returns_after_loop: bool,
    /// Takes what a bit stands for away from what the next is tested on; printed it is taken away from a y that
    /// is never set and never read.
    keeps_remainder: bool,
    /// Looks for |x|; printed for x.
    absolute_value: bool,
    /// `2^m e <= x < 2^(m+1) e`; printed `e <= x < 2e`.
    normal_range: bool,
    /// Exponents on both sides of 0; printed `e = 2^b`, at least 1.
    biased: bool,
    /// Zero is a case of its own; printed no exponent fits it, and its sign is that of negative numbers.
    zero: bool,
}

const PRINTED: Mended = Mended {
    returns_after_loop: false,
    keeps_remainder: false,
    absolute_value: false,
    normal_range: false,
    biased: false,
    zero: false,
};

const MENDED: Mended = Mended {
    returns_after_loop: true,
    keeps_remainder: true,
    absolute_value: true,
    normal_range: true,
    biased: true,
    zero: true,
};

/// What the algorithm returns: sign, mantissa with its leading bit, exponent.
struct Found {
    sigma: bool,
    a: u32,
    b: u32,
}

/// "x >= a"; nothing if the answer is neither no nor yes.
type AtLeast = fn(f64, f64) -> Option<bool>;

fn heaviside(x: f64, a: f64) -> Option<bool> {
    Some(x >= a)
}

/// 2^b, or with a bias such that the mantissa is a whole number.
fn power(format: &SmallFloat, mended: Mended, b: u32) -> f64 {
    let offset = format.bias() + i32::try_from(format.n_mantissa).expect("small");
    power_of_two(i32::try_from(b).expect("small") - if mended.biased { offset } else { 0 })
}

/// The printed algorithm, line by line. Nothing if it returns without having set b.
fn algorithm(x: f64, format: &SmallFloat, mended: Mended, at_least: AtLeast) -> Option<Found> {
    let m = i32::try_from(format.n_mantissa).expect("small");
    let mut a = 0;
    let mut sigma = x <= 0.0;
    let mut b = None;
    if mended.zero && x.abs() <= 0.0 {
        sigma = false;
        b = Some(0);
    }
    let x = if mended.absolute_value { x.abs() } else { x };
    for b_hat in u32::from(mended.zero)..1 << format.n_exponent {
        let e = power(format, mended, b_hat);
        let lowest = if mended.normal_range { power_of_two(m) * e } else { e };
        if !at_least(x, 2.0 * lowest)? && at_least(x, lowest)? {
            b = Some(b_hat);
            let mut remainder = x;
            for i in (0..=m).rev() {
                if at_least(remainder, power_of_two(i) * e)? {
                    a |= 1 << i;
                    remainder -= if mended.keeps_remainder { power_of_two(i) * e } else { 0.0 };
                }
            }
        }
        if !mended.returns_after_loop {
            break;
        }
    }
    b.map(|b| Found { sigma, a, b })
}

fn format() -> SmallFloat {
    SmallFloat::new(3, 2).expect("a format")
}

/// The numbers of the format for which the algorithm finds bits that stand for them.
fn right(mended: Mended, at_least: AtLeast) -> Vec<f64> {
    let stands_for = |x: f64| {
        algorithm(x, &format(), mended, at_least).map(|found| {
            let magnitude = f64::from(found.a) * power(&format(), mended, found.b);
            if found.sigma { -magnitude } else { magnitude }
        })
    };
    NumberFormat::Float(format())
        .all_values()
        .filter(|&x| stands_for(x).map(f64::to_bits) == Some(x.to_bits()))
        .collect()
}

fn values_where(keep: impl Fn(f64) -> bool) -> Vec<f64> {
    NumberFormat::Float(format()).all_values().filter(|&x| keep(x)).collect()
}

fn is_power_of_two(x: f64) -> bool {
    x.to_bits().trailing_zeros() >= 52
}

#[test]
fn as_printed_one_is_the_only_number() {
    assert_eq!(right(PRINTED, heaviside), [1.0]);
}

#[test]
fn mended_it_is_the_native_conversion() {
    let native = NumberFormat::Float(format());
    assert_eq!(right(MENDED, heaviside), values_where(|_| true));
    for x in native.all_values() {
        let found = algorithm(x, &format(), MENDED, heaviside).expect("an exponent");
        let word = found.a & 0b11 | found.b << 2 | u32::from(found.sigma) << 5;
        assert_eq!(native.encode(x, Overflow::Refuse), Ok(Word(word)), "{x}");
    }
}

#[test]
fn every_mistake_alone_spoils_it() {
    let check = |mended: Mended, expected: Vec<f64>| {
        assert_eq!(right(mended, heaviside), expected);
        assert_ne!(expected, values_where(|_| true));
    };
    let first_exponent = |x: f64| (0.25..0.5).contains(&x.abs());
    let only_ones = |x: f64| x.abs().to_bits() >> 50 & 0b11 == 0b11;
    check(
        Mended { returns_after_loop: false, ..MENDED },
        values_where(|x| first_exponent(x) || x.abs() <= 0.0),
    );
    check(Mended { keeps_remainder: false, ..MENDED }, values_where(|x| only_ones(x) || x.abs() <= 0.0));
    check(Mended { absolute_value: false, ..MENDED }, values_where(|x| x >= 0.0));
    // Only the lowest mantissa bit is ever set, so powers of two remain, and of them those whose exponent still fits.
    check(
        Mended { normal_range: false, ..MENDED },
        values_where(|x| x.abs() <= 0.0 || is_power_of_two(x) && x.abs() < 8.0),
    );
    // e is at least 2 here, because exponent 0 is zero.
    check(Mended { biased: false, ..MENDED }, values_where(|x| x.abs() <= 0.0 || x.abs() >= 8.0));
    check(Mended { zero: false, ..MENDED }, values_where(|x| x.abs() > 0.0));
}

/// Below the distance between any two numbers of the format.
const EPS: f64 = 1.0 / (1 << 30) as f64;

/// As printed: x / eps up to eps, 1 from 1 on, and nothing said in between.
fn printed_ramp(x: f64) -> Option<f64> {
    match x {
        x if x <= 0.0 => Some(0.0),
        x if x <= EPS => Some(x / EPS),
        x if x >= 1.0 => Some(1.0),
        _ => None,
    }
}

fn mended_ramp(x: f64) -> Option<f64> {
    Some((x / EPS).clamp(0.0, 1.0))
}

fn yes_or_no(level: f64) -> Option<bool> {
    [(0.0_f64, false), (1.0, true)]
        .into_iter()
        .find(|(l, _)| l.to_bits() == level.to_bits())
        .map(|(_, yes)| yes)
}

#[test]
fn the_printed_ramp_leaves_questions_open() {
    let printed: AtLeast = |x, a| printed_ramp(x - a + EPS).and_then(yes_or_no);
    // Whatever exceeds some threshold by less than 1 is lost: 1 itself, and all fractions but the smallest powers of two.
    let whole = |x: f64| x.fract().abs() <= 0.0 && (x.abs() - 1.0).abs() > 0.0;
    assert_eq!(right(MENDED, printed), values_where(|x| whole(x) || is_power_of_two(x) && x.abs() <= 0.5));
}

#[test]
fn without_its_shift_the_ramp_denies_equality() {
    let unshifted: AtLeast = |x, a| mended_ramp(x - a).and_then(yes_or_no);
    // Sooner or later every number is compared with itself.
    assert_eq!(right(MENDED, unshifted), values_where(|x| x.abs() <= 0.0));
}

#[test]
fn the_mended_ramp_decides_as_a_step_does() {
    let mended: AtLeast = |x, a| mended_ramp(x - a + EPS).and_then(yes_or_no);
    assert_eq!(right(MENDED, mended), values_where(|_| true));
}

#[test]
fn the_printed_product_of_exponent_bits_is_zero_unless_all_are_set() {
    let bits = |b: u32| (0..3).map(move |j| (f64::from(b >> j & 1), j));
    for b in 0..8 {
        let printed: f64 = bits(b).map(|(bit, j)| bit * power_of_two(j)).product();
        let mended: f64 = bits(b).map(|(bit, j)| 1.0 + bit * (power_of_two(1 << j) - 1.0)).product();
        assert_eq!(printed.to_bits(), if b == 7 { 8.0_f64 } else { 0.0 }.to_bits());
        assert_eq!(mended.to_bits(), power_of_two(i32::try_from(b).expect("small")).to_bits());
    }
}
