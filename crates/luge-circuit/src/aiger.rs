//! AIGER files, ASCII (`.aag`) and binary (`.aig`), which hardware compilers such as Yosys write.
//!
//! Symbols name the inputs and outputs. Inputs: `x[i]`, the bits of the features of the held sample; `y`, or `y[i]`
//! for numbers, its label; `query[i]`, the bits of the query, which is the network's current input. Outputs: `next`,
//! `halted`, and `f`, or `f[i]`. The index may be omitted if there is one bit. Inputs with other names, such as a
//! clock, are allowed if nothing uses them; outputs with other names are ignored with a warning. Without an output
//! `next` every run cycle drops its sample; without `halted` the circuit never halts.
//!
//! Files for model checkers have no such names. If no input has a symbol, the inputs are `x[0]`, `x[1]`, ...; if no
//! output has one of the names above, the first output, or else the first bad state, is `halted`.
//!
//! [`write()`] puts the circuit's name and the shape of its samples into the comment. In a file without this comment,
//! features are bits, and labels are bits or, if they have several bits, integers.

mod read;
mod write;

pub use read::{Loaded, read};
pub use write::{Encoding, write};

/// Whether the content of a file looks like AIGER.
pub fn recognise(bytes: &[u8]) -> bool {
    bytes.starts_with(b"aag ") || bytes.starts_with(b"aig ")
}
