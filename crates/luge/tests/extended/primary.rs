//! Primary networks of one's own, and what must not reach them: item 6 and the missing gradient.

use luge_landscape::{Carrier, Corrections, Mlp, Primary};
use luge_net::{GraphBuilder, NodeId, Shape, StepRule, Values};
use luge_train::{Dense, Outcome, Precision, Rate, StopRule, train};

use crate::classroom::{Classroom, Hand, OUTSIDE, column};

/// f(x) = x / theta_0: infinite, or 0/0, until theta is written.
struct Inverse;

impl Primary for Inverse {
    fn n_features(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        1
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        g.quotient("inverse", x, theta)
    }

    /// No bound holds for all weights; this one does for the multiples of 1/4 that are not 0.
    fn largest_output(&self, _weight: f64, feature: f64) -> f64 {
        4.0 * feature
    }

    fn describe(&self) -> String {
        "inverse".to_owned()
    }
}

/// f(x) = theta_0 + |theta_1| x with |t| = sqrt(t^2), whose derivative at t = 0 is 0 times infinity.
struct Size;

impl Primary for Size {
    fn n_features(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        2
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let bias = g.gather("bias", vec![0], theta);
        let weight = g.gather("weight", vec![1], theta);
        let square = g.square("size", weight);
        let size = g.sqrt("size", square);
        let product = g.product("product", x, size);
        g.sum("size model", [(1.0, product), (1.0, bias)])
    }

    fn largest_output(&self, weight: f64, feature: f64) -> f64 {
        weight * (1.0 + feature)
    }

    fn describe(&self) -> String {
        "size".to_owned()
    }
}

/// Item 6: while the machine runs, f_theta may be anything. Printed, (1 - phi) f_theta is 0 times that.
#[test]
fn an_infinite_primary_network() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let mut room = Classroom::copy().on(kind, carrier);
            room.primary = std::sync::Arc::new(Inverse);
            // x = -2, 0.25 and 1 against theta = 1.5; a fourth sample has x = 0.
            room.table = crate::classroom::table("x,y\n-2,1.5\n0.25,-3\n1,2\n0,1\n");
            let lesson = room.lesson();
            let output = Hand::new(&lesson).value(lesson.extended().nodes.primary).data;
            assert_eq!(output[..3], [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY]);
            assert!(output[3].is_nan());
            assert_eq!(room.proved().theta, [1.5]);

            room.options.corrections = Corrections { select_switches: false, ..Corrections::default() };
            assert_eq!(room.train().0.outcome, Outcome::Diverged { steps: 0 }, "{}", room.name());
        }
    }
}

/// The printed switches do no harm where everything is finite: it is the infinity that they cannot bear.
#[test]
fn printed_switches_on_a_finite_primary_network() {
    for kind in OUTSIDE {
        let mut room = Classroom::copy().on(kind, Carrier::Offset);
        room.options.corrections = Corrections { select_switches: false, ..Corrections::default() };
        room.proved();
    }
}

/// A primary network that cannot be differentiated where it ends up is trained all the same.
#[test]
fn no_gradient_flows_through_the_primary_network() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let mut room = Classroom::copy().on(kind, carrier);
            room.primary = std::sync::Arc::new(Size);
            let lessons = room.proved();
            assert_eq!(lessons.theta, [1.5, 0.0]);
            let check = &lessons.certificate["no_gradient_through_primary"];
            assert!(check.holds && check.figures.starts_with("0 of "), "{}", check.figures);
        }
    }
}

/// What would happen if a gradient flowed: the same model, trained directly from the same theta.
#[test]
fn a_gradient_through_that_primary_network_is_nan() {
    let direct = |primary: &dyn Primary| {
        let mut g = GraphBuilder::new();
        let (_, theta) = g.parameter("theta", Shape::column(2), StepRule::Gradient { rate: 0.01 });
        let x = g.constant("x", column(&[-2.0, 0.25, 1.0]));
        let y = g.constant("y", column(&[1.5, -3.0, 2.0]));
        let out = primary.build(&mut g, theta, x);
        let residual = g.sum("residual", [(1.0, out), (-1.0, y)]);
        let squares = g.square("residual", residual);
        let sum = g.sum_all("loss", squares);
        let network = g.finish(sum);
        let start = [Values::column(vec![1.5, 0.0])];
        let mut engine =
            Dense::new(&network, &start, &[], Precision::F64, Rate::One, None).expect("values that fit");
        let gradient = engine.gradient().expect("a gradient")[0].data.clone();
        let stop = StopRule { loss_at_most: 0.0, not_before: 1, most_steps: 3 };
        let outcome = train(&mut engine, &stop, |_| std::ops::ControlFlow::Continue(())).expect("gradients");
        (gradient, outcome)
    };
    let (gradient, outcome) = direct(&Size);
    assert!(gradient[0].is_finite() && gradient[1].is_nan(), "{gradient:?}");
    assert_eq!(outcome, Outcome::Diverged { steps: 1 });
    let (gradient, outcome) = direct(&Mlp::linear(1, 1));
    assert!(gradient.iter().all(|v| v.is_finite()), "{gradient:?}");
    assert_eq!(outcome, Outcome::StepLimit { steps: 3 });
}
