//! What a gradient step costs: 100,000 steps of the five-state busy beaver by each fast engine on each landscape, the
//! differentiation that fills a table included, and what a snapshot costs.
//!
//! `cargo bench -p luge --bench engines`. Side by side with simulators, and as ratios: `luge bench`.

use divan::{Bencher, counter::ItemsCount};
use luge_landscape::{Configuration, Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{NormalForm, formats::Format};
use luge_train::{CacheLevel, Engine, Exact, Snapshot, Sparse, StopRule};

const CHAMPION: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
const N_CELLS: usize = 16;
const N_STEPS: u64 = 100_000;
const KINDS: [&str; 3] = ["compact", "relu", "plain"];

fn main() {
    divan::main();
}

struct Scene {
    landscape: Landscape,
    start: Configuration,
}

impl Scene {
    fn new(kind: &str) -> Self {
        let machine = Format::Bbchallenge.read(CHAMPION).expect("a machine").machine;
        let normal = NormalForm::new(machine.clone()).expect("a binary machine");
        let kind = LandscapeKind::ALL.into_iter().find(|k| k.word() == kind).expect("a landscape");
        let landscape =
            Landscape::build(&normal, &LandscapeOptions::new(kind, N_CELLS)).expect("a landscape");
        let tapes = vec![vec![false; N_CELLS]];
        Self { landscape, start: Configuration { state: machine.start(), tapes, heads: vec![N_CELLS / 2] } }
    }

    fn stop(&self) -> StopRule {
        StopRule { loss_at_most: self.landscape.bounds().stop, not_before: 0, most_steps: N_STEPS }
    }

    fn sparse(&self) -> Sparse<'_> {
        let (parameters, inputs) = self.landscape.encode(&self.start).expect("a vertex");
        Sparse::new(self.landscape.network(), &parameters, &inputs).expect("sparse layers")
    }

    fn exact(&self, cache_level: CacheLevel) -> Exact<'_> {
        let (parameters, inputs) = self.landscape.encode(&self.start).expect("a vertex");
        Exact::new(self.landscape.network(), &parameters, &inputs, cache_level).expect("exact arithmetic")
    }
}

fn steps<'s, T: Engine>(bencher: Bencher<'_, '_>, scene: &'s Scene, engine: impl Fn(&'s Scene) -> T + Sync) {
    let bencher = bencher.counter(ItemsCount::new(N_STEPS));
    bencher.bench_local(|| engine(scene).run(&scene.stop()).expect("gradients"));
}

#[divan::bench(args = KINDS)]
fn sparse(bencher: Bencher<'_, '_>, kind: &str) {
    steps(bencher, &Scene::new(kind), Scene::sparse);
}

#[divan::bench(args = KINDS)]
fn exact_without_blocks(bencher: Bencher<'_, '_>, kind: &str) {
    steps(bencher, &Scene::new(kind), |scene| scene.exact(CacheLevel::Steps));
}

#[divan::bench(args = KINDS)]
fn exact(bencher: Bencher<'_, '_>, kind: &str) {
    steps(bencher, &Scene::new(kind), |scene| scene.exact(CacheLevel::Macrosteps));
}

#[divan::bench]
fn snapshot_to_bytes_and_back(bencher: Bencher<'_, '_>) {
    let scene = Scene::new("compact");
    let mut engine = scene.exact(CacheLevel::Steps);
    engine.run(&scene.stop()).expect("gradients");
    bencher.bench_local(|| Snapshot::from_bytes(&engine.snapshot().to_bytes()).expect("a snapshot"));
}
