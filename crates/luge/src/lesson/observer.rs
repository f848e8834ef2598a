//! What is seen of every iterate while a lesson runs.

use luge_landscape::Undecodable;
use luge_net::{Op, Values, evaluate};

use super::Lesson;
use crate::lockstep::{Lockstep, Mismatch};

/// The simulator beside training, and what was found so far.
pub(super) struct Observer<'a> {
    lesson: &'a Lesson<'a>,
    lockstep: Option<Lockstep<'a>>,
    pub(super) n_iterates: u64,
    pub(super) mismatches: u64,
    pub(super) first_mismatch: Option<(u64, Mismatch)>,
    pub(super) labels_copied: bool,
    pub(super) bounds_held: bool,
    pub(super) tape_read: bool,
    pub(super) loss_rose: bool,
    pub(super) lowest: f64,
    pub(super) highest: f64,
    pub(super) tape_drift: f64,
    pub(super) head_drift: f64,
    /// The last iterate.
    pub(super) parameters: Vec<Values>,
    last_loss: f64,
}

/// Rounding through the square root and the carrier, relative to the loss.
const LOSS_TOLERANCE: f64 = 1e-9;

impl<'a> Observer<'a> {
    pub(super) fn new(lesson: &'a Lesson<'a>) -> Self {
        Self {
            lockstep: lesson.lockstep(),
            lesson,
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
            parameters: Vec::new(),
            last_loss: f64::INFINITY,
        }
    }

    pub(super) fn see(&mut self, step: u64, loss: f64, parameters: Vec<Values>) {
        self.n_iterates += 1;
        self.loss_rose |= loss > self.last_loss;
        self.last_loss = loss;
        self.parameters = parameters;
        let extra_steps = self.lesson.extended.extra_steps();
        if step > extra_steps {
            self.lockstep.iter_mut().for_each(Lockstep::step);
        }
        if let Err(mismatch) = self.compare(step < extra_steps) {
            self.mismatches += 1;
            self.first_mismatch.get_or_insert((step, mismatch));
        }
        if step == 1 {
            self.tape_read = self.read_only_tape_is_right();
        }
        if step >= 1 {
            self.labels_copied &= self.holds_labels();
            self.check_bounds(loss);
        }
        self.measure_drift();
    }

    /// Whether the parameters stand for the machine's configuration, or for the start vertex if landscape A waits there.
    fn compare(&self, waiting: bool) -> Result<(), Mismatch> {
        let lockstep = self.lockstep.as_ref().ok_or(Mismatch::LeftWindow)?;
        let read_only = self.lesson.extended.read_only(lockstep.expected());
        let found = self.lesson.extended.decode(&self.parameters, read_only.as_ref());
        match found {
            Err(Undecodable::Start) if waiting => Ok(()),
            found => lockstep.compare(found),
        }
    }

    /// z = y - r, bit for bit.
    #[expect(clippy::float_cmp, reason = "the labels must be copied bit for bit")]
    fn holds_labels(&self) -> bool {
        let copied = &self.parameters[self.lesson.extended.labels().index()].data;
        let offset = self.lesson.extended.label_offset();
        copied.iter().zip(&self.lesson.table.labels.data).all(|(z, y)| *z == y - offset)
    }

    /// The hidden read-only tapes hold what the machine is given. The loss of the run depends on them; z does not change any more.
    fn read_only_tape_is_right(&self) -> bool {
        let Some(node) = self.lesson.extended.nodes().read_only else { return true };
        let here = evaluate(self.lesson.extended.network(), &self.parameters, &self.lesson.inputs());
        let expected = self.lockstep.as_ref().and_then(|l| self.lesson.extended.read_only(l.expected()));
        Some(here.value(node)) == expected.as_ref()
    }

    fn check_bounds(&mut self, loss: f64) {
        let bounds = self.lesson.extended.bounds();
        let landscape = loss - self.lesson.extended.carrier().added_loss(&self.lesson.table.labels);
        let room = LOSS_TOLERANCE * loss.abs();
        let halted = self.lockstep.as_ref().is_some_and(|lockstep| lockstep.stopped().is_some());
        if halted {
            self.bounds_held &= loss <= bounds.stop;
        } else {
            self.bounds_held &= (bounds.running_low - room..=bounds.running_high + room).contains(&landscape);
            self.lowest = self.lowest.min(landscape);
            self.highest = self.highest.max(landscape);
        }
    }

    fn measure_drift(&mut self) {
        let network = self.lesson.extended.network();
        for node in network.nodes() {
            let Op::Parameter(id) = node.op else { continue };
            let data = &self.parameters[id.index()].data;
            match node.name.as_str() {
                "tape" => {
                    self.tape_drift = data.iter().fold(self.tape_drift, |d, v| d.max((v.abs() - 1.0).abs()))
                }
                "head" => {
                    let distance = |v: &f64| v.abs().min((v - 1.0).abs());
                    self.head_drift = data.iter().fold(self.head_drift, |d, v| d.max(distance(v)));
                }
                _ => {}
            }
        }
    }
}
