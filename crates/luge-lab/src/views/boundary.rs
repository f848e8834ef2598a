//! What the primary network says of all inputs, if they have two features.

use luge::predictor::Predictor;
use luge_net::{Shape, Values, numbers::from_signs};
use serde::Serialize;

use super::theta_on_tape;
use crate::{film::Film, stage::Scene};

/// Points of a decision boundary along each axis.
const GRID: usize = 33;

/// What the primary network says over two features.
#[derive(Debug, Serialize)]
pub struct Boundary {
    step: u64,
    n: usize,
    x: (f64, f64),
    y: (f64, f64),
    /// Row by row, at the start and now.
    before: Vec<f64>,
    now: Vec<f64>,
}

impl Boundary {
    /// What the primary network says over the plane of two features; `None` for any other number.
    #[must_use]
    pub fn of(scene: &Scene<'_>, film: &Film<'_>) -> Option<Self> {
        let lesson = scene.lesson.filter(|lesson| lesson.primary().n_features() == 2)?;
        let theta = theta_on_tape(scene, lesson, &film.look(None));
        let blank = vec![-1.0; theta.len() * lesson.layout().width()];
        let range = |column: usize| {
            let features = &lesson.table().features;
            let values = (0..features.shape.rows).map(|row| features.at(row, column));
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
            let room = ((high - low) * 0.25).max(0.5);
            (low - room, high + room)
        };
        let (x, y) = (range(0), range(1));
        let along = |(low, high): (f64, f64), i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
        let points = (0..GRID).flat_map(|j| (0..GRID).flat_map(move |i| [along(x, i), along(y, j)]));
        let grid = Values::new(Shape::new(GRID * GRID, 2), points.collect());
        let said = |theta: Vec<f64>| {
            let out = Predictor::new(lesson.primary(), theta).predict(&grid);
            (0..out.shape.rows).map(|row| out.at(row, 0)).collect::<Vec<f64>>()
        };
        let before = said(from_signs(lesson.layout().format, &blank));
        Some(Self { step: film.step(), n: GRID, x, y, before, now: said(theta) })
    }
}
