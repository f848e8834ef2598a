//! Deferred moves. Moves of different heads happen at the same time, and heads that move equally far share a ruler.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Act, Arrow, Generator, Node, Tape, Track, Walker};

/// A part of the graph with one entry and one exit, and the tapes that it uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fragment {
    entry: Node,
    exit: Node,
    tapes: BTreeSet<Tape>,
}

impl Fragment {
    /// An estimate of its duration: moves over a whole tape, over a sample, or over a word.
    fn length(&self) -> u32 {
        if self.tapes.iter().any(|&tape| matches!(tape, Tape::Origin(_))) {
            3
        } else if self.tapes.contains(&Tape::Marks) {
            2
        } else {
            1
        }
    }
}

/// A move along a track, from one end to the other, and the heads that move along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Crossing {
    pub(super) track: Track,
    pub(super) walkers: Vec<Walker>,
    /// Written to every cell on the way.
    pub(super) write: Option<(Tape, u8)>,
    /// Heads that can move along if they have to go that way.
    pub(super) offered: Vec<Walker>,
    /// Whether the ruler's head must move even if no other head does.
    pub(super) needed: bool,
}

impl Crossing {
    pub(super) fn new(track: Track, walkers: Vec<Walker>) -> Self {
        Self { track, walkers, write: None, offered: Vec::new(), needed: false }
    }

    fn is_idle(&self) -> bool {
        self.walkers.is_empty() && !self.needed
    }
}

/// A deferred move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    Crossing(Crossing),
    Fragment(Fragment),
}

impl Lane {
    fn crossing(&self) -> Option<&Crossing> {
        if let Self::Crossing(crossing) = self { Some(crossing) } else { None }
    }
}

/// The largest product of the numbers of vertices of two moves that happen at the same time.
const MAX_PRODUCT: u64 = 36;

impl Generator<'_> {
    fn lane_tapes(&self, lane: &Lane) -> BTreeSet<Tape> {
        match lane {
            Lane::Fragment(fragment) => fragment.tapes.clone(),
            Lane::Crossing(crossing) => {
                let mut tapes: BTreeSet<Tape> = crossing.track.ruler().into_iter().collect();
                for walker in &crossing.walkers {
                    tapes.insert(walker.tape);
                    tapes.extend(self.partners(walker.tape));
                }
                tapes
            }
        }
    }

    /// Defers the moves that `moves` generates until the heads are needed.
    pub(super) fn defer(&mut self, moves: impl FnOnce(&mut Self)) {
        let (lanes, cur) = (std::mem::take(&mut self.pos.lanes), self.cur);
        let entry = self.new_node();
        self.cur = entry;
        moves(self);
        let exit = self.here();
        (self.pos.lanes, self.cur) = (lanes, cur);
        if exit != entry {
            let tapes = self.graph.tapes_between(entry, exit);
            self.add_lane(Lane::Fragment(Fragment { entry, exit, tapes }));
        }
    }

    /// Defers a move. It happens after those that use the same tapes.
    fn add_lane(&mut self, lane: Lane) {
        let tapes = self.lane_tapes(&lane);
        for other in &mut self.pos.lanes {
            if let Lane::Crossing(crossing) = other {
                crossing.offered.retain(|walker| !tapes.contains(&walker.tape));
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

    /// Defers a move of a ruler's head alone.
    pub(super) fn cross_alone(&mut self, track: Track) {
        self.cross(Crossing { needed: true, ..Crossing::new(track, Vec::new()) });
    }

    /// Defers a move along a track.
    pub(super) fn cross(&mut self, crossing: Crossing) {
        if !crossing.is_idle() {
            self.crossed(&crossing.track);
        }
        self.add_lane(Lane::Crossing(crossing));
    }

    /// Lets heads move along with a deferred move of the same length. Returns false if there is none.
    pub(super) fn share(&mut self, moves: &[(Tape, i8)], length: u32) -> bool {
        let tapes: BTreeSet<Tape> =
            moves.iter().flat_map(|&(tape, _)| [vec![tape], self.partners(tape)].concat()).collect();
        if self.pos.lanes.iter().any(|lane| !self.lane_tapes(lane).is_disjoint(&tapes)) {
            return false;
        }
        let suits = |(number, lane): (usize, &Lane)| {
            let crossing = lane.crossing().filter(|crossing| crossing.write.is_none())?;
            Some((number, crossing.track.part_of_length(length)?))
        };
        let Some((number, from)) = self.pos.lanes.iter().enumerate().find_map(suits) else { return false };
        let walkers = moves.iter().map(|&(tape, sign)| Walker { tape, sign, from, to: from + length });
        self.move_along(number, walkers.collect());
        true
    }

    /// Whether a deferred move was offered to bring a head back; then it does.
    pub(super) fn accept_offer(&mut self, tape: Tape) -> bool {
        let offer = |(number, lane): (usize, &Lane)| {
            let walker = lane.crossing()?.offered.iter().find(|walker| walker.tape == tape)?;
            Some((number, *walker))
        };
        let Some((number, walker)) = self.pos.lanes.iter().enumerate().find_map(offer) else { return false };
        self.move_along(number, vec![walker]);
        true
    }

    /// Adds heads to a deferred crossing.
    fn move_along(&mut self, number: usize, walkers: Vec<Walker>) {
        let Lane::Crossing(crossing) = &mut self.pos.lanes[number] else { return };
        let track = crossing.is_idle().then(|| crossing.track.clone());
        let moved = |tape| walkers.iter().any(|walker| walker.tape == tape);
        crossing.offered.retain(|walker| !moved(walker.tape));
        crossing.walkers.extend(walkers);
        if let Some(track) = track {
            self.crossed(&track);
        }
    }

    /// The heads that deferred moves can bring back.
    pub(super) fn offers(&self) -> Vec<Tape> {
        let crossings = self.pos.lanes.iter().filter_map(Lane::crossing);
        crossings.flat_map(|crossing| crossing.offered.iter().map(|walker| walker.tape)).collect()
    }

    /// Makes all deferred moves.
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

    /// The states of a deferred move; `None` if nothing needs it.
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
            let act = Act::go(&track.moves(&walkers, track.part(passed), true), Some(passed));
            match write {
                Some((tape, bit)) => act.writing(tape, bit),
                None => act,
            }
        };
        self.sweep_out(&track, go);
        let exit = std::mem::replace(&mut self.cur, before);
        Some(Fragment { entry, exit, tapes })
    }

    fn in_a_row(&mut self, first: Fragment, second: Fragment) -> Fragment {
        self.graph.arrow(first.exit, Arrow::to(second.entry));
        let tapes = first.tapes.union(&second.tapes).copied().collect();
        Fragment { entry: first.entry, exit: second.exit, tapes }
    }

    /// Joins fragments about different tapes, at the same time if that takes few states.
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

    /// Two fragments at the same time; `None` if that takes too many vertices.
    fn side_by_side(&mut self, a: &Fragment, b: &Fragment) -> Option<Fragment> {
        let mut size = 1;
        for fragment in [a, b] {
            let inside = self.graph.between(fragment.entry, fragment.exit);
            inside.iter().for_each(|&node| self.graph.skip_empty_steps(node));
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
                if node == exit { stays(node) } else { self.graph.entries[node].arrows.clone() }
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
