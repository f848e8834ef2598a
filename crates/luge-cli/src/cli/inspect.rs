//! `luge inspect`: what a machine is.

mod model;
mod network;

use indicatif::HumanCount;
use luge::{files::summary::spelled, job::Loaded};
use luge_landscape::{LandscapeKind, VertexSet};
use luge_machine::{
    Access, Input, Machine, Missing, Pattern, Tape, TapeInput,
    formats::Format,
    lowering::{Moves, Report, Size, lower},
};
use serde_json::{Value, json};

use super::{
    failure::Failure,
    landscape_args::cell_count,
    machine_args::{MachineArgs, word},
    output::{Rows, count, show},
};
use network::NetworkProfile;

/// Show what a machine or a trained model is
///
/// Of a machine: its tapes, states and rules, its size in normal form, and the network of a landscape. Of a model: what
/// it was trained on and its network, layer by layer. The paper's bounds stand beside the count.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// Also build this landscape and count its network
    #[arg(long, value_name = "KIND", value_parser = word::<LandscapeKind>())]
    landscape: Option<LandscapeKind>,
    /// The symbols that tell its vertices apart: those a state looks at, or all, as in the paper
    #[arg(long, value_name = "SET", default_value = VertexSet::default().word(), value_parser = word::<VertexSet>(), requires = "landscape")]
    vertices: VertexSet,
    /// Cells per tape of the landscape; by default what the run on the file's own input needs and a margin
    #[arg(long, value_name = "N", value_parser = cell_count, requires = "landscape")]
    cells: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(path) = args.machine.model() {
        return model::run(path, args.json);
    }
    let loaded = args.machine.load_alone()?;
    let network = |kind| NetworkProfile::of_machine(&loaded, (kind, args.vertices), args.cells);
    let network = args.landscape.map(network).transpose()?;
    show(args.json, &summary(&loaded, network.as_ref()), || report(&loaded, network.as_ref()))
}

/// The tapes, each with the input that the file lays on it.
fn tapes(loaded: &Loaded) -> impl Iterator<Item = (&Tape, TapeInput)> {
    let input = |index| loaded.input.as_ref().and_then(|input: &Input| input.tapes.get(index)).cloned();
    loaded
        .machine
        .tapes()
        .iter()
        .enumerate()
        .map(move |(index, tape)| (tape, input(index).unwrap_or_default()))
}

/// The states that halt, and whether they accept.
fn halting(machine: &Machine) -> Vec<(&str, bool)> {
    let halting = |state| Some((machine.state(state).name.as_str(), machine.halting(state)?));
    machine.state_ids().filter_map(halting).collect()
}

/// Rules that do not look at some tape.
fn n_with_wildcards(machine: &Machine) -> usize {
    let rules = machine.state_ids().flat_map(|state| machine.rules(state));
    rules.filter(|rule| rule.reads.contains(&Pattern::Any)).count()
}

fn summary(loaded: &Loaded, network: Option<&NetworkProfile>) -> Value {
    let machine = &loaded.machine;
    let tape = |(tape, input): (&Tape, TapeInput)| {
        json!({
            "name": tape.name,
            "symbols": tape.alphabet.names(),
            "blank": tape.alphabet.name(tape.alphabet.blank()),
            "read_only": tape.access == Access::ReadOnly,
            "input": spelled(&tape.alphabet, &input.symbols),
            "head": input.head,
        })
    };
    let halting = halting(machine);
    let state = |&(name, accepting): &(&str, bool)| json!({ "name": name, "accepting": accepting });
    let mut summary = json!({
        "machine": machine.name(),
        "format": loaded.format.map_or("", Format::slug),
        "start": machine.state(machine.start()).name,
        "tapes": tapes(loaded).map(tape).collect::<Vec<_>>(),
        "running_states": machine.states().len() - halting.len(),
        "halting_states": halting.iter().map(state).collect::<Vec<_>>(),
        "rules": machine.n_rules(),
        "rules_with_wildcards": n_with_wildcards(machine),
        "missing_rule": match machine.missing() {
            Missing::Halt => "halt",
            Missing::Reject => "reject",
        },
        "lowered": lowering(machine, Moves::Keep),
        "lowered_strictly": lowering(machine, Moves::Strict),
    });
    if let Some(network) = network {
        summary["landscape"] = json!(network);
    }
    summary
}

/// The machine in normal form, or why there is none.
fn lowering(machine: &Machine, moves: Moves) -> Value {
    match lower(machine, moves).map(|lowered| lowered.report()) {
        Ok(Report { after: Size { tapes, states, rules, vertices }, steps_per_step, .. }) => json!({
            "tapes": tapes, "states": states, "rules": rules, "vertices": vertices,
            "steps_per_step": steps_per_step,
        }),
        Err(reason) => json!({ "refused": reason.to_string() }),
    }
}

fn report(loaded: &Loaded, network: Option<&NetworkProfile>) -> String {
    let machine = &loaded.machine;
    let mut rows = Rows::default();
    machine.name().iter().for_each(|name| rows.row("name", name));
    rows.row("format", loaded.format.map_or("", Format::slug));
    for (tape, input) in tapes(loaded) {
        let symbols: Vec<String> = tape.alphabet.names().iter().map(|name| visible(name)).collect();
        let access = if tape.access == Access::ReadOnly { "read only" } else { "read and written" };
        let (symbols, blank) = (symbols.join(" "), visible(tape.alphabet.name(tape.alphabet.blank())));
        rows.row(&format!("tape {}", tape.name), format!("symbols {symbols}; blank {blank}; {access}"));
        let laid = spelled(&tape.alphabet, &input.symbols);
        if !laid.is_empty() || input.head != 0 {
            rows.row("", format!("input `{laid}`; head on cell {}", input.head));
        }
    }
    let halting = halting(machine);
    let n_running = count(machine.states().len() - halting.len());
    rows.row("states", format!("{n_running} running, {} halting", halting.len()));
    rows.row("start", &machine.state(machine.start()).name);
    for (name, accepting) in halting {
        rows.row("halts in", format!("{name}, {}", if accepting { "accepting" } else { "not accepting" }));
    }
    let (n_rules, n_wild) = (count(machine.n_rules()), count(n_with_wildcards(machine)));
    rows.row("rules", format!("{n_rules}, {n_wild} of them with wildcards"));
    rows.row(
        "missing rule",
        match machine.missing() {
            Missing::Halt => "halts, without a step",
            Missing::Reject => "stops, rejecting",
        },
    );
    rows.row("lowered", described(machine, Moves::Keep));
    rows.row("lowered strictly", described(machine, Moves::Strict));
    network.iter().for_each(|network| network.add_to(&mut rows));
    rows.text()
}

fn visible(symbol: &str) -> String {
    if symbol.trim().is_empty() { symbol.replace(' ', "␣") } else { symbol.to_owned() }
}

fn described(machine: &Machine, moves: Moves) -> String {
    match lower(machine, moves).map(|lowered| lowered.report()) {
        Ok(Report { after: Size { tapes, states, rules, vertices }, steps_per_step, .. }) => {
            let tapes = if tapes == 1 { "1 tape".to_owned() } else { format!("{tapes} tapes") };
            let (states, rules, vertices) = (count(states), count(rules), HumanCount(vertices));
            format!("{tapes}, {states} states, {rules} rules, {vertices} vertices; steps x {steps_per_step}")
        }
        Err(refused) => format!("not possible: {refused}"),
    }
}
