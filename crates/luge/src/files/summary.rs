//! Results as JSON: what the command line prints with `--json`, and what other languages are given.

use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Outcome, Simulator, Step, SymbolId, TapeId, lowering::Size};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde_json::{Value, json};

use crate::{
    certificate::answer::Answer,
    run::run_stats::Limits,
    trace::{PreparedTrace, Trace},
    training::{PreparedTraining, TrainingReport},
};

/// The size of a program compiled for so many features and labels of a format: |Q|, d, and |Q| 2^d in normal form.
pub fn of_program(
    compiled: &Compiled,
    (features, labels, format): (usize, usize, NumberFormat),
    size: &Size,
) -> Value {
    let machine = &compiled.machine;
    json!({
        "learner": machine.name(),
        "features": features,
        "labels": labels,
        "format": format.to_string(),
        "weights": compiled.n_theta,
        "tapes": machine.tapes().iter().map(|tape| &tape.name).collect::<Vec<_>>(),
        "tracks": size.tapes,
        "states": machine.states().len(),
        "rules": machine.n_rules(),
        "vertices": size.vertices,
        // The line of each state; null where it belongs to none.
        "lines": compiled.lines,
    })
}

/// How a machine's run ended that was allowed so many steps.
pub fn of_run(limit: Step, outcome: Outcome, simulator: &Simulator<'_>) -> Value {
    let machine = simulator.machine();
    let contents = |tape: TapeId| {
        let (first, symbols) = simulator.tape(tape).trimmed();
        (first, spelled(&machine.tape(tape).alphabet, &symbols))
    };
    let (first_cells, tapes): (Vec<_>, Vec<_>) = machine.tape_ids().map(contents).unzip();
    json!({
        "machine": machine.name(),
        "outcome": outcome.word(),
        "steps": simulator.steps(),
        "limit": limit,
        "state": machine.state(simulator.state()).name,
        "accepting": outcome.accepting(),
        "nonzero": simulator.n_nonblank(),
        // Contents without outer blanks, and the cell of the first symbol of each.
        "tapes": tapes,
        "tape_names": machine.tapes().iter().map(|tape| &tape.name).collect::<Vec<_>>(),
        "first_cells": first_cells,
        "heads": machine.tape_ids().map(|tape| simulator.head(tape)).collect::<Vec<_>>(),
    })
}

/// What a trace showed.
pub fn of_trace(plan: &PreparedTrace, trace: &Trace) -> Value {
    let options = &plan.options;
    let internal = options.landscape == LandscapeKind::Internal;
    joined([
        json!({ "machine": plan.machine.name() }),
        json!(trace),
        json!({
            "bounds": Limits::from(plan.landscape.bounds()),
            "strictly_falling": internal.then_some(trace.strictly_falling),
            "landscape": options.landscape.word(),
            "precision": options.manner.precision.word(),
            "rate": options.manner.rate.word(),
            "noise": options.manner.noise.map(|(sigma, _)| sigma),
            "seed": options.manner.noise.map(|(_, seed)| seed),
            "vertices": plan.landscape.n_vertices(),
        }),
    ])
}

/// What a lesson taught.
pub fn of_training(lesson: &PreparedTraining, report: &TrainingReport) -> Value {
    let options = lesson.options();
    joined([
        json!({ "learner": lesson.learner().machine().name() }),
        json!(report),
        json!({
            // What came out, in plain words.
            "answer": Answer::of_lesson(lesson, report),
            "b_stop": lesson.extended().stop(),
            "landscape": options.landscape.word(),
            "carrier": options.carrier.word(),
            "bits": options.bits.word(),
            "format": options.format.to_string(),
            "primary": lesson.primary().describe(),
            "samples": lesson.table().n_samples(),
            "cells": lesson.window().n_cells,
            "vertices": lesson.extended().n_vertices(),
            // Layers and units, each pair of one arrangement, beside the paper's claim.
            "size": lesson.size_claim(),
        }),
    ])
}

/// The fields of some results, one after the other.
pub fn joined(parts: impl IntoIterator<Item = Value>) -> Value {
    let fields = parts.into_iter().filter_map(|part| match part {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    Value::Object(fields.flatten().collect())
}

/// Symbols as `--input` takes them: one after the other where each is a single character, else with spaces between.
pub fn spelled(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    let names: Vec<&str> = symbols.iter().map(|&symbol| alphabet.name(symbol)).collect();
    names.join(separator(alphabet))
}

/// What stands between two symbols of a tape.
pub fn separator(alphabet: &Alphabet) -> &'static str {
    if alphabet.names().iter().all(|name| name.chars().count() == 1) { "" } else { " " }
}
