//! Files made to be expensive: reading them takes little time and memory, and gives a bounded number of findings.

use std::{fmt::Write, fs, sync::LazyLock, time::Instant};

use luge_machine::{
    Diagnostic,
    formats::{Format, Loaded},
};

/// More than any format lists: a hundred errors, a hundred warnings, and how many more there are of each.
const MAX_FINDINGS: usize = 202;
/// A limit that quadratic algorithms exceed by far.
const MAX_SECONDS: f64 = 15.0;

/// Seconds that this thread has spent on a processor, which others on a busy machine do not add to; where the system does not tell, seconds
/// by the clock.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| n / 1e9)
}

#[track_caller]
fn read(format: Format, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let begun = seconds();
    let read = format.read(text);
    let findings = match &read {
        Ok(loaded) => &loaded.warnings,
        Err(errors) => errors,
    };
    let taken = seconds() - begun;
    assert!(taken < MAX_SECONDS, "{format}: {taken} s");
    assert!(findings.len() <= MAX_FINDINGS, "{format}: {} findings", findings.len());
    assert!(findings.iter().all(|d| text.get(d.span.clone()).is_some()));
    read
}

#[track_caller]
fn check_warned(format: Format, text: &str, last: &str) {
    let loaded = read(format, text).unwrap_or_else(|errors| panic!("{:?}", errors.first()));
    assert_eq!(loaded.warnings.last().map(|d| d.message.as_str()), Some(last));
}

#[track_caller]
fn check_refused(format: Format, text: &str, last: &str) {
    let errors = read(format, text).expect_err(last);
    assert_eq!(errors.last().map(|d| d.message.as_str()), Some(last));
}

const N: usize = 100_000;

#[test]
fn repeated_rules() {
    let tms = format!("init: q\naccept: z\n{}", "q,1\nq,1,>\n".repeat(N));
    check_warned(Format::TuringMachineSimulator, &tms, "99899 more warnings are not listed");
    let conflicts = format!("init: q\nq,1\nq,1,<\n{}", "q,1\nq,1,>\n".repeat(N));
    check_refused(Format::TuringMachineSimulator, &conflicts, "99900 more errors are not listed");
    let native = format!("machine\ntape t: 0 1 blank 0\nq:\n{}", "  0 -> 1, R, q\n".repeat(N));
    check_warned(Format::Native, &native, "99899 more warnings are not listed");
    check_warned(Format::Morphett, &"0 1 1 r 0\n".repeat(N), "99899 more warnings are not listed");
}

/// No two of these rules are the same, and all have a wildcard.
#[test]
fn many_rules_with_wildcards() {
    let symbols: Vec<String> = (0..250).map(|s| format!("s{s}")).collect();
    let mut text = String::from("machine\n");
    for tape in ["a", "b", "c"] {
        writeln!(text, "tape {tape}: {} blank s0", symbols.join(" ")).unwrap();
    }
    text.push_str("q:\n");
    for (a, b) in symbols.iter().flat_map(|a| symbols.iter().map(move |b| (a, b))) {
        writeln!(text, "  {a} {b} * -> * * *, R R R, q").unwrap();
    }
    assert_eq!(read(Format::Native, &text).unwrap().warnings, []);
}

/// A rule for every state that accepts, and as many such states.
#[test]
fn many_accepting_states() {
    let names: Vec<String> = (0..N / 4).map(|n| format!("s{n}")).collect();
    let rules: String = names.iter().map(|name| format!("{name},1\n{name},1,>\n")).collect();
    let text = format!("init: s0\naccept: {}\n{rules}", names.join(","));
    check_warned(Format::TuringMachineSimulator, &text, "24900 more warnings are not listed");
}

#[test]
fn repeated_transitions() {
    let jff = |read: &str, more: &str| {
        let transition = format!(
            "<transition><from>0</from><to>0</to><read>{read}</read><write>~</write><move>R</move></transition>"
        );
        format!(
            "<structure><type>turing</type><automaton><state id=\"0\"><initial/></state>{more}{}</automaton></structure>",
            transition.repeat(N / 4)
        )
    };
    for label in ["~", "a", "!a"] {
        assert!(read(Format::Jflap, &jff(label, "")).unwrap().machine.n_rules() <= 1);
    }
    let all: String = ('\u{4e00}'..).take(250).collect();
    let named = format!(
        "<transition><from>0</from><to>0</to><read>!{all}</read><write>~</write><move>R</move></transition>"
    );
    assert_eq!(read(Format::Jflap, &jff("!a", &named)).unwrap().machine.n_rules(), 252);
    assert!(read(Format::Jflap, &jff("ab", "")).is_err());
}

/// A row of two hundred symbols is shared by thousands of states, and a long key stands twenty thousand times.
#[test]
fn aliases_that_stand_for_a_huge_table() {
    let row: String = ('\u{4e00}'..).take(200).map(|c| format!("{c}: R, ")).collect();
    let states: String = (0..16_000).map(|n| format!("  s{n}: *s\n")).collect();
    let text = format!("blank: ' '\nstart state: s\ntable:\n  s: &s {{{row}}}\n{states}");
    check_refused(Format::TuringMachineIo, &text, "the aliases of this document stand for too much");
    let list = "*s, ".repeat(20_000);
    let head = format!("name: &s {}\nblank: ' '\nstart state: a\n", "x".repeat(60_000));
    let text = format!("{head}table:\n  a:\n    ? [{list}]\n    : R\n");
    let loaded =
        read(Format::TuringMachineIo, &text).unwrap_or_else(|errors| panic!("{:?}", errors[0].label));
    assert_eq!(loaded.warnings.len(), 101);
    // What is shared by an ordinary number of states is read as ever.
    let states: String = (0..2_000).map(|n| format!("  s{n}: *s\n")).collect();
    let text = format!("blank: ' '\nstart state: s\ntable:\n  s: &s {{0: R, 1: L, ' ': R}}\n{states}");
    assert_eq!(read(Format::TuringMachineIo, &text).unwrap().machine.n_rules(), 6_003);
}

#[test]
fn nothing_but_errors() {
    let rubbish = [
        (Format::Native, "? ? ?\n"),
        (Format::Morphett, "0 10 10 up\n"),
        (Format::TuringMachineSimulator, "q,1,1,1\n"),
    ];
    for (format, line) in rubbish {
        let errors = read(format, &line.repeat(N)).unwrap_err();
        assert!(
            errors.len() <= 101 && errors.last().unwrap().message.ends_with("are not listed"),
            "{format}"
        );
    }
    check_refused(Format::Bbchallenge, &"_".repeat(N), "99902 more errors are not listed");
    let names: String = (0..N / 4).map(|n| format!("  n{n}: {{R: lost}}\n")).collect();
    let table: String = (0..N / 4).map(|n| format!("  s{n}: {{1: what}}\n")).collect();
    let text = format!("blank: 0\nstart state: s0\nsynonyms:\n{names}table:\n{table}");
    check_refused(Format::TuringMachineIo, &text, "49900 more errors are not listed");
}

/// A list of machines is one finding, and each is read without reading the others.
#[test]
fn long_lists() {
    use luge_machine::formats::bbchallenge::{entries, read_entry};
    let list = "1RB1LB_1LA1RZ Halt 6 4\n".repeat(N);
    assert_eq!(read(Format::Bbchallenge, &list).unwrap_err().len(), 1);
    let begun = seconds();
    assert_eq!(entries(&list).filter(|entry| read_entry(&list, entry).is_ok()).count(), N);
    assert!(seconds() - begun < MAX_SECONDS);
}
