//! Turing machines: model, simulator, file formats, lowering to normal form.
//!
//! The simulator is the independent judge of training: it shares no code with it.

mod builder;
mod diagnostic;
pub mod formats;
mod ids;
mod input;
pub mod lowering;
mod model;
mod normal;
mod simulator;
mod tape;

pub use builder::{BuildError, MachineBuilder};
pub use diagnostic::{Diagnostic, Severity};
pub use ids::{Cell, StateId, Step, SymbolId, TapeId};
pub use input::{Input, InputError, TapeInput, parse_inputs};
pub use model::{Access, Alphabet, Machine, Missing, Move, Pattern, Rule, State, StateKind, Tape, Write};
pub use normal::{Bits, MOST_TAPES, NormalForm, NotNormal, Transition};
pub use simulator::{Outcome, Simulator};
pub use tape::TapeCells;
