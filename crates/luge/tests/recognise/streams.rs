//! Networks that learn from a stream: whatever is changed in the graph, the sparse engine does what the dense one does, or refuses.

use luge_landscape::{Corrections, DataLayout, Learner, Mlp, StreamNetwork, StreamOptions, VertexSet};
use luge_machine::{Alphabet, Machine, Move, Pattern, SampleUse, SymbolId, Write};
use luge_net::{Network, Values};
use luge_train::{Dense, Precision, Rate, SparseStream, StreamEngine};

use crate::changes::all_changes;

/// Takes a sample, copies the first bit of its feature to theta, and takes the next.
fn network() -> StreamNetwork {
    let mut b = Machine::builder();
    b.read_only_tape("data", Alphabet::binary());
    b.tape("theta", Alphabet::binary());
    let [wait, labels, look, rest] = ["wait", "labels", "look", "rest"].map(|name| b.state(name));
    let (any, keep) = ([Pattern::Any; 2], [Write::Keep; 2]);
    b.samples_in(wait, SampleUse::Take).samples_in(labels, SampleUse::Latch);
    b.rule(wait, any, keep, [Move::Stay, Move::Stay], labels);
    b.rule(labels, any, keep, [Move::Right, Move::Stay], look);
    for bit in [SymbolId(0), SymbolId(1)] {
        let reads = [Pattern::Is(bit), Pattern::Any];
        b.rule(look, reads, [Write::Keep, Write::Put(bit)], [Move::Stay, Move::Right], rest);
    }
    b.rule(rest, any, keep, [Move::Left, Move::Stay], wait);
    let learner = Learner::new(&b.build().expect("a machine"), None).expect("what it is given fits");
    let format = "fix:2.0".parse().expect("a format");
    let options = StreamOptions {
        vertices: VertexSet::default(),
        n_cells: 8,
        first_cells: vec![-1, -1],
        layout: DataLayout { n_samples: 1, n_features: 1, n_labels: 1, format },
        label_bound: None,
        carrier: None,
        corrections: Corrections::default(),
    };
    StreamNetwork::build(&learner, &Mlp::linear(1, 1), &options).expect("a network")
}

const BATCHES: [(f64, f64); 9] = [
    (1.0, -1.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (1.0, 0.0),
    (-2.0, 1.0),
    (1.0, -2.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (0.0, -1.0),
];

/// Both engines on the same batches; `Ok` with the steps that both made, `Err` with the first weight that differs.
fn compare(network: &Network, start: &[Values]) -> Result<usize, String> {
    let Ok(mut sparse) = SparseStream::new(network, start) else { return Ok(0) };
    let inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
    let mut dense =
        Dense::new(network, start, &inputs, Precision::F64, Rate::One, None).expect("what it is given fits");
    for (step, (x, y)) in BATCHES.into_iter().enumerate() {
        if sparse.step_on(&[x], &[y]).is_err() {
            return Ok(step);
        }
        dense.step_on(&[x], &[y]).expect("a gradient");
        for (block, (a, b)) in dense.weights().iter().zip(sparse.weights()).enumerate() {
            for (i, (a, b)) in a.data.iter().zip(&b.data).enumerate() {
                if (a - b).abs() > 1e-9 || a.is_nan() != b.is_nan() {
                    let name = &network.parameters()[block].name;
                    return Err(format!(
                        "step {step}: {name}[{i}] is {a} by the dense engine, {b} by the sparse"
                    ));
                }
            }
        }
    }
    Ok(BATCHES.len())
}

#[test]
fn a_stream_is_followed_from_the_graph_alone() {
    let built = network();
    assert_eq!(compare(&built.network, &built.initial), Ok(BATCHES.len()));
}

#[test]
fn every_change_of_a_stream_network_is_followed_or_refused() {
    let built = network();
    let (mut n_refused, mut n_followed) = (0, 0);
    for (change, altered) in all_changes(&built.network) {
        match compare(&altered, &built.initial) {
            Ok(0) => n_refused += 1,
            Ok(_) => n_followed += 1,
            Err(why) => panic!("{change}: {why}"),
        }
    }
    assert!(n_refused > 1_000, "{n_refused} refused, {n_followed} followed");
}
