//! The multi-tape format of turingmachinesimulator.com.
//!
//! A machine stops on reaching a state listed by `accept:`, which halts accepting; the step into it counts, and rules of such a
//! state are dropped with a warning. Where a situation has no rule the machine stops without a step, rejecting:
//! [`Missing::Reject`](crate::Missing::Reject), outcome "no-rule". The blank is `_`. A rule that is repeated with the same action
//! gives a warning; two different rules for one situation are refused. Comments begin with `//`; lines that begin with `#` and are
//! no rules are refused with one finding that says so.
//!
//! The format names neither tapes nor alphabets: tapes are called `tape1`, `tape2`, … (`tape` if there is one), and an alphabet is
//! the blank and the symbols of the rules, by occurrence. States are ordered: the start, the accepting ones, those with rules, the rest.
//! Writing therefore keeps what the machine does but not these names and orders, nor a machine's name that would not fit on a line;
//! a blank with another name becomes `_`, and wildcards are written out.

mod parse;
mod print;

pub(super) use parse::read;
pub(super) use print::{LIMITS, write};

/// The blank.
const BLANK: &str = "_";

/// Key and value of a header line: one of the three keys and a colon, or any word, a colon and space.
fn header(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let known = matches!(key, "name" | "init" | "accept");
    let spaced = value.is_empty() || value.starts_with(char::is_whitespace);
    (known || spaced && !key.contains(',')).then_some((key, value))
}
