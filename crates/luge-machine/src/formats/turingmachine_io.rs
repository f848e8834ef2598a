//! turingmachine.io: a YAML document with `blank`, `start state`, `table`, and perhaps `input` and `synonyms`.
//!
//! What an import does:
//! - The one tape is called `tape`; its symbols are the blank and then every other character that the table or
//!   the input names, sorted. Symbols and names are taken as they are spelled: `0` is the character `0`,
//!   not a number. Keys may list symbols: `[1, 0]: R`.
//! - The states are those of the table, in its order. A state without a value halts and accepts.
//! - A symbol a state does not list has no rule: the machine halts there, without a step and without accepting.
//!   A state with an empty map `{}` lists none, so it always halts in this way.
//! - An instruction is `L`, `R`, the name of a synonym, or a map with exactly one of `L` and `R` and perhaps `write`.
//!   Without `write` the cell is kept; without a target the state is kept. Every target is a state of the table.
//! - Synonyms name instructions; they neither chain nor redefine `L` or `R`.
//! - `input` is laid from cell 0 to the right, with the head on cell 0. `name` names the machine; `source` and
//!   `positions`, which older files may carry, are ignored; any other key gives a warning.
//! - A document as the site saves it, with `name`, `source code` and `positions`, holds the machine as text below
//!   `source code`. That text is read, and findings point into it.
//! - A key of several characters never matches, as on the site: it is ignored with a warning.
//! - Aliases may stand for 100,000 entries more than are written; beyond that the document is refused.
//!
//! What an export does:
//! - Wildcards become lists of the symbols they still stand for. Symbols that neither a rule nor the input names are
//!   left out, and so is the tape's name.
//! - A halting state that does not accept becomes `{}`.
//! - [`write_saved`] wraps the same text as the site does when it saves a document, without positions.
//! - Stay moves, rejecting where no rule applies, and symbols of more than one character are refused.

mod parse;
mod print;
mod saved;
mod yaml;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write, write_saved};

#[cfg(test)]
mod tests;
