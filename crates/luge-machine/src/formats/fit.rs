//! Adapts a machine to a format: finds what the format cannot express and, if losses are allowed, changes the machine.
//!
//! Each step handles one kind of obstacle. In strict conversions the first obstacle is an error. Otherwise the step
//! changes the machine and reports a [`Loss`]. Some obstacles, such as a second tape in a format with one tape, are
//! always errors.

use std::collections::HashSet;

use super::{
    Format, KnownRules, MAX_RULES, Obstacle, bbchallenge, exact_rules, first_free, jflap, live_rules,
    morphett, only_character, turingmachine_io, turingmachinesimulator,
};
use crate::{
    Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, StateId, SymbolId, Tape, Write,
    keep_only,
};

/// The limits of a format.
pub(super) struct Limits {
    pub(super) has_one_tape: bool,
    pub(super) has_stay: bool,
    /// What happens if no rule applies; `None` if the machine then steps into a halting state.
    pub(super) missing: Option<Missing>,
    pub(super) start_may_halt: bool,
    /// Whether states may halt without accepting.
    pub(super) may_reject: bool,
    /// Whether the file lists all halting states, or only those that rules enter.
    pub(super) lists_halting: bool,
    /// Whether the file lists all states, or only those that rules, the start or the accepting states mention.
    pub(super) lists_states: bool,
    /// The most states and symbols. If there are more, unreachable states and unmentioned symbols are removed.
    pub(super) max_states: usize,
    pub(super) max_symbols: usize,
    /// Why a symbol cannot be written.
    pub(super) symbol_problem: fn(&Alphabet, SymbolId) -> Option<String>,
    /// Why a state cannot have this name.
    pub(super) name_problem: fn(&str) -> Option<String>,
    /// Whether the rules of a state must be expanded, one per situation.
    pub(super) expands: fn(&[Rule]) -> bool,
    /// Whether symbols of a tape that no rule mentions survive writing and reading.
    pub(super) keeps_unnamed: fn(&Machine, usize) -> bool,
}

impl Limits {
    /// A format with one tape that can express everything else, as a base for the limits of others.
    pub(super) const WIDE: Self = Self {
        has_one_tape: true,
        has_stay: true,
        missing: Some(Missing::Reject),
        start_may_halt: true,
        may_reject: true,
        lists_halting: true,
        lists_states: true,
        max_states: usize::MAX,
        max_symbols: usize::MAX,
        symbol_problem: |_, _| None,
        name_problem: |_| None,
        expands: |_| false,
        keeps_unnamed: |_, _| true,
    };
}

/// Adapts a machine to a format, and returns the losses.
pub(super) fn fit(format: Format, machine: &Machine, lossy: bool) -> Result<(Machine, Vec<Loss>), Obstacle> {
    let limits = match format {
        Format::Native => return Ok((machine.clone(), Vec::new())),
        Format::Bbchallenge => bbchallenge::LIMITS,
        Format::Morphett => morphett::LIMITS,
        Format::TuringMachineIo => turingmachine_io::LIMITS,
        Format::TuringMachineSimulator => turingmachinesimulator::LIMITS,
        Format::Jflap => jflap::LIMITS,
    };
    let mut fitting = Fitting { machine: machine.clone(), format, limits, lossy, lost: Vec::new() };
    fitting.drop_dead_rules();
    fitting.tapes()?;
    fitting.symbol_names()?;
    fitting.state_names()?;
    fitting.missing_rules()?;
    fitting.halting()?;
    fitting.stays()?;
    fitting.expand()?;
    fitting.mention_states()?;
    fitting.mention_symbols()?;
    Ok((fitting.machine, fitting.lost))
}

/// Why a symbol other than the blank cannot be written as one character.
pub(super) fn spelling_problem(
    alphabet: &Alphabet,
    symbol: SymbolId,
    problem: fn(char) -> Option<String>,
) -> Option<String> {
    let name = alphabet.name(symbol);
    match only_character(name) {
        _ if symbol == alphabet.blank() => None,
        Some(character) => problem(character),
        None => Some(format!("symbol `{name}` is not one character")),
    }
}

/// The symbols of a tape, apart from the blank, that no rule mentions.
pub(super) fn unnamed_symbols(machine: &Machine, tape: usize) -> Vec<SymbolId> {
    let alphabet = &machine.tapes()[tape].alphabet;
    let mut named = HashSet::from([alphabet.blank()]);
    for (_, rule) in machine.all_rules() {
        named.extend([rule.reads[tape].symbol(), rule.writes[tape].symbol()].into_iter().flatten());
    }
    alphabet.symbols().filter(|symbol| !named.contains(symbol)).collect()
}

struct Fitting {
    machine: Machine,
    format: Format,
    limits: Limits,
    lossy: bool,
    lost: Vec<Loss>,
}

/// A rule for one tape that matches any symbol and keeps it.
fn keeping(head: Move, next: StateId) -> Rule {
    Rule { reads: vec![Pattern::Any], writes: vec![Write::Keep], moves: vec![head], next }
}

impl Fitting {
    /// Notes a loss, or returns the obstacle as an error unless losses are allowed.
    fn lose(&mut self, obstacle: Obstacle, loss: Loss) -> Result<(), Obstacle> {
        if !self.lossy {
            return Err(obstacle);
        }
        self.lost.push(loss);
        Ok(())
    }

    fn name(&self, state: StateId) -> String {
        self.machine.state(state).name.clone()
    }

    /// The states that satisfy a condition, and their names.
    fn states_that(&self, test: impl Fn(&Machine, StateId) -> bool) -> (Vec<StateId>, Vec<String>) {
        let states = self.machine.state_ids().filter(|&state| test(&self.machine, state));
        states.map(|state| (state, self.name(state))).unzip()
    }

    /// Adds a state. If the name is taken, a number is appended.
    fn push_state(&mut self, wish: &str, halting: Option<bool>, rules: Vec<Rule>) -> StateId {
        let name = first_free(wish, |name| self.machine.find_state(name).is_none());
        self.machine.push_state(name, halting, rules)
    }

    /// Removes rules that never apply, which is not a loss.
    fn drop_dead_rules(&mut self) {
        for state in self.machine.state_ids() {
            KnownRules::drop_covered(&mut self.machine.state_mut(state).rules);
            if let Ok(live) = live_rules(&self.machine, state) {
                keep_only(&mut self.machine.state_mut(state).rules, &live);
            }
        }
    }

    fn tapes(&mut self) -> Result<(), Obstacle> {
        if let Some(state) = self.machine.states.iter().find(|state| state.samples != SampleUse::Pass) {
            return Err(Obstacle::Samples(state.name.clone()));
        }
        let n_tapes = self.machine.n_tapes();
        if self.limits.has_one_tape && n_tapes != 1 {
            return Err(Obstacle::Tapes("one tape", n_tapes));
        }
        let locked = self.machine.tapes.iter().filter(|tape| tape.access == Access::ReadOnly);
        let names: Vec<String> = locked.map(|tape| tape.name.clone()).collect();
        if let Some(first) = names.first() {
            self.lose(Obstacle::ReadOnly(first.clone()), Loss::ReadOnly(names))?;
            self.machine.tapes.iter_mut().for_each(|tape| tape.access = Access::ReadWrite);
        }
        Ok(())
    }

    /// Renames symbols that the format cannot write.
    fn symbol_names(&mut self) -> Result<(), Obstacle> {
        for index in 0..self.machine.n_tapes() {
            let Tape { name: tape, alphabet, .. } = self.machine.tapes[index].clone();
            let mut names = alphabet.names().to_vec();
            for symbol in alphabet.symbols() {
                let Some(reason) = (self.limits.symbol_problem)(&alphabet, symbol) else { continue };
                let obstacle = Obstacle::Alphabet { tape: tape.clone(), reason };
                let from = alphabet.name(symbol);
                let first = from.chars().next().filter(|c| c.is_alphanumeric());
                let others = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain('\u{c0}'..='\u{24f}');
                let mut wishes = first.into_iter().chain(others).map(String::from);
                let to = wishes.find(|name| !names.contains(name)).ok_or_else(|| obstacle.clone())?;
                names[symbol.index()].clone_from(&to);
                let (tape, from) = (tape.clone(), from.to_owned());
                self.lose(obstacle, Loss::SymbolRenamed { tape, from, to })?;
            }
            self.machine.tapes[index].alphabet = Alphabet::new(names, alphabet.blank());
        }
        Ok(())
    }

    fn state_names(&mut self) -> Result<(), Obstacle> {
        for index in 0..self.machine.states.len() {
            let from = self.machine.states[index].name.clone();
            let Some(reason) = (self.limits.name_problem)(&from) else { continue };
            let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
            let plain: String = from.chars().take(64).map(plain).collect();
            let wish = if plain.is_empty() { "state" } else { &plain };
            let to = first_free(wish, |name| self.machine.find_state(name).is_none());
            self.machine.states[index].name.clone_from(&to);
            self.lose(Obstacle::States(reason), Loss::StateRenamed { from, to })?;
        }
        Ok(())
    }

    /// Adapts the machine to what a missing rule means in the format.
    fn missing_rules(&mut self) -> Result<(), Obstacle> {
        let lacks = |machine: &Machine, state| machine.halting(state).is_none() && !machine.is_total(state);
        let (partial, _) = self.states_that(lacks);
        let (own, there) = (self.machine.missing, self.limits.missing);
        if let (Some(&state), true) = (partial.first(), there != Some(own)) {
            let loss = match there {
                Some(Missing::Halt) => Loss::MissingHalts,
                Some(Missing::Reject) => Loss::MissingRejects,
                None => Loss::MissingSteps,
            };
            self.lose(self.without_rule(state), loss)?;
            if there.is_none() {
                self.step_into_halt(&partial);
            }
        }
        self.machine.missing = there.unwrap_or(own);
        Ok(())
    }

    /// The obstacle that a state has no rule for some symbols.
    fn without_rule(&self, state: StateId) -> Obstacle {
        let verbs = |missing| if missing == Missing::Halt { "halts" } else { "rejects" };
        let does = verbs(self.machine.missing);
        let there = match self.limits.missing {
            Some(missing) => format!("there, where a {} machine {}", self.format, verbs(missing)),
            None => "there without a step, where Morphett's machines step into `halt`".to_owned(),
        };
        let symbol = match self.machine.tapes() {
            [tape] => {
                let lacks = |&symbol: &SymbolId| self.machine.rule_for(state, &[symbol]).is_none();
                let symbol = tape.alphabet.symbols().find(lacks).unwrap_or(SymbolId(0));
                format!("`{}`", tape.alphabet.name(symbol))
            }
            _ => "some symbols".to_owned(),
        };
        let name = self.name(state);
        Obstacle::Halting(format!("state `{name}` has no rule for {symbol} and {does} {there}"))
    }

    /// Adds rules into a halting state where none applies.
    fn step_into_halt(&mut self, partial: &[StateId]) {
        let is_dead = |&state: &StateId| self.machine.halting(state) == Some(false);
        let known = self.machine.find_state(morphett::NO_RULE).filter(is_dead);
        let dead = known.unwrap_or_else(|| self.push_state(morphett::NO_RULE, Some(false), Vec::new()));
        for &state in partial {
            self.machine.state_mut(state).rules.push(keeping(Move::Stay, dead));
        }
    }

    /// If the format requires it, replaces a halting start state and rejecting states.
    fn halting(&mut self) -> Result<(), Obstacle> {
        let start = self.machine.start;
        let name = self.name(start);
        if !self.limits.start_may_halt && self.machine.halting(start).is_some() {
            let obstacle = Obstacle::Halting(format!("the start state `{name}` halts"));
            if self.limits.missing.is_none() {
                self.lose(obstacle, Loss::StartSteps(name))?;
                self.machine.start = self.push_state("start", None, vec![keeping(Move::Stay, start)]);
            } else if self.machine.halting(start) == Some(true) {
                self.lose(obstacle, Loss::StartAccepts(name))?;
                self.machine.state_mut(start).halting = None;
            } else if !self.lossy {
                return Err(obstacle);
            }
        }
        let entered: HashSet<StateId> =
            self.machine.all_rules_mut().map(|rule| rule.next).chain([start]).collect();
        let (states, names) = self.states_that(|machine, state| machine.halting(state) == Some(false));
        let matters = |state: &StateId| self.limits.lists_halting || entered.contains(state);
        let first = states.iter().position(matters).filter(|_| !self.limits.may_reject);
        if let Some(first) = first {
            let obstacle = Obstacle::Halting(format!("state `{}` halts without accepting", names[first]));
            self.lose(obstacle, Loss::Rejecting(names))?;
            states.into_iter().for_each(|state| self.machine.state_mut(state).halting = None);
        }
        Ok(())
    }

    /// Replaces rules that stay by a move to the right into a state that moves back.
    fn stays(&mut self) -> Result<(), Obstacle> {
        let stays = |rule: &&mut Rule| rule.moves == [Move::Stay];
        let (states, names) =
            self.states_that(|machine, state| machine.rules(state).iter().any(|r| r.moves == [Move::Stay]));
        if states.is_empty() || self.limits.has_stay {
            return Ok(());
        }
        let entered: Vec<StateId> =
            self.machine.all_rules_mut().filter(stays).map(|rule| rule.next).collect();
        self.lose(Obstacle::Stay(names[0].clone()), Loss::Stay(entered.len()))?;
        let mut back: Vec<Option<StateId>> = vec![None; self.machine.states.len()];
        for &next in &entered {
            back[next.index()] = back[next.index()].or_else(|| {
                let wish = format!("{}-back", self.name(next));
                Some(self.push_state(&wish, None, vec![keeping(Move::Left, next)]))
            });
        }
        for rule in self.machine.all_rules_mut().filter(stays) {
            rule.moves = vec![Move::Right];
            rule.next = back[rule.next.index()].unwrap_or(rule.next);
        }
        Ok(())
    }

    /// Expands wildcards, for a format that has none or no order of rules.
    fn expand(&mut self) -> Result<(), Obstacle> {
        let mut n_rules = 0;
        for state in self.machine.state_ids() {
            let rules = self.machine.rules(state);
            if !(self.limits.expands)(rules) {
                n_rules += rules.len();
                continue;
            }
            let exact = exact_rules(&self.machine, state).ok();
            let exact = exact.filter(|exact| n_rules + exact.len() <= MAX_RULES).ok_or_else(|| {
                let name = self.name(state);
                Obstacle::States(format!(
                    "with state `{name}` they need more than {MAX_RULES} rules, without wildcards and precedence"
                ))
            })?;
            n_rules += exact.len();
            self.machine.state_mut(state).rules = exact;
        }
        Ok(())
    }

    /// Removes unreachable states, if the file would not mention them or there are too many.
    fn mention_states(&mut self) -> Result<(), Obstacle> {
        let mut kept: HashSet<StateId> = HashSet::new();
        let mut pending = vec![self.machine.start];
        if !self.limits.lists_states {
            let listed = |machine: &Machine, state| {
                !machine.rules(state).is_empty() || machine.halting(state).is_some()
            };
            pending.extend(self.states_that(listed).0);
        }
        while let Some(state) = pending.pop() {
            if kept.insert(state) {
                pending.extend(self.machine.rules(state).iter().map(|rule| rule.next));
            }
        }
        let (_, names) = self.states_that(|_, state| !kept.contains(&state));
        let is_crowded = self.lossy && self.machine.states.len() > self.limits.max_states;
        let Some(first) = names.first().filter(|_| is_crowded || !self.limits.lists_states) else {
            return Ok(());
        };
        let obstacle = Obstacle::States(format!("no rule mentions state `{first}`"));
        self.lose(obstacle, Loss::States(names))?;
        let kept: Vec<bool> = self.machine.state_ids().map(|state| kept.contains(&state)).collect();
        let places = keep_only(&mut self.machine.states, &kept);
        let place = |state: StateId| StateId::new(places[state.index()]);
        self.machine.all_rules_mut().for_each(|rule| rule.next = place(rule.next));
        self.machine.start = place(self.machine.start);
        Ok(())
    }

    /// Removes symbols that no rule mentions, if the file would lose them or there are too many. Nothing writes them.
    fn mention_symbols(&mut self) -> Result<(), Obstacle> {
        for index in 0..self.machine.n_tapes() {
            let idle = unnamed_symbols(&self.machine, index);
            let Tape { name: tape, alphabet, .. } = self.machine.tapes[index].clone();
            let is_crowded = self.lossy && alphabet.len() > self.limits.max_symbols;
            if idle.is_empty() || !is_crowded && (self.limits.keeps_unnamed)(&self.machine, index) {
                continue;
            }
            let symbols: Vec<String> = idle.iter().map(|&symbol| alphabet.name(symbol).to_owned()).collect();
            let reason = format!("no rule mentions symbol `{}`", symbols[0]);
            let obstacle = Obstacle::Alphabet { tape: tape.clone(), reason };
            self.lose(obstacle, Loss::Symbols(tape, symbols))?;
            let kept: Vec<bool> = alphabet.symbols().map(|symbol| !idle.contains(&symbol)).collect();
            let mut names = alphabet.names().to_vec();
            let places = keep_only(&mut names, &kept);
            let place = |symbol: SymbolId| SymbolId::new(places[symbol.index()]);
            self.machine.tapes[index].alphabet = Alphabet::new(names, place(alphabet.blank()));
            for rule in self.machine.all_rules_mut() {
                if let Pattern::Is(symbol) = &mut rule.reads[index] {
                    *symbol = place(*symbol);
                }
                if let Write::Put(symbol) = &mut rule.writes[index] {
                    *symbol = place(*symbol);
                }
            }
        }
        Ok(())
    }
}

/// A difference between a written file and the machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Loss {
    /// The input is not in the file.
    #[error("the input is left out: {0}")]
    Input(String),
    /// Tapes are no longer marked read-only.
    #[error("{} no longer marked read-only", counted("tape", .0, "is", "are"))]
    ReadOnly(Vec<String>),
    /// Rejecting states become states without rules, in which the machine stops after the same number of steps.
    #[error(
        "{} without accepting; in the file the machine stops there because no rule applies",
        counted("state", .0, "halts", "halt")
    )]
    Rejecting(Vec<String>),
    /// Without a rule the machine halts, but in the file that is a rejection.
    #[error("where no rule applies the machine halts; in the file it rejects there")]
    MissingRejects,
    /// Without a rule the machine rejects, but in the file it halts without accepting.
    #[error("where no rule applies the machine rejects; in the file it halts there without accepting")]
    MissingHalts,
    /// Without a rule the machine stops at once, but in the file that takes a step.
    #[error(
        "where no rule applies the machine stops at once; in the file it takes one more step, into `halt-no-rule`"
    )]
    MissingSteps,
    /// The machine accepts without a step, but in the file it halts without accepting.
    #[error("the start state `{0}` accepts; in the file it halts without accepting")]
    StartAccepts(String),
    /// The machine halts without a step, but in the file it takes one.
    #[error("the start state `{0}` halts at once; in the file one step leads into it")]
    StartSteps(String),
    /// States that no rule enters are omitted.
    #[error("{} never entered and left out", counted("state", .0, "is", "are"))]
    States(Vec<String>),
    /// Symbols that no rule mentions are omitted: the names of the tape and of the symbols.
    #[error("{} in no rule and left out of tape `{}`", counted("symbol", .1, "is", "are"), .0)]
    Symbols(String, Vec<String>),
    /// A symbol has another name in the file.
    #[error("symbol `{from}` of tape `{tape}` is written `{to}`")]
    SymbolRenamed {
        /// The tape's name.
        tape: String,
        /// Its name in the machine.
        from: String,
        /// Its name in the file.
        to: String,
    },
    /// A state has another name in the file.
    #[error("state `{from}` is called `{to}`")]
    StateRenamed {
        /// Its name in the machine.
        from: String,
        /// Its name in the file.
        to: String,
    },
    /// Rules that stay take two steps in the file: right and back.
    #[error("{}; in the file {} two steps, right and back", if *.0 == 1 { "1 rule stays".into() } else { format!("{} rules stay", .0) }, if *.0 == 1 { "it takes" } else { "they take" })]
    Stay(usize),
}

/// A noun, the first few names, and the verb in singular or plural.
fn counted(noun: &str, names: &[String], one: &str, many: &str) -> String {
    const MAX_LISTED: usize = 8;
    let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let (plural, verb) = if names.len() == 1 { ("", one) } else { ("s", many) };
    format!("{noun}{plural} {}{more} {verb}", listed.join(", "))
}
