//! The encoding of symbols as bits and of tapes as tracks.

use std::collections::HashSet;

use crate::{Alphabet, Cell, Input, Machine, Pattern, Rule, SymbolId, Tape, TapeId, TapeInput, Write};

/// The code of every tape, and the distance between cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Encoding {
    tapes: Vec<TapeCode>,
    /// Cells of a track per cell of the source.
    pub(super) spacing: u8,
}

/// The code of a tape: the blank is 0, the other symbols are numbered from 1 in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct TapeCode {
    first_track: usize,
    n_tracks: usize,
    n_symbols: usize,
    blank: usize,
}

impl TapeCode {
    fn code(self, symbol: SymbolId) -> usize {
        let symbol = symbol.index();
        if symbol == self.blank { 0 } else { symbol + usize::from(symbol < self.blank) }
    }

    /// What a rule says about each track, lowest bit first, given what it says about the tape: a symbol, or nothing.
    fn spread<T: Copy>(
        self,
        symbol: Option<SymbolId>,
        nothing: T,
        of: fn(SymbolId) -> T,
    ) -> impl Iterator<Item = T> {
        let code = symbol.map(|symbol| self.code(symbol));
        let bit = move |track: usize| code.map(|code| of(SymbolId::new(code >> track & 1)));
        (0..self.n_tracks).map(move |track| bit(track).unwrap_or(nothing))
    }

    fn symbol(self, code: usize) -> Option<SymbolId> {
        let symbol = if code == 0 { self.blank } else { code - usize::from(code <= self.blank) };
        (code < self.n_symbols).then(|| SymbolId::new(symbol))
    }
}

impl Encoding {
    pub(super) fn new(machine: &Machine, spacing: u8) -> Self {
        let mut first_track = 0;
        let mut tapes = Vec::with_capacity(machine.n_tapes());
        for tape in machine.tapes() {
            let n_symbols = tape.alphabet.len();
            let n_tracks = (n_symbols.next_power_of_two().trailing_zeros() as usize).max(1);
            tapes.push(TapeCode { first_track, n_tracks, n_symbols, blank: tape.alphabet.blank().index() });
            first_track += n_tracks;
        }
        Self { tapes, spacing }
    }

    pub(super) fn n_tracks(&self) -> usize {
        self.tapes.iter().map(|t| t.n_tracks).sum()
    }

    pub(super) fn tracks(&self, tape: TapeId) -> impl ExactSizeIterator<Item = TapeId> + use<> {
        let TapeCode { first_track, n_tracks, .. } = self.tapes[tape.index()];
        (first_track..first_track + n_tracks).map(TapeId::new)
    }

    /// Decodes the symbols of the tracks.
    pub(super) fn symbol(&self, tape: TapeId, bits: impl Iterator<Item = SymbolId>) -> Option<SymbolId> {
        let code = bits.enumerate().map(|(track, bit)| bit.index() << track).sum();
        self.tapes[tape.index()].symbol(code)
    }

    pub(super) fn input(&self, input: &Input) -> Input {
        let spacing = usize::from(self.spacing);
        let mut tapes = Vec::with_capacity(self.n_tracks());
        for (tape, code) in input.tapes.iter().zip(&self.tapes) {
            let n_cells = (tape.symbols.len() * spacing).saturating_sub(spacing - 1);
            for track in 0..code.n_tracks {
                let mut symbols = vec![SymbolId(0); n_cells];
                for (cell, &symbol) in symbols.iter_mut().step_by(spacing).zip(&tape.symbols) {
                    *cell = SymbolId((code.code(symbol) >> track & 1) as u8);
                }
                tapes.push(TapeInput { symbols, head: tape.head * Cell::from(self.spacing) });
            }
        }
        Input { tapes }
    }

    /// A rule on the tracks, whose heads move in lockstep.
    pub(super) fn rule(&self, rule: &Rule) -> Rule {
        let coded = || self.tapes.iter();
        let reads = coded().zip(&rule.reads);
        let reads = reads.flat_map(|(tape, read)| tape.spread(read.symbol(), Pattern::Any, Pattern::Is));
        let writes = coded().zip(&rule.writes);
        let writes = writes.flat_map(|(tape, write)| tape.spread(write.symbol(), Write::Keep, Write::Put));
        let heads = coded().zip(&rule.moves);
        let moves = heads.flat_map(|(tape, &head)| std::iter::repeat_n(head, tape.n_tracks));
        Rule { reads: reads.collect(), writes: writes.collect(), moves: moves.collect(), next: rule.next }
    }

    /// The tracks as tapes. A single track keeps the name of its tape; several are `name.0` (the lowest bit), `name.1`, …
    pub(super) fn track_tapes(&self, machine: &Machine) -> Vec<Tape> {
        let coded = || machine.tapes().iter().zip(&self.tapes);
        let single = coded().filter(|(_, code)| code.n_tracks == 1);
        let mut taken: HashSet<String> = single.map(|(tape, _)| tape.name.clone()).collect();
        let mut tracks = Vec::with_capacity(self.n_tracks());
        for (tape, &code) in coded() {
            for track in 0..code.n_tracks {
                let name = match code.n_tracks {
                    1 => tape.name.clone(),
                    _ => unused_name(format!("{}.{track}", tape.name), &mut taken),
                };
                tracks.push(Tape { name, alphabet: track_alphabet(tape, code), access: tape.access });
            }
        }
        tracks
    }
}

/// The alphabet of a track. Two symbols keep their names, the blank first.
fn track_alphabet(tape: &Tape, code: TapeCode) -> Alphabet {
    match (code.symbol(0), code.symbol(1)) {
        (Some(blank), Some(other)) if code.n_symbols == 2 => {
            Alphabet::new([tape.alphabet.name(blank), tape.alphabet.name(other)], SymbolId(0))
        }
        _ => Alphabet::binary(),
    }
}

/// Returns the first of `name`, `name_`, `name__`, … that is not taken.
pub(super) fn unused_name(mut name: String, taken: &mut HashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}
