//! The numbers of the construction, all powers of two, and the inequalities that they must satisfy.

use luge_circuit::{Code, SampleShape};

/// The arithmetic in which the network is trained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Float {
    /// 64-bit floating point.
    #[default]
    F64,
    /// 32-bit floating point, PyTorch's default.
    F32,
}

luge_net::names!(Float, "arithmetic", F64 "f64", F32 "f32");

impl Float {
    /// Numbers as bytes, little endian.
    #[must_use]
    pub fn bytes(self, values: &[f64]) -> Vec<u8> {
        match self {
            Self::F64 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::F32 => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        }
    }

    /// The smallest normal number is 2 to this power.
    fn lowest_exponent(self) -> i32 {
        match self {
            Self::F64 => -1022,
            Self::F32 => -126,
        }
    }
}

/// Why no constants satisfy the inequalities.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{steps} steps are too many for {}: the rate would be 2^{rate_exponent}", .float.word())]
pub struct MlpConstantsError {
    /// The requested number of steps.
    pub steps: u64,
    /// The arithmetic.
    pub float: Float,
    /// The rate's exponent.
    pub rate_exponent: i32,
}

/// The constants of the construction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MlpConstants {
    /// A: the output while the network runs.
    pub carrier: f64,
    /// kappa: the output's slope in a register that flips.
    pub slope: f64,
    /// eps: registers are stored times this, and amplified in the next layer.
    pub memory_scale: f64,
    /// Inputs are scaled by this before the memory's layer.
    pub input_scale: f64,
    /// The rate of SGD: eps^2 / (A kappa).
    pub rate: f64,
    /// The distance of a closed gate below its kink: larger than any register.
    pub gate: f64,
    /// Whether copies of registers are saturated twice. After one saturation, slopes of very different sizes would be added
    /// at the memory, and training fails.
    pub saturates_twice: bool,
    /// The number of steps that they are chosen for.
    pub steps: u64,
    /// The arithmetic that they are chosen for.
    pub float: Float,
}

/// An inequality between numbers, to be printed.
#[derive(Clone, PartialEq, Debug)]
pub struct Inequality {
    /// Its purpose.
    pub name: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The left side.
    pub left: f64,
    /// The right side, which must not be smaller.
    pub right: f64,
}

impl Inequality {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.left <= self.right
    }
}

/// The least exponent e with 2^e >= value.
fn exponent_above(value: f64) -> i32 {
    (0..1023).find(|&e| power(e) >= value).unwrap_or(i32::MAX)
}

/// 2 to a power within the range of normal numbers.
pub(super) fn power(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent + 1023).unwrap_or(0).clamp(1, 2046);
    f64::from_bits(biased << 52)
}

/// The properties of samples that the constants depend on.
#[derive(Clone, Copy)]
struct Demands {
    n_slots: f64,
    /// The largest size of a label.
    label: f64,
    /// Labels are read in steps of 1 / this, relative to the slot's unit.
    resolution: f64,
}

impl Demands {
    fn of(samples: Option<SampleShape>) -> Self {
        let Some(shape) = samples else { return Self { n_slots: 1.0, label: 1.0, resolution: 1.0 } };
        let n_slots = super::n_slots(shape) as f64;
        match shape.label {
            Code::Bit => Self { n_slots, label: 1.0, resolution: 1.0 },
            Code::Fixed { n_integer, n_fraction } => Self {
                n_slots,
                label: power(n_integer.cast_signed()),
                resolution: power((n_integer + n_fraction).cast_signed()),
            },
        }
    }
}

impl MlpConstants {
    /// Constants for a circuit with these samples, so many steps and an arithmetic.
    ///
    /// # Errors
    /// If the rate would be too small for the arithmetic.
    pub fn choose(samples: Option<SampleShape>, steps: u64, float: Float) -> Result<Self, MlpConstantsError> {
        let Demands { n_slots, label, resolution } = Demands::of(samples);
        // f64 has room for more than the inequalities require.
        let spare = match float {
            Float::F64 => 6,
            Float::F32 => 0,
        };
        let carrier = exponent_above(8.0 * steps as f64 * label * resolution) + spare;
        let taking = exponent_above(4.0 * n_slots * steps as f64);
        let slope = -exponent_above(16.0 * n_slots * steps as f64 * resolution).max(carrier + taking) - spare;
        let memory = match float {
            Float::F64 => -200,
            Float::F32 => (carrier + slope - 120).div_euclid(2),
        };
        let rate = 2 * memory - carrier - slope;
        if rate < float.lowest_exponent() {
            return Err(MlpConstantsError { steps, float, rate_exponent: rate });
        }
        Ok(Self {
            carrier: power(carrier),
            slope: power(slope),
            memory_scale: power(memory),
            input_scale: power(-34),
            rate: power(rate),
            gate: 8.0,
            saturates_twice: true,
            steps,
            float,
        })
    }

    /// The inequalities, in exact arithmetic.
    #[must_use]
    pub fn inequalities(&self, samples: Option<SampleShape>) -> Vec<Inequality> {
        let Demands { n_slots: n, label: y, resolution: r } = Demands::of(samples);
        let Self { carrier: a, slope: kappa, input_scale: input, .. } = *self;
        let (t, lowest) = (self.steps as f64, power(self.float.lowest_exponent()));
        let inequalities = [
            (
                "flips add up to less than a quarter",
                "2 T max|y| 2^bits / A <= 1/4",
                2.0 * t * y * r / a,
                0.25,
            ),
            (
                "slots are clean when a sample is taken",
                "16 (n + m) T 2^bits kappa <= 1",
                16.0 * n * t * r * kappa,
                1.0,
            ),
            (
                "what a take adds to errors of slots stays small",
                "A (n + m) T kappa <= 1/4",
                a * n * t * kappa,
                0.25,
            ),
            (
                "inputs leave the memory alone",
                "(n + m) T input^2 <= 2^-20",
                n * t * input * input,
                power(-20),
            ),
            ("a closed gate stays closed", "4 <= gate", 4.0, self.gate),
            ("the rate is a normal number", "2^e_min <= rate", lowest, self.rate),
        ];
        inequalities.map(|(name, formula, left, right)| Inequality { name, formula, left, right }).to_vec()
    }
}
