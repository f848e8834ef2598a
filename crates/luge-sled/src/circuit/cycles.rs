//! Cycles: the logic of one control state, and its transitions.

use std::collections::BTreeMap;

use luge_circuit::{Builder, Literal, RegisterId};

use super::{Compiler, Full, MAX_DEPTH, Step, Word};

/// A control state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct StateId(usize);

impl StateId {
    pub(super) const ACCEPTED: Self = Self(0);
    pub(super) const REJECTED: Self = Self(1);
    const FIRST: Self = Self(2);
}

struct State {
    register: RegisterId,
    value: Literal,
    /// The conditions under which control enters it.
    entries: Vec<Literal>,
    /// The state that replaces it, if it does nothing.
    instead: Option<StateId>,
}

/// The one-hot state machine.
pub(super) struct States(Vec<State>);

impl States {
    pub(super) fn new(b: &mut Builder) -> Self {
        let mut states = Self(Vec::new());
        for (name, initial) in [("accepted", false), ("rejected", false), ("start", true)] {
            states.push(b, name.to_owned(), initial);
        }
        states
    }

    fn push(&mut self, b: &mut Builder, name: String, initial: bool) -> StateId {
        let register = b.register(name, initial);
        let value = b.value(register);
        self.0.push(State { register, value, entries: Vec::new(), instead: None });
        StateId(self.0.len() - 1)
    }

    pub(super) fn first(&self) -> (StateId, Literal) {
        (StateId::FIRST, self.value(StateId::FIRST))
    }

    pub(super) fn value(&self, state: StateId) -> Literal {
        self.0[state.0].value
    }

    pub(super) fn register(&self, state: StateId) -> RegisterId {
        self.0[state.0].register
    }

    /// The state itself, or the one that replaces it.
    fn resolved(&self, mut state: StateId) -> StateId {
        for _ in 0..self.0.len() {
            match self.0[state.0].instead {
                Some(other) => state = other,
                None => break,
            }
        }
        state
    }

    /// Sets the targets of all state registers, and returns the number of states in use.
    pub(super) fn drive(&self, b: &mut Builder) -> usize {
        let mut entries: Vec<Vec<Literal>> = vec![Vec::new(); self.0.len()];
        for (at, state) in self.0.iter().enumerate() {
            entries[self.resolved(StateId(at)).0].extend(&state.entries);
        }
        let mut n_states = 0;
        for (at, (state, mut entries)) in self.0.iter().zip(entries).enumerate() {
            n_states += usize::from(!entries.is_empty() || StateId(at) == StateId::FIRST);
            if StateId(at) <= StateId::REJECTED {
                entries.push(state.value);
            }
            let target = b.sum(entries);
            b.set(state.register, target);
        }
        n_states
    }
}

/// The assignments of a cycle: for each register a condition and a value.
type Assigned = BTreeMap<RegisterId, (Literal, Literal)>;

struct Exit {
    when: Literal,
    to: StateId,
    assigned: Assigned,
}

/// A cycle under construction.
#[derive(Clone)]
pub(super) struct Cycle {
    state: StateId,
    active: Literal,
    /// The condition under which control reaches this point of the cycle; false if it never does.
    pub(super) path: Literal,
    assigned: Assigned,
    exits: Vec<std::rc::Rc<Exit>>,
    rejects: Vec<Literal>,
    takes: bool,
}

impl Cycle {
    pub(super) fn at((state, active): (StateId, Literal)) -> Self {
        Self {
            state,
            active,
            path: Literal::TRUE,
            assigned: Assigned::new(),
            exits: Vec::new(),
            rejects: Vec::new(),
            takes: false,
        }
    }

    /// Whether it does nothing yet.
    pub(super) fn is_fresh(&self) -> bool {
        let nothing = self.assigned.is_empty() && self.exits.is_empty() && self.rejects.is_empty();
        nothing && !self.takes && self.path == Literal::TRUE
    }

    pub(super) fn is_dead(&self) -> bool {
        self.path == Literal::FALSE
    }
}

impl Compiler<'_> {
    pub(super) fn new_state(&mut self) -> StateId {
        let name = format!("state{}", self.states.0.len());
        self.states.push(&mut self.b, name, false)
    }

    /// The current value of a register.
    pub(super) fn read(&mut self, register: RegisterId) -> Literal {
        let before = self.b.value(register);
        match self.cycle.assigned.get(&register) {
            Some(&(when, value)) => self.b.mux(when, value, before),
            None => before,
        }
    }

    pub(super) fn read_word(&mut self, word: &[RegisterId]) -> Word {
        word.iter().map(|&register| self.read(register)).collect()
    }

    /// Assigns a value to a register if `when` holds.
    pub(super) fn write(&mut self, register: RegisterId, when: Literal, value: Literal) {
        if when == Literal::FALSE {
            return;
        }
        let assigned = match self.cycle.assigned.get(&register) {
            Some(&(earlier, other)) if when != Literal::TRUE => {
                (self.b.or([earlier, when]), self.b.mux(when, value, other))
            }
            _ => (when, value),
        };
        self.cycle.assigned.insert(register, assigned);
    }

    pub(super) fn write_word(&mut self, word: &[RegisterId], value: &[Literal]) {
        for (&register, &bit) in word.iter().zip(value) {
            self.write(register, Literal::TRUE, bit);
        }
    }

    /// Leaves the cycle for another state if `when` holds.
    pub(super) fn exit(&mut self, when: Literal, to: StateId) {
        let when_here = self.b.and([self.cycle.path, when]);
        if when_here == Literal::FALSE {
            return;
        }
        let exit = Exit { when: when_here, to, assigned: self.cycle.assigned.clone() };
        self.cycle.exits.push(exit.into());
        self.cycle.path = self.b.and([self.cycle.path, !when]);
    }

    /// Rejects the data if `when` holds.
    pub(super) fn reject(&mut self, when: Literal) {
        let mut operands = vec![self.cycle.path, when];
        for &(at, value) in &self.guards {
            let guard = self.live[at][0];
            operands.push(if value { guard } else { !guard });
        }
        let when = self.b.and(operands);
        self.cycle.rejects.extend((when != Literal::FALSE).then_some(when));
    }

    /// Drops the sample at the end of the cycle if control is here and `when` holds.
    pub(super) fn drop_sample(&mut self, when: Literal) {
        let when = self.b.and([self.cycle.active, self.cycle.path, when]);
        self.next.push(when);
        self.cycle.takes = true;
    }

    /// Continues in another state after this cycle.
    pub(super) fn jump(&mut self, to: StateId) {
        // The run starts in the first state, so it cannot be replaced.
        let replaceable = self.cycle.state != to && self.cycle.state != StateId::FIRST;
        if self.cycle.is_fresh() && replaceable {
            self.states.0[self.cycle.state.0].instead = Some(to);
            self.cycle.path = Literal::FALSE;
        } else {
            self.exit(Literal::TRUE, to);
        }
    }

    /// Fails inside branches that must stay in one cycle.
    pub(super) fn may_cut(&self) -> Step<()> {
        if self.inline > 0 { Err(Full) } else { Ok(()) }
    }

    /// Ends the cycle and begins another. Live words are saved in registers.
    pub(super) fn cut(&mut self) -> Step<()> {
        self.may_cut()?;
        for at in 0..self.live.len() {
            let word = self.live[at].clone();
            let kept = self.temporary(at, word.len());
            self.live[at] = self.b.word_value(&kept);
            if self.live[at] != word {
                self.write_word(&kept, &word);
            }
        }
        let state = self.new_state();
        self.jump(state);
        self.begin(state);
        Ok(())
    }

    /// Begins the cycle of a state.
    pub(super) fn begin(&mut self, state: StateId) {
        self.commit();
        self.cycle = Cycle::at((state, self.states.value(state)));
    }

    /// The state whose cycle this is.
    pub(super) fn here(&self) -> StateId {
        self.cycle.state
    }

    /// Whether the code so far can reach a state.
    pub(super) fn is_reached(&self, state: StateId) -> bool {
        let entered = |state: &State| state.entries.iter().any(|&entry| entry != Literal::FALSE);
        entered(&self.states.0[state.0]) || self.states.0.iter().any(|other| other.instead == Some(state))
    }

    /// Registers for the live word at a position.
    fn temporary(&mut self, at: usize, n_bits: usize) -> Vec<RegisterId> {
        if self.temporaries.len() <= at {
            self.temporaries.resize(at + 1, Vec::new());
        }
        let n_known = self.temporaries[at].len();
        if n_known < n_bits {
            let more = self.word(&format!("t{at}.{n_known}"), n_bits - n_known);
            self.temporaries[at].extend(more);
        }
        self.temporaries[at][..n_bits].to_vec()
    }

    /// Adds the cycle's transitions and assignments to those of the circuit.
    pub(super) fn commit(&mut self) {
        let active = self.cycle.active;
        let (exits, rejects) =
            (std::mem::take(&mut self.cycle.exits), std::mem::take(&mut self.cycle.rejects));
        let fine = !self.b.or(rejects.iter().copied());
        let rejected = self.b.and([active, !fine]);
        self.states.0[StateId::REJECTED.0].entries.push(rejected);
        let mut assigned: BTreeMap<RegisterId, BTreeMap<(Literal, Literal), Vec<Literal>>> = BTreeMap::new();
        for exit in &exits {
            let entry = self.b.and([active, exit.when, fine]);
            self.states.0[exit.to.0].entries.push(entry);
            for (&register, &way) in &exit.assigned {
                assigned.entry(register).or_default().entry(way).or_default().push(exit.when);
            }
        }
        for (register, ways) in assigned {
            for ((when, value), exits_with) in ways {
                // An assignment that all exits share needs no condition on the exit.
                let some = match exits_with.len() == exits.len() {
                    true => Literal::TRUE,
                    false => self.b.sum(exits_with),
                };
                let when = self.b.and([active, when, some]);
                self.writes.entry(register).or_default().push((when, value));
            }
        }
    }

    /// Runs `act` within this cycle; restores the previous state if it does not fit.
    pub(super) fn attempt<T>(&mut self, act: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        let (before, taken) = (self.cycle.clone(), self.taken);
        let lengths = (self.live.len(), self.guards.len(), self.next.len());
        self.inline += 1;
        let n_loops = self.loops.len();
        let result = act(self);
        self.loops.truncate(n_loops);
        self.inline -= 1;
        if result.is_err() {
            (self.cycle, self.taken) = (before, taken);
            self.live.truncate(lengths.0);
            self.guards.truncate(lengths.1);
            self.next.truncate(lengths.2);
        }
        result
    }

    /// Whether `act` would fit into a cycle of its own.
    pub(super) fn fits_alone(&mut self, act: impl FnOnce(&mut Self) -> Step<()>) -> bool {
        let (fresh, taken) = (Cycle::at((self.cycle.state, self.cycle.active)), self.taken);
        let before = std::mem::replace(&mut self.cycle, fresh);
        let n_next = self.next.len();
        let fits = self.attempt(act).is_ok();
        (self.cycle, self.taken) = (before, taken);
        self.next.truncate(n_next);
        fits
    }

    /// Whether the cycle's assignments have too many layers.
    pub(super) fn is_deep(&self) -> bool {
        let deep = |literal: Literal| self.b.depth(literal) > MAX_DEPTH + 4;
        self.cycle.assigned.values().any(|&(when, value)| deep(when) || deep(value)) || deep(self.cycle.path)
    }

    /// Compiles both branches in this cycle; the condition selects between them.
    pub(super) fn branches(
        &mut self,
        condition: Literal,
        then: impl FnOnce(&mut Self) -> Step<()>,
        otherwise: impl FnOnce(&mut Self) -> Step<()>,
    ) -> Step<()> {
        let (before, taken) = (self.cycle.clone(), self.taken);
        self.cycle.path = self.b.and([before.path, condition]);
        then(self)?;
        let (one, one_taken) = (self.cycle.clone(), std::mem::replace(&mut self.taken, taken));
        self.cycle.path = self.b.and([before.path, !condition]);
        self.cycle.assigned = before.assigned;
        otherwise(self)?;
        self.taken = self.taken.filter(|_| self.taken == one_taken);
        self.join(condition, one);
        Ok(())
    }

    /// Merges the assignments of branch `one` with those of the other branch, which the cycle holds.
    pub(super) fn join(&mut self, condition: Literal, one: Cycle) {
        if one.is_dead() {
            return;
        }
        if self.cycle.is_dead() {
            self.cycle.path = one.path;
            self.cycle.assigned = one.assigned;
            return;
        }
        let other = std::mem::take(&mut self.cycle.assigned);
        let none = (Literal::FALSE, Literal::FALSE);
        let registers: Vec<RegisterId> = one.assigned.keys().chain(other.keys()).copied().collect();
        for register in registers {
            let (a, b) = (one.assigned.get(&register), other.get(&register));
            let ((a_when, a_value), (b_when, b_value)) = (*a.unwrap_or(&none), *b.unwrap_or(&none));
            let when = self.b.mux(condition, a_when, b_when);
            let value = match (a_when, b_when) {
                (Literal::FALSE, _) => b_value,
                (_, Literal::FALSE) => a_value,
                _ => self.b.mux(condition, a_value, b_value),
            };
            self.cycle.assigned.insert(register, (when, value));
        }
        self.cycle.path = self.b.sum([one.path, self.cycle.path]);
    }
}
