//! From a request to a network that can be filmed.

use luge_landscape::{
    AskedConstants, Bounds, Carrier, Control, Extended, Landscape, LandscapeKind, LandscapeOptions, Learner,
    Mlp,
};
use luge_machine::{
    Input, Machine, NormalForm, Simulator, Step,
    formats::{Format, Loaded, recognise},
    lowering::{Lowered, Moves, lower},
    parse_inputs,
};
use luge_net::{Form, NumberFormat, SparseLayers};
use luge_train::{Precision, Rate, StopRule};

use super::request::{Data, Finding, Language, MOST_STEPS, Refusal, Request, located, named};
use crate::film::{Choice, Inside, Tapes, Task};
use luge::{
    data::{Range, Table},
    engine::Engine,
    lesson::{Lesson, LessonOptions},
    lockstep::{Lockstep, Window},
    program::{self, ProgramError},
    trace::{Plan, TraceOptions},
};

/// Steps that the dense engine is followed for.
pub const MOST_DENSE_STEPS: Step = 20_000;

/// Steps a learner may make.
const MOST_LESSON_STEPS: Step = 100_000_000;

/// Cells of a landscape that only shows the surroundings of the heads, and where the heads are on it.
pub(super) const NEAR_CELLS: usize = 5;
pub(super) const NEAR_HEAD: usize = 2;

/// Vertices beyond which the loss around one is not looked at.
const MOST_AROUND: usize = 1 << 13;

/// Cells on each side of an input.
const MARGIN: usize = 2;

/// The most bytes of a network's first cells.
const MOST_INPUT: usize = 1 << 16;

/// A request that reads well: a program, its input or its data, and the options.
pub struct Stage {
    name: String,
    loaded: Loaded,
    input: Input,
    lines: Vec<Option<usize>>,
    warnings: Vec<Finding>,
    task: Option<Learning>,
    kind: LandscapeKind,
    choice: Choice,
    precision: Precision,
    steps: Step,
}

/// A learner and what it learns from.
struct Learning {
    learner: Learner,
    primary: Mlp,
    table: Table,
    options: LessonOptions,
}

/// What a landscape is made with, besides its machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    kind: LandscapeKind,
    asked: AskedConstants,
}

/// A network ready to be filmed, and what it means.
pub struct Scene<'a> {
    /// What the run is called.
    pub name: &'a str,
    /// The machine as given.
    pub machine: &'a Machine,
    /// The machine in normal form.
    pub lowered: &'a Lowered,
    /// Which landscape.
    pub kind: LandscapeKind,
    /// The network and its start.
    pub task: Task<'a>,
    /// Where the tapes are.
    pub tapes: Tapes<'a>,
    /// The vertices, unless they are configurations.
    pub control: Option<&'a Control>,
    /// The landscape around a vertex: few cells, the same constants. `None` where it would be too large, or vertices are
    /// configurations of an extended network.
    pub near: Option<&'a Landscape>,
    /// How the landscape is carved.
    pub(super) constants: Constants,
    /// Where the loss must lie.
    pub bounds: Bounds,
    /// The lesson, if the machine learns.
    pub lesson: Option<&'a Lesson<'a>>,
    /// The learner.
    pub learner: Option<&'a Learner>,
    /// For every state the program's line it stands in, if known.
    pub lines: &'a [Option<usize>],
    /// What to know about the program.
    pub warnings: &'a [Finding],
}

impl Stage {
    /// Reads a request.
    ///
    /// # Errors
    /// Everything that is wrong with it, at its place.
    pub fn open(request: &Request) -> Result<Self, Refusal> {
        let table = request.data.as_ref().map(|data| read_table(request, data)).transpose()?;
        let Read { format, mut loaded, lines } = read_program(request, table.as_ref())?;
        let warnings = located(&loaded.warnings, &request.source.text);
        let admitting = format.filter(|_| !request.input.is_empty());
        if let Some(Ok(admitting)) = admitting.map(|f| f.read_for(&request.source.text, &request.input)) {
            loaded = admitting;
        }
        let input = if request.input.is_empty() {
            loaded.input.clone().unwrap_or_else(Input::blank)
        } else {
            parse_inputs(&loaded.machine, &request.input).map_err(|e| Refusal::new("input", e))?
        };
        let kind = named("landscape", &LandscapeKind::ALL, LandscapeKind::word, &request.landscape)?;
        let choice = named("engine", &Choice::ALL, Choice::word, &request.engine)?;
        let precision = named("precision", &Precision::ALL, Precision::word, &request.precision)?;
        let task = table.map(|table| read_task(request, table, &loaded, kind)).transpose()?;
        let name = request.name.clone().or_else(|| loaded.machine.name().map(str::to_owned));
        Ok(Self {
            name: name.unwrap_or_else(|| "a machine".to_owned()),
            lines,
            loaded,
            input,
            warnings,
            task,
            kind,
            choice,
            precision,
            steps: request.steps.min(MOST_STEPS),
        })
    }

    /// Builds the network and does something with it.
    ///
    /// # Errors
    /// If there is no such network, with the reason.
    pub fn perform<R>(&self, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        match &self.task {
            Some(task) => self.perform_lesson(task, act),
            None if self.is_dense() => self.perform_plan(act),
            None => self.perform_machine(act),
        }
    }

    fn is_dense(&self) -> bool {
        self.kind == LandscapeKind::Internal
            || self.choice == Choice::Dense
            || self.precision != Precision::F64
    }

    /// A machine by itself, on tapes without ends.
    fn perform_machine<R>(&self, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        let unfit = |error: &dyn std::fmt::Display| Refusal::new("options", error);
        let machine = &self.loaded.machine;
        let lowered = lower(machine, Moves::Keep).map_err(|e| Refusal::new("source", e))?;
        let input = lowered.encode(&self.input);
        let simulator = Simulator::new(lowered.normal.machine(), &input);
        let needs = |needed: usize| needed + 2 * MARGIN;
        let window = Window::around(&simulator, &input, needs).map_err(|_| too_long())?;
        if window.n_cells > MOST_INPUT {
            return Err(too_long());
        }
        let start = Lockstep::new(lowered.normal.machine(), &input, window.clone()).ok_or_else(too_long)?;
        let landscape = Landscape::build(&lowered.normal, &LandscapeOptions::new(self.kind, window.n_cells))
            .map_err(|e| unfit(&e))?;
        let (parameters, inputs) = landscape.encode(start.expected()).ok_or_else(too_long)?;
        let constants = Constants { kind: self.kind, asked: AskedConstants::default() };
        let near = near(&lowered, &constants, landscape.n_vertices())?;
        let bounds = landscape.bounds();
        let scene = Scene {
            name: &self.name,
            machine,
            lowered: &lowered,
            kind: self.kind,
            task: Task {
                network: landscape.network(),
                parameters,
                inputs,
                choice: self.choice,
                precision: self.precision,
                rate: Rate::One,
                stop: StopRule { loss_at_most: bounds.stop, not_before: 0, most_steps: self.steps },
                inside: None,
            },
            tapes: Tapes::new(machine, &lowered, window.first),
            control: landscape.control(),
            near: near.as_ref(),
            constants,
            bounds,
            lesson: None,
            learner: None,
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }

    /// A machine by itself, every weight of it in the network.
    fn perform_plan<R>(&self, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        let machine = &self.loaded.machine;
        let steps = (self.kind != LandscapeKind::Internal).then_some(self.steps.min(MOST_DENSE_STEPS));
        let options = TraceOptions {
            landscape: self.kind,
            precision: self.precision,
            steps,
            engine: Engine::Dense,
            ..TraceOptions::default()
        };
        let plan = Plan::new(machine, &self.input, &options).map_err(|e| Refusal::new("options", e))?;
        let (parameters, inputs) = plan.landscape.encode(&plan.start).ok_or_else(too_long)?;
        let constants = Constants { kind: self.kind, asked: AskedConstants::default() };
        let small = match self.kind {
            LandscapeKind::Internal => None,
            _ => near(&plan.lowered, &constants, plan.landscape.n_vertices())?,
        };
        let bounds = plan.landscape.bounds();
        let scene = Scene {
            name: &self.name,
            machine,
            lowered: &plan.lowered,
            kind: self.kind,
            task: Task {
                network: plan.landscape.network(),
                parameters,
                inputs,
                choice: Choice::Dense,
                precision: self.precision,
                rate: Rate::One,
                stop: StopRule {
                    loss_at_most: bounds.stop,
                    not_before: 0,
                    most_steps: self.steps.min(MOST_DENSE_STEPS),
                },
                inside: Some(Inside::Landscape(&plan.landscape)),
            },
            tapes: Tapes::new(machine, &plan.lowered, plan.window.first.clone()),
            control: plan.landscape.control(),
            near: if self.kind == LandscapeKind::Internal { Some(&plan.landscape) } else { small.as_ref() },
            constants,
            bounds,
            lesson: None,
            learner: None,
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }

    /// The learner inside its network; the trial run that sizes the network is the simulator's.
    fn perform_lesson<R>(&self, task: &Learning, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        let lesson = Lesson::prepare(&task.learner, &task.primary, &task.table, &task.options)
            .map_err(|e| Refusal::new("data", e))?;
        let extended = lesson.extended();
        let network = extended.network();
        let asked = network.sparse_layers().ok().map(asked_constants);
        let constants = Constants { kind: self.kind, asked: asked.unwrap_or_default() };
        let small = match asked {
            Some(_) => near(task.learner.lowered(), &constants, extended.n_vertices())?,
            None => None,
        };
        let most_steps = lesson.machine_steps() + extended.extra_steps() + 1;
        let scene = Scene {
            name: &self.name,
            machine: &self.loaded.machine,
            lowered: task.learner.lowered(),
            kind: self.kind,
            task: Task {
                network,
                parameters: extended.initial().to_vec(),
                inputs: lesson.inputs(),
                choice: if self.is_dense() { Choice::Dense } else { self.choice },
                precision: self.precision,
                rate: Rate::One,
                stop: StopRule {
                    loss_at_most: extended.stop(),
                    not_before: Extended::FIRST_STOP,
                    most_steps,
                },
                inside: Some(Inside::Extended(extended)),
            },
            tapes: Tapes::new(&self.loaded.machine, task.learner.lowered(), lesson.window().first.clone()),
            control: extended.control(),
            near: small.as_ref(),
            constants,
            bounds: lesson.loss_levels(),
            lesson: Some(&lesson),
            learner: Some(&task.learner),
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }
}

fn too_long() -> Refusal {
    Refusal::new("input", format!("the input reaches farther than {MOST_INPUT} cells"))
}

/// A program that was read.
struct Read {
    format: Option<Format>,
    loaded: Loaded,
    lines: Vec<Option<usize>>,
}

fn read_program(request: &Request, table: Option<&Table>) -> Result<Read, Refusal> {
    let text = &request.source.text;
    if request.source.kind == Language::Sled {
        return compile(request, table);
    }
    let format = match &request.source.format {
        Some(slug) => named("format", &Format::ALL, Format::slug, slug)?,
        None => recognise(None, text).map_err(|e| Refusal::new("source", e))?,
    };
    let broken = |findings: Vec<_>| {
        Refusal::new("source", format!("this does not read as a {format} machine")).with(&findings, text)
    };
    let loaded = format.read(text).map_err(broken)?;
    let lines = state_lines(&loaded.machine, text);
    Ok(Read { format: Some(format), loaded, lines })
}

/// A Sled program as a machine for the table's sizes.
fn compile(request: &Request, table: Option<&Table>) -> Result<Read, Refusal> {
    let text = &request.source.text;
    let table = table.ok_or_else(|| Refusal::new("data", "a Sled program needs data to learn from"))?;
    let (n_features, n_labels) = (table.feature_names.len(), table.label_names.len());
    let sizes = program::sizes(number_format(request)?, n_features, n_labels)
        .map_err(|e| Refusal::new("options", e))?;
    let compiled = program::compile(text, "this", &sizes).map_err(|error| {
        let refusal = Refusal::new("source", &error);
        match &error {
            ProgramError::Broken { findings, .. } => refusal.with(findings, text),
            _ => refusal,
        }
    })?;
    let lines = compiled.lines.iter().map(|line| line.map(|line| line as usize)).collect();
    let loaded = Loaded { machine: compiled.machine, input: Some(compiled.input), warnings: Vec::new() };
    Ok(Read { format: None, loaded, lines })
}

fn number_format(request: &Request) -> Result<NumberFormat, Refusal> {
    request.format.parse().map_err(|e| Refusal::new("options", e))
}

fn read_table(request: &Request, data: &Data) -> Result<Table, Refusal> {
    let table = Table::read(data.text.as_bytes(), &data.target, data.features.as_deref());
    let mut table = table.map_err(|e| Refusal::new("data", e))?;
    table.fit(number_format(request)?, Range::Refuse).map_err(|e| Refusal::new("data", e))?;
    Ok(table)
}

fn read_task(
    request: &Request,
    table: Table,
    loaded: &Loaded,
    kind: LandscapeKind,
) -> Result<Learning, Refusal> {
    let learner =
        Learner::new(&loaded.machine, loaded.input.as_ref()).map_err(|e| Refusal::new("source", e))?;
    let primary = Mlp::parse(&request.primary, table.feature_names.len(), table.label_names.len())
        .map_err(|e| Refusal::new("options", e))?;
    let carrier = named("carrier", &Carrier::ALL, Carrier::word, &request.carrier)?;
    let steps = request.steps.min(MOST_LESSON_STEPS);
    let options =
        LessonOptions { landscape: kind, carrier, steps, ..LessonOptions::new(number_format(request)?) };
    Ok(Learning { learner, primary, table, options })
}

/// The landscape with a few cells around each head.
fn near(lowered: &Lowered, constants: &Constants, n_vertices: usize) -> Result<Option<Landscape>, Refusal> {
    if n_vertices > MOST_AROUND {
        return Ok(None);
    }
    let options = constants.options();
    Landscape::build(&lowered.normal, &options).map(Some).map_err(|e| Refusal::new("options", e))
}

impl Constants {
    fn options(&self) -> LandscapeOptions {
        LandscapeOptions { constants: self.asked, ..LandscapeOptions::new(self.kind, NEAR_CELLS) }
    }
}

/// A landscape with a few cells, if there is one with these constants.
pub(super) fn small_landscape(normal: &NormalForm, constants: &Constants) -> Option<Landscape> {
    Landscape::build(normal, &constants.options()).ok()
}

/// The constants that a network was built with.
fn asked_constants(layers: &SparseLayers) -> AskedConstants {
    match layers.form {
        Form::Slides { offset, symbol, head_rate, .. } => AskedConstants {
            base: Some((symbol * head_rate).abs()),
            scale: Some(1.0 / head_rate),
            offset: Some(offset),
            drop: None,
        },
        Form::Targets { offset, drop } => {
            AskedConstants { offset: Some(offset), drop: Some(drop), ..AskedConstants::default() }
        }
    }
}

/// The line in which a state's rules begin, for files that give a state a line of its own.
fn state_lines(machine: &Machine, text: &str) -> Vec<Option<usize>> {
    let line_of = |name: &str| {
        let begins = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        text.lines().position(begins).map(|line| line + 1)
    };
    machine.states().iter().map(|state| line_of(&state.name)).collect()
}
