//! `luge predict`: a trained model on new data.

use std::path::PathBuf;

use luge::{model::Model, predictor::Predictor};
use luge_net::Values;
use serde::Serialize;

use super::{
    data_args::read_features,
    failure::Failure,
    output::{print, print_json},
};

/// Predict labels for new data, any number of rows, as CSV
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model that `luge train --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A CSV file with the columns the model was trained on, `-` for standard input; other columns are ignored
    #[arg(value_name = "FILE.csv")]
    data: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Predictions<'a> {
    columns: &'a [String],
    predictions: Vec<&'a [f64]>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let primary = model.primary()?;
    let table = read_features(&args.data, &model.card.features)?;
    let predicted = Predictor::new(&*primary, model.theta.clone()).predict(&table.features);
    if args.json {
        let predictions = (0..predicted.shape.rows).map(|row| predicted.row(row)).collect();
        return print_json(&Predictions { columns: &model.card.labels, predictions });
    }
    print(&csv(&model.card.labels, &predicted))
}

fn csv(columns: &[String], predicted: &Values) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let quoted = columns.iter().map(|name| {
        if name.contains([',', '"', '\n']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            name.clone()
        }
    });
    let mut text = line(quoted.collect());
    for row in 0..predicted.shape.rows {
        text.push_str(&line(predicted.row(row).iter().map(ToString::to_string).collect()));
    }
    text
}
