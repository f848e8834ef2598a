//! The native code that `luge bench` measures several tapes against makes the steps of the machine that is trained.

use luge::job::{TrainJob, catalogue, program};
use luge_experiments::bench::native::{Branches, Native, extents};
use luge_machine::{Simulator, SymbolId};

#[test]
fn native_code_makes_the_machine_s_run() {
    let learners: &[&str] = match luge_suite::asked_for("exhaustive") {
        true => &["perceptron", "parity_elimination", "k_means"],
        false => &["perceptron", "parity_elimination"],
    };
    for name in learners {
        let shipped = catalogue::find(name).expect("it ships");
        let lesson = TrainJob::of(shipped.source()).expect("a learner").prepare().expect("its data");
        let machine = lesson.learner().lowered().normal.machine();
        let layout = lesson.layout();
        let input = lesson.learner().input(layout, &program::bits(lesson.table(), layout.format));
        let start = Simulator::new(machine, &input);
        let mut simulator = start.clone();
        let _ = simulator.run(u64::MAX);
        let extents = extents(&simulator, &start);
        for branches in [Branches::Rules, Branches::Moves] {
            let native = Native::compile(machine, branches).expect("a compiler");
            let run = native.run(machine, &input, 2).expect("it runs");
            assert_eq!(run.steps, simulator.steps(), "{name}");
            assert_eq!(run.left.len(), machine.n_tapes(), "{name}");
            for ((tape, cells), (head, left)) in machine.tape_ids().zip(&extents).zip(&run.left) {
                assert_eq!(*head as i64 + cells.start, simulator.head(tape), "{name}, tape {tape:?}");
                let symbol = |cell| if simulator.tape(tape).read(cell) == SymbolId(1) { '1' } else { '0' };
                assert!(*left == cells.clone().map(symbol).collect::<String>(), "{name}, tape {tape:?}");
            }
        }
    }
}
