//! Random programs: the compiled machine must do what the interpreter does.

mod machines;

use machines::{agree, sizes};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

/// Numbers to draw decisions from; when they run out every decision is the first choice, which ends everything.
struct Dice {
    numbers: Vec<u8>,
    at: usize,
}

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(number) % sides
    }
}

/// A program under construction.
struct Writer {
    dice: Dice,
    text: String,
    indent: usize,
    n_names: usize,
    in_data: bool,
}

/// The types of the variables `a` to `f`, and of the flags `p` and `q`: the data's own, wider, narrower, other points.
const TYPES: [&str; 4] = ["fix<I,F>", "fix<I + 3,F>", "int<5>", "fix<2,4>"];

impl Writer {
    fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A variable of type number `ty`.
    fn variable(&mut self, ty: usize) -> String {
        let options = match ty {
            0 => vec!["a0", "b0", "v[0]", "v[2]", "theta[0]", "theta[1]"],
            1 => vec!["a1", "b1"],
            2 => vec!["a2", "b2"],
            _ => vec!["a3", "b3"],
        };
        options[self.dice.roll(options.len())].to_owned()
    }

    fn number(&mut self, ty: usize, depth: usize) -> String {
        let literal = ["0", "1", "-1", "0.5", "1.25", "-2"][self.dice.roll(6)];
        if depth == 0 {
            return match self.dice.roll(4) {
                0 => self.variable(ty),
                1 if ty == 0 && self.in_data => ["x[0]", "x[1]", "y"][self.dice.roll(3)].to_owned(),
                2 => format!("({literal} as {})", TYPES[ty]),
                _ => self.variable(ty),
            };
        }
        let d = depth - 1;
        match self.dice.roll(16) {
            0 | 1 => self.number(ty, 0),
            n @ 2..=9 => {
                let op = ["+", "-", "*", "/", "+|", "-|", "*|", "+"][n - 2];
                format!("({} {op} {})", self.number(ty, d), self.number(ty, d))
            }
            10 => format!("-{}", self.number(ty, d)),
            11 => {
                format!("({} {} {})", self.number(ty, d), ["<<", ">>"][self.dice.roll(2)], self.dice.roll(9))
            }
            12 => format!(
                "{}({}, {})",
                ["min", "max"][self.dice.roll(2)],
                self.number(ty, d),
                self.number(ty, d)
            ),
            13 => format!("{}({})", ["relu", "abs", "sign"][self.dice.roll(3)], self.number(ty, d)),
            14 => {
                let from = self.dice.roll(TYPES.len());
                let form = ["as", "as|"][self.dice.roll(2)];
                format!("({} {form} {})", self.number(from, d), TYPES[ty])
            }
            _ if ty == 0 => format!("twice({}, {})", self.number(0, d), self.condition(d)),
            _ => self.number(ty, 0),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.dice.roll(if depth == 0 { 4 } else { 9 }) {
            0 => "p".to_owned(),
            1 => "q".to_owned(),
            2 => "t.read()".to_owned(),
            3 => ["true", "false"][self.dice.roll(2)].to_owned(),
            4 => format!("!{}", self.condition(d)),
            5 => {
                let op = ["&&", "||", "==", "!="][self.dice.roll(4)];
                format!("({} {op} {})", self.condition(d), self.condition(d))
            }
            _ => {
                let ty = self.dice.roll(TYPES.len());
                let op = ["<", "<=", ">", ">=", "==", "!="][self.dice.roll(6)];
                format!("({} {op} {})", self.number(ty, d), self.number(ty, d))
            }
        }
    }

    fn block(&mut self, depth: usize) {
        self.indent += 1;
        for _ in 0..=self.dice.roll(3) {
            self.statement(depth);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        let simple = depth == 0;
        match self.dice.roll(if simple { 6 } else { 11 }) {
            0 | 1 => {
                let ty = self.dice.roll(TYPES.len());
                let (place, value) = (self.variable(ty), self.number(ty, 2));
                let op = ["=", "+=", "-=", "*=", "/=", "+|="][self.dice.roll(6)];
                self.line(&format!("{place} {op} {value};"));
            }
            2 => {
                let flag = ["p", "q"][self.dice.roll(2)];
                let value = self.condition(2);
                self.line(&format!("{flag} = {value};"));
            }
            3 => {
                let act = ["t.left();", "t.right();"][self.dice.roll(2)];
                self.line(act);
            }
            4 => {
                let value = self.condition(1);
                self.line(&format!("t.write({value});"));
            }
            5 => {
                let name = format!("n{}", self.n_names);
                self.n_names += 1;
                let ty = self.dice.roll(TYPES.len());
                let (value, place) = (self.number(ty, 2), self.variable(ty));
                self.line(&format!("let {name} = {value}; {place} = {name};"));
            }
            6 | 7 => {
                let condition = self.condition(2);
                self.line(&format!("if {condition} {{"));
                self.block(depth - 1);
                if self.dice.roll(2) == 1 {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            8 => {
                let times = self.dice.roll(4);
                self.line(&format!("for round in 0..{times} {{"));
                self.block(depth - 1);
                self.line("}");
            }
            9 => {
                self.line("for i in 0..2 {");
                self.indent += 1;
                let value = self.number(0, 1);
                self.line(&format!("v[i + 1] += {value} - theta[i];"));
                self.indent -= 1;
                self.block(depth - 1);
                self.line("}");
            }
            _ if !self.in_data => {
                self.line("for sample in data {");
                self.in_data = true;
                self.block(depth - 1);
                self.in_data = false;
                self.line("}");
            }
            _ => {
                // Counts, so that it ends.
                let name = format!("w{}", self.n_names);
                self.n_names += 1;
                let condition = self.condition(1);
                self.line(&format!("let {name}: int<3> = 2;"));
                self.line(&format!("while {name} > 0 && ({condition}) {{"));
                self.block(depth - 1);
                self.line(&format!("    {name} -= 1;"));
                self.line("}");
            }
        }
    }
}

/// A program that uses everything, from a list of numbers.
fn program(numbers: Vec<u8>) -> String {
    let dice = Dice { numbers, at: 0 };
    let mut writer = Writer { dice, text: String::new(), indent: 1, n_names: 0, in_data: false };
    writer.line("let t: tape;");
    for (ty, name) in TYPES.iter().enumerate() {
        let start = ["0", "1", "-1.5", "0.75"][writer.dice.roll(4)];
        writer.line(&format!("let a{ty}: {name} = {start}; let b{ty}: {name};"));
    }
    writer.line("let v: [fix<I,F>; 3] = [1 as fix<I,F>, -1, 0]; let p: bit; let q: bit = true;");
    for _ in 0..2 + writer.dice.roll(4) {
        writer.statement(3);
    }
    for (ty, at) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
        writer.line(&format!("theta[{at}] = (a{ty} as fix<I,F>) + (b{ty} as fix<I,F>);"));
    }
    writer.line("if p { theta[6] += 1; } if q != t.read() { theta[6] -= 1; } theta[7] = v[0] + v[1]; theta[8] = v[2];");
    format!(
        "fn twice(a: fix<I,F>, up: bit) -> fix<I,F> {{ let b = a + a; if up {{ b += 1; }} return b; }}
learner random(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 9] {{
{}}}",
        writer.text
    )
}

/// Half of the programs from each seed, so that two cores share the work; more with LUGE_CASES. A failure prints its program.
fn check(seed: u8) {
    let cases = std::env::var("LUGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000) / 2;
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..Default::default() };
    let format = prop_oneof![Just((3, 2)), Just((4, 4)), Just((2, 6)), Just((6, 0)), Just((8, 8))];
    let samples = prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>()), 1..4);
    let numbers = prop::collection::vec(any::<u8>(), 0..160);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    TestRunner::new_with_rng(config, dice)
        .run(&(numbers, format, samples), |(numbers, (integer, fraction), samples)| {
            let sizes = sizes(2, 1, integer, fraction);
            let unused = 64 - sizes.width();
            let cut = |n: i64| n << unused >> unused;
            let samples: Vec<Vec<i64>> =
                samples.into_iter().map(|(a, b, c)| vec![cut(a), cut(b), cut(c)]).collect();
            agree(&program(numbers), &sizes, &samples, 1_000_000);
            Ok(())
        })
        .expect("machines do what the interpreter does");
}

#[test]
fn machines_do_what_the_interpreter_does() {
    check(1);
}

#[test]
fn machines_do_what_the_interpreter_does_again() {
    check(2);
}
