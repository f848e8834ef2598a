//! Lowering: converts any machine to the normal form, and decodes its configurations.
//!
//! A tape with k symbols becomes ceil(log2 k) binary tracks whose heads move in lockstep. Each rule becomes one rule, in
//! the same order, and wildcards stay wildcards. States keep their ids, so after any number of whole source steps the
//! outcome of the lowered machine is that of the source.

mod encoding;
mod expand;
mod halves;
mod report;

pub use expand::{TooManyRules, expand_wildcards};
pub use report::{Report, Size};

use crate::{
    Cell, Input, MAX_TAPES, Machine, Move, NormalForm, NotNormal, SampleUse, StateId, SymbolId, TapeId,
};
use encoding::Encoding;
use halves::with_doubled_cells;

/// Which moves the lowered machine may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Moves {
    /// Left, right and stay, as in the source.
    #[default]
    Keep,
    /// Left and right only, as in the paper. If some rule stays, cells are doubled and each step becomes two.
    Strict,
}

/// Why a machine cannot be lowered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoweringError {
    /// The alphabets need too many tracks.
    #[error("the {n_tapes} tapes need {n_tracks} binary tracks, but at most {MAX_TAPES} are supported")]
    TooManyTracks {
        /// Number of tapes of the source.
        n_tapes: usize,
        /// Number of binary tapes they need.
        n_tracks: usize,
    },
    /// Steps of a machine that takes samples cannot be doubled: a latch would come too late.
    #[error(
        "state `{0}` uses samples of a stream, and labels wait for one step only: steps cannot be doubled"
    )]
    Samples(String),
    /// The lowered machine is not in normal form: its start state halts.
    #[error(transparent)]
    NotNormal(#[from] NotNormal),
}

/// A machine in normal form that is equivalent to its source, and the encoding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lowered {
    /// The machine in normal form.
    pub normal: NormalForm,
    encoding: Encoding,
    before: Size,
    moves: Moves,
}

/// Converts a machine to normal form.
///
/// ```
/// use luge_machine::{Alphabet, Input, Machine, Move, Pattern::Is, Simulator, SymbolId, Write::Put};
/// use luge_machine::lowering::{Moves, lower};
///
/// let mut b = Machine::builder();
/// let tape = b.tape("tape", Alphabet::new(["_", "a", "b"], SymbolId(0)));
/// let (start, end) = (b.state("start"), b.halting_state("end", true));
/// b.rule(start, [Is(SymbolId(0))], [Put(SymbolId(2))], [Move::Stay], end);
/// let machine = b.build()?;
///
/// let lowered = lower(&machine, Moves::Strict)?;
/// let mut simulator = Simulator::new(lowered.normal.machine(), &lowered.encode(&Input::blank()));
/// assert!(simulator.run(10).accepting());
/// assert_eq!(simulator.steps(), lowered.steps_per_step());
/// let symbol = lowered.decode_cell(tape, 0, |track, cell| simulator.tape(track).read(cell));
/// assert_eq!(symbol, Some(SymbolId(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the alphabets need more than [`MAX_TAPES`] binary tracks, the start state halts, or steps would be doubled in a machine
/// that takes samples.
pub fn lower(machine: &Machine, moves: Moves) -> Result<Lowered, LoweringError> {
    let doubled = moves == Moves::Strict && has_stay(machine);
    if let Some(state) = machine.states().iter().find(|s| doubled && s.samples != SampleUse::Pass) {
        return Err(LoweringError::Samples(state.name.clone()));
    }
    let encoding = Encoding::new(machine, if doubled { 2 } else { 1 });
    let (n_tapes, n_tracks) = (machine.n_tapes(), encoding.n_tracks());
    if n_tracks > MAX_TAPES {
        return Err(LoweringError::TooManyTracks { n_tapes, n_tracks });
    }
    let mut lowered = if doubled { with_doubled_cells(machine) } else { machine.clone() };
    lowered.tapes = encoding.track_tapes(machine);
    lowered.all_rules_mut().for_each(|rule| *rule = encoding.rule(rule));
    let normal = NormalForm::new(lowered)?;
    Ok(Lowered { normal, encoding, before: Size::of(machine), moves })
}

fn has_stay(machine: &Machine) -> bool {
    machine.state_ids().flat_map(|q| machine.rules(q)).any(|rule| rule.moves.contains(&Move::Stay))
}

impl Lowered {
    /// Steps of the lowered machine per step of the source, and cells per cell: 2 if cells are doubled, else 1.
    pub fn steps_per_step(&self) -> u64 {
        u64::from(self.encoding.spacing)
    }

    /// The tracks of a tape of the source, lowest bit first.
    pub fn tracks(&self, tape: TapeId) -> impl ExactSizeIterator<Item = TapeId> + use<> {
        self.encoding.tracks(tape)
    }

    /// Encodes an input of the source.
    pub fn encode(&self, input: &Input) -> Input {
        self.encoding.input(input)
    }

    /// Decodes the symbol in a cell of the source; `read` returns the symbols of the tracks.
    ///
    /// `None` if the code is not that of a symbol, which no run from an encoded input reaches.
    pub fn decode_cell(
        &self,
        tape: TapeId,
        cell: Cell,
        read: impl Fn(TapeId, Cell) -> SymbolId,
    ) -> Option<SymbolId> {
        let cell = cell * Cell::from(self.encoding.spacing);
        self.encoding.symbol(tape, self.tracks(tape).map(|track| read(track, cell)))
    }

    /// The cell of the source that a head is on; `None` between two cells.
    pub fn decode_head(&self, head: Cell) -> Option<Cell> {
        let spacing = Cell::from(self.encoding.spacing);
        (head % spacing == 0).then_some(head / spacing)
    }

    /// The state of the source; `None` in the middle of one of its steps.
    pub fn decode_state(&self, state: StateId) -> Option<StateId> {
        (state.index() < self.before.states).then_some(state)
    }

    /// The sizes before and after lowering.
    pub fn report(&self) -> Report {
        Report {
            before: self.before,
            after: Size::of(self.normal.machine()),
            moves: self.moves,
            steps_per_step: self.steps_per_step(),
        }
    }
}

#[cfg(test)]
mod tests;
