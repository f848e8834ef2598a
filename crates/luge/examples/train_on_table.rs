//! Train a learner of your own on your own numbers, look at the certificate, save the model and predict with it.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use luge::{Data, Model, Predictor, Source, Table, TrainJob, Values};

/// Least squares through the origin: the weight is the sum of x y over the sum of x x, and the bias stays 0.
const LEARNER: &str = "
learner slope(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 2] {
    let products: fix<I,F>;
    let squares: fix<I,F>;
    for sample in data {
        products += x[0] * y;
        squares += x[0] * x[0];
    }
    theta[1] = products / squares;
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let (x, y) = (vec![1.0, 2.0, -1.0, 0.5], vec![1.5, 3.0, -1.5, 0.75]);
    let table = Table::new(names(&["x"]), names(&["y"]), x, y);
    let mut job = TrainJob::new(Source::sled("slope", LEARNER), Data::Table(table));
    job.options.format = "fix:6.6".parse()?;

    // Program, machine, landscape, network; then gradient descent, every iterate compared with the simulator.
    let (lesson, report) = job.train()?;
    println!("{} gradient steps, theta {:?}", report.outcome.steps(), report.theta);
    for (name, claim) in report.certificate.claims() {
        println!("{name}: {}, {}", if claim.holds { "yes" } else { "NO" }, claim.figures);
    }
    assert!(report.certificate.proves_the_run());
    assert_eq!(report.theta, [0.0, 1.5]);

    let path = std::env::temp_dir().join("luge-example.safetensors");
    Model::new(&lesson, &report).with_program_of(&job).save(&path)?;
    let model = Model::load(&path)?;
    let primary = model.primary()?;
    let predicted = Predictor::new(&*primary, model.theta.clone()).predict(&Values::column(vec![4.0, -8.0]));
    println!("f(4) = {}, f(-8) = {}", predicted.data[0], predicted.data[1]);
    assert_eq!(predicted.data, [6.0, -12.0]);
    std::fs::remove_file(path)?;
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("no error");
}
