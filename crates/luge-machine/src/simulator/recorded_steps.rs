//! Recorded steps, repeated at once wherever the same cells hold the same symbols.
//!
//! A machine's steps follow from its state and the symbols it reads. So steps that were made one by one, with every
//! symbol they read or overwrote, are repeated exactly wherever that state finds the same symbols.

use std::collections::BTreeMap;

use super::{Effect, Outcome, Simulator};
use crate::{Cell, StateId, Step, TapeId, Write};

/// Cells that one comparison looks at.
const WIDTH: usize = 16;
/// Cells that are held on either side of a head before passages are made.
const MARGIN: Cell = 64;

/// Some steps, with all they depend on and all they change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedSteps {
    from: StateId,
    to: StateId,
    steps: Step,
    windows: Vec<Window>,
    traces: Vec<Trace>,
}

/// Cells of one tape, counted from where its head is first, a byte each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    mask: u128,
    found: u128,
    /// What is found and what is left behind, as far as they differ.
    changed: u128,
    tape: u32,
    offset: i32,
}

/// Where a head goes: in the end, and on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trace {
    tape: u32,
    moved: i32,
    low: i32,
    high: i32,
}

impl Trace {
    /// The heads of all tapes before they move.
    pub(super) fn start(simulator: &Simulator<'_>) -> Vec<Self> {
        let trace = |tape: TapeId| Self { tape: tape.index() as u32, moved: 0, low: 0, high: 0 };
        simulator.machine.tape_ids().map(trace).collect()
    }

    /// Notes where the heads have come from the cells in `from`.
    pub(super) fn note(traces: &mut [Self], simulator: &Simulator<'_>, from: &[Cell]) {
        for (trace, (head, from)) in traces.iter_mut().zip(simulator.heads.iter().zip(from)) {
            trace.moved = (head - from) as i32;
            (trace.low, trace.high) = (trace.low.min(trace.moved), trace.high.max(trace.moved));
        }
    }

    /// The traces of the heads that move.
    pub(super) fn moving(traces: Vec<Self>) -> Vec<Self> {
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
    /// What was found in a cell first, by tape and offset.
    found: BTreeMap<(usize, Cell), u8>,
}

impl Recording {
    /// Nothing yet.
    pub fn new(simulator: &Simulator<'_>) -> Self {
        Self {
            from: simulator.state,
            since: simulator.steps,
            heads: simulator.heads.clone(),
            traces: Trace::start(simulator),
            found: BTreeMap::new(),
        }
    }

    /// Notes that the steps depend on the cell under a head.
    pub fn look(&mut self, simulator: &Simulator<'_>, tape: TapeId) {
        let cell = simulator.head(tape);
        let offset = cell - self.heads[tape.index()];
        self.found.entry((tape.index(), offset)).or_insert_with(|| simulator.tape(tape).read(cell).0);
    }

    /// Makes one step and notes all it depends on.
    ///
    /// # Errors
    /// As for [`Simulator::step`].
    pub fn step(&mut self, simulator: &mut Simulator<'_>) -> Result<Effect, Outcome> {
        let machine = simulator.machine;
        for tape in machine.looked_at(simulator.state) {
            self.look(simulator, tape);
        }
        if let Some(rule) = machine.rule_for(simulator.state, &simulator.reads()) {
            for (tape, write) in machine.tape_ids().zip(&rule.writes) {
                if *write != Write::Keep {
                    self.look(simulator, tape);
                }
            }
        }
        let effect = simulator.step_noting()?;
        Trace::note(&mut self.traces, simulator, &self.heads);
        Ok(effect)
    }

    /// The steps as one passage.
    pub fn finish(self, simulator: &Simulator<'_>) -> RecordedSteps {
        let mut windows: Vec<Window> = Vec::new();
        for (&(tape, offset), &found) in &self.found {
            let now = simulator.tapes[tape].read(self.heads[tape] + offset).0;
            let (tape, offset) = (tape as u32, offset as i32);
            let near = |window: &&mut Window| window.tape == tape && offset - window.offset < WIDTH as i32;
            if windows.last_mut().filter(near).is_none() {
                windows.push(Window { mask: 0, found: 0, changed: 0, tape, offset });
            }
            let Some(window) = windows.last_mut() else { continue };
            let shift = 8 * (offset - window.offset);
            window.mask |= 0xff << shift;
            window.found |= u128::from(found) << shift;
            window.changed |= u128::from(found ^ now) << shift;
        }
        let steps = simulator.steps - self.since;
        let traces = Trace::moving(self.traces);
        RecordedSteps { from: self.from, to: simulator.state, steps, windows, traces }
    }
}

impl Simulator<'_> {
    /// Makes the steps of a passage if they are the next ones; `false`, and no step, if they are not.
    pub fn pass(&mut self, passage: &RecordedSteps) -> bool {
        if self.state != passage.from {
            return false;
        }
        for window in &passage.windows {
            let Some(found) = self.window(window) else { return self.make_room() && self.pass(passage) };
            if (u128::from_le_bytes(*found) ^ window.found) & window.mask != 0 {
                return false;
            }
        }
        for window in passage.windows.iter().filter(|window| window.changed != 0) {
            if let Some(found) = self.window(window) {
                *found = (u128::from_le_bytes(*found) ^ window.changed).to_le_bytes();
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
    fn window(&mut self, window: &Window) -> Option<&mut [u8; WIDTH]> {
        let tape = &mut self.tapes[window.tape as usize];
        let cell = self.heads[window.tape as usize] + Cell::from(window.offset);
        let index = usize::try_from(cell - tape.extent().start).ok()?;
        tape.bytes_mut().get_mut(index..)?.first_chunk_mut()
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
