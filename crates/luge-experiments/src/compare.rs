//! Where ordinary gradient descent gets stuck: XOR with a 2-2-1 ReLU network, from random starts, compared with an
//! exhaustive search.
//!
//! This is ordinary training: backpropagation on the primary network alone, without a machine or a landscape.
//! `docs/xor.md` defines both methods.

pub mod stream;

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, StandardUniform};
use serde::Serialize;

use luge::draw::{Axis, Chart, Stroke, numeral};

/// The features and the label of each sample, in the order of `learners/xor.csv`.
pub const SAMPLES: [([f64; 2], f64); 4] =
    [([0.0, 0.0], 0.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], 0.0)];

/// Numbers in theta of an `mlp:2-2-1`.
pub const N_WEIGHTS: usize = 9;

/// The values every weight takes in the search, in their order.
pub const GRID: [i8; 3] = [-1, 0, 1];

/// Below this loss a run has found a global minimum: the others end far above it.
pub const SOLVED: f64 = 1e-6;

/// Below this size of the gradient a run has stopped moving.
pub const AT_REST: f64 = 1e-6;

/// The weights of an `mlp:2-2-1`: two hidden units and the output, each with its bias first.
pub type Theta = [f64; N_WEIGHTS];

/// How plain gradient descent is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DescentOptions {
    /// The learning rate.
    pub rate: f64,
    /// The number of gradient steps.
    pub steps: u64,
}

impl Default for DescentOptions {
    fn default() -> Self {
        Self { rate: 0.1, steps: 10_000 }
    }
}

/// One run of gradient descent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Descent {
    /// What the start was drawn from.
    pub seed: u64,
    /// Where it began.
    pub start: Theta,
    /// Where it ended.
    pub theta: Theta,
    /// The loss there.
    pub loss: f64,
    /// The size of the gradient there.
    pub gradient: f64,
}

/// How a run of gradient descent ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// In a global minimum.
    Solved,
    /// At rest, elsewhere.
    Stuck,
    /// Neither at rest nor solved, or not finite.
    Unfinished,
}

luge_net::names!(Ending, "ending", Solved "solved", Stuck "stuck", Unfinished "unfinished");

/// What the exhaustive search found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Search {
    /// The first of the best.
    pub theta: Theta,
    /// Its loss.
    pub loss: f64,
    /// Its place in the order of the search, counted from 0.
    pub index: usize,
    /// The number of candidates.
    #[serde(rename = "tried")]
    pub n_tried: usize,
    /// The number of candidates that are as good.
    #[serde(rename = "best")]
    pub n_best: usize,
}

/// Both methods side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// One run per seed, from seed 0 on.
    pub descents: Vec<Descent>,
    /// The search.
    pub search: Search,
}

/// The loss 1/2 |f_theta(x) - y|^2 over the four samples and its gradient by backpropagation; a ReLU has slope 0 at 0.
pub fn loss_and_gradient(theta: &Theta) -> (f64, Theta) {
    let [b1, w11, w12, b2, w21, w22, bias, v1, v2] = *theta;
    let mut loss = 0.0;
    let mut gradient = [0.0; N_WEIGHTS];
    for ([x1, x2], label) in SAMPLES {
        let before = [b1 + w11 * x1 + w12 * x2, b2 + w21 * x1 + w22 * x2];
        let hidden = before.map(|a| a.max(0.0));
        let error = bias + v1 * hidden[0] + v2 * hidden[1] - label;
        loss += error * error / 2.0;
        let back = |unit: usize, weight: f64| if before[unit] > 0.0 { error * weight } else { 0.0 };
        let (d1, d2) = (back(0, v1), back(1, v2));
        let slopes =
            [d1, d1 * x1, d1 * x2, d2, d2 * x1, d2 * x2, error, error * hidden[0], error * hidden[1]];
        gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
    }
    (loss, gradient)
}

impl Descent {
    /// Trains by gradient descent on all four samples at once, every weight drawn from -1 to 1 at the start.
    pub fn run(seed: u64, options: DescentOptions) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let start = [(); N_WEIGHTS].map(|()| {
            let unit: f64 = StandardUniform.sample(&mut generator);
            2.0 * unit - 1.0
        });
        let mut theta = start;
        for _ in 0..options.steps {
            let (_, gradient) = loss_and_gradient(&theta);
            theta.iter_mut().zip(gradient).for_each(|(weight, slope)| *weight -= options.rate * slope);
        }
        let (loss, gradient) = loss_and_gradient(&theta);
        let gradient = gradient.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        Self { seed, start, theta, loss, gradient }
    }

    /// How it ended.
    pub fn ending(&self) -> Ending {
        if self.loss < SOLVED {
            Ending::Solved
        } else if self.gradient < AT_REST {
            Ending::Stuck
        } else {
            Ending::Unfinished
        }
    }
}

impl Search {
    /// Tries every theta with weights of [`GRID`], the last weight varying fastest; the first of the best wins.
    pub fn run() -> Self {
        let n_tried = GRID.len().pow(N_WEIGHTS as u32);
        let mut best = Self { theta: candidate(0), loss: f64::INFINITY, index: 0, n_tried, n_best: 0 };
        for index in 0..n_tried {
            let theta = candidate(index);
            // Small whole numbers and halves: the loss is exact, and so is the comparison.
            let (loss, _) = loss_and_gradient(&theta);
            if loss < best.loss {
                best = Self { theta, loss, index, n_tried, n_best: 1 };
            } else if loss <= best.loss {
                best.n_best += 1;
            }
        }
        best
    }
}

/// The theta that the search tries at this place: its digits in base 3, the last weight the lowest digit.
fn candidate(mut index: usize) -> Theta {
    let mut theta = [0.0; N_WEIGHTS];
    for weight in theta.iter_mut().rev() {
        *weight = f64::from(GRID[index % GRID.len()]);
        index /= GRID.len();
    }
    theta
}

impl Comparison {
    /// Runs gradient descent from the seeds 0, 1, ... and the search. `progress` is called after each run.
    pub fn run(n_seeds: u64, options: DescentOptions, mut progress: impl FnMut()) -> Self {
        let descend = |seed| {
            let descent = Descent::run(seed, options);
            progress();
            descent
        };
        Self { descents: (0..n_seeds).map(descend).collect(), search: Search::run() }
    }

    /// The number of runs of gradient descent with this ending.
    pub fn count(&self, ending: Ending) -> usize {
        self.descents.iter().filter(|descent| descent.ending() == ending).count()
    }

    /// The losses that gradient descent ended with, lowest first, what is not finite last.
    pub fn sorted_losses(&self) -> Vec<f64> {
        let finite = |loss: f64| if loss.is_finite() { loss } else { f64::INFINITY };
        let mut losses: Vec<f64> = self.descents.iter().map(|descent| finite(descent.loss)).collect();
        losses.sort_by(f64::total_cmp);
        losses
    }

    /// The final losses of stuck runs, to three digits, and the number of runs that ended there.
    pub fn levels(&self) -> Vec<(f64, usize)> {
        let stuck = self.descents.iter().filter(|descent| descent.ending() == Ending::Stuck);
        let mut losses: Vec<f64> = stuck.map(|d| (d.loss * 1000.0).round() / 1000.0).collect();
        losses.sort_by(f64::total_cmp);
        let level = |run: &[f64]| (run[0], run.len());
        losses.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(level).collect()
    }

    /// The final losses of gradient descent, sorted, above the loss that the search found.
    pub fn draw(&self) -> String {
        const DESCENT: &str = "#0b5cad";
        const STUCK: &str = "#c62828";
        const SEARCH: &str = "#2f7d4f";
        let n = self.descents.len();
        let losses = self.sorted_losses();
        let x = Axis::over("seeds, sorted by loss", [1.0, n as f64]).with_room();
        let y = Axis::over("final loss", losses.iter().copied().chain([self.search.loss])).with_room();
        let subtitle = format!(
            "2-2-1 ReLU network, 1/2 |f(x) - y|^2: gradient descent from {n} random starts, {} of them stuck",
            self.count(Ending::Stuck)
        );
        let mut chart = Chart::new("XOR", &subtitle, x, y);
        let search = format!("exhaustive search: {}", numeral(self.search.loss));
        chart.level(self.search.loss, Stroke::solid(SEARCH, 1.6), &search);
        for (level, count) in self.levels() {
            chart.label(level, &format!("{} stuck at {}", count, numeral(level)), STUCK);
        }
        for (rank, &loss) in losses.iter().enumerate().filter(|(_, loss)| loss.is_finite()) {
            let colour = if loss < SOLVED { DESCENT } else { STUCK };
            chart.dot((rank as f64 + 1.0, loss), 2.6, colour);
        }
        chart.finish()
    }
}

#[cfg(test)]
mod tests {
    use luge_landscape::{Mlp, Primary};
    use luge_net::{GraphBuilder, Values, evaluate};
    use proptest::prelude::*;

    use super::*;
    use luge::data::Table;

    /// The loss through the primary network's own graph.
    fn loss_of_primary(theta: &Theta) -> f64 {
        let table =
            Table::read(include_bytes!("../../luge/learners/xor.csv").as_slice(), &["y".to_owned()], None);
        let table = table.expect("a table");
        let mut g = GraphBuilder::new();
        let theta = g.constant("theta", Values::column(theta.to_vec()));
        let (x, y) = (g.constant("x", table.features), g.constant("y", table.labels));
        let out = Mlp::new(vec![2, 2, 1]).build(&mut g, theta, x);
        let residual = g.sum("residual", [(1.0, out), (-1.0, y)]);
        let squares = g.square("squares", residual);
        let sum = g.sum_all("sum", squares);
        evaluate(&g.finish(sum), &[], &[]).loss() / 2.0
    }

    proptest! {
        #[test]
        fn the_loss_is_that_of_the_primary_network(theta in any_theta()) {
            let (loss, _) = loss_and_gradient(&theta);
            prop_assert!((loss - loss_of_primary(&theta)).abs() <= 1e-12 * (1.0 + loss));
        }

        #[test]
        fn the_gradient_is_the_slope_of_the_loss(theta in any_theta()) {
            let (_, gradient) = loss_and_gradient(&theta);
            let h = 1e-6;
            for (place, slope) in gradient.into_iter().enumerate() {
                let loss = |by: f64| {
                    let mut moved = theta;
                    moved[place] += by;
                    loss_and_gradient(&moved).0
                };
                let (forward, backward) = ((loss(h) - loss(0.0)) / h, (loss(0.0) - loss(-h)) / h);
                // Where the two sides differ there is a kink in between.
                prop_assume!((forward - backward).abs() < 1e-3);
                prop_assert!((f64::midpoint(forward, backward) - slope).abs() < 1e-3, "weight {place}");
            }
        }
    }

    fn any_theta() -> impl Strategy<Value = Theta> {
        prop::array::uniform9(-2.0..2.0)
    }

    #[test]
    fn the_last_weight_varies_fastest() {
        let candidate = |index| candidate(index).to_vec();
        let mut expected = vec![-1.0; N_WEIGHTS];
        assert_eq!(candidate(0), expected);
        expected[8] = 0.0;
        assert_eq!(candidate(1), expected);
        (expected[7], expected[8]) = (0.0, 1.0);
        assert_eq!(candidate(5), expected);
        assert_eq!(candidate(19_682), [1.0; N_WEIGHTS]);
    }

    #[test]
    fn the_search_finds_the_first_of_the_best() {
        // 1 - relu(a + b - 1) - relu(1 - a - b): neither both nor none.
        let theta = [-1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
        let expected = Search { theta, loss: 0.0, index: 6336, n_tried: 19_683, n_best: 4 };
        assert_eq!(Search::run(), expected);
        assert_eq!(candidate(6336).to_vec(), theta);
    }

    #[test]
    fn endings_are_told_apart() {
        let ending = |loss, gradient| {
            let theta = [0.0; N_WEIGHTS];
            Descent { seed: 0, start: theta, theta, loss, gradient }.ending()
        };
        assert_eq!(ending(1e-9, 1e-4), Ending::Solved);
        assert_eq!(ending(0.5, 1e-9), Ending::Stuck);
        assert_eq!(ending(0.5, 1e-4), Ending::Unfinished);
        assert_eq!(ending(f64::NAN, f64::NAN), Ending::Unfinished);
    }

    #[test]
    fn starts_are_drawn_from_the_seed() {
        let start = |seed| Descent::run(seed, DescentOptions { rate: 0.1, steps: 0 });
        let unmoved = start(7);
        assert_eq!(unmoved.start.to_vec(), unmoved.theta);
        assert_eq!(unmoved, start(7));
        assert_ne!(unmoved.start.to_vec(), start(8).start);
        assert!((0..100).flat_map(|seed| start(seed).start).all(|weight| (-1.0..1.0).contains(&weight)));
    }

    #[test]
    fn losses_that_are_not_finite_are_drawn_nowhere() {
        let wild = Descent::run(0, DescentOptions { rate: 1e6, steps: 100 });
        assert_eq!(wild.ending(), Ending::Unfinished);
        let comparison = Comparison { descents: vec![wild], search: Search::run() };
        assert!(comparison.levels().is_empty());
        assert!(!comparison.draw().contains("circle"));
    }
}
