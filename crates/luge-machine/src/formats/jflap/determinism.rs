//! Whether two rules of a state can disagree. JFLAP's transitions have no order, so they must not.

use std::collections::HashMap;

use crate::{Pattern, Rule, Write};

/// The first pair of rules, in order, that apply to the same symbols and do different things.
pub(super) fn first_conflict(rules: &[&Rule]) -> Option<(usize, usize)> {
    let mut exact: HashMap<&[Pattern], usize> = HashMap::new();
    let mut general: Vec<usize> = Vec::new();
    for (later, rule) in rules.iter().enumerate() {
        let disagrees = |earlier: &usize| disagree(rules[*earlier], rule);
        let is_general = rule.reads.contains(&Pattern::Any);
        let earlier = if is_general {
            (0..later).find(disagrees)
        } else {
            let same = exact.get(rule.reads.as_slice()).copied();
            same.filter(disagrees).or_else(|| general.iter().copied().find(disagrees))
        };
        if let Some(earlier) = earlier {
            return Some((earlier, later));
        }
        if is_general {
            general.push(later);
        } else {
            exact.entry(&rule.reads).or_insert(later);
        }
    }
    None
}

/// Whether some symbols fit both rules and the rules do different things there.
pub(super) fn disagree(a: &Rule, b: &Rule) -> bool {
    let overlap = |(&a, &b): (&Pattern, &Pattern)| a == Pattern::Any || b == Pattern::Any || a == b;
    if !a.reads.iter().zip(&b.reads).all(overlap) {
        return false;
    }
    let same_writes = (0..a.reads.len()).all(|tape| {
        let read = if a.reads[tape] == Pattern::Any { b.reads[tape] } else { a.reads[tape] };
        let written = |write: Write| match (write, read) {
            (Write::Keep, Pattern::Is(symbol)) => Write::Put(symbol),
            _ => write,
        };
        written(a.writes[tape]) == written(b.writes[tape])
    });
    a.next != b.next || a.moves != b.moves || !same_writes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Move, StateId, SymbolId};

    fn rule(read: Pattern, write: Write) -> Rule {
        Rule { reads: vec![read], writes: vec![write], moves: vec![Move::Right], next: StateId(0) }
    }

    fn check(rules: &[Rule], expected: Option<(usize, usize)>) {
        assert_eq!(first_conflict(&rules.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn overlap_matters_only_where_effects_differ() {
        let [a, b] = [SymbolId(0), SymbolId(1)];
        let (is_a, is_b) = (Pattern::Is(a), Pattern::Is(b));
        check(&[rule(is_a, Write::Keep), rule(is_b, Write::Put(a))], None);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(a))], None);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(b))], Some((0, 1)));
        check(&[rule(Pattern::Any, Write::Keep), rule(is_b, Write::Put(b))], None);
        check(&[rule(is_b, Write::Put(a)), rule(Pattern::Any, Write::Keep)], Some((0, 1)));
        check(&[rule(Pattern::Any, Write::Keep), rule(Pattern::Any, Write::Put(b))], Some((0, 1)));
    }
}
