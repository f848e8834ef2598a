mod printed;

use proptest::prelude::*;

use super::*;
use crate::{
    Evaluation, LayerKind, Layers, Network, Values, evaluate,
    numbers::{
        Negatives, Overflow,
        tests::{all_words, any_format, formats_of, value_near},
    },
};

/// A network with one input vector of this length, and the node that `build` makes of it.
fn network(n: usize, build: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId) -> (Network, NodeId) {
    let mut g = GraphBuilder::new();
    let (_, input) = g.input("input", Shape::column(n));
    let output = build(&mut g, input);
    let loss = g.sum_all("loss", output);
    (g.finish(loss), output)
}

fn run((network, output): &(Network, NodeId), input: Vec<f64>) -> Vec<f64> {
    let evaluation: Evaluation = evaluate(network, &[], &[Values::column(input)]);
    evaluation.value(*output).data.clone()
}

fn native_bits(format: &NumberFormat, value: f64) -> Vec<f64> {
    let word = format.encode(value, Overflow::Saturate).expect("a number");
    format.bits(word).map(|bit| f64::from(u8::from(bit))).collect()
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits()))
}

/// Values per evaluation: few enough that a layer with 1023 units for each stays small.
const AT_ONCE: usize = 64;

fn check_quantize(format: &NumberFormat) {
    let values: Vec<f64> = format.all_values().collect();
    let at_once = values.len().min(AT_ONCE);
    let network = network(at_once, |g, input| quantize(g, format, input));
    for values in values.chunks(at_once) {
        // The last few are made up to a full vector with zeros.
        let mut padded = values.to_vec();
        padded.resize(at_once, 0.0);
        let bits = run(&network, padded);
        for (&value, bits) in values.iter().zip(bits.chunks(format.n_bits() as usize)) {
            assert!(same(bits, &native_bits(format, value)), "{format}: {value} became {bits:?}");
        }
    }
}

fn check_dequantize(format: &NumberFormat) {
    let words: Vec<_> = all_words(format).collect();
    let n_words = words.len().min(AT_ONCE);
    let network = network(n_words * format.n_bits() as usize, |g, input| dequantize(g, format, input));
    for words in words.chunks(n_words) {
        let bits = words.iter().flat_map(|&word| format.bits(word)).map(|bit| f64::from(u8::from(bit)));
        let values = run(&network, bits.collect());
        let native: Vec<f64> = words.iter().map(|&word| format.decode(word)).collect();
        assert!(same(&values, &native), "{format}: the network decodes otherwise");
    }
}

/// All formats with 2 to 16 bits, all their values: fixed point in both forms, floats with up to 10 exponent bits.
#[test]
fn values_to_bits_as_natively_for_every_value_of_every_format_up_to_16_bits() {
    (2..=16).flat_map(formats_of).for_each(|format| check_quantize(&format));
}

/// The same formats, all their bit strings, also those for zero that are never written.
#[test]
fn bits_to_values_as_natively_for_every_word_of_every_format_up_to_16_bits() {
    (2..=16).flat_map(formats_of).for_each(|format| check_dequantize(&format));
}

#[test]
fn rounds_as_natively_between_all_values_and_beyond_them() {
    for format in (2..=9).flat_map(formats_of) {
        let values: Vec<f64> = format.all_values().collect();
        let ends = [-2.0, -1.01, 1.01, 2.0].map(|factor| factor * format.largest_magnitude());
        let middles = values.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).chain(ends);
        let beside: Vec<f64> = middles.flat_map(|v| [v.next_down(), v, v.next_up()]).collect();
        let bits = run(&network(beside.len(), |g, input| quantize(g, &format, input)), beside.clone());
        for (value, bits) in beside.into_iter().zip(bits.chunks(format.n_bits() as usize)) {
            assert!(same(bits, &native_bits(&format, value)), "{format}: {value:e} became {bits:?}");
        }
    }
}

/// (ReLU units, product units) of one value's network.
fn n_units(build: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId, n_inputs: usize) -> (usize, usize) {
    let layers = Layers::of(&network(n_inputs, build).0);
    let of = |kind| layers.groups.iter().filter(|g| g.kind == kind).map(|g| g.n_units).sum();
    let counted = (of(LayerKind::Relu), of(LayerKind::Product));
    assert_eq!(counted.0 + counted.1, layers.n_units(), "units of other kinds");
    counted
}

#[test]
fn units_are_as_many_as_the_table_says() {
    for format in (2..=14).flat_map(formats_of) {
        let n_bits = format.n_bits() as usize;
        let expected = match &format {
            NumberFormat::Fixed(fixed) if fixed.negatives == Negatives::TwosComplement => {
                [(4 * n_bits, 0), (0, 0)]
            }
            NumberFormat::Fixed(_) => [(2 * n_bits + 2, 0), (0, 1)],
            NumberFormat::Float(float) => {
                let (e, m) = (float.n_exponent as usize, float.n_mantissa as usize);
                [(2 * ((1 << e) + m + 1), m.min(1)), (1, e + 2)]
            }
        };
        let counted = [
            n_units(|g, input| quantize(g, &format, input), 1),
            n_units(|g, input| dequantize(g, &format, input), n_bits),
        ];
        assert_eq!(counted, expected, "{format}");
    }
}

#[test]
fn bits_lie_value_by_value() {
    let format = "fix:2.1".parse().expect("a format");
    let bits = run(&network(3, |g, input| quantize(g, &format, input)), vec![0.5, -2.0, 1.0]);
    assert_eq!(bits, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let values = run(&network(9, |g, input| dequantize(g, &format, input)), bits);
    assert_eq!(values, [0.5, -2.0, 1.0]);
}

#[test]
fn noise_below_half_a_step_is_forgiven() {
    for format in (2..=8).flat_map(formats_of) {
        let NumberFormat::Fixed(fixed) = format else { continue };
        let values: Vec<f64> = format.all_values().collect();
        let network = network(values.len(), |g, input| quantize(g, &format, input));
        let clean = run(&network, values.clone());
        for noise in [-0.499, 0.499] {
            let noisy = values.iter().map(|v| v + noise * fixed.step()).collect();
            assert!(same(&run(&network, noisy), &clean), "{format}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rounds_as_natively(
        (format, values) in any_format(32)
            .prop_filter("a small network", |f| !matches!(f, NumberFormat::Float(f) if f.n_exponent > 8))
            .prop_flat_map(|f| (Just(f), proptest::collection::vec(value_near(f), 1..20))),
    ) {
        let bits = run(&network(values.len(), |g, input| quantize(g, &format, input)), values.clone());
        for (&value, bits) in values.iter().zip(bits.chunks(format.n_bits() as usize)) {
            prop_assert!(same(bits, &native_bits(&format, value)), "{format}: {value:e} became {bits:?}");
        }
        let native: Vec<f64> =
            values.iter().map(|&v| format.round(v, Overflow::Saturate).expect("a number")).collect();
        let decoded = run(&network(bits.len(), |g, input| dequantize(g, &format, input)), bits);
        prop_assert!(same(&decoded, &native), "{format}: {native:?} became {decoded:?}");
    }
}
