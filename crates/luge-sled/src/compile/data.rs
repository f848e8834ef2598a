//! Moves of the head on the data: from number to number, from sample to sample, and back. On a stream the memory holds
//! one batch, and `take` moves to its next sample or waits for the next batch.

use luge_machine::SampleUse;

use super::{Affine, Arrow, END, FEATURE, Generator, Head, LABEL, Tape};

/// The most numbers that the head moves without counting them.
const NEAR: i64 = 3;

const LEFT: [(Tape, i8); 1] = [(Tape::Data, -1)];
const RIGHT: [(Tape, i8); 1] = [(Tape::Data, 1)];

impl Generator<'_> {
    pub(super) fn n_numbers(&self) -> i64 {
        i64::try_from(self.core.n_features + self.core.n_labels).unwrap_or(i64::MAX)
    }

    /// Moves until one of these marks; not at all if one of them is under the head already.
    pub(super) fn until_marks(&mut self, direction: [(Tape, i8); 1], marks: &[u8]) {
        self.fresh_node();
        self.until(Tape::Marks, marks, &direction);
    }

    /// Moves to the next number, or to the one before.
    fn next_number(&mut self, direction: [(Tape, i8); 1]) {
        self.single_step(&direction, None);
        self.until_marks(direction, &[FEATURE, LABEL, END]);
    }

    /// Moves to the first sample, or behind the last.
    pub(super) fn seek_samples(&mut self, target: Head) {
        match (self.pos.head(Tape::Data), &target) {
            (now, wanted) if now == *wanted => return,
            (Head::Anywhere, _) => self.want(Tape::Data, target.clone()),
            (_, Head::FirstSample) => self.defer(Self::go_to_first_sample),
            _ => self.defer(|generator| generator.until_marks(RIGHT, &[END])),
        }
        self.pos.put(Tape::Data, target);
    }

    /// Moves to a number of the current sample.
    pub(super) fn seek_number(&mut self, target: &Affine) {
        self.seek(Tape::Data, self.core.format.width(), target);
    }

    /// Moves from one number of the current sample to another.
    pub(super) fn move_numbers(&mut self, from: &Affine, to: &Affine) {
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

    /// Moves term by term, in an order that does not leave the sample on the way, because beyond the data there are no marks.
    fn move_inside(&mut self, from: &Affine, distance: &Affine) {
        let term = |&(var, factor): &(usize, i64)| Affine::variable(var).times(factor);
        let mut parts: Vec<Affine> = distance.terms.iter().map(term).collect();
        parts.push(Affine::constant(distance.constant));
        let mut now = from.clone();
        while !parts.is_empty() {
            let n_numbers = self.n_numbers();
            let mut ranges = parts.iter().map(|part| self.range(&now.plus(part)));
            let next = ranges.position(|(lowest, highest)| lowest >= 0 && highest <= n_numbers);
            // If every term alone would leave it, the head goes to the first number first.
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

    pub(super) fn move_numbers_by(&mut self, numbers: i64) {
        let direction = if numbers < 0 { LEFT } else { RIGHT };
        if numbers.abs() > NEAR {
            return self.counted(numbers.unsigned_abs(), |generator| generator.next_number(direction));
        }
        for _ in 0..numbers.abs() {
            self.next_number(direction);
        }
    }

    /// Whether the head can be behind the sample but not on its first number.
    fn reaches_end(&self, at: &Affine) -> bool {
        let highest = at.value(|var| self.most_of(var));
        let falls = at.terms.iter().any(|term| term.1 < 0);
        at.constant > 0 && (falls || highest >= self.n_numbers()) && self.range(at).0 > 0
    }

    /// Whether the marks are not enough to find the sample: the head can be before it, further behind it, or both right behind it
    /// and on its first number.
    fn strays(&self, at: &Affine) -> bool {
        let ((lowest, highest), end) = (self.range(at), self.n_numbers());
        lowest < 0 || highest > end || (lowest == 0 && highest == end)
    }

    /// Moves to the first number of the current sample, from any number of it or from right behind it.
    pub(super) fn go_to_sample(&mut self, from_behind: bool) {
        if from_behind {
            self.single_step(&LEFT, None);
        }
        self.until_marks(LEFT, &[FEATURE]);
        self.until_marks(LEFT, &[LABEL, END]);
        self.until_marks(RIGHT, &[FEATURE]);
    }

    /// Moves back to the first sample of all.
    fn go_to_first_sample(&mut self) {
        self.single_step(&LEFT, None);
        self.until_marks(LEFT, &[END]);
        self.single_step(&RIGHT, None);
    }

    /// Moves to the next sample, or behind the last.
    pub(super) fn next_sample(&mut self) {
        self.defer(Self::walk_to_next_sample);
    }

    fn walk_to_next_sample(&mut self) {
        let now = match self.pos.head(Tape::Data) {
            Head::At(now) => now,
            head => {
                if head == Head::Lost {
                    self.until_marks(RIGHT, &[LABEL]);
                    self.single_step(&RIGHT, None);
                    self.until_marks(RIGHT, &[FEATURE, END]);
                }
                return self.pos.put(Tape::Data, Head::At(Affine::default()));
            }
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
            return self.pos.put(Tape::Data, Head::At(Affine::default()));
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
        self.pos.put(Tape::Data, Head::At(Affine::default()));
    }

    /// Marks the current sample and moves to the first one of all.
    pub(super) fn leave_sample(&mut self, depth: usize) {
        self.seek_number(&Affine::default());
        self.demand.places = self.demand.places.max(depth + 1);
        self.single_step(&[], Some((Tape::Place(depth), 1)));
        self.go_to_first_sample();
        self.pos.put(Tape::Data, Head::FirstSample);
    }

    /// Moves back to the marked sample.
    pub(super) fn find_sample(&mut self, depth: usize) {
        let from = self.fresh_node();
        let next = self.new_node();
        let place = Tape::Place(depth);
        let back = self.moving(Arrow::to(from), &LEFT);
        self.graph.arrow(from, back.read(place, 0));
        self.graph.arrow(from, Arrow::to(next).read(place, 1).write(place, 0));
        self.cur = next;
        self.pos.put(Tape::Data, Head::At(Affine::default()));
    }

    /// Branches on whether there is another sample.
    pub(super) fn sample_or_end(&mut self) -> [usize; 2] {
        let from = self.here();
        let (first, end) = (self.new_node(), self.new_node());
        self.graph.arrow(from, Arrow::to(first).read(Tape::Marks, FEATURE));
        self.graph.arrow(from, Arrow::to(end).read(Tape::Marks, END));
        [first, end]
    }

    /// Moves from the marker to where the program begins: to the first sample or, on a stream, behind a batch that is used up.
    pub(super) fn find_data(&mut self) {
        self.single_step(&[(Tape::Data, 1)], None);
        if self.core.takes {
            self.until_marks(RIGHT, &[END]);
            self.pos.put(Tape::Data, Head::At(Affine::constant(self.n_numbers())));
        }
    }

    /// Moves to the next sample. Behind the last of a batch the machine takes a batch and latches its labels, on the way back to
    /// the first sample.
    pub(super) fn take_sample(&mut self) {
        self.go_behind_sample();
        let from = self.here();
        let [next, take, latch, back] = [(); 4].map(|()| self.new_node());
        self.graph.arrow(from, Arrow::to(next).read(Tape::Marks, FEATURE));
        self.graph.arrow(from, Arrow::to(take).read(Tape::Marks, END));
        self.graph.entries[take].samples = SampleUse::Take;
        self.graph.entries[latch].samples = SampleUse::Latch;
        // A batch has at least two numbers of two bits, so these steps end inside it.
        for (from, to) in [(take, latch), (latch, back)] {
            let arrow = self.moving(Arrow::to(to), &LEFT);
            self.graph.arrow(from, arrow);
        }
        self.cur = back;
        self.until_marks(LEFT, &[END]);
        self.single_step(&RIGHT, None);
        self.jump(next);
        self.cur = next;
        self.pos.put(Tape::Data, Head::At(Affine::default()));
    }

    /// Moves right behind the current sample.
    pub(super) fn go_behind_sample(&mut self) {
        let behind = Head::At(Affine::constant(self.n_numbers()));
        if self.pos.head(Tape::Data) == Head::Anywhere {
            self.want(Tape::Data, behind.clone());
        } else {
            self.next_sample();
        }
        self.pos.put(Tape::Data, behind);
    }
}
