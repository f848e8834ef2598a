//! Verifies a model later: everything is derived again from the machine and the data with the simulator.

use luge_net::{SparseValues, Values, evaluate_some};

use crate::{
    certificate::translation,
    data::Table,
    files::{
        model::{Model, data_digest},
        predictor::Predictor,
    },
    run::lockstep::Lockstep,
    training::{Claim, PreparedTraining, Simulated, TrainingError},
};

/// Why a table cannot be the one a model was trained on, by its size and its columns alone.
pub fn other_data(model: &Model, table: &Table) -> Option<String> {
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

/// What cannot be found out from a machine alone.
const NO_PROGRAM: &str = "program, no overflow: the model has only a machine, so it cannot be seen whether a program was compiled to it and whether numbers were too large";

/// What a model claims, held against what the simulator says.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Audit {
    /// These are the data it was trained on.
    pub data: Claim,
    /// theta is the machine's answer for these data.
    pub theta: Claim,
    /// The weights stand for the machine's last configuration.
    pub configuration: Claim,
    /// z holds the labels.
    pub labels: Claim,
    /// The step counts are the machine's.
    pub steps: Claim,
    /// The whole network outputs f_theta(x), with the loss that is claimed.
    pub output: Claim,
    /// The certificate of the run says that it was exact.
    pub certificate: Claim,
    /// The machine is compiled from the program, and the certificate says whether its numbers were too large for their
    /// types; `None` if the model does not have the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Claim>,
}

impl Audit {
    /// Compares a model with training prepared from its own machine and the data.
    ///
    /// # Errors
    /// If the machine has no answer for the data, or needs more cells than the model has.
    pub fn of(model: &Model, lesson: &PreparedTraining) -> Result<Self, TrainingError> {
        let simulated = lesson.simulated()?;
        let parameters = model.parameters(lesson).filter(|_| model.window() == *lesson.window());
        let missing = || Claim { holds: false, figures: "the weights do not fit the network".to_owned() };
        let truth = Truth { lesson, simulated };
        let held = |check: fn(&Model, &Truth<'_>, &[SparseValues]) -> Claim| {
            parameters.as_ref().map_or_else(missing, |parameters| check(model, &truth, parameters))
        };
        let extra = lesson.extended().extra_steps();
        let (steps, machine) = (model.card.steps, model.card.machine_steps);
        let makes = simulated.machine_steps;
        Ok(Self {
            data: data(model, lesson),
            theta: theta(model, simulated),
            configuration: held(configuration),
            labels: held(labels),
            steps: Claim {
                holds: machine == makes && steps == machine + extra,
                figures: format!("claimed {steps} and {machine}, the machine makes {makes}"),
            },
            output: held(output),
            certificate: Claim {
                holds: model.card.certificate.proves_the_run(),
                figures: "as recorded when it was trained".to_owned(),
            },
            program: program(model, &truth),
        })
    }

    /// All claims with their names.
    pub fn claims(&self) -> Vec<(&'static str, &Claim)> {
        let always = [
            ("data", &self.data),
            ("theta", &self.theta),
            ("configuration", &self.configuration),
            ("labels", &self.labels),
            ("steps", &self.steps),
            ("output", &self.output),
            ("certificate", &self.certificate),
        ];
        always.into_iter().chain(self.program.as_ref().map(|claim| ("program", claim))).collect()
    }

    /// What was taken from the model's word; more of it where the model was not trained again.
    pub fn not_checked(&self, model: &Model, trained_again: bool) -> Vec<String> {
        let mut list = Vec::new();
        list.extend(self.unknown().map(str::to_owned));
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

    /// What cannot be verified about this model. A program that was removed from the file leaves no trace in it, so
    /// this applies to every model without one.
    pub fn unknown(&self) -> Option<&'static str> {
        self.program.is_none().then_some(NO_PROGRAM)
    }

    /// Whether the model is what it claims.
    pub fn holds(&self) -> bool {
        self.claims().iter().all(|(_, claim)| claim.holds)
    }
}

/// What a model is held to.
struct Truth<'a> {
    lesson: &'a PreparedTraining,
    simulated: &'a Simulated,
}

fn data(model: &Model, lesson: &PreparedTraining) -> Claim {
    let found = data_digest(lesson.table());
    let prepared = lesson.table().preparation == model.card.preparation;
    let figures = if prepared { "" } else { "; the columns are prepared in another way" };
    Claim { holds: prepared && found == model.card.data_sha256, figures: format!("sha256 {found}{figures}") }
}

/// Whether training again from the model's own machine and the data gives the very same model: every weight bit for
/// bit, every figure and every claim.
pub fn same_model(claimed: &Model, again: &Model) -> Claim {
    let mut differing: Vec<String> = Vec::new();
    let mut differ = |name: &str, differs: bool| {
        if differs {
            differing.push(name.to_owned());
        }
    };
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    differ("theta", bits(&claimed.theta) != bits(&again.theta));
    differ("a block of weights that is not there", claimed.weights.len() != again.weights.len());
    for (name, values) in &again.weights {
        let same = claimed.weights.iter().any(|(own, v)| own == name && v.same_bits(values));
        differ(name, !same);
    }
    let mut card = again.card.clone();
    card.program.clone_from(&claimed.card.program);
    if claimed.card.program.is_none() {
        // Without the program nothing can be found out about it or its numbers: what is said of them is taken over.
        card.certificate.program.clone_from(&claimed.card.certificate.program);
        card.certificate.no_overflow.clone_from(&claimed.card.certificate.no_overflow);
    }
    differ("certificate", claimed.card.certificate != card.certificate);
    differ("metadata", claimed.card != card);
    let figures = match &differing[..] {
        [] => "every weight, figure and claim again, bit for bit".to_owned(),
        names => format!("training again gives another: {}", names.join(", ")),
    };
    Claim { holds: differing.is_empty(), figures }
}

/// Runs the program again by the interpreter, and holds what the certificate says of its numbers to that.
fn program(model: &Model, truth: &Truth<'_>) -> Option<Claim> {
    let (table, machine_steps) = (truth.lesson.table(), truth.simulated.machine_steps);
    let outcome = match model.card.program.as_ref()?.interpret(&model.card, table, machine_steps) {
        Ok(outcome) => outcome,
        Err(mismatch) => return Some(Claim { holds: false, figures: mismatch.to_string() }),
    };
    let format = model.card.options.format;
    let translation = translation::claim(Some(&outcome), Some(&truth.simulated.theta), format);
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
    let holds = model.card.certificate.no_overflow.is_none() == (count == 0);
    let said = if holds { "as the certificate says" } else { "but the certificate says otherwise" };
    let same = translation.figures;
    Some(Claim { holds, figures: format!("compiles to the machine; {same}; {found}, {said}") })
}

fn theta(model: &Model, simulated: &Simulated) -> Claim {
    let expected = &simulated.theta;
    let same = model.theta.iter().zip(expected).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    Claim {
        holds: same == expected.len() && model.theta.len() == expected.len(),
        figures: format!("{same} of {} numbers bit for bit", expected.len()),
    }
}

fn configuration(_: &Model, truth: &Truth<'_>, parameters: &[SparseValues]) -> Claim {
    let lesson = truth.lesson;
    let Some(mut lockstep) = lesson.lockstep() else {
        return Claim { holds: false, figures: "the run does not fit the network's cells".to_owned() };
    };
    (0..truth.simulated.machine_steps).for_each(|_| Lockstep::step(&mut lockstep));
    let read_only = lesson.extended().read_only(lockstep.expected());
    let parameters: Vec<Values> = parameters.iter().map(SparseValues::to_values).collect();
    let found = lesson.extended().decode(&parameters, read_only.as_ref());
    match lockstep.compare(found) {
        Ok(()) => Claim { holds: true, figures: "the machine's last one".to_owned() },
        Err(mismatch) => Claim { holds: false, figures: mismatch.to_string() },
    }
}

fn labels(_: &Model, truth: &Truth<'_>, parameters: &[SparseValues]) -> Claim {
    let lesson = truth.lesson;
    let offset = lesson.extended().label_offset();
    let copied = parameters[lesson.extended().labels().index()].to_values().data;
    let labels = &lesson.table().labels.data;
    let same = copied.iter().zip(labels).filter(|(z, y)| z.to_bits() == (*y - offset).to_bits()).count();
    Claim { holds: same == labels.len(), figures: format!("{same} of {} bit for bit", labels.len()) }
}

fn output(model: &Model, truth: &Truth<'_>, parameters: &[SparseValues]) -> Claim {
    let lesson = truth.lesson;
    let network = lesson.extended().network();
    let nodes = [lesson.extended().nodes().out, network.loss()];
    let end = evaluate_some(network, parameters, &lesson.inputs(), &nodes);
    let predictor = Predictor::new(lesson.primary(), truth.simulated.theta.clone());
    let predicted = predictor.predict(&lesson.table().features);
    let same = end[0].data.iter().zip(&predicted.data).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    let (claimed, found) = (model.card.train_loss, end[1].data[0]);
    Claim {
        holds: same == predicted.data.len() && claimed.to_bits() == found.to_bits(),
        figures: format!(
            "{same} of {} outputs bit for bit, loss {found}, claimed {claimed}",
            predicted.data.len()
        ),
    }
}
