//! The views of the page as JSON: the run as a whole, one step, its surroundings, and the run over time.

mod around;
mod boundary;
mod moment;
mod nearby;
mod opening;
mod surface;
mod variables;
mod whole_run;

use luge::{
    draw::edges::{Edge, OutgoingEdges, control_name, vertex_name},
    files::predictor::Predictor,
    run::engine::EngineError,
    training::PreparedTraining,
};
use luge_landscape::{Configuration, Landscape};
use luge_machine::{StateId, TapeId};
use luge_net::{Values, numbers::from_signs};
use luge_train::Snapshot;
use serde_json::{Value, json};

use super::{
    prepared_job::Scene,
    replay::{End, HALTED, Replay},
};
pub use around::around;
pub(super) use boundary::boundary;
pub use moment::moment;
pub(super) use nearby::nearby;
pub(super) use opening::opening;
pub(super) use surface::surface;
pub(super) use whole_run::{line_profile, overview, picture};

/// The most samples of a table that are shown.
const MAX_SAMPLES: usize = 200;

impl Scene<'_> {
    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        match (self.lesson, self.control, self.near) {
            (Some(lesson), ..) => lesson.extended().n_vertices(),
            (None, Some(control), _) => control.n_vertices(),
            (None, None, near) => near.map_or(0, Landscape::n_vertices),
        }
    }

    fn n_weights(&self) -> usize {
        self.task.network.parameters().iter().map(|parameter| parameter.shape.len()).sum()
    }

    /// The machine's state at a vertex.
    pub fn state_at(&self, vertex: usize) -> Option<StateId> {
        match self.control {
            Some(control) if vertex < control.n_vertices() => Some(control.state(vertex)),
            Some(_) => None,
            None => self.near?.configuration(vertex).map(|configuration| configuration.state),
        }
    }

    /// Whether a state of the machine, before or after lowering, is a halting state.
    fn halts_in(&self, state: StateId) -> bool {
        self.lowered.normal.machine().halting(state).is_some()
    }

    fn vertex_name(&self, vertex: usize) -> String {
        match (self.control, self.near) {
            (Some(control), _) => control_name(self.machine, self.lowered, control, vertex),
            (None, Some(near)) => vertex_name(self.machine, self.lowered, near, vertex),
            (None, None) => format!("vertex {vertex}"),
        }
    }

    /// The line of the program that a state belongs to, if known.
    pub(super) fn line(&self, state: usize) -> Option<usize> {
        self.prepared.lines.get(state).copied().flatten()
    }

    fn vertex_view(&self, vertex: usize, weight: f64) -> Value {
        let state = self.state_at(vertex).map(StateId::index);
        json!({ "id": vertex, "name": self.vertex_name(vertex), "state": state, "weight": weight })
    }
}

/// Rounds a number to seven digits, which is more than a picture shows.
fn drawn(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

/// theta, read from the signs of the weights that hold it.
pub(crate) fn theta_on_tape(replay: &Replay<'_>, lesson: &PreparedTraining) -> Vec<f64> {
    let (track, first) = lesson.learner().theta_track();
    let n_cells = lesson.primary().n_weights() * lesson.layout().width();
    let start = replay.scene.tapes.inside(track.index(), first as i64);
    let bits = replay.bits(track.index(), start..start + n_cells as i64);
    let signs: Vec<f64> = bits.into_iter().map(|bit| if bit { 1.0 } else { -1.0 }).collect();
    from_signs(lesson.layout().format, &signs)
}
