//! The states and rules of the machine under construction, and the passes that reduce their number.

mod joined;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::{MachineBuilder, Move, Pattern, SampleUse, StateId, SymbolId, Write};

use super::Tape;

pub(super) type Node = usize;

/// A rule. It names only the tapes that it reads, writes or moves on. The rules of a state never overlap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Arrow {
    pub(super) reads: BTreeMap<Tape, u8>,
    pub(super) writes: BTreeMap<Tape, u8>,
    pub(super) moves: BTreeMap<Tape, i8>,
    pub(super) next: Node,
}

impl Arrow {
    pub(super) fn to(next: Node) -> Self {
        Self { reads: BTreeMap::new(), writes: BTreeMap::new(), moves: BTreeMap::new(), next }
    }

    pub(super) fn read(mut self, tape: Tape, symbol: u8) -> Self {
        self.reads.insert(tape, symbol);
        self
    }

    pub(super) fn write(mut self, tape: Tape, symbol: u8) -> Self {
        self.writes.insert(tape, symbol);
        self
    }

    pub(super) fn shift(mut self, tape: Tape, offset: i8) -> Self {
        if offset != 0 {
            self.moves.insert(tape, offset);
        }
        self
    }

    /// Both of two rules about different tapes at once.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.moves.extend(&other.moves);
        self
    }

    fn tapes(&self) -> impl Iterator<Item = Tape> {
        self.reads.keys().chain(self.writes.keys()).chain(self.moves.keys()).copied()
    }

    fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.moves.is_empty()
    }

    /// The writes, the moves and the next state.
    fn effect(&self) -> (&BTreeMap<Tape, u8>, &BTreeMap<Tape, i8>, Node) {
        (&self.writes, &self.moves, self.next)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Shape {
    #[default]
    Running,
    Accept,
    Reject,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) arrows: Vec<Arrow>,
    pub(super) shape: Shape,
    /// What the state does with the current sample.
    pub(super) samples: SampleUse,
    pub(super) line: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) entries: Vec<Entry>,
}

/// The number of symbols of a tape.
pub(super) fn n_symbols(tape: Tape) -> u8 {
    if tape == Tape::Marks { 4 } else { 2 }
}

/// The most rules of a state that takes over those of the next one.
const MAX_RULES: usize = 64;

impl Graph {
    pub(super) fn add(&mut self, line: u32) -> Node {
        self.entries.push(Entry { line, ..Entry::default() });
        self.entries.len() - 1
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    /// The lines with the most states, as text.
    pub(super) fn costly_lines(&self) -> String {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for entry in &self.entries {
            *counts.entry(entry.line).or_default() += 1;
        }
        let mut counts: Vec<(usize, u32)> = counts.into_iter().map(|(line, n)| (n, line)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let worst = counts.iter().filter(|(_, line)| *line > 0).take(3);
        worst.map(|(n, line)| format!("line {line} with {n}")).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn arrow(&mut self, from: Node, arrow: Arrow) {
        self.entries[from].arrows.push(arrow);
    }

    /// The number of vertices of a state: one for each combination of the symbols that it reads.
    pub(super) fn n_vertices(&self, node: Node) -> u64 {
        joined::n_vertices(&self.entries[node].arrows)
    }

    /// The states on paths from one state to another, without the last.
    pub(super) fn between(&self, entry: Node, exit: Node) -> Vec<Node> {
        let mut found = Vec::new();
        let mut pending = vec![entry];
        while let Some(node) = pending.pop() {
            if node != exit && !found.contains(&node) {
                found.push(node);
                pending.extend(self.entries[node].arrows.iter().map(|arrow| arrow.next));
            }
        }
        found
    }

    pub(super) fn tapes_between(&self, entry: Node, exit: Node) -> BTreeSet<Tape> {
        let arrows = self.between(entry, exit).into_iter().flat_map(|node| &self.entries[node].arrows);
        arrows.flat_map(Arrow::tapes).collect()
    }

    /// Reduces states and rules. Runs stay the same, with fewer steps.
    pub(super) fn shrink(&mut self) {
        self.merge_rules();
        (0..self.len()).for_each(|node| self.skip_empty_steps(node));
        self.keep_reachable();
        self.merge_equal();
        self.merge_rules();
        self.join_steps();
        self.keep_reachable();
        loop {
            let before = self.len();
            self.merge_equal();
            self.merge_rules();
            self.keep_reachable();
            if self.len() == before {
                return;
            }
        }
    }

    /// Merges rules that differ only in the symbol of one tape, if there is one for each of its symbols.
    fn merge_rules(&mut self) {
        for entry in &mut self.entries {
            entry.arrows.sort();
            while let Some((tape, group)) = mergeable(&entry.arrows) {
                let mut merged = entry.arrows[group[0]].clone();
                merged.reads.remove(&tape);
                let mut numbers = 0..;
                entry.arrows.retain(|_| numbers.next().is_some_and(|number| !group.contains(&number)));
                entry.arrows.push(merged);
                entry.arrows.sort();
            }
        }
    }

    /// Replaces rules of a state that neither write nor move by those of the next state.
    pub(super) fn skip_empty_steps(&mut self, node: Node) {
        // Each round follows empty steps one step further; a cycle of them stays.
        for _ in 0..64 {
            let Some(arrows) = self.followed(node) else { break };
            self.entries[node].arrows = arrows;
        }
    }

    /// The rules of a state with its empty steps replaced by what follows them; `None` if nothing changes.
    fn followed(&self, node: Node) -> Option<Vec<Arrow>> {
        // Using a sample takes a step.
        if self.entries[node].samples != SampleUse::Pass {
            return None;
        }
        let mut changed = false;
        let mut arrows = Vec::new();
        for arrow in &self.entries[node].arrows {
            match self.joined(node, arrow).filter(|_| arrow.is_empty()) {
                Some(joined) => {
                    changed = true;
                    arrows.extend(joined);
                }
                None => arrows.push(arrow.clone()),
            }
        }
        (changed && arrows.len() <= MAX_RULES).then_some(arrows)
    }

    fn keep_reachable(&mut self) {
        let mut seen = vec![false; self.len()];
        let mut pending = vec![0];
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                pending.extend(self.entries[node].arrows.iter().map(|arrow| arrow.next));
            }
        }
        let kept: Vec<usize> = (0..self.len()).filter(|&node| seen[node]).collect();
        let mut names = vec![usize::MAX; self.len()];
        for (new, &old) in kept.iter().enumerate() {
            names[old] = new;
        }
        self.rename(&kept, &names);
    }

    /// Keeps some states, with new numbers.
    fn rename(&mut self, kept: &[usize], names: &[usize]) {
        let entry = |&old: &usize| {
            let mut entry = self.entries[old].clone();
            entry.arrows.iter_mut().for_each(|arrow| arrow.next = names[arrow.next]);
            entry
        };
        self.entries = kept.iter().map(entry).collect();
    }

    /// Merges states that behave equally.
    fn merge_equal(&mut self) {
        // What each rule does, as a number that is fast to compare.
        let mut effects = BTreeMap::new();
        let mut signatures: Vec<Vec<(usize, Node)>> = Vec::with_capacity(self.len());
        for entry in &self.entries {
            let number = |arrow: &Arrow| {
                let number = effects.len();
                let key = (arrow.reads.clone(), arrow.writes.clone(), arrow.moves.clone());
                (*effects.entry(key).or_insert(number), arrow.next)
            };
            let mut signature: Vec<(usize, Node)> = entry.arrows.iter().map(number).collect();
            signature.sort_unstable();
            signatures.push(signature);
        }
        let class = partition(&self.entries, &signatures);
        // Classes are numbered by their first states, so that the start stays first.
        let mut kept = Vec::new();
        let mut number = vec![usize::MAX; self.len()];
        for (node, &class) in class.iter().enumerate() {
            if number[class] == usize::MAX {
                number[class] = kept.len();
                kept.push(node);
            }
        }
        let names: Vec<usize> = class.iter().map(|&class| number[class]).collect();
        self.rename(&kept, &names);
    }

    pub(super) fn used_tapes(&self) -> BTreeSet<Tape> {
        let arrows = self.entries.iter().flat_map(|entry| &entry.arrows);
        arrows.flat_map(Arrow::tapes).collect()
    }

    /// Adds the states and rules to a builder. Returns the line of each state.
    pub(super) fn write(&self, b: &mut MachineBuilder, tapes: &[Tape]) -> Vec<Option<u32>> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for entry in &self.entries {
            let name = match entry.shape {
                Shape::Accept => "accept".to_owned(),
                Shape::Reject => "reject".to_owned(),
                Shape::Running => {
                    let count = counts.entry(entry.line).or_default();
                    *count += 1;
                    match entry.line {
                        0 => format!("start.{count}"),
                        line => format!("{line}.{count}"),
                    }
                }
            };
            let state = b.push_state(name);
            if entry.shape != Shape::Running {
                b.halt_in(state, entry.shape == Shape::Accept);
            }
            b.samples_in(state, entry.samples);
        }
        for (node, entry) in self.entries.iter().enumerate() {
            for arrow in &entry.arrows {
                let read = |t| arrow.reads.get(t).map_or(Pattern::Any, |&s| Pattern::Is(SymbolId(s)));
                let write = |t| arrow.writes.get(t).map_or(Write::Keep, |&s| Write::Put(SymbolId(s)));
                let moves = tapes.iter().map(|t| match arrow.moves.get(t) {
                    Some(-1) => Move::Left,
                    Some(1) => Move::Right,
                    _ => Move::Stay,
                });
                let next = StateId::new(arrow.next);
                b.rule(StateId::new(node), tapes.iter().map(read), tapes.iter().map(write), moves, next);
            }
        }
        b.start(StateId::new(0));
        self.entries.iter().map(|entry| (entry.line > 0).then_some(entry.line)).collect()
    }
}

/// The coarsest partition of states by what they and their successors do: the class of each state. A state is looked at
/// again only if one of its successors has changed class. The largest part of a class keeps its number, so a state
/// changes class at most log n times.
fn partition(entries: &[Entry], signatures: &[Vec<(usize, Node)>]) -> Vec<usize> {
    let mut before: Vec<Vec<Node>> = vec![Vec::new(); entries.len()];
    let mut groups: BTreeMap<_, BTreeSet<Node>> = BTreeMap::new();
    for (node, signature) in signatures.iter().enumerate() {
        signature.iter().for_each(|&(_, next)| before[next].push(node));
        let effects: Vec<usize> = signature.iter().map(|&(effect, _)| effect).collect();
        let Entry { shape, samples, .. } = &entries[node];
        groups.entry((*shape, samples.word(), effects)).or_default().insert(node);
    }
    let mut members: Vec<BTreeSet<Node>> = groups.into_values().collect();
    let mut class = vec![0; entries.len()];
    for (number, nodes) in members.iter().enumerate() {
        nodes.iter().for_each(|&node| class[node] = number);
    }
    // The states to look at, by class. The other states of a class all lead to the same classes.
    let mut pending: BTreeMap<usize, BTreeSet<Node>> = members.iter().cloned().enumerate().collect();
    while let Some((number, again)) = pending.pop_first() {
        let successors = |node: Node| -> Vec<(usize, usize)> {
            signatures[node].iter().map(|&(effect, next)| (effect, class[next])).collect()
        };
        let mut parts: BTreeMap<Vec<(usize, usize)>, BTreeSet<Node>> = BTreeMap::new();
        for node in again {
            members[number].remove(&node);
            parts.entry(successors(node)).or_default().insert(node);
        }
        if let Some(&other) = members[number].first() {
            let same = parts.remove(&successors(other));
            members[number].extend(same.unwrap_or_default());
        }
        let mut parts: Vec<BTreeSet<Node>> = parts.into_values().collect();
        if let Some(largest) = parts.iter_mut().max_by_key(|part| part.len())
            && largest.len() > members[number].len()
        {
            std::mem::swap(largest, &mut members[number]);
        }
        let first_new = members.len();
        members.extend(parts.into_iter().filter(|part| !part.is_empty()));
        for (number, nodes) in members.iter().enumerate().skip(first_new) {
            nodes.iter().for_each(|&node| class[node] = number);
        }
        for &node in members[first_new..].iter().flatten().flat_map(|&node| &before[node]) {
            pending.entry(class[node]).or_default().insert(node);
        }
    }
    class
}

/// A tape, and rules that differ only in the symbol of this tape, one for each symbol.
fn mergeable(arrows: &[Arrow]) -> Option<(Tape, Vec<usize>)> {
    for (first, arrow) in arrows.iter().enumerate() {
        for &tape in arrow.reads.keys() {
            if arrow.reads[&tape] != 0 {
                continue;
            }
            let mut wanted = arrow.reads.clone();
            let group: Option<Vec<usize>> = (0..n_symbols(tape))
                .map(|symbol| {
                    wanted.insert(tape, symbol);
                    arrows.iter().position(|a| a.reads == wanted && a.effect() == arrow.effect())
                })
                .collect();
            if let Some(group) = group {
                debug_assert!(group.contains(&first));
                return Some((tape, group));
            }
        }
    }
    None
}
