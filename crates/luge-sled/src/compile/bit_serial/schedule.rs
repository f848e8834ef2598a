//! When each part of a pass begins and ends, and what it carries from one position to the next.

use std::collections::BTreeSet;

use super::{Pass, Sym, Tail};
use crate::{
    compile::{
        automaton::{View, Walker},
        tapes::Tape,
    },
    core::Op,
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// An operand.
    Leaf(usize),
    /// All bits are equal, except perhaps the lowest.
    Uniform { first: u8, rest: u8 },
    /// A sum.
    Add(usize, usize),
    /// A difference.
    Sub(usize, usize),
    /// `And`, `Or` or `Xor`, bit by bit.
    Bitwise(Op, usize, usize),
    /// The negative.
    Negate(usize),
    /// The bits before this distance, the last of which is repeated.
    Wrap(usize, u32),
    /// 0 before its start.
    Gate(usize),
    /// Remembers whether the first is less so far.
    Less(usize, usize),
    /// Remembers whether both are equal so far.
    Equal(usize, usize),
    /// Remembers the last bit of the result.
    Sign(usize),
    /// Remembers whether all bits from this distance on equal the one before it.
    Fits(usize, u32),
}

/// A part of the tree and its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) start: u32,
}

/// A leaf and its head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) head: Walker,
    /// Whether its last bit is needed afterwards.
    pub(super) repeats: bool,
}

/// The timing of a pass.
pub(super) struct Schedule {
    pub(super) parts: Vec<Part>,
    pub(super) readings: Vec<Reading>,
    /// The part that computes the result.
    pub(super) root: usize,
    /// The head that writes the result.
    pub(super) target: Option<Walker>,
    pub(super) total: u32,
    /// The distance at which the verdict is known. If it is beyond the total, the bits in between are repeated ones.
    pub(super) verdict_at: u32,
}

impl Schedule {
    pub(super) fn new(pass: &Pass<'_>) -> Self {
        let mut times: Vec<(Kind, i64)> = Vec::new();
        let root = add(pass.root, 0, &mut times);
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
        let target = pass.target.map(|(spot, width)| Walker::new(spot.tape, zero, zero + width));
        let written = target.map_or(0, |target| target.to);
        match pass.tail {
            Tail::Clamp => parts.push(Part { kind: Kind::Fits(root, written), start: zero }),
            Tail::Relu => parts.push(Part { kind: Kind::Sign(root), start: zero }),
            Tail::Branch | Tail::Fork if !matches!(pass.root, Sym::Less(..) | Sym::Equal(..)) => {
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
            if operand.spot.tape != Tape::Product {
                end = end.min(verdict_at.max(written));
            }
            total = total.max(end);
            let head = Walker::new(operand.spot.tape, start, end.max(start));
            readings.push(Reading { head, repeats: head.to < verdict_at.max(written) });
        }
        Self { parts, readings, root, target, total: total.max(1), verdict_at }
    }

    pub(super) fn events(&self) -> Vec<u32> {
        let mut events = vec![self.total];
        events.extend(self.parts.iter().flat_map(|part| match part.kind {
            Kind::Wrap(_, end) | Kind::Fits(_, end) => vec![part.start, end],
            _ => vec![part.start],
        }));
        let heads = self.readings.iter().map(|reading| reading.head).chain(self.target);
        events.extend(heads.flat_map(|head| [head.from, head.to]));
        // A product is read to its end, also where fewer bits of it are compared.
        events.push(self.verdict_at);
        events.retain(|&event| event <= self.total);
        events
    }

    pub(super) fn walkers(&self) -> Vec<Walker> {
        let mut walkers: Vec<Walker> = Vec::new();
        for walker in self.readings.iter().map(|reading| reading.head).chain(self.target) {
            match walkers.iter_mut().find(|known| known.tape == walker.tape) {
                Some(known) => known.to = known.to.max(walker.to),
                None => walkers.push(walker),
            }
        }
        walkers
    }

    /// Reads the tapes whose bits matter in the parts of the track that start at these distances.
    pub(super) fn read_tapes<const N: usize>(&self, parts: [u32; N], view: &mut View) {
        let heads = self.readings.iter().map(|reading| reading.head);
        let is_read = |head: &Walker| parts.iter().any(|&at| head.covers(at));
        let tapes: BTreeSet<Tape> = heads.filter(is_read).map(|head| head.tape).collect();
        tapes.into_iter().for_each(|tape| _ = view.read(tape));
    }

    /// Computes one position. Returns what every part remembers, and the bit of the result.
    pub(super) fn step(&self, memory: &[u8], at: u32, mut read: impl FnMut(Tape) -> u8) -> (Vec<u8>, u8) {
        let mut outputs = vec![0; self.parts.len()];
        let mut after = memory.to_vec();
        for (number, part) in self.parts.iter().enumerate() {
            if at < part.start {
                continue;
            }
            let (bit, kept) = self.part_step(part, memory[number], at, &outputs, &mut read);
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
        mut read: impl FnMut(Tape) -> u8,
    ) -> (u8, u8) {
        match part.kind {
            Kind::Leaf(leaf) => {
                let reading = &self.readings[leaf];
                if at < reading.head.to {
                    let bit = read(reading.head.tape);
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
            Kind::Bitwise(Op::And, a, b) => (outputs[a] & outputs[b], 0),
            Kind::Bitwise(Op::Or, a, b) => (outputs[a] | outputs[b], 0),
            Kind::Bitwise(_, a, b) => (outputs[a] ^ outputs[b], 0),
            Kind::Negate(a) => difference(0, outputs[a], memory),
            Kind::Wrap(a, end) if at < end => (outputs[a], outputs[a]),
            Kind::Wrap(..) => (memory, memory),
            Kind::Gate(a) => (outputs[a], 0),
            Kind::Less(..) | Kind::Equal(..) | Kind::Sign(_) | Kind::Fits(..) if at >= self.verdict_at => {
                (0, memory)
            }
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

    /// The verdict: for branches 0 is yes, for results 0 means that they stay as they are.
    pub(super) fn verdict(&self, memory: &[u8]) -> usize {
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

/// Appends the parts of an expression, operands before operators, and returns the number of the last.
fn add(sym: &Sym, start: i64, parts: &mut Vec<(Kind, i64)>) -> usize {
    let kind = match sym {
        Sym::Leaf => Kind::Leaf(parts.iter().filter(|(kind, _)| matches!(kind, Kind::Leaf(_))).count()),
        Sym::Uniform { first, rest } => Kind::Uniform { first: *first, rest: *rest },
        Sym::Add(a, b) => Kind::Add(add(a, start, parts), add(b, start, parts)),
        Sym::Sub(a, b) => Kind::Sub(add(a, start, parts), add(b, start, parts)),
        Sym::Bitwise(op, a, b) => Kind::Bitwise(*op, add(a, start, parts), add(b, start, parts)),
        Sym::Negate(a) => Kind::Negate(add(a, start, parts)),
        Sym::Shift(a, by) => {
            let inner = add(a, start + by, parts);
            if *by <= 0 || parts[inner].1 == start + by {
                return inner;
            }
            // The bits that an earlier shift to the right dropped are lost.
            parts.push((Kind::Gate(inner), start + by));
            return parts.len() - 1;
        }
        Sym::Wrap(a, width) => Kind::Wrap(add(a, start, parts), *width),
        Sym::Less(a, b) => Kind::Less(add(a, start, parts), add(b, start, parts)),
        Sym::Equal(a, b) => Kind::Equal(add(a, start, parts), add(b, start, parts)),
    };
    parts.push((kind, start));
    parts.len() - 1
}

/// Subtracts with a borrow. Returns the bit and the next borrow.
pub(in crate::compile) fn difference(from: u8, what: u8, borrow: u8) -> (u8, u8) {
    let value = 2 + from - what - borrow;
    (value & 1, u8::from(value < 2))
}
