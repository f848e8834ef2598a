//! Graphs that are trained on streams: every step on a batch of its own.

use luge::{
    PreparedStream, StreamJob,
    files::export::{STREAM_VERSION, stream_graph},
    job::source::Source,
    stream::{Order, Samples},
};
use luge_net::{Values, evaluate_node};
use luge_train::{Dense, Precision, Rate, StreamEngine};
use serde_json::{Value, json};

use crate::{ask_jax, drop_stop_gradient, heaviest, jax_is_asked, node, write};

/// Batches that pass after the machine has halted.
const AFTER: u64 = 12;

/// A graph, the samples that pass, and what the dense engine made of them.
struct Exported {
    name: &'static str,
    graph: Value,
    run: Value,
    csv: String,
    features: String,
    targets: String,
}

impl Exported {
    fn new(name: &'static str, lesson: &PreparedStream) -> Self {
        let network = &lesson.network.network;
        let n_columns = |input: usize| network.inputs()[input].shape.cols;
        let names = |letter: &str, input| {
            (0..n_columns(input)).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(",")
        };
        let (features, targets) = (names("x", 0), names("y", 1));
        let (run, csv) = run(lesson, &format!("{features},{targets}\n"));
        let graph = serde_json::to_value(stream_graph(&lesson.network)).expect("JSON");
        Self { name, graph, run, csv, features, targets }
    }

    fn check(&self, name: &str, graph: &Value) -> Value {
        write(name, graph, &self.run, &self.csv);
        ask_jax(name, &self.features, &self.targets)
    }
}

/// The dense engine on the lesson's stream until the machine halts, and a little longer; the samples as a table.
fn run(lesson: &PreparedStream, header: &str) -> (Value, String) {
    let stream_network = &lesson.network;
    let (network, nodes) = (&stream_network.network, &stream_network.nodes);
    let mut inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
    let start = &stream_network.initial;
    let mut engine = Dense::new(network, start, &inputs, Precision::F64, Rate::One, None).expect("an engine");
    let mut stream = lesson.stream();
    let (mut vertices, mut losses, mut at_rest, mut csv) = (Vec::new(), Vec::new(), 0, header.to_owned());
    for _ in 0..lesson.rehearsal.steps + AFTER {
        let [x, y] = &mut inputs[..] else { panic!("features and labels") };
        stream.next_batch(&mut x.data, &mut y.data);
        for sample in 0..x.shape.rows {
            let numbers = x.row(sample).iter().chain(y.row(sample));
            csv += &(numbers.map(ToString::to_string).collect::<Vec<_>>().join(",") + "\n");
        }
        let before = engine.weights();
        vertices.push(heaviest(&before[stream_network.vertex().index()]));
        losses.push(evaluate_node(network, &before[..], &inputs, network.loss()).data[0]);
        let (x, y) = (inputs[0].data.clone(), inputs[1].data.clone());
        engine.step_on(&x, &y).expect("a step");
        at_rest = if engine.weights() == before { at_rest + 1 } else { 0 };
    }
    let theta = evaluate_node(network, &engine.weights()[..], &inputs, nodes.theta).data;
    let steps = losses.len();
    let run =
        json!({ "steps": steps, "vertices": vertices, "losses": losses, "theta": theta, "at_rest": at_rest });
    (run, csv)
}

/// Gaussian elimination on two bits, one sample at a time.
fn parity() -> Exported {
    let learner = luge::Source::open("parity_machine").expect("it ships");
    let samples = Samples::Draw("parity:bits=2,hidden=1".parse().expect("a parity"));
    let mut job = StreamJob::new(learner, samples);
    job.options.seed = 1;
    Exported::new("stream-parity", &job.prepare().expect("a lesson"))
}

/// Labels with signs and fractions, batches of two: the first label is copied, and so is the last of the batch after it.
fn labels() -> Exported {
    const TEXT: &str = "learner two(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
        take; theta[0] = y; take; take; take; theta[1] = y;
    }";
    let table = luge::Table::new(
        vec!["x0".into()],
        vec!["y0".into()],
        vec![1.0, -2.25, 0.5, 3.75, -0.25],
        vec![-1.25, 2.5, -3.75, 0.25, 1.75],
    );
    let mut job = StreamJob::new(Source::sled("two", TEXT), Samples::Table(table, Order::Draw));
    job.options.format = "fix:3.2".parse().expect("a format");
    job.options.batch = 2;
    Exported::new("stream-labels", &job.prepare().expect("a lesson"))
}

#[test]
fn a_stream_graph_says_what_passes() {
    for exported in [parity(), labels()] {
        let graph = &exported.graph;
        assert_eq!((&graph["version"], &graph["per_step"]), (&json!(STREAM_VERSION), &json!(["x", "y"])));
        assert!(graph.get("stop").is_none(), "nothing stops training");
        let stock = json!({ "rule": "gradient", "rate": 1.0 });
        let parameters = graph["parameters"].as_array().expect("parameters");
        assert!(parameters.iter().all(|parameter| parameter["step"] == stock));
        assert_eq!(exported.run["at_rest"], json!(AFTER), "the machine halts, and then nothing moves");
    }
    let page = include_str!("../../../../docs/graph-format.md");
    assert!(page.contains("`per_step`") && page.contains("`version`"));
}

#[test]
fn jax_goes_the_same_way_on_a_stream() {
    if !jax_is_asked() {
        return;
    }
    for exported in [parity(), labels()] {
        let report = exported.check(exported.name, &exported.graph);
        assert_eq!(report["differences"], json!([]), "{}: {report}\nand not {}", exported.name, exported.run);
        assert_eq!((&report["stopped"], &report["at_rest"]), (&json!(true), &json!(AFTER)));
    }
}

#[test]
fn jax_notices_a_corrupted_stream_graph() {
    if !jax_is_asked() {
        return;
    }
    let exported = labels();
    let mut takes_nothing = exported.graph.clone();
    let uses = node(&takes_nothing, "take, latch", "linear");
    for entry in takes_nothing["nodes"][uses]["entries"].as_array_mut().expect("entries") {
        entry[2] = json!(-1.0);
    }
    let corrupted = [
        ("stream-distance-differentiated", drop_stop_gradient(&exported.graph, "[distance]")),
        ("stream-takes-negated", takes_nothing),
    ];
    for (name, graph) in corrupted {
        let report = exported.check(name, &graph);
        let differences = report["differences"].as_array().expect("a comparison");
        assert!(differences.contains(&json!("theta")), "{name}: {report}");
    }
}
