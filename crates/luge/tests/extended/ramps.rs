//! Ramps that end at exactly 0 and 1: item 14.

use luge_landscape::{Carrier, Corrections};

use crate::classroom::{Classroom, Hand, OUTSIDE, shipped};

/// The machine's answer for a first label of 0.375 in fix:3.2: it lies halfway between 0.25 and 0.5, and rounds to 0.5.
const THETA: [f64; 2] = [0.5, 0.0];

/// Two labels, the first one halfway between two numbers of the format.
fn room(second: &str, corrections: Corrections) -> impl Iterator<Item = Classroom> {
    let csv = format!("x,y\n1,0.375\n2,{second}\n");
    let rooms = OUTSIDE.into_iter().flat_map(|kind| Carrier::ALL.map(|carrier| (kind, carrier)));
    rooms.map(move |(kind, carrier)| {
        let mut room = Classroom::new(shipped("copy_label.tm"), &csv, "fix:3.2").on(kind, carrier);
        room.options.corrections = corrections;
        room
    })
}

fn two_quotients() -> Corrections {
    Corrections { ramps_rounded_once: false, ..Corrections::default() }
}

/// psi once the labels are copied.
fn psi(room: &Classroom) -> f64 {
    let lesson = room.lesson();
    let mut hand = Hand::new(&lesson);
    hand.step(1);
    hand.value(lesson.extended().nodes.initial).data[0]
}

/// Item 14: psi ends a little above 0, z creeps down, and the halfway label falls to the other side.
#[test]
fn two_quotients_let_the_labels_creep() {
    for room in room("3.1", two_quotients()) {
        let at = room.name();
        let psi = psi(&room);
        assert!(psi > 0.0 && psi < 1e-12, "{at}: {psi:e}");
        let (lessons, _) = room.train();
        assert!(!lessons.certificate["labels_copied"].holds, "{at}");
        let z = lessons.parameters[0].entry(0);
        assert!(z < 0.375 && z > 0.375 - 1e-6, "{at}: {z}");
        assert_ne!(lessons.theta, THETA, "{at}");
        assert!(
            !lessons.certificate["trace"].holds && !lessons.certificate["output_equals_primary"].holds,
            "{at}"
        );
    }
}

/// Item 14: rounded once, the ramps end at exactly 0 and 1, and the same labels stay where they are.
#[test]
fn one_quotient_holds_the_labels() {
    for room in room("3.1", Corrections::default()) {
        assert!(psi(&room).total_cmp(&0.0).is_eq(), "{}", room.name());
        let lessons = room.proved();
        assert_eq!(lessons.theta, THETA, "{}", room.name());
        assert_eq!(lessons.parameters[0].to_values().data, [0.375, 3.1]);
    }
}
