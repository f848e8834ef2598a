//! What a cycle does, which circuits are refused, and circuits as text.

use luge_circuit::{Builder, Circuit, CircuitError, Code, Cycle, Literal, Sample, SampleShape, Simulator};

fn bits(n_features: usize) -> SampleShape {
    SampleShape { n_features, feature: Code::Bit, n_labels: 1, label: Code::Bit }
}

fn sample(features: &[u8], label: u8) -> Sample {
    Sample { features: features.iter().map(|&bit| bit == 1).collect(), label: vec![label == 1] }
}

/// Counts to two on samples whose label is 1, holding each for two cycles; then halts.
fn counter() -> Circuit {
    let mut b = Builder::new("counter");
    b.samples(bits(2));
    let [phase, low, high] = ["phase", "low", "high"].map(|name| b.register(name, false));
    let (y, x0, x1) = (b.label(0), b.feature(0), b.feature(1));
    let [p, l, h] = [phase, low, high].map(|register| b.value(register));
    let both = b.and([x0, x1]);
    let counted = b.and([y, p, !both]);
    let low_after = b.parity([l, counted]);
    let carry = b.and([l, counted]);
    let high_after = b.sum([h, carry]);
    b.set(phase, !p);
    b.set(low, low_after);
    b.set(high, high_after);
    b.next(p);
    b.halted(h);
    let query = b.query(1);
    let f = b.parity([query, l]);
    b.output([f]);
    b.build().expect("a circuit")
}

#[test]
fn a_cycle_takes_runs_or_rests() {
    let circuit = counter();
    let mut simulator = Simulator::new(&circuit);
    let passing = [sample(&[1, 0], 1), sample(&[1, 1], 0), sample(&[1, 1], 0)];
    let cycles: Vec<Cycle> = passing.iter().map(|s| simulator.step(s).unwrap()).collect();
    assert_eq!(cycles, [Cycle::Take, Cycle::Run, Cycle::Run]);
    assert_eq!(simulator.held(), None);
    assert_eq!(simulator.registers(), [false, true, false]);
    for cycle in [Cycle::Take, Cycle::Run, Cycle::Run, Cycle::Halted, Cycle::Halted] {
        assert_eq!(simulator.step(&sample(&[0, 1], 1)).unwrap(), cycle);
    }
    assert_eq!((simulator.steps(), simulator.n_taken()), (6, 2));
    assert_eq!(simulator.registers(), [false, false, true]);
    assert_eq!(simulator.output(&[false, true]).unwrap(), [true]);
    assert_eq!(simulator.output(&[true, false]).unwrap(), [false]);
}

#[test]
fn an_ignored_sample_is_still_taken() {
    let circuit = counter();
    let mut simulator = Simulator::new(&circuit);
    for _ in 0..30 {
        simulator.step(&sample(&[1, 1], 1)).unwrap();
    }
    assert_eq!((simulator.registers(), simulator.n_taken()), (&[false, false, false][..], 10));
}

#[test]
fn without_samples_every_cycle_runs() {
    let mut b = Builder::new("blink");
    let on = b.register("on", true);
    let value = b.value(on);
    b.set(on, !value);
    b.next(Literal::TRUE);
    let circuit = b.build().unwrap();
    let mut simulator = Simulator::new(&circuit);
    let seen: Vec<bool> = (0..4)
        .map(|_| {
            assert_eq!(simulator.step(&Sample::default()).unwrap(), Cycle::Run);
            simulator.register(on)
        })
        .collect();
    assert_eq!(seen, [false, true, false, true]);
}

#[test]
fn a_circuit_reads_like_its_equations() {
    let expected = "\
circuit counter
samples 2 bit, label bit
register phase = 0
register low = 0
register high = 0
w7 = x[0] & x[1]
w8 = y[0] & phase & !w7
w9 = parity(low, w8)
w10 = low & w8
w11 = high + w10
w13 = parity(low, query[1])
phase' = !phase
low' = w9
high' = w11
next = phase
halted = high
f = w13
";
    assert_eq!(counter().to_string(), expected);
}

#[test]
fn a_sum_of_two_is_refused_when_it_happens() {
    let mut b = Builder::new("clash");
    b.samples(bits(2));
    let r = b.register("r", false);
    let operands = [b.feature(0), b.feature(1)];
    let sum = b.sum(operands);
    b.set(r, sum);
    let circuit = b.build().unwrap();
    let mut simulator = Simulator::new(&circuit);
    simulator.step(&sample(&[1, 1], 0)).unwrap();
    let refused = simulator.step(&sample(&[0, 0], 0)).unwrap_err();
    assert_eq!(refused.to_string(), "2 operands of the sum w3 are 1 at once; at most one may be");
    assert_eq!(simulator.steps(), 1);
}

fn refused(make: impl Fn(&mut Builder)) -> CircuitError {
    let mut b = Builder::new("refused");
    b.samples(bits(2));
    make(&mut b);
    b.build().expect_err("refused")
}

#[test]
fn what_is_no_circuit_is_refused() {
    let message = |make: fn(&mut Builder)| refused(make).to_string();
    assert_eq!(
        message(|b| {
            b.register("r", false);
        }),
        "nothing drives register `r`"
    );
    let twice = message(|b| {
        for _ in 0..2 {
            let r = b.register("r", false);
            b.set(r, Literal::TRUE);
        }
    });
    assert_eq!(twice, "two registers are called `r`");
    let ahead = message(|b| {
        let query = b.query(1);
        let x = b.feature(0);
        let both = b.and([query, x]);
        b.next(both);
    });
    assert_eq!(ahead, "`next` depends on query[1], but only `f` may depend on the query");
    let back = message(|b| {
        let x = b.feature(1);
        b.output([!x]);
    });
    assert_eq!(back, "`f` depends on x[1], but it may depend only on registers and on the query");
    assert_eq!(message(|b| _ = b.feature(2)), "x[2] is read, but a sample has 2 bits");
    assert_eq!(message(|b| _ = b.label(1)), "y[1] is read, but the labels have 1 bits");
    let wide = message(|b| b.output([Literal::TRUE; 2]));
    assert_eq!(wide, "`f` has 2 bits, but the labels of a sample have 1");
    let unlabelled = refused(|b| b.samples(SampleShape { n_labels: 0, ..bits(2) }));
    assert_eq!(unlabelled, CircuitError::NoLabel);
    let nameless = refused(|b| {
        let r = b.register("a b", false);
        b.set(r, Literal::TRUE);
    });
    assert_eq!(nameless, CircuitError::Name("a b".to_owned()));
}

#[test]
fn constants_and_copies_are_no_gates() {
    let mut b = Builder::new("folded");
    b.samples(bits(2));
    let (x, y) = (b.feature(0), b.feature(1));
    assert_eq!(b.and([x, !x, y]), Literal::FALSE);
    assert_eq!(b.and([x, Literal::TRUE, x]), x);
    assert_eq!(b.and([]), Literal::TRUE);
    assert_eq!(b.and([x, y]), b.and([y, x]));
    assert_eq!(b.sum([Literal::FALSE, x]), x);
    assert_eq!(b.sum([x, !x]), Literal::TRUE);
    assert_eq!(b.parity([x, y, x]), y);
    assert_eq!(b.parity([x, !y]), !b.parity([y, x]));
    assert_eq!(b.parity([x, Literal::TRUE]), !x);
    let (both, odd) = (b.and([x, y]), b.parity([x, y]));
    let r = b.register("r", false);
    b.set(r, both);
    b.halted(odd);
    let size = b.build().unwrap().size();
    assert_eq!((size.n_ands, size.n_parities, size.n_operands, size.depth), (1, 1, 4, 1));
}
