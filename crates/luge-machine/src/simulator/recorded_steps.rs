//! Recorded steps, repeated at once wherever the same cells hold the same symbols.
//!
//! A machine's steps follow from its state and the symbols it reads. So steps that were made one by one, with every
//! symbol they read or overwrote, are repeated exactly wherever that state finds the same symbols.

use super::{Effect, Outcome, Simulator};
use crate::{Cell, StateId, Step, SymbolId, TapeId};

/// Cells that one comparison looks at.
const WIDTH: usize = 16;
/// Cells that are held on either side of a head before passages are made; recorded steps look no farther.
const MARGIN: Cell = 64;

/// Some steps of a machine with two symbols, with all they depend on and all they change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedSteps {
    from: StateId,
    to: StateId,
    steps: Step,
    reads: Box<[Read]>,
    writes: Box<[Written]>,
    traces: Box<[Trace]>,
}

/// Cells of one tape that steps depend on, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Read {
    at: Place,
    mask: u16,
    found: u16,
}

/// The cells of one tape in which another symbol is left than was found, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Written {
    at: Place,
    changed: u16,
}

/// The first of some cells in a row, counted from where the head is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    tape: u16,
    offset: i16,
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

    /// Notes where the heads have come from the cells in `from`.
    pub(super) fn note(traces: &mut [Self], simulator: &Simulator<'_>, from: &[Cell]) {
        for (trace, (head, from)) in traces.iter_mut().zip(simulator.heads.iter().zip(from)) {
            trace.moved = (head - from) as i16;
            (trace.low, trace.high) = (trace.low.min(trace.moved), trace.high.max(trace.moved));
        }
    }

    /// The traces of the heads that move.
    pub(super) fn moving(traces: Vec<Self>) -> Box<[Self]> {
        traces.into_iter().filter(|trace| trace.low != trace.high).collect()
    }
}

impl RecordedSteps {
    /// Steps that it takes.
    pub fn steps(&self) -> Step {
        self.steps
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
        for &tape in simulator.table.looked_at(simulator.state) {
            self.look(simulator, tape);
        }
        for &(tape, _) in &simulator.table.action(action).writes {
            self.look(simulator, TapeId::new(tape));
        }
        let effect = simulator.act(action);
        Trace::note(&mut self.traces, simulator, &self.heads);
        Ok(effect)
    }

    /// The steps as one passage; `None` if they look at cells far away, are so many that heads may be farther away than a trace can say,
    /// or there are more than two symbols.
    pub fn finish(self, simulator: &Simulator<'_>) -> Option<RecordedSteps> {
        let steps = simulator.steps - self.since;
        let too_many = i16::try_from(steps).is_err();
        if self.outside || too_many || simulator.machine.tapes().iter().any(|tape| tape.alphabet.len() > 2) {
            return None;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (tape, &[mut looked_at, ones]) in self.looked_at.iter().enumerate() {
            while looked_at != 0 {
                let first = looked_at.trailing_zeros();
                let offset = i64::from(first) - MARGIN;
                let at = Place { tape: tape as u16, offset: offset as i16 };
                let (mask, found) = ((looked_at >> first) as u16, (ones >> first) as u16);
                let left = |cell: usize| {
                    let SymbolId(left) = simulator.tapes[tape].read(self.heads[tape] + offset + cell as Cell);
                    u16::from(left) << cell
                };
                let now = (0..WIDTH).fold(0, |now, cell| now | left(cell));
                reads.push(Read { at, mask, found });
                let changed = (found ^ now) & mask;
                writes.extend((changed != 0).then_some(Written { at, changed }));
                looked_at &= !(u128::from(u16::MAX) << first);
            }
        }
        Some(RecordedSteps {
            from: self.from,
            to: simulator.state,
            steps,
            reads: reads.into(),
            writes: writes.into(),
            traces: Trace::moving(self.traces),
        })
    }
}

/// Whether each of sixteen cells holds the second symbol.
#[inline]
fn bits(cells: [u8; WIDTH]) -> u16 {
    // The product gathers the lowest bits of the bytes in its highest byte.
    let gather = |eight: u64| eight.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let both = u128::from_le_bytes(cells);
    (gather(both as u64) | gather((both >> 64) as u64) << 8) as u16
}

/// Ones in the cells whose bits are set.
#[inline]
fn spread(bits: u16) -> [u8; WIDTH] {
    std::array::from_fn(|cell| (bits >> cell & 1) as u8)
}

impl Simulator<'_> {
    /// Makes the steps of a passage if they are the next ones; `false`, and no step, if they are not.
    pub fn pass(&mut self, passage: &RecordedSteps) -> bool {
        if self.state != passage.from {
            return false;
        }
        for read in &passage.reads {
            let Some(found) = self.cells_at(read.at) else { return self.make_room() && self.pass(passage) };
            if (bits(*found) ^ read.found) & read.mask != 0 {
                return false;
            }
        }
        for written in &passage.writes {
            if let Some(found) = self.cells_at(written.at) {
                found.iter_mut().zip(spread(written.changed)).for_each(|(cell, one)| *cell ^= one);
            }
        }
        self.advance(passage.to, passage.steps, &passage.traces);
        true
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

    #[inline]
    fn cells_at(&mut self, Place { tape, offset }: Place) -> Option<&mut [u8; WIDTH]> {
        let tape_cells = self.tapes.get_mut(tape as usize)?;
        let cell = self.heads.get(tape as usize)? + Cell::from(offset);
        let index = cell.wrapping_sub(tape_cells.first()) as usize;
        tape_cells.bytes_mut().get_mut(index..)?.first_chunk_mut()
    }

    /// Holds cells on either side of every head; `false` if they were held before.
    #[cold]
    fn make_room(&mut self) -> bool {
        let mut grown = false;
        for (tape, &head) in self.tapes.iter_mut().zip(&self.heads) {
            let before = tape.extent();
            tape.hold(head - MARGIN);
            tape.hold(head + MARGIN);
            grown |= tape.extent() != before;
        }
        grown
    }
}
