//! Conversions that lose something and say what.
//!
//! A machine that a format refuses is changed step by step into one that it can say. Every change is a [`Loss`] with the price in
//! plain words. What no change can mend, such as a second tape in a format with one, stays refused.

mod remedies;

use super::{Format, Inexpressible, Obstacle, Written};
use crate::{Input, Machine};

/// How a written file differs from the machine, or what it leaves out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Loss {
    /// The input is not in the file.
    #[error("the input is left out: {0}")]
    Input(String),
    /// Tapes lose the mark that no rule may write to them.
    #[error("{} no longer marked read-only", counted("tape", .0, "is", "are"))]
    ReadOnly(Vec<String>),
    /// States that halt without accepting become states without rules, where the machine stops after as many steps.
    #[error(
        "{} without accepting; in the file the machine stops there because no rule applies",
        counted("state", .0, "halts", "halt")
    )]
    Rejecting(Vec<String>),
    /// Without a rule the machine halts, but in the file that is a rejection.
    #[error("where no rule applies the machine halts; in the file it rejects there")]
    MissingRejects,
    /// Without a rule the machine rejects, but in the file it halts without accepting.
    #[error("where no rule applies the machine rejects; in the file it halts there without accepting")]
    MissingHalts,
    /// Without a rule the machine stops at once, but in the file that takes a step.
    #[error(
        "where no rule applies the machine stops at once; in the file it takes one more step, into `halt-no-rule`"
    )]
    MissingSteps,
    /// The machine accepts without a step, but in the file it halts without accepting.
    #[error("the start state `{0}` accepts; in the file it halts without accepting")]
    StartAccepts(String),
    /// The machine halts without a step, but in the file it takes one.
    #[error("the start state `{0}` halts at once; in the file one step leads into it")]
    StartSteps(String),
    /// States that no rule enters are left out.
    #[error("{} never entered and left out", counted("state", .0, "is", "are"))]
    States(Vec<String>),
    /// Symbols that no rule mentions are left out.
    #[error("{} in no rule and left out of tape `{tape}`", counted("symbol", symbols, "is", "are"))]
    Symbols {
        /// The tape's name.
        tape: String,
        /// The symbols' names.
        symbols: Vec<String>,
    },
    /// A symbol has another name in the file.
    #[error("symbol `{from}` of tape `{tape}` is written `{to}`")]
    SymbolRenamed {
        /// The tape's name.
        tape: String,
        /// Its name in the machine.
        from: String,
        /// Its name in the file.
        to: String,
    },
    /// A state has another name in the file.
    #[error("state `{from}` is called `{to}`")]
    StateRenamed {
        /// Its name in the machine.
        from: String,
        /// Its name in the file.
        to: String,
    },
    /// Rules that stay where they are take two steps in the file: right, and back.
    #[error("{}; in the file {} two steps, right and back", if *.0 == 1 { "1 rule stays".into() } else { format!("{} rules stay", .0) }, if *.0 == 1 { "it takes" } else { "they take" })]
    Stay(usize),
}

/// More rounds than there are kinds of refusals: every round mends one kind for good.
const MAX_ROUNDS: usize = 24;

/// Writes a machine, with the changes that the format needs.
pub(super) fn write(
    format: Format,
    machine: &Machine,
    mut input: Option<&Input>,
    saved: bool,
) -> Result<Written, Inexpressible> {
    let mut machine = machine.clone();
    let mut lost = Vec::new();
    for round in 0..MAX_ROUNDS {
        let refusal = match format.write_as(&machine, input, saved) {
            Ok(text) => return Ok(Written { text, lost }),
            Err(refusal) => refusal,
        };
        if let Obstacle::Input(reason) = &refusal.obstacle {
            lost.push(Loss::Input(reason.clone()));
            input = None;
            continue;
        }
        if round == 0 {
            remedies::without_dead_rules(&mut machine);
        }
        let losses = remedies::apply(&refusal, &mut machine);
        if losses.is_empty() {
            return Err(refusal);
        }
        lost.extend(losses);
    }
    format.write_as(&machine, input, saved).map(|text| Written { text, lost })
}

/// The names after their noun, the first few of them, and the verb that goes with their number.
fn counted(noun: &str, names: &[String], one: &str, many: &str) -> String {
    const MAX_LISTED: usize = 8;
    let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let (plural, verb) = if names.len() == 1 { ("", one) } else { ("s", many) };
    format!("{noun}{plural} {}{more} {verb}", listed.join(", "))
}
