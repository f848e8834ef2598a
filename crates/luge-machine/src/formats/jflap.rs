//! JFLAP's `.jff` files, XML, for Turing machines with one or more tapes.
//!
//! The machine accepts when it reaches a final state; the step into it counts, and transitions out of it are ignored with a
//! warning. If no transition applies, the machine stops without a step and rejects:
//! [`Missing::Reject`](crate::Missing::Reject), outcome "no-rule". Machines that are not deterministic are refused.
//!
//! An empty element is the blank, which is called `_`, or `□` on a tape on which `_` is a symbol; `□` in a file is the blank,
//! too. An alphabet is the blank and the symbols in the transitions, sorted; `~` and `!x` range over it. JFLAP files do not
//! declare alphabets, so [`ReadOptions::inputs`](super::ReadOptions::inputs) adds the characters of the input, which `~` and
//! `!x` match. A variable is known only in the transition that binds it; JFLAP remembers it for later steps, too, and files
//! that rely on that are refused.
//!
//! Files of type `turingbb` are read like those of type `turing`: a block that is a single state is a state. Blocks with a
//! machine inside are refused, and so are automata of other types.
//!
//! Writing keeps the behaviour of the machine and the names and order of its states, but not its name nor those of its tapes
//! and blanks. Rules that rely on their order are expanded.

mod document;
mod labels;
mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

/// The blank as JFLAP displays it, and writes it in longer labels.
const BLANK: &str = "□";
