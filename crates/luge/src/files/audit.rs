//! Audits a model: runs the simulator on its machine and its data, and compares everything with the result.

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
    run::follow::{ObservationRate, RunProgress},
    stream::StreamModel,
    training::{PreparedTraining, Simulated},
};

/// Whether a model is what it claims to be.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Whether all claims hold that decide about the model.
    pub holds: bool,
    /// The claims that were checked.
    pub audit: Certificate,
    /// Whether training again gave the same model, if it was trained again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrained: Option<Claim>,
    /// What the model states and the audit did not check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<String>,
}

impl Verdict {
    fn new(audit: Certificate, retrained: Option<Claim>, not_checked: Vec<String>) -> Self {
        let holds = audit.proves_the_run() && retrained.as_ref().is_none_or(|claim| claim.holds);
        Self { holds, audit, retrained, not_checked }
    }

    /// The verdict if the data cannot be those of the training, so that nothing else can be checked.
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
    /// Verifies the model on the data that it was trained on; a model of drawn samples needs none. With `retrain` the
    /// network is also trained again; a model of a stream always is. `watch` sees steps and losses, NaN where a loss is
    /// unknown.
    ///
    /// # Errors
    /// If data are missing, cannot be read, or are not those of a stream's training, or the model is inconsistent.
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
                let report = prepared.train(|moment| watch(moment.step, moment.loss))?;
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
        let table = data.read(self.card.options.format)?;
        let verify = || {
            let prepared = self.prepare(table, &StandardPrimaries)?;
            let mut retrained = None;
            if retrain {
                let watch = |moment: RunProgress<'_>| watch(moment.step, moment.loss);
                let report = prepared.follow(None, ObservationRate::Moments, watch)?;
                retrained = Some(self.is_same(&Self::new(&prepared, &report)));
            }
            let audit = audit(self, &prepared)?;
            let not_checked = not_checked(&audit, self, retrain);
            Ok(Verdict::new(audit, retrained, not_checked))
        };
        // If the run fails on these data, the model is not of this run.
        match verify() {
            Err(ModelError::Job(error)) => Ok(Verdict::other_data(error)),
            verdict => verdict,
        }
    }
}

/// Returns why a table cannot be the one that a model was trained on, from its size and its columns alone.
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

/// What an audit cannot check if the model has only a machine.
const NO_PROGRAM: &str = "program, no overflow: the model has only a machine, so it cannot be seen whether a program was compiled to it and whether numbers were too large";

/// Compares a model with the simulator's run; the training was prepared from the model's machine and the data.
///
/// The claims:
/// - `data`: these are the data of the training.
/// - `theta`: it is the machine's answer for them.
/// - `configuration`: the weights encode the machine's last configuration.
/// - `labels`: z holds the labels.
/// - `steps`: the counts are the machine's.
/// - `output`: the whole network outputs f_theta(x), with the loss that the model states.
/// - `certificate`: the run's own certificate proves the run.
/// - `program`, if the model has one: it compiles to the machine, and the certificate says whether its numbers were too
///   large for their types.
///
/// # Errors
/// If the machine has no answer for the data, or needs more cells than the model has.
pub fn audit(model: &Model, prepared: &PreparedTraining) -> Result<Certificate, JobError> {
    let audit = Audit { model, prepared, simulated: prepared.simulated()? };
    let parameters = model.parameters(prepared).filter(|_| model.window() == *prepared.window());
    let checked = |check: &dyn Fn(&[SparseValues]) -> Claim| match &parameters {
        Some(parameters) => check(parameters),
        None => Claim::new(false, "the weights do not fit the network"),
    };
    let proved = model.card.certificate.proves_the_run();
    let claims = [
        ("data", audit.data()),
        ("theta", audit.theta()),
        ("configuration", checked(&|weights| audit.configuration(weights))),
        ("labels", checked(&|weights| audit.labels(weights))),
        ("steps", audit.steps()),
        ("output", checked(&|weights| audit.output(weights))),
        ("certificate", Claim::new(proved, "as recorded when it was trained")),
    ];
    Ok(claims.into_iter().chain(audit.program().map(|claim| ("program", claim))).collect())
}

/// Lists what an audit does not check, which is more if the model was not trained again.
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

/// Returns what an audit cannot check without a program. Nobody can tell whether a program was removed from the file, so
/// this applies to every model without one.
pub fn unknown(audit: &Certificate) -> Option<&'static str> {
    audit.get("program").is_none().then_some(NO_PROGRAM)
}

/// A model, its training prepared again, and the simulator's result.
struct Audit<'a> {
    model: &'a Model,
    prepared: &'a PreparedTraining,
    simulated: &'a Simulated,
}

impl Audit<'_> {
    fn steps(&self) -> Claim {
        let (steps, machine) = (self.model.card.steps, self.model.card.machine_steps);
        let (makes, extra) = (self.simulated.machine_steps, self.prepared.extended().extra_steps());
        let figures = format!("claimed {steps} and {machine}, the machine makes {makes}");
        Claim::new(machine == makes && steps == machine + extra, figures)
    }

    fn data(&self) -> Claim {
        let (table, card) = (self.prepared.table(), &self.model.card);
        let found = data_digest(table);
        let same_preparation = table.preparation == card.preparation;
        let remark = if same_preparation { "" } else { "; the columns are prepared in another way" };
        Claim::new(same_preparation && found == card.data_sha256, format!("sha256 {found}{remark}"))
    }

    /// Runs the program in the interpreter, and compares the outcome with the machine's answer and with the claim
    /// `no_overflow`.
    fn program(&self) -> Option<Claim> {
        let Self { model, prepared, simulated } = self;
        let program = model.card.program.as_ref()?;
        let outcome = match program.interpret(&model.card, prepared.table(), simulated.machine_steps) {
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
            _ => {
                format!("numbers were too large for their types {count} times, in lines {}", lines.join(", "))
            }
        };
        let holds = model.card.certificate.get("no_overflow").is_none() == (count == 0);
        let said = if holds { "as the certificate says" } else { "but the certificate says otherwise" };
        let same = translation.figures;
        Some(Claim { holds, figures: format!("compiles to the machine; {same}; {found}, {said}") })
    }

    fn theta(&self) -> Claim {
        let (found, n) = (&self.model.theta, self.simulated.theta.len());
        let same = n_same_bits(found, &self.simulated.theta);
        Claim::new(same == n && found.len() == n, format!("{same} of {n} numbers bit for bit"))
    }

    fn configuration(&self, parameters: &[SparseValues]) -> Claim {
        let (extended, window) = (self.prepared.extended(), self.prepared.window());
        let mut simulator = self.prepared.simulator();
        let _ = simulator.run(self.simulated.machine_steps);
        let Some(expected) = window.configuration(&simulator) else {
            return Claim::new(false, "the run does not fit the network's cells");
        };
        let parameters: Vec<Values> = parameters.iter().map(SparseValues::to_values).collect();
        let found = extended.decode(&parameters, extended.read_only(&expected).as_ref());
        match window.compare(&simulator, found) {
            Ok(()) => Claim::new(true, "the machine's last one"),
            Err(mismatch) => Claim::new(false, mismatch.to_string()),
        }
    }

    fn labels(&self, parameters: &[SparseValues]) -> Claim {
        let (extended, labels) = (self.prepared.extended(), &self.prepared.table().labels.data);
        let expected: Vec<f64> = labels.iter().map(|y| y - extended.label_offset).collect();
        let same = n_same_bits(&parameters[extended.labels.index()].to_values().data, &expected);
        Claim::new(same == labels.len(), format!("{same} of {} bit for bit", labels.len()))
    }

    fn output(&self, parameters: &[SparseValues]) -> Claim {
        let Self { model, prepared, simulated } = self;
        let network = prepared.extended().network();
        let nodes = [prepared.extended().nodes.out, network.loss()];
        let end = evaluate_some(network, parameters, &prepared.inputs(), &nodes);
        let predictor = Predictor::new(prepared.primary(), simulated.theta.clone());
        let predicted = predictor.predict(&prepared.table().features).data;
        let (same, n) = (n_same_bits(&end[0].data, &predicted), predicted.len());
        let (claimed, found) = (model.card.train_loss, end[1].data[0]);
        let figures = format!("{same} of {n} outputs bit for bit, loss {found}, claimed {claimed}");
        Claim::new(same == n && claimed.to_bits() == found.to_bits(), figures)
    }
}

/// Counts the numbers that are the same, bit for bit.
fn n_same_bits(a: &[f64], b: &[f64]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a.to_bits() == b.to_bits()).count()
}
