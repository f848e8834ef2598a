//! Certifies a training run.

use luge_landscape::{BitConversion, LandscapeKind, final_loss};
use luge_net::{Shape, SparseValues, Values, evaluate_some};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Uniform};

use super::{PreparedTraining, Simulated, loss_figures::LossFigures};
use crate::{
    certificate::{
        Certificate, Claim, gradient::GradientCheck, no_gradient, no_overflow, paper_bounds::SizeClaim,
        same_bits, translation,
    },
    run::{
        follow::FinishedRun,
        run_stats::{FirstMismatch, RunStats},
    },
};

/// The number of new inputs on which F and f_theta are compared, rounded up to whole batches.
const N_NEW: usize = 200;

/// Certifies a run.
pub(super) fn certify(
    prepared: &PreparedTraining,
    run: &FinishedRun<'_>,
    gradient: &GradientCheck,
    (output, tapes_read): (Claim, bool),
) -> Certificate {
    let (layers, units) = sizes(prepared);
    let extended = prepared.extended();
    let own = |id| id == extended.nodes.theta || extended.is_primary(id);
    let FinishedRun { outcome, record, .. } = run;
    let simulated = simulated(prepared, run);
    let mut certificate: Certificate = [
        ("trace", trace(record, run.path)),
        ("gradient", Claim::new(gradient.holds(), gradient.figures())),
        ("step_count", step_count(prepared, *outcome, simulated)),
        ("labels_copied", labels_copied(prepared, record, gradient, tapes_read)),
        ("loss_bounds", loss_bounds(prepared, record)),
        ("output_equals_primary", output),
        ("no_gradient_through_primary", no_gradient(extended.network(), own, "theta and f_theta")),
        ("layers", layers),
        ("units", units),
    ]
    .into_iter()
    .collect();
    if let (Some(simulated), Some(interpreted)) = (simulated, prepared.interpreted()) {
        let claim = translation::claim(interpreted, Some(&simulated.theta), prepared.layout().format);
        certificate.set("program", Some(claim));
    }
    certificate.set("no_overflow", no_overflow(prepared.wraps()));
    certificate
}

/// Returns the simulator's run if the machine has stopped.
pub(super) fn simulated<'l>(prepared: &'l PreparedTraining, run: &FinishedRun<'_>) -> Option<&'l Simulated> {
    run.machine_steps().and_then(|_| prepared.simulated().ok())
}

fn trace(record: &RunStats, path: u64) -> Claim {
    let (n, bad) = (record.n_compared, record.mismatches);
    let figures = match &record.first_mismatch {
        None => format!("{n} iterates, 0 mismatches; path {path:016x}"),
        Some(FirstMismatch { step, why }) => {
            format!("{n} iterates, {bad} mismatches, the first at step {step}: {why}")
        }
    };
    Claim::new(bad == 0, figures)
}

fn step_count(
    prepared: &PreparedTraining,
    outcome: luge_train::Outcome,
    simulated: Option<&Simulated>,
) -> Claim {
    let extra = prepared.extended().extra_steps();
    let unfinished = match outcome {
        luge_train::Outcome::Converged { .. } => "",
        _ => ", without reaching the stopping level",
    };
    let (holds, machine) = match simulated {
        Some(&Simulated { machine_steps, .. }) => {
            let expected = luge_train::Outcome::Converged { steps: machine_steps + extra };
            (outcome == expected, format!("{machine_steps} machine steps + {extra}"))
        }
        None => (false, "the machine has not halted by then".to_owned()),
    };
    Claim { holds, figures: format!("{} gradient steps{unfinished}, {machine}", outcome.steps()) }
}

fn labels_copied(
    prepared: &PreparedTraining,
    record: &RunStats,
    gradient: &GradientCheck,
    tapes_read: bool,
) -> Claim {
    let n = prepared.table().labels.data.len();
    let internal = prepared.extended().kind() == LandscapeKind::Internal;
    let read = record.tape_read && tapes_read;
    let tape = match (internal, read) {
        (true, _) => "the start vertex leads to their configuration",
        (_, true) => "the read-only tape holds their bits",
        (_, false) => "the read-only tape does not hold their bits",
    };
    let every = match (record.labels_copied, gradient.seen) {
        (false, _) => "not at every step from 1 on",
        (true, Some(_)) if !gradient.holds() => "compared; that the gradient leaves them alone is not shown",
        (true, Some(_)) => "from step 1 on: the first step copies them, and no situation has a gradient on z",
        (true, None) => "at every step from 1 on",
    };
    let confined = prepared.inputs_are_confined();
    let reach = match (&confined, internal) {
        (Ok(()), false) => {
            "y reaches the loss's residual alone, x the read-only tape and f_theta alone".to_owned()
        }
        (Ok(()), true) => "y reaches the loss's residual alone".to_owned(),
        (Err(why), _) => format!("an input goes elsewhere: {why}"),
    };
    let (empty, blank) = prepared.starts_blank();
    let start = match (empty, blank) {
        (false, _) => "z is not 0 before step 0",
        (true, true) => "before step 0 z is 0 and every writable cell blank",
        (true, false) => "before step 0 z is 0",
    };
    let holds = record.labels_copied && read && confined.is_ok() && empty && gradient.holds();
    Claim::new(holds, format!("{n} labels {every}; {tape}; {reach}; {start}"))
}

fn loss_bounds(prepared: &PreparedTraining, record: &RunStats) -> Claim {
    let losses = LossFigures::new(record, &prepared.levels());
    let (mut holds, mut figures) = (losses.hold(), losses.to_string());
    if prepared.extended().kind() == LandscapeKind::Internal {
        holds &= !record.rose;
        figures.push_str(if record.rose { "; the loss rose" } else { "; never rising" });
    }
    let highest = final_loss(prepared.primary(), prepared.layout());
    if prepared.extended().bounds().stop < highest {
        let more = format!(
            "; other labels can end with losses up to {highest:.4e}, on which training need not stop"
        );
        figures.push_str(&more);
    }
    Claim { holds, figures }
}

/// The claim that the network with these parameters computes f_theta. `theta` and `out` are the primary network's weights in
/// it and its outputs on the training data.
pub(super) fn output_equals_primary(
    prepared: &PreparedTraining,
    parameters: &[SparseValues],
    (theta, out): (&[f64], &Values),
    simulated: Option<&Simulated>,
) -> Claim {
    let same_theta = simulated.is_some_and(|simulated| same_bits(theta, &simulated.theta));
    let predictor = prepared.predictor(simulated.map_or(theta, |simulated| &simulated.theta));
    let on_training = same_bits(&out.data, &predictor.predict(&prepared.table().features).data);
    let mut generator = ChaCha8Rng::seed_from_u64(0);
    let shape = prepared.table().features.shape;
    let n_batches = N_NEW.div_ceil(shape.rows);
    let (network, node) = (prepared.extended().network(), prepared.extended().nodes.out);
    let agrees = |x: &Values| {
        let inputs = [x.clone(), prepared.table().labels.clone()];
        let whole = evaluate_some(network, parameters, &inputs, &[node]);
        same_bits(&whole[0].data, &predictor.predict(x).data)
    };
    let fresh = (0..n_batches).map(|_| random_features(prepared, shape, &mut generator));
    let n_agreeing = fresh.filter(agrees).count();
    let theta = if same_theta { "bit for bit" } else { "differs" };
    let training = if on_training { "all" } else { "not all" };
    let (n_same, n_new) = (n_agreeing * shape.rows, n_batches * shape.rows);
    let figures = format!("theta {theta}, {training} training x, {n_same} of {n_new} new x");
    Claim::new(same_theta && on_training && n_agreeing == n_batches, figures)
}

fn random_features(prepared: &PreparedTraining, shape: Shape, generator: &mut ChaCha8Rng) -> Values {
    let format = prepared.layout().format;
    let Ok(uniform) = Uniform::new_inclusive(format.min(), format.max()) else {
        return Values::filled(shape, 0.0);
    };
    Values::new(shape, (0..shape.len()).map(|_| uniform.sample(generator)).collect())
}

/// The claims about layers and widths without the primary network. Each is about one arrangement in layers.
fn sizes(prepared: &PreparedTraining) -> (Claim, Claim) {
    let claim = prepared.size_claim();
    let SizeClaim { fewest_layers, narrowest, .. } = &claim;
    let conversion = match prepared.options().bits {
        BitConversion::Native => "bit conversion not counted",
        BitConversion::Network => "bit conversion counted",
    };
    let looked_at = claim
        .width_looked_at
        .map_or(String::new(), |width| format!("; with sum_q 2^|S(q)| for 2^d |Q|: {width}"));
    let width = match claim.width {
        Some(width) => format!("claimed {} = {width} with 4 n m", claim.formula),
        None => format!("{} exceeds 2^64 and bounds nothing", claim.formula),
    };
    let layers = format!(
        "{} layers, the widest then {} units; {conversion}, claimed at most {} layers",
        fewest_layers.layers, fewest_layers.widest, claim.layers
    );
    let units = format!(
        "widest layer {} units, in {} layers; {width}{looked_at}",
        narrowest.widest, narrowest.layers
    );
    (Claim::new(claim.layers_hold, layers), Claim::new(claim.width_holds, units))
}
