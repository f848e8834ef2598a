//! The head over the data: from number to number, from sample to sample, and back.

use super::{
    Generator,
    graph::Arrow,
    tapes::{self, DATA, END, FEATURE, LABEL, MARKS},
};
use crate::core::Affine;

/// Where the data's head is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum DataPos {
    /// On the first sample, outside of loops over the data.
    #[default]
    Start,
    /// Behind the last sample.
    End,
    /// On the lowest bit of this number of the current sample, or just behind the sample.
    Inside(Affine),
    /// On the lowest bit of some number of the current sample.
    Lost,
    /// Wherever the body that is being tried out wants it first.
    Anywhere,
}

impl DataPos {
    /// Where ways that differ here can come together.
    pub(super) fn shared(&self) -> Self {
        match self {
            Self::Start | Self::End => Self::Start,
            Self::Inside(at) if at.is_constant() => self.clone(),
            Self::Inside(_) | Self::Lost => Self::Inside(Affine::default()),
            Self::Anywhere => Self::Anywhere,
        }
    }
}

/// Numbers that are passed one by one.
const NEAR: i64 = 3;

pub(super) const LEFT: [(usize, i8); 1] = [(DATA, -1)];
pub(super) const RIGHT: [(usize, i8); 1] = [(DATA, 1)];

impl Generator<'_> {
    pub(super) fn n_numbers(&self) -> i64 {
        i64::try_from(self.core.n_features + self.core.n_labels).unwrap_or(i64::MAX)
    }

    /// Moves over the data until one of these marks, which may be at once.
    pub(super) fn until_marks(&mut self, direction: [(usize, i8); 1], until: &[u8]) {
        let from = self.fresh_node();
        let next = self.new_node();
        for mark in 0..4 {
            let arrow = if until.contains(&mark) {
                Arrow::to(next)
            } else {
                self.moving(Arrow::to(from), &direction)
            };
            self.graph.arrow(from, arrow.read(MARKS, mark));
        }
        self.cur = next;
    }

    /// To the next number, or the one before.
    pub(super) fn next_number(&mut self, direction: [(usize, i8); 1]) {
        self.single_step(&direction, None);
        self.until_marks(direction, &[FEATURE, LABEL, END]);
    }

    pub(super) fn seek_data(&mut self, target: &DataPos) {
        if let DataPos::Inside(at) = target {
            return self.seek_number(at);
        }
        match (self.pos.data.clone(), target) {
            (now, wanted) if now == *wanted => return,
            (DataPos::Anywhere, _) => self.want_data(target),
            (_, DataPos::Anywhere) => {}
            (_, DataPos::Start) => self.defer(Self::go_to_first_sample),
            (_, DataPos::End) => self.defer(|generator| generator.until_marks(RIGHT, &[END])),
            _ => {}
        }
        self.pos.data = target.clone();
    }

    /// Notes where the body that is being tried out wants the head first.
    pub(super) fn want_data(&mut self, target: &DataPos) {
        self.want(|first| {
            first.data.get_or_insert_with(|| target.clone());
        });
    }

    /// To a number of the current sample.
    pub(super) fn seek_number(&mut self, target: &Affine) {
        if self.core.takes && *target == Affine::constant(self.n_numbers()) {
            return self.go_behind_sample();
        }
        match self.pos.data.clone() {
            DataPos::Anywhere => self.want_data(&DataPos::Inside(target.clone())),
            DataPos::Inside(now) => {
                let now = self.take_back(DATA, now, target);
                self.defer(|generator| generator.move_numbers(&now, target));
            }
            DataPos::Lost => self.defer(|generator| {
                generator.go_to_sample(false);
                generator.move_numbers(&Affine::default(), target);
            }),
            // Outside of loops there is no sample; inside of one the head is inside, too.
            DataPos::Start | DataPos::End => {}
        }
        self.pos.data = DataPos::Inside(target.clone());
    }

    fn move_numbers(&mut self, from: &Affine, to: &Affine) {
        let distance = to.minus(from);
        if distance == Affine::default() {
            return;
        }
        if distance.is_constant() && distance.constant.abs() <= NEAR {
            return self.move_numbers_by(distance.constant);
        }
        let near = to.is_constant() && to.constant <= NEAR;
        let shorter = near || to.terms.len() < distance.terms.len();
        if shorter && *from != Affine::default() && !self.strays(from) {
            self.go_to_sample(self.reaches_end(from));
            return self.move_numbers(&Affine::default(), to);
        }
        self.move_inside(from, &distance);
    }

    /// Walks part by part, in an order that does not leave the sample on the way: beyond the data there are no marks.
    fn move_inside(&mut self, from: &Affine, distance: &Affine) {
        let term = |&(var, factor): &(usize, i64)| Affine::variable(var).times(factor);
        let mut parts: Vec<Affine> = distance.terms.iter().map(term).collect();
        parts.push(Affine::constant(distance.constant));
        let mut now = from.clone();
        while !parts.is_empty() {
            let (n_numbers, ways) = (self.n_numbers(), parts.iter().map(|part| self.range(&now.plus(part))));
            let next = ways.into_iter().position(|(lowest, highest)| lowest >= 0 && highest <= n_numbers);
            // Where each part alone would leave it, the way is by the sample's first number.
            if next.is_none() && now != Affine::default() && !self.strays(&now) {
                self.go_to_sample(self.reaches_end(&now));
                return self.move_inside(&Affine::default(), &from.plus(distance));
            }
            let part = parts.remove(next.unwrap_or(0));
            now = now.plus(&part);
            match part.terms[..] {
                [(var, factor)] => {
                    self.along_counter(var, |generator| generator.move_numbers_by(factor));
                }
                _ => self.move_numbers_by(part.constant),
            }
        }
    }

    fn move_numbers_by(&mut self, numbers: i64) {
        let direction = if numbers < 0 { LEFT } else { RIGHT };
        if numbers.abs() > NEAR {
            return self.counted(numbers.unsigned_abs(), |generator| generator.next_number(direction));
        }
        for _ in 0..numbers.abs() {
            self.next_number(direction);
        }
    }

    /// Whether the head may be behind the sample; if it is not, it is not on the first number, either.
    fn reaches_end(&self, at: &Affine) -> bool {
        let highest = at.value(|var| self.most_of(var));
        let falls = at.terms.iter().any(|term| term.1 < 0);
        at.constant > 0 && (falls || highest >= self.n_numbers()) && self.range(at).0 > 0
    }

    /// Whether marks do not tell where the head is: before its sample, further behind, or behind it or on its first number.
    fn strays(&self, at: &Affine) -> bool {
        let ((lowest, highest), end) = (self.range(at), self.n_numbers());
        lowest < 0 || highest > end || (lowest == 0 && highest == end)
    }

    /// To the first number of the current sample, from any number of it, or from behind it.
    fn go_to_sample(&mut self, from_behind: bool) {
        if from_behind {
            self.single_step(&LEFT, None);
        }
        self.until_marks(LEFT, &[FEATURE]);
        self.until_marks(LEFT, &[LABEL, END]);
        self.until_marks(RIGHT, &[FEATURE]);
    }

    /// Back to the first sample of all.
    fn go_to_first_sample(&mut self) {
        self.single_step(&LEFT, None);
        self.until_marks(LEFT, &[END]);
        self.single_step(&RIGHT, None);
    }

    /// On to the next sample, or to the end behind the last.
    pub(super) fn next_sample(&mut self) {
        self.defer(Self::walk_to_next_sample);
    }

    fn walk_to_next_sample(&mut self) {
        let DataPos::Inside(now) = self.pos.data.clone() else {
            if self.pos.data == DataPos::Lost {
                self.until_marks(RIGHT, &[LABEL]);
                self.single_step(&RIGHT, None);
                self.until_marks(RIGHT, &[FEATURE, END]);
            }
            self.pos.data = DataPos::Inside(Affine::default());
            return;
        };
        self.settle();
        let now = if self.strays(&now) {
            self.move_inside(&now, &now.times(-1));
            Affine::default()
        } else {
            now
        };
        let n_features = i64::try_from(self.core.n_features).unwrap_or(i64::MAX);
        if now == Affine::constant(self.n_numbers()) {
            self.pos.data = DataPos::Inside(Affine::default());
            return;
        }
        if now.constant < n_features || !now.is_constant() {
            if self.reaches_end(&now) {
                self.single_step(&LEFT, None);
                self.until_marks(LEFT, &[LABEL, FEATURE]);
            }
            self.until_marks(RIGHT, &[LABEL]);
        }
        self.single_step(&RIGHT, None);
        self.until_marks(RIGHT, &[FEATURE, END]);
        self.pos.data = DataPos::Inside(Affine::default());
    }

    /// Marks the current sample and goes to the first one of all.
    pub(super) fn leave_sample(&mut self, depth: usize) {
        self.seek_number(&Affine::default());
        self.demand.places = self.demand.places.max(depth + 1);
        self.single_step(&[], Some((tapes::place(depth), 1)));
        self.go_to_first_sample();
        self.pos.data = DataPos::Start;
    }

    /// Back to the sample that is marked.
    pub(super) fn find_sample(&mut self, depth: usize) {
        let from = self.fresh_node();
        let next = self.new_node();
        let place = tapes::place(depth);
        let back = self.moving(Arrow::to(from), &LEFT);
        self.graph.arrow(from, back.read(place, 0));
        self.graph.arrow(from, Arrow::to(next).read(place, 1).write(place, 0));
        self.cur = next;
        self.pos.data = DataPos::Inside(Affine::default());
    }

    /// The first sample of a loop over the data: its mark says whether there is one.
    pub(super) fn sample_or_end(&mut self) -> [usize; 2] {
        let from = self.here();
        let (first, end) = (self.new_node(), self.new_node());
        self.graph.arrow(from, Arrow::to(first).read(MARKS, FEATURE));
        self.graph.arrow(from, Arrow::to(end).read(MARKS, END));
        [first, end]
    }
}
