//! Names of vertices: a state, and the symbols under the heads or the whole tapes.

use luge_landscape::{Configuration, Control, Landscape};
use luge_machine::{Machine, SymbolId, TapeId, lowering::Lowered};

/// The most cells of a tape in a name.
const MAX_CELLS: usize = 24;

pub(super) struct Names<'a> {
    /// The machine before lowering, whose symbols are shown.
    pub(super) machine: &'a Machine,
    pub(super) lowered: &'a Lowered,
    pub(super) landscape: &'a Landscape,
}

impl Names<'_> {
    pub(super) fn of(&self, vertex: usize) -> String {
        match (self.landscape.control(), self.landscape.configuration(vertex)) {
            (Some(control), _) => of_control(self.machine, self.lowered, control, vertex),
            (None, Some(configuration)) => self.of_configuration(configuration),
            (None, None) => vertex.to_string(),
        }
    }

    /// `B 01[1]0`: state B and the tape's cells without outer blanks, with the head's cell in brackets.
    fn of_configuration(&self, configuration: &Configuration) -> String {
        let normal = self.lowered.normal.machine();
        let mut name = normal.state(configuration.state).name.clone();
        for tape in self.machine.tape_ids() {
            let Some(track) = self.lowered.tracks(tape).next() else { continue };
            let head = configuration.heads[track.index()];
            let symbols = self.symbols(configuration, tape);
            let blank = self.machine.tape(tape).alphabet.name(self.machine.tape(tape).alphabet.blank());
            let filled = |cell: &usize| symbols[*cell] != blank || *cell == head;
            let first = (0..symbols.len()).find(filled).unwrap_or(head);
            let last = (0..symbols.len()).rfind(filled).unwrap_or(head);
            let start = first.max((head + 1).saturating_sub(MAX_CELLS / 2));
            let end = last.min(start + MAX_CELLS - 1);
            name.push(' ');
            if first < start {
                name.push('…');
            }
            for (cell, symbol) in symbols.iter().enumerate().take(end + 1).skip(start) {
                let symbol = visible(symbol);
                name.push_str(&if cell == head { format!("[{symbol}]") } else { symbol.to_owned() });
            }
            if end < last {
                name.push('…');
            }
        }
        name
    }

    /// Returns the machine's symbol in every cell of the network's tracks for a tape, or `#` if the bits encode none. In strict
    /// mode every second cell belongs to no cell of the machine and holds the blank's bits.
    fn symbols(&self, configuration: &Configuration, tape: TapeId) -> Vec<&str> {
        let symbol = |cell: usize| {
            let bit = |track: TapeId| SymbolId(u8::from(configuration.tapes[track.index()][cell]));
            self.lowered.decode_cell(tape, 0, |track, _| bit(track))
        };
        let n_cells = configuration.tapes.first().map_or(0, Vec::len);
        let alphabet = &self.machine.tape(tape).alphabet;
        (0..n_cells).map(|cell| symbol(cell).map_or("#", |symbol| alphabet.name(symbol))).collect()
    }
}

fn visible(symbol: &str) -> &str {
    if symbol == " " { "␣" } else { symbol }
}

/// `B 1`: state B on symbol 1. With copies of states: `B[2] 1`. A tape that the state does not look at is `*`; a state that looks
/// at no tape is its name alone.
pub(super) fn of_control(machine: &Machine, lowered: &Lowered, control: &Control, vertex: usize) -> String {
    let normal = lowered.normal.machine();
    let vertex = control.at(vertex);
    let reads = vertex.reads;
    let mut name = normal.state(vertex.state).name.clone();
    if control.n_copied_states() > normal.states().len() {
        name.push_str(&format!("[{}]", vertex.copy));
    }
    if vertex.looks_at.0 == 0 {
        return name;
    }
    for tape in machine.tape_ids() {
        if !lowered.tracks(tape).any(|track| vertex.looks_at.get(track.index())) {
            name.push_str(" *");
            continue;
        }
        let bit = |track: TapeId| SymbolId(u8::from(reads.get(track.index())));
        let symbol = lowered.decode_cell(tape, 0, |track, _| bit(track));
        name.push(' ');
        match symbol {
            Some(symbol) => name.push_str(visible(machine.tape(tape).alphabet.name(symbol))),
            // The bits encode no symbol: the vertex exists, but no run visits it.
            None => {
                let bits = lowered.tracks(tape).map(|track| if bit(track).0 == 1 { '1' } else { '0' });
                name.push('#');
                name.extend(bits);
            }
        }
    }
    name
}
