//! The arcs of a linear map, sorted by outputs and by inputs, and sets of entries.

use luge_net::{LinearMap, faults};

/// The arcs of a linear map.
#[derive(Debug)]
pub(super) struct Listed {
    bias: Vec<f64>,
    rows: Side,
    columns: Side,
    /// Whether all weights are finite, so that an input of 0 adds 0.
    finite: bool,
}

/// For every unit on one side, its arcs: the unit at the other end, and the weight.
#[derive(Debug)]
struct Side {
    starts: Vec<u32>,
    arcs: Vec<(u32, f64)>,
}

impl Side {
    /// Arcs in the order of the units at their other ends.
    fn of(n_units: usize, arcs: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Self {
        let mut starts = vec![0_u32; n_units + 1];
        arcs.clone().for_each(|(unit, _, _)| starts[unit as usize + 1] += 1);
        (0..n_units).for_each(|unit| starts[unit + 1] += starts[unit]);
        let (mut next, mut placed) = (starts.clone(), vec![(0, 0.0); starts[n_units] as usize]);
        for (unit, other, weight) in arcs {
            let place = &mut next[unit as usize];
            placed[*place as usize] = (other, weight);
            *place += 1;
        }
        Self { starts, arcs: placed }
    }

    fn at(&self, unit: u32) -> &[(u32, f64)] {
        &self.arcs[self.starts[unit as usize] as usize..self.starts[unit as usize + 1] as usize]
    }
}

impl Listed {
    pub(super) fn of(map: &LinearMap) -> Self {
        let entries = map.entries();
        let turned = entries.iter().map(|&(row, column, weight)| (column, row, weight));
        Self {
            // Sums begin with +0, also where a bias is -0.
            bias: map.bias().iter().map(|bias| bias + 0.0).collect(),
            rows: Side::of(map.n_outputs(), entries.iter().copied()),
            columns: Side::of(map.n_inputs(), turned),
            finite: entries.iter().all(|entry| entry.2.is_finite()),
        }
    }

    /// Computes again the outputs that depend on changed inputs.
    pub(super) fn update(
        &self,
        (x, changed, nonzero): (&[f64], &[u32], &[u32]),
        y: &mut [f64],
        (marked, found): (&mut Marked, &mut Vec<u32>),
    ) {
        if self.finite && changed.len() < x.len() {
            let changed = if faults::planted("a change is not followed") { &changed[1..] } else { changed };
            for &column in changed.iter().chain(nonzero) {
                self.columns.at(column).iter().for_each(|&(row, _)| marked.add(row));
            }
            let before: Vec<f64> = marked.entries().iter().map(|&row| y[row as usize]).collect();
            marked.entries().iter().for_each(|&row| y[row as usize] = self.bias[row as usize]);
            for &column in nonzero {
                let input = x[column as usize];
                self.columns.at(column).iter().for_each(|&(row, weight)| y[row as usize] += weight * input);
            }
            let both = marked.entries().iter().zip(before);
            found.extend(
                both.filter(|&(&row, before)| y[row as usize].to_bits() != before.to_bits())
                    .map(|(row, _)| row),
            );
            marked.clear();
            return;
        }
        for (row, (place, &bias)) in (0..).zip(y.iter_mut().zip(&self.bias)) {
            let arcs = self.rows.at(row).iter();
            let sum = arcs.fold(bias, |sum, &(column, weight)| sum + weight * x[column as usize]);
            put(place, sum, row, found);
        }
    }

    /// Adds to the adjoints of the inputs what follows from those of the outputs.
    pub(super) fn pull(&self, adjoint: &[f64], x: &mut [f64]) {
        for (row, &slope) in (0..).zip(adjoint).filter(|(_, slope)| **slope != 0.0 || !self.finite) {
            self.rows.at(row).iter().for_each(|&(column, weight)| x[column as usize] += weight * slope);
        }
    }
}

/// A set of entries.
#[derive(Debug, Default)]
pub(super) struct Marked {
    is: Vec<bool>,
    entries: Vec<u32>,
}

impl Marked {
    /// The empty set of entries below `most`.
    pub(super) fn new(most: usize) -> Self {
        Self { is: vec![false; most], entries: Vec::new() }
    }

    pub(super) fn entries(&self) -> &[u32] {
        &self.entries
    }

    pub(super) fn add(&mut self, entry: u32) {
        if !std::mem::replace(&mut self.is[entry as usize], true) {
            self.entries.push(entry);
        }
    }

    pub(super) fn extend(&mut self, entries: &[u32]) {
        entries.iter().for_each(|&entry| self.add(entry));
    }

    pub(super) fn clear(&mut self) {
        self.entries.drain(..).for_each(|entry| self.is[entry as usize] = false);
    }
}

/// Stores a number, and records the entry if it differs.
pub(super) fn put(place: &mut f64, number: f64, entry: u32, changed: &mut Vec<u32>) {
    if place.to_bits() != number.to_bits() {
        *place = number;
        changed.push(entry);
    }
}

/// Updates the list of entries that are not zero, in ascending order, after some have changed.
pub(super) fn keep_nonzero(nonzero: &mut Vec<u32>, value: &[f64], changed: &[u32]) {
    let is_nonzero = |entry: &u32| value[*entry as usize] != 0.0;
    if changed.len() > 16 {
        nonzero.clear();
        nonzero.extend((0..value.len() as u32).filter(is_nonzero));
        return;
    }
    nonzero.retain(is_nonzero);
    for entry in changed.iter().filter(|entry| is_nonzero(entry)) {
        if let Err(place) = nonzero.binary_search(entry) {
            nonzero.insert(place, *entry);
        }
    }
}
