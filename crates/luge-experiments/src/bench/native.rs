//! A machine as a Rust program: one arm of a `match` per state, heads in local variables. It shows what a step
//! costs without any table, as a reference for engines on several tapes.
//!
//! `benches/native/perceptron.rs` is what [`source`] writes for the perceptron on Iris. A test compares the two,
//! and rewrites the file on request.

#[path = "../../benches/native/perceptron.rs"]
#[rustfmt::skip]
#[expect(clippy::too_many_lines, clippy::if_same_then_else, reason = "a machine written out is as long as its rules")]
mod perceptron;

use std::fmt::Write as _;

use luge_machine::{Cell, Input, Machine, Move, Pattern, Rule, Simulator, StateId, TapeId, Write};

/// Blank cells laid on either side of what a run visits.
const MARGIN: Cell = 16;

/// The source of a function that runs a machine with two symbols per tape.
#[must_use]
pub fn source(machine: &Machine) -> String {
    let n_tapes = machine.n_tapes();
    let mut text = String::from(
        "// Written by `luge::bench::native::source`; renewed by `LUGE_RENEW=1 cargo test --workspace --test native`.\n",
    );
    let names = |prefix: &str| (0..n_tapes).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        text,
        "pub(super) fn run(tapes: &mut [Vec<u8>; {n_tapes}], heads: &mut [usize; {n_tapes}], most_steps: u64) -> u64 {{"
    );
    let _ = writeln!(text, "    let [{}] = tapes;", names("t"));
    (0..n_tapes).for_each(|i| _ = writeln!(text, "    let t{i} = &mut t{i}[..];"));
    let moves =
        |i: usize| machine.state_ids().flat_map(|q| machine.rules(q)).any(|r| r.moves[i] != Move::Stay);
    let heads = (0..n_tapes).map(|i| format!("{}h{i}", if moves(i) { "mut " } else { "" }));
    let _ = writeln!(text, "    let [{}] = *heads;", heads.collect::<Vec<_>>().join(", "));
    let _ = writeln!(text, "    let mut state = {}_u32;", machine.start().index());
    text.push_str("    let mut steps = 0;\n    while steps < most_steps {\n        match state {\n");
    for state in machine.state_ids().filter(|&state| machine.halting(state).is_none()) {
        add_state(&mut text, machine, state);
    }
    text.push_str("            _ => break,\n        }\n        steps += 1;\n    }\n");
    let _ = writeln!(text, "    *heads = [{}];\n    steps\n}}", names("h"));
    text
}

/// One arm: what is looked at, and a line per rule.
fn add_state(text: &mut String, machine: &Machine, state: StateId) {
    let _ = writeln!(text, "            {} => {{", state.index());
    let looks = machine.looked_at(state).map(|tape| format!("let s{0} = t{0}[h{0}];", tape.index()));
    let looks: Vec<String> = looks.collect();
    if !looks.is_empty() {
        let _ = writeln!(text, "                {}", looks.join(" "));
    }
    let mut before = "";
    for rule in machine.rules(state) {
        let conditions: Vec<String> = rule.reads.iter().enumerate().filter_map(condition).collect();
        let action = action(state, rule);
        if conditions.is_empty() {
            let _ = writeln!(text, "                {before}{{ {action} }}");
            before = "";
            break;
        }
        let _ = writeln!(text, "                {before}if {} {{ {action} }}", conditions.join(" && "));
        before = "else ";
    }
    if !before.is_empty() {
        text.push_str("                else { break }\n");
    }
    text.push_str("            }\n");
}

fn condition((tape, pattern): (usize, &Pattern)) -> Option<String> {
    match pattern {
        Pattern::Any => None,
        Pattern::Is(symbol) => Some(format!("s{tape} == {}", symbol.index())),
    }
}

/// What a rule writes, how it moves heads, and the state it leads to.
fn action(state: StateId, rule: &Rule) -> String {
    let writes = rule.writes.iter().enumerate().filter_map(|(tape, write)| match write {
        Write::Put(symbol) => Some(format!("t{tape}[h{tape}] = {};", symbol.index())),
        Write::Keep => None,
    });
    let moves = rule.moves.iter().enumerate().filter_map(|(tape, way)| match way {
        Move::Left => Some(format!("h{tape} -= 1;")),
        Move::Right => Some(format!("h{tape} += 1;")),
        Move::Stay => None,
    });
    let next = (rule.next != state).then(|| format!("state = {};", rule.next.index()));
    writes.chain(moves).chain(next).collect::<Vec<_>>().join(" ")
}

/// The perceptron's machine, written out, with its tapes laid. It is the same for any number of features and any format.
pub(super) struct NativePerceptron {
    tapes: [Vec<u8>; 13],
    heads: [usize; 13],
}

impl NativePerceptron {
    /// Tapes long enough for the run of this machine; `None` if it is not the one that was written out.
    pub(super) fn new(machine: &Machine, input: &Input) -> Option<Self> {
        if source(machine) != include_str!("../../benches/native/perceptron.rs") {
            return None;
        }
        let mut finished = Simulator::new(machine, input);
        let _ = finished.run(u64::MAX);
        let start = Simulator::new(machine, input);
        let laid = |tape: usize| {
            let id = TapeId::new(tape);
            let (low, high) = finished.visited(id);
            let extent = start.tape(id).extent();
            let cells = low.min(extent.start) - MARGIN..high.max(extent.end) + MARGIN;
            let head = usize::try_from(start.head(id) - cells.start).ok()?;
            Some((cells.map(|cell| start.tape(id).read(cell).0).collect::<Vec<u8>>(), head))
        };
        let (tapes, heads): (Vec<_>, Vec<_>) =
            (0..machine.n_tapes()).map(laid).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(Self { tapes: tapes.try_into().ok()?, heads: heads.try_into().ok()? })
    }

    /// Runs from the start; returns the steps made.
    pub(super) fn run(&self, most_steps: u64) -> u64 {
        let (mut tapes, mut heads) = (self.tapes.clone(), self.heads);
        perceptron::run(&mut tapes, &mut heads, most_steps)
    }
}
