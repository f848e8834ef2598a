//! Luge's own `.tm` files: line based, with comments, and able to express every [`Machine`](crate::Machine).
//!
//! States are declared with their rules, in order; the line `missing:` says what happens if no rule applies. Reading keeps
//! all names and orders, so writing and reading again gives the same machine. `docs/native-format.md` has the grammar.

mod lex;
mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::write;

/// Keywords that can occur where a name is expected; as names they must be quoted.
const KEYWORDS: [&str; 5] = ["blank", "read-only", "head", "start", "missing"];

/// The greatest distance from cell 0 at which a head may start: all cells in between are stored in memory.
const FARTHEST_HEAD: i64 = 1 << 24;
