//! Exports the network as a folder that stock PyTorch trains: weights, settings, and a script that does not use Luge.

use std::{fs, path::Path};

use luge_circuit::Code;
use luge_landscape::mlp::Float;
use luge_net::{NumberFormat, Sequential};
use safetensors::{Dtype, SafeTensorError, tensor::TensorView};

use super::PreparedMlp;
use crate::{
    files::FileError,
    object,
    stream::{Concept, Draw, Order, Samples},
};

/// The most bytes of weights that are written with their zeros.
pub const MAX_EXPORTED_BYTES: u64 = 4 << 30;

/// The script, which trains on rows or on a parity that it draws.
const SCRIPT: &str = include_str!("train.py");

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum TorchError {
    /// Too many weights to write all zeros.
    #[error("the weights take {bytes} bytes, and at most {max} are written with their zeros")]
    TooLarge {
        /// Bytes of all weights.
        bytes: u64,
        /// Bytes that are written.
        max: u64,
    },
    /// The weights do not fit the format.
    #[error("cannot write the weights")]
    Format(#[from] SafeTensorError),
    /// A file or the folder cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Samples in the order in which they pass: features and labels row by row.
#[derive(Clone, PartialEq, Debug, Default)]
struct Rows {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// A folder for PyTorch.
pub struct TorchExport<'p> {
    network: &'p Sequential,
    float: Float,
    sparse: bool,
    /// For how many steps each row of `data.safetensors` passes; 0 if the script draws a parity and no rows are written.
    hold: usize,
    config: String,
    rows: Rows,
}

struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl PreparedMlp {
    /// Returns for how many steps each row passes, and the rows: those of a table, or all samples until the end.
    fn rows(&self) -> (usize, Rows) {
        let hold = self.program.as_ref().and_then(|program| program.hold);
        let n_rows = match &self.samples {
            Some(Samples::Table(table, Order::Cycle)) => table.n_samples() as u64,
            Some(_) => self.rehearsal.steps + self.options.after,
            // The circuit takes no samples; labels of both signs alternate.
            None => 2,
        };
        let mut stream = self.new_samples();
        let mut rows = Rows::default();
        for _ in 0..n_rows {
            let passing = stream.next_sample();
            rows.x.extend(passing.x);
            rows.y.extend(passing.y);
        }
        (hold.unwrap_or(1), rows)
    }
}

/// Returns the midpoint of two label values; `None` if there are more than two values, or if a row of several labels does not
/// have exactly one of the higher value.
fn threshold(labels: &[f64], n_labels: usize) -> Option<f64> {
    let (low, high) = labels.iter().fold((f64::MAX, f64::MIN), |(low, high), &y| (low.min(y), high.max(y)));
    let middle = f64::midpoint(low, high);
    let one = |row: &[f64]| n_labels == 1 || row.iter().filter(|&&y| y > middle).count() == 1;
    let classes = labels.iter().all(|y| [low, high].contains(y)) && labels.chunks(n_labels).all(one);
    classes.then_some(middle)
}

impl<'p> TorchExport<'p> {
    /// Collects a network and its samples for PyTorch; with `sparse` only the nonzero weights are written, with their places.
    ///
    /// # Errors
    /// If it is too large to be written with its zeros.
    pub fn new(prepared: &'p PreparedMlp, sparse: bool) -> Result<Self, TorchError> {
        let network = &prepared.network;
        let float = network.constants.float;
        let (width, dtype) = match float {
            Float::F64 => (8, "float64"),
            Float::F32 => (4, "float32"),
        };
        let bytes = network.network.n_weights() * width;
        if !sparse && bytes > MAX_EXPORTED_BYTES {
            return Err(TorchError::TooLarge { bytes, max: MAX_EXPORTED_BYTES });
        }
        let drawn = match prepared.samples {
            Some(Samples::Draw(Draw { concept: Concept::Parity { n_hidden }, noise: ..=0.0, .. })) => {
                Some(n_hidden)
            }
            _ => None,
        };
        let (hold, rows) = if drawn.is_some() { (0, Rows::default()) } else { prepared.rows() };
        let bits = prepared.circuit.samples().is_none_or(|shape| shape.label == Code::Bit);
        let levels = if bits { [-1.0, 1.0] } else { [0.0, 1.0] };
        let theta = prepared.theta.as_ref();
        let fraction = |format: NumberFormat| match format {
            NumberFormat::Fixed(fixed) => fixed.n_fraction,
            _ => 0,
        };
        // `steps`: when the circuit halts on the stream that Luge used. `levels`: the numbers for the bits of a parity.
        // `theta`: the registers of each learned number, the lowest bit first.
        let config = object! {
            lr: network.constants.rate,
            dtype: dtype,
            widths: network.network.widths(),
            sparse: sparse,
            steps: prepared.rehearsal.steps,
            hold: hold,
            hidden: drawn.unwrap_or(0),
            levels: levels,
            theta: theta.map_or(&[][..], |theta| &theta.words),
            fraction: theta.map_or(0, |theta| fraction(theta.format)),
            memory_scale: network.constants.memory_scale,
            output: prepared.circuit.samples().is_some() && prepared.has_output(),
            // Between the two label values; of several labels the largest counts.
            threshold: match drawn {
                Some(_) => Some(f64::midpoint(levels[0], levels[1])),
                None => threshold(&rows.y, network.n_outputs()),
            },
        };
        let config = serde_json::to_string(&config).unwrap_or_default() + "\n";
        Ok(Self { network: &network.network, float, sparse, hold, config, rows })
    }

    /// Returns the names of the files that are written.
    pub fn files(&self) -> Vec<&'static str> {
        let rows = (self.hold > 0).then_some("data.safetensors");
        ["net.safetensors", "config.json", "train.py"].into_iter().chain(rows).collect()
    }

    /// Writes the files into a folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), TorchError> {
        fs::create_dir_all(folder).map_err(|reason| FileError::new("write", folder, reason))?;
        write_tensors(&self.tensors(), &folder.join("net.safetensors"))?;
        if self.hold > 0 {
            let widths = self.network.widths();
            let rows = |values: &[f64], width: usize| self.floats(vec![values.len() / width, width], values);
            let (x, y) = (rows(&self.rows.x, widths[0]), rows(&self.rows.y, widths[widths.len() - 1]));
            write_tensors(&[("x".to_owned(), x), ("y".to_owned(), y)], &folder.join("data.safetensors"))?;
        }
        for (name, text) in [("config.json", self.config.as_str()), ("train.py", SCRIPT)] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|reason| FileError::new("write", &path, reason))?;
        }
        Ok(())
    }

    /// Returns the weights under the names of `nn.Sequential`, where ReLUs have the odd numbers.
    fn tensors(&self) -> Vec<(String, Tensor)> {
        let mut tensors = Vec::new();
        for (at, layer) in self.network.layers().iter().enumerate() {
            let name = |what: &str| format!("{}.{what}", 2 * at);
            let (n_units, n_inputs) = (layer.n_units(), layer.n_inputs());
            tensors.push((name("bias"), self.floats(vec![n_units], layer.biases())));
            if self.sparse {
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

fn write_tensors(tensors: &[(String, Tensor)], path: &Path) -> Result<(), SafeTensorError> {
    let views = tensors
        .iter()
        .map(|(name, tensor)| Ok((name, TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes)?)))
        .collect::<Result<Vec<_>, SafeTensorError>>()?;
    safetensors::serialize_to_file(views, None, path)
}
