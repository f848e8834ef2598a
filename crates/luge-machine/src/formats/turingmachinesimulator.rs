//! The multi-tape format of turingmachinesimulator.com.
//!
//! The machine accepts when it reaches a state listed after `accept:`; the step into it counts, and rules of such a state
//! are ignored with a warning. If no rule applies, the machine stops without a step and rejects:
//! [`Missing::Reject`](crate::Missing::Reject), outcome "no-rule". The blank is `_`. A repeated rule gives a warning; two
//! different rules for the same situation are an error. Comments begin with `//`; lines that begin with `#` and are not
//! rules give one error.
//!
//! The format has no names for tapes and no alphabets: tapes are called `tape1`, `tape2`, … (`tape` if there is one), and
//! an alphabet is the blank and the symbols of the rules, in order of occurrence. States are ordered: the start, the
//! accepting ones, those with rules, the rest. So writing keeps the behaviour of the machine, but not these names and
//! orders, nor a name of the machine that does not fit on a line; a blank with another name becomes `_`, and wildcards
//! are expanded.

mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

/// The blank.
const BLANK: &str = "_";

/// The key and value of a header line: one of the three keys and a colon, or any word, a colon and a space.
fn header(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let known = matches!(key, "name" | "init" | "accept");
    let spaced = value.is_empty() || value.starts_with(char::is_whitespace);
    (known || spaced && !key.contains(',')).then_some((key, value))
}
