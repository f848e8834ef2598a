//! Estimates the length of a run: the interpreter counts the statements of a program, and the first steps of its
//! machine tell how many steps a statement takes. The sample under the head on the data tells how far the machine
//! is.

use luge_machine::{Simulator, Step};
use luge_sled::Verdict;

use crate::{job::TrainJob, training::PreparedTraining};

/// Machine steps from which the length of the others is told.
const FIRST_STEPS: Step = 1 << 20;
/// Samples that must be looked at among them; otherwise more steps are made.
const FEWEST_SAMPLES: u64 = 8;
/// The most steps that are made.
const MAX_STEPS: Step = 1 << 26;

/// About how many steps the machine of a program makes on its data; `None` if the learner is no program, does not look at its data soon, or
/// does not come to its end within so many statements.
pub fn machine_steps(job: &TrainJob, lesson: &PreparedTraining, statements: u64) -> Option<Step> {
    let interpret = |limit| job.interpret(lesson.table(), limit).ok().flatten();
    let whole = interpret(statements).filter(|outcome| outcome.verdict == Verdict::Accepted)?;
    let (steps, samples) = match first_samples(lesson) {
        First::All(steps) => return Some(steps),
        First::Samples(_, 0) => return None,
        First::Samples(steps, samples) => (steps, samples.min(whole.samples)),
    };
    // The fewest statements that come to so many samples.
    let reached = |limit: u64| interpret(limit).is_some_and(|outcome| outcome.samples >= samples);
    let enough = std::iter::successors(Some(1_u64), |limit| limit.checked_mul(2))
        .take_while(|&limit| limit < 2 * whole.statements)
        .find(|&limit| reached(limit))?;
    let (mut low, mut high) = (enough / 2, enough);
    while high - low > enough / 64 + 1 {
        let middle = low.midpoint(high);
        if reached(middle) { high = middle } else { low = middle }
    }
    Some((steps as f64 * whole.statements as f64 / high as f64) as Step)
}

/// The first steps of a run.
enum First {
    /// There are no others.
    All(Step),
    /// So many steps, and the samples that were looked at in them.
    Samples(Step, u64),
}

fn first_samples(lesson: &PreparedTraining) -> First {
    let (layout, track) = (lesson.layout(), lesson.learner().data_track());
    let cells = ((layout.n_features + layout.n_labels) * layout.width()) as i64;
    let n_samples = layout.n_samples as i64;
    let mut simulator = lesson.simulator();
    // The marker comes first.
    let sample = |simulator: &Simulator<'_>| (simulator.head(track) - 1).div_euclid(cells.max(1));
    let (mut last, mut begun, mut at) = (-1, 0_u64, 0);
    while simulator.steps() < FIRST_STEPS || begun < FEWEST_SAMPLES {
        if simulator.step().is_err() {
            return First::All(simulator.steps());
        }
        if simulator.steps() >= MAX_STEPS {
            break;
        }
        let here = sample(&simulator);
        // Samples follow one another, and after the last comes the first; heads that go back for a moment have begun none.
        let next = here == last + 1 || here == 0 && last > 0;
        if next && here < n_samples {
            (last, begun, at) = (here, begun + 1, simulator.steps());
        }
    }
    First::Samples(at, begun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::source::Source;

    #[test]
    fn programs_take_about_as_long_as_is_told() {
        for name in ["perceptron", "sgd_linear", "logistic_regression", "k_means", "evolution", "ridge"] {
            let job = TrainJob::of(Source::open(name).expect("a learner")).expect("its data");
            let lesson = job.prepare().expect("a lesson");
            let told = machine_steps(&job, &lesson, u64::MAX).expect("a program that ends");
            let made = lesson.simulated().expect("an answer").machine_steps;
            let ratio = told as f64 / made as f64;
            // Statements at the beginning may be cheaper than others.
            assert!((0.33..3.0).contains(&ratio), "{name}: {told} told, {made} made");
        }
    }

    #[test]
    fn nothing_is_told_of_programs_that_do_not_end() {
        let job = TrainJob::of(Source::open("perceptron").expect("a learner")).expect("its data");
        let lesson = job.prepare().expect("a lesson");
        assert_eq!(machine_steps(&job, &lesson, 100), None);
    }
}
