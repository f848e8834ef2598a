//! The machine that `luge bench` measures several tapes against is the one that is trained.

use std::{fs, path::Path};

use luge::job::TrainJob;
use luge_experiments::bench::native;

/// With `LUGE_RENEW=1` in the environment the source is written anew.
#[test]
fn the_perceptron_written_out_is_todays() {
    let shipped = luge::job::catalogue::find("perceptron").expect("it ships");
    let lesson = TrainJob::of(shipped.source()).expect("a learner").prepare().expect("its data");
    let text = native::source(lesson.learner().lowered().normal.machine());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/native/perceptron.rs");
    if std::env::var_os("LUGE_RENEW").is_some() {
        fs::write(&path, &text).expect("the source can be written");
    }
    let kept = fs::read_to_string(&path).expect("the source is kept");
    assert!(kept == text, "the written-out perceptron is not today's: renew it with LUGE_RENEW=1");
}
