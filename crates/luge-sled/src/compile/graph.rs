//! States and rules under construction, and the passes that reduce their number.

mod joined;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::{MachineBuilder, Move, Pattern, SampleUse, StateId, SymbolId, Write};

use super::tapes::{MARKS, Tape};

pub(super) type Node = usize;

/// One rule, naming only the tapes it is about. The rules of a state never overlap.
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

    /// What two rules about different tapes do together.
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

    /// What the rule does: its writes, its moves and the next state.
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
struct Entry {
    arrows: Vec<Arrow>,
    shape: Shape,
    samples: SampleUse,
    line: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    entries: Vec<Entry>,
}

/// How many symbols a tape has.
fn n_symbols(tape: Tape) -> u8 {
    if tape == MARKS { 4 } else { 2 }
}

/// The most rules a state may get from taking over those of the next.
const MAX_RULES: usize = 64;

impl Graph {
    pub(super) fn add(&mut self, line: u32) -> Node {
        self.entries.push(Entry { line, ..Entry::default() });
        self.entries.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all states from this one on. None before it may lead there.
    pub(super) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    /// The lines with most states.
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

    pub(super) fn arrows(&self, node: Node) -> &[Arrow] {
        &self.entries[node].arrows
    }

    /// Pairs of a state and the symbols it looks at.
    pub(super) fn n_vertices(&self, node: Node) -> u64 {
        joined::n_vertices(&self.entries[node].arrows)
    }

    /// The states on the ways from one to another, without that.
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

    /// Leaves out empty steps of some states.
    pub(super) fn tidy(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|&node| self.skip_empty_steps_of(node));
    }

    pub(super) fn line(&self, node: Node) -> u32 {
        self.entries[node].line
    }

    pub(super) fn finish(&mut self, node: Node, shape: Shape) {
        self.entries[node].shape = shape;
    }

    /// What a state does with the sample that passes while its rule is followed.
    pub(super) fn uses(&mut self, node: Node, samples: SampleUse) {
        self.entries[node].samples = samples;
    }

    /// Fewer states and rules, the same run but for steps that did nothing.
    pub(super) fn shrink(&mut self) {
        self.merge_rules();
        self.skip_empty_steps();
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

    /// Rules that differ in what one tape must show, for all its symbols, become one.
    fn merge_rules(&mut self) {
        for entry in &mut self.entries {
            entry.arrows.sort();
            while let Some((tape, group)) = mergeable(&entry.arrows) {
                let mut merged = entry.arrows[group[0]].clone();
                merged.reads.remove(&tape);
                let gone: BTreeSet<usize> = group.into_iter().collect();
                let rest = entry.arrows.iter().enumerate().filter(|(i, _)| !gone.contains(i));
                let mut arrows: Vec<Arrow> = rest.map(|(_, arrow)| arrow.clone()).collect();
                arrows.push(merged);
                arrows.sort();
                entry.arrows = arrows;
            }
        }
    }

    /// A rule that neither writes nor moves does at once what the next state would do.
    fn skip_empty_steps(&mut self) {
        (0..self.len()).for_each(|node| self.skip_empty_steps_of(node));
    }

    fn skip_empty_steps_of(&mut self, node: Node) {
        // Each round follows one empty step further; a cycle of them remains as it is.
        for _ in 0..64 {
            let Some(arrows) = self.followed(node) else { break };
            self.entries[node].arrows = arrows;
        }
    }

    /// The rules of a state with one level of empty steps replaced by what follows; `None` if nothing changes.
    fn followed(&self, node: Node) -> Option<Vec<Arrow>> {
        // What uses a sample is a step of its own.
        if self.entries[node].samples != SampleUse::Pass {
            return None;
        }
        let mut changed = false;
        let mut arrows = Vec::new();
        for arrow in &self.entries[node].arrows {
            let next = &self.entries[arrow.next];
            if !arrow.is_empty()
                || arrow.next == node
                || next.shape != Shape::Running
                || next.samples != SampleUse::Pass
                || next.arrows.is_empty()
            {
                arrows.push(arrow.clone());
                continue;
            }
            changed = true;
            for after in &next.arrows {
                let fits = |(tape, symbol)| arrow.reads.get(tape).is_none_or(|other| other == symbol);
                if after.reads.iter().all(fits) {
                    let mut joined = after.clone();
                    joined.reads.extend(&arrow.reads);
                    arrows.push(joined);
                }
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

    /// Keeps some states and calls each by its new number.
    fn rename(&mut self, kept: &[usize], names: &[usize]) {
        let entry = |&old: &usize| {
            let mut entry = self.entries[old].clone();
            entry.arrows.iter_mut().for_each(|arrow| arrow.next = names[arrow.next]);
            entry
        };
        self.entries = kept.iter().map(entry).collect();
    }

    /// States that no run can tell apart become one: the coarsest partition, refined from what is seen at once.
    fn merge_equal(&mut self) {
        // What each rule does, as a number, so that a round compares numbers only.
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
        // Numbered by their first states, so that the start stays the start.
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

    /// Gives the states and rules to a builder; returns each state's line.
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

/// What is seen of a state at once: its shape, what it does with samples, and the effects of its rules.
type Outside = (Shape, Option<&'static str>, Vec<usize>);

/// A partition of states: the states of each class, and for each state its class and its place there.
struct Classes {
    members: Vec<Vec<Node>>,
    class: Vec<usize>,
    place: Vec<usize>,
}

impl Classes {
    fn take(&mut self, node: Node) {
        let (members, place) = (&mut self.members[self.class[node]], self.place[node]);
        members.swap_remove(place);
        if let Some(&moved) = members.get(place) {
            self.place[moved] = place;
        }
    }

    fn put(&mut self, nodes: Vec<Node>, class: usize) {
        for node in nodes {
            (self.class[node], self.place[node]) = (class, self.members[class].len());
            self.members[class].push(node);
        }
    }

    fn push(&mut self, nodes: Vec<Node>) {
        self.members.push(Vec::new());
        self.put(nodes, self.members.len() - 1);
    }
}

/// The coarsest partition of states by what they and their successors do. A state is looked at again only when one of
/// its successors has changed class. The largest part of a class keeps its number, so a state changes class at most
/// log n times.
fn partition(entries: &[Entry], signatures: &[Vec<(usize, Node)>]) -> Vec<usize> {
    let n = entries.len();
    let mut before: Vec<Vec<Node>> = vec![Vec::new(); n];
    let mut groups: BTreeMap<Outside, Vec<Node>> = BTreeMap::new();
    for (node, signature) in signatures.iter().enumerate() {
        signature.iter().for_each(|&(_, next)| before[next].push(node));
        let effects = signature.iter().map(|&(effect, _)| effect).collect();
        let Entry { shape, samples, .. } = &entries[node];
        groups.entry((*shape, samples.word(), effects)).or_default().push(node);
    }
    let mut classes = Classes { members: Vec::new(), class: vec![0; n], place: vec![0; n] };
    groups.into_values().for_each(|group| classes.push(group));
    // By class the states to look at; all others of a class lead to the same classes.
    let mut pending: BTreeMap<usize, BTreeSet<Node>> = BTreeMap::new();
    (0..n).for_each(|node| _ = pending.entry(classes.class[node]).or_default().insert(node));
    while let Some((number, again)) = pending.pop_first() {
        let seen = |node: Node, class: &[usize]| -> Vec<(usize, usize)> {
            signatures[node].iter().map(|&(effect, next)| (effect, class[next])).collect()
        };
        let mut groups: BTreeMap<Vec<(usize, usize)>, Vec<Node>> = BTreeMap::new();
        for node in again {
            groups.entry(seen(node, &classes.class)).or_default().push(node);
            classes.take(node);
        }
        if let Some(&other) = classes.members[number].first() {
            let same = groups.remove(&seen(other, &classes.class));
            classes.put(same.unwrap_or_default(), number);
        }
        let mut groups: Vec<Vec<Node>> = groups.into_values().collect();
        if let Some(largest) = groups.iter_mut().max_by_key(|group| group.len())
            && largest.len() > classes.members[number].len()
        {
            std::mem::swap(largest, &mut classes.members[number]);
            let kept = std::mem::take(&mut classes.members[number]);
            classes.put(kept, number);
        }
        let first_new = classes.members.len();
        groups.into_iter().filter(|group| !group.is_empty()).for_each(|group| classes.push(group));
        for &node in classes.members[first_new..].iter().flatten().flat_map(|&node| &before[node]) {
            pending.entry(classes.class[node]).or_default().insert(node);
        }
    }
    classes.class
}

/// A tape and the rules, one for each of its symbols, that do the same.
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
