//! JFLAP's `.jff` files, XML, for Turing machines with one or more tapes.
//!
//! Reaching a final state halts, accepting; the step into it counts, and transitions out of it are dropped with a warning.
//! Where no transition fits the machine stops without a step, rejecting: [`Missing::Reject`](crate::Missing::Reject), outcome
//! "no-rule". Machines that are not deterministic are refused.
//!
//! An empty element is the blank, called `_` here, or `□` on a tape where `_` is a symbol; `□` in a file is the blank too. An alphabet
//! is the blank and the symbols the transitions mention, sorted; `~` and `!x` range over it. JFLAP declares no alphabet, so a machine
//! that is to run on other characters is read with them: [`ReadOptions::inputs`](super::ReadOptions::inputs) lets the alphabet grow, and `~` and `!x` match them.
//! A variable is known in the transition that binds it; JFLAP remembers it for later steps too, and files that use that are refused.
//!
//! Files of type `turingbb` are read as those of type `turing` are: a block that is a single state is a state. Blocks with a
//! machine inside are refused, and so are automata of other types.
//!
//! Writing keeps what the machine does, the names and the order of its states, but not its name nor those of its tapes and blanks.
//! Rules that rely on their order are written out.

mod document;
mod labels;
mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

/// How JFLAP shows the blank, and writes it inside longer labels.
const BLANK: &str = "□";
