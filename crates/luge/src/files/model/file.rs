//! Reads and writes model files: safetensors with all weights, and a card in the header, with a checksum of both.

use std::collections::{BTreeMap, HashMap};

use luge_net::SparseValues;
use safetensors::{SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sha2::{Digest, Sha256};

use super::{
    Card, ModelError,
    tensors::{self, Block, Packed},
};
use crate::files::json::hexadecimal;

/// The text before and after the checksum; the contents follow. All is one entry of the file's header, because several entries
/// would be written in random order, and the same model would not always be the same bytes.
const SEAL: [&str; 2] = ["{\"sha256\":\"", "\","];

/// What the checksum covers in addition to the blocks: the card, and which blocks are packed.
#[derive(Serialize, Deserialize)]
struct Contents<C, P> {
    card: C,
    packed: P,
}

/// The part of a card that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// A block's name, shape and bytes.
type Stored<'a> = (&'a str, &'a [usize], &'a [u8]);

/// Returns a file's bytes; messages call it `name`.
pub(super) fn write<'b, C: Card>(
    name: &str,
    card: &C,
    blocks: impl IntoIterator<Item = (&'b str, &'b SparseValues)>,
) -> Result<Vec<u8>, ModelError> {
    let blocks: Vec<(&str, Block)> =
        blocks.into_iter().map(|(name, values)| (name, Block::of(values))).collect();
    let refused = |reason| ModelError::NotSafetensors { name: name.to_owned(), reason };
    let views = blocks
        .iter()
        .map(|(name, block)| Ok((*name, TensorView::new(block.dtype, block.shape.clone(), &block.bytes)?)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(refused)?;
    let packed: BTreeMap<&str, &Packed> =
        blocks.iter().filter_map(|(name, block)| Some((*name, block.packed.as_ref()?))).collect();
    let blocks = blocks.iter().map(|(name, block)| (*name, &block.shape[..], &block.bytes[..])).collect();
    let text = sealed(&Contents { card, packed }, blocks)
        .map_err(|error| ModelError::Metadata { name: name.to_owned(), reason: error.to_string() })?;
    safetensors::serialize(views, Some(HashMap::from([(C::KEY.to_owned(), text)]))).map_err(refused)
}

/// Whether a file's header has a card of this kind.
pub(super) fn holds<C: Card>(bytes: &[u8]) -> bool {
    let header = SafeTensors::read_metadata(bytes);
    header.is_ok_and(|(_, header)| header.metadata().as_ref().is_some_and(|all| all.contains_key(C::KEY)))
}

/// Reads the card and all weights, by the names of their blocks, from a file's bytes.
pub(super) fn read<C: Card>(
    bytes: &[u8],
    name: &str,
) -> Result<(C, Vec<(String, SparseValues)>), ModelError> {
    let unsafe_tensors = |reason| ModelError::NotSafetensors { name: name.to_owned(), reason };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(unsafe_tensors)?;
    let Some(text) = header.metadata().as_ref().and_then(|metadata| metadata.get(C::KEY)) else {
        let problem = "is a safetensors file, but not a model of luge: its metadata have no";
        return Err(ModelError::invalid(name, format!("{problem} `{}` entry", C::KEY)));
    };
    let unreadable =
        |error: serde_json::Error| ModelError::Metadata { name: name.to_owned(), reason: error.to_string() };
    // Earlier versions had only the card, or only its version, without a checksum.
    let sealed = unsealed(text);
    let versioned = match sealed {
        None => serde_json::from_str(text)
            .or_else(|error| text.parse().map(|version| Versioned { version }).map_err(|_| error)),
        Some(_) => serde_json::from_str(text).map(|contents: Contents<_, IgnoredAny>| contents.card),
    };
    let Versioned { version: found } = versioned.map_err(unreadable)?;
    if found != C::VERSION {
        let problem = format!("has version {found}, this program reads version {}", C::VERSION);
        return Err(ModelError::invalid(name, problem));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(unsafe_tensors)?;
    let views = tensors.tensors();
    let blocks = views.iter().map(|(tensor, view)| (tensor.as_str(), view.shape(), view.data())).collect();
    if sealed.is_none_or(|(sum, sealed)| sum != checksum(sealed, blocks)) {
        return Err(ModelError::Damaged(name.to_owned()));
    }
    let contents: Contents<C, BTreeMap<String, Packed>> = serde_json::from_str(text).map_err(unreadable)?;
    let mut weights = Vec::new();
    for (tensor, view) in views {
        match tensors::read(&view, contents.packed.get(&tensor)) {
            Some(values) => weights.push((tensor, values)),
            None => return Err(ModelError::tensor(name, &tensor)),
        }
    }
    weights.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((contents.card, weights))
}

/// Returns the text of the header's entry: the checksum and the contents.
fn sealed(contents: &impl Serialize, blocks: Vec<Stored<'_>>) -> serde_json::Result<String> {
    let text = serde_json::to_string(contents)?;
    let text = text.strip_prefix('{').unwrap_or(&text);
    let [before, after] = SEAL;
    Ok([before, &checksum(text, blocks), after, text].concat())
}

/// Splits the header's entry into the checksum and the text after it.
fn unsealed(text: &str) -> Option<(&str, &str)> {
    let [before, after] = SEAL;
    text.strip_prefix(before)?.split_once(after)
}

/// SHA-256 over the sealed text and every block of weights: name, shape and bytes, in the order of their names.
fn checksum(sealed: &str, mut blocks: Vec<Stored<'_>>) -> String {
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
