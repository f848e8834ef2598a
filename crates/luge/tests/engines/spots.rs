//! Where the dense engine cannot run a whole job it looks at spots: from recorded snapshots it agrees for 50 steps each.

use luge_landscape::{Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{
    Input,
    lowering::{Moves, lower},
};
use luge_train::{Dense, Engine, Exact, Memories, Precision, Rate, Sparse, StopRule};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{OUTSIDE, machine, options, plan, start};

const CHAMPION: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
const N_STEPS: u64 = 50;

/// The dense engine from where the exact one is, on a network wide enough for the steps to come, beside exact and sparse.
fn agree_from(kind: LandscapeKind, at: u64) {
    let machine = machine(CHAMPION);
    let plan =
        plan(&machine, &Input::blank(), &luge::trace::TraceOptions { steps: Some(10), ..options(kind) });
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let mut exact =
        Exact::new(plan.landscape.network(), &parameters, &inputs, Memories::Blocks).expect("exact");
    let loss_at_most = plan.landscape.bounds().stop;
    exact.run(&StopRule { loss_at_most, not_before: 0, most_steps: at }).expect("gradients");
    let snapshot = exact.snapshot().trimmed();
    let reach = N_STEPS as i64 + 2;
    let low =
        snapshot.tapes.iter().map(|lane| lane.first.min(lane.head_first - reach)).min().expect("a tape");
    let end = |lane: &luge_train::TapeSnapshot| lane.first + lane.cells.len() as i64;
    let high =
        snapshot.tapes.iter().map(|lane| end(lane).max(lane.head_first + reach)).max().expect("a tape");
    let n_cells = usize::try_from(high - low + 1).expect("a window");
    let normal = lower(&machine, Moves::Keep).expect("binary").normal;
    let wide = Landscape::build(&normal, &LandscapeOptions::new(kind, n_cells)).expect("a landscape");
    let shift = vec![-low; snapshot.tapes.len()];
    let weights = snapshot.parameters_of(wide.network(), &shift).expect("a window that fits");
    let mut dense =
        Dense::new(wide.network(), &weights, &inputs, Precision::F64, Rate::One, None).expect("dense");
    let mut sparse = Sparse::resume(plan.landscape.network(), &snapshot, None, &inputs).expect("sparse");
    for step in 0..=N_STEPS {
        let loss = dense.loss().expect("a loss").to_bits();
        let parameters = dense.parameters().expect("weights");
        for engine in [&mut exact as &mut dyn Engine, &mut sparse] {
            let name = engine.name();
            assert_eq!(engine.loss().expect("a loss").to_bits(), loss, "{name}, {step} steps after {at}");
            let own = engine
                .snapshot()
                .trimmed()
                .parameters_of(wide.network(), &shift)
                .expect("a window that fits");
            assert!(own == parameters, "{name}, {step} steps after {at} on {kind:?}");
            engine.step().expect("a gradient");
        }
        dense.step().expect("a gradient");
    }
}

#[test]
fn of_the_five_state_champion() {
    let mut generator = ChaCha8Rng::seed_from_u64(47_176_870);
    for kind in OUTSIDE {
        for _ in 0..4 {
            agree_from(kind, generator.next_u64() % 47_000_000);
        }
    }
}
