//! Writes AIGER files: converts a circuit to two-input and-gates.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use flussab::DeferredWriter;
use flussab_aiger::{
    aig::{OrderedAig, OrderedAndGate, OrderedLatch, Symbol, SymbolTarget},
    ascii, binary,
};

use crate::{Circuit, Gate, Input, Literal, Total};

/// The two kinds of AIGER files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Text, `.aag`.
    Ascii,
    /// Binary, `.aig`.
    Binary,
}

/// Writes a circuit as an AIGER file.
pub fn write(circuit: &Circuit, encoding: Encoding) -> Vec<u8> {
    let aig = ordered(circuit);
    let mut bytes = Vec::new();
    {
        let mut writer = DeferredWriter::from_write(&mut bytes);
        match encoding {
            Encoding::Ascii => ascii::Writer::<u32>::new(&mut writer).write_ordered_aig(&aig),
            Encoding::Binary => binary::Writer::<u32>::new(writer).write_ordered_aig(&aig),
        }
    }
    bytes
}

/// The inputs in the order in which files list them.
fn inputs(circuit: &Circuit) -> Vec<Input> {
    let Some(shape) = circuit.samples() else { return Vec::new() };
    let n_bits = shape.n_feature_bits();
    let label = (0..shape.n_label_bits()).map(Input::Label);
    (0..n_bits).map(Input::Feature).chain(label).chain((0..n_bits).map(Input::Query)).collect()
}

/// The and-gates so far; equal gates are shared. Literals are AIGER codes.
struct Codes {
    ands: Vec<OrderedAndGate<u32>>,
    first: u32,
    known: HashMap<[u32; 2], u32>,
}

impl Codes {
    fn and(&mut self, a: u32, b: u32) -> u32 {
        let inputs = [a.max(b), a.min(b)];
        match inputs {
            [_, 0] => 0,
            [one, 1] => one,
            [a, b] if a == b => a,
            [a, b] if a == b ^ 1 => 0,
            _ => *self.known.entry(inputs).or_insert_with(|| {
                self.ands.push(OrderedAndGate { inputs });
                self.first + 2 * (u32::try_from(self.ands.len()).expect("as many gates as codes") - 1)
            }),
        }
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        let (one, other) = (self.and(a, b ^ 1), self.and(a ^ 1, b));
        self.and(one ^ 1, other ^ 1) ^ 1
    }

    /// The bits of a number: full adders reduce the bits of each weight until one is left.
    fn number(&mut self, total: &Total, operands: &[u32]) -> Vec<u32> {
        let n_bits = total.n_bits() as usize;
        let mut columns: Vec<Vec<u32>> = (0..=n_bits).map(|_| Vec::new()).collect();
        for (bit, column) in columns.iter_mut().enumerate().take(n_bits) {
            column.extend((total.constant >> bit & 1 == 1).then_some(1));
            let here = operands.iter().zip(&total.weights).filter(|(_, weight)| *weight >> bit & 1 == 1);
            column.extend(here.map(|(&operand, _)| operand));
        }
        for bit in 0..n_bits {
            while columns[bit].len() > 1 {
                let [a, b, c] = [(); 3].map(|()| columns[bit].pop().unwrap_or(0));
                let ab = self.xor(a, b);
                let sum = self.xor(ab, c);
                let (both, with_third) = (self.and(a, b), self.and(ab, c));
                columns[bit].insert(0, sum);
                columns[bit + 1].insert(0, self.and(both ^ 1, with_third ^ 1) ^ 1);
            }
        }
        columns.truncate(n_bits);
        columns.into_iter().map(|column| column.first().copied().unwrap_or(0)).collect()
    }

    /// A balanced tree of gates, whose depth is logarithmic.
    fn tree(&mut self, mut operands: Vec<u32>, join: fn(&mut Self, u32, u32) -> u32, none: u32) -> u32 {
        while operands.len() > 1 {
            let pair = |pair: &[u32]| if let [a, b] = *pair { join(self, a, b) } else { pair[0] };
            operands = operands.chunks(2).map(pair).collect();
        }
        operands.pop().unwrap_or(none)
    }
}

fn ordered(circuit: &Circuit) -> OrderedAig<u32> {
    let inputs = inputs(circuit);
    let code = |index: usize| u32::try_from(2 * (index + 1)).expect("as many inputs as codes");
    let positions: HashMap<Input, u32> =
        inputs.iter().enumerate().map(|(i, &input)| (input, code(i))).collect();
    let first = code(inputs.len() + circuit.registers().len());
    let mut codes = Codes { ands: Vec::new(), first, known: HashMap::new() };
    let mut wires: Vec<u32> = Vec::with_capacity(circuit.gates().len());
    let coded = |wires: &[u32], literal: Literal| wires[literal.wire.index()] ^ u32::from(literal.negated);
    let mut number: Option<(&Arc<Total>, Vec<u32>)> = None;
    for gate in circuit.gates() {
        let operands: Vec<u32> = gate.operands().iter().map(|&operand| coded(&wires, operand)).collect();
        wires.push(match gate {
            Gate::False => 0,
            Gate::Register(register) => code(inputs.len() + register.index()),
            Gate::Input(input) => positions[input],
            Gate::And(_) => codes.tree(operands, Codes::and, 1),
            // The operands are exclusive, so their sum is their disjunction.
            Gate::Sum(_) => {
                codes.tree(operands.into_iter().map(|operand| operand ^ 1).collect(), Codes::and, 1) ^ 1
            }
            Gate::Parity(_) => codes.tree(operands, Codes::xor, 0),
            Gate::Bit(total, bit) => {
                let known = number.take().filter(|(last, _)| Arc::ptr_eq(last, total));
                let (_, bits) =
                    number.insert(known.unwrap_or_else(|| (total, codes.number(total, &operands))));
                bits[*bit as usize]
            }
        });
    }
    let latch = |register: &crate::Register| OrderedLatch {
        next_state: coded(&wires, register.target),
        initialization: Some(register.initial),
    };
    let outputs: Vec<(String, Literal)> = named_outputs(circuit);
    OrderedAig {
        max_var_index: inputs.len() + circuit.registers().len() + codes.ands.len(),
        input_count: inputs.len(),
        latches: circuit.registers().iter().map(latch).collect(),
        outputs: outputs.iter().map(|(_, literal)| coded(&wires, *literal)).collect(),
        symbols: symbols(circuit, &inputs, &outputs),
        and_gates: codes.ands,
        comment: Some(comment(circuit)),
        ..OrderedAig::default()
    }
}

fn named_outputs(circuit: &Circuit) -> Vec<(String, Literal)> {
    let bits = circuit.output();
    let name = |i: usize| if bits.len() == 1 { "f".to_owned() } else { format!("f[{i}]") };
    let f = bits.iter().enumerate().map(|(i, &literal)| (name(i), literal));
    [("next".to_owned(), circuit.next()), ("halted".to_owned(), circuit.halted())]
        .into_iter()
        .chain(f)
        .collect()
}

fn symbols(circuit: &Circuit, inputs: &[Input], outputs: &[(String, Literal)]) -> Vec<Symbol<'static>> {
    let one_bit_label = circuit.samples().is_some_and(|shape| shape.n_label_bits() == 1);
    let input_name = |input: &Input| match input {
        Input::Label(_) if one_bit_label => "y".to_owned(),
        _ => input.to_string(),
    };
    let symbol = |target: SymbolTarget, name: String| Symbol { target, name: Cow::Owned(name) };
    let named = inputs.iter().enumerate().map(|(i, input)| symbol(SymbolTarget::Input(i), input_name(input)));
    let latches = circuit.registers().iter().enumerate();
    let latches = latches.map(|(i, register)| symbol(SymbolTarget::Latch(i), register.name.clone()));
    let outputs =
        outputs.iter().enumerate().map(|(i, (name, _))| symbol(SymbolTarget::Output(i), name.clone()));
    named.chain(latches).chain(outputs).collect()
}

fn comment(circuit: &Circuit) -> String {
    let shape = circuit.samples().map(|shape| format!("\nsamples {shape}"));
    format!("circuit {}{}", circuit.name(), shape.unwrap_or_default())
}
