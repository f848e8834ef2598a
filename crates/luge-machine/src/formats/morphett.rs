//! Morphett's quintuples: `0 1 _ r 1i ; comment`, one rule to a line.
//!
//! A rule is state, symbol read, symbol written, direction (`l`, `r`, `*`), new state, and perhaps `!` (a breakpoint).
//!
//! What an import does:
//! - The one tape is called `tape`; its symbols are `_`, the blank, and every other character that the rules or the
//!   initial tape name, sorted.
//! - A comment `; $INITIAL_TAPE: 10*01` is the input, as on the site: a space is a blank, the first `*` marks the head.
//! - The machine starts in `0`, or where [`ReadOptions::start`](super::ReadOptions::start) says: the site has a field for that, the file has none.
//!   States that run come first, in the order of their own first rules, then those that are
//!   only entered, then the halting states in the order in which rules enter them.
//! - A state whose name begins with `halt`, in any case, halts. It accepts unless its name contains `reject`.
//!   A rule of such a state is never used: a warning.
//! - `*` as symbol read or as state matches any; as symbol written or as new state it means unchanged; as direction, stay.
//!   Every running state gets its own rules in the order of precedence: (state, symbol), (state, `*`), (`*`, symbol),
//!   (`*`, `*`). Rules that can never apply are left out.
//! - Of two rules for the same state and symbol the last one counts: a warning.
//! - A missing rule halts, and that counts as a step: where one could be missing, a last rule goes to `halt-no-rule`,
//!   which does not accept. The site says "Halted. No rule for state …" there.
//! - Breakpoints are accepted and mean nothing.
//!
//! What an export does:
//! - The blank becomes `_` and the start state `0`; whatever had that name takes the other's. Halting states get a
//!   name that says so (`halt-…`, `halt-reject-…`), running states one that does not, and blank space or `;` in names
//!   becomes `-`.
//! - A machine that stops where no rule applies is refused: here that would cost a step.
//! - The input is written as a comment with `$INITIAL_TAPE`.

mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

const BLANK: &str = "_";
const ANY: &str = "*";
const START: &str = "0";
const HALT: &str = "halt";
/// The word in a comment that the input follows.
const INITIAL_TAPE: &str = "$INITIAL_TAPE";
/// Where a machine goes that has no rule.
pub(super) const NO_RULE: &str = "halt-no-rule";

/// Whether a state of this name halts.
fn halts(name: &str) -> bool {
    name.get(..HALT.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(HALT))
}

/// Whether a halting state of this name accepts.
fn accepts(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.contains("reject") && name != NO_RULE
}

#[cfg(test)]
mod tests;
