//! Files as the sites write them, and the options of their users.

use std::fs;

use luge_machine::{
    Diagnostic, Input, Outcome, Severity, Simulator,
    formats::{Format, Loaded, ReadOptions, WriteOptions, bbchallenge},
    parse_inputs,
};
use proptest::{collection::vec, prelude::*, sample::Index};

/// A document as turingmachine.io saves it.
const SAVED: WriteOptions = WriteOptions { lossy: false, saved: true };

fn config() -> ProptestConfig {
    ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() }
}

fn samples(format: Format) -> Vec<String> {
    let folder = format!("formats/{}", format.slug());
    let paths = format.extensions().iter().flat_map(|extension| luge_suite::files(&folder, extension));
    paths.map(|path| fs::read_to_string(path).expect("a readable file")).collect()
}

/// A suite file.
fn file(format: Format, name: &str) -> String {
    fs::read_to_string(luge_suite::root().join("formats").join(format.slug()).join(name))
        .expect("a readable file")
}

fn findings(read: Result<Loaded, Vec<Diagnostic>>) -> (bool, Vec<Diagnostic>) {
    match read {
        Ok(loaded) => (true, loaded.warnings),
        Err(errors) => (false, errors),
    }
}

/// The outcome of a machine that is read with options.
fn run(format: Format, text: &str, options: &ReadOptions) -> (Outcome, u64) {
    let machine = format.read_with(text, options).unwrap_or_else(|e| panic!("{e:?}")).machine;
    let input = parse_inputs(&machine, &options.inputs).unwrap_or_else(|e| panic!("{e}"));
    let mut simulator = Simulator::new(&machine, &input);
    (simulator.run(1_000), simulator.steps())
}

fn on(input: &str) -> ReadOptions {
    ReadOptions { inputs: vec![input.to_owned()], ..ReadOptions::default() }
}

fn from(start: &str) -> ReadOptions {
    ReadOptions { start: Some(start.to_owned()), ..ReadOptions::default() }
}

fn at(line: usize) -> ReadOptions {
    ReadOptions { line: Some(line), ..ReadOptions::default() }
}

#[track_caller]
fn check_refused(format: Format, text: &str, options: &ReadOptions, expected: &str) {
    let errors = format.read_with(text, options).expect_err(expected);
    let listed: Vec<String> = errors.iter().map(|d| d.one_line(text)).collect();
    assert_eq!(listed, [expected]);
}

/// The document in which the site saves a machine; nothing if it would save this text in quotes.
fn saved(bare: &str, indent: usize, line_break: &str) -> Option<String> {
    let plain = |c: char| c == '\n' || c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    let first = bare.lines().find(|line| !line.trim().is_empty())?;
    if !bare.chars().all(plain) || first.starts_with(' ') || bare.lines().next()? != first {
        return None;
    }
    let spaces = " ".repeat(indent);
    let lines: String = bare.lines().map(|line| format!("{spaces}{line}{line_break}")).collect();
    Some(format!("name: saved{line_break}source code: |{line_break}{lines}positions: null{line_break}"))
}

/// A machine inside a document gives what it gives alone, and every finding points to the same piece of text.
fn check_saved(bare: &str, indent: usize, line_break: &str) -> Result<bool, TestCaseError> {
    let Some(outer) = saved(bare, indent, line_break) else { return Ok(false) };
    let (alone, inside) = (Format::TuringMachineIo.read(bare), Format::TuringMachineIo.read(&outer));
    if let (Ok(alone), Ok(inside)) = (&alone, &inside) {
        prop_assert_eq!(inside.machine.name(), Some("saved"));
        prop_assert_eq!(alone.machine.states(), inside.machine.states());
        prop_assert_eq!(alone.machine.tapes(), inside.machine.tapes());
        prop_assert_eq!(&alone.input, &inside.input);
    }
    let ((read, alone), (read_inside, inside)) = (findings(alone), findings(inside));
    prop_assert_eq!(read, read_inside, "{}", outer);
    let told =
        |findings: &[Diagnostic], text: &str, above: usize, left: usize| -> Vec<(String, usize, usize)> {
            let place = |d: &Diagnostic| {
                let (line, column) = d.position(text);
                (d.message.clone(), line - above, column - left)
            };
            findings.iter().map(place).collect()
        };
    // What stands at the very end has no line of its own in the document.
    let ends =
        |d: &Diagnostic, text: &str| text[d.span.start..].trim().is_empty() || d.span.start == d.span.end;
    if !alone.iter().any(|d| ends(d, bare)) {
        prop_assert_eq!(told(&alone, bare, 0, 0), told(&inside, &outer, 2, indent));
    }
    Ok(true)
}

#[test]
fn findings_point_into_the_text_of_a_saved_document() {
    let all = samples(Format::TuringMachineIo);
    let bare: Vec<String> = all.into_iter().filter(|text| !text.contains("source code:")).collect();
    let mut n_checked = 0;
    for text in &bare {
        for (indent, line_break) in [(1, "\n"), (2, "\n"), (4, "\r\n")] {
            n_checked += usize::from(check_saved(text, indent, line_break).unwrap());
        }
    }
    assert!(n_checked >= 30, "{n_checked} of {}", bare.len());
    proptest!(config(), |(which in any::<Index>(), cut in any::<Index>(), n in 0..12_usize, indent in 1..5_usize)| {
        let mut text: Vec<char> = which.get(&bare).chars().collect();
        let from = cut.index(text.len() + 1);
        text.drain(from..(from + n).min(text.len()));
        check_saved(&text.into_iter().collect::<String>(), indent, "\n")?;
    });
}

#[test]
fn saved_documents_are_written_on_request() {
    let mut n_written = 0;
    for text in samples(Format::TuringMachineIo) {
        let Ok(loaded) = Format::TuringMachineIo.read(&text) else { continue };
        let written =
            Format::TuringMachineIo.write_with(&loaded.machine, loaded.input.as_ref(), SAVED).unwrap().text;
        assert!(
            written.contains("source code: |\n  ") && written.ends_with("positions: null\n"),
            "{written}"
        );
        let again = Format::TuringMachineIo.read(&written).unwrap_or_else(|e| panic!("{written}: {e:?}"));
        assert_eq!((again.machine, again.input), (loaded.machine, loaded.input));
        n_written += 1;
    }
    assert!(n_written >= 9);
}

#[test]
fn a_machine_beside_source_code_is_the_bare_one() {
    let text = "source code: |\n  nothing\nblank: 0\nstart state: a\ntable: {a: }\n";
    assert_eq!(Format::TuringMachineIo.read(text).unwrap().warnings, []);
}

proptest! {
    #![proptest_config(config())]

    /// JFLAP has no declared alphabet: `!□` matches whatever lies on the tape.
    #[test]
    fn a_negation_matches_symbols_that_no_transition_names(input in "[a-zäöé0-9?!~#]{0,12}") {
        let text = file(Format::Jflap, "until-blank.jff");
        // `!` itself is in the label, so `!□` does not match it.
        let seen = input.find('!').unwrap_or(input.len());
        let n_seen = input[..seen].chars().count() as u64;
        let (outcome, steps) = run(Format::Jflap, &text, &on(&input));
        prop_assert_eq!(outcome.accepting(), seen == input.len());
        prop_assert_eq!(steps, n_seen + u64::from(outcome.accepting()));
    }

    /// The text after a machine never changes it.
    #[test]
    fn notes_are_no_part_of_the_machine(notes in vec("[ ,;|]{1,2}[A-Za-z(][A-Za-z0-9 .,_)-]{0,12}", 1..6)) {
        let machines = ["1RB1LB_1LA1RZ", "1RB---_1LA---", "1RA2LA1RZ", "------_1RA0LB"];
        let lines: Vec<String> =
            notes.iter().zip(machines.iter().cycle()).map(|(note, line)| format!("{line}{note}")).collect();
        let list = lines.join("\n");
        for (entry, line) in bbchallenge::entries(&list).zip(machines.iter().cycle()) {
            prop_assert_eq!(entry.machine, *line);
            let loaded = bbchallenge::read_entry(&list, &entry).unwrap();
            prop_assert_eq!(&loaded, &Format::Bbchallenge.read(line).unwrap());
            let chosen = Format::Bbchallenge.read_with(&list, &at(entry.line)).unwrap();
            prop_assert_eq!(&chosen.machine, &loaded.machine);
            prop_assert!(chosen.warnings.len() <= 1 && chosen.warnings.iter().all(|d| !entry.note.is_empty() && d.severity == Severity::Warning));
        }
        prop_assert_eq!(bbchallenge::entries(&list).count(), lines.len());
    }

    /// An input survives in a comment.
    #[test]
    fn morphett_carries_the_input(input in "[01_ ]{0,6}[*]?[01_ ]{0,6}") {
        let machine = Format::Morphett.read("0 1 0 r 0\n0 0 1 r 0\n").unwrap().machine;
        let input = parse_inputs(&machine, &[&input]).unwrap();
        let written = Format::Morphett.write(&machine, Some(&input)).unwrap();
        let again = Format::Morphett.read(&written).unwrap();
        prop_assert_eq!(&again.machine, &machine);
        prop_assert_eq!(again.warnings, []);
        let blank = Input { tapes: vec![Default::default()] };
        prop_assert_eq!(again.input.unwrap_or(blank), input);
    }
}

#[test]
fn blanks_of_jflap_are_not_taken_for_symbols() {
    let text = file(Format::Jflap, "until-blank.jff");
    // `_` is what the blank is called here.
    assert_eq!(run(Format::Jflap, &text, &on("ab_c")).1, 3);
    let machine = Format::Jflap
        .read_with(&text, &ReadOptions { inputs: vec!["a□".to_owned()], ..ReadOptions::default() })
        .unwrap()
        .machine;
    assert!(parse_inputs(&machine, &["a□"]).unwrap_err().to_string().starts_with("`□` at position 2"));
}

/// On the symbols they name the two transitions exclude each other, on any other both apply.
#[test]
fn negations_that_overlap_elsewhere_refuse_such_an_input() {
    let text = "<structure><type>turing</type><automaton>\
        <state id=\"0\" name=\"p\"><initial/></state><state id=\"1\" name=\"q\"><final/></state>\
        <transition><from>0</from><to>0</to><read>!a□</read><write>~</write><move>R</move></transition>\
        <transition><from>0</from><to>1</to><read>!b□</read><write>~</write><move>R</move></transition>\
        </automaton></structure>";
    assert_eq!(run(Format::Jflap, text, &on("bba")).1, 3);
    let errors = Format::Jflap.read_with(text, &on("bc")).unwrap_err();
    assert!(errors[0].message.starts_with("not deterministic: reading `c` in state `p`"), "{errors:?}");
}

#[test]
fn machines_start_where_they_are_asked_to() {
    let text = file(Format::Morphett, "recogniser.morphett");
    check_refused(
        Format::Morphett,
        &text,
        &from("q9"),
        "4:1: error: no rule is for the start state `q9` (the first rule is for another state); \
         help: the states with rules are q0 q1",
    );
    assert!(Format::Morphett.read_with(&text, &from("halt-accept")).is_err());
    let line = "1RB1LB_1LA1RZ";
    assert_eq!(run(Format::Bbchallenge, line, &from("Z")).1, 0);
    check_refused(
        Format::Bbchallenge,
        line,
        &from("C"),
        "1:1: error: there is no state `C` to start in (this machine); \
         help: the states are A B Z",
    );
    for format in Format::ALL {
        let texts = samples(format);
        let Some(Ok(loaded)) = texts.iter().map(|text| format.read(text)).find(Result::is_ok) else {
            panic!()
        };
        let text = texts.iter().find(|text| format.read(text).is_ok()).unwrap();
        let start = loaded.machine.state(loaded.machine.start()).name.clone();
        assert_eq!(format.read_with(text, &from(&start)).unwrap().machine, loaded.machine, "{format}");
    }
}

/// Where the start has rules only for `*`, any name will do.
#[test]
fn rules_for_any_state_are_rules_for_the_start() {
    let loaded = Format::Morphett.read_with("* 1 1 r go\n", &from("go")).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.machine.states()[0].name, "go");
}

#[test]
fn lines_are_those_of_a_list() {
    let list = file(Format::Bbchallenge, "list.bb");
    assert_eq!(run(Format::Bbchallenge, &list, &at(3)).1, 6);
    let check = |line: usize, expected: &str| check_refused(Format::Bbchallenge, &list, &at(line), expected);
    check(1, "1:1: error: line 1 holds no machine (a comment)");
    check(2, "2:1: error: line 2 holds no machine (an empty line)");
    let beyond = |line: usize| {
        format!(
            "6:1: error: there is no line {line} (the text ends after line 5); help: lines are counted from 1"
        )
    };
    check(6, &beyond(6));
    check(0, &beyond(0));
    check_refused(
        Format::Morphett,
        "0 1 1 r 0",
        &at(1),
        "1:1: error: line 1 is asked for, but a Morphett file is one machine (this file); \
         help: only bbchallenge lists have a machine on each line",
    );
}

/// Recognisers are told apart by how they end: a machine that dies does not accept.
#[test]
fn dying_is_not_accepting() {
    let text = "0 1 1 r 0\n0 _ _ * halt\n";
    let (outcome, steps) = run(Format::Morphett, text, &on("11"));
    assert_eq!((outcome.accepting(), steps), (true, 3));
    let (outcome, steps) = run(Format::Morphett, text, &on("1x"));
    assert_eq!((outcome.accepting(), outcome.word(), steps), (false, "halted", 2));
}
