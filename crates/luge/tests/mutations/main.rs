//! Small faults, planted one at a time, in graphs, engines, landscape formulas, switches, carriers, number formats, the tie
//! rule, the legality of exact and the halting levels. Each must be caught by the check that is named beside it and, where
//! it sits in the graph or in an engine and can make a difference there, by the certificate of a training run.

#[path = "../extended/classroom.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod classroom;

mod checks;
mod graphs;
mod shipped;

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use checks::{
    agreement_at_rest, agreement_on_flat_landscapes, agreement_on_other_landscapes, certificate,
    conversions_are_the_networks, every_level_is_tried_for_its_gain, exact_needs_powers_of_two,
    remembered_steps_are_the_gradients, saturated_copies_forgive, switches_are_the_graphs, ties_stay,
    tiny_weights_are_kept, what_is_missing_is_not_recognised,
};
use luge::run::engine::EngineChoice as PrepareOptions;
use luge_landscape::{Carrier, LandscapeKind, VertexSet};
use luge_net::faults;

/// A run whose certificate must fail.
type Run = (LandscapeKind, Carrier, PrepareOptions);

const COMPACT_EXACT: Run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Exact);
const COMPACT_SPARSE: Run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Sparse);
const COMPACT_ORTHOGONAL: Run = (LandscapeKind::Compact, Carrier::Orthogonal, PrepareOptions::Sparse);
const RELU: Run = (LandscapeKind::Relu, Carrier::Offset, PrepareOptions::Auto);
const PLAIN: Run = (LandscapeKind::Plain, Carrier::Offset, PrepareOptions::Auto);

/// A fault in the code: its name there, the check that catches it, and a run whose certificate does.
type Fault = (&'static str, fn(), Option<Run>);

/// The faults in engines, formulas and formats. Without a run stand those that no run of a right network can show: they
/// concern only tiny weights, other weights than training reaches, constants that are refused, or both sides alike.
const FAULTS: &[Fault] = &[
    // Engines.
    ("negligible", tiny_weights_are_kept, None),
    ("saturated copies of heads", saturated_copies_forgive, None),
    ("saturated copies of cells", saturated_copies_forgive, None),
    ("unlike not looked for", agreement_on_other_landscapes, None),
    ("skipped write", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("read before the move", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("cell rate", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("head rate", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("read weight", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("offset", agreement_on_flat_landscapes, Some(COMPACT_SPARSE)),
    ("level of rest", agreement_at_rest, None),
    ("no self-edges", agreement_on_flat_landscapes, None),
    ("no slopes elsewhere", agreement_on_other_landscapes, None),
    ("no slopes backwards", agreement_on_other_landscapes, None),
    ("last of equal slopes", agreement_on_flat_landscapes, None),
    ("another vertex remembered", remembered_steps_are_the_gradients, None),
    ("level of rest too high", remembered_steps_are_the_gradients, Some(COMPACT_EXACT)),
    ("level of a flip", certificate_of_many_heads, Some(COMPACT_EXACT)),
    ("remembered write skipped", certificate_of_many_heads, Some(COMPACT_EXACT)),
    // Frank-Wolfe's tie rule.
    ("ties move", ties_stay, None),
    ("ties move in sparse", agreement_at_rest, None),
    // Labels, switches and carriers.
    ("label rate", certificate_of_sparse, Some(COMPACT_SPARSE)),
    ("gain of the offset", certificate_of_sparse, Some(COMPACT_SPARSE)),
    ("gain along a direction", certificate_of_a_direction, Some(COMPACT_ORTHOGONAL)),
    ("running zero", switches_are_the_graphs, None),
    ("epsilon", certificate_of_sparse, Some(COMPACT_SPARSE)),
    // What the recogniser looks at.
    ("stop not looked for", what_is_missing_is_not_recognised, None),
    ("gate not looked at", what_is_missing_is_not_recognised, None),
    // The legality of exact.
    ("gain where all symbols flip", every_level_is_tried_for_its_gain, None),
    ("constants not looked at", exact_needs_powers_of_two, None),
    // Landscape formulas and halting levels.
    ("base", certificate_of_sparse, Some(COMPACT_SPARSE)),
    ("kept symbols", certificate_of_edge_units, Some(RELU)),
    ("halting level", certificate_of_sparse, Some(COMPACT_SPARSE)),
    ("stopping level", certificate_of_sparse, Some(COMPACT_SPARSE)),
    // Number formats.
    ("numbers floored", conversions_are_the_networks, None),
    ("ties away from zero", conversions_are_the_networks, None),
    ("negatives without their sign", conversions_are_the_networks, None),
    ("float ties to odd", conversions_are_the_networks, None),
];

/// On both sets of vertices.
fn run(run: Run) {
    for vertices in VertexSet::ALL {
        certificate(run, vertices);
    }
}

fn certificate_of_sparse() {
    run(COMPACT_SPARSE);
}

fn certificate_of_many_heads() {
    run(COMPACT_EXACT);
}

fn certificate_of_a_direction() {
    run(COMPACT_ORTHOGONAL);
}

fn certificate_of_edge_units() {
    run(RELU);
}

/// Whether a check notices what is planted.
fn catches(check: impl FnOnce()) -> bool {
    QUIET.set(true);
    let caught = panic::catch_unwind(AssertUnwindSafe(check)).is_err();
    QUIET.set(false);
    caught
}

thread_local! {
    /// Whether panics of this thread are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Leaves expected panics unprinted.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
}

/// Everything holds where nothing is planted: without this, catching would mean nothing.
#[test]
fn nothing_is_caught_where_nothing_is_planted() {
    for &(_, check, certificate) in FAULTS {
        check();
        if let Some(lesson) = certificate {
            run(lesson);
        }
    }
    for &(_, _, lesson, _) in graphs::FAULTS {
        run(lesson);
        run((lesson.0, lesson.1, PrepareOptions::Dense));
    }
    for lesson in [COMPACT_EXACT, COMPACT_ORTHOGONAL, RELU, PLAIN] {
        run(lesson);
    }
}

/// Every fault in the code is caught by its check, and by the certificate of its run.
#[test]
fn faults_in_the_code_are_caught() {
    quietly();
    let mut missed = Vec::new();
    for &(name, check, certificate) in FAULTS {
        let planted = faults::plant(name);
        if !catches(check) {
            missed.push(format!("{name} by its check"));
        }
        if let Some(lesson) = certificate
            && !catches(|| run(lesson))
        {
            missed.push(format!("{name} by the certificate"));
        }
        drop(planted);
    }
    assert_eq!(missed, [""; 0], "{} planted", FAULTS.len());
    assert!(FAULTS.len() >= 30);
}

/// Every fault in a graph, and nowhere else, is caught by the dense engine in lockstep and by the certificate of a run with
/// whatever engine the graph still allows.
#[test]
fn faults_in_a_graph_are_caught() {
    quietly();
    let mut missed = Vec::new();
    for &(name, alter, lesson, sets) in graphs::FAULTS {
        let planted = faults::plant_in_graph(alter);
        let engines = [PrepareOptions::Dense, PrepareOptions::Auto];
        for (vertices, engine) in sets.iter().flat_map(|&set| engines.map(|engine| (set, engine))) {
            if !catches(|| certificate((lesson.0, lesson.1, engine), vertices)) {
                missed.push(format!("{name} by {engine:?} with {vertices:?}"));
            }
        }
        assert!(planted.altered_a_graph(), "{name} altered nothing");
        drop(planted);
    }
    assert_eq!(missed, [""; 0], "{} planted", graphs::FAULTS.len());
}
