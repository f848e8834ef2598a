//! Morphett's quintuples: `0 1 _ r 1i ; comment`, one rule to a line.
//!
//! A rule is state, symbol read, symbol written, direction (`l`, `r`, `*`), new state, and perhaps `!` (a breakpoint).
//!
//! What an import does:
//! - The one tape is called `tape`; its symbols are `_`, the blank, and every other character the rules name, sorted.
//! - The machine starts in `0`. States that run come first, in the order of their own first rules, then those that are
//!   only entered, then the halting states in the order in which rules enter them.
//! - A state whose name begins with `halt`, in any case, halts. It accepts unless its name contains `reject`.
//!   A rule of such a state is never used: a warning.
//! - `*` as symbol read or as state matches any; as symbol written or as new state it means unchanged; as direction, stay.
//!   Every running state gets its own rules in the order of precedence: (state, symbol), (state, `*`), (`*`, symbol),
//!   (`*`, `*`). Rules that can never apply are left out.
//! - Of two rules for the same state and symbol the last one counts: a warning.
//! - A missing rule goes to `halt`, and that counts as a step: where one could be missing, a last rule says so.
//! - Breakpoints are accepted and mean nothing.
//!
//! What an export does:
//! - The blank becomes `_` and the start state `0`; whatever had that name takes the other's. Halting states get a
//!   name that says so (`halt-…`, `halt-reject-…`), running states one that does not, and blank space or `;` in names
//!   becomes `-`.
//! - A machine that stops where no rule applies is refused: here that would cost a step.
//! - The file has no place for an input: it is not written.

mod parse;
mod print;

pub use parse::{read, read_admitting};
pub use print::write;

const BLANK: char = '_';
const ANY: &str = "*";
const START: &str = "0";
const HALT: &str = "halt";

/// Whether a state of this name halts.
fn halts(name: &str) -> bool {
    name.get(..HALT.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(HALT))
}

/// Whether a halting state of this name accepts.
fn accepts(name: &str) -> bool {
    !name.to_ascii_lowercase().contains("reject")
}

#[cfg(test)]
mod tests;
