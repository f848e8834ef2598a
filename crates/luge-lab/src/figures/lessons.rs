//! Figures of learners: how labels enter through the gradient, and a perceptron compared with ordinary gradient descent.

use luge::{
    job::{Data, StandardPrimaries, TrainJob, catalogue},
    run::engine::EngineError,
};
use luge_net::SparseValues;

use super::{views::theta_on_tape, *};
use crate::replay::evenly_spaced;

/// Frames of each run.
const N_FRAMES: u64 = 60;

/// Steps of ordinary gradient descent.
const N_ORDINARY: u64 = 3_000;

/// Its rate on the mean squared error.
const RATE: f64 = 0.02;

/// The first gradient step of a learner of the mean, with labels that the reader has set.
pub(super) fn first_step(labels: &[f64]) -> FigureResult {
    let mut job = shipped("mean")?;
    let rows = labels.iter().enumerate().map(|(row, label)| format!("{row},{label}\n"));
    let Data::Csv { text, .. } = &mut job.data else {
        return Err("the mean has its own table".into());
    };
    *text = format!("x,y\n{}", rows.collect::<String>());
    let table = job.table()?;
    let loaded = job.load(&table)?;
    let lesson = job.assemble(table, &loaded, &StandardPrimaries)?;
    let task = lesson.task();
    let z = lesson.extended().labels.index();
    let start = SparseValues::all_values(&task.parameters);
    let mut engine = Dense::new(task.network, &start, &task.inputs, Precision::F64, Rate::One, None)?;
    let mut gradient = engine.gradient()?;
    engine.step()?;
    let after = engine.parameters().ok_or("the engine has no weights")?;
    let of_z = std::mem::replace(&mut gradient[z], Values::column(Vec::new())).data;
    let elsewhere = gradient.iter().flat_map(|block| &block.data).fold(0.0_f64, |most, g| most.max(g.abs()));
    let proof = PreparedJob::open(&Job::Train(job))?.prove(&|| true);
    let proof = proof.ok_or("the run takes too long")?;
    Ok(json!({
        "labels": lesson.table().labels.data,
        // z before the step, its gradient, and z after it.
        "before": start[z].data,
        "gradient": of_z,
        "after": after[z].data,
        // The largest gradient on any other weight in this step.
        "elsewhere": elsewhere,
        // What the learner then finds, and after which number of steps.
        "learned": proof.answer.learned.map(|learned| learned.formula).unwrap_or_default(),
        "steps": proof.steps,
    }))
}

/// A linear network on two features, trained in two ways: the weights and the number of rows classified right, over the steps.
pub(super) fn two_lines() -> FigureResult {
    let mut job = shipped("perceptron")?;
    if let Data::Csv { features, .. } = &mut job.data {
        *features = Some(vec!["petal_length".to_owned(), "petal_width".to_owned()]);
    }
    let prepared = PreparedJob::open(&Job::Train(job))?;
    let scene = prepared.scene()?;
    let lesson = scene.lesson.ok_or("the perceptron learns")?;
    let table = lesson.table();
    let row = |i: usize| [table.features.at(i, 0), table.features.at(i, 1), table.labels.at(i, 0)];
    let rows: Vec<[f64; 3]> = (0..table.n_samples()).map(row).collect();
    let mut replay = scene.replay()?;
    let mut seek = |step: u64| -> Result<(u64, Vec<f64>), EngineError> {
        replay.seek(step, &mut || true)?;
        Ok((replay.step(), theta_on_tape(&replay, lesson)))
    };
    let (steps, _) = seek(u64::MAX)?;
    let line = |step: u64, theta: Vec<f64>| {
        let right = rows.iter().filter(|row| output(&theta, row) * row[2] > 0.0).count();
        json!({ "step": step, "theta": theta, "right": right })
    };
    let mut perceptron = Vec::new();
    for step in evenly_spaced(steps, N_FRAMES as usize) {
        let (step, theta) = seek(step)?;
        perceptron.push(line(step, theta));
    }
    let mut ordinary = Vec::new();
    let mut theta = vec![0.0; 3];
    for step in 0..=N_ORDINARY {
        if step % (N_ORDINARY / (N_FRAMES - 1)) == 0 && (ordinary.len() as u64) < N_FRAMES {
            ordinary.push(line(step, theta.clone()));
        }
        theta = descended(&theta, &rows);
    }
    Ok(json!({
        "features": table.feature_names,
        // Rows of the table: both features and the label.
        "rows": rows,
        "perceptron": perceptron,
        "ordinary": ordinary,
        // The rate of the ordinary descent.
        "rate": RATE,
    }))
}

/// bias + w x.
fn output(theta: &[f64], row: &[f64; 3]) -> f64 {
    theta[0] + theta[1] * row[0] + theta[2] * row[1]
}

/// One step of gradient descent on the mean of 1/2 (bias + w x - y)^2.
fn descended(theta: &[f64], rows: &[[f64; 3]]) -> Vec<f64> {
    let mut gradient = [0.0; 3];
    for row in rows {
        let residual = (output(theta, row) - row[2]) / rows.len() as f64;
        for (sum, x) in gradient.iter_mut().zip([1.0, row[0], row[1]]) {
            *sum += residual * x;
        }
    }
    theta.iter().zip(gradient).map(|(weight, slope)| weight - RATE * slope).collect()
}

/// The job of a learner that ships.
fn shipped(name: &str) -> Result<TrainJob, String> {
    match catalogue::find(name).map(catalogue::Shipped::job) {
        Some(Job::Train(job)) => Ok(job),
        _ => Err(format!("no learner `{name}` ships")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_first_step_copies_the_labels_and_touches_nothing_else() {
        let figure = first_step(&[1.0, 2.0, 3.0, 4.0]).expect("a figure");
        assert_eq!(figure["labels"], json!([1.0, 2.0, 3.0, 4.0]));
        let after: Vec<f64> = serde_json::from_value(figure["after"].clone()).expect("numbers");
        for (z, label) in after.iter().zip([1.0, 2.0, 3.0, 4.0]) {
            assert!((z - label).abs() < 1e-9, "{figure}");
        }
        assert!(
            after.len() == 4 && figure["elsewhere"].as_f64().is_some_and(|most| most < 1e-12),
            "{figure}"
        );
        assert!(figure["learned"].as_str().is_some_and(|words| words.contains("2.5")), "the mean: {figure}");
    }

    #[test]
    fn the_perceptron_ends_with_all_rows_right_and_descent_lowers_the_error() {
        let figure = two_lines().expect("a figure");
        let rows: Vec<[f64; 3]> = serde_json::from_value(figure["rows"].clone()).expect("rows");
        let error = |line: &Value| {
            let theta: Vec<f64> = serde_json::from_value(line["theta"].clone()).expect("numbers");
            rows.iter().map(|row| (output(&theta, row) - row[2]).abs()).sum::<f64>()
        };
        let lines = ["ordinary", "perceptron"].map(|of| figure[of].as_array().expect("lines"));
        assert_eq!(lines.map(Vec::len), [60, 60]);
        assert!(error(&lines[0][59]) < error(&lines[0][0]));
        assert_eq!(lines[1][59]["right"], rows.len());
    }
}
