//! Turing machines: model, simulator, file formats, lowering to normal form.
//!
//! The simulator is the reference that training is compared with; the two share no code.
//!
//! ```
//! use luge_machine::{Input, Simulator, formats::Format};
//!
//! // The two-state busy beaver leaves four ones after six steps.
//! let loaded = Format::Bbchallenge.read("1RB1LB_1LA1RZ").expect("a machine");
//! let mut simulator = Simulator::new(&loaded.machine, &Input::blank());
//! let outcome = simulator.run(1_000);
//! assert!(outcome.accepting());
//! assert_eq!((simulator.steps(), simulator.n_nonblank()), (6, 4));
//!
//! // The same machine for another site.
//! let yaml = Format::TuringMachineIo.write(&loaded.machine, None).expect("the format can express it");
//! assert_eq!(Format::TuringMachineIo.read(&yaml).expect("a machine").machine.n_rules(), 4);
//! ```

mod builder;
mod diagnostic;
pub mod formats;
mod ids;
mod input;
pub mod lowering;
mod model;
mod normal;
mod simulator;
pub mod stream;
mod tape;

pub use builder::{BuildError, MachineBuilder};
pub use diagnostic::{Diagnostic, Severity};
#[doc(hidden)]
pub use ids::keep_only;
pub use ids::{Cell, StateId, Step, SymbolId, TapeId};
pub use input::{Input, InputError, TapeInput, parse_inputs};
pub use model::{Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, State, Tape, Write};
pub use normal::{Bits, MAX_TAPES, NormalForm, NotNormal, Transition};
pub use simulator::{Effect, Outcome, RecordedSteps, Recording, Simulator};
pub use tape::TapeCells;
