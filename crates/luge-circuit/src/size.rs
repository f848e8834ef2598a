//! How large and how deep a circuit is.

use crate::{Circuit, Gate, Literal};

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
    /// Operands of all gates.
    pub n_operands: usize,
    /// The most ands and parities on a way from a register or an input to a register or an output.
    pub depth: usize,
}

impl Circuit {
    /// Counts gates and layers.
    #[must_use]
    pub fn size(&self) -> Size {
        let mut size = Size { n_registers: self.registers().len(), ..Size::default() };
        for gate in self.gates() {
            size.n_operands += gate.operands().len();
            match gate {
                Gate::False | Gate::Register(_) | Gate::Input(_) => {}
                Gate::And(_) => size.n_ands += 1,
                Gate::Sum(_) => size.n_sums += 1,
                Gate::Parity(_) => size.n_parities += 1,
            }
        }
        size.depth = self.depths().into_iter().max().unwrap_or(0);
        size
    }

    /// For each wire the most ands and parities on a way to it, its own included. Sums add nothing.
    #[must_use]
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            let below = gate.operands().iter().map(|operand| depths[operand.wire.index()]).max().unwrap_or(0);
            depths.push(below + usize::from(matches!(gate, Gate::And(_) | Gate::Parity(_))));
        }
        depths
    }

    /// Everything that reads a wire from outside the logic: targets of registers, `next`, `halted`, `f`.
    pub fn roots(&self) -> impl Iterator<Item = Literal> {
        let targets = self.registers().iter().map(|register| register.target);
        targets.chain([self.next(), self.halted()]).chain(self.output().iter().copied())
    }

    /// The same circuit without gates that nothing reads. Gates keep their order.
    #[must_use]
    pub(crate) fn trimmed(mut self) -> Self {
        let mut used = vec![false; self.gates.len()];
        used[0] = true;
        self.roots().for_each(|root| used[root.wire.index()] = true);
        for index in (0..self.gates.len()).rev().filter(|&index| self.gates[index].operands().len() > 1) {
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
        for gate in &mut self.gates {
            if let Gate::And(operands) | Gate::Sum(operands) | Gate::Parity(operands) = gate {
                operands.iter_mut().for_each(renumber);
            }
        }
        self.registers.iter_mut().for_each(|register| renumber(&mut register.target));
        self.output.iter_mut().chain([&mut self.next, &mut self.halted]).for_each(renumber);
        self
    }
}
