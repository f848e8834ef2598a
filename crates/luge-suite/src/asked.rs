//! What `LUGE_TEST` asks of the test suites beyond what every run has time and programs for.

use std::{env, str::FromStr};

/// Every word that `LUGE_TEST` may hold; those with a number are written `word=number`.
const WORDS: [&str; 10] =
    ["exhaustive", "jax", "sklearn", "torch", "browser", "proofs", "renew", "cases", "fuzz", "seed"];

/// Whether `LUGE_TEST` holds the word.
///
/// ```
/// assert!(!luge_suite::asked_for("jax") || std::env::var("LUGE_TEST").is_ok());
/// ```
///
/// # Panics
/// If `LUGE_TEST` holds a word that no suite knows.
pub fn asked_for(word: &str) -> bool {
    value(&env::var("LUGE_TEST").unwrap_or_default(), word).is_some()
}

/// The number that `LUGE_TEST` gives for the word, otherwise the usual one.
///
/// # Panics
/// If `LUGE_TEST` holds a word that no suite knows, or no number for this one.
pub fn number<T: FromStr>(word: &str, usual: T) -> T {
    match value(&env::var("LUGE_TEST").unwrap_or_default(), word) {
        None => usual,
        Some(text) => text.parse().unwrap_or_else(|_| panic!("LUGE_TEST: {word}={text} is not a number")),
    }
}

/// What stands behind the word, and nothing if it stands alone.
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
