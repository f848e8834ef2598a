//! The size and depth of a circuit, and the removal of unused parts.

use std::sync::Arc;

use luge_machine::keep_only;

use crate::{Circuit, Gate, Literal, RegisterId, Total, WireId};

/// The numbers of a circuit's parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Number of registers.
    pub n_registers: usize,
    /// Ands: one unit each.
    pub n_ands: usize,
    /// Sums of exclusive operands.
    pub n_sums: usize,
    /// Parities.
    pub n_parities: usize,
    /// Bits of numbers.
    pub n_bits: usize,
    /// Operands of all gates.
    pub n_operands: usize,
    /// The most layers on a path from a register or an input to a register or an output.
    pub depth: usize,
}

impl Gate {
    /// Its depth, given those of all earlier wires.
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
        let count = |kind: fn(&Gate) -> bool| self.gates.iter().filter(|gate| kind(gate)).count();
        Size {
            n_registers: self.registers.len(),
            n_ands: count(|gate| matches!(gate, Gate::And(_))),
            n_sums: count(|gate| matches!(gate, Gate::Sum(_))),
            n_parities: count(|gate| matches!(gate, Gate::Parity(_))),
            n_bits: count(|gate| matches!(gate, Gate::Bit(..))),
            n_operands: self.gates.iter().map(|gate| gate.operands().len()).sum(),
            depth: self.depths().into_iter().max().unwrap_or(0),
        }
    }

    /// For each wire the most layers on a path to it, including its own: one for an and or a parity, none for a sum, and
    /// for a bit of a number one per digit down to that bit.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            depths.push(gate.depth(&depths));
        }
        depths
    }

    /// The same circuit without registers on which neither the `kept` ones nor any output depends, and the new id of each
    /// register that remains.
    #[must_use]
    pub fn without_unread_registers(mut self, kept: &[RegisterId]) -> (Self, Vec<Option<RegisterId>>) {
        let mut needed = vec![false; self.registers.len()];
        let mut used = vec![false; self.gates.len()];
        used[0] = true;
        let mut waiting: Vec<Literal> = self.output.iter().copied().chain([self.next, self.halted]).collect();
        let mut more: Vec<RegisterId> = kept.to_vec();
        loop {
            for register in more.drain(..) {
                if !std::mem::replace(&mut needed[register.index()], true) {
                    waiting.push(self.registers[register.index()].target);
                }
            }
            let Some(Literal { wire, .. }) = waiting.pop() else { break };
            if !std::mem::replace(&mut used[wire.index()], true) {
                waiting.extend(self.gates[wire.index()].operands());
                if let Gate::Register(register) = self.gates[wire.index()] {
                    more.push(register);
                }
            }
        }
        let (registers, wires) = (keep_only(&mut self.registers, &needed), keep_only(&mut self.gates, &used));
        let renumber = |literal: &mut Literal| literal.wire = WireId::new(wires[literal.wire.index()]);
        // The bits of a number keep sharing it.
        let mut number: Option<[Arc<Total>; 2]> = None;
        for gate in &mut self.gates {
            match gate {
                Gate::False | Gate::Input(_) => {}
                Gate::Register(register) => *register = RegisterId::new(registers[register.index()]),
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
        let place = |(needed, place): (bool, usize)| needed.then(|| RegisterId::new(place));
        (self, needed.into_iter().zip(registers).map(place).collect())
    }

    /// The same circuit without unused gates. Gates keep their order.
    #[must_use]
    pub(crate) fn trimmed(self) -> Self {
        let all: Vec<RegisterId> = (0..self.registers.len()).map(RegisterId::new).collect();
        self.without_unread_registers(&all).0
    }
}
