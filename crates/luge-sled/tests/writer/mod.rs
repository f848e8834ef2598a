//! Random programs that use everything the language has.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod aliasing;
pub(crate) mod expressions;
pub(crate) mod tally;

use tally::Tally;

/// Numbers that decide. After the last one every decision is the first choice, which ends the program.
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
    /// Number of enclosing loops over the data; at least 1 on a stream.
    in_data: usize,
    /// Whether samples are taken from a stream.
    takes: bool,
    /// The variables of enclosing loops, and their bounds.
    loops: Vec<(String, usize)>,
    /// Whether `break` and `continue` are allowed.
    breakable: bool,
    tally: Tally,
}

/// Statements about whole arrays.
const ARRAYS: [&str; 10] = [
    "v = flip(v);",
    "v = [v[1], v[2], v[0]];",
    "rows[0] = rows[1];",
    "if true { let w = rows; rows[1] = w[0]; }",
    "rows = turn(rows);",
    "grid[1] = bits;",
    "v[1..3] = v[0..2];",
    "long[2..5] = v;",
    "v = if p { flip(v) } else { v };",
    "bits[0..2] = [q, p ^ bits[0]];",
];

/// The types of variables: that of the data, a wider one, a narrower one, and one with another point.
const TYPES: [&str; 4] = ["fix<I,F>", "fix<I + 3,F>", "int<5>", "fix<2,4>"];

impl Writer {
    /// Writes a construct, and counts it.
    fn within<T>(&mut self, construct: &'static str, write: impl FnOnce(&mut Self) -> T) -> T {
        self.tally.enter(construct);
        let written = write(self);
        self.tally.leave();
        written
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn block(&mut self, depth: usize) {
        self.indent += 1;
        for _ in 0..=self.dice.roll(3) {
            self.statement(depth);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        match self.dice.roll(if depth == 0 { 15 } else { 22 }) {
            0 | 1 => self.within("assignment", |w| {
                let ty = w.dice.roll(TYPES.len());
                let (place, value) = (w.variable(ty), w.number(ty, 2));
                let op = ["=", "+=", "-=", "*=", "/=", "+|=", "-|=", "*|=", "*~="][w.dice.roll(9)];
                w.line(&format!("{place} {op} {value};"));
            }),
            2 => self.within("flag assignment", |w| {
                let flag = ["p", "q"][w.dice.roll(2)];
                let value = w.condition(2);
                w.line(&format!("{flag} = {value};"));
            }),
            3 => self.within("move", |w| {
                let act = ["t.left();", "t.right();"][w.dice.roll(2)];
                w.line(act);
            }),
            4 => self.within("write", |w| {
                let value = w.condition(1);
                w.line(&format!("t.write({value});"));
            }),
            5 => self.within("let", |w| {
                let (name, ty) = (w.name("n"), w.dice.roll(TYPES.len()));
                let (value, place) = (w.number(ty, 2), w.variable(ty));
                w.line(&format!("let {name} = {value}; {place} = {name};"));
            }),
            6 => self.within("bit assignment", |w| {
                let (index, value) = (w.index(3), w.condition(1));
                w.line(&format!("bits[{index}] = {value};"));
            }),
            7 => self.within("array assignment", |w| {
                let array = ARRAYS[w.dice.roll(ARRAYS.len())];
                w.line(array);
            }),
            8 if self.takes && self.dice.roll(2) == 0 => self.within("take", |w| w.line("take;")),
            8 if self.in_data > 0 && self.dice.roll(4) > 0 => {
                self.within("loop over features", Self::loop_over_features);
            }
            8 => self.within("index assignment", |w| {
                let step = ["k = (k + 1) * ((k < 2) as int<4>);", "k = 2 - k;", "k = 0;"][w.dice.roll(3)];
                w.line(step);
            }),
            9 => {
                let leave = ["break", "continue"][self.dice.roll(2)];
                if self.breakable {
                    self.within(leave, |w| {
                        let condition = w.condition(1);
                        w.line(&format!("if {condition} {{ {leave}; }}"));
                    });
                }
            }
            10 => self.within("assert", Self::assertion),
            11 => self.within("const", |w| {
                let (name, ty) = (w.name("C"), w.dice.roll(TYPES.len()));
                let value = ["1", "1 / 2 - 2", "-0.75"][w.dice.roll(3)];
                let (place, other) = (w.variable(ty), w.number(ty, 1));
                w.line(&format!("const {name} = {value}; {place} = {name} + {other};"));
            }),
            12 if self.takes => self.within("take", |w| w.line("take;")),
            12 if self.dice.roll(2) == 0 => {
                self.within("print", |w| w.line("print(\"k and p\", k, p, v[1]);"));
            }
            12 => self.within("bit assignment", |w| {
                let (row, column, value) = (w.index(2), w.index(3), w.condition(1));
                w.line(&format!("grid[{row}][{column}] = {value};"));
            }),
            13 | 14 => self.within("aliased assignment", Self::aliased),
            n => self.compound(n, depth),
        }
    }

    /// A statement with blocks.
    fn compound(&mut self, number: usize, depth: usize) {
        match number {
            15 | 16 => {
                self.within("if", |w| {
                    let condition = w.condition(2);
                    w.line(&format!("if {condition} {{"));
                    w.block(depth - 1);
                });
                if self.dice.roll(2) == 1 {
                    self.line("} else {");
                    self.within("else", |w| w.block(depth - 1));
                }
                self.line("}");
            }
            17..=19 => self.loop_over_integers(depth),
            20 if self.takes => self.within("take", |w| w.line("take;")),
            20 if self.in_data < 2 => self.within("for sample", |w| {
                w.line("for sample in data {");
                w.in_data += 1;
                w.body(depth);
                w.in_data -= 1;
                w.line("}");
            }),
            // A counter makes it end.
            _ => self.within("while", |w| {
                let (name, condition) = (w.name("w"), w.condition(1));
                w.line(&format!("let {name}: int<3> = 3;"));
                w.line(&format!("while {name} > 0 && ({condition}) {{"));
                w.line(&format!("    {name} -= 1;"));
                w.body(depth);
                w.line("}");
            }),
        }
    }

    /// A new name.
    fn name(&mut self, letter: &str) -> String {
        self.n_names += 1;
        format!("{letter}{}", self.n_names - 1)
    }

    /// An assertion that holds. One that can fail, and `reject`, are rare, because they hide what comes after them.
    fn assertion(&mut self) {
        let condition = self.condition(1);
        match self.dice.roll(12) {
            11 => self.line(&format!("assert({condition});")),
            10 => self.line(&format!("if {condition} && a3 > b3 {{ reject; }}")),
            9 => self.line(&format!("if {condition} && a1 > b1 {{ return; }}")),
            _ => self.line(&format!("assert({condition} || k < 3);")),
        }
    }

    /// Reads the features upwards, downwards, or in the order of an index.
    fn loop_over_features(&mut self) {
        let name = self.name("i");
        let index = [&name, &format!("1 - {name}"), "min(k, 1)", &format!("1 - {name}"), "k"];
        let index = index[self.dice.roll(5)].to_owned();
        let (place, other) = (self.variable(0), self.number(0, 0));
        let op = ["+=", "-=", "*~=", "+|="][self.dice.roll(4)];
        self.line(&format!("for {name} in 0..2 {{ {place} {op} x[{index}]; }} {place} += {other};"));
    }

    /// The body of a loop.
    fn body(&mut self, depth: usize) {
        let outside = std::mem::replace(&mut self.breakable, true);
        self.block(depth - 1);
        self.breakable = outside;
    }

    fn loop_over_integers(&mut self, depth: usize) {
        let name = self.name("i");
        let outer = self.loops.last().cloned();
        let (bounds, rounds) = match (self.dice.roll(8), outer) {
            (0, Some((outer, rounds))) => (format!("{outer}..{rounds}"), rounds),
            (1, Some((outer, rounds))) => (format!("0..{outer}"), rounds),
            (2, _) => ("0..12".to_owned(), 12),
            // An integer of k's type, which is not known at compile time.
            (6, _) => ("0..k".to_owned(), 0),
            (7, _) => ("k..3".to_owned(), 0),
            (n, _) => {
                let rounds = [0, 1, 12, 3, 2, 2][n];
                (format!("0..{rounds}"), rounds)
            }
        };
        let unroll =
            self.dice.roll(6) == 5 && bounds.starts_with("0..") && self.loops.is_empty() && rounds > 0;
        self.line(&format!("{}for {name} in {bounds} {{", if unroll { "unroll " } else { "" }));
        if bounds.contains('k') {
            self.line(&format!("    v[{name}] += 1;"));
        }
        let outside = std::mem::replace(&mut self.breakable, !unroll);
        if rounds > 0 {
            self.loops.push((name, rounds));
        }
        self.within(if unroll { "unroll for" } else { "for" }, |w| w.block(depth - 1));
        if rounds > 0 {
            self.loops.pop();
        }
        self.breakable = outside;
        self.line("}");
    }
}

/// A random program, decided by a list of numbers. It loops over its samples, or takes them from a stream.
pub(crate) fn program(numbers: Vec<u8>, takes: bool) -> String {
    tallied_program(numbers, takes).0
}

/// The program and its constructs.
pub(crate) fn tallied_program(numbers: Vec<u8>, takes: bool) -> (String, Tally) {
    let dice = Dice { numbers, at: 0 };
    let mut writer = Writer {
        dice,
        text: String::new(),
        indent: 1,
        n_names: 0,
        in_data: usize::from(takes),
        takes,
        loops: Vec::new(),
        breakable: false,
        tally: Tally::default(),
    };
    writer.line("let t: tape;");
    for (ty, name) in TYPES.iter().enumerate() {
        let start = ["0", "1", "-1.5", "0.75"][writer.dice.roll(4)];
        writer.line(&format!("let a{ty}: {name} = {start}; let b{ty}: {name};"));
    }
    writer.line("let v: [fix<I,F>; 3] = [1 as fix<I,F>, -1, 0]; let p: bit; let q: bit = true;");
    writer.line("let k: int<4>; let bits: [bit; 3] = [true, false, true]; let rows: [[fix<I + 3,F>; 3]; 2]; let grid: [[bit; 3]; 2]; let long: [fix<I,F>; 12]; let ints: [int<5>; 3] = [2, 0, 1];");
    for _ in 0..2 + writer.dice.roll(4) {
        writer.statement(3);
    }
    for (ty, at) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
        writer.line(&format!("theta[{at}] = (a{ty} as fix<I,F>) + (b{ty} as fix<I,F>);"));
    }
    writer.line("if p { theta[6] += 1; } if q != t.read() { theta[6] -= 1; } theta[7] = v[0] + v[1]; theta[8] = v[2];");
    writer.line("for r in 0..2 { for c in 0..3 { theta[9 + r] += rows[r][c] as fix<I,F>; if bits[c] ^ grid[r][c] { theta[11] += (r + c) as| fix<I,F>; } } }");
    writer.line("for n in 0..12 { theta[12] += long[n] * (n as| fix<I,F>); }");
    writer.line("for n in 0..3 { theta[4] += (ints[n] as fix<I,F>) * (n as| fix<I,F>); }");
    let next = if takes {
        "fn next(a: fix<I,F>, b: fix<I,F>) -> fix<I,F> { let c = later(a); return c - b; }
fn later(a: fix<I,F>) -> fix<I,F> { take; return a + a; }
"
    } else {
        ""
    };
    let text = format!(
        "{next}fn twice(a: fix<I,F>, up: bit) -> fix<I,F> {{ let b = a + a; if up {{ b += 1; }} return b; }}
fn both(a: [fix<I,F>; 3], b: fix<I,F>) -> [fix<I,F>; 3] {{ let c = a; for i in 0..3 {{ c[i] += b; }} return c; }}
fn early(a: fix<I,F>, up: bit) -> fix<I,F> {{
    if up {{ return a; }}
    let b = a;
    for i in 0..3 {{ b += 0.5; while b > a {{ if b > 1 {{ return b - (i as| fix<I,F>); }} break; }} }}
    if a > 0 {{ return -a; }} else {{ b -= 1; }}
    return b;
}}
fn part(a: [fix<I,F>; 2], b: fix<I,F>) -> fix<I,F> {{ return a[1] - b * a[0]; }}
fn again(a: fix<I,F>, up: bit) -> fix<I,F> {{ return twice(twice(a, !up) - 1, up); }}
fn turn(a: [[fix<I + 3,F>; 3]; 2]) -> [[fix<I + 3,F>; 3]; 2] {{ return [a[1], a[0]]; }}
fn flip(a: [fix<I,F>; 3]) -> [fix<I,F>; 3] {{ return [a[2], a[1], a[0]]; }}
const SEED = 5;
learner random(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 13] {{
{}}}",
        writer.text
    );
    (text, writer.tally)
}

/// Replaces each tape by a bit.
pub(crate) fn without_tapes(source: &str) -> String {
    let lines = source.lines().map(|line| {
        let line = line.replace("let t: tape;", "let t: [bit; 1];").replace("t.read()", "t[0]");
        let line = line.replace("t.left();", "").replace("t.right();", "");
        match line.trim_start().strip_prefix("t.write(").and_then(|rest| rest.strip_suffix(");")) {
            Some(value) => format!("t[0] = {value};"),
            None => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the label by an array if there are several labels; the program reads them in turn.
pub(crate) fn with_labels(source: &str, n_labels: usize) -> String {
    if n_labels == 1 {
        return source.to_owned();
    }
    let source = source.replace("y: fix<I,F>)", &format!("Y: [fix<I,F>; {n_labels}])"));
    let parts = source.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').enumerate();
    let named = parts.map(|(at, part)| match part.strip_prefix('y') {
        Some(rest) if rest.chars().count() <= 1 && !rest.starts_with(char::is_alphanumeric) => {
            format!("y[{}]{rest}", at % n_labels)
        }
        _ => part.to_owned(),
    });
    named.collect::<String>().replace("Y: [", "y: [")
}
