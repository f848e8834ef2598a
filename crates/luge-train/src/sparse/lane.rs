//! One row of cells and its head, both as weights, of which only those that are not zero are kept.

/// What an untouched cell holds.
pub(crate) const BLANK: f64 = -1.0;

/// The cells of one row, endless in both directions: beyond those that are kept, all hold the blank.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Cells {
    first: i64,
    values: Vec<f64>,
}

impl Cells {
    pub(crate) fn new(first: i64, values: Vec<f64>) -> Self {
        Self { first, values }
    }

    pub(crate) fn first(&self) -> i64 {
        self.first
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn at(&self, cell: i64) -> f64 {
        let index = usize::try_from(cell - self.first).unwrap_or(usize::MAX);
        self.values.get(index).copied().unwrap_or(BLANK)
    }

    /// Makes sure that the cells from `low` to `high` are kept.
    #[inline]
    fn hold(&mut self, low: i64, high: i64) {
        if low < self.first || high >= self.first + self.values.len() as i64 {
            self.grow(low, high);
        }
    }

    #[cold]
    fn grow(&mut self, low: i64, high: i64) {
        let len = self.values.len() as i64;
        let before = if low < self.first { (self.first - low).max(len / 2).max(8) } else { 0 };
        let beyond = high + 1 - self.first - len;
        let after = if beyond > 0 { beyond.max(len / 2).max(8) } else { 0 };
        let mut values = vec![BLANK; before as usize];
        values.append(&mut self.values);
        values.resize(values.len() + after as usize, BLANK);
        self.first -= before;
        self.values = values;
    }

    #[inline]
    fn kept(&self, cell: i64) -> f64 {
        self.values[(cell - self.first) as usize]
    }

    #[inline]
    fn kept_mut(&mut self, cell: i64) -> &mut f64 {
        &mut self.values[(cell - self.first) as usize]
    }
}

/// A head: weights on a few cells in a row, all others zero.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Head {
    pub(crate) first: i64,
    pub(crate) weights: Vec<f64>,
}

impl Head {
    /// The weight on a cell.
    #[inline]
    fn at(&self, cell: i64) -> f64 {
        let index = cell - self.first;
        if index < 0 { 0.0 } else { self.weights.get(index as usize).copied().unwrap_or(0.0) }
    }

    /// The cell if all the weight is on it, exactly.
    #[inline]
    pub(crate) fn only(&self) -> Option<i64> {
        match self.weights[..] {
            [1.0] => Some(self.first),
            _ => None,
        }
    }

    /// The cell that clearly has the weight: within 1/4 of 1 there, of 0 elsewhere.
    pub(crate) fn clear(&self) -> Option<i64> {
        let mut found = None;
        for (cell, &weight) in (self.first..).zip(&self.weights) {
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

/// Below this a head's weight is dropped: its products with anything here vanish beside the rounding of f64.
const NEGLIGIBLE: f64 = 1e-60;

/// One row: its cells, its head, and what was seen at the last look.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Lane {
    pub(crate) cells: Cells,
    pub(crate) head: Head,
    /// Whether the cells are weights.
    trained: bool,
    offset: i64,
    residual: f64,
}

/// What a lane adds to the loss and to the slopes of the vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// read - next.
    pub(crate) residual: f64,
    /// The sign that will be read.
    pub(crate) ahead: f64,
    /// |moved - head|^2.
    pub(crate) moved: f64,
}

impl Lane {
    pub(crate) fn new(cells: Cells, head: Head, trained: bool) -> Self {
        Self { cells, head, trained, offset: 0, residual: 0.0 }
    }

    /// How many cells are kept.
    pub(crate) fn n_cells(&self) -> usize {
        self.cells.values.len()
    }

    /// Reads, compares with what is to be written, and reads ahead where the head will be.
    #[inline]
    pub(crate) fn look(&mut self, next: f64, offset: i64) -> Look {
        let (first, len) = (self.head.first, self.head.weights.len() as i64);
        self.cells.hold(first - 1, first + len);
        self.offset = offset;
        if let Some(cell) = self.head.only() {
            self.residual = self.cells.kept(cell) - next;
            let ahead = if offset == 0 { next } else { self.cells.kept(cell + offset) };
            let moved = if offset == 0 { 0.0 } else { 2.0 };
            return Look { residual: self.residual, ahead, moved };
        }
        self.look_wide(next)
    }

    fn look_wide(&mut self, next: f64) -> Look {
        let Self { cells, head, offset, .. } = self;
        let window = || (head.first..).zip(&head.weights);
        let read: f64 = window().map(|(cell, weight)| cells.kept(cell) * weight).sum();
        let change = next - read;
        let written = |cell: i64| cells.kept(cell) + head.at(cell) * change;
        let ahead = window().map(|(cell, weight)| written(cell + *offset) * weight).sum();
        let (low, high) = (head.first - 1, head.first + head.weights.len() as i64);
        let moved = (low..=high).map(|cell| head.at(cell - *offset) - head.at(cell)).map(|r| r * r).sum();
        self.residual = read - next;
        Look { residual: self.residual, ahead, moved }
    }

    /// Steps cells and head against the gradient of what was seen; `write` and `shift` are rate times weight times gain.
    #[inline]
    pub(crate) fn step(&mut self, write: f64, shift: f64) {
        if let (Some(cell), true) = (self.head.only(), shift.total_cmp(&1.0).is_eq()) {
            if self.trained {
                *self.cells.kept_mut(cell) -= write * self.residual;
            }
            self.head.first = cell + self.offset;
            return;
        }
        if self.trained && self.residual != 0.0 {
            for (cell, weight) in (self.head.first..).zip(&self.head.weights) {
                *self.cells.kept_mut(cell) -= write * self.residual * weight;
            }
        }
        if self.offset != 0 {
            let offset = self.offset;
            self.step_head(shift, |head, cell| head.at(cell - offset));
        }
    }

    /// Moves the head towards a target that lies at most one cell beyond it.
    fn step_head(&mut self, shift: f64, target: impl Fn(&Head, i64) -> f64) {
        let (low, high) = (self.head.first - 1, self.head.first + self.head.weights.len() as i64);
        let moved = (low..=high).map(|cell| {
            let weight = self.head.at(cell);
            weight - shift * (weight - target(&self.head, cell))
        });
        self.head = trimmed(low, moved.collect());
    }

    /// As [`look`](Self::look), but through saturated copies; `None` where a copy is not saturated.
    pub(crate) fn look_saturated(&mut self, next: f64, offset: i64) -> Option<Look> {
        let (first, len) = (self.head.first, self.head.weights.len() as i64);
        self.cells.hold(first - 1, first + len);
        let cell = self.saturated_head()?;
        let target = cell + offset;
        let ahead = if offset == 0 { next } else { saturate_11(self.cells.kept(target)) };
        self.offset = target;
        self.residual = self.cells.kept(cell) - next;
        let distance = |cell: i64| self.head.at(cell) - f64::from(u8::from(cell == target));
        let moved = (first - 1..=first + len).map(distance).map(|r| r * r).sum();
        let read_is_sign = saturate_11(self.cells.kept(cell)).abs().total_cmp(&1.0).is_eq();
        (read_is_sign && ahead.abs().total_cmp(&1.0).is_eq()).then_some(Look {
            residual: self.residual,
            ahead,
            moved,
        })
    }

    /// As [`step`](Self::step), after [`look_saturated`](Self::look_saturated).
    pub(crate) fn step_saturated(&mut self, gain: f64) {
        let Some(cell) = self.saturated_head() else { return };
        if self.trained {
            *self.cells.kept_mut(cell) -= gain * self.residual;
        }
        let target = self.offset;
        if self.head.only() != Some(target) {
            self.step_head(gain, |_, cell| f64::from(u8::from(cell == target)));
        }
    }

    /// The one cell on which the saturated head is 1; `None` if it is not 0 on all others.
    fn saturated_head(&self) -> Option<i64> {
        if let Some(cell) = self.head.only() {
            return Some(cell);
        }
        let mut found = None;
        for (cell, &weight) in (self.head.first..).zip(&self.head.weights) {
            match saturate_01(weight) {
                1.0 if found.is_none() => found = Some(cell),
                0.0 => {}
                _ => return None,
            }
        }
        found
    }

    /// Whether nothing here changes or adds to the loss while the head stays on a cell with this sign.
    #[inline]
    pub(crate) fn settled(&self, sign: f64) -> bool {
        self.head.only().is_some_and(|cell| self.cells.at(cell).total_cmp(&sign).is_eq())
    }
}

/// Weights from `first` on, without the negligible ones at both ends.
fn trimmed(first: i64, mut weights: Vec<f64>) -> Head {
    let negligible = |weight: &f64| weight.abs() < NEGLIGIBLE;
    while weights.len() > 1 && weights.last().is_some_and(negligible) {
        weights.pop();
    }
    let leading = weights.iter().take_while(|w| negligible(w)).count().min(weights.len() - 1);
    weights.drain(..leading);
    Head { first: first + leading as i64, weights }
}

/// `ReLU(2v - 1/2) - ReLU(2v - 3/2)`.
pub(crate) fn saturate_01(v: f64) -> f64 {
    (2.0 * v - 0.5).max(0.0) - (2.0 * v - 1.5).max(0.0)
}

/// `ReLU(2v + 1) - ReLU(2v - 1) - 1`.
pub(crate) fn saturate_11(v: f64) -> f64 {
    (2.0 * v + 1.0).max(0.0) - (2.0 * v - 1.0).max(0.0) - 1.0
}
