//! Writes the trained function as an ONNX file: a Gemm for each linear layer, a Relu between them.
//!
//! ONNX files are protocol buffers. A message is a sequence of fields: a number, a type, and a varint or bytes with their length.

use luge_landscape::mlp::{CircuitNetwork, Float};

use super::TorchError;

/// The largest file that is written: readers of protocol buffers accept at most 2 GiB.
pub const MAX_ONNX_BYTES: u64 = (1 << 31) - (1 << 20);

/// A message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// Returns the file of a network from `x`, with a row for each sample, to `y`.
///
/// # Errors
/// If the file would be too large.
pub fn onnx(network: &CircuitNetwork) -> Result<Vec<u8>, TorchError> {
    let float = network.constants.float;
    // TensorProto.DataType: FLOAT is 1, DOUBLE is 11.
    let (width, kind) = match float {
        Float::F32 => (4, 1),
        Float::F64 => (8, 11),
    };
    let bytes = network.network.n_weights() * width;
    if bytes > MAX_ONNX_BYTES {
        return Err(TorchError::TooLarge { bytes, max: MAX_ONNX_BYTES });
    }
    let layers = network.network.layers();
    let mut graph = Message::default();
    let mut input = "x".to_owned();
    for (at, layer) in layers.iter().enumerate() {
        let last = at + 1 == layers.len();
        let (n_units, n_inputs) = (layer.n_units(), layer.n_inputs());
        let [weight, bias] = ["weight", "bias"].map(|part| format!("{}.{part}", 2 * at));
        let sum = if last { "y".to_owned() } else { format!("sum{at}") };
        let transposed = Message::default().text(1, "transB").number(3, 1).number(20, 2);
        let gemm = Message::default().text(1, &input).text(1, &weight).text(1, &bias).text(2, &sum);
        graph = graph.message(1, &gemm.text(4, "Gemm").message(5, &transposed));
        let tensor = |name: &str, dims: &[usize], values: &[f64]| {
            let tensor = dims.iter().fold(Message::default(), |tensor, &dim| tensor.number(1, dim as u64));
            tensor.number(2, kind).text(8, name).bytes(9, &float.bytes(values))
        };
        graph = graph.message(5, &tensor(&weight, &[n_units, n_inputs], &layer.dense()));
        graph = graph.message(5, &tensor(&bias, &[n_units], layer.biases()));
        if !last {
            input = format!("relu{at}");
            graph = graph.message(1, &Message::default().text(1, &sum).text(2, &input).text(4, "Relu"));
        }
    }
    let rows = Message::default().message(1, &Message::default().text(2, "n"));
    let port = |name: &str, n_columns: usize| {
        let columns = Message::default().number(1, n_columns as u64);
        let shape = Message(rows.0.clone()).message(1, &columns);
        let tensor = Message::default().number(1, kind).message(2, &shape);
        Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
    };
    let widths = network.network.widths();
    graph = graph
        .text(2, "luge")
        .message(11, &port("x", widths[0]))
        .message(12, &port("y", widths[widths.len() - 1]));
    let opset = Message::default().number(2, 17);
    let model = Message::default().number(1, 9).text(2, "luge").message(7, &graph).message(8, &opset);
    Ok(model.0)
}
