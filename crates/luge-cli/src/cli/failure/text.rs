//! Excerpts of source texts for error messages. Long lines are cut around the error, control characters are made
//! visible, and columns are counted in characters.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// The most characters of a line that are shown, and how many of them are before the finding.
const MAX_CHARS: usize = 160;
const BEFORE: usize = 60;

/// A few lines of a named text.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    /// The number of the first line in the whole text, counted from 0.
    first_line: usize,
    /// For every line, the number of characters that are cut off at its beginning.
    cut: Vec<usize>,
    /// Where the finding is in this text.
    pub(super) span: Range<usize>,
}

impl Excerpt {
    /// The lines of a finding, and one before and after them.
    pub(super) fn around(name: &str, text: &str, span: &Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let own = line_start(start);
        let first = if own > 0 { line_start(own - 1) } else { 0 };
        let last = line_end(end);
        let stop = if last < text.len() { line_end(last + 1) } else { last };
        let mut excerpt = Self {
            name: name.to_owned(),
            text: String::new(),
            first_line: text[..first].matches('\n').count(),
            cut: Vec::new(),
            span: usize::MAX..usize::MAX,
        };
        let mut at = first;
        for line in text[first..stop].split('\n') {
            if at > first {
                excerpt.text.push('\n');
            }
            excerpt.push_line(line.strip_suffix('\r').unwrap_or(line), at, start..end);
            at += line.len() + 1;
        }
        let length = excerpt.text.len();
        excerpt.span = excerpt.span.start.min(length)..excerpt.span.end.min(length);
        excerpt
    }

    /// Adds a line that begins at a byte of the whole text, in which the finding is `span`.
    fn push_line(&mut self, line: &str, first: usize, span: Range<usize>) {
        let n_chars = line.chars().count();
        let here = (first..=first + line.len()).contains(&span.start);
        let column = if here { line[..span.start - first].chars().count() } else { 0 };
        let skipped = if n_chars > MAX_CHARS { column.saturating_sub(BEFORE) } else { 0 };
        if skipped > 0 {
            self.text.push('…');
        }
        // The ellipsis takes the place of one character.
        self.cut.push(skipped.saturating_sub(1));
        for (at, c) in line.char_indices().skip(skipped).take(MAX_CHARS) {
            self.mark(first + at, &span);
            self.text.push(visible(c));
        }
        if n_chars > skipped + MAX_CHARS {
            self.text.push('…');
        }
        self.mark(first + line.len(), &span);
    }

    /// Records where the finding begins and ends, when that byte of the whole text is reached.
    fn mark(&mut self, at: usize, span: &Range<usize>) {
        if at >= span.start && self.span.start == usize::MAX {
            self.span.start = self.text.len();
        }
        if at >= span.end && self.span.end == usize::MAX {
            self.span.end = self.text.len();
        }
    }
}

/// Makes control characters visible, so that a terminal does not interpret them.
pub(in super::super) fn escape_control(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { visible(c) }).collect()
}

/// The symbol for a control character.
fn visible(c: char) -> char {
    match u32::from(c) {
        0x09 => c,
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        0x80..0xa0 => '\u{fffd}',
        _ => c,
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, lines_before, lines_after)?;
        let before = self.text.get(..read.span().offset()).unwrap_or_default();
        let mut column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        // Without context lines, miette asks for the position of the finding.
        if lines_before == 0 && lines_after == 0 {
            column += self.cut.get(before.matches('\n').count()).copied().unwrap_or(0);
        }
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            *read.span(),
            read.line() + self.first_line,
            column,
            read.line_count(),
        )))
    }
}

/// Suggests the most similar names, the best first; empty if none is similar.
pub(in super::super) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let mut near: Vec<(f64, &str)> =
        known.iter().map(|name| (strsim::jaro_winkler(word, name), *name)).collect();
    near.retain(|(alike, _)| *alike > 0.8);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("did you mean {}? Else ", names.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> (String, String, usize) {
        let excerpt = Excerpt::around("it", text, &span);
        let marked = excerpt.text[excerpt.span.clone()].to_owned();
        (excerpt.text, marked, excerpt.first_line)
    }

    #[test]
    fn short_lines_are_shown_as_they_are() {
        let text = "one\ntwo\nthree\r\nfour\nfive\n";
        assert_eq!(shown(text, 8..13), ("two\nthree\nfour".to_owned(), "three".to_owned(), 1));
        assert_eq!(shown(text, 0..3), ("one\ntwo".to_owned(), "one".to_owned(), 0));
        assert_eq!(shown(text, 4..13), ("one\ntwo\nthree\nfour".to_owned(), "two\nthree".to_owned(), 0));
        assert_eq!(shown(text, 25..25).1, "");
        assert_eq!(shown("", 0..0), (String::new(), String::new(), 0));
    }

    #[test]
    fn long_lines_are_cut_around_the_finding() {
        let text = format!("{}?{}\n", "a".repeat(100_000), "b".repeat(100_000));
        let (cut, marked, _) = shown(&text, 100_000..100_001);
        assert_eq!(cut.trim_end(), format!("…{}?{}…", "a".repeat(60), "b".repeat(99)));
        assert_eq!(marked, "?");
        let excerpt = Excerpt::around("it", &text, &(100_000..100_001));
        let contents = excerpt.read_span(&excerpt.span.clone().into(), 0, 0).expect("a span");
        assert_eq!((contents.line(), contents.column()), (0, 100_000));
    }

    #[test]
    fn control_characters_are_shown_as_pictures() {
        let (clean, marked, _) = shown("a\u{1b}[2J\u{7}é\n", 1..2);
        assert_eq!((clean.trim_end(), &*marked), ("a␛[2J␇é", "␛"));
        assert_eq!(escape_control("x\u{1b}]0;\u{9b}\ty"), "x␛]0;\u{fffd}\ty");
    }
}
