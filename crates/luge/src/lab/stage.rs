//! From a request to a network that can be filmed.

use luge_landscape::{
    AskedConstants, Bounds, Carrier, Extended, Kind, Landscape, LandscapeOptions, Learner, Mlp,
};
use luge_machine::{
    Input, Machine, Simulator, Step,
    formats::{Format, Loaded, recognise},
    lowering::{Lowered, Moves, lower},
    parse_inputs,
};
use luge_net::{Form, NumberFormat, Structure};
use luge_train::{Precision, Rate, StopRule};

use super::request::{Data, Finding, Language, MOST_STEPS, Refusal, Request, located, named};
use crate::{
    data::{Range, Table},
    film::{Choice, Inside, Reel, Tapes},
    lesson::{Lesson, LessonOptions},
    lockstep::{Lockstep, Window},
    trace::{Plan, TraceOptions},
};

/// Steps that the dense engine is followed for.
pub const MOST_DENSE_STEPS: Step = 20_000;

/// Steps a learner may make.
const MOST_LESSON_STEPS: Step = 10_000_000;

/// Cells of a landscape that only shows the surroundings of the heads, and where the heads are on it.
pub(super) const NEAR_CELLS: usize = 5;
pub(super) const NEAR_HEAD: usize = 2;

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
    task: Option<Task>,
    kind: Kind,
    choice: Choice,
    precision: Precision,
    steps: Step,
}

/// A learner and what it learns from.
struct Task {
    learner: Learner,
    primary: Mlp,
    table: Table,
    options: LessonOptions,
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
    pub kind: Kind,
    /// The network and its start.
    pub reel: Reel<'a>,
    /// Where the tapes are.
    pub tapes: Tapes<'a>,
    /// The landscape around a vertex: few cells, the same constants. `None` where vertices are configurations of an
    /// extended network.
    pub near: Option<&'a Landscape>,
    /// Where the loss must lie.
    pub bounds: Bounds,
    /// The lesson, if the machine learns.
    pub lesson: Option<&'a Lesson<'a>>,
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
        let (format, mut loaded) = read_program(request)?;
        let warnings = located(&loaded.warnings, &request.source.text);
        if let (false, Some(format)) = (request.input.is_empty(), format) {
            if let Ok(admitting) = format.read_for(&request.source.text, &request.input) {
                loaded = admitting;
            }
        }
        let input = if request.input.is_empty() {
            loaded.input.clone().unwrap_or_else(Input::blank)
        } else {
            parse_inputs(&loaded.machine, &request.input).map_err(|e| Refusal::new("input", e))?
        };
        let kind = named("landscape", &Kind::ALL, Kind::word, &request.landscape)?;
        let choice = named("engine", &Choice::ALL, Choice::word, &request.engine)?;
        let precision = named("precision", &Precision::ALL, Precision::word, &request.precision)?;
        let task = request.data.as_ref().map(|data| read_task(request, data, &loaded, kind)).transpose()?;
        let name = request.name.clone().or_else(|| loaded.machine.name().map(str::to_owned));
        Ok(Self {
            name: name.unwrap_or_else(|| "a machine".to_owned()),
            lines: state_lines(&loaded.machine, &request.source.text),
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
        self.kind == Kind::Internal || self.choice == Choice::Dense || self.precision != Precision::F64
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
        let near = near(&lowered, self.kind, AskedConstants::default())?;
        let bounds = landscape.bounds();
        let scene = Scene {
            name: &self.name,
            machine,
            lowered: &lowered,
            kind: self.kind,
            reel: Reel {
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
            near: Some(&near),
            bounds,
            lesson: None,
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }

    /// A machine by itself, every weight of it in the network.
    fn perform_plan<R>(&self, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        let machine = &self.loaded.machine;
        let steps = (self.kind != Kind::Internal).then_some(self.steps.min(MOST_DENSE_STEPS));
        let options = TraceOptions { landscape: self.kind, precision: self.precision, steps, ..TraceOptions::default() };
        let plan =
            Plan::new(machine, &self.input, &options).map_err(|e| Refusal::new("options", e))?;
        let (parameters, inputs) = plan.landscape.encode(&plan.start).ok_or_else(too_long)?;
        let small = match self.kind {
            Kind::Internal => None,
            kind => Some(near(&plan.lowered, kind, AskedConstants::default())?),
        };
        let bounds = plan.landscape.bounds();
        let scene = Scene {
            name: &self.name,
            machine,
            lowered: &plan.lowered,
            kind: self.kind,
            reel: Reel {
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
            near: Some(small.as_ref().unwrap_or(&plan.landscape)),
            bounds,
            lesson: None,
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }

    /// A machine inside an extended network.
    fn perform_lesson<R>(&self, task: &Task, act: impl FnOnce(&Scene<'_>) -> R) -> Result<R, Refusal> {
        let lesson = Lesson::prepare(&task.learner, &task.primary, &task.table, &task.options)
            .map_err(|e| Refusal::new("data", e))?;
        let extended = lesson.extended();
        let network = extended.network();
        let constants = network.structure().map(constants);
        let small = constants.map(|constants| near(task.learner.lowered(), self.kind, constants)).transpose()?;
        let most_steps = lesson.machine_steps() + extended.extra_steps() + 1;
        let scene = Scene {
            name: &self.name,
            machine: &self.loaded.machine,
            lowered: task.learner.lowered(),
            kind: self.kind,
            reel: Reel {
                network,
                parameters: extended.initial().to_vec(),
                inputs: lesson.inputs(),
                choice: if self.is_dense() { Choice::Dense } else { self.choice },
                precision: self.precision,
                rate: Rate::One,
                stop: StopRule { loss_at_most: extended.stop(), not_before: Extended::FIRST_STOP, most_steps },
                inside: Some(Inside::Extended(extended)),
            },
            tapes: Tapes::new(&self.loaded.machine, task.learner.lowered(), lesson.window().first.clone()),
            near: small.as_ref(),
            bounds: with_carrier(&lesson),
            lesson: Some(&lesson),
            lines: &self.lines,
            warnings: &self.warnings,
        };
        Ok(act(&scene))
    }
}

fn too_long() -> Refusal {
    Refusal::new("input", format!("the input reaches farther than {MOST_INPUT} cells"))
}

fn read_program(request: &Request) -> Result<(Option<Format>, Loaded), Refusal> {
    let text = &request.source.text;
    if request.source.kind == Language::Sled {
        return Err(Refusal::new("source", "this build has no Sled compiler"));
    }
    let format = match &request.source.format {
        Some(slug) => named("format", &Format::ALL, Format::slug, slug)?,
        None => recognise(None, text).map_err(|e| Refusal::new("source", e))?,
    };
    let broken = |findings: Vec<_>| {
        Refusal::new("source", format!("this does not read as a {format} machine")).with(&findings, text)
    };
    Ok((Some(format), format.read(text).map_err(broken)?))
}

fn read_task(request: &Request, data: &Data, loaded: &Loaded, kind: Kind) -> Result<Task, Refusal> {
    let wrong = |error: &dyn std::fmt::Display| Refusal::new("data", error);
    let format: NumberFormat = request.format.parse().map_err(|e| Refusal::new("options", e))?;
    let mut table = Table::read(data.text.as_bytes(), &data.target, data.features.as_deref())
        .map_err(|e| wrong(&e))?;
    table.fit(format, Range::Refuse).map_err(|e| wrong(&e))?;
    let learner =
        Learner::new(&loaded.machine, loaded.input.as_ref()).map_err(|e| Refusal::new("source", e))?;
    let primary = Mlp::parse(&request.primary, table.feature_names.len(), table.label_names.len())
        .map_err(|e| Refusal::new("options", e))?;
    let carrier = named("carrier", &Carrier::ALL, Carrier::word, &request.carrier)?;
    let steps = request.steps.min(MOST_LESSON_STEPS);
    let options = LessonOptions { landscape: kind, carrier, steps, ..LessonOptions::new(format) };
    Ok(Task { learner, primary, table, options })
}

/// The landscape with a few cells around each head.
fn near(lowered: &Lowered, kind: Kind, constants: AskedConstants) -> Result<Landscape, Refusal> {
    let options = LandscapeOptions { constants, ..LandscapeOptions::new(kind, NEAR_CELLS) };
    Landscape::build(&lowered.normal, &options).map_err(|e| Refusal::new("options", e))
}

/// The constants that a network was built with.
fn constants(layers: &Structure) -> AskedConstants {
    match layers.form {
        Form::Slides { offset, sign, rate, .. } => AskedConstants {
            base: Some((sign * rate).abs()),
            scale: Some(1.0 / rate),
            offset: Some(offset),
            drop: None,
        },
        Form::Targets { offset, drop } => {
            AskedConstants { offset: Some(offset), drop: Some(drop), ..AskedConstants::default() }
        }
    }
}

/// The landscape's levels and what the carrier adds while the machine runs.
fn with_carrier(lesson: &Lesson<'_>) -> Bounds {
    let bounds = lesson.extended().bounds();
    let added = lesson.extended().carrier().added_loss(&lesson.table().labels);
    Bounds {
        running_low: bounds.running_low + added,
        running_high: bounds.running_high + added,
        halted_high: bounds.halted_high + added,
        ..bounds
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
