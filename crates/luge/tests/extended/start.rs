//! How the machine finds its data: items 7 and 8.

use luge::{run::lockstep::Mismatch, training::PreparedTraining};
use luge_landscape::{Carrier, Configuration, LandscapeKind, Undecodable};
use luge_machine::Simulator;
use luge_net::{SparseValues, Values, numbers::to_signs};
use luge_train::Outcome;

use crate::classroom::{Classroom, Hand, OUTSIDE, shipped, written};

/// The machine's start on other data of the same size, in the cells of this lesson.
fn start_on(room: &Classroom, lesson: &PreparedTraining, numbers: &[f64], head: i64) -> Configuration {
    let bits: Vec<bool> = to_signs(room.options.format, numbers).iter().map(|&bit| bit > 0.0).collect();
    let mut input = room.learner.input(lesson.layout(), &bits);
    input.tapes[room.learner.data_track().index()].head = head;
    let machine = room.learner.lowered().normal.machine();
    lesson.window().configuration(&Simulator::new(machine, &input)).expect("a start inside the window")
}

/// Item 7: without a start vertex the initial configuration, and so the labels, would have to be chosen in advance.
#[test]
fn landscape_a_without_a_start_vertex_does_not_see_the_labels() {
    let room = Classroom::keep();
    let lesson = room.lesson();
    let extended = lesson.extended();
    assert_eq!(lesson.simulated().expect("an answer").theta, [-2.0, 0.0]);
    for guess in [-2.0, -1.0, 0.0, 1.0] {
        // Sample by sample: x, y, x, y.
        let guessed = start_on(&room, &lesson, &[1.0, guess, -1.0, 1.0], 0);
        let mut hand = Hand::new(&lesson);
        let vertex = hand.parameter("vertex").index();
        let n_vertices = extended.n_vertices();
        let unit = (0..n_vertices).map(|v| Values::unit(n_vertices, v)).find(|unit| {
            hand.parameters[vertex] = unit.clone();
            extended.decode(&hand.parameters, None).as_ref() == Ok(&guessed)
        });
        hand.parameters[vertex] = unit.expect("a vertex for every content of the data");
        assert_eq!(
            hand.train(1),
            Outcome::Converged { steps: lesson.simulated().expect("an answer").machine_steps + 1 }
        );
        // The labels are in z, and nothing has read them.
        let r = extended.label_offset;
        assert_eq!(hand.labels(), [-2.0 - r, 1.0 - r]);
        assert_eq!(hand.theta(), [guess, 0.0], "the machine ran on the labels that were guessed");
    }
}

/// Item 7: from the start vertex the labels are found, at one step more, whatever they are.
#[test]
fn the_start_vertex_finds_the_labels() {
    for first in ["-2", "-1", "0", "1"] {
        for carrier in Carrier::ALL {
            let csv = format!("x,y\n1,{first}\n-1,1\n");
            let room = Classroom::new(shipped("keep_label.tm"), &csv, "fix:2.0")
                .on(LandscapeKind::Internal, carrier);
            let lesson = room.lesson();
            let waiting =
                lesson.extended().decode(&SparseValues::all_values(lesson.extended().initial()), None);
            assert_eq!(waiting, Err(Undecodable::Start));
            let lessons = room.proved();
            assert_eq!(lessons.outcome, Outcome::Converged { steps: lessons.machine_steps + 2 });
            assert_eq!(lessons.theta, [first.parse().unwrap(), 0.0]);
        }
    }
}

/// Puts the lowest bit of the first feature into theta, standing on it from the start.
const PEEK: &str = "
machine \"peek without a marker\"
tape data: 0 1 blank 0 read-only
tape theta: 0 1 blank 0
start: look

look:
  0 * -> * 0, S S, done
  1 * -> * 1, S S, done

done: accept
";

/// The same behind the marker.
const PEEK_BEHIND_MARKER: &str = "
machine \"peek behind the marker\"
tape data: 0 1 blank 0 read-only
tape theta: 0 1 blank 0
start: begin

begin:
  * * -> * *, R S, look
look:
  0 * -> * 0, S S, done
  1 * -> * 1, S S, done

done: accept
";

/// All features of fix:2.0 with the lowest bits of their two's complement.
const FEATURES: [(f64, f64); 4] = [(-2.0, 0.0), (-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)];

/// Item 8: a head that starts on the data starts on a symbol that depends on them. The start vertex holds that symbol
/// and is chosen before the data are known, so whichever is chosen is wrong for half of the data.
#[test]
fn without_a_marker_the_start_vertex_is_a_guess() {
    for kind in OUTSIDE {
        for guess in [0.0, 1.0] {
            let right: Vec<bool> =
                FEATURES.iter().map(|&(x, bit)| start_right(kind, guess, x, bit)).collect();
            let expected: Vec<bool> =
                FEATURES.iter().map(|&(_, bit)| bit.total_cmp(&guess).is_eq()).collect();
            assert_eq!(right, expected, "{}", kind.word());
        }
    }
}

/// Whether training on feature `x` ends with its lowest bit, if the vertex is the one for features with bit `guess`.
fn start_right(kind: LandscapeKind, guess: f64, x: f64, bit: f64) -> bool {
    let room = Classroom::new(written(PEEK), &format!("x,y\n{x},1\n"), "fix:2.0").on(kind, Carrier::Offset);
    let lesson = room.lesson();
    // The guess is a feature of its own: 0 has lowest bit 0, and 1 has 1. Cell 1 is the first one behind the marker.
    let guessed = start_on(&room, &lesson, &[guess, 1.0], 1);
    let really = start_on(&room, &lesson, &[x, 1.0], 1);
    let mut hand = Hand {
        parameters: SparseValues::all_values(&lesson.extended().initial_at(&guessed)),
        ..Hand::new(&lesson)
    };
    let read_only = lesson.extended().read_only(&really);
    let decoded = lesson.extended().decode(&hand.parameters, read_only.as_ref());
    assert_eq!(decoded.is_err(), guess.total_cmp(&bit).is_ne(), "{decoded:?}");
    if let Err(error) = decoded {
        assert_eq!(error, Undecodable::Symbol(0));
    }
    hand.train(1);
    hand.theta()[0].total_cmp(&bit).is_eq()
}

/// Item 8: every head starts on the marker, whatever the data, and every feature is read right.
#[test]
fn behind_the_marker_every_feature_is_read() {
    for kind in OUTSIDE {
        for (x, bit) in FEATURES {
            let csv = format!("x,y\n{x},1\n");
            let room = Classroom::new(written(PEEK_BEHIND_MARKER), &csv, "fix:2.0").on(kind, Carrier::Offset);
            let lesson = room.lesson();
            let blind = lesson.extended().initial_at(&start_on(&room, &lesson, &[0.0, 0.0], 0));
            assert_eq!(
                lesson.extended().initial(),
                blind,
                "the parameters before training depend on the data"
            );
            assert_eq!(room.proved().theta, [bit, 0.0]);
        }
    }
}

/// The read-only tape holds the labels only once they are copied.
#[test]
fn labels_arrive_on_the_tape_with_step_one() {
    let room = Classroom::copy();
    let lesson = room.lesson();
    let node = lesson.extended().nodes.read_only.expect("tapes outside the vertex");
    let mut hand = Hand::new(&lesson);
    let start = start_on(&room, &lesson, &[-2.0, 1.5, 0.25, -3.0, 1.0, 2.0], 0);
    let without = start_on(&room, &lesson, &[-2.0, 0.0, 0.25, 0.0, 1.0, 0.0], 0);
    assert_eq!(Some(hand.value(node)), lesson.extended().read_only(&without));
    hand.step(1);
    assert_eq!(Some(hand.value(node)), lesson.extended().read_only(&start));
    let mismatch: Mismatch = Undecodable::Start.into();
    assert_eq!(mismatch.to_string(), "the network is still at its start vertex");
}
