//! The folder for PyTorch, trained by a numpy script that knows nothing of Luge.

use std::{fs, path::Path, process::Command};

use luge::{
    StreamJob,
    data::Table,
    job::source::Source,
    mlp::{PreparedMlp, TorchError, TorchExport},
    stream::{Order, Samples, StreamLandscape, StreamOptions},
};
use luge_circuit::Shipped;
use luge_landscape::mlp::Float;
use serde_json::Value;

use crate::{directory, jax_is_asked};

fn prepared(bits: usize, float: Float) -> PreparedMlp {
    let draw = format!("parity:bits={bits}").parse().expect("a draw");
    let options = StreamOptions { precision: float, ..StreamOptions::on(StreamLandscape::Mlp) };
    PreparedMlp::new(Shipped::Parity.circuit(bits), Some(Samples::Draw(draw)), options).expect("a network")
}

/// What numpy makes of a folder: the script's status, and what it prints. With `script` the folder's own train.py runs.
fn ask_numpy(folder: &Path, script: Option<&str>) -> (bool, String) {
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/independent/ordinary.py"))
        .args([folder.to_owned(), directory().join("venv-numpy")])
        .args(script)
        .output()
        .expect("python3");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.is_empty(), "no report\n{}", String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text.into_owned())
}

#[test]
fn numpy_trains_the_exported_folder() {
    let folder = directory().join("mlp8");
    for (float, sparse) in [(Float::F64, false), (Float::F64, true), (Float::F32, true)] {
        let prepared = prepared(8, float);
        let export = TorchExport::new(&prepared, sparse).expect("small enough");
        export.write(&folder).expect("a folder");
        if jax_is_asked() {
            let (right, report) = ask_numpy(&folder, None);
            assert!(right, "{float:?}: {report}");
            let (ran, printed) = ask_numpy(&folder, Some("script"));
            assert!(ran && printed.contains("\n10,000 of 10,000 new inputs right\n"), "{float:?}: {printed}");
        }
    }
    let path = folder.join("config.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    config["lr"] = (config["lr"].as_f64().unwrap() / 4.0).into();
    fs::write(&path, config.to_string()).unwrap();
    if jax_is_asked() {
        let (right, report) = ask_numpy(&folder, None);
        assert!(!right, "another rate does not learn: {report}");
    }
}

/// A program on a table: the script lets the rows pass in cycles, and finds the weights in the biases.
#[test]
fn the_script_trains_a_program_on_rows() {
    let mean = "learner mean(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] {
        for sample in data { theta[0] += y; theta[1] = x[0]; }
        theta[0] = theta[0] / 4;
    }";
    on_rows(mean, vec![1.0, -2.5, 3.0, 2.5], ["learned theta 1 -1\n", "mean squared error"]);
    let classes = "learner classes(x: [fix<I,F>; 1], y: [fix<I,F>; 2]) -> theta: [fix<I,F>; 4] {
        for sample in data { if y[0] > y[1] { theta[1] += x[0]; } else { theta[3] += x[0]; } }
    }";
    let labels = vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
    on_rows(classes, labels, ["learned theta 0 3.5 0 -1\n", "4 of 4 rows right\n"]);
}

fn on_rows(text: &str, y: Vec<f64>, expected: [&str; 2]) {
    let source =
        Source { name: "rows".to_owned(), text: text.to_owned(), extension: Some("sled".to_owned()) };
    let x = vec![1.0, 2.0, 0.5, -1.0];
    let names = (0..y.len() / x.len()).map(|at| format!("y{at}")).collect();
    let samples = Samples::Table(Table::new(vec!["x".into()], names, x, y), Order::Cycle);
    let mut job = StreamJob::new(source, samples.clone());
    job.options.format = "fix:4.2".parse().expect("a format");
    let prepared = job.on(StreamLandscape::Mlp).prepare_mlp().expect("a network");
    let folder = directory().join("rows");
    TorchExport::new(&prepared, true).expect("small enough").write(&folder).expect("a folder");
    if jax_is_asked() {
        let (ran, printed) = ask_numpy(&folder, Some("script"));
        assert!(ran && expected.iter().all(|line| printed.contains(line)), "{printed}");
    }
}

#[test]
fn a_network_too_large_to_write_is_refused_with_its_size() {
    let large = prepared(48, Float::F64);
    let refused = TorchExport::new(&large, false).err().expect("too large");
    assert!(matches!(refused, TorchError::TooLarge { bytes, max } if bytes > max), "{refused}");
    assert!(TorchExport::new(&large, true).is_ok());
}
