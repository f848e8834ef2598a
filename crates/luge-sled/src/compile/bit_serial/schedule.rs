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
    Leaf(usize),
    Uniform {
        first: u8,
        rest: u8,
    },
    Add(usize, usize),
    Sub(usize, usize),
    Bitwise(Op, usize, usize),
    Negate(usize),
    Wrap(usize, u32),
    /// 0 before its start.
    Gate(usize),
    Less(usize, usize),
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

/// A leaf, and the distances between which its head moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) tape: Tape,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether its last bit is needed afterwards.
    pub(super) repeats: bool,
}

/// The timing of a pass.
pub(super) struct Schedule {
    pub(super) parts: Vec<Part>,
    pub(super) readings: Vec<Reading>,
    /// The part that computes the result.
    pub(super) root: usize,
    /// The tape on which the result is written, and the distances between which it is.
    pub(super) target: Option<(Tape, u32, u32)>,
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
        let target = pass.target.map(|(spot, width)| (spot.tape, zero, zero + width));
        let written = target.map_or(0, |(.., end)| end);
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
            readings.push(Reading { tape: operand.spot.tape, start, end: end.max(start), repeats: false });
        }
        for reading in &mut readings {
            reading.repeats = reading.end < verdict_at.max(written);
        }
        Self { parts, readings, root, target, total: total.max(1), verdict_at }
    }

    pub(super) fn events(&self) -> Vec<u32> {
        let mut events = vec![self.total];
        events.extend(self.parts.iter().flat_map(|part| match part.kind {
            Kind::Wrap(_, end) | Kind::Fits(_, end) => vec![part.start, end],
            _ => vec![part.start],
        }));
        events.extend(self.readings.iter().flat_map(|reading| [reading.start, reading.end]));
        // A product is read to its end, also where fewer bits of it are compared.
        events.push(self.verdict_at);
        events.extend(self.target.iter().flat_map(|&(_, start, end)| [start, end]));
        events.retain(|&event| event <= self.total);
        events
    }

    pub(super) fn walkers(&self) -> Vec<Walker> {
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

    /// Reads the tapes whose bits matter in the parts of the track that start at these distances.
    pub(super) fn read_tapes<const N: usize>(&self, parts: [u32; N], view: &mut View) {
        let is_read = |r: &&Reading| parts.iter().any(|&at| r.start <= at && at < r.end);
        let tapes: BTreeSet<Tape> = self.readings.iter().filter(is_read).map(|r| r.tape).collect();
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
