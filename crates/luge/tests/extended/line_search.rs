//! Line search: item 15.

use luge_landscape::{Carrier, LandscapeKind};
use luge_net::{Evaluation, Values, evaluate};

use crate::classroom::{Classroom, Hand, shipped};

/// Pieces of the way from one vertex to the next.
const N_PIECES: u32 = 1024;

/// The machine's last step: the parameters before it and after it.
struct LastStep<'a> {
    hand: Hand<'a>,
    vertex: usize,
    before: Vec<Values>,
}

impl<'a> LastStep<'a> {
    fn of(mut hand: Hand<'a>) -> Self {
        hand.step(hand.lesson.simulated().expect("an answer").machine_steps + 1);
        let before = hand.parameters.clone();
        hand.step(1);
        Self { vertex: hand.parameter("vertex").index(), before, hand }
    }

    /// The network a fraction of the way along the Frank-Wolfe direction.
    fn at(&self, fraction: f64) -> (Vec<Values>, Evaluation) {
        let (from, to) = (&self.before[self.vertex], &self.hand.parameters[self.vertex]);
        let mix = |(a, b): (&f64, &f64)| a + fraction * (b - a);
        let mut parameters = self.before.clone();
        parameters[self.vertex] = Values::new(from.shape, from.data.iter().zip(&to.data).map(mix).collect());
        let here = evaluate(self.hand.lesson.extended().network(), &parameters, &self.hand.inputs);
        (parameters, here)
    }

    /// The fraction at which something is lowest; the farthest of equal ones.
    fn lowest(&self, of: impl Fn(&Evaluation) -> f64) -> f64 {
        let fractions = (0..=N_PIECES).map(|piece| f64::from(piece) / f64::from(N_PIECES));
        let along = fractions.map(|fraction| (fraction, of(&self.at(fraction).1)));
        let lower = |a: &(f64, f64), b: &(f64, f64)| a.1.total_cmp(&b.1).then(b.0.total_cmp(&a.0));
        along.min_by(lower).expect("some piece").0
    }
}

/// Item 15: the extended network's own loss is lowest inside the ramp of the switch, where it is below B_stop and the
/// output is no f_theta. l_TM is lowest at the halting vertex.
#[test]
fn the_extended_loss_is_lowest_inside_the_switch() {
    for carrier in Carrier::ALL {
        let room = Classroom::new(shipped("keep_label.tm"), "x,y\n-1,-1\n-1,1\n", "fix:2.0");
        let room = room.on(LandscapeKind::Internal, carrier);
        let lesson = room.lesson();
        let nodes = lesson.extended().nodes;
        let last = LastStep::of(Hand::new(&lesson));

        let (stuck, here) = last.at(last.lowest(Evaluation::loss));
        let phi = here.value(nodes.running).data[0];
        assert!(phi > 0.0 && phi < 1.0, "{}: phi = {phi}", carrier.word());
        assert!(here.loss() < last.at(1.0).1.loss() && here.loss() < lesson.extended().bounds().stop);
        assert_ne!(here.value(nodes.out), here.value(nodes.primary));
        let running = lesson.extended().decode(&last.before, None);
        assert_eq!(lesson.extended().decode(&stuck, None), running, "the machine's last step is not made");

        let on_landscape = last.lowest(|here| here.value(nodes.landscape).data[0]);
        assert!(on_landscape.total_cmp(&1.0).is_eq(), "{on_landscape}");
        let (_, end) = last.at(1.0);
        assert_eq!(end.value(nodes.out), end.value(nodes.primary));
        assert_eq!(end.value(nodes.theta).data, lesson.simulated().expect("an answer").theta);
    }
}

/// Item 15: where an unfinished theta happens to fit the labels better, the search even stops with that theta.
#[test]
fn the_extended_loss_prefers_an_unfinished_theta() {
    let room = Classroom::keep();
    let lesson = room.lesson();
    let nodes = lesson.extended().nodes;
    let last = LastStep::of(Hand::new(&lesson));
    let (_, here) = last.at(last.lowest(Evaluation::loss));
    assert_eq!(here.value(nodes.theta).data, [0.0, 0.0]);
    assert_eq!(last.at(1.0).1.value(nodes.theta).data, [-2.0, 0.0]);
    let on_landscape = last.lowest(|here| here.value(nodes.landscape).data[0]);
    assert!(on_landscape.total_cmp(&1.0).is_eq(), "{on_landscape}");
}
