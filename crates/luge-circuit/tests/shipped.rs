//! Shipped circuits: what they learn, and that they agree cycle by cycle with Yosys's circuits of their Verilog sources.

use luge_circuit::{Circuit, Cycle, Sample, Shipped, Simulator, aiger};

/// Random bits that are the same everywhere.
struct Random(u64);

impl Random {
    fn bit(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 63 == 1
    }

    fn bits(&mut self, n: usize) -> Vec<bool> {
        (0..n).map(|_| self.bit()).collect()
    }
}

/// Trains on a concept until the circuit halts. Returns the number of cycles, and how many of 200 new inputs are right.
fn learn(circuit: &Circuit, n_bits: usize, seed: u64, concept: impl Fn(&[bool]) -> bool) -> (u64, usize) {
    let mut random = Random(seed);
    let mut simulator = Simulator::new(circuit);
    for _ in 0..20_000 {
        let features = random.bits(n_bits);
        let label = vec![concept(&features)];
        if simulator.step(&Sample { features, label }).expect("exclusive sums") == Cycle::Halted {
            break;
        }
    }
    assert!(simulator.halted().expect("exclusive sums"), "{} does not halt", circuit.name());
    let right = |query: Vec<bool>| simulator.output(&query).expect("exclusive sums") == [concept(&query)];
    let n_right = (0..200).filter(|_| right(random.bits(n_bits))).count();
    (simulator.steps(), n_right)
}

#[test]
fn which_bit_finds_the_bit() {
    for n_bits in [1, 2, 5, 16, 70] {
        let circuit = Shipped::WhichBit.circuit(n_bits);
        for bit in 0..n_bits {
            assert_eq!(learn(&circuit, n_bits, bit as u64, |x| x[bit]).1, 200);
        }
    }
}

#[test]
fn parities_take_two_steps_a_sample() {
    for n_bits in [1, 2, 5, 8, 16, 64] {
        let circuit = Shipped::Parity.circuit(n_bits);
        let mut random = Random(n_bits as u64);
        for seed in 0..3 {
            let hidden = random.bits(n_bits);
            let parity =
                |x: &[bool]| x.iter().zip(&hidden).filter(|(x, hidden)| **x && **hidden).count() % 2 == 1;
            let (steps, n_right) = learn(&circuit, n_bits, seed + 77, parity);
            assert_eq!(n_right, 200);
            assert!(
                steps % 2 == 0 && steps >= 2 * n_bits as u64 && steps <= 2 * n_bits as u64 + 40,
                "{steps}"
            );
        }
    }
}

#[test]
fn winnow_learns_disjunctions() {
    for n_bits in [2, 6, 12] {
        let circuit = Shipped::Winnow.circuit(n_bits);
        for seed in 0..4 {
            let (_, n_right) = learn(&circuit, n_bits, seed, |x| x[0] || x[n_bits / 2]);
            assert!(n_right >= 180, "{n_right} of 200 with {n_bits} bits");
        }
    }
}

#[test]
fn verilog_sources_agree_cycle_by_cycle() {
    let files = [
        (Shipped::WhichBit, include_str!("../circuits/which_bit.aag")),
        (Shipped::Parity, include_str!("../circuits/parity_circuit.aag")),
        (Shipped::Winnow, include_str!("../circuits/winnow.aag")),
    ];
    for (shipped, file) in files {
        let verilog = aiger::read(file.as_bytes(), shipped.name()).expect("AIGER").circuit;
        let ours = shipped.circuit(4);
        assert_eq!(ours.samples(), verilog.samples());
        let mut random = Random(3);
        let mut n_runs = 0;
        for _ in 0..60 {
            let (mut one, mut other) = (Simulator::new(&ours), Simulator::new(&verilog));
            // Random labels: the two must agree on these, too.
            for _ in 0..60 {
                let sample = Sample { features: random.bits(4), label: random.bits(1) };
                assert_eq!(one.output(&sample.features).unwrap(), other.output(&sample.features).unwrap());
                let cycle = one.step(&sample).unwrap();
                assert_eq!(
                    cycle,
                    other.step(&sample).unwrap(),
                    "{} after {} cycles",
                    shipped.name(),
                    one.steps()
                );
                n_runs += usize::from(cycle == Cycle::Run);
            }
        }
        assert!(n_runs > 100, "{n_runs} cycles ran");
    }
}
