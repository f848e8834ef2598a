//! Luge's own `.tm` files: line-based, with comments, and able to express every [`Machine`](crate::Machine).
//!
//! States are declared in order, each with its rules; the line `missing:` determines what happens if no rule applies. A
//! machine that is written and read again is the same, with all names in the same order. `docs/native-format.md` has the
//! grammar.

mod lex;
mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::write;

/// Keywords that can occur where a name is expected. As names they must be quoted.
const KEYWORDS: [&str; 5] = ["blank", "read-only", "head", "start", "missing"];

/// The largest distance from cell 0 at which a head may start, because all cells in between are stored in memory.
const FARTHEST_HEAD: i64 = 1 << 24;
