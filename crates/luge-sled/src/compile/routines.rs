//! Products and quotients are long, so they are compiled once and called from everywhere.
//!
//! A call writes its number on `product`, to the left of its start cell; at the end of the routine that number
//! selects the caller to return to.

use super::{
    Generator,
    bit_serial::At,
    graph::{Arrow, Node},
    position::Pos,
    product::Product,
    tapes::PRODUCT,
};
use crate::core::{Expr, Op, Ty};

/// A part of the machine that is made once and called from several places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Routine {
    Product(Product),
    Quotient(Ty),
}

impl Generator<'_> {
    /// Computes a product or a quotient; says where it is left and how many bits are there.
    pub(super) fn leave(&mut self, expr: &Expr) -> (At, u32) {
        let ty = expr.ty();
        match expr {
            Expr::Binary(Op::Div, a, b) => {
                self.quotient(ty, a, b);
                (At::Quotient, ty.width())
            }
            Expr::Binary(op, a, b) => {
                self.product(*op, a, b, ty.width());
                (At::Product, ty.width())
            }
            // Nothing else is left anywhere.
            _ => (At::Quotient, ty.width()),
        }
    }

    /// Goes to a routine and on from where it comes back.
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
        // Quotients call nothing, and nor do products.
        for (routine, calls) in std::mem::take(&mut self.routines) {
            // Steps inside belong to the line of the only call, or to no line; see `Graph::write`.
            self.line = match calls[..] {
                [(from, _)] => self.graph.line(from),
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

    /// Joins calls to a routine whose end is the current state.
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
            self.line = self.graph.line(from);
            self.cur = from;
            self.single_step(&[(PRODUCT, -1)], None);
            for bit in 0..n_bits {
                let value = u8::from(number >> bit & 1 == 1);
                let last = bit + 1 == n_bits;
                self.single_step(&[(PRODUCT, if last { 1 } else { -1 })], Some((PRODUCT, value)));
            }
            for _ in 1..n_bits {
                self.single_step(&[(PRODUCT, 1)], None);
            }
            self.jump(entry);
        }
        self.line = 0;
        self.cur = end;
        for _ in 0..n_bits {
            self.single_step(&[(PRODUCT, -1)], None);
        }
        self.dispatch(n_bits, 0, calls);
    }

    /// Reads the number of a call, highest bit first, and goes on behind it.
    fn dispatch(&mut self, n_bits: u32, known: usize, calls: &[(Node, Node)]) {
        let from = self.here();
        for bit in 0..2 {
            let number = known | bit << (n_bits - 1);
            if number >= calls.len() {
                continue;
            }
            let next = if n_bits == 1 { calls[number].1 } else { self.new_node() };
            let arrow = Arrow::to(next).read(PRODUCT, u8::from(bit == 1)).write(PRODUCT, 0);
            let arrow = self.moving(arrow, &[(PRODUCT, 1)]);
            self.graph.arrow(from, arrow);
            if n_bits > 1 {
                self.cur = next;
                self.dispatch(n_bits - 1, number, calls);
            }
        }
    }
}
