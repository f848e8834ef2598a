//! Walks that nothing waits for yet. Those of different heads are made at the same time, and heads that walk equally
//! far share a ruler.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    Generator,
    automaton::{Act, Track, Walker},
    graph::{Arrow, Node},
    tapes::{self, Kind, MARKS, Tape},
};

/// A part of the machine with one way in and one way out, and the tapes it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fragment {
    entry: Node,
    exit: Node,
    tapes: BTreeSet<Tape>,
}

impl Fragment {
    /// About how long it takes: over a whole tape of words, over a sample, or over a word.
    fn length(&self) -> u32 {
        if self.tapes.iter().any(|&tape| matches!(tapes::kind(tape), Kind::Origin)) {
            3
        } else if self.tapes.contains(&MARKS) {
            2
        } else {
            1
        }
    }
}

/// Once along a ruler, from where its head is to the other end, and the heads that walk along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Crossing {
    pub(super) track: Track,
    pub(super) walkers: Vec<(Walker, i8)>,
    pub(super) write: Option<(Tape, u8)>,
    /// Heads that can walk along if they have to go that way.
    pub(super) offered: Vec<(Walker, i8)>,
    /// Whether the ruler's head must get there, also alone.
    pub(super) needed: bool,
}

impl Crossing {
    pub(super) fn new(track: Track, walkers: Vec<(Walker, i8)>) -> Self {
        Self { track, walkers, write: None, offered: Vec::new(), needed: false }
    }

    fn is_idle(&self) -> bool {
        self.walkers.is_empty() && !self.needed
    }
}

/// A walk that is still to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    Crossing(Crossing),
    Fragment(Fragment),
}

/// The most vertices of two walks that are made at the same time, multiplied.
const MAX_PRODUCT: u64 = 36;

impl Generator<'_> {
    fn lane_tapes(&self, lane: &Lane) -> BTreeSet<Tape> {
        match lane {
            Lane::Fragment(fragment) => fragment.tapes.clone(),
            Lane::Crossing(crossing) => {
                let mut tapes: BTreeSet<Tape> = crossing.track.looked_at().into_iter().collect();
                for (walker, _) in &crossing.walkers {
                    tapes.insert(walker.tape);
                    tapes.extend(self.partners(walker.tape));
                }
                tapes
            }
        }
    }

    /// Puts off what `walk` makes until the heads are needed.
    pub(super) fn defer(&mut self, walk: impl FnOnce(&mut Self)) {
        let (lanes, cur) = (std::mem::take(&mut self.pos.lanes), self.cur);
        let entry = self.new_node();
        self.cur = entry;
        walk(self);
        let exit = self.here();
        (self.pos.lanes, self.cur) = (lanes, cur);
        if exit != entry {
            let tapes = self.graph.tapes_between(entry, exit);
            self.add_lane(Lane::Fragment(Fragment { entry, exit, tapes }));
        }
    }

    /// A walk after those that are about the same tapes.
    fn add_lane(&mut self, lane: Lane) {
        let tapes = self.lane_tapes(&lane);
        for other in &mut self.pos.lanes {
            if let Lane::Crossing(crossing) = other {
                crossing.offered.retain(|(walker, _)| !tapes.contains(&walker.tape));
            }
        }
        let lanes = std::mem::take(&mut self.pos.lanes);
        let (before, apart): (Vec<Lane>, Vec<Lane>) =
            lanes.into_iter().partition(|other| !self.lane_tapes(other).is_disjoint(&tapes));
        self.pos.lanes = apart;
        let before: Vec<Fragment> = before.into_iter().filter_map(|lane| self.finished(lane)).collect();
        if before.is_empty() {
            return self.pos.lanes.push(lane);
        }
        let mut fragment = self.at_once(before);
        if let Some(last) = self.finished(lane) {
            fragment = self.in_a_row(fragment, last);
        }
        self.pos.lanes.push(Lane::Fragment(fragment));
    }

    /// Walks along a ruler once the heads are needed.
    pub(super) fn cross(&mut self, crossing: Crossing) {
        if !crossing.is_idle() {
            self.crossed(&crossing.track);
        }
        self.add_lane(Lane::Crossing(crossing));
    }

    /// Lets heads walk along where another walk of that length is still to be made.
    pub(super) fn share(&mut self, moves: &[(Tape, i8)], length: u32) -> bool {
        let tapes: BTreeSet<Tape> =
            moves.iter().flat_map(|&(tape, _)| [vec![tape], self.partners(tape)].concat()).collect();
        if self.pos.lanes.iter().any(|lane| !self.lane_tapes(lane).is_disjoint(&tapes)) {
            return false;
        }
        let suits = |lane: &Lane| match lane {
            Lane::Crossing(crossing) if crossing.write.is_none() => crossing.track.stretch(length),
            _ => None,
        };
        let mut lanes = self.pos.lanes.iter().enumerate();
        let Some((number, from)) = lanes.find_map(|(number, lane)| Some((number, suits(lane)?))) else {
            return false;
        };
        let Lane::Crossing(crossing) = &mut self.pos.lanes[number] else { return false };
        let idle = crossing.is_idle();
        crossing.offered.retain(|(walker, _)| !tapes.contains(&walker.tape));
        let walkers = moves.iter().map(|&(tape, sign)| (Walker { tape, from, to: from + length }, sign));
        crossing.walkers.extend(walkers);
        let track = crossing.track.clone();
        if idle {
            self.crossed(&track);
        }
        true
    }

    /// Whether a head goes back on the way that it was offered.
    pub(super) fn accept_offer(&mut self, tape: Tape) -> bool {
        for number in 0..self.pos.lanes.len() {
            let Lane::Crossing(crossing) = &mut self.pos.lanes[number] else { continue };
            let Some(at) = crossing.offered.iter().position(|(walker, _)| walker.tape == tape) else {
                continue;
            };
            let (idle, walker) = (crossing.is_idle(), crossing.offered.remove(at));
            crossing.walkers.push(walker);
            let track = crossing.track.clone();
            if idle {
                self.crossed(&track);
            }
            return true;
        }
        false
    }

    /// Heads that walks to come can bring back.
    pub(super) fn offers(&self) -> Vec<Tape> {
        let crossings = self.pos.lanes.iter().filter_map(|lane| match lane {
            Lane::Crossing(crossing) => Some(crossing),
            Lane::Fragment(_) => None,
        });
        crossings.flat_map(|crossing| crossing.offered.iter().map(|(walker, _)| walker.tape)).collect()
    }

    /// Makes all walks that were put off.
    pub(super) fn settle(&mut self) {
        let lanes = std::mem::take(&mut self.pos.lanes);
        let fragments: Vec<Fragment> = lanes.into_iter().filter_map(|lane| self.finished(lane)).collect();
        if fragments.is_empty() {
            return;
        }
        let Fragment { entry, exit, .. } = self.at_once(fragments);
        self.graph.arrow(self.cur, Arrow::to(entry));
        self.cur = exit;
    }

    /// The states of a walk; none where only a ruler's head would go somewhere.
    fn finished(&mut self, lane: Lane) -> Option<Fragment> {
        let tapes = self.lane_tapes(&lane);
        let crossing = match lane {
            Lane::Fragment(fragment) => return Some(fragment),
            Lane::Crossing(crossing) if crossing.is_idle() => return None,
            Lane::Crossing(crossing) => crossing,
        };
        let entry = self.new_node();
        let before = std::mem::replace(&mut self.cur, entry);
        let Crossing { track, walkers, write, .. } = crossing;
        let go = |passed: u8| {
            let part = track.part(passed);
            let active = walkers.iter().filter(|(walker, _)| walker.from <= part && part < walker.to);
            let heads = active.map(|&(walker, sign)| (walker.tape, sign));
            let moves: Vec<(Tape, i8)> = heads.chain(track.moves(&[], part, true)).collect();
            let act = Act::go(&moves, Some(passed));
            match write {
                Some((tape, bit)) => act.writing(tape, bit),
                None => act,
            }
        };
        self.sweep(&track.looked_at(), |state, bits| match state {
            None => go(0),
            Some(passed) => match track.mark(bits).0 {
                1 if track.is_end(passed + 1) => Act::exit(0),
                mark => go(passed + mark),
            },
        });
        let exit = std::mem::replace(&mut self.cur, before);
        Some(Fragment { entry, exit, tapes })
    }

    fn in_a_row(&mut self, first: Fragment, second: Fragment) -> Fragment {
        self.graph.arrow(first.exit, Arrow::to(second.entry));
        let tapes = first.tapes.union(&second.tapes).copied().collect();
        Fragment { entry: first.entry, exit: second.exit, tapes }
    }

    /// Fragments about different tapes, at the same time where that takes few states.
    fn at_once(&mut self, mut fragments: Vec<Fragment>) -> Fragment {
        fragments.sort_by_key(|fragment| std::cmp::Reverse(fragment.length()));
        let mut rows: Vec<Fragment> = Vec::new();
        for fragment in fragments {
            let joined = (0..rows.len())
                .find_map(|number| self.side_by_side(&rows[number], &fragment).map(|both| (number, both)));
            match joined {
                Some((number, both)) => rows[number] = both,
                None => rows.push(fragment),
            }
        }
        let rows = rows.into_iter().reduce(|first, second| self.in_a_row(first, second));
        rows.expect("some fragment")
    }

    /// Two fragments at the same time; `None` if that takes too many states.
    fn side_by_side(&mut self, a: &Fragment, b: &Fragment) -> Option<Fragment> {
        let mut size = 1;
        for fragment in [a, b] {
            let inside = self.graph.between(fragment.entry, fragment.exit);
            self.graph.tidy(&inside);
            let inside = self.graph.between(fragment.entry, fragment.exit);
            size *= inside.iter().map(|&node| self.graph.n_vertices(node)).sum::<u64>();
        }
        if size > MAX_PRODUCT {
            return None;
        }
        let start = (a.entry, b.entry);
        let mut nodes = BTreeMap::from([(start, self.new_node()), ((a.exit, b.exit), self.new_node())]);
        let mut queue = VecDeque::from([start]);
        while let Some(both) = queue.pop_front() {
            let mut rules = Vec::new();
            let stays = |node: Node| vec![Arrow::to(node)];
            let of = |node: Node, exit: Node| {
                if node == exit { stays(node) } else { self.graph.arrows(node).to_vec() }
            };
            for first in of(both.0, a.exit) {
                for second in of(both.1, b.exit) {
                    rules.push(((first.next, second.next), first.clone().and(&second)));
                }
            }
            for (next, mut arrow) in rules {
                arrow.next = match nodes.get(&next) {
                    Some(&node) => node,
                    None => {
                        let node = self.new_node();
                        nodes.insert(next, node);
                        queue.push_back(next);
                        node
                    }
                };
                self.graph.arrow(nodes[&both], arrow);
            }
        }
        let tapes = a.tapes.union(&b.tapes).copied().collect();
        Some(Fragment { entry: nodes[&start], exit: nodes[&(a.exit, b.exit)], tapes })
    }
}
