//! The run as a whole: everything that is known before the first step.

use luge::{
    draw::edges::control_name,
    run::{engine::Chosen, run_stats::Limits},
};
use luge_machine::{Access, StateId, TapeId};
use luge_net::{Layers, Values};
use serde::Serialize;

use super::{
    MAX_SAMPLES,
    variables::{self, VariableInfo},
};
use crate::{prepared_job::Scene, refusal::Finding};

/// Vertices that are drawn one by one.
const MAX_RING: usize = 64;

/// The run as a whole.
#[derive(Debug, Serialize)]
pub struct Opening {
    name: String,
    landscape: &'static str,
    engine: &'static str,
    precision: &'static str,
    /// The relative size of the noise on every step.
    noise: Option<f64>,
    tapes: Vec<TapeInfo>,
    states: Vec<StateInfo>,
    start: String,
    n_vertices: usize,
    n_units: usize,
    n_weights: usize,
    bounds: Limits,
    ring: Vec<RingVertex>,
    variables: Vec<VariableInfo>,
    lesson: Option<TrainingInfo>,
    warnings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct TapeInfo {
    name: String,
    symbols: Vec<String>,
    colours: Vec<[u8; 3]>,
    read_only: bool,
    n_tracks: usize,
}

#[derive(Debug, Serialize)]
struct StateInfo {
    name: String,
    line: Option<usize>,
    halting: bool,
}

#[derive(Debug, Serialize)]
struct RingVertex {
    name: String,
    state: usize,
    /// The copied state that follows, as its vertices.
    next: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct TrainingInfo {
    features: Vec<String>,
    labels: Vec<String>,
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    n_samples: usize,
    n_theta: usize,
    carrier: &'static str,
    format: String,
    machine_steps: u64,
}

impl Opening {
    /// What there is to know before the first step.
    pub fn of(scene: &Scene<'_>, chosen: &Chosen) -> Self {
        let network = scene.task.network;
        let halting = |state: StateId| scene.machine.halting(state).is_some();
        let state = |id: StateId| StateInfo {
            name: scene.machine.state(id).name.clone(),
            line: scene.stage.lines.get(id.index()).copied().flatten(),
            halting: halting(id),
        };
        Self {
            name: scene.stage.name.clone(),
            landscape: scene.kind.word(),
            engine: chosen.engine.word(),
            precision: scene.task.manner.precision.word(),
            noise: scene.task.manner.noise.map(|(sigma, _)| sigma),
            tapes: scene.machine.tape_ids().map(|tape| tape_info(scene, tape)).collect(),
            states: scene.machine.state_ids().map(state).collect(),
            start: scene.machine.state(scene.machine.start()).name.clone(),
            n_vertices: scene.n_vertices(),
            n_units: Layers::of(network).n_units(),
            n_weights: network.parameters().iter().map(|p| p.shape.len()).sum(),
            bounds: scene.bounds.into(),
            ring: ring(scene),
            variables: variables::listed(scene),
            lesson: lesson_info(scene),
            warnings: scene.stage.warnings.clone(),
        }
    }
}

fn tape_info(scene: &Scene<'_>, tape: TapeId) -> TapeInfo {
    let of = scene.machine.tape(tape);
    TapeInfo {
        name: of.name.clone(),
        symbols: of.alphabet.names().to_vec(),
        colours: scene.tapes.colours(tape).to_vec(),
        read_only: of.access == Access::ReadOnly,
        n_tracks: scene.tapes.tracks(tape).len(),
    }
}

fn ring(scene: &Scene<'_>) -> Vec<RingVertex> {
    let Some(control) = scene.control else { return Vec::new() };
    if control.n_vertices() > MAX_RING {
        return Vec::new();
    }
    let vertex = |id: usize| {
        let step = control.at(id).step;
        let follows = |to: &usize| step.as_ref().is_some_and(|step| control.table().block(*to) == step.next);
        RingVertex {
            name: control_name(scene.machine, scene.lowered, control, id),
            state: control.at(id).state.index(),
            next: (0..control.n_vertices()).filter(follows).collect(),
        }
    };
    (0..control.n_vertices()).map(vertex).collect()
}

fn lesson_info(scene: &Scene<'_>) -> Option<TrainingInfo> {
    let lesson = scene.lesson?;
    let table = lesson.table();
    let rows = |values: &Values| {
        let n = values.shape.rows.min(MAX_SAMPLES);
        (0..n).map(|row| values.row(row).to_vec()).collect()
    };
    Some(TrainingInfo {
        features: table.feature_names.clone(),
        labels: table.label_names.clone(),
        x: rows(&table.features),
        y: rows(&table.labels),
        n_samples: table.n_samples(),
        n_theta: lesson.primary().n_weights(),
        carrier: lesson.extended().carrier().word(),
        format: lesson.layout().format.to_string(),
        machine_steps: lesson.simulated().map_or(0, |simulated| simulated.machine_steps),
    })
}
