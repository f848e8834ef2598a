//! Routines: products and quotients need many states, so they are compiled once and called.
//!
//! A call writes its number on `product`, to the left of its start cell. At the end of the routine the number selects
//! the call to which to return.

use super::{Arrow, Expr, Generator, Node, Op, Operand, Pos, Product, Spot, Tape, Ty};

/// A part of the machine that is compiled once for all its calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Routine {
    Product(Product),
    Quotient(Ty),
}

impl Generator<'_> {
    /// Computes a product or a quotient on its own tape.
    pub(super) fn product_or_quotient(&mut self, expr: &Expr) -> Operand {
        let (ty, width) = (expr.ty(), expr.ty().width());
        let spot = match expr {
            Expr::Binary(Op::Div, a, b) => {
                self.quotient(ty, a, b);
                Spot::new(Tape::Quotient, width, 0)
            }
            Expr::Binary(op, a, b) => {
                self.product(*op, a, b, width);
                Spot::new(Tape::Product, 1, 0)
            }
            other => unreachable!("a product or a quotient, not another {}", other.ty()),
        };
        Operand { spot, width }
    }

    /// Calls a routine, and continues where it returns.
    pub(super) fn call(&mut self, routine: Routine) {
        self.place_rulers(&Pos::default());
        let from = self.here();
        let after = self.new_node();
        if !self.dead {
            self.routines.entry(routine).or_default().push((from, after));
        }
        self.cur = after;
    }

    pub(super) fn routine_bodies(&mut self) {
        // Routines do not call routines.
        for (routine, calls) in std::mem::take(&mut self.routines) {
            // The states belong to the line of the only call, or to no line if there are several calls.
            self.line = match calls[..] {
                [(from, _)] => self.graph.entries[from].line,
                _ => 0,
            };
            let entry = self.new_node();
            self.resume(Some((entry, Pos::default())));
            match routine {
                Routine::Product(product) => self.product_body(product),
                Routine::Quotient(ty) => self.quotient_body(ty),
            }
            self.link(entry, &calls);
        }
    }

    /// Connects a routine, which ends in the current state, to its calls.
    fn link(&mut self, entry: Node, calls: &[(Node, Node)]) {
        self.place_rulers(&Pos::default());
        let end = self.here();
        if let [(from, after)] = calls {
            self.graph.arrow(*from, Arrow::to(entry));
            self.graph.arrow(end, Arrow::to(*after));
            return;
        }
        let n_bits = usize::BITS - (calls.len() - 1).leading_zeros();
        for (number, &(from, _)) in calls.iter().enumerate() {
            self.line = self.graph.entries[from].line;
            self.cur = from;
            self.single_step(&[(Tape::Product, -1)], None);
            for bit in 0..n_bits {
                let value = u8::from(number >> bit & 1 == 1);
                let last = bit + 1 == n_bits;
                self.single_step(&[(Tape::Product, if last { 1 } else { -1 })], Some((Tape::Product, value)));
            }
            for _ in 1..n_bits {
                self.single_step(&[(Tape::Product, 1)], None);
            }
            self.jump(entry);
        }
        self.line = 0;
        self.cur = end;
        for _ in 0..n_bits {
            self.single_step(&[(Tape::Product, -1)], None);
        }
        self.dispatch(n_bits, 0, calls);
    }

    /// Reads the number of a call, highest bit first, and returns to it.
    fn dispatch(&mut self, n_bits: u32, known: usize, calls: &[(Node, Node)]) {
        let from = self.here();
        for bit in 0..2 {
            let number = known | bit << (n_bits - 1);
            if number >= calls.len() {
                continue;
            }
            let next = if n_bits == 1 { calls[number].1 } else { self.new_node() };
            let arrow = Arrow::to(next).read(Tape::Product, u8::from(bit == 1)).write(Tape::Product, 0);
            let arrow = self.moving(arrow, &[(Tape::Product, 1)]);
            self.graph.arrow(from, arrow);
            if n_bits > 1 {
                self.cur = next;
                self.dispatch(n_bits - 1, number, calls);
            }
        }
    }
}
