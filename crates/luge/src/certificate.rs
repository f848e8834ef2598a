//! Certificates: the claims about a run, its recomputed steps, the paper's bounds, and the answer in words.

pub mod answer;
pub mod gradient;
#[doc(hidden)]
pub mod paper_bounds;
#[doc(hidden)]
pub mod translation;

use std::{collections::BTreeMap, ops::Index};

use luge_net::{Network, NodeId};
use luge_sled::OverflowSite;
use serde::{Deserialize, Serialize, Serializer};

/// One claim: whether it holds, and the figures that show it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Whether the claim holds.
    pub holds: bool,
    /// What was counted or compared.
    pub figures: String,
}

impl Claim {
    /// A claim and its figures.
    pub fn new(holds: bool, figures: impl Into<String>) -> Self {
        Self { holds, figures: figures.into() }
    }
}

/// What was trained.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// An extended network on a table.
    Table,
    /// A network with tapes on a stream.
    Stream,
    /// An ordinary MLP.
    Mlp,
}

const ANY: &[Kind] = &[Kind::Table, Kind::Stream, Kind::Mlp];
const TAPES: &[Kind] = &[Kind::Table, Kind::Stream];

/// All claims about runs in order: the name, which runs must have the claim, and what it means if it holds. Only learners in
/// Sled that have halted have `program`, and `no_overflow` is present only if it does not hold.
const MEANINGS: [(&str, &[Kind], &str); 16] = [
    ("trace", ANY, "every gradient step is a step of the machine"),
    (
        "gradient",
        ANY,
        "the steps follow the gradient of the network: automatic differentiation makes them too",
    ),
    ("gain", &[Kind::Stream], "every step moves every weight as far as the label of its sample lets it"),
    ("constants", &[Kind::Mlp], "the constants are large and small enough for so many steps"),
    ("network", &[Kind::Mlp], "linear layers and ReLUs alone, every weight trained at one rate"),
    ("step_count", TAPES, "training takes as many steps as the machine does, and ends where it halts"),
    ("labels_copied", TAPES, "the network knows the labels from the loss alone"),
    ("loss_bounds", TAPES, "the loss stays where the construction says"),
    ("output", &[Kind::Mlp], "the trained network computes what the circuit does"),
    ("output_equals_primary", TAPES, "the trained network computes what the learner has found, bit for bit"),
    ("no_gradient_through_primary", TAPES, "the weights come from the learner: descent does not touch them"),
    ("at_rest", &[Kind::Stream, Kind::Mlp], "after the end no further sample moves a weight"),
    ("layers", &[Kind::Table], "no more layers than the paper claims"),
    ("units", &[Kind::Table], "no layer wider than the paper claims"),
    ("program", &[], "the machine does what the program means: the interpreter finds the same weights"),
    ("no_overflow", &[], "no number of the program was too large for its type"),
];

/// Named claims in order: those of docs/construction.md, sections 5b and 7, about a run, or those of an audit. In JSON a
/// certificate is an object.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Claim>")]
pub struct Certificate(Vec<(&'static str, Claim)>);

impl Certificate {
    /// Whether all claims hold that decide whether the run is proved.
    pub fn proves_the_run(&self) -> bool {
        self.0.iter().all(|(name, claim)| claim.holds || !decides(name))
    }

    /// All claims with their names.
    pub fn claims(&self) -> Vec<(&'static str, &Claim)> {
        self.0.iter().map(|(name, claim)| (*name, claim)).collect()
    }

    /// Returns the claim of that name.
    pub fn get(&self, name: &str) -> Option<&Claim> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, claim)| claim)
    }

    /// Replaces the claim of that name, or adds it at the end; `None` removes it.
    pub fn set(&mut self, name: &'static str, claim: Option<Claim>) {
        match (self.0.iter().position(|(own, _)| *own == name), claim) {
            (Some(at), Some(claim)) => self.0[at].1 = claim,
            (Some(at), None) => drop(self.0.remove(at)),
            (None, claim) => self.0.extend(claim.map(|claim| (name, claim))),
        }
    }
}

impl FromIterator<(&'static str, Claim)> for Certificate {
    fn from_iter<I: IntoIterator<Item = (&'static str, Claim)>>(claims: I) -> Self {
        Self(claims.into_iter().collect())
    }
}

/// The claim of that name; panics if there is none.
impl Index<&str> for Certificate {
    type Output = Claim;

    fn index(&self, name: &str) -> &Claim {
        self.get(name).unwrap_or_else(|| panic!("no claim is called {name}"))
    }
}

impl Serialize for Certificate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.claims())
    }
}

impl TryFrom<BTreeMap<String, Claim>> for Certificate {
    type Error = String;

    fn try_from(mut claims: BTreeMap<String, Claim>) -> Result<Self, String> {
        let known = MEANINGS.iter().filter_map(|&(name, ..)| Some((name, claims.remove(name)?)));
        let found: Self = known.collect();
        let has = |name| found.get(name).is_some();
        let kind = match (has("constants"), has("gain")) {
            (true, _) => Kind::Mlp,
            (false, true) => Kind::Stream,
            (false, false) => Kind::Table,
        };
        match MEANINGS.iter().find(|(name, runs, _)| runs.contains(&kind) && !has(name)) {
            Some((name, ..)) => Err(format!("the certificate has no claim `{name}`")),
            None => Ok(found),
        }
    }
}

/// Whether a run is proved only if this claim holds. The paper's claims about sizes do not matter for that, nor does
/// `no_overflow`: a program whose numbers wrap around still runs as defined.
pub(crate) fn decides(claim: &str) -> bool {
    !matches!(claim, "layers" | "units" | "no_overflow")
}

/// Returns what a claim means if it holds.
pub(crate) fn meaning(claim: &str) -> &'static str {
    MEANINGS.iter().find(|(name, ..)| *name == claim).map_or("", |(.., meaning)| meaning)
}

/// The claim that no gradient reaches these nodes of a network.
pub(crate) fn no_gradient(network: &Network, own: impl Fn(NodeId) -> bool, what: &str) -> Claim {
    let differentiated = network.differentiated();
    let nodes = network.numbered_nodes().filter(|&(id, _)| own(id));
    let carries: Vec<bool> = nodes.map(|(id, _)| differentiated[id.index()]).collect();
    let n_open = carries.iter().filter(|&&carries| carries).count();
    Claim::new(n_open == 0, format!("{n_open} of {} nodes of {what} carry a gradient", carries.len()))
}

/// Whether numbers are the same, bit for bit.
pub(crate) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | a.to_bits() ^ b.to_bits()) == 0
}

/// Returns the claim `no_overflow`, which fails, if numbers wrapped around before the answer.
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
    Some(Claim::new(false, figures))
}
