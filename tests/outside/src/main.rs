//! What a stranger writes after reading the library's first page: a learner, a table, training, the answer.

use std::ops::ControlFlow;

use luge::{Data, Source, Table, TrainJob};

const LEARNER: &str = "
learner largest(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 2] {
    for sample in data {
        if y > theta[0] {
            theta[0] = y;
        }
    }
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Table::new(vec!["x".to_owned()], vec!["y".to_owned()], vec![1.0, 2.0, 3.0], vec![0.5, 2.25, 1.0]);
    let lesson = TrainJob::new(Source::sled("largest", LEARNER), Data::Table(table)).prepare()?;
    let report = lesson.train(|_| ControlFlow::Continue(()))?;
    assert!(report.certificate.proves_the_run(), "{:?}", report.certificate);
    assert_eq!(report.theta, [2.25, 0.0]);
    println!("{} gradient steps, theta {:?}, certified", report.outcome.steps(), report.theta);
    Ok(())
}
