//! Networks written for the checker in `proofs/`: the examples there are what is written today.

use std::{fs, path::Path};

use luge::{
    data::Table,
    files::rocq,
    job::{TrainJob, catalogue::find, source::Source},
    mlp::machine_circuit,
    stream::{Order, Samples, StreamJob},
    trace::{PreparedTrace, TraceOptions},
    training::{PreparedTraining, TrainingOptions},
};
use luge_circuit::{Builder, Circuit, Code, Literal, SampleShape, Shipped};
use luge_landscape::{
    Carrier, LandscapeKind, Learner, Mlp,
    mlp::{CircuitNetwork, Float, MlpConstants},
};
use luge_machine::{Input, Machine};

fn machine(place: &str) -> Machine {
    let source = Source::open(place).expect("a machine");
    source.read(None).expect("a valid machine").1.machine
}

fn learner(name: &str) -> Machine {
    machine(&Path::new(env!("CARGO_MANIFEST_DIR")).join("learners").join(name).to_string_lossy())
}

fn written(machine: &Machine, cells: usize, kind: LandscapeKind) -> Option<String> {
    let options = TraceOptions { cells: Some(cells), steps: Some(0), ..TraceOptions::dense(kind) };
    let plan = PreparedTrace::new(machine, &Input::blank(), &options).expect("a plan");
    rocq::landscape(&plan.landscape).map(|written| written.text)
}

fn plain(machine: &Machine, cells: usize) -> String {
    written(machine, cells, LandscapeKind::Plain).expect("landscape plain")
}

fn compact(machine: &Machine, cells: usize) -> String {
    written(machine, cells, LandscapeKind::Compact).expect("landscape compact")
}

fn joined(name: &str, csv: &str, format: &str, kind: LandscapeKind, carrier: Carrier) -> Option<String> {
    let machine = learner(name);
    let learner = Learner::new(&machine, None).expect("a learner");
    let table = Table::read(csv.as_bytes(), &["y".to_owned()], None).expect("a table");
    let primary = Mlp::linear(table.feature_names.len(), 1);
    let format = format.parse().expect("a format");
    let options = TrainingOptions { landscape: kind, carrier, ..TrainingOptions::new(format) };
    let lesson =
        PreparedTraining::prepare(learner, std::sync::Arc::new(primary), table, options).expect("a lesson");
    rocq::extended(lesson.extended()).map(|written| written.text)
}

/// The model of a learner that ships, on `plain`.
fn shipped(name: &str) -> String {
    let source = find(name).expect("a learner that ships").source();
    let mut job = TrainJob::of(source).expect("a learner that ships");
    job.options.landscape = LandscapeKind::Plain;
    let written = rocq::extended(job.prepare().expect("a lesson").extended());
    written.expect("plain with the offset carrier").text
}

/// With `LUGE_TEST=renew` in the environment the example is written anew.
fn check(example: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proofs/examples").join(example);
    if luge_suite::asked_for("renew") {
        fs::write(&path, text).expect("a file to write to");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{example} is not what is written today: renew it with LUGE_TEST=renew");
}

/// A machine that takes one sample, latches its label and copies it.
const KEEP_ONE: &str = "machine \"keep one label\"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
start: wait

wait: take
  * * * -> * * *, S S S, labels

labels: latch
  * * * -> * * *, R R S, seek

seek:
  0 y * -> * * 0, R R R, copy
  1 y * -> * * 1, R R R, copy
  * * * -> * * *, R R S, seek

copy:
  0 _ * -> * * 0, R R R, copy
  1 _ * -> * * 1, R R R, copy
  * * * -> * * *, S S S, done

done: accept
";

/// The network for streams of a machine, for one feature and one label.
fn streamed(text: &str) -> String {
    let table = Table::read(COPY.as_bytes(), &["y".to_owned()], None).expect("a table");
    let source = Source { name: "keep_one.tm".to_owned(), text: text.to_owned(), extension: None };
    let mut job = StreamJob::new(source, Samples::Table(table, Order::default()));
    job.options.format = "fix:3.2".parse().expect("a format");
    let lesson = job.prepare().expect("a lesson");
    rocq::stream(&lesson.network).expect("numbers in fixed point").text
}

/// The ordinary MLP of a circuit, for 64 steps.
fn ordinary(circuit: &Circuit) -> Option<String> {
    let constants = MlpConstants::choose(circuit.samples(), 64, Float::F64).expect("constants");
    let network = CircuitNetwork::build(circuit, constants);
    rocq::mlp(circuit, &network).map(|written| written.text)
}

const COPY: &str = "x,y\n-2,1.5\n0.25,-3\n";

#[test]
fn the_examples_of_the_proofs_are_what_is_written() {
    check("busy_beaver_2.v", &plain(&machine("1RB1LB_1LA1RZ"), 7));
    check("busy_beaver_4.v", &plain(&machine("1RB1LB_1LA0LC_1RZ1LD_1RD0RA"), 20));
    check("copy_label.v", &plain(&learner("copy_label.tm"), 12));
    check("busy_beaver_3_compact.v", &compact(&machine("1RB1RZ_1LB0RC_1LC1LA"), 12));
    check("copy_label_compact.v", &compact(&learner("copy_label.tm"), 12));
    let model = joined("copy_label.tm", COPY, "fix:3.2", LandscapeKind::Plain, Carrier::Offset);
    check("copy_label_model.v", &model.expect("plain with the offset carrier"));
    let model = joined("copy_label.tm", COPY, "fix:3.2", LandscapeKind::Compact, Carrier::Offset);
    check("copy_label_compact_model.v", &model.expect("compact with the offset carrier"));
    check("sgd_linear_model.v", &shipped("sgd_linear"));
    check("keep_one_stream.v", &streamed(KEEP_ONE));
    let beaver = machine_circuit(&machine("1RB1RZ_1LB0RC_1LC1LA"), &Input::blank(), None).expect("a circuit");
    for (example, circuit) in [
        ("which_bit_mlp.v", Shipped::WhichBit.circuit(3)),
        ("parity_circuit_mlp.v", Shipped::Parity.circuit(2)),
        ("busy_beaver_3_mlp.v", beaver),
        ("parity_circuit_4_mlp.v", Shipped::Parity.circuit(4)),
    ] {
        check(example, &ordinary(&circuit).expect("a circuit of bits"));
    }
}

#[test]
fn what_is_not_proved_is_not_written() {
    assert!(written(&machine("1RB1LB_1LA1RZ"), 7, LandscapeKind::Relu).is_none());
    assert!(joined("copy_label.tm", COPY, "fix:3.2", LandscapeKind::Relu, Carrier::Offset).is_none());
    assert!(joined("copy_label.tm", COPY, "fix:3.2", LandscapeKind::Plain, Carrier::Orthogonal).is_none());
    let mut numbers = Builder::new("numbers");
    let feature = Code::Fixed { n_integer: 2, n_fraction: 1 };
    numbers.samples(SampleShape { n_features: 1, feature, n_labels: 1, label: Code::Bit });
    numbers.next(Literal::TRUE);
    assert!(ordinary(&numbers.build().expect("a circuit")).is_none());
}
