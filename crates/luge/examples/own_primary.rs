//! A primary network of your own: the learner finds the weights of a parabola, and the saved model is loaded again.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{ops::ControlFlow, sync::Arc};

use luge::{Data, Model, Predictor, Primaries, Primary, Source, StandardPrimaries, Table, TrainJob};
use luge_landscape::PrimaryError;
use luge_net::{GraphBuilder, NodeId, Values};

/// `theta x^2` for one feature.
struct Parabola;

impl Primary for Parabola {
    fn n_features(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        1
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let square = g.square("square", x);
        g.product("parabola", square, theta)
    }

    fn largest_output(&self, weight: f64, feature: f64) -> f64 {
        weight * feature * feature
    }

    fn describe(&self) -> String {
        "parabola".to_owned()
    }
}

/// The standard networks and ours.
struct Ours;

impl Primaries for Ours {
    fn find(&self, text: &str, n_features: usize, n_labels: usize) -> Result<Arc<dyn Primary>, PrimaryError> {
        if text == "parabola" && (n_features, n_labels) == (1, 1) {
            return Ok(Arc::new(Parabola));
        }
        StandardPrimaries.find(text, n_features, n_labels)
    }
}

/// Least squares for `y = theta x^2`.
const LEARNER: &str = "
learner parabola(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
    let products: fix<I,F>;
    let squares: fix<I,F>;
    for sample in data {
        let square = x[0] * x[0];
        products += square * y;
        squares += square * square;
    }
    theta[0] = products / squares;
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (x, y) = (vec![1.0, 2.0, -1.5], vec![0.5, 2.0, 1.125]);
    let table = Table::new(vec!["x".to_owned()], vec!["y".to_owned()], x, y);
    let mut job = TrainJob::new(Source::sled("parabola", LEARNER), Data::Table(table));
    job.primary = "parabola".to_owned();
    job.options.format = "fix:8.6".parse()?;
    let lesson = job.prepare_with(&Ours)?;
    let report = lesson.train(|_| ControlFlow::Continue(()))?;
    assert!(report.certificate.proves_the_run());
    assert_eq!(report.theta, [0.5]);

    let path = std::env::temp_dir().join("luge-own-primary.safetensors");
    Model::new(&lesson, &report).with_program_of(&job).save(&path)?;
    let model = Model::load(&path)?;
    let primary = model.primary_among(&Ours)?;
    let predicted = Predictor::new(&*primary, model.theta.clone()).predict(&Values::column(vec![4.0]));
    println!("f(4) = {}", predicted.data[0]);
    assert_eq!(predicted.data, [8.0]);
    std::fs::remove_file(path)?;
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("no error");
}
