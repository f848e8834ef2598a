//! The situations that a run meets, collected by the side that judges it, and each of them differentiated.
//!
//! What a gradient step does follows from its situation (see [`Situation`]). The simulator says in which situations the run was and what
//! its machine does there; afterwards the network itself is differentiated once in every one of them. If each step leads from the weights
//! that stand for one configuration to those that stand for the next, all steps do, by induction: whatever the engine has remembered.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use luge_net::{Local, Network, SparseLayers, Values, VertexTable, faults};
use luge_train::{
    Differs, HeadColumn, MULTIPLIER, ROUNDING, Situation, SituationCheck, Surroundings, TrainError, visit,
    visit_piece,
};

use crate::{certificate::gradient::Seen, run::two_cores::beside};

/// The situations of a run so far.
#[derive(Clone, Debug)]
pub(crate) struct Situations {
    /// Situations without the vertex that a step leads to, and where they stand in `known`.
    places: HashMap<Situation, u32>,
    known: Vec<Known>,
    /// Which of them led to which vertex.
    led_to: HashSet<(u32, u32)>,
    /// The same in the order in which they were met.
    met: Vec<(u32, u32)>,
    /// The weights before and after the first step in each of them, where those were noted.
    around: HashMap<usize, (Surroundings, Surroundings)>,
    /// The last step made, until it is seen where it led.
    pending: Option<u32>,
    /// Situations that were met lately, each where its content says.
    recent: Vec<Option<(Situation, u32)>>,
    /// The digest of all vertices that steps were made from.
    path: u64,
    /// What does not fit together, if something does not.
    contradiction: Option<String>,
}

/// A situation without the vertex that a step leads to.
#[derive(Clone, Copy, Debug)]
struct Known {
    situation: Situation,
    /// The loss that the engine reports there, once it has reported one.
    loss: Option<f64>,
    /// The last two vertices that it led to.
    last_to: [u32; 2],
}

/// Some steps in turn, to be noted again at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The vertex of the first step.
    pub(crate) from: u32,
    /// The situation of the last step.
    last: u32,
    /// The digest of the vertices.
    digest: u64,
}

impl Piece {
    /// One step more than the piece so far.
    pub(crate) fn and(before: Option<Self>, vertex: u32, place: u32) -> Self {
        let (from, digest) = before.map_or((vertex, 0), |piece| (piece.from, piece.digest));
        Self { from, last: place, digest: visit(digest, vertex as usize) }
    }
}

/// What looking at every situation has shown.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Looked {
    pub(crate) seen: Seen,
    /// The lowest and the highest loss of the network in them.
    pub(crate) losses: Option<(f64, f64)>,
    /// How far cells and heads lie from the values they stand for after a step.
    pub(crate) drift: (f64, f64),
    /// The first difference.
    pub(crate) differs: Option<String>,
}

/// What is looked at, and how closely.
pub(crate) struct LookAt<'a> {
    pub(crate) network: &'a Network,
    pub(crate) inputs: &'a [Values],
    pub(crate) labels: &'a [f64],
    /// How far cells and heads may lie from the values they stand for.
    pub(crate) allowed: (f64, f64),
    /// Whether a head was in the first or last column of the network.
    pub(crate) at_the_ends: bool,
    /// Whether weights are exactly the values they stand for, up to what a step forgets.
    pub(crate) exact: bool,
    /// The vertex at rest and the loss that the run reports there, where a landscape stands alone and its machine has halted.
    pub(crate) at_rest: Option<(usize, f64)>,
}

/// A power of two.
const N_RECENT: usize = 1 << 12;

impl Situations {
    /// None yet; `extra` steps are made at the first vertex before the machine's first.
    pub(crate) fn new(first: usize, extra: u64) -> Self {
        Self {
            places: HashMap::new(),
            known: Vec::new(),
            led_to: HashSet::new(),
            met: Vec::new(),
            around: HashMap::new(),
            pending: None,
            recent: vec![None; N_RECENT],
            path: (0..extra).fold(0, |path, _| visit(path, first)),
            contradiction: None,
        }
    }

    /// The digest of all vertices visited, where the last one is this.
    pub(crate) fn path(&self, vertex: usize) -> u64 {
        visit(self.path, vertex)
    }

    /// What the steps noted contradict each other in.
    pub(crate) fn contradiction(&self) -> Option<&str> {
        self.contradiction.as_deref()
    }

    /// Notes a step by its situation without the vertex that it leads to, and the loss reported there; where it stands.
    pub(crate) fn step(&mut self, situation: &Situation, loss: Option<f64>) -> u32 {
        self.arrive(situation.vertex);
        let wrong = faults::planted("judge's digest adds v + 2");
        self.path = visit(self.path, situation.vertex as usize + usize::from(wrong));
        let Situation { vertex, here, ahead, .. } = *situation;
        let mixed =
            (u64::from(vertex) ^ u64::from(here.1) << 20 ^ u64::from(ahead.1) << 40).wrapping_mul(MULTIPLIER);
        let recent = (mixed >> 52) as usize & (N_RECENT - 1);
        let place = match self.recent[recent] {
            Some((same, place)) if same == *situation => place,
            _ => {
                let next = self.known.len() as u32;
                let place = *self.places.entry(*situation).or_insert(next);
                if place == next {
                    self.known.push(Known { situation: *situation, loss: None, last_to: [u32::MAX; 2] });
                }
                self.recent[recent] = Some((*situation, place));
                place
            }
        };
        if let Some(loss) = loss {
            let known = &mut self.known[place as usize];
            if !near(*known.loss.get_or_insert(loss), loss) && self.contradiction.is_none() {
                let why = format!(
                    "in one situation at vertex {vertex} the engine reports two losses, {loss} and others"
                );
                self.contradiction = Some(why);
            }
        }
        self.pending = Some(place);
        place
    }

    /// Notes so many steps that were noted before, one by one.
    #[inline]
    pub(crate) fn pass(&mut self, n_steps: u64, piece: &Piece) {
        self.arrive(piece.from);
        self.path = visit_piece(self.path, n_steps, piece.digest);
        self.pending = Some(piece.last);
    }

    /// Notes the vertex that the last step led to; whether such a step was not met before.
    #[inline]
    pub(crate) fn arrive(&mut self, vertex: u32) -> bool {
        let Some(place) = self.pending.take() else { return false };
        !self.known[place as usize].last_to.contains(&vertex) && self.lead_to(place, vertex)
    }

    fn lead_to(&mut self, place: u32, vertex: u32) -> bool {
        let last_to = &mut self.known[place as usize].last_to;
        *last_to = [vertex, last_to[0]];
        let new = self.led_to.insert((place, vertex));
        if new {
            self.met.push((place, vertex));
        }
        new
    }

    /// Notes the weights before and after the step that was met last.
    pub(crate) fn keep_weights(&mut self, before: Surroundings, after: Surroundings) {
        self.around.insert(self.met.len().saturating_sub(1), (before, after));
    }

    /// Differentiates the network in every situation of a run of so many steps, on two cores if there are two.
    pub(crate) fn look(&self, at: &LookAt<'_>, n_steps: u64) -> Result<Looked, TrainError> {
        let n_situations = self.met.len();
        let seen = Seen { n_steps, n_situations, n_looked_at: 0, n_as_they_were: 0, exact: at.exact };
        let mut looked = Looked { seen, losses: None, drift: (0.0, 0.0), differs: None };
        let cut = at.network.sparse_layers().map_err(ToString::to_string).and_then(|layers| {
            Ok((Local::of(at.network, layers).map_err(|error| error.to_string())?, layers))
        });
        let (local, layers) = match cut {
            Ok(cut) => cut,
            Err(why) => return Ok(Looked { differs: Some(why), ..looked }),
        };
        let look_at = |numbers: Range<usize>| {
            let mut part = looked.clone();
            let check = SituationCheck::new(&local, layers, (at.inputs, at.labels), at.allowed);
            part.differs = self.look_at_some(numbers, check, at, &mut part)?.err();
            Ok::<_, TrainError>(part)
        };
        let half = n_situations / 2;
        let (second, first) = beside(|| look_at(half..n_situations), || look_at(0..half));
        looked = first?;
        if looked.differs.is_none() {
            looked.add(second?);
        }
        Ok(looked)
    }

    /// The situations with these numbers; the last of them are followed by the vertex at rest.
    fn look_at_some(
        &self,
        numbers: Range<usize>,
        mut check: SituationCheck<'_>,
        at: &LookAt<'_>,
        looked: &mut Looked,
    ) -> Result<Result<(), String>, TrainError> {
        let held_to_candle = [0, self.met.len() / 2, self.met.len().saturating_sub(1)];
        let is_end = numbers.end == self.met.len();
        for number in numbers {
            if number == 1 && faults::planted("a situation is not looked at") {
                continue;
            }
            let (place, to) = self.met[number];
            let known = &self.known[place as usize];
            let situation = whole(check.layers(), &known.situation, to);
            match look_at_one(&mut check, &situation, known.loss, at) {
                Ok((loss, drift)) => looked.saw(loss, drift),
                Err(why) => return Ok(Err(why)),
            }
            if let Some((before, after)) = self.around.get(&number) {
                match check.look_at_weights(before, after) {
                    Ok(loss) if known.loss.is_none_or(|reported| near(loss, reported)) => {
                        looked.seen.n_as_they_were += 1;
                    }
                    Ok(loss) => {
                        let why =
                            format!("with its weights a step has the loss {loss}, the run reports another");
                        return Ok(Err(why));
                    }
                    Err(differs) => return Ok(Err(differs.to_string())),
                }
            }
            if held_to_candle.contains(&number)
                && let Err(differs) = check.hold_to_candle(&situation)?
            {
                return Ok(Err(differs.to_string()));
            }
        }
        let Some((vertex, reported)) = at.at_rest.filter(|_| is_end) else { return Ok(Ok(())) };
        let other = check.losses_at_rest(vertex as u32).into_iter().find(|&loss| !near(loss, reported));
        let told = |loss| format!("at rest the network has the loss {loss}, the run reports {reported}");
        Ok(other.map_or(Ok(()), |loss| Err(told(loss))))
    }
}

impl Looked {
    fn saw(&mut self, loss: f64, drift: (f64, f64)) {
        self.seen.n_looked_at += 1;
        let (low, high) = self.losses.unwrap_or((loss, loss));
        self.losses = Some((low.min(loss), high.max(loss)));
        self.drift = (self.drift.0.max(drift.0), self.drift.1.max(drift.1));
    }

    /// Adds what looking at the situations that follow has shown.
    fn add(&mut self, next: Self) {
        self.seen.n_looked_at += next.seen.n_looked_at;
        self.seen.n_as_they_were += next.seen.n_as_they_were;
        let both = self.losses.zip(next.losses).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        self.losses = both.or(self.losses).or(next.losses);
        self.drift = (self.drift.0.max(next.drift.0), self.drift.1.max(next.drift.1));
        self.differs = next.differs;
    }
}

/// A situation with the vertex that its step leads to, which knows symbols that will be read.
fn whole(layers: &SparseLayers, situation: &Situation, to: u32) -> Situation {
    let table: &VertexTable = &layers.table;
    let seen = table.looks_at(table.block(to as usize));
    let ahead = (situation.ahead.0 | seen, situation.ahead.1 & !seen | table.symbols(to as usize));
    // What is kept unseen under a head that stays is what will be read there.
    let kept = ahead.0 & !(situation.left | situation.right | situation.here.0);
    let here = (situation.here.0 | kept, situation.here.1 | ahead.1 & kept);
    Situation { to, here, ahead, ..*situation }
}

/// Whether two losses are the same, up to rounding.
pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs()
}

/// Looks at a situation with all free symbols -1 and with all of them +1, and with heads at the ends of the tapes where some were; the
/// loss, and how far weights lie from the values they stand for.
fn look_at_one(
    check: &mut SituationCheck<'_>,
    situation: &Situation,
    reported: Option<f64>,
    at: &LookAt<'_>,
) -> Result<(f64, (f64, f64)), String> {
    let differs = |differs: Differs| differs.to_string();
    let first = check.look(situation, false, HeadColumn::Inside, false).map_err(differs)?;
    let mut others = vec![check.look(situation, true, HeadColumn::Inside, false).map_err(differs)?];
    if at.at_the_ends {
        for column in [HeadColumn::First, HeadColumn::Last] {
            others.push(check.look(situation, false, column, false).map_err(differs)?);
        }
    }
    let mut drift = first.drift;
    if at.exact && at.allowed.0 > 0.0 {
        let after = check.look(situation, true, HeadColumn::Inside, true).map_err(differs)?.drift;
        drift = (drift.0.max(after.0), drift.1.max(after.1));
    }
    let vertex = situation.vertex;
    if others.iter().any(|other| !near(first.loss, other.loss)) {
        return Err(format!("at vertex {vertex} the loss depends on more than the situation"));
    }
    match reported {
        Some(loss) if !near(first.loss, loss) => {
            Err(format!("at vertex {vertex} the network has the loss {}, the run reports {loss}", first.loss))
        }
        _ => Ok((first.loss, drift)),
    }
}
