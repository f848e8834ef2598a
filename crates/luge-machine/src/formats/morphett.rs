//! Morphett's quintuples: `0 1 _ r 1i ; comment`, one rule per line.
//!
//! A rule is a state, the symbol read, the symbol written, a direction (`l`, `r`, `*`), the new state, and optionally `!`
//! (a breakpoint).
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are `_`, the blank, and the other characters in the rules and the
//!   initial tape, sorted.
//! - A comment `; $INITIAL_TAPE: 10*01` is the input, as on the site: a space is a blank, the first `*` marks the head.
//! - The machine starts in `0` or in [`ReadOptions::start`](super::ReadOptions::start): the site has a field for that, the
//!   file does not. States with rules come first, in the order of their first rules, then states that rules only enter,
//!   then halting states in the order in which rules enter them.
//! - A state whose name begins with `halt`, in any case, halts. It accepts unless its name contains `reject`.
//!   A rule of such a state is never used: a warning.
//! - `*` as symbol read or as state matches any; as symbol written or as new state it means unchanged; as direction, stay.
//!   Every running state gets its own rules in the order of precedence: (state, symbol), (state, `*`), (`*`, symbol),
//!   (`*`, `*`). Rules that never apply are omitted.
//! - Of two rules for the same state and symbol the last one counts: a warning.
//! - If no rule applies, the machine halts, and that counts as a step: a last rule goes to `halt-no-rule`, which does not
//!   accept. The site reports "Halted. No rule for state …".
//! - Breakpoints are ignored.
//!
//! What an export does:
//! - The blank becomes `_` and the start state `0`; a symbol or state that had this name gets the other's. Names of halting
//!   states get a prefix (`halt-…`, `halt-reject-…`) if they need one, names of running states lose theirs, and blank
//!   space or `;` in names becomes `-`.
//! - A machine that stops without a step where no rule applies is refused, because here that takes a step.
//! - The input is written as a comment with `$INITIAL_TAPE`.

mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

const BLANK: &str = "_";
const ANY: &str = "*";
const START: &str = "0";
const HALT: &str = "halt";
/// The word before the input in a comment.
const INITIAL_TAPE: &str = "$INITIAL_TAPE";
/// The state that the machine enters if no rule applies.
pub(super) const NO_RULE: &str = "halt-no-rule";

/// Whether a state with this name halts.
fn halts(name: &str) -> bool {
    name.get(..HALT.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(HALT))
}

/// Whether a halting state with this name accepts.
fn accepts(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.contains("reject") && name != NO_RULE
}

#[cfg(test)]
mod tests;
