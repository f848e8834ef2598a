//! `luge certify`: whether a model is what it claims.

use std::{ops::ControlFlow, path::PathBuf};

use luge::{
    audit::Audit,
    lesson::{Certificate, Lesson},
    model::Model,
};
use serde::Serialize;

use super::{
    failure::Failure,
    output::{print, print_json, table},
    progress::Progress,
    table_args::{fit, read_table},
};

/// Derive everything again from a model's machine and its data with the simulator, and say whether the model is what it claims
///
/// The exit status is 1 if it is not.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model that `luge train --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data it was trained on
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Also train again by gradient descent, and certify that run
    #[arg(long)]
    retrain: bool,
    /// Take the nearest number of the format for data outside it, as in training
    #[arg(long)]
    saturate: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Verdict<'a> {
    holds: bool,
    audit: &'a Audit,
    #[serde(skip_serializing_if = "Option::is_none")]
    retrained: Option<&'a Certificate>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let (learner, primary, options) = (model.learner()?, model.primary()?, model.options()?);
    let mut data = read_table(&args.data, &model.card.labels, Some(&model.card.features))?;
    if !model.fits(&data) {
        let (found, expected) = (data.n_samples(), model.card.n_samples);
        return Err(Failure::NotCertified {
            reason: format!("the model was trained on {expected} samples, the data have {found}"),
        });
    }
    fit(&mut data, &args.data.display().to_string(), options.format, args.saturate)?;
    let lesson = Lesson::prepare(&learner, &primary, &data, &options)?;
    let audit = Audit::of(&model, &lesson);
    let retrained = if args.retrain {
        let mut progress = Progress::new("training", lesson.machine_steps());
        let lessons = lesson.train(|moment| {
            progress.reach(moment.step);
            ControlFlow::Continue(())
        })?;
        Some(lessons.certificate)
    } else {
        None
    };
    let holds = audit.holds() && retrained.as_ref().is_none_or(Certificate::proves_the_run);
    if args.json {
        print_json(&Verdict { holds, audit: &audit, retrained: retrained.as_ref() })?;
    } else {
        let mut checks: Vec<_> = audit.checks().to_vec();
        if let Some(certificate) = &retrained {
            checks.extend(certificate.checks().map(|(name, check)| (name, check)));
        }
        let row = |(name, check): (&str, &luge::lesson::Check)| {
            let verdict = if check.holds { "yes" } else { "NO" };
            (name.replace('_', " "), format!("{verdict}: {}", check.figures))
        };
        print(&table(&checks.into_iter().map(row).collect::<Vec<_>>()))?;
    }
    if holds {
        return Ok(());
    }
    let failed = audit.checks().into_iter().find(|(_, check)| !check.holds);
    let reason = failed.map_or_else(
        || "training again did not give the same".to_owned(),
        |(name, check)| format!("{name}: {}", check.figures),
    );
    Err(Failure::NotCertified { reason })
}
