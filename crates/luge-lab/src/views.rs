//! What the page draws, as JSON: the run as a whole, one moment, its surroundings, and the run over time.

mod around;
mod boundary;
mod moment;
mod opening;
mod whole_run;

use luge::{
    edges::{control_name, vertex_name},
    lesson::Lesson,
};
use luge_landscape::Landscape;
use luge_machine::StateId;
use luge_net::numbers::from_signs;
use luge_train::Snapshot;

use super::stage::Scene;
pub use around::Around;
pub use boundary::Boundary;
pub use moment::Moment;
use moment::VertexView;
pub use opening::Opening;
pub use whole_run::{LineProfile, Overview, PictureView};

/// Samples of a table that are shown.
const MOST_SAMPLES: usize = 200;

impl Scene<'_> {
    /// Number of vertices.
    #[must_use]
    pub fn n_vertices(&self) -> usize {
        match (self.lesson, self.control, self.near) {
            (Some(lesson), ..) => lesson.extended().n_vertices(),
            (None, Some(control), _) => control.n_vertices(),
            (None, None, near) => near.map_or(0, Landscape::n_vertices),
        }
    }

    /// The machine's state at a vertex.
    #[must_use]
    pub fn state_at(&self, vertex: usize) -> Option<StateId> {
        match self.control {
            Some(control) if vertex < control.n_vertices() => Some(control.state(vertex)),
            Some(_) => None,
            None => self.near?.configuration(vertex).map(|configuration| configuration.state),
        }
    }

    fn vertex_view(&self, vertex: usize, weight: f64) -> VertexView {
        let name = match (self.control, self.near) {
            (Some(control), _) => control_name(self.machine, self.lowered, control, vertex),
            (None, Some(near)) => vertex_name(self.machine, self.lowered, near, vertex),
            (None, None) => format!("vertex {vertex}"),
        };
        VertexView { id: vertex, name, state: self.state_at(vertex).map(StateId::index), weight }
    }

    /// Learners are shown whole, other machines near their heads.
    fn radius(&self, radius: usize) -> Option<usize> {
        self.lesson.is_none().then_some(radius)
    }
}

/// theta, from the signs of the weights that hold it.
fn theta_on_tape(scene: &Scene<'_>, lesson: &Lesson, snapshot: &Snapshot) -> Vec<f64> {
    let (track, first) = lesson.learner().theta_track();
    let format = lesson.layout().format;
    let n_cells = lesson.primary().n_weights() * lesson.layout().width();
    let tape = snapshot.tapes.get(track.index());
    let sign = |cell: usize| {
        let kept = tape.and_then(|tape| {
            let start = scene.tapes.outside(track.index(), tape.first);
            tape.cells.get(usize::try_from(i64::try_from(first + cell).ok()? - start).ok()?)
        });
        if kept.is_some_and(|value| value > 0.0) { 1.0 } else { -1.0 }
    };
    from_signs(format, &(0..n_cells).map(sign).collect::<Vec<f64>>())
}
