//! A machine as native code, as one would write it by hand: a reference for engines on several tapes.
//!
//! [`source`] writes a Rust program for one machine: heads are pointers, no bounds are checked, a state reads each of
//! its cells once, and a state that leads to itself stays in its own loop. `rustc` compiles it for this processor. The
//! `unsafe` is in that program alone. It is sound because the simulator has made the same run before: the tapes that
//! are built for it hold every cell that a head reaches.

use std::{collections::BTreeMap, env, fmt::Write as _, fs, io, process::Command};

use luge_machine::{Cell, Input, Machine, Move, Simulator, StateId, SymbolId, TapeId, Write};
use tempfile::TempDir;

/// The most tapes that a state may read: its cases are all written out.
const MAX_LOOKS: usize = 10;

/// The part that all programs share: reads the tapes, runs the machine several times, and prints the time of the fastest run and
/// the final tapes.
const FRAME: &str = include_str!("native/frame.rs.txt");

/// How the code chooses among a state's rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branches {
    /// By a branch for every rule.
    Rules,
    /// Rules that differ only in the symbols they write share a branch; what is written is computed from what was read.
    Moves,
}

/// The source of a program that runs a machine; `None` if a tape has more than two symbols, or a state looks at too many.
#[must_use]
pub fn source(machine: &Machine, branches: Branches) -> Option<String> {
    let n_tapes = machine.n_tapes();
    let binary = machine.tapes().iter().all(|tape| tape.alphabet.len() == 2);
    if !binary || machine.state_ids().any(|state| machine.looked_at(state).count() > MAX_LOOKS) {
        return None;
    }
    let names = |prefix: &str| (0..n_tapes).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let mut text = String::from("#![allow(unused_mut, unused_unsafe, clippy::all)]\n");
    let _ = writeln!(text, "unsafe fn run(heads: &mut [*mut u8; {n_tapes}]) -> u64 {{ unsafe {{");
    let _ = writeln!(text, "    let [{}] = *heads;", names("mut h"));
    let _ = writeln!(text, "    let (mut steps, mut state) = (0_u64, {}_u32);", machine.start().index());
    text.push_str("    'run: loop {\n        match state {\n");
    for state in machine.state_ids().filter(|&state| machine.halting(state).is_none()) {
        State::new(machine, state, branches).write(&mut text);
    }
    text.push_str("            _ => break,\n        }\n    }\n");
    let _ = writeln!(text, "    *heads = [{}];\n    steps\n}} }}", names("h"));
    text.push_str(FRAME);
    Some(text)
}

/// What a state does for one combination of the symbols that it reads, except for the symbols that it writes.
#[derive(Clone, PartialEq, Eq)]
struct Action {
    moves: Vec<Move>,
    next: StateId,
    /// The tapes that it writes without reading them, or all that it writes if every rule has its own branch.
    writes: Vec<(usize, Option<u8>)>,
}

/// One state: the tapes that it reads, and for every combination of their symbols what it does and what it writes.
struct State {
    state: StateId,
    looks: Vec<usize>,
    cases: Vec<Option<(Action, BTreeMap<usize, u8>)>>,
}

impl State {
    fn new(machine: &Machine, state: StateId, branches: Branches) -> Self {
        let looks: Vec<usize> = machine.looked_at(state).map(TapeId::index).collect();
        let case = |case: usize| {
            let mut reads = vec![SymbolId(0); machine.n_tapes()];
            looks.iter().enumerate().for_each(|(bit, &tape)| reads[tape] = SymbolId((case >> bit & 1) as u8));
            let rule = machine.rule_for(state, &reads)?;
            let put = |(tape, write): (usize, &Write)| match write {
                Write::Put(symbol) => Some((tape, symbol.0)),
                Write::Keep => looks.contains(&tape).then(|| (tape, reads[tape].0)),
            };
            let writes: BTreeMap<usize, u8> = rule.writes.iter().enumerate().filter_map(put).collect();
            let distinguished = |(&tape, &symbol): (&usize, &u8)| match branches {
                Branches::Rules => Some((tape, Some(symbol))),
                Branches::Moves => (!looks.contains(&tape)).then_some((tape, None)),
            };
            let distinguished = writes.iter().filter_map(distinguished).collect();
            Some((Action { moves: rule.moves.clone(), next: rule.next, writes: distinguished }, writes))
        };
        let cases = (0..1 << looks.len()).map(case).collect();
        Self { state, looks, cases }
    }

    fn write(&self, text: &mut String) {
        let loops = self.cases.iter().flatten().any(|(action, _)| action.next == self.state);
        let _ =
            writeln!(text, "            {} => {}{{", self.state.index(), if loops { "loop " } else { "" });
        for tape in &self.looks {
            let _ = writeln!(text, "                let s{tape} = *h{tape};");
        }
        self.decide(text, &(0..self.cases.len()).collect::<Vec<_>>(), loops);
        text.push_str("            }\n");
    }

    /// Distinguishes cases symbol by symbol, but only where the actions differ.
    fn decide(&self, text: &mut String, cases: &[usize], loops: bool) {
        let action = |case: usize| self.cases[case].as_ref().map(|(action, _)| action);
        if cases.iter().all(|&case| action(case) == action(cases[0])) {
            return self.act(text, cases, loops);
        }
        let split = |bit: usize| cases.iter().partition::<Vec<usize>, _>(|&&case| case >> bit & 1 == 0);
        let n_actions = |cases: &[usize]| {
            let new = |&(i, &case): &(usize, &usize)| {
                !cases[..i].iter().any(|&other| action(other) == action(case))
            };
            cases.iter().enumerate().filter(new).count()
        };
        let parts = (0..self.looks.len()).map(|bit| (bit, split(bit)));
        let parts = parts.filter(|(_, (zero, one))| !zero.is_empty() && !one.is_empty());
        let Some((bit, (zero, one))) = parts.min_by_key(|(_, (zero, one))| n_actions(zero) + n_actions(one))
        else {
            return;
        };
        let _ = writeln!(text, "                if s{} == 0 {{", self.looks[bit]);
        self.decide(text, &zero, loops);
        text.push_str("                } else {\n");
        self.decide(text, &one, loops);
        text.push_str("                }\n");
    }

    /// Writes the action that all these cases share.
    fn act(&self, text: &mut String, cases: &[usize], loops: bool) {
        let Some((action, writes)) = &self.cases[cases[0]] else {
            text.push_str("                break 'run;\n");
            return;
        };
        text.push_str("                steps += 1;");
        for &tape in writes.keys() {
            let value = |case: usize| self.cases[case].as_ref().map_or(0, |(_, writes)| writes[&tape]);
            if let Some(symbol) = self.expression(cases, tape, &value) {
                let _ = write!(text, " *h{tape} = {symbol};");
            }
        }
        for (tape, way) in action.moves.iter().enumerate().filter(|(_, way)| **way != Move::Stay) {
            let _ = write!(text, " h{tape} = h{tape}.{}(1);", if *way == Move::Left { "sub" } else { "add" });
        }
        match (action.next == self.state, loops) {
            (true, _) => text.push_str(" continue;\n"),
            (false, true) => _ = writeln!(text, " state = {}; break;", action.next.index()),
            (false, false) => _ = writeln!(text, " state = {};", action.next.index()),
        }
    }

    /// The symbol to write as an expression of those that were read; `None` if it does not change.
    fn expression(&self, cases: &[usize], tape: usize, value: &dyn Fn(usize) -> u8) -> Option<String> {
        let is =
            |symbol: &dyn Fn(usize) -> usize| cases.iter().all(|&case| value(case) as usize == symbol(case));
        let looks = || self.looks.iter().enumerate();
        if looks().any(|(bit, &other)| other == tape && is(&|case| case >> bit & 1)) {
            return None;
        }
        if let Some(constant) = (0..2).find(|&constant| is(&|_| constant)) {
            return Some(constant.to_string());
        }
        if let Some((_, other)) = looks().find(|(bit, _)| is(&|case| case >> bit & 1)) {
            return Some(format!("s{other}"));
        }
        if let Some((_, other)) = looks().find(|(bit, _)| is(&|case| !case >> bit & 1)) {
            return Some(format!("s{other} ^ 1"));
        }
        let table = cases.iter().filter(|&&case| value(case) == 1).map(|&case| format!("{case}"));
        let index = looks().map(|(bit, other)| format!("usize::from(s{other}) << {bit}"));
        let (table, index) = (table.collect::<Vec<_>>().join(" | "), index.collect::<Vec<_>>().join(" | "));
        Some(format!("u8::from(matches!({index}, {table}))"))
    }
}

/// A machine compiled to native code, in a temporary folder.
pub struct Native {
    folder: TempDir,
}

/// A run of native code.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeRun {
    /// Steps to the halt.
    pub steps: u64,
    /// Seconds that the fastest run took.
    pub seconds: f64,
    /// For every tape, the final position of its head and its cells.
    pub left: Vec<(usize, String)>,
}

impl Native {
    /// Writes the program for a machine and compiles it with `rustc`.
    ///
    /// # Errors
    /// If there is no compiler, or the machine cannot be written out.
    pub fn compile(machine: &Machine, branches: Branches) -> io::Result<Self> {
        let text =
            source(machine, branches).ok_or_else(|| io::Error::other("the machine cannot be written out"))?;
        let folder = tempfile::Builder::new().prefix("luge-native-").tempdir()?;
        fs::write(folder.path().join("machine.rs"), text)?;
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let arguments = ["--edition=2021", "-Copt-level=3", "-Ctarget-cpu=native", "-omachine", "machine.rs"];
        finished(Command::new(rustc).current_dir(&folder).args(arguments))?;
        Ok(Self { folder })
    }

    /// Runs it to its halt, several times; the machine must halt on this input.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn run(&self, machine: &Machine, input: &Input, repeats: u32) -> io::Result<NativeRun> {
        let tapes = self.folder.path().join("tapes");
        fs::write(&tapes, tapes_text(machine, input))?;
        let repeats = repeats.max(1).to_string();
        let said = finished(Command::new(self.folder.path().join("machine")).arg(tapes).arg(repeats))?;
        let mut pairs = said.lines().filter_map(|line| line.split_once(' '));
        let numbers =
            pairs.next().and_then(|(steps, seconds)| Some((steps.parse().ok()?, seconds.parse().ok()?)));
        let (steps, seconds) = numbers.ok_or_else(|| io::Error::other("the machine says nothing"))?;
        let left = pairs.filter_map(|(head, cells)| Some((head.parse().ok()?, cells.to_owned()))).collect();
        Ok(NativeRun { steps, seconds, left })
    }
}

/// Runs a command and returns what it prints.
fn finished(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cells of every tape that a run visits or its input fills.
#[must_use]
pub fn extents(finished: &Simulator<'_>, start: &Simulator<'_>) -> Vec<std::ops::Range<Cell>> {
    let extent = |tape: TapeId| {
        let ((low, high), filled) = (finished.visited(tape), start.tape(tape).extent());
        low.min(filled.start)..(high + 1).max(filled.end)
    };
    start.machine().tape_ids().map(extent).collect()
}

/// The tapes in the form that the program reads: the position of the head, and the cells.
fn tapes_text(machine: &Machine, input: &Input) -> String {
    let start = Simulator::new(machine, input);
    let mut finished = start.clone();
    let _ = finished.run(u64::MAX);
    let mut text = String::new();
    for (tape, cells) in machine.tape_ids().zip(extents(&finished, &start)) {
        let _ = write!(text, "{} ", start.head(tape) - cells.start);
        text.extend(cells.map(|cell| if start.tape(tape).read(cell) == SymbolId(0) { '0' } else { '1' }));
        text.push('\n');
    }
    text
}
