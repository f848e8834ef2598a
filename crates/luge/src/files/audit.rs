//! Audits a model: derives everything again from its machine and the data with the simulator.

use std::ops::ControlFlow;

use luge_machine::Step;
use luge_net::{SparseValues, Values, evaluate_some};
use serde::Serialize;

use crate::{
    certificate::{Certificate, Claim, translation},
    data::Table,
    files::{
        model::{AnyModel, Model, ModelError, data_digest},
        predictor::Predictor,
    },
    job::{Data, JobError, StandardPrimaries},
    mlp::MlpModel,
    run::follow::ObservationRate,
    stream::StreamModel,
    training::{PreparedTraining, Simulated},
};

/// Whether a model is what it claims to be.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Whether the claims that decide it hold.
    pub holds: bool,
    /// What was derived again.
    pub audit: Certificate,
    /// Whether training again gave the same model, if it was trained again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrained: Option<Claim>,
    /// What is taken from the model's word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<String>,
}

impl Verdict {
    fn new(audit: Certificate, retrained: Option<Claim>, not_checked: Vec<String>) -> Self {
        let holds = audit.proves_the_run() && retrained.as_ref().is_none_or(|claim| claim.holds);
        Self { holds, audit, retrained, not_checked }
    }

    /// The verdict on data that cannot be those of the training: nothing else can be said.
    pub fn other_data(why: impl ToString) -> Self {
        let data = ("data", Claim::new(false, why.to_string()));
        Self::new([data].into_iter().collect(), None, Vec::new())
    }

    /// All claims with their names.
    pub fn claims(&self) -> Vec<(&'static str, &Claim)> {
        let mut claims = self.audit.claims();
        claims.extend(self.retrained.as_ref().map(|claim| ("trained again", claim)));
        claims
    }
}

impl AnyModel {
    /// Verifies the model on the data it was trained on; one of drawn samples needs none. Everything is derived again, and with `retrain`
    /// the network is also trained again, as a model of a stream always is. The watcher sees steps and losses, NaN where a loss is not
    /// known.
    ///
    /// # Errors
    /// If data are missing, cannot be read, or are not those of a stream's training, or the model does not fit together.
    pub fn verify(
        &self,
        data: Option<&Data>,
        retrain: bool,
        watch: &mut dyn FnMut(Step, f64) -> ControlFlow<()>,
    ) -> Result<Verdict, ModelError> {
        let (certificate, same) = match self {
            Self::Training(model) => return model.verify(data.ok_or(ModelError::NoData)?, retrain, watch),
            Self::Stream(model) => {
                let job = model.job(data)?;
                let prepared = job.prepare()?;
                let report = prepared.train(|moment| watch(moment.step, moment.loss))?;
                let again = StreamModel::new(&job, &prepared, &report);
                (report.certificate, model.is_same(&again))
            }
            Self::Mlp(model) => {
                let prepared = model.prepare(data)?;
                let report = prepared.train(|step| watch(step, f64::NAN))?;
                let again = MlpModel::new(&prepared, &report);
                (report.certificate, model.is_same(&again))
            }
        };
        Ok(Verdict::new(certificate, Some(same), Vec::new()))
    }
}

impl Model {
    fn verify(
        &self,
        data: &Data,
        retrain: bool,
        watch: &mut dyn FnMut(Step, f64) -> ControlFlow<()>,
    ) -> Result<Verdict, ModelError> {
        self.extended()?;
        if let Some(why) = other_data(self, &data.as_given()?) {
            return Ok(Verdict::other_data(why));
        }
        let lesson = self.prepare(data.read(self.card.options.format)?, &StandardPrimaries);
        // A run that cannot be made on these data is not the one that the model is of.
        match lesson.and_then(|lesson| self.verify_lesson(&lesson, retrain, watch)) {
            Err(ModelError::Job(error)) => Ok(Verdict::other_data(error)),
            verdict => verdict,
        }
    }

    fn verify_lesson(
        &self,
        lesson: &PreparedTraining,
        retrain: bool,
        watch: &mut dyn FnMut(Step, f64) -> ControlFlow<()>,
    ) -> Result<Verdict, ModelError> {
        let mut retrained = None;
        if retrain {
            let report =
                lesson.follow(None, ObservationRate::Moments, |moment| watch(moment.step, moment.loss))?;
            retrained = Some(self.is_same(&Self::new(lesson, &report)));
        }
        let audit = audit(self, lesson)?;
        let not_checked = not_checked(&audit, self, retrain);
        Ok(Verdict::new(audit, retrained, not_checked))
    }
}

/// Why a table cannot be the one a model was trained on, by its size and its columns alone.
fn other_data(model: &Model, table: &Table) -> Option<String> {
    let (found, expected) = (table.n_samples(), model.card.n_samples);
    if found != expected {
        return Some(format!("the model was trained on {expected} samples, the data have {found}"));
    }
    let columns =
        |features: &[String], labels: &[String]| format!("{} to {}", features.join(", "), labels.join(", "));
    let trained_on = columns(&model.card.features, &model.card.labels);
    let given = columns(&table.feature_names, &table.label_names);
    (!model.fits(table))
        .then(|| format!("the model was trained on columns {trained_on}, the data have {given}"))
}

/// What an audit cannot find from a machine alone.
const NO_PROGRAM: &str = "program, no overflow: the model has only a machine, so it cannot be seen whether a program was compiled to it and whether numbers were too large";

/// Compares a model with the simulator's run; the training was prepared from the model's machine and the data.
///
/// The claims: `data`: these are the data it was trained on. `theta`: it is the machine's answer for them. `configuration`: the weights
/// stand for the machine's last configuration. `labels`: z holds them. `steps`: the counts are the machine's. `output`: the whole network
/// outputs f_theta(x), with the loss that is claimed. `certificate`: that of the run says that it was exact. `program`, if the model has
/// one: the machine is compiled from it, and the certificate says whether its numbers were too large for their types.
///
/// # Errors
/// If the machine has no answer for the data, or needs more cells than the model has.
pub fn audit(model: &Model, lesson: &PreparedTraining) -> Result<Certificate, JobError> {
    let simulated = lesson.simulated()?;
    let parameters = model.parameters(lesson).filter(|_| model.window() == *lesson.window());
    let checked = |check: &dyn Fn(&[SparseValues]) -> Claim| match &parameters {
        Some(parameters) => check(parameters),
        None => Claim::new(false, "the weights do not fit the network"),
    };
    let proved = model.card.certificate.proves_the_run();
    let claims = [
        ("data", data(model, lesson)),
        ("theta", theta(model, simulated)),
        ("configuration", checked(&|weights| configuration(lesson, simulated, weights))),
        ("labels", checked(&|weights| labels(lesson, weights))),
        ("steps", steps(model, lesson, simulated)),
        ("output", checked(&|weights| output(model, (lesson, simulated), weights))),
        ("certificate", Claim::new(proved, "as recorded when it was trained")),
    ];
    Ok(claims.into_iter().chain(program(model, lesson, simulated).map(|claim| ("program", claim))).collect())
}

/// What an audit takes from the model's word; more of it where the model was not trained again.
fn not_checked(audit: &Certificate, model: &Model, trained_again: bool) -> Vec<String> {
    let mut list: Vec<String> = unknown(audit).map(str::to_owned).into_iter().collect();
    if !trained_again {
        let derived = ["step_count", "labels_copied", "program"];
        let names = model.card.certificate.claims().into_iter().map(|(name, _)| name);
        let claims: Vec<String> =
            names.filter(|name| !derived.contains(name)).map(|name| name.replace('_', " ")).collect();
        list.extend([
            "whether every weight is the trained one bit for bit, beyond the configuration it stands for"
                .to_owned(),
            format!("the claims of the certificate: {}", claims.join(", ")),
            "B_stop".to_owned(),
        ]);
    }
    list
}

/// What an audit cannot verify. A program that was removed from the file leaves no trace in it, so this applies to every model without
/// one.
pub fn unknown(audit: &Certificate) -> Option<&'static str> {
    audit.get("program").is_none().then_some(NO_PROGRAM)
}

fn steps(model: &Model, lesson: &PreparedTraining, simulated: &Simulated) -> Claim {
    let (steps, machine) = (model.card.steps, model.card.machine_steps);
    let (makes, extra) = (simulated.machine_steps, lesson.extended().extra_steps());
    let figures = format!("claimed {steps} and {machine}, the machine makes {makes}");
    Claim::new(machine == makes && steps == machine + extra, figures)
}

fn data(model: &Model, lesson: &PreparedTraining) -> Claim {
    let found = data_digest(lesson.table());
    let prepared = lesson.table().preparation == model.card.preparation;
    let figures = if prepared { "" } else { "; the columns are prepared in another way" };
    Claim { holds: prepared && found == model.card.data_sha256, figures: format!("sha256 {found}{figures}") }
}

/// Runs the program in the interpreter, and compares the outcome with the machine's answer and with the claim `no_overflow`.
fn program(model: &Model, lesson: &PreparedTraining, simulated: &Simulated) -> Option<Claim> {
    let program = model.card.program.as_ref()?;
    let outcome = match program.interpret(&model.card, lesson.table(), simulated.machine_steps) {
        Ok(outcome) => outcome,
        Err(mismatch) => return Some(Claim::new(false, mismatch.to_string())),
    };
    let format = model.card.options.format;
    let translation = translation::claim(Some(&outcome), Some(&simulated.theta), format);
    if !translation.holds {
        return Some(translation);
    }
    let wraps = outcome.wraps;
    let count: u64 = wraps.iter().map(|wrap| wrap.count).sum();
    let lines: Vec<String> = wraps.iter().map(|wrap| wrap.line.to_string()).collect();
    let found = match count {
        0 => "no number was too large for its type".to_owned(),
        _ => format!("numbers were too large for their types {count} times, in lines {}", lines.join(", ")),
    };
    let holds = model.card.certificate.get("no_overflow").is_none() == (count == 0);
    let said = if holds { "as the certificate says" } else { "but the certificate says otherwise" };
    let same = translation.figures;
    Some(Claim { holds, figures: format!("compiles to the machine; {same}; {found}, {said}") })
}

fn theta(model: &Model, simulated: &Simulated) -> Claim {
    let expected = &simulated.theta;
    let same = model.theta.iter().zip(expected).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    let holds = same == expected.len() && model.theta.len() == expected.len();
    Claim::new(holds, format!("{same} of {} numbers bit for bit", expected.len()))
}

fn configuration(lesson: &PreparedTraining, simulated: &Simulated, parameters: &[SparseValues]) -> Claim {
    let mut simulator = lesson.simulator();
    let _ = simulator.run(simulated.machine_steps);
    let Some(expected) = lesson.window().configuration(&simulator) else {
        return Claim::new(false, "the run does not fit the network's cells");
    };
    let read_only = lesson.extended().read_only(&expected);
    let parameters: Vec<Values> = parameters.iter().map(SparseValues::to_values).collect();
    let found = lesson.extended().decode(&parameters, read_only.as_ref());
    match lesson.window().compare(&simulator, found) {
        Ok(()) => Claim::new(true, "the machine's last one"),
        Err(mismatch) => Claim::new(false, mismatch.to_string()),
    }
}

fn labels(lesson: &PreparedTraining, parameters: &[SparseValues]) -> Claim {
    let offset = lesson.extended().label_offset();
    let copied = parameters[lesson.extended().labels().index()].to_values().data;
    let labels = &lesson.table().labels.data;
    let same = copied.iter().zip(labels).filter(|(z, y)| z.to_bits() == (*y - offset).to_bits()).count();
    Claim { holds: same == labels.len(), figures: format!("{same} of {} bit for bit", labels.len()) }
}

fn output(
    model: &Model,
    (lesson, simulated): (&PreparedTraining, &Simulated),
    parameters: &[SparseValues],
) -> Claim {
    let network = lesson.extended().network();
    let nodes = [lesson.extended().nodes().out, network.loss()];
    let end = evaluate_some(network, parameters, &lesson.inputs(), &nodes);
    let predictor = Predictor::new(lesson.primary(), simulated.theta.clone());
    let predicted = predictor.predict(&lesson.table().features);
    let same = end[0].data.iter().zip(&predicted.data).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    let (claimed, found) = (model.card.train_loss, end[1].data[0]);
    let n = predicted.data.len();
    let figures = format!("{same} of {n} outputs bit for bit, loss {found}, claimed {claimed}");
    Claim::new(same == n && claimed.to_bits() == found.to_bits(), figures)
}
