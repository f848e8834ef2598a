//! Samples of a stream: the memory holds one batch, and `take` moves to its next sample or waits for the next
//! batch.

use luge_machine::SampleUse;

use super::{
    Generator,
    data::{LEFT, RIGHT},
    graph::Arrow,
    position::Head,
    tapes::{END, FEATURE, Tape},
};
use crate::core::Affine;

impl Generator<'_> {
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
        self.graph.uses(take, SampleUse::Take);
        self.graph.uses(latch, SampleUse::Latch);
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
