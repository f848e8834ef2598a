//! The run over time: its loss, its tapes as pictures, and the steps of each line.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use luge::draw::loss_curve::Extremes;
use serde::Serialize;

use crate::{
    prepared_job::Scene,
    replay::{Strip, Survey},
};

/// The run over time.
#[derive(Debug, Serialize)]
pub struct Overview {
    steps: u64,
    done: bool,
    /// Steps per bucket.
    width: u64,
    buckets: Vec<Option<Extremes>>,
    seen: u64,
}

/// A space-time picture.
#[derive(Debug, Serialize)]
pub struct PictureView {
    tape: usize,
    width: usize,
    steps: Vec<u64>,
    first: i64,
    last: i64,
    /// Base64 of three bytes per pixel, line by line.
    rgb: String,
    heads: Vec<Option<i64>>,
    /// Whether it is a part that was asked for.
    zoomed: bool,
}

impl Overview {
    /// The survey so far.
    pub fn of(survey: &Survey<'_>) -> Self {
        let curve = &survey.curve;
        Self {
            steps: survey.steps(),
            done: survey.done,
            width: curve.width(),
            buckets: curve.columns().to_vec(),
            seen: curve.n_seen,
        }
    }
}

impl PictureView {
    /// A picture of a tape.
    pub fn of(strip: &Strip, tape: usize, zoomed: bool) -> Self {
        Self {
            tape,
            width: strip.width,
            steps: strip.steps.clone(),
            first: strip.cells.start,
            last: strip.cells.end - 1,
            rgb: STANDARD.encode(strip.pixels.as_flattened()),
            heads: strip.heads.clone(),
            zoomed,
        }
    }
}

/// The steps that each line of the program takes.
#[derive(Debug, Serialize)]
pub struct LineProfile {
    steps: u64,
    /// Lines and their steps, the largest first.
    lines: Vec<(usize, u64)>,
}

impl LineProfile {
    /// From the steps that begin in each state.
    pub fn of(scene: &Scene<'_>, visits: &[u64]) -> Self {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for (line, &visits) in scene.stage.lines.iter().zip(visits) {
            if let Some(line) = line.filter(|_| visits > 0) {
                *counts.entry(line).or_default() += visits;
            }
        }
        let mut lines: Vec<(usize, u64)> = counts.into_iter().collect();
        lines.sort_by_key(|&(line, steps)| (std::cmp::Reverse(steps), line));
        Self { steps: visits.iter().sum(), lines }
    }
}
