//! Slots and arrays: allocated when they are declared, reused after their scopes end.

use std::collections::BTreeSet;

use super::{Checker, Held, MAX_NUMBERS, Shape, Source, View};
use crate::{
    core::{Array, Index, Slot},
    lex::Span,
};

impl Checker<'_> {
    pub(super) fn new_slot(&mut self, width: u32) -> Slot {
        self.n_numbers += 1;
        self.widths.push(width);
        self.widths.len() - 1
    }

    /// A slot that is free until the innermost scope or statement ends.
    pub(super) fn take_slot(&mut self, width: u32) -> Slot {
        let again = self.free.get_mut(&width).and_then(BTreeSet::pop_first);
        let slot = again.unwrap_or_else(|| self.new_slot(width));
        if let Some(held) = self.held.last_mut() {
            held.push(Held::Slot(slot));
        }
        slot
    }

    /// An array that is free until the innermost scope or statement ends; `None` if memory is full.
    pub(super) fn take_array(&mut self, shape: &Shape, span: &Span) -> Option<View> {
        let (width, length) = (shape.innermost().width(), shape.n_elements());
        let again = self.free_arrays.get_mut(&(width, length)).and_then(BTreeSet::pop_first);
        let array = match again {
            Some(array) => array,
            None => {
                self.n_numbers = self.n_numbers.saturating_add(length);
                if self.n_numbers > MAX_NUMBERS {
                    let message = format!("more than {MAX_NUMBERS} numbers in memory");
                    self.error(span, message, "this array is too much");
                    return None;
                }
                self.arrays.push(Array { width, length });
                self.arrays.len() - 1
            }
        };
        if let Some(held) = self.held.last_mut() {
            held.push(Held::Array(array));
        }
        Some(View { source: Source::Array(array), first: Index::default(), shape: shape.clone() })
    }

    pub(super) fn release(&mut self) {
        for held in self.held.pop().unwrap_or_default() {
            match held {
                Held::Slot(slot) => self.free.entry(self.widths[slot]).or_default().insert(slot),
                Held::Array(array) => {
                    let Array { width, length } = self.arrays[array];
                    self.free_arrays.entry((width, length)).or_default().insert(array)
                }
            };
        }
    }
}
