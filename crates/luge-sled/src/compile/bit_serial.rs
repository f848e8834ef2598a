//! Bit-serial arithmetic: operands pass under their heads, lowest bits first, and the result is written in the same
//! pass.
//!
//! An expression is a tree of operators that carry at most one bit from one position to the next: sums have
//! carries, conversions repeat a sign. Shifts delay the start of a head. What is known only at the highest bit (a
//! sign, an order, an overflow) is a verdict; a verdict can change the result on the way back, or branch.

mod schedule;

pub(super) use schedule::difference;

use super::{
    Generator,
    automaton::{Act, Track, Walker},
    data::{DataPos, RIGHT},
    graph::Node,
    lanes::Crossing,
    position::{Head, Spot},
    tapes::{DATA, PRODUCT, QUOTIENT, Tape},
};
use crate::core::{Affine, Op};
use schedule::Schedule;

/// An expression that streams; once they have places, its leaves are numbers of operands.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Sym<L = usize> {
    Leaf(L),
    /// All bits the same, but perhaps the lowest.
    Uniform {
        first: u8,
        rest: u8,
    },
    Add(Box<Self>, Box<Self>),
    Sub(Box<Self>, Box<Self>),
    /// `And`, `Or` or `Xor`, bit by bit.
    Bitwise(Op, Box<Self>, Box<Self>),
    Negate(Box<Self>),
    /// To the left, or if negative to the right.
    Shift(Box<Self>, i64),
    /// As many bits, then the last of them again and again.
    Wrap(Box<Self>, u32),
}

impl<L: Copy> Sym<L> {
    /// The leaves in order.
    pub(super) fn leaves(&self) -> Vec<L> {
        match self {
            Self::Leaf(leaf) => vec![*leaf],
            Self::Uniform { .. } => Vec::new(),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Bitwise(_, a, b) => [a.leaves(), b.leaves()].concat(),
            Self::Negate(a) | Self::Shift(a, _) | Self::Wrap(a, _) => a.leaves(),
        }
    }

    /// The same with something else for each leaf; `replace` is also told when the leaf starts.
    pub(super) fn map<M>(&self, start: i64, replace: &mut dyn FnMut(L, i64) -> Sym<M>) -> Sym<M> {
        if let Self::Leaf(leaf) = self {
            return replace(*leaf, start);
        }
        let mut part = |sym: &Self, start: i64| Box::new(sym.map(start, replace));
        match self {
            Self::Leaf(_) => unreachable!("replaced before"),
            Self::Uniform { first, rest } => Sym::Uniform { first: *first, rest: *rest },
            Self::Add(a, b) => Sym::Add(part(a, start), part(b, start)),
            Self::Sub(a, b) => Sym::Sub(part(a, start), part(b, start)),
            Self::Bitwise(op, a, b) => Sym::Bitwise(*op, part(a, start), part(b, start)),
            Self::Negate(a) => Sym::Negate(part(a, start)),
            Self::Shift(a, by) => Sym::Shift(part(a, start + by), *by),
            Self::Wrap(a, width) => Sym::Wrap(part(a, start), *width),
        }
    }
}

/// A word that is read.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Operand {
    pub(super) at: At,
    pub(super) width: u32,
}

/// Where it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum At {
    Memory(Spot),
    /// A number of the current sample, and computed indices as in [`Spot`].
    Data(Affine, Vec<(usize, u32, i64)>),
    /// Where products are left; it is cleared by being read.
    Product,
    /// Where quotients are left.
    Quotient,
}

impl At {
    pub(super) fn tape(&self) -> Tape {
        match self {
            Self::Memory(spot) => spot.tape,
            Self::Data(..) => DATA,
            Self::Product => PRODUCT,
            Self::Quotient => QUOTIENT,
        }
    }
}

/// What is computed.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Root {
    Value(Sym),
    Less(Sym, Sym),
    Equal(Sym, Sym),
}

/// What happens at the top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    Nothing,
    /// A negative result becomes 0.
    Relu,
    /// The nearest number of the target's width.
    Clamp,
    /// Two ways on: negative, or not; less, or not; equal, or not.
    Branch,
    /// The same, and heads go back on each of them.
    Fork,
}

/// A pass over operands.
pub(super) struct Pass<'a> {
    pub(super) root: &'a Root,
    pub(super) operands: &'a [Operand],
    /// Where the result goes, and its width.
    pub(super) target: Option<(&'a Spot, u32)>,
    /// How many bits the result has before it is written.
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
    /// Makes a pass: one state after it, or one for each verdict if they branch.
    pub(super) fn pass(&mut self, pass: &Pass<'_>) -> Vec<Node> {
        let mut places: Vec<At> = pass.operands.iter().map(|operand| operand.at.clone()).collect();
        if let Some((spot, _)) = pass.target
            && !places.iter().any(|at| at.tape() == spot.tape)
        {
            places.push(At::Memory(spot.clone()));
        }
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
            let mirrored = |walkers: Vec<Walker>| -> Vec<(Walker, i8)> {
                walkers.into_iter().map(|walker| (track.mirrored(walker), -1)).collect()
            };
            let (walkers, offered) = (mirrored(back), mirrored(movable));
            self.cross(Crossing { offered, ..Crossing::new(track.reversed(), walkers) });
        }
        exits
    }

    /// Puts heads on words. Walking along a computed index moves the head of a register, so that comes first.
    pub(super) fn approach_all(&mut self, places: &[At]) {
        let is_computed = |at: &&At| match at {
            At::Memory(spot) => !spot.walks.is_empty(),
            At::Data(_, walks) => !walks.is_empty(),
            At::Product | At::Quotient => false,
        };
        let (computed, plain): (Vec<&At>, Vec<&At>) = places.iter().partition(is_computed);
        let ordered: Vec<&At> = computed.into_iter().chain(plain).collect();
        for (number, at) in ordered.iter().enumerate() {
            // A word that is read twice is found once: walking uses up a computed index.
            if !ordered[..number].contains(at) {
                self.approach_operand(at);
            }
        }
    }

    fn approach_operand(&mut self, at: &At) {
        match at {
            At::Memory(spot) => self.approach(spot),
            At::Data(number, walks) => {
                self.seek_number(number);
                for &(temporary, width, stride) in walks {
                    debug_assert_eq!(stride, 1);
                    self.count_down(temporary, width, |generator| generator.next_number(RIGHT));
                }
                if !walks.is_empty() {
                    self.pos.data = DataPos::Lost;
                }
            }
            At::Product | At::Quotient => {}
        }
    }

    /// Whether a head may stay where a pass leaves it: at the beginning of the next element.
    fn is_movable(&self, walker: &Walker, pass: &Pass<'_>) -> bool {
        let filled = matches!(pass.tail, Tail::Relu | Tail::Clamp);
        if filled && pass.target.is_some_and(|(spot, _)| spot.tape == walker.tape) {
            return false;
        }
        if walker.tape == DATA {
            let whole = walker.to - walker.from == self.core.format.width();
            return whole && matches!(self.pos.data, DataPos::Inside(_));
        }
        let spots = pass.operands.iter().filter_map(|operand| match &operand.at {
            At::Memory(spot) => Some(spot),
            _ => None,
        });
        let spot = spots.chain(pass.target.map(|(spot, _)| spot)).find(|spot| spot.tape == walker.tape);
        let Some(spot) = spot else { return false };
        self.holds_array(spot.tape)
            && walker.to - walker.from == spot.pitch
            && matches!(self.pos.head(spot.tape), Head::At(_))
    }

    pub(super) fn step_on(&mut self, tape: Tape) {
        if tape == DATA {
            if let DataPos::Inside(at) = &mut self.pos.data {
                *at = at.offset(1);
            }
        } else if let Head::At(at) = self.pos.head(tape) {
            self.pos.put(tape, Head::At(at.offset(1)));
        }
    }

    fn run(&mut self, schedule: &Schedule, track: &Track, back: &[Walker], tail: Tail) -> Vec<Node> {
        let walkers = schedule.walkers();
        let n_exits = if matches!(tail, Tail::Branch | Tail::Fork) { 2 } else { 1 };
        let looked_at = |passed: u8| schedule.looked_at(track.part(passed));
        let tapes_of = |stage: &Stage| match stage {
            Stage::First => schedule.looked_at(0),
            Stage::Up { passed, .. } => {
                let mut tapes = [looked_at(*passed), looked_at(*passed + 1)].concat();
                tapes.sort_unstable();
                tapes.dedup();
                tapes
            }
            Stage::Back { .. } => Vec::new(),
        };
        let inspect = |stage: &Stage| match stage {
            Stage::First => tapes_of(stage),
            _ => [track.looked_at(), tapes_of(stage)].concat(),
        };
        let clears = schedule.readings.iter().find(|reading| reading.tape == PRODUCT).copied();
        let position = |memory: &[u8], passed: u8, tapes: &[Tape], bits: &[u8]| {
            let at = track.part(passed);
            let read = |tape: Tape| tapes.iter().position(|&t| t == tape).map_or(0, |i| bits[i]);
            let (memory, bit) = schedule.step(memory, at, read);
            let mut act = Act::go(&track.moves(&walkers, at, true), Stage::Up { passed, memory });
            if let Some((tape, start, end)) = schedule.target
                && start <= at
                && at < end
            {
                act = act.writing(tape, bit);
            }
            if clears.is_some_and(|reading| reading.start <= at && at < reading.end) {
                act = act.writing(PRODUCT, 0);
            }
            act
        };
        self.explore(Stage::First, n_exits, inspect, |stage, bits| match stage {
            Stage::First => position(&vec![0; schedule.parts.len()], 0, &tapes_of(stage), bits),
            Stage::Up { passed, memory } => {
                let (mark, bits) = track.mark(bits);
                let passed = passed + mark;
                if mark == 0 || !track.is_end(passed) {
                    return position(memory, passed, &tapes_of(stage), bits);
                }
                if tail == Tail::Nothing {
                    return Act::exit(0);
                }
                let (verdict, left) = (schedule.verdict(memory), passed - 1);
                if tail == Tail::Fork {
                    return Act::exit(verdict);
                }
                let next = Stage::Back { verdict, left, top: true };
                Act::go(&track.moves(back, track.part(left), false), next)
            }
            Stage::Back { verdict, left, top } => {
                let mark = track.mark(bits).0;
                let at = track.part(*left);
                let written = schedule.target.filter(|&(_, start, end)| start <= at && at < end);
                let fill = written.and_then(|(tape, ..)| fill(tail, *verdict, *top).map(|bit| (tape, bit)));
                let again = |left| {
                    let top = *top && written.is_none();
                    Stage::Back { verdict: *verdict, left, top: top && tail == Tail::Clamp }
                };
                let exit = if tail == Tail::Branch { *verdict } else { 0 };
                let act = track.back(back, *left, mark, again, exit);
                match fill {
                    Some((tape, bit)) => act.writing(tape, bit),
                    None => act,
                }
            }
        })
    }
}

/// What a verdict writes on the way back.
fn fill(tail: Tail, verdict: usize, top: bool) -> Option<u8> {
    match (tail, verdict) {
        // Negative: the verdict of a sign is 0.
        (Tail::Relu, 0) => Some(0),
        // Too large, or too small: the sign, and all other bits unlike it.
        (Tail::Clamp, 1) => Some(u8::from(!top)),
        (Tail::Clamp, 2) => Some(u8::from(top)),
        _ => None,
    }
}
