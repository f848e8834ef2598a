//! The circuit compiler: a statement takes a few clock cycles.
//!
//! **Memory.** A variable is a word of registers, an array a file of such words. An index that depends on loops or on
//! computed numbers is decoded into one select line per element. The counter of a loop is a word, too.
//!
//! **Control.** A one-hot state machine with one register per state. One cycle in a state does everything from one cut of
//! the program to the next ([`cycles`]). Statements share a cycle as long as its logic stays within [`MAX_DEPTH`] layers;
//! a later one reads the values that an earlier one assigned without a register in between. Both branches of an `if`
//! without loops are computed, and multiplexers select. The rounds of a short loop share a cycle, too. The program is cut
//! where a loop begins or ends, where a sample is taken, and where the logic would become too deep; temporary registers
//! hold the values that are still needed.
//!
//! **Numbers.** Sums, differences and products are [`Affine`] forms: a network adds without carries,
//! and thresholds extract the bits of the sum digit by digit ([`values`]). So a product takes one cycle. A quotient takes
//! several, each of which computes as many bits as fit ([`values`]).
//!
//! **Samples.** `take;` raises `next`; the first sample that the program takes is the one that is held when it starts.
//! The rows of a table come round in a fixed cycle ([`rows`]). Indices out of bounds, `assert` and `reject` end in the
//! state `rejected`, everything else in `accepted`.

mod cycles;
mod places;
mod rows;
mod statements;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use luge_circuit::{Affine, Builder, Circuit, CircuitError, Code, Literal, RegisterId, SampleShape};

use crate::core::{Core, LoopVar, Op, Store, THETA};
use cycles::{Cycle, StateId, States};
pub use rows::Rows;

/// The most layers of logic in a cycle with several statements; a single operator may need more.
const MAX_DEPTH: usize = 24;

/// The most gates of a loop that is unrolled in one cycle.
const MAX_UNROLLED: usize = 4_096;

/// The most registers for variables and arrays. A dense network grows with their square.
pub const MAX_REGISTERS: usize = 8_192;

/// A model with weights theta.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CircuitOutput {
    /// A bias and one weight per feature. The sum is rounded down to the label's format and wraps like other numbers.
    Linear,
    /// 1 if the number of features above 0 whose weight is above 0 is odd, else 0.
    Parity,
}

/// Options for compiling a program to a circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CircuitOptions {
    /// The output of the halted circuit.
    pub output: Option<CircuitOutput>,
    /// The table, for programs that loop over the data.
    pub rows: Option<Rows>,
}

/// A program as a circuit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledCircuit {
    /// The circuit: registers named after variables, and states.
    pub circuit: Circuit,
    /// The registers of each number of theta, lowest bit first.
    pub theta: Vec<Vec<RegisterId>>,
    /// The register of the rejecting state, if the program can reject its data.
    pub rejected: Option<RegisterId>,
    /// Number of control states.
    pub n_states: usize,
    /// Whether it loops over the rows of a table.
    pub loops_over_rows: bool,
    /// The registers of the current row of such a loop.
    row: Vec<RegisterId>,
}

impl CompiledCircuit {
    /// The numbers of theta, given the values of all registers.
    #[must_use]
    pub fn theta(&self, registers: &[bool]) -> Vec<i64> {
        let number = |word: &Vec<RegisterId>| {
            let unused = 64 - word.len().clamp(1, 64);
            (unsigned(word, registers) as i64) << unused >> unused
        };
        self.theta.iter().map(number).collect()
    }

    /// The current or next row of the table, given the values of all registers.
    #[must_use]
    pub fn wanted_row(&self, registers: &[bool]) -> usize {
        unsigned(&self.row, registers) as usize
    }

    /// Whether the program has rejected its data, given the values of all registers.
    #[must_use]
    pub fn has_rejected(&self, registers: &[bool]) -> bool {
        self.rejected.is_some_and(|register| registers[register.index()])
    }
}

/// The unsigned number in a word of registers, given the values of all registers.
fn unsigned(word: &[RegisterId], registers: &[bool]) -> u64 {
    word.iter().rev().fold(0, |number, id| number << 1 | u64::from(registers[id.index()]))
}

/// Why a valid program cannot be compiled to a circuit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CircuitCompileError {
    /// The program needs this many registers.
    #[error(
        "the circuit would have {0} registers for variables and arrays, and at most {MAX_REGISTERS} are built"
    )]
    TooLarge(usize),
    /// The program uses a tape.
    #[error("the program has a tape `{0}` of its own, which has no end; a circuit has registers")]
    Tape(String),
    /// A loop over the data, in this line, is inside another.
    #[error("line {0}: a loop over the data inside another, and a circuit holds one sample")]
    Nested(u32),
    /// The program loops over a table, but there is none.
    #[error("the program loops over the rows of a table, and there is none")]
    NoTable,
    /// The parts do not make a valid circuit.
    #[error("no circuit can be made of the program: {0}")]
    Build(#[from] CircuitError),
}

/// A number in two's complement, lowest bit first.
type Word = Vec<Literal>;

/// The logic does not fit into the current cycle.
struct Full;

type Step<T> = Result<T, Full>;

/// The counter of a loop over integers: registers that hold its value minus `least`.
#[derive(Clone, Debug)]
struct Counter {
    word: Vec<RegisterId>,
    least: i64,
    /// Number of possible values.
    n_values: usize,
}

/// The targets of `break` and `continue`.
#[derive(Clone)]
enum LoopTargets {
    /// All rounds share one cycle. Collects the cycle at every `break`, and at every `continue` of this round.
    Inline { broken: Vec<Cycle>, continued: Vec<Cycle> },
    /// Rounds take cycles. `after` is the state after the loop.
    Cycles { after: StateId, next: NextRound },
}

/// The transition from one round of a loop to the next.
#[derive(Clone)]
enum NextRound {
    /// Goes to a state that evaluates the condition.
    Head(StateId),
    /// Takes the next row of a table, or goes to the state that waits for it.
    Row { wait: StateId, inside: StateId },
    /// Increments a counter and repeats the body while it is below `end`.
    Count { counter: Counter, end: crate::core::Affine, value: Option<Vec<RegisterId>>, body: StateId },
}

struct Compiler<'c> {
    core: &'c Core,
    options: CircuitOptions,
    b: Builder,
    states: States,
    cycle: Cycle,
    /// For each register: conditions, and the values that it gets under them.
    writes: BTreeMap<RegisterId, Vec<(Literal, Literal)>>,
    registers: Vec<RegisterId>,
    slots: Vec<Vec<RegisterId>>,
    /// The registers by array, element and bit.
    arrays: Vec<Vec<Vec<RegisterId>>>,
    counters: BTreeMap<usize, Counter>,
    loops: Vec<LoopTargets>,
    /// Variables of loops that are too large to be unrolled in one cycle.
    too_large: BTreeSet<LoopVar>,
    /// The affine form of a word, and n: the word times 2^n is the low bits of the form, whose lowest n bits are 0.
    origins: HashMap<Word, (Affine, usize)>,
    /// Operands that are needed later in the statement.
    live: Vec<Word>,
    /// Live words of one bit, and the value that each must have for a rejection to be valid.
    guards: Vec<(usize, bool)>,
    /// Registers for live words, by their position in `live`.
    temporaries: Vec<Vec<RegisterId>>,
    /// Number of enclosing branches that must stay in one cycle.
    inline: usize,
    next: Vec<Literal>,
    /// Whether a sample has been taken at this point; `None` if that depends on the run.
    taken: Option<bool>,
    begun: Option<RegisterId>,
    rows: Option<rows::RowClock>,
    in_data: bool,
    error: Option<CircuitCompileError>,
}

/// Compiles a program to a circuit.
pub(crate) fn compile(core: &Core, options: CircuitOptions) -> Result<CompiledCircuit, CircuitCompileError> {
    if let Some(name) = core.tapes.first() {
        return Err(CircuitCompileError::Tape(name.clone()));
    }
    let bits = |array: &crate::core::Array| array.width as usize * array.length;
    let registers = core.widths.iter().map(|&width| width as usize).sum::<usize>()
        + core.arrays.iter().map(bits).sum::<usize>();
    if registers > MAX_REGISTERS {
        return Err(CircuitCompileError::TooLarge(registers));
    }
    let mut compiler = Compiler::new(core, options);
    compiler.program();
    match compiler.error.take() {
        Some(error) => Err(error),
        None => compiler.finish(),
    }
}

impl<'c> Compiler<'c> {
    fn new(core: &'c Core, options: CircuitOptions) -> Self {
        let mut b = Builder::new(&core.name);
        let format = core.format;
        let code = Code::Fixed { n_integer: format.integer, n_fraction: format.fraction };
        let (n_features, n_labels) = (core.n_features, core.n_labels);
        b.samples(SampleShape { n_features, feature: code, n_labels, label: code });
        let states = States::new(&mut b);
        let cycle = Cycle::at(states.first());
        let mut compiler = Self {
            core,
            options,
            b,
            states,
            cycle,
            writes: BTreeMap::new(),
            registers: Vec::new(),
            slots: Vec::new(),
            arrays: Vec::new(),
            counters: BTreeMap::new(),
            loops: Vec::new(),
            too_large: BTreeSet::new(),
            origins: HashMap::new(),
            live: Vec::new(),
            guards: Vec::new(),
            temporaries: Vec::new(),
            inline: 0,
            next: Vec::new(),
            taken: Some(false),
            begun: None,
            rows: None,
            in_data: false,
            error: None,
        };
        let name = |store: Store, otherwise: String| {
            let named = core.names.iter().find(|named| named.store == store).map(|named| named.name.clone());
            named.map_or(otherwise.clone(), |name| format!("{name}.{otherwise}"))
        };
        for (slot, &width) in core.widths.iter().enumerate() {
            let word = compiler.word(&name(Store::Slot(slot), format!("v{slot}")), width as usize);
            compiler.slots.push(word);
        }
        for (array, shape) in core.arrays.iter().enumerate() {
            let name = match array {
                THETA => "theta".to_owned(),
                _ => name(Store::Array(array), format!("a{array}")),
            };
            let element = |i| compiler.word(&format!("{name}[{i}]"), shape.width as usize);
            let elements = (0..shape.length).map(element).collect();
            compiler.arrays.push(elements);
        }
        compiler
    }

    /// Declares registers that start at 0 and keep their value unless they are written.
    fn word(&mut self, name: &str, n_bits: usize) -> Vec<RegisterId> {
        let word = self.b.word_register(name, n_bits, 0);
        self.registers.extend_from_slice(&word);
        word
    }

    fn program(&mut self) {
        let core = self.core;
        // At the top level a full cycle is followed by another, so this cannot fail.
        let _ = self.block(&core.body);
        self.jump(StateId::ACCEPTED);
        self.commit();
    }

    /// Sets the targets of all registers, and removes those that nothing needs.
    fn finish(mut self) -> Result<CompiledCircuit, CircuitCompileError> {
        self.row_clock();
        let writes = std::mem::take(&mut self.writes);
        for &register in &self.registers {
            let now = self.b.value(register);
            let ways = writes.get(&register).map_or(&[][..], Vec::as_slice);
            let mut parts: Vec<Literal> =
                ways.iter().map(|&(when, value)| self.b.and([when, value])).collect();
            parts.push(self.b.and(ways.iter().map(|&(when, _)| !when).chain([now])));
            let target = self.b.sum(parts);
            self.b.set(register, target);
        }
        let n_states = self.states.drive(&mut self.b);
        let next = self.b.or(std::mem::take(&mut self.next));
        self.b.next(next);
        let ends = [StateId::ACCEPTED, StateId::REJECTED].map(|state| self.states.value(state));
        let halted = self.b.sum(ends);
        self.b.halted(halted);
        self.output();
        let theta = self.arrays[THETA].clone();
        let rejected = self.states.register(StateId::REJECTED);
        let kept: Vec<RegisterId> = theta.iter().flatten().copied().chain([rejected]).collect();
        let (circuit, places) = self.b.build()?.without_unread_registers(&kept);
        let place = |register: &RegisterId| places[register.index()];
        let theta = theta.iter().map(|word| word.iter().filter_map(place).collect()).collect();
        let loops_over_rows = self.rows.is_some();
        let counter = self.rows.map_or_else(Vec::new, |clock| clock.counter.word);
        let row = counter.iter().filter_map(place).collect();
        let rejected = place(&rejected);
        Ok(CompiledCircuit { circuit, theta, rejected, n_states, loops_over_rows, row })
    }

    /// The output of the halted circuit: a model with weights theta, applied to the query.
    pub(super) fn output(&mut self) {
        let n_features = self.core.n_features;
        let format = self.core.format;
        let (n_bits, fraction) = (format.width() as usize, format.fraction as usize);
        let theta: Vec<Word> = self.arrays[THETA].iter().map(|word| self.b.word_value(word)).collect();
        let query = |c: &mut Self, at: usize| (0..n_bits).map(|bit| c.b.query(at * n_bits + bit)).collect();
        match self.options.output {
            Some(CircuitOutput::Linear) if theta.len() == n_features + 1 => {
                let mut sum = Affine::default();
                sum.add_word(&theta[0], 1 << fraction);
                for at in 0..n_features {
                    let x: Word = query(self, at);
                    let product = self.product(Op::Mul, fraction, n_bits, [&x, &theta[at + 1]]);
                    sum.add_sum(&product, 1);
                }
                let bits = self.b.total(&sum, n_bits + fraction);
                self.b.output(bits[fraction..].iter().copied());
            }
            Some(CircuitOutput::Parity) if theta.len() == n_features => {
                let mut counted = Vec::new();
                for (at, weight) in theta.iter().enumerate() {
                    let x: Word = query(self, at);
                    let positive = [&x, weight].map(|word| self.positive(word));
                    counted.push(self.b.and(positive));
                }
                let odd = self.b.parity(counted);
                let bit = |at: usize| if at == fraction { odd } else { Literal::FALSE };
                self.b.output((0..n_bits).map(bit));
            }
            _ => {}
        }
    }

    fn positive(&mut self, word: &[Literal]) -> Literal {
        let some = self.b.or(word.iter().copied());
        self.b.and([some, !word[word.len() - 1]])
    }
}
