//! Sets of rules: which rules cover or contradict others, and one rule per combination of symbols.

use std::collections::{HashMap, HashSet};

use crate::{Machine, Pattern, Rule, StateId, SymbolId, Write};

/// The rules of a state, indexed by their reads.
#[derive(Default)]
pub(super) struct KnownRules {
    pub(super) rules: Vec<Rule>,
    /// Grouped by the tapes on which they match any symbol.
    groups: Vec<(Vec<bool>, ByReads)>,
}

/// The index of each rule, by its reads.
type ByReads = HashMap<Vec<Pattern>, usize>;

impl KnownRules {
    /// The rules that match whenever these reads match.
    pub(super) fn covering(&self, reads: &[Pattern]) -> impl Iterator<Item = usize> {
        self.groups.iter().filter_map(|(any, group)| {
            let widened = |(&read, &any)| if any { Pattern::Any } else { read };
            group.get(&reads.iter().zip(any).map(widened).collect::<Vec<_>>()).copied()
        })
    }

    /// The first rule that conflicts with this one: both match some symbols, but they act differently.
    pub(super) fn conflict(&self, rule: &Rule) -> Option<usize> {
        let disagrees = |earlier: &usize| disagree(&self.rules[*earlier], rule);
        if rule.reads.contains(&Pattern::Any) {
            return (0..self.rules.len()).find(disagrees);
        }
        self.covering(&rule.reads).filter(disagrees).min()
    }

    pub(super) fn push(&mut self, rule: Rule) {
        let any: Vec<bool> = rule.reads.iter().map(|&read| read == Pattern::Any).collect();
        let at = self.groups.iter().position(|(group, _)| *group == any).unwrap_or_else(|| {
            self.groups.push((any, HashMap::new()));
            self.groups.len() - 1
        });
        self.groups[at].1.entry(rule.reads.clone()).or_insert(self.rules.len());
        self.rules.push(rule);
    }

    /// Removes the rules that an earlier rule covers.
    pub(super) fn drop_covered(rules: &mut Vec<Rule>) {
        let mut known = Self::default();
        rules.retain(|rule| {
            let is_new = known.covering(&rule.reads).next().is_none();
            known.push(rule.clone());
            is_new
        });
    }

    /// Whether the rules do the same in any order.
    pub(super) fn are_unordered(rules: &[Rule]) -> bool {
        let mut known = Self::default();
        rules.iter().all(|rule| {
            let agrees = known.conflict(rule).is_none();
            known.push(rule.clone());
            agrees
        })
    }
}

/// Whether both rules match some symbols but act differently.
fn disagree(a: &Rule, b: &Rule) -> bool {
    let overlap = |(&a, &b): (&Pattern, &Pattern)| a == Pattern::Any || b == Pattern::Any || a == b;
    if !a.reads.iter().zip(&b.reads).all(overlap) {
        return false;
    }
    let same_writes = (0..a.reads.len()).all(|tape| {
        let read = a.reads[tape].symbol().or(b.reads[tape].symbol());
        let written = |write: Write| write.symbol().or(read);
        written(a.writes[tape]) == written(b.writes[tape])
    });
    a.next != b.next || a.moves != b.moves || !same_writes
}

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

    fn rule(read: Pattern, write: Write) -> Rule {
        Rule { reads: vec![read], writes: vec![write], moves: vec![Move::Right], next: StateId(0) }
    }

    fn check(rules: &[Rule], expected: bool) {
        assert_eq!(KnownRules::are_unordered(rules), expected);
    }

    #[test]
    fn overlap_matters_only_where_effects_differ() {
        let [a, b] = [SymbolId(0), SymbolId(1)];
        let (is_a, is_b) = (Pattern::Is(a), Pattern::Is(b));
        check(&[rule(is_a, Write::Keep), rule(is_b, Write::Put(a))], true);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(a))], true);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(b))], false);
        check(&[rule(Pattern::Any, Write::Keep), rule(is_b, Write::Put(b))], true);
        check(&[rule(is_b, Write::Put(a)), rule(Pattern::Any, Write::Keep)], false);
        check(&[rule(Pattern::Any, Write::Keep), rule(Pattern::Any, Write::Put(b))], false);
    }

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
