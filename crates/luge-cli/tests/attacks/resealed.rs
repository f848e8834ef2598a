//! Models and checkpoints that were changed and given a valid checksum.

use std::process::Output;

use luge::{
    files::{checkpoint::Checkpoint, model::Model},
    run::run_stats::RunStats,
    training::Claim,
};

use super::{Desk, learner, said};

/// A change to a model, the status of `luge certify`, and what it says.
type Lie = (&'static str, fn(&mut Model), i32, &'static str);

const LIES: [Lie; 9] = [
    ("theta", |model| model.theta[0] += 1.0, 1, "theta"),
    ("more theta", |model| model.theta.push(0.0), 1, "theta"),
    ("steps", |model| model.card.steps += 1, 1, "steps"),
    ("machine steps", |model| model.card.machine_steps -= 1, 1, "steps"),
    ("loss", |model| model.card.train_loss += 1.0, 1, "output"),
    ("claim", |model| model.card.certificate.set("trace", Some(Claim::new(true, "!"))), 1, "certificate"),
    ("the program's claim", |model| model.card.certificate.set("program", None), 1, "certificate"),
    ("the program", |model| model.card.program = None, 3, "not checked"),
    (
        "the program and its claim",
        |model| {
            model.card.program = None;
            model.card.certificate.set("program", None);
        },
        3,
        "not checked",
    ),
];

#[test]
fn resealed_models_are_found_out() {
    let desk = Desk::with_learner();
    desk.done("train sum.sled --data data.csv --target y --format fix:5.0 --out model.safetensors");
    let certify = |name: &str| desk.survives(&format!("certify {name} --data data.csv"));
    assert_eq!(certify("model.safetensors").status.code(), Some(0));
    for (name, lie, status, says) in LIES {
        let mut model = Model::load(&desk.path("model.safetensors")).expect("a model");
        lie(&mut model);
        model.save(&desk.path("lie.safetensors")).expect("a file");
        let output: Output = certify("lie.safetensors");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(status), "{name}: {printed}{}", said(&output));
        assert!((printed.clone() + &said(&output)).contains(says), "{name}: {printed}");
        // The report begins with what was not checked.
        assert_eq!(printed.starts_with("not checked    program"), status == 3, "{name}: {printed}");
    }
    println!("resealed models: {} lies, none certified", LIES.len());
}

/// A change to a checkpoint of a run.
type OtherRun = (&'static str, fn(&mut Checkpoint));

/// Beside what `tests/checkpoints.rs` changes in what was seen of a run.
const OTHER_RUNS: [OtherRun; 4] = [
    ("its network", |run| run.network.push('0')),
    ("its weights", |run| run.frames.clear()),
    ("what was seen", |run| run.seen = RunStats::default()),
    ("its kind", |run| run.record = true),
];

#[test]
fn resealed_checkpoints_are_found_out() {
    let desk = Desk::new();
    desk.done("trace bb5 --steps 5000 --checkpoint run --every 0s");
    desk.done("resume run");
    for (name, change) in OTHER_RUNS {
        let mut run = Checkpoint::load(&desk.path("run")).expect("a checkpoint");
        change(&mut run);
        run.save(&desk.path("other")).expect("a file");
        assert!(!desk.refused("resume other").trim().is_empty(), "{name}");
    }
    println!("resealed checkpoints: {} lies, none resumed", OTHER_RUNS.len());
}

/// A model that claims to be larger than memory.
#[test]
fn a_model_that_claims_too_much_is_refused() {
    let desk = Desk::new();
    let data = learner("mean.csv");
    let train = format!("train mean --data {data} --target y --out model.safetensors");
    desk.done(&train);
    let path = desk.path("model.safetensors");
    let mut model = Model::load(&path).expect("a model");
    model.card.options.cells = Some(1 << 28);
    model.save(&path).expect("a file");
    for line in [
        "export model.safetensors --graph graph.json".to_owned(),
        format!("certify model.safetensors --data {data}"),
        format!("certify model.safetensors --data {data} --quick"),
        format!("report model.safetensors -o out.html --data {data}"),
    ] {
        desk.refused(&line);
    }
    desk.survives("inspect model.safetensors");
    desk.survives(&format!("predict model.safetensors {data}"));
}
