//! The exported graph, and JAX's opinion of it.
//!
//! Every test writes its graphs, its data and what the dense engine did to `target/independent`. With `LUGE_TEST=jax` in
//! the environment, `tests/independent/check.py` trains the same graphs and must go the same way.

mod ordinary;
mod stream;

use std::{
    env, fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use luge::{
    data::Table,
    files::export::{VERSION, graph},
    job::{Data, TrainJob, source::Source},
    training::{PreparedTraining, TrainingOptions},
};
use luge_landscape::{BitConversion, Carrier, Extended, LandscapeKind};
use luge_net::Values;
use luge_train::{Dense, Engine, Outcome, Precision, Rate, StopRule, train};
use serde_json::{Value, json};

const COPY: Task = Task {
    machine: "copy_label",
    csv: "x,y\n-2,1.5\n0.25,-3\n1,2\n",
    features: "x",
    format: "fix:3.2",
    bits: BitConversion::Native,
};

const COPY_FLOAT: Task = Task { csv: "x,y\n-2,-1.3\n0.2,3\n", format: "float:3.2", ..COPY };

/// The same with number conversions made of units.
const COPY_BY_UNITS: Task = Task { bits: BitConversion::Network, ..COPY };
const COPY_FLOAT_BY_UNITS: Task = Task { bits: BitConversion::Network, ..COPY_FLOAT };

const MAJORITY: Task = Task {
    machine: "majority",
    csv: "a,b,y\n1,-1,1\n0,1,0\n-2,0,1\n1,1,0\n0,0,1\n",
    features: "a,b",
    format: "fix:2.0:sm",
    bits: BitConversion::Native,
};

const KEEP: Task = Task { machine: "keep_label", csv: "x,y\n1,-2\n-1,1\n", format: "fix:2.0", ..COPY };

/// What is checked: learner, landscape, carrier.
const CHECKED: [(&Task, LandscapeKind, Carrier); 10] = [
    (&COPY, LandscapeKind::Compact, Carrier::Offset),
    (&COPY, LandscapeKind::Compact, Carrier::Orthogonal),
    (&COPY, LandscapeKind::Relu, Carrier::Offset),
    (&COPY, LandscapeKind::Plain, Carrier::Offset),
    (&COPY_FLOAT, LandscapeKind::Plain, Carrier::Orthogonal),
    (&MAJORITY, LandscapeKind::Compact, Carrier::Offset),
    (&COPY_BY_UNITS, LandscapeKind::Compact, Carrier::Offset),
    (&COPY_FLOAT_BY_UNITS, LandscapeKind::Plain, Carrier::Offset),
    (&KEEP, LandscapeKind::Internal, Carrier::Offset),
    (&KEEP, LandscapeKind::Internal, Carrier::Orthogonal),
];

/// A learner that ships and a tiny table whose target is `y`.
struct Task {
    machine: &'static str,
    csv: &'static str,
    features: &'static str,
    format: &'static str,
    bits: BitConversion,
}

/// A graph and what the dense engine made of it.
struct Exported {
    name: String,
    task: &'static Task,
    graph: Value,
    run: Value,
}

impl Exported {
    fn new(task: &'static Task, kind: LandscapeKind, carrier: Carrier) -> Self {
        let format = task.format.parse().expect("a format");
        let options =
            TrainingOptions { landscape: kind, carrier, bits: task.bits, ..TrainingOptions::new(format) };
        let source = Source::open(task.machine).expect("a learner that ships");
        let lesson = prepare(source, task.csv, options);
        let words = [task.format, kind.word(), carrier.word(), task.bits.word()];
        Self {
            name: format!("{}-{}", task.machine, words.join("-").replace(':', "_")),
            task,
            graph: serde_json::to_value(graph(lesson.extended())).expect("JSON"),
            run: run(&lesson),
        }
    }

    /// Writes graph, data and run; `name` tells corrupted graphs apart.
    fn write(&self, name: &str, graph: &Value) {
        write(name, graph, &self.run, self.task.csv);
    }

    /// What JAX reports about a changed graph.
    fn check(&self, name: &str, graph: &Value) -> Value {
        self.write(name, graph);
        ask_jax(name, self.task.features, "y")
    }

    fn node(&self, name: &str, op: &str) -> usize {
        node(&self.graph, name, op)
    }
}

/// The first node with this name and operation.
fn node(graph: &Value, name: &str, op: &str) -> usize {
    let nodes = graph["nodes"].as_array().expect("nodes");
    let found = nodes.iter().position(|node| node["name"] == name && node["op"] == op);
    found.unwrap_or_else(|| panic!("no {op} named {name}"))
}

fn path(name: &str, extension: &str) -> PathBuf {
    directory().join(format!("{name}.{extension}"))
}

fn write(name: &str, graph: &Value, run: &Value, csv: &str) {
    fs::create_dir_all(directory()).expect("a directory to write to");
    for (extension, text) in
        [("graph.json", &*graph.to_string()), ("run.json", &run.to_string()), ("csv", csv)]
    {
        fs::write(path(name, extension), text).expect("a file to write to");
    }
}

/// What JAX makes of the graph and the data that were written.
fn ask_jax(name: &str, features: &str, target: &str) -> Value {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/independent/check.py"))
        .args([path(name, "graph.json"), path(name, "csv")])
        .args(["--features", features, "--target", target, "--most-steps", "60"])
        .args(["--expect".into(), path(name, "run.json")])
        .args(["--venv".into(), directory().join("venv")])
        .output()
        .expect("python3");
    let report = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&report)
        .unwrap_or_else(|_| panic!("{name}: no report\n{}", String::from_utf8_lossy(&output.stderr)));
    let agrees = report["stopped"] == true && report["differences"] == json!([]);
    assert_eq!(output.status.success(), agrees, "{name}: the exit status says something else");
    report
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("independent")
}

fn jax_is_asked() -> bool {
    luge_suite::asked_for("jax")
}

/// A learner on a table whose target is `y`.
fn prepare(source: Source, csv: &str, options: TrainingOptions) -> PreparedTraining {
    let table = Table::read(csv.as_bytes(), &["y".to_owned()], None).expect("a table");
    let job = TrainJob { options, ..TrainJob::new(source, Data::Table(table)) };
    let lesson = job.prepare().expect("a lesson");
    // Other programs train what is exported: it has as many cells as the run needs.
    lesson.simulated().expect("an answer");
    lesson
}

/// What the dense engine does: the heaviest vertex and the loss at every step, and theta at the end.
fn run(lesson: &PreparedTraining) -> Value {
    let extended = lesson.extended();
    let mut engine =
        Dense::new(extended.network(), extended.initial(), &lesson.inputs(), Precision::F64, Rate::One, None)
            .expect("an engine");
    let stop =
        StopRule { loss_at_most: extended.bounds().stop, not_before: Extended::FIRST_STOP, most_steps: 200 };
    let (mut vertices, mut losses) = (Vec::new(), Vec::new());
    let outcome = train(&mut engine, &stop, |iterate| {
        let parameters = iterate.engine.parameters().expect("parameters");
        vertices.push(heaviest(&parameters[extended.vertex().index()]));
        losses.push(iterate.loss);
        ControlFlow::Continue(())
    })
    .expect("gradients");
    assert!(matches!(outcome, Outcome::Converged { .. }), "{outcome:?}");
    json!({ "steps": outcome.steps(), "vertices": vertices, "losses": losses, "theta": lesson.simulated().expect("an answer").theta })
}

fn heaviest(values: &Values) -> usize {
    let first_of_largest = |best: usize, next: usize| {
        if values.data[next] > values.data[best] { next } else { best }
    };
    (0..values.data.len()).fold(0, first_of_largest)
}

/// The fields of an operation in addition to name, op, shape and operands.
fn attributes(op: &str) -> &'static [&'static str] {
    match op {
        "parameter" => &["parameter"],
        "input" => &["input"],
        "constant" => &["values"],
        "linear" => &["entries", "bias"],
        "sum" => &["weights"],
        "shift" => &["by"],
        "gather" => &["positions"],
        "quantize" | "dequantize" => &["format"],
        _ => &[],
    }
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn n_entries(shape: &Value) -> u64 {
    shape.as_array().into_iter().flatten().filter_map(Value::as_u64).product()
}

#[test]
fn every_node_is_complete() {
    for (task, kind, carrier) in CHECKED {
        let exported = Exported::new(task, kind, carrier);
        exported.write(&exported.name, &exported.graph);
        let (name, graph) = (&exported.name, &exported.graph);
        assert_eq!((&graph["format"], &graph["version"]), (&json!("luge-graph"), &json!(VERSION)), "{name}");
        for (index, node) in graph["nodes"].as_array().expect("nodes").iter().enumerate() {
            let op = node["op"].as_str().expect("an operation");
            let mut fields: Vec<&str> = ["name", "op", "shape", "operands"].to_vec();
            fields.extend(attributes(op));
            let found = node.as_object().expect("an object");
            assert!(found.keys().all(|key| fields.contains(&key.as_str())), "{name}: {op} has {found:?}");
            assert_eq!(found.len(), fields.len(), "{name}: {op} has only {found:?}");
            let operands = node["operands"].as_array().expect("operands");
            assert!(
                operands.iter().all(|o| o.as_u64().is_some_and(|o| o < index as u64)),
                "{name}: node {index} comes too early"
            );
            let size = n_entries(&node["shape"]);
            let (key, expected) = match op {
                "constant" => ("values", size),
                "linear" => ("bias", size),
                "gather" => ("positions", size),
                "sum" => ("weights", operands.len() as u64),
                _ => continue,
            };
            assert_eq!(length(&node[key]) as u64, expected, "{name}: {key} of node {index}");
        }
        for parameter in graph["parameters"].as_array().expect("parameters") {
            assert_eq!(length(&parameter["initial"]) as u64, n_entries(&parameter["shape"]), "{name}");
        }
    }
}

/// The page that describes the format names every field and every operation that occurs.
#[test]
fn the_page_is_complete() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/graph-format.md");
    let page = fs::read_to_string(path).expect("the page");
    let named = |word: &str| assert!(page.contains(&format!("`{word}`")), "the page does not name `{word}`");
    for (task, kind, carrier) in CHECKED {
        let graph = Exported::new(task, kind, carrier).graph;
        let nodes = graph["nodes"].as_array().expect("nodes");
        let records = [&graph["inputs"][0], &graph["parameters"][0], &graph["stop"]].into_iter();
        for record in records.chain(nodes).chain(nodes.iter().map(|node| &node["format"])).chain([&graph]) {
            record.as_object().into_iter().flatten().for_each(|(field, _)| named(field));
        }
        nodes.iter().filter_map(|node| node["op"].as_str()).for_each(named);
    }
}

#[test]
fn plain_is_stock_gradient_descent() {
    let rules = |kind| {
        let exported = Exported::new(&COPY, kind, Carrier::Offset);
        let parameters = exported.graph["parameters"].as_array().expect("parameters").clone();
        parameters.into_iter().map(|parameter| parameter["step"].clone()).collect::<Vec<_>>()
    };
    let stock = json!({ "rule": "gradient", "rate": 1.0 });
    assert!(rules(LandscapeKind::Plain).iter().all(|rule| *rule == stock));
    assert!(rules(LandscapeKind::Compact).contains(&json!({ "rule": "simplex" })));
}

#[test]
fn formats_have_explicit_fields() {
    let format = |task| {
        let exported = Exported::new(task, LandscapeKind::Plain, Carrier::Offset);
        exported.graph["nodes"][exported.node("theta", "dequantize")]["format"].clone()
    };
    assert_eq!(
        format(&COPY),
        json!({
            "text": "fix:3.2", "kind": "fixed",
            "integer_bits": 3, "fraction_bits": 2, "negatives": "twos-complement",
        })
    );
    assert_eq!(
        format(&COPY_FLOAT),
        json!({ "text": "float:3.2", "kind": "float", "exponent_bits": 3, "mantissa_bits": 2, "bias": 3 })
    );
}

/// States and tapes of unmistakable names leave no trace, and neither do the data.
#[test]
fn nothing_of_the_machine_is_exported() {
    const MACHINE: &str = "machine \"Quetzalcoatl\"\n\
        tape data: 0 1 blank 0 read-only\n\
        tape theta: 0 1 blank 0\n\
        start: axolotl\n\
        axolotl:\n  * * -> * *, R S, capybara\n\
        capybara:\n  0 * -> * 0, R R, wombat\n  1 * -> * 1, R R, wombat\n\
        wombat: accept\n";
    let source =
        Source { name: "words".to_owned(), text: MACHINE.to_owned(), extension: Some("tm".to_owned()) };
    let mut options = TrainingOptions::new("fix:5.3".parse().expect("a format"));
    let export = |csv: &str, options: &TrainingOptions| {
        let lesson = prepare(source.clone(), csv, options.clone());
        serde_json::to_string(&graph(lesson.extended())).expect("JSON")
    };
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        options.landscape = kind;
        let text = export("x,y\n3.125,-7.375\n1,2\n", &options);
        for word in ["Quetzalcoatl", "axolotl", "capybara", "wombat"] {
            assert!(!text.contains(word), "{} exports `{word}`", kind.word());
        }
        assert_eq!(text, export("x,y\n-4,1\n0,6.5\n", &options), "{} exports the data", kind.word());
    }
}

#[test]
fn jax_goes_the_same_way() {
    if !jax_is_asked() {
        return;
    }
    for (task, kind, carrier) in CHECKED {
        let exported = Exported::new(task, kind, carrier);
        let report = exported.check(&exported.name, &exported.graph);
        let (name, run) = (&exported.name, &exported.run);
        assert_eq!(report["stopped"], true, "{name}");
        assert_eq!(report["differences"], json!([]), "{name}: {report}\nand not {run}");
        assert_eq!(report["vertices"], run["vertices"], "{name}");
        assert_eq!(report["theta"], run["theta"], "{name}");
    }
}

/// Turns a stop-gradient into the identity.
fn drop_stop_gradient(graph: &Value, name: &str) -> Value {
    let mut graph = graph.clone();
    let at = node(&graph, name, "stop-gradient");
    let node = &mut graph["nodes"][at];
    node["op"] = json!("sum");
    node["weights"] = json!([1.0]);
    graph
}

/// Changes the sign of the weight from a vertex to its own gate.
fn flip_gate(exported: &Exported, vertex: &Value) -> Value {
    let mut graph = exported.graph.clone();
    let node = &mut graph["nodes"][exported.node("gate", "linear")];
    let entries = node["entries"].as_array_mut().expect("entries");
    let entry = entries.iter_mut().find(|entry| entry[1] == *vertex).expect("a gate for every vertex");
    entry[2] = json!(-entry[2].as_f64().expect("a weight"));
    graph
}

/// The check must fail if the graph is wrong.
#[test]
fn jax_notices_a_corrupted_graph() {
    if !jax_is_asked() {
        return;
    }
    let exported = Exported::new(&COPY, LandscapeKind::Compact, Carrier::Offset);
    let visited = &exported.run["vertices"][2];
    let corrupted = [
        ("labels-differentiated", drop_stop_gradient(&exported.graph, "[labels]")),
        ("move-differentiated", drop_stop_gradient(&exported.graph, "[moved head]")),
        ("weight-negated", flip_gate(&exported, visited)),
    ];
    for (name, graph) in corrupted {
        let report = exported.check(name, &graph);
        let differences = report["differences"].as_array().expect("a comparison");
        for word in ["vertices", "theta"] {
            assert!(differences.contains(&json!(word)), "{name}: {word} stayed the same: {report}");
        }
    }
}
