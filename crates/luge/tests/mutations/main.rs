//! Small faults, planted one at a time, in graphs, builders, engines, landscape formulas, switches, carriers, number formats, the tie
//! rule, the legality of exact, the halting levels, streams and the side that judges. Each must be refused by the certificate that the
//! shipped command prints, or stands there as equivalent, with the reason, and is caught by a check of its own.

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
    certificate_step_by_step, conversions_are_the_networks, every_level_is_tried_for_its_gain,
    exact_needs_powers_of_two, remembered_steps_are_the_gradients, saturated_copies_forgive,
    switches_are_the_graphs, ties_stay, tiny_weights_are_kept, what_is_missing_is_not_recognised,
};
use luge::run::engine::EngineChoice as PrepareOptions;
use luge_landscape::{Carrier, LandscapeKind, VertexSet};
use luge_net::faults;
use shipped::Verdict;

/// A run whose certificate must fail.
type Run = (LandscapeKind, Carrier, PrepareOptions);

const COMPACT_EXACT: Run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Exact);
const COMPACT_SPARSE: Run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Sparse);
const COMPACT_ORTHOGONAL: Run = (LandscapeKind::Compact, Carrier::Orthogonal, PrepareOptions::Sparse);
const RELU: Run = (LandscapeKind::Relu, Carrier::Offset, PrepareOptions::Auto);
const PLAIN: Run = (LandscapeKind::Plain, Carrier::Offset, PrepareOptions::Auto);

/// What becomes of a fault in the certificate that the command prints.
enum Judged {
    /// The certificate of this run refuses it.
    Refused(Run),
    /// No claim of a certificate becomes false, for this reason: only the check of its own notices it.
    Equivalent(&'static str),
}

use Judged::{Equivalent, Refused};

/// A fault in the code: its name there, a check of its own that catches it, and what the certificate makes of it.
type Fault = (&'static str, Option<fn()>, Judged);

const TINY: Judged = Equivalent(
    "weights this small do not occur where arithmetic is exact, and change no step where it is not",
);
const SATURATED: Judged = Equivalent("the run's weights lie where both forms of the copies saturate");
const ELSEWHERE: Judged =
    Equivalent("a run of a right network never comes to such slopes: the successor is always the lowest");
const AT_REST: Judged =
    Equivalent("training stops when the machine halts, before a step from the vertex at rest");
const TIES: Judged = Equivalent("the construction leaves a gap between the lowest slope and all others");
const REFUSED_BEFORE: Judged = Equivalent(
    "right networks have what is no longer looked for; a network without it is judged by its situations",
);
const BY_MACROSTEPS: Judged = Equivalent(
    "the command makes macrosteps, which write by themselves; whoever watches every step has another certificate",
);
const BOTH_SIDES: Judged =
    Equivalent("machine and network are given the same bits, those of another rounding");

/// The faults in engines, formulas, builders, judges and formats.
const FAULTS: &[Fault] = &[
    // Engines.
    ("negligible", Some(tiny_weights_are_kept), TINY),
    ("saturated copies of heads", Some(saturated_copies_forgive), SATURATED),
    ("saturated copies of cells", Some(saturated_copies_forgive), SATURATED),
    ("unlike not looked for", Some(agreement_on_other_landscapes), ELSEWHERE),
    ("skipped write", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("read before the move", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("cell rate", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("head rate", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("read weight", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("offset", Some(agreement_on_flat_landscapes), Refused(COMPACT_SPARSE)),
    ("level of rest", Some(agreement_at_rest), AT_REST),
    ("no self-edges", Some(agreement_on_flat_landscapes), ELSEWHERE),
    ("no slopes elsewhere", Some(agreement_on_other_landscapes), ELSEWHERE),
    ("no slopes backwards", Some(agreement_on_other_landscapes), ELSEWHERE),
    ("last of equal slopes", Some(agreement_on_flat_landscapes), TIES),
    ("another vertex remembered", Some(remembered_steps_are_the_gradients), Refused(COMPACT_EXACT)),
    ("level of rest too high", Some(remembered_steps_are_the_gradients), Refused(COMPACT_EXACT)),
    ("level of a flip", None, Refused(COMPACT_EXACT)),
    ("remembered write skipped", Some(certificate_step_by_step), BY_MACROSTEPS),
    // Frank-Wolfe's tie rule.
    ("ties move", Some(ties_stay), Refused(COMPACT_EXACT)),
    ("ties move in sparse", Some(agreement_at_rest), TIES),
    // Labels, switches and carriers.
    ("label rate", None, Refused(COMPACT_SPARSE)),
    ("gain of the offset", None, Refused(COMPACT_SPARSE)),
    ("gain along a direction", None, Refused(COMPACT_ORTHOGONAL)),
    (
        "running zero",
        Some(switches_are_the_graphs),
        Equivalent("no loss of a run lies on the ramp of the switch"),
    ),
    ("epsilon", None, Refused(COMPACT_SPARSE)),
    // What the recogniser reads.
    ("stop not looked for", Some(what_is_missing_is_not_recognised), REFUSED_BEFORE),
    ("gate not looked at", Some(what_is_missing_is_not_recognised), REFUSED_BEFORE),
    // The legality of exact.
    ("gain where all symbols flip", Some(every_level_is_tried_for_its_gain), REFUSED_BEFORE),
    ("constants not looked at", Some(exact_needs_powers_of_two), REFUSED_BEFORE),
    // Landscape formulas, halting levels and builders.
    ("base", None, Refused(COMPACT_SPARSE)),
    ("kept symbols", None, Refused(RELU)),
    ("halting level", None, Refused(COMPACT_SPARSE)),
    ("stopping level", None, Refused(COMPACT_SPARSE)),
    ("builder writes the other symbol", None, Refused(COMPACT_EXACT)),
    ("builder mirrors moves", None, Refused(COMPACT_EXACT)),
    ("builder leads elsewhere", None, Refused(COMPACT_EXACT)),
    // Number formats.
    ("numbers floored", Some(conversions_are_the_networks), BOTH_SIDES),
    ("ties away from zero", Some(conversions_are_the_networks), BOTH_SIDES),
    ("negatives without their sign", Some(conversions_are_the_networks), BOTH_SIDES),
    ("float ties to odd", Some(conversions_are_the_networks), BOTH_SIDES),
    // The side that judges, and the certificate.
    ("judge's digest adds v + 2", None, Refused(COMPACT_EXACT)),
    ("a situation is not looked at", None, Refused(COMPACT_EXACT)),
    ("units without a threshold", None, Refused(RELU)),
    ("a change is not followed", None, Refused(COMPACT_EXACT)),
];

/// What refuses a run, on whichever set of vertices.
fn run(run: Run) -> Verdict {
    VertexSet::ALL.into_iter().try_for_each(|vertices| certificate(run, vertices))
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
fn nothing_is_refused_where_nothing_is_planted() {
    for &(_, check, ref judged) in FAULTS {
        check.iter().for_each(|check| check());
        if let Refused(lesson) = *judged {
            assert_eq!(run(lesson), Ok(()));
        }
    }
    for &(_, _, lesson, _) in graphs::FAULTS {
        assert_eq!(run(lesson), Ok(()));
        assert_eq!(run((lesson.0, lesson.1, PrepareOptions::Dense)), Ok(()));
    }
    for lesson in [COMPACT_EXACT, COMPACT_ORTHOGONAL, RELU, PLAIN] {
        assert_eq!(run(lesson), Ok(()));
    }
}

/// Every fault in the code is refused by the certificate, or is equivalent and caught by a check of its own.
#[test]
fn faults_in_the_code_are_refused() {
    quietly();
    let mut missed = Vec::new();
    for &(name, check, ref judged) in FAULTS {
        let planted = faults::plant(name);
        if check.is_some_and(|check| !catches(check)) {
            missed.push(format!("{name} by its check"));
        }
        match *judged {
            Refused(lesson) if run(lesson).is_ok() => missed.push(format!("{name} by the certificate")),
            Refused(_) => {}
            Equivalent(why) => {
                for lesson in [COMPACT_EXACT, COMPACT_SPARSE] {
                    if let Err(refused) = run(lesson) {
                        missed.push(format!("{name} is not equivalent ({why}): {refused}"));
                    }
                }
            }
        }
        drop(planted);
    }
    assert_eq!(missed, [""; 0], "{} planted", FAULTS.len());
    let n_refused = FAULTS.iter().filter(|fault| matches!(fault.2, Refused(_))).count();
    let (n_in_graphs, n_on_streams) = (graphs::FAULTS.len(), shipped::N_STREAM_FAULTS);
    println!(
        "refused by the certificate: {n_refused} faults in the code, {n_in_graphs} in graphs, {n_on_streams} on streams; {} equivalent",
        FAULTS.len() - n_refused
    );
    assert!(n_refused + n_in_graphs + n_on_streams >= 60);
}

/// Every fault in a graph, and nowhere else, is refused by the certificate of a run by the dense engine and of one by whatever engine the
/// graph still allows.
#[test]
fn faults_in_a_graph_are_refused() {
    let mut missed = Vec::new();
    for &(name, alter, lesson, sets) in graphs::FAULTS {
        let planted = faults::plant_in_graph(alter);
        let engines = [PrepareOptions::Dense, PrepareOptions::Auto];
        for (vertices, engine) in sets.iter().flat_map(|&set| engines.map(|engine| (set, engine))) {
            if certificate((lesson.0, lesson.1, engine), vertices).is_ok() {
                missed.push(format!("{name} by {engine:?} with {vertices:?}"));
            }
        }
        assert!(planted.altered_a_graph(), "{name} altered nothing");
        drop(planted);
    }
    assert_eq!(missed, [""; 0], "{} planted", graphs::FAULTS.len());
}
