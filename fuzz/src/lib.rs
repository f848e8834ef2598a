//! What every target demands of a parser.

use luge_machine::{Input, Machine, Severity, Simulator, formats::Format};

/// Any text is a machine or has an error inside the text; a machine runs, and does the same
/// after it was printed and read back.
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
    let end = |machine: &Machine| {
        let mut simulator = Simulator::new(machine, &Input::blank());
        let outcome = simulator.run(1_000);
        (outcome.word(), outcome.accepting(), simulator.steps(), simulator.n_nonblank())
    };
    let expected = end(&loaded.machine);
    if let Ok(printed) = format.write(&loaded.machine, loaded.input.as_ref()) {
        let again = format.read(&printed).expect("what was printed reads back");
        assert_eq!(end(&again.machine), expected, "printed as {printed:?}");
    }
    Simulator::new(&loaded.machine, &loaded.input.unwrap_or_default()).run(1_000);
}
