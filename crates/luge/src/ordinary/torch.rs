//! The network as a folder that stock PyTorch trains: weights, settings, and a script that imports nothing of Luge.

use std::{fs, io, path::Path};

use luge_landscape::mlp::{CircuitNetwork, Float};
use luge_net::Sequential;
use safetensors::{Dtype, SafeTensorError, View};
use serde::Serialize;

/// The most bytes of weights that are written with their zeros.
pub const MAX_EXPORTED_BYTES: u64 = 4 << 30;

/// The script: it draws a parity of half of the network's inputs, and is easily given another stream.
const SCRIPT: &str = include_str!("train.py");

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum TorchError {
    /// Zeros take room.
    #[error("the weights take {bytes} bytes, and at most {max} are written with their zeros")]
    TooLarge {
        /// Bytes of all weights.
        bytes: u64,
        /// Bytes that are written.
        max: u64,
    },
    /// The format refused.
    #[error("cannot write the weights")]
    Format(#[from] SafeTensorError),
    /// The system refused.
    #[error("cannot write {path}")]
    Write {
        /// The file or folder.
        path: String,
        /// The system's reason.
        #[source]
        reason: io::Error,
    },
}

/// What `config.json` says.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct TorchConfig {
    lr: f64,
    dtype: &'static str,
    widths: Vec<usize>,
    sparse: bool,
    /// The steps after which the circuit has halted, on the stream that Luge saw.
    steps: u64,
}

/// A folder for PyTorch.
pub struct TorchExport<'p> {
    network: &'p Sequential,
    float: Float,
    config: TorchConfig,
}

struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> std::borrow::Cow<'_, [u8]> {
        (&self.bytes).into()
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl<'p> TorchExport<'p> {
    /// A network for PyTorch that halts after so many steps; `sparse` writes the weights that are not zero with their places.
    ///
    /// # Errors
    /// If it is too large to be written with its zeros.
    pub fn new(network: &'p CircuitNetwork, steps: u64, sparse: bool) -> Result<Self, TorchError> {
        let float = network.constants.float;
        let (width, dtype) = match float {
            Float::F64 => (8, "float64"),
            Float::F32 => (4, "float32"),
        };
        let bytes = network.network.n_weights() * width;
        if !sparse && bytes > MAX_EXPORTED_BYTES {
            return Err(TorchError::TooLarge { bytes, max: MAX_EXPORTED_BYTES });
        }
        let (lr, widths) = (network.constants.rate, network.network.widths());
        let config = TorchConfig { lr, dtype, widths, sparse, steps };
        Ok(Self { network: &network.network, float, config })
    }

    /// The files that are written.
    pub const FILES: [&'static str; 3] = ["net.safetensors", "config.json", "train.py"];

    /// Writes them into a folder.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, folder: &Path) -> Result<(), TorchError> {
        let failed = |path: &Path, reason| TorchError::Write { path: path.display().to_string(), reason };
        fs::create_dir_all(folder).map_err(|reason| failed(folder, reason))?;
        let tensors = self.tensors();
        let named = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
        safetensors::serialize_to_file(named, None, &folder.join("net.safetensors"))?;
        let config = serde_json::to_string(&self.config).unwrap_or_default() + "\n";
        for (name, text) in [("config.json", config.as_str()), ("train.py", SCRIPT)] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|reason| failed(&path, reason))?;
        }
        Ok(())
    }

    /// The weights by `nn.Sequential`'s names: ReLUs have the odd numbers.
    fn tensors(&self) -> Vec<(String, Tensor)> {
        let mut tensors = Vec::new();
        for (at, layer) in self.network.layers().iter().enumerate() {
            let name = |what: &str| format!("{}.{what}", 2 * at);
            let (n_units, n_inputs) = (layer.n_units(), layer.n_inputs());
            tensors.push((name("bias"), self.floats(vec![n_units], layer.biases())));
            if self.config.sparse {
                let terms = || (0..n_units).flat_map(|unit| layer.terms(unit).map(move |term| (unit, term)));
                let places = terms().flat_map(|(unit, (input, _))| (unit * n_inputs + input).to_le_bytes());
                let weights: Vec<f64> = terms().map(|(_, (_, weight))| weight).collect();
                let n_terms = weights.len();
                let places = Tensor { dtype: Dtype::I64, shape: vec![n_terms], bytes: places.collect() };
                tensors.push((name("weight.places"), places));
                tensors.push((name("weight.values"), self.floats(vec![n_terms], &weights)));
            } else {
                tensors.push((name("weight"), self.floats(vec![n_units, n_inputs], &layer.dense())));
            }
        }
        tensors
    }

    fn floats(&self, shape: Vec<usize>, values: &[f64]) -> Tensor {
        let dtype = match self.float {
            Float::F64 => Dtype::F64,
            Float::F32 => Dtype::F32,
        };
        Tensor { dtype, shape, bytes: self.float.bytes(values) }
    }
}
