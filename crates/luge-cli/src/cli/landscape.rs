//! `luge landscape`: shows the loss around the vertex of a step.

use luge::{
    draw::edges::{Edge, OutgoingEdges},
    trace::TraceOptions,
};

use crate::cli::command_prelude::*;

/// The most edges in the table.
const MAX_LISTED: usize = 10;

/// Show the loss along every edge from the vertex of a step: why training goes where it goes
///
/// Along an edge the tapes, the heads and everything under a stop-gradient stay as they are at the vertex, because that is
/// the function that training differentiates.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    landscape: LandscapeArgs,
    /// The step to show, counted from 0; digits may be grouped by `_` or `,`
    #[arg(long, value_name = "STEP", value_parser = step_count)]
    at: Step,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the loss along the edges
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut job = args.machine.job(&args.input)?;
    job.options = args.options()?;
    let plot = place(&mut args.force.outputs().reading(&args.machine.file), args.plot.as_deref())?;
    let loaded = args.machine.load(&job)?;
    let plan = job.plan(&loaded).map_err(|error| args.landscape.refusal(error))?;
    let machine = &plan.machine;
    let leaving = OutgoingEdges::at(machine, &plan, args.at)?;
    if let Some(plot) = plot {
        let title = format!("{}: leaving {}", args.machine.title(&loaded), leaving.name);
        plot.write(leaving.draw(&title))?;
    }
    show(args.json, &summary(machine.name(), &leaving), || report(&leaving))
}

impl Args {
    fn options(&self) -> Result<TraceOptions, Failure> {
        // `internal` exists only around a run that halts; the others only need to hold the run so far.
        let whole_run = self.landscape.kind()? == LandscapeKind::Internal;
        let steps = (!whole_run).then_some(self.at);
        Ok(TraceOptions { steps, ..self.landscape.options()? })
    }
}

fn summary(machine: Option<&str>, leaving: &OutgoingEdges<'_>) -> impl Serialize {
    object! {
        machine: machine,
        landscape: leaving.landscape.kind().word(),
        step: leaving.step,
        vertex: &leaving.name,
        loss: leaving.loss(),
        // Where the step goes; `null` if it stays.
        successor: leaving.successor().map(|edge| edge.name.as_str()),
        vertices: leaving.n_edges + 1,
        falling: leaving.n_falling,
        rising: leaving.n_rising,
        edges: &leaving.edges,
    }
}

fn report(leaving: &OutgoingEdges<'_>) -> String {
    let (falling, rising) = (leaving.n_falling, leaving.n_rising);
    let level = leaving.n_edges - falling - rising;
    let goes = match leaving.successor() {
        Some(edge) => format!("training goes to {}", edge.name),
        None if leaving.stopped => "the machine has halted, and training stays".to_owned(),
        None => "the next vertex is this one again: only tapes and heads move".to_owned(),
    };
    let mut text = format!(
        "step {} of {}: at {}, loss {}; {goes}\n",
        leaving.step,
        leaving.landscape.kind().word(),
        leaving.name,
        numeral(leaving.loss())
    );
    let n_edges = count(leaving.n_edges);
    text.push_str(&format!("{n_edges} edges: {falling} falling, {level} level, {rising} rising\n\n"));
    let shown = leaving.edges.iter().take(MAX_LISTED).collect::<Vec<_>>();
    let cells = shown
        .iter()
        .map(|edge| [edge.name.clone(), numeral(edge.slope), numeral(edge.end_loss), marks(edge).to_owned()]);
    let header = ["to", "slope", "loss there", ""].map(str::to_owned);
    text.push_str(&columns(&std::iter::once(header).chain(cells).collect::<Vec<_>>(), 1..3));
    if leaving.n_edges > shown.len() {
        text.push_str(&format!("and {} more, none steeper\n", count(leaving.n_edges - shown.len())));
    }
    text
}

fn marks(edge: &Edge) -> &'static str {
    match (edge.successor, edge.candidate, edge.predecessor) {
        (true, _, true) => "successor, and a predecessor",
        (true, _, false) => "successor",
        (false, true, true) => "rival: next state, other symbols; and a predecessor",
        (false, true, false) => "rival: next state, other symbols",
        (false, false, true) => "predecessor",
        (false, false, false) => "",
    }
}
