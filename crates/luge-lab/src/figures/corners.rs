//! The seven configurations of a two-state machine as the corners of a simplex, with a loss that the reader can change.

use luge_landscape::carve;
use luge_net::{Network, Shape, evaluate};

use super::*;

/// The machine whose run is carved.
const MACHINE: &str = "bb2";

/// The most gradient steps.
const MAX_STEPS: usize = 12;

/// Points at which the loss is drawn along an edge.
const N_POINTS: usize = 9;

/// Two corners, and the loss in the middle of their edge.
pub(super) type Level = (usize, usize, f64);

/// A landscape and what gradient descent does on it.
pub(super) fn corners(changed: &[Level]) -> FigureResult {
    let mut job = TraceJob::new(Source::open(MACHINE)?);
    job.options.landscape = LandscapeKind::Internal;
    let loaded = job.load()?;
    let plan = job.plan(&loaded)?;
    let (landscape, n) = (&plan.landscape, plan.landscape.n_vertices());
    let at =
        |network: &Network, x: Vec<f64>| evaluate(network, &[Values::new(Shape::column(n), x)], &[]).loss();
    let heights: Vec<f64> = (0..n).map(|v| at(landscape.network(), between(n, v, v, 0.0))).collect();
    // Nothing is carved in the middle of three corners.
    let ceiling = at(landscape.network(), (0..n).map(|v| if v < 3 { 1.0 / 3.0 } else { 0.0 }).collect());
    let mut levels: Vec<Level> = Vec::new();
    for v in 0..n {
        for w in v + 1..n {
            let carved = at(landscape.network(), between(n, v, w, 0.5));
            let set = changed.iter().find(|&&(a, b, _)| (a.min(b), a.max(b)) == (v, w));
            levels.push((v, w, set.map_or(carved, |&(.., level)| level.clamp(0.0, 2.0 * ceiling))));
        }
    }
    let network = carve(&heights, &levels, ceiling);
    let (path, losses) = descend(&network, n)?;
    let derails = (1..n).find(|&step| path.get(step) != Some(&step));
    let edge = |&(from, to, level): &Level| {
        let place = |i: usize| i as f64 / (N_POINTS - 1) as f64;
        let profile: Vec<f64> = (0..N_POINTS).map(|i| at(&network, between(n, from, to, place(i)))).collect();
        json!({ "from": from, "to": to, "level": level, "legal": to == from + 1, "profile": profile })
    };
    let name = |v: usize| {
        let configuration = landscape.configuration(v)?;
        let state = &plan.lowered.normal.machine().state(configuration.state).name;
        let cells = configuration.tapes[0].iter().enumerate().map(|(cell, &one)| {
            let symbol = u8::from(one);
            if cell == configuration.heads[0] { format!("[{symbol}]") } else { symbol.to_string() }
        });
        Some(format!("{state} {}", cells.collect::<String>()))
    };
    Ok(json!({
        // State, tape and head of each corner, in the machine's order, and the loss there.
        "names": (0..n).filter_map(name).collect::<Vec<_>>(),
        "heights": heights,
        // Every edge, its level in the middle, whether the machine goes along it, and the loss at even distances.
        "edges": levels.iter().map(edge).collect::<Vec<_>>(),
        // The corners that gradient descent visits, and the loss at each.
        "path": path,
        "losses": losses,
        // The first step that is not the machine's.
        "derails": derails,
    }))
}

/// A point on the edge between two corners.
fn between(n: usize, v: usize, w: usize, share: f64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    x[v] = 1.0 - share;
    x[w] += share;
    x
}

/// The corners that Frank-Wolfe visits with rate 1, until no step leads anywhere else.
fn descend(network: &Network, n: usize) -> Result<(Vec<usize>, Vec<f64>), luge_train::TrainError> {
    let start = Values::new(Shape::column(n), between(n, 0, 0, 0.0));
    let mut engine = Dense::new(network, &[start], &[], Precision::F64, Rate::One, None)?;
    let (mut path, mut losses) = (Vec::new(), Vec::new());
    for _ in 0..=MAX_STEPS {
        let Some(corner) = engine.vertex() else { break };
        if path.last() == Some(&corner) {
            break;
        }
        path.push(corner);
        losses.push(engine.loss()?);
        engine.step()?;
    }
    Ok((path, losses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_obeys_the_machine_and_derails_where_a_barrier_becomes_a_slide() {
        let carved = corners(&[]).expect("a figure");
        let names = carved["names"].as_array().expect("names");
        assert_eq!((names.len(), &carved["path"]), (7, &json!([0, 1, 2, 3, 4, 5, 6])));
        assert_eq!(carved["derails"], json!(null));
        let losses: Vec<f64> = serde_json::from_value(carved["losses"].clone()).expect("losses");
        assert!(losses.len() == 7 && losses.windows(2).all(|pair| pair[1] < pair[0]));
        // A slide from the second corner to the fifth, deeper than the machine's own.
        let other = corners(&[(1, 4, 0.0)]).expect("a figure");
        let path = other["path"].as_array().expect("corners");
        assert_eq!((&path[..3], &other["derails"]), (&[json!(0), json!(1), json!(4)][..], &json!(2)));
        // A barrier on an edge of the machine's path: there descent leaves that path.
        let blocked = corners(&[(2, 3, 1e9)]).expect("a figure");
        assert_eq!(blocked["derails"], 3);
    }
}
