//! The variable `LUGE_TEST`, which enables tests that take long or need other programs.

use std::{env, str::FromStr};

/// The words that `LUGE_TEST` may contain; those with a number are written `word=number`.
const WORDS: [&str; 10] =
    ["exhaustive", "jax", "sklearn", "torch", "browser", "proofs", "renew", "cases", "fuzz", "seed"];

/// Whether `LUGE_TEST` contains the word.
///
/// ```
/// assert!(!luge_suite::asked_for("jax") || std::env::var("LUGE_TEST").is_ok());
/// ```
///
/// # Panics
/// If `LUGE_TEST` contains an unknown word.
pub fn asked_for(word: &str) -> bool {
    value(&env::var("LUGE_TEST").unwrap_or_default(), word).is_some()
}

/// The number of the word in `LUGE_TEST`, or the default.
///
/// # Panics
/// If `LUGE_TEST` contains an unknown word, or this word without a number.
pub fn number<T: FromStr>(word: &str, default: T) -> T {
    match value(&env::var("LUGE_TEST").unwrap_or_default(), word) {
        None => default,
        Some(text) => text.parse().unwrap_or_else(|_| panic!("LUGE_TEST: {word}={text} is not a number")),
    }
}

/// The text after `word=`, empty for the word alone; `None` if the list does not contain the word.
fn value<'a>(list: &'a str, word: &str) -> Option<&'a str> {
    assert!(WORDS.contains(&word), "{word} is not in the list of words");
    let words = list.split([' ', ',']).filter(|text| !text.is_empty());
    let mut words = words.map(|text| text.split_once('=').unwrap_or((text, "")));
    let found = words.clone().find(|(name, _)| *name == word).map(|(_, value)| value);
    if let Some((unknown, _)) = words.find(|(name, _)| !WORDS.contains(name)) {
        panic!("LUGE_TEST: unknown word `{unknown}`; the words are {}", WORDS.join(", "));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn words_stand_alone_or_have_a_value() {
        let list = "exhaustive, cases=1000 seed=7";
        assert_eq!(value(list, "exhaustive"), Some(""));
        assert_eq!(value(list, "cases"), Some("1000"));
        assert_eq!(value(list, "seed"), Some("7"));
        assert_eq!(value(list, "jax"), None);
        assert_eq!(value("", "jax"), None);
    }

    #[test]
    #[should_panic = "unknown word `exhaustiv`"]
    fn a_misspelt_word_is_refused() {
        value("exhaustiv", "jax");
    }
}
