//! The variables of the source, and the lines of their scopes.

use super::{Binding, Checker, Shape, Source, View};
use crate::{
    core::{Home, Index, Named},
    syntax::{self, Name},
};

impl Checker<'_> {
    /// Records where a variable of the learner is stored. Variables of inlined functions have several places.
    pub(super) fn remember(&mut self, name: &Name, binding: &Binding) {
        let Binding::Variable(View { source, first, shape }) = binding else { return };
        if *first != Index::default() || self.here.call_depth > 0 || self.checked_alone.is_some() {
            return;
        }
        let home = match *source {
            Source::Slot(slot) => Home::Slot(slot),
            Source::Array(array) => Home::Array(array),
            Source::Data => return,
        };
        let ty = if let Shape::Number(ty) = shape.innermost() { Some(ty) } else { None };
        let (length, lines) = (shape.n_elements(), (self.line(&name.span), u32::MAX));
        self.made.core.names.push(Named { name: name.text.clone(), home, ty, length, lines });
    }

    /// The line in which a block ends.
    pub(super) fn last_line(&self, body: &[syntax::Stmt]) -> u32 {
        body.last().map_or(0, |stmt| {
            let own = self.line(&(stmt.span.end..stmt.span.end));
            stmt.blocks().into_iter().map(|block| self.last_line(block)).fold(own, u32::max)
        })
    }
}
