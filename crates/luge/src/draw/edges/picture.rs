//! Draws the edges as a chart.

use luge_landscape::LandscapeKind;

use super::{Edge, OutgoingEdges};
use crate::draw::plot::{Axis, Chart, Stroke, numeral};

/// The pieces of the line for an edge: the kinks of every landscape lie at multiples of 1/8.
const PIECES: u32 = 64;
/// Up to this many edges all are drawn.
const MAX_DRAWN: usize = 64;
/// How many other edges are drawn if there are more.
const MAX_OTHERS: usize = 30;
/// How many candidates, and how many predecessors, are drawn if there are more.
const MAX_RELATED: usize = 16;

const SUCCESSOR: Stroke = Stroke { colour: "#0b5cad", width: 3.6, dashes: "" };
const CANDIDATE: Stroke = Stroke { colour: "#d9822b", width: 1.8, dashes: "" };
const PREDECESSOR: Stroke = Stroke { colour: "#7b3fa0", width: 1.8, dashes: "6 4" };
const OTHER: Stroke = Stroke { colour: "#b8c0c8", width: 1.1, dashes: "" };
const HERE: &str = "#1f2933";

impl OutgoingEdges<'_> {
    /// Draws the loss along the edges, with the successor on top.
    pub fn draw(&self, title: &str) -> String {
        let most = |role| match role {
            _ if self.edges.len() <= MAX_DRAWN => usize::MAX,
            "successor" => 1,
            "other" => MAX_OTHERS,
            _ => MAX_RELATED,
        };
        let of = |role| self.edges.iter().filter(move |edge| edge.role() == role).take(most(role));
        let roles =
            [("other", OTHER), ("rival", CANDIDATE), ("predecessor", PREDECESSOR), ("successor", SUCCESSOR)];
        let curves: Vec<(Stroke, Vec<(f64, f64)>)> =
            roles.iter().flat_map(|&(role, stroke)| of(role).map(move |e| (stroke, self.curve(e)))).collect();
        let heights = curves.iter().flat_map(|(_, curve)| curve.iter().map(|point| point.1));
        let y = Axis::over("loss", heights.chain([self.loss()])).with_room();
        let x = Axis::over("fraction of the way to the other vertex", [0.0, 1.0]).with_room();
        let mut chart = Chart::new(title, &self.subtitle(), x, y);
        for (stroke, curve) in curves {
            chart.line(curve, stroke);
        }
        chart.dot((0.0, self.loss()), 5.5, HERE);

        chart.explain_dot(HERE, &format!("here: {}", self.name));
        for edge in of("successor") {
            chart.explain(SUCCESSOR, &format!("successor: {}", edge.name));
            chart.dot((1.0, edge.end_loss), 5.5, SUCCESSOR.colour);
        }
        for (role, stroke) in [("rival", CANDIDATE), ("predecessor", PREDECESSOR)] {
            explain(&mut chart, stroke, &of(role).collect::<Vec<_>>(), role);
        }
        let n_others = of("other").count();
        if n_others > 0 {
            let all = self.edges.iter().filter(|edge| edge.role() == "other").count();
            let all = all + self.n_edges - self.edges.len();
            let shown = if n_others < all { format!("{n_others} of {all}") } else { all.to_string() };
            chart.explain(OTHER, &format!("{shown} others"));
        }
        chart.finish()
    }

    fn curve(&self, edge: &Edge) -> Vec<(f64, f64)> {
        let fractions = (0..=PIECES).map(|piece| f64::from(piece) / f64::from(PIECES));
        fractions.map(|fraction| (fraction, self.loss_towards(edge.to, fraction))).collect()
    }

    fn subtitle(&self) -> String {
        let kind = self.landscape.kind();
        let step = format!("{}, step {}, loss {}", kind.word(), self.step, numeral(self.loss()));
        let why = match (kind, self.successor()) {
            (LandscapeKind::Plain, Some(_)) => {
                "no simplex, no slides: a paraboloid whose lowest point is the next configuration"
            }
            (_, Some(_)) => "the step goes to the vertex with the steepest descent here, all the way",
            (_, None) if self.stopped => "the machine has halted, and training stays",
            (_, None) => "the next vertex is this one again: only tapes and heads move",
        };
        format!("{step}: {why}")
    }
}

/// Adds the first three edges of a role to the legend, and counts the others.
fn explain(chart: &mut Chart, stroke: Stroke, edges: &[&Edge], role: &str) {
    const NAMED: usize = 3;
    for edge in edges.iter().take(NAMED) {
        chart.explain(stroke, &format!("{role}: {}", edge.name));
    }
    if edges.len() > NAMED {
        chart.explain(stroke, &format!("{} more {role}s", edges.len() - NAMED));
    }
}
