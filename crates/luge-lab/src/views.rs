//! What the page draws, as JSON: the run as a whole, one moment, its surroundings, and the run over time.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use luge_landscape::{Configuration, Control, Landscape};
use luge_machine::{Access, StateId, TapeId};
use luge_net::{Layers, Shape, Values, evaluate, numbers::from_signs};
use luge_train::{Outcome, Snapshot};
use serde::Serialize;

use super::{
    neighbourhood::Neighbourhood,
    stage::{NEAR_CELLS, NEAR_HEAD, Scene},
};
use crate::film::{End, Film, StepGradient, Strip, Survey};
use luge::{
    edges::{Edge, Leaving, LeavingError, Spot, control_name, vertex_name},
    engine::{Chosen, EngineError},
    lesson::Lesson,
    loss_curve::Extremes,
    predictor::Predictor,
};

/// Vertices that are drawn one by one.
const MOST_RING: usize = 64;
/// Edges that are drawn.
const MOST_EDGES: usize = 20;
/// Pieces an edge is drawn in.
const PIECES: u32 = 32;
/// Samples of a table that are shown.
const MOST_SAMPLES: usize = 200;
/// Vertices beyond which the network's nodes are not all evaluated for the page.
const MOST_EVALUATED: usize = 1 << 13;
/// Points of a decision boundary along each axis.
const GRID: usize = 33;

/// The run as a whole.
#[derive(Debug, Serialize)]
pub struct Opening {
    name: String,
    landscape: &'static str,
    engine: &'static str,
    precision: &'static str,
    tapes: Vec<TapeInfo>,
    states: Vec<StateInfo>,
    start: String,
    n_vertices: usize,
    n_units: usize,
    n_layers: usize,
    n_weights: usize,
    bounds: Levels,
    ring: Vec<RingVertex>,
    lesson: Option<LessonInfo>,
    warnings: Vec<super::Finding>,
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
struct Levels {
    running_low: f64,
    running_high: f64,
    halted_high: f64,
    stop: f64,
}

#[derive(Debug, Serialize)]
struct RingVertex {
    name: String,
    state: usize,
    /// The copied state that follows, as its vertices.
    next: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct LessonInfo {
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

/// One moment of the run.
#[derive(Debug, Serialize)]
pub struct Moment {
    step: u64,
    front: u64,
    end: Option<EndView>,
    phase: &'static str,
    loss: f64,
    state: Option<usize>,
    line: Option<usize>,
    vertex: Option<VertexView>,
    others: Vec<VertexView>,
    next: Option<VertexView>,
    tapes: Vec<TapeView>,
    lesson: Option<LessonView>,
}

#[derive(Debug, Serialize)]
struct EndView {
    step: u64,
    how: &'static str,
}

#[derive(Debug, Serialize)]
struct VertexView {
    id: usize,
    name: String,
    state: Option<usize>,
    weight: f64,
}

#[derive(Debug, Serialize)]
struct TapeView {
    /// The machine's cell of the first value.
    first: i64,
    head: Option<i64>,
    /// Indices of symbols; none where the bits stand for no symbol.
    symbols: Vec<Option<usize>>,
    /// One list of weights per track.
    values: Vec<Vec<f64>>,
    /// Cells and derivatives, one list per track.
    pull: Vec<Vec<(i64, f64)>>,
    /// Cells and the head's weights, one list per track.
    heads: Vec<Vec<(i64, f64)>>,
    /// Cells and derivatives by the head's weights, one list per track.
    head_pull: Vec<Vec<(i64, f64)>>,
}

#[derive(Debug, Serialize)]
struct LessonView {
    z: Vec<f64>,
    z_pull: Vec<f64>,
    nodes: NodeValues,
    /// Whether a gradient reaches z, s, T and H.
    flows: [bool; 4],
}

/// Values at nodes of the network.
#[derive(Debug, Serialize)]
struct NodeValues {
    psi: f64,
    phi: f64,
    /// None where the network is too large to be evaluated for every moment.
    landscape: Option<f64>,
    theta: Vec<f64>,
    primary: Vec<f64>,
    out: Vec<f64>,
}

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

/// What the primary network says over two features.
#[derive(Debug, Serialize)]
pub struct Boundary {
    step: u64,
    n: usize,
    x: (f64, f64),
    y: (f64, f64),
    /// Row by row, at the start and now.
    before: Vec<f64>,
    now: Vec<f64>,
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
    #[must_use]
    pub fn of(scene: &Scene<'_>, visits: &[u64]) -> Self {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for (line, &visits) in scene.lines.iter().zip(visits) {
            if let Some(line) = line.filter(|_| visits > 0) {
                *counts.entry(line).or_default() += visits;
            }
        }
        let mut lines: Vec<(usize, u64)> = counts.into_iter().collect();
        lines.sort_by_key(|&(line, steps)| (std::cmp::Reverse(steps), line));
        Self { steps: visits.iter().sum(), lines }
    }
}

impl Opening {
    /// What there is to know before the first step.
    #[must_use]
    pub fn of(scene: &Scene<'_>, chosen: &Chosen) -> Self {
        let network = scene.task.network;
        let layers = Layers::of(network);
        let halting = |state: StateId| scene.machine.halting(state).is_some();
        let state = |id: StateId| StateInfo {
            name: scene.machine.state(id).name.clone(),
            line: scene.lines.get(id.index()).copied().flatten(),
            halting: halting(id),
        };
        let bounds = scene.bounds;
        Self {
            name: scene.name.to_owned(),
            landscape: scene.kind.word(),
            engine: chosen.engine.word(),
            precision: scene.task.manner.precision.word(),
            tapes: scene.machine.tape_ids().map(|tape| tape_info(scene, tape)).collect(),
            states: scene.machine.state_ids().map(state).collect(),
            start: scene.machine.state(scene.machine.start()).name.clone(),
            n_vertices: scene.n_vertices(),
            n_units: layers.n_units(),
            n_layers: layers.depth(),
            n_weights: network.parameters().iter().map(|p| p.shape.len()).sum(),
            bounds: Levels {
                running_low: bounds.running_low,
                running_high: bounds.running_high,
                halted_high: bounds.halted_high,
                stop: bounds.stop,
            },
            ring: ring(scene),
            lesson: lesson_info(scene),
            warnings: scene.warnings.to_vec(),
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
    if control.n_vertices() > MOST_RING {
        return Vec::new();
    }
    let vertex = |id: usize| {
        let step = control.at(id).step;
        let follows = |to: &usize| step.as_ref().is_some_and(|step| control.copied_state(*to) == step.next);
        RingVertex {
            name: control_name(scene.machine, scene.lowered, control, id),
            state: control.at(id).state.index(),
            next: (0..control.n_vertices()).filter(follows).collect(),
        }
    };
    (0..control.n_vertices()).map(vertex).collect()
}

fn lesson_info(scene: &Scene<'_>) -> Option<LessonInfo> {
    let lesson = scene.lesson?;
    let table = lesson.table();
    let rows = |values: &Values| {
        let n = values.shape.rows.min(MOST_SAMPLES);
        (0..n).map(|row| values.row(row).to_vec()).collect()
    };
    Some(LessonInfo {
        features: table.feature_names.clone(),
        labels: table.label_names.clone(),
        x: rows(&table.features),
        y: rows(&table.labels),
        n_samples: table.n_samples(),
        n_theta: lesson.primary().n_weights(),
        carrier: lesson.extended().carrier().word(),
        format: lesson.layout().format.to_string(),
        machine_steps: lesson.machine_steps(),
    })
}

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

impl Moment {
    /// The film's moment, with cells up to `radius` from the heads.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn of(scene: &Scene<'_>, film: &mut Film<'_>, radius: usize) -> Result<Self, EngineError> {
        let wide = scene.radius(radius);
        let snapshot = film.look(wide);
        let loss = film.now().loss()?;
        let over = film.end().is_some_and(|end| end.steps() == film.step());
        let pull = if over { StepGradient::default() } else { film.gradient(wide)? };
        let mut vertices: Vec<(usize, f64)> = snapshot.vertices.clone();
        vertices.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let mut views = vertices.iter().take(8).map(|&(vertex, weight)| scene.vertex_view(vertex, weight));
        let vertex = views.next();
        let others = views.collect();
        let state = vertices.first().and_then(|&(vertex, _)| scene.state_at(vertex));
        let lesson = lesson_view(scene, film, &snapshot, &pull);
        let end = film.end();
        Ok(Self {
            step: film.step(),
            front: film.front(),
            end: end.map(|end| EndView { step: end.steps(), how: end.words() }),
            phase: phase(end.filter(|_| over), lesson.as_ref()),
            loss,
            state: state.map(StateId::index),
            line: state.and_then(|state| scene.lines.get(state.index()).copied().flatten()),
            vertex,
            others,
            next: pull.to.map(|to| scene.vertex_view(to, 0.0)),
            tapes: scene
                .machine
                .tape_ids()
                .filter_map(|t| tape_view(scene, &snapshot, &pull, t, radius))
                .collect(),
            lesson,
        })
    }
}

fn phase(end: Option<End>, lesson: Option<&LessonView>) -> &'static str {
    match (end, lesson) {
        (Some(End::Trained(Outcome::Converged { .. })), _) => "halted",
        (Some(_), _) => "stopped",
        (None, Some(lesson)) if lesson.z.iter().all(|&z| z == 0.0) => "labels",
        (None, _) => "running",
    }
}

fn tape_view(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    pull: &StepGradient,
    tape: TapeId,
    radius: usize,
) -> Option<TapeView> {
    let kept = &snapshot.tapes;
    let track = scene.tapes.tracks(tape).next().filter(|_| !kept.is_empty())?;
    let head = scene.tapes.head(kept, tape);
    let centre = head.unwrap_or_else(|| scene.tapes.outside(track, kept[track].first));
    let reach = radius as i64;
    let cells = centre - reach..=centre + reach;
    let at = |track: usize, cell: i64| {
        let at = usize::try_from(cell - scene.tapes.outside(track, kept[track].first)).ok();
        at.and_then(|at| kept[track].cells.get(at)).copied().unwrap_or(-1.0)
    };
    let outside = |track: usize, list: Option<&Vec<(i64, f64)>>| -> Vec<(i64, f64)> {
        let shown =
            list.into_iter().flatten().map(|&(cell, slope)| (scene.tapes.outside(track, cell), slope));
        shown.filter(|(cell, _)| cells.contains(cell)).collect()
    };
    let heads = |track: usize| {
        let weights = (kept[track].head_first..).zip(&kept[track].head);
        weights.map(|(cell, &weight)| (scene.tapes.outside(track, cell), weight)).collect()
    };
    let symbol = |cell: i64| scene.tapes.symbol(kept, tape, cell).map(|symbol| symbol.index());
    let tracks = || scene.tapes.tracks(tape);
    Some(TapeView {
        first: *cells.start(),
        head,
        symbols: cells.clone().map(symbol).collect(),
        values: tracks().map(|track| cells.clone().map(|cell| at(track, cell)).collect()).collect(),
        pull: tracks().map(|track| outside(track, pull.cells.get(track))).collect(),
        heads: tracks().map(heads).collect(),
        head_pull: tracks().map(|track| outside(track, pull.heads.get(track))).collect(),
    })
}

fn lesson_view(
    scene: &Scene<'_>,
    film: &Film<'_>,
    snapshot: &Snapshot,
    pull: &StepGradient,
) -> Option<LessonView> {
    let values = node_values(scene, scene.lesson?, film, snapshot);
    let some = |lists: &[Vec<(i64, f64)>]| lists.iter().any(|list| !list.is_empty());
    let z = pull.labels.iter().any(|&slope| slope != 0.0);
    let machine = values.phi > 0.0 && values.psi < 1.0;
    Some(LessonView {
        z: snapshot.labels.iter().copied().take(MOST_SAMPLES).collect(),
        z_pull: pull.labels.iter().copied().take(MOST_SAMPLES).collect(),
        nodes: values,
        flows: [z, machine && !z, some(&pull.cells), some(&pull.heads)],
    })
}

/// The values at the nodes of Figure 1: of a small network all evaluated, of a large one worked out from z and theta.
fn node_values(scene: &Scene<'_>, lesson: &Lesson, film: &Film<'_>, snapshot: &Snapshot) -> NodeValues {
    let shown = |values: &[f64]| values.iter().copied().take(MOST_SAMPLES).collect::<Vec<f64>>();
    let small = scene.n_vertices() <= MOST_EVALUATED;
    if let Some(parameters) = if small { film.parameters() } else { None } {
        let nodes = lesson.extended().nodes();
        let all = evaluate(scene.task.network, &parameters, &scene.task.inputs);
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
    let size: f64 = snapshot.labels.iter().map(|z| z * z).sum();
    let joint = scene.task.network.sparse_layers().ok().and_then(|layers| layers.joint);
    let psi = joint.map_or(f64::NAN, |joint| joint.initial.at(size));
    let halted =
        matches!(film.end(), Some(End::Trained(Outcome::Converged { steps })) if steps == film.step());
    let theta = theta_on_tape(scene, lesson, snapshot);
    let primary = Predictor::new(lesson.primary(), theta.clone()).predict(&lesson.table().features);
    let out = if halted { shown(&primary.data) } else { Vec::new() };
    let phi = if halted { 0.0 } else { 1.0 };
    NodeValues { psi, phi, landscape: None, theta: shown(&theta), primary: shown(&primary.data), out }
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
        if kept.is_some_and(|&value| value > 0.0) { 1.0 } else { -1.0 }
    };
    from_signs(format, &(0..n_cells).map(sign).collect::<Vec<f64>>())
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
        kept.cells.iter().map(|&value| value > 0.0).take(NEAR_CELLS).collect::<Vec<bool>>()
    };
    let tapes: Vec<Vec<bool>> = snapshot.tapes.iter().map(tape).collect();
    let whole = !tapes.is_empty() && tapes.iter().all(|cells| cells.len() == NEAR_CELLS);
    let heads = vec![NEAR_HEAD; tapes.len()];
    whole.then_some(Configuration { state, tapes, heads })
}

impl Overview {
    /// The survey so far.
    #[must_use]
    pub fn of(survey: &Survey<'_>) -> Self {
        let curve = survey.curve();
        Self {
            steps: survey.steps(),
            done: survey.done(),
            width: curve.width(),
            buckets: curve.columns().to_vec(),
            seen: curve.n_seen(),
        }
    }
}

impl PictureView {
    /// A picture of a tape.
    #[must_use]
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

impl Boundary {
    /// What the primary network says over the plane of two features; `None` for any other number.
    #[must_use]
    pub fn of(scene: &Scene<'_>, film: &Film<'_>) -> Option<Self> {
        let lesson = scene.lesson.filter(|lesson| lesson.primary().n_features() == 2)?;
        let theta = theta_on_tape(scene, lesson, &film.look(None));
        let blank = vec![-1.0; theta.len() * lesson.layout().width()];
        let range = |column: usize| {
            let features = &lesson.table().features;
            let values = (0..features.shape.rows).map(|row| features.at(row, column));
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
            let room = ((high - low) * 0.25).max(0.5);
            (low - room, high + room)
        };
        let (x, y) = (range(0), range(1));
        let along = |(low, high): (f64, f64), i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
        let points = (0..GRID).flat_map(|j| (0..GRID).flat_map(move |i| [along(x, i), along(y, j)]));
        let grid = Values::new(Shape::new(GRID * GRID, 2), points.collect());
        let said = |theta: Vec<f64>| {
            let out = Predictor::new(lesson.primary(), theta).predict(&grid);
            (0..out.shape.rows).map(|row| out.at(row, 0)).collect::<Vec<f64>>()
        };
        let before = said(from_signs(lesson.layout().format, &blank));
        Some(Self { step: film.step(), n: GRID, x, y, before, now: said(theta) })
    }
}
