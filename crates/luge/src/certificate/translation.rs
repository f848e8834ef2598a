//! Translation validation: compares the answer of the compiled machine with the interpreter's.

use luge_net::{NumberFormat, faults::planted};
use luge_sled::{Outcome, Verdict};

use crate::{job::program, training::Claim};

/// Compares the machine's weights, `None` if it rejected its data, with the interpreter's outcome.
pub fn claim(interpreted: Option<&Outcome>, machine: Option<&[f64]>, format: NumberFormat) -> Claim {
    let line = |outcome: &Outcome| outcome.line.map_or(String::new(), |line| format!(" in line {line}"));
    let differs = match (interpreted.map(|outcome| (outcome.verdict, outcome)), machine) {
        (Some((Verdict::Accepted, outcome)), Some(theta)) => {
            let wrong = i64::from(planted("another theta by the interpreter"));
            let meant = outcome.theta.iter().map(|&raw| program::number(raw + wrong, format).to_bits());
            let same = meant.zip(theta).filter(|(meant, found)| *meant == found.to_bits()).count();
            let n = theta.len().max(outcome.theta.len());
            if same == n {
                let figures = format!("{n} of {n} weights of the machine as the interpreter computes them");
                return Claim::new(true, figures);
            }
            format!("{same} of {n} weights of the machine as the interpreter computes them")
        }
        (Some((Verdict::Rejected, _)), None) => {
            return Claim::new(true, "machine and interpreter reject the data");
        }
        (Some((Verdict::Accepted, _)), None) => {
            "the machine rejects the data, the interpreter comes to the program's end".to_owned()
        }
        (Some((Verdict::Rejected, outcome)), _) => {
            format!("the machine has an answer, the interpreter rejects the data{}", line(outcome))
        }
        (Some((Verdict::Limit | Verdict::Repeats, outcome)), _) => {
            format!("the machine halts, the interpreter does not in {} statements", outcome.statements)
        }
        (Some((Verdict::Waiting, outcome)), _) => {
            format!("the machine halts, the interpreter waits for another sample{}", line(outcome))
        }
        (None, _) => "the interpreter cannot run the program".to_owned(),
    };
    let figures =
        format!("{differs}: this is an error in luge, please report it with the program and its data");
    Claim::new(false, figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict, theta: Vec<i64>) -> Outcome {
        Outcome {
            verdict,
            theta,
            statements: 9,
            line: Some(3),
            taken: 0,
            samples: 0,
            wraps: Vec::new(),
            printed: Vec::new(),
        }
    }

    #[test]
    fn every_way_to_differ_is_a_failed_claim() {
        let format: NumberFormat = "fix:4.4".parse().expect("a format");
        let accepted = outcome(Verdict::Accepted, vec![24, -8]);
        assert!(claim(Some(&accepted), Some(&[1.5, -0.5]), format).holds);
        assert!(claim(Some(&outcome(Verdict::Rejected, Vec::new())), None, format).holds);
        for (interpreted, machine) in [
            (Some(&accepted), Some(&[1.5, 0.5][..])),
            (Some(&accepted), Some(&[1.5][..])),
            (Some(&accepted), None),
            (Some(&outcome(Verdict::Rejected, vec![24, -8])), Some(&[1.5, -0.5][..])),
            (Some(&outcome(Verdict::Limit, vec![24, -8])), Some(&[1.5, -0.5][..])),
            (Some(&outcome(Verdict::Waiting, vec![24, -8])), Some(&[1.5, -0.5][..])),
            (None, Some(&[1.5, -0.5][..])),
        ] {
            let claim = claim(interpreted, machine, format);
            assert!(!claim.holds && claim.figures.contains("please report it"), "{}", claim.figures);
        }
    }
}
