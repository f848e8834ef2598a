//! `luge certify`: verifies a model.

use std::{ops::ControlFlow, path::PathBuf};

use luge::{
    JobError,
    files::{
        AnyModel, Model, ModelError,
        audit::{audit, not_checked, other_data, unknown},
        rocq::{self, ProofExport},
    },
    job::{Data, StandardPrimaries},
    object,
    run::{ObservationRate, RunProgress},
    training::{Claim, PreparedTraining},
};
use luge_machine::Step;

use super::{Failure, Progress, prover, read_text, show_claims, show_rows, verdict};

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
    let (proved, (certificate, again)) = match &model {
        AnyModel::Training(model) => return args.of_table(model, data),
        AnyModel::Stream(model) => {
            let proved = args.prove(|| Ok(rocq::stream(&model.network()?)))?;
            let mut watch = watch(model.card.steps);
            (proved, model.certify(data.as_ref(), |moment| watch(moment.step))?)
        }
        AnyModel::Mlp(model) => {
            let proved = args.prove(|| Ok(rocq::mlp(&model.card.circuit, &model.initial()?)))?;
            (proved, model.certify(data.as_ref(), watch(model.card.steps))?)
        }
    };
    let mut claims = certificate.claims();
    claims.push(("trained again", &again));
    claims.extend(proved.as_ref().map(|claim| ("proved for every stream", claim)));
    show_claims(args.json, claims)
}

/// Shows how far a run is.
fn watch(steps: Step) -> impl FnMut(Step) -> ControlFlow<()> {
    let mut progress = Progress::new("training", steps).certainly();
    move |step| {
        if step.is_multiple_of(1 << 12) {
            progress.reach(step);
        }
        ControlFlow::Continue(())
    }
}

impl Args {
    /// Verifies a model that was trained on a table.
    fn of_table(&self, model: &Model, data: Option<Data>) -> Result<(), Failure> {
        model.extended()?;
        let missing = || Failure::usage("the data it was trained on are missing", "give --data");
        let data = data.ok_or_else(missing)?;
        let given = data.as_given()?;
        if let Some(reason) = other_data(model, &given) {
            return Err(Failure::not_certified(reason));
        }
        let data = data.read(model.card.options.format)?;
        let lesson = model.lesson(data, &StandardPrimaries).map_err(|error| match error {
            ModelError::Job(error) => without_an_answer(error),
            error => error.into(),
        })?;
        let retrained = if self.quick { None } else { Some(retrain(model, &lesson)?) };
        let audit = audit(model, &lesson).map_err(without_an_answer)?;
        let proved = self.prove(|| Ok(rocq::extended(lesson.extended())))?;

        let not_checked = not_checked(&audit, model, !self.quick);
        let mut claims: Vec<(&str, &Claim)> = audit.claims();
        claims.extend(retrained.as_ref().map(|claim| ("trained again", claim)));
        claims.extend(proved.as_ref().map(|claim| ("proved for every input", claim)));
        let summary = object! {
            holds: claims.iter().all(|(_, claim)| claim.holds),
            audit: &audit,
            retrained "unless --quick": retrained.as_ref(),
            proved "with --proofs": proved.as_ref(),
            not_checked "if something was not checked": Some(&not_checked).filter(|list| !list.is_empty()),
        };
        show_rows(self.json, &summary, |rows| {
            summary.not_checked.iter().for_each(|list| rows.row("not checked", list.join("; ")));
            claims.iter().for_each(|(name, claim)| rows.row(name, verdict(claim)));
        })?;
        Failure::of_claims(claims)?;
        unknown(&audit).map_or(Ok(()), |what| Err(Failure::certified_in_part(what)))
    }

    /// Asks Rocq about the network that was trained, if that is wanted.
    fn prove(
        &self,
        written: impl FnOnce() -> Result<Option<ProofExport>, ModelError>,
    ) -> Result<Option<Claim>, Failure> {
        let Some(proofs) = &self.proofs else { return Ok(None) };
        match written()? {
            Some(written) => prover::ask(proofs, &written).map(Some),
            None => Ok(Some(Claim::new(
                false,
                "no theorem covers it: proved are plain and compact with the offset carrier, streams in fixed point, and MLPs of circuits of bits",
            ))),
        }
    }
}

/// A model of a run that cannot be made on these data is not what it claims to be.
fn without_an_answer(error: JobError) -> Failure {
    Failure::not_certified(error)
}

/// Trains again, and holds the model to the one that comes out.
fn retrain(model: &Model, lesson: &PreparedTraining) -> Result<Claim, Failure> {
    let mut progress = Progress::new("training", model.card.steps).certainly();
    let watch = |moment: RunProgress<'_>| {
        progress.reach_with_loss(moment.step, moment.loss);
        ControlFlow::Continue(())
    };
    let report = lesson.follow(None, ObservationRate::Moments, watch).map_err(without_an_answer)?;
    Ok(model.is_same(&Model::new(lesson, &report)))
}
