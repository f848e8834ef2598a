//! Rounding through the square root and the carrier: docs/construction.md, section 8.

use std::ops::ControlFlow;

use luge::run::engine::EngineChoice;
use luge_landscape::{Carrier, LandscapeKind};

use crate::classroom::{Classroom, shipped};

/// The drift of tape and head in a run of more than 100 steps: the mean of eight labels, the first of them given.
fn long_run(first: &str, kind: LandscapeKind, carrier: Carrier, final_loss: Option<f64>) -> (f64, f64) {
    let csv = format!("x,y\n1,{first}\n2,2.25\n-3,2\n0.5,5\n1,7.75\n-8,0.5\n3,1\n4,3.25\n");
    let mut room = Classroom::new(shipped("mean.tm"), &csv, "fix:4.2").on(kind, carrier);
    room.options.final_loss = final_loss;
    let lessons = room.proved();
    assert!(lessons.machine_steps > 100);
    lessons.drift.map(|drift| (drift.tape, drift.head)).expect("weights")
}

/// A bound on the final loss that is hardly above it, so that sqrt(2 l) is not much larger than the labels.
const TIGHT: Option<f64> = Some(32.0);

/// With y_1 = 0 the gain is exactly 1, at any scale.
#[test]
fn the_offset_carrier_is_exact_where_the_first_label_is_zero() {
    assert_eq!(long_run("0", LandscapeKind::Compact, Carrier::Offset, None), (0.0, 0.0));
    assert_eq!(long_run("0", LandscapeKind::Compact, Carrier::Offset, TIGHT), (0.0, 0.0));
}

/// `(y_1 + root) - y_1` is the root again as long as the sum has the root's exponent, and with the bound on the final
/// loss that is chosen from the format the root is far larger than any label.
#[test]
fn the_offset_carrier_is_exact_below_the_next_power_of_two() {
    assert_eq!(long_run("1.7", LandscapeKind::Compact, Carrier::Offset, None), (0.0, 0.0));
}

#[test]
fn otherwise_the_weights_drift_a_little() {
    let runs = [
        ("7.7", Carrier::Offset, TIGHT),
        ("7.7", Carrier::Orthogonal, TIGHT),
        ("1.7", Carrier::Orthogonal, None),
    ];
    for (first, carrier, final_loss) in runs {
        let (tape, head) = long_run(first, LandscapeKind::Compact, carrier, final_loss);
        assert!(tape > 0.0 && tape < 1e-12, "{}: {tape:e}", carrier.word());
        assert!(head > 0.0 && head < 1e-12, "{}: {head:e}", carrier.word());
    }
}

/// The drift that a run tells is the largest distance of any weight from the value it stands for, at any step.
#[test]
fn the_drift_that_is_told_is_that_of_all_weights() {
    for (kind, engine) in [
        (LandscapeKind::Compact, EngineChoice::Sparse),
        (LandscapeKind::Plain, EngineChoice::Sparse),
        (LandscapeKind::Compact, EngineChoice::Dense),
    ] {
        let csv = "x,y\n1,7.7\n2,2.25\n";
        let mut room = Classroom::new(shipped("mean.tm"), csv, "fix:4.2").on(kind, Carrier::Orthogonal);
        (room.options.final_loss, room.options.engine) = (TIGHT, engine);
        let (mut tape, mut head) = (0.0, 0.0);
        let report = room.lesson().train(|progress| {
            for row in &progress.engine.snapshot().tapes {
                tape = row.cells.iter().map(|cell| (cell.abs() - 1.0).abs()).fold(tape, f64::max);
                let distance = |weight: &f64| weight.abs().min((weight - 1.0).abs());
                head = row.head.iter().map(distance).fold(head, f64::max);
            }
            ControlFlow::Continue(())
        });
        let drift = report.expect("gradients").drift.expect("weights");
        assert!(tape > 0.0 && head > 0.0, "{kind:?} by {engine:?}");
        assert_eq!((drift.tape, drift.head), (tape, head), "{kind:?} by {engine:?}");
    }
}

/// Landscape C forgets the error of the last step: a few ulp, however long the run.
#[test]
fn plain_does_not_accumulate() {
    for carrier in Carrier::ALL {
        let (tape, head) = long_run("7.7", LandscapeKind::Plain, carrier, TIGHT);
        assert!(
            tape < 4.0 * f64::EPSILON && head < 4.0 * f64::EPSILON,
            "{}: {tape:e} {head:e}",
            carrier.word()
        );
    }
}
