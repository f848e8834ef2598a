//! Arguments that choose a landscape, its size and its constants.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use luge::{
    job::JobError,
    trace::{MAX_CELLS, TraceOptions},
};
use luge_landscape::{ConstantOptions, VertexSet};
use luge_net::Word;

use crate::cli::command_prelude::*;

#[derive(clap::Args)]
pub(super) struct LandscapeArgs {
    /// The landscape to build
    #[arg(long, value_name = "KIND", default_value = LandscapeKind::default().word(), value_parser = landscape_choice())]
    landscape: LandscapeChoice,
    /// The symbols that distinguish vertices: those a state looks at, or all, as in the paper
    #[arg(long, value_name = "SET", default_value = VertexSet::default().word(), value_parser = word::<VertexSet>())]
    vertices: VertexSet,
    /// Cells per tape [default: as many as the run needs]
    #[arg(long, value_name = "N", value_parser = up_to(MAX_CELLS, "cells"))]
    cells: Option<usize>,
    /// Use only left and right moves, as in the paper, at the price of twice the cells and steps
    #[arg(long)]
    strict: bool,
    /// The constant b of compact and relu
    #[arg(long, value_name = "B", allow_negative_numbers = true, help_heading = "Constants")]
    base: Option<f64>,
    /// The constant gamma of compact and relu
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true, help_heading = "Constants")]
    scale: Option<f64>,
    /// The constant c of compact, relu and plain
    #[arg(long, value_name = "C", allow_negative_numbers = true, help_heading = "Constants")]
    offset: Option<f64>,
    /// The constant Omega of plain
    #[arg(long, value_name = "OMEGA", allow_negative_numbers = true, help_heading = "Constants")]
    drop: Option<f64>,
}

/// A landscape; `None` for an ordinary MLP.
#[derive(Clone, Copy)]
struct LandscapeChoice(Option<LandscapeKind>);

/// Parses a landscape, or `mlp`.
fn landscape_choice() -> impl TypedValueParser<Value = LandscapeChoice> {
    let words = LandscapeKind::ALL.iter().map(|kind| kind.word()).chain(["mlp"]);
    PossibleValuesParser::new(words).map(|text| LandscapeChoice(LandscapeKind::from_word(&text).ok()))
}

/// The remedy if the landscape is internal and the machine does not halt.
pub(super) const TOWARDS_HALT: &str =
    "landscape internal slopes towards the halt: choose another --landscape";

impl LandscapeArgs {
    /// Whether an ordinary MLP is chosen.
    pub(super) fn is_mlp(&self) -> bool {
        self.landscape.0.is_none()
    }

    /// The options that only other landscapes than mlp have, and whether they are given.
    pub(super) fn of_others(&self) -> [(&'static str, bool); 7] {
        let Self { vertices, cells, strict, base, scale, offset, drop, .. } = self;
        [
            ("--vertices", *vertices != VertexSet::default()),
            ("--cells", cells.is_some()),
            ("--strict", *strict),
            ("--base", base.is_some()),
            ("--scale", scale.is_some()),
            ("--offset", offset.is_some()),
            ("--drop", drop.is_some()),
        ]
    }

    /// The landscape, unless an ordinary MLP is chosen.
    pub(super) fn kind(&self) -> Result<LandscapeKind, Failure> {
        self.landscape.0.ok_or_else(|| {
            Failure::usage(
                "landscape mlp has no vertices to look at",
                "choose another --landscape, or train it with luge trace or luge stream",
            )
        })
    }

    /// The options of a trace on this landscape.
    pub(super) fn options(&self) -> Result<TraceOptions, Failure> {
        let kind = self.kind()?;
        let Self { base, scale, offset, drop, .. } = *self;
        let constants = [
            ("--base", base, &["compact", "relu"][..]),
            ("--scale", scale, &["compact", "relu"]),
            ("--offset", offset, &["compact", "relu", "plain"]),
            ("--drop", drop, &["plain"]),
        ];
        let is_foreign =
            |(_, given, kinds): &(_, Option<f64>, &[&str])| given.is_some() && !kinds.contains(&kind.word());
        if let Some((flag, _, kinds)) = constants.into_iter().find(is_foreign) {
            return Err(Failure::usage(
                format!("landscape {} has no constant {flag}", kind.word()),
                format!("leave {flag} out, or choose --landscape {}", kinds.join(" or ")),
            ));
        }
        Ok(TraceOptions {
            vertices: self.vertices,
            cells: self.cells,
            moves: if self.strict { Moves::Strict } else { Moves::Keep },
            constants: ConstantOptions { base, scale, offset, drop },
            ..TraceOptions::dense(kind)
        })
    }

    /// The failure of a trace that cannot be prepared.
    pub(super) fn refusal(&self, error: JobError) -> Failure {
        match self.landscape.0 {
            Some(LandscapeKind::Internal) => Failure::of_endless(error, TOWARDS_HALT),
            _ => error.into(),
        }
    }
}
