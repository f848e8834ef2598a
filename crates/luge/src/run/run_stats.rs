//! Statistics of a run, the same for all engines, with or without interruption.

use std::num::NonZeroU8;

use luge_landscape::Bounds;
use luge_net::ParameterId;
use luge_train::{Engine, LossRange};
use serde::{Deserialize, Serialize};

use crate::run::{engine::EngineChoice, situations::Looked};

/// What is kept while a run is followed. A checkpoint holds it, so that a resumed run ends with the same one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStats {
    /// Iterates that were compared with the simulator.
    pub n_compared: u64,
    /// Those that were not the machine's configuration.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<FirstMismatch>,
    /// Where the loss has been; `None` before the first iterate.
    #[serde(with = "range")]
    pub loss: Option<LossRange>,
    /// The step at which the loss was lowest first, where every step was looked at.
    pub lowest_at: Option<u64>,
    /// The step at which the loss was highest first, where every step was looked at.
    pub highest_at: Option<u64>,
    /// Where the landscape's part of the loss has been while the machine was running.
    #[serde(with = "range")]
    pub running: Option<LossRange>,
    /// The highest loss of iterates at which the machine had stopped.
    #[serde(default)]
    pub halted: Option<f64>,
    /// Whether the loss always lay where the construction says.
    pub bounds_held: bool,
    /// Whether a step ever raised the loss.
    pub rose: bool,
    /// Whether a step ever left the loss as it was, or it was no number.
    pub stalled: bool,
    /// Whether z was y at every step from 1 on.
    pub labels_copied: bool,
    /// Whether the hidden tapes held the labels' bits once they were read.
    pub tape_read: bool,
    /// The largest distance of a tape weight from -1 or 1, and of a head weight from 0 or 1, where such weights were seen.
    pub drift: Option<Drift>,
}

/// The first iterate that is not the machine's configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FirstMismatch {
    /// Its step.
    pub step: u64,
    /// In what it differs.
    pub why: String,
}

/// How far weights have come from the values they stand for.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Drift {
    /// Of the tapes, from -1 and 1.
    pub tape: f64,
    /// Of the heads, from 0 and 1.
    pub head: f64,
}

impl Drift {
    /// The larger one of what was seen before and the drift of the weights that an engine holds: of all if it moves them all, else of the
    /// heads and the cells around them, which are all that a step can have moved. An engine that keeps symbols has no weights to look at.
    pub(crate) fn seen(before: Option<Self>, engine: &dyn Engine, choice: EngineChoice) -> Option<Self> {
        let mut drift = before.unwrap_or_default();
        match (choice, engine.network().sparse_layers()) {
            (EngineChoice::Dense, Ok(layers)) => {
                let weights = engine.parameters().unwrap_or_default();
                let of = |id: ParameterId| weights.get(id.index()).map_or(&[][..], |block| &block.data);
                drift.note_cells(layers.cells.map_or(&[][..], of).iter().copied());
                drift.note_head(of(layers.head));
            }
            (EngineChoice::Sparse, _) => {
                for (track, (first, head)) in engine.heads().iter().enumerate() {
                    let end = first + head.len() as i64;
                    drift.note_cells((first - 1..=end).map(|cell| engine.cell(track, cell)));
                    drift.note_head(head);
                }
            }
            _ => return before,
        }
        Some(drift)
    }

    fn note_cells(&mut self, cells: impl Iterator<Item = f64>) {
        self.tape = cells.map(|cell| (cell.abs() - 1.0).abs()).fold(self.tape, larger);
    }

    fn note_head(&mut self, head: &[f64]) {
        self.head = head.iter().map(|weight| weight.abs().min((weight - 1.0).abs())).fold(self.head, larger);
    }
}

/// The larger number; NaN if one is.
fn larger(before: f64, now: f64) -> f64 {
    if before.is_nan() || before >= now { before } else { now }
}

impl Default for RunStats {
    fn default() -> Self {
        Self {
            n_compared: 0,
            mismatches: 0,
            first_mismatch: None,
            loss: None,
            lowest_at: None,
            highest_at: None,
            running: None,
            halted: None,
            bounds_held: true,
            rose: false,
            stalled: false,
            labels_copied: true,
            tape_read: false,
            drift: None,
        }
    }
}

/// A landscape's levels of loss, for JSON.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Limits {
    running_low: f64,
    running_high: f64,
    halted_high: f64,
    stop: f64,
}

impl From<Bounds> for Limits {
    fn from(bounds: Bounds) -> Self {
        let Bounds { running_low, running_high, halted_high, stop, .. } = bounds;
        Self { running_low, running_high, halted_high, stop }
    }
}

/// Where the loss of a run must lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// The landscape's own.
    pub(crate) bounds: Bounds,
    /// What the carrier adds while the machine runs.
    pub(crate) added: f64,
    /// Above this, the loss of a machine that has stopped is wrong.
    pub(crate) halted_high: f64,
    /// Rounding through the square root and the carrier, relative to the loss.
    pub(crate) tolerance: f64,
    /// The first step to which this applies.
    pub(crate) from: u64,
}

impl Levels {
    /// How far rounding may take a loss beyond its level while the machine runs.
    pub(crate) fn room(&self) -> f64 {
        self.tolerance * (self.bounds.running_high + self.added)
    }

    fn within(&self, stopped: bool, low: f64, high: f64) -> bool {
        if stopped {
            return high <= self.halted_high;
        }
        let room = self.room();
        low - self.added >= self.bounds.running_low - room
            && high - self.added <= self.bounds.running_high + room
    }
}

/// The losses of some iterates in turn, while the machine runs.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    each: Vec<f64>,
    range: LossRange,
    /// Whether one of them is above, or the same as, the one before.
    rose: bool,
    stalled: bool,
    /// Whether all of them are numbers.
    numbers: bool,
    /// Whether the record's ranges, which only grow, have them inside, and they lie where they must.
    inside: bool,
}

impl Losses {
    pub(crate) fn of(losses: impl Iterator<Item = f64>) -> Self {
        let each: Vec<f64> = losses.collect();
        let range = each
            .iter()
            .skip(1)
            .fold(LossRange::of(each.first().copied().unwrap_or(f64::NAN)), |range, &l| range.and(l));
        let rose = each.windows(2).any(|pair| pair[1] > pair[0]);
        let stalled = each.windows(2).any(|pair| pair[1].is_nan() || pair[1].total_cmp(&pair[0]).is_eq());
        let numbers = !each.iter().any(|loss| loss.is_nan());
        Self { each, range, rose, stalled, numbers, inside: false }
    }

    /// How many there are.
    pub(crate) fn n_steps(&self) -> u64 {
        self.each.len() as u64
    }

    /// The same if the record has them inside, so that nothing but the last one is news once losses have risen and stalled.
    pub(crate) fn steps_inside(&self) -> Option<NonZeroU8> {
        NonZeroU8::new(u8::try_from(self.each.len()).ok()?).filter(|_| self.inside)
    }
}

impl RunStats {
    /// Whether another record says the same of the losses, bit for bit.
    pub(crate) fn same_losses(&self, other: &Self) -> bool {
        let said = |record: &Self| {
            (
                (record.loss.map(range::bits), record.lowest_at, record.highest_at),
                (record.running.map(range::bits), record.halted.map(f64::to_bits)),
                (record.bounds_held, record.rose, record.stalled),
            )
        };
        said(self) == said(other)
    }

    /// Puts what was derived from every situation in the place of what the engine reports: the losses while the machine runs, which were
    /// held to those of every step, and how far weights drift.
    pub(crate) fn derive(&mut self, looked: &Looked, added: f64) {
        if let (Some((low, high)), Some(running)) = (looked.losses, &mut self.running) {
            (running.min, running.max) = (low - added, high - added);
        }
        self.drift = Some(Drift { tape: looked.drift.0, head: looked.drift.1 });
    }

    /// Notes what a comparison found.
    pub(crate) fn compared<E: ToString>(&mut self, step: u64, found: Result<(), E>) {
        self.n_compared += 1;
        if let Err(mismatch) = found {
            self.differs(step, &mismatch);
        }
    }

    /// Notes an iterate that is not the machine's configuration.
    pub(crate) fn differs(&mut self, step: u64, why: &impl ToString) {
        self.mismatches += 1;
        self.first_mismatch.get_or_insert_with(|| FirstMismatch { step, why: why.to_string() });
    }

    /// Notes the loss of one iterate.
    pub(crate) fn record_loss(&mut self, step: u64, loss: f64, stopped: bool, levels: &Levels) {
        if self.loss.is_none_or(|range| loss < range.min) {
            self.lowest_at = Some(step);
        }
        if self.loss.is_none_or(|range| loss > range.max) {
            self.highest_at = Some(step);
        }
        self.loss = Some(match self.loss {
            None => LossRange::of(loss),
            Some(range) => {
                self.rose |= loss > range.last;
                self.stalled |= loss.is_nan() || loss.total_cmp(&range.last).is_eq();
                range.and(loss)
            }
        });
        if step < levels.from {
            return;
        }
        self.bounds_held &= levels.within(stopped, loss, loss);
        if stopped {
            self.halted =
                Some(self.halted.map_or(loss, |highest| if loss <= highest { highest } else { loss }));
        } else {
            let landscape = loss - levels.added;
            let mut range = self.running.map_or(LossRange::of(landscape), |range| range.and(landscape));
            if landscape.is_nan() {
                range.max = landscape;
            }
            self.running = Some(range);
        }
    }

    /// Notes the losses of iterates in turn, from the `skip`th on; the first is that of `step`. The same as one by one. They are
    /// always noted in the same record, with the same levels.
    pub(crate) fn record_losses(&mut self, step: u64, losses: &mut Losses, skip: usize, levels: &Levels) {
        let range = losses.range;
        if let (0, Some(seen), Some(running)) = (skip, &mut self.loss, &mut self.running) {
            let landscape = |loss: f64| loss - levels.added;
            if !losses.inside && losses.numbers && seen.min <= range.min && range.max <= seen.max {
                losses.inside = levels.within(false, range.min, range.max) && step >= levels.from;
                if losses.inside {
                    let last = running.last;
                    *running =
                        LossRange { last, ..running.and(landscape(range.min)).and(landscape(range.max)) };
                }
            }
            if losses.inside {
                self.rose |= losses.rose || range.first > seen.last;
                self.stalled |= losses.stalled || range.first.total_cmp(&seen.last).is_eq();
                (seen.last, running.last) = (range.last, landscape(range.last));
                return;
            }
        }
        for (at, &loss) in (step..).zip(&losses.each).skip(skip) {
            self.record_loss(at, loss, false, levels);
        }
    }

    /// Whether losses that the record has inside can say nothing new but which is the last.
    pub(crate) fn has_risen_and_stalled(&self) -> bool {
        self.rose && self.stalled
    }

    /// Notes losses in turn that the record has inside, of which these are the last, after losses have risen and stalled.
    pub(crate) fn record_inside(&mut self, last: &Losses, levels: &Levels) {
        if let (Some(seen), Some(running)) = (&mut self.loss, &mut self.running) {
            (seen.last, running.last) = (last.range.last, last.range.last - levels.added);
        }
    }

    /// Notes the losses of many steps that were made at once, up to one at which the machine has or has not stopped.
    pub(crate) fn lost_many(&mut self, range: LossRange, stopped: bool, levels: &Levels) {
        let lowest_running = if stopped { levels.bounds.running_low } else { range.min };
        self.bounds_held &= levels.within(false, lowest_running, range.max);
        self.bounds_held &= !stopped || levels.within(true, range.last, range.last);
        let first = self.loss.map_or(range.first, |loss| loss.first);
        (self.lowest_at, self.highest_at) = (None, None);
        self.loss = Some(LossRange { first, ..range });
    }
}

/// A range of losses by the bits of its numbers: JSON has no infinities.
mod range {
    use luge_train::LossRange;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn bits(range: LossRange) -> [u64; 4] {
        [range.first, range.min, range.max, range.last].map(f64::to_bits)
    }

    pub(super) fn serialize<S: Serializer>(
        range: &Option<LossRange>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        range.map(bits).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<LossRange>, D::Error> {
        let bits = Option::<[u64; 4]>::deserialize(deserializer)?;
        Ok(bits.map(|bits| {
            let [first, min, max, last] = bits.map(f64::from_bits);
            LossRange { first, min, max, last }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(tolerance: f64) -> Levels {
        let bounds =
            Bounds { running_low: 10.0, running_high: 20.0, halted_high: 5.0, stop: 7.0, switch: 8.0 };
        Levels { bounds, added: 1.0, halted_high: 5.0, tolerance, from: 1 }
    }

    #[test]
    fn losses_are_held_to_their_levels() {
        let held = |losses: &[(f64, bool)]| {
            let mut record = RunStats::default();
            for (step, &(loss, stopped)) in losses.iter().enumerate() {
                record.record_loss(step as u64, loss, stopped, &levels(0.0));
            }
            record.bounds_held
        };
        assert!(held(&[(0.0, false), (11.0, false), (21.0, false), (5.0, true)]));
        assert!(!held(&[(11.0, false), (10.9, false)]));
        assert!(!held(&[(11.0, false), (21.1, false)]));
        assert!(!held(&[(11.0, false), (11.0, false), (5.1, true)]));
        assert!(!held(&[(11.0, false), (f64::NAN, false)]));
    }

    #[test]
    fn losses_in_turn_are_noted_as_one_by_one() {
        let runs: [&[f64]; 7] = [
            &[14.0, 13.0, 12.0],
            &[12.5],
            &[13.0, 13.0],
            &[13.0, 21.0],
            &[9.0, 12.0],
            &[12.0],
            &[13.0, f64::NAN, 12.0],
        ];
        let text = |record: &RunStats| serde_json::to_string(record).expect("JSON");
        let mut n_at_once = 0;
        // Noted again and again, in different orders.
        for (skip, stride) in [(0, 1), (0, 3), (0, 5), (1, 1), (1, 2)] {
            let (mut one_by_one, mut in_turn) = (RunStats::default(), RunStats::default());
            let mut known = runs.map(|losses| Losses::of(losses.iter().copied()));
            let mut step = 1;
            for i in (0..40).map(|i| if i < 14 { i % 3 } else { i * stride % 7 }) {
                // Losses that were seen are left out now and then.
                let skip = if step % 2 == 0 { skip } else { 0 };
                for (at, &loss) in (step..).zip(runs[i]).skip(skip) {
                    one_by_one.record_loss(at, loss, false, &levels(0.0));
                }
                match known[i].steps_inside().filter(|_| skip == 0 && in_turn.has_risen_and_stalled()) {
                    Some(n) => {
                        assert_eq!(usize::from(n.get()), runs[i].len());
                        in_turn.record_inside(&known[i], &levels(0.0));
                        n_at_once += 1;
                    }
                    None => in_turn.record_losses(step, &mut known[i], skip, &levels(0.0)),
                }
                step += runs[i].len() as u64;
                assert_eq!(text(&one_by_one), text(&in_turn), "after step {step}");
            }
        }
        assert!(n_at_once > 20, "{n_at_once}");
    }

    #[test]
    fn a_record_survives_its_file() {
        let mut record = RunStats::default();
        record.record_loss(0, f64::INFINITY, false, &levels(0.0));
        record.record_loss(1, 0.1, false, &levels(0.0));
        record.compared(1, Err("elsewhere"));
        record.drift = Some(Drift { tape: 0.1, head: 0.3 });
        let text = serde_json::to_string(&record).expect("JSON");
        assert_eq!(serde_json::from_str::<RunStats>(&text).expect("a record"), record);
    }
}
