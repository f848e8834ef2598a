//! Ways: how heads get from where one instruction leaves them to where the next one needs them.

use super::{
    DATA, END, FEATURE, Generator, LABEL, MARKS, MEMORY, RULER, TABLE, Tape,
    automaton::{Act, DataPos, Pos, TablePos},
    graph::{Arrow, Node},
};

impl Generator<'_> {
    /// Moves heads by words of these widths, one after the other, writing on the way if asked to.
    pub(super) fn glide(&mut self, tapes: &[(Tape, i8)], write: Option<(Tape, u8)>, widths: &[u32]) {
        self.settle(0);
        let mut out: Option<u32> = None;
        for &width in widths {
            if width == 1 {
                self.single_step(tapes, write);
                continue;
            }
            let reach = self.reach(width);
            if let Some(other) = out.filter(|&other| other != width) {
                let other = self.reach(other);
                self.ruler_home(other, &[(RULER, -other.direction)]);
                out = None;
            }
            let inward = out.is_some();
            let direction = if inward { -reach.direction } else { reach.direction };
            let all = [tapes, &[(RULER, direction)]].concat();
            let put = |act: Act<Option<u8>>| match write {
                Some((tape, bit)) => act.writing(tape, bit),
                None => act,
            };
            let exits = self.explore(
                None,
                1,
                |state: &Option<u8>| if state.is_some() { vec![RULER] } else { Vec::new() },
                |state, bits| match (*state, inward) {
                    (None, false) => put(Act::go(&all, Some(0))),
                    (None, true) => put(Act::go(&all, Some(reach.between))),
                    (Some(passed), false) if bits[0] == 1 && passed == reach.between => Act::exit(0),
                    (Some(passed), false) => put(Act::go(&all, Some(passed + bits[0]))),
                    (Some(0), true) if bits[0] == 1 => Act::exit(0),
                    (Some(left), true) => put(Act::go(&all, Some(left - bits[0]))),
                },
            );
            self.cur = exits[0];
            out = if inward { None } else { Some(width) };
        }
        if let Some(width) = out {
            let reach = self.reach(width);
            self.ruler_home(reach, &[(RULER, -reach.direction)]);
        }
    }

    pub(super) fn single_step(&mut self, tapes: &[(Tape, i8)], write: Option<(Tape, u8)>) {
        let from = self.here();
        let next = self.new_node();
        let mut arrow = Arrow::to(next);
        for &(tape, offset) in tapes {
            arrow = arrow.shift(tape, offset);
        }
        if let Some((tape, bit)) = write {
            arrow = arrow.write(tape, bit);
        }
        self.graph.arrow(from, arrow);
        self.cur = next;
    }

    /// Moves a head by `length` cells: step by step if that is short, else along the ruler.
    pub(super) fn walk(&mut self, tape: Tape, direction: i8, length: u32, write: Option<u8>) {
        let write = write.map(|bit| (tape, bit));
        if length > 3 {
            return self.glide(&[(tape, direction)], write, &[length]);
        }
        for _ in 0..length {
            self.single_step(&[(tape, direction)], write);
        }
    }

    /// Lets the way back of the last sweep bring a head nearer to word `target`.
    pub(super) fn settle_towards(&mut self, tape: Tape, now: usize, target: usize, above: Option<u32>) {
        let Some(pending) = &self.pending else { return };
        if pending.movable != Some(tape) {
            return self.settle(0);
        }
        let words = if target < now {
            -1
        } else if target > now && above == Some(pending.width) {
            1
        } else {
            0
        };
        self.settle(words);
    }

    pub(super) fn seek_slot(&mut self, target: usize) {
        let above = self.widths.get(self.pos.slot).copied();
        self.settle_towards(MEMORY, self.pos.slot, target, above);
        let now = self.pos.slot;
        let widths: Vec<u32> = if now <= target {
            self.widths[now..target].to_vec()
        } else {
            self.widths[target..now].iter().rev().copied().collect()
        };
        let direction = if now <= target { 1 } else { -1 };
        self.glide(&[(MEMORY, direction)], None, &widths);
        self.pos.slot = target;
    }

    /// The place of a constant on the table.
    pub(super) fn constant(&mut self, raw: i64, width: u32) -> usize {
        let wanted = (raw, width);
        if !self.demand.constants.contains(&wanted) {
            self.demand.constants.push(wanted);
        }
        self.plan.constants.iter().position(|&known| known == wanted).unwrap_or(0)
    }

    pub(super) fn seek_table(&mut self, target: TablePos) {
        if let (TablePos::Constant(now), TablePos::Constant(target)) = (self.pos.table, target) {
            let above = self.plan.constants.get(now).map(|&(_, width)| width);
            self.settle_towards(TABLE, now, target, above);
        }
        self.settle(0);
        match (self.pos.table, target) {
            (TablePos::Home, TablePos::Home) => {}
            (TablePos::Home, TablePos::Constant(constant)) => {
                self.cross_outer(1);
                self.seek_constant(0, constant);
            }
            (TablePos::Constant(now), TablePos::Home) => {
                self.seek_constant(now, 0);
                self.cross_outer(-1);
            }
            (TablePos::Constant(now), TablePos::Constant(target)) => self.seek_constant(now, target),
        }
        self.pos.table = target;
    }

    pub(super) fn seek_constant(&mut self, now: usize, target: usize) {
        let width = |&(_, width): &(i64, u32)| width;
        // In the first of the two rounds there are no constants yet.
        let (low, high) = (now.min(target), now.max(target));
        let between = self.plan.constants.get(low..high).unwrap_or_default();
        let mut widths: Vec<u32> = between.iter().map(width).collect();
        if now > target {
            widths.reverse();
        }
        let direction = if now <= target { 1 } else { -1 };
        self.glide(&[(TABLE, direction)], None, &widths);
    }

    /// Over the second ruler: from its home to behind its last mark, or back.
    pub(super) fn cross_outer(&mut self, direction: i8) {
        let n_marks = self.plan.outer.n_right();
        if n_marks == 0 {
            return;
        }
        if direction < 0 {
            self.single_step(&[(TABLE, -1)], None);
        }
        for _ in 0..n_marks {
            self.until_mark(TABLE, direction);
        }
        if direction > 0 {
            self.single_step(&[(TABLE, 1)], None);
        }
    }

    /// Moves a ruler's head to its next mark.
    pub(super) fn until_mark(&mut self, tape: Tape, direction: i8) {
        self.single_step(&[(tape, direction)], None);
        let from = self.cur;
        let next = self.new_node();
        self.graph.arrow(from, Arrow::to(from).read(tape, 0).shift(tape, direction));
        self.graph.arrow(from, Arrow::to(next).read(tape, 1));
        self.cur = next;
    }

    /// Moves over the data, `marks` beside it, until one of these marks.
    pub(super) fn until_data(&mut self, direction: i8, until: &[u8], step_first: bool) {
        if step_first {
            self.single_step(&[(DATA, direction), (MARKS, direction)], None);
        }
        let from = self.here();
        let next = self.new_node();
        for mark in 0..4 {
            let arrow = if until.contains(&mark) {
                Arrow::to(next)
            } else {
                Arrow::to(from).shift(DATA, direction).shift(MARKS, direction)
            };
            self.graph.arrow(from, arrow.read(MARKS, mark));
        }
        self.cur = next;
    }

    pub(super) fn seek_element(&mut self, target: usize) {
        if self.pos.data == DataPos::End {
            self.rewind();
        }
        if let DataPos::Element(now) = self.pos.data {
            self.settle_towards(DATA, now, target, Some(self.core.format.width()));
        }
        let DataPos::Element(now) = self.pos.data else { return };
        self.settle(0);
        let direction = if now <= target { 1 } else { -1 };
        for _ in 0..now.abs_diff(target) {
            self.until_data(direction, &[FEATURE, LABEL, END], true);
        }
        self.pos.data = DataPos::Element(target);
    }

    /// On to the next sample, or to the end behind the last.
    pub(super) fn next_sample(&mut self) {
        let DataPos::Element(now) = self.pos.data else { return };
        self.settle(0);
        let DataPos::Element(after) = self.pos.data else { return };
        debug_assert_eq!(now, after);
        if now < self.core.n_features {
            self.until_data(1, &[LABEL], false);
        }
        if now < self.core.n_features + self.core.n_labels {
            self.until_data(1, &[FEATURE, END], true);
        }
        self.pos.data = DataPos::Element(0);
    }

    /// Back to the first sample.
    pub(super) fn rewind(&mut self) {
        self.settle(0);
        self.until_data(-1, &[END], true);
        self.single_step(&[(DATA, 1), (MARKS, 1)], None);
        self.pos.data = DataPos::Element(0);
    }

    pub(super) fn go_to(&mut self, target: Pos) {
        if self.pos.data != target.data {
            match target.data {
                DataPos::Element(element) => self.seek_element(element),
                DataPos::End => {}
            }
        }
        if self.pos.table != target.table {
            self.seek_table(target.table);
        }
        self.seek_slot(target.slot);
    }

    /// Brings several ends together in one state.
    pub(super) fn join(&mut self, ends: &[(Node, Pos)]) {
        let Some(&(_, mut target)) = ends.first() else { return };
        let at_end = |pos: &Pos| pos.data == DataPos::End;
        if ends.iter().any(|(_, pos)| at_end(pos)) && !ends.iter().all(|(_, pos)| at_end(pos)) {
            target.data = DataPos::Element(0);
        }
        let joined = self.new_node();
        for &(node, pos) in ends {
            self.cur = node;
            self.pos = pos;
            self.go_to(target);
            self.jump(joined);
        }
        self.cur = joined;
        self.pos = target;
    }

    /// Takes the rulers home and the data's head to the first sample.
    pub(super) fn prologue(&mut self) {
        for _ in 0..self.plan.ruler.n_left() {
            self.until_mark(RULER, 1);
        }
        self.single_step(&[(DATA, 1), (MARKS, 1)], None);
    }
}
