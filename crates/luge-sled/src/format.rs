//! The formatter: line breaks are kept, indentation follows the brackets.

use crate::lex::{Kind, Token, tokens};

/// The text with four spaces per open bracket, no runs of spaces, and no runs of blank lines. Comments are kept.
pub(crate) fn format(source: &str) -> String {
    let tokens = tokens(source, &mut Vec::new());
    let mut out = String::new();
    let mut rest = &tokens[..tokens.len() - 1];
    let (mut depth, mut start, mut blank) = (0_usize, 0, true);
    for line in source.split_inclusive('\n') {
        let end = start + line.len();
        let (inside, later) = rest.split_at(rest.partition_point(|token| token.span.start < end));
        rest = later;
        let text = line.trim();
        if text.is_empty() {
            if !blank {
                out.push('\n');
            }
            blank = true;
        } else {
            let closing = inside.iter().take_while(|token| step(token) < 0).count();
            out.push_str(&"    ".repeat(depth.saturating_sub(closing)));
            out.push_str(&spaced(source, inside, start, line));
            out.push('\n');
            blank = false;
        }
        let after = inside.iter().fold(i64::try_from(depth).unwrap_or(0), |depth, token| depth + step(token));
        depth = usize::try_from(after).unwrap_or(0);
        start = end;
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    out.push('\n');
    out
}

/// The change of bracket depth by a token.
fn step(token: &Token) -> i64 {
    match token.kind {
        Kind::Symbol("{" | "(" | "[") => 1,
        Kind::Symbol("}" | ")" | "]") => -1,
        _ => 0,
    }
}

/// A line's tokens with at most one space between them, and its comment.
fn spaced(source: &str, tokens: &[Token], start: usize, line: &str) -> String {
    let mut text = String::new();
    let mut last = start;
    for token in tokens {
        if !text.is_empty() && token.span.start > last {
            text.push(' ');
        }
        text.push_str(&source[token.span.clone()]);
        last = token.span.end;
    }
    let comment = source[last..start + line.len()].trim();
    if !comment.is_empty() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(comment);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_indented_and_comments_kept() {
        let source = "\n\n// A learner.\nlearner l(x: [fix<I,F>; M], y: fix<I,F>) ->  theta: [fix<I,F>; M] {\nfor sample   in data {  // each\n        theta[0] +=   y;\n\n\n  } }\n\n";
        let formatted = format(source);
        assert_eq!(
            formatted,
            "// A learner.\nlearner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M] {\n    for sample in data { // each\n        theta[0] += y;\n\n} }\n"
        );
        assert_eq!(format(&formatted), formatted);
    }

    /// Formatting takes linear time: each line looks only at its own tokens.
    #[test]
    fn long_programs_are_formatted() {
        let long =
            format!("fn f() -> bit {{\n{}    return true;\n}}\n", "    a[0] += b[1] - 1;\n".repeat(200_000));
        assert_eq!(format(&long), long);
    }
}
