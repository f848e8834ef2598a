//! The names of variables in the source, and the lines where they are valid.

use super::{Binding, Checker, Shape, Source, View};
use crate::{
    core::{Home, Index, Named},
    syntax::{self, Name},
};

impl Checker<'_> {
    /// Notes where a variable of the learner's own text lies; those of inlined functions have many places.
    pub(super) fn remember(&mut self, name: &Name, binding: &Binding) {
        let (home, shape, length) = match binding {
            Binding::Scalar(slot, ty) => (Home::Slot(*slot), Shape::Number(*ty), 1),
            Binding::Flag(slot) => (Home::Slot(*slot), Shape::Bit, 1),
            Binding::Array(View { source: Source::Array(array), first, shape })
                if *first == Index::default() =>
            {
                (Home::Array(*array), shape.innermost(), shape.n_elements())
            }
            _ => return,
        };
        if self.call_depth > 0 || self.sketched.is_some() {
            return;
        }
        let ty = if let Shape::Number(ty) = shape { Some(ty) } else { None };
        let lines = (self.line(&name.span), u32::MAX);
        self.names.push(Named { name: name.text.clone(), home, ty, length, lines });
    }

    /// The line in which the last statement of a block ends, or the last one inside of it.
    pub(super) fn last_line(&self, body: &[syntax::Stmt]) -> u32 {
        body.last().map_or(0, |stmt| {
            let own = self.line(&(stmt.span.end..stmt.span.end));
            stmt.blocks().into_iter().map(|block| self.last_line(block)).fold(own, u32::max)
        })
    }
}
