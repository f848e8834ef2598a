//! Slots and arrays: allocated when declared, reused after their scopes end; and the variables in them.

use std::collections::BTreeSet;

use super::{
    Array, Binding, Checker, Expr, MAX_NUMBERS, Named, Place, Shape, Slot, Span, StmtKind, Store, Value, View,
};
use crate::syntax::{self, Name};

impl Checker<'_> {
    pub(super) fn new_slot(&mut self, width: u32) -> Slot {
        self.made.n_numbers += 1;
        self.made.core.widths.push(width);
        self.made.core.widths.len() - 1
    }

    /// A free slot or array of this size, if there is one.
    fn reuse(&mut self, width: u32, length: usize) -> Option<usize> {
        self.made.free.get_mut(&(width, length)).and_then(BTreeSet::pop_first)
    }

    /// Frees a slot or an array when the innermost scope or statement ends.
    pub(super) fn hold(&mut self, store: Store) {
        self.made.held.last_mut().into_iter().for_each(|held| held.push(store));
    }

    /// Allocates a slot until the innermost scope or statement ends.
    pub(super) fn take_slot(&mut self, width: u32) -> Slot {
        let slot = self.reuse(width, 0).unwrap_or_else(|| self.new_slot(width));
        self.hold(Store::Slot(slot));
        slot
    }

    /// Allocates memory of this shape until the innermost scope or statement ends; `None` if the program needs too much.
    pub(super) fn take(&mut self, shape: &Shape, span: &Span) -> Option<View> {
        let store = match shape {
            Shape::Tape => return None,
            Shape::Number(ty) => Store::Slot(self.take_slot(ty.width())),
            Shape::Array(..) => {
                let (width, length) = (shape.element().width(), shape.n_elements());
                let array = self.reuse(width, length).or_else(|| self.new_array(width, length, span))?;
                self.hold(Store::Array(array));
                Store::Array(array)
            }
        };
        Some(View { place: Place::first(store), shape: shape.clone() })
    }

    fn new_array(&mut self, width: u32, length: usize, span: &Span) -> Option<usize> {
        self.made.n_numbers = self.made.n_numbers.saturating_add(length);
        if self.made.n_numbers > MAX_NUMBERS {
            let message = format!("more than {MAX_NUMBERS} numbers in memory");
            return self.fail(span, message, "this array is too large");
        }
        self.made.core.arrays.push(Array { width, length });
        Some(self.made.core.arrays.len() - 1)
    }

    /// Copies a value to memory of its own.
    pub(super) fn stored(&mut self, value: Value, shape: &Shape, span: &Span) -> Option<Value> {
        let view = self.take(shape, span)?;
        self.fill(&view, value, span);
        view.value()
    }

    /// Copies a number or a bit to a slot of its own.
    pub(super) fn stored_number(&mut self, value: Expr, span: &Span) -> Expr {
        let ty = value.ty();
        let slot = self.take_slot(ty.width());
        self.emit(span, StmtKind::Assign(Place::slot(slot), value));
        Expr::variable(slot, ty)
    }

    pub(super) fn release(&mut self) {
        for held in self.made.held.pop().unwrap_or_default() {
            let (size, id) = match held {
                Store::Slot(slot) => ((self.made.core.widths[slot], 0), slot),
                Store::Array(array) => {
                    let Array { width, length } = self.made.core.arrays[array];
                    ((width, length), array)
                }
                Store::Data => continue,
            };
            self.made.free.entry(size).or_default().insert(id);
        }
    }

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
