//! One tape: its cells and its head as weights. Only weights that are not blank or zero are stored.

use luge_net::faults;

use crate::{
    PackedCells,
    room::{room, widen},
};

/// The value of a cell that was never written.
pub(crate) const BLANK: f64 = -1.0;

/// The cells of one tape, which is infinite in both directions. Cells that are not stored are blank.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Cells {
    first: i64,
    values: Kept,
}

/// The stored cells: numbers if they are weights, packed if no step changes them.
#[derive(Clone, PartialEq, Debug)]
enum Kept {
    Numbers(Vec<f64>),
    Fixed(PackedCells),
}

impl Cells {
    pub(crate) fn new(first: i64, values: Vec<f64>) -> Self {
        Self { first, values: Kept::Numbers(values) }
    }

    /// Cells that no step changes.
    pub(crate) fn fixed(first: i64, cells: &PackedCells) -> Self {
        Self { first, values: Kept::Fixed(cells.clone()) }
    }

    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    /// Number of stored cells.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Kept::Numbers(numbers) => numbers.len(),
            Kept::Fixed(cells) => cells.len(),
        }
    }

    pub(crate) fn packed(&self) -> PackedCells {
        match &self.values {
            Kept::Numbers(numbers) => numbers.clone().into(),
            Kept::Fixed(cells) => cells.clone(),
        }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        match &self.values {
            Kept::Numbers(numbers) => size_of_val(&numbers[..]),
            Kept::Fixed(cells) => cells.n_bytes(),
        }
    }

    pub(crate) fn at(&self, cell: i64) -> f64 {
        let index = usize::try_from(cell - self.first).unwrap_or(usize::MAX);
        match &self.values {
            Kept::Numbers(numbers) => numbers.get(index).copied(),
            Kept::Fixed(cells) => cells.get(index),
        }
        .unwrap_or(BLANK)
    }

    /// Makes sure that the cells from `low` to `high` are stored.
    #[inline]
    fn hold(&mut self, low: i64, high: i64) {
        let (low_at, high_at) = ((low - self.first) as u64, (high - self.first) as u64);
        if low_at >= self.len() as u64 || high_at >= self.len() as u64 {
            self.grow(low, high);
        }
    }

    #[cold]
    fn grow(&mut self, low: i64, high: i64) {
        if let Kept::Numbers(numbers) = &mut self.values {
            let grown = room(self.first, numbers.len(), low, high);
            widen(numbers, grown, BLANK);
            self.first -= grown.0 as i64;
        }
    }

    /// A cell and its neighbours: before, here, after. If they are weights, all three are stored from now on.
    #[inline(always)]
    fn around(&mut self, cell: i64) -> (f64, f64, f64) {
        if let Kept::Numbers(numbers) = &self.values {
            let from = ((cell - self.first) as usize).wrapping_sub(1)..;
            if let Some(&[before, here, after]) = numbers.get(from).and_then(<[f64]>::first_chunk) {
                return (before, here, after);
            }
            self.grow(cell - 1, cell + 1);
        }
        (self.at(cell - 1), self.at(cell), self.at(cell + 1))
    }

    /// Subtracts `change`, if there is one, from a cell and then reads another cell.
    #[inline(always)]
    fn change_and_read(&mut self, cell: i64, change: Option<f64>, then: i64) -> f64 {
        if let (Kept::Numbers(numbers), Some(change)) = (&mut self.values, change) {
            numbers[(cell - self.first) as usize] -= change;
            return numbers[(then - self.first) as usize];
        }
        self.at(then)
    }

    /// A cell that is a weight.
    #[inline]
    fn weight_mut(&mut self, cell: i64) -> &mut f64 {
        let Kept::Numbers(numbers) = &mut self.values else {
            unreachable!("cells that steps move are numbers")
        };
        &mut numbers[(cell - self.first) as usize]
    }
}

/// A head: weights on a few consecutive cells, zero on all others. Nearly always there is only one, so it has its own field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Head {
    first: i64,
    weight: f64,
    more: Vec<f64>,
}

impl Head {
    /// A head with these weights from `first` on; at least one.
    pub(crate) fn new(first: i64, weights: &[f64]) -> Self {
        let (&weight, more) = weights.split_first().unwrap_or((&0.0, &[]));
        Self { first, weight, more: more.to_vec() }
    }

    /// The cell of the first weight.
    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    /// The cell after the last weight.
    #[inline]
    fn end(&self) -> i64 {
        self.first + 1 + self.more.len() as i64
    }

    /// All weights in order.
    pub(crate) fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.weight).chain(self.more.iter().copied())
    }

    fn window(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        (self.first..).zip(self.weights())
    }

    /// The weight on a cell.
    #[inline]
    fn at(&self, cell: i64) -> f64 {
        match cell - self.first {
            0 => self.weight,
            index if index > 0 => self.more.get(index as usize - 1).copied().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// The cell that has all the weight, exactly.
    #[inline]
    pub(crate) fn only(&self) -> Option<i64> {
        (self.more.is_empty() && self.weight.to_bits() == ONE).then_some(self.first)
    }

    /// The cell that clearly has the weight: within 1/4 of 1 there, and of 0 elsewhere.
    pub(crate) fn clear(&self) -> Option<i64> {
        if let Some(cell) = self.only() {
            return Some(cell);
        }
        let mut found = None;
        for (cell, weight) in self.window() {
            if (weight - 1.0).abs() < 0.25 {
                if found.replace(cell).is_some() {
                    return None;
                }
            } else if weight.is_nan() || weight.abs() >= 0.25 {
                return None;
            }
        }
        found
    }
}

/// The bits of 1.0.
const ONE: u64 = 1.0_f64.to_bits();

/// Smaller weights of a head are dropped, because their products are lost in rounding.
const NEGLIGIBLE: f64 = 1e-60;

/// One tape, and the residual and move from the last look at it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tape {
    pub(crate) cells: Cells,
    pub(crate) head: Head,
    /// Whether the cells are weights.
    trained: bool,
    offset: i64,
    residual: f64,
    /// How the slope depends on a vertex's symbol: +1 adds this much, -1 subtracts it.
    pub(super) lean: f64,
}

/// The residuals of a tape, and the symbol that will be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// read - next.
    pub(crate) residual: f64,
    /// The symbol that will be read.
    pub(crate) ahead: f64,
    /// |moved - head|^2.
    pub(crate) moved: f64,
}

impl Tape {
    pub(crate) fn new(cells: Cells, head: Head, trained: bool) -> Self {
        Self { cells, head, trained, offset: 0, residual: 0.0, lean: 0.0 }
    }

    /// Resets the tape to three cells from -1 on, with the head on the middle one. Reuses the allocated memory.
    pub(crate) fn reset(&mut self, cells: [f64; 3], trained: bool) {
        let mut numbers = match &mut self.cells.values {
            Kept::Numbers(numbers) => std::mem::take(numbers),
            Kept::Fixed(_) => Vec::new(),
        };
        let mut more = std::mem::take(&mut self.head.more);
        numbers.clear();
        numbers.extend(cells);
        more.clear();
        *self = Self::new(Cells::new(-1, numbers), Head { first: 0, weight: 1.0, more }, trained);
    }

    /// Whether the cells are weights.
    pub(crate) fn is_trained(&self) -> bool {
        self.trained
    }

    /// Reads the cell under the head, compares it with the symbol to be written (`None`: the symbol that is read), and reads
    /// the cell where the head will be; cells and heads are `SATURATED` copies, or the weights themselves. `None` if a copy
    /// is not saturated.
    #[inline(always)]
    pub(crate) fn look<const SATURATED: bool>(&mut self, next: Option<f64>, offset: i64) -> Option<Look> {
        self.offset = offset;
        let Some(cell) = self.head.only() else {
            return if SATURATED { self.look_saturated_wide(next) } else { Some(self.look_wide(next)) };
        };
        let copy = |value: f64| if SATURATED { saturate_11(value) } else { value };
        let (before, value, after) = self.cells.around(cell);
        let here = copy(value);
        let next = next.unwrap_or(here);
        let (ahead, moved) = match offset {
            0 => (next, 0.0),
            1 => (if faults::planted("read before the move") { here } else { copy(after) }, 2.0),
            _ => (copy(before), 2.0),
        };
        self.residual = value - next;
        let is_clear = !SATURATED || is_symbol(here) && is_symbol(ahead);
        is_clear.then_some(Look { residual: self.residual, ahead, moved })
    }

    #[inline(never)]
    fn look_wide(&mut self, next: Option<f64>) -> Look {
        self.cells.hold(self.head.first - 1, self.head.end());
        let Self { cells, head, offset, .. } = self;
        let read: f64 = head.window().map(|(cell, weight)| cells.at(cell) * weight).sum();
        let next = next.unwrap_or(read);
        let change = next - read;
        let written = |cell: i64| cells.at(cell) + head.at(cell) * change;
        let ahead = head.window().map(|(cell, weight)| written(cell + *offset) * weight).sum();
        let moved = |cell: i64| head.at(cell - *offset) - head.at(cell);
        let moved = (head.first - 1..=head.end()).map(moved).map(|r| r * r).sum();
        self.residual = read - next;
        Look { residual: self.residual, ahead, moved }
    }

    /// Moves cells and head against the gradient at the last look; `write` and `shift` are rate times weight times gain.
    /// Returns the symbol under the head if the tape is settled.
    #[inline(always)]
    pub(crate) fn step(&mut self, write: f64, shift: f64) -> Option<f64> {
        let (Some(cell), true) = (self.head.only(), shift.to_bits() == ONE) else {
            return self.step_wide(write, shift);
        };
        let change = faults::number("skipped write", write, 0.0) * self.residual;
        self.head.first = cell + self.offset;
        let symbol = self.cells.change_and_read(cell, self.trained.then_some(change), self.head.first);
        is_symbol(symbol).then_some(symbol)
    }

    #[inline(never)]
    fn step_wide(&mut self, write: f64, shift: f64) -> Option<f64> {
        if self.trained && self.residual != 0.0 {
            for (cell, weight) in (self.head.first..).zip(self.head.weights()) {
                let value = self.cells.weight_mut(cell);
                *value -= write * self.residual * weight;
            }
        }
        if self.offset != 0 {
            let offset = self.offset;
            self.step_head(shift, |head, cell| head.at(cell - offset));
        }
        self.settled()
    }

    /// Moves the head towards a target at most one cell beyond it.
    fn step_head(&mut self, shift: f64, target: impl Fn(&Head, i64) -> f64) {
        let low = self.head.first - 1;
        let moved = (low..=self.head.end()).map(|cell| {
            let weight = self.head.at(cell);
            weight - shift * (weight - target(&self.head, cell))
        });
        self.head = trimmed(low, &moved.collect::<Vec<_>>());
    }

    #[inline(never)]
    fn look_saturated_wide(&mut self, next: Option<f64>) -> Option<Look> {
        let (first, end) = (self.head.first, self.head.end());
        self.cells.hold(first - 1, end);
        let cell = self.saturated_head()?;
        let here = saturate_11(self.cells.at(cell));
        let next = next.unwrap_or(here);
        let target = cell + self.offset;
        let ahead = if self.offset == 0 { next } else { saturate_11(self.cells.at(target)) };
        self.residual = self.cells.at(cell) - next;
        let distance = |cell: i64| self.head.at(cell) - f64::from(u8::from(cell == target));
        let moved = (first - 1..=end).map(distance).map(|r| r * r).sum();
        (is_symbol(here) && is_symbol(ahead)).then_some(Look { residual: self.residual, ahead, moved })
    }

    /// As [`step`](Self::step), after a look at saturated copies.
    #[inline]
    pub(crate) fn step_saturated(&mut self, gain: f64) -> Option<f64> {
        let cell = self.saturated_head()?;
        if self.trained {
            *self.cells.weight_mut(cell) -= gain * self.residual;
        }
        let target = cell + self.offset;
        if gain.to_bits() == ONE && self.head.only().is_some() {
            self.head.first = target;
        } else if self.head.only() != Some(target) {
            self.step_head(gain, |_, cell| f64::from(u8::from(cell == target)));
        }
        self.settled()
    }

    /// The cell on which the saturated head is 1; `None` if it is not 0 on all others.
    fn saturated_head(&self) -> Option<i64> {
        if let Some(cell) = self.head.only() {
            return Some(cell);
        }
        let mut found = None;
        for (cell, weight) in self.head.window() {
            match saturate_01(weight) {
                1.0 if found.is_none() => found = Some(cell),
                0.0 => {}
                _ => return None,
            }
        }
        found
    }

    /// The symbol under the head, if the head is on one cell that is -1 or 1, exactly. Then nothing changes here until the
    /// head moves or the symbol is overwritten.
    #[inline]
    fn settled(&self) -> Option<f64> {
        self.head.only().map(|cell| self.cells.at(cell)).filter(|&symbol| is_symbol(symbol))
    }
}

/// Whether a value is exactly -1 or 1.
#[inline]
fn is_symbol(value: f64) -> bool {
    value.abs().to_bits() == ONE
}

/// Weights from `first` on, without the negligible ones at both ends.
fn trimmed(first: i64, weights: &[f64]) -> Head {
    let matters =
        |weight: &f64| weight.is_nan() || weight.abs() >= faults::number("negligible", NEGLIGIBLE, 1e-17);
    match (weights.iter().position(matters), weights.iter().rposition(matters)) {
        (Some(low), Some(high)) => Head::new(first + low as i64, &weights[low..=high]),
        _ => Head::new(first, &[0.0]),
    }
}

/// `ReLU(2v - 1/2) - ReLU(2v - 3/2)`.
pub(crate) fn saturate_01(v: f64) -> f64 {
    let low = faults::number("saturated copies of heads", 0.5, 0.375);
    (2.0 * v - low).max(0.0) - (2.0 * v - 1.0 - low).max(0.0)
}

/// `ReLU(2v + 1) - ReLU(2v - 1) - 1`.
pub(crate) fn saturate_11(v: f64) -> f64 {
    let high = faults::number("saturated copies of cells", 1.0, 1.25);
    (2.0 * v + 1.0).max(0.0) - (2.0 * v - high).max(0.0) - 1.0
}

#[cfg(test)]
mod tests;
