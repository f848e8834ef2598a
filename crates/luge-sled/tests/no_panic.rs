//! Any text is a program, or gives errors with places inside the text.

use luge_machine::Severity;
use luge_sled::{Program, Settings, Sizes};
use proptest::prelude::*;

const LEARNER: &str = include_str!("../../luge/learners/mlp_backprop.sled");
const LINE: &str = include_str!("../../luge/learners/least_squares_line.sled");

fn check(text: &str) {
    let sizes = Sizes { n_features: 2, n_labels: 1, integer: 4, fraction: 4 };
    match Program::new(text, &sizes, &Settings::default()) {
        Err(findings) => {
            assert!(findings.iter().any(|finding| finding.severity == Severity::Error));
            for finding in &findings {
                assert!(text.get(finding.span.clone()).is_some(), "{finding:?} lies outside of {text:?}");
            }
        }
        Ok(program) => {
            program.interpret(&[vec![1, 2, 3]], 1000);
            drop(program.compile());
        }
    }
}

const WORDS: [&str; 44] = [
    "learner", "fn", "const", "type", "let", "if", "else", "while", "for", "in", "data", "return", "reject",
    "as", "true", "bit", "int", "fix", "tape", "x", "y", "theta", "M", "I", "a", "1", "0.5", "(", ")", "{",
    "}", "[", "]", "<", ">", ",", ";", ":", "=", "->", "+", "..", ".read()", "relu",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        check(&text);
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        check(&words.join(" "));
        check(&format!("learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M] {{ {} }}", words.join(" ")));
    }

    #[test]
    fn damaged_programs(
        first in any::<bool>(),
        at in any::<prop::sample::Index>(),
        n_gone in 0_usize..12,
        put in prop::sample::select(&WORDS[..]),
    ) {
        let text = if first { LEARNER } else { LINE };
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let head: String = chars[..at].iter().collect();
        let tail: String = chars[(at + n_gone).min(chars.len())..].iter().collect();
        check(&format!("{head}{put}{tail}"));
    }
}

/// Deep and long texts give a finding, without a stack overflow and in reasonable time.
#[test]
fn extremes() {
    let body =
        |body: &str| format!("learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M] {{ {body} }}");
    check(&"(".repeat(100_000));
    check(&body(&"{".repeat(100_000)));
    check(&body(&format!("theta[0] = {}1{};", "(".repeat(5000), ")".repeat(5000))));
    check(&body(&format!("theta[0] = {}1;", "-".repeat(5000))));
    check(&body(&format!("theta[0] = 1{};", " + theta[0]".repeat(5000))));
    check(&body(&format!("theta[0] = theta[0]{};", " as fix<I,F>".repeat(5000))));
    check(&body(&"if true { ".repeat(5000)));
    check(&body(&format!("{} {{ }}", "if theta[0] > 0 { } else ".repeat(5000))));
    check(&body("for i in 0..100000000000 { theta[0] += i; }"));
    check(&body(
        "for i in 0..1000 { for j in 0..1000 { for k in 0..1000 { let a = theta[0] + i + j + k; } } }",
    ));
    check(&body("for i in 0..1000000000 { for j in i..i { } }"));
    check(&body("theta[0] = 99999999999999999999999999999999999999999999999999999999;"));
    check(&body(
        "theta[0] = 1 << 1000000; theta[0] = theta[0] << 99999999999; theta[0] = theta[0] >> 4000000000;",
    ));
    let doubling: String = (1..20)
        .map(|n| {
            format!("fn f{n}(a: fix<I,F>) -> fix<I,F> {{ return f{m}(a) + f{m}(a) + f{m}(a); }} ", m = n - 1)
        })
        .collect();
    check(&format!(
        "fn f0(a: fix<I,F>) -> fix<I,F> {{ return a; }} {doubling} {}",
        body("theta[0] = f5(1); theta[1] = f19(1);")
    ));
    check(&body(&format!("let b: bit = {}true{};", "(true == ".repeat(40), ")".repeat(40))));
}
