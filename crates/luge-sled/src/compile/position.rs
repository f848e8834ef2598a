//! The positions of heads between two instructions, how to move them, and how branches are joined.

use std::collections::BTreeMap;

use super::{
    Generator,
    automaton::Track,
    data::DataPos,
    graph::Node,
    lanes::Lane,
    plan::{Object, Want},
    tapes::{self, DATA, PRODUCT, Tape},
};
use crate::core::{Affine, Index};

/// Where the head of a tape of memory is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Head {
    /// On the lowest bit of this word; the variables are counters of loops around.
    At(Affine),
    /// On the lowest bit of some word: an index said which.
    Lost,
    /// Wherever the body that is being tried out wants it first.
    Anywhere,
}

/// Where all heads are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pos {
    /// Heads that are not where they start.
    heads: BTreeMap<Tape, Head>,
    /// The mark that each counter not in use is on.
    counters: BTreeMap<Tape, Option<usize>>,
    pub(super) data: DataPos,
    /// Rulers whose heads are not at home but at the end of a way.
    rulers: BTreeMap<Tape, Track>,
    /// The line and the number of loops around of the product that left a head on the next element.
    stepped: BTreeMap<Tape, (u32, usize)>,
    /// Walks that nothing waits for yet; everything else is as it is after them.
    pub(super) lanes: Vec<Lane>,
    /// Whether heads not named are anywhere rather than where they start.
    trial: bool,
}

impl Pos {
    /// Before the body of a loop is tried out: nothing is known.
    pub(super) fn anywhere() -> Self {
        Self { data: DataPos::Anywhere, trial: true, ..Self::default() }
    }

    pub(super) fn head(&self, tape: Tape) -> Head {
        let start = if self.trial { Head::Anywhere } else { Head::At(Affine::default()) };
        self.heads.get(&tape).cloned().unwrap_or(start)
    }

    /// Notes that a product left a head on the next element.
    pub(super) fn note_step(&mut self, tape: Tape, place: (u32, usize)) {
        self.stepped.insert(tape, place);
    }

    pub(super) fn put(&mut self, tape: Tape, head: Head) {
        self.heads.insert(tape, head);
    }

    /// The mark a counter is on; `None` if that is not known yet.
    pub(super) fn counter(&self, tape: Tape) -> Option<usize> {
        let start = if self.trial { None } else { Some(0) };
        self.counters.get(&tape).copied().unwrap_or(start)
    }

    pub(super) fn counters_used(&self) -> Vec<Tape> {
        self.counters.keys().copied().collect()
    }

    pub(super) fn put_counter(&mut self, tape: Tape, mark: usize) {
        self.counters.insert(tape, Some(mark));
    }

    pub(super) fn ruler(&self, tape: Tape) -> Option<&Track> {
        self.rulers.get(&tape)
    }

    pub(super) fn rulers(&self) -> Vec<Tape> {
        self.rulers.keys().copied().collect()
    }

    pub(super) fn same_rulers(&self, other: &Self) -> bool {
        self.rulers == other.rulers
    }

    pub(super) fn put_ruler(&mut self, tape: Tape, waiting: Option<Track>) {
        match waiting {
            Some(track) => self.rulers.insert(tape, track),
            None => self.rulers.remove(&tape),
        };
    }

    /// The same with another value for the counter of a loop.
    pub(super) fn with(&self, var: usize, value: &Affine) -> Self {
        let mut pos = self.clone();
        for head in pos.heads.values_mut() {
            if let Head::At(at) = head {
                *at = at.with(var, value);
            }
        }
        if let DataPos::Inside(at) = &mut pos.data {
            *at = at.with(var, value);
        }
        pos
    }

    /// With every head that a body wants somewhere first put there.
    pub(super) fn wanted(&self, first: &First) -> Self {
        let mut pos = Self { rulers: BTreeMap::new(), lanes: Vec::new(), ..self.clone() };
        for (&tape, at) in &first.heads {
            pos.put(tape, Head::At(at.clone()));
        }
        for (&tape, &mark) in &first.counters {
            pos.put_counter(tape, mark);
        }
        if let Some(data) = &first.data {
            pos.data = data.clone();
        }
        pos
    }
}

/// Where a body wants each head first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct First {
    pub(super) heads: BTreeMap<Tape, Affine>,
    pub(super) counters: BTreeMap<Tape, usize>,
    pub(super) data: Option<DataPos>,
}

/// Words that are walked one by one.
const NEAR: i64 = 3;

/// Words of one bit that are walked along a ruler.
const MAX_BITS: u64 = 64;

fn is_near(distance: &Affine) -> bool {
    distance.is_constant() && distance.constant.abs() <= NEAR
}

/// A word of memory: which tape, which word, and what is still to be walked.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Spot {
    pub(super) tape: Tape,
    /// Cells a word takes there.
    pub(super) pitch: u32,
    pub(super) at: Affine,
    /// Temporaries that hold computed indices, and how many words each counts for.
    pub(super) walks: Vec<(usize, u32, i64)>,
}

/// Where a way through the program ends and the heads there; `None` if nothing comes there.
pub(super) type WayEnd = Option<(Node, Pos)>;

impl Generator<'_> {
    /// Where an object is: tape, first word, cells per word.
    pub(super) fn home(&mut self, object: Object, width: u32, length: usize) -> (Tape, i64, u32) {
        let weight = self.weight();
        let want = self.demand.objects.entry(object).or_insert(Want { width, length, weight: 0 });
        want.weight += weight;
        want.width = want.width.max(width);
        if let Some(place) = self.plan.place(object) {
            return place;
        }
        (self.without_plan(object), 0, width)
    }

    /// An index as a number of counters, without its computed parts.
    pub(super) fn known(&self, index: &Index) -> Affine {
        let mut known = Affine::constant(index.known.constant);
        for &(var, factor) in &index.known.terms {
            let value = self.variables.get(&var).cloned().unwrap_or_default();
            known = known.plus(&value.times(factor));
        }
        known
    }

    /// Puts the head on the lowest bit of a word.
    pub(super) fn seek(&mut self, tape: Tape, pitch: u32, target: &Affine) {
        match self.pos.head(tape) {
            Head::Anywhere => self.want(|first| {
                first.heads.entry(tape).or_insert_with(|| target.clone());
            }),
            Head::Lost => self.defer(|generator| {
                generator.rewind(tape);
                generator.move_words(tape, pitch, &Affine::default(), target);
            }),
            Head::At(now) => {
                let now = self.take_back(tape, now, target);
                let distance = target.minus(&now);
                if is_near(&distance) && tape != PRODUCT {
                    self.move_words(tape, pitch, &now, target);
                } else {
                    self.defer(|generator| generator.move_words(tape, pitch, &now, target));
                }
            }
        }
        self.pos.put(tape, Head::At(target.clone()));
    }

    /// Notes where the body that is being tried out wants a head first.
    pub(super) fn want(&mut self, note: impl FnOnce(&mut First)) {
        self.settle();
        if let Some(first) = self.trials.last_mut() {
            note(first);
        }
    }

    /// Whether the head of a product may end on the next element: the element itself is not wanted again.
    pub(super) fn may_step_on(&self, tape: Tape) -> bool {
        !self.plan.stays.contains(&(self.line, tape))
    }

    /// Lets the way back of the last pass bring a head back to its word, if it has to go that way. Where a product left a head
    /// on the next element in vain, the next plan keeps it.
    pub(super) fn take_back(&mut self, tape: Tape, now: Affine, target: &Affine) -> Affine {
        let distance = target.minus(&now);
        if let Some((line, depth)) = self.pos.stepped.remove(&tape)
            && tape != DATA
            && distance.is_constant()
            && distance.constant < 0
            && depth <= self.loops.len()
        {
            self.demand.stays.insert((line, tape));
        }
        if distance.is_constant() && distance.constant < 0 && self.accept_offer(tape) {
            return now.offset(-1);
        }
        now
    }

    fn move_words(&mut self, tape: Tape, pitch: u32, from: &Affine, to: &Affine) {
        let distance = to.minus(from);
        if distance == Affine::default() {
            return;
        }
        if tape == PRODUCT {
            return self.seek_product(from.constant, to.constant);
        }
        let array = self.array_on(tape);
        if is_near(&distance) || array.is_none() {
            return self.move_by(tape, pitch, distance.constant);
        }
        // From the tape's beginning, or from here: whichever is shorter.
        let from_start = self.n_walked(from) + self.n_walked(to) <= self.n_walked(&distance);
        if from_start && *from != Affine::default() {
            // A loop that counts down leaves its head before the first word, where the way left has no end.
            let (lowest, _) = self.range(from);
            if lowest < 0 {
                self.move_by(tape, pitch, -lowest);
            }
            self.rewind(tape);
            return self.move_words(tape, pitch, &Affine::default(), to);
        }
        for &(var, factor) in &distance.terms {
            self.along_counter(var, |generator| generator.move_by(tape, pitch, factor));
        }
        self.move_by(tape, pitch, distance.constant);
    }

    /// About how many words are walked, twice, so that it is a whole number.
    fn n_walked(&self, distance: &Affine) -> i64 {
        let along = |&(var, factor): &(usize, i64)| factor.abs() * self.most_of(var);
        2 * distance.constant.abs() + distance.terms.iter().map(along).sum::<i64>()
    }

    /// A known number of words; many of them are counted.
    fn move_by(&mut self, tape: Tape, pitch: u32, words: i64) {
        let direction = if words < 0 { -1 } else { 1 };
        let n_words = words.unsigned_abs();
        if n_words <= NEAR.unsigned_abs() || self.array_on(tape).is_none() {
            return self.glide(&[(tape, direction)], None, pitch, u32::try_from(n_words).unwrap_or(u32::MAX));
        }
        if pitch == 1 && n_words <= MAX_BITS {
            return self.walk(tape, direction, u32::try_from(n_words).unwrap_or(u32::MAX), None);
        }
        self.counted(n_words, |generator| generator.glide(&[(tape, direction)], None, pitch, 1));
    }

    pub(super) fn holds_array(&self, tape: Tape) -> bool {
        self.array_on(tape).is_some()
    }

    /// An array on a tape of memory, if there is one.
    fn array_on(&self, tape: Tape) -> Option<usize> {
        let arrays = self.demand.objects.keys().filter_map(|&object| match object {
            Object::Array(array) => Some((object, array)),
            _ => None,
        });
        let mut on_tape = arrays.filter(|&(object, array)| match self.plan.place(object) {
            Some((other, ..)) => other == tape,
            None => tape == tapes::without_plan(4 * array + 2),
        });
        on_tape.next().map(|(_, array)| array)
    }

    /// Back to the first word of a tape of arrays.
    pub(super) fn rewind(&mut self, tape: Tape) {
        if let Some(array) = self.array_on(tape) {
            self.demand.rewound.insert(array);
        }
        self.settle();
        self.until(tapes::origin(tape), 1, &[(tape, -1)]);
        self.pos.put(tape, Head::At(Affine::default()));
    }

    /// Puts the head on a word, walking along computed indices, which are used up by that.
    pub(super) fn approach(&mut self, spot: &Spot) {
        self.seek(spot.tape, spot.pitch, &spot.at);
        if spot.walks.is_empty() {
            return;
        }
        for &(temporary, width, stride) in &spot.walks {
            self.count_down(temporary, width, |generator| generator.move_by(spot.tape, spot.pitch, stride));
        }
        self.pos.put(spot.tape, Head::Lost);
    }

    /// Lets the way back of the last pass bring back every head that is to go that way.
    pub(super) fn bring_back(&mut self, target: &Pos) {
        for tape in self.offers() {
            if tape == DATA {
                if let (DataPos::Inside(now), DataPos::Inside(to)) = (self.pos.data.clone(), &target.data) {
                    self.pos.data = DataPos::Inside(self.take_back(DATA, now, to));
                }
            } else if let (Head::At(now), Head::At(to)) = (self.pos.head(tape), target.head(tape)) {
                let now = self.take_back(tape, now, &to);
                self.pos.put(tape, Head::At(now));
            }
        }
    }

    /// Brings all heads to where they are to be.
    pub(super) fn go_to(&mut self, target: &Pos) {
        self.bring_back(target);
        if self.pos.data != target.data {
            self.seek_data(&target.data);
        }
        let tapes: Vec<Tape> = self.pos.heads.keys().chain(target.heads.keys()).copied().collect();
        for tape in tapes {
            match (self.pos.head(tape), target.head(tape)) {
                (now, wanted) if now == wanted => {}
                (_, Head::At(at)) => {
                    let pitch = self.pitch(tape);
                    self.seek(tape, pitch, &at);
                }
                (_, Head::Lost | Head::Anywhere) => self.pos.put(tape, target.head(tape)),
            }
        }
        let counters: Vec<Tape> = self.pos.counters.keys().chain(target.counters.keys()).copied().collect();
        for tape in counters {
            if let Some(mark) = target.counter(tape) {
                self.seek_counter(tape, mark);
            }
        }
        self.place_rulers(target);
        self.settle();
    }

    /// Cells per word.
    fn pitch(&self, tape: Tape) -> u32 {
        let on_tape =
            self.demand.objects.iter().filter_map(|(&object, want)| match self.plan.place(object) {
                Some((other, _, pitch)) => (other == tape).then_some(pitch),
                None => (self.without_plan(object) == tape).then_some(want.width),
            });
        on_tape.max().unwrap_or(1)
    }

    /// Where an object is as long as there is no plan for it.
    fn without_plan(&self, object: Object) -> Tape {
        tapes::without_plan(match object {
            Object::Slot(slot) => 4 * slot,
            Object::Temporary(number) => 4 * number + 1,
            Object::Array(array) => 4 * array + 2,
            Object::Constant(..) => {
                4 * self.demand.objects.keys().position(|&o| o == object).unwrap_or(0) + 3
            }
        })
    }

    /// The end of a way, `None` if nothing comes there.
    pub(super) fn way_end(&mut self) -> WayEnd {
        let node = self.here();
        (!self.dead).then(|| (node, self.pos.clone()))
    }

    /// Goes on from the end of a way.
    pub(super) fn resume(&mut self, end: WayEnd) {
        self.pos.lanes.clear();
        self.dead = end.is_none();
        if let Some((node, pos)) = end {
            (self.cur, self.pos) = (node, pos);
        } else {
            self.cur = self.new_node();
        }
    }

    /// Brings several ends together in one state, where the last of them is.
    pub(super) fn join(&mut self, ends: Vec<WayEnd>) {
        let ends: Vec<(Node, Pos)> = ends.into_iter().flatten().collect();
        let Some((_, last)) = ends.last() else { return self.resume(None) };
        let mut target = Pos { lanes: Vec::new(), ..last.clone() };
        if ends.iter().any(|(_, pos)| pos.data != target.data) {
            target.data = target.data.shared();
        }
        for (_, pos) in &ends {
            for (&tape, head) in &pos.heads {
                match (head, target.head(tape)) {
                    // What one way has not touched is where the other wants it.
                    (Head::At(at), Head::Anywhere) => target.put(tape, Head::At(at.clone())),
                    // A head that is lost on one way is lost on all, unless it is looked for.
                    (Head::Lost, Head::At(_)) | (Head::At(_), Head::Lost) => {
                        target.put(tape, Head::At(Affine::default()));
                    }
                    _ => {}
                }
            }
            for (&tape, &mark) in &pos.counters {
                if target.counter(tape).is_none()
                    && let Some(mark) = mark
                {
                    target.put_counter(tape, mark);
                }
            }
        }
        let joined = self.new_node();
        for (node, pos) in ends {
            self.resume(Some((node, pos)));
            self.go_to(&target);
            self.jump(joined);
        }
        self.resume(Some((joined, target)));
    }
}
