//! The whole extended network: dense, sparse and exact with either carrier.

use luge::run::engine::EngineChoice as PrepareOptions;
use luge_landscape::{Carrier, LandscapeKind};
use luge_net::SparseValues;
use luge_train::{CacheLevel, Engine, Exact, Sparse, TrainError};

use crate::{OUTSIDE, agreement::agree, classroom::Classroom};

fn room(kind: LandscapeKind, carrier: Carrier) -> Classroom {
    Classroom::copy().on(kind, carrier)
}

/// Through the square root and the carrier weights agree to rounding; here and elsewhere vertices agree exactly.
#[test]
fn dense_and_sparse_agree_weight_by_weight() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let room = room(kind, carrier);
            let lesson = room.lesson();
            let extended = lesson.extended();
            let steps = lesson.simulated().expect("an answer").machine_steps + extended.extra_steps() + 2;
            agree(
                extended.network(),
                &SparseValues::all_values(extended.initial()),
                &lesson.inputs(),
                steps,
                1e-13,
            );
        }
    }
}

/// The orthogonal carrier's gain is not 1, so weights drift: by as much in the sparse engine as in the dense one.
#[test]
fn drift_is_real() {
    let drift = |engine: PrepareOptions| {
        let mut room = room(LandscapeKind::Compact, Carrier::Orthogonal);
        room.options.engine = engine;
        let lessons = room.proved();
        assert_eq!(lessons.chosen.engine, engine);
        lessons.drift.map(|drift| (drift.tape, drift.head)).expect("weights")
    };
    let (dense, sparse) = (drift(PrepareOptions::Dense), drift(PrepareOptions::Sparse));
    assert!(dense.0 > 0.0 && dense.1 > 0.0, "{dense:?}");
    let close = |a: f64, b: f64| (a - b).abs() <= 0.5 * a.max(b) + 1e-15;
    assert!(close(dense.0, sparse.0) && close(dense.1, sparse.1), "{dense:?} {sparse:?}");
}

#[test]
fn every_engine_ends_with_the_same_theta() {
    for kind in OUTSIDE {
        for carrier in Carrier::ALL {
            let mut thetas = Vec::new();
            for engine in [PrepareOptions::Dense, PrepareOptions::Sparse, PrepareOptions::Auto] {
                let mut room = room(kind, carrier);
                room.options.engine = engine;
                thetas.push(room.proved().theta);
            }
            assert!(thetas.windows(2).all(|pair| pair[0] == pair[1]), "{kind:?}: {thetas:?}");
        }
    }
}

/// Exact where the gain is exactly 1, refused with the number where it is not; landscapes of targets forgive.
#[test]
fn exact_is_refused_where_the_carrier_is_not() {
    let exact = |kind, carrier| {
        let room = room(kind, carrier);
        let lesson = room.lesson();
        let extended = lesson.extended();
        Exact::new(extended.network(), extended.initial(), &lesson.inputs(), CacheLevel::Macrosteps).map(drop)
    };
    assert!(exact(LandscapeKind::Compact, Carrier::Offset).is_ok());
    assert!(exact(LandscapeKind::Plain, Carrier::Orthogonal).is_ok());
    match exact(LandscapeKind::Compact, Carrier::Orthogonal) {
        Err(TrainError::NotExact { why }) => {
            assert!(why.contains("the carrier scales the gradient by 1 "), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

/// On a unit axis on which y is zero, the paper's carrier is exact too.
#[test]
fn the_orthogonal_carrier_is_exact_on_a_free_axis() {
    let mut room = room(LandscapeKind::Compact, Carrier::Orthogonal);
    room.table = crate::classroom::table("x,y\n-2,0\n0.25,-3\n1,2\n");
    room.options.engine = PrepareOptions::Exact;
    assert_eq!(room.proved().theta, [0.0, 0.0]);
}

/// Losses over a whole run, step by step in the sparse engine and at once in the exact one.
#[test]
fn exact_and_sparse_see_the_same_losses() {
    for kind in OUTSIDE {
        let room = room(kind, Carrier::Offset);
        let lesson = room.lesson();
        let extended = lesson.extended();
        let (network, initial, inputs) = (extended.network(), extended.initial(), lesson.inputs());
        let stop =
            luge_train::StopRule { loss_at_most: extended.bounds().stop, not_before: 1, most_steps: 10_000 };
        let mut sparse = Sparse::new(network, initial, &inputs).expect("sparse layers");
        let outcome = sparse.run(&stop).expect("gradients");
        assert_eq!(
            outcome.steps(),
            lesson.simulated().expect("an answer").machine_steps + extended.extra_steps()
        );
        for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
            let mut exact = Exact::new(network, initial, &inputs, cache_level).expect("exact");
            assert_eq!(exact.run(&stop).expect("gradients"), outcome);
            assert_eq!(exact.losses(), sparse.losses(), "{kind:?}");
        }
    }
}
