//! What `luge inspect` shows of a trained model.

use std::path::Path;

use indicatif::HumanCount;
use luge::{
    lesson::Certificate,
    model::{Card, Model},
    plot::numeral,
};
use serde::Serialize;

use super::{
    super::{
        failure::Failure,
        output::{print, print_json, table},
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
    if json { print_json(&profile) } else { print(&table(&rows(&profile, card))) }
}

fn rows(profile: &ModelProfile<'_>, card: &Card) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    row("model", format!("{} from {} to {}", card.primary, card.features.join(", "), card.labels.join(", ")));
    let theta: Vec<String> = profile.theta.iter().map(ToString::to_string).collect();
    row("theta", theta.join(" "));
    row("numbers", profile.format.clone());
    let steps = (HumanCount(card.steps), HumanCount(card.machine_steps));
    row(
        "trained",
        format!("{} gradient steps, {} machine steps, {} samples", steps.0, steps.1, card.n_samples),
    );
    row("training loss", format!("{}; stops at {}", numeral(card.train_loss), numeral(card.stop)));
    row("carrier", profile.carrier.to_owned());
    row("engine", profile.engine.to_owned());
    row("machine", format!("sha256 {}", card.machine_sha256));
    let failed: Vec<&str> = card
        .certificate
        .claims()
        .into_iter()
        .filter(|(_, check)| !check.holds)
        .map(|(name, _)| name)
        .collect();
    let claims = if failed.is_empty() {
        "all claims hold".to_owned()
    } else {
        format!("does not hold: {}", failed.join(", "))
    };
    row("certificate", claims);
    rows.extend(profile.network.rows());
    rows
}
