//! The output of the primary network over the plane of two features.

use luge_net::Shape;

use super::*;

/// Points along each axis.
const GRID: usize = 33;

/// The output of the primary network over the plane of two features, with all others at their mean; `None` if there are fewer than
/// two.
pub(crate) fn boundary(replay: &Replay<'_>, features: Option<(usize, usize)>) -> Option<Value> {
    let lesson = replay.scene.lesson.filter(|lesson| lesson.primary().n_features() >= 2)?;
    let n_features = lesson.primary().n_features();
    let chosen = features.filter(|&(a, b)| a < n_features && b < n_features && a != b);
    let features = chosen.unwrap_or((n_features - 2, n_features - 1));
    let (x, y) = (range(lesson, features.0), range(lesson, features.1));
    let grid = plane(lesson, features, (x, y));
    let classes = lesson.primary().n_outputs() > 1;
    let said = |theta: &[f64], at: &Values| -> Vec<f64> {
        let out = Predictor::new(lesson.primary(), theta.to_vec()).predict(at);
        (0..out.shape.rows)
            .map(|row| if classes { highest(out.row(row)) } else { drawn(out.at(row, 0)) })
            .collect()
    };
    let (blank, theta) = (lesson.blank_theta(), theta_on_tape(replay, lesson));
    Some(json!({
        "step": replay.step(),
        // The features across and up, and their ranges.
        "features": features,
        "x": x,
        "y": y,
        "n": GRID,
        // Row by row, at the start and now: the label, or which of several labels is highest.
        "before": said(&blank, &grid),
        "now": said(&theta, &grid),
        // The same of the rows of the table, at the start and now.
        "rows_before": said(&blank, &lesson.table().features),
        "rows": said(&theta, &lesson.table().features),
        // Whether the numbers say which label is highest.
        "classes": classes,
    }))
}

/// The index of the highest number, the first if several are equal.
fn highest(row: &[f64]) -> f64 {
    (0..row.len()).reduce(|a, b| if row[b] > row[a] { b } else { a }).unwrap_or(0) as f64
}

fn column(lesson: &PreparedTraining, feature: usize) -> impl Iterator<Item = f64> {
    let features = &lesson.table().features;
    (0..features.shape.rows).map(move |row| features.at(row, feature))
}

/// The range of a feature's values with some margin.
fn range(lesson: &PreparedTraining, feature: usize) -> (f64, f64) {
    let (low, high) = column(lesson, feature).fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
    let room = ((high - low) * 0.15).max(0.25);
    (low - room, high + room)
}

/// A grid over two features, with all others at their mean.
fn plane(
    lesson: &PreparedTraining,
    (across, up): (usize, usize),
    (x, y): ((f64, f64), (f64, f64)),
) -> Values {
    let n_features = lesson.primary().n_features();
    let n_rows = lesson.table().n_samples().max(1) as f64;
    let means: Vec<f64> =
        (0..n_features).map(|feature| column(lesson, feature).sum::<f64>() / n_rows).collect();
    let along = |(low, high): (f64, f64), i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
    let mut points = Vec::with_capacity(GRID * GRID * n_features);
    for k in 0..GRID * GRID {
        let mut point = means.clone();
        (point[across], point[up]) = (along(x, k % GRID), along(y, k / GRID));
        points.extend(point);
    }
    Values::new(Shape::new(GRID * GRID, n_features), points)
}
