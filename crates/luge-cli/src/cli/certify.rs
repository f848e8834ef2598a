//! `luge certify`: verifies a model.

use std::ops::ControlFlow;

use luge::{
    files::{audit::unknown, rocq},
    job::Data,
    training::Claim,
};

use super::prover;
use crate::cli::command_prelude::*;

/// Verify a model: simulate its machine on the data, train the network again, and compare
///
/// The simulator computes the machine's answer and last configuration. Then the network is built and trained again, and
/// every weight and every claim must match bit for bit. The exit status is 1 if something differs, and 3 if everything
/// matches but the model has only a machine and no program to compare it with.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model written by `luge train --out` or `luge stream --out`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data it was trained on; a model of a drawn stream needs none
    #[arg(long, value_name = "FILE.csv")]
    data: Option<PathBuf>,
    /// Only simulate, do not train again
    #[arg(long)]
    quick: bool,
    /// Clamp numbers outside the format to its range, as in training
    #[arg(long)]
    saturate: bool,
    /// Also have Rocq prove it for every input, with the proofs built in this folder
    #[arg(long, value_name = "FOLDER")]
    proofs: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let read = args.data.as_deref().map(read_text).transpose()?;
    let model = AnyModel::load(&args.model)?;
    let data = read.map(|(name, text)| Data::like(model.preparation(), name, text, args.saturate));
    let mut progress = Progress::new("training", model.steps()).certainly();
    let verified = model.verify(data.as_ref(), !args.quick, &mut |step, loss| {
        progress.reach_with_loss(step, loss);
        ControlFlow::Continue(())
    });
    drop(progress);
    let mut verified = verified?;
    let proved = args.proofs.as_ref().map(|_| args.prove(&model)).transpose()?;
    verified.holds &= proved.as_ref().is_none_or(|(_, claim)| claim.holds);
    let mut claims = verified.claims();
    claims.extend(proved.as_ref().map(|(name, claim)| (*name, claim)));
    let summary = object! {
        #[serde(flatten)]
        verified: &verified,
        proved "with --proofs": proved.as_ref().map(|(_, claim)| claim),
    };
    show_rows(args.json, &summary, |rows| {
        if !verified.not_checked.is_empty() {
            rows.row("not checked", verified.not_checked.join("; "));
        }
        claims.iter().for_each(|(name, claim)| rows.row(&name.replace('_', " "), verdict(claim)));
    })?;
    Failure::of_claims(claims)?;
    match unknown(&verified.audit).filter(|_| matches!(model, AnyModel::Training(_))) {
        Some(what) => Err(Failure::certified_in_part(what)),
        None => Ok(()),
    }
}

impl Args {
    /// Asks Rocq about the model's network: the name of the claim, and whether it holds.
    fn prove(&self, model: &AnyModel) -> Result<(&'static str, Claim), Failure> {
        let (name, export) = match model {
            AnyModel::Training(model) => ("proved for every input", rocq::extended(&model.extended()?)),
            AnyModel::Stream(model) => ("proved for every stream", rocq::stream(&model.network()?)),
            AnyModel::Mlp(model) => {
                ("proved for every stream", rocq::mlp(&model.card.circuit, &model.initial()?))
            }
        };
        let claim = match (export, &self.proofs) {
            (Some(export), Some(proofs)) => prover::ask(proofs, &export)?,
            _ => Claim::new(
                false,
                "no theorem covers it: proved are plain and compact with the offset carrier, streams in fixed point, and MLPs of circuits of bits",
            ),
        };
        Ok((name, claim))
    }
}
