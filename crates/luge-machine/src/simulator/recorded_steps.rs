//! Recorded steps, repeated at once wherever the same cells hold the same symbols.
//!
//! A machine's steps follow from its state and the symbols it reads. So steps that were made one by one, with every
//! symbol they read or overwrote, are repeated exactly wherever that state finds the same symbols.

use std::{array, num::NonZeroU32};

use super::{Effect, Outcome, Simulator};
use crate::{Cell, StateId, Step, SymbolId, TapeId};

/// Cells that one comparison looks at.
const WIDTH: u32 = 16;
/// Recorded steps look no farther from where a head was first.
const MARGIN: Cell = 64;
/// Cells that are held on either side of a head before steps are repeated: a comparison takes four bytes at once.
const HELD: Cell = MARGIN + 32;
/// Heads that are moved at once.
const GROUP: usize = 16;
/// The most tapes, a power of two.
const MAX_TAPES: usize = 2 * GROUP;
/// The most records that are repeated at once, so that heads stay countable.
const MOST_AT_ONCE: usize = 1 << 16;
/// How far a head may be from the first cell that is held.
const FARTHEST: i32 = 1 << 30;

/// Parts that are kept inline: most steps depend on no more.
const N_INLINE: usize = 8;

/// Some steps of a machine with two symbols, with all they depend on and all they change.
///
/// Records are read in no order, so one is as small as can be: what few steps need is kept elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedSteps {
    from: StateId,
    to: StateId,
    steps: NonZeroU32,
    /// How many parts are inline.
    n_parts: u8,
    /// How many of these change something. These are the first ones.
    n_changing: u8,
    parts: [Part; N_INLINE],
    ways: Ways,
    rest: Option<Box<Rest>>,
}

/// What only few steps need.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rest {
    parts: Vec<Part>,
    /// The ways of the second group of heads.
    ways: Ways,
}

/// Cells in a row on one tape, a bit each: those that steps depend on, what they find there, and where they leave another symbol.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Part {
    tape: u8,
    /// The first cell, counted from where the head is first.
    offset: i8,
    mask: u16,
    found: u16,
    changed: u16,
}

/// How far a group of heads come, and between which cells they are on the way.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Ways {
    moved: [i8; GROUP],
    low: [i8; GROUP],
    high: [i8; GROUP],
}

/// Where a head goes: in the end, and on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trace {
    tape: u16,
    moved: i16,
    low: i16,
    high: i16,
}

impl Trace {
    /// The heads of all tapes before they move.
    pub(super) fn start(simulator: &Simulator<'_>) -> Vec<Self> {
        let trace = |tape: TapeId| Self { tape: tape.index() as u16, moved: 0, low: 0, high: 0 };
        simulator.machine.tape_ids().map(trace).collect()
    }

    /// Notes that heads move so. What is too far to be noted stays so.
    pub(super) fn note(traces: &mut [Self], moves: &[(usize, Cell)]) {
        for &(tape, offset) in moves {
            let trace = &mut traces[tape];
            trace.moved = trace.moved.saturating_add(offset as i16);
            (trace.low, trace.high) = (trace.low.min(trace.moved), trace.high.max(trace.moved));
        }
    }

    /// The traces of the heads that move.
    pub(super) fn moving(traces: &[Self]) -> Box<[Self]> {
        traces.iter().filter(|trace| trace.low != trace.high).copied().collect()
    }
}

impl RecordedSteps {
    /// Steps that it takes.
    pub fn steps(&self) -> Step {
        self.steps.get().into()
    }

    /// Whether all symbols that the steps depend on are found; `None` if not all these cells are held.
    #[inline]
    fn finds(&self, rows: &[&mut [u8]; MAX_TAPES], heads: &[i32; MAX_TAPES]) -> Option<bool> {
        let parts = &self.parts[..usize::from(self.n_parts).min(N_INLINE)];
        let differs = Part::differ(parts, rows, heads)?;
        match &self.rest {
            None => Some(differs == 0),
            Some(rest) => Some(differs | Part::differ(&rest.parts, rows, heads)? == 0),
        }
    }

    /// Leaves what the steps leave.
    #[inline]
    fn change(&self, rows: &mut [&mut [u8]; MAX_TAPES], heads: &[i32; MAX_TAPES]) {
        Part::change(&self.parts[..usize::from(self.n_changing).min(N_INLINE)], rows, heads);
        if let Some(rest) = &self.rest {
            Part::change(&rest.parts, rows, heads);
        }
    }
}

impl AsRef<Self> for RecordedSteps {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Part {
    /// What is found in other cells than it should be; `None` if not all these cells are held.
    #[inline]
    fn differ(parts: &[Self], rows: &[&mut [u8]; MAX_TAPES], heads: &[i32; MAX_TAPES]) -> Option<u16> {
        let mut differs = 0;
        for part in parts {
            let (byte, bit) = part.place(heads);
            let four = rows[part.tape()].get(byte..)?.first_chunk()?;
            differs |= ((u32::from_le_bytes(*four) >> bit) as u16 ^ part.found) & part.mask;
        }
        Some(differs)
    }

    #[inline]
    fn change(parts: &[Self], rows: &mut [&mut [u8]; MAX_TAPES], heads: &[i32; MAX_TAPES]) {
        for part in parts {
            let (byte, bit) = part.place(heads);
            if let Some(four) = rows[part.tape()].get_mut(byte..).and_then(<[u8]>::first_chunk_mut) {
                *four = (u32::from_le_bytes(*four) ^ u32::from(part.changed) << bit).to_le_bytes();
            }
        }
    }

    #[inline]
    fn tape(&self) -> usize {
        usize::from(self.tape) % MAX_TAPES
    }

    /// The byte that the first cell is in, and its bit.
    #[inline]
    fn place(&self, heads: &[i32; MAX_TAPES]) -> (usize, u32) {
        let at = heads[self.tape()] + i32::from(self.offset);
        ((at >> 3) as usize, (at & 7) as u32)
    }
}

impl Ways {
    /// Those of the heads from one on; `None` if one of them goes far.
    fn of(traces: &[Trace], from: usize) -> Option<Self> {
        let mut ways = Self::default();
        for (i, trace) in traces.iter().skip(from).take(GROUP).enumerate() {
            ways.moved[i] = trace.moved.try_into().ok()?;
            ways.low[i] = trace.low.try_into().ok()?;
            ways.high[i] = trace.high.try_into().ok()?;
        }
        Some(ways)
    }
}

/// All heads, counted from the first cell that their tape holds, and between which cells they have been.
struct Heads {
    at: [i32; MAX_TAPES],
    lowest: [i32; MAX_TAPES],
    highest: [i32; MAX_TAPES],
    /// How far each can go at least on either side without coming to a new cell.
    below: [i8; MAX_TAPES],
    above: [i8; MAX_TAPES],
}

impl Heads {
    /// Those of a simulator; `None` if there are too many, or one has gone very far.
    fn of(simulator: &Simulator<'_>) -> Option<Self> {
        let (none, nowhere) = ([0; MAX_TAPES], [0; MAX_TAPES]);
        let mut heads = Self { at: none, lowest: none, highest: none, below: nowhere, above: nowhere };
        for (i, tape) in simulator.tapes.iter().enumerate() {
            let counted = |cell: Cell| i32::try_from(cell - tape.extent().start).ok();
            let near = |cell: Cell| counted(cell).filter(|at| (-FARTHEST..FARTHEST).contains(at));
            *heads.at.get_mut(i)? = near(simulator.heads[i])?;
            (heads.lowest[i], heads.highest[i]) =
                (near(simulator.visited[i].0)?, near(simulator.visited[i].1)?);
            heads.look_around(i);
        }
        Some(heads)
    }

    fn look_around(&mut self, i: usize) {
        let room = |cells: i32| i8::try_from(cells).unwrap_or(i8::MAX);
        self.below[i] = room(self.at[i] - self.lowest[i]);
        self.above[i] = room(self.highest[i] - self.at[i]);
    }

    /// Lets a group of heads go their ways.
    #[inline]
    fn go<const FROM: usize>(&mut self, ways: &Ways) {
        let below: [i8; GROUP] = array::from_fn(|i| self.below[FROM + i].saturating_add(ways.low[i]));
        let above: [i8; GROUP] = array::from_fn(|i| self.above[FROM + i].saturating_sub(ways.high[i]));
        // Their signs say whether a head may go beyond the cells where it has been.
        if below.iter().zip(&above).fold(0, |signs, (below, above)| signs | below | above) < 0 {
            return self.go_to_new_cells::<FROM>(ways);
        }
        for i in FROM..FROM + GROUP {
            self.at[i] += i32::from(ways.moved[i - FROM]);
            self.below[i] = self.below[i].saturating_add(ways.moved[i - FROM]);
            self.above[i] = self.above[i].saturating_sub(ways.moved[i - FROM]);
        }
    }

    #[cold]
    fn go_to_new_cells<const FROM: usize>(&mut self, ways: &Ways) {
        for i in FROM..FROM + GROUP {
            let (at, way) = (self.at[i], i - FROM);
            self.lowest[i] = self.lowest[i].min(at + i32::from(ways.low[way]));
            self.highest[i] = self.highest[i].max(at + i32::from(ways.high[way]));
            self.at[i] = at + i32::from(ways.moved[way]);
            self.look_around(i);
        }
    }
}

/// Steps being made one by one, to be made at once later.
#[derive(Clone, Debug)]
pub struct Recording {
    from: StateId,
    since: Step,
    heads: Vec<Cell>,
    traces: Vec<Trace>,
    /// Per tape the cells that were looked at, and those of them where the second symbol was found first: a bit each.
    looked_at: Vec<[u128; 2]>,
    /// Whether steps have looked at a cell far away, or found another symbol.
    outside: bool,
}

impl Recording {
    /// Nothing yet.
    pub fn new(simulator: &Simulator<'_>) -> Self {
        Self {
            from: simulator.state,
            since: simulator.steps,
            heads: simulator.heads.clone(),
            traces: Trace::start(simulator),
            looked_at: vec![[0; 2]; simulator.heads.len()],
            outside: false,
        }
    }

    /// Notes that the steps depend on the cell under a head.
    pub fn look(&mut self, simulator: &Simulator<'_>, tape: TapeId) {
        let cell = simulator.head(tape);
        let at = cell - self.heads[tape.index()] + MARGIN;
        let [looked_at, ones] = &mut self.looked_at[tape.index()];
        match u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)) {
            Some(bit) if *looked_at & bit == 0 => {
                let SymbolId(found) = simulator.tape(tape).read(cell);
                *looked_at |= bit;
                *ones |= bit * u128::from(found & 1);
                self.outside |= found > 1;
            }
            Some(_) => {}
            None => self.outside = true,
        }
    }

    /// Makes one step and notes all it depends on.
    ///
    /// # Errors
    /// As for [`Simulator::step`].
    pub fn step(&mut self, simulator: &mut Simulator<'_>) -> Result<Effect, Outcome> {
        let action = simulator.next_action()?;
        for &tape in &simulator.table.looked_at[simulator.state.index()] {
            self.look(simulator, tape);
        }
        for &(tape, _) in &simulator.table.actions[action as usize].writes {
            self.look(simulator, TapeId::new(tape));
        }
        Trace::note(&mut self.traces, &simulator.table.actions[action as usize].moves);
        Ok(simulator.act(action))
    }

    /// The steps as one record; `None` if there are none, they look at cells far away or move a head far, or there are very many tapes
    /// or more than two symbols.
    pub fn finish(self, simulator: &Simulator<'_>) -> Option<RecordedSteps> {
        let steps = NonZeroU32::new(u32::try_from(simulator.steps - self.since).ok()?)?;
        if self.outside
            || self.traces.len() > MAX_TAPES
            || simulator.machine.tapes().iter().any(|tape| tape.alphabet.len() > 2)
        {
            return None;
        }
        let mut parts = Vec::new();
        for (tape, &[mut looked_at, ones]) in self.looked_at.iter().enumerate() {
            while looked_at != 0 {
                let first = looked_at.trailing_zeros();
                let offset = Cell::from(first) - MARGIN;
                let mask = (looked_at >> first) as u16;
                let found = (ones >> first) as u16 & mask;
                let left = |cell: u32| {
                    let cell_there = self.heads[tape] + offset + Cell::from(cell);
                    u16::from(simulator.tapes[tape].read(cell_there).0) << cell
                };
                let changed = (found ^ (0..WIDTH).fold(0, |now, cell| now | left(cell))) & mask;
                parts.push(Part { tape: tape as u8, offset: offset as i8, mask, found, changed });
                looked_at &= !(u128::from(u16::MAX) << first);
            }
        }
        parts.sort_by_key(|part| part.changed == 0);
        let n_changing = parts.iter().filter(|part| part.changed != 0).count();
        let mut inline = [Part::default(); N_INLINE];
        inline.iter_mut().zip(&parts).for_each(|(inline, part)| *inline = *part);
        let mut rest = None;
        if parts.len() > N_INLINE || self.traces.len() > GROUP {
            let (parts, ways) = (parts.split_off(N_INLINE.min(parts.len())), Ways::of(&self.traces, GROUP)?);
            rest = Some(Box::new(Rest { parts, ways }));
        }
        Some(RecordedSteps {
            from: self.from,
            to: simulator.state,
            steps,
            n_parts: parts.len() as u8,
            n_changing: n_changing.min(N_INLINE) as u8,
            parts: inline,
            ways: Ways::of(&self.traces, 0)?,
            rest,
        })
    }
}

impl Simulator<'_> {
    /// Repeats recorded steps in turn for as long as they are the next ones of the machine, at most 65,536 records at once, and counts the
    /// records. `next` is told how many were repeated and how many steps the machine has made; `made` hears of each.
    pub fn repeat<'p, T: AsRef<RecordedSteps> + 'p>(
        &mut self,
        next: impl Fn(usize, Step) -> Option<&'p T>,
        mut made: impl FnMut(&'p T),
    ) -> usize {
        let mut n_made = 0;
        while self.pack() && self.repeat_held(&next, &mut made, &mut n_made) && self.make_room() {}
        n_made
    }

    /// The same as far as all cells are held; whether others come next.
    fn repeat_held<'p, T: AsRef<RecordedSteps> + 'p>(
        &mut self,
        next: &impl Fn(usize, Step) -> Option<&'p T>,
        made: &mut impl FnMut(&'p T),
        n_made: &mut usize,
    ) -> bool {
        let Some(mut heads) = Heads::of(self) else { return false };
        let (mut state, mut steps) = (self.state, self.steps);
        let mut tapes = self.tapes.iter_mut();
        let mut rows: [&mut [u8]; MAX_TAPES] =
            array::from_fn(|_| tapes.next().map_or(&mut [][..], |tape| &mut tape.cells));
        let not_held = loop {
            let Some(one) = next(*n_made, steps).filter(|_| *n_made < MOST_AT_ONCE) else { break false };
            let recorded = one.as_ref();
            if state != recorded.from {
                break false;
            }
            match recorded.finds(&rows, &heads.at) {
                Some(true) => {}
                differs => break differs.is_none(),
            }
            recorded.change(&mut rows, &heads.at);
            heads.go::<0>(&recorded.ways);
            if let Some(rest) = &recorded.rest {
                heads.go::<GROUP>(&rest.ways);
            }
            (state, steps) = (recorded.to, steps + recorded.steps());
            *n_made += 1;
            made(one);
        };
        (self.state, self.steps) = (state, steps);
        for (i, tape) in self.tapes.iter().enumerate() {
            let cell = |at: i32| tape.extent().start + Cell::from(at);
            self.heads[i] = cell(heads.at[i]);
            self.visited[i] = (cell(heads.lowest[i]), cell(heads.highest[i]));
        }
        not_held
    }

    /// Moves the heads and goes to a state, as so many steps do.
    pub(super) fn advance(&mut self, to: StateId, steps: Step, traces: &[Trace]) {
        for &Trace { tape, moved, low, high } in traces {
            let head = &mut self.heads[tape as usize];
            let visited = &mut self.visited[tape as usize];
            *visited = (visited.0.min(*head + Cell::from(low)), visited.1.max(*head + Cell::from(high)));
            *head += Cell::from(moved);
        }
        self.state = to;
        self.steps += steps;
    }

    /// Holds cells on either side of every head; `false` if they were held before.
    #[cold]
    fn make_room(&mut self) -> bool {
        let mut grown = false;
        for (tape, &head) in self.tapes.iter_mut().zip(&self.heads) {
            let before = tape.extent();
            tape.hold(head - HELD);
            tape.hold(head + HELD);
            grown |= tape.extent() != before;
        }
        grown
    }
}
