//! Compares AIGER files with an evaluator that implements the format's definition and shares no code with the crate.

use std::collections::{BTreeMap, HashMap};

use luge_circuit::{
    Circuit, Cycle, Sample, Simulator,
    aiger::{self, Encoding},
};

/// The gates of a file, and the state of its latches.
struct Plain {
    inputs: Vec<usize>,
    /// State, next state, initial value.
    latches: Vec<[usize; 3]>,
    outputs: Vec<usize>,
    ands: HashMap<usize, [usize; 2]>,
    names: BTreeMap<String, String>,
    state: HashMap<usize, bool>,
}

impl Plain {
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let numbers = |line: &str| -> Vec<usize> { line.split(' ').filter_map(|w| w.parse().ok()).collect() };
        let header = numbers(lines.next().expect("valid"));
        let mut take = |n: usize| -> Vec<Vec<usize>> { lines.by_ref().take(n).map(numbers).collect() };
        let inputs = take(header[1]).into_iter().map(|line| line[0]).collect();
        let latches: Vec<[usize; 3]> =
            take(header[2]).into_iter().map(|l| [l[0], l[1], l.get(2).copied().unwrap_or(0)]).collect();
        let bad = header.get(5).copied().unwrap_or(0);
        let outputs = take(header[3] + bad).into_iter().map(|line| line[0]).collect();
        let ands = take(header[4]).into_iter().map(|l| (l[0], [l[1], l[2]])).collect();
        let names = lines.take_while(|&line| line != "c").filter_map(|line| line.split_once(' '));
        let names = names.map(|(place, name)| (name.to_owned(), place.to_owned())).collect();
        let state = latches.iter().map(|latch| (latch[0], latch[2] == 1)).collect();
        Self { inputs, latches, outputs, ands, names, state }
    }

    fn value(&self, known: &mut HashMap<usize, bool>, literal: usize) -> bool {
        let variable = literal & !1;
        let value = if variable == 0 {
            false
        } else if let Some(&value) = known.get(&variable) {
            value
        } else {
            let [a, b] = self.ands[&variable];
            self.value(known, a) && self.value(known, b)
        };
        known.insert(variable, value);
        value != (literal & 1 == 1)
    }

    /// The value of an output, given the values of inputs by name; all others are 0.
    fn see(&self, given: &BTreeMap<String, bool>, literals: &[usize]) -> Vec<bool> {
        let mut known = self.state.clone();
        for (i, &input) in self.inputs.iter().enumerate() {
            let place = format!("i{i}");
            let name = self.names.iter().find(|(_, p)| **p == place).map(|(name, _)| name.clone());
            known.insert(input, given.get(&name.unwrap_or(format!("x[{i}]"))).copied().unwrap_or(false));
        }
        literals.iter().map(|&literal| self.value(&mut known, literal)).collect()
    }

    fn output(&self, name: &str) -> Option<usize> {
        let place = self.names.get(name)?.strip_prefix('o')?;
        Some(self.outputs[place.parse::<usize>().expect("valid")])
    }

    fn named_outputs(&self) -> bool {
        ["next", "halted", "f", "f[0]"].iter().any(|&name| self.output(name).is_some())
    }

    fn clock(&mut self, given: &BTreeMap<String, bool>) {
        let targets: Vec<usize> = self.latches.iter().map(|latch| latch[1]).collect();
        let after = self.see(given, &targets);
        self.state = self.latches.iter().map(|latch| latch[0]).zip(after).collect();
    }
}

fn given(sample: Option<&Sample>, query: &[bool]) -> BTreeMap<String, bool> {
    let mut given: BTreeMap<String, bool> = BTreeMap::new();
    for (i, &bit) in query.iter().enumerate() {
        given.insert(format!("query[{i}]"), bit);
    }
    if let Some(sample) = sample {
        given.extend(sample.features.iter().enumerate().map(|(i, &bit)| (format!("x[{i}]"), bit)));
        given.extend(sample.label.iter().enumerate().map(|(i, &bit)| (format!("y[{i}]"), bit)));
        given.extend(sample.label.first().map(|&bit| ("y".to_owned(), bit)));
    }
    given
}

/// Random bits, the same on all platforms.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("valid")
    }

    fn bits(&mut self, n: usize) -> Vec<bool> {
        (0..n).map(|_| self.next() & 1 == 1).collect()
    }
}

/// Runs the circuit and the file in parallel; the cycles of section 11 follow from the file's outputs.
fn compare(text: &str, circuit: &Circuit, n_cycles: usize, seed: u64) -> usize {
    let mut plain = Plain::parse(text);
    let mut simulator = Simulator::new(circuit);
    let mut random = Bits(seed);
    let (n_bits, n_label) =
        circuit.samples().map_or((0, 0), |shape| (shape.n_feature_bits(), shape.n_label_bits()));
    let mut held: Option<Sample> = None;
    let mut n_runs = 0;
    for cycle in 0..n_cycles {
        let sample = Sample { features: random.bits(n_bits), label: random.bits(n_label) };
        let seen = given(held.as_ref(), &sample.features);
        let bit = |literal: Option<usize>, default| literal.map_or(default, |l| plain.see(&seen, &[l])[0]);
        let unnamed = if plain.named_outputs() { None } else { plain.outputs.first().copied() };
        let halted = bit(plain.output("halted").or(unnamed), false);
        let next = bit(plain.output("next"), true);
        let f = plain.output("f").or(plain.output("f[0]")).map(|f| plain.see(&seen, &[f])[0]);
        assert_eq!(
            simulator.output(&sample.features).expect("valid").first().copied(),
            f,
            "f in cycle {cycle}"
        );
        let expected = match (halted, held.is_none() && n_bits + n_label > 0) {
            (true, _) => Cycle::Halted,
            (_, true) => Cycle::Take,
            _ => Cycle::Run,
        };
        match expected {
            Cycle::Halted => {}
            Cycle::Take => held = Some(sample.clone()),
            Cycle::Run => {
                n_runs += 1;
                plain.clock(&seen);
                if next {
                    held = None;
                }
            }
        }
        assert_eq!(simulator.step(&sample).expect("valid"), expected, "cycle {cycle}");
        let state: Vec<bool> = plain.latches.iter().map(|latch| plain.state[&latch[0]]).collect();
        assert_eq!(simulator.registers(), state, "registers after cycle {cycle}");
        assert_eq!(simulator.held(), held.as_ref(), "the sample after cycle {cycle}");
    }
    n_runs
}

fn read(text: &str) -> Circuit {
    let loaded = aiger::read(text.as_bytes(), "file");
    loaded.unwrap_or_else(|faults| panic!("{}", lines(&faults, text))).circuit
}

fn lines(faults: &[luge_machine::Diagnostic], text: &str) -> String {
    faults.iter().map(|fault| fault.one_line(text)).collect::<Vec<_>>().join("\n")
}

fn ascii(circuit: &Circuit) -> String {
    String::from_utf8(aiger::write(circuit, Encoding::Ascii)).expect("valid")
}

/// Writing and reading gives the same circuit, in both encodings, with the same behaviour.
fn round_trip(circuit: &Circuit) {
    let text = ascii(circuit);
    assert_eq!(read(&text), *circuit, "{text}");
    let binary = aiger::write(circuit, Encoding::Binary);
    assert_eq!(aiger::read(&binary, "file").expect("valid").circuit, *circuit);
}

/// Two safety benchmarks in the style of model checkers: a two-bit counter that must not reach three, with an enable and a reset
/// input, gates out of order; and a token ring whose token must not be lost, as a bad state, with initial values.
const COUNTER: &str = "\
aag 9 2 2 1 5
2
4
6 18
8 12
10
12 14 5
10 8 6
14 17 16
18 15 5
16 3 6
";
const RING: &str = "\
aag 8 1 3 0 4 1
2
4 8 1
6 4 0
8 16 0
14
10 5 7
12 10 9
14 12 3
16 6 3
b0 lost
l0 token a
l1 token a
";
/// A learner that finds which of two bits is the label, with Yosys's unused clock.
const LEARNER: &str = "\
aag 19 6 2 3 11
2
4
6
8
10
12
14 34 1
16 36 1
1
33
38
18 4 8
20 5 9
22 19 21
24 6 8
26 7 9
28 25 27
32 14 16
34 14 23
36 16 29
30 14 10
38 30 12
i0 clk
i1 x[0]
i2 x[1]
i3 y
i4 query[0]
i5 query[1]
o0 next
o1 halted
o2 f
c
Generated by hand
";

#[test]
fn files_of_others_mean_what_they_say() {
    for (text, n_registers) in [(COUNTER, 2), (RING, 3), (LEARNER, 2)] {
        let circuit = read(text);
        assert_eq!(circuit.registers().len(), n_registers);
        let n_runs: usize = (0..40).map(|seed| compare(text, &circuit, 30, seed)).sum();
        assert!(n_runs > 40, "{n_runs} cycles ran");
        round_trip(&circuit);
    }
    let names: Vec<String> = read(RING).registers().iter().map(|register| register.name.clone()).collect();
    assert_eq!(names, ["token_a", "token_a_", "l2"]);
}

/// A random file: inputs with our names, latches with initial values, gates whose operands come before them, in random order.
fn random_file(random: &mut Bits) -> String {
    let n_bits = 1 + random.below(3);
    let mut inputs: Vec<String> = (0..n_bits).map(|i| format!("x[{i}]")).collect();
    inputs.push("y".to_owned());
    let n_held = inputs.len();
    inputs.extend((0..n_bits).map(|i| format!("query[{i}]")));
    let (n_latches, n_ands) = (1 + random.below(5), random.below(30));
    let held: Vec<usize> = (0..n_held).chain(inputs.len()..inputs.len() + n_latches).collect();
    let latches: Vec<usize> = (inputs.len()..inputs.len() + n_latches).collect();
    let mut seen: Vec<usize> = held.iter().map(|i| 2 * (i + 1)).chain([0]).collect();
    let mut ahead: Vec<usize> = (n_held..inputs.len()).chain(latches).map(|i| 2 * (i + 1)).collect();
    let mut ands = Vec::new();
    for i in 0..n_ands {
        // Half of the logic is for memory, half for the output.
        let pool = if random.below(2) == 0 { &mut seen } else { &mut ahead };
        let mut operand = || pool[random.below(pool.len())] ^ random.below(2);
        let output = 2 * (inputs.len() + n_latches + 1 + i);
        ands.push(format!("{output} {} {}", operand(), operand()));
        pool.push(output);
    }
    for i in (1..ands.len()).rev() {
        ands.swap(i, random.below(i + 1));
    }
    let n_variables = inputs.len() + n_latches + n_ands;
    let mut lines = vec![format!("aag {n_variables} {} {n_latches} 3 {n_ands}", inputs.len())];
    lines.extend((0..inputs.len()).map(|i| format!("{}", 2 * (i + 1))));
    let mut any = |pool: &[usize]| pool[random.below(pool.len())] ^ random.below(2);
    let latch = |i: usize| 2 * (inputs.len() + i + 1);
    let targets: Vec<usize> = (0..n_latches).map(|_| any(&seen)).collect();
    let outputs = [any(&seen), any(&seen), any(&ahead)];
    lines.extend((0..n_latches).map(|i| format!("{} {} {}", latch(i), targets[i], random.below(2))));
    lines.extend(outputs.map(|output| output.to_string()));
    lines.extend(ands);
    lines.extend(inputs.iter().enumerate().map(|(i, name)| format!("i{i} {name}")));
    lines.extend(["o0 next", "o1 halted", "o2 f"].map(str::to_owned));
    lines.join("\n") + "\n"
}

#[test]
fn random_files_mean_what_they_say() {
    let mut random = Bits(28);
    let mut n_runs = 0;
    for seed in 0..1000 {
        let text = random_file(&mut random);
        let circuit = read(&text);
        n_runs += compare(&text, &circuit, 20, seed);
        round_trip(&circuit);
    }
    assert!(n_runs > 3000, "{n_runs} cycles ran");
}

#[test]
fn a_changed_file_is_read_or_refused() {
    let mut random = Bits(7);
    let binary = aiger::write(&read(LEARNER), Encoding::Binary);
    for file in [COUNTER.as_bytes(), RING.as_bytes(), LEARNER.as_bytes(), &binary] {
        for _ in 0..2000 {
            let mut changed = file.to_vec();
            for _ in 0..1 + random.below(3) {
                let place = random.below(changed.len());
                let byte =
                    [b"0123456789 \nabcx[]"[random.below(18)], u8::try_from(random.below(256)).unwrap()];
                changed[place] = byte[random.below(2)];
            }
            if random.below(4) == 0 {
                changed.truncate(random.below(changed.len()));
            }
            if let Ok(loaded) = aiger::read(&changed, "changed") {
                round_trip(&loaded.circuit);
            }
        }
    }
}

fn refused(text: &str) -> String {
    lines(&aiger::read(text.as_bytes(), "file").expect_err("refused"), text)
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let change = |old: &str, new: &str| {
        assert!(LEARNER.contains(old));
        refused(&LEARNER.replacen(old, new, 1))
    };
    assert_eq!(change("18 4 8", "18 4 35"), "15:1: error: the gate of literal 22 feeds itself");
    assert_eq!(
        change("34 14 23", "34 14 2"),
        "20:1: error: the input clk is used; help: inputs that are used are called x[i], y, y[i] or query[i]"
    );
    assert_eq!(change("i2 x[1]", "i2 x[0]"), "4:1: error: two inputs are called x[0]");
    assert_eq!(
        change("14 34 1", "14 34 14"),
        "8:1: error: register `l0` has no initial value; help: give it one; in Yosys `setundef -zero -init` makes it 0"
    );
    assert_eq!(
        change("34 14 23", "34 14 10"),
        "1:1: error: `l0` depends on query[0], but only `f` may depend on the query"
    );
    assert_eq!(
        change("aag 19 6 2 3 11", "aag 19 6 2 3 10"),
        "23:1: error: not AIGER: expected symbol, comment or end of file, found \"38\""
    );
    assert_eq!(refused("aag 5 1 1 999999999999 0\n"), "1:1: error: the file is shorter than its header says");
    assert_eq!(
        refused("aag 3 0 1 0 0 0 0 1\n2 2\n1\n2\n"),
        "1:1: error: the file has justice or fairness properties; help: only outputs and bad states are read"
    );
    let warned = aiger::read(LEARNER.replacen("o2 f", "o2 g", 1).as_bytes(), "file").unwrap().warnings;
    assert_eq!(
        lines(&warned, LEARNER),
        "12:1: warning: output 2 `g` is left out; help: outputs are called next, halted and f"
    );
}
