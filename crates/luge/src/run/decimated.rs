//! Values along a run of unknown length, in a fixed number of slots.

/// One value per slot of equally many steps. When there are too many slots, they are joined in pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct Decimated<T> {
    most: usize,
    width: u64,
    slots: Vec<Option<T>>,
}

/// A value of which a run has many.
pub trait Thin: Sized {
    /// What stands for two neighbouring slots. Values that belong to the step where their slot begins keep the first.
    fn join(first: Option<Self>, _second: Option<Self>) -> Option<Self> {
        first
    }
}

impl<T: Thin> Decimated<T> {
    /// At most so many slots, of so many steps each to begin with.
    pub fn new(most: usize, width: u64) -> Self {
        Self { most: most.max(1), width: width.max(1), slots: Vec::new() }
    }

    /// Slots for a run of so many steps, which need not be joined.
    pub fn for_run(most: usize, steps: u64) -> Self {
        Self::new(most, (steps / most.max(1) as u64 + 1).next_power_of_two())
    }

    /// Steps per slot.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The slots from step 0 on.
    pub fn slots(&self) -> &[Option<T>] {
        &self.slots
    }

    /// The values that are kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    /// The step at which the next slot begins.
    pub fn due(&self) -> u64 {
        (self.slots.len() as u64).saturating_mul(self.width)
    }

    /// Whether a slot begins at a step.
    #[inline]
    pub fn begins(&self, step: u64) -> bool {
        step.is_multiple_of(self.width)
    }

    /// The slot that a step lies in.
    pub fn slot(&mut self, step: u64) -> &mut Option<T> {
        while step / self.width >= self.most as u64 {
            self.widen();
        }
        let at = (step / self.width) as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || None);
        }
        &mut self.slots[at]
    }

    /// Keeps a value that belongs to the step where a slot begins; at any other step it is let go.
    pub fn keep(&mut self, step: u64, value: T) {
        self.slot(step);
        if self.begins(step) {
            self.slot(step).get_or_insert(value);
        }
    }

    /// Joins all slots in pairs.
    pub fn widen(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut slots = std::mem::take(&mut self.slots).into_iter();
        while let Some(first) = slots.next() {
            self.slots.push(T::join(first, slots.next().flatten()));
        }
    }

    /// The last value that is kept in the slot of a step, or before it.
    pub fn before(&self, step: u64) -> Option<&T> {
        let end = usize::try_from(step / self.width).unwrap_or(usize::MAX).saturating_add(1);
        self.slots.iter().take(end).rev().flatten().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Thin for u64 {}

    fn filled(most: usize, steps: u64) -> Decimated<u64> {
        let mut thinned = Decimated::new(most, 1);
        while thinned.due() <= steps {
            thinned.keep(thinned.due(), thinned.due());
        }
        thinned
    }

    #[test]
    fn few_values_are_kept_at_even_distances_and_the_first_is_one() {
        for steps in [0, 1, 7, 8, 9, 100, 100_000] {
            let thinned = filled(8, steps);
            let kept: Vec<u64> = thinned.iter().copied().collect();
            assert!(kept.len() <= 8 && (steps < 8 || kept.len() > 4), "{kept:?}");
            let expected: Vec<u64> = (0..=steps).step_by(thinned.width() as usize).collect();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn the_nearest_value_before_a_step() {
        let thinned = filled(8, 1000);
        for step in [0, 1, 7, 500, 1000, 5000, u64::MAX] {
            let at = *thinned.before(step).expect("the first is kept");
            assert!(at <= step && (step > 1000 || step - at < thinned.width()), "{at} for {step}");
        }
    }

    #[test]
    fn a_value_between_two_slots_is_let_go() {
        let mut thinned = Decimated::new(4, 1);
        thinned.keep(7, 7_u64);
        assert_eq!((thinned.width(), thinned.iter().count()), (2, 0));
        thinned.keep(6, 6);
        assert_eq!(thinned.slots(), [None, None, None, Some(6)]);
        thinned.widen();
        assert_eq!(thinned.slots(), [None, None]);
    }

    #[test]
    fn a_run_of_known_length_needs_no_joining() {
        for steps in [0, 1, 7, 8, 1000, u64::MAX / 4] {
            let mut thinned = Decimated::<u64>::for_run(8, steps);
            let width = thinned.width();
            thinned.slot(steps);
            assert_eq!(thinned.width(), width);
        }
    }

    #[test]
    fn endless_runs_do_not_overflow() {
        let mut thinned = Decimated::new(8, 1);
        *thinned.slot(u64::MAX) = Some(1_u64);
        assert!(thinned.slots().len() <= 8);
        assert_eq!(thinned.before(u64::MAX), Some(&1));
    }
}
