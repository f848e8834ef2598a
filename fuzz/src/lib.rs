//! What every target demands of a parser.

use luge_machine::{Input, Machine, Severity, Simulator, formats::Format};
use luge_sled::{Program, Settings, Sizes};

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

/// Any text is a program or has an error inside the text; a program is interpreted and compiled, and its machine runs.
///
/// # Panics
/// If the front end breaks its word.
pub fn check_program(text: &str) {
    let sizes = Sizes { n_features: 2, n_labels: 1, integer: 4, fraction: 4 };
    let program = match Program::new(text, &sizes, &Settings::default()) {
        Ok(program) => program,
        Err(findings) => {
            assert!(findings.iter().any(|f| f.severity == Severity::Error), "refused without an error");
            assert!(findings.iter().all(|f| text.get(f.span.clone()).is_some()), "a span outside the text");
            return;
        }
    };
    program.interpret(&[vec![3, -5, 16]], 1_000);
    if let Ok(compiled) = program.compile() {
        assert_eq!(compiled.lines.len(), compiled.machine.states().len());
        Simulator::new(&compiled.machine, &compiled.input).run(1_000);
    }
}
