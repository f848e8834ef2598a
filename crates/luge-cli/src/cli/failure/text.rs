//! A source text whose columns are counted in characters, as everywhere else, and not in bytes.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// A named text that findings point into.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Text {
    name: String,
    text: String,
}

impl Text {
    pub(in crate::cli) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }
}

impl SourceCode for Text {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, lines_before, lines_after)?;
        let before = self.text.get(..read.span().offset()).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            read.data(),
            *read.span(),
            read.line(),
            column,
            read.line_count(),
        )))
    }
}
