//! Bit-serial arithmetic: operands pass under their heads, lowest bits first, and the result is written in the same
//! pass.
//!
//! An expression is a tree of operators that carry at most one bit from one position to the next: sums have
//! carries, conversions repeat a sign. Shifts delay the start of a head. What is known only at the highest bit (a
//! sign, an order, an overflow) is a verdict, which changes the result on the way back or branches.

mod schedule;

pub(super) use schedule::{Kind, Sym, difference};

use super::{Act, Crossing, Generator, Head, Node, Spot, Tape, Target, Track, View, Walker};
use schedule::Schedule;

/// A word that a pass reads. A word on `product` is cleared.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Operand {
    pub(super) spot: Spot,
    pub(super) width: u32,
}

/// What a pass does after the highest bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    Nothing,
    /// Replaces a negative result by 0.
    Relu,
    /// Replaces the result by the nearest number of the target's width.
    Clamp,
    /// Branches: negative or not, less or not, equal or not.
    Branch,
    /// Branches before the heads go back.
    Fork,
}

/// A pass over operands.
pub(super) struct Pass<'a> {
    pub(super) root: &'a Sym,
    pub(super) operands: &'a [Operand],
    /// Where the result is written.
    pub(super) target: Option<&'a Target<'a>>,
    /// The bits of the result before it is written.
    pub(super) width: u32,
    pub(super) tail: Tail,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    First,
    Up { passed: u8, memory: Vec<u8> },
    Back { verdict: usize, left: u8, top: bool },
}

impl Generator<'_> {
    /// Makes a pass. Returns the node after it, or one node for each verdict if it branches.
    pub(super) fn pass(&mut self, pass: &Pass<'_>) -> Vec<Node> {
        let mut places: Vec<Spot> = pass.operands.iter().map(|operand| operand.spot.clone()).collect();
        let target = pass.target.map(|target| &target.spot);
        places.extend(target.filter(|spot| !places.iter().any(|place| place.tape == spot.tape)).cloned());
        self.approach_all(&places);
        let schedule = Schedule::new(pass);
        let track = self.track_from_here(schedule.events());
        self.settle();
        let (back, movable): (Vec<Walker>, Vec<Walker>) =
            schedule.walkers().into_iter().partition(|walker| !self.is_movable(walker, pass));
        let exits = self.run(&schedule, &track, &back, pass.tail);
        for walker in &movable {
            self.step_on(walker.tape);
        }
        self.cur = exits[0];
        if matches!(pass.tail, Tail::Nothing | Tail::Fork) {
            self.crossed(&track);
            let [walkers, offered] = [back, movable]
                .map(|walkers| walkers.into_iter().map(|walker| track.mirrored(walker)).collect());
            self.cross(Crossing { offered, ..Crossing::new(track.reversed(), walkers) });
        }
        exits
    }

    /// Moves heads to words. A computed index moves the head of a register, so words with such an index come first.
    pub(super) fn approach_all(&mut self, places: &[Spot]) {
        let (computed, plain): (Vec<&Spot>, Vec<&Spot>) =
            places.iter().partition(|spot| !spot.walks.is_empty());
        let ordered = [computed, plain].concat();
        for (number, spot) in ordered.iter().enumerate() {
            // A computed index can be followed only once, even if its word is read twice.
            if !ordered[..number].contains(spot) {
                self.approach(spot);
            }
        }
    }

    /// Whether a head may stay where a pass leaves it: on the next element.
    fn is_movable(&self, walker: &Walker, pass: &Pass<'_>) -> bool {
        let target = pass.target.map(|target| &target.spot);
        let filled = matches!(pass.tail, Tail::Relu | Tail::Clamp);
        if filled && target.is_some_and(|spot| spot.tape == walker.tape) {
            return false;
        }
        let mut spots = pass.operands.iter().map(|operand| &operand.spot).chain(target);
        spots.find(|spot| spot.tape == walker.tape).is_some_and(|spot| {
            self.has_elements(spot.tape)
                && walker.to - walker.from == spot.pitch
                && matches!(self.pos.head(spot.tape), Head::At(_))
        })
    }

    /// Records that a head is on the next element.
    pub(super) fn step_on(&mut self, tape: Tape) {
        if let Head::At(at) = self.pos.head(tape) {
            self.pos.put(tape, Head::At(at.offset(1)));
        }
    }

    fn run(&mut self, schedule: &Schedule, track: &Track, back: &[Walker], tail: Tail) -> Vec<Node> {
        let walkers = schedule.walkers();
        let n_exits = if matches!(tail, Tail::Branch | Tail::Fork) { 2 } else { 1 };
        let mut heads = schedule.readings.iter().map(|reading| reading.head);
        let clears = heads.find(|head| head.tape == Tape::Product);
        let position = |memory: &[u8], passed: u8, view: &mut View| {
            let at = track.part(passed);
            let (memory, bit) = schedule.step(memory, at, |tape| view.read(tape));
            let mut act = Act::go(&track.moves(&walkers, at, true), Stage::Up { passed, memory });
            if let Some(target) = schedule.target.filter(|target| target.covers(at)) {
                act = act.writing(target.tape, bit);
            }
            if clears.is_some_and(|head| head.covers(at)) {
                act = act.writing(Tape::Product, 0);
            }
            act
        };
        self.explore(Stage::First, n_exits, |stage, view| match stage {
            Stage::First => {
                schedule.read_tapes([0], view);
                position(&vec![0; schedule.parts.len()], 0, view)
            }
            Stage::Up { passed, memory } => {
                let advanced = track.advance(*passed, view);
                schedule.read_tapes([*passed, *passed + 1].map(|passed| track.part(passed)), view);
                if let Some(passed) = advanced {
                    return position(memory, passed, view);
                }
                let (verdict, left) = (schedule.verdict(memory), *passed);
                match tail {
                    Tail::Nothing => Act::exit(0),
                    Tail::Fork => Act::exit(verdict),
                    _ => {
                        let next = Stage::Back { verdict, left, top: true };
                        Act::go(&track.moves(back, track.part(left), false), next)
                    }
                }
            }
            Stage::Back { verdict, left, top } => {
                let at = track.part(*left);
                let written = schedule.target.filter(|target| target.covers(at));
                let again = |left| {
                    let top = *top && written.is_none() && tail == Tail::Clamp;
                    Stage::Back { verdict: *verdict, left, top }
                };
                let exit = if tail == Tail::Branch { *verdict } else { 0 };
                let act = track.back(back, *left, view, again, exit);
                match written.zip(fill(tail, *verdict, *top)) {
                    Some((target, bit)) => act.writing(target.tape, bit),
                    None => act,
                }
            }
        })
    }
}

/// The bit that a verdict writes on the way back.
fn fill(tail: Tail, verdict: usize, top: bool) -> Option<u8> {
    match (tail, verdict) {
        // Negative: the verdict of a sign is 0.
        (Tail::Relu, 0) => Some(0),
        // Too large or too small: the sign, and its opposite in all other bits.
        (Tail::Clamp, 1) => Some(u8::from(!top)),
        (Tail::Clamp, 2) => Some(u8::from(top)),
        _ => None,
    }
}
