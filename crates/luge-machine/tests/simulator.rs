//! Compares the simulator with a naive one, and with the known results of busy beavers.

mod random_machines;

use std::{collections::HashMap, fs, path::Path};

use luge_machine::{
    Alphabet, Cell, Input, Machine, Missing, Move, Outcome, Pattern, RecordedSteps, Recording, Rule,
    Simulator, StateId, SymbolId, TapeId, TapeInput, Write, formats::Format,
};
use proptest::{prelude::*, test_runner::TestCaseResult};
use random_machines::{Shape, machine_and_input};

/// A naive simulator: cells in a map, rules searched in order.
struct Naive<'m> {
    machine: &'m Machine,
    cells: Vec<HashMap<Cell, SymbolId>>,
    heads: Vec<Cell>,
    visited: Vec<(Cell, Cell)>,
    state: StateId,
}

impl<'m> Naive<'m> {
    fn new(machine: &'m Machine, input: &Input) -> Self {
        let mut tapes = input.tapes.clone();
        tapes.resize(machine.n_tapes(), TapeInput::default());
        let cells = tapes.iter().map(|t| (0..).zip(t.symbols.iter().copied()).collect()).collect();
        let heads: Vec<Cell> = tapes.iter().map(|t| t.head).collect();
        let visited = heads.iter().map(|&h| (h, h)).collect();
        Self { machine, cells, heads, visited, state: machine.start() }
    }

    fn cell(&self, tape: TapeId, cell: Cell) -> SymbolId {
        let blank = self.machine.tape(tape).alphabet.blank();
        self.cells[tape.index()].get(&cell).copied().unwrap_or(blank)
    }

    fn rule(&self) -> Result<&'m Rule, Outcome> {
        let state = self.state;
        if let Some(accepting) = self.machine.halting(state) {
            return Err(Outcome::Halted { state, accepting });
        }
        let reads: Vec<SymbolId> =
            self.machine.tape_ids().map(|tape| self.cell(tape, self.heads[tape.index()])).collect();
        self.machine.rule_for(state, &reads).ok_or(match self.machine.missing() {
            Missing::Halt => Outcome::Halted { state, accepting: false },
            Missing::Reject => Outcome::NoRule { state },
        })
    }

    fn apply(&mut self, rule: &Rule) {
        for tape in 0..self.heads.len() {
            if let Write::Put(symbol) = rule.writes[tape] {
                self.cells[tape].insert(self.heads[tape], symbol);
            }
            self.heads[tape] += rule.moves[tape].offset();
            let (low, high) = &mut self.visited[tape];
            *low = self.heads[tape].min(*low);
            *high = self.heads[tape].max(*high);
        }
        self.state = rule.next;
    }
}

fn check_same(naive: &Naive, simulator: &Simulator, steps: u64) -> TestCaseResult {
    prop_assert_eq!(simulator.steps(), steps);
    prop_assert_eq!(simulator.state(), naive.state);
    let mut n_nonblank = 0;
    for tape in naive.machine.tape_ids() {
        prop_assert_eq!(simulator.head(tape), naive.heads[tape.index()]);
        prop_assert_eq!(simulator.visited(tape), naive.visited[tape.index()]);
        let blank = naive.machine.tape(tape).alphabet.blank();
        let extent = simulator.tape(tape).extent();
        prop_assert!(naive.cells[tape.index()].keys().all(|cell| extent.contains(cell)));
        let expected: Vec<SymbolId> = extent.clone().map(|cell| naive.cell(tape, cell)).collect();
        let found: Vec<SymbolId> = extent.clone().map(|cell| simulator.tape(tape).read(cell)).collect();
        prop_assert_eq!(&found, &expected);
        n_nonblank += expected.iter().filter(|&&s| s != blank).count() as u64;
        let (first, symbols) = simulator.tape(tape).trimmed();
        prop_assert!(symbols.first() != Some(&blank) && symbols.last() != Some(&blank));
        for (cell, &symbol) in (first..).zip(&symbols) {
            prop_assert_eq!(symbol, naive.cell(tape, cell));
        }
        let filled = expected.iter().filter(|&&s| s != blank).count();
        prop_assert_eq!(symbols.iter().filter(|&&s| s != blank).count(), filled);
        prop_assert_eq!(simulator.tape(tape).read(extent.start - 1), blank);
        prop_assert_eq!(simulator.tape(tape).read(extent.end), blank);
    }
    prop_assert_eq!(simulator.n_nonblank(), n_nonblank);
    Ok(())
}

/// Three simulators follow the naive one: by single steps, by a run resumed at every step, and by one run from the start.
fn check_against_naive(machine: &Machine, input: &Input, limit: u64, single_run: u64) -> TestCaseResult {
    let mut naive = Naive::new(machine, input);
    let mut stepped = Simulator::new(machine, input);
    let mut resumed = Simulator::new(machine, input);
    for steps in 0..=limit {
        let rule = naive.rule();
        prop_assert_eq!(stepped.stopped(), rule.err());
        prop_assert_eq!(resumed.run(steps), rule.err().unwrap_or(Outcome::StepLimit));
        check_same(&naive, &resumed, steps)?;
        check_same(&naive, &stepped, steps)?;
        if steps == single_run || rule.is_err() {
            let mut run = Simulator::new(machine, input);
            prop_assert_eq!(run.run(steps), rule.err().unwrap_or(Outcome::StepLimit));
            check_same(&naive, &run, steps)?;
        }
        match rule {
            Ok(rule) => {
                naive.apply(rule);
                prop_assert_eq!(stepped.step(), Ok(()));
            }
            Err(outcome) => {
                prop_assert_eq!(stepped.step(), Err(outcome));
                prop_assert_eq!(resumed.run(limit + 1), outcome);
                check_same(&naive, &stepped, steps)?;
                return check_same(&naive, &resumed, steps);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn one_tape_as_the_naive_one(
        (machine, input) in machine_and_input(Shape { n_tapes: 1..=1, n_symbols: 1..=6, start_may_halt: true, may_stay: true }),
        single_run in 0..200_u64,
    ) {
        check_against_naive(&machine, &input, 200, single_run)?;
    }

    #[test]
    fn many_tapes_as_the_naive_one(
        (machine, input) in machine_and_input(Shape { n_tapes: 1..=3, n_symbols: 2..=5, start_may_halt: true, may_stay: true }),
        single_run in 0..100_u64,
    ) {
        check_against_naive(&machine, &input, 100, single_run)?;
    }

    /// 16^5 combinations: too many for an index, so the rules are searched.
    #[test]
    fn wide_tapes_as_the_naive_one(
        (machine, input) in machine_and_input(Shape { n_tapes: 5..=5, n_symbols: 16..=16, start_may_halt: true, may_stay: true }),
        single_run in 0..60_u64,
    ) {
        check_against_naive(&machine, &input, 60, single_run)?;
    }
}

/// Long sweeps grow the tape on both sides many times.
#[test]
fn tapes_grow_both_ways() {
    let mut b = Machine::builder();
    b.tape("t", Alphabet::binary());
    let (left, right) = (b.state("left"), b.state("right"));
    let [zero, one] = [SymbolId(0), SymbolId(1)];
    for (state, head_move, other) in [(left, Move::Left, right), (right, Move::Right, left)] {
        let back = if head_move == Move::Left { Move::Right } else { Move::Left };
        b.rule(state, [Pattern::Is(one)], [Write::Keep], [head_move], state);
        b.rule(state, [Pattern::Is(zero)], [Write::Put(one)], [back], other);
    }
    let machine = b.build().unwrap();
    // Turn n + 1 comes n steps after turn n, and every turn leaves a one behind: odd turns on the left.
    let mut simulator = Simulator::new(&machine, &Input::blank());
    let n = 2000;
    assert_eq!(simulator.run(1 + n * (n - 1) / 2), Outcome::StepLimit);
    assert_eq!(simulator.n_nonblank(), n);
    assert_eq!(simulator.tape(TapeId(0)).trimmed(), (-999, vec![one; 2000]));
    assert_eq!(simulator.visited(TapeId(0)), (-999, 1000));
    assert_eq!(simulator.head(TapeId(0)), 999);
}

/// A machine as busy beaver work writes it: states `A`, `B`, … with three letters per symbol; other states halt.
fn champion(line: &str) -> Machine {
    let rows: Vec<&str> = line.split('_').collect();
    let n_symbols = rows[0].len() / 3;
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::new((0..n_symbols).map(|s| s.to_string()), SymbolId(0)));
    let states: Vec<StateId> = ('A'..).take(rows.len()).map(|name| b.state(name.to_string())).collect();
    for (&state, row) in states.iter().zip(&rows) {
        for symbol in 0..n_symbols {
            let [written, direction, next] = row.as_bytes()[symbol * 3..][..3] else { unreachable!() };
            let head_move = if direction == b'R' { Move::Right } else { Move::Left };
            let next = match states.get(usize::from(next - b'A')) {
                Some(&running) => running,
                None => b.halting_state(char::from(next).to_string(), true),
            };
            let (read, written) = (Pattern::Is(SymbolId::new(symbol)), Write::Put(SymbolId(written - b'0')));
            b.rule(state, [read], [written], [head_move], next);
        }
    }
    b.build().unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn champions_halt_when_they_should() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/data/champions.csv");
    let table = fs::read_to_string(path).unwrap();
    let mut most_steps = 0;
    for row in table.lines().skip(1) {
        let [line, steps, nonzero] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (steps, nonzero): (u64, u64) = (steps.parse().unwrap(), nonzero.parse().unwrap());
        let machine = champion(line);
        let mut simulator = Simulator::new(&machine, &Input::blank());
        assert!(simulator.run(steps).accepting(), "{line}");
        assert_eq!((simulator.steps(), simulator.n_nonblank()), (steps, nonzero), "{line}");
        let mut short = Simulator::new(&machine, &Input::blank());
        assert_eq!(short.run(steps - 1), Outcome::StepLimit, "{line}");
        most_steps = most_steps.max(steps);
    }
    assert_eq!(most_steps, 47_176_870);
}

/// The configuration: state, heads, visited cells, and what lies on every tape.
fn configuration(simulator: &Simulator<'_>) -> String {
    let tapes = simulator
        .machine()
        .tape_ids()
        .map(|tape| (simulator.head(tape), simulator.visited(tape), simulator.tape(tape).trimmed()));
    format!("{:?} {} {:?}", simulator.state(), simulator.steps(), tapes.collect::<Vec<_>>())
}

/// Repeats recorded steps, if they are the next ones.
fn pass(simulator: &mut Simulator<'_>, recorded: &RecordedSteps) -> bool {
    simulator.repeat(|n, _| (n == 0).then_some(recorded), |_| ()) == 1
}

/// Steps made once are made again at once from the same configuration, and not where a cell they depend on differs.
fn passages(machine: &Machine, input: &Input, lengths: &[usize]) -> TestCaseResult {
    let mut simulator = Simulator::new(machine, input);
    for &length in lengths {
        let before = simulator.clone();
        let mut recording = Recording::new(&simulator);
        for _ in 0..length {
            if recording.step(&mut simulator).is_err() {
                break;
            }
        }
        let passage = recording.finish(&simulator);
        let binary = machine.tapes().iter().all(|tape| tape.alphabet.len() <= 2);
        prop_assert_eq!(passage.is_some(), binary && simulator.steps() > before.steps());
        let Some(passage) = passage else { continue };
        let mut again = before.clone();
        prop_assert!(pass(&mut again, &passage));
        prop_assert_eq!(configuration(&again), configuration(&simulator));
        prop_assert_eq!(passage.steps(), simulator.steps() - before.steps());
        // Where it goes through, it is what single steps do, wherever the machine is.
        let mut elsewhere = simulator.clone();
        let mut one_by_one = simulator.clone();
        if pass(&mut elsewhere, &passage) {
            for _ in 0..passage.steps() {
                prop_assert!(one_by_one.step().is_ok());
            }
        }
        prop_assert_eq!(configuration(&elsewhere), configuration(&one_by_one));
    }
    Ok(())
}

proptest! {
    #[test]
    fn passages_are_the_steps_they_stand_for(
        (machine, input) in machine_and_input(Shape { n_tapes: 1..=4, n_symbols: 2..=3, start_may_halt: true, may_stay: true }),
        lengths in proptest::collection::vec(1_usize..20, 1..12),
    ) {
        passages(&machine, &input, &lengths)?;
    }
}

/// A whole run as recorded steps, each stretch repeated where one that was made before comes next, else recorded; then all of it once more,
/// in one go from the start, with bits instead of bytes. Says how many stretches were repeated.
fn repeated(machine: &Machine, input: &Input, lengths: &[usize]) -> Result<usize, TestCaseError> {
    let mut one_by_one = Simulator::new(machine, input);
    let mut run = one_by_one.clone();
    let (mut known, mut in_turn) = (Vec::<RecordedSteps>::new(), Vec::<usize>::new());
    let mut n_repeated = 0;
    for &length in lengths.iter().cycle().take(120) {
        let next = (0..known.len()).find(|&i| pass(&mut run, &known[i]));
        n_repeated += usize::from(next.is_some());
        if next.is_none() {
            let mut recording = Recording::new(&run);
            while run.steps() < one_by_one.steps() + length as u64 && recording.step(&mut run).is_ok() {}
            known.extend(recording.finish(&run));
        }
        let made = (run.steps() > one_by_one.steps()).then(|| next.unwrap_or(known.len() - 1));
        in_turn.extend(made);
        while one_by_one.steps() < run.steps() && one_by_one.step().is_ok() {}
        prop_assert_eq!(configuration(&run), configuration(&one_by_one));
        if made.is_none() {
            break;
        }
    }
    let mut again = Simulator::new(machine, input);
    let mut heard = 0;
    let recorded = |n: usize, _| Some(&known[*in_turn.get(n)?]);
    prop_assert_eq!(again.repeat(recorded, |_| heard += 1), in_turn.len());
    prop_assert_eq!(heard, in_turn.len());
    prop_assert_eq!(configuration(&again), configuration(&one_by_one));
    // A byte for each cell again, where a machine with one tape runs on.
    let limit = again.steps() + 50;
    prop_assert_eq!(again.run(limit), one_by_one.run(limit));
    prop_assert_eq!(configuration(&again), configuration(&one_by_one));
    Ok(n_repeated)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn repeated_steps_are_the_machines_on_tapes_that_grow(
        (machine, input) in machine_and_input(Shape { n_tapes: 1..=32, n_symbols: 2..=2, start_may_halt: false, may_stay: true }),
        lengths in proptest::collection::vec(1_usize..60, 1..4),
    ) {
        repeated(&machine, &input, &lengths)?;
    }
}

/// Two heads run apart over filled tapes and beyond; others, if there are any, go with the second one without a look.
#[test]
fn recorded_steps_are_repeated_beyond_both_ends() {
    for n_tapes in [2, 17, 32] {
        let rest = |word: &str| format!(" {word}").repeat(n_tapes - 2);
        let mut text = "machine\n".to_owned();
        (0..n_tapes).for_each(|i| text += &format!("tape t{i}: 0 1 blank {}\n", i % 2));
        text += "walk:\n";
        for (reads, writes) in [("0 0", "1 1"), ("0 1", "1 0"), ("1 0", "* *"), ("1 1", "0 0")] {
            let (any, right) = (rest("*"), rest("R"));
            text += &format!("  {reads}{any} -> {writes}{any}, L R{right}, walk\n");
        }
        let machine = Format::Native.read(&text).expect("a machine").machine;
        let symbols = |from: usize| (0..300).map(|i: usize| SymbolId((i * i / 7 + from) as u8 % 2)).collect();
        let tape = |i: usize| TapeInput { symbols: symbols(i), head: 150 - 7 * i as Cell };
        let input = Input { tapes: (0..n_tapes).map(tape).collect() };
        let n_repeated = repeated(&machine, &input, &[7, 19, 3]).expect("the same steps");
        assert!(n_repeated > 50, "{n_repeated} with {n_tapes} tapes");
    }
}

/// Steps are not recorded if they look at cells far away, or are so many that a head that is not looked at may be too far away.
#[test]
fn passages_stay_near() {
    let recorded = |rule: &str, n_steps: usize| {
        let text = format!("machine\ntape a: 0 1 blank 0\ntape b: 0 1 blank 0\nwalk:\n  {rule}, walk\n");
        let machine = Format::Native.read(&text).expect("a machine").machine;
        let mut simulator = Simulator::new(&machine, &Input::blank());
        let before = simulator.clone();
        let mut recording = Recording::new(&simulator);
        (0..n_steps).for_each(|_| assert!(recording.step(&mut simulator).is_ok()));
        let passage = recording.finish(&simulator)?;
        let mut again = before;
        assert!(pass(&mut again, &passage));
        Some(configuration(&again) == configuration(&simulator))
    };
    let (looking, blind) = ("0 * -> 1 *, L S", "0 * -> * *, S R");
    assert_eq!([63, 65, 66, 100].map(|n| recorded(looking, n)), [Some(true), Some(true), None, None]);
    assert_eq!([127, 128, 32_768, 70_000].map(|n| recorded(blind, n)), [Some(true), None, None, None]);
}

/// Runs to these limits one after the other, and single steps to the same: steps that are remembered are the steps themselves.
fn remembered(machine: &Machine, input: &Input, limits: &[u64]) -> TestCaseResult {
    let mut run = Simulator::new(machine, input);
    let mut one_by_one = Simulator::new(machine, input);
    for limit in limits.iter().scan(0, |sum, part| {
        *sum += part;
        Some(*sum)
    }) {
        let outcome = run.run(limit);
        while one_by_one.steps() < limit && one_by_one.step().is_ok() {}
        prop_assert_eq!(outcome, one_by_one.stopped().unwrap_or(Outcome::StepLimit));
        prop_assert_eq!(configuration(&run), configuration(&one_by_one));
        for tape in machine.tape_ids() {
            prop_assert_eq!(run.visited(tape), one_by_one.visited(tape));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn remembered_steps_are_the_steps_themselves(
        (machine, input) in machine_and_input(Shape { n_tapes: 2..=6, n_symbols: 2..=2, start_may_halt: false, may_stay: true }),
        limits in proptest::collection::vec(1_u64..600, 1..6),
    ) {
        remembered(&machine, &input, &limits)?;
    }
}
