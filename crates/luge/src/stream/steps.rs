//! Every step of a run on a stream, checked twice: each step must move every weight as far towards the machine's next configuration as the
//! batch's label lets it, and in every distinct situation the network itself is differentiated with the weights it then has.

use std::collections::HashSet;

use luge_machine::{Bits, SampleUse, SymbolId, TapeId};
use luge_net::{StreamLayers, Values};
use luge_train::{Dense, ROUNDING, ReversePass, Situation, StreamEngine, visit};

use super::{
    PreparedStream, PreparedStreamError,
    certificate::{dense, inputs},
    lockstep::{AnyEngine, Lockstep, StreamMismatch},
    near::Near,
};
use crate::certificate::gradient::{GradientCheck, Seen};

/// How far a weight of size 1 may lie from where a step leads it: rounding of a product and two differences.
const STEP_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Steps between two comparisons of all weights, at least.
const FEWEST_BETWEEN: u64 = 1 << 12;

/// The weights that a step can move.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// Weights that are not zero: of the vertices, then of each head.
    rows: Vec<Vec<(usize, f64)>>,
    /// The cells under the heads before the step, per tape; those of read-only tapes are not weights.
    under: Vec<f64>,
    memory: Vec<f64>,
    labels: Vec<f64>,
}

/// Where the machine is before a step.
#[derive(Clone, Debug, Default)]
struct Place {
    vertex: usize,
    symbols: u32,
    heads: Vec<i64>,
    takes: bool,
}

/// Watches the steps of one run.
pub(super) struct Steps<'a> {
    lesson: &'a PreparedStream,
    /// The tracks that are weights.
    layers: Option<&'a StreamLayers>,
    /// The network on fewer cells, where it is much narrower.
    near: Option<(&'a Near<'a>, ReversePass<'a>)>,
    place: Place,
    before: Shown,
    after: Shown,
    /// Situations, and whether the label of the batch was another than 0.
    known: HashSet<(Situation, bool)>,
    pass: ReversePass<'a>,
    pub(super) checker: Dense<'a>,
    n_looked_at: usize,
    differs: Option<String>,
    all_due: u64,
    n_weights: u64,
    /// The digest of the vertices that the machine visited.
    pub(super) path: u64,
    /// The smallest and the largest part of their way that weights went in a step.
    pub(super) gains: Option<(f64, f64)>,
    /// The smallest and the largest loss of the situations.
    pub(super) losses: Option<(f64, f64)>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(
        lesson: &'a PreparedStream,
        (layers, near): (Option<&'a StreamLayers>, Option<&'a Near<'a>>),
        both: &Lockstep<'_>,
    ) -> Result<Self, PreparedStreamError> {
        let network = &lesson.network.network;
        let mut steps = Self {
            lesson,
            layers,
            near: near.map(|near| (near, ReversePass::new(&near.network.network))),
            place: Place::default(),
            before: Shown::default(),
            after: Shown::default(),
            known: HashSet::new(),
            pass: ReversePass::new(network),
            checker: dense(lesson, &lesson.network.initial)?,
            n_looked_at: 0,
            differs: None,
            all_due: 0,
            n_weights: network.parameters().iter().map(|p| p.shape.len() as u64).sum(),
            path: 0,
            gains: None,
            losses: None,
        };
        steps.path = visit(0, steps.vertex(both).0);
        Ok(steps)
    }

    /// Notes where the machine and the weights are before a step.
    pub(super) fn begin(&mut self, both: &Lockstep<'_>, engine: &AnyEngine<'_>) {
        let judge = both.simulator.simulator();
        self.place.heads.clear();
        self.place.heads.extend(judge.machine().tape_ids().map(|tape| judge.head(tape)));
        (self.place.vertex, self.place.symbols) = self.vertex(both);
        self.place.takes = both.simulator.next_use() == SampleUse::Take;
        self.show(both, engine);
        std::mem::swap(&mut self.before, &mut self.after);
    }

    /// The vertex of the machine, and all symbols under its heads.
    fn vertex(&self, both: &Lockstep<'_>) -> (usize, u32) {
        let judge = both.simulator.simulator();
        let symbols = judge.machine().tape_ids().fold(0, |symbols, tape| {
            symbols | u32::from(judge.tape(tape).read(judge.head(tape)) == SymbolId(1)) << tape.index()
        });
        (self.lesson.network.control().vertex(judge.state(), Bits(symbols)), symbols)
    }

    /// Reads the weights that the step from the noted place can move.
    fn show(&mut self, both: &Lockstep<'_>, engine: &AnyEngine<'_>) {
        let Some(layers) = self.layers else { return };
        let n_tapes = self.place.heads.len();
        let column = |tape: usize| both.window.index(TapeId::new(tape), self.place.heads[tape]).unwrap_or(0);
        let Shown { rows, under, memory, labels } = &mut self.after;
        rows.resize(1 + n_tapes, Vec::new());
        under.clear();
        match engine {
            AnyEngine::Sparse(engine) => {
                engine.vertices().clone_into(&mut rows[0]);
                for tape in 0..n_tapes {
                    engine.head_weights(tape).clone_into(&mut rows[1 + tape]);
                }
                under.extend((0..n_tapes).map(|tape| engine.cell(tape, column(tape))));
                engine.memory().clone_into(memory);
                engine.labels().clone_into(labels);
            }
            AnyEngine::Dense(engine) => {
                let weights = engine.weights();
                let nonzero = |row: &[f64]| row.iter().copied().enumerate().filter(|w| w.1 != 0.0).collect();
                rows[0] = nonzero(&weights[layers.vertex.index()].data);
                let (head, cells) = (&weights[layers.head.index()], &weights[layers.cells.index()]);
                for (tape, &row) in layers.table.rows().iter().enumerate() {
                    rows[1 + tape] = nonzero(head.row(row));
                    let trained = row < layers.table.n_trained();
                    under.push(if trained { cells.row(row)[column(tape)] } else { 0.0 });
                }
                weights[layers.memory.index()].data.clone_into(memory);
                weights[layers.labels.index()].data.clone_into(labels);
            }
        }
    }

    /// Whether the step that the machine has just made is in a situation that was not met before.
    pub(super) fn is_new(&mut self, both: &Lockstep<'_>, y: &[f64]) -> bool {
        let Some(layers) = self.layers else { return false };
        let (table, judge) = (&layers.table, both.simulator.simulator());
        let (to, ahead) = self.vertex(both);
        let seen = table.looks_at(table.block(self.place.vertex));
        let known_here = seen | table.column(self.place.vertex).map_or(0, |column| column.put);
        let known_ahead = seen | table.looks_at(table.block(to));
        let (mut left, mut right, mut flipped) = (0, 0, 0);
        for (tape, (&head, &row)) in self.place.heads.iter().zip(table.rows()).enumerate() {
            let id = TapeId::new(tape);
            let moved = judge.head(id) - head;
            left |= u32::from(moved < 0) << tape;
            right |= u32::from(moved > 0) << tape;
            let symbol = u32::from(judge.tape(id).read(head) == SymbolId(1));
            let changed = row < table.n_trained() && symbol != self.place.symbols >> tape & 1;
            flipped |= u32::from(changed) << tape;
        }
        let situation = Situation {
            vertex: self.place.vertex as u32,
            to: to as u32,
            here: (known_here, self.place.symbols & known_here),
            ahead: (known_ahead, ahead & known_ahead),
            left,
            right,
            flipped,
        };
        self.known.insert((situation, y.iter().any(|&y| y != 0.0)))
    }

    /// Whether it is time to compare all weights: about one a step.
    pub(super) fn all_due(&mut self, step: u64) -> bool {
        let due = step >= self.all_due;
        if due {
            self.all_due = step + self.n_weights.max(FEWEST_BETWEEN);
        }
        due
    }

    /// Every weight that the step could move went where the machine's step and the batch's label lead it.
    pub(super) fn check(
        &mut self,
        both: &Lockstep<'_>,
        engine: &AnyEngine<'_>,
        y: &[f64],
    ) -> Result<(), StreamMismatch> {
        self.show(both, engine);
        let Some(layers) = self.layers else { return Ok(()) };
        let (judge, carrier) = (both.simulator.simulator(), self.lesson.network.constants.carrier);
        let mut rule = Rule { gain: (carrier - y[0]) / carrier, gains: self.gains };
        let (to, _) = self.vertex(both);
        let (before, after) = (&self.before, &self.after);
        rule.pulled("vertex", [&before.rows[0], &after.rows[0]], to)?;
        let sign = |tape: TapeId, cell| if judge.tape(tape).read(cell) == SymbolId(1) { 1.0 } else { -1.0 };
        for (tape, &row) in layers.table.rows().iter().enumerate() {
            let id = TapeId::new(tape);
            let at = both.window.index(id, judge.head(id)).unwrap_or(usize::MAX);
            rule.pulled("head", [&before.rows[1 + tape], &after.rows[1 + tape]], at)?;
            if row < layers.table.n_trained() {
                let symbol = sign(id, self.place.heads[tape]);
                rule.moved("cell", tape, (before.under[tape], after.under[tape]), symbol)?;
            }
        }
        let data = self.lesson.learner.data_track();
        for (bit, pair) in before.memory.iter().copied().zip(after.memory.iter().copied()).enumerate() {
            let cell = i64::try_from(both.layout.cell(bit)).unwrap_or(i64::MAX);
            rule.moved("memory", bit, pair, sign(data, cell))?;
        }
        for (label, (&before, &after)) in before.labels.iter().zip(&after.labels).enumerate() {
            match self.place.takes {
                // The slot follows its own gradient, which no carrier scales.
                true => {
                    let way = carrier - y[label];
                    Rule { gain: 1.0, gains: None }.moved("z", label, (before, after), before + way)?;
                }
                false => rule.moved("z", label, (before, after), -carrier)?,
            }
        }
        self.gains = rule.gains;
        self.path = visit(self.path, to);
        Ok(())
    }

    /// Differentiates the network with the weights before a step and compares all of those after it: on the columns around the heads, and
    /// now and then the whole network by candle.
    pub(super) fn look(
        &mut self,
        before: &[Values],
        after: &[Values],
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), PreparedStreamError> {
        if self.differs.is_some() {
            return Ok(());
        }
        self.n_looked_at += 1;
        if self.n_looked_at.is_power_of_two() && self.n_looked_at.trailing_zeros().is_multiple_of(3) {
            self.checker.go_to(before)?;
            self.checker.step_on(x, y)?;
            let stepped = self.checker.weights();
            self.compare(&stepped, after);
        }
        let inputs = inputs(self.lesson, x, y);
        let narrow = match self.near.as_ref().map(|(near, _)| near.weights(before, after, &self.place.heads))
        {
            Some(Err(mismatch)) => {
                self.differs = Some(mismatch.to_string());
                return Ok(());
            }
            Some(Ok(narrow)) => narrow,
            None => None,
        };
        let (pass, before, after) = match (&mut self.near, &narrow) {
            (Some((_, pass)), Some([before, after])) => (pass, &before[..], &after[..]),
            _ => (&mut self.pass, before, after),
        };
        let loss = pass.evaluate(before, &inputs);
        let carrier = self.lesson.network.constants.carrier;
        let expected: f64 = y.iter().map(|y| (carrier - y) * (carrier - y)).sum::<f64>() / 2.0;
        if !near(loss, expected) {
            self.differs = Some(format!("the network's loss is {loss}, not {expected}"));
        }
        self.losses = widened(self.losses, loss);
        let mut stepped = pass.gradient(1.0);
        for (stepped, before) in stepped.iter_mut().zip(before) {
            stepped.data.iter_mut().zip(&before.data).for_each(|(slope, before)| *slope = before - *slope);
        }
        self.compare(&stepped, after);
        Ok(())
    }

    /// Compares all weights after a step with those that the network's gradient leads to.
    fn compare(&mut self, stepped: &[Values], found: &[Values]) {
        let parameters = self.lesson.network.network.parameters();
        for (parameter, (stepped, found)) in parameters.iter().zip(stepped.iter().zip(found)) {
            let differs = stepped.data.iter().zip(&found.data).position(|(&a, &b)| !near(a, b));
            if let (Some(at), None) = (differs, &self.differs) {
                let (name, expected, found) = (&parameter.name, stepped.data[at], found.data[at]);
                let why =
                    format!("the run moves {name}[{at}] to {found}, the network's gradient to {expected}");
                self.differs = Some(why);
            }
        }
    }

    /// What differentiating has shown of a run of so many steps.
    pub(super) fn gradient(&self, n_steps: u64, engine: &AnyEngine<'_>) -> GradientCheck {
        if let (AnyEngine::Dense(_), None) = (engine, &self.differs) {
            return GradientCheck::of_dense();
        }
        let seen = Seen {
            n_steps,
            n_situations: self.known.len(),
            n_looked_at: self.n_looked_at,
            n_as_they_were: self.n_looked_at,
            exact: false,
        };
        GradientCheck { steps: Vec::new(), every: false, seen: Some(seen), differs: self.differs.clone() }
    }
}

/// How far weights go towards their targets in one step.
struct Rule {
    gain: f64,
    /// The smallest and the largest part of their way that weights were seen to go.
    gains: Option<(f64, f64)>,
}

impl Rule {
    /// One weight on its way to a target.
    fn moved(
        &mut self,
        what: &'static str,
        index: usize,
        (before, after): (f64, f64),
        target: f64,
    ) -> Result<(), StreamMismatch> {
        let way = target - before;
        let expected = before + self.gain * way;
        let size = before.abs().max(target.abs()).max(1.0);
        let away = (after - expected).abs();
        if away.is_nan() || away > STEP_ROUNDING * size {
            return Err(StreamMismatch::Weight { what, index, found: after, expected });
        }
        if way.abs() >= 0.5 {
            self.gains = widened(self.gains, (after - before) / way);
        }
        Ok(())
    }

    /// All weights of a row on their way: that at `target` to 1, all others to 0.
    fn pulled(
        &mut self,
        what: &'static str,
        [before, after]: [&[(usize, f64)]; 2],
        target: usize,
    ) -> Result<(), StreamMismatch> {
        let of = |row: &[(usize, f64)], at: usize| row.iter().find(|w| w.0 == at).map_or(0.0, |w| w.1);
        self.moved(what, target, (of(before, target), of(after, target)), 1.0)?;
        for &(at, _) in before.iter().chain(after).filter(|w| w.0 != target) {
            self.moved(what, at, (of(before, at), of(after, at)), 0.0)?;
        }
        Ok(())
    }
}

/// A range that has another number in it.
pub(super) fn widened(range: Option<(f64, f64)>, by: f64) -> Option<(f64, f64)> {
    Some(range.map_or((by, by), |(low, high)| (low.min(by), high.max(by))))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs()).max(1.0)
}
