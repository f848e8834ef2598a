//! `internal`: the tape is part of the vertex. Every configuration that can occur is a vertex of the simplex.
//!
//! Paper: §4.3, (9), Corollary 1.

use std::collections::HashMap;

use luge_machine::{NormalForm, Transition};
use luge_net::{GraphBuilder, LinearMap, Network, NodeId, ParameterId, Shape, StepRule};

use crate::{
    Bounds, Configuration, Corrections,
    relu::{Edge, on_edges, relu_of, weighed},
};

/// The largest number of configurations of a landscape.
pub const MAX_VERTICES: usize = 1 << 16;

/// The largest number of cells in all configurations of a landscape.
const MAX_STORED_CELLS: usize = 1 << 27;

/// Why `internal` cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InternalError {
    /// Too many configurations, or too many cells in all of them.
    #[error(
        "more than {MAX_VERTICES} configurations, or {MAX_STORED_CELLS} cells in all of them, are reachable from the declared inputs within {0} cells"
    )]
    TooManyVertices(usize),
    /// There is no input to start from.
    #[error("no input is declared")]
    NothingDeclared,
    /// No declared input reaches a halting configuration.
    #[error("no declared input halts within {0} cells")]
    NeverHalts(usize),
}

/// The configurations reachable from the declared inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configurations {
    pub(crate) all: Vec<Configuration>,
    pub(crate) index: HashMap<Configuration, usize>,
    /// The successor of each; `None` if the machine halts or leaves the tape.
    pub(crate) next: Vec<Option<usize>>,
    /// k(v): the steps until it halts; `None` if it never does.
    pub(crate) steps_left: Vec<Option<usize>>,
}

impl Configurations {
    pub(crate) fn reachable(
        normal: &NormalForm,
        declared: &[Configuration],
        n_cells: usize,
    ) -> Result<Self, InternalError> {
        if declared.is_empty() {
            return Err(InternalError::NothingDeclared);
        }
        let mut found = Self::default();
        for first in declared {
            found.follow(normal, first.clone(), n_cells)?;
        }
        // At least one declared input must halt; configurations that never halt have weight B.
        if declared.iter().all(|first| found.steps_left[found.index[first]].is_none()) {
            return Err(InternalError::NeverHalts(n_cells));
        }
        Ok(found)
    }

    /// Adds the run from `current` to its end, or to a configuration already known.
    fn follow(
        &mut self,
        normal: &NormalForm,
        mut current: Configuration,
        n_cells: usize,
    ) -> Result<(), InternalError> {
        let from = self.all.len();
        // Steps left at the last new configuration: `None` if it leaves the tape or leads to one that never halts.
        let joins = loop {
            let known = self.index.get(&current).copied();
            if let Some(last) = self.next[from..].last_mut() {
                *last = known.or(Some(self.all.len()));
            }
            if let Some(known) = known {
                // A run that returns to one of its own configurations never halts.
                break if known >= from { None } else { self.steps_left[known].map(|k| k + 1) };
            }
            let n_stored = (self.all.len() + 1).saturating_mul(n_cells).saturating_mul(current.tapes.len());
            if self.all.len() == MAX_VERTICES || n_stored > MAX_STORED_CELLS {
                return Err(InternalError::TooManyVertices(n_cells));
            }
            let transition = normal.transition(current.state, current.reads());
            let after = transition.map(|transition| step(&transition, &current, n_cells));
            self.index.insert(current.clone(), self.all.len());
            self.all.push(current);
            self.next.push(None);
            self.steps_left.push(None);
            current = match after {
                None => break Some(0),
                Some(None) => break None,
                Some(Some(next)) => next,
            };
        };
        if let Some(last) = joins {
            for (back, steps) in self.steps_left[from..].iter_mut().rev().enumerate() {
                *steps = Some(last + back);
            }
        }
        Ok(())
    }
}

/// The configuration after a transition; `None` if a head leaves the tape.
fn step(transition: &Transition, from: &Configuration, n_cells: usize) -> Option<Configuration> {
    let mut to = Configuration { state: transition.next, ..from.clone() };
    for (tape, &head) in from.heads.iter().enumerate() {
        to.tapes[tape][head] = transition.write.get(tape);
        let moved = head.checked_add_signed(transition.moves[tape].offset() as isize);
        to.heads[tape] = moved.filter(|&moved| moved < n_cells)?;
    }
    Some(to)
}

/// The levels of `internal`: W_k = spacing (k + 1), and B above all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Levels {
    spacing: f64,
    longest: usize,
    has_start: bool,
}

impl Levels {
    pub(crate) fn new(configurations: &Configurations, spacing: f64, has_start: bool) -> Self {
        let longest = configurations.steps_left.iter().flatten().max().copied().unwrap_or(0);
        Self { spacing, longest, has_start }
    }

    /// W_k, where k steps are left.
    pub(crate) fn level(&self, steps_left: usize) -> f64 {
        self.spacing * (1.0 + steps_left as f64)
    }

    /// The weight of the start vertex: above every configuration.
    pub(crate) fn start(&self) -> f64 {
        self.level(self.longest + 1)
    }

    /// B: above all levels, the weight of configurations that never halt.
    pub(crate) fn ceiling(&self) -> f64 {
        self.level(self.longest + 1 + usize::from(self.has_start))
    }

    /// Bounds of the loss.
    pub(crate) fn bounds(&self) -> Bounds {
        let (halted, last) = (self.level(0), self.level(1));
        Bounds {
            running_low: last,
            running_high: self.ceiling(),
            halted_high: halted,
            stop: f64::midpoint(halted, last),
            switch: halted + 0.75 * (last - halted),
        }
    }

    fn weight(&self, steps_left: Option<usize>) -> f64 {
        steps_left.map_or(self.ceiling(), |k| self.level(k))
    }
}

/// A start vertex, from which the matching initial configuration is reached once the labels are known.
///
/// Departs from the paper: there A never receives the labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    /// The vertices of the declared initial configurations.
    pub(crate) declared: &'a [usize],
    /// For each of them, 1 if it holds the data, else 0.
    pub(crate) matches: NodeId,
}

/// `l = B + sum_v (omega_v - B) ReLU(2 x_v - 1) + sum_{edges {v,w}} (omega_vw - B) symmetric_edge_vw(x)`, where
/// `symmetric_edge_vw = ReLU(2 (x_v + x_w) - 1) - ReLU(2 x_v - 1) - ReLU(2 x_w - 1)`.
pub(crate) fn build(
    g: &mut GraphBuilder,
    configurations: &Configurations,
    levels: &Levels,
    start: Option<Start<'_>>,
    corrections: &Corrections,
) -> (NodeId, ParameterId, NodeId) {
    let mut weights: Vec<f64> = configurations.steps_left.iter().map(|&k| levels.weight(k)).collect();
    weights.extend(start.map(|_| levels.start()));
    let n_vertices = weights.len();
    let ceiling = levels.ceiling();
    let (parameter, x) = g.parameter("vertex", Shape::column(n_vertices), StepRule::Simplex);

    let legal =
        configurations.next.iter().enumerate().filter_map(|(v, &w)| Some((v, w?))).filter(|(v, w)| v != w);
    let edges: Vec<Edge> = legal.map(|(v, w)| edge(v, w, &weights)).collect();
    let (corner, mut terms) = surface(g, &weights, &edges, ceiling, x);
    if let Some(Start { declared, matches }) = start {
        let edges: Vec<Edge> = declared.iter().map(|&w| edge(n_vertices - 1, w, &weights)).collect();
        let profile = symmetric_edges(g, "start edges", &edges, x, corner);
        let open = g.product("open start edges", matches, profile);
        terms.push((1.0, g.linear("start edges", weighed(&edges, |weight| weight - ceiling), open)));
    }
    let mut loss = g.sum("landscape", terms);
    if !corrections.unordered_pairs {
        // Printed: ordered pairs, so that every edge, legal or not, counts twice: 2 l - sum_v omega_v corner_v.
        let once =
            LinearMap::new(1, n_vertices, weights.iter().enumerate().map(|(v, &weight)| (0, v, weight)));
        let once = g.linear("corners", once, corner);
        loss = g.sum("landscape", [(2.0, loss), (-1.0, once)]);
    }
    (loss, parameter, x)
}

/// Builds a landscape with these levels at corners and in the middle of edges. All other edges are barriers at the ceiling.
/// With the levels of a machine's configurations this is `internal`.
#[must_use]
pub fn carve(corners: &[f64], edges: &[(usize, usize, f64)], ceiling: f64) -> Network {
    let mut g = GraphBuilder::new();
    let (_, x) = g.parameter("vertex", Shape::column(corners.len()), StepRule::Simplex);
    let edges: Vec<Edge> = edges.iter().map(|&(from, to, weight)| Edge { from, to, weight }).collect();
    let (_, terms) = surface(&mut g, corners, &edges, ceiling, x);
    let loss = g.sum("landscape", terms);
    g.finish(loss)
}

/// The node of the corners, and the terms of the loss.
fn surface(
    g: &mut GraphBuilder,
    weights: &[f64],
    edges: &[Edge],
    ceiling: f64,
    x: NodeId,
) -> (NodeId, Vec<(f64, NodeId)>) {
    let n_vertices = weights.len();
    let corner = relu_of(g, "corners", LinearMap::diagonal(n_vertices, 2.0, -1.0), x);
    let levels_above = weights.iter().enumerate().map(|(v, weight)| (0, v, weight - ceiling));
    let one = g.scalar("one", 1.0);
    let mut terms =
        vec![(ceiling, one), (1.0, g.linear("corners", LinearMap::new(1, n_vertices, levels_above), corner))];
    if !edges.is_empty() {
        let profile = symmetric_edges(g, "edges", edges, x, corner);
        terms.push((1.0, g.linear("edges", weighed(edges, |weight| weight - ceiling), profile)));
    }
    (corner, terms)
}

/// An edge {v, w} and its weight omega_vw = (omega_v + omega_w) / 2.
fn edge(from: usize, to: usize, weights: &[f64]) -> Edge {
    Edge { from, to, weight: f64::midpoint(weights[from], weights[to]) }
}

fn symmetric_edges(g: &mut GraphBuilder, name: &str, edges: &[Edge], x: NodeId, corner: NodeId) -> NodeId {
    let ends = |weight: f64| on_edges(edges, g.shape(x).rows, weight, weight);
    let (ridge, corners) = (ends(2.0).with_bias(vec![-1.0; edges.len()]), ends(1.0));
    let ridge = relu_of(g, name, ridge, x);
    let corners = g.linear(name, corners, corner);
    g.sum(name, [(1.0, ridge), (-1.0, corners)])
}
