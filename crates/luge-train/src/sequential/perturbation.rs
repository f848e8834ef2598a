//! A bound on what training every weight would change, from the largest values and slopes of a sparse run.
//!
//! Let training all weights move weight (i, j) of a layer by D_ij. A step moves it by rate * slope_i * input_j, so over T steps
//! |D_ij| <= rate T max|slope_i| max|input_j|. Going forwards, D changes the sum of unit i by at most
//! rate T max|slope_i| (1 + sum_j max|input_j|^2); going backwards, it changes the slope at input j by at most
//! rate T max|input_j| sum_i max|slope_i|^2. Both errors propagate through the absolute values of the weights. The maxima
//! are those of the dense run, that is of the sparse run plus the errors. So the bound is closed once assuming errors twice
//! as large gives errors that are no larger than that. A ReLU whose sum is never closer to 0 than its error is open in both
//! runs or in none.
//!
//! Twins are neighbours in a step function: two units with equal weights that are always open together and that the next
//! layer subtracts from each other. Errors that reach both cancel, forwards and backwards; errors of their own weights do
//! not. The bound is for exact arithmetic.

use std::collections::BTreeMap;

use luge_net::{LinearLayer, Sequential};

use super::{Real, wide};

/// The largest values and slopes of one layer during a run.
#[derive(Clone, Debug)]
pub struct LayerMoves {
    inputs: Vec<f64>,
    slopes: Vec<f64>,
    /// The least distance of a unit's sum from 0.
    margins: Vec<f64>,
    open: Vec<bool>,
    /// Neighbours with equal weights, and whether their ReLUs were always open together.
    pairs: Vec<(usize, usize, bool)>,
    /// The pair that each unit belongs to.
    pair_of: Vec<Option<usize>>,
}

impl LayerMoves {
    pub(super) fn new(layer: &LinearLayer) -> Self {
        let n_units = layer.n_units();
        let pairs = neighbours(layer);
        let mut pair_of = vec![None; n_units];
        for (at, &(first, second, _)) in pairs.iter().enumerate() {
            (pair_of[first], pair_of[second]) = (Some(at), Some(at));
        }
        Self {
            inputs: vec![0.0; layer.n_inputs()],
            slopes: vec![0.0; n_units],
            margins: vec![f64::INFINITY; n_units],
            open: vec![false; n_units],
            pairs,
            pair_of,
        }
    }

    pub(super) fn note_input<T: Real>(&mut self, input: usize, value: T) {
        self.inputs[input] = self.inputs[input].max(wide(value).abs());
    }

    pub(super) fn note_slope<T: Real>(&mut self, unit: usize, slope: T) {
        self.slopes[unit] = self.slopes[unit].max(wide(slope).abs());
    }

    /// Records a unit's sum, once all sums of its layer are known.
    pub(super) fn note_sum<T: Real>(&mut self, unit: usize, sums: &[T]) {
        self.margins[unit] = self.margins[unit].min(wide(sums[unit]).abs());
        self.open[unit] |= sums[unit] > T::zero();
        if let Some(pair) = self.pair_of[unit] {
            let (first, second, together) = &mut self.pairs[pair];
            *together &= (sums[*first] > T::zero()) == (sums[*second] > T::zero());
        }
    }
}

/// A bound on what would be different if all weights were trained, not only the biases of units without weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Perturbation {
    /// Whether the bound is closed. If not, it is infinite.
    pub closed: bool,
    /// The largest change of a weight or bias that the sparse engine does not train.
    pub largest_move: f64,
    /// The largest difference between a bias that it trains and the same bias in the dense run.
    pub bias_error: f64,
    /// The largest difference of an output.
    pub output_error: f64,
}

/// Errors of one layer: of each unit's sum, of each slope, and the part of both that its own weights add.
#[derive(Clone, Default)]
struct Errors {
    sums: Vec<f64>,
    slopes: Vec<f64>,
    biases: Vec<f64>,
}

impl Perturbation {
    pub(super) fn compute(network: &Sequential, moves: &[&LayerMoves], rate: f64, steps: u64) -> Self {
        let twins: Vec<Vec<bool>> = twins(network, moves);
        let zero = |layer: &LinearLayer| {
            let none = vec![0.0; layer.n_units()];
            Errors { sums: none.clone(), slopes: none.clone(), biases: none }
        };
        let bound = Bound { network, moves, twins, step: rate * steps as f64 };
        let mut errors: Vec<Errors> = network.layers().iter().map(zero).collect();
        for _ in 0..8 {
            let found = bound.errors(&errors);
            if bound.same_masks(&found) && within(&found, &errors) {
                return bound.report(&errors);
            }
            errors = found;
        }
        Self {
            closed: false,
            largest_move: f64::INFINITY,
            bias_error: f64::INFINITY,
            output_error: f64::INFINITY,
        }
    }
}

/// Errors are assumed to be this many times as large as those found before.
const SLACK: f64 = 2.0;

/// Whether no error is larger than assumed.
fn within(found: &[Errors], before: &[Errors]) -> bool {
    let all = |errors: &Errors| [&errors.sums[..], &errors.slopes, &errors.biases].concat();
    let mut layers = found.iter().zip(before);
    layers.all(|(found, before)| all(found).iter().zip(all(before)).all(|(f, b)| *f <= SLACK * b))
}

struct Bound<'a> {
    network: &'a Sequential,
    moves: &'a [&'a LayerMoves],
    twins: Vec<Vec<bool>>,
    /// The rate times the number of steps.
    step: f64,
}

impl Bound<'_> {
    /// The largest inputs of a layer in the dense run, if errors are as assumed.
    fn inputs<'b>(&'b self, at: usize, before: &'b [Errors]) -> impl Iterator<Item = f64> + 'b {
        let error = move |unit: usize| match at.checked_sub(1) {
            Some(below) if self.moves[below].open[unit] => SLACK * before[below].sums[unit],
            _ => 0.0,
        };
        self.moves[at].inputs.iter().enumerate().map(move |(unit, input)| input + error(unit))
    }

    /// The largest slopes of a layer in the dense run.
    fn slopes<'b>(&'b self, at: usize, before: &'b [Errors]) -> impl Iterator<Item = f64> + 'b {
        self.moves[at].slopes.iter().zip(&before[at].slopes).map(|(slope, error)| slope + SLACK * error)
    }

    /// The errors that follow from assumed ones.
    fn errors(&self, before: &[Errors]) -> Vec<Errors> {
        let mut errors: Vec<Errors> = Vec::with_capacity(before.len());
        let mut passed = vec![0.0; self.network.layers()[0].n_inputs()];
        for (at, layer) in self.network.layers().iter().enumerate() {
            let squares: f64 = self.inputs(at, before).map(|input| input * input).sum();
            let slopes: Vec<f64> = self.slopes(at, before).collect();
            let (mut sums, mut on) = (Vec::new(), Vec::new());
            for (unit, &slope) in slopes.iter().enumerate() {
                let free = layer.row(unit).0.is_empty();
                // The sparse run moves the bias of a free unit too, with an error of its own.
                let bias = if free { SLACK * before[at].biases[unit] } else { self.step * slope };
                let own = self.step * slope * squares + bias;
                let sum = own + layer.terms(unit).map(|(from, w)| w.abs() * passed[from]).sum::<f64>();
                let passes = if self.twins[at][unit] { own } else { sum };
                sums.push(sum);
                on.push(if self.moves[at].open[unit] { passes } else { 0.0 });
            }
            passed = on;
            errors.push(Errors { sums, ..Errors::default() });
        }
        let mut passed = errors.last().map_or_else(Vec::new, |output| output.sums.clone());
        for at in (0..errors.len()).rev() {
            let layer = &self.network.layers()[at];
            let step = self.step;
            if errors[at].slopes.is_empty() {
                errors[at].slopes.clone_from(&passed);
            }
            let biases = (0..layer.n_units()).map(|unit| match layer.row(unit).0.is_empty() {
                true => step * errors[at].slopes[unit],
                false => 0.0,
            });
            errors[at].biases = biases.collect();
            let Some(below) = at.checked_sub(1) else { break };
            let squares: f64 = self.slopes(at, before).map(|slope| slope * slope).sum();
            let own: Vec<f64> = self.inputs(at, before).map(|input| step * input * squares).collect();
            let mut full = own.clone();
            for (unit, error) in passed.iter().enumerate() {
                layer.terms(unit).for_each(|(to, w)| full[to] += w.abs() * error);
            }
            for (unit, error) in full.iter_mut().enumerate() {
                *error = if self.moves[below].open[unit] { *error } else { 0.0 };
            }
            let twin = |unit: usize| self.twins[below][unit] && self.moves[below].open[unit];
            passed = (0..full.len()).map(|u| if twin(u) { own[u] } else { full[u] }).collect();
            errors[below].slopes = full;
        }
        errors
    }

    /// Whether no ReLU opens or closes because of the errors.
    fn same_masks(&self, errors: &[Errors]) -> bool {
        let hidden = errors.len() - 1;
        let clear = |moves: &LayerMoves, errors: &Errors| {
            moves.margins.iter().zip(&errors.sums).all(|(margin, error)| error < margin)
        };
        self.moves[..hidden].iter().zip(errors).all(|(moves, errors)| clear(moves, errors))
    }

    fn report(&self, errors: &[Errors]) -> Perturbation {
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let moved = |at: usize| {
            let input = most(&mut self.inputs(at, errors)).max(1.0);
            let free = |unit: usize| self.network.layers()[at].row(unit).0.is_empty();
            let small = most(&mut self.inputs(at, errors));
            let slopes: Vec<f64> = self.slopes(at, errors).collect();
            let of = |unit: usize| slopes[unit] * if free(unit) { small } else { input };
            self.step * most(&mut (0..slopes.len()).map(of))
        };
        Perturbation {
            closed: true,
            largest_move: most(&mut (0..errors.len()).map(moved)),
            bias_error: SLACK * most(&mut errors.iter().flat_map(|e| e.biases.iter().copied())),
            output_error: errors
                .last()
                .map_or(0.0, |outputs| SLACK * most(&mut outputs.sums.iter().copied())),
        }
    }
}

/// Which units have a twin.
fn twins(network: &Sequential, moves: &[&LayerMoves]) -> Vec<Vec<bool>> {
    let layers = network.layers();
    let mut found: Vec<Vec<bool>> = layers.iter().map(|layer| vec![false; layer.n_units()]).collect();
    for (at, pair) in layers.windows(2).enumerate() {
        let (layer, next) = (&pair[0], &pair[1]);
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); layer.n_units()];
        for unit in 0..next.n_units() {
            next.terms(unit).for_each(|(column, weight)| columns[column].push((unit, weight)));
        }
        for &(first, second, _) in moves[at].pairs.iter().filter(|(.., together)| *together) {
            let opposite = columns[first].len() == columns[second].len()
                && columns[first].iter().zip(&columns[second]).all(|(a, b)| a.0 == b.0 && a.1 + b.1 == 0.0);
            if opposite {
                (found[at][first], found[at][second]) = (true, true);
            }
        }
    }
    found
}

/// Pairs of units with equal weights, neighbours by their biases.
fn neighbours(layer: &LinearLayer) -> Vec<(usize, usize, bool)> {
    let key = |unit: usize| {
        let (columns, weights) = layer.row(unit);
        (columns, weights.iter().map(|w| w.to_bits()).collect::<Vec<u64>>())
    };
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for unit in (0..layer.n_units()).filter(|&unit| !layer.row(unit).0.is_empty()) {
        alike.entry(key(unit)).or_default().push(unit);
    }
    let mut pairs = Vec::new();
    for mut units in alike.into_values() {
        units.sort_by(|&a, &b| layer.biases()[b].total_cmp(&layer.biases()[a]));
        pairs.extend(units.chunks_exact(2).map(|pair| (pair[0], pair[1], true)));
    }
    pairs
}
