//! What is seen of every iterate while a lesson runs.

use luge_landscape::Undecodable;
use luge_net::{Op, Values, evaluate};
use luge_train::Tracer;

use super::Lesson;
use crate::lockstep::{Judge, Lockstep, Mismatch};

/// What was found so far.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Iterates looked at.
    pub n_iterates: u64,
    /// Those that were not the machine's configuration.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<(u64, Mismatch)>,
    /// Whether z was y at every step from 1 on.
    pub labels_copied: bool,
    /// Whether the loss always lay where the construction says.
    pub bounds_held: bool,
    /// Whether the hidden tapes held the labels' bits.
    pub tape_read: bool,
    /// Whether a step ever raised the loss.
    pub loss_rose: bool,
    /// The lowest landscape loss of the running machine.
    pub lowest: f64,
    /// The highest landscape loss of the running machine.
    pub highest: f64,
    /// The largest distance of a tape weight from -1 or 1.
    pub tape_drift: f64,
    /// The largest distance of a head weight from 0 or 1.
    pub head_drift: f64,
    /// The loss of the last iterate.
    pub last_loss: f64,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            n_iterates: 0,
            mismatches: 0,
            first_mismatch: None,
            labels_copied: true,
            bounds_held: true,
            tape_read: false,
            loss_rose: false,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            tape_drift: 0.0,
            head_drift: 0.0,
            last_loss: f64::INFINITY,
        }
    }
}

/// The simulator beside training.
pub(super) struct Observer<'a> {
    lesson: &'a Lesson<'a>,
    beside: Beside<'a>,
    pub(super) seen: Seen,
    /// The last iterate; with a fast engine only once training is over.
    pub(super) parameters: Vec<Values>,
}

enum Beside<'a> {
    /// Whole configurations, for the dense engine; `None` if a head starts outside the window.
    Configurations(Option<Lockstep<'a>>),
    /// What a step can change, for the fast engines.
    Judge(Judge<'a>),
}

/// Rounding through the square root and the carrier, relative to the loss.
const LOSS_TOLERANCE: f64 = 1e-9;

impl<'a> Observer<'a> {
    /// Beside the dense engine.
    pub(super) fn of_dense(lesson: &'a Lesson<'a>) -> Self {
        let beside = Beside::Configurations(lesson.lockstep());
        Self { beside, lesson, seen: Seen::default(), parameters: Vec::new() }
    }

    /// Beside a fast engine that has already made some steps.
    pub(super) fn of_fast(lesson: &'a Lesson<'a>, steps: u64, seen: Seen) -> Option<Self> {
        let control = lesson.extended.control()?;
        let machine = lesson.learner.lowered().normal.machine();
        let mut judge = Judge::new(machine, &lesson.input, control, lesson.window.first.clone());
        judge.run(steps.saturating_sub(lesson.extended.extra_steps()));
        Some(Self { beside: Beside::Judge(judge), lesson, seen, parameters: Vec::new() })
    }

    /// An iterate of the dense engine.
    pub(super) fn see(&mut self, step: u64, loss: f64, parameters: Vec<Values>) {
        self.parameters = parameters;
        self.advance(step);
        if let Err(mismatch) = self.compare(step < self.lesson.extended.extra_steps()) {
            self.differs_at(step, mismatch);
        }
        if step == 1 {
            self.seen.tape_read = self.read_only_tape_is_right();
        }
        if step >= 1 {
            let labels = self.lesson.extended.labels().index();
            self.seen.labels_copied &= holds_labels(self.lesson, &self.parameters[labels].data);
        }
        self.see_loss(step, loss);
        self.measure_drift();
    }

    /// An iterate of a fast engine.
    pub(super) fn see_fast(&mut self, step: u64, loss: f64, engine: &dyn Tracer) {
        self.advance(step);
        let Beside::Judge(judge) = &self.beside else { return };
        let found = judge.compare(engine);
        if step == 1 {
            self.seen.tape_read = judge.compare_all(engine).is_ok();
        }
        if let Err(mismatch) = found {
            self.differs_at(step, mismatch);
        }
        if step >= 1 {
            self.seen.labels_copied &= holds_labels(self.lesson, engine.labels());
        }
        self.see_loss(step, loss);
    }

    /// The end of a fast engine's run: every cell once more, and the parameters in full.
    pub(super) fn conclude(&mut self, engine: &dyn Tracer) {
        if let Beside::Judge(judge) = &self.beside
            && let Err(mismatch) = judge.compare_all(engine)
        {
            self.differs_at(engine.steps(), mismatch);
        }
        let (tape, head) = engine.drift();
        self.seen.tape_drift = self.seen.tape_drift.max(tape);
        self.seen.head_drift = self.seen.head_drift.max(head);
        let network = self.lesson.extended.network();
        let snapshot = engine.snapshot();
        let shift = vec![0; snapshot.tapes.len()];
        match snapshot.parameters(network, &shift) {
            Some(parameters) => self.parameters = parameters,
            None => self.differs_at(engine.steps(), Mismatch::LeftWindow),
        }
    }

    fn advance(&mut self, step: u64) {
        if step > self.lesson.extended.extra_steps() {
            match &mut self.beside {
                Beside::Configurations(lockstep) => lockstep.iter_mut().for_each(Lockstep::step),
                Beside::Judge(judge) => judge.step(),
            }
        }
    }

    fn differs_at(&mut self, step: u64, mismatch: Mismatch) {
        self.seen.mismatches += 1;
        self.seen.first_mismatch.get_or_insert((step, mismatch));
    }

    fn see_loss(&mut self, step: u64, loss: f64) {
        self.seen.n_iterates += 1;
        self.seen.loss_rose |= loss > self.seen.last_loss;
        self.seen.last_loss = loss;
        if step >= 1 {
            self.check_bounds(loss);
        }
    }

    fn lockstep(&self) -> Option<&Lockstep<'a>> {
        match &self.beside {
            Beside::Configurations(lockstep) => lockstep.as_ref(),
            Beside::Judge(_) => None,
        }
    }

    fn stopped(&self) -> bool {
        match &self.beside {
            Beside::Configurations(lockstep) => lockstep.as_ref().is_some_and(|l| l.stopped().is_some()),
            Beside::Judge(judge) => judge.stopped(),
        }
    }

    /// Whether the parameters stand for the machine's configuration, or for the start vertex if landscape A waits there.
    fn compare(&self, waiting: bool) -> Result<(), Mismatch> {
        let lockstep = self.lockstep().ok_or(Mismatch::LeftWindow)?;
        let read_only = self.lesson.extended.read_only(lockstep.expected());
        let found = self.lesson.extended.decode(&self.parameters, read_only.as_ref());
        match found {
            Err(Undecodable::Start) if waiting => Ok(()),
            found => lockstep.compare(found),
        }
    }

    /// The hidden read-only tapes hold what the machine is given. The loss of the run depends on them; z does not change any more.
    fn read_only_tape_is_right(&self) -> bool {
        let Some(node) = self.lesson.extended.nodes().read_only else { return true };
        let here = evaluate(self.lesson.extended.network(), &self.parameters, &self.lesson.inputs());
        let expected = self.lockstep().and_then(|l| self.lesson.extended.read_only(l.expected()));
        Some(here.value(node)) == expected.as_ref()
    }

    fn check_bounds(&mut self, loss: f64) {
        let bounds = self.lesson.extended.bounds();
        let landscape = loss - self.lesson.added_loss;
        let room = LOSS_TOLERANCE * loss.abs();
        if self.stopped() {
            self.seen.bounds_held &= loss <= bounds.stop;
        } else {
            let allowed = bounds.running_low - room..=bounds.running_high + room;
            self.seen.bounds_held &= allowed.contains(&landscape);
            self.seen.lowest = self.seen.lowest.min(landscape);
            self.seen.highest = self.seen.highest.max(landscape);
        }
    }

    fn measure_drift(&mut self) {
        let network = self.lesson.extended.network();
        for node in network.nodes() {
            let Op::Parameter(id) = node.op else { continue };
            let data = &self.parameters[id.index()].data;
            let seen = &mut self.seen;
            match node.name.as_str() {
                "tape" => {
                    seen.tape_drift = data.iter().fold(seen.tape_drift, |d, v| d.max((v.abs() - 1.0).abs()));
                }
                "head" => {
                    let distance = |v: &f64| v.abs().min((v - 1.0).abs());
                    seen.head_drift = data.iter().fold(seen.head_drift, |d, v| d.max(distance(v)));
                }
                _ => {}
            }
        }
    }
}

/// z = y - r, bit for bit.
fn holds_labels(lesson: &Lesson<'_>, copied: &[f64]) -> bool {
    copied == lesson.copied_labels
}
