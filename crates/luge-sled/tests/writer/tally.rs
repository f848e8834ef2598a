//! Counts the constructs of random programs, and which of them are directly inside which.

use std::collections::BTreeMap;

/// How often each construct occurs directly inside each other one, and at the top.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    pairs: BTreeMap<(&'static str, &'static str), usize>,
    around: Vec<&'static str>,
}

impl Tally {
    pub(super) fn enter(&mut self, construct: &'static str) {
        let outer = self.around.last().copied().unwrap_or("the program");
        *self.pairs.entry((outer, construct)).or_default() += 1;
        self.around.push(construct);
    }

    pub(super) fn leave(&mut self) {
        self.around.pop();
    }

    pub(crate) fn include(&mut self, other: &Self) {
        for (&pair, &n) in &other.pairs {
            *self.pairs.entry(pair).or_default() += n;
        }
    }

    pub(crate) fn count(&self, outer: &'static str, inner: &'static str) -> usize {
        self.pairs.get(&(outer, inner)).copied().unwrap_or(0)
    }

    /// A line for each construct: how often it occurs, and what occurs directly inside it.
    pub(crate) fn table(&self) -> String {
        let mut constructs: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
        for (&(outer, inner), n) in &self.pairs {
            constructs.entry(inner).or_default().0 += n;
            constructs.entry(outer).or_default().1.push(format!("{inner} {n}"));
        }
        let lines =
            constructs.iter().map(|(name, (n, inside))| format!("{name}, {n}: {}\n", inside.join("; ")));
        lines.collect()
    }
}
