//! Expands rules for formats without wildcards or without an order of rules.

use std::collections::HashSet;

use crate::{Machine, Pattern, Rule, StateId, SymbolId, Write};

/// The most rules of a machine after expansion.
pub(super) const MAX_RULES: usize = 65_536;

/// An expanded machine would have more than [`MAX_RULES`] rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooMany;

/// Expands the rules of a state to one rule per combination of symbols, in the order of the original rules.
pub(super) fn exact_rules(machine: &Machine, state: StateId) -> Result<Vec<Rule>, TooMany> {
    let mut exact = Vec::new();
    for_each_situation(machine, state, |_, rule, reads| {
        let writes = rule.writes.iter().zip(&reads).map(|(write, &read)| Write::Put(write.over(read)));
        exact.push(Rule {
            writes: writes.collect(),
            reads: reads.into_iter().map(Pattern::Is).collect(),
            ..rule.clone()
        });
    })?;
    Ok(exact)
}

/// For each rule of a state, whether it can apply. The others are covered by earlier rules.
pub(super) fn live_rules(machine: &Machine, state: StateId) -> Result<Vec<bool>, TooMany> {
    let mut live = vec![false; machine.rules(state).len()];
    for_each_situation(machine, state, |index, _, _| live[index] = true)?;
    Ok(live)
}

/// Calls `visit` with every combination of symbols for which there is a rule, and with the rule that applies.
fn for_each_situation(
    machine: &Machine,
    state: StateId,
    mut visit: impl FnMut(usize, &Rule, Vec<SymbolId>),
) -> Result<(), TooMany> {
    let mut seen: HashSet<Vec<SymbolId>> = HashSet::new();
    let mut n_situations = 0_usize;
    for (index, rule) in machine.rules(state).iter().enumerate() {
        n_situations = n_situations.saturating_add(machine.n_situations(&rule.reads));
        if n_situations > MAX_RULES {
            return Err(TooMany);
        }
        for reads in machine.situations(&rule.reads) {
            if seen.insert(reads.clone()) {
                visit(index, rule, reads);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alphabet, Move};

    #[test]
    fn earlier_rule_takes_its_situations_first() {
        let mut b = Machine::builder();
        b.tape("a", Alphabet::binary());
        b.tape("b", Alphabet::binary());
        let q = b.state("q");
        let [zero, one] = [SymbolId(0), SymbolId(1)];
        b.rule(
            q,
            [Pattern::Any, Pattern::Is(one)],
            [Write::Put(one), Write::Keep],
            [Move::Left, Move::Stay],
            q,
        );
        b.rule(q, [Pattern::Any; 2], [Write::Keep; 2], [Move::Right; 2], q);
        let machine = b.build().unwrap();
        let rules = exact_rules(&machine, q).unwrap();
        let reads: Vec<&[Pattern]> = rules.iter().map(|r| r.reads.as_slice()).collect();
        let expected = [[zero, one], [one, one], [zero, zero], [one, zero]];
        assert_eq!(reads, expected.map(|symbols| symbols.map(Pattern::Is)));
        let writes: Vec<&[Write]> = rules.iter().map(|r| r.writes.as_slice()).collect();
        let expected = [[one, one], [one, one], [zero, zero], [one, zero]];
        assert_eq!(writes, expected.map(|symbols| symbols.map(Write::Put)));
        assert!(machine.is_total(q));
    }

    #[test]
    fn too_many_situations_are_not_written_out() {
        let mut b = Machine::builder();
        for tape in 0..17 {
            b.tape(format!("t{tape}"), Alphabet::binary());
        }
        let q = b.state("q");
        b.rule(q, [Pattern::Any; 17], [Write::Keep; 17], [Move::Stay; 17], q);
        assert_eq!(exact_rules(&b.build().unwrap(), q), Err(TooMany));
    }
}
