//! Machines as circuits, compared with the machine simulator: state, heads and every cell after every step.

mod random;

use luge_circuit::{
    Cycle, Sample, Simulator,
    machine::{MachineError, MachineRegisters, Tapes, circuit_of},
};
use luge_machine::{
    Alphabet, Cell, Input, Machine, Move, NormalForm, Pattern, SampleUse, StateId, SymbolId, Write,
    formats::Format,
    stream::{Batch, Memory, StreamOutcome, StreamSimulator, check},
};
use random::{Random, SHAPE, memory, random_input, random_machine};

const CELLS: std::ops::Range<Cell> = -12..14;

/// The expected values of the circuit's registers, from the machine simulator.
fn compare(simulator: &luge_machine::Simulator<'_>, circuit: &Simulator<'_>, registers: &MachineRegisters) {
    let machine = simulator.machine();
    for state in machine.state_ids() {
        assert_eq!(circuit.register(registers.states[state.index()]), state == simulator.state());
    }
    for tape in machine.tape_ids() {
        for (cell, &head) in CELLS.zip(&registers.heads[tape.index()]) {
            assert_eq!(circuit.register(head), simulator.head(tape) == cell, "head {tape} on {cell}");
        }
        for (cell, &symbol) in CELLS.zip(&registers.symbols[tape.index()]) {
            assert_eq!(
                circuit.register(symbol),
                simulator.tape(tape).read(cell).0 == 1,
                "tape {tape}, cell {cell}"
            );
        }
    }
}

fn inside(simulator: &luge_machine::Simulator<'_>) -> bool {
    simulator.machine().tape_ids().all(|tape| CELLS.contains(&simulator.head(tape)))
}

#[test]
fn random_machines_run_as_circuits() {
    let mut random = Random(1);
    let (mut n_steps, mut n_halted, mut n_left) = (0, 0, 0);
    for _ in 0..500 {
        let normal = NormalForm::new(random_machine(&mut random, false)).unwrap();
        let input = random_input(&mut random, normal.n_tapes());
        let (circuit, registers) =
            circuit_of(&normal, &Tapes { input: &input, cells: CELLS, samples: None }).unwrap();
        let mut simulator = luge_machine::Simulator::new(normal.machine(), &input);
        let mut running = Simulator::new(&circuit);
        for _ in 0..60 {
            let stopped = simulator.step().is_err();
            let cycle = running.step(&Sample::default()).unwrap();
            assert_eq!(cycle, if stopped { Cycle::Halted } else { Cycle::Run });
            if stopped {
                n_halted += 1;
                break;
            }
            if !inside(&simulator) {
                // The head has left the cells, so the circuit halts.
                assert_eq!(running.step(&Sample::default()).unwrap(), Cycle::Halted);
                n_left += 1;
                break;
            }
            n_steps += 1;
            compare(&simulator, &running, &registers);
        }
        compare(&simulator, &running, &registers);
        assert!(circuit.size().depth <= 3);
    }
    assert!(n_steps > 5000 && n_halted > 100 && n_left > 20, "{n_steps} {n_halted} {n_left}");
}

fn symbols(bits: &[bool]) -> Vec<SymbolId> {
    bits.iter().map(|&bit| SymbolId(u8::from(bit))).collect()
}

/// Runs a stream machine and its circuit. Returns the steps, the samples that the machine took, and whether it took or latched at
/// the wrong time.
fn stream_beside(normal: &NormalForm, input: &Input, random: &mut Random) -> (u64, u64, bool) {
    let tapes = Tapes { input, cells: CELLS, samples: Some((&memory(), SHAPE)) };
    let (circuit, registers) = circuit_of(normal, &tapes).expect("a circuit");
    let mut simulator = StreamSimulator::new(normal.machine(), input, memory());
    let mut running = Simulator::new(&circuit);
    let mut bits = |n: usize| -> Vec<bool> { (0..n).map(|_| random.chance(50)).collect() };
    // The machine never sees the sample that the circuit takes in its first cycle.
    let mut passing: Vec<Sample> = (0..200).map(|_| Sample { features: bits(2), label: bits(1) }).collect();
    for _ in 0..60 {
        let sample = passing.remove(0);
        if running.held().is_none() && running.step(&sample).expect("exclusive sums") == Cycle::Halted {
            assert!(simulator.simulator().stopped().is_some());
            break;
        }
        let next = passing[0].clone();
        let batch = || Batch { features: symbols(&next.features), labels: symbols(&next.label) };
        let other = Sample { features: bits(2), label: bits(1) };
        let takes = simulator.next_use() == SampleUse::Take;
        match simulator.step(batch) {
            Ok(_) => assert_eq!(running.step(&other).expect("exclusive sums"), Cycle::Run),
            Err(StreamOutcome::Stopped(_)) => {
                assert_eq!(running.step(&other).expect("exclusive sums"), Cycle::Halted);
                break;
            }
            Err(StreamOutcome::Breach { .. }) => return (simulator.steps(), simulator.n_taken(), true),
        }
        assert_eq!(running.held().is_none(), takes);
        if !takes {
            passing.insert(0, sample);
        }
        if !inside(simulator.simulator()) {
            break;
        }
        compare(simulator.simulator(), &running, &registers);
    }
    assert_eq!(running.n_taken().saturating_sub(u64::from(running.held().is_some())), simulator.n_taken());
    (simulator.steps(), simulator.n_taken(), false)
}

#[test]
fn random_stream_machines_run_as_circuits() {
    let mut random = Random(2);
    let (mut n_machines, mut n_steps, mut n_taken, mut n_breaches, mut n_refused) = (0, 0, 0, 0, 0);
    while n_machines < 500 {
        let machine = random_machine(&mut random, true);
        if !machine.takes_samples() || check(&machine).is_err() {
            continue;
        }
        let normal = NormalForm::new(machine).unwrap();
        let input = random_input(&mut random, normal.n_tapes());
        let tapes = Tapes { input: &input, cells: CELLS, samples: Some((&memory(), SHAPE)) };
        if let Err(refused) = circuit_of(&normal, &tapes) {
            assert!(matches!(refused, MachineError::StopsUnseen { .. }), "{refused}");
            n_refused += 1;
            continue;
        }
        n_machines += 1;
        let (steps, taken, breach) = stream_beside(&normal, &input, &mut random);
        n_steps += steps;
        n_taken += taken;
        n_breaches += u64::from(breach);
    }
    assert!(n_steps > 2000 && n_taken > 300 && n_breaches < 400, "{n_steps} {n_taken} {n_breaches}");
    assert!((20..500).contains(&n_refused), "{n_refused} machines refused");
}

#[test]
fn a_busy_beaver_is_a_circuit() {
    let machine = Format::Bbchallenge.read("1RB1LB_1LA0LC_1RZ1LD_1RD0RA").unwrap().machine;
    let normal = NormalForm::new(machine).unwrap();
    let tapes = Tapes { input: &Input::blank(), cells: CELLS, samples: None };
    let (circuit, registers) = circuit_of(&normal, &tapes).unwrap();
    let mut running = Simulator::new(&circuit);
    while running.step(&Sample::default()).unwrap() == Cycle::Run {}
    let ones = registers.symbols[0].iter().filter(|&&symbol| running.register(symbol)).count();
    assert_eq!((running.steps(), ones), (107, 13));
}

#[test]
fn what_is_no_circuit_is_refused() {
    let message = |uses: &[SampleUse], tapes: &Tapes<'_>| {
        let mut b = Machine::builder();
        b.read_only_tape("data", Alphabet::binary());
        let states: Vec<StateId> = (0..uses.len()).map(|i| b.state(format!("s{i}"))).collect();
        let end = b.halting_state("end", true);
        for (i, (&state, &samples)) in states.iter().zip(uses).enumerate() {
            let next = states.get(i + 1).copied().unwrap_or(end);
            b.rule(state, [Pattern::Any], [Write::Keep], [Move::Right], next);
            b.samples_in(state, samples);
        }
        let normal = NormalForm::new(b.build().expect("a machine")).expect("two symbols");
        circuit_of(&normal, tapes).expect_err("refused").to_string()
    };
    use SampleUse::{Latch, Pass, Take};
    let (input, memory) = (Input::blank(), memory());
    let tapes = Tapes { input: &input, cells: CELLS, samples: Some((&memory, SHAPE)) };
    assert_eq!(
        message(&[Take, Latch, Take], &tapes),
        "state `s2` takes a batch too soon: between two takes there are at least two steps"
    );
    assert_eq!(message(&[Pass, Pass], &tapes), MachineError::NoMemory.to_string());
    assert_eq!(
        message(&[Take, Latch], &Tapes { samples: None, ..tapes.clone() }),
        MachineError::NoMemory.to_string()
    );
    let narrow = Tapes { cells: 0..4, ..tapes.clone() };
    assert_eq!(
        message(&[Take, Latch], &narrow),
        "cell 4 of tape `data` is outside of the cells 0 to 3 that the circuit has"
    );
    let mut b = Machine::builder();
    b.read_only_tape("data", Alphabet::binary());
    let (taking, seeing) = (b.state("taking"), b.state("seeing"));
    b.rule(taking, [Pattern::Any], [Write::Keep], [Move::Right], seeing);
    b.rule(seeing, [Pattern::Is(SymbolId(1))], [Write::Keep], [Move::Right], seeing);
    b.samples_in(taking, Take);
    let unseen = circuit_of(&NormalForm::new(b.build().unwrap()).unwrap(), &tapes).unwrap_err();
    assert_eq!(unseen, MachineError::StopsUnseen { state: "seeing".to_owned(), tape: "data".to_owned() });
    let two = Memory { features: vec![1, 4, 5, 6], labels: vec![2, 3], ..memory.clone() };
    let two = Tapes { samples: Some((&two, SHAPE)), ..tapes };
    assert_eq!(
        message(&[Take, Latch], &two),
        "6 cells show 3 bits of a sample; a circuit holds one sample at a time"
    );
}
