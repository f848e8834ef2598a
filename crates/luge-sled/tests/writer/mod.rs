//! Random programs that use everything the language has.

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
    /// Loops over the data around; on a stream there is always a sample.
    in_data: usize,
    /// Whether samples are taken from a stream.
    takes: bool,
    /// Variables of loops around, and how far each goes.
    loops: Vec<(String, usize)>,
    /// Whether `break` and `continue` have a loop.
    breakable: bool,
}

/// Statements about whole arrays.
const ARRAYS: [&str; 6] = [
    "v = flip(v);",
    "v = [v[1], v[2], v[0]];",
    "rows[0] = rows[1];",
    "if true { let w = rows; rows[1] = w[0]; }",
    "rows = turn(rows);",
    "grid[1] = bits;",
];

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
        if let Some(element) = self.element(ty) {
            return element;
        }
        let options = match ty {
            0 => vec!["a0", "b0", "v[0]", "v[2]", "theta[0]", "theta[1]"],
            1 => vec!["a1", "b1"],
            2 => vec!["a2", "b2"],
            _ => vec!["a3", "b3"],
        };
        options[self.dice.roll(options.len())].to_owned()
    }

    /// An element that a loop's variable or a computed index leads to, now and then.
    fn element(&mut self, ty: usize) -> Option<String> {
        if ty > 1 || self.dice.roll(2) > 0 {
            return None;
        }
        let index = self.index(3);
        Some(match (ty, self.dice.roll(3)) {
            (0, 0) => format!("v[{index}]"),
            (0, 1) => format!("theta[{index}]"),
            (0, _) => format!("long[{}]", self.index(12)),
            (_, 0) => format!("rows[{}][{index}]", self.index(2)),
            _ => format!("rows[1][{index}]"),
        })
    }

    /// An index below `length`.
    fn index(&mut self, length: usize) -> String {
        let fitting: Vec<(String, usize)> =
            self.loops.iter().filter(|(_, rounds)| *rounds <= length).cloned().collect();
        match self.dice.roll(6) {
            0 => self.dice.roll(length).to_string(),
            // In arrays of two it may lie outside, and ends the run.
            1 if length > 2 || self.dice.roll(4) == 0 => "k".to_owned(),
            1 => "min(k, 1)".to_owned(),
            _ if fitting.is_empty() => self.dice.roll(length).to_string(),
            n => {
                let (name, rounds) = &fitting[self.dice.roll(fitting.len())];
                match (n, length - rounds) {
                    (2 | 4, room) if room > 0 => format!("{name} + {room}"),
                    (3 | 5, _) if self.dice.roll(2) == 0 => format!("{} - {name}", rounds - 1),
                    _ => name.clone(),
                }
            }
        }
    }

    /// An index of the two features; a computed one may lie outside, and ends the run.
    fn index_of_sample(&mut self) -> String {
        match self.dice.roll(4) {
            0 => "min(k, 1)".to_owned(),
            1 if self.dice.roll(4) == 0 => "k".to_owned(),
            n => match self.loops.iter().find(|(_, rounds)| *rounds <= 2) {
                Some((name, _)) if n == 3 => name.clone(),
                Some((name, rounds)) => format!("{} - {name}", rounds - 1),
                None => "min(k, 1)".to_owned(),
            },
        }
    }

    fn number(&mut self, ty: usize, depth: usize) -> String {
        let literal = ["0", "1", "-1", "0.5", "1.25", "-2"][self.dice.roll(6)];
        if depth == 0 {
            return match self.dice.roll(4) {
                0 => self.variable(ty),
                1 | 3 if ty == 0 && self.in_data > 0 => match self.dice.roll(3) {
                    0 => "y".to_owned(),
                    1 => ["x[0]", "x[1]"][self.dice.roll(2)].to_owned(),
                    _ => format!("x[{}]", self.index_of_sample()),
                },
                2 => format!("({literal} as {})", TYPES[ty]),
                _ => self.variable(ty),
            };
        }
        let d = depth - 1;
        match self.dice.roll(20) {
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
            15 => format!("({} *~ {})", self.number(ty, d), self.number(ty, d)),
            16 => format!("({} as {})", self.condition(d), TYPES[ty]),
            17 if ty == 0 => format!("both(v, {})[{}]", self.number(0, d), self.index(3)),
            18 => match self.loops.last() {
                Some((name, _)) if self.dice.roll(2) == 0 => format!("({name} as| {})", TYPES[ty]),
                _ => format!("(random() as {})", TYPES[ty]),
            },
            _ if ty == 0 && self.takes && self.dice.roll(2) == 0 => {
                format!("next({}, {})", self.number(0, d), self.number(0, d))
            }
            _ if ty == 0 => {
                let function = ["twice", "again"][self.dice.roll(2)];
                format!("{function}({}, {})", self.number(0, d), self.condition(d))
            }
            _ => self.number(ty, 0),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.dice.roll(if depth == 0 { 5 } else { 12 }) {
            0 => "p".to_owned(),
            1 => "q".to_owned(),
            2 => "t.read()".to_owned(),
            3 => ["true", "false"][self.dice.roll(2)].to_owned(),
            4 => format!("bits[{}]", self.index(3)),
            5 => format!("!{}", self.condition(d)),
            6 => match self.loops.last() {
                Some((name, _)) => format!("({name} < {})", self.dice.roll(4)),
                None => "q".to_owned(),
            },
            11 => format!("grid[{}][{}]", self.index(2), self.index(3)),
            7 => {
                let op = ["&&", "||", "==", "!=", "^"][self.dice.roll(5)];
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
        match self.dice.roll(if simple { 13 } else { 20 }) {
            0 | 1 => {
                let ty = self.dice.roll(TYPES.len());
                let (place, value) = (self.variable(ty), self.number(ty, 2));
                let op = ["=", "+=", "-=", "*=", "/=", "+|=", "-|=", "*|=", "*~="][self.dice.roll(9)];
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
            6 => {
                let (index, value) = (self.index(3), self.condition(1));
                self.line(&format!("bits[{index}] = {value};"));
            }
            7 => {
                let array = ARRAYS[self.dice.roll(ARRAYS.len())];
                self.line(array);
            }
            8 if self.takes && self.dice.roll(2) == 0 => self.line("take;"),
            8 if self.in_data > 0 && self.dice.roll(4) > 0 => self.loop_over_features(),
            8 => {
                let step = ["k = (k + 1) * ((k < 2) as int<4>);", "k = 2 - k;", "k = 0;"][self.dice.roll(3)];
                self.line(step);
            }
            9 => {
                let leave = ["break;", "continue;"][self.dice.roll(2)];
                if self.breakable {
                    let condition = self.condition(1);
                    self.line(&format!("if {condition} {{ {leave} }}"));
                }
            }
            10 => self.assertion(),
            11 => {
                let name = format!("C{}", self.n_names);
                self.n_names += 1;
                let (ty, value) =
                    (self.dice.roll(TYPES.len()), ["1", "1 / 2 - 2", "-0.75"][self.dice.roll(3)]);
                let (place, other) = (self.variable(ty), self.number(ty, 1));
                self.line(&format!("const {name} = {value}; {place} = {name} + {other};"));
            }
            12 if self.takes => self.line("take;"),
            12 if self.dice.roll(2) == 0 => self.line("print(\"k and p\", k, p, v[1]);"),
            12 => {
                let (row, column, value) = (self.index(2), self.index(3), self.condition(1));
                self.line(&format!("grid[{row}][{column}] = {value};"));
            }
            13 | 14 => {
                let condition = self.condition(2);
                self.line(&format!("if {condition} {{"));
                self.block(depth - 1);
                if self.dice.roll(2) == 1 {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            15..=17 => self.loop_over_integers(depth),
            18 if self.takes => self.line("take;"),
            18 if self.in_data < 2 => {
                self.line("for sample in data {");
                self.in_data += 1;
                self.body(depth);
                self.in_data -= 1;
                self.line("}");
            }
            _ => {
                // Counts, so that it ends.
                let name = format!("w{}", self.n_names);
                self.n_names += 1;
                let condition = self.condition(1);
                self.line(&format!("let {name}: int<3> = 3;"));
                self.line(&format!("while {name} > 0 && ({condition}) {{"));
                self.line(&format!("    {name} -= 1;"));
                self.body(depth);
                self.line("}");
            }
        }
    }

    /// An assertion that holds, seldom one that may fail, or a `reject`: what ends a run hides what comes after it.
    fn assertion(&mut self) {
        let condition = self.condition(1);
        match self.dice.roll(12) {
            11 => self.line(&format!("assert({condition});")),
            10 => self.line(&format!("if {condition} && a3 > b3 {{ reject; }}")),
            _ => self.line(&format!("assert({condition} || k < 3);")),
        }
    }

    /// The features in some order, up, down, or as an index says.
    fn loop_over_features(&mut self) {
        let name = format!("i{}", self.n_names);
        self.n_names += 1;
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
        let name = format!("i{}", self.n_names);
        self.n_names += 1;
        let outer = self.loops.last().cloned();
        let (bounds, rounds) = match (self.dice.roll(6), outer) {
            (0, Some((outer, rounds))) => (format!("{outer}..{rounds}"), rounds),
            (1, Some((outer, rounds))) => (format!("0..{outer}"), rounds),
            (2, _) => ("0..12".to_owned(), 12),
            (n, _) => {
                let rounds = [0, 1, 12, 3, 2, 2][n];
                (format!("0..{rounds}"), rounds)
            }
        };
        let unroll =
            self.dice.roll(6) == 5 && bounds.starts_with("0..") && self.loops.is_empty() && rounds > 0;
        self.line(&format!("{}for {name} in {bounds} {{", if unroll { "unroll " } else { "" }));
        let outside = std::mem::replace(&mut self.breakable, !unroll);
        if rounds > 0 {
            self.loops.push((name, rounds));
        }
        self.block(depth - 1);
        if rounds > 0 {
            self.loops.pop();
        }
        self.breakable = outside;
        self.line("}");
    }
}

/// A program that uses everything, from a list of numbers. Its samples are looped over, or taken from a stream.
pub(crate) fn program(numbers: Vec<u8>, takes: bool) -> String {
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
    };
    writer.line("let t: tape;");
    for (ty, name) in TYPES.iter().enumerate() {
        let start = ["0", "1", "-1.5", "0.75"][writer.dice.roll(4)];
        writer.line(&format!("let a{ty}: {name} = {start}; let b{ty}: {name};"));
    }
    writer.line("let v: [fix<I,F>; 3] = [1 as fix<I,F>, -1, 0]; let p: bit; let q: bit = true;");
    writer.line("let k: int<4>; let bits: [bit; 3] = [true, false, true]; let rows: [[fix<I + 3,F>; 3]; 2]; let grid: [[bit; 3]; 2]; let long: [fix<I,F>; 12];");
    for _ in 0..2 + writer.dice.roll(4) {
        writer.statement(3);
    }
    for (ty, at) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
        writer.line(&format!("theta[{at}] = (a{ty} as fix<I,F>) + (b{ty} as fix<I,F>);"));
    }
    writer.line("if p { theta[6] += 1; } if q != t.read() { theta[6] -= 1; } theta[7] = v[0] + v[1]; theta[8] = v[2];");
    writer.line("for r in 0..2 { for c in 0..3 { theta[9 + r] += rows[r][c] as fix<I,F>; if bits[c] ^ grid[r][c] { theta[11] += (r + c) as| fix<I,F>; } } }");
    writer.line("for n in 0..12 { theta[12] += long[n] * (n as| fix<I,F>); }");
    let next = if takes {
        "fn next(a: fix<I,F>, b: fix<I,F>) -> fix<I,F> { let c = later(a); return c - b; }
fn later(a: fix<I,F>) -> fix<I,F> { take; return a + a; }
"
    } else {
        ""
    };
    format!(
        "{next}fn twice(a: fix<I,F>, up: bit) -> fix<I,F> {{ let b = a + a; if up {{ b += 1; }} return b; }}
fn both(a: [fix<I,F>; 3], b: fix<I,F>) -> [fix<I,F>; 3] {{ let c = a; for i in 0..3 {{ c[i] += b; }} return c; }}
fn again(a: fix<I,F>, up: bit) -> fix<I,F> {{ return twice(twice(a, !up) - 1, up); }}
fn turn(a: [[fix<I + 3,F>; 3]; 2]) -> [[fix<I + 3,F>; 3]; 2] {{ return [a[1], a[0]]; }}
fn flip(a: [fix<I,F>; 3]) -> [fix<I,F>; 3] {{ return [a[2], a[1], a[0]]; }}
const SEED = 5;
learner random(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 13] {{
{}}}",
        writer.text
    )
}
