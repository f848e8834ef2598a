//! Turing machines as circuits: one register per state, per head position and per writable cell.
//!
//! A run cycle is a step of the machine. Departs from docs/construction.md, sections 4b and 4c: registers hold the state
//! alone, and symbols are read in the cycle that needs them, not one cycle ahead. So a state that drops the sample may be
//! followed by one that reads the next sample (as long as it does not stop on what it reads), and three layers of ands
//! are enough.
//!
//! A machine that learns from a stream sees the sample in cells of a read-only tape. A state that takes sets `next`: the
//! circuit drops the held sample, the next cycle takes another, and the registers do not change meanwhile. A state that
//! latches copies the labels into registers, so the label cells change only then. Before the machine first takes, these
//! cells hold the input; the sample that every circuit takes in its first cycle is dropped unseen.

use std::{collections::HashMap, ops::Range};

use luge_machine::{
    Cell, Input, MAX_TAPES, NormalForm, Pattern, Rule, SampleUse, StateId, SymbolId, TapeId, Write,
    stream::{Breach, Memory, check},
};

use crate::{Builder, Circuit, CircuitError, Literal, RegisterId, SampleShape, circuit::valid_name};

/// Why a machine with these tapes cannot be a circuit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MachineError {
    /// A part of the input or the memory is outside the circuit's cells.
    #[error("cell {cell} of tape `{tape}` is outside of the cells {} to {} that the circuit has", .cells.start, .cells.end - 1)]
    OutsideCells {
        /// The tape's name.
        tape: String,
        /// The cell.
        cell: Cell,
        /// The cells of the circuit.
        cells: Range<Cell>,
    },
    /// The tape with this name holds the sample and is not read-only.
    #[error("tape `{0}` shows the sample, and must be read-only")]
    Written(String),
    /// The machine takes samples but has no memory for them, or the other way round.
    #[error("the machine takes samples exactly if it has cells that show them")]
    NoMemory,
    /// The memory and a sample have different sizes.
    #[error("{n_cells} cells show {n_bits} bits of a sample; a circuit holds one sample at a time")]
    Memory {
        /// Cells of features and labels.
        n_cells: usize,
        /// Bits of features and labels.
        n_bits: usize,
    },
    /// A state takes or latches at the wrong time.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// A state that follows a take may stop before it has seen the new sample.
    #[error(
        "state `{state}` follows a state that takes a sample and has no rule for some symbols on tape `{tape}`, which shows the \
         sample: the circuit would stop before it has one; give the state a rule for every symbol there, or let another state \
         come between"
    )]
    StopsUnseen {
        /// The state's name.
        state: String,
        /// The tape's name.
        tape: String,
    },
    /// The result is not a valid circuit.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
}

/// The tapes of a machine that becomes a circuit.
#[derive(Clone, Debug)]
pub struct Tapes<'t> {
    /// The content of the tapes at the start.
    pub input: &'t Input,
    /// The cells of each tape; a head that leaves them halts the circuit.
    pub cells: Range<Cell>,
    /// The memory for samples, and their shape.
    pub samples: Option<(&'t Memory, SampleShape)>,
}

/// The registers that hold a machine's configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineRegisters {
    /// One per state: whether the machine is in it.
    pub states: Vec<RegisterId>,
    /// One per tape and cell: whether the head is on it.
    pub heads: Vec<Vec<RegisterId>>,
    /// One per tape and cell: its symbol. Read-only tapes have none.
    pub symbols: Vec<Vec<RegisterId>>,
    /// The first cell of every tape.
    pub first: Cell,
}

/// The circuit of a machine, without output, and its registers.
///
/// # Errors
/// If the input does not fit the cells, the memory does not fit the samples, or a state takes or latches at the wrong time.
pub fn circuit_of(
    normal: &NormalForm,
    tapes: &Tapes<'_>,
) -> Result<(Circuit, MachineRegisters), MachineError> {
    let (builder, registers) = builder(normal, tapes)?;
    Ok((builder.build()?, registers))
}

/// The circuit of a machine, to which an output can be added, and its registers.
///
/// # Errors
/// As [`circuit_of`].
pub fn builder(normal: &NormalForm, tapes: &Tapes<'_>) -> Result<(Builder, MachineRegisters), MachineError> {
    let machine = normal.machine();
    check(machine)?;
    check_tapes(normal, tapes)?;
    let mut builder = Builder::new(valid_name(machine.name().unwrap_or("machine")));
    let cells = usize::try_from(tapes.cells.end - tapes.cells.start).unwrap_or(0);
    let states = machine.state_ids().map(|q| builder.register(format!("state[{q}]"), q == machine.start()));
    let states = states.collect();
    let mut registers =
        MachineRegisters { states, heads: Vec::new(), symbols: Vec::new(), first: tapes.cells.start };
    for tape in machine.tape_ids() {
        let input = tapes.input.tapes.get(tape.index());
        let cell = |i: usize| tapes.cells.start + Cell::try_from(i).unwrap_or(Cell::MAX);
        let head = input.map_or(0, |input| input.head);
        let row = (0..cells).map(|i| builder.register(format!("head{tape}[{}]", cell(i)), cell(i) == head));
        registers.heads.push(row.collect());
        let written = if normal.read_only(tape) { 0..0 } else { 0..cells };
        let row = written.map(|i| {
            builder.register(format!("tape{tape}[{}]", cell(i)), initial(tapes.input, tape, cell(i)))
        });
        registers.symbols.push(row.collect());
    }
    Wiring { builder: &mut builder, normal, tapes, registers: &registers }.connect()?;
    Ok((builder, registers))
}

/// The initial symbol of a cell.
fn initial(input: &Input, tape: TapeId, cell: Cell) -> bool {
    let symbols = input.tapes.get(tape.index()).map_or(&[][..], |input| &input.symbols);
    usize::try_from(cell).ok().and_then(|i| symbols.get(i)) == Some(&SymbolId(1))
}

fn check_tapes(normal: &NormalForm, tapes: &Tapes<'_>) -> Result<(), MachineError> {
    let machine = normal.machine();
    let inside = |tape: TapeId, cell: Cell| {
        if tapes.cells.contains(&cell) {
            return Ok(());
        }
        let (tape, cells) = (machine.tape(tape).name.clone(), tapes.cells.clone());
        Err(MachineError::OutsideCells { tape, cell, cells })
    };
    for tape in machine.tape_ids() {
        let input = tapes.input.tapes.get(tape.index());
        inside(tape, input.map_or(0, |input| input.head))?;
        let filled = input.and_then(|input| input.symbols.iter().rposition(|&symbol| symbol == SymbolId(1)));
        filled.map_or(Ok(()), |last| inside(tape, Cell::try_from(last).unwrap_or(Cell::MAX)))?;
        if filled.is_some() {
            inside(tape, 0)?;
        }
    }
    if machine.takes_samples() != tapes.samples.is_some() {
        return Err(MachineError::NoMemory);
    }
    let Some((memory, shape)) = tapes.samples else { return Ok(()) };
    let n_cells = memory.features.len() + memory.labels.len();
    let n_bits = shape.n_feature_bits() + shape.n_label_bits();
    if n_cells != n_bits || memory.labels.len() != shape.n_label_bits() {
        return Err(MachineError::Memory { n_cells, n_bits });
    }
    if !normal.read_only(memory.tape) {
        return Err(MachineError::Written(machine.tape(memory.tape).name.clone()));
    }
    memory.features.iter().chain(&memory.labels).try_for_each(|&cell| inside(memory.tape, cell))
}

/// A set of situations in which the same rule applies, as one wire.
struct Applied<'m> {
    wire: Literal,
    state: StateId,
    /// Whether it depends on the tape that holds the sample.
    sees_sample: bool,
    /// `None` if no rule applies and the machine stops.
    rule: Option<&'m Rule>,
}

struct Wiring<'w> {
    builder: &'w mut Builder,
    normal: &'w NormalForm,
    tapes: &'w Tapes<'w>,
    registers: &'w MachineRegisters,
}

impl<'w> Wiring<'w> {
    fn connect(&mut self) -> Result<(), MachineError> {
        let machine = self.normal.machine();
        if let Some((_, shape)) = self.tapes.samples {
            self.builder.samples(shape);
        }
        let states = self.builder.word_value(&self.registers.states);
        let of_kind = |samples: SampleUse| {
            machine
                .state_ids()
                .filter(move |&q| machine.state(q).samples == samples)
                .map(|q| states[q.index()])
        };
        let (takes, latches) =
            (self.builder.sum(of_kind(SampleUse::Take)), self.builder.sum(of_kind(SampleUse::Latch)));
        self.builder.next(takes);
        let reads = self.reads(takes, latches);

        let mut applied = Vec::new();
        for state in machine.state_ids().filter(|&q| machine.halting(q).is_none()) {
            let rules: Vec<&Rule> = machine.rules(state).iter().collect();
            self.apply(state, &rules, &reads, &mut [None; MAX_TAPES], &mut applied);
        }
        self.check_stops(&applied)?;
        for state in machine.state_ids() {
            let into = applied.iter().filter(|a| a.rule.is_some_and(|rule| rule.next == state));
            let target = self.builder.sum(into.map(|a| a.wire));
            self.builder.set(self.registers.states[state.index()], target);
        }
        machine.tape_ids().for_each(|tape| self.move_and_write(tape, &applied));

        let ended = machine.state_ids().filter(|&q| machine.halting(q).is_some()).map(|q| states[q.index()]);
        let stuck = applied.iter().filter(|a| a.rule.is_none()).map(|a| a.wire);
        let mut halted: Vec<Literal> = vec![self.builder.sum(ended.chain(stuck))];
        for tape in &self.registers.heads {
            let gone: Vec<Literal> = tape.iter().map(|&head| !self.builder.value(head)).collect();
            halted.push(self.builder.and(gone));
        }
        let halted = self.builder.or(halted);
        self.builder.halted(halted);
        Ok(())
    }

    /// For one cycle after a take no sample is held, and its cells read as 0: no state may stop because of them.
    fn check_stops(&self, applied: &[Applied<'_>]) -> Result<(), MachineError> {
        let (machine, Some((memory, _))) = (self.normal.machine(), self.tapes.samples) else { return Ok(()) };
        let takes = |a: &&Applied<'_>| machine.state(a.state).samples == SampleUse::Take;
        let after: Vec<StateId> = applied.iter().filter(takes).filter_map(|a| Some(a.rule?.next)).collect();
        match applied.iter().find(|a| a.rule.is_none() && a.sees_sample && after.contains(&a.state)) {
            None => Ok(()),
            Some(stop) => Err(MachineError::StopsUnseen {
                state: machine.state(stop.state).name.clone(),
                tape: machine.tape(memory.tape).name.clone(),
            }),
        }
    }

    /// The symbol under each head.
    fn reads(&mut self, takes: Literal, latches: Literal) -> Vec<Literal> {
        let memory = self.show_memory(takes, latches);
        let mut reads = Vec::with_capacity(self.registers.heads.len());
        for tape in self.normal.machine().tape_ids() {
            let mut seen = Vec::new();
            for (i, &head) in self.registers.heads[tape.index()].iter().enumerate() {
                let cell = self.registers.first + Cell::try_from(i).unwrap_or(Cell::MAX);
                let symbol = match (memory.get(&(tape, cell)), self.registers.symbols[tape.index()].get(i)) {
                    (Some(&shown), _) => shown,
                    (None, Some(&symbol)) => self.builder.value(symbol),
                    (None, None) => Literal::constant(initial(self.tapes.input, tape, cell)),
                };
                let head = self.builder.value(head);
                seen.push(self.builder.and([head, symbol]));
            }
            reads.push(self.builder.sum(seen));
        }
        reads
    }

    /// The cells that hold the sample, and their symbols.
    fn show_memory(&mut self, takes: Literal, latches: Literal) -> HashMap<(TapeId, Cell), Literal> {
        let mut shown = HashMap::new();
        let Some((memory, _)) = self.tapes.samples else { return shown };
        let at_start = |cell: Cell| initial(self.tapes.input, memory.tape, cell);
        let taken = self.builder.register("taken", false);
        let was_taken = self.builder.value(taken);
        let target = self.builder.or([was_taken, takes]);
        self.builder.set(taken, target);
        for (bit, &cell) in memory.features.iter().enumerate() {
            let feature = self.builder.feature(bit);
            let symbol = self.builder.mux(was_taken, feature, Literal::constant(at_start(cell)));
            shown.insert((memory.tape, cell), symbol);
        }
        for (bit, &cell) in memory.labels.iter().enumerate() {
            let register = self.builder.register(format!("label[{bit}]"), at_start(cell));
            let (old, new) = (self.builder.value(register), self.builder.label(bit));
            let target = self.builder.mux(latches, new, old);
            self.builder.set(register, target);
            shown.insert((memory.tape, cell), old);
        }
        shown
    }

    /// Splits the situations of a state by the symbols that its rules read: the first rule that matches applies.
    fn apply(
        &mut self,
        state: StateId,
        rules: &[&'w Rule],
        reads: &[Literal],
        symbols: &mut [Option<bool>; MAX_TAPES],
        applied: &mut Vec<Applied<'w>>,
    ) {
        let open = |rule: &&Rule| {
            let mut patterns = rule.reads.iter().zip(&*symbols);
            patterns.position(|(pattern, symbol)| *pattern != Pattern::Any && symbol.is_none())
        };
        let Some(tape) = rules.first().and_then(open) else {
            let in_state = self.builder.value(self.registers.states[state.index()]);
            let seen =
                reads.iter().zip(&*symbols).filter_map(|(read, symbol)| Some(read.negated_if(!(*symbol)?)));
            let wire = self.builder.and(seen.chain([in_state]));
            let sees_sample =
                self.tapes.samples.is_some_and(|(memory, _)| symbols[memory.tape.index()].is_some());
            applied.push(Applied { wire, state, sees_sample, rule: rules.first().copied() });
            return;
        };
        for symbol in [false, true] {
            symbols[tape] = Some(symbol);
            let fits = |rule: &&&Rule| rule.reads[tape].matches(SymbolId(u8::from(symbol)));
            let rules: Vec<&Rule> = rules.iter().filter(fits).copied().collect();
            self.apply(state, &rules, reads, symbols, applied);
        }
        symbols[tape] = None;
    }

    fn move_and_write(&mut self, tape: TapeId, applied: &[Applied<'_>]) {
        let mut chosen = |condition: &dyn Fn(&Rule) -> bool| {
            let wires: Vec<Literal> =
                applied.iter().filter(|a| a.rule.is_some_and(condition)).map(|a| a.wire).collect();
            self.builder.sum(wires)
        };
        let moves = [-1, 1].map(|offset| chosen(&|rule: &Rule| rule.moves[tape.index()].offset() == offset));
        let writes = [0, 1]
            .map(|symbol| chosen(&|rule: &Rule| rule.writes[tape.index()] == Write::Put(SymbolId(symbol))));
        let (left, right) = (moves[0], moves[1]);
        let row = &self.registers.heads[tape.index()];
        let heads = self.builder.word_value(row);
        for (i, &register) in row.iter().enumerate() {
            let before = i.checked_sub(1).map_or(Literal::FALSE, |i| heads[i]);
            let after = heads.get(i + 1).copied().unwrap_or(Literal::FALSE);
            let ways = [
                self.builder.and([before, right]),
                self.builder.and([after, left]),
                self.builder.and([heads[i], !left, !right]),
            ];
            let target = self.builder.sum(ways);
            self.builder.set(register, target);
        }
        for (&register, &head) in self.registers.symbols[tape.index()].iter().zip(&heads) {
            let symbol = self.builder.value(register);
            let ways = [
                self.builder.and([head, writes[1]]),
                self.builder.and([symbol, head, !writes[0], !writes[1]]),
                self.builder.and([symbol, !head]),
            ];
            let target = self.builder.sum(ways);
            self.builder.set(register, target);
        }
    }
}
