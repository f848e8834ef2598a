//! Checks every step of a run on a stream: each weight must go towards the machine's next configuration, as far as the
//! batch's label allows. In every distinct situation the network is also differentiated, at the weights of that step.

mod situations;

use std::collections::{HashMap, HashSet};

use luge_machine::{
    Bits, Effect, SampleUse, SymbolId, TapeId,
    stream::{Slot, StreamOutcome, StreamSimulator},
};
use luge_net::{Values, tracks};
use luge_train::{Dense, MULTIPLIER, ReversePass, Situation, visit};

use super::{
    JobError, PreparedStream, bits, certificate::dense, engine::AnyEngine, narrow::NarrowNetworks, rule::Rule,
};
use crate::certificate::same_bits;

/// The fewest steps between two comparisons of all weights.
const MIN_BETWEEN: u64 = 1 << 12;

/// The weights that the next step can move.
#[derive(Clone, Debug, Default)]
struct MovableWeights {
    /// The nonzero weights of the vertices, then of each head.
    rows: Vec<Vec<(usize, f64)>>,
    /// The cells under the heads, per tape; those of read-only tapes are not weights.
    under: Vec<f64>,
    memory: Vec<f64>,
    labels: Vec<f64>,
    /// The tapes whose head and the cell under it are exactly at their targets.
    settled: u32,
    /// Whether the memory is exactly at its target.
    memory_settled: bool,
}

/// Where the machine is.
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
struct MachineStep {
    /// The vertex and all symbols before it.
    from: (usize, u32),
    effect: Effect,
    takes: bool,
}

/// What the steps of a run, or of a part of it, have shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// The smallest and the largest part of the way to its target that a weight went in a step.
    pub(super) gains: Option<(f64, f64)>,
    /// The smallest and the largest loss of the situations.
    pub(super) losses: Option<(f64, f64)>,
    /// The first difference from the network's gradient.
    differs: Option<String>,
}

/// The size of the table of recent situations, a power of two.
const N_RECENT: usize = 1 << 12;

/// The simulator, which runs on the same stream as an engine and checks it.
pub(super) struct StreamChecker<'a> {
    prepared: &'a PreparedStream,
    /// The tapes whose cells are weights.
    trained: u32,
    /// The network on fewer cells, where it is much narrower.
    narrow: Option<&'a NarrowNetworks<'a>>,
    /// Reverse passes of the cached narrow networks, by their slots.
    passes: HashMap<usize, ReversePass<'a>>,
    pub(super) simulator: StreamSimulator<'a>,
    /// The labels in the slot.
    held_back: Vec<f64>,
    place: Place,
    made: MachineStep,
    before: MovableWeights,
    /// All cells that are weights, as the steps so far should have left them.
    cells: Vec<f64>,
    /// The situations met so far, each with whether a label of the batch was not 0.
    known: HashSet<(Situation, bool)>,
    /// Situations that were met recently, by their hash.
    recent: Vec<Option<(Situation, bool)>>,
    /// The reverse pass of the whole network.
    pub(super) pass: ReversePass<'a>,
    pub(super) dense: Dense<'a>,
    n_looked_at: usize,
    /// The step at which all weights are compared next.
    all_due: u64,
    n_weights: u64,
    /// The digest of the vertices that the machine visited.
    pub(super) path: u64,
    pub(super) observed: Observed,
}

impl<'a> StreamChecker<'a> {
    /// Creates the checker of an engine at the start of the run.
    pub(super) fn new(
        prepared: &'a PreparedStream,
        narrow: Option<&'a NarrowNetworks<'a>>,
        engine: &AnyEngine<'_>,
    ) -> Result<Self, JobError> {
        let network = &prepared.network.network;
        let simulator = prepared.simulator();
        let n_tapes = simulator.simulator().machine().n_tapes();
        let mut checker = Self {
            prepared,
            trained: prepared.layers.table.trained_tracks(),
            narrow,
            passes: HashMap::new(),
            simulator,
            held_back: Vec::new(),
            place: Place {
                columns: vec![0; n_tapes],
                held: vec![-1.0; prepared.layout.n_bits()],
                ..Place::default()
            },
            made: MachineStep::default(),
            before: MovableWeights::default(),
            cells: Vec::new(),
            known: HashSet::new(),
            recent: vec![None; N_RECENT],
            pass: ReversePass::new(network),
            dense: dense(prepared, &prepared.network.initial)?,
            n_looked_at: 0,
            all_due: 0,
            n_weights: network.parameters().iter().map(|p| p.shape.len() as u64).sum(),
            path: 0,
            observed: Observed::default(),
        };
        checker.find_memory();
        checker.find_tapes(u32::MAX >> (32 - n_tapes.clamp(1, 32)));
        checker.path = visit(0, checker.place.vertex);
        checker.note_weights(engine);
        Ok(checker)
    }

    /// Records the engine's weights that the machine's next step can move.
    pub(super) fn note_weights(&mut self, engine: &AnyEngine<'_>) {
        let tapes = || self.place.columns.iter().enumerate();
        let heads = tapes().map(|(tape, _)| engine.row(Some(tape)).into_owned());
        self.before = MovableWeights {
            rows: [engine.row(None).into_owned()].into_iter().chain(heads).collect(),
            under: tapes().map(|(tape, &column)| engine.cell(tape, column)).collect(),
            memory: engine.memory().to_vec(),
            labels: engine.labels().to_vec(),
            ..MovableWeights::default()
        };
        engine.cells().clone_into(&mut self.cells);
    }

    /// Records the situation and the vertex of the machine's last step, which another thread checks.
    pub(super) fn skip_step(&mut self, y: &[f64]) {
        self.n_looked_at += usize::from(self.is_new(y));
        self.path = visit(self.path, self.place.vertex);
    }

    /// Reads the machine's memory.
    fn find_memory(&mut self) {
        let tape = self.simulator.simulator().tape(self.prepared.learner.data_track());
        for (bit, held) in self.place.held.iter_mut().enumerate() {
            let cell = i64::try_from(self.prepared.layout.cell(bit)).unwrap_or(i64::MAX);
            *held = if tape.read(cell) == SymbolId(1) { 1.0 } else { -1.0 };
        }
    }

    /// Reads the positions and symbols of the heads of these tapes, and finds the vertex of all symbols.
    fn find_tapes(&mut self, tapes: u32) {
        let simulator = self.simulator.simulator();
        for tape in tracks(tapes) {
            let id = TapeId::new(tape);
            self.place.columns[tape] =
                self.prepared.window.index(id, simulator.head(id)).unwrap_or(usize::MAX);
            let one = simulator.tape(id).read(simulator.head(id)) == SymbolId(1);
            self.place.symbols = self.place.symbols & !(1 << tape) | u32::from(one) << tape;
        }
        self.place.vertex =
            self.prepared.network.control().vertex(simulator.state(), Bits(self.place.symbols));
    }

    /// Makes the machine's step on a batch.
    pub(super) fn step(&mut self, x: &[f64], y: &[f64]) -> Result<(), StreamOutcome> {
        let (samples, format) = (self.simulator.next_use(), self.prepared.layout.format);
        let effect = self.simulator.step(|| bits(format, x, y))?;
        let takes = samples == SampleUse::Take;
        if takes {
            y.clone_into(&mut self.held_back);
        }
        self.made = MachineStep { from: (self.place.vertex, self.place.symbols), effect, takes };
        let mut tapes = (effect.left | effect.right | effect.changed) as u32;
        if samples != SampleUse::Pass {
            tapes |= 1 << self.prepared.learner.data_track().index();
            self.find_memory();
            self.before.memory_settled = false;
        }
        self.find_tapes(tapes);
        Ok(())
    }

    /// Whether the machine has just made a step in a situation that was not met before.
    pub(super) fn is_new(&mut self, y: &[f64]) -> bool {
        let table = &self.prepared.layers.table;
        let MachineStep { from: (vertex, symbols), effect, .. } = self.made;
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

    /// Compares all weights with the machine: state, heads, cells, memory and slot. The error says how they differ.
    pub(super) fn compare_all(&self, weights: &[Values]) -> Result<(), String> {
        let PreparedStream { network, window, .. } = self.prepared;
        let found = network.decode(weights).map_err(|undecodable| undecodable.to_string())?;
        let simulator = self.simulator.simulator();
        let what = match window.configuration(simulator) {
            _ if found.state != simulator.state() => "state",
            Some(expected) if found.heads == expected.heads => match found.tapes == expected.tapes {
                true => return self.compare_slot(&weights[network.labels.index()].data),
                false => "cell",
            },
            _ => "head",
        };
        Err(format!("the network's {what} differs from the machine's"))
    }

    /// Checks that z is minus the labels while the slot holds them, and -A while it is ready.
    fn compare_slot(&self, z: &[f64]) -> Result<(), String> {
        let constants = self.prepared.network.constants;
        let near = constants.label_unit / 2.0;
        let wrong = |(found, expected): &(f64, f64)| {
            (found - expected).abs().partial_cmp(&near) != Some(std::cmp::Ordering::Less)
        };
        let expected: Vec<f64> = match self.simulator.slot() {
            Slot::Holds => self.held_back.iter().map(|y| -y).collect(),
            Slot::Ready => vec![-constants.carrier; z.len()],
            Slot::Returns => return Ok(()),
        };
        match z.iter().copied().zip(expected).find(wrong) {
            Some((found, expected)) => Err(format!("z is {found} where it should be {expected}")),
            None => Ok(()),
        }
    }

    /// Whether to compare all weights now, which averages to about one weight per step.
    pub(super) fn all_due(&mut self, step: u64) -> bool {
        let due = step >= self.all_due;
        if due {
            self.all_due = step + self.n_weights.max(MIN_BETWEEN);
        }
        due
    }

    /// Checks that every weight that the step could move went where the machine's step and the batch's label lead it.
    pub(super) fn check(&mut self, engine: &AnyEngine<'_>, y: &[f64]) -> Result<(), String> {
        self.path = visit(self.path, self.place.vertex);
        let carrier = self.prepared.network.constants.carrier;
        let mut rule = Rule { gain: (carrier - y[0]) / carrier, gains: self.observed.gains };
        rule.row("vertex", &mut self.before.rows[0], &engine.row(None), self.place.vertex)?;
        for tape in 0..self.place.columns.len() {
            self.check_tape(engine, tape, &mut rule)?;
        }
        let (memory, held) = (engine.memory(), &self.place.held);
        if !self.before.memory_settled || !same_bits(memory, held) {
            let pairs = self.before.memory.iter().copied().zip(memory.iter().copied());
            for (bit, (pair, &held)) in pairs.zip(held).enumerate() {
                rule.moved("memory", bit, pair, held)?;
            }
            memory.clone_into(&mut self.before.memory);
            self.before.memory_settled = same_bits(memory, held);
        }
        for (label, (before, &after)) in self.before.labels.iter_mut().zip(engine.labels()).enumerate() {
            match self.made.takes {
                // The slot has its own gradient, which the carrier does not scale.
                true => {
                    let way = carrier - y[label];
                    Rule { gain: 1.0, gains: None }.moved("z", label, (*before, after), *before + way)?;
                }
                false => rule.moved("z", label, (*before, after), -carrier)?,
            }
            *before = after;
        }
        self.observed.gains = rule.gains;
        Ok(())
    }

    /// Checks the head of a tape and the cell that it has left.
    fn check_tape(&mut self, engine: &AnyEngine<'_>, tape: usize, rule: &mut Rule) -> Result<(), String> {
        let Effect { left, right, changed } = self.made.effect;
        let trained = self.trained >> tape & 1 == 1;
        let (column, head) = (self.place.columns[tape], engine.row(Some(tape)));
        let bit = |mask: u32| mask >> tape & 1 == 1;
        let sign = |one: bool| if one { 1.0_f64 } else { -1.0 };
        let exact = |head: &[(usize, f64)], cell: f64| {
            let there =
                matches!(*head, [(at, weight)] if at == column && weight.to_bits() == 1.0_f64.to_bits());
            there && (!trained || cell.to_bits() == sign(bit(self.place.symbols)).to_bits())
        };
        let stays = !bit((left | right | changed) as u32);
        if stays && bit(self.before.settled) && exact(&head, engine.cell(tape, column)) {
            return Ok(());
        }
        rule.row("head", &mut self.before.rows[1 + tape], &head, column)?;
        let was = column.wrapping_sub(bit(right as u32).into()).wrapping_add(bit(left as u32).into());
        if trained {
            let after = engine.cell(tape, was);
            let symbol = sign(bit(self.made.from.1 ^ changed as u32));
            rule.moved("cell", tape, (self.before.under[tape], after), symbol)?;
            let place = self.prepared.layers.table.rows[tape] * self.prepared.window.n_cells + was;
            self.cells[place] = after;
        }
        let cell = engine.cell(tape, column);
        let settled = exact(&head, cell);
        self.before.under[tape] = cell;
        self.before.settled = self.before.settled & !(1 << tape) | u32::from(settled) << tape;
        Ok(())
    }
}

impl Observed {
    /// Adds what earlier steps have shown.
    pub(super) fn add_earlier(&mut self, earlier: Self) {
        let ranges = [(&mut self.gains, earlier.gains), (&mut self.losses, earlier.losses)];
        for (range, earlier) in ranges {
            if let Some((low, high)) = earlier {
                *range = widened(widened(*range, low), high);
            }
        }
        self.differs = earlier.differs.or(self.differs.take());
    }
}

/// Extends a range to include another number.
pub(super) fn widened(range: Option<(f64, f64)>, by: f64) -> Option<(f64, f64)> {
    Some(range.map_or((by, by), |(low, high)| (low.min(by), high.max(by))))
}
