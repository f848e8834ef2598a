//! Simulators as a reference for engines, for machines with one tape: straightforward, tuned, and with cached
//! blocks.
//!
//! They share no code with training, and only the benchmark uses them. The tuned one is as fast as we could make
//! it, so that a ratio to it is meaningful.

use luge_machine::{Machine, Move, SymbolId, TapeId, Write};

/// What a state does with a symbol: the symbol written, the way, the next state; `None` where the machine stops.
type Entry = Option<(u8, i8, u16)>;

/// Makes a tape three times as long, and returns by how much its cells have moved.
fn widen<T: Copy>(tape: &mut Vec<T>, blank: T) -> usize {
    let n_cells = tape.len();
    let mut wider = vec![blank; n_cells * 3];
    wider[n_cells..2 * n_cells].copy_from_slice(tape);
    *tape = wider;
    n_cells
}

/// The rules of a machine with one tape, as a table.
#[derive(Clone, Debug)]
pub struct Table {
    n_symbols: usize,
    start: usize,
    blank: u8,
    entries: Vec<Entry>,
}

impl Table {
    /// `None` for machines with several tapes, more than four symbols or more than 2^14 states.
    pub fn new(machine: &Machine) -> Option<Self> {
        let alphabet = &machine.tape(TapeId(0)).alphabet;
        let n_symbols = alphabet.len();
        if machine.n_tapes() != 1 || n_symbols > 4 || machine.states().len() > 1 << 14 {
            return None;
        }
        let mut entries = Vec::new();
        for state in machine.state_ids() {
            for symbol in 0..n_symbols {
                let symbol = SymbolId::new(symbol);
                let rule = machine.halting(state).is_none().then(|| machine.rule_for(state, &[symbol]));
                entries.push(rule.flatten().map(|rule| {
                    let written = match rule.writes[0] {
                        Write::Keep => symbol,
                        Write::Put(symbol) => symbol,
                    };
                    let offset = match rule.moves[0] {
                        Move::Left => -1,
                        Move::Stay => 0,
                        Move::Right => 1,
                    };
                    (written.0, offset, rule.next.index() as u16)
                }));
            }
        }
        Some(Self { n_symbols, start: machine.start().index(), blank: alphabet.blank().0, entries })
    }

    /// The straightforward loop: a table, a vector of bytes, every access checked. Returns the steps to the halt.
    pub fn straightforward(&self, most_steps: u64) -> u64 {
        let mut tape = vec![self.blank; 1 << 10];
        let (mut at, mut state, mut steps) = (tape.len() / 2, self.start, 0);
        while steps < most_steps {
            let Some((written, offset, next)) = self.entries[state * self.n_symbols + tape[at] as usize]
            else {
                break;
            };
            tape[at] = written;
            if at == 0 || at + 1 == tape.len() {
                at += widen(&mut tape, self.blank);
            }
            at = at.wrapping_add_signed(isize::from(offset));
            state = next as usize;
            steps += 1;
        }
        steps
    }

    /// A packed table, no checks, and both neighbours read before it is known which one will be needed.
    pub fn tuned(&self, most_steps: u64) -> u64 {
        let mut tuned = Tuned::new(self);
        let mut steps = 0;
        while steps < most_steps {
            let chunk = (most_steps - steps).min(MARGIN as u64 - 2);
            let made = tuned.race(chunk);
            steps += made;
            if made < chunk {
                break;
            }
        }
        steps
    }

    /// One word per state and symbol, four symbols to a state: bits 0..2 the symbol, bits 3..5 eight times the way (0 stay,
    /// 8 right, 16 left), bit 7 whether the machine stops, bits 8.. the next row.
    fn packed(&self) -> Vec<u32> {
        let n_states = self.entries.len() / self.n_symbols;
        let mut packed = vec![STOPS; n_states * STRIDE];
        for (i, entry) in self.entries.iter().enumerate() {
            let Some((written, offset, next)) = *entry else { continue };
            let way = match offset {
                0 => 0,
                1 => 8,
                _ => 16,
            };
            packed[i / self.n_symbols * STRIDE + i % self.n_symbols] =
                u32::from(written) | way | (u32::from(next) * STRIDE as u32) << 8;
        }
        packed
    }

    /// Blocks of eight cells (four with more than two symbols), whose crossings are remembered.
    pub fn blocks(&self, most_steps: u64) -> u64 {
        Blocks::new(self).run(most_steps)
    }
}

const STRIDE: usize = 4;
const STOPS: u32 = 1 << 7;
/// The number of cells that are guaranteed on both sides while nothing is checked.
const MARGIN: usize = 1 << 12;

/// A machine whose table and tape are known to be sound, so that its steps need no checks.
struct Tuned {
    /// Every entry that does not stop has a row inside the table, a multiple of [`STRIDE`].
    packed: Vec<u32>,
    /// Every symbol is below [`STRIDE`].
    tape: Vec<u8>,
    blank: u8,
    at: usize,
    row: u32,
}

impl Tuned {
    fn new(table: &Table) -> Self {
        let packed = table.packed();
        let row = (table.start * STRIDE) as u32;
        let is_row = |row: u32| (row as usize) < packed.len() && (row as usize).is_multiple_of(STRIDE);
        assert!(packed.len().is_multiple_of(STRIDE) && is_row(row) && (table.blank as usize) < STRIDE);
        assert!(packed.iter().all(|entry| is_row(entry >> 8)));
        let tape = vec![table.blank; 4 * MARGIN];
        Self { packed, at: tape.len() / 2, tape, blank: table.blank, row }
    }

    /// Up to `chunk` steps without a check; fewer only if the machine stops.
    #[expect(unsafe_code, reason = "the reference for ratios must not pay for checks")]
    fn race(&mut self, chunk: u64) -> u64 {
        if self.at < MARGIN || self.at + MARGIN >= self.tape.len() {
            self.at += widen(&mut self.tape, self.blank);
        }
        assert!(self.at >= MARGIN && self.at + MARGIN < self.tape.len() && chunk < MARGIN as u64);
        let (packed, tape) = (&self.packed[..], &mut self.tape[..]);
        let (mut here, mut row, mut made) = (self.at, self.row, 0);
        // SAFETY: fewer than MARGIN steps are made and each moves by at most one cell, so `here` and its neighbours stay
        // inside the tape. Symbols are below STRIDE: the blank was checked, and only two bits of an entry are written. Rows
        // are multiples of STRIDE inside the table, whose length is one too: all were checked when the table was made.
        unsafe {
            let mut symbol = *tape.get_unchecked(here);
            while made < chunk {
                let before = *tape.get_unchecked(here - 1);
                let after = *tape.get_unchecked(here + 1);
                let entry = *packed.get_unchecked(row as usize + symbol as usize);
                if entry & STOPS != 0 {
                    break;
                }
                let written = entry & 3;
                *tape.get_unchecked_mut(here) = written as u8;
                let all = written | u32::from(after) << 8 | u32::from(before) << 16;
                symbol = (all >> (entry & 24)) as u8;
                let way = (entry >> 3 & 3) as isize;
                here = here.wrapping_add_signed((way & 1) - (way >> 1));
                row = entry >> 8;
                made += 1;
            }
        }
        (self.at, self.row) = (here, row);
        made
    }
}

/// A crossing: content left behind, whether to the right, steps, the state that enters the next block.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    content: u16,
    right: bool,
    steps: u32,
    state: u16,
}

struct Blocks<'t> {
    table: &'t Table,
    bits: usize,
    n_cells: usize,
    memory: Vec<Option<Crossing>>,
}

impl<'t> Blocks<'t> {
    fn new(table: &'t Table) -> Self {
        let bits = if table.n_symbols > 2 { 2 } else { 1 };
        let n_states = table.entries.len() / table.n_symbols;
        Self { table, bits, n_cells: 8 / bits, memory: vec![None; (n_states * 2) << 8] }
    }

    fn run(&mut self, most_steps: u64) -> u64 {
        let blank = (0..self.n_cells).fold(0, |c, i| c | u16::from(self.table.blank) << (i * self.bits));
        let mut tape = vec![blank; 1 << 8];
        let (mut at, mut state, mut from_left, mut steps) = (tape.len() / 2, self.table.start, true, 0);
        loop {
            let Some(content) = tape.get_mut(at) else {
                at = at.wrapping_add(widen(&mut tape, blank));
                continue;
            };
            let key = (state * 2 + usize::from(from_left)) << 8 | *content as usize;
            let crossing = match self.memory[key] {
                Some(crossing) => crossing,
                None => match self.cross(state, from_left, *content, most_steps - steps) {
                    Ok(crossing) => *self.memory[key].insert(crossing),
                    Err(made) => return steps + made,
                },
            };
            if u64::from(crossing.steps) > most_steps - steps {
                return most_steps;
            }
            *content = crossing.content;
            at = if crossing.right { at + 1 } else { at.wrapping_sub(1) };
            (from_left, state) = (crossing.right, crossing.state as usize);
            steps += u64::from(crossing.steps);
        }
    }

    /// Follows the machine through a block; `Err` with the number of steps if it stops or reaches the limit inside.
    fn cross(&self, mut state: usize, from_left: bool, mut content: u16, most: u64) -> Result<Crossing, u64> {
        let mask = (1_u16 << self.bits) - 1;
        let mut at = if from_left { 0 } else { self.n_cells - 1 };
        let mut steps = 0;
        while steps < most {
            let symbol = content >> (at * self.bits) & mask;
            let entry = self.table.entries[state * self.table.n_symbols + symbol as usize];
            let Some((written, offset, next)) = entry else { return Err(steps) };
            content = content & !(mask << (at * self.bits)) | u16::from(written) << (at * self.bits);
            at = at.wrapping_add_signed(isize::from(offset));
            state = next as usize;
            steps += 1;
            if at >= self.n_cells {
                let steps = u32::try_from(steps).map_err(|_| steps)?;
                return Ok(Crossing { content, right: offset > 0, steps, state: next });
            }
        }
        Err(steps)
    }
}

#[cfg(test)]
mod tests {
    use luge_machine::{Input, Simulator, formats::Format};

    use super::*;

    fn check(line: &str, most_steps: u64) {
        let machine = Format::Bbchallenge.read(line).expect("a machine").machine;
        let table = Table::new(&machine).expect("one tape");
        let mut simulator = Simulator::new(&machine, &Input::blank());
        let _ = simulator.run(most_steps);
        let expected = simulator.steps();
        assert_eq!(table.straightforward(most_steps), expected, "{line}");
        assert_eq!(table.tuned(most_steps), expected, "{line}");
        assert_eq!(table.blocks(most_steps), expected, "{line}");
    }

    #[test]
    fn they_all_make_the_machine_s_steps() {
        check("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 1000);
        check("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 77);
        check("1RB2LA1RA1RA_1LB1LA3RB1RZ", 10_000_000);
        check("1RB1RA_1LB1LA", 10_000);
        check("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", 1_000_000);
    }
}
