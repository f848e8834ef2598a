//! `luge inspect` for a trained model.

use luge::{
    certificate::{Certificate, answer::failed},
    files::Model,
    stream::StreamModel,
    training::VariableWeights,
};
use luge_net::Layers;

use super::network::NetworkProfile;
use crate::cli::command_prelude::*;

/// Shows the model of a learner from a table.
pub(super) fn run(model: &Model, json: bool) -> Result<(), Failure> {
    let (card, options) = (&model.card, &model.card.options);
    let network = NetworkProfile::of_model(model)?;
    let profile = object! {
        primary: &card.primary,
        format: options.format.to_string(),
        carrier: options.carrier.word(),
        engine: options.engine.word(),
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
        network: network.summary(),
    };
    show_rows(json, &profile, |rows| describe(rows, model, &network))
}

/// Shows the model of a learner from a stream.
pub(super) fn of_stream(model: &StreamModel, json: bool) -> Result<(), Failure> {
    let network = model.network()?;
    let layers = Layers::of(&network.network);
    let card = &model.card;
    let (features, labels) = card.preparation.names();
    let profile = object! {
        learner: &card.source.name,
        primary: &card.primary,
        format: card.options.format.to_string(),
        engine: card.options.engine().word(),
        features: features,
        labels: labels,
        steps: card.steps,
        taken: card.taken,
        theta: &model.theta,
        certificate: &card.certificate,
        vertices: network.control().n_vertices(),
        cells: card.options.cells,
        units: layers.n_units(),
        depth: layers.depth(),
    };
    show_rows(json, &profile, |rows| {
        let (features, labels) = (profile.features.join(", "), profile.labels.join(", "));
        rows.row("model", format!("{} from {features} to {labels}", card.primary));
        rows.row("theta", numbers(&model.theta));
        rows.row("numbers", card.options.format);
        let (steps, taken) = (count(card.steps), count(card.taken));
        rows.row(
            "trained",
            format!("{} on a stream, {steps} gradient steps, {taken} batches taken", profile.learner),
        );
        rows.row("engine", profile.engine);
        rows.row("certificate", verdict(&card.certificate));
        let cells = count(profile.cells.unwrap_or(0));
        rows.row("landscape", format!("plain, {} vertices, {cells} cells per tape", count(profile.vertices)));
        rows.row("network", format!("{} units in {} layers", count(profile.units), profile.depth));
    })
}

/// Whether all claims of a certificate hold.
fn verdict(certificate: &Certificate) -> String {
    match &failed(&certificate.claims())[..] {
        [] => "all claims hold".to_owned(),
        failed => format!("does not hold: {}", failed.join(", ")),
    }
}

/// Shows which weights hold the variables of a model's program.
pub(super) fn variables(model: &Model, path: &Path, json: bool) -> Result<(), Failure> {
    let found = model.variables().map_err(|error| {
        Failure::error(format!("the model's program: {error}"), "give a model as luge train wrote it")
    })?;
    if found.is_empty() {
        return Err(Failure::error(
            format!("{} holds no program: its learner is a machine", path.display()),
            "train a .sled file with luge train --out MODEL",
        ));
    }
    show_rows(json, &found, |rows| {
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
    })
}

fn describe(rows: &mut Rows, model: &Model, network: &NetworkProfile) {
    let (card, options) = (&model.card, &model.card.options);
    rows.row(
        "model",
        format!("{} from {} to {}", card.primary, card.features.join(", "), card.labels.join(", ")),
    );
    rows.row("theta", numbers(&model.theta));
    rows.row("numbers", options.format);
    let steps = (count(card.steps), count(card.machine_steps));
    rows.row(
        "trained",
        format!("{} gradient steps, {} machine steps, {} samples", steps.0, steps.1, card.n_samples),
    );
    rows.row("training loss", format!("{}; stops at {}", numeral(card.train_loss), numeral(card.stop)));
    rows.row("carrier", options.carrier.word());
    rows.row("engine", options.engine.word());
    rows.row("machine", format!("sha256 {}", card.machine_sha256));
    rows.row("certificate", verdict(&card.certificate));
    network.add_to(rows);
}
