//! Positions in a text as editors count them: lines from 0, columns in UTF-16 code units.

use std::ops::Range;

use lsp_types::Position;

/// The position of a byte; a byte inside a character or after the text counts as the position before it.
pub(super) fn position(text: &str, byte: usize) -> Position {
    let before = &text[..text.floor_char_boundary(byte)];
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position::new(number(before.matches('\n').count()), number(column))
}

/// The range of a span of bytes.
pub(super) fn range(text: &str, span: &Range<usize>) -> lsp_types::Range {
    lsp_types::Range::new(position(text, span.start), position(text, span.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_as_editors_do() {
        let text = "a\n𝛼β c\n";
        assert_eq!(position(text, 0), Position::new(0, 0));
        // The first letter takes two units and four bytes, the second one unit and two bytes.
        assert_eq!(position(text, 2 + 4), Position::new(1, 2));
        assert_eq!(position(text, 2 + 5), Position::new(1, 2));
        assert_eq!(position(text, 2 + 7), Position::new(1, 4));
        assert_eq!(position(text, 1000), Position::new(2, 0));
        assert_eq!(range(text, &(2..8)), lsp_types::Range::new(Position::new(1, 0), Position::new(1, 3)));
    }
}
