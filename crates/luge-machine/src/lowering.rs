//! Lowering: converts any machine to the normal form, and decodes its configurations.
//!
//! A tape with k symbols becomes ceil(log2 k) binary tracks whose heads move in lockstep. Each rule becomes one rule, in
//! the same order, and wildcards stay wildcards. States keep their ids, so after any number of whole source steps the
//! outcome of the lowered machine is that of the source.

mod encoding;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use crate::{
    Cell, Input, MAX_TAPES, Machine, Move, NormalForm, NotNormal, Pattern, Rule, SampleUse, State, StateId,
    SymbolId, TapeId, Write,
};
use encoding::{Encoding, unused_name};

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
    /// The size of the source.
    pub before: Size,
    /// The size of the machine in normal form.
    pub after: Size,
    encoding: Encoding,
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
    let mut rules = machine.states().iter().flat_map(|state| &state.rules);
    let doubled = moves == Moves::Strict && rules.any(|rule| rule.moves.contains(&Move::Stay));
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
    let (before, after) = (Size::of(machine), Size::of(normal.machine()));
    Ok(Lowered { normal, before, after, encoding, moves })
}

/// The machine with each step split in two. Cell i becomes cell 2i; odd cells stay blank. Right is RR, left is LL, stay is RL.
///
/// The new states between the two halves of a step follow those of the machine: one per pair of next state and second
/// moves, in the order of first use.
fn with_doubled_cells(machine: &Machine) -> Machine {
    let n_tapes = machine.n_tapes();
    let mut taken: HashSet<String> = machine.states().iter().map(|state| state.name.clone()).collect();
    let mut halfway: Vec<State> = Vec::new();
    let mut ids: HashMap<(StateId, Vec<Move>), StateId> = HashMap::new();
    let mut doubled = machine.clone();
    for rule in doubled.all_rules_mut() {
        let half = |stay: Move| -> Vec<Move> {
            rule.moves.iter().map(|&head| if head == Move::Stay { stay } else { head }).collect()
        };
        let (first, second) = (half(Move::Right), half(Move::Left));
        rule.next = *ids.entry((rule.next, second)).or_insert_with_key(|(next, moves)| {
            let letters: String = moves.iter().map(|m| if *m == Move::Left { 'L' } else { 'R' }).collect();
            let name = unused_name(format!("{}.{letters}", machine.state(*next).name), &mut taken);
            let (reads, writes) = (vec![Pattern::Any; n_tapes], vec![Write::Keep; n_tapes]);
            let rules = vec![Rule { reads, writes, moves: moves.clone(), next: *next }];
            halfway.push(State { name, halting: None, rules, samples: SampleUse::Pass });
            StateId::new(machine.states().len() + halfway.len() - 1)
        });
        rule.moves = first;
    }
    doubled.states.append(&mut halfway);
    doubled
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
}

/// The size of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Number of states, including halting ones.
    pub states: usize,
    /// Number of tapes.
    pub tapes: usize,
    /// Number of rules; a rule with wildcards counts once.
    pub rules: usize,
    /// Number of pairs of a state and the symbols that it reads: sum_q 2^|S(q)| in normal form.
    pub vertices: u64,
}

impl Size {
    fn of(machine: &Machine) -> Self {
        let states = machine.states().len();
        let symbols = |tape| machine.tape(tape).alphabet.len() as u64;
        let of_state = |state| machine.looked_at(state).map(symbols).fold(1, u64::saturating_mul);
        let vertices = machine.state_ids().map(of_state).fold(0, u64::saturating_add);
        Self { states, tapes: machine.n_tapes(), rules: machine.n_rules(), vertices }
    }
}

/// The sizes before and after lowering, as a small table.
impl fmt::Display for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after, .. } = self;
        let rows = [
            ("states", before.states as u64, after.states as u64),
            ("tapes", before.tapes as u64, after.tapes as u64),
            ("rules", before.rules as u64, after.rules as u64),
            ("vertices", before.vertices, after.vertices),
            ("steps", 1, self.steps_per_step()),
        ];
        write!(f, "{:<10}{:>12}{:>12}", "", "before", "after")?;
        for (what, before, after) in rows {
            write!(f, "\n{what:<10}{before:>12}{after:>12}")?;
        }
        if self.moves == Moves::Strict && self.steps_per_step() == 1 {
            write!(f, "\nno rule stays, so strict moves need no doubled cells")?;
        }
        Ok(())
    }
}

/// Why wildcards were not expanded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "without wildcards the machine needs at least {at_least} rules, but at most {most_rules} are allowed"
)]
pub struct TooManyRules {
    /// A lower bound on the number of rules.
    pub at_least: usize,
    /// The limit.
    pub most_rules: usize,
}

/// The same machine with one rule per combination of symbols that has a rule, the last tape varying fastest.
///
/// # Errors
/// If there would be more than `most_rules` rules; this is detected before they are created.
pub fn expand_wildcards(machine: &Machine, most_rules: usize) -> Result<Machine, TooManyRules> {
    let mut expanded = machine.clone();
    let mut n_rules = 0_usize;
    for State { rules, .. } in &mut expanded.states {
        let within_limit = |n_here: usize| match n_rules.saturating_add(n_here) {
            at_least if at_least > most_rules => Err(TooManyRules { at_least, most_rules }),
            _ => Ok(()),
        };
        let mut by_reads = BTreeMap::new();
        for rule in &*rules {
            // Every combination that a rule matches has a rule, this one or an earlier one.
            within_limit(machine.n_situations(&rule.reads))?;
            for reads in machine.situations(&rule.reads) {
                by_reads.entry(reads).or_insert(rule);
            }
            within_limit(by_reads.len())?;
        }
        n_rules += by_reads.len();
        let exact = |(reads, rule): (Vec<SymbolId>, &Rule)| Rule {
            reads: reads.into_iter().map(Pattern::Is).collect(),
            ..rule.clone()
        };
        *rules = by_reads.into_iter().map(exact).collect();
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests;
