//! Expands wildcards, for programs that do not support them.

use std::collections::BTreeMap;

use crate::{Machine, Pattern, Rule, State, StateKind, SymbolId};

/// Why wildcards were not expanded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "without wildcards the machine needs at least {at_least} rules, but at most {most_rules} are allowed"
)]
pub struct TooManyRules {
    /// A lower bound on the number of rules.
    pub at_least: usize,
    /// The limit.
    pub most_rules: usize,
}

/// The same machine with one rule per combination of symbols that has a rule, the last tape varying fastest.
///
/// # Errors
/// If there would be more than `most_rules` rules; this is detected before they are created.
pub fn expand_wildcards(machine: &Machine, most_rules: usize) -> Result<Machine, TooManyRules> {
    let mut expanded = machine.clone();
    let mut n_rules = 0;
    for State { kind, .. } in &mut expanded.states {
        let StateKind::Running(rules) = kind else { continue };
        *rules = expand_state(machine, rules, n_rules, most_rules)?;
        n_rules += rules.len();
    }
    Ok(expanded)
}

/// The rules of one state, given that the states before it have `n_before` rules.
fn expand_state(
    machine: &Machine,
    rules: &[Rule],
    n_before: usize,
    most_rules: usize,
) -> Result<Vec<Rule>, TooManyRules> {
    let within_limit = |n_here: usize| match n_before.saturating_add(n_here) {
        at_least if at_least > most_rules => Err(TooManyRules { at_least, most_rules }),
        _ => Ok(()),
    };
    let mut by_reads = BTreeMap::new();
    for rule in rules {
        // Every combination that a rule matches has a rule, this one or an earlier one.
        within_limit(machine.n_situations(&rule.reads))?;
        for reads in machine.situations(&rule.reads) {
            by_reads.entry(reads).or_insert(rule);
        }
        within_limit(by_reads.len())?;
    }
    let exact = |(reads, rule): (Vec<SymbolId>, &Rule)| Rule {
        reads: reads.into_iter().map(Pattern::Is).collect(),
        ..rule.clone()
    };
    Ok(by_reads.into_iter().map(exact).collect())
}
