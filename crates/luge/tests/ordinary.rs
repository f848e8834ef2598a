//! Landscape mlp as the library offers it: learners with numbers in their registers, model files, ONNX.

use std::{collections::BTreeMap, fs, ops::ControlFlow};

use luge::{
    NumberFormat, StreamJob,
    files::model::ModelError,
    mlp::{MlpModel, MlpOptions, PreparedMlp, onnx},
    stream::{Order, Samples, StreamReport},
};
use luge_circuit::Shipped;
use luge_landscape::mlp::MEMORY_LAYER;
use luge_net::{Shape, Values};

fn draw(text: &str) -> Samples {
    Samples::Draw(text.parse().expect("a draw"))
}

fn trained(prepared: &PreparedMlp) -> StreamReport {
    let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
    assert!(report.certificate.proves_the_run(), "{:?}", report.certificate);
    report
}

/// A learner that ships, on numbers of a format, as a circuit and as it is trained on tapes.
fn learner(name: &str, samples: Samples, format: &str) -> (PreparedMlp, Vec<f64>) {
    let mut job = StreamJob::new(luge::Source::open(name).expect("ships"), samples.clone());
    job.options.format = format.parse::<NumberFormat>().expect("a format");
    let lesson = job.prepare().expect("a lesson");
    let theta = lesson.train(|_| ControlFlow::Continue(())).expect("an engine").theta;
    let circuit = lesson.circuit().expect("a circuit");
    let options = MlpOptions { n_new: 50, ..MlpOptions::default() };
    (PreparedMlp::new(circuit, Some(samples), options).expect("a network"), theta)
}

/// Numbers in fixed point are copied, learned and read: theta is what the same learner finds on tapes, and F is f_theta.
#[test]
fn a_machine_learns_numbers() {
    let (prepared, on_tapes) = learner("parity_machine", draw("parity:bits=2,hidden=1"), "fix:2.0");
    let report = trained(&prepared);
    assert!(report.halted);
    assert_eq!(report.theta, on_tapes);
    let output = &report.certificate["output"];
    assert_eq!(output.figures, "F(x) = f(x) on 50 of 50 new inputs");
}

fn parity_model() -> MlpModel {
    let samples = draw("parity:bits=5,hidden=3");
    let prepared = PreparedMlp::new(Shipped::Parity.circuit(5), Some(samples), MlpOptions::default())
        .expect("a network");
    MlpModel::new(&prepared, &trained(&prepared))
}

/// All inputs of five bits.
fn inputs() -> Values {
    let bit = |number: u32, at: u32| if number >> at & 1 == 1 { 1.0 } else { -1.0 };
    let data = (0..32).flat_map(|number| (0..5).map(move |at| bit(number, at))).collect();
    Values::new(Shape::new(32, 5), data)
}

#[test]
fn a_model_is_read_back_predicts_and_is_trained_again() {
    let model = parity_model();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    fs::write(&path, model.to_bytes("model").expect("bytes")).expect("a file");
    let read = MlpModel::load(&path).expect("a model of this kind");
    assert_eq!(read, model);
    let predicted = read.predict(&inputs()).expect("an output").data;
    assert_eq!(predicted.iter().filter(|&&f| (f - 1.0).abs() < 1e-9).count(), 16, "{predicted:?}");

    let again = |model: &MlpModel| {
        let prepared = model.prepare(None).expect("a run");
        model.is_same(&MlpModel::new(&prepared, &trained(&prepared)))
    };
    assert!(again(&read).holds);
    let mut spoilt = read.clone();
    let mut memory = spoilt.weights[0].1.to_values().data;
    memory[0] += memory[0] / 1024.0;
    spoilt.weights[0].1 = Values::column(memory.clone()).into();
    let claim = again(&spoilt);
    assert!(!claim.holds && claim.figures == "training again gives another: memory", "{claim:?}");
    memory.pop();
    spoilt.weights[0].1 = Values::column(memory).into();
    assert!(spoilt.trained().is_err());

    fs::write(&path, "something else").expect("a file");
    assert!(matches!(MlpModel::load(&path), Err(ModelError::NotSafetensors { .. })));
}

#[test]
fn a_table_teaches_a_circuit() {
    let x = inputs();
    let labels = (0..32).map(|row| f64::from(u8::from(x.row(row)[3] > 0.0))).collect();
    let names = (1..=5).map(|i| format!("x{i}")).collect();
    let table = luge::data::Table::new(names, vec!["y".to_owned()], x.data.clone(), labels);
    let samples = Samples::Table(table, Order::Shuffle);
    let prepared = PreparedMlp::new(Shipped::WhichBit.circuit(5), Some(samples), MlpOptions::default())
        .expect("a network");
    let model = MlpModel::new(&prepared, &trained(&prepared));
    let predicted = model.predict(&x).expect("an output").data;
    assert!((0..32).all(|row| (predicted[row] - x.row(row)[3]).abs() < 1e-9), "{predicted:?}");
    assert!(model.prepare(None).is_err(), "the table is missing");
}

/// The fields of a protocol buffer: a number, and a varint or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let content = if key & 7 == 2 {
            bytes.split_at(usize::try_from(value).expect("small"))
        } else {
            (&bytes[..0], bytes)
        };
        bytes = content.1;
        found.push((key >> 3, value, content.0));
    }
    found
}

fn texts<'b>(message: &[(u64, u64, &'b [u8])], field: u64) -> Vec<&'b str> {
    let text = |bytes: &'b [u8]| std::str::from_utf8(bytes).expect("UTF-8");
    message.iter().filter(|(number, ..)| *number == field).map(|(.., bytes)| text(bytes)).collect()
}

/// What an ONNX file of Gemm and Relu says of one input.
fn evaluate(file: &[u8], x: &[f64]) -> f64 {
    let model = fields(file);
    let graph = fields(model.iter().find(|(field, ..)| *field == 7).expect("a graph").2);
    let mut known = BTreeMap::from([("x".to_owned(), x.to_vec())]);
    for (_, _, tensor) in graph.iter().filter(|(field, ..)| *field == 5) {
        let tensor = fields(tensor);
        let raw = tensor.iter().find(|(field, ..)| *field == 9).expect("numbers").2;
        let numbers = raw.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight")));
        known.insert(texts(&tensor, 8)[0].to_owned(), numbers.collect());
    }
    for (_, _, node) in graph.iter().filter(|(field, ..)| *field == 1) {
        let node = fields(node);
        let operands: Vec<&Vec<f64>> = texts(&node, 1).iter().map(|name| &known[*name]).collect();
        let result = match texts(&node, 4)[0] {
            "Relu" => operands[0].iter().map(|value| value.max(0.0)).collect(),
            "Gemm" => {
                let rows = operands[1].chunks_exact(operands[0].len()).zip(operands[2]);
                rows.map(|(row, bias)| row.iter().zip(operands[0]).fold(*bias, |sum, (w, x)| sum + w * x))
                    .collect()
            }
            other => panic!("{other}"),
        };
        known.insert(texts(&node, 2)[0].to_owned(), result);
    }
    known["y"][0]
}

#[test]
fn onnx_is_the_trained_function() {
    let model = parity_model();
    let (initial, after) = (model.initial().expect("valid"), model.trained().expect("valid"));
    assert_ne!(initial.network.layers()[MEMORY_LAYER], after.network.layers()[MEMORY_LAYER]);
    let file = onnx(&after).expect("small enough");
    let predicted = model.predict(&inputs()).expect("an output");
    for row in 0..32 {
        assert!((evaluate(&file, inputs().row(row)) - predicted.data[row]).abs() < 1e-9, "row {row}");
    }
}
