//! Endless streams of samples: drawn from a distribution, or the rows of a table repeated.

use luge_net::{NumberFormat, numbers::Overflow};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, StandardUniform, Uniform};
use serde::{Deserialize, Serialize};

use crate::data::Table;

/// The order in which the rows of a table pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// In the order of the table, again and again.
    #[default]
    Cycle,
    /// All rows, in a new random order in every pass.
    Shuffle,
    /// A random row at every step.
    Draw,
}

luge_net::names!(Order, "order", Cycle "cycle", Shuffle "shuffle", Draw "draw");

/// A distribution of samples. Jobs and models store it as the text that `--draw` takes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Draw {
    /// How labels depend on features.
    pub concept: Concept,
    /// The number of features.
    pub n_features: usize,
    /// The probability that a label is flipped.
    pub noise: f64,
}

/// How the labels of drawn samples depend on their features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concept {
    /// The parity of this many hidden bits, 0 or 1.
    Parity {
        /// The number of bits that count.
        n_hidden: usize,
    },
    /// A random function of this many hidden bits, 0 or 1.
    Junta {
        /// The number of bits that count.
        n_hidden: usize,
    },
    /// The side of a random plane through 0 on which the point lies, -1 or 1; features are multiples of 1/4 from -1 to 1.
    Halfspace,
}

/// Why a text does not describe a distribution.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error(
    "`{text}` cannot be drawn: {why}; expected parity:bits=N,hidden=K or junta:bits=N,hidden=K or halfspace:features=N, with noise=P if labels are to be wrong"
)]
pub struct NotDrawable {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// The most hidden bits of a junta: its truth table is stored.
const MAX_RELEVANT: usize = 20;

impl std::str::FromStr for Draw {
    type Err = NotDrawable;

    fn from_str(text: &str) -> Result<Self, NotDrawable> {
        let refused = |why: String| NotDrawable { text: text.to_owned(), why };
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let (mut n_features, mut n_hidden, mut noise) = (None, None, 0.0);
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) =
                part.split_once('=').ok_or_else(|| refused(format!("`{part}` is no key=value")))?;
            let number = || value.parse::<usize>().ok().filter(|&n| (1..=4096).contains(&n));
            let number = || number().ok_or_else(|| refused(format!("`{value}` is no number from 1 to 4096")));
            match (key, kind) {
                ("bits", "parity" | "junta") | ("features", "halfspace") => n_features = Some(number()?),
                ("hidden", "parity" | "junta") => n_hidden = Some(number()?),
                ("noise", _) => {
                    let rate = value.parse().ok().filter(|rate: &f64| (0.0..=0.5).contains(rate));
                    noise = rate.ok_or_else(|| refused(format!("`{value}` is no number from 0 to 0.5")))?;
                }
                _ => return Err(refused(format!("{kind} has no `{key}`"))),
            }
        }
        let n_features = n_features.ok_or_else(|| refused("how many features is missing".to_owned()))?;
        let n_hidden = n_hidden.unwrap_or(n_features.div_ceil(2));
        if n_hidden > n_features {
            return Err(refused(format!("{n_hidden} of {n_features} bits cannot be hidden")));
        }
        let concept = match kind {
            "parity" => Concept::Parity { n_hidden },
            "junta" if n_hidden <= MAX_RELEVANT => Concept::Junta { n_hidden },
            "junta" => return Err(refused(format!("at most {MAX_RELEVANT} bits of a junta count"))),
            "halfspace" => Concept::Halfspace,
            _ => return Err(refused(format!("there is no `{kind}`"))),
        };
        Ok(Self { concept, n_features, noise })
    }
}

impl std::fmt::Display for Draw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.n_features;
        match self.concept {
            Concept::Parity { n_hidden } => write!(f, "parity:bits={n},hidden={n_hidden}")?,
            Concept::Junta { n_hidden } => write!(f, "junta:bits={n},hidden={n_hidden}")?,
            Concept::Halfspace => write!(f, "halfspace:features={n}")?,
        }
        if self.noise > 0.0 { write!(f, ",noise={}", self.noise) } else { Ok(()) }
    }
}

impl From<Draw> for String {
    fn from(draw: Draw) -> Self {
        draw.to_string()
    }
}

impl TryFrom<String> for Draw {
    type Error = NotDrawable;

    fn try_from(text: String) -> Result<Self, NotDrawable> {
        text.parse()
    }
}

/// The source of the samples of a stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "a run has one source of samples")]
pub enum Samples {
    /// The rows of a table.
    Table(Table, Order),
    /// A distribution.
    Draw(Draw),
}

impl Samples {
    /// Returns the numbers of features and labels of a sample.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Table(table, _) => table.sizes(),
            Self::Draw(draw) => (draw.n_features, 1),
        }
    }

    /// Returns a bound on the absolute value of every label, if one is known.
    pub fn label_bound(&self) -> Option<f64> {
        match self {
            Self::Table(..) => None,
            Self::Draw(_) => Some(1.0),
        }
    }
}

/// An endless stream of samples, determined by its seed, with all numbers rounded to a format.
#[derive(Clone, Debug)]
pub struct Stream {
    samples: Samples,
    generator: ChaCha8Rng,
    /// What drawn samples hide: the bits that count, or the plane.
    hidden: Vec<f64>,
    /// The bits that count, as words.
    mask: Vec<u64>,
    /// The truth table of a junta.
    truth: Vec<bool>,
    order: Vec<usize>,
    at: usize,
}

impl Stream {
    /// Opens a stream.
    pub fn open(mut samples: Samples, format: NumberFormat, seed: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let (mut hidden, mut truth, mut order) = (Vec::new(), Vec::new(), Vec::new());
        match &mut samples {
            Samples::Table(table, _) => {
                for value in table.features.data.iter_mut().chain(&mut table.labels.data) {
                    *value = format.round(*value, Overflow::Saturate).unwrap_or(0.0);
                }
                order = (0..table.n_samples()).collect();
            }
            Samples::Draw(Draw { concept, n_features, .. }) => match *concept {
                Concept::Parity { n_hidden } => hidden = subset(&mut generator, *n_features, n_hidden),
                Concept::Junta { n_hidden } => {
                    hidden = subset(&mut generator, *n_features, n_hidden);
                    truth =
                        (0..1_usize << n_hidden).map(|_| StandardUniform.sample(&mut generator)).collect();
                }
                Concept::Halfspace => {
                    let unit = |generator: &mut ChaCha8Rng| -> f64 { StandardUniform.sample(generator) };
                    hidden = (0..*n_features).map(|_| 2.0 * unit(&mut generator) - 1.0).collect();
                }
            },
        }
        let word = |bits: &[f64]| (0..).zip(bits).fold(0, |word, (i, &bit)| word | u64::from(bit > 0.0) << i);
        let mask = hidden.chunks(64).map(word).collect();
        Self { samples, generator, hidden, mask, truth, order, at: 0 }
    }

    /// Returns what drawn samples hide: 1 for every bit that counts, or the plane's direction.
    pub fn hidden(&self) -> &[f64] {
        &self.hidden
    }

    /// Continues with other samples of the same distribution; what they hide stays the same.
    pub fn reseed(&mut self, seed: u64) {
        self.generator = ChaCha8Rng::seed_from_u64(seed);
        self.generator.set_stream(1);
    }

    /// Draws the next batch, sample by sample.
    pub fn next_batch(&mut self, x: &mut [f64], y: &mut [f64]) {
        let (n_features, n_labels) = self.samples.sizes();
        for (x, y) in x.chunks_mut(n_features).zip(y.chunks_mut(n_labels)) {
            match self.samples {
                Samples::Table(..) => self.next_row(x, y),
                Samples::Draw(draw) => y[0] = self.draw(draw, x),
            }
        }
    }

    fn next_row(&mut self, x: &mut [f64], y: &mut [f64]) {
        let Samples::Table(table, order) = &self.samples else { return };
        let n = self.order.len();
        let row = match order {
            Order::Draw => below(&mut self.generator, n),
            Order::Cycle | Order::Shuffle => {
                if *order == Order::Shuffle && self.at == 0 {
                    for last in (1..n).rev() {
                        self.order.swap(last, below(&mut self.generator, last + 1));
                    }
                }
                let row = self.order[self.at];
                self.at = (self.at + 1) % n;
                row
            }
        };
        x.copy_from_slice(table.features.row(row));
        y.copy_from_slice(table.labels.row(row));
    }

    /// Draws the features of a sample and returns its label.
    fn draw(&mut self, Draw { concept, noise, .. }: Draw, x: &mut [f64]) -> f64 {
        let generator = &mut self.generator;
        let label = if concept == Concept::Halfspace {
            let quarters = Uniform::new_inclusive(-4_i32, 4).expect("a range that is not empty");
            x.fill_with(|| f64::from(quarters.sample(generator)) / 4.0);
            let side: f64 = x.iter().zip(&self.hidden).map(|(x, w)| x * w).sum();
            if side >= 0.0 { 1.0 } else { -1.0 }
        } else {
            let (mut index, mut ones) = (0, 0);
            for (bits, mask) in x.chunks_mut(64).zip(&self.mask) {
                let word: u64 = StandardUniform.sample(generator);
                for (i, x) in bits.iter_mut().enumerate() {
                    *x = f64::from((word >> i & 1) as u32);
                }
                match concept {
                    Concept::Junta { .. } => index = chosen(index, (word, *mask)),
                    _ => ones ^= word & mask,
                }
            }
            let odd = ones.count_ones() % 2 == 1;
            f64::from(u8::from(self.truth.get(index).copied().unwrap_or(odd)))
        };
        let wrong = noise > 0.0 && {
            let chance: f64 = StandardUniform.sample(generator);
            chance < noise
        };
        match (concept, wrong) {
            (_, false) => label,
            (Concept::Halfspace, true) => -label,
            (_, true) => 1.0 - label,
        }
    }
}

/// Appends the bits of a word that a mask selects to those of an index.
fn chosen(index: usize, (word, mask): (u64, u64)) -> usize {
    let bits = (0..64).filter(|i| mask >> i & 1 == 1);
    bits.fold(index, |index, i| 2 * index + usize::from(word >> i & 1 == 1))
}

/// Returns `n` numbers in random order, `n_hidden` of them 1 and the others 0.
fn subset(generator: &mut ChaCha8Rng, n: usize, n_hidden: usize) -> Vec<f64> {
    let mut bits: Vec<f64> = (0..n).map(|i| if i < n_hidden { 1.0 } else { 0.0 }).collect();
    for last in (1..n).rev() {
        bits.swap(last, below(generator, last + 1));
    }
    bits
}

fn below(generator: &mut ChaCha8Rng, n: usize) -> usize {
    let range = Uniform::new(0_u64, n as u64).expect("a range that is not empty");
    usize::try_from(range.sample(generator)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(text: &str, seed: u64, n: usize) -> Vec<(Vec<f64>, f64)> {
        let draw: Draw = text.parse().unwrap();
        let mut x = vec![0.0; draw.n_features];
        let mut stream = Stream::open(Samples::Draw(draw), "fix:2.2".parse().unwrap(), seed);
        let mut y = [0.0];
        let mut next = || {
            stream.next_batch(&mut x, &mut y);
            (x.clone(), y[0])
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn labels_are_what_is_hidden_says() {
        let draw: Draw = "parity:bits=9,hidden=4".parse().unwrap();
        let stream = Stream::open(Samples::Draw(draw), "fix:2.0".parse().unwrap(), 3);
        assert_eq!(stream.hidden().iter().sum::<f64>().to_bits(), 4.0_f64.to_bits());
        for (x, y) in draws("parity:bits=9,hidden=4", 3, 200) {
            let sum: f64 = x.iter().zip(stream.hidden()).map(|(a, b)| a * b).sum();
            assert_eq!(y.to_bits(), (sum % 2.0).to_bits());
        }
        let juntas = draws("junta:bits=6,hidden=2", 1, 400);
        let distinct: std::collections::BTreeSet<String> = juntas.iter().map(|s| format!("{s:?}")).collect();
        assert!(distinct.len() <= 64, "a function of the features: {}", distinct.len());
        assert!(
            draws("halfspace:features=3", 5, 50)
                .iter()
                .all(|(x, y)| { y.abs().to_bits() == 1.0_f64.to_bits() && x.iter().all(|x| x.abs() <= 1.0) })
        );
    }

    #[test]
    fn a_seed_gives_one_stream_and_noise_wrong_labels() {
        assert_eq!(draws("parity:bits=70", 1, 20), draws("parity:bits=70", 1, 20));
        assert_ne!(draws("parity:bits=70", 1, 20), draws("parity:bits=70", 2, 20));
        let (right, noisy) =
            (draws("halfspace:features=2", 4, 1), draws("halfspace:features=2,noise=0.5", 4, 1));
        assert_eq!(right[0].0, noisy[0].0);
    }

    #[test]
    fn what_is_drawn_is_written_as_it_is_read() {
        for text in ["parity:bits=9,hidden=4", "junta:bits=6,hidden=2,noise=0.25", "halfspace:features=3"] {
            assert_eq!(text.parse::<Draw>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_drawn() {
        for text in [
            "parity",
            "parity:bits=0",
            "parity:bits=4,hidden=5",
            "parity:features=3",
            "ring:bits=3",
            "halfspace:features=2,noise=2",
        ] {
            assert!(text.parse::<Draw>().is_err(), "{text}");
        }
    }

    #[test]
    fn rows_pass_in_their_order() {
        let table = Table::new(vec!["a".into()], vec!["y".into()], vec![1.0, 2.0, 3.0], vec![0.1, 0.2, 0.3]);
        let rows = |order: Order| {
            let mut stream =
                Stream::open(Samples::Table(table.clone(), order), "fix:4.2".parse().unwrap(), 7);
            let (mut x, mut y) = ([0.0; 2], [0.0; 2]);
            (0..6)
                .flat_map(|_| {
                    stream.next_batch(&mut x, &mut y);
                    x
                })
                .collect::<Vec<f64>>()
        };
        assert_eq!(rows(Order::Cycle), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        let shuffled = rows(Order::Shuffle);
        for round in shuffled.chunks(3) {
            assert_eq!(round.iter().sum::<f64>().to_bits(), 6.0_f64.to_bits(), "{shuffled:?}");
        }
        assert!(rows(Order::Draw).iter().all(|x| [1.0, 2.0, 3.0].contains(x)));
    }
}
