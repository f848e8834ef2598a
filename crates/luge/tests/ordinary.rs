//! Landscape mlp as the library offers it: learners with numbers in their registers, model files, ONNX.

use std::{collections::BTreeMap, fs, ops::ControlFlow};

use luge::{
    Certificate, JobError, NumberFormat, Source, StreamJob,
    certificate::answer::Answer,
    files::model::ModelError,
    mlp::{MlpModel, PreparedMlp, onnx},
    stream::{Order, Samples, StreamEngineChoice, StreamLandscape, StreamOptions, StreamReport, Via},
};
use luge_circuit::{
    Shipped,
    aiger::{self, Encoding},
};
use luge_landscape::mlp::{Float, MEMORY_LAYER};
use luge_net::{Shape, Values};

fn draw(text: &str) -> Samples {
    Samples::Draw(text.parse().expect("a draw"))
}

fn options() -> StreamOptions {
    StreamOptions::on(StreamLandscape::Mlp)
}

fn trained(prepared: &PreparedMlp) -> StreamReport {
    let report = prepared.train(|_| ControlFlow::Continue(())).expect("an engine");
    assert!(report.certificate.proves_the_run(), "{:?}", report.certificate);
    report
}

/// A learner that ships, on numbers of a format, as a circuit and as it is trained on tapes.
fn learner(name: &str, samples: Samples, format: &str) -> (PreparedMlp, Vec<f64>) {
    let mut job = StreamJob::new(Source::open(name).expect("ships"), samples.clone());
    job.options.format = format.parse::<NumberFormat>().expect("a format");
    let lesson = job.prepare().expect("a lesson");
    let theta = lesson.train(|_| ControlFlow::Continue(())).expect("an engine").theta;
    let circuit = lesson.circuit().expect("a circuit");
    let options = StreamOptions { n_judged: 50, ..options() };
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
    let prepared = PreparedMlp::new(Shipped::Parity.circuit(5), Some(samples), options()).expect("a network");
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
    let prepared =
        PreparedMlp::new(Shipped::WhichBit.circuit(5), Some(samples), options()).expect("a network");
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

/// What an answer shows of each claim, and what a file keeps of all of them.
#[test]
fn a_certificate_is_read_back_and_every_claim_has_a_meaning() {
    let samples = draw("parity:bits=3,hidden=1");
    let prepared = PreparedMlp::new(Shipped::WhichBit.circuit(3), Some(samples), options());
    let certificate = trained(&prepared.expect("a network")).certificate;
    let claims = Answer::of_certificate(&certificate).claims;
    assert!(claims.len() == 6 && claims.iter().all(|claim| !claim.meaning.is_empty()), "{claims:?}");
    let written = serde_json::to_value(&certificate).expect("JSON");
    assert_eq!(serde_json::from_value::<Certificate>(written.clone()).expect("a certificate"), certificate);
    for claim in &claims {
        let mut fewer = written.clone();
        fewer.as_object_mut().expect("an object").remove(&claim.name.replace(' ', "_"));
        assert!(serde_json::from_value::<Certificate>(fewer).is_err(), "{} may be missing", claim.name);
    }
}

/// A circuit that ships, by its name with and without the number of bits, and the same as a file of either kind.
#[test]
fn circuits_are_sources_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sources =
        vec![Source::open("which_bit").expect("ships"), Source::open("which_bit:5").expect("ships")];
    for (name, encoding) in [("a.aag", Encoding::Ascii), ("a.aig", Encoding::Binary), ("a", Encoding::Binary)]
    {
        let path = folder.path().join(name);
        fs::write(&path, aiger::write(&Shipped::WhichBit.circuit(5), encoding)).expect("a file");
        sources.push(Source::open(&path.display().to_string()).expect("a circuit"));
    }
    let expected =
        PreparedMlp::new(Shipped::WhichBit.circuit(5), Some(draw("parity:bits=5,hidden=1")), options());
    let expected = trained(&expected.expect("a network"));
    for source in sources {
        let job = StreamJob::new(source, draw("parity:bits=5,hidden=1")).on(StreamLandscape::Mlp);
        let json = serde_json::to_string(&job).expect("JSON");
        let job: StreamJob = serde_json::from_str(&json).expect("a job");
        let report =
            trained(&job.prepare_mlp().unwrap_or_else(|error| panic!("{}: {error}", job.source.name)));
        assert_eq!(
            (report.steps, report.taken, report.judged),
            (expected.steps, expected.taken, expected.judged)
        );
        let on_tapes = job.on(StreamLandscape::Plain).prepare().err().expect("refused").to_string();
        assert!(on_tapes.ends_with("is a circuit, not a machine"), "{on_tapes}");
    }
    let wrong = Source::open("which_bit:0").expect("a name").read_circuit(None).expect_err("no bits");
    assert!(matches!(wrong, JobError::CircuitBits(_)), "{wrong}");
}

/// No option is ignored: it acts, or it is refused by its name.
#[test]
fn options_without_effect_are_refused() {
    type Change = fn(&mut StreamJob);
    let changes: [(&str, Change); 9] = [
        ("primary", |job| job.primary = "parity".to_owned()),
        ("set", |job| job.set = vec!["ROUNDS=2".to_owned()]),
        ("format", |job| job.options.format = "fix:3.2".parse().expect("a format")),
        ("label_bound", |job| job.options.label_bound = Some(2.0)),
        ("carrier", |job| job.options.carrier = Some(1024.0)),
        ("cells", |job| job.options.cells = Some(256)),
        ("hold", |job| job.options.hold = Some(2)),
        ("precision", |job| job.options.precision = Float::F32),
        ("via", |job| job.options.via = Some(Via::Circuit)),
    ];
    let tapes: Change = |job| job.options.via = Some(Via::Tapes);
    for (learner, landscape, before, refused) in [
        ("parity", StreamLandscape::Plain, None, &["hold", "precision", "via"][..]),
        ("parity_machine", StreamLandscape::Plain, None, &["set", "hold", "precision", "via"]),
        ("parity", StreamLandscape::Mlp, None, &["label_bound", "carrier", "cells"]),
        ("parity", StreamLandscape::Mlp, Some(tapes), &["carrier", "hold"]),
        ("parity_machine", StreamLandscape::Mlp, None, &["set", "carrier", "hold", "via"]),
        (
            "which_bit",
            StreamLandscape::Mlp,
            None,
            &["primary", "set", "format", "label_bound", "carrier", "cells", "hold", "via"],
        ),
    ] {
        let source = Source::open(learner).expect("ships");
        let mut job = StreamJob::new(source, draw("parity:bits=2,hidden=1")).on(landscape);
        before.iter().for_each(|change| change(&mut job));
        let changed = |change: &Change| {
            let mut job = job.clone();
            change(&mut job);
            job
        };
        let option = |error: Option<JobError>| match error {
            Some(JobError::NoEffect { option, .. }) => Some(option),
            _ => None,
        };
        let is_refused = |(_, change): &(&'static str, Change)| option(changed(change).check_options().err());
        let found: Vec<&str> = changes.iter().filter_map(is_refused).collect();
        assert_eq!(found, refused, "{learner} on {landscape:?}");
        let (_, change) = changes.iter().find(|(name, _)| *name == refused[0]).expect("a change");
        let error = match landscape {
            StreamLandscape::Plain => changed(change).prepare().err(),
            StreamLandscape::Mlp => changed(change).prepare_mlp().err(),
        };
        assert_eq!(option(error), Some(refused[0]), "{learner} on {landscape:?}");
        let two: Change = |job| job.options.batch = 2;
        let two = changed(&two).check_options();
        let is_one = matches!(two, Err(JobError::OneSample(2)));
        assert_eq!(is_one, landscape == StreamLandscape::Mlp, "{learner} on {landscape:?}");
    }
    let mut streams =
        StreamJob::of(Source::open("stream_mean").expect("ships")).expect("samples").on(StreamLandscape::Mlp);
    streams.options.hold = Some(2);
    assert!(
        matches!(streams.prepare_mlp(), Err(JobError::NoEffect { option: "hold", .. })),
        "it has no loop over rows"
    );
}

/// Every door that names no engine gets the same one.
#[test]
fn small_networks_are_trained_whole_unless_an_engine_is_named() {
    let job =
        StreamJob::of(Source::open("which_bit:4").expect("ships")).expect("samples").on(StreamLandscape::Mlp);
    let mut sparse = job.clone();
    sparse.options.engine = Some(StreamEngineChoice::Sparse);
    let engine = |job: &StreamJob| job.prepare_mlp().expect("a network").engine();
    assert_eq!((engine(&job), engine(&sparse)), (StreamEngineChoice::Dense, StreamEngineChoice::Sparse));
}
