//! What `luge inspect` shows of a trained model.

use std::path::Path;

use indicatif::HumanCount;
use luge::{certificate::answer::failed, draw::plot::numeral, files::model::Model};
use serde_json::json;

use super::{
    super::{
        failure::Failure,
        output::{Rows, show},
    },
    network::NetworkProfile,
};

/// Shows the model in a file.
pub(super) fn run(path: &Path, json: bool) -> Result<(), Failure> {
    let model = Model::load(path)?;
    let card = &model.card;
    let network = NetworkProfile::of_model(&model)?;
    let profile = json!({
        "primary": card.primary,
        "format": card.options.format.to_string(),
        "carrier": card.options.carrier.word(),
        "engine": card.options.engine.word(),
        "machine_sha256": card.machine_sha256,
        "samples": card.n_samples,
        "features": card.features,
        "labels": card.labels,
        "steps": card.steps,
        "machine_steps": card.machine_steps,
        "theta": model.theta,
        "train_loss": card.train_loss,
        "b_stop": card.stop,
        "certificate": card.certificate,
        "network": network,
    });
    show(json, &profile, || report(&model, &network))
}

fn report(model: &Model, network: &NetworkProfile) -> String {
    let card = &model.card;
    let mut rows = Rows::default();
    rows.row(
        "model",
        format!("{} from {} to {}", card.primary, card.features.join(", "), card.labels.join(", ")),
    );
    let theta: Vec<String> = model.theta.iter().map(ToString::to_string).collect();
    rows.row("theta", theta.join(" "));
    rows.row("numbers", card.options.format);
    let steps = (HumanCount(card.steps), HumanCount(card.machine_steps));
    rows.row(
        "trained",
        format!("{} gradient steps, {} machine steps, {} samples", steps.0, steps.1, card.n_samples),
    );
    rows.row("training loss", format!("{}; stops at {}", numeral(card.train_loss), numeral(card.stop)));
    rows.row("carrier", card.options.carrier.word());
    rows.row("engine", card.options.engine.word());
    rows.row("machine", format!("sha256 {}", card.machine_sha256));
    let claims = match &failed(&card.certificate.claims())[..] {
        [] => "all claims hold".to_owned(),
        failed => format!("does not hold: {}", failed.join(", ")),
    };
    rows.row("certificate", claims);
    network.add_to(&mut rows);
    rows.text()
}
