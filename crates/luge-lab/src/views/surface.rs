//! The loss over the plane through the current vertex, the next one, and its best rival.

use luge_landscape::LandscapeKind;

use super::{
    around::{Naming, look_around},
    *,
};

/// Points along a side: of small landscapes, and of larger ones.
const FINE: usize = 33;
const COARSE: usize = 21;
const MAX_FINE: usize = 512;

/// How far the plane of a landscape without a simplex extends beyond its corners.
const MARGIN: f64 = 0.25;

/// The loss over a plane around the current step; `None` if it cannot be drawn.
///
/// # Errors
/// If a gradient cannot be computed.
pub(crate) fn surface(replay: &mut Replay<'_>) -> Result<Option<Value>, EngineError> {
    let triangle = replay.scene.kind != LandscapeKind::Plain;
    Ok(look_around(replay, |leaving, name| over(leaving, name, triangle))?.flatten())
}

fn over(leaving: &OutgoingEdges<'_>, name: &Naming<'_>, triangle: bool) -> Option<Value> {
    let known: Vec<&Edge> = leaving.edges.iter().filter(|edge| name(edge.to).is_some()).collect();
    let goes = known.iter().find(|edge| edge.successor).or(known.first())?;
    let others = || known.iter().filter(|edge| edge.to != goes.to);
    let rival = others().find(|edge| edge.candidate).or_else(|| others().next())?;
    let n = if leaving.n_edges < MAX_FINE { FINE } else { COARSE };
    let shares = if triangle { (0.0, 1.0) } else { (-MARGIN, 1.0 + MARGIN) };
    let share = |i: usize| shares.0 + (shares.1 - shares.0) * i as f64 / (n - 1) as f64;
    let at = |u: f64, v: f64| leaving.loss_at(&[(leaving.from, 1.0 - u - v), (goes.to, u), (rival.to, v)]);
    let inside = |u: f64, v: f64| !triangle || u + v <= 1.0 + 1e-9;
    let value = |k: usize| {
        let (u, v) = (share(k % n), share(k / n));
        inside(u, v).then(|| drawn(at(u, v)))
    };
    let named = |vertex: usize| name(vertex).map_or_else(String::new, |(_, name)| name);
    Some(json!({
        "step": leaving.step,
        // The names of the vertices with shares (0, 0), (1, 0) and (0, 1), and the loss there.
        "corners": [named(leaving.from), named(goes.to), named(rival.to)],
        "ends": [leaving.loss(), at(1.0, 0.0), at(0.0, 1.0)],
        // Whether there is a successor; else the second corner is the best of the others.
        "moves": goes.successor,
        // Whether only the triangle between the corners belongs to the simplex.
        "triangle": triangle,
        // The lowest and the highest share along both sides, and points along each.
        "shares": shares,
        "n": n,
        // Row by row, the second corner's share grows along a row; none outside the triangle.
        "values": (0..n * n).map(value).collect::<Vec<_>>(),
    }))
}
