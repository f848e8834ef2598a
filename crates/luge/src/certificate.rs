//! Certificates: what a run must prove, recomputed steps, the paper's bounds, and the answer in words.

pub mod answer;
pub mod gradient;
pub mod paper_bounds;
#[doc(hidden)]
pub mod translation;

use luge_sled::OverflowSite;
use serde::{Deserialize, Serialize};

/// One claim: whether it holds, and the figures that show it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Whether the claim holds.
    pub holds: bool,
    /// What was counted or compared.
    pub figures: String,
}

/// The claims of docs/construction.md, sections 5b and 7, about one run on a table or a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// Every iterate decodes to the machine's configuration at that step.
    pub trace: Claim,
    /// The network was differentiated in the situations that the run met, and every weight agreed.
    pub gradient: Claim,
    /// On streams: every step led every weight as far on its way as its batch's label says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Claim>,
    /// Gradient steps are machine steps; on tables one more, on `internal` two more.
    pub step_count: Claim,
    /// z is y from step 1 on; on streams it is what was taken, and the memory holds it.
    pub labels_copied: Claim,
    /// The loss lies where the construction says; on `internal` it also never rises.
    pub loss_bounds: Claim,
    /// theta is the machine's answer and F(x) = f_theta(x), bit for bit, on training and on new x.
    pub output_equals_primary: Claim,
    /// No gradient flows through f_theta.
    pub no_gradient_through_primary: Claim,
    /// On streams: after the end no batch moves a weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Claim>,
    /// At most 12 layers beside the primary network. The paper claims nothing of networks for streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Claim>,
    /// No layer wider than the corollary says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Claim>,
    /// theta is what the interpreter computes, bit for bit; `None` if the learner is a machine, or did not halt on its stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Claim>,
    /// Only where it does not hold: no number of the learner's program was too large for its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_overflow: Option<Claim>,
}

impl Certificate {
    /// Whether training did what it should: every claim but the paper's about sizes and the one about the program, which
    /// does what it does also where its numbers wrap around.
    #[must_use]
    pub fn proves_the_run(&self) -> bool {
        self.claims()
            .iter()
            .filter(|(name, _)| !matches!(*name, "layers" | "units" | "no_overflow"))
            .all(|(_, claim)| claim.holds)
    }

    /// All claims with their names.
    #[must_use]
    pub fn claims(&self) -> Vec<(&'static str, &Claim)> {
        let all = [
            ("trace", Some(&self.trace)),
            ("gradient", Some(&self.gradient)),
            ("gain", self.gain.as_ref()),
            ("step_count", Some(&self.step_count)),
            ("labels_copied", Some(&self.labels_copied)),
            ("loss_bounds", Some(&self.loss_bounds)),
            ("output_equals_primary", Some(&self.output_equals_primary)),
            ("no_gradient_through_primary", Some(&self.no_gradient_through_primary)),
            ("at_rest", self.at_rest.as_ref()),
            ("layers", self.layers.as_ref()),
            ("units", self.units.as_ref()),
            ("program", self.program.as_ref()),
            ("no_overflow", self.no_overflow.as_ref()),
        ];
        all.into_iter().filter_map(|(name, claim)| Some((name, claim?))).collect()
    }
}

/// What there is to say if the answer came after numbers that wrapped around.
pub fn no_overflow(wraps: &[OverflowSite]) -> Option<Claim> {
    if wraps.is_empty() {
        return None;
    }
    let count: u64 = wraps.iter().map(|wrap| wrap.count).sum();
    let numbers = if count == 1 { "1 number was".to_owned() } else { format!("{count} numbers were") };
    let lines: Vec<String> = wraps.iter().map(|wrap| wrap.line.to_string()).collect();
    let place = if lines.len() == 1 { "line" } else { "lines" };
    let figures = format!(
        "{numbers} too large for their types and wrapped around before the answer, in {place} {} of the program",
        lines.join(", ")
    );
    Some(Claim { holds: false, figures })
}
