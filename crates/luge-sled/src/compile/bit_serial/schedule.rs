//! When each part of a pass begins and ends, and what it carries from one position to the next.

use std::collections::BTreeSet;

use super::{Pass, Tail};
use crate::compile::{Op, Tape, View, Walker};

/// An operator of a pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::compile) enum Kind {
    /// The next operand.
    Leaf,
    /// All bits are equal, except perhaps the lowest.
    Uniform { first: u8, rest: u8 },
    /// A sum.
    Add,
    /// A difference.
    Sub,
    /// `And`, `Or` or `Xor`, bit by bit.
    Bitwise(Op),
    /// The negative.
    Negate,
    /// The given number of bits, the last of which is repeated.
    Wrap(u32),
    /// 0 before its start.
    Gate,
    /// Remembers whether the first is less so far: a verdict without bits.
    Less,
    /// Remembers whether both are equal so far: a verdict without bits.
    Equal,
    /// Remembers the last bit of the result.
    Sign,
    /// Remembers whether all bits after the given number equal the last of these.
    Fits(u32),
}

/// An operator, the numbers of its operands, and when it starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    args: [usize; 2],
    start: i64,
}

impl Part {
    /// The distance at which it starts.
    fn start(&self) -> u32 {
        u32::try_from(self.start).unwrap_or(0)
    }
}

/// An expression that one pass computes: its parts, operands before operators. Its leaves are the operands in order.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::compile) struct Sym(Vec<Part>);

impl Sym {
    /// A leaf or a constant.
    pub(in crate::compile) fn new(kind: Kind) -> Self {
        Self(vec![Part { kind, args: [0; 2], start: 0 }])
    }

    pub(in crate::compile) fn unary(mut self, kind: Kind) -> Self {
        self.0.push(Part { kind, args: [self.0.len() - 1; 2], start: 0 });
        self
    }

    pub(in crate::compile) fn binary(mut self, other: Self, kind: Kind) -> Self {
        let n = self.0.len();
        self.0.extend(other.0.into_iter().map(|part| Part { args: part.args.map(|arg| n + arg), ..part }));
        self.0.push(Part { kind, args: [n - 1, self.0.len() - 1], start: 0 });
        self
    }

    /// A shift to the left; if negative, to the right.
    pub(in crate::compile) fn shifted(mut self, by: i64) -> Self {
        self.0.iter_mut().for_each(|part| part.start += by);
        if by <= 0 || self.root().start == by {
            return self;
        }
        // The bits that an earlier shift to the right dropped are lost.
        self.0.push(Part { kind: Kind::Gate, args: [self.0.len() - 1; 2], start: by });
        self
    }

    fn root(&self) -> Part {
        self.0[self.0.len() - 1]
    }

    /// Its operator, unless it is shifted.
    pub(in crate::compile) fn kind(&self) -> Option<Kind> {
        Some(self.root()).filter(|root| root.start == 0).map(|root| root.kind)
    }

    /// When the heads of its leaves start.
    pub(in crate::compile) fn starts(&self) -> Vec<i64> {
        self.0.iter().filter(|part| part.kind == Kind::Leaf).map(|part| part.start).collect()
    }

    /// The number of parts that remember something, without comparisons.
    pub(in crate::compile) fn n_carries(&self) -> usize {
        let remembers = |kind| matches!(kind, Kind::Add | Kind::Sub | Kind::Negate | Kind::Wrap(_));
        self.0.iter().filter(|part| remembers(part.kind)).count()
    }
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
        let root = pass.root.0.len() - 1;
        let compares = matches!(pass.root.kind(), Some(Kind::Less | Kind::Equal));
        let verdict = match (pass.tail, pass.target) {
            (Tail::Clamp, Some(target)) => Some(Kind::Fits(target.width)),
            (Tail::Relu, _) => Some(Kind::Sign),
            (Tail::Branch | Tail::Fork, _) if !compares => Some(Kind::Sign),
            _ => None,
        };
        let mut sym = pass.root.clone();
        sym.0.extend(verdict.map(|kind| Part { kind, args: [root; 2], start: 0 }));
        let mut parts = sym.0;
        let earliest = parts.iter().map(|part| part.start).min().unwrap_or(0).min(0);
        parts.iter_mut().for_each(|part| part.start -= earliest);
        let zero = u32::try_from(-earliest).unwrap_or(u32::MAX);
        let target = pass.target.map(|to| Walker::new(to.spot.tape, zero, zero + to.width));
        let written = target.map_or(0, |target| target.to);
        let verdict_at = if pass.tail == Tail::Nothing { written } else { zero + pass.width };
        let mut total = written;
        let mut readings: Vec<Reading> = Vec::new();
        let leaves = parts.iter_mut().filter(|part| part.kind == Kind::Leaf);
        for (number, (operand, leaf)) in pass.operands.iter().zip(leaves).enumerate() {
            leaf.args = [number; 2];
            let start = leaf.start();
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
            Kind::Wrap(width) | Kind::Fits(width) => vec![part.start(), part.start() + width],
            _ => vec![part.start()],
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
            if at < part.start() {
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
        let [a, b] = part.args;
        match part.kind {
            Kind::Leaf => {
                let reading = &self.readings[a];
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
            Kind::Add => {
                let sum = outputs[a] + outputs[b] + memory;
                (sum & 1, sum >> 1)
            }
            Kind::Sub => difference(outputs[a], outputs[b], memory),
            Kind::Bitwise(Op::And) => (outputs[a] & outputs[b], 0),
            Kind::Bitwise(Op::Or) => (outputs[a] | outputs[b], 0),
            Kind::Bitwise(_) => (outputs[a] ^ outputs[b], 0),
            Kind::Negate => difference(0, outputs[a], memory),
            Kind::Wrap(width) if at < part.start() + width => (outputs[a], outputs[a]),
            Kind::Wrap(_) => (memory, memory),
            Kind::Gate => (outputs[a], 0),
            Kind::Less | Kind::Equal | Kind::Sign | Kind::Fits(_) if at >= self.verdict_at => (0, memory),
            // Bit 0: less so far; bit 1: the last bits differed. At the top the last bits are signs, and if they differ
            // the order is the other way round.
            Kind::Less if outputs[a] == outputs[b] => (0, memory & 1),
            Kind::Less => (0, 2 | outputs[b]),
            Kind::Equal => (0, memory | u8::from(outputs[a] != outputs[b])),
            Kind::Sign => (0, outputs[a]),
            // Bit 0: the last bit that is written; bit 1: another came later; bit 2: the last of all.
            Kind::Fits(width) if at < part.start() + width => (0, outputs[a] | outputs[a] << 2),
            Kind::Fits(_) => {
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
            Some(Kind::Less) => usize::from((last & 1) ^ (last >> 1) == 0),
            Some(Kind::Equal) => usize::from(last == 1),
            Some(Kind::Sign) => usize::from(last == 0),
            Some(Kind::Fits(_)) if last & 2 == 0 => 0,
            Some(Kind::Fits(_)) => 1 + usize::from(last >> 2),
            _ => 0,
        }
    }
}

/// Subtracts with a borrow. Returns the bit and the next borrow.
pub(in crate::compile) fn difference(from: u8, what: u8, borrow: u8) -> (u8, u8) {
    let value = 2 + from - what - borrow;
    (value & 1, u8::from(value < 2))
}
