//! The variables of the source, and the lines of their scopes.

use super::{Binding, Checker, View};
use crate::{
    core::{Named, Place},
    syntax::{self, Name},
};

impl Checker<'_> {
    /// Records where a variable of the learner is stored. Variables of inlined functions have several places.
    pub(super) fn remember(&mut self, name: &Name, binding: &Binding) {
        let Binding::Variable(View { place, shape }) = binding else { return };
        if *place != Place::first(place.store) || self.here.call_depth > 0 || self.checked_alone.is_some() {
            return;
        }
        let (ty, length) = (shape.element(), shape.n_elements());
        let lines = (self.line(&name.span), u32::MAX);
        self.made.core.names.push(Named { name: name.text.clone(), store: place.store, ty, length, lines });
    }

    /// The line in which a block ends.
    pub(super) fn last_line(&self, body: &[syntax::Stmt]) -> u32 {
        body.last().map_or(0, |stmt| {
            let own = self.line(&(stmt.span.end..stmt.span.end));
            stmt.blocks().into_iter().map(|block| self.last_line(block)).fold(own, u32::max)
        })
    }
}
