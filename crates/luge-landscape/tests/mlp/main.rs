//! Circuits as networks: SGD on every weight carries out every cycle, and fails where the construction is weakened.

mod draw;
#[path = "../../../luge-circuit/tests/machines/random.rs"]
mod random;

use draw::Draw;
use luge_circuit::{
    Circuit, Code, SampleShape, Shipped, Simulator,
    machine::{Tapes, circuit_of},
};
use luge_landscape::mlp::{CircuitNetwork, Float, MEMORY_LAYER, MlpConstants};
use luge_machine::{NormalForm, stream::check};
use luge_train::sequential::{DenseSgd, SequentialEngine, SparseSgd};
use random::{Random, SHAPE, memory, random_input, random_machine};

/// Trains beside the simulator; returns the largest error of a register.
fn follow(
    circuit: &Circuit,
    network: &CircuitNetwork,
    engine: &mut dyn SequentialEngine,
    draw: &mut Draw,
    steps: u64,
) -> Result<f64, String> {
    let mut simulator = Simulator::new(circuit);
    let mut largest: f64 = 0.0;
    for step in 0..=steps {
        let failed = |why: String| format!("step {step}: {why}");
        let memory =
            network.decode(&engine.biases(MEMORY_LAYER)).map_err(|error| failed(error.to_string()))?;
        if (&memory.registers[..], memory.held.as_ref()) != (simulator.registers(), simulator.held()) {
            return Err(failed(format!("{memory:?}, but the circuit has {simulator:?}")));
        }
        largest = largest.max(memory.largest_error);
        let sample = draw.sample(circuit.samples());
        let (x, mut y) = (network.inputs(&sample.features), network.labels(&sample.label));
        if simulator.halted().expect("valid") {
            let expected = network.labels(&simulator.output(&sample.features).expect("valid"));
            let found = engine.output(&x);
            if found.iter().zip(&expected).any(|(a, b)| (a - b).abs() > 1e-3) {
                return Err(failed(format!("f is {expected:?}, but the network's output {found:?}")));
            }
        }
        if circuit.samples().is_none() {
            // A circuit without samples sees labels that mean nothing.
            y = vec![if draw.bit() { 1.0 } else { -1.0 }];
        }
        engine.step(&x, &y);
        simulator.step(&sample).expect("valid");
    }
    Ok(largest)
}

/// The same constants with registers stored at another scale, and the rate that belongs to it.
fn with_memory_scale(constants: MlpConstants, scale: f64) -> MlpConstants {
    let rate = scale * scale / (constants.carrier * constants.slope);
    MlpConstants { memory_scale: scale, rate, ..constants }
}

fn network(circuit: &Circuit, steps: u64, float: Float) -> CircuitNetwork {
    let constants = MlpConstants::choose(circuit.samples(), steps, float).expect("valid");
    assert!(constants.inequalities(circuit.samples()).iter().all(|inequality| inequality.holds()));
    CircuitNetwork::build(circuit, constants)
}

/// As many random circuits as asked for by `LUGE_TEST=exhaustive`, else a sample.
fn n_circuits(all: u64) -> u64 {
    if luge_suite::asked_for("exhaustive") { all } else { all / 10 }
}

#[test]
fn random_circuits_are_run_by_every_weight() {
    for seed in 0..n_circuits(1_000) {
        let mut draw = Draw::new(seed);
        let shape = draw.shape();
        let circuit = draw.circuit(shape);
        let network = network(&circuit, 64, Float::F64);
        let mut engine = DenseSgd::<f64>::new(&network.network, network.constants.rate).expect("valid");
        let error = follow(&circuit, &network, &mut engine, &mut draw, 30);
        let error = error.unwrap_or_else(|failed| panic!("seed {seed}, {shape:?}: {failed}\n{circuit}"));
        assert!(error < 0.02, "seed {seed}: {error}");
    }
}

/// A random machine on twelve cells as a circuit; of those with samples some are none.
fn machine_circuit(random: &mut Random, samples: bool) -> Option<Circuit> {
    let machine = random_machine(random, samples);
    if samples && (!machine.takes_samples() || check(&machine).is_err()) {
        return None;
    }
    let normal = NormalForm::new(machine).expect("two symbols");
    let input = random_input(random, normal.n_tapes());
    let memory = memory();
    let samples = samples.then_some((&memory, SHAPE));
    let circuit = circuit_of(&normal, &Tapes { input: &input, cells: -2..10, samples });
    circuit.ok().map(|(circuit, _)| circuit)
}

#[test]
fn random_machines_are_run_by_every_weight() {
    for samples in [false, true] {
        let mut random = Random(u64::from(samples));
        let (mut n_changes, mut n_taken) = (0, 0);
        for number in 0..n_circuits(500) {
            let circuit = std::iter::repeat_with(|| machine_circuit(&mut random, samples)).flatten().next();
            let circuit = circuit.expect("endless");
            let network = network(&circuit, 64, Float::F64);
            let mut engine = DenseSgd::<f64>::new(&network.network, network.constants.rate).expect("valid");
            let error = follow(&circuit, &network, &mut engine, &mut Draw::new(number), 30);
            let error = error.unwrap_or_else(|failed| panic!("machine {number}: {failed}\n{circuit}"));
            assert!(error < 0.02, "machine {number}: {error}");
            // The same samples again: the runs were not idle.
            let (mut simulator, mut draw) = (Simulator::new(&circuit), Draw::new(number));
            for _ in 0..30 {
                let before = simulator.registers().to_vec();
                simulator.step(&draw.sample(circuit.samples())).expect("valid");
                n_changes += u64::from(simulator.registers() != before);
            }
            n_taken += simulator.n_taken();
        }
        assert!(n_changes > 5 * n_circuits(500), "{n_changes} steps changed a register");
        assert!(!samples || n_taken > 2 * n_circuits(500), "{n_taken} samples taken");
    }
}

#[test]
fn random_circuits_in_single_precision() {
    for seed in 0..n_circuits(500) {
        let mut draw = Draw::new(seed);
        let bits =
            SampleShape { n_features: 1 + draw.below(3), feature: Code::Bit, n_labels: 1, label: Code::Bit };
        let circuit = draw.circuit(Some(bits));
        let network = network(&circuit, 64, Float::F32);
        let mut engine = DenseSgd::<f32>::new(&network.network, network.constants.rate).expect("valid");
        let error = follow(&circuit, &network, &mut engine, &mut draw, 30);
        error.unwrap_or_else(|failed| panic!("seed {seed}: {failed}\n{circuit}"));
    }
}

/// Sparse and dense end with the same registers, closer than the bound, and no weight moves further.
#[test]
fn the_sparse_engine_and_its_bound_agree_with_the_dense_one() {
    let mut n_tight = 0;
    for seed in 0..n_circuits(300) {
        let mut draw = Draw::new(seed);
        let shape = draw.shape();
        let circuit = draw.circuit(shape);
        let network = network(&circuit, 64, Float::F64);
        // Memory that is hardly smaller than the rest: what other weights do can then be seen.
        let scale = [network.constants.memory_scale, 1.0 / (1_u128 << 90) as f64][seed as usize % 2];
        let constants = with_memory_scale(network.constants, scale);
        let network = CircuitNetwork::build(&circuit, constants);
        let mut dense = DenseSgd::<f64>::new(&network.network, constants.rate).expect("valid");
        let mut sparse = SparseSgd::<f64>::new(&network.network, constants.rate);
        follow(&circuit, &network, &mut dense, &mut Draw::new(seed), 30).expect("valid");
        follow(&circuit, &network, &mut sparse, &mut Draw::new(seed), 30).expect("valid");
        let bound = sparse.perturbation();
        assert!(bound.closed, "seed {seed}: {bound:?}\n{circuit}");
        let pairs = dense.biases(MEMORY_LAYER).into_iter().zip(sparse.biases(MEMORY_LAYER));
        let n_memory = circuit.registers().len() + shape.map_or(0, |s| s.n_feature_bits() + s.n_labels);
        let apart = pairs.take(n_memory).map(|(a, b)| (a - b).abs() / scale).fold(0.0, f64::max);
        assert!(apart <= bound.bias_error / scale + 1e-13, "seed {seed}: {apart} apart, {bound:?}");
        let mut largest: f64 = 0.0;
        for (at, layer) in network.network.layers().iter().enumerate() {
            let (moved, n_inputs) = (dense.weights(at), layer.n_inputs());
            for unit in 0..layer.n_units() {
                let mut before = vec![0.0; n_inputs];
                layer.terms(unit).for_each(|(column, weight)| before[column] = weight);
                for (now, before) in moved[unit * n_inputs..][..n_inputs].iter().zip(&before) {
                    let (apart, rounding) = ((now - before).abs(), before.abs() * 1e-15);
                    assert!(apart <= bound.largest_move + rounding, "seed {seed}, layer {at}: {apart}");
                    largest = largest.max(if *before == 0.0 { apart } else { 0.0 });
                }
            }
        }
        n_tight += u64::from(largest > bound.largest_move / f64::from(1 << 16));
    }
    // A bound, and not one far from what happens, but where a circuit hardly moves.
    assert!(n_tight * 10 >= n_circuits(300) * 9, "tight for {n_tight}");
}

/// How many of thirty random circuits a weakened network still runs.
fn n_run(weaken: impl Fn(MlpConstants) -> MlpConstants) -> usize {
    let mut n_run = 0;
    for seed in 0..30 {
        let mut draw = Draw::new(seed);
        let bits = SampleShape { n_features: 2, feature: Code::Bit, n_labels: 1, label: Code::Bit };
        let circuit = draw.circuit(Some(bits));
        let constants = weaken(MlpConstants::choose(circuit.samples(), 1 << 30, Float::F64).expect("valid"));
        let network = CircuitNetwork::build(&circuit, constants);
        let mut engine = DenseSgd::<f64>::new(&network.network, constants.rate).expect("valid");
        n_run += usize::from(follow(&circuit, &network, &mut engine, &mut draw, 30).is_ok());
    }
    n_run
}

#[test]
fn weakened_networks_fail() {
    assert_eq!(n_run(|constants| constants), 30);
    let once = n_run(|constants| MlpConstants { saturates_twice: false, ..constants });
    assert!(once < 15, "one saturation: {once}");
    let kink = n_run(|constants| MlpConstants { gate: 2.0, ..constants });
    assert!(kink < 15, "a gate at its kink: {kink}");
    let unamplified = n_run(|constants| with_memory_scale(constants, 1.0));
    assert!(unamplified < 15, "an unamplified memory: {unamplified}");
}

/// Learns a parity of half of the bits; returns the steps until it halts.
fn learn_parity(bits: usize, engine: impl Fn(&CircuitNetwork) -> Box<dyn SequentialEngine>) -> u64 {
    let circuit = Shipped::Parity.circuit(bits);
    let network = network(&circuit, 256, Float::F64);
    let mut engine = engine(&network);
    let mut draw = Draw::new(bits as u64);
    let hidden: Vec<bool> = (0..bits).map(|_| draw.bit()).collect();
    let mut sample = || {
        let mut sample = draw.sample(circuit.samples());
        let n_ones = sample.features.iter().zip(&hidden).filter(|(x, counts)| **x && **counts).count();
        sample.label = vec![n_ones % 2 == 1];
        sample
    };
    let mut simulator = Simulator::new(&circuit);
    while !simulator.halted().expect("valid") {
        let sample = sample();
        engine.step(&network.inputs(&sample.features), &network.labels(&sample.label));
        simulator.step(&sample).expect("valid");
        let memory = network.decode(&engine.biases(MEMORY_LAYER)).expect("valid");
        assert_eq!((&memory.registers[..], memory.held.as_ref()), (simulator.registers(), simulator.held()));
    }
    for _ in 0..50 {
        let sample = sample();
        let found = engine.output(&network.inputs(&sample.features))[0];
        assert!((found - network.labels(&sample.label)[0]).abs() < 1e-9);
    }
    simulator.steps()
}

#[test]
fn a_parity_is_learned_by_every_weight() {
    let dense = |n: &CircuitNetwork| -> Box<dyn SequentialEngine> {
        Box::new(DenseSgd::<f64>::new(&n.network, n.constants.rate).expect("valid"))
    };
    let sparse = |n: &CircuitNetwork| -> Box<dyn SequentialEngine> {
        Box::new(SparseSgd::<f64>::new(&n.network, n.constants.rate))
    };
    assert_eq!(learn_parity(6, dense), learn_parity(6, sparse));
    assert!(learn_parity(16, sparse) <= 50);
}
