//! The losses of a conversion.

/// A difference between a written file and the machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Loss {
    /// The input is not in the file.
    #[error("the input is left out: {0}")]
    Input(String),
    /// Tapes are no longer marked read-only.
    #[error("{} no longer marked read-only", counted("tape", .0, "is", "are"))]
    ReadOnly(Vec<String>),
    /// Rejecting states become states without rules, in which the machine stops after the same number of steps.
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
    /// States that no rule enters are omitted.
    #[error("{} never entered and left out", counted("state", .0, "is", "are"))]
    States(Vec<String>),
    /// Symbols that no rule mentions are omitted.
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
    /// Rules that stay take two steps in the file: right and back.
    #[error("{}; in the file {} two steps, right and back", if *.0 == 1 { "1 rule stays".into() } else { format!("{} rules stay", .0) }, if *.0 == 1 { "it takes" } else { "they take" })]
    Stay(usize),
}

/// A noun, the first few names, and the verb in singular or plural.
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
