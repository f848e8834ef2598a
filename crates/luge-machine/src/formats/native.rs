//! Luge's own `.tm` files: line based, commented, and able to say everything a [`Machine`](crate::Machine) can.
//!
//! States are declared where their rules stand, in order; a missing rule means what the line `missing:` says. Reading keeps
//! every name and every order, so that writing and reading again gives the same machine. `docs/native-format.md` has the grammar.

mod lex;
mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::write;

/// Words with a meaning of their own where a name could stand; as names they are quoted.
const KEYWORDS: [&str; 5] = ["blank", "read-only", "head", "start", "missing"];

/// The farthest cell from cell 0 that a head may start on: all cells in between are held in memory.
const FARTHEST_HEAD: i64 = 1 << 24;
