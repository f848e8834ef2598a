//! Samples of a stream: the memory holds one batch, and `take` moves to its next sample or waits for the next
//! batch.

use luge_machine::SampleUse;

use super::{
    Generator,
    data::{DataPos, LEFT, RIGHT},
    graph::Arrow,
    tapes::{DATA, END, FEATURE, MARKS},
};
use crate::core::Affine;

impl Generator<'_> {
    /// From the marker to where the program begins: on the first sample, or, on a stream, behind a batch that is used up.
    pub(super) fn find_data(&mut self) {
        self.single_step(&[(DATA, 1)], None);
        if self.core.takes {
            self.until_marks(RIGHT, &[END]);
            self.pos.data = DataPos::Inside(Affine::constant(self.n_numbers()));
        }
    }

    /// On to the next sample. Behind the last of its batch a batch is taken and its labels latched, on the way back to the first.
    pub(super) fn take_sample(&mut self) {
        self.go_behind_sample();
        let from = self.here();
        let [next, take, latch, back] = [(); 4].map(|()| self.new_node());
        self.graph.arrow(from, Arrow::to(next).read(MARKS, FEATURE));
        self.graph.arrow(from, Arrow::to(take).read(MARKS, END));
        self.graph.uses(take, SampleUse::Take);
        self.graph.uses(latch, SampleUse::Latch);
        // A batch has at least two numbers of two bits, so that these steps end inside it.
        for (from, to) in [(take, latch), (latch, back)] {
            let arrow = self.moving(Arrow::to(to), &LEFT);
            self.graph.arrow(from, arrow);
        }
        self.cur = back;
        self.until_marks(LEFT, &[END]);
        self.single_step(&RIGHT, None);
        self.jump(next);
        self.cur = next;
        self.pos.data = DataPos::Inside(Affine::default());
    }

    /// To where the current sample ends.
    pub(super) fn go_behind_sample(&mut self) {
        let behind = DataPos::Inside(Affine::constant(self.n_numbers()));
        if self.pos.data == DataPos::Anywhere {
            self.want_data(&behind);
        } else {
            self.next_sample();
        }
        self.pos.data = behind;
    }
}
