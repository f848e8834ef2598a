//! The layers of a circuit's network: inputs, memory, clean copies, logic, gates, output.

use std::{collections::BTreeMap, sync::Arc};

use luge_circuit::{Circuit, Code, Gate, Input, Literal, SampleShape, Total};
use luge_net::Sequential;

use super::{
    MEMORY_LAYER, MlpConstants, REGISTER_LIFT, Readout, SLOT_LIFT, bit_weight, bit_weights,
    stack::{Digits, Form, Operand, Signal, Stack},
};

/// Builds the network, which runs `circuit` in steps of SGD.
pub(super) fn network(circuit: &Circuit, readout: &Readout, constants: &MlpConstants) -> Sequential {
    let n_inputs = circuit.samples().map_or(1, |shape| shape.n_features);
    let mut wiring = Wiring { circuit, constants, stack: Stack::new(n_inputs) };
    let registers = wiring.registers();
    let sample = circuit.samples().map(|shape| wiring.slots(shape));
    let sources = Sources { registers, sample, query: wiring.query() };
    let wires = wiring.logic(&sources);
    wiring.finish(readout, &sources, &wires)
}

/// What the logic is computed from: the memory, and the bits of the current input.
struct Sources {
    registers: Vec<Cell>,
    sample: Option<SlotCells>,
    query: Vec<Operand>,
}

/// A number in memory, amplified, and its clean copies.
struct Cell {
    /// The number plus its lift, with the errors of training.
    amplified: Signal,
    /// Whether it is positive, or 1.
    positive: Operand,
    /// Whether it is negative.
    negative: Option<Operand>,
}

/// The memory of the sample that is held.
struct SlotCells {
    shape: SampleShape,
    features: Vec<Cell>,
    labels: Vec<Cell>,
    /// Whether a sample is held.
    full: Operand,
    /// For each label the bits of (y + r) in its units, the lowest first; empty for labels of one bit.
    label_bits: Vec<Vec<Operand>>,
}

/// A gate of the last hidden layer: it opens a register to its slope.
struct Opening {
    /// The output whose error moves the register.
    output: usize,
    amplified: Signal,
    when: Vec<Operand>,
    weight: f64,
    /// The value that passes the gate if the register is exact; the output subtracts it.
    offset: f64,
}

struct Wiring<'a> {
    circuit: &'a Circuit,
    constants: &'a MlpConstants,
    stack: Stack,
}

impl Wiring<'_> {
    /// A bias of the memory's layer, amplified in the next layer: the amplified unit, and the value as a form over the memory.
    fn cell(&mut self, initial: f64, lift: f64) -> (Signal, Form) {
        let scale = self.constants.memory_scale;
        let bias = Form { terms: Vec::new(), constant: scale * (initial + lift) };
        let amplified = Form::unit(self.stack.unit(MEMORY_LAYER, bias)).times(1.0 / scale);
        let unit = self.stack.unit(MEMORY_LAYER + 1, amplified.clone());
        (self.stack.signal(MEMORY_LAYER + 1, Form::unit(unit)), amplified.shifted(-lift))
    }

    /// A clean copy: 0 where `form` is at most 0, 1 where it is at least 1.
    fn copy(&mut self, form: &Form) -> Operand {
        let step = self.stack.step(MEMORY_LAYER + 1, form.clone().times(2.0).shifted(-1.5));
        let once = self.stack.signal(MEMORY_LAYER + 1, step);
        if self.constants.saturates_twice { self.stack.saturated(once).into() } else { once.into() }
    }

    fn registers(&mut self) -> Vec<Cell> {
        let circuit = self.circuit;
        let cells = circuit.registers().iter().map(|register| {
            let (amplified, form) = self.cell(f64::from(u8::from(register.initial)), REGISTER_LIFT);
            Cell { amplified, positive: self.copy(&form), negative: None }
        });
        cells.collect()
    }

    fn slots(&mut self, shape: SampleShape) -> SlotCells {
        // The smallest absolute value of a full slot is 1 for labels of one bit, else 1/2.
        let steep = if shape.label == Code::Bit { 1.0 } else { 2.0 };
        let mut numbers = Vec::new();
        let mut slot = |wiring: &mut Self| {
            let (amplified, form) = wiring.cell(0.0, SLOT_LIFT);
            numbers.push(form.clone());
            let positive = wiring.copy(&form.clone().times(steep));
            Cell { amplified, positive, negative: Some(wiring.copy(&form.times(-steep))) }
        };
        let features = (0..shape.n_feature_bits()).map(|_| slot(self)).collect();
        let labels: Vec<Cell> = (0..shape.n_labels).map(|_| slot(self)).collect();
        let (full, label_bits) = match shape.label {
            Code::Bit => {
                let ends: Vec<Operand> = [labels[0].positive].into_iter().chain(labels[0].negative).collect();
                (self.stack.sum(&ends).into(), Vec::new())
            }
            Code::Fixed { n_integer, n_fraction } => {
                let bits = labels.iter().map(|label| self.label_bits(label, n_integer + n_fraction));
                (labels[0].positive, bits.collect())
            }
        };
        SlotCells { shape, features, labels, full, label_bits }
    }

    /// The bits of a label that is a number.
    fn label_bits(&mut self, label: &Cell, n_bits: u32) -> Vec<Operand> {
        let layer = self.stack.layer(label.amplified);
        let scale = bit_weight(n_bits as usize, 0);
        let number = self.stack.at(label.amplified, layer).shifted(-SLOT_LIFT).times(scale);
        let number = self.stack.signal(layer, number);
        self.stack.bits(number, n_bits + 1, true).into_iter().map(Operand::from).collect()
    }

    /// The bits of the current input. Inputs are scaled down before the memory's layer, so that weights there learn little.
    fn query(&mut self) -> Vec<Operand> {
        let small = self.constants.input_scale;
        let shape = self.circuit.samples();
        let mut bits = Vec::new();
        for input in 0..shape.map_or(1, |shape| shape.n_features) {
            match shape.map_or(Code::Bit, |shape| shape.feature) {
                Code::Bit => {
                    let unit = self.stack.unit(0, Form::unit(input).times(small));
                    let unit = self.stack.unit(MEMORY_LAYER, Form::unit(unit).shifted(small));
                    let bit = Form::unit(unit).times(2.0 / small).shifted(-3.0);
                    let bit = self.stack.unit(MEMORY_LAYER + 1, bit);
                    bits.push(self.stack.signal(MEMORY_LAYER + 1, Form::unit(bit)).into());
                }
                Code::Fixed { n_integer, n_fraction } => {
                    let range = bit_weight(n_integer as usize, 0);
                    let unit = self.stack.unit(0, Form::unit(input).times(small / range).shifted(small));
                    let unit = self.stack.unit(MEMORY_LAYER, Form::unit(unit));
                    let n_bits = n_integer + n_fraction;
                    let whole = Form::unit(unit).times(bit_weight(n_bits as usize, 0) / small);
                    let whole = self.stack.unit(MEMORY_LAYER + 1, whole);
                    let whole = self.stack.signal(MEMORY_LAYER + 1, Form::unit(whole));
                    // The highest bit belongs to the offset.
                    let read = self.stack.bits(whole, n_bits + 1, false);
                    bits.extend(read.into_iter().take(n_bits as usize).map(Operand::from));
                }
            }
        }
        bits
    }

    /// The wires that something depends on, in the order of the circuit's gates.
    fn logic(&mut self, Sources { registers, sample, query }: &Sources) -> BTreeMap<u32, Operand> {
        let (circuit, sample) = (self.circuit, sample.as_ref());
        let mut needed = vec![false; circuit.gates().len()];
        let targets = circuit.registers().iter().map(|register| register.target);
        // Without samples nothing depends on `next`, whose logic may be the deepest.
        let next = sample.map(|_| circuit.next());
        let roots = targets.chain(next).chain([circuit.halted()]).chain(circuit.output().iter().copied());
        for root in roots {
            needed[root.wire.index()] = true;
        }
        for (wire, gate) in circuit.gates().iter().enumerate().rev() {
            if needed[wire] {
                gate.operands().iter().for_each(|operand| needed[operand.wire.index()] = true);
            }
        }
        let mut wires: BTreeMap<u32, Operand> = BTreeMap::new();
        let mut numbers: BTreeMap<*const Total, Digits> = BTreeMap::new();
        for (wire, gate) in circuit.gates().iter().enumerate().filter(|(wire, _)| needed[*wire]) {
            let operands: Vec<Operand> = gate.operands().iter().map(|&o| literal(&wires, o)).collect();
            let found = match gate {
                Gate::False => self.stack.signal(0, Form::default()).into(),
                Gate::Register(register) => registers[register.index()].positive,
                Gate::Input(Input::Query(bit)) => query[*bit],
                Gate::Input(Input::Label(bit)) => sample.map_or_else(|| query[0], |s| s.label_bit(*bit)),
                Gate::Input(Input::Feature(bit)) => {
                    sample.map_or_else(|| query[0], |s| self.feature_bit(s, *bit))
                }
                Gate::And(_) => self.stack.and(&operands).into(),
                Gate::Sum(_) => self.stack.sum(&operands).into(),
                Gate::Parity(_) => self.stack.parity(&operands).into(),
                Gate::Bit(total, bit) => {
                    let number = numbers.entry(Arc::as_ptr(total)).or_insert_with(|| {
                        Digits::new(self.stack.weighted(total.constant, &operands, &total.weights), total)
                    });
                    number.bit(&mut self.stack, *bit).into()
                }
            };
            wires.insert(u32::try_from(wire).unwrap_or(u32::MAX), found);
        }
        wires
    }

    /// A feature's bit of the sample that is held: slots hold it times the label.
    fn feature_bit(&mut self, sample: &SlotCells, bit: usize) -> Operand {
        let (slot, label) = (&sample.features[bit], &sample.labels[0]);
        match (sample.shape.label, slot.negative, label.negative) {
            (Code::Bit, Some(slot_negative), Some(label_negative)) => {
                let both = self.stack.and(&[slot.positive, label.positive]);
                let neither = self.stack.and(&[slot_negative, label_negative]);
                self.stack.sum(&[both.into(), neither.into()]).into()
            }
            _ => slot.positive,
        }
    }

    fn finish(mut self, readout: &Readout, sources: &Sources, wires: &BTreeMap<u32, Operand>) -> Sequential {
        let (circuit, Sources { registers, sample, query }) = (self.circuit, sources);
        let halted = literal(wires, circuit.halted());
        let mut running = vec![!halted];
        running.extend(sample.as_ref().map(|sample| sample.full));
        let run = self.stack.and(&running).into();
        let mut openings = self.flips(registers, run, wires);
        let mut taking = None;
        if let Some(sample) = sample {
            let take = self.stack.and(&[!halted, !sample.full]).into();
            let dropping = self.stack.and(&[run, literal(wires, circuit.next())]).into();
            openings.extend(self.drops(sample, dropping));
            openings.extend(self.takes(sample, take, query));
            taking = Some((take, sample.shape.label));
        }
        let output: Vec<Operand> = circuit.output().iter().map(|&bit| literal(wires, bit)).collect();
        let read = openings.iter().flat_map(|opening| &opening.when).chain(&output).chain([&run, &halted]);
        let last_logic = read.map(|operand| self.stack.layer(operand.signal)).max().unwrap_or(0) + 1;
        let gates = last_logic + 1;

        let mut outs = vec![Form::default(); circuit.samples().map_or(1, |shape| shape.n_labels)];
        for Opening { output, amplified, when, weight, offset } in openings {
            let gate = self.stack.and_in(last_logic, &when);
            let open = self.stack.at(gate, last_logic).times(self.constants.gate);
            let gated = self.stack.at(amplified, last_logic).plus(open).shifted(-self.constants.gate);
            let unit = self.stack.unit(gates, gated);
            outs[output].add(Form::unit(unit).times(weight));
            if offset != 0.0 {
                outs[output].add(self.in_output(gates, &[gate.into()]).times(-weight * offset));
            }
        }
        outs[0].add(self.in_output(gates, &[run]).times(self.constants.carrier));
        if let Some((take, Code::Fixed { n_integer, .. })) = taking {
            let taken = self.in_output(gates, &[take]).times(-bit_weight(n_integer as usize, 0));
            outs.iter_mut().for_each(|out| out.add(taken.clone()));
        }
        let code = circuit.samples().map_or(Code::Bit, |shape| shape.label);
        for (out, bits) in outs.iter_mut().zip(output.chunks(code.n_bits())) {
            for (&bit, weight) in bits.iter().zip(bit_weights(code).1) {
                let one = self.in_output(gates, &[halted, bit]);
                match code {
                    Code::Bit => {
                        out.add(one);
                        out.add(self.in_output(gates, &[halted, !bit]).times(-1.0));
                    }
                    Code::Fixed { .. } => out.add(one.times(weight)),
                }
            }
        }
        for (out, terms) in outs.iter_mut().zip(&readout.terms) {
            for (bits, inputs, weight) in terms {
                let bits = bits.iter().map(|&register| registers[register.index()].positive);
                let factors = [halted].into_iter().chain(bits).chain(inputs.iter().map(|&bit| query[bit]));
                out.add(self.in_output(gates, &factors.collect::<Vec<_>>()).times(*weight));
            }
        }
        self.stack.finish(outs)
    }

    /// 1 if all operands are 1, exactly 0 otherwise, so that large weights of the output add no rounding errors.
    fn in_output(&mut self, gates: usize, operands: &[Operand]) -> Form {
        let signal = self.stack.and_in(gates, operands);
        self.stack.at(signal, gates)
    }

    /// Gates for registers that differ from their targets.
    fn flips(&mut self, registers: &[Cell], run: Operand, wires: &BTreeMap<u32, Operand>) -> Vec<Opening> {
        let slope = self.constants.slope;
        let mut openings = Vec::new();
        for (cell, register) in registers.iter().zip(self.circuit.registers()) {
            let (now, target) = (cell.positive, literal(wires, register.target));
            if now == target {
                continue;
            }
            let constant = register.target.as_constant();
            for (falls, weight) in [(true, slope), (false, -slope)] {
                if constant == Some(falls) {
                    continue;
                }
                let when = if falls { vec![run, now, !target] } else { vec![run, !now, target] };
                openings.push(opening(cell, when, weight));
            }
        }
        openings
    }

    /// Gates that empty the slots.
    fn drops(&self, sample: &SlotCells, dropping: Operand) -> Vec<Opening> {
        let slope = self.constants.slope;
        let mut openings = Vec::new();
        let n_bits = u32::try_from(sample.shape.label.n_bits()).unwrap_or(u32::MAX);
        // Features hold their bits times the first label.
        let none = Vec::new();
        let bits_of = |label: usize| sample.label_bits.get(label).unwrap_or(&none);
        let labels = sample.labels.iter().enumerate().map(|(at, cell)| (cell, bits_of(at)));
        for (cell, label_bits) in sample.features.iter().map(|cell| (cell, bits_of(0))).chain(labels) {
            let sides = [(Some(cell.positive), slope), (cell.negative, -slope)];
            for (side, side_weight) in sides.into_iter().filter_map(|(side, slope)| Some((side?, slope))) {
                if label_bits.is_empty() {
                    openings.push(opening(cell, vec![dropping, side], side_weight));
                }
                for (at, &bit) in label_bits.iter().enumerate() {
                    let weight = side_weight * bit_weight(at, n_bits);
                    openings.push(opening(cell, vec![dropping, side, bit], weight));
                }
            }
        }
        openings
    }

    /// Gates that fill the slots.
    fn takes(&self, sample: &SlotCells, take: Operand, query: &[Operand]) -> Vec<Opening> {
        let range = match sample.shape.label {
            Code::Bit => 1.0,
            Code::Fixed { n_integer, .. } => bit_weight(n_integer as usize, 0),
        };
        let weight = self.constants.carrier * self.constants.slope / range;
        let slot = |output: usize, cell: &Cell, when: Vec<Operand>, weight: f64| Opening {
            output,
            offset: SLOT_LIFT,
            ..opening(cell, when, weight)
        };
        let labels = sample.labels.iter().enumerate();
        let mut openings: Vec<Opening> =
            labels.map(|(output, cell)| slot(output, cell, vec![take], weight)).collect();
        for (cell, &bit) in sample.features.iter().zip(query) {
            openings.push(slot(0, cell, vec![take, bit], weight));
            openings.push(slot(0, cell, vec![take, !bit], -weight));
        }
        openings
    }
}

impl SlotCells {
    fn label_bit(&self, bit: usize) -> Operand {
        let n_bits = self.shape.label.n_bits();
        match self.label_bits.get(bit / n_bits) {
            Some(bits) => bits[bit % n_bits],
            None => self.labels[bit].positive,
        }
    }
}

/// A gate that opens a cell to the first output.
fn opening(cell: &Cell, when: Vec<Operand>, weight: f64) -> Opening {
    Opening { output: 0, amplified: cell.amplified, when, weight, offset: 0.0 }
}

fn literal(wires: &BTreeMap<u32, Operand>, literal: Literal) -> Operand {
    let operand = wires[&literal.wire.0];
    if literal.negated { !operand } else { operand }
}
