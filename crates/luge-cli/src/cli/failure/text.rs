//! Excerpts of source texts for error messages. Long lines are shortened around the error, control characters are made
//! visible, and columns are counted in characters.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// The most characters of a line that are shown, and how many of them may precede the finding.
const MAX_CHARS: usize = 160;
const BEFORE: usize = 60;

/// A few lines of a named text.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    /// The number of the first line in the whole text, counted from 0.
    first_line: usize,
    /// The number of characters cut off at the beginning of each line.
    cut: Vec<usize>,
    /// Where the finding is in this text.
    pub(super) span: Range<usize>,
}

impl Excerpt {
    /// The lines that contain a span, and one line before and after them.
    pub(super) fn around(name: &str, text: &str, span: &Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let first = text[..start].rmatch_indices('\n').nth(1).map_or(0, |(newline, _)| newline + 1);
        let stop = text[end..].match_indices('\n').nth(1).map_or(text.len(), |(newline, _)| end + newline);
        // Every character shown, with its byte position in the whole text.
        let mut shown: Vec<(usize, char)> = Vec::new();
        let (mut at, mut cut) = (first, Vec::new());
        for line in text[first..stop].split('\n') {
            let next = at + line.len() + 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            let n_chars = line.chars().count();
            let column = line.get(..start.wrapping_sub(at)).map_or(0, |before| before.chars().count());
            let skipped = if n_chars > MAX_CHARS { column.saturating_sub(BEFORE) } else { 0 };
            if skipped > 0 {
                shown.push((at, '…'));
            }
            // The ellipsis takes the place of one character.
            cut.push(skipped.saturating_sub(1));
            let kept = line.char_indices().skip(skipped).take(MAX_CHARS);
            shown.extend(kept.map(|(byte, c)| (at + byte, visible(c))));
            if n_chars > skipped + MAX_CHARS {
                shown.extend(shown.last().map(|&(byte, _)| (byte, '…')));
            }
            shown.push((at + line.len(), '\n'));
            at = next;
        }
        shown.pop();
        let place = |byte: usize| {
            let before = shown.iter().take_while(|&&(at, _)| at < byte);
            before.map(|(_, c)| c.len_utf8()).sum::<usize>()
        };
        Self {
            name: name.to_owned(),
            text: shown.iter().map(|(_, c)| c).collect(),
            first_line: text[..first].matches('\n').count(),
            cut,
            span: place(start)..place(end),
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
