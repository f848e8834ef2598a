//! `--bits network`: number conversions made of ReLU and product units, inside the network that is trained.

use std::ops::ControlFlow;

use luge::{
    data::Table,
    files::{audit::audit, export::graph, model::Model},
    job::{Data, JobError, StandardPrimaries, TrainJob, source::Source},
    run::engine::EngineChoice,
    training::{PreparedTraining, TrainingOptions, TrainingReport},
};
use luge_landscape::{BitConversion, Carrier, LandscapeKind};
use luge_net::{Layers, Op};
use luge_train::Precision;

/// A learner that ships, its landscape, a table and a number format.
type Case = (&'static str, LandscapeKind, Carrier, &'static str, &'static str);

const COPY: &str = "x,y\n-2,1.5\n0.25,-3\n1,2\n";

/// Every landscape, both carriers, all kinds of number formats.
const CASES: [Case; 6] = [
    ("copy_label", LandscapeKind::Compact, Carrier::Offset, COPY, "fix:3.2"),
    ("copy_label", LandscapeKind::Compact, Carrier::Orthogonal, COPY, "fix:3.2:sm"),
    ("copy_label", LandscapeKind::Relu, Carrier::Offset, COPY, "fix:3.2"),
    ("copy_label", LandscapeKind::Plain, Carrier::Orthogonal, COPY, "float:3.2"),
    ("mean", LandscapeKind::Compact, Carrier::Offset, "x,y\n1,1\n2,2.25\n-3,2\n0.5,5\n", "fix:4.2"),
    ("keep_label", LandscapeKind::Internal, Carrier::Offset, "x,y\n1,-2\n-1,1\n", "fix:2.0"),
];

fn options((_, landscape, carrier, _, format): Case, bits: BitConversion) -> TrainingOptions {
    TrainingOptions { landscape, carrier, bits, ..TrainingOptions::new(format.parse().expect("a format")) }
}

fn prepare((name, .., csv, _): Case, options: TrainingOptions) -> Result<PreparedTraining, JobError> {
    let source = Source::open(name).expect("a learner that ships");
    let table = Table::read(csv.as_bytes(), &["y".to_owned()], None).expect("a table");
    TrainJob { options, ..TrainJob::new(source, Data::Table(table)) }.prepare()
}

fn train(lesson: &PreparedTraining) -> TrainingReport {
    lesson.train(|_| ControlFlow::Continue(())).expect("gradients")
}

/// The bits make no difference to training: the same theta, the same vertices, the same engine.
#[test]
fn units_convert_as_nodes_do() {
    for case in CASES {
        let [native, network] = BitConversion::ALL.map(|bits| {
            let lesson = prepare(case, options(case, bits)).expect("a lesson");
            (train(&lesson), lesson)
        });
        let proved = network.0.certificate.proves_the_run();
        assert!(proved, "{case:?}: {:?}", network.0.certificate);
        assert_eq!(network.0.theta, native.0.theta, "{case:?}");
        assert_eq!(network.0.path, native.0.path, "{case:?}");
        assert_eq!(network.0.outcome, native.0.outcome, "{case:?}");
        assert_eq!(network.0.chosen, native.0.chosen, "{case:?}");
        assert!(network.0.certificate["layers"].figures.contains("; bit conversion counted"));
        assert!(native.0.certificate["layers"].figures.contains("; bit conversion not counted"));
    }
}

/// The paper's units alone: no conversion is left, nor anything else that is no unit, sum or rearrangement.
#[test]
fn no_conversion_is_left() {
    for case in CASES {
        let converts = |bits| {
            let lesson = prepare(case, options(case, bits)).expect("a lesson");
            let nodes = lesson.extended().network().nodes();
            nodes.iter().filter(|node| matches!(node.op, Op::Quantize(..) | Op::Dequantize(..))).count()
        };
        assert_eq!(BitConversion::ALL.map(converts), [2, 0], "{case:?}");
    }
}

/// The units counted are those of `luge_net::quantizer`'s table, and those that threshold theta's cells.
#[test]
fn converting_units_are_counted() {
    let case = CASES[0];
    let [native, network] = BitConversion::ALL.map(|bits| {
        let lesson = prepare(case, options(case, bits)).expect("a lesson");
        let claim = lesson.size_claim();
        (Layers::of(lesson.extended().network()).n_units(), claim.fewest_layers.layers)
    });
    // Six numbers of five bits: 4 N units each; two numbers of theta: two units per bit.
    assert_eq!(network.0 - native.0, 6 * 4 * 5 + 2 * 2 * 5);
    assert!(network.1 > native.1, "{network:?} {native:?}");
}

/// With every unit evaluated and differentiated the run is the same.
#[test]
fn the_dense_engine_agrees() {
    for case in [CASES[0], CASES[3]] {
        let network = options(case, BitConversion::Network);
        let fast = train(&prepare(case, network.clone()).expect("a lesson"));
        assert_ne!(fast.chosen.engine, EngineChoice::Dense, "{case:?}");
        let dense = TrainingOptions { engine: EngineChoice::Dense, ..network };
        let dense = train(&prepare(case, dense).expect("a lesson"));
        assert!(dense.certificate.proves_the_run(), "{case:?}: {:?}", dense.certificate);
        assert_eq!((&dense.theta, dense.path), (&fast.theta, fast.path), "{case:?}");
    }
}

/// Saved, loaded, built again from the file alone, audited and trained again.
#[test]
fn models_remember_their_bits() {
    let case = CASES[0];
    let lesson = prepare(case, options(case, BitConversion::Network)).expect("a lesson");
    let model = Model::new(&lesson, &train(&lesson));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    model.save(&path).expect("written");
    let loaded = Model::load(&path).expect("read");
    assert_eq!(loaded.card.options.bits, BitConversion::Network);
    let text = |extended| serde_json::to_string(&graph(extended)).expect("JSON");
    let rebuilt = loaded.extended().expect("the same network");
    assert!(text(&rebuilt) == text(lesson.extended()), "another network");
    assert!(!text(&rebuilt).contains("quantize\",\"shape"), "a conversion is exported");
    let again = loaded.prepare(lesson.table().clone(), &StandardPrimaries).expect("a lesson");
    let audit = audit(&loaded, &again).expect("an answer");
    assert!(audit.proves_the_run(), "{audit:?}");
    let same = loaded.is_same(&Model::new(&again, &train(&again)));
    assert!(same.holds, "{}", same.figures);
    let mut native = loaded.clone();
    native.card.options.bits = BitConversion::Native;
    assert!(!native.is_same(&loaded).holds, "a model that forgot its bits is taken for the same");
}

#[test]
fn thresholds_need_all_digits() {
    let case = CASES[0];
    let asked = TrainingOptions {
        precision: Precision::F32,
        engine: EngineChoice::Dense,
        ..options(case, BitConversion::Network)
    };
    let refused = prepare(case, asked.clone()).err().map(|error| error.to_string());
    assert!(
        refused.is_some_and(
            |why| why.starts_with("bits converted by the network's own units need precision f64")
        )
    );
    assert!(prepare(case, TrainingOptions { bits: BitConversion::Native, ..asked }).is_ok());
}
