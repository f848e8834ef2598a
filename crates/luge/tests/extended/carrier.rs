//! The way of l_TM to the output: items 5, 6 and 17.

use luge::JobError;
use luge_landscape::{Carrier, Corrections, ExtendedError, LandscapeKind, VertexSet};
use luge_train::Outcome;

use crate::classroom::{Classroom, Hand, OUTSIDE, column, shipped};

fn rooms() -> impl Iterator<Item = Classroom> {
    let outside = OUTSIDE.into_iter().flat_map(|kind| Carrier::ALL.map(|c| Classroom::copy().on(kind, c)));
    outside.chain(Carrier::ALL.map(|carrier| Classroom::keep().on(LandscapeKind::Internal, carrier)))
}

/// Item 5. With the offset carrier the loss collapses with the label, and training stops before the machine has moved
/// twice. With the orthogonal one the machine runs on, over data that change under its head; landscape A has read
/// them by then and only z is wrong.
#[test]
fn labels_drift_along_a_solid_arc() {
    for mut room in rooms() {
        let expected = room.proved().theta;
        room.options.corrections = Corrections { labels_stopped: false, ..Corrections::default() };
        let (lessons, _) = room.train();
        let (at, proved) = (room.name(), &lessons.certificate);
        assert!(!proved["labels_copied"].holds, "{at}");
        match (room.options.carrier, room.options.landscape) {
            (Carrier::Offset, _) => {
                assert_eq!(lessons.outcome, Outcome::Converged { steps: 2 }, "{at}");
                assert_ne!(lessons.theta, expected, "{at}");
            }
            (Carrier::Orthogonal, LandscapeKind::Internal) => assert_eq!(lessons.theta, expected, "{at}"),
            (Carrier::Orthogonal, _) => {
                assert!(!proved["trace"].holds, "{at}: {}", proved["trace"].figures);
                assert_ne!(lessons.theta, expected, "{at}");
            }
        }
    }
}

/// Item 5, how it goes wrong: the first step of the machine takes the whole of sqrt(2 l) off a label.
#[test]
fn a_solid_arc_takes_the_carrier_off_the_labels() {
    for mut room in rooms() {
        room.options.corrections = Corrections { labels_stopped: false, ..Corrections::default() };
        let lesson = room.lesson();
        let mut hand = Hand::new(&lesson);
        hand.step(1);
        let carried = hand.value(lesson.extended().nodes.carrier).data;
        let copied = hand.labels().to_vec();
        hand.step(1);
        let labels = &room.table.labels.data;
        for (i, z) in hand.labels().iter().enumerate() {
            let push = match room.options.carrier {
                Carrier::Offset => carried[i] - labels[i],
                Carrier::Orthogonal => carried[i],
            };
            let off = z - (copied[i] - push);
            assert!(
                off.abs() < 1e-9 * carried[i].abs().max(1.0),
                "{}: label {i} is off by {off}",
                room.name()
            );
        }
        assert_ne!(hand.labels(), copied);
    }
}

/// Item 6: f_perp(0) = 0/0 poisons the loss through the printed switches, and through nothing else.
#[test]
fn f_perp_of_zero() {
    for kind in OUTSIDE {
        for (guarded_carrier, select_switches) in [(true, true), (true, false), (false, true), (false, false)]
        {
            let mut room = Classroom::copy().on(kind, Carrier::Orthogonal);
            room.options.corrections =
                Corrections { guarded_carrier, select_switches, ..Corrections::default() };
            let lesson = room.lesson();
            let hand = Hand::new(&lesson);
            let carrier = hand.value(lesson.extended().nodes.carrier).data;
            assert_eq!(carrier.iter().all(|v| v.is_nan()), !guarded_carrier, "{}", room.name());
            if guarded_carrier || select_switches {
                room.proved();
            } else {
                assert!(hand.loss().is_nan());
                assert_eq!(room.train().0.outcome, Outcome::Diverged { steps: 0 });
            }
        }
    }
}

/// Item 6: at z = 0 the guarded f_perp is still a unit vector.
#[test]
fn guarded_f_perp_of_zero_is_a_unit_vector() {
    let room = Classroom::copy().on(LandscapeKind::Compact, Carrier::Orthogonal);
    let lesson = room.lesson();
    let hand = Hand::new(&lesson);
    let nodes = lesson.extended().nodes;
    let root = (2.0 * hand.value(nodes.landscape).data[0]).sqrt();
    // No axis carries any of z = 0, so the second one is taken.
    assert_eq!(hand.value(nodes.carrier).data, [0.0, root, 0.0]);
}

/// Item 6: a single label has no orthogonal direction.
#[test]
fn one_label() {
    for kind in OUTSIDE {
        let room =
            |carrier| Classroom::new(shipped("copy_label.tm"), "x,y\n-2,1.5\n", "fix:3.2").on(kind, carrier);
        match room(Carrier::Orthogonal).prepare().err() {
            Some(JobError::Extended(error @ ExtendedError::OneLabel(1))) => assert_eq!(
                error.to_string(),
                "the orthogonal carrier needs at least two labels in all, the data have 1"
            ),
            other => panic!("{other:?}"),
        }
        assert_eq!(room(Carrier::Offset).proved().theta, [1.5, 0.0]);
    }
}

/// Item 17: y changes after the labels were copied. z stays what it was, so the loss is no longer l_TM and the weights
/// no longer land where they should. Landscape C forgives that much, and ends with the theta of labels that are gone.
#[test]
fn labels_that_change_between_steps() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let mut room = Classroom::copy().on(kind, carrier);
            // Where vertices know little, a run as short as this one gets through.
            room.options.vertices = VertexSet::All;
            let lesson = room.lesson();
            let at = room.name();
            let expected = Outcome::Converged { steps: lesson.simulated().expect("an answer").machine_steps };
            let added = carrier.added_loss(&room.table.labels);

            let mut hand = Hand::new(&lesson);
            hand.step(1);
            let off = |hand: &Hand<'_>| {
                let landscape = hand.value(lesson.extended().nodes.landscape).data[0];
                (hand.loss() - added - landscape).abs() / landscape
            };
            assert!(off(&hand) < 1e-12, "{at}");
            let mut other = Hand { inputs: lesson.inputs(), parameters: hand.parameters.clone(), ..hand };
            other.inputs[1] = column(&[-3.0, 2.0, 1.5]);
            assert!(off(&other) > 1e-3, "{at}: {}", off(&other));
            assert_eq!(hand.train(1), expected, "{at}");
            assert_eq!(hand.theta(), [1.5, 0.0], "{at}");

            let outcome = other.train(1);
            assert_eq!(other.labels(), room.table.labels.data, "{at}");
            if kind == LandscapeKind::Plain {
                assert_eq!((outcome, other.theta()), (expected, vec![1.5, 0.0]), "{at}");
            } else {
                assert!(matches!(outcome, Outcome::StepLimit { .. }), "{at}: {outcome:?}");
                assert_ne!(other.theta(), [1.5, 0.0], "{at}");
            }
        }
    }
}
