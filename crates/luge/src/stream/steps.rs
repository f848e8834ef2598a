//! Every step of a run on a stream, checked twice: each step must move every weight as far towards the machine's next configuration as the
//! batch's label lets it, and in every distinct situation the network itself is differentiated with the weights it then has.

use std::collections::{HashMap, HashSet};

use luge_machine::{Bits, Effect, SampleUse, SymbolId, TapeId};
use luge_net::{Shape, StreamLayers, Values, tracks};
use luge_train::{Dense, MULTIPLIER, ROUNDING, ReversePass, Situation, StreamEngine, visit};

use super::{
    PreparedStream, PreparedStreamError,
    certificate::{dense, inputs},
    lockstep::{AnyEngine, Lockstep, StreamMismatch},
    near::{Near, Part},
    rule::Rule,
};
use crate::certificate::gradient::{GradientCheck, Seen};

/// Steps between two comparisons of all weights, at least.
const FEWEST_BETWEEN: u64 = 1 << 12;

/// The weights that the next step can move.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// Weights that are not zero: of the vertices, then of each head.
    rows: Vec<Vec<(usize, f64)>>,
    /// The cells under the heads, per tape; those of read-only tapes are not weights.
    under: Vec<f64>,
    memory: Vec<f64>,
    labels: Vec<f64>,
    /// The tapes whose head and cell under it are exactly where they are pulled to.
    settled: u32,
    /// Whether the memory is.
    memory_settled: bool,
}

/// Where the machine is, and what its last step did.
#[derive(Clone, Debug, Default)]
struct Place {
    vertex: usize,
    symbols: u32,
    /// The column of each head in the network's matrices.
    columns: Vec<usize>,
    /// What the memory holds.
    held: Vec<f64>,
}

/// A step of the machine.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    /// The vertex and all symbols before it.
    from: (usize, u32),
    effect: Effect,
    takes: bool,
}

/// The weights before a step.
pub(super) enum Before<'a> {
    /// Those around the heads, the first of these columns in every row, and the network on them.
    Near(Vec<Values>, Vec<usize>, Part<'a>),
    /// All of them, and whether candle is to make the step as well.
    All(Vec<Values>, bool),
}

/// What was seen of some steps of a run.
pub(super) struct Observed {
    gains: Option<(f64, f64)>,
    losses: Option<(f64, f64)>,
    differs: Option<String>,
}

/// A power of two.
const N_RECENT: usize = 1 << 12;

/// Watches the steps of one run.
pub(super) struct Steps<'a> {
    lesson: &'a PreparedStream,
    layers: Option<&'a StreamLayers>,
    /// The tapes whose cells are weights.
    trained: u32,
    /// The network on fewer cells, where it is much narrower.
    near: Option<&'a Near<'a>>,
    /// Passes of those networks that are kept, by their numbers.
    passes: HashMap<usize, ReversePass<'a>>,
    place: Place,
    made: Made,
    before: Shown,
    /// All cells that are weights, as every step so far has left them.
    cells: Vec<f64>,
    /// Situations, and whether the label of the batch was another than 0.
    known: HashSet<(Situation, bool)>,
    /// Those that were met lately, each where its content says.
    recent: Vec<Option<(Situation, bool)>>,
    /// That of the whole network, once it was needed.
    pub(super) pass: Option<ReversePass<'a>>,
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
        (both, engine): (&Lockstep<'_>, &AnyEngine<'_>),
    ) -> Result<Self, PreparedStreamError> {
        let network = &lesson.network.network;
        let judge = both.simulator.simulator();
        let n_tapes = judge.machine().n_tapes();
        let mut steps = Self {
            lesson,
            layers,
            trained: layers.map_or(0, |layers| layers.table.trained_tracks()),
            near,
            passes: HashMap::new(),
            place: Place { columns: vec![0; n_tapes], ..Place::default() },
            made: Made::default(),
            before: Shown::default(),
            cells: Vec::new(),
            known: HashSet::new(),
            recent: vec![None; N_RECENT],
            pass: None,
            checker: dense(lesson, &lesson.network.initial)?,
            n_looked_at: 0,
            differs: None,
            all_due: 0,
            n_weights: network.parameters().iter().map(|p| p.shape.len() as u64).sum(),
            path: 0,
            gains: None,
            losses: None,
        };
        steps.place.held = vec![-1.0; both.layout.n_bits()];
        steps.find_memory(both);
        steps.find_tapes(both, u32::MAX >> (32 - n_tapes.clamp(1, 32)));
        steps.path = visit(0, steps.place.vertex);
        steps.show(engine);
        Ok(steps)
    }

    /// Notes the weights of an engine that the next step can move, where the machine now is.
    pub(super) fn show(&mut self, engine: &AnyEngine<'_>) {
        let Some(layers) = self.layers else { return };
        let mut shown = Shown { rows: vec![engine.row(layers, None).into_owned()], ..Shown::default() };
        for (tape, &column) in self.place.columns.iter().enumerate() {
            shown.rows.push(engine.row(layers, Some(tape)).into_owned());
            shown.under.push(engine.cell(layers, tape, column));
        }
        engine.memory(layers).clone_into(&mut shown.memory);
        engine.labels(layers).clone_into(&mut shown.labels);
        self.before = shown;
        engine.cells(layers).clone_into(&mut self.cells);
    }

    /// Notes a step of the machine that somebody else checks: the situation, the vertex, and what it did.
    pub(super) fn pass_over(
        &mut self,
        both: &Lockstep<'_>,
        (effect, samples): (Effect, SampleUse),
        y: &[f64],
    ) {
        self.follow(both, effect, samples);
        self.n_looked_at += usize::from(self.is_new(y));
        self.path = visit(self.path, self.place.vertex);
    }

    /// Adds what was seen of the steps before those that were watched here.
    pub(super) fn add_earlier(&mut self, earlier: Observed) {
        let ranges = [(&mut self.gains, earlier.gains), (&mut self.losses, earlier.losses)];
        for (range, earlier) in ranges {
            if let Some((low, high)) = earlier {
                *range = widened(widened(*range, low), high);
            }
        }
        self.differs = earlier.differs.or(self.differs.take());
    }

    /// What was seen.
    pub(super) fn observed(&self) -> Observed {
        Observed { gains: self.gains, losses: self.losses, differs: self.differs.clone() }
    }

    /// Notes what the machine's memory holds.
    fn find_memory(&mut self, both: &Lockstep<'_>) {
        let tape = both.simulator.simulator().tape(self.lesson.learner.data_track());
        for (bit, held) in self.place.held.iter_mut().enumerate() {
            let cell = i64::try_from(both.layout.cell(bit)).unwrap_or(i64::MAX);
            *held = if tape.read(cell) == SymbolId(1) { 1.0 } else { -1.0 };
        }
    }

    /// Notes where the heads of these tapes are and what they find, and the vertex that follows from all symbols.
    fn find_tapes(&mut self, both: &Lockstep<'_>, tapes: u32) {
        let judge = both.simulator.simulator();
        for tape in tracks(tapes) {
            let id = TapeId::new(tape);
            self.place.columns[tape] = both.window.index(id, judge.head(id)).unwrap_or(usize::MAX);
            let one = judge.tape(id).read(judge.head(id)) == SymbolId(1);
            self.place.symbols = self.place.symbols & !(1 << tape) | u32::from(one) << tape;
        }
        self.place.vertex = self.lesson.network.control().vertex(judge.state(), Bits(self.place.symbols));
    }

    /// Notes a step of the machine, what it did with the batch, and where it led.
    pub(super) fn follow(&mut self, both: &Lockstep<'_>, effect: Effect, samples: SampleUse) {
        let takes = samples == SampleUse::Take;
        self.made = Made { from: (self.place.vertex, self.place.symbols), effect, takes };
        let mut tapes = (effect.left | effect.right | effect.changed) as u32;
        if samples != SampleUse::Pass {
            tapes |= 1 << self.lesson.learner.data_track().index();
            self.find_memory(both);
            self.before.memory_settled = false;
        }
        self.find_tapes(both, tapes);
    }

    /// Whether the step that the machine has just made is in a situation that was not met before.
    pub(super) fn is_new(&mut self, y: &[f64]) -> bool {
        let Some(layers) = self.layers else { return false };
        let table = &layers.table;
        let Made { from: (vertex, symbols), effect, .. } = self.made;
        let Place { vertex: to, symbols: ahead, .. } = self.place;
        let seen = table.looks_at(table.block(vertex));
        let known_here = seen | table.column(vertex).map_or(0, |column| column.put);
        let known_ahead = seen | table.looks_at(table.block(to));
        let situation = Situation {
            vertex: vertex as u32,
            to: to as u32,
            here: (known_here, symbols & known_here),
            ahead: (known_ahead, ahead & known_ahead),
            left: effect.left as u32,
            right: effect.right as u32,
            flipped: effect.changed as u32 & self.trained,
        };
        let key = (situation, y.iter().any(|&y| y != 0.0));
        let mixed = (vertex as u64 ^ u64::from(situation.here.1) << 20 ^ u64::from(situation.ahead.1) << 40)
            .wrapping_add(u64::from(key.1))
            .wrapping_mul(MULTIPLIER);
        let recent = &mut self.recent[(mixed >> 52) as usize & (N_RECENT - 1)];
        if *recent == Some(key) {
            return false;
        }
        *recent = Some(key);
        self.known.insert(key)
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
    pub(super) fn check(&mut self, engine: &AnyEngine<'_>, y: &[f64]) -> Result<(), StreamMismatch> {
        self.path = visit(self.path, self.place.vertex);
        let Some(layers) = self.layers else { return Ok(()) };
        let carrier = self.lesson.network.constants.carrier;
        let mut rule = Rule { gain: (carrier - y[0]) / carrier, gains: self.gains };
        rule.row("vertex", &mut self.before.rows[0], &engine.row(layers, None), self.place.vertex)?;
        for tape in 0..self.place.columns.len() {
            self.check_tape(engine, layers, tape, &mut rule)?;
        }
        let (memory, held) = (engine.memory(layers), &self.place.held);
        if !self.before.memory_settled || !same(memory, held) {
            let pairs = self.before.memory.iter().copied().zip(memory.iter().copied());
            for (bit, (pair, &held)) in pairs.zip(held).enumerate() {
                rule.moved("memory", bit, pair, held)?;
            }
            memory.clone_into(&mut self.before.memory);
            self.before.memory_settled = same(memory, held);
        }
        let labels = engine.labels(layers);
        for (label, (before, &after)) in self.before.labels.iter_mut().zip(labels).enumerate() {
            match self.made.takes {
                // The slot follows its own gradient, which no carrier scales.
                true => {
                    let way = carrier - y[label];
                    Rule { gain: 1.0, gains: None }.moved("z", label, (*before, after), *before + way)?;
                }
                false => rule.moved("z", label, (*before, after), -carrier)?,
            }
            *before = after;
        }
        self.gains = rule.gains;
        Ok(())
    }

    /// The head of a tape, and the cell that it was on.
    fn check_tape(
        &mut self,
        engine: &AnyEngine<'_>,
        layers: &StreamLayers,
        tape: usize,
        rule: &mut Rule,
    ) -> Result<(), StreamMismatch> {
        let Effect { left, right, changed } = self.made.effect;
        let trained = self.trained >> tape & 1 == 1;
        let (column, head) = (self.place.columns[tape], engine.row(layers, Some(tape)));
        let bit = |mask: u32| mask >> tape & 1 == 1;
        let sign = |one: bool| if one { 1.0_f64 } else { -1.0 };
        let exact = |head: &[(usize, f64)], cell: f64| {
            let there =
                matches!(*head, [(at, weight)] if at == column && weight.to_bits() == 1.0_f64.to_bits());
            there && (!trained || cell.to_bits() == sign(bit(self.place.symbols)).to_bits())
        };
        let stays = !bit((left | right | changed) as u32);
        if stays && bit(self.before.settled) && exact(&head, engine.cell(layers, tape, column)) {
            return Ok(());
        }
        rule.row("head", &mut self.before.rows[1 + tape], &head, column)?;
        let was = column.wrapping_sub(bit(right as u32).into()).wrapping_add(bit(left as u32).into());
        if trained {
            let after = engine.cell(layers, tape, was);
            let symbol = sign(bit(self.made.from.1 ^ changed as u32));
            rule.moved("cell", tape, (self.before.under[tape], after), symbol)?;
            let place = layers.table.rows()[tape] * self.lesson.window.n_cells + was;
            self.cells[place] = after;
        }
        let cell = engine.cell(layers, tape, column);
        let settled = exact(&head, cell);
        self.before.under[tape] = cell;
        self.before.settled = self.before.settled & !(1 << tape) | u32::from(settled) << tape;
        Ok(())
    }

    /// The weights before a step in a new situation: those around the heads, and now and then all.
    pub(super) fn note(&self, engine: &AnyEngine<'_>) -> Before<'a> {
        let n = self.n_looked_at + 1;
        let by_candle = n.is_power_of_two() && n.trailing_zeros().is_multiple_of(3);
        let near = self.near.filter(|_| !by_candle).and_then(|near| {
            let starts = near.starts(&self.place.columns)?;
            let part = near.part(&starts)?;
            Some(Before::Near(self.narrow(near.n_cells, &starts)?, starts, part))
        });
        match near {
            Some(before) => before,
            None => Before::All(engine.weights(), by_candle),
        }
    }

    /// The weights as the last step left them, in these columns; `None` if a head has weight elsewhere.
    fn narrow(&self, n_cells: usize, starts: &[usize]) -> Option<Vec<Values>> {
        let layers = self.layers?;
        let parameters = self.lesson.network.network.parameters();
        let mut all: Vec<Values> = parameters.iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for &(vertex, weight) in &self.before.rows[0] {
            all[layers.vertex.index()].data[vertex] = weight;
        }
        let rows = parameters[layers.head.index()].shape.rows;
        let mut heads = Values::filled(Shape::new(rows, n_cells), 0.0);
        for (&row, head) in layers.table.rows().iter().zip(&self.before.rows[1..]) {
            for &(at, weight) in head {
                let column = at.checked_sub(starts[row]).filter(|&column| column < n_cells)?;
                *heads.at_mut(row, column) = weight;
            }
        }
        all[layers.head.index()] = heads;
        let wide = self.lesson.window.n_cells;
        let cells = (0..layers.table.n_trained()).flat_map(|row| {
            let first = row * wide + starts[row];
            &self.cells[first..first + n_cells]
        });
        all[layers.cells.index()] =
            Values::new(Shape::new(layers.table.n_trained(), n_cells), cells.copied().collect());
        all[layers.memory.index()].data.clone_from(&self.before.memory);
        all[layers.labels.index()].data.clone_from(&self.before.labels);
        Some(all)
    }

    /// Differentiates the network with the weights before a step and compares all of those after it: on the columns around the heads, all
    /// others being as earlier steps left them, and now and then the whole network, also by candle.
    pub(super) fn look(
        &mut self,
        before: Before<'a>,
        engine: &AnyEngine<'_>,
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), PreparedStreamError> {
        if self.differs.is_some() {
            return Ok(());
        }
        self.n_looked_at += 1;
        let inputs = inputs(self.lesson, x, y);
        let (before, after, part) = match before {
            Before::All(before, by_candle) => {
                let after = engine.weights();
                if by_candle {
                    self.checker.go_to(&before)?;
                    self.checker.step_on(x, y)?;
                    self.compare(&self.checker.weights(), &after);
                }
                (before, after, None)
            }
            Before::Near(before, starts, part) => {
                let kept = self.layers.is_some_and(|layers| same(engine.cells(layers), &self.cells));
                let after = self.near.and_then(|near| self.narrow(near.n_cells, &starts));
                let Some(after) = after.filter(|_| kept) else {
                    self.differs = Some("a step moves a weight far from every head".to_owned());
                    return Ok(());
                };
                (before, after, Some(part))
            }
        };
        let (loss, stepped) = match part {
            Some(Part::Kept(number, network)) => {
                let pass = self.passes.entry(number);
                stepped(pass.or_insert_with(|| ReversePass::new(&network.network)), &before, &inputs)
            }
            Some(Part::Made(network)) => stepped(&mut ReversePass::new(&network.network), &before, &inputs),
            None => {
                let whole = || ReversePass::new(&self.lesson.network.network);
                stepped(self.pass.get_or_insert_with(whole), &before, &inputs)
            }
        };
        let expected = self.lesson.running_loss(y);
        if !near(loss, expected) {
            self.differs = Some(format!("the network's loss is {loss}, not {expected}"));
        }
        self.losses = widened(self.losses, loss);
        self.compare(&stepped, &after);
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
        if let (AnyEngine::Dense(..), None) = (engine, &self.differs) {
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

/// The loss of a network, and its weights after one step of rate 1.
fn stepped(pass: &mut ReversePass<'_>, before: &[Values], inputs: &[Values]) -> (f64, Vec<Values>) {
    let loss = pass.evaluate(before, inputs);
    let mut stepped = pass.gradient(1.0);
    for (stepped, before) in stepped.iter_mut().zip(before) {
        stepped.data.iter_mut().zip(&before.data).for_each(|(slope, before)| *slope = before - *slope);
    }
    (loss, stepped)
}

/// A range that has another number in it.
pub(super) fn widened(range: Option<(f64, f64)>, by: f64) -> Option<(f64, f64)> {
    Some(range.map_or((by, by), |(low, high)| (low.min(by), high.max(by))))
}

/// Whether numbers are the same, bit for bit.
pub(super) fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | a.to_bits() ^ b.to_bits()) == 0
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs()).max(1.0)
}
