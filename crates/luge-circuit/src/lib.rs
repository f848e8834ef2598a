//! Synchronous circuits that learn from a stream of samples.
//!
//! A [`Circuit`] has registers, inputs and logic. One clock cycle is one step of SGD on the network that is built from it
//! (docs/construction.md, section 11). The [`Simulator`] is the reference for each cycle and shares no code with training.
//!
//! ```
//! use luge_circuit::{Builder, Code, Sample, SampleShape, Simulator};
//!
//! // Halts at the first sample whose label is its bit, and then outputs that bit of every input.
//! let mut b = Builder::new("agree");
//! b.samples(SampleShape { n_features: 1, feature: Code::Bit, n_labels: 1, label: Code::Bit });
//! let (x, y, query) = (b.feature(0), b.label(0), b.query(0));
//! let done = b.register("done", false);
//! let same = b.parity([x, !y]);
//! b.set(done, same);
//! b.next(!same);
//! let halted = b.value(done);
//! b.halted(halted);
//! b.output([query]);
//! let circuit = b.build()?;
//!
//! let mut simulator = Simulator::new(&circuit);
//! while !simulator.halted()? {
//!     simulator.step(&Sample { features: vec![true], label: vec![true] })?;
//! }
//! assert_eq!((simulator.steps(), simulator.n_taken()), (2, 1));
//! assert_eq!(simulator.output(&[false])?, [false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod aiger;
mod builder;
mod circuit;
mod ids;
mod logic;
pub mod machine;
mod shipped;
mod simulator;
mod size;
mod text;
mod total;

pub use builder::Builder;
pub use circuit::{Circuit, CircuitError, Code, Gate, Input, NotExclusive, Register, SampleShape, Values};
pub use ids::{Literal, RegisterId, WireId};
pub use shipped::Shipped;
pub use simulator::{Cycle, Sample, Simulator};
pub use size::Size;
pub use total::{Affine, Total};
