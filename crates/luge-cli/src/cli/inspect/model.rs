//! `luge inspect` for a trained model.

use std::path::Path;

use indicatif::HumanCount;
use luge::{
    certificate::answer::failed,
    draw::plot::numeral,
    files::model::{Card, Model},
    training::{Certificate, VariableWeights},
};
use serde::Serialize;

use super::{
    super::{
        failure::Failure,
        output::{Rows, show},
    },
    network::NetworkProfile,
};

#[derive(Serialize)]
struct ModelProfile<'m> {
    primary: &'m str,
    format: String,
    carrier: &'static str,
    engine: &'static str,
    machine_sha256: &'m str,
    samples: usize,
    features: &'m [String],
    labels: &'m [String],
    steps: u64,
    machine_steps: u64,
    theta: &'m [f64],
    train_loss: f64,
    b_stop: f64,
    certificate: &'m Certificate,
    network: NetworkProfile,
}

/// Shows the model in a file.
pub(super) fn run(path: &Path, json: bool) -> Result<(), Failure> {
    let model = Model::load(path)?;
    let card = &model.card;
    let profile = ModelProfile {
        primary: &card.primary,
        format: card.options.format.to_string(),
        carrier: card.options.carrier.word(),
        engine: card.options.engine.word(),
        machine_sha256: &card.machine_sha256,
        samples: card.n_samples,
        features: &card.features,
        labels: &card.labels,
        steps: card.steps,
        machine_steps: card.machine_steps,
        theta: &model.theta,
        train_loss: card.train_loss,
        b_stop: card.stop,
        certificate: &card.certificate,
        network: NetworkProfile::of_model(&model)?,
    };
    show(json, &profile, || report(&profile, card))
}

/// Shows which weights hold the variables of a model's program.
pub(super) fn variables(path: &Path, json: bool) -> Result<(), Failure> {
    let model = Model::load(path)?;
    let found = model.variables().map_err(|error| {
        Failure::unfit(format!("the model's program: {error}"), "give a model as luge train wrote it")
    })?;
    if found.is_empty() {
        return Err(Failure::unfit(
            format!("{} holds no program: its learner is a machine", path.display()),
            "train a .sled file with luge train --out MODEL",
        ));
    }
    show(json, &found, || {
        let mut rows = Rows::default();
        for VariableWeights { name, block, row, first, pitch, width, fraction, length, lines, .. } in &found {
            let kind = match fraction {
                None => "truth value".to_owned(),
                Some(0) => format!("integer of {width} bits"),
                Some(fraction) => format!("number of {width} bits, {fraction} after the point"),
            };
            let of = length.map(|length| format!("{length} times, every {pitch} columns: "));
            let last = first + i64::from(*width) - 1;
            let place = format!("{}{kind}, {block}[{row}, {first}..={last}]", of.unwrap_or_default());
            rows.row(name, format!("{place}; lines {} to {}", lines.0, lines.1));
        }
        rows.text()
    })
}

fn report(profile: &ModelProfile<'_>, card: &Card) -> String {
    let mut rows = Rows::default();
    rows.row(
        "model",
        format!("{} from {} to {}", card.primary, card.features.join(", "), card.labels.join(", ")),
    );
    let theta: Vec<String> = profile.theta.iter().map(ToString::to_string).collect();
    rows.row("theta", theta.join(" "));
    rows.row("numbers", &profile.format);
    let steps = (HumanCount(card.steps), HumanCount(card.machine_steps));
    rows.row(
        "trained",
        format!("{} gradient steps, {} machine steps, {} samples", steps.0, steps.1, card.n_samples),
    );
    rows.row("training loss", format!("{}; stops at {}", numeral(card.train_loss), numeral(card.stop)));
    rows.row("carrier", profile.carrier);
    rows.row("engine", profile.engine);
    rows.row("machine", format!("sha256 {}", card.machine_sha256));
    let claims = match &failed(&card.certificate.claims())[..] {
        [] => "all claims hold".to_owned(),
        failed => format!("does not hold: {}", failed.join(", ")),
    };
    rows.row("certificate", claims);
    profile.network.add_to(&mut rows);
    rows.text()
}
