//! How large and how deep a circuit is.

use std::sync::Arc;

use crate::{Circuit, Gate, Literal, RegisterId, Total};

/// What a circuit is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Registers.
    pub n_registers: usize,
    /// Ands: a unit each.
    pub n_ands: usize,
    /// Sums of exclusive operands.
    pub n_sums: usize,
    /// Parities.
    pub n_parities: usize,
    /// Bits of numbers.
    pub n_bits: usize,
    /// Operands of all gates.
    pub n_operands: usize,
    /// The most ands and parities on a way from a register or an input to a register or an output.
    pub depth: usize,
}

impl Gate {
    /// Its depth, given that of all wires before it.
    pub(crate) fn depth(&self, depths: &[usize]) -> usize {
        let below = self.operands().iter().map(|operand| depths[operand.wire.index()]).max().unwrap_or(0);
        below
            + match self {
                Self::And(_) | Self::Parity(_) => 1,
                Self::Bit(total, bit) => total.layers_until(*bit),
                _ => 0,
            }
    }
}

impl Circuit {
    /// Counts gates and layers.
    pub fn size(&self) -> Size {
        let mut size = Size { n_registers: self.registers().len(), ..Size::default() };
        for gate in self.gates() {
            size.n_operands += gate.operands().len();
            match gate {
                Gate::False | Gate::Register(_) | Gate::Input(_) => {}
                Gate::And(_) => size.n_ands += 1,
                Gate::Sum(_) => size.n_sums += 1,
                Gate::Parity(_) => size.n_parities += 1,
                Gate::Bit(..) => size.n_bits += 1,
            }
        }
        size.depth = self.depths().into_iter().max().unwrap_or(0);
        size
    }

    /// For each wire the most layers on a way to it, its own included: one for an and or a parity, none for a sum, and for a bit
    /// of a number as many as it has digits down to there.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            depths.push(gate.depth(&depths));
        }
        depths
    }

    /// Everything that reads a wire from outside the logic: targets of registers, `next`, `halted`, `f`.
    pub fn roots(&self) -> impl Iterator<Item = Literal> {
        let targets = self.registers().iter().map(|register| register.target);
        targets.chain([self.next(), self.halted()]).chain(self.output().iter().copied())
    }

    /// The same circuit without registers on which neither those that are kept nor any output depends. Also says where each
    /// register is then.
    #[must_use]
    pub fn without_unread_registers(mut self, kept: &[RegisterId]) -> (Self, Vec<Option<RegisterId>>) {
        let mut needed = vec![false; self.registers.len()];
        let mut used = vec![false; self.gates.len()];
        let mut waiting: Vec<usize> = self.output.iter().map(|literal| literal.wire.index()).collect();
        waiting.extend([self.next.wire.index(), self.halted.wire.index()]);
        let mut more: Vec<RegisterId> = kept.to_vec();
        loop {
            for register in more.drain(..) {
                if !std::mem::replace(&mut needed[register.index()], true) {
                    waiting.push(self.registers[register.index()].target.wire.index());
                }
            }
            let Some(wire) = waiting.pop() else { break };
            if std::mem::replace(&mut used[wire], true) {
                continue;
            }
            waiting.extend(self.gates[wire].operands().iter().map(|operand| operand.wire.index()));
            if let Gate::Register(register) = self.gates[wire] {
                more.push(register);
            }
        }
        let mut n_kept = 0;
        let place = |&needed: &bool| {
            n_kept += usize::from(needed);
            needed.then(|| RegisterId::new(n_kept - 1))
        };
        let places: Vec<Option<RegisterId>> = needed.iter().map(place).collect();
        let mut at = needed.iter();
        self.registers.retain(|_| at.next() == Some(&true));
        for gate in &mut self.gates {
            if let Gate::Register(register) = gate {
                // Nothing reads the gate of a register that is left out.
                *register = places[register.index()].unwrap_or(RegisterId(0));
            }
        }
        (self.trimmed(), places)
    }

    /// The same circuit without gates that nothing reads. Gates keep their order.
    #[must_use]
    pub(crate) fn trimmed(mut self) -> Self {
        let mut used = vec![false; self.gates.len()];
        used[0] = true;
        self.roots().for_each(|root| used[root.wire.index()] = true);
        for index in (0..self.gates.len()).rev().filter(|&index| !self.gates[index].operands().is_empty()) {
            if used[index] {
                self.gates[index].operands().iter().for_each(|operand| used[operand.wire.index()] = true);
            }
        }
        let mut renumbered = Vec::with_capacity(used.len());
        let mut n_used = 0;
        for &used in &used {
            renumbered.push(n_used);
            n_used += u32::from(used);
        }
        let renumber = |literal: &mut Literal| literal.wire.0 = renumbered[literal.wire.index()];
        let mut kept = used.iter();
        self.gates.retain(|_| kept.next() == Some(&true));
        // Bits of one number go on to share it.
        let mut number: Option<[Arc<Total>; 2]> = None;
        for gate in &mut self.gates {
            match gate {
                Gate::False | Gate::Register(_) | Gate::Input(_) => {}
                Gate::And(operands) | Gate::Sum(operands) | Gate::Parity(operands) => {
                    operands.iter_mut().for_each(renumber);
                }
                Gate::Bit(total, _) => {
                    let known = number.take().filter(|[before, _]| Arc::ptr_eq(before, total));
                    let [before, after] = known.unwrap_or_else(|| {
                        let mut after = Total::clone(total);
                        after.operands.iter_mut().for_each(renumber);
                        [Arc::clone(total), Arc::new(after)]
                    });
                    *total = Arc::clone(&after);
                    number = Some([before, after]);
                }
            }
        }
        self.registers.iter_mut().for_each(|register| renumber(&mut register.target));
        self.output.iter_mut().chain([&mut self.next, &mut self.halted]).for_each(renumber);
        self
    }
}
