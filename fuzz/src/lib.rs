//! What every target demands of a parser.

use luge_machine::{Severity, Simulator, formats::Format};

/// Any text is a machine or has an error inside the text; a machine runs, and survives being printed.
///
/// # Panics
/// If the parser breaks its word.
pub fn check(format: Format, text: &str) {
    let loaded = match format.read(text) {
        Ok(loaded) => loaded,
        Err(findings) => {
            assert!(findings.iter().any(|f| f.severity == Severity::Error), "refused without an error");
            assert!(findings.iter().all(|f| text.get(f.span.clone()).is_some()), "a span outside the text");
            return;
        }
    };
    let input = loaded.input.clone().unwrap_or_default();
    Simulator::new(&loaded.machine, &input).run(1_000);
    if let Ok(printed) = format.write(&loaded.machine, loaded.input.as_ref()) {
        let again = format.read(&printed).expect("what was printed reads back");
        assert_eq!(again.machine, loaded.machine, "printed as {printed:?}");
    }
}
