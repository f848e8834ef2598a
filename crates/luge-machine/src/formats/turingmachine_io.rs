//! turingmachine.io: a YAML document with `blank`, `start state`, `table`, and optionally `input` and `synonyms`.
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are the blank and then the other characters in the table and the input,
//!   sorted. Scalars keep their spelling: `0` is the character `0`, not a number. Keys may list symbols: `[1, 0]: R`.
//! - The states are those of the table, in its order. A state without a value halts and accepts.
//! - A symbol a state does not list has no rule: the machine halts there, without a step and without accepting.
//!   A state with an empty map `{}` lists none, so it always halts in this way.
//! - An instruction is `L`, `R`, the name of a synonym, or a map with exactly one of `L` and `R` and optionally `write`.
//!   Without `write` the cell does not change; without a target the state does not. Every target is a state of the table.
//! - Synonyms name instructions; they neither chain nor redefine `L` or `R`.
//! - `input` begins at cell 0, with the head on cell 0. `name` names the machine; `source` and `positions`, which older
//!   files may have, are ignored; any other key gives a warning.
//! - A document that the site saved, with `name`, `source code` and `positions`, contains the machine as a text in
//!   `source code`. That text is read, and diagnostics point into it.
//! - A key of several characters never matches, as on the site: it is ignored with a warning.
//! - Aliases may add 100,000 entries to those in the text; with more the document is refused.
//!
//! What an export does:
//! - Wildcards become lists of the symbols they match. Symbols that neither a rule nor the input mentions are omitted, and
//!   so is the name of the tape.
//! - A halting state that does not accept becomes `{}`.
//! - [`write_saved`] wraps the same text as the site does when it saves a document, but without positions.
//! - Stay moves, rejecting where no rule applies, and symbols of more than one character are refused.

mod parse;
mod print;
mod saved;
mod yaml;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write, write_saved};

#[cfg(test)]
mod tests;
