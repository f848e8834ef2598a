//! Compares a fast engine with the simulator.

use luge_landscape::{Control, Undecodable};
use luge_machine::{
    Bits, Cell, Effect, Input, Machine, RecordedSteps, Recording, Simulator, SymbolId, TapeId,
};
use luge_train::{Engine, MacrostepId, MacrostepSteps, Situation, StepDelta, Surroundings};

use crate::run::{
    lockstep::Mismatch,
    situations::{Piece, Situations},
};

/// The simulator beside an engine that keeps only what is not zero: what a step can change is compared after every step,
/// and everything when asked.
///
/// Cells that no head was on are the same as before on both sides, so comparing the cells that were just left, the heads
/// and the vertex at every step, and all cells once, compares every configuration.
pub struct StepChecker<'m> {
    simulator: Simulator<'m>,
    control: &'m Control,
    /// How many copies of a state there are, visited in turn.
    n_copies: u64,
    /// The machine's cell that the network's first column stands for, per tape.
    first: Vec<Cell>,
    /// Where the heads were before the last step.
    left: Vec<Cell>,
    /// How many cells the input fills, per tape.
    filled: Vec<Cell>,
    /// The macrosteps that were followed step by step.
    followed: Vec<Option<Followed>>,
    /// The situations that the machine was in; `None` once steps were made without looking at them.
    situations: Option<Situations>,
}

/// A macrostep whose steps were found to be the machine's. Aligned to cache lines, because macrosteps come in no order.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Followed {
    /// The machine's own steps, with all they depend on.
    recorded: RecordedSteps,
    piece: Piece,
}

impl AsRef<RecordedSteps> for Followed {
    fn as_ref(&self) -> &RecordedSteps {
        &self.recorded
    }
}

impl<'m> StepChecker<'m> {
    /// A machine with two symbols per tape at the start of its run.
    #[must_use]
    pub fn new(machine: &'m Machine, input: &Input, control: &'m Control, first: Vec<Cell>) -> Self {
        let mut simulator = Simulator::new(machine, input);
        simulator.pack();
        let left = machine.tape_ids().map(|tape| simulator.head(tape)).collect();
        let filled =
            |tape: TapeId| input.tapes.get(tape.index()).map_or(0, |laid| laid.symbols.len() as Cell);
        let filled = machine.tape_ids().map(filled).collect();
        let n_copies = (control.n_copied_states() / machine.states().len()) as u64;
        let followed = Vec::new();
        let mut checker =
            Self { simulator, control, n_copies, first, left, filled, followed, situations: None };
        checker.situations = Some(Situations::new(checker.vertex(), 0));
        checker
    }

    /// The same beside training that makes so many steps before the machine's first.
    pub(crate) fn after(mut self, extra_steps: u64) -> Self {
        self.situations = Some(Situations::new(self.vertex(), extra_steps));
        self
    }

    /// The vertex that stands for the machine's state and the symbols it sees.
    pub(crate) fn vertex(&self) -> usize {
        vertex_of(self.control, &self.simulator)
    }

    /// The simulator.
    #[must_use]
    pub fn simulator(&self) -> &Simulator<'m> {
        &self.simulator
    }

    /// The simulator, and the situations it was in; `None` if not every step was looked at.
    pub(crate) fn into_situations(mut self) -> (Simulator<'m>, Option<Situations>) {
        let vertex = self.vertex();
        let mut situations = self.situations.take();
        if let Some(situations) = &mut situations {
            situations.arrive(vertex as u32);
        }
        (self.simulator, situations)
    }

    /// The digest of all vertices visited so far, if every step was looked at and the machine is beside training, `extra` steps behind.
    pub(crate) fn path(&self, steps: u64, extra: u64) -> Option<u64> {
        let situations = self.situations.as_ref().filter(|_| self.simulator.steps() + extra == steps)?;
        Some(situations.path(self.vertex()))
    }

    /// What the steps reported contradict each other in.
    pub(crate) fn contradiction(&self) -> Option<&str> {
        self.situations.as_ref().and_then(Situations::contradiction)
    }

    /// The most cells of a tape that the heads have visited or the input fills.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        let span = |tape: TapeId| {
            let (low, high) = self.simulator.visited(tape);
            let filled = self.filled[tape.index()];
            let (low, high) = if filled > 0 { (low.min(0), high.max(filled - 1)) } else { (low, high) };
            usize::try_from(high - low + 1).unwrap_or(usize::MAX)
        };
        self.simulator.machine().tape_ids().map(span).max().unwrap_or(0)
    }

    /// Cells of all tapes that the machine holds.
    pub(crate) fn n_tape_cells(&self) -> u64 {
        let extent = |tape: TapeId| self.simulator.tape(tape).extent();
        self.simulator.machine().tape_ids().map(|tape| extent(tape).end.abs_diff(extent(tape).start)).sum()
    }

    /// Brings the machine to a step, or as far as it goes. After more than one step at once only
    /// [`compare_all`](Self::compare_all) sees all that has changed.
    pub fn go_to(&mut self, step: luge_machine::Step) {
        self.advance(step, None);
    }

    /// As [`go_to`](Self::go_to), where `loss` was reported before a single step.
    pub(crate) fn advance(&mut self, step: luge_machine::Step, loss: Option<f64>) {
        let single = step == self.simulator.steps() + 1;
        while step > self.simulator.steps() && self.simulator.stopped().is_none() {
            self.note_heads();
            // The outcome is asked for elsewhere.
            let place = self.place();
            if self.step_noting(place, loss.filter(|_| single), Simulator::step_noting).is_none() {
                break;
            }
        }
    }

    /// Where the heads were in the network's columns before a step that the machine makes now, ahead of training, if it is in a situation
    /// that was not met before.
    pub(crate) fn goes_ahead(&mut self, step: luge_machine::Step, loss: Option<f64>) -> Option<Vec<i64>> {
        self.advance(step, loss);
        let vertex = self.vertex() as u32;
        let new = self.situations.as_mut().is_some_and(|situations| situations.arrive(vertex));
        new.then(|| self.left.iter().zip(&self.first).map(|(left, first)| left - first).collect())
    }

    /// Notes the weights before and after that step.
    pub(crate) fn keep_weights(&mut self, before: Surroundings, after: Surroundings) {
        self.situations.iter_mut().for_each(|met| met.keep_weights(before.clone(), after.clone()));
    }

    /// Brings the machine to a step, or as far as it goes, without a look at its steps.
    pub(crate) fn jump_to(&mut self, step: luge_machine::Step) {
        if step > self.simulator.steps() {
            self.situations = None;
            let _ = self.simulator.run(step);
            self.simulator.pack();
            self.note_heads();
        }
    }

    /// Makes one step of the machine from its place and notes its situation; `None` if the machine has stopped.
    fn step_noting(
        &mut self,
        (block, reads): (usize, u32),
        loss: Option<f64>,
        step: impl FnOnce(&mut Simulator<'m>) -> Result<Effect, luge_machine::Outcome>,
    ) -> Option<(Effect, Option<u32>)> {
        if self.situations.is_none() {
            return step(&mut self.simulator).ok().map(|effect| (effect, None));
        }
        let table = self.control.table();
        let vertex = table.vertex(block, reads);
        let seen = table.looks_at(block);
        let unseen = table.column(vertex).map_or(0, |column| column.put) & !seen;
        let here = (seen | unseen, reads | self.reads(unseen));
        let effect = step(&mut self.simulator).ok()?;
        let mask = |bits: u64| bits as u32;
        let situation = Situation {
            vertex: vertex as u32,
            to: 0,
            here,
            ahead: (seen, self.reads(seen)),
            left: mask(effect.left),
            right: mask(effect.right),
            flipped: mask(effect.changed),
        };
        let place = self.situations.as_mut().map(|situations| situations.step(&situation, loss));
        Some((effect, place))
    }

    /// Makes the machine's step beside one of training, and holds what each has changed to the other: state, symbols that the vertex
    /// knows, heads, and the cells under them. A machine that has stopped changes nothing.
    ///
    /// # Errors
    /// The first difference.
    pub fn check_step(&mut self, change: &StepDelta) -> Result<(), Mismatch> {
        self.note_heads();
        let made = self.step_noting(self.place(), Some(change.loss), Simulator::step_noting);
        let effect = made.map(|(effect, _)| effect).unwrap_or_default();
        let (block, reads) = self.place();
        if change.vertex == self.control.table().vertex(block, reads) && same(change, &effect) {
            return Ok(());
        }
        Err(self.difference(change, &effect, (block, reads)))
    }

    /// Makes the machine's steps beside macrosteps that were followed before, for as long as they are the same ones again; beside how many.
    pub(crate) fn pass(&mut self, macrosteps: &[MacrostepId]) -> usize {
        let Self { simulator, control, followed, situations, n_copies, .. } = self;
        let next = |n: usize, steps| {
            let followed = followed.get(macrosteps.get(n)?.index())?.as_ref()?;
            let copy = || control.copy_of(followed.piece.from as usize).0 as u64;
            (*n_copies == 1 || steps % *n_copies == copy()).then_some(followed)
        };
        let made = |followed: &Followed| {
            if let Some(situations) = situations {
                situations.pass(followed.recorded.steps(), &followed.piece);
            }
        };
        simulator.repeat(next, made)
    }

    /// Makes the machine's steps beside a macrostep one by one, holds each to it as [`check_step`](Self::check_step) does, and remembers
    /// them: wherever the machine is in the same state and finds the same symbols again, its steps are the same.
    ///
    /// # Errors
    /// The first iterate of the macrostep that is not the machine's, and in what it differs.
    pub(crate) fn follow(
        &mut self,
        macrostep: MacrostepId,
        steps: &MacrostepSteps,
    ) -> Result<(), (u64, Mismatch)> {
        let table = self.control.table();
        let mut recording = Recording::new(&self.simulator);
        let (block, reads) = self.place();
        let still = StepDelta { vertex: steps.from, ..StepDelta::default() };
        if steps.from != table.vertex(block, reads) {
            return Err((0, self.difference(&still, &Effect::default(), (block, reads))));
        }
        let (mut piece, mut here) = (None, (block, reads));
        for (change, at) in steps.changes.iter().zip(1..) {
            // A step's situation depends on what its state sees, before the step and after it.
            let before = here;
            let seen = || luge_net::tracks(table.looks_at(before.0)).map(TapeId::new);
            seen().for_each(|tape| recording.look(&self.simulator, tape));
            let made = self.step_noting(before, Some(change.loss), |simulator| recording.step(simulator));
            let (effect, place) = made.unwrap_or_default();
            seen().for_each(|tape| recording.look(&self.simulator, tape));
            let vertex = table.vertex(before.0, before.1) as u32;
            piece = Some(Piece::and(piece, vertex, place.unwrap_or(0)));
            here = self.place();
            let last = at == steps.changes.len() as u64;
            let there = match last {
                // Which vertex of the block it is, is compared when the next macrostep begins there.
                true => table.block(change.vertex) == here.0,
                false => change.vertex == table.vertex(here.0, here.1),
            };
            if last || !there || !same(change, &effect) {
                self.note_heads_before(&effect);
            }
            if !there || !same(change, &effect) {
                return Err((at, self.difference(change, &effect, here)));
            }
        }
        let Some((recorded, piece)) = recording.finish(&self.simulator).zip(piece) else { return Ok(()) };
        if self.followed.len() <= macrostep.index() {
            self.followed.resize(macrostep.index() + 1, None);
        }
        self.followed[macrostep.index()] = Some(Followed { recorded, piece });
        Ok(())
    }

    /// Which copy of its state the machine is in.
    fn copy(&self) -> usize {
        (self.simulator.steps() % self.n_copies) as usize
    }

    /// The network's block for the machine's state, and the symbols that its vertices know.
    fn place(&self) -> (usize, u32) {
        let block = self.simulator.state().index() * self.n_copies as usize + self.copy();
        (block, self.reads(self.control.table().looks_at(block)))
    }

    /// The symbols under the heads of some tapes.
    fn reads(&self, tapes: u32) -> u32 {
        luge_net::tracks(tapes).fold(0, |reads, tape| {
            let id = TapeId::new(tape);
            reads | u32::from(self.simulator.tape(id).read(self.simulator.head(id)) == SymbolId(1)) << tape
        })
    }

    /// In what a step of training differs from the machine's.
    #[cold]
    fn difference(&self, change: &StepDelta, effect: &Effect, (block, reads): (usize, u32)) -> Mismatch {
        let found = self.control.state(change.vertex);
        if found != self.simulator.state() {
            let name = |state| self.simulator.machine().state(state).name.clone();
            return Mismatch::State { found: name(found), expected: name(self.simulator.state()) };
        }
        let (copy, n_copies) = self.control.copy_of(change.vertex);
        if copy != block % n_copies {
            return Mismatch::Copy { found: copy, expected: block % n_copies };
        }
        for (tape, &first) in self.first.iter().enumerate() {
            let bit = |mask: u64| i64::from(mask >> tape & 1 == 1);
            let found = bit(change.right.into()) - bit(change.left.into());
            let made = bit(effect.right) - bit(effect.left);
            let expected = self.simulator.head(TapeId::new(tape)) - first;
            if found != made {
                return Mismatch::Head { tape, found: expected - made + found, expected };
            }
            if bit(change.flipped.into()) != bit(effect.changed) {
                return Mismatch::Cell { tape, cell: self.left[tape] - first };
            }
        }
        let tape = self.control.differs(change.vertex, Bits(reads)).unwrap_or(0);
        Undecodable::Symbol(tape).into()
    }

    fn note_heads(&mut self) {
        for (tape, left) in self.left.iter_mut().enumerate() {
            *left = self.simulator.head(TapeId::new(tape));
        }
    }

    /// The same after the step, which has done this.
    fn note_heads_before(&mut self, effect: &Effect) {
        self.note_heads();
        for (tape, left) in self.left.iter_mut().enumerate() {
            *left += (effect.left >> tape & 1) as Cell - (effect.right >> tape & 1) as Cell;
        }
    }

    /// Whether vertex, heads and the cells last left are the machine's.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare<T: Engine + ?Sized>(&self, engine: &T) -> Result<(), Mismatch> {
        let vertex = engine.vertex();
        let vertex = vertex.ok_or(Undecodable::Vertex { index: 0, value: f64::NAN })?;
        let state = self.control.state(vertex);
        if state != self.simulator.state() {
            let name = |state| self.simulator.machine().state(state).name.clone();
            return Err(Mismatch::State { found: name(state), expected: name(self.simulator.state()) });
        }
        let ((found, _), expected) = (self.control.copy_of(vertex), self.copy());
        if found != expected {
            return Err(Mismatch::Copy { found, expected });
        }
        let mut reads = Bits(0);
        for (tape, (&first, &left)) in self.first.iter().zip(&self.left).enumerate() {
            let id = TapeId::new(tape);
            let expected = self.simulator.head(id) - first;
            let found = engine.head(tape);
            let found = found.ok_or(Undecodable::Head { tape, cell: 0, value: f64::NAN })?;
            if found != expected {
                return Err(Mismatch::Head { tape, found, expected });
            }
            reads = reads.with(tape, self.simulator.tape(id).read(expected + first) == SymbolId(1));
            self.compare_cell(engine, tape, left)?;
        }
        match self.control.differs(vertex, reads) {
            Some(tape) => Err(Undecodable::Symbol(tape).into()),
            None => Ok(()),
        }
    }

    /// As [`compare`](Self::compare), and all cells that either side has touched.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare_all<T: Engine + ?Sized>(&self, engine: &T) -> Result<(), Mismatch> {
        self.compare(engine)?;
        for (tape, &first) in self.first.iter().enumerate() {
            let kept = engine.stored_cells(tape);
            let extent = self.simulator.tape(TapeId::new(tape)).extent();
            let (mut cell, end) =
                ((kept.start + first).min(extent.start), (kept.end + first).max(extent.end));
            let packed = engine.packed_cells(tape);
            while cell < end {
                let n_same = packed.map_or(0, |packed| self.n_same(packed, tape, cell));
                if n_same == 0 {
                    self.compare_cell(engine, tape, cell)?;
                }
                cell += n_same.max(1);
            }
        }
        Ok(())
    }

    /// How many cells from one on are found to be the same, many at a time: those that the machine holds, or blank ones.
    fn n_same(&self, (kept, packed): (Cell, &[u8]), tape: usize, cell: Cell) -> Cell {
        let at = usize::try_from(cell - self.first[tape] - kept).ok().filter(|at| at.is_multiple_of(8));
        let packed = at.and_then(|at| packed.get(at / 8..)).unwrap_or_default();
        let tape = self.simulator.tape(TapeId::new(tape));
        let (held, bit) = tape.packed_from(cell);
        let (theirs, ours) = (packed.as_chunks::<8>().0, held.as_chunks::<8>().0);
        let n_words = if held.is_empty() {
            let blank = if tape.read(cell) == SymbolId(1) { u8::MAX } else { 0 };
            let before =
                usize::try_from(tape.extent().start - cell).map_or(usize::MAX, |n_cells| n_cells / 64);
            theirs.iter().take(before).take_while(|word| **word == [blank; 8]).count()
        } else {
            let word = |eight: &[u8; 8]| u64::from_le_bytes(*eight);
            let pairs = ours.iter().zip(ours.iter().skip(1));
            let turned = pairs.map(|(low, high)| word(low) >> bit | word(high) << 1 << (63 - bit));
            theirs.iter().zip(turned).take_while(|(theirs, ours)| word(theirs) == *ours).count()
        };
        64 * n_words as Cell
    }

    fn compare_cell<T: Engine + ?Sized>(&self, engine: &T, tape: usize, cell: Cell) -> Result<(), Mismatch> {
        let value = engine.cell(tape, cell - self.first[tape]);
        if value.is_nan() || value.abs() <= 0.5 {
            let cell = usize::try_from(cell - self.first[tape]).unwrap_or(0);
            return Err(Undecodable::Cell { tape, cell, value }.into());
        }
        if (value > 0.0) != (self.simulator.tape(TapeId::new(tape)).read(cell) == SymbolId(1)) {
            return Err(Mismatch::Cell { tape, cell: cell - self.first[tape] });
        }
        Ok(())
    }
}

/// The vertex that stands for a machine's state and the symbols it sees.
pub(crate) fn vertex_of(control: &Control, simulator: &Simulator<'_>) -> usize {
    let machine = simulator.machine();
    let n_copies = control.n_copied_states() / machine.states().len();
    let copy = (simulator.steps() % n_copies as u64) as usize;
    let reads = machine.tape_ids().fold(Bits(0), |reads, tape| {
        reads.with(tape.index(), simulator.tape(tape).read(simulator.head(tape)) == SymbolId(1))
    });
    control.vertex_at(simulator.state().index() * n_copies + copy, reads)
}

/// Whether a step of training moved the same heads and changed the same cells as the machine's.
fn same(change: &StepDelta, effect: &Effect) -> bool {
    let &StepDelta { left, right, flipped, .. } = change;
    (u64::from(left), u64::from(right), u64::from(flipped)) == (effect.left, effect.right, effect.changed)
}
