//! Configurations of a machine, as a landscape's parameters represent them.

use luge_machine::StateId;

/// State, tape contents and heads. Cells are counted from the left end of the network's tapes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configuration {
    /// The machine's state.
    pub state: StateId,
    /// One list of cells per tape, `true` for a 1.
    pub tapes: Vec<Vec<bool>>,
    /// The cell each head is on.
    pub heads: Vec<usize>,
}

impl Configuration {
    /// The symbols under the heads.
    pub fn reads(&self) -> luge_machine::Bits {
        let bits = self.tapes.iter().zip(&self.heads).enumerate();
        bits.fold(luge_machine::Bits(0), |bits, (tape, (cells, &head))| {
            bits.with(tape, cells.get(head).is_some_and(|&one| one))
        })
    }
}

/// Why parameters do not represent a configuration.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Undecodable {
    /// No single vertex has all the weight.
    #[error("no single vertex has all the weight: entry {index} is {value}")]
    Vertex {
        /// The entry in question.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// `internal` before it has read the labels.
    #[error("the network is still at its start vertex")]
    Start,
    /// A head is on no cell, or on more than one.
    #[error("head {tape} is not on one cell: its weight on cell {cell} is {value}")]
    Head {
        /// The tape.
        tape: usize,
        /// The cell in question.
        cell: usize,
        /// The weight there.
        value: f64,
    },
    /// A cell is neither -1 nor 1.
    #[error("cell {cell} of tape {tape} is {value}, neither -1 nor 1")]
    Cell {
        /// The tape.
        tape: usize,
        /// The cell in question.
        cell: usize,
        /// The value there.
        value: f64,
    },
    /// The vertex's symbols are not those under the heads.
    #[error("the vertex holds another symbol of tape {0} than lies under its head")]
    Symbol(usize),
}

/// The position of the only entry above 1/2, if the absolute values of all others are at most 1/2.
pub(crate) fn one_hot(entries: &[f64]) -> Result<usize, (usize, f64)> {
    let mut found = None;
    for (index, &value) in entries.iter().enumerate() {
        if value.is_nan() || value.abs() > 0.5 {
            if value.is_nan() || value < 0.0 || found.is_some() {
                return Err((index, value));
            }
            found = Some(index);
        }
    }
    found.ok_or((0, entries.first().copied().unwrap_or(0.0)))
}

/// The bit that a tape weight represents; `None` if its absolute value is at most 1/2.
pub(crate) fn bit(value: f64) -> Option<bool> {
    (value.abs() > 0.5 && value.is_finite()).then_some(value > 0.0)
}
