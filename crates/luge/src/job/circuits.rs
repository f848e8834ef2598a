//! Circuits as sources: AIGER files, and those that ship.

use std::path::Path;

use luge_circuit::{Shipped, aiger};

use super::{
    JobError,
    source::{ReadError, Source},
};

/// The extension of circuits that ship; the text of such a source is the circuit's name.
const SHIPPED: &str = "circuit";

/// The default number of bits per sample of a circuit that ships.
const DEFAULT_BITS: usize = 8;

/// The most bits per sample of a circuit that ships: the size of the one for parities grows with their square.
pub const MAX_BITS: usize = 512;

/// Whether a source is a circuit rather than a machine or a program.
pub fn is_circuit(source: &Source) -> bool {
    match source.extension.as_deref() {
        Some(extension) => ["aag", "aig", SHIPPED].contains(&extension),
        None => aiger::recognise(source.text.as_bytes()),
    }
}

/// Finds a circuit that ships. Its name may include the number of bits per sample, as in `parity_circuit:16`.
pub(super) fn shipped(place: &str) -> Option<Source> {
    let name = place.split_once(':').map_or(place, |(name, _)| name);
    let ships = Shipped::ALL.iter().any(|shipped| shipped.name() == name);
    ships.then(|| Source::new(place, place, SHIPPED))
}

impl Source {
    /// Reads a circuit. If it ships, its samples have as many bits as its name says, otherwise `n_bits`, otherwise 8.
    ///
    /// # Errors
    /// If it is not a circuit, or the number of bits in its name is invalid.
    pub fn read_circuit(&self, n_bits: Option<usize>) -> Result<aiger::Loaded, JobError> {
        if self.extension.as_deref() == Some(SHIPPED) {
            let (name, said) = self.text.split_once(':').map_or((&*self.text, None), |(a, b)| (a, Some(b)));
            let said = said.map(|said| said.parse().ok().filter(|n_bits| (1..=MAX_BITS).contains(n_bits)));
            let shipped = Shipped::ALL.into_iter().find(|shipped| shipped.name() == name);
            let (Some(shipped), Some(n_bits)) = (shipped, said.unwrap_or(n_bits.or(Some(DEFAULT_BITS))))
            else {
                return Err(JobError::CircuitBits(self.name.clone()));
            };
            return Ok(aiger::Loaded { circuit: shipped.circuit(n_bits), warnings: Vec::new() });
        }
        let binary = self.text.starts_with("aig");
        let bytes = match binary {
            true => self.text.chars().map(|byte| byte as u8).collect(),
            false => self.text.clone().into_bytes(),
        };
        let stem = Path::new(&self.name).file_stem().map_or("circuit".into(), |stem| stem.to_string_lossy());
        aiger::read(&bytes, &stem).map_err(|findings| {
            // Only the first line of a binary file is text.
            let text = if binary { self.text.lines().next().unwrap_or_default() } else { &self.text };
            let text = Box::new(Self { text: text.to_owned(), ..self.clone() });
            JobError::Read { text, error: ReadError::BrokenCircuit { name: self.name.clone(), findings } }
        })
    }
}
