//! The positions of heads between two instructions, how to move them, and how branches are joined.

use std::collections::BTreeMap;

use super::{Affine, Generator, Lane, Node, Object, Slot, Tape, Track, Want};

/// The position of a head on the data, on a tape of memory, or on a counter that is not in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Head {
    /// On the lowest bit of this word; the variables are counters of the enclosing loops. On the data, words are the numbers
    /// of the current sample, and the word after the last of them is right behind the sample. On a counter, words are marks.
    At(Affine),
    /// On the lowest bit of some word, which a computed index selected.
    Lost,
    /// Wherever the body that is being tried out first needs it.
    Anywhere,
    /// On the first sample, outside of loops over the data.
    FirstSample,
    /// Behind the last sample.
    BehindSamples,
}

impl Head {
    /// The position in which branches with different positions of the data's head are joined.
    fn shared(self) -> Self {
        match self {
            Self::FirstSample | Self::BehindSamples => Self::FirstSample,
            Self::At(at) if !at.is_constant() => Self::At(Affine::default()),
            Self::Lost => Self::At(Affine::default()),
            head => head,
        }
    }
}

/// The positions of all heads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pos {
    /// Heads that have moved.
    heads: BTreeMap<Tape, Head>,
    /// Rulers whose heads are not at home but at the end of a track.
    pub(super) rulers: BTreeMap<Tape, Track>,
    /// For heads that a product left on the next element: its line, and the number of enclosing loops.
    pub(super) stepped: BTreeMap<Tape, (u32, usize)>,
    /// Moves that are deferred; all other fields describe the positions after them.
    pub(super) lanes: Vec<Lane>,
    /// Whether heads that have not moved can be anywhere.
    trial: bool,
}

impl Pos {
    /// Nothing is known: the positions before the body of a loop is tried out.
    pub(super) fn anywhere() -> Self {
        Self { trial: true, ..Self::default() }
    }

    pub(super) fn head(&self, tape: Tape) -> Head {
        match self.heads.get(&tape) {
            Some(head) => head.clone(),
            None if self.trial => Head::Anywhere,
            None if tape == Tape::Data => Head::FirstSample,
            None => Head::At(Affine::default()),
        }
    }

    pub(super) fn put(&mut self, tape: Tape, head: Head) {
        self.heads.insert(tape, head);
    }

    /// The counters whose heads have moved.
    pub(super) fn counters(&self) -> Vec<Tape> {
        self.heads.keys().copied().filter(|tape| matches!(tape, Tape::Counter(_))).collect()
    }

    /// The same with another value for the counter of a loop.
    pub(super) fn with(&self, var: usize, value: &Affine) -> Self {
        let mut pos = self.clone();
        for head in pos.heads.values_mut() {
            if let Head::At(at) = head {
                *at = at.with(var, value);
            }
        }
        pos
    }

    /// The same with every head where a body first needs it.
    pub(super) fn wanted(&self, first: First) -> Self {
        let mut pos = Self { rulers: BTreeMap::new(), lanes: Vec::new(), ..self.clone() };
        pos.heads.extend(first);
        pos
    }
}

/// Where a body first needs each head.
pub(super) type First = BTreeMap<Tape, Head>;

/// The most words that a head moves without counting them.
const NEAR: i64 = 3;

/// The most words of one bit that a head moves along a ruler.
const MAX_BITS: u64 = 64;

fn is_near(distance: &Affine) -> bool {
    distance.is_constant() && distance.constant.abs() <= NEAR
}

/// A word on a tape.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Spot {
    pub(super) tape: Tape,
    /// Cells from one word to the next.
    pub(super) pitch: u32,
    /// The word, without the computed parts of its index.
    pub(super) at: Affine,
    pub(super) walks: Vec<Walk>,
}

impl Spot {
    /// The word at a known position.
    pub(super) fn new(tape: Tape, pitch: u32, word: i64) -> Self {
        Self { tape, pitch, at: Affine::constant(word), walks: Vec::new() }
    }
}

/// A part of an index that is computed at run time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Walk {
    /// The temporary that holds it, which is used up when a head follows it.
    pub(super) slot: Slot,
    /// Bits of the temporary.
    pub(super) width: u32,
    /// Words that each unit counts for.
    pub(super) stride: i64,
}

/// The end of a branch: its node, and the heads there. `None` if no run gets there.
pub(super) type BranchEnd = Option<(Node, Pos)>;

impl Generator<'_> {
    /// The first word of an object.
    pub(super) fn home(&mut self, object: Object, width: u32, length: usize) -> Spot {
        let weight = self.weight();
        let want = self.demand.objects.entry(object).or_insert(Want { width, length, weight: 0 });
        want.weight += weight;
        want.width = want.width.max(width);
        self.place(object, width)
    }

    /// The place in the plan; for objects without one, a tape of their own.
    fn place(&self, object: Object, width: u32) -> Spot {
        self.plan.place(object).unwrap_or_else(|| Spot::new(Tape::Draft(object), width, 0))
    }

    /// The objects of some kind on a tape, and their places.
    fn objects_on(&self, tape: Tape, kind: fn(&Object) -> bool) -> impl Iterator<Item = (Object, Spot)> {
        let objects = self.demand.objects.iter().filter(move |(object, _)| kind(object));
        let places = objects.map(|(&object, want)| (object, self.place(object, want.width)));
        places.filter(move |(_, spot)| spot.tape == tape)
    }

    /// An index in terms of loop variables, converted to counters.
    pub(super) fn known(&self, index: &Affine) -> Affine {
        let mut known = Affine::constant(index.constant);
        for &(var, factor) in &index.terms {
            let value = self.variables.get(&var).cloned().unwrap_or_default();
            known = known.plus(&value.times(factor));
        }
        known
    }

    /// Moves a head to the lowest bit of a word.
    pub(super) fn seek(&mut self, tape: Tape, pitch: u32, target: &Affine) {
        if tape == Tape::Data && self.core.takes && *target == Affine::constant(self.n_numbers()) {
            return self.go_behind_sample();
        }
        match self.pos.head(tape) {
            Head::Anywhere => self.want(tape, Head::At(target.clone())),
            Head::Lost => self.defer(|generator| {
                generator.rewind(tape);
                generator.move_words(tape, pitch, &Affine::default(), target);
            }),
            Head::At(now) => {
                let now = self.take_back(tape, now, target);
                let in_steps = is_near(&target.minus(&now)) && !matches!(tape, Tape::Data | Tape::Product);
                if in_steps {
                    self.move_words(tape, pitch, &now, target);
                } else {
                    self.defer(|generator| generator.move_words(tape, pitch, &now, target));
                }
            }
            // Outside of loops over the data there is no sample.
            Head::FirstSample | Head::BehindSamples => {}
        }
        self.pos.put(tape, Head::At(target.clone()));
    }

    /// Records where the body that is being tried out first needs a head.
    pub(super) fn want(&mut self, tape: Tape, head: Head) {
        self.settle();
        if let Some(first) = self.trials.last_mut() {
            first.entry(tape).or_insert(head);
        }
    }

    /// Whether a product on this line may leave a head on the next element.
    pub(super) fn may_step_on(&self, tape: Tape) -> bool {
        !self.plan.needs.stays.contains(&(self.line, tape))
    }

    /// Lets the last pass bring a head back to its word if the head has to go that way. If a product left the head on the next
    /// element in vain, the next plan keeps it where it was.
    fn take_back(&mut self, tape: Tape, now: Affine, target: &Affine) -> Affine {
        let distance = target.minus(&now);
        if let Some((line, depth)) = self.pos.stepped.remove(&tape)
            && tape != Tape::Data
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
        if tape == Tape::Product {
            return self.seek_product(from.constant, to.constant);
        }
        if tape == Tape::Data {
            return self.move_numbers(from, to);
        }
        let array = self.array_on(tape);
        if is_near(&distance) || array.is_none() {
            return self.move_by(tape, pitch, distance.constant);
        }
        // Either from the first word or from here, whichever is shorter.
        let from_start = self.n_walked(from) + self.n_walked(to) <= self.n_walked(&distance);
        if from_start && *from != Affine::default() {
            // A loop that counts down leaves its head before the first word; to the left of it there is no mark.
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

    /// An estimate of the words that a head moves, times two to make it an integer.
    fn n_walked(&self, distance: &Affine) -> i64 {
        let along = |&(var, factor): &(usize, i64)| factor.abs() * self.most_of(var);
        2 * distance.constant.abs() + distance.terms.iter().map(along).sum::<i64>()
    }

    /// Moves a head by a known number of words.
    fn move_by(&mut self, tape: Tape, pitch: u32, words: i64) {
        if tape == Tape::Data {
            return self.move_numbers_by(words);
        }
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

    /// Whether a tape holds arrays or samples.
    pub(super) fn has_elements(&self, tape: Tape) -> bool {
        tape == Tape::Data || self.array_on(tape).is_some()
    }

    /// An array on a tape of memory, if there is one.
    fn array_on(&self, tape: Tape) -> Option<usize> {
        let mut arrays = self.objects_on(tape, |object| matches!(object, Object::Array(_)));
        arrays.find_map(|(object, _)| if let Object::Array(array) = object { Some(array) } else { None })
    }

    /// Moves a head back to the first word of a tape of arrays, or of the current sample.
    fn rewind(&mut self, tape: Tape) {
        if tape == Tape::Data {
            return self.go_to_sample(false);
        }
        if let Some(array) = self.array_on(tape) {
            self.demand.rewound.insert(array);
        }
        self.settle();
        self.until(tape.origin(), &[1], &[(tape, -1)]);
        self.pos.put(tape, Head::At(Affine::default()));
    }

    /// Moves a head to a word and along the computed parts of its index.
    pub(super) fn approach(&mut self, spot: &Spot) {
        self.seek(spot.tape, spot.pitch, &spot.at);
        for walk in &spot.walks {
            self.count_down(walk, |generator| generator.move_by(spot.tape, spot.pitch, walk.stride));
            self.pos.put(spot.tape, Head::Lost);
        }
    }

    /// Lets the last pass bring back every head that has to go that way.
    pub(super) fn bring_back(&mut self, target: &Pos) {
        for tape in self.offers() {
            if let (Head::At(now), Head::At(to)) = (self.pos.head(tape), target.head(tape)) {
                let now = self.take_back(tape, now, &to);
                self.pos.put(tape, Head::At(now));
            }
        }
    }

    /// Moves all heads to their positions in `target`.
    pub(super) fn go_to(&mut self, target: &Pos) {
        self.bring_back(target);
        let mut tapes: Vec<Tape> =
            [Tape::Data].iter().chain(self.pos.heads.keys()).chain(target.heads.keys()).copied().collect();
        tapes.retain(|tape| !matches!(tape, Tape::Counter(_)));
        for tape in tapes {
            match (self.pos.head(tape), target.head(tape)) {
                (now, wanted) if now == wanted => {}
                (_, Head::At(at)) => {
                    let pitch = self.pitch(tape);
                    self.seek(tape, pitch, &at);
                }
                (_, wanted @ (Head::FirstSample | Head::BehindSamples)) => self.seek_samples(wanted),
                (_, wanted) => self.pos.put(tape, wanted),
            }
        }
        // Moving the other heads can move counters, so these come last.
        for tape in [self.pos.counters(), target.counters()].concat() {
            if let Head::At(mark) = target.head(tape) {
                self.seek_counter(tape, mark.constant);
            }
        }
        self.place_rulers(target);
        self.settle();
    }

    /// Cells per word.
    fn pitch(&self, tape: Tape) -> u32 {
        self.objects_on(tape, |_| true).map(|(_, spot)| spot.pitch).max().unwrap_or(1)
    }

    /// The end of the current branch.
    pub(super) fn branch_end(&mut self) -> BranchEnd {
        let node = self.here();
        (!self.dead).then(|| (node, self.pos.clone()))
    }

    /// Continues from the end of a branch.
    pub(super) fn resume(&mut self, end: BranchEnd) {
        self.pos.lanes.clear();
        self.dead = end.is_none();
        if let Some((node, pos)) = end {
            (self.cur, self.pos) = (node, pos);
        } else {
            self.cur = self.new_node();
        }
    }

    /// Joins branches in one node, with the heads where they are at the end of the last branch.
    pub(super) fn join(&mut self, ends: Vec<BranchEnd>) {
        let ends: Vec<(Node, Pos)> = ends.into_iter().flatten().collect();
        let Some((_, last)) = ends.last() else { return self.resume(None) };
        let mut target = Pos { lanes: Vec::new(), ..last.clone() };
        if ends.iter().any(|(_, pos)| pos.head(Tape::Data) != target.head(Tape::Data)) {
            target.put(Tape::Data, target.head(Tape::Data).shared());
        }
        for (_, pos) in &ends {
            for (&tape, head) in pos.heads.iter().filter(|&(&tape, _)| tape != Tape::Data) {
                match (head, target.head(tape)) {
                    // A head that one branch has not moved is where the other needs it.
                    (Head::At(_), Head::Anywhere) => target.put(tape, head.clone()),
                    (Head::Lost, Head::At(_)) | (Head::At(_), Head::Lost) => {
                        target.put(tape, Head::At(Affine::default()));
                    }
                    _ => {}
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
