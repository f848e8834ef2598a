//! The metadata of a model file, and the checksum over it and all weights.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::json::hexadecimal;

/// What stands before and after the checksum; behind it come the contents. They are one entry of the file's header: several
/// would be written in any order, and the same model would not always be the same bytes.
const SEAL: [&str; 2] = ["{\"sha256\":\"", "\","];

/// What the checksum covers beside the blocks: the card, and which blocks are packed.
#[derive(Serialize, Deserialize)]
pub(super) struct Contents<C, P> {
    pub(super) card: C,
    pub(super) packed: P,
}

/// The part of a card that every version has.
#[derive(Deserialize)]
pub(super) struct Versioned {
    pub(super) version: u32,
}

/// A block's name, shape and bytes.
type Stored<'a> = (&'a str, &'a [usize], &'a [u8]);

/// The metadata's text.
pub(super) fn sealed<C: Serialize, P: Serialize>(
    contents: &Contents<C, P>,
    blocks: Vec<Stored<'_>>,
) -> serde_json::Result<String> {
    let text = serde_json::to_string(contents)?;
    let text = text.strip_prefix('{').unwrap_or(&text);
    let [before, after] = SEAL;
    Ok([before, &checksum(text, blocks), after, text].concat())
}

/// The checksum of a model's metadata, and the text behind it.
pub(super) fn unsealed(text: &str) -> Option<(&str, &str)> {
    let [before, after] = SEAL;
    text.strip_prefix(before)?.split_once(after)
}

/// SHA-256 over the sealed text and every block of weights: name, shape and bytes, in the order of their names.
pub(super) fn checksum(sealed: &str, mut blocks: Vec<Stored<'_>>) -> String {
    blocks.sort_unstable();
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(sealed.as_bytes());
    for (name, shape, bytes) in blocks {
        add(name.as_bytes());
        shape.iter().for_each(|&side| add(&(side as u64).to_le_bytes()));
        add(bytes);
    }
    hexadecimal(&hash.finalize())
}
