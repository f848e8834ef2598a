//! `luge certify`: verifies a model.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use luge::{
    files::{
        audit::{audit, not_checked, other_data, same_model, unknown},
        model::{Model, ModelError},
        rocq::{self, ProofExport},
    },
    job::StandardPrimaries,
    object,
    ordinary::OrdinaryModel,
    run::follow::{ObservationRate, RunProgress},
    stream::StreamModel,
    training::{Claim, PreparedTraining, TrainingError},
};

use super::{
    data_args::read_text,
    failure::Failure,
    ordinary,
    output::{Rows, print, print_json, verdict},
    progress::Progress,
    prover, stream,
};

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
    if let Some(model) = OrdinaryModel::load(&args.model)? {
        let data = read.map(|(name, text)| model.data(name, text, args.saturate));
        let asked = |proofs| prove(proofs, rocq::mlp(&model.circuit, &model.initial()?));
        let proved = args.proofs.as_deref().map(asked).transpose()?;
        return ordinary::certify(&model, data.as_ref(), proved.as_ref(), args.json);
    }
    if let Some(model) = StreamModel::load(&args.model)? {
        let data = read.map(|(name, text)| model.data(name, text, args.saturate));
        let written = model.network().map(|network| rocq::stream(&network));
        let proved = args.proofs.as_deref().map(|proofs| prove(proofs, written?)).transpose()?;
        return stream::certify(&model, data.as_ref(), proved.as_ref(), args.json);
    }
    let model = Model::load(&args.model)?;
    model.extended()?;
    let (name, text) =
        read.ok_or_else(|| Failure::usage("the data it was trained on are missing", "give --data"))?;
    let data = model.data(name, text, args.saturate);
    let given = data.as_given()?;
    if let Some(reason) = other_data(&model, &given) {
        return Err(Failure::not_certified(reason));
    }
    let data = data.read(model.card.options.format)?;
    let lesson = model.lesson(data, &StandardPrimaries).map_err(|error| match error {
        ModelError::Training(error) => without_an_answer(error),
        error => error.into(),
    })?;
    let retrained = if args.quick { None } else { Some(retrain(&model, &lesson)?) };
    let audit = audit(&model, &lesson).map_err(without_an_answer)?;
    let proved =
        args.proofs.as_deref().map(|proofs| prove(proofs, rocq::extended(lesson.extended()))).transpose()?;

    let not_checked = not_checked(&audit, &model, !args.quick);
    let mut claims: Vec<(&str, &Claim)> = audit.claims();
    claims.extend(retrained.as_ref().map(|claim| ("trained again", claim)));
    claims.extend(proved.as_ref().map(|claim| ("proved for every input", claim)));
    if args.json {
        print_json(&object! {
            holds: claims.iter().all(|(_, claim)| claim.holds),
            audit: &audit,
            retrained "unless --quick": retrained.as_ref(),
            proved "with --proofs": proved.as_ref(),
            not_checked "if something was not checked": Some(&not_checked).filter(|list| !list.is_empty()),
        })?;
    } else {
        let mut rows = Rows::default();
        if !not_checked.is_empty() {
            rows.row("not checked", not_checked.join("; "));
        }
        claims.iter().for_each(|(name, claim)| rows.row(name, verdict(claim)));
        print(&rows.text())?;
    }
    Failure::of_claims(claims)?;
    unknown(&audit).map_or(Ok(()), |what| Err(Failure::certified_in_part(what)))
}

/// A model of a run that cannot be made on these data is not what it claims to be.
fn without_an_answer(error: TrainingError) -> Failure {
    Failure::not_certified(error)
}

/// Asks Rocq about the network that was trained.
fn prove(proofs: &Path, written: Option<ProofExport>) -> Result<Claim, Failure> {
    match written {
        Some(written) => prover::ask(proofs, &written),
        None => Ok(Claim::new(
            false,
            "no theorem covers it: proved are plain and compact with the offset carrier, streams in fixed point, and MLPs of circuits of bits",
        )),
    }
}

/// Trains again, and holds the model to the one that comes out.
fn retrain(model: &Model, lesson: &PreparedTraining) -> Result<Claim, Failure> {
    let mut progress = Progress::new("training", model.card.steps).certainly();
    let watch = |moment: RunProgress<'_>| {
        progress.reach_with_loss(moment.step, moment.loss);
        ControlFlow::Continue(())
    };
    let report = lesson.follow(None, ObservationRate::Moments, watch).map_err(without_an_answer)?;
    Ok(same_model(model, &Model::new(lesson, &report)))
}
