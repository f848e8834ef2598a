//! The loss around a moment's vertex.

use luge::{
    edges::{Edge, Leaving, LeavingError, Spot, control_name},
    engine::EngineError,
};
use luge_landscape::{Configuration, Control, Landscape};
use luge_machine::StateId;
use luge_train::Snapshot;
use serde::Serialize;

use crate::{
    film::Film,
    neighbourhood::Neighbourhood,
    stage::{NEAR_CELLS, NEAR_HEAD, Scene},
};

/// Edges that are drawn.
const MOST_EDGES: usize = 20;
/// Pieces an edge is drawn in.
const PIECES: u32 = 32;

/// The loss around a moment's vertex.
#[derive(Debug, Serialize)]
pub struct Around {
    step: u64,
    name: String,
    loss: f64,
    n_edges: usize,
    n_falling: usize,
    n_rising: usize,
    stopped: bool,
    edges: Vec<EdgeView>,
}

#[derive(Debug, Serialize)]
struct EdgeView {
    to: usize,
    name: String,
    part: &'static str,
    slope: f64,
    end: f64,
    curve: Vec<f64>,
}

impl Around {
    /// The loss along the edges that leave the film's vertex; `None` where it cannot be drawn.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn of(scene: &Scene<'_>, film: &mut Film<'_>) -> Result<Option<Self>, EngineError> {
        let snapshot = film.look(Some(NEAR_HEAD));
        let Some(vertex) = film.now().vertex() else { return Ok(None) };
        match (scene.near, scene.control) {
            (Some(near), _) if vertex < near.n_vertices() => {
                Self::within(scene, film, &snapshot, near, vertex)
            }
            (None, Some(control)) => Self::nearby(scene, film, &snapshot, control, vertex),
            _ => Ok(None),
        }
    }

    /// In the landscape of the whole machine.
    fn within(
        scene: &Scene<'_>,
        film: &mut Film<'_>,
        snapshot: &Snapshot,
        near: &Landscape,
        vertex: usize,
    ) -> Result<Option<Self>, EngineError> {
        let step = film.step();
        let configuration = match near.configuration(vertex) {
            Some(inside) => Some(inside.clone()),
            None => scene.state_at(vertex).and_then(|state| near_heads(state, snapshot)),
        };
        let Some(configuration) = configuration else { return Ok(None) };
        let came_from = match (near.control(), step.checked_sub(1)) {
            (None, Some(before)) => film.engine_at(before)?.vertex(),
            _ => None,
        };
        let leaving = leaving(scene, film, near, &configuration, vertex, came_from)?;
        Ok(leaving.map(|leaving| Self::drawn(&leaving)))
    }

    /// In the landscape of a few states.
    fn nearby(
        scene: &Scene<'_>,
        film: &Film<'_>,
        snapshot: &Snapshot,
        control: &Control,
        vertex: usize,
    ) -> Result<Option<Self>, EngineError> {
        let Some(few) = Neighbourhood::of(scene.lowered, scene.around, control, vertex) else {
            return Ok(None);
        };
        let configuration = few.state(control.at(vertex).state).and_then(|state| near_heads(state, snapshot));
        let Some((configuration, inside)) = configuration.zip(few.inside(control, vertex)) else {
            return Ok(None);
        };
        let Some(leaving) = leaving(scene, film, &few.landscape, &configuration, inside, None)? else {
            return Ok(None);
        };
        let name = |vertex: usize| control_name(scene.machine, scene.lowered, control, vertex);
        let mut around = Self::drawn(&leaving);
        around.name = name(vertex);
        around.n_edges = control.n_vertices() - 1;
        around.edges.retain_mut(|edge| {
            let whole = few.outside(control, edge.to);
            whole.is_some_and(|whole| {
                (edge.to, edge.name) = (whole, name(whole));
                true
            })
        });
        Ok(Some(around))
    }

    fn drawn(leaving: &Leaving<'_>) -> Self {
        let view = |edge: &Edge| EdgeView {
            to: edge.to,
            name: edge.name.clone(),
            part: match edge {
                Edge { successor: true, .. } => "successor",
                Edge { candidate: true, .. } => "rival",
                Edge { predecessor: true, .. } => "predecessor",
                _ => "other",
            },
            slope: edge.slope,
            end: edge.end_loss,
            curve: (0..=PIECES)
                .map(|i| leaving.loss_towards(edge.to, f64::from(i) / f64::from(PIECES)))
                .collect(),
        };
        Self {
            step: leaving.step,
            name: leaving.name.clone(),
            loss: leaving.loss(),
            n_edges: leaving.n_edges,
            n_falling: leaving.n_falling,
            n_rising: leaving.n_rising,
            stopped: leaving.stopped,
            edges: leaving.edges.iter().take(MOST_EDGES + 2).map(view).collect(),
        }
    }
}

/// The edges that leave a vertex; `None` if the landscape holds no such place.
fn leaving<'p>(
    scene: &Scene<'_>,
    film: &Film<'_>,
    landscape: &'p Landscape,
    configuration: &Configuration,
    vertex: usize,
    came_from: Option<usize>,
) -> Result<Option<Leaving<'p>>, EngineError> {
    let step = film.step();
    let stopped = film.end().is_some_and(|end| end.steps() == step);
    let (machine, lowered) = (scene.machine, scene.lowered);
    let spot = Spot { machine, lowered, landscape, configuration, step, vertex, came_from, stopped };
    match Leaving::from_spot(&spot, MOST_EDGES) {
        Ok(leaving) => Ok(Some(leaving)),
        Err(LeavingError::Train(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The cells around the heads, as a landscape of a few cells holds them.
fn near_heads(state: StateId, snapshot: &Snapshot) -> Option<Configuration> {
    let tape = |kept: &luge_train::TapeSnapshot| {
        kept.cells.iter().map(|value| value > 0.0).take(NEAR_CELLS).collect::<Vec<bool>>()
    };
    let tapes: Vec<Vec<bool>> = snapshot.tapes.iter().map(tape).collect();
    let whole = !tapes.is_empty() && tapes.iter().all(|cells| cells.len() == NEAR_CELLS);
    let heads = vec![NEAR_HEAD; tapes.len()];
    whole.then_some(Configuration { state, tapes, heads })
}
