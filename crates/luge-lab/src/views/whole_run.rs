//! The run over time: its loss, its tapes as pictures, and the steps of each line.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::*;
use crate::replay::{Strip, Survey};

/// The run over time: the survey so far.
pub(crate) fn overview(survey: &Survey<'_>) -> Value {
    let curve = &survey.curve;
    json!({
        "steps": survey.steps(),
        "done": survey.done,
        // Steps per bucket.
        "width": curve.width(),
        "buckets": curve.columns(),
        "seen": curve.n_seen,
    })
}

/// A space-time picture of a tape; `zoomed` if it is only a part.
pub(crate) fn picture(strip: &Strip, tape: usize, zoomed: bool) -> Value {
    json!({
        "tape": tape,
        "width": strip.width,
        "steps": strip.steps,
        "first": strip.cells.start,
        "last": strip.cells.end - 1,
        // Base64 of three bytes per pixel, line by line.
        "rgb": STANDARD.encode(strip.pixels.as_flattened()),
        "heads": strip.heads,
        "zoomed": zoomed,
    })
}

/// The steps of each line of the program, the most first, computed from the steps that begin in each state.
pub(crate) fn line_profile(scene: &Scene<'_>, visits: &[u64]) -> Value {
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for (line, &visits) in scene.prepared.lines.iter().zip(visits) {
        if let Some(line) = line.filter(|_| visits > 0) {
            *counts.entry(line).or_default() += visits;
        }
    }
    let mut lines: Vec<(usize, u64)> = counts.into_iter().collect();
    lines.sort_by_key(|&(line, steps)| (std::cmp::Reverse(steps), line));
    json!({ "steps": visits.iter().sum::<u64>(), "lines": lines })
}
