//! Steps, line search and the ways training ends, on networks small enough to check by hand.

use std::ops::ControlFlow;

use luge_net::{GraphBuilder, LinearMap, Network, NodeId, Shape, StepRule, Values};
use luge_train::{Dense, Engine, Noise, Outcome, Precision, Rate, StopRule, TrainError, train};

fn network(n: usize, rule: StepRule, build: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId) -> Network {
    let mut g = GraphBuilder::new();
    let (_, x) = g.parameter("x", Shape::column(n), rule);
    let loss = build(&mut g, x);
    g.finish(loss)
}

/// `sum (x - target)^2 / 2`, moved with the given rate.
fn bowl(target: f64, rate: f64) -> Network {
    network(1, StepRule::Gradient { rate }, |g, x| {
        let residual = g.affine("residual", 1.0, x, -target);
        let square = g.square("square", residual);
        g.affine("loss", 0.5, square, 0.0)
    })
}

fn start<'n>(network: &'n Network, at: &[f64], rate: Rate) -> Dense<'n> {
    Dense::new(network, &[Values::column(at.to_vec())], &[], Precision::F64, rate, None).expect("an engine")
}

fn stop(loss_at_most: f64, not_before: u64, most_steps: u64) -> StopRule {
    StopRule { loss_at_most, not_before, most_steps }
}

fn go_on(_: luge_train::Iterate<'_, Dense<'_>>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn gradient_steps_use_their_rate() {
    let network = bowl(8.0, 0.5);
    let mut engine = start(&network, &[0.0], Rate::One);
    let mut seen = Vec::new();
    let outcome = train(&mut engine, &stop(0.0, 0, 3), |iterate| {
        seen.push((iterate.step, iterate.loss, iterate.engine.parameters().unwrap()[0].data[0]));
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap(), Outcome::StepLimit { steps: 3 });
    assert_eq!(seen, [(0, 32.0, 0.0), (1, 8.0, 4.0), (2, 2.0, 6.0), (3, 0.5, 7.0)]);
}

#[test]
fn training_ends_at_the_stopping_level() {
    let network = bowl(8.0, 1.0);
    let run = |rule: StopRule, at: f64| train(&mut start(&network, &[at], Rate::One), &rule, go_on).unwrap();
    assert_eq!(run(stop(0.0, 0, 9), 0.0), Outcome::Converged { steps: 1 });
    assert_eq!(run(stop(0.0, 0, 9), 8.0), Outcome::Converged { steps: 0 });
    assert_eq!(run(stop(0.0, 1, 9), 8.0), Outcome::Converged { steps: 1 });
    assert_eq!(run(stop(0.0, 5, 9), 8.0), Outcome::Converged { steps: 5 });
    assert_eq!(run(stop(-1.0, 0, 9), 8.0), Outcome::StepLimit { steps: 9 });
    assert_eq!(run(stop(0.0, 0, 0), 0.0), Outcome::StepLimit { steps: 0 });
}

#[test]
fn the_observer_may_break_off() {
    let network = bowl(8.0, 0.25);
    let outcome = train(&mut start(&network, &[0.0], Rate::One), &stop(0.0, 0, 9), |iterate| {
        if iterate.step == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(outcome.unwrap(), Outcome::Interrupted { steps: 2 });
}

/// A loss that is not a number, and one that grows beyond all numbers.
#[test]
fn a_lost_loss_is_an_outcome() {
    let root = network(1, StepRule::Gradient { rate: 1.0 }, |g, x| g.sqrt("root", x));
    let outcome = train(&mut start(&root, &[-1.0], Rate::One), &stop(0.0, 0, 9), go_on);
    assert_eq!(outcome.unwrap(), Outcome::Diverged { steps: 0 });
    let steep = bowl(1.0, 1e120);
    let outcome = train(&mut start(&steep, &[0.0], Rate::One), &stop(0.0, 0, 9), go_on);
    assert_eq!(outcome.unwrap(), Outcome::Diverged { steps: 2 });
}

/// A linear loss on three vertices: the lowest is 2.
fn slope() -> Network {
    network(3, StepRule::Simplex, |g, x| {
        g.linear("loss", LinearMap::new(1, 3, [(0, 0, 3.0), (0, 1, 2.0), (0, 2, 1.0)]), x)
    })
}

#[test]
fn frank_wolfe_goes_to_the_best_vertex_and_stays_there() {
    let network = slope();
    let mut engine = start(&network, &[1.0, 0.0, 0.0], Rate::One);
    assert_eq!(engine.vertex(), Some(0));
    engine.step().unwrap();
    assert_eq!(engine.vertex(), Some(2));
    assert_eq!(engine.parameters().unwrap()[0].data, [0.0, 0.0, 1.0]);
    assert_eq!(engine.vertex(), Some(2));
    engine.step().unwrap();
    assert_eq!(engine.vertex(), Some(2));
    assert_eq!(engine.parameters().unwrap()[0].data, [0.0, 0.0, 1.0]);
}

/// `|x_0 - x_1| - x_1 / 2` falls up to the middle of the edge and rises beyond.
fn valley() -> Network {
    network(2, StepRule::Simplex, |g, x| {
        let sides = LinearMap::new(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]);
        let sides = g.linear("sides", sides, x);
        let sides = g.relu("sides", sides);
        let distance = g.sum_all("distance", sides);
        let tilt = g.linear("tilt", LinearMap::new(1, 2, [(0, 1, 0.5)]), x);
        g.sum("loss", [(1.0, distance), (-1.0, tilt)])
    })
}

#[test]
fn line_search_stops_at_the_lowest_kink() {
    let network = valley();
    let mut engine = start(&network, &[1.0, 0.0], Rate::LineSearch);
    assert_eq!(engine.vertex(), Some(0));
    engine.step().unwrap();
    assert_eq!(engine.parameters().unwrap()[0].data, [0.5, 0.5]);
    assert_eq!(engine.vertex(), None);
    let mut engine = start(&network, &[1.0, 0.0], Rate::One);
    engine.step().unwrap();
    assert_eq!(engine.parameters().unwrap()[0].data, [0.0, 1.0]);
    let falling = slope();
    let mut engine = start(&falling, &[1.0, 0.0, 0.0], Rate::LineSearch);
    engine.step().unwrap();
    assert_eq!(engine.parameters().unwrap()[0].data, [0.0, 0.0, 1.0]);
}

#[test]
fn line_search_is_refused_where_it_is_not_exact() {
    let refusal = |network: &Network, n: usize| {
        let point = [Values::unit(n, 0)];
        let engine = Dense::new(network, &point, &[], Precision::F64, Rate::LineSearch, None);
        engine.err().expect("refused")
    };
    let square = network(2, StepRule::Simplex, |g, x| {
        let square = g.square("square", x);
        g.sum_all("loss", square)
    });
    assert!(matches!(refusal(&square, 2), TrainError::NotPiecewiseLinear));
    let free = network(1, StepRule::Gradient { rate: 1.0 }, |g, x| g.relu("loss", x));
    assert!(matches!(refusal(&free, 1), TrainError::NotOneSimplex));
}

#[test]
fn values_of_other_shapes_are_refused() {
    let network = slope();
    let two = [Values::unit(2, 0)];
    let three = [Values::unit(3, 0)];
    let new = |parameters: &[Values], inputs: &[Values]| {
        Dense::new(&network, parameters, inputs, Precision::F64, Rate::One, None)
            .err()
            .expect("refused")
            .to_string()
    };
    assert_eq!(new(&two, &[]), "the parameters do not have the shapes of the network");
    assert_eq!(new(&three, &two), "the inputs do not have the shapes of the network");
}

#[test]
fn noise_is_relative_and_reproducible() {
    assert!(Noise::new(-0.1, 0).is_none() && Noise::new(f64::NAN, 0).is_none());
    let network = bowl(8.0, 1.0);
    let reached = |sigma: f64, seed: u64| {
        let point = [Values::column(vec![0.0])];
        let noise = Noise::new(sigma, seed);
        let mut engine = Dense::new(&network, &point, &[], Precision::F64, Rate::One, noise).unwrap();
        engine.step().unwrap();
        engine.parameters().unwrap()[0].data[0]
    };
    assert_eq!(reached(0.0, 1).to_bits(), 8.0_f64.to_bits());
    assert_eq!(reached(0.1, 1).to_bits(), reached(0.1, 1).to_bits());
    assert_ne!(reached(0.1, 1).to_bits(), reached(0.1, 2).to_bits());
    // Same draw, twice the size, twice as far off.
    let (near, far) = (reached(0.1, 1) - 8.0, reached(0.2, 1) - 8.0);
    assert!(near != 0.0 && (far - 2.0 * near).abs() < 1e-12);
}

/// w = (3, 4) under 1/2 |w|^2: the gradient is w, and its length is what an observer is told before every step.
#[test]
fn observers_see_norms_of_the_gradient() {
    let mut g = GraphBuilder::new();
    let (_, w) = g.parameter("w", Shape::column(2), StepRule::Gradient { rate: 0.5 });
    let squares = g.square("squares", w);
    let sum = g.sum_all("sum", squares);
    let loss = g.affine("loss", 0.5, sum, 0.0);
    let network = g.finish(loss);
    let start = [Values::column(vec![3.0, 4.0])];
    let mut engine = Dense::new(&network, &start, &[], Precision::F64, Rate::One, None).expect("an engine");
    let mut norms = Vec::new();
    let stop = StopRule { loss_at_most: 0.0, not_before: 0, most_steps: 2 };
    train(&mut engine, &stop, |iterate| {
        let length = |block: &Values| block.data.iter().map(|g| g * g).sum::<f64>().sqrt();
        norms.extend(iterate.engine.gradient().expect("a gradient").iter().map(length));
        ControlFlow::Continue(())
    })
    .expect("gradients");
    assert_eq!(norms, [5.0, 2.5, 1.25]);
}

/// The derivative of plain's saturated copies: 2 between 1/4 and 3/4, 0 up to 1/4 and beyond 3/4.
#[test]
fn saturated_copies_have_a_slope_between_their_ends() {
    let mut g = GraphBuilder::new();
    let (_, v) = g.parameter("v", Shape::SCALAR, StepRule::Gradient { rate: 1.0 });
    let (low, high) = (g.affine("low", 2.0, v, -0.5), g.affine("high", 2.0, v, -1.5));
    let (low, high) = (g.relu("low", low), g.relu("high", high));
    let copy = g.sum("copy", [(1.0, low), (-1.0, high)]);
    let network = g.finish(copy);
    let slope = |v: f64| {
        let at = [Values::column(vec![v])];
        let mut engine = Dense::new(&network, &at, &[], Precision::F64, Rate::One, None).expect("an engine");
        engine.gradient().expect("a gradient")[0].data[0]
    };
    assert_eq!(
        [0.0, 0.25, 0.3, 0.5, 0.75, 0.8, 1.0].map(slope).to_vec(),
        [0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0]
    );
}

/// A derivative reaches a weight only along nodes that carry one, whatever else depends on it.
#[test]
fn only_nodes_that_carry_a_gradient_do() {
    let carried = |build: fn(&mut GraphBuilder, NodeId) -> NodeId| {
        let mut g = GraphBuilder::new();
        let (_, v) = g.parameter("v", Shape::column(1), StepRule::Gradient { rate: 1.0 });
        let node = build(&mut g, v);
        let loss = g.sum_all("loss", node);
        let network = g.finish(loss);
        let says = network.differentiated()[0];
        let at = [Values::column(vec![3.0])];
        let mut engine = Dense::new(&network, &at, &[], Precision::F64, Rate::One, None).expect("an engine");
        (says, engine.gradient().expect("a gradient")[0].data[0])
    };
    assert_eq!(carried(|g, v| g.product("square", v, v)), (true, 6.0));
    assert_eq!(carried(|g, v| g.stop_gradient("stop", v)), (false, 0.0));
    assert_eq!(
        carried(|g, v| {
            let fixed = g.stop_gradient("stop", v);
            g.product("half", v, fixed)
        }),
        (true, 3.0)
    );
    assert_eq!(
        carried(|g, v| {
            let square = g.product("square", v, v);
            g.stop_gradient("stop behind others", square)
        }),
        (false, 0.0)
    );
    let bits = |g: &mut GraphBuilder, v| g.quantize("bits", "fix:3.2".parse().expect("a format"), v);
    assert_eq!(carried(bits), (false, 0.0));
    // A closed branch and the switch itself are seen by nobody.
    assert_eq!(
        carried(|g, v| {
            let (one, other) = (g.scalar("open", 1.0), g.scalar("other", 7.0));
            g.switch("closed", one, other, v)
        }),
        (true, 0.0)
    );
    assert_eq!(
        carried(|g, v| {
            let open = g.affine("open", 1.0, v, -2.0);
            let (on, off) = (g.scalar("on", 5.0), g.scalar("off", 7.0));
            g.switch("open by the weight", open, on, off)
        }),
        (true, 0.0)
    );
    assert_eq!(
        carried(|g, v| {
            let open = g.affine("open", 0.25, v, 0.0);
            let (on, off) = (g.scalar("on", 5.0), g.scalar("off", 7.0));
            g.switch("half open by the weight", open, on, off)
        }),
        (true, -0.5)
    );
}
