//! Numbers to bits and back: single conversion nodes, or networks of ReLU and product units.
//!
//! Paper: §5, Appendix B.

use luge_net::{GraphBuilder, NodeId, NumberFormat, quantizer};

/// How the extended network converts numbers to bits and bits to numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BitConversion {
    /// By conversion nodes, which are not counted as units, as in the paper.
    #[default]
    Native,
    /// By ReLU and product units, counted like all others.
    Network,
}

luge_net::names!(BitConversion, "way to convert bits", Native "native", Network "network");

impl BitConversion {
    /// The bits of a vector of numbers, as -1 and 1.
    pub(crate) fn quantize(self, g: &mut GraphBuilder, format: NumberFormat, numbers: NodeId) -> NodeId {
        match self {
            Self::Native => g.quantize("quantize", format, numbers),
            Self::Network => {
                let bits = quantizer::quantize(g, &format, numbers);
                g.affine("quantize", 2.0, bits, -1.0)
            }
        }
    }

    /// The numbers whose bits lie in cells.
    ///
    /// With units, the bits are exactly 0 and 1 for cells within 1/2 of -1 and 1; other cells cannot be decoded anyway.
    pub(crate) fn dequantize(self, g: &mut GraphBuilder, format: NumberFormat, cells: NodeId) -> NodeId {
        match self {
            Self::Native => g.dequantize("theta", format, cells),
            Self::Network => {
                let missing = g.affine("thresholded bits", -1.0, cells, 0.5);
                let missing = g.relu("thresholded bits", missing);
                let bits = g.affine("thresholded bits", -1.0, missing, 1.0);
                let bits = g.relu("thresholded bits", bits);
                let numbers = quantizer::dequantize(g, &format, bits);
                g.affine("theta", 1.0, numbers, 0.0)
            }
        }
    }
}
