//! bbchallenge standard text: `1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA`.
//!
//! Rows are states, separated by `_`; columns are the symbols read; a cell is the symbol to write, `L` or `R`, and the
//! next state.
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are `0`, `1`, …, one per column, and `0` is the blank.
//! - The states are `A`, `B`, …, one per row; the machine starts in `A`.
//! - `---` is an undefined transition: no rule. The machine halts there, without a step and without accepting.
//! - A next state beyond the rows (usually `Z` or `H`) is an accepting halting state; the step into it counts.
//! - The spaced variant `1RB 1LC  1RC ...` (one space between cells, two or more between states, `...` undefined)
//!   means the same.
//! - Empty lines and lines that begin with `#` are ignored, and so is text after the machine, with a warning.
//!   A list has one machine per line: [`entries`] returns all, and [`ReadOptions::line`](super::ReadOptions::line) selects one.
//!
//! What an export does:
//! - Wildcards are expanded; the start state becomes `A`, the other running states follow in order; the blank becomes `0`,
//!   the other symbols follow in order. States that are already called `A`, `B`, … and symbols `1`, `2`, … keep their names.
//! - A halting state keeps its name if that is a letter beyond the rows; otherwise it gets the last free letter, `Z` first.
//!   Halting states that no rule enters are omitted, and so are the names of the machine, tape and symbols.
//! - The input is omitted, because the format has no place for it.

mod entries;
mod parse;
mod print;

pub use entries::{Entry, entries};
pub(super) use entries::{begins_with_cell, begins_with_machine};
pub(super) use parse::read;
pub use parse::read_entry;
pub(super) use print::{LIMITS, write};

/// The states in order.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The symbols in order.
const DIGITS: &str = "0123456789";

/// The letter of the `index`-th state, if there is one.
fn letter(index: usize) -> Option<&'static str> {
    LETTERS.get(index..=index)
}

#[cfg(test)]
mod tests;
