//! Compares operations on words with plain integers, for all words of a few bits.

use luge_circuit::{Affine, Builder, Code, Literal, Sample, SampleShape, Simulator};

/// Runs `make` on two words of three bits and a third operand of one bit: for all values its word must be `expected`.
fn check(
    make: impl Fn(&mut Builder, &[Literal], &[Literal], Literal) -> Vec<Literal>,
    expected: impl Fn(u64, u64, u64) -> u64,
) {
    let mut b = Builder::new("words");
    b.samples(SampleShape { n_features: 7, feature: Code::Bit, n_labels: 1, label: Code::Bit });
    let inputs: Vec<Literal> = (0..7).map(|i| b.feature(i)).collect();
    let word = make(&mut b, &inputs[..3], &inputs[3..6], inputs[6]);
    let registers = b.word_register("result", word.len(), 0);
    b.set_word(&registers, &word);
    let circuit = b.build().expect("a circuit");
    for number in 0..1_u64 << 7 {
        let mut simulator = Simulator::new(&circuit);
        let sample = Sample { features: (0..7).map(|i| number >> i & 1 == 1).collect(), label: vec![false] };
        for _ in 0..2 {
            simulator.step(&sample).expect("sums are exclusive");
        }
        let result =
            simulator.registers().iter().enumerate().fold(0, |sum, (i, &bit)| sum | u64::from(bit) << i);
        assert_eq!(result, expected(number & 7, number >> 3 & 7, number >> 6), "{number:07b}");
    }
}

/// The value of three bits in two's complement.
fn signed(word: u64) -> u64 {
    if word >= 4 { word.wrapping_sub(8) } else { word }
}

#[test]
fn gates() {
    check(|b, x, _, c| vec![b.or([x[0], x[1], c])], |x, _, c| u64::from(x & 3 != 0 || c == 1));
    check(
        |b, x, y, _| vec![b.xor(x[0], y[0]), b.xor(!x[0], y[0])],
        |x, y, _| if (x ^ y) & 1 == 1 { 1 } else { 2 },
    );
    check(|b, x, _, c| vec![b.xor(x[0], Literal::TRUE), b.xor(c, !c)], |x, _, _| 2 | (!x & 1));
    check(|b, x, y, c| b.mux_word(c, x, y), |x, y, c| if c == 1 { x } else { y });
    check(|b, x, _, c| vec![b.mux(c, x[0], !x[0])], |x, _, c| u64::from(x & 1 == c));
    check(|b, x, _, c| vec![b.mux(c, Literal::TRUE, x[0])], |x, _, c| c | (x & 1));
    check(|b, x, _, _| b.first(x), |x, _, _| x & x.wrapping_neg());
    check(|b, x, _, _| b.decode(x), |x, _, _| 1 << x);
}

#[test]
fn arithmetic() {
    let with_carry = |b: &mut Builder, x: &[Literal], y: &[Literal], c| {
        let (mut sum, carry) = b.add(x, y, c);
        sum.push(carry);
        sum
    };
    check(with_carry, |x, y, c| x + y + c);
    check(|b, x, y, _| vec![b.equal(x, y)], |x, y, _| u64::from(x == y));
    check(|b, x, y, _| vec![b.less(x, y)], |x, y, _| u64::from(x < y));
    check(
        |b, x, y, c| b.add_all(vec![x.to_vec(), y.to_vec(), vec![c, Literal::FALSE]], 5),
        |x, y, c| signed(x).wrapping_add(signed(y)).wrapping_add(c) & 31,
    );
    check(|b, _, _, _| b.add_all(vec![], 2), |_, _, _| 0);
}

#[test]
fn numbers() {
    let sum = |weights: [i128; 3], constant: i128| {
        move |b: &mut Builder, x: &[Literal], y: &[Literal], c: Literal| {
            let mut sum = Affine::default();
            sum.shift(constant);
            sum.add_word(x, weights[0]);
            sum.add_word(y, weights[1]);
            sum.add(c, weights[2]);
            // Wide enough for several parts with carries between them.
            b.total(&sum, 40)
        }
    };
    for (weights, constant) in
        [([1, 1, 1], 0), ([1, -1, 0], 0), ([-3, 5, 1 << 20], 7), ([1 << 33, -(1 << 15), 9], -1)]
    {
        let value = move |x: u64, y: u64, c: u64| {
            let terms = weights[0] * i128::from(x) + weights[1] * i128::from(y) + weights[2] * i128::from(c);
            u64::try_from((terms + constant).rem_euclid(1 << 40)).expect("40 bits")
        };
        check(sum(weights, constant), value);
    }
    check(
        |b, x, y, c| {
            let zero = [Literal::FALSE; 3];
            let wide: Vec<Literal> = x.iter().copied().chain([x[2], x[2]]).collect();
            vec![
                b.less_signed(x, y),
                b.less_signed(x, &zero),
                b.less_signed(&wide, y),
                b.less_signed(&zero, &[c, c]),
            ]
        },
        |x, y, _| {
            let less = u64::from(signed(x).cast_signed() < signed(y).cast_signed());
            less | u64::from(x >= 4) << 1 | less << 2
        },
    );
}

/// A file has only and-gates, and they add like numbers.
#[test]
fn numbers_in_files() {
    let mut b = Builder::new("adds");
    b.samples(SampleShape { n_features: 6, feature: Code::Bit, n_labels: 1, label: Code::Bit });
    let mut sum = Affine::default();
    (0..6).for_each(|i| {
        let bit = b.feature(i);
        sum.add(bit, [5, -3, 1, 17, 17, 40][i]);
    });
    let word = b.total(&sum, 8);
    let registers = b.word_register("sum", 8, 0);
    b.set_word(&registers, &word);
    let circuit = b.build().expect("a circuit");
    let file = luge_circuit::aiger::write(&circuit, luge_circuit::aiger::Encoding::Ascii);
    let read = luge_circuit::aiger::read(&file, "adds").expect("a circuit").circuit;
    assert!(read.size().n_bits == 0 && circuit.size().n_bits > 0);
    for number in 0..64_u64 {
        let sample = Sample { features: (0..6).map(|i| number >> i & 1 == 1).collect(), label: vec![false] };
        let [ours, theirs] = [&circuit, &read].map(|circuit| {
            let mut simulator = Simulator::new(circuit);
            for _ in 0..2 {
                simulator.step(&sample).expect("exclusive sums");
            }
            simulator.registers().to_vec()
        });
        assert_eq!(ours, theirs, "{number}");
    }
}
