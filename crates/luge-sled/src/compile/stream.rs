//! Streams: operands pass under their heads, lowest bits first, and a result is written in the same pass.
//!
//! An expression is a tree of operators that need to remember at most a bit from one position to the next: sums have
//! carries, conversions repeat a sign. Shifts are differences in when heads start. What is known only at the top (a
//! sign, an order, an overflow) is a verdict; a verdict can change what was written on the way back, or branch.

use super::{
    Generator,
    automaton::{Act, Pending, Track, Walker},
    data::DataPos,
    graph::Node,
    position::{Head, Spot},
    tapes::{DATA, PRODUCT, QUOTIENT, Tape},
};
use crate::core::Affine;

/// An expression that streams; leaves are numbers of operands.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Sym {
    Leaf(usize),
    /// All bits the same, but perhaps the lowest.
    Uniform {
        first: u8,
        rest: u8,
    },
    Add(Box<Sym>, Box<Sym>),
    Sub(Box<Sym>, Box<Sym>),
    Negate(Box<Sym>),
    /// To the left, or if negative to the right.
    Shift(Box<Sym>, i64),
    /// As many bits, then the last of them again and again.
    Wrap(Box<Sym>, u32),
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

#[derive(Clone, Copy, Debug)]
enum Kind {
    Leaf(usize),
    Uniform {
        first: u8,
        rest: u8,
    },
    Add(usize, usize),
    Sub(usize, usize),
    Negate(usize),
    Wrap(usize, u32),
    /// Nothing before its time.
    Gate(usize),
    Less(usize, usize),
    Equal(usize, usize),
    /// Remembers the last bit of the result.
    Sign(usize),
    /// Remembers whether the bits from this distance on are all like the last before it.
    Fits(usize, u32),
}

/// A part of the tree, and when it begins.
#[derive(Clone, Copy, Debug)]
struct Part {
    kind: Kind,
    start: u32,
}

/// A leaf, and when its head moves.
#[derive(Clone, Copy, Debug)]
struct Reading {
    tape: Tape,
    start: u32,
    end: u32,
    /// Whether its last bit is needed later on.
    repeats: bool,
}

/// A pass with everything in its time.
struct Schedule {
    parts: Vec<Part>,
    readings: Vec<Reading>,
    /// Which part is the result, and when it is written where.
    root: usize,
    target: Option<(Tape, u32, u32)>,
    total: u32,
    /// When the verdict is in: bits beyond the total follow from what is known.
    verdict_at: u32,
}

impl Schedule {
    fn new(pass: &Pass<'_>) -> Self {
        let mut times: Vec<(Kind, i64)> = Vec::new();
        let root = match pass.root {
            Root::Value(sym) => add(sym, 0, &mut times),
            Root::Less(a, b) => {
                let (a, b) = (add(a, 0, &mut times), add(b, 0, &mut times));
                push(&mut times, Kind::Less(a, b), 0)
            }
            Root::Equal(a, b) => {
                let (a, b) = (add(a, 0, &mut times), add(b, 0, &mut times));
                push(&mut times, Kind::Equal(a, b), 0)
            }
        };
        let earliest = times.iter().map(|&(_, start)| start).min().unwrap_or(0).min(0);
        let time = |start: i64| u32::try_from(start - earliest).unwrap_or(u32::MAX);
        let zero = time(0);
        let mut parts: Vec<Part> =
            times.iter().map(|&(kind, start)| Part { kind, start: time(start) }).collect();
        for part in &mut parts {
            if let Kind::Wrap(_, width) = &mut part.kind {
                *width += part.start;
            }
        }
        let target = pass.target.map(|(spot, width)| (spot.tape, zero, zero + width));
        let written = target.map_or(0, |(.., end)| end);
        match pass.tail {
            Tail::Clamp => parts.push(Part { kind: Kind::Fits(root, written), start: zero }),
            Tail::Relu => parts.push(Part { kind: Kind::Sign(root), start: zero }),
            Tail::Branch if matches!(pass.root, Root::Value(_)) => {
                parts.push(Part { kind: Kind::Sign(root), start: zero });
            }
            _ => {}
        }
        let verdict_at = if pass.tail == Tail::Nothing { written } else { zero + pass.width };
        let mut total = written;
        let mut readings: Vec<Reading> = Vec::new();
        for (number, operand) in pass.operands.iter().enumerate() {
            let uses = parts.iter().filter(|part| matches!(part.kind, Kind::Leaf(leaf) if leaf == number));
            let start = uses.map(|part| part.start).min().unwrap_or(0);
            let mut end = start + operand.width;
            if operand.at != At::Product {
                end = end.min(verdict_at.max(written));
            }
            total = total.max(end);
            readings.push(Reading { tape: operand.at.tape(), start, end: end.max(start), repeats: false });
        }
        for reading in &mut readings {
            reading.repeats = reading.end < verdict_at.max(written);
        }
        Self { parts, readings, root, target, total: total.max(1), verdict_at }
    }

    fn events(&self) -> Vec<u32> {
        let mut events = vec![self.total];
        events.extend(self.parts.iter().flat_map(|part| match part.kind {
            Kind::Wrap(_, end) | Kind::Fits(_, end) => vec![part.start, end],
            _ => vec![part.start],
        }));
        events.extend(self.readings.iter().flat_map(|reading| [reading.start, reading.end]));
        events.extend(self.target.iter().flat_map(|&(_, start, end)| [start, end]));
        events.retain(|&event| event <= self.total);
        events
    }

    fn walkers(&self) -> Vec<Walker> {
        let mut walkers: Vec<Walker> = Vec::new();
        let readings = self.readings.iter().map(|r| Walker { tape: r.tape, from: r.start, to: r.end });
        let target = self.target.map(|(tape, from, to)| Walker { tape, from, to });
        for walker in readings.chain(target) {
            match walkers.iter_mut().find(|known| known.tape == walker.tape) {
                Some(known) => known.to = known.to.max(walker.to),
                None => walkers.push(walker),
            }
        }
        walkers
    }

    /// Tapes whose bits matter in the part of the way that begins at `at`.
    fn looked_at(&self, at: u32) -> Vec<Tape> {
        let active = self.readings.iter().filter(|r| r.start <= at && at < r.end);
        let mut tapes: Vec<Tape> = active.map(|r| r.tape).collect();
        tapes.sort_unstable();
        tapes.dedup();
        tapes
    }

    /// What every part remembers after a position, and the result's bit there.
    fn step(&self, memory: &[u8], at: u32, read: impl Fn(Tape) -> u8) -> (Vec<u8>, u8) {
        let mut outputs = vec![0; self.parts.len()];
        let mut after = memory.to_vec();
        for (number, part) in self.parts.iter().enumerate() {
            if at < part.start {
                continue;
            }
            let (bit, kept) = self.part_step(part, memory[number], at, &outputs, &read);
            outputs[number] = bit;
            after[number] = kept;
        }
        (after, outputs[self.root])
    }

    fn part_step(
        &self,
        part: &Part,
        memory: u8,
        at: u32,
        outputs: &[u8],
        read: impl Fn(Tape) -> u8,
    ) -> (u8, u8) {
        match part.kind {
            Kind::Leaf(leaf) => {
                let reading = &self.readings[leaf];
                if at < reading.end {
                    let bit = read(reading.tape);
                    (bit, if reading.repeats { bit } else { 0 })
                } else {
                    (memory, memory)
                }
            }
            Kind::Uniform { first, rest } => {
                (if memory == 0 { first } else { rest }, u8::from(first != rest))
            }
            Kind::Add(a, b) => {
                let sum = outputs[a] + outputs[b] + memory;
                (sum & 1, sum >> 1)
            }
            Kind::Sub(a, b) => difference(outputs[a], outputs[b], memory),
            Kind::Negate(a) => difference(0, outputs[a], memory),
            Kind::Wrap(a, end) if at < end => (outputs[a], outputs[a]),
            Kind::Wrap(..) => (memory, memory),
            Kind::Gate(a) => (outputs[a], 0),
            // Bit 0: less so far; bit 1: the last bits differed. At the top the last bits are signs, and if they differ
            // the order is the other way round.
            Kind::Less(a, b) if outputs[a] == outputs[b] => (0, memory & 1),
            Kind::Less(_, b) => (0, 2 | outputs[b]),
            Kind::Equal(a, b) => (0, memory | u8::from(outputs[a] != outputs[b])),
            Kind::Sign(a) => (0, outputs[a]),
            // Bit 0: the last bit that is written; bit 1: another came later; bit 2: the last of all.
            Kind::Fits(a, end) if at < end => (0, outputs[a] | outputs[a] << 2),
            Kind::Fits(a, _) => {
                let differs = u8::from(outputs[a] != memory & 1);
                (0, memory & 3 | differs << 1 | outputs[a] << 2)
            }
        }
    }

    /// Which way on: for branches 0 is yes, for results 0 leaves them as they are.
    fn verdict(&self, memory: &[u8]) -> usize {
        let mut memory = memory.to_vec();
        for at in self.total..self.verdict_at {
            memory = self.step(&memory, at, |_| 0).0;
        }
        let last = memory.last().copied().unwrap_or(0);
        match self.parts.last().map(|part| part.kind) {
            Some(Kind::Less(..)) => usize::from((last & 1) ^ (last >> 1) == 0),
            Some(Kind::Equal(..)) => usize::from(last == 1),
            Some(Kind::Sign(_)) => usize::from(last == 0),
            Some(Kind::Fits(..)) if last & 2 == 0 => 0,
            Some(Kind::Fits(..)) => 1 + usize::from(last >> 2),
            _ => 0,
        }
    }
}

fn push(times: &mut Vec<(Kind, i64)>, kind: Kind, start: i64) -> usize {
    times.push((kind, start));
    times.len() - 1
}

fn add(sym: &Sym, start: i64, times: &mut Vec<(Kind, i64)>) -> usize {
    let kind = match sym {
        Sym::Leaf(leaf) => Kind::Leaf(*leaf),
        Sym::Uniform { first, rest } => Kind::Uniform { first: *first, rest: *rest },
        Sym::Add(a, b) => Kind::Add(add(a, start, times), add(b, start, times)),
        Sym::Sub(a, b) => Kind::Sub(add(a, start, times), add(b, start, times)),
        Sym::Negate(a) => Kind::Negate(add(a, start, times)),
        Sym::Shift(a, by) => {
            let inner = add(a, start + by, times);
            if *by <= 0 || times[inner].1 == start + by {
                return inner;
            }
            // What was shifted to the right before has lost those bits.
            return push(times, Kind::Gate(inner), start + by);
        }
        Sym::Wrap(a, width) => Kind::Wrap(add(a, start, times), *width),
    };
    push(times, kind, start)
}

pub(super) fn difference(from: u8, what: u8, borrow: u8) -> (u8, u8) {
    let value = 2 + from - what - borrow;
    (value & 1, u8::from(value < 2))
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
        let track = self.track(schedule.events());
        let (back, movable): (Vec<Walker>, Vec<Walker>) =
            schedule.walkers().into_iter().partition(|walker| !self.is_movable(walker, pass));
        let exits = self.run(&schedule, &track, &back, pass.tail);
        for walker in &movable {
            self.step_on(walker.tape);
        }
        self.cur = exits[0];
        if pass.tail == Tail::Nothing {
            self.pending = Some(Pending { track, back, movable });
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
        for at in computed.into_iter().chain(plain) {
            self.approach_operand(at);
        }
        self.settle();
    }

    fn approach_operand(&mut self, at: &At) {
        match at {
            At::Memory(spot) => self.approach(spot),
            At::Data(number, walks) => {
                self.seek_number(number);
                for &(temporary, width, stride) in walks {
                    debug_assert_eq!(stride, 1);
                    self.count_down(temporary, width, |generator| generator.next_number_up());
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
        let n_exits = if tail == Tail::Branch { 2 } else { 1 };
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
