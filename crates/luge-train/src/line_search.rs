//! Exact line search on a piecewise linear loss.

use luge_net::{Network, Op, Values, evaluate};

/// The fraction of the way from `from` to `to` at which the loss is lowest; the farthest of equal ones.
///
/// A piecewise linear function is lowest at a kink or at an end. A kink is where the input of some ReLU, which is affine in
/// the parameters, changes sign.
pub(crate) fn search(network: &Network, from: &Values, to: &Values, inputs: &[Values]) -> f64 {
    let at = |fraction: f64| {
        let mix = |(a, b): (&f64, &f64)| a + fraction * (b - a);
        let data = from.data.iter().zip(&to.data).map(mix).collect();
        evaluate(network, &[Values::new(from.shape, data)], inputs)
    };
    let (start, end) = (at(0.0), at(1.0));
    let mut kinks = vec![1.0];
    for (id, node) in network.numbered_nodes() {
        let Op::Relu(of) = node.op else { continue };
        debug_assert_eq!(network.node(id).shape, start.value(of).shape);
        for (&a, &b) in start.value(of).data.iter().zip(&end.value(of).data) {
            if (a < 0.0) != (b < 0.0) {
                kinks.push(a / (a - b));
            }
        }
    }
    kinks.sort_by(f64::total_cmp);
    kinks.dedup();
    let mut best = (0.0, start.loss());
    for fraction in kinks {
        let loss = at(fraction).loss();
        if loss <= best.1 {
            best = (fraction, loss);
        }
    }
    best.0
}
