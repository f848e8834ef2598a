//! The answer of a run in words: what was learned, how well it fits, and what was certified. Terminal, lab, reports and
//! notebooks show it.

use luge_net::Values;
use serde::Serialize;

use crate::{
    certificate::{Certificate, Claim, decides, meaning},
    data::Table,
    draw::plot::{grouped, numeral},
    files::predictor::Predictor,
    trace::{PreparedTrace, Trace},
    training::{PreparedTraining, TrainingReport},
};

/// The result of a run in words.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// What was learned, if the machine learns.
    pub learned: Option<Learned>,
    /// Whether the run is proved.
    pub certified: bool,
    /// Whether the run is proved, in words.
    pub verdict: String,
    /// The claims.
    pub claims: Vec<AnswerClaim>,
}

/// One claim of a certificate, and what it means.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AnswerClaim {
    /// Its name.
    pub name: String,
    /// What it means if it holds.
    pub meaning: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// Whether the run is proved only if it holds.
    pub decides: bool,
    /// What was counted or compared.
    pub figures: String,
}

impl AnswerClaim {
    fn new(name: &str, Claim { holds, figures }: Claim, decides: bool) -> Self {
        Self { name: name.replace('_', " "), meaning: meaning(name), holds, decides, figures }
    }
}

/// What was learned.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Learned {
    /// A linear model as a formula in the columns' names; for other networks the weights.
    pub formula: String,
    /// Every weight with its name.
    pub weights: Vec<(String, f64)>,
    /// Rows of the table.
    pub rows: usize,
    /// The network before training.
    pub before: Fit,
    /// The network after training.
    pub after: Fit,
    /// Why the loss is large, if that is surprising.
    pub remark: Option<&'static str>,
}

/// How well outputs fit the labels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Fit {
    /// Rows whose class is predicted correctly, if the labels are classes.
    pub right: Option<usize>,
    /// 1/2 |F(x) - y|^2.
    pub loss: f64,
    /// The root of the mean squared error.
    pub error: f64,
}

impl Fit {
    /// Compares outputs with the labels of a table.
    pub fn of(outputs: &Values, table: &Table) -> Self {
        let labels = &table.labels;
        let squares: f64 = outputs.data.iter().zip(&labels.data).map(|(out, y)| (out - y) * (out - y)).sum();
        let n = labels.data.len().max(1) as f64;
        Self { right: table.right_rows(outputs), loss: squares / 2.0, error: (squares / n).sqrt() }
    }
}

impl Learned {
    /// Describes learned weights, on the data from which they were learned.
    pub fn of(prepared: &PreparedTraining, theta: &[f64]) -> Self {
        let table = prepared.table();
        let fit = |theta: Vec<f64>| {
            Fit::of(&Predictor::new(prepared.primary(), theta).predict(&table.features), table)
        };
        let (before, after) = (fit(prepared.blank_theta()), fit(theta.to_vec()));
        Self {
            formula: formula(prepared, theta),
            weights: weight_names(prepared).into_iter().zip(theta.iter().copied()).collect(),
            rows: table.n_samples(),
            before,
            after,
            remark: remark(before, after, table.n_samples()),
        }
    }
}

impl Answer {
    /// Returns the answer of a training on a table.
    pub fn of_training(prepared: &PreparedTraining, report: &TrainingReport) -> Self {
        Self {
            learned: Some(Learned::of(prepared, &report.theta)),
            ..Self::of_certificate(&report.certificate)
        }
    }

    /// Returns a certificate in words.
    pub fn of_certificate(certificate: &Certificate) -> Self {
        let certified = certificate.proves_the_run();
        let claims = certificate.claims();
        let verdict = verdict_on(&claims, certified);
        let claims =
            claims.into_iter().map(|(name, claim)| AnswerClaim::new(name, claim.clone(), decides(name)));
        Self { learned: None, certified, verdict, claims: claims.collect() }
    }

    /// Returns the answer of a machine's trace.
    pub fn of_trace(plan: &PreparedTrace, trace: &Trace) -> Self {
        let same = match &trace.first_mismatch {
            None => format!("{} iterates, 0 mismatches", grouped(trace.n_compared)),
            Some(first) => format!("the first that differs is step {}: {}", grouped(first.step), first.why),
        };
        let steps = trace.outcome.steps();
        let machine = match trace.machine_steps {
            Some(machine) => format!("{} machine steps", grouped(machine)),
            None => "the machine has not halted".to_owned(),
        };
        let bounds = plan.landscape.bounds();
        let levels = format!(
            "{} to {}; running between {} and {}, halted at most {}",
            numeral(trace.loss.min),
            numeral(trace.loss.max),
            numeral(bounds.running_low),
            numeral(bounds.running_high),
            numeral(bounds.halted_high)
        );
        let ended = trace
            .machine_steps
            .is_none_or(|machine| trace.outcome == luge_train::Outcome::Converged { steps: machine });
        // With noise the iterates alone prove a run; the loss may leave its bounds.
        let noisy = plan.options.manner.noise.is_some();
        let claim = |name, holds, figures| {
            AnswerClaim::new(name, Claim { holds, figures }, name != "loss_bounds" || !noisy)
        };
        let claims = vec![
            claim("trace", trace.mismatches == 0, same),
            claim("gradient", trace.gradient.holds(), trace.gradient.figures()),
            claim("step_count", ended, format!("{} gradient steps, {machine}", grouped(steps))),
            claim("loss_bounds", trace.bounds_held, levels),
        ];
        let certified = if noisy { trace.decodes_to_machine() } else { trace.matches_machine() };
        let verdict = match (certified, trace.bounds_held) {
            (true, true) if trace.n_compared <= steps => {
                "yes: every iterate that was compared is the machine's"
            }
            (true, true) => "yes: every iterate is the machine's",
            (true, false) => "yes: every iterate is the machine's; the loss left its bounds",
            (false, false) if trace.decodes_to_machine() => "NO: the loss left its bounds",
            (false, _) => "NO: it is not the machine's run",
        };
        Self { learned: None, certified, verdict: verdict.to_owned(), claims }
    }
}

/// Says in words whether claims prove a run.
pub fn verdict_on(claims: &[(&str, &Claim)], proved: bool) -> String {
    match (&failed(claims)[..], proved) {
        ([], _) => format!("yes: all {} claims hold", claims.len()),
        (["no_overflow"], _) => "yes, but numbers of the program were too large for their types".to_owned(),
        (failed, true) => format!("yes: all claims but the paper's on {} hold", failed.join(" and ")),
        (failed, false) => format!("NO: {}", failed.join(", ")),
    }
}

/// Returns the names of the claims that do not hold.
pub fn failed<'a>(claims: &[(&'a str, &Claim)]) -> Vec<&'a str> {
    claims.iter().filter(|(_, claim)| !claim.holds).map(|(name, _)| *name).collect()
}

/// Whether the primary network is linear, with a bias and a weight per column for each label.
fn is_linear(prepared: &PreparedTraining) -> bool {
    let table = prepared.table();
    let n_weights = (table.feature_names.len() + 1) * table.label_names.len();
    prepared.primary().describe() == "linear" && prepared.primary().n_weights() == n_weights
}

fn formula(prepared: &PreparedTraining, theta: &[f64]) -> String {
    let table = prepared.table();
    let numbers: Vec<String> = theta.iter().map(ToString::to_string).collect();
    if !is_linear(prepared) || table.label_names.len() != 1 {
        return format!("theta {}", numbers.join(" "));
    }
    let terms = table.feature_names.iter().zip(&theta[1..]);
    let terms = terms.map(|(name, weight)| {
        let sign = if *weight < 0.0 { '-' } else { '+' };
        format!(" {sign} {} {name}", weight.abs())
    });
    format!("{} = {}{}", table.label_names[0], numbers[0], terms.collect::<String>())
}

/// Names each weight: by its column if the network is linear, otherwise by its index in theta.
fn weight_names(prepared: &PreparedTraining) -> Vec<String> {
    let table = prepared.table();
    let n_weights = prepared.primary().n_weights();
    if !is_linear(prepared) {
        return (0..n_weights).map(|i| format!("theta[{i}]")).collect();
    }
    let of = |label: &String| {
        let prefix = if table.label_names.len() == 1 { String::new() } else { format!("{label}: ") };
        let names = std::iter::once("bias").chain(table.feature_names.iter().map(String::as_str));
        names.map(move |name| format!("{prefix}{name}")).collect::<Vec<_>>()
    };
    table.label_names.iter().flat_map(of).collect()
}

fn remark(before: Fit, after: Fit, rows: usize) -> Option<&'static str> {
    let all_right = after.right == Some(rows);
    (all_right && after.loss > before.loss).then_some(
        "The squared loss is larger than before although every row is right: this learner asks which side of the \
         boundary a row lies on, not how far from it.",
    )
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use luge_net::Shape;

    use super::*;
    use crate::{
        job::{Job, catalogue},
        run::follow::ObservationRate,
    };

    fn answer(name: &str) -> Answer {
        match catalogue::find(name).expect("it ships").job() {
            Job::Train(job) => {
                let prepared = job.prepare().expect("a prepared");
                let report = prepared
                    .follow(None, ObservationRate::Moments, |_| ControlFlow::Continue(()))
                    .expect("training");
                Answer::of_training(&prepared, &report)
            }
            Job::Trace(job) => {
                let plan = job.prepare().expect("a plan");
                let trace = plan
                    .follow(None, ObservationRate::Moments, |_| ControlFlow::Continue(()))
                    .expect("a trace");
                Answer::of_trace(&plan, &trace)
            }
            Job::Stream(job) => panic!("{} ships for tables", job.source.name),
        }
    }

    #[test]
    fn a_classifier_is_judged_by_its_rows_and_its_loss_is_explained() {
        let answer = answer("perceptron");
        let learned = answer.learned.expect("a learner");
        assert_eq!((learned.before.right, learned.after.right), (Some(0), Some(150)));
        assert!(learned.after.loss > learned.before.loss && learned.remark.is_some());
        assert_eq!(learned.weights[1], ("sepal_length".to_owned(), 1.375));
        assert!(answer.certified && answer.claims.len() == 10);
        assert!(answer.claims.iter().all(|claim| claim.holds && !claim.meaning.is_empty()));
    }

    #[test]
    fn a_model_of_numbers_is_judged_by_its_error() {
        let learned = answer("least_squares_line").learned.expect("a learner");
        assert_eq!(learned.after.right, None);
        assert!(learned.after.error < learned.before.error && learned.remark.is_none());
    }

    #[test]
    fn a_machine_is_judged_by_its_run() {
        let answer = answer("bb4");
        assert!(answer.certified && answer.learned.is_none());
        assert!(answer.claims.iter().all(|claim| claim.holds && !claim.meaning.is_empty()));
        assert_eq!(answer.claims[2].figures, "107 gradient steps, 107 machine steps");
    }

    #[test]
    fn a_fit_counts_rows_and_errors() {
        let column = |data: &[f64]| Values::new(Shape::new(data.len(), 1), data.to_vec());
        let table = |y: &[f64]| {
            let name = |name: &str| vec![name.to_owned()];
            Table::new(name("x"), name("y"), vec![0.0; y.len()], y.to_vec())
        };
        let fit = Fit::of(&column(&[3.0, 0.0, -2.0]), &table(&[1.0, 1.0, -1.0]));
        assert_eq!((fit.right, fit.loss, fit.error), (Some(2), 3.0, 2.0_f64.sqrt()));
        let zeros = Fit::of(&column(&[0.5, 0.4, 0.7]), &table(&[1.0, 0.0, 1.0]));
        assert_eq!(zeros.right, Some(2), "a half is on neither side");
    }
}
