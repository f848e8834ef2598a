//! `luge certify`: whether a model is what it claims.

use std::{ops::ControlFlow, path::PathBuf};

use luge::{
    audit::{Audit, same_model},
    lesson::{Check, Lesson, LessonOptions},
    model::Model,
};
use serde::Serialize;

use super::{
    failure::Failure,
    output::{print, print_json, table},
    progress::Progress,
    table_args::{fit, read_table},
};

/// Derive everything again from a model's machine and its data, and say whether the model is what it claims
///
/// The simulator says what the machine's answer and last configuration are; then the network is built and trained again,
/// and every weight and every claim must be the same, bit for bit. The exit status is 1 if something is not.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model that `luge train --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data it was trained on
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// Ask the simulator only, and do not train again by gradient descent
    #[arg(long)]
    quick: bool,
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
    retrained: Option<&'a Check>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let (learner, primary, options) = (model.learner()?, model.primary()?, model.options()?);
    model.extended()?;
    let mut data = read_table(&args.data, &model.card.labels, Some(&model.card.features))?;
    if !model.fits(&data) {
        let (found, expected) = (data.n_samples(), model.card.n_samples);
        return Err(Failure::NotCertified {
            reason: format!("the model was trained on {expected} samples, the data have {found}"),
        });
    }
    fit(&mut data, &args.data.display().to_string(), options.format, args.saturate)?;
    let lesson = Lesson::prepare(&learner, &primary, &data, &options).map_err(|error| {
        Failure::NotCertified { reason: format!("the run cannot be made again: {error}") }
    })?;
    let audit = Audit::of(&model, &lesson);
    let retrained = if args.quick { None } else { Some(retrain(&model, &lesson, &options)?) };

    let mut checks: Vec<(&str, &Check)> = audit.checks().to_vec();
    checks.extend(retrained.as_ref().map(|check| ("trained again", check)));
    let failed = checks.iter().find(|(_, check)| !check.holds);
    if args.json {
        print_json(&Verdict { holds: failed.is_none(), audit: &audit, retrained: retrained.as_ref() })?;
    } else {
        let row = |&(name, check): &(&str, &Check)| {
            let verdict = if check.holds { "yes" } else { "NO" };
            (name.to_owned(), format!("{verdict}: {}", check.figures))
        };
        print(&table(&checks.iter().map(row).collect::<Vec<_>>()))?;
    }
    match failed {
        None => Ok(()),
        Some((name, check)) => Err(Failure::NotCertified { reason: format!("{name}: {}", check.figures) }),
    }
}

/// Trains again, and holds the model to the one that comes out.
fn retrain(model: &Model, lesson: &Lesson<'_>, options: &LessonOptions) -> Result<Check, Failure> {
    let mut progress = Progress::new("training", lesson.machine_steps()).certainly();
    let lessons = lesson.train(|moment| {
        progress.reach_with_loss(moment.step, moment.loss);
        ControlFlow::Continue(())
    })?;
    let again = Model::new(model.card.machine.clone(), lesson.primary(), lesson, options, &lessons);
    Ok(same_model(model, &again))
}
