//! The run as a whole: what is known before the first step.

use luge::run::run_stats::Limits;
use luge_machine::Access;
use luge_net::Layers;

use super::*;

/// The most vertices that are drawn one by one.
const MAX_RING: usize = 64;

/// What is known before the first step.
pub(crate) fn opening(replay: &Replay<'_>) -> Value {
    let scene = replay.scene;
    let machine = scene.machine;
    let state = |id: StateId| {
        json!({
            "name": machine.state(id).name,
            "line": scene.line(id.index()),
            "halting": machine.halting(id).is_some(),
        })
    };
    let tape = |tape: TapeId| {
        let of = machine.tape(tape);
        json!({
            "name": of.name,
            "symbols": of.alphabet.names(),
            "colours": scene.tapes.colours(tape),
            "read_only": of.access == Access::ReadOnly,
            "n_tracks": scene.tapes.tracks(tape).len(),
        })
    };
    json!({
        "name": scene.prepared.name,
        "landscape": scene.kind.word(),
        "engine": replay.chosen.engine.word(),
        "precision": scene.task.manner.precision.word(),
        // The relative size of the noise on every step.
        "noise": scene.task.manner.noise.map(|(sigma, _)| sigma),
        "tapes": machine.tape_ids().map(tape).collect::<Vec<_>>(),
        "states": machine.state_ids().map(state).collect::<Vec<_>>(),
        "start": machine.state(machine.start()).name,
        "n_vertices": scene.n_vertices(),
        "n_units": Layers::of(scene.task.network).n_units(),
        "n_weights": scene.n_weights(),
        "bounds": Limits::from(scene.bounds),
        "ring": ring(scene),
        "variables": variables::listed(scene),
        "lesson": lesson_info(scene),
        "warnings": scene.prepared.warnings,
    })
}

/// Every vertex of a small network, and the vertices that may follow it.
fn ring(scene: &Scene<'_>) -> Vec<Value> {
    let Some(control) = scene.control else { return Vec::new() };
    if control.n_vertices() > MAX_RING {
        return Vec::new();
    }
    let vertex = |id: usize| {
        let step = control.at(id).step;
        let follows = |to: &usize| step.as_ref().is_some_and(|step| control.table().block(*to) == step.next);
        json!({
            "name": control_name(scene.machine, scene.lowered, control, id),
            "state": control.at(id).state.index(),
            "next": (0..control.n_vertices()).filter(follows).collect::<Vec<_>>(),
        })
    };
    (0..control.n_vertices()).map(vertex).collect()
}

fn lesson_info(scene: &Scene<'_>) -> Option<Value> {
    let lesson = scene.lesson?;
    let table = lesson.table();
    let rows = |values: &Values| -> Vec<Vec<f64>> {
        let n = values.shape.rows.min(MAX_SAMPLES);
        (0..n).map(|row| values.row(row).to_vec()).collect()
    };
    Some(json!({
        "features": table.feature_names,
        "labels": table.label_names,
        "x": rows(&table.features),
        "y": rows(&table.labels),
        "n_samples": table.n_samples(),
        "n_theta": lesson.primary().n_weights(),
        "carrier": lesson.extended().carrier.word(),
        "format": lesson.layout().format.to_string(),
        "machine_steps": lesson.simulated().map_or(0, |simulated| simulated.machine_steps),
    }))
}
