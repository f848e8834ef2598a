//! `luge export`: a model's network for other programs.

use std::path::PathBuf;

use luge::{export::graph, model::Model};

use super::{
    failure::Failure,
    output::{create, fill},
};

/// Write a model's extended network as a graph in JSON, with the weights training starts from
///
/// The graph holds nothing of the machine and nothing of the data: docs/graph-format.md describes it, and
/// tests/independent/check.py trains it with JAX.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model that `luge train --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Where to write the graph
    #[arg(long, value_name = "OUT.json")]
    graph: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let extended = Model::load(&args.model)?.extended()?;
    let file = create(Some(&args.graph))?;
    let text = serde_json::to_string(&graph(&extended)).map_err(|error| Failure::Print(error.into()))?;
    file.map_or(Ok(()), |file| fill(file, &(text + "\n")))
}
