//! `luge predict`: a trained model on new data.

use luge::data::{Answer, Preparation};
use luge_net::Values;

use super::train::scored;
use crate::cli::command_prelude::*;

/// Predict the labels of new rows, as CSV
///
/// The columns are prepared as in training. If the file contains the target column, standard error says how many rows are
/// right.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model written by `luge train --out` or `luge stream --out`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A CSV file with the columns of the training data, or `-` for standard input; other columns are ignored
    #[arg(value_name = "FILE.csv")]
    data: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let model = AnyModel::load(&args.model)?;
    let preparation = model.preparation();
    let (name, text) = read_text(&args.data)?;
    let new = preparation.read_new(&text).map_err(|error| Failure::of_table(&name, error))?;
    new.notes.iter().for_each(|text| note(&format!("{name}: {text}")));
    let predicted = model.predict(&new.features)?;
    let score = new.labels.as_ref().and_then(|labels| preparation.score(&predicted, labels));
    if args.json {
        let rows = || (0..predicted.shape.rows).map(|row| predicted.row(row));
        let classes = preparation.targets.iter().any(|target| !target.classes.is_empty());
        let answers = || rows().map(|row| preparation.answers(row)).collect::<Vec<_>>();
        return print_json(&object! {
            columns: preparation.names().1,
            predictions: rows().collect::<Vec<_>>(),
            classes "where a target has classes: what the numbers mean": classes.then(answers),
            score "if the file has labels: how well they are predicted": score,
        });
    }
    print(&csv(preparation, &predicted).map_err(Failure::print)?)?;
    score.iter().for_each(|score| note(&scored(score)));
    Ok(())
}

/// One column per target, classes by their names.
fn csv(preparation: &Preparation, predicted: &Values) -> Result<String, csv::Error> {
    let text = |answer: &Answer<'_>| match answer {
        Answer::Number(number) => number.to_string(),
        Answer::Class(class) => (*class).to_owned(),
    };
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(preparation.targets.iter().map(|target| &target.column))?;
    for row in 0..predicted.shape.rows {
        csv.write_record(preparation.answers(predicted.row(row)).iter().map(text))?;
    }
    let bytes = csv.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
