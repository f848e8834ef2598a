//! Models that were changed and sealed again: whoever wrote them knows the format.

use luge::files::model::Model;

use super::{Desk, learner};

/// A change, the exit status, and what is said.
type Lie = (&'static str, fn(&mut Model), i32, &'static str);

const LIES: [Lie; 6] = [
    ("theta", |model| model.theta[0] += 1.0, 1, "theta"),
    ("steps", |model| model.card.steps += 1, 1, "steps"),
    ("loss", |model| model.card.train_loss += 1.0, 1, "output"),
    ("claim", |model| model.card.certificate.trace.figures.push('!'), 1, "certificate"),
    ("program claim", |model| model.card.certificate.program = None, 1, "certificate"),
    ("program", |model| model.card.program = None, 3, "not checked"),
];

#[test]
fn resealed_models_are_found_out() {
    let desk = Desk::new();
    let data = learner("mean.csv");
    let train = format!("train mean --data {data} --target y --out model.safetensors");
    assert_eq!(desk.survives(&train).status.code(), Some(0));
    let certify = format!("certify lie.safetensors --data {data}");
    std::fs::copy(desk.path("model.safetensors"), desk.path("lie.safetensors")).expect("a copy");
    assert_eq!(desk.survives(&certify).status.code(), Some(0));
    for (name, lie, status, says) in LIES {
        let mut model = Model::load(&desk.path("model.safetensors")).expect("a model");
        lie(&mut model);
        model.save(&desk.path("lie.safetensors")).expect("a file");
        let output = desk.survives(&certify);
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
        if status == 3 {
            assert!(said.starts_with("not checked"), "{name}: {said}");
        }
    }
    println!("resealed models: {} lies, none certified", LIES.len());
}
