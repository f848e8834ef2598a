//! A few states of a large machine. Between their vertices, the loss equals that of the whole landscape.
//!
//! Along an edge only the gates of its two ends are open, and the row of a gate depends only on the rule of its own
//! state. So a machine that has the states nearby, and one state in place of all others, has the same loss there, and
//! its landscape is small enough to be built at once.

use luge_landscape::{Control, Landscape};
use luge_machine::{Machine, Move, NormalForm, Pattern, StateId, Write};

use super::Scene;

/// The most states besides that of the vertex.
const MAX_STATES: usize = 3;

pub(super) struct Neighbourhood {
    pub(super) landscape: Landscape,
    /// The states of the whole machine in the order of this one; one more state represents all others.
    states: Vec<StateId>,
}

impl Neighbourhood {
    /// The states around a vertex of the whole machine.
    pub(super) fn of(scene: &Scene<'_>, control: &Control, vertex: usize) -> Option<Self> {
        let whole = scene.lowered.normal.machine();
        let here = control.at(vertex);
        let n_copies = control.n_copied_states() / whole.states().len();
        let mut states = vec![here.state];
        let follows = here.step.map(|step| StateId::new(step.next / n_copies));
        let others = whole.rules(here.state).iter().map(|rule| rule.next);
        for state in follows.into_iter().chain(others) {
            if !states.contains(&state) && states.len() <= MAX_STATES {
                states.push(state);
            }
        }
        let normal = NormalForm::new(restricted(whole, &states)?).ok()?;
        Some(Self { landscape: scene.landscape_of(&normal)?, states })
    }

    /// The vertex of this machine for one of the whole machine.
    pub(super) fn inside(&self, control: &Control, vertex: usize) -> Option<usize> {
        let at = control.at(vertex);
        let state = self.states.iter().position(|&state| state == at.state)?;
        let own = self.landscape.control()?;
        let n_copies = own.n_copied_states() / (self.states.len() + 1);
        Some(own.vertex_at(state * n_copies + at.copy, at.reads))
    }

    /// The vertex of the whole machine for one of this machine; `None` if it represents several.
    pub(super) fn outside(&self, control: &Control, vertex: usize) -> Option<usize> {
        let at = self.landscape.control()?.at(vertex);
        let state = self.states.get(at.state.index())?;
        let n_copies = self.landscape.control()?.n_copied_states() / (self.states.len() + 1);
        Some(control.vertex_at(state.index() * n_copies + at.copy, at.reads))
    }

    /// The state of this machine for one of the whole machine.
    pub(super) fn state(&self, state: StateId) -> Option<StateId> {
        self.states.iter().position(|&one| one == state).map(StateId::new)
    }
}

/// The machine with these states and one for all others.
fn restricted(whole: &Machine, states: &[StateId]) -> Option<Machine> {
    let mut b = Machine::builder();
    for tape in whole.tapes() {
        b.tape_with(tape.name.clone(), tape.alphabet.clone(), tape.access);
    }
    let ids: Vec<StateId> = states.iter().map(|&s| b.push_state(whole.state(s).name.clone())).collect();
    let elsewhere = b.push_state("(elsewhere)".to_owned());
    let n_tapes = whole.n_tapes();
    for (&state, &id) in states.iter().zip(&ids) {
        if let Some(accepting) = whole.halting(state) {
            b.halt_in(id, accepting);
        }
        for rule in whole.rules(state) {
            let next = states.iter().position(|&s| s == rule.next).map_or(elsewhere, |i| ids[i]);
            b.rule(id, rule.reads.clone(), rule.writes.clone(), rule.moves.clone(), next);
        }
    }
    let all = |pattern| vec![pattern; n_tapes];
    b.rule(elsewhere, all(Pattern::Any), vec![Write::Keep; n_tapes], vec![Move::Stay; n_tapes], elsewhere);
    b.start(elsewhere).missing(whole.missing());
    b.build().ok()
}
