//! Core to circuit: a few cycles a statement.
//!
//! **Memory.** A variable is a word of registers, an array a file of such words. An index that depends on loops or on computed
//! numbers is decoded into one line for each element. The counter of a loop is a word, too.
//!
//! **Control.** A one-hot state machine: one register for each state, and one cycle in a state does everything from one cut of the
//! program to the next ([`cycles`]). Statements go into the same cycle as long as its logic stays within [`MAX_DEPTH`] layers; a
//! later one reads what an earlier one assigned without a register in between. Branches without loops are computed both, and
//! multiplexers choose. The rounds of a short loop go into one cycle, too. A cut is made where a loop begins or ends, where a sample is taken, and where the logic would become too
//! deep; values that are still needed are then kept in temporary registers.
//!
//! **Numbers.** Sums, differences and products are [`Affine`](luge_circuit::Affine) forms: a network adds without carries and reads the bits of the sum
//! digit by digit ([`values`]). So a product takes one cycle. A quotient takes several: each finds as many bits as fit
//! ([`division`]).
//!
//! **Samples.** `take;` raises `next`; the sample that is held when the program begins is the first one it takes. Rows of a table
//! pass in a cycle of their own ([`rows`]). Out of range, `assert` and `reject` end in the state `rejected`, everything else in
//! `accepted`.

mod cycles;
mod division;
mod output;
mod places;
mod rows;
mod statements;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use luge_circuit::{Builder, Circuit, CircuitError, Code, Literal, RegisterId, SampleShape};

use crate::core::{Core, Home, LoopVar, THETA};
use cycles::{Cycle, StateId, States};
pub use output::CircuitOutput;
pub use rows::Rows;

/// The most layers of logic that statements of one cycle are given; one operator alone may need more.
const MAX_DEPTH: usize = 24;

/// The most gates that all rounds of a loop in one cycle may need.
const MAX_UNROLLED: usize = 4_096;

/// The most registers of variables and arrays. A dense network grows with their square.
pub const MAX_REGISTERS: usize = 8_192;

/// How a program is made a circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CircuitOptions {
    /// What the circuit puts out once halted.
    pub output: Option<CircuitOutput>,
    /// How the rows of a table pass; a program that loops over the data needs it.
    pub rows: Option<Rows>,
}

/// A program as a circuit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledCircuit {
    /// The circuit: registers named after variables, and states.
    pub circuit: Circuit,
    /// The registers of each number of theta, the lowest bit first.
    pub theta: Vec<Vec<RegisterId>>,
    /// The state of a program that rejects its data, if it has one.
    pub rejected: Option<RegisterId>,
    /// States of its control.
    pub n_states: usize,
    /// Whether it loops over the rows of a table.
    pub loops_over_rows: bool,
    /// The registers of the row that such a loop is at.
    row: Vec<RegisterId>,
}

impl CompiledCircuit {
    /// The numbers of theta, given all registers.
    #[must_use]
    pub fn theta(&self, registers: &[bool]) -> Vec<i64> {
        let number = |word: &Vec<RegisterId>| {
            let unused = 64 - word.len().clamp(1, 64);
            (unsigned(word, registers) as i64) << unused >> unused
        };
        self.theta.iter().map(number).collect()
    }

    /// The row of a table that the program is at, or takes next, given all registers.
    #[must_use]
    pub fn wanted_row(&self, registers: &[bool]) -> usize {
        unsigned(&self.row, registers) as usize
    }

    /// Whether the program has rejected its data, given all registers.
    #[must_use]
    pub fn has_rejected(&self, registers: &[bool]) -> bool {
        self.rejected.is_some_and(|register| registers[register.index()])
    }
}

/// The number without sign in a word of registers, given all registers.
fn unsigned(word: &[RegisterId], registers: &[bool]) -> u64 {
    word.iter().rev().fold(0, |number, id| number << 1 | u64::from(registers[id.index()]))
}

/// Why a checked program has no circuit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CircuitCompileError {
    /// Too much memory.
    #[error(
        "the circuit would have {registers} registers for variables and arrays, and at most {most} are built"
    )]
    TooLarge {
        /// Registers needed.
        registers: usize,
        /// Registers allowed.
        most: usize,
    },
    /// Tapes have no end.
    #[error("the program has a tape `{name}` of its own, which has no end; a circuit has registers")]
    Tape {
        /// The tape.
        name: String,
    },
    /// A loop over the data inside another.
    #[error("line {line}: a loop over the data inside another, and a circuit holds one sample")]
    Nested {
        /// The line.
        line: u32,
    },
    /// A loop over a table that is not there.
    #[error("the program loops over the rows of a table, and there is none")]
    NoTable,
    /// The parts do not make a valid circuit.
    #[error("no circuit can be made of the program: {0}")]
    Build(#[from] CircuitError),
}

/// A number as bits in two's complement, the lowest first.
type Word = Vec<Literal>;

/// The cycle is full: a new one must begin before this.
struct Full;

type Step<T> = Result<T, Full>;

/// A counter of a loop over integers: its value minus `least`, as registers.
#[derive(Clone, Debug)]
struct Counter {
    word: Vec<RegisterId>,
    least: i64,
    /// How many values it may have.
    n_values: usize,
}

/// Where `break` and `continue` go to.
#[derive(Clone)]
struct LoopEnds {
    after: StateId,
    again: Again,
}

/// What happens between two rounds.
#[derive(Clone)]
enum Again {
    /// All rounds are in one cycle: where control left the loop, and where it left this round.
    Inline { broken: Vec<Cycle>, continued: Vec<Cycle> },
    /// On to a state that looks for itself.
    Head(StateId),
    /// The next row of a table, or on to the state that waits for it.
    Row { wait: StateId, inside: StateId },
    /// A counter goes up; while it is below `end`, in its own scale, the body begins again.
    Count { counter: Counter, end: crate::core::Affine, value: Option<Vec<RegisterId>>, body: StateId },
}

struct Compiler<'c> {
    core: &'c Core,
    options: CircuitOptions,
    b: Builder,
    states: States,
    cycle: Cycle,
    /// What each register gets: when, and which value.
    writes: BTreeMap<RegisterId, Vec<(Literal, Literal)>>,
    registers: Vec<RegisterId>,
    slots: Vec<Vec<RegisterId>>,
    /// For each array, element and bit a register.
    arrays: Vec<Vec<Vec<RegisterId>>>,
    counters: BTreeMap<usize, Counter>,
    loops: Vec<LoopEnds>,
    /// Loops that do not become one cycle, by their variable.
    too_large: BTreeSet<LoopVar>,
    /// What words are sums of: the word times 2^n is the low bits of the form, whose lowest n bits are 0.
    origins: HashMap<Word, (luge_circuit::Affine, u32)>,
    /// Words that are needed later in the statement.
    live: Vec<Word>,
    /// Live words of one bit, and the value that they must have for a rejection to count.
    guards: Vec<(usize, bool)>,
    /// Registers for live words, by their place in the list.
    temporaries: Vec<Vec<RegisterId>>,
    /// Branches around that must stay in one cycle.
    inline: usize,
    next: Vec<Literal>,
    /// Whether a sample has been taken, where control is now; `None` if that depends on the run.
    taken: Option<bool>,
    begun: Option<RegisterId>,
    rows: Option<rows::Passing>,
    in_data: bool,
    error: Option<CircuitCompileError>,
}

/// Makes the circuit.
pub(crate) fn compile(core: &Core, options: CircuitOptions) -> Result<CompiledCircuit, CircuitCompileError> {
    if let Some(name) = core.tapes.first() {
        return Err(CircuitCompileError::Tape { name: name.clone() });
    }
    let bits = |array: &crate::core::Array| array.width as usize * array.length;
    let registers = core.widths.iter().map(|&width| width as usize).sum::<usize>()
        + core.arrays.iter().map(bits).sum::<usize>();
    if registers > MAX_REGISTERS {
        return Err(CircuitCompileError::TooLarge { registers, most: MAX_REGISTERS });
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
        let name = |home: Home, otherwise: String| {
            let named = core.names.iter().find(|named| named.home == home).map(|named| named.name.clone());
            named.map_or(otherwise.clone(), |name| format!("{name}.{otherwise}"))
        };
        for (slot, &width) in core.widths.iter().enumerate() {
            let word = compiler.word(&name(Home::Slot(slot), format!("v{slot}")), width as usize);
            compiler.slots.push(word);
        }
        for (array, shape) in core.arrays.iter().enumerate() {
            let name = match array {
                THETA => "theta".to_owned(),
                _ => name(Home::Array(array), format!("a{array}")),
            };
            let element = |i| compiler.word(&format!("{name}[{i}]"), shape.width as usize);
            let elements = (0..shape.length).map(element).collect();
            compiler.arrays.push(elements);
        }
        compiler
    }

    /// Registers that start at 0 and keep their value unless something is written.
    fn word(&mut self, name: &str, n_bits: usize) -> Vec<RegisterId> {
        let word = self.b.word_register(name, n_bits, 0);
        self.registers.extend_from_slice(&word);
        word
    }

    fn program(&mut self) {
        let core = self.core;
        // Nothing is inline, so that a cycle that is full is followed by another.
        let _ = self.block(&core.body);
        self.jump(StateId::ACCEPTED);
        self.commit();
    }

    /// Drives all registers, and leaves out those that nothing needs.
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
        let counter = self.rows.map_or_else(Vec::new, |passing| passing.counter.word);
        let row = counter.iter().filter_map(place).collect();
        let rejected = place(&rejected);
        Ok(CompiledCircuit { circuit, theta, rejected, n_states, loops_over_rows, row })
    }
}
