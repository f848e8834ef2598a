//! `luge inspect`: describes a machine or a model.

mod model;
mod network;

use luge::{files::summary::spelled, job::Loaded, trace::MAX_CELLS};
use luge_landscape::VertexSet;
use luge_machine::{
    Access, Input, Missing, Pattern, Tape, TapeInput,
    formats::Format,
    lowering::{Lowered, LoweringError, Size},
};

use super::circuit;
use crate::cli::command_prelude::*;
use network::NetworkProfile;

/// Describe a machine or a trained model
///
/// Of a machine: its tapes, states and rules, its size in normal form, and the network of a landscape. Of a circuit: its
/// registers and gates. Of a model: what it was trained on and its network, layer by layer. The paper's bounds are shown
/// beside the counts.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// Also build this landscape and count its units and layers
    #[arg(long, value_name = "KIND", value_parser = word::<LandscapeKind>())]
    landscape: Option<LandscapeKind>,
    /// A vertex for each combination of the symbols that a state looks at, or of all symbols as in the paper
    #[arg(long, value_name = "SET", default_value = VertexSet::default().word(), value_parser = word::<VertexSet>(), requires = "landscape")]
    vertices: VertexSet,
    /// Cells per tape of the landscape [default: what the run on the file's own input needs, and a margin]
    #[arg(long, value_name = "N", value_parser = up_to(MAX_CELLS, "cells"), requires = "landscape")]
    cells: Option<usize>,
    /// Of a model: list which weights hold the bits of the program's variables
    #[arg(long)]
    variables: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(path) = args.machine.model() {
        return match AnyModel::load(path)? {
            AnyModel::Training(model) if args.variables => model::variables(&model, path, args.json),
            AnyModel::Training(model) => model::run(&model, args.json),
            _ if args.variables => Err(Failure::usage(
                format!("--variables is for models of luge train, and {} is of a stream", path.display()),
                "train the program with luge train --out MODEL, or leave out --variables",
            )),
            AnyModel::Stream(model) => model::of_stream(&model, args.json),
            AnyModel::Mlp(model) => circuit::inspect(&model.card.circuit, args.json),
        };
    }
    if args.variables {
        return Err(Failure::usage(
            format!("--variables is for models, and {} is none", args.machine.file),
            "train a program with luge train --out MODEL, and give that file",
        ));
    }
    let job = args.machine.job(&InputArgs::default())?;
    if let Some(circuit) = circuit::read(&job.source, None)? {
        return circuit::inspect(&circuit, args.json);
    }
    let loaded = args.machine.load(&job)?;
    let landscape =
        args.landscape.map(|kind| NetworkProfile::of_machine(&loaded, (kind, args.vertices), args.cells));
    describe(&loaded, landscape.transpose()?, args.json)
}

/// Shows a machine, and the network of its landscape.
fn describe(loaded: &Loaded, landscape: Option<NetworkProfile>, json: bool) -> Result<(), Failure> {
    let machine = &loaded.machine;
    let halting = machine.states().iter().filter_map(|state| {
        state.halting.map(|accepting| object! { name: &state.name, accepting: accepting })
    });
    let halting_states: Vec<_> = halting.collect();
    let rules = machine.state_ids().flat_map(|state| machine.rules(state));
    let (blank, none) = (Input::blank(), TapeInput::default());
    let inputs = &loaded.input.as_ref().unwrap_or(&blank).tapes;
    let tapes = machine.tapes().iter().enumerate().map(|(index, Tape { name, alphabet, access })| {
        let input = inputs.get(index).unwrap_or(&none);
        object! {
            name: name,
            symbols: alphabet.names(),
            blank: alphabet.name(alphabet.blank()),
            read_only: *access == Access::ReadOnly,
            input: spelled(alphabet, &input.symbols),
            head: input.head,
        }
    });
    let (lowered, strictly) = (lower(machine, Moves::Keep), lower(machine, Moves::Strict));
    let profile = object! {
        machine: machine.name(),
        format: loaded.format.map_or("", Format::slug),
        start: &machine.state(machine.start()).name,
        tapes: tapes.collect::<Vec<_>>(),
        running_states: machine.states().len() - halting_states.len(),
        halting_states: halting_states,
        rules: machine.n_rules(),
        // Rules that ignore some tape.
        rules_with_wildcards: rules.filter(|rule| rule.reads.contains(&Pattern::Any)).count(),
        missing_rule: match machine.missing() {
            Missing::Halt => "halt",
            Missing::Reject => "reject",
        },
        lowered: size(&lowered),
        lowered_strictly: size(&strictly),
        landscape "with --landscape": landscape.as_ref().map(NetworkProfile::summary),
    };
    show_rows(json, &profile, |rows| {
        profile.machine.iter().for_each(|name| rows.row("name", name));
        rows.row("format", profile.format);
        for tape in &profile.tapes {
            let symbols: Vec<String> = tape.symbols.iter().map(|name| visible(name)).collect();
            let access = if tape.read_only { "read only" } else { "read and written" };
            let (symbols, blank) = (symbols.join(" "), visible(tape.blank));
            rows.row(&format!("tape {}", tape.name), format!("symbols {symbols}; blank {blank}; {access}"));
            if !tape.input.is_empty() || tape.head != 0 {
                rows.row("", format!("input `{}`; head on cell {}", tape.input, tape.head));
            }
        }
        let n_halting = profile.halting_states.len();
        rows.row("states", format!("{} running, {n_halting} halting", count(profile.running_states)));
        rows.row("start", profile.start);
        for state in &profile.halting_states {
            let verdict = if state.accepting { "accepting" } else { "not accepting" };
            rows.row("halts in", format!("{}, {verdict}", state.name));
        }
        let (n_rules, n_wild) = (count(profile.rules), count(profile.rules_with_wildcards));
        rows.row("rules", format!("{n_rules}, {n_wild} of them with wildcards"));
        let halts = profile.missing_rule == "halt";
        rows.row("missing rule", if halts { "halts, without a step" } else { "stops, rejecting" });
        rows.row("lowered", size_text(&lowered));
        rows.row("lowered strictly", size_text(&strictly));
        landscape.iter().for_each(|network| network.add_to(rows));
    })
}

/// The size of a machine in normal form as JSON, or why it has none.
fn size(lowered: &Result<Lowered, LoweringError>) -> impl Serialize {
    let found = lowered.as_ref().ok();
    let after = found.map(|lowered| lowered.after);
    object! {
        tapes "if there is one": after.map(|size| size.tapes),
        states "likewise": after.map(|size| size.states),
        rules "likewise": after.map(|size| size.rules),
        vertices "likewise": after.map(|size| size.vertices),
        steps_per_step "likewise": found.map(Lowered::steps_per_step),
        refused "otherwise": lowered.as_ref().err().map(ToString::to_string),
    }
}

fn visible(symbol: &str) -> String {
    if symbol.trim().is_empty() { symbol.replace(' ', "␣") } else { symbol.to_owned() }
}

/// The same as text.
fn size_text(lowered: &Result<Lowered, LoweringError>) -> String {
    let lowered = match lowered {
        Ok(lowered) => lowered,
        Err(reason) => return format!("not possible: {reason}"),
    };
    let Size { tapes, states, rules, vertices, .. } = lowered.after;
    let tapes = if tapes == 1 { "1 tape".to_owned() } else { format!("{tapes} tapes") };
    let (states, rules, vertices) = (count(states), count(rules), count(vertices));
    format!(
        "{tapes}, {states} states, {rules} rules, {vertices} vertices; steps x {}",
        lowered.steps_per_step()
    )
}
