//! Every run holds the machine to the interpreter: on tables, on streams, and again when a model is certified.

use std::ops::ControlFlow;

use luge::{
    Source, StreamJob, TrainJob,
    files::{
        audit::{audit, unknown},
        model::Model,
    },
    training::Claim,
};

#[test]
fn training_says_that_the_machine_is_the_programs() {
    let job = TrainJob::of(Source::open("sgd_linear").expect("a learner")).expect("its data");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("a run");
    let claim = &report.certificate["program"];
    assert!(claim.holds && claim.figures.starts_with("3 of 3 weights"), "{}", claim.figures);
    let mut failed = report.certificate.clone();
    failed.set("program", Some(Claim::new(false, "")));
    assert!(report.certificate.proves_the_run() && !failed.proves_the_run());
    // The audit interprets the program again; without one there is nothing to interpret, and that is said.
    let model = Model::new(&lesson, &report);
    let alone = audit(&model, &lesson).expect("an audit");
    assert!(alone.get("program").is_none() && unknown(&alone).is_some());
    let whole = audit(&model.with_program_of(&job), &lesson).expect("an audit");
    assert!(unknown(&whole).is_none() && whole["program"].holds);
}

#[test]
fn a_machine_has_no_program() {
    let job = TrainJob::of(Source::open("mean").expect("a learner")).expect("its data");
    let report = job.prepare().expect("a lesson").train(|_| ControlFlow::Continue(())).expect("a run");
    assert_eq!(report.certificate.get("program"), None);
}

/// The interpreter gets the samples that the machine took, batch by batch.
#[test]
fn streams_are_compared_too() {
    let source = Source::open("stream_mean").expect("a learner");
    for batch in [1, 3] {
        let mut job = StreamJob::of(source.clone()).expect("samples");
        job.options.batch = batch;
        let report = job.prepare().expect("a lesson").train(|_| ControlFlow::Continue(())).expect("a run");
        let claim = &report.certificate["program"];
        assert!(report.halted && claim.holds, "{}", claim.figures);
    }
}
