//! Alphabets of formats whose symbols are single characters.

use std::collections::BTreeSet;

use super::MAX_SYMBOLS;
use crate::{Alphabet, SymbolId};

/// The symbols of a tape, the blank first.
pub(super) struct Characters(Vec<char>);

impl Characters {
    /// The blank, and the others sorted.
    pub(super) fn new(blank: char, others: impl IntoIterator<Item = char>) -> Self {
        let others: BTreeSet<char> = others.into_iter().filter(|&c| c != blank).collect();
        Self([blank].into_iter().chain(others).collect())
    }

    /// Adds characters that no rule names, as long as there is room for them.
    pub(super) fn admit(&mut self, characters: impl IntoIterator<Item = char>) {
        for character in characters {
            if !self.0.contains(&character) && self.0.len() < MAX_SYMBOLS {
                self.0.push(character);
            }
        }
    }

    /// Drops the symbols that cannot be counted.
    pub(super) fn truncate(&mut self) {
        self.0.truncate(MAX_SYMBOLS);
    }

    pub(super) fn as_slice(&self) -> &[char] {
        &self.0
    }

    /// The symbol of a character, which is one of them.
    pub(super) fn id(&self, character: char) -> SymbolId {
        SymbolId::new(self.0.iter().position(|&c| c == character).unwrap_or(0))
    }

    pub(super) fn alphabet(&self) -> Alphabet {
        Alphabet::new(self.0.iter().copied(), SymbolId(0))
    }
}
