//! Networks ready to be trained, and the engines that train them.

use luge_landscape::{
    Configuration, Extended, Landscape, LandscapeKind, LandscapeOptions, Learner, LearnerError, Mlp,
};
use luge_machine::{
    Alphabet, Input, Machine, Move, Pattern, SymbolId, Write,
    lowering::{Moves, lower},
};
use luge_net::{Network, Values};
use luge_train::{Dense, Exact, Memories, Precision, Rate, Sparse, StopRule, Tracer, train};

use super::compiled;
use crate::{
    data::Table,
    learners::Shipped,
    lesson::{Lesson, LessonOptions},
    lockstep::{Lockstep, Window},
    program,
};

/// What trains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contender {
    /// Remembered blocks and steps.
    Exact,
    /// Remembered steps.
    Steps,
    /// What is not zero.
    Sparse,
    /// Everything.
    Dense,
}

impl Contender {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Steps => "exact without blocks",
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

/// What an engine holds for cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Memory {
    pub(super) bytes: usize,
    pub(super) cells: usize,
}

/// A network and where training starts.
pub(super) struct Scene {
    network: Network,
    parameters: Vec<Values>,
    inputs: Vec<Values>,
    stop: f64,
    not_before: u64,
}

impl Scene {
    /// Trains from the start; returns the steps made.
    pub(super) fn run(&self, contender: Contender, most_steps: u64) -> (u64, Option<Memory>) {
        let Self { network, parameters, inputs, stop, not_before } = self;
        let stop = StopRule { loss_at_most: *stop, not_before: *not_before, most_steps };
        let traced = match contender {
            Contender::Dense => {
                let made = Dense::new(network, parameters, inputs, Precision::F64, Rate::One, None).and_then(
                    |mut engine| train(&mut engine, &stop, |_| std::ops::ControlFlow::Continue(())),
                );
                return (made.map_or(0, luge_train::Outcome::steps), None);
            }
            Contender::Sparse => {
                Sparse::new(network, parameters, inputs).and_then(|engine| finish(engine, &stop))
            }
            Contender::Exact | Contender::Steps => {
                let memories = if contender == Contender::Exact { Memories::Blocks } else { Memories::Steps };
                Exact::new(network, parameters, inputs, memories).and_then(|engine| finish(engine, &stop))
            }
        };
        traced.map_or((0, None), |(steps, memory)| (steps, Some(memory)))
    }
}

fn finish(mut engine: impl Tracer, stop: &StopRule) -> Result<(u64, Memory), luge_train::TrainError> {
    let outcome = engine.run(stop)?;
    let n_signs = engine.snapshot().tapes.len();
    let cells = (0..n_signs).map(|sign| (engine.kept(sign).end - engine.kept(sign).start) as usize).sum();
    Ok((outcome.steps(), Memory { bytes: engine.cell_bytes(), cells }))
}

/// Cells beside the input: fast engines grow their own tapes, the dense one has what the network has.
const ROOM: usize = 4;
const DENSE_ROOM: usize = 1020;

/// A landscape alone; with `filled`, on a tape with so many ones.
pub(super) fn landscape(
    machine: &Machine,
    input: &Input,
    kind: LandscapeKind,
    filled: Option<usize>,
) -> Scene {
    with_room(machine, input, kind, filled, ROOM)
}

/// A landscape for the dense engine, with a thousand cells.
pub(super) fn dense_landscape(machine: &Machine, input: &Input, kind: LandscapeKind) -> Scene {
    with_room(machine, input, kind, None, DENSE_ROOM)
}

fn with_room(
    machine: &Machine,
    input: &Input,
    kind: LandscapeKind,
    filled: Option<usize>,
    room: usize,
) -> Scene {
    let mut input = input.clone();
    if let Some(n_cells) = filled {
        input.tapes.resize_with(1, Default::default);
        input.tapes[0].symbols = vec![SymbolId(1); n_cells];
    }
    let build = || {
        let lowered = lower(machine, Moves::Keep).ok()?;
        let input = lowered.encode(&input);
        let start = luge_machine::Simulator::new(lowered.normal.machine(), &input);
        let window = Window::around(&start, &input, |needed| needed + room).ok()?;
        let lockstep = Lockstep::new(lowered.normal.machine(), &input, window.clone())?;
        let start: &Configuration = lockstep.expected();
        let landscape =
            Landscape::build(&lowered.normal, &LandscapeOptions::new(kind, window.n_cells)).ok()?;
        let (parameters, inputs) = landscape.encode(start)?;
        let stop = landscape.bounds().stop;
        Some(Scene { network: landscape.network().clone(), parameters, inputs, stop, not_before: 0 })
    };
    build().unwrap_or_else(|| unreachable!("a landscape of a machine written down here"))
}

/// A learner that ships, ready to be trained.
pub(super) struct Subject {
    learner: Learner,
    table: Table,
    options: LessonOptions,
    primary: Mlp,
}

impl Subject {
    pub(super) fn new(shipped: &Shipped) -> Result<Self, LearnerError> {
        let found = compiled(shipped);
        let (machine, input, table, format) =
            found.unwrap_or_else(|| unreachable!("{} ships, so it compiles", shipped.name));
        let learner = Learner::new(&machine, Some(&input))?;
        let primary = Mlp::linear(table.feature_names.len(), table.label_names.len());
        Ok(Self { learner, table, options: LessonOptions::new(format), primary })
    }

    /// The learner's machine on binary tapes, and the data on them.
    pub(super) fn normal(&self) -> (&Machine, Input) {
        let layout = program::layout(&self.table, self.options.format);
        let input = self.learner.input(&layout, &program::bits(&self.table, self.options.format));
        (self.learner.lowered().normal.machine(), input)
    }
}

/// The whole extended network around a learner.
pub(super) fn lesson(subject: &Subject) -> Scene {
    let Subject { learner, table, options, primary } = subject;
    let lesson = Lesson::prepare(learner, primary, table, options);
    let lesson = lesson.unwrap_or_else(|error| unreachable!("a learner that ships: {error}"));
    let extended = lesson.extended();
    Scene {
        network: extended.network().clone(),
        parameters: extended.initial().to_vec(),
        inputs: lesson.inputs(),
        stop: extended.stop(),
        not_before: Extended::FIRST_STOP,
    }
}

/// A machine that goes through all its states in turn, to and fro, and changes what it reads.
pub(super) fn ring(n_states: usize) -> Machine {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    let states: Vec<_> = (0..n_states).map(|i| b.state(format!("s{i}"))).collect();
    for (i, &state) in states.iter().enumerate() {
        let way = if i % 4 < 2 { Move::Right } else { Move::Left };
        let next = states[(i + 1) % n_states];
        for symbol in [SymbolId(0), SymbolId(1)] {
            let write = Write::Put(SymbolId(1 - symbol.0));
            b.rule(state, [Pattern::Is(symbol)], [write], [way], next);
        }
    }
    match b.build() {
        Ok(machine) => machine,
        Err(error) => unreachable!("a machine written down here: {error:?}"),
    }
}
