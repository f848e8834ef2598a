//! The arithmetic that the dense engine trains in.

use candle_core::DType;

/// The arithmetic training runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Precision {
    /// 64-bit floating point.
    #[default]
    F64,
    /// 32-bit floating point.
    F32,
    /// 16-bit IEEE floating point.
    F16,
    /// 16-bit floating point with the exponent of f32.
    Bf16,
}

luge_net::names!(Precision, "precision", F64 "f64", F32 "f32", F16 "f16", Bf16 "bf16");

impl Precision {
    pub(crate) fn dtype(self) -> DType {
        match self {
            Self::F64 => DType::F64,
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}
