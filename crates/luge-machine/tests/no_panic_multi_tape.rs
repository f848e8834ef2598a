//! The parsers of the multi-tape formats and the recogniser never panic, and their spans are within the text.

use std::fs;

use luge_machine::formats::{Format, recognise};
use proptest::{prelude::*, sample::Index};

/// A machine in the format, to be damaged.
fn good_files(format: Format) -> Vec<String> {
    let folder = format!("formats/{}", format.slug());
    let paths = format.extensions().iter().flat_map(|extension| luge_suite::files(&folder, extension));
    let texts: Vec<String> = paths.map(|path| fs::read_to_string(path).expect("a suite file")).collect();
    assert!(!texts.is_empty(), "{folder} is empty");
    texts
}

fn check(format: Format, text: &str) {
    let findings = match format.read(text) {
        Ok(loaded) => loaded.warnings,
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason: {text:?}");
            errors
        }
    };
    for finding in findings {
        let span = finding.span.clone();
        assert!(text.get(span.clone()).is_some(), "{span:?} is not in {text:?}");
        assert!(finding.one_line(text).contains(&finding.message));
    }
}

/// Replaces a piece of a text by another.
#[derive(Clone, Debug)]
struct Damage {
    at: Index,
    length: usize,
    put: String,
}

fn damage() -> impl Strategy<Value = Damage> {
    let put = prop_oneof![
        2 => Just(String::new()),
        2 => "[ -~\n]{1,4}",
        1 => any::<char>().prop_map(String::from),
        1 => prop::sample::select(vec!["\"", "#", "->", ",", ":", "<", ">", "~", "!a", "a,b}v", "//", "\u{0}", "-9", "999"])
            .prop_map(str::to_owned),
    ];
    (any::<Index>(), 0..12_usize, put).prop_map(|(at, length, put)| Damage { at, length, put })
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for Damage { at, length, put } in damages {
        let start = at.index(chars.len() + 1);
        let end = (start + length).min(chars.len());
        chars.splice(start..end, put.chars());
    }
    chars.into_iter().collect()
}

fn check_format(format: Format) {
    let texts = good_files(format);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(10_000));
    let noise = prop::collection::vec(any::<u8>(), 0..200);
    runner
        .run(&(noise, any::<Index>(), prop::collection::vec(damage(), 1..5)), |(noise, index, damages)| {
            check(format, &String::from_utf8_lossy(&noise));
            check(format, &damaged(&texts[index.index(texts.len())], &damages));
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn native_never_panics() {
    check_format(Format::Native);
}

#[test]
fn turingmachinesimulator_never_panics() {
    check_format(Format::TuringMachineSimulator);
}

#[test]
fn jflap_never_panics() {
    check_format(Format::Jflap);
}

#[test]
fn recogniser_never_panics() {
    let texts: Vec<String> = [Format::Native, Format::TuringMachineSimulator, Format::Jflap]
        .into_iter()
        .flat_map(good_files)
        .collect();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(10_000));
    let noise = prop::collection::vec(any::<u8>(), 0..200);
    let extension =
        proptest::option::of(prop::sample::select(vec!["tm", "bb", "yaml", "jff", "tms", "txt", ""]));
    runner
        .run(
            &(noise, extension, any::<Index>(), prop::collection::vec(damage(), 1..5)),
            |(noise, extension, index, damages)| {
                let texts = [
                    String::from_utf8_lossy(&noise).into_owned(),
                    damaged(&texts[index.index(texts.len())], &damages),
                ];
                for text in texts {
                    if let Err(error) = recognise(extension, &text) {
                        assert!(!error.to_string().is_empty());
                    }
                }
                Ok(())
            },
        )
        .unwrap_or_else(|e| panic!("{e}"));
}
