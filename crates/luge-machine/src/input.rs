//! The initial contents of the tapes.

use crate::{Machine, SymbolId, Tape};

/// The initial contents of all tapes. Tapes beyond the list are blank with the head on cell 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Input {
    /// One entry per tape, in order.
    pub tapes: Vec<TapeInput>,
}

/// The initial contents of one tape: `symbols[0]` is in cell 0, and all other cells are blank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TapeInput {
    /// The symbols from cell 0 to the right.
    pub symbols: Vec<SymbolId>,
    /// The cell the head starts on.
    pub head: i64,
}

impl Input {
    /// Blank tapes, all heads on cell 0.
    pub fn blank() -> Self {
        Self::default()
    }
}

/// Why a text is not an input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// More texts than tapes.
    #[error("more inputs than tapes: {found} given, {n_tapes} in the machine")]
    TooManyTapes {
        /// Number of texts.
        found: usize,
        /// Number of tapes.
        n_tapes: usize,
    },
    /// The tape has no such symbol.
    #[error(
        "`{symbol}` at position {position} of the input is not a symbol of tape `{tape}` (its symbols: {known})"
    )]
    UnknownSymbol {
        /// The text in place of a symbol.
        symbol: String,
        /// Counted from 1.
        position: usize,
        /// The tape's name.
        tape: String,
        /// The tape's symbols, separated by spaces.
        known: String,
    },
}

/// The characters of an input that must be symbols: neither a space nor the first `*`, which marks the head.
pub(crate) fn input_characters(text: &str) -> impl Iterator<Item = char> {
    let mut head_marked = false;
    text.chars().filter(move |&c| c != ' ' && (c != '*' || std::mem::replace(&mut head_marked, true)))
}

/// Parses inputs, one text per tape.
///
/// If every symbol of a tape is a single character, the text is a sequence of symbols: a space is the blank unless it is
/// a symbol itself, and the first `*` marks the head unless it is a symbol itself. Otherwise the text is a list of symbol
/// names separated by spaces.
///
/// # Errors
/// If a text names a symbol its tape does not have, or there are more texts than tapes.
pub fn parse_inputs<S: AsRef<str>>(machine: &Machine, texts: &[S]) -> Result<Input, InputError> {
    if texts.len() > machine.n_tapes() {
        return Err(InputError::TooManyTapes { found: texts.len(), n_tapes: machine.n_tapes() });
    }
    let tapes = machine.tapes().iter().zip(texts).map(|(tape, text)| parse_input(tape, text.as_ref()));
    Ok(Input { tapes: tapes.collect::<Result<_, _>>()? })
}

fn parse_input(Tape { name: tape, alphabet, .. }: &Tape, text: &str) -> Result<TapeInput, InputError> {
    let lookup = |(position, name): (usize, &str)| {
        alphabet.find(name).ok_or_else(|| InputError::UnknownSymbol {
            symbol: name.to_owned(),
            position: position + 1,
            tape: tape.clone(),
            known: alphabet.names().join(" "),
        })
    };
    if alphabet.names().iter().any(|name| name.chars().count() != 1) {
        let symbols = text.split_whitespace().enumerate().map(lookup).collect::<Result<_, _>>()?;
        return Ok(TapeInput { symbols, head: 0 });
    }
    let mut input = TapeInput::default();
    let mut marked = alphabet.find("*").is_some();
    for (position, c) in text.chars().enumerate() {
        if c == '*' && !marked {
            marked = true;
            input.head = i64::try_from(input.symbols.len()).unwrap_or(i64::MAX);
        } else if c == ' ' && alphabet.find(" ").is_none() {
            input.symbols.push(alphabet.blank());
        } else {
            input.symbols.push(lookup((position, c.encode_utf8(&mut [0; 4])))?);
        }
    }
    Ok(input)
}
