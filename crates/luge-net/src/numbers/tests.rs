use proptest::prelude::*;

use super::*;

fn format(text: &str) -> NumberFormat {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Every format with this many bits.
pub(crate) fn formats_of(n_bits: u32) -> Vec<NumberFormat> {
    let fixed = (1..=n_bits).flat_map(|n_integer| {
        [Negatives::TwosComplement, Negatives::SignMagnitude]
            .into_iter()
            .filter_map(move |n| FixedPoint::new(n_integer, n_bits - n_integer, n).ok())
            .map(NumberFormat::Fixed)
    });
    let float = (1..n_bits).filter_map(|n_exponent| {
        SmallFloat::new(n_exponent, n_bits - 1 - n_exponent).ok().map(NumberFormat::Float)
    });
    fixed.chain(float).collect()
}

/// Some format with at most this many bits.
pub(crate) fn any_format(most_bits: u32) -> impl Strategy<Value = NumberFormat> {
    (2..=most_bits).prop_flat_map(|n_bits| proptest::sample::select(formats_of(n_bits)))
}

/// Numbers of all sizes, and many beside the numbers of the format and beside the ties between them.
pub(crate) fn value_near(format: NumberFormat) -> impl Strategy<Value = f64> {
    let mask = u32::MAX >> (u32::BITS - format.n_bits());
    let beside = (any::<u32>(), -1_i32..=1, -2_i32..=2).prop_map(move |(code, neighbour, ulps)| {
        let (a, b) = (code & mask, code.wrapping_add_signed(neighbour) & mask);
        let between = f64::midpoint(format.decode(Word(a)), format.decode(Word(b)));
        (0..ulps.abs()).fold(between, |v, _| if ulps < 0 { v.next_down() } else { v.next_up() })
    });
    let inside = (-1.25..1.25).prop_map(move |part| part * format.largest_magnitude());
    prop_oneof![3 => beside, 2 => inside, 1 => proptest::num::f64::NORMAL | proptest::num::f64::ZERO]
}

/// All bit strings of a format, also those that stand for the same number.
pub(crate) fn all_words(format: &NumberFormat) -> impl Iterator<Item = Word> + use<> {
    (0..=u32::MAX >> (u32::BITS - format.n_bits())).map(Word)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

#[test]
fn values_of_small_formats_by_hand() {
    let values = |text: &str| format(text).all_values().collect::<Vec<_>>();
    assert_eq!(values("fix:2.1"), [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]);
    assert_eq!(values("fix:2.1:sm"), [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]);
    assert_eq!(values("float:2.0"), [-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0]);
    assert_eq!(values("float:1.1"), [-3.0, -2.0, 0.0, 2.0, 3.0]);
    let bounds = |text: &str| (format(text).min(), format(text).max(), format(text).largest_magnitude());
    assert_eq!(bounds("fix:4.4"), (-8.0, 7.9375, 8.0));
    assert_eq!(bounds("float:4.3"), (-480.0, 480.0, 480.0));
    assert!(same(format("float:4.3").smallest_positive(), 0.015625));
}

#[test]
fn bits_by_hand() {
    let bits = |text: &str, value: f64| -> String {
        let format = format(text);
        let word = format.encode(value, Overflow::Refuse).expect("in range");
        format.bits(word).map(|bit| if bit { '1' } else { '0' }).collect()
    };
    // Lowest bit first, sign last.
    assert_eq!(bits("fix:4.2", 1.25), "101000");
    assert_eq!(bits("fix:4.2", -1.25), "110111");
    assert_eq!(bits("fix:4.2:sm", -1.25), "101001");
    assert_eq!(bits("float:3.2", 1.25), "101100");
    assert_eq!(bits("float:3.2", -0.375), "011001");
    assert_eq!(bits("float:3.2", -0.0), "000000");
    assert_eq!(bits("fix:4.2:sm", -0.1), "000000");
}

#[test]
fn every_value_up_to_16_bits_comes_back() {
    for format in (2..=16).flat_map(formats_of) {
        let mut last = f64::NEG_INFINITY;
        let mut n_values = 0_u32;
        for value in format.all_values() {
            assert!(value > last, "{format}: {value} after {last}");
            let word = format.encode(value, Overflow::Refuse).unwrap_or_else(|e| panic!("{e}"));
            assert!(same(format.decode(word), value), "{format}: {value} is written as {word:?}");
            last = value;
            n_values += 1;
        }
        assert!(same(last, format.max()));
        let mut by_word: Vec<f64> = all_words(&format).map(|word| format.decode(word)).collect();
        by_word.sort_by(f64::total_cmp);
        by_word.dedup_by(|a, b| same(*a, *b));
        assert_eq!(by_word.len(), n_values as usize, "{format}: other values than the words decode to");
    }
}

#[test]
fn ties_go_to_an_even_code_and_at_the_bottom_to_zero() {
    for format in (2..=10).flat_map(formats_of) {
        let values: Vec<f64> = format.all_values().collect();
        for pair in values.windows(2) {
            let word = format.encode(f64::midpoint(pair[0], pair[1]), Overflow::Refuse).expect("in range");
            let chosen = format.decode(word);
            let zero = pair.iter().any(|&v| same(v, 0.0));
            assert!(pair.iter().any(|&v| same(v, chosen)), "{format}: {pair:?} gave {chosen}");
            assert!(!word.bit(0), "{format}: {pair:?} gave {chosen} with an odd code");
            assert!(!zero || same(chosen, 0.0), "{format}: {pair:?} gave {chosen}");
        }
    }
}

#[test]
fn out_of_range_is_refused_or_saturates() {
    let check = |text: &str, value: f64, saturated: f64, message: &str| {
        let format = format(text);
        assert_eq!(format.encode(value, Overflow::Refuse).unwrap_err().to_string(), message);
        assert_eq!(format.round(value, Overflow::Saturate), Ok(saturated));
    };
    check("fix:4.4", 8.0, 7.9375, "8 is out of range: fix:4.4 reaches from -8 to 7.9375");
    check("fix:4.4", 7.96875, 7.9375, "7.96875 is out of range: fix:4.4 reaches from -8 to 7.9375");
    check("fix:4.4:sm", -8.0, -7.9375, "-8 is out of range: fix:4.4:sm reaches from -7.9375 to 7.9375");
    check("float:4.3", -500.0, -480.0, "-500 is out of range: float:4.3 reaches from -480 to 480");
    check("float:4.3", f64::INFINITY, 480.0, "inf is out of range: float:4.3 reaches from -480 to 480");
    check(
        "fix:32.0",
        f64::MIN,
        -2_147_483_648.0,
        &format!("{} is out of range: fix:32.0 reaches from -2147483648 to 2147483647", f64::MIN),
    );
    for text in ["fix:4.4", "float:4.3"] {
        let error = format(text).encode(f64::NAN, Overflow::Saturate).unwrap_err();
        assert_eq!(error.to_string(), format!("NaN has no bits in {text}"));
    }
    assert_eq!(format("fix:4.4").round(7.96, Overflow::Refuse), Ok(7.9375));
    assert_eq!(format("fix:4.4").round(-8.03, Overflow::Refuse), Ok(-8.0));
    assert_eq!(format("float:4.3").round(495.9, Overflow::Refuse), Ok(480.0));
}

#[test]
fn words_have_the_format_s_length() {
    let format = format("fix:2.1");
    assert_eq!(format.word(&[true, true, false]), Ok(Word(3)));
    let error = format.word(&[true]).unwrap_err();
    assert_eq!(error.to_string(), "1 bits are not a number: fix:2.1 has 3");
}

#[test]
fn text_comes_back_and_nonsense_is_refused() {
    for format in (2..=32).flat_map(formats_of) {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert_eq!(format("fix:4.4:tc"), format("fix:4.4"));
    assert_eq!(format("float:4.3:sm"), format("float:4.3"));
    let message = |text: &str| text.parse::<NumberFormat>().unwrap_err().to_string();
    let expected =
        |text: &str| format!("`{text}` is not a number format: expected fix:I.F, fix:I.F:sm or float:E.M");
    for text in ["", "fix", "fix:4", "4.4"] {
        assert_eq!(message(text), expected(text));
    }
    assert_eq!(message("int:4.4"), "`int` is not a kind of number: expected fix or float");
    assert_eq!(message("fix:-1.4"), "`-1` is not a number of bits");
    assert_eq!(message("fix:.4"), "`` is not a number of bits");
    assert_eq!(message("fix:4.4.4"), "`4.4` is not a number of bits");
    assert_eq!(message("fix:1.99999999999"), "`99999999999` is not a number of bits");
    assert_eq!(
        message("fix:4.4:ones"),
        "`ones` does not say how negative numbers are written: expected tc or sm"
    );
    assert_eq!(message("float:4.3:tc"), "floats have no two's complement: leave out `tc`");
    assert_eq!(message("fix:0.4"), "0 integer bits leave no room for the sign");
    assert_eq!(message("fix:1.0"), "1 bit is the sign and leaves no room for a number");
    assert_eq!(message("fix:4294967295.4294967295"), "8589934590 bits: a number has at most 32");
    assert_eq!(message("float:11.4"), "11 exponent bits: expected 1 to 10");
    assert_eq!(message("float:0.4"), "0 exponent bits: expected 1 to 10");
    assert_eq!(message("float:8.24"), "33 bits: a number has at most 32");
}

proptest! {
    #[test]
    fn nearest_by_brute_force(
        (format, value) in any_format(8).prop_flat_map(|f| (Just(f), value_near(f))),
    ) {
        let rounded = format.round(value, Overflow::Saturate).expect("a number");
        // Differences of nearby numbers are exact in f64, and far ones cannot be the smallest.
        let smallest = format.all_values().map(|v| (v - value).abs()).fold(f64::INFINITY, f64::min);
        prop_assert!((rounded - value).abs() <= smallest, "{format}: {value} became {rounded}");
    }

    #[test]
    fn rounding_is_monotone(
        (format, a, b) in any_format(32).prop_flat_map(|f| (Just(f), value_near(f), value_near(f))),
    ) {
        let round = |v| format.round(v, Overflow::Saturate).expect("a number");
        prop_assert!(round(a.min(b)) <= round(a.max(b)));
    }

    #[test]
    fn words_of_long_formats_come_back(format in any_format(32), code in any::<u32>()) {
        let value = format.decode(Word(code));
        prop_assert_eq!(format.round(value, Overflow::Refuse), Ok(value));
        let word = format.encode(value, Overflow::Refuse).expect("in range");
        let bits: Vec<bool> = format.bits(word).collect();
        prop_assert_eq!(format.word(&bits), Ok(word));
    }

    #[test]
    fn any_text_gives_a_format_or_an_error(text in "(fix|float)?:?[0-9]{0,3}[.:]?[0-9a-z.:]{0,6}") {
        if let Ok(format) = text.parse::<NumberFormat>() {
            prop_assert!(format.n_bits() <= MAX_BITS);
        }
    }
}
