//! The quantiser network in the arithmetic of training.

use luge_net::{
    GraphBuilder, NodeId, NumberFormat, StepRule, Values,
    numbers::to_signs,
    quantizer::{dequantize, quantize},
};
use luge_train::{Dense, Engine, Precision, Rate};

fn squared_distance(g: &mut GraphBuilder, a: NodeId, b: NodeId) -> NodeId {
    let residual = g.sum("residual", [(1.0, a), (-1.0, b)]);
    let squares = g.square("squares", residual);
    g.sum_all("distance", squares)
}

/// There and back in the arithmetic of training, where constants are folded and sums have another order.
#[test]
fn the_dense_engine_agrees_in_f64_and_f32() {
    for text in ["fix:4.4", "fix:4.4:sm", "fix:2.10", "float:4.3", "float:5.2"] {
        let format: NumberFormat = text.parse().expect("a format");
        let values = Values::column(format.all_values().collect());
        let bits =
            to_signs(format, &values.data).into_iter().map(|sign| f64::from(u8::from(sign > 0.0))).collect();
        let mut g = GraphBuilder::new();
        let rule = StepRule::Gradient { rate: 1.0 };
        let (_, labels) = g.parameter("labels", values.shape, rule);
        let fixed_labels = g.stop_gradient("[labels]", labels);
        let found = quantize(&mut g, &format, fixed_labels);
        let back = dequantize(&mut g, &format, found);
        let native = g.constant("native", Values::column(bits));
        let of_bits = squared_distance(&mut g, found, native);
        let of_values = squared_distance(&mut g, back, labels);
        let loss = g.sum("loss", [(1.0, of_bits), (1.0, of_values)]);
        let network = g.finish(loss);
        for precision in [Precision::F64, Precision::F32] {
            let start = std::slice::from_ref(&values);
            let mut engine = Dense::new(&network, start, &[], precision, Rate::One, None)
                .unwrap_or_else(|e| panic!("{text}: {e}"));
            let loss = engine.loss().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(loss.to_bits(), 0, "{text} in {}: {loss}", precision.word());
        }
    }
}
