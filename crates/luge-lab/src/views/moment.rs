//! One step of the run: vertex, tapes, heads and labels, and the gradient of the step.

use luge::certificate::answer::Fit;
use luge_net::evaluate;
use serde::Serialize;

use super::*;
use crate::replay::{StepGradient, cell_weight};

/// The most weights of a network that is evaluated for every moment.
const MAX_EVALUATED: usize = 1 << 12;

/// The end of a run whose loss fell low enough although the machine had not halted.
const ASTRAY: &str = "low loss without halting";

/// Values at nodes of the network.
#[derive(Debug, Serialize)]
struct NodeValues {
    psi: f64,
    phi: f64,
    /// `None` if the network is too large to be evaluated for every moment.
    landscape: Option<f64>,
    theta: Vec<f64>,
    primary: Vec<f64>,
    out: Vec<f64>,
}

/// The current step, with cells up to `radius` from the heads.
///
/// # Errors
/// If a gradient cannot be computed.
pub fn moment(replay: &mut Replay<'_>, radius: usize) -> Result<Value, EngineError> {
    let scene = replay.scene;
    // A step needs only the cells near the heads, except a learner's first one, which reads labels onto its tape.
    let wide = (scene.lesson.is_none() || replay.step() > 0).then_some(radius);
    let snapshot = replay.look(wide);
    let (loss, over) = (replay.now().loss()?, replay.is_over());
    let pull = if over { StepGradient::default() } else { replay.gradient(wide)? };
    let mut vertices: Vec<(usize, f64)> = snapshot.vertices.clone();
    vertices.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut views = vertices.iter().take(8).map(|&(vertex, weight)| scene.vertex_view(vertex, weight));
    let state = vertices.first().and_then(|&(vertex, _)| scene.state_at(vertex));
    let end = replay.end;
    // With noise the loss can fall below the level at which training stops although the machine has not halted.
    let astray =
        over && end.is_some_and(|end| end.how == HALTED) && state.is_some_and(|q| !scene.halts_in(q));
    let how = |end: End| if astray { ASTRAY } else { end.how };
    let tape = |tape: TapeId| tape_view(scene, &snapshot, &pull, tape, radius);
    Ok(json!({
        "step": replay.step(),
        "front": replay.front(),
        "end": end.map(|end| json!({ "step": end.steps, "how": how(end) })),
        "phase": if astray { "stopped" } else { phase(scene, end.filter(|_| over), &snapshot) },
        "loss": loss,
        "state": state.map(StateId::index),
        "line": state.and_then(|state| scene.line(state.index())),
        "vertex": views.next(),
        "others": views.collect::<Vec<_>>(),
        "next": pull.to.map(|to| scene.vertex_view(to, 0.0)),
        "tapes": scene.machine.tape_ids().filter_map(tape).collect::<Vec<_>>(),
        "variables": variables::values(replay),
        "sample": variables::sample(replay),
        "lesson": lesson_view(replay, &snapshot, &pull, loss),
    }))
}

fn phase(scene: &Scene<'_>, end: Option<End>, snapshot: &Snapshot) -> &'static str {
    let empty = || snapshot.labels.iter().take(MAX_SAMPLES).all(|&z| z == 0.0);
    match end {
        Some(End { how: HALTED, .. }) => HALTED,
        Some(_) => "stopped",
        None if scene.lesson.is_some() && empty() => "labels",
        None => "running",
    }
}

fn tape_view(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    pull: &StepGradient,
    tape: TapeId,
    radius: usize,
) -> Option<Value> {
    let kept = &snapshot.tapes;
    let track = scene.tapes.tracks(tape).next().filter(|_| !kept.is_empty())?;
    let head = scene.tapes.head(kept, tape);
    let centre = head.unwrap_or_else(|| scene.tapes.outside(track, kept[track].first));
    let reach = radius as i64;
    let cells = centre - reach..=centre + reach;
    let weight =
        |track: usize, cell: i64| cell_weight(&kept[track], scene.tapes.inside(track, cell)).unwrap_or(-1.0);
    let values = |track: usize| cells.clone().map(|cell| weight(track, cell)).collect::<Vec<f64>>();
    let outside = |track: usize, list: Option<&Vec<(i64, f64)>>| -> Vec<(i64, f64)> {
        let shown =
            list.into_iter().flatten().map(|&(cell, slope)| (scene.tapes.outside(track, cell), slope));
        shown.filter(|(cell, _)| cells.contains(cell)).collect()
    };
    let heads = |track: usize| -> Vec<(i64, f64)> {
        let weights = (kept[track].head_first..).zip(&kept[track].head);
        weights.map(|(cell, &weight)| (scene.tapes.outside(track, cell), weight)).collect()
    };
    let symbol = |cell: i64| scene.tapes.symbol(kept, tape, cell).map(|symbol| symbol.index());
    let tracks = || scene.tapes.tracks(tape);
    Some(json!({
        // The machine's cell of the first value.
        "first": cells.start(),
        "head": head,
        // Indices of symbols; `null` where the bits encode none.
        "symbols": cells.clone().map(symbol).collect::<Vec<_>>(),
        // One list of weights per track.
        "values": tracks().map(values).collect::<Vec<_>>(),
        // Cells and derivatives, one list per track.
        "pull": tracks().map(|track| outside(track, pull.cells.get(track))).collect::<Vec<_>>(),
        // Cells and the head's weights, and derivatives by these, one list per track.
        "heads": tracks().map(heads).collect::<Vec<_>>(),
        "head_pull": tracks().map(|track| outside(track, pull.heads.get(track))).collect::<Vec<_>>(),
    }))
}

fn lesson_view(replay: &Replay<'_>, snapshot: &Snapshot, pull: &StepGradient, loss: f64) -> Option<Value> {
    let lesson = replay.scene.lesson?;
    let theta = theta_on_tape(replay, lesson);
    let said = Predictor::new(lesson.primary(), theta.clone()).predict(&lesson.table().features);
    let values = node_values(replay, lesson, &snapshot.labels, (&theta, &said, loss));
    let some = |lists: &[Vec<(i64, f64)>]| lists.iter().any(|list| !list.is_empty());
    let z = pull.labels.iter().any(|&slope| slope != 0.0);
    let machine = values.phi > 0.0 && values.psi < 1.0;
    Some(json!({
        "z": shown(&snapshot.labels),
        "z_pull": shown(&pull.labels),
        // How well the weights on the tape fit the data.
        "fit": Fit::of(&said, lesson.table()),
        // Whether a gradient reaches z, s, T and H.
        "flows": [z, machine && !z, some(&pull.cells), some(&pull.heads)],
        "nodes": values,
    }))
}

fn shown(values: &[f64]) -> Vec<f64> {
    values.iter().copied().take(MAX_SAMPLES).collect()
}

/// The values at the nodes of Figure 1: evaluated for a small network, derived from z and theta for a large one.
fn node_values(
    replay: &Replay<'_>,
    lesson: &PreparedTraining,
    labels: &[f64],
    (theta, said, loss): (&[f64], &Values, f64),
) -> NodeValues {
    let task = &replay.scene.task;
    let small = replay.scene.n_weights() <= MAX_EVALUATED;
    if let Some(parameters) = if small { replay.parameters() } else { None } {
        let nodes = lesson.extended().nodes;
        let all = evaluate(task.network, &parameters, &task.inputs);
        let one = |node| all.value(node).data.first().copied().unwrap_or(f64::NAN);
        let list = |node| shown(&all.value(node).data);
        return NodeValues {
            psi: one(nodes.initial),
            phi: one(nodes.running),
            landscape: Some(one(nodes.landscape)),
            theta: list(nodes.theta),
            primary: list(nodes.primary),
            out: list(nodes.out),
        };
    }
    let size: f64 = labels.iter().map(|z| z * z).sum();
    let output = task.network.sparse_layers().ok().and_then(|layers| layers.output);
    let psi = output.map_or(f64::NAN, |output| output.initial.at(size));
    let halted = replay.is_over() && replay.end.is_some_and(|end| end.how == HALTED);
    let out = if halted { shown(&said.data) } else { Vec::new() };
    let phi = if halted { 0.0 } else { 1.0 };
    // While the machine runs the carrier adds a constant to the landscape's loss.
    let added = lesson.loss_levels().running_low - lesson.extended().bounds().running_low;
    let landscape = (phi > 0.0 && psi < 1.0).then_some(loss - added);
    NodeValues { psi, phi, landscape, theta: shown(theta), primary: shown(&said.data), out }
}
