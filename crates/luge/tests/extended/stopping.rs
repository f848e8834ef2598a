//! When training stops, and where its loss goes before: items 9 and 10.

use luge::JobError;
use luge_landscape::{Carrier, LandscapeKind};
use luge_train::Outcome;

use crate::classroom::{Classroom, Hand, OUTSIDE, shipped};

/// Item 9: before the labels are read the loss is 1/2 |y|^2, which no bound on the final loss can exclude.
#[test]
fn a_stopping_test_at_step_zero_fires_at_once() {
    let rooms = OUTSIDE.into_iter().flat_map(|kind| Carrier::ALL.map(|c| Classroom::copy().on(kind, c)));
    for room in rooms {
        let lesson = room.lesson();
        let mut hand = Hand::new(&lesson);
        // 1/2 (1.5^2 + 3^2 + 2^2).
        assert!((hand.loss() - 7.625).abs() < 1e-12);
        assert_eq!(hand.train(0), Outcome::Converged { steps: 0 }, "{}", room.name());
        assert_eq!(hand.theta(), [0.0, 0.0], "{}", room.name());

        assert_eq!(
            hand.train(1),
            Outcome::Converged { steps: lesson.simulated().expect("an answer").machine_steps + 1 },
            "{}",
            room.name()
        );
        assert_eq!(hand.theta(), [1.5, 0.0], "{}", room.name());
    }
}

/// Item 10: Corollary 1 promises a falling loss, but the first step rises from 1/2 |y|^2.
#[test]
fn landscape_a_rises_at_first_without_a_label_offset() {
    for carrier in Carrier::ALL {
        let mut room = Classroom::keep().on(LandscapeKind::Internal, carrier);
        room.options.label_offset = Some(0.0);
        let (lessons, losses) = room.train();
        // 1/2 (2^2 + 1^2), and then all of l_TM.
        assert!((losses[0] - 2.5).abs() < 1e-12);
        assert!(losses[1] > losses[0], "{losses:?}");
        assert!(losses[1..].is_sorted_by(|a, b| a > b), "{losses:?}");
        let bounds = &lessons.certificate["loss_bounds"];
        assert!(!bounds.holds && bounds.figures.ends_with("; the loss rose"), "{}", bounds.figures);

        room.options.label_offset = None;
        let (lessons, losses) = room.train();
        assert!(losses.is_sorted_by(|a, b| a > b), "{losses:?}");
        assert!(lessons.certificate["loss_bounds"].figures.ends_with("; never rising"));
        assert!(lessons.certificate.proves_the_run());
        assert_eq!(lessons.theta, [-2.0, 0.0]);
    }
}

/// Item 10: labels that are all zero look as if they had not been read yet; an offset tells them apart.
#[test]
fn labels_that_are_all_zero() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let mut room =
                Classroom::new(shipped("copy_label.tm"), "x,y\n1,0\n2,0\n", "fix:3.2").on(kind, carrier);
            match room.prepare().err() {
                Some(error @ JobError::LabelsTooSmall { .. }) => assert_eq!(
                    error.to_string(),
                    "the labels differ too little from 0: |y - r|^2 = 0 is below eps = 0.0625"
                ),
                other => panic!("{other:?}"),
            }
            for offset in [8.0, -0.5] {
                room.options.label_offset = Some(offset);
                assert_eq!(room.proved().theta, [0.0, 0.0], "{}", room.name());
            }
        }
    }
}

/// Labels that are as far from the offset as 0 from 0 are refused the same way.
#[test]
fn labels_that_are_all_the_offset() {
    let mut room = Classroom::new(shipped("copy_label.tm"), "x,y\n1,3\n2,3\n", "fix:3.2");
    room.options.label_offset = Some(3.0);
    assert_eq!(
        room.prepare().err().expect("labels that cannot be told from the offset").to_string(),
        "the labels differ too little from 3: |y - r|^2 = 0 is below eps = 0.0625"
    );
}
