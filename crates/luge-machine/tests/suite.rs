//! Runs the simulator on every case of tests/suite, and every parser on its broken files.

use std::{env, fs};

use luge_machine::{
    Diagnostic, Input, Severity, Simulator, TapeId,
    formats::{Format, Loaded, ReadOptions, recognise},
    parse_inputs,
};
use luge_suite::{Asked, Case};

fn load(case: &Case) -> (String, Loaded) {
    let (extension, text) = match (&case.line, case.machine_path()) {
        (Some(line), None) => (None, line.clone()),
        (None, Some(path)) => {
            let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
            (extension, fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        }
        _ => panic!("{}: give either `machine` or `line`", case.path.display()),
    };
    let format =
        recognise(extension.as_deref(), &text).unwrap_or_else(|e| panic!("{}: {e}", case.path.display()));
    let loaded = format.read_with(&text, &options(case));
    let loaded = loaded.unwrap_or_else(|errors| panic!("{}", listing(&errors, &text)));
    (text, loaded)
}

/// Reads a machine with the options of its case.
fn options(case: &Case) -> ReadOptions {
    match &case.asked {
        None => ReadOptions::default(),
        Some(Asked { start, line, any_character }) => ReadOptions {
            start: start.clone(),
            line: *line,
            inputs: case.inputs.clone().filter(|_| *any_character).unwrap_or_default(),
        },
    }
}

fn listing(diagnostics: &[Diagnostic], text: &str) -> String {
    diagnostics.iter().map(|d| d.one_line(text) + "\n").collect()
}

fn check(case: &Case) {
    let at = case.path.display();
    let (text, loaded) = load(case);
    let machine = &loaded.machine;
    let input = match &case.inputs {
        Some(texts) => parse_inputs(machine, texts).unwrap_or_else(|e| panic!("{at}: {e}")),
        None => loaded.input.clone().unwrap_or_else(Input::blank),
    };
    let mut simulator = Simulator::new(machine, &input);
    let outcome = simulator.run(case.limit);
    assert_eq!((outcome.word(), simulator.steps()), (case.outcome.as_str(), case.steps), "{at}");
    if let Some(state) = &case.state {
        assert_eq!(&machine.state(simulator.state()).name, state, "{at}");
    }
    if let Some(accepting) = case.accepting {
        assert_eq!(outcome.accepting(), accepting, "{at}");
    }
    if let Some(nonzero) = case.nonzero {
        assert_eq!(simulator.n_nonblank(), nonzero, "{at}");
    }
    if let Some(tapes) = &case.tapes {
        let contents = |tape: TapeId| -> String {
            let (_, symbols) = simulator.tape(tape).trimmed();
            symbols.iter().map(|&s| machine.tape(tape).alphabet.name(s)).collect()
        };
        assert_eq!(&machine.tape_ids().map(contents).collect::<Vec<_>>(), tapes, "{at}");
    }
    if let Some(heads) = &case.heads {
        assert_eq!(&machine.tape_ids().map(|t| simulator.head(t)).collect::<Vec<_>>(), heads, "{at}");
    }
    let warnings: Vec<String> = loaded.warnings.iter().map(|w| w.one_line(&text)).collect();
    assert_eq!(warnings, case.warnings, "{at}");
}

#[test]
fn simulator_meets_every_case() {
    let cases = luge_suite::all_cases("");
    assert!(cases.iter().any(|case| case.asked.is_some()));
    cases.iter().for_each(check);
}

/// Broken files are in `formats/<format>/bad/`; a `.diag` file next to each contains its exact diagnostics.
/// `BLESS=1 cargo test` writes them anew.
#[test]
fn broken_files_give_their_diagnostics() {
    for format in Format::ALL {
        let folder = format!("formats/{}/bad", format.slug());
        let mut n_files = 0;
        for extension in format.extensions() {
            for path in luge_suite::files(&folder, extension) {
                n_files += 1;
                let text = fs::read_to_string(&path).unwrap();
                let errors = format.read(&text).expect_err(&path.display().to_string());
                assert!(errors.iter().any(|d| d.severity == Severity::Error), "{}", path.display());
                let found = listing(&errors, &text);
                let golden = path.with_extension("diag");
                if env::var_os("BLESS").is_some() {
                    fs::write(&golden, &found).unwrap();
                }
                let expected = fs::read_to_string(&golden).unwrap_or_default();
                assert_eq!(found, expected, "{}", path.display());
            }
        }
        assert!(n_files >= 5, "{folder} has {n_files} broken files");
    }
}
