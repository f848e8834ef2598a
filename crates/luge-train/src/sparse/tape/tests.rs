use luge_net::{GraphBuilder, NodeId, Shape, StepRule, Values, evaluate};

use super::*;

/// `ReLU(2v + a) - ReLU(2v + b) + c` as a network computes it.
fn network(a: f64, b: f64, c: f64) -> impl Fn(f64) -> f64 {
    let mut g = GraphBuilder::new();
    let (_, v) = g.parameter("v", Shape::SCALAR, StepRule::Gradient { rate: 1.0 });
    let relu = |g: &mut GraphBuilder, bias: f64| -> NodeId {
        let inside = g.affine("inside", 2.0, v, bias);
        g.relu("relu", inside)
    };
    let (low, high) = (relu(&mut g, a), relu(&mut g, b));
    let one = g.scalar("one", 1.0);
    let value = g.sum("value", [(1.0, low), (-1.0, high), (c, one)]);
    let network = g.finish(value);
    move |v| evaluate(&network, &[Values::column(vec![v])], &[]).loss()
}

#[test]
fn saturated_copies_are_those_of_the_network() {
    let (heads, cells) = (network(-0.5, -1.5, 0.0), network(1.0, -1.0, -1.0));
    for sixteenths in -48..=48 {
        let v = f64::from(sixteenths) / 16.0;
        assert_eq!(saturate_01(v).to_bits(), heads(v).to_bits(), "{v}");
        assert_eq!(saturate_11(v).to_bits(), cells(v).to_bits(), "{v}");
    }
    assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(saturate_01).to_vec(), [0.0, 0.0, 0.5, 1.0, 1.0]);
    assert_eq!([-1.0, -0.5, 0.0, 0.5, 1.0].map(saturate_11).to_vec(), [-1.0, -1.0, 0.0, 1.0, 1.0]);
}

/// What a head with these weights on cells 0 and 1, both holding `cell`, sees of a step to the right; the cell beyond
/// holds -1.
fn look(weights: [f64; 2], cell: f64) -> Option<Look> {
    let cells = Cells::new(0, vec![cell, cell, -1.0]);
    Tape::new(cells, Head::new(0, &weights), true).look::<true>(Some(1.0), 1)
}

#[test]
fn up_to_a_quarter_and_from_three_quarters_on_a_head_is_clear() {
    // On cell 0: the cell ahead is cell 1. On cell 1: it is the one beyond.
    let ahead = |weights: [f64; 2]| look(weights, 0.5).map(|look| look.ahead.to_bits());
    let (plus, minus) = (Some(1.0_f64.to_bits()), Some((-1.0_f64).to_bits()));
    assert_eq!((ahead([1.0, 0.0]), ahead([0.75, 0.25]), ahead([1.25, -0.25])), (plus, plus, plus));
    assert_eq!((ahead([0.25, 0.75]), ahead([0.0, 1.0])), (minus, minus));
}

#[test]
fn between_a_quarter_and_three_quarters_a_head_is_blurred() {
    for eighths in [3.0, 4.0, 5.0] {
        assert!(look([eighths / 8.0, 1.0], 1.0).is_none(), "{eighths} eighths beside a clear head");
        assert!(look([1.0, eighths / 8.0], 1.0).is_none(), "{eighths} eighths beside a clear head");
    }
    assert!(look([0.7, 0.0], 1.0).is_none(), "no cell is clear");
    assert!(look([1.0, 1.0], 1.0).is_none(), "two cells are");
}

#[test]
fn cells_nearer_to_zero_than_a_half_are_blurred() {
    let blurred = |cell: f64| look([1.0, 0.0], cell).is_none();
    assert!(blurred(0.4) && blurred(0.0) && blurred(-0.4));
    assert!(!blurred(0.5) && !blurred(-0.5) && !blurred(2.0));
}

#[test]
fn weights_are_dropped_far_below_the_rounding_of_their_products_only() {
    let kept = |weight: f64| trimmed(0, &[weight, 1.0, weight]).weights().count();
    assert_eq!((kept(1e-59), kept(1e-61), kept(f64::NAN)), (3, 1, 3));
}
