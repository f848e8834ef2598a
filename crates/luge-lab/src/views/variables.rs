//! The program's variables, read from the bits on the tapes.

use luge::job::program::Variable;

use super::*;

/// The most elements of an array that are shown.
const MAX_ELEMENTS: usize = 64;

/// The list of all variables.
pub(super) fn listed(scene: &Scene<'_>) -> Vec<Value> {
    let info = |variable: &Variable| {
        json!({
            "name": variable.name,
            // The elements of an array.
            "length": variable.length,
            // Whether it is a bit and no number.
            "bit": variable.fraction.is_none(),
            // The lines in which the name means this.
            "lines": variable.lines,
            "tape": variable.tape.index(),
        })
    };
    scene.prepared.variables.iter().map(info).collect()
}

/// The values of all variables at the current step, in the order of the list.
pub(super) fn values(replay: &Replay<'_>) -> Vec<Vec<f64>> {
    let scene = replay.scene;
    let value = |variable: &Variable| {
        let Some(track) = scene.tapes.tracks(variable.tape).next() else { return Vec::new() };
        let n_shown = variable.length.unwrap_or(1).min(MAX_ELEMENTS);
        let n_cells = n_shown.saturating_sub(1) * variable.pitch + variable.width as usize;
        let start = scene.tapes.inside(track, variable.first as i64);
        let bits = replay.bits(track, start..start + n_cells as i64);
        variable.values(n_shown, |cell| bits.get(cell - variable.first).copied().unwrap_or(false))
    };
    scene.prepared.variables.iter().map(value).collect()
}

/// The sample under the program's head on its data, counted from 0.
pub(super) fn sample(replay: &Replay<'_>) -> Option<usize> {
    let scene = replay.scene;
    let lesson = scene.lesson.filter(|_| !scene.prepared.variables.is_empty())?;
    let (layout, track) = (lesson.layout(), lesson.learner().data_track().index());
    let tape = scene.machine.tape_ids().find(|&tape| scene.tapes.tracks(tape).next() == Some(track))?;
    let head = scene.tapes.head(&replay.look(Some(0)).tapes, tape)?;
    let per_sample = (layout.n_features + layout.n_labels) * layout.width();
    // The marker comes first.
    let at = usize::try_from(head - 1).ok()? / per_sample.max(1);
    (at < layout.n_samples).then_some(at)
}
