//! The loss around the vertex of a step.

use luge::draw::edges::{EdgesError, Place, VertexPlace};
use luge_train::{Precision, TapeSnapshot};

use super::*;
use crate::{
    neighbourhood::Neighbourhood,
    prepared_job::{NEAR_CELLS, NEAR_HEAD, Prepared},
};

/// The most edges that are drawn.
const MAX_EDGES: usize = 20;
/// The most further edges: to the next vertex, to the last one, and to halting ones.
const MAX_MORE: usize = 6;

/// Maps a vertex of the drawn landscape to the number and name that it has in the whole one; `None` if it represents several.
pub(super) type Naming<'a> = dyn Fn(usize) -> Option<(usize, String)> + 'a;

/// Passes the edges that leave the current vertex to a closure; `None` if they cannot be drawn.
pub(super) fn look_around<R>(
    replay: &mut Replay<'_>,
    see: impl FnOnce(&OutgoingEdges<'_>, &Naming<'_>) -> R,
) -> Result<Option<R>, EngineError> {
    let Some(vertex) = replay.now().vertex() else { return Ok(None) };
    let (replay, scene) = (&*replay, replay.scene);
    // With noise or few digits, the weights are not exactly those of a configuration, and are used as they are.
    let manner = &scene.task.manner;
    let rounded = manner.noise.is_some() || manner.precision != Precision::F64;
    if let (true, Prepared::Trace(plan)) = (rounded, &scene.prepared.run)
        && let Some(weights) = replay.parameters()
        && let place = Place::Weights(&weights, &scene.task.inputs)
        && let Some(leaving) = leaving(replay, &plan.landscape, place, (vertex, None))?
    {
        return Ok(Some(see(&leaving, &|vertex| Some((vertex, scene.vertex_name(vertex))))));
    }
    // In the landscape of the whole machine, or in that of a few states.
    let few = match (scene.near, scene.control) {
        (None, Some(control)) => Neighbourhood::of(scene, control, vertex).map(|few| (few, control)),
        _ => None,
    };
    let near_heads = |state: Option<StateId>| near_heads(state?, &replay.look(Some(NEAR_HEAD)));
    let (landscape, inside, configuration) = match (scene.near, &few) {
        (Some(near), _) if vertex < near.n_vertices() => {
            let own = near.configuration(vertex).cloned();
            (near, Some(vertex), own.or_else(|| near_heads(scene.state_at(vertex))))
        }
        (None, Some((few, control))) => {
            let state = few.state(control.at(vertex).state);
            (&few.landscape, few.inside(control, vertex), near_heads(state))
        }
        _ => return Ok(None),
    };
    let Some((inside, configuration)) = inside.zip(configuration) else { return Ok(None) };
    let came_from = match (landscape.control(), replay.step().checked_sub(1)) {
        (None, Some(before)) => replay.engine_at(before)?.vertex(),
        _ => None,
    };
    let name = |inside: usize| {
        let whole = few.as_ref().map_or(Some(inside), |(few, control)| few.outside(control, inside))?;
        Some((whole, scene.vertex_name(whole)))
    };
    let place = Place::Configuration(&configuration);
    Ok(leaving(replay, landscape, place, (inside, came_from))?.map(|leaving| see(&leaving, &name)))
}

/// Where the loss along an edge is computed: closely near its beginning, because the slope there decides.
fn places() -> Vec<f64> {
    let first = (6..13).rev().map(|power| 1.0 / f64::from(1 << power));
    let close = (2..=16).map(|i| f64::from(i) / 64.0);
    let wide = (9..=24).map(|i| f64::from(i) / 32.0);
    let end = (49..=64).map(|i| f64::from(i) / 64.0);
    std::iter::once(0.0).chain(first).chain(close).chain(wide).chain(end).collect()
}

/// The loss along the edges that leave the current vertex; `None` if it cannot be drawn.
///
/// # Errors
/// If a gradient cannot be computed.
pub fn around(replay: &mut Replay<'_>) -> Result<Option<Value>, EngineError> {
    let scene = replay.scene;
    look_around(replay, |leaving, name| edges(scene, leaving, name))
}

fn edges(scene: &Scene<'_>, leaving: &OutgoingEdges<'_>, name: &Naming<'_>) -> Value {
    let places = places();
    let view = |edge: &Edge| {
        let (to, name) = name(edge.to)?;
        let halting = scene.state_at(to).is_some_and(|state| scene.halts_in(state));
        let part = match edge.role() {
            "other" if halting => "halting",
            role => role,
        };
        let loss = |&share: &f64| drawn(leaving.loss_towards(edge.to, share));
        let curve: Vec<f64> = places.iter().map(loss).collect();
        let (slope, end) = (edge.slope, edge.end_loss);
        Some(json!({ "to": to, "name": name, "part": part, "slope": slope, "end": end, "curve": curve }))
    };
    let shown = leaving.edges.iter().take(MAX_EDGES + MAX_MORE);
    json!({
        "step": leaving.step,
        "name": name(leaving.from).map_or_else(|| leaving.name.clone(), |(_, name)| name),
        "loss": leaving.loss(),
        "n_edges": leaving.n_edges.max(scene.n_vertices().saturating_sub(1)),
        "n_falling": leaving.n_falling,
        "n_rising": leaving.n_rising,
        "stopped": leaving.stopped,
        // The share of the way at each point of a curve.
        "places": places,
        "edges": shown.filter_map(view).collect::<Vec<_>>(),
    })
}

/// The edges that leave a vertex; `None` if the landscape has no such place.
fn leaving<'p>(
    replay: &Replay<'_>,
    landscape: &'p Landscape,
    place: Place<'_>,
    (vertex, came_from): (usize, Option<usize>),
) -> Result<Option<OutgoingEdges<'p>>, EngineError> {
    let Scene { machine, lowered, .. } = *replay.scene;
    let (step, stopped) = (replay.step(), replay.is_over());
    let at = VertexPlace { machine, lowered, landscape, place, step, vertex, came_from, stopped };
    match OutgoingEdges::from_place(&at, MAX_EDGES) {
        Ok(leaving) => Ok(Some(leaving)),
        Err(EdgesError::Train(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The cells around the heads as a configuration of a small landscape.
fn near_heads(state: StateId, snapshot: &Snapshot) -> Option<Configuration> {
    let tape = |kept: &TapeSnapshot| kept.cells.iter().map(|value| value > 0.0).take(NEAR_CELLS).collect();
    let tapes: Vec<Vec<bool>> = snapshot.tapes.iter().map(tape).collect();
    let whole = !tapes.is_empty() && tapes.iter().all(|cells| cells.len() == NEAR_CELLS);
    let heads = vec![NEAR_HEAD; tapes.len()];
    whole.then_some(Configuration { state, tapes, heads })
}
