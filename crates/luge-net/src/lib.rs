//! Networks as data: one graph that is evaluated, differentiated, counted, exported and drawn.
//!
//! A [`Network`] is a list of nodes in the order of computation, with trainable [`Parameter`]s, inputs that are not
//! trained, and one scalar node that is the loss.

#[cfg(feature = "faults")]
mod altered;
mod evaluate;
#[doc(hidden)]
pub mod faults;
mod graph;
mod layers;
mod linear;
mod local;
mod merged;
mod names;
mod network;
pub mod numbers;
pub mod quantizer;
mod recognise;
mod sequential;
mod sparse_values;
mod values;
mod vertices;

pub use evaluate::{
    Evaluation, apply, bias_rows, changing_rows, entry, evaluate, evaluate_frozen, evaluate_node,
    evaluate_rows, shifted, stretched,
};
pub use graph::{GraphBuilder, Input, InputId, Node, NodeId, Op, Parameter, ParameterId, StepRule};
pub use layers::{Layer, LayerKind, Layers};
pub use linear::{Entry, LinearMap};
pub use local::{LOCAL_COLUMNS, Local, Part};
pub use merged::{ColumnKind, Columns, Merged, NotByColumns, evaluate_some};
pub use names::{UnknownWord, Word};
pub use network::Network;
pub use numbers::NumberFormat;
pub use recognise::{
    BitUse, Carrier, Form, OutputWiring, Ramp, SparseLayers, StreamLayers, Unrecognised, check_inputs,
    stream_layers,
};
pub use sequential::{LinearLayer, Sequential};
#[doc(hidden)]
pub use serde;
pub use sparse_values::{SparseValues, Weights};
pub use values::{Shape, Values};
pub use vertices::{Arcs, Block, Column, VertexTable, deposit, extract, tracks};
