//! Reads AIGER files, and converts their two-input and-gates to a circuit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use flussab_aiger::{
    InnerParseError, ParseError,
    aig::{Aig, AigStructureError, OrderedAig, Renumber, RenumberConfig, Symbol, SymbolTarget},
    ascii, binary,
};
use luge_machine::Diagnostic;

use crate::{Builder, Circuit, Code, Input, Literal, SampleShape, circuit::valid_name};

/// What an AIGER file holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The circuit.
    pub circuit: Circuit,
    /// Problems that do not make the file invalid.
    pub warnings: Vec<Diagnostic>,
}

/// The most inputs of a binary file. Its header states their number, and nothing else in it bounds that.
const MAX_INPUTS: usize = 1 << 20;

/// Reads an AIGER file, ASCII or binary. The circuit is called `name` unless the file's comment names it.
///
/// Diagnostics point to lines of an ASCII file; in a binary file their spans are empty.
///
/// # Errors
/// Every reason why the file is not a valid circuit.
pub fn read(bytes: &[u8], name: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let source = Source::new(bytes);
    let aig = source.parse().map_err(|diagnostic| vec![diagnostic])?;
    Reader::new(source, aig, name).read()
}

/// A file.
struct Source<'s> {
    bytes: &'s [u8],
    ascii: bool,
    /// The start of each line.
    lines: Vec<usize>,
}

impl<'s> Source<'s> {
    fn new(bytes: &'s [u8]) -> Self {
        let ascii = bytes.starts_with(b"aag");
        let starts = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(i, _)| i + 1);
        Self { bytes, ascii, lines: [0].into_iter().chain(starts).collect() }
    }

    /// The byte range of a line of an ASCII file, counted from 0.
    fn line(&self, line: usize) -> Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.bytes.len());
        let end = self.lines.get(line + 1).map_or(self.bytes.len(), |&next| next - 1);
        if self.ascii { start..end.max(start) } else { 0..0 }
    }

    fn parse(&self) -> Result<Aig<u32>, Diagnostic> {
        let wrong = |error: ParseError| self.syntax(&error);
        if self.ascii {
            self.check_utf8(0)?;
            let parser =
                ascii::Parser::<u32>::from_read(self.bytes, ascii::Config::default()).map_err(wrong)?;
            self.check_header()?;
            parser.parse().map_err(wrong)
        } else {
            let parser =
                binary::Parser::<u32>::from_read(self.bytes, binary::Config::default()).map_err(wrong)?;
            let symbols = self.check_header()?;
            self.check_utf8(symbols)?;
            parser.parse().map(Aig::from).map_err(wrong)
        }
    }

    /// Rejects bytes from `start` on that are not UTF-8: the parser does not expect them in symbols.
    fn check_utf8(&self, start: usize) -> Result<(), Diagnostic> {
        let fault = |_| self.refusal("symbols and comments are not valid UTF-8".to_owned());
        std::str::from_utf8(&self.bytes[start..]).map(|_| ()).map_err(fault)
    }

    /// Rejects counts that are larger than the file, before memory is allocated for them, and properties that are not
    /// supported. Returns where the symbols of a binary file begin.
    fn check_header(&self) -> Result<usize, Diagnostic> {
        // `aag M I L O A B C J F`, where the last four may be missing.
        let line = self.bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mut counts = [0; 9];
        for (count, word) in counts.iter_mut().zip(String::from_utf8_lossy(line).split_whitespace().skip(1)) {
            *count = word.parse().unwrap_or(usize::MAX);
        }
        let [_, n_inputs, n_latches, n_outputs, n_gates, n_bad, n_constraints, n_justice, n_fairness] =
            counts;
        if !self.ascii && n_inputs > MAX_INPUTS {
            let message = format!("{n_inputs} inputs, but a binary file may have at most {MAX_INPUTS}");
            return Err(self.refusal(message));
        }
        // A binary file does not list its inputs.
        let listed = if self.ascii { &counts[1..] } else { &counts[2..] };
        if listed.iter().fold(0_usize, |sum, &count| sum.saturating_add(count)) > self.bytes.len() {
            return Err(self.refusal("the file is shorter than its header says".to_owned()));
        }
        if n_justice + n_fairness > 0 {
            let refusal = self.refusal("the file has justice or fairness properties".to_owned());
            return Err(refusal.with_help("only outputs and bad states are read"));
        }
        if n_bad + n_constraints > 0 && n_latches == 0 {
            return Err(self.refusal("the file has properties but no latches".to_owned()));
        }
        let n_lines = 1 + n_latches + n_outputs + n_bad + n_constraints;
        let gates = self.lines.get(n_lines).copied().unwrap_or(self.bytes.len());
        // A gate is two numbers; a number ends with the first byte below 128.
        let ends = (gates..self.bytes.len()).filter(|&i| self.bytes[i] < 128).map(|i| i + 1);
        Ok([gates].into_iter().chain(ends).nth(2 * n_gates).unwrap_or(self.bytes.len()))
    }

    fn refusal(&self, message: String) -> Diagnostic {
        Diagnostic::error(self.line(0), message, "")
    }

    fn syntax(&self, error: &InnerParseError) -> Diagnostic {
        match error {
            InnerParseError::SyntaxError(error) if self.ascii => {
                let line = self.line(error.location.line.saturating_sub(1));
                let start = (line.start + error.location.column.saturating_sub(1)).min(line.end);
                Diagnostic::error(start..line.end, format!("not AIGER: {}", error.msg), "")
            }
            InnerParseError::SyntaxError(error) => self.refusal(format!("not AIGER: {}", error.msg)),
            InnerParseError::IoError(error) => self.refusal(format!("not AIGER: {error}")),
        }
    }
}

struct Reader<'s> {
    source: Source<'s>,
    aig: Aig<u32>,
    builder: Builder,
    /// The shape of the samples as the comment gives it.
    samples: Option<String>,
    symbols: HashMap<SymbolTarget, String>,
    /// The lines of the first input, latch, output and gate of an ASCII file.
    first: [usize; 4],
    /// The literal of each variable in topological order: the constant, inputs, latches, gates.
    values: Vec<Literal>,
    faults: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    fn new(source: Source<'s>, aig: Aig<u32>, name: &str) -> Self {
        let comment = aig.comment.as_deref().unwrap_or_default();
        let after = |word: &str| comment.lines().find_map(|line| line.strip_prefix(word));
        let builder = Builder::new(valid_name(after("circuit ").unwrap_or(name)));
        let samples = after("samples ").map(str::to_owned);
        let symbol = |symbol: &Symbol<'_>| (symbol.target, symbol.name.to_string());
        let symbols = aig.symbols.iter().map(symbol).collect();
        let n_outputs = aig.outputs.len() + aig.bad_state_properties.len() + aig.invariant_constraints.len();
        let latches = 1 + aig.inputs.len();
        let outputs = latches + aig.latches.len();
        let first = [1, latches, outputs, outputs + n_outputs];
        let (values, faults, warnings) = (vec![Literal::FALSE], Vec::new(), Vec::new());
        Self { source, aig, builder, samples, symbols, first, values, faults, warnings }
    }

    fn read(mut self) -> Result<Loaded, Vec<Diagnostic>> {
        let bits = self.inputs();
        if let Some(shape) = self.shape(&bits) {
            self.builder.samples(shape);
        }
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let sorted: BTreeSet<Input> = bits.iter().flatten().copied().collect();
        let inputs: BTreeMap<Input, Literal> =
            sorted.into_iter().map(|bit| (bit, self.builder.input(bit))).collect();
        let input = |bit: &Option<Input>| bit.and_then(|bit| inputs.get(&bit).copied());
        self.values.extend(bits.iter().map(|bit| input(bit).unwrap_or(Literal::FALSE)));
        let registers = self.registers();
        self.check_signals(&bits);
        let Some(ordered) = self.ordered() else { return Err(self.faults) };
        for gate in &ordered.and_gates {
            let operands = gate.inputs.map(|code| self.value(code));
            let value = self.builder.and(operands);
            self.values.push(value);
        }
        for (&register, latch) in registers.iter().zip(&ordered.latches) {
            let target = self.value(latch.next_state);
            self.builder.set(register, target);
        }
        self.outputs(&ordered);
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let refused =
            |error: crate::CircuitError| vec![Diagnostic::error(self.source.line(0), error.to_string(), "")];
        Ok(Loaded { circuit: self.builder.build().map_err(refused)?, warnings: self.warnings })
    }

    /// Reports what is wrong on a line of an ASCII file.
    fn fault(&mut self, line: usize, message: String) -> &mut Diagnostic {
        self.faults.push_mut(Diagnostic::error(self.source.line(line), message, ""))
    }

    /// The meaning of each input of the file; `None` for an input that nothing may use.
    fn inputs(&mut self) -> Vec<Option<Input>> {
        let n_inputs = self.aig.inputs.len();
        if !self.symbols.keys().any(|target| matches!(target, SymbolTarget::Input(_))) {
            return (0..n_inputs).map(|i| Some(Input::Feature(i))).collect();
        }
        let mut seen = BTreeSet::new();
        let mut bits = Vec::with_capacity(n_inputs);
        for i in 0..n_inputs {
            let bit = self.symbols.get(&SymbolTarget::Input(i)).and_then(|name| input_of(name));
            if let Some(bit) = bit.filter(|&bit| !seen.insert(bit)) {
                self.fault(self.first[0] + i, format!("two inputs are called {bit}"));
            }
            if let Some(bit) = bit.filter(|bit| position(*bit) >= MAX_INPUTS) {
                let message = format!("{bit} is beyond the {MAX_INPUTS} bits that a sample may have");
                self.fault(self.first[0] + i, message);
                bits.push(None);
            } else {
                bits.push(bit);
            }
        }
        bits
    }

    fn shape(&mut self, bits: &[Option<Input>]) -> Option<SampleShape> {
        let width = |chosen: fn(&Input) -> bool| {
            bits.iter().flatten().filter(|bit| chosen(bit)).map(|&bit| position(bit) + 1).max().unwrap_or(0)
        };
        let n_label = width(|bit| matches!(bit, Input::Label(_)));
        let n_bits = width(|bit| !matches!(bit, Input::Label(_)));
        if n_label == 0 && n_bits == 0 && self.samples.is_none() {
            return None;
        }
        let label = match u32::try_from(n_label).unwrap_or(u32::MAX) {
            0 | 1 => Code::Bit,
            n_integer => Code::Fixed { n_integer, n_fraction: 0 },
        };
        let found = SampleShape { n_features: n_bits, feature: Code::Bit, n_labels: 1, label };
        let Some(given) = &self.samples else { return Some(found) };
        let shape = SampleShape::parse(given);
        let fits = |shape: &SampleShape| {
            n_bits <= shape.n_feature_bits()
                && n_label <= shape.n_label_bits()
                && shape.n_feature_bits().max(shape.n_label_bits()) <= MAX_INPUTS
        };
        if shape.as_ref().is_none_or(|shape| !fits(shape)) {
            let message = format!(
                "the comment says `samples {given}`, but the inputs are {n_bits} bits of features and {n_label} of a label"
            );
            self.fault(0, message);
        }
        shape.filter(fits)
    }

    fn registers(&mut self) -> Vec<crate::RegisterId> {
        let mut taken = BTreeSet::new();
        let mut registers = Vec::with_capacity(self.aig.latches.len());
        for i in 0..self.aig.latches.len() {
            let latch = self.aig.latches[i];
            let symbol = self.symbols.get(&SymbolTarget::Latch(i));
            let mut name = symbol.map_or_else(|| format!("l{i}"), |name| valid_name(name));
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            if latch.initialization.is_none() {
                let fault = self.fault(self.first[1] + i, format!("register `{name}` has no initial value"));
                fault.remedy("give it one; in Yosys `setundef -zero -init` makes it 0");
            }
            let register = self.builder.register(name, latch.initialization == Some(true));
            let value = self.builder.value(register);
            self.values.push(value);
            registers.push(register);
        }
        registers
    }

    /// Reports signals that are defined twice, and uses of signals that are undefined or have an unknown meaning.
    fn check_signals(&mut self, bits: &[Option<Input>]) {
        let Aig { inputs, latches, and_gates, outputs, bad_state_properties, .. } = self.aig.clone();
        let [first_input, first_latch, first_output, first_gate] = self.first;
        // The line that defines each variable; the first line stands for the constant.
        let mut defined: HashMap<u32, usize> = HashMap::from([(0, 0)]);
        let own = inputs.iter().copied().zip(first_input..);
        let own = own.chain(latches.iter().map(|latch| latch.state).zip(first_latch..));
        for (code, line) in own.chain(and_gates.iter().map(|gate| gate.output).zip(first_gate..)) {
            if code & 1 == 1 || defined.insert(code / 2, line).is_some() {
                let message = "cannot be defined here: it is negated, constant or defined before";
                self.fault(line, format!("literal {code} {message}"));
            }
        }
        let used = and_gates.iter().zip(first_gate..);
        let used = used.flat_map(|(gate, line)| gate.inputs.map(|code| (code, line)));
        let used = used.chain(latches.iter().map(|latch| latch.next_state).zip(first_latch..));
        let outputs = outputs.iter().chain(&bad_state_properties).copied().zip(first_output..);
        for (code, line) in used.chain(outputs) {
            let Some(place) = defined.get(&(code / 2)) else {
                self.fault(line, format!("nothing defines literal {}", code & !1));
                continue;
            };
            let input = place.wrapping_sub(first_input);
            if bits.get(input) == Some(&None) {
                let name = self.symbols.get(&SymbolTarget::Input(input));
                let name = name.map_or("without a name", String::as_str).to_owned();
                let fault = self.fault(line, format!("the input {name} is used"));
                fault.remedy("inputs that are used are called x[i], y, y[i] or query[i]");
            }
        }
    }

    /// The same signals in topological order; `None` if there are faults.
    fn ordered(&mut self) -> Option<OrderedAig<u32>> {
        if !self.faults.is_empty() {
            return None;
        }
        // Constraints, which model checkers use, are ignored.
        let aig = Aig { invariant_constraints: Vec::new(), ..self.aig.clone() };
        match Renumber::renumber_aig(RenumberConfig::default(), &aig) {
            Ok((ordered, _)) => Some(ordered),
            Err(AigStructureError::FoundCycle { lit }) => {
                let gate = aig.and_gates.iter().position(|gate| gate.output / 2 == lit / 2);
                let message = format!("the gate of literal {} feeds itself", lit & !1);
                self.fault(self.first[3] + gate.unwrap_or(0), message);
                None
            }
            Err(error) => {
                self.fault(self.first[2], error.to_string());
                None
            }
        }
    }

    /// The literal of a code of the ordered signals.
    fn value(&self, code: u32) -> Literal {
        self.values[code as usize / 2].negated_if(code & 1 == 1)
    }

    fn outputs(&mut self, aig: &OrderedAig<u32>) {
        let codes: Vec<u32> = aig.outputs.iter().chain(&aig.bad_state_properties).copied().collect();
        let targets = (0..aig.outputs.len()).map(SymbolTarget::Output);
        let targets = targets.chain((0..).map(SymbolTarget::BadStateProperty)).take(codes.len());
        let names: Vec<Option<String>> = targets.map(|target| self.symbols.remove(&target)).collect();
        self.builder.next(Literal::TRUE);
        if !names.iter().flatten().any(|name| is_output(name)) {
            if let Some(&code) = codes.first() {
                let halted = self.value(code);
                self.builder.halted(halted);
            }
            return;
        }
        let mut seen = BTreeSet::new();
        let mut f = BTreeMap::new();
        for (i, name) in names.into_iter().enumerate() {
            let name = name.unwrap_or_default();
            if !name.is_empty() && !seen.insert(name.clone()) {
                self.fault(self.first[2] + i, format!("two outputs are called {name}"));
            }
            if !is_output(&name) {
                let message = format!("output {i} `{name}` is left out");
                let warning = Diagnostic::warning(self.source.line(self.first[2] + i), message, "");
                self.warnings.push(warning.with_help("outputs are called next, halted and f"));
                continue;
            }
            let literal = self.value(codes[i]);
            match indexed(&name, "f") {
                Some(bit) => drop(f.insert(bit, literal)),
                None if name == "next" => self.builder.next(literal),
                None => self.builder.halted(literal),
            }
        }
        if let Some(missing) = (0..f.len()).find(|bit| !f.contains_key(bit)) {
            let message = format!("there is no output f[{missing}], but there are higher ones");
            self.fault(self.first[2], message);
        }
        self.builder.output(f.into_values());
    }
}

/// The input that a symbol names.
fn input_of(name: &str) -> Option<Input> {
    let bit = |word: &str| indexed(name, word);
    bit("x").map(Input::Feature).or(bit("y").map(Input::Label)).or(bit("query").map(Input::Query))
}

/// Whether a symbol is the name of an output.
fn is_output(name: &str) -> bool {
    name == "next" || name == "halted" || indexed(name, "f").is_some()
}

/// `i` of `word[i]`; 0 for the word alone.
fn indexed(name: &str, word: &str) -> Option<usize> {
    match name.strip_prefix(word)? {
        "" => Some(0),
        index => index.strip_prefix('[')?.strip_suffix(']')?.parse().ok(),
    }
}

fn position(input: Input) -> usize {
    let (Input::Feature(i) | Input::Label(i) | Input::Query(i)) = input;
    i
}
