//! Networks with one column of each kind, against the whole: loss, values and every gradient, on random graphs.

use luge_net::{
    Columns, GraphBuilder, LinearMap, Network, NodeId, NotByColumns, Shape, SparseValues, StepRule, Values,
    evaluate, evaluate_some,
};
use luge_train::{Dense, Engine, Precision, Rate};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

const N_COLUMNS: usize = 960;
const RATE: StepRule = StepRule::Gradient { rate: 0.5 };

/// Draws graphs and numbers.
struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Mostly one number, and a few others at some places, near the borders too.
    fn matrix(&mut self, rows: usize) -> SparseValues {
        let mut values = Values::filled(Shape::new(rows, N_COLUMNS), self.of(&[0.0, -1.0]));
        for _ in 0..self.below(7) {
            let column = match self.below(4) {
                0 => self.of(&[0, 1, N_COLUMNS - 2, N_COLUMNS - 1]),
                _ => self.below(N_COLUMNS),
            };
            *values.at_mut(self.below(rows), column) = self.of(&[1.0, -1.0, 0.5, 2.0]);
        }
        values.into()
    }
}

/// Two matrices of weights and a vector of them, two of the matrices' rows made from an input by a linear map, and what random operations
/// make of them; the loss weighs sums over columns, sums of everything and single entries.
fn network(draw: &mut Draw) -> (Network, Vec<NodeId>) {
    let mut g = GraphBuilder::new();
    let (_, first) = g.parameter("first", Shape::new(2, N_COLUMNS), RATE);
    let (_, second) = g.parameter("second", Shape::new(2, N_COLUMNS), RATE);
    let (_, narrow) = g.parameter("narrow", Shape::column(2), RATE);
    let (_, input) = g.input("input", Shape::column(5));
    let mut places: Vec<u32> = (0..5).map(|i| i * 90 + draw.below(90) as u32).collect();
    places.dedup();
    let map = LinearMap::placing(2 * N_COLUMNS, 1.0, places.clone())
        .with_bias_except(-1.0, vec![(0.0, places), (2.0, vec![3, 477])]);
    let spread = g.linear("spread", map, input);
    let spread = g.reshape("spread", Shape::new(2, N_COLUMNS), spread);
    let mut wide = vec![first, second, spread];
    let mut narrow_nodes = vec![narrow];
    for _ in 0..8 {
        let (a, b) = (draw.of(&wide), draw.of(&wide));
        let node = match draw.below(7) {
            0 => {
                let by = draw.of(&[-2, -1, 1, 2]);
                let of = draw.of(&[first, second]);
                let of = if draw.below(2) == 0 { of } else { g.stop_gradient("stopped", of) };
                g.shift("shift", by, of)
            }
            1 => g.product("product", a, b),
            2 => g.sum("sum", [(1.0, a), (-0.5, b)]),
            3 => g.relu("relu", a),
            4 => g.stop_gradient("stop", a),
            5 => {
                let narrow = draw.of(&narrow_nodes);
                g.product("broadcast", a, narrow)
            }
            _ => {
                let row = g.sum_columns("rows", a);
                narrow_nodes.push(row);
                g.sum("added", [(1.0, b), (0.25, row)])
            }
        };
        wide.push(node);
    }
    let last = *wide.last().expect("some");
    let both = g.stack("stack", last, spread);
    let all = g.sum_all("all", both);
    let positions = vec![draw.below(N_COLUMNS), N_COLUMNS + draw.below(N_COLUMNS), 3 * N_COLUMNS];
    let entries = g.gather("entries", positions, both);
    let entries = if draw.below(2) == 0 { entries } else { g.stop_gradient("entries", entries) };
    let picked = g.product("picked", entries, all);
    let picked = g.sum_all("picked", picked);
    let rows = g.sum_columns("rows", last);
    let squares = g.square("squares", rows);
    let squares = g.sum_all("squares", squares);
    let loss = g.sum("loss", [(1.0, all), (2.0, picked), (0.125, squares)]);
    (g.finish(loss), vec![all, entries, rows, loss])
}

fn gradient(network: &Network, weights: &[Values], inputs: &[Values]) -> (f64, Vec<Values>) {
    let mut dense = Dense::new(network, weights, inputs, Precision::F64, Rate::One, None).expect("a network");
    (dense.loss().expect("a loss"), dense.gradient().expect("a gradient"))
}

/// Whether numbers are the same up to what is lost where sums are taken in another order.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn a_merged_network_has_the_losses_and_gradients_of_the_whole() {
    let (mut n_merged, mut n_columns) = (0, 0);
    for seed in 0..2000 {
        let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
        let (network, nodes) = network(&mut draw);
        let narrow = Values::column(vec![draw.of(&[1.0, -2.0]), 0.5]);
        let weights = [draw.matrix(2), draw.matrix(2), narrow.into()];
        let inputs = [Values::column((0..5).map(|_| draw.of(&[1.0, -1.0])).collect())];
        let columns = match Columns::of(&network) {
            Ok(columns) => columns,
            // Single entries of columns that others beside them act on.
            Err(NotByColumns::Mixes { word: "gather", .. }) => continue,
            Err(other) => panic!("seed {seed}: {other}"),
        };
        let merged = match columns.merge(&weights, None, &inputs, &nodes) {
            Ok(merged) => merged,
            Err(NotByColumns::TooManyKinds { .. }) => continue,
            Err(other) => panic!("seed {seed}: {other}"),
        };
        n_merged += 1;
        n_columns += merged.kinds.len();
        assert_eq!(merged.kinds.iter().map(|kind| kind.count).sum::<usize>(), N_COLUMNS);

        let whole: Vec<Values> = weights.iter().map(SparseValues::to_values).collect();
        let all = evaluate(&network, &whole, &inputs);
        for (node, value) in nodes.iter().zip(evaluate_some(&network, &weights, &inputs, &nodes)) {
            let expected = all.value(*node);
            assert!(
                expected.data.iter().zip(&value.data).all(|(a, b)| near(*a, *b)),
                "seed {seed}: {expected:?} and {value:?}"
            );
        }

        let (loss, expected) = gradient(&network, &whole, &inputs);
        let (merged_loss, found) = gradient(&merged.network, &merged.parameters(&weights), &inputs);
        assert!(near(loss, merged_loss), "seed {seed}: {loss} and {merged_loss}");
        for ((block, expected), found) in weights.iter().zip(&expected).zip(&found) {
            if !merged.is_wide(block) {
                assert!(expected.data.iter().zip(&found.data).all(|(a, b)| near(*a, *b)), "seed {seed}");
                continue;
            }
            for row in 0..block.shape.rows {
                for kind in &merged.kinds {
                    let (a, b) = (expected.at(row, kind.column), found.at(row, kind.place));
                    assert!(near(a, b), "seed {seed}, row {row}, column {}: {a} and {b}", kind.column);
                }
            }
        }
    }
    assert!(n_merged > 1000, "only {n_merged} of 2000 had columns alike");
    assert!(n_columns > 10 * n_merged, "columns that differ");
}

/// Weights that a step leaves different make columns different, however alike they were before it.
#[test]
fn columns_that_change_stand_for_themselves() {
    let mut g = GraphBuilder::new();
    let (_, first) = g.parameter("first", Shape::new(2, N_COLUMNS), RATE);
    let loss = g.sum_all("loss", first);
    let network = g.finish(loss);
    let before = [SparseValues::filled(Shape::new(2, N_COLUMNS), -1.0)];
    let count = |after: &SparseValues| {
        let after = [after.clone()];
        let merged = Columns::of(&network).expect("columns").merge(&before, Some(&after), &[], &[]);
        merged.expect("few kinds").kinds.iter().map(|kind| (kind.column, kind.count)).collect::<Vec<_>>()
    };
    assert_eq!(count(&before[0]), [(0, N_COLUMNS)]);
    let one = SparseValues::new(Shape::new(2, N_COLUMNS), -1.0, [(7, 1.0)]);
    assert_eq!(count(&one), [(0, N_COLUMNS - 1), (7, 1)]);
    let three = [(7, 1.0), (N_COLUMNS + 7, 1.0), (N_COLUMNS + 8, 1.0)];
    let three = SparseValues::new(Shape::new(2, N_COLUMNS), -1.0, three);
    assert_eq!(count(&three), [(0, N_COLUMNS - 2), (7, 1), (8, 1)]);
    // All changed in the same way.
    assert_eq!(count(&SparseValues::filled(Shape::new(2, N_COLUMNS), 1.0)), [(0, N_COLUMNS)]);
}

#[test]
fn a_graph_that_mixes_columns_is_refused() {
    type Build = fn(&mut GraphBuilder, NodeId) -> NodeId;
    let cases: [(Build, &str); 5] = [
        (|g, m| g.reshape("mix", Shape::column(2 * N_COLUMNS), m), "node 1, reshape `mix`, mixes columns"),
        (|g, m| g.sqrt("root", m), "node 1, sqrt `root`, mixes columns"),
        (
            |g, m| {
                let sum = g.relu("relu", m);
                g.shift("shift", 1, sum)
            },
            "node 2, shift `shift`, mixes columns",
        ),
        (
            |g, m| {
                let steps = (0..N_COLUMNS).map(|i| i as f64).collect();
                let ramp = g.constant("ramp", Values::new(Shape::new(1, N_COLUMNS), steps));
                g.product("product", m, ramp)
            },
            "node 2, product `product`, mixes columns",
        ),
        (
            |g, m| {
                let one = g.constant("row", Values::filled(Shape::new(1, N_COLUMNS), 1.0));
                g.stack("stack", m, one)
            },
            "node 2, stack `stack`, mixes columns",
        ),
    ];
    for (build, expected) in cases {
        let mut g = GraphBuilder::new();
        let (_, matrix) = g.parameter("matrix", Shape::new(2, N_COLUMNS), RATE);
        let node = build(&mut g, matrix);
        let loss = g.sum_all("loss", node);
        let network = g.finish(loss);
        assert_eq!(Columns::of(&network).expect_err("columns mix").to_string(), expected);
    }
    let mut g = GraphBuilder::new();
    let (_, simplex) = g.parameter("simplex", Shape::new(2, N_COLUMNS), StepRule::Simplex);
    let loss = g.sum_all("loss", simplex);
    let network = g.finish(loss);
    assert!(matches!(Columns::of(&network), Err(NotByColumns::Mixes { index: 0, .. })));
}

/// The bits of data on hidden tapes are computed only where a kind of columns needs them, and are the right ones.
#[test]
fn bits_of_data_are_those_of_the_whole() {
    const N_CELLS: usize = 64;
    let format: luge_net::NumberFormat = "fix:3.2".parse().expect("a format");
    for seed in 0..40_i32 {
        let numbers: Vec<f64> = (0..4).map(|i| f64::from((seed * 7 + i * 5) % 31 - 15) / 4.0).collect();
        let mut g = GraphBuilder::new();
        let rule = StepRule::Gradient { rate: 1.0 };
        let (_, weights) = g.parameter("weights", Shape::new(1, N_CELLS), rule);
        let (_, input) = g.input("numbers", Shape::column(4));
        let bits = g.quantize("bits", format, input);
        let places: Vec<u32> = (0..20).map(|bit| 3 * bit + 1).collect();
        let map = LinearMap::placing(N_CELLS, 1.0, places.clone());
        let cells = g.linear("cells", map.with_bias_except(-1.0, vec![(0.0, places)]), bits);
        let cells = g.reshape("cells", Shape::new(1, N_CELLS), cells);
        let both = g.product("both", cells, weights);
        let sum = g.sum_all("sum", both);
        let loss = g.square("loss", sum);
        let network = g.finish(loss);
        let mut data = vec![1.0; N_CELLS];
        data[1 + 3 * (seed as usize % 20)] = 5.0;
        let weights = Values::new(Shape::new(1, N_CELLS), data);
        let inputs = [Values::column(numbers)];
        let whole = evaluate(&network, std::slice::from_ref(&weights), &inputs);
        let sparse: SparseValues = weights.into();
        let columns = Columns::of(&network).expect("columns");
        columns.merge(std::slice::from_ref(&sparse), None, &inputs, &[]).expect("few kinds of columns");
        let merged = evaluate_some(&network, &[sparse], &inputs, &[sum]);
        assert_eq!(merged[0], *whole.value(sum), "seed {seed}");
    }
}
