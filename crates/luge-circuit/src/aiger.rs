//! AIGER files, ascii (`.aag`) and binary (`.aig`): what hardware compilers such as Yosys write.
//!
//! Symbols say what is what. Inputs: `x[i]`, the bits of the features of the sample that is held; `y`, or `y[i]`
//! for numbers, its label; `query[i]`, the bits of the query, the network's current input. Outputs: `next`,
//! `halted`, and `f`, or `f[i]`. A name of one bit may stand without its index. Inputs with other names, such as a
//! clock, may be there if nothing uses them; outputs with other names are left out, with a warning. Without an
//! output `next` every run cycle is done with its sample; without `halted` the circuit never halts.
//!
//! Files for model checkers have no such names. Where no input has a symbol the inputs are `x[0]`, `x[1]`, ...;
//! where no output has one of the names above, the first output, or else the first bad state, is `halted`.
//!
//! The comment of a file that we write has the circuit's name and the shape of its samples, which a reader of the
//! file may leave out: features and labels are then bits, or whole numbers if there are several bits of a label.

mod read;
mod write;

pub use read::{Loaded, read};
pub use write::{Encoding, write};

/// Whether a file's content looks like AIGER.
pub fn recognise(bytes: &[u8]) -> bool {
    bytes.starts_with(b"aag ") || bytes.starts_with(b"aig ")
}
