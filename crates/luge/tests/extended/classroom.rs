//! A learner, a primary network and data in one place, ready to be trained.

use std::{ops::ControlFlow, path::Path};

use luge::{
    JobError,
    data::Table,
    job::source::Source,
    training::{PreparedTraining, TrainingOptions, TrainingReport},
};
use luge_landscape::{Carrier, LandscapeKind, Learner, Mlp, Primary};
use luge_net::{ParameterId, Shape, Values, evaluate};
use luge_train::{Dense, Engine, Outcome, Precision, Rate, StopRule, train};

/// The landscapes with tapes outside the vertex.
pub(crate) const OUTSIDE: [LandscapeKind; 3] =
    [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain];

/// All that a lesson borrows.
pub(crate) struct Classroom {
    pub(crate) learner: Learner,
    pub(crate) primary: std::sync::Arc<dyn Primary>,
    pub(crate) table: Table,
    pub(crate) options: TrainingOptions,
}

impl Classroom {
    /// A linear model of the columns that are not `y`.
    pub(crate) fn new(learner: Learner, csv: &str, format: &str) -> Self {
        let table = table(csv);
        let primary = std::sync::Arc::new(Mlp::linear(table.feature_names.len(), 1));
        let options = TrainingOptions::new(format.parse().expect("a format"));
        Self { learner, primary, table, options }
    }

    /// Predicts 1.5, the first label, whatever x is.
    pub(crate) fn copy() -> Self {
        Self::new(shipped("copy_label.tm"), "x,y\n-2,1.5\n0.25,-3\n1,2\n", "fix:3.2")
    }

    /// Predicts -2, the first label, with everything inside the vertex.
    pub(crate) fn keep() -> Self {
        let mut room = Self::new(shipped("keep_label.tm"), "x,y\n1,-2\n-1,1\n", "fix:2.0");
        room.options.landscape = LandscapeKind::Internal;
        room
    }

    pub(crate) fn on(mut self, kind: LandscapeKind, carrier: Carrier) -> Self {
        self.options.landscape = kind;
        self.options.carrier = carrier;
        self
    }

    pub(crate) fn prepare(&self) -> Result<PreparedTraining, JobError> {
        PreparedTraining::prepare(
            self.learner.clone(),
            self.primary.clone(),
            self.table.clone(),
            self.options.clone(),
        )
    }

    /// The lesson on as many cells as its run needs.
    pub(crate) fn lesson(&self) -> PreparedTraining {
        let lesson = self.prepare().expect("a lesson");
        lesson.simulated().expect("an answer");
        lesson
    }

    /// Trains as the command does, with the losses of all iterates.
    pub(crate) fn train(&self) -> (TrainingReport, Vec<f64>) {
        let mut losses = Vec::new();
        let lessons = self
            .prepare()
            .expect("a lesson")
            .train(|moment| {
                losses.push(moment.loss);
                ControlFlow::Continue(())
            })
            .expect("gradients");
        (lessons, losses)
    }

    /// Trains, and expects the run to be proved.
    pub(crate) fn proved(&self) -> TrainingReport {
        let (lessons, _) = self.train();
        for (name, check) in lessons.certificate.claims() {
            let about_sizes = matches!(name, "layers" | "units");
            assert!(about_sizes || check.holds, "{}: {name}: {}", self.name(), check.figures);
        }
        assert!(lessons.certificate.proves_the_run(), "{}", self.name());
        lessons
    }

    pub(crate) fn name(&self) -> String {
        let TrainingOptions { landscape, carrier, format, .. } = &self.options;
        format!("{}, {}, {format}", landscape.word(), carrier.word())
    }
}

/// A machine that ships.
pub(crate) fn shipped(machine: &str) -> Learner {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("learners").join(machine);
    read(&Source::open(&path.to_string_lossy()).expect("a learner that ships"))
}

/// A machine written down here.
pub(crate) fn written(text: &str) -> Learner {
    read(&Source { name: "test".to_owned(), text: text.to_owned(), extension: Some("tm".to_owned()) })
}

fn read(source: &Source) -> Learner {
    let (_, loaded) = source.read(None).expect("a valid machine");
    Learner::new(&loaded.machine, loaded.input.as_ref()).expect("a learner")
}

pub(crate) fn table(csv: &str) -> Table {
    Table::read(csv.as_bytes(), &["y".to_owned()], None).expect("a table")
}

/// Training by hand: from any parameters, on any inputs.
pub(crate) struct Hand<'a> {
    pub(crate) lesson: &'a PreparedTraining,
    pub(crate) parameters: Vec<Values>,
    pub(crate) inputs: Vec<Values>,
}

impl<'a> Hand<'a> {
    pub(crate) fn new(lesson: &'a PreparedTraining) -> Self {
        Self {
            lesson,
            parameters: lesson.extended().initial().iter().map(Into::into).collect(),
            inputs: lesson.inputs(),
        }
    }

    fn engine(&self) -> Dense<'a> {
        let network = self.lesson.extended().network();
        Dense::new(network, &self.parameters, &self.inputs, Precision::F64, Rate::One, None)
            .expect("values that fit")
    }

    /// Steps until the rule holds; afterwards `parameters` are those of the last iterate.
    pub(crate) fn train(&mut self, not_before: u64) -> Outcome {
        let most_steps = self.lesson.simulated().expect("an answer").machine_steps
            + self.lesson.extended().extra_steps()
            + 1;
        let stop = StopRule { loss_at_most: self.lesson.extended().bounds().stop, not_before, most_steps };
        let mut engine = self.engine();
        let outcome = train(&mut engine, &stop, |_| ControlFlow::Continue(())).expect("gradients");
        self.parameters = engine.parameters().expect("parameters");
        outcome
    }

    /// Exactly this many steps, whatever the loss.
    pub(crate) fn step(&mut self, n_steps: u64) {
        let mut engine = self.engine();
        for _ in 0..n_steps {
            engine.step().expect("a gradient");
        }
        self.parameters = engine.parameters().expect("parameters");
    }

    pub(crate) fn value(&self, node: luge_net::NodeId) -> Values {
        evaluate(self.lesson.extended().network(), &self.parameters, &self.inputs).value(node).clone()
    }

    pub(crate) fn loss(&self) -> f64 {
        evaluate(self.lesson.extended().network(), &self.parameters, &self.inputs).loss()
    }

    pub(crate) fn theta(&self) -> Vec<f64> {
        self.value(self.lesson.extended().nodes.theta).data
    }

    /// z.
    pub(crate) fn labels(&self) -> &[f64] {
        &self.parameters[self.lesson.extended().labels.index()].data
    }

    pub(crate) fn parameter(&self, name: &str) -> ParameterId {
        let network = self.lesson.extended().network();
        let named = |id: &ParameterId| network.parameters()[id.index()].name == name;
        network.parameter_ids().find(named).expect("a parameter of that name")
    }
}

/// A few numbers in a column.
pub(crate) fn column(numbers: &[f64]) -> Values {
    Values::new(Shape::column(numbers.len()), numbers.to_vec())
}
