//! The dense engine's value and gradient of every operation, against plain evaluation and its finite differences.

use luge_net::{
    GraphBuilder, LinearMap, Network, NodeId, Op, Shape, StepRule, Values, evaluate, evaluate_frozen,
};
use luge_train::{Dense, Engine, Precision, Rate};
use proptest::{collection::vec, prelude::*};

const RATE: StepRule = StepRule::Gradient { rate: 1.0 };

/// A step that is a power of two and small enough to stay on one side of every kink of the drawn values.
const STEP: f64 = 1.0 / 1024.0;

/// Sizes between 1/8 and 4 with either sign: nothing within `STEP` of zero.
fn entry() -> impl Strategy<Value = f64> {
    (1_i32..=32, any::<bool>()).prop_map(|(eighths, negative)| {
        let size = f64::from(eighths) / 8.0;
        if negative { -size } else { size }
    })
}

fn values(shape: Shape) -> impl Strategy<Value = Values> {
    vec(entry(), shape.len()).prop_map(move |data| Values::new(shape, data))
}

/// Two parameters, an input, and weights that tell the entries of a node apart.
#[derive(Clone, Debug)]
struct Drawn {
    first: Values,
    second: Values,
    input: Values,
    weights: Vec<f64>,
}

/// Drawn for parameters of the given shapes and nodes of up to 64 entries.
fn drawn(first: Shape, second: Shape) -> impl Strategy<Value = Drawn> {
    (values(first), values(second), values(first), vec(entry(), 64))
        .prop_map(|(first, second, input, weights)| Drawn { first, second, input, weights })
}

fn shape() -> impl Strategy<Value = Shape> {
    (1_usize..=3, 1_usize..=4).prop_map(|(rows, cols)| Shape::new(rows, cols))
}

/// Parameters `first` and `second`, an input like the first, and as loss the weighted sum of what `build` makes of them.
fn network(drawn: &Drawn, build: impl FnOnce(&mut GraphBuilder, [NodeId; 3]) -> NodeId) -> Network {
    let mut g = GraphBuilder::new();
    let (_, first) = g.parameter("first", drawn.first.shape, RATE);
    let (_, second) = g.parameter("second", drawn.second.shape, RATE);
    let (_, input) = g.input("input", drawn.input.shape);
    let node = build(&mut g, [first, second, input]);
    let shape = g.shape(node);
    let weights = drawn.weights.iter().cycle().take(shape.len()).copied().collect();
    let weights = g.constant("weights", Values::new(shape, weights));
    let weighted = g.product("weighted", node, weights);
    let loss = g.sum_all("loss", weighted);
    g.finish(loss)
}

/// Central differences of the loss with every stop-gradient held.
fn differences(network: &Network, parameters: &[Values], inputs: &[Values]) -> Vec<Values> {
    let base = evaluate(network, parameters, inputs);
    let along = |block: usize, entry: usize| {
        let at = |step: f64| {
            let mut moved = parameters.to_vec();
            moved[block].data[entry] += step;
            evaluate_frozen(network, &moved, inputs, Some(&base)).loss()
        };
        (at(STEP) - at(-STEP)) / (2.0 * STEP)
    };
    let blocks = parameters.iter().enumerate();
    blocks
        .map(|(block, p)| Values::new(p.shape, (0..p.data.len()).map(|entry| along(block, entry)).collect()))
        .collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Value and gradient of `build`'s node, in f64 to rounding and in f32 nearly.
fn check(drawn: &Drawn, build: impl FnOnce(&mut GraphBuilder, [NodeId; 3]) -> NodeId) {
    let network = network(drawn, build);
    let parameters = [drawn.first.clone(), drawn.second.clone()];
    let inputs = [drawn.input.clone()];
    let expected = evaluate(&network, &parameters, &inputs).loss();
    let slopes = differences(&network, &parameters, &inputs);
    for (precision, tolerance) in [(Precision::F64, 1e-6), (Precision::F32, 1e-3)] {
        let mut engine =
            Dense::new(&network, &parameters, &inputs, precision, Rate::One, None).expect("an engine");
        let loss = engine.loss().expect("a loss");
        assert!(close(loss, expected, tolerance), "{precision:?}: {loss} is not {expected}");
        for (found, expected) in engine.gradient().expect("a gradient").iter().zip(&slopes) {
            assert_eq!(found.shape, expected.shape);
            let alike = found.data.iter().zip(&expected.data).all(|(&a, &b)| close(a, b, tolerance));
            assert!(alike, "{precision:?}: {:?} is not {:?}", found.data, expected.data);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn entrywise(drawn in shape().prop_flat_map(|s| drawn(s, s))) {
        check(&drawn, |g, [a, _, _]| g.relu("relu", a));
        check(&drawn, |g, [a, b, _]| g.product("product", a, b));
        check(&drawn, |g, [a, _, c]| g.product("product with input", c, a));
        check(&drawn, |g, [a, _, _]| g.square("square", a));
        check(&drawn, |g, [a, b, _]| {
            let square = g.square("square", a);
            let root = g.affine("positive", 1.0, square, 0.5);
            let root = g.sqrt("root", root);
            g.product("times", root, b)
        });
    }

    #[test]
    fn sums(drawn in shape().prop_flat_map(|s| drawn(s, s)), weight in entry()) {
        check(&drawn, |g, [a, b, c]| g.sum("sum", [(weight, a), (-1.0, b), (1.0, c), (0.5, a)]));
        check(&drawn, |g, [a, _, _]| g.sum("one term", [(1.0, a)]));
        check(&drawn, |g, [a, _, _]| g.affine("affine", weight, a, 0.75));
        check(&drawn, |g, [a, b, _]| {
            let (two, shape) = (g.scalar("two", 2.0), g.shape(a));
            let wide = g.constant("wide", Values::filled(shape, 3.0));
            let constants = g.sum("constants", [(weight, two), (1.0, wide), (1.0, two)]);
            let only = g.sum("only constants", [(weight, two), (1.0, two)]);
            g.sum("sum", [(1.0, constants), (-1.0, a), (weight, b), (2.0, only)])
        });
    }

    #[test]
    fn sides_of_length_one_stretch(
        drawn in shape().prop_flat_map(|s| prop_oneof![
            drawn(s, Shape::SCALAR),
            drawn(s, Shape::column(s.rows)),
            drawn(s, Shape::new(1, s.cols)),
            drawn(Shape::column(s.rows), Shape::new(1, s.cols)),
        ]),
        weight in entry(),
    ) {
        check(&drawn, |g, [a, b, _]| g.product("product", a, b));
        check(&drawn, |g, [a, b, _]| g.product("product", b, a));
        check(&drawn, |g, [a, b, _]| g.sum("sum", [(weight, a), (1.0, b)]));
        check(&drawn, |g, [a, b, _]| g.sum("sum", [(-1.0, b), (-1.0, a), (weight, b)]));
    }

    #[test]
    fn rows_and_columns(drawn in shape().prop_flat_map(|s| drawn(s, s)), picks in vec(any::<u8>(), 1..6)) {
        check(&drawn, |g, [a, _, _]| g.sum_columns("rows", a));
        check(&drawn, |g, [a, _, _]| g.sum_all("all", a));
        check(&drawn, |g, [a, b, _]| g.stack("stack", a, b));
        check(&drawn, |g, [a, _, c]| g.stack("stack on input", a, c));
        check(&drawn, |g, [a, b, _]| {
            let stacked = g.stack("stack", a, b);
            let positions = picks.iter().map(|&p| usize::from(p) % g.shape(stacked).len()).collect();
            g.gather("gather", positions, stacked)
        });
    }

    #[test]
    fn shifts(drawn in shape().prop_flat_map(|s| drawn(s, s)), by in -6_i64..=6) {
        check(&drawn, |g, [a, _, _]| g.shift("shift", by, a));
        check(&drawn, |g, [a, b, _]| {
            let moved = g.shift("shift", by, a);
            g.product("product", moved, b)
        });
        for by in [i64::MAX, i64::MIN] {
            check(&drawn, |g, [a, _, _]| g.shift("away", by, a));
        }
    }

    #[test]
    fn stop_gradients_and_selects(drawn in shape().prop_flat_map(|s| drawn(s, s))) {
        check(&drawn, |g, [a, b, _]| {
            let fixed = g.stop_gradient("[a]", a);
            let behind = g.relu("behind", fixed);
            let product = g.product("product", behind, b);
            g.sum("sum", [(1.0, product), (1.0, a), (1.0, fixed)])
        });
        check(&drawn, |g, [a, b, _]| {
            let square = g.square("square", a);
            let condition = g.gather("condition", vec![0], b);
            let fixed = g.stop_gradient("[b]", b);
            let other = g.product("other", fixed, b);
            g.select("select", condition, square, other)
        });
        // The branch that is not taken is infinite, and its slope is not a number.
        check(&drawn, |g, [a, b, _]| {
            let zero = g.sum("zero", [(1.0, a), (-1.0, a)]);
            let root = g.sqrt("root", zero);
            let minus = g.scalar("minus", -1.0);
            g.select("select", minus, root, b)
        });
    }

    /// Small maps are matrices, multiples of the identity are numbers, large sparse ones are lists of entries.
    #[test]
    fn linear_maps(
        drawn in (1_usize..=4, 1_usize..=3).prop_flat_map(|(n, m)| drawn(Shape::column(n), Shape::column(m))),
        entries in vec((any::<u8>(), any::<u8>(), entry()), 0..12),
        n_outputs in 1_usize..=5,
        with_bias in any::<bool>(),
        weight in entry(),
    ) {
        let n = drawn.first.shape.rows;
        let entry = |&(row, col, w): &(u8, u8, f64)| (usize::from(row) % n_outputs, usize::from(col) % n, w);
        let bias = if with_bias { drawn.weights[..n_outputs].to_vec() } else { vec![0.0; n_outputs] };
        let map = LinearMap::new(n_outputs, n, entries.iter().map(entry)).with_bias(bias);
        check(&drawn, |g, [a, _, _]| g.linear("map", map, a));
        check(&drawn, |g, [a, _, _]| g.linear("diagonal", LinearMap::diagonal(n, weight, -0.5), a));
        check(&drawn, |g, [_, b, _]| {
            let m = g.shape(b).rows;
            g.linear("diagonal", LinearMap::diagonal(m, weight, 0.0), b)
        });
        let tall = |row: usize| (row * 389 + usize::from(with_bias)) % 5000;
        let spread: Vec<_> = entries.iter().map(entry).enumerate().map(|(i, (r, c, w))| (tall(r + 5 * i), c, w)).collect();
        let map = LinearMap::new(5000, n, spread.clone()).with_bias(vec![0.25; 5000]);
        prop_assert!(n * 5000 > 4096 && map.entries().len() * 8 < n * 5000);
        check(&drawn, |g, [a, _, _]| {
            let wide = g.linear("entries", map, a);
            let square = g.square("square", wide);
            g.gather("some", spread.iter().map(|e| e.0).chain([4999]).collect(), square)
        });
    }
}

/// At its kink a ReLU has slope 0, as its description says.
#[test]
fn relu_is_flat_at_zero() {
    let mut g = GraphBuilder::new();
    let (_, x) = g.parameter("x", Shape::column(3), RATE);
    let relu = g.relu("relu", x);
    let loss = g.sum_all("loss", relu);
    let network = g.finish(loss);
    assert!(matches!(network.node(relu).op, Op::Relu(_)));
    for precision in [Precision::F64, Precision::F32, Precision::F16, Precision::Bf16] {
        let point = [Values::column(vec![-1.0, 0.0, 1.0])];
        let mut engine = Dense::new(&network, &point, &[], precision, Rate::One, None).unwrap();
        assert_eq!(engine.gradient().unwrap()[0].data, [0.0, 0.0, 1.0], "{precision:?}");
    }
}
