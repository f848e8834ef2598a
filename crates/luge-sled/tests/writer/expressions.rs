//! Numbers and conditions.

use super::{TYPES, Writer};

/// Operators between two numbers.
pub(crate) const NUMBER_OPERATORS: [&str; 12] =
    ["+", "-", "*", "/", "+|", "-|", "*|", "*~", "%", "&", "|", "^"];

/// Functions and other operators with numbers as operands.
pub(crate) const NUMBER_FUNCTIONS: [&str; 12] =
    ["negation", "<<", ">>", "<< k", ">> k", "min", "max", "relu", "abs", "sign", "as", "as|"];

/// Numbers without operands.
pub(crate) const NUMBERS: [&str; 6] =
    ["a variable", "an element", "x", "y", "a literal", "a loop's variable"];

pub(crate) const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

/// Operators between two conditions.
pub(crate) const BIT_OPERATORS: [&str; 7] = ["&&", "||", "bits ==", "bits !=", "bits ^", "bits &", "bits |"];

/// Conditions without operands.
pub(crate) const BITS: [&str; 7] =
    ["a flag", "t.read()", "a constant", "bits[]", "grid[][]", "a loop's order", "a guarded index"];

impl Writer {
    /// A variable of type number `ty`.
    pub(super) fn variable(&mut self, ty: usize) -> String {
        if let Some(element) = self.element(ty) {
            return self.within("an element", |_| element);
        }
        let options = match ty {
            0 => vec!["a0", "b0", "v[0]", "v[2]", "theta[0]", "theta[1]"],
            1 => vec!["a1", "b1"],
            2 => vec!["a2", "b2"],
            _ => vec!["a3", "b3"],
        };
        self.within("a variable", |w| options[w.dice.roll(options.len())].to_owned())
    }

    /// Sometimes an element at a loop variable or a computed index.
    fn element(&mut self, ty: usize) -> Option<String> {
        if ty > 2 || self.dice.roll(2) > 0 {
            return None;
        }
        let index = self.index(3);
        Some(match (ty, self.dice.roll(3)) {
            (0, 0) => format!("v[{index}]"),
            (0, 1) => format!("theta[{index}]"),
            (0, _) => format!("long[{}]", self.index(12)),
            (1, 0) => format!("rows[{}][{index}]", self.index(2)),
            (1, _) => format!("rows[1][{index}]"),
            _ => format!("ints[{index}]"),
        })
    }

    /// An index below `length`.
    pub(super) fn index(&mut self, length: usize) -> String {
        let fitting: Vec<(String, usize)> =
            self.loops.iter().filter(|(_, rounds)| *rounds <= length).cloned().collect();
        match self.dice.roll(6) {
            0 => self.dice.roll(length).to_string(),
            // In arrays of two it can be out of bounds, which ends the run.
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

    /// An index of the two features. A computed one can be out of bounds, which ends the run.
    fn index_of_sample(&mut self) -> String {
        match self.dice.roll(4) {
            0 => "min(k, 1)".to_owned(),
            1 if self.dice.roll(2) == 0 => "k".to_owned(),
            n => match self.loops.iter().find(|(_, rounds)| *rounds <= 2) {
                Some((name, _)) if n == 3 => name.clone(),
                Some((name, rounds)) => format!("{} - {name}", rounds - 1),
                None => "min(k, 1)".to_owned(),
            },
        }
    }

    fn leaf(&mut self, ty: usize) -> String {
        let literal = ["0", "1", "-1", "0.5", "1.25", "-2"][self.dice.roll(6)];
        match self.dice.roll(4) {
            0 => self.variable(ty),
            1 | 3 if ty == 0 && self.in_data > 0 => match self.dice.roll(3) {
                0 => self.within("y", |_| "y".to_owned()),
                1 => self.within("x", |w| ["x[0]", "x[1]"][w.dice.roll(2)].to_owned()),
                _ => self.within("x", |w| format!("x[{}]", w.index_of_sample())),
            },
            2 => self.within("a literal", |_| format!("({literal} as {})", TYPES[ty])),
            _ => self.variable(ty),
        }
    }

    pub(super) fn number(&mut self, ty: usize, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        let d = depth - 1;
        match self.dice.roll(28) {
            0 | 1 => self.leaf(ty),
            n @ 2..=13 => {
                let op = NUMBER_OPERATORS[n - 2];
                self.within(op, |w| format!("({} {op} {})", w.number(ty, d), w.number(ty, d)))
            }
            14 => self.within("negation", |w| format!("-{}", w.number(ty, d))),
            15 => {
                let op = ["<<", ">>"][self.dice.roll(2)];
                self.within(op, |w| {
                    let value = w.number(ty, d);
                    // Sometimes by more than the width of any number.
                    let by = match w.dice.roll(10) {
                        9 => 40,
                        by => by,
                    };
                    format!("({value} {op} {by})")
                })
            }
            16 => {
                let function = ["min", "max"][self.dice.roll(2)];
                self.within(function, |w| format!("{function}({}, {})", w.number(ty, d), w.number(ty, d)))
            }
            17 => {
                let function = ["relu", "abs", "sign"][self.dice.roll(3)];
                self.within(function, |w| format!("{function}({})", w.number(ty, d)))
            }
            18 | 19 => {
                let (from, form) = (self.dice.roll(TYPES.len()), ["as", "as|"][self.dice.roll(2)]);
                self.within(form, |w| format!("({} {form} {})", w.number(from, d), TYPES[ty]))
            }
            20 => self.within("bit as number", |w| format!("({} as {})", w.condition(d), TYPES[ty])),
            21 => self.within("random()", |_| format!("(random() as {})", TYPES[ty])),
            22 => match self.loops.last().cloned() {
                Some((name, _)) => {
                    self.within("a loop's variable", |_| format!("({name} as| {})", TYPES[ty]))
                }
                None => self.leaf(ty),
            },
            23 => {
                let op = ["<< k", ">> k"][self.dice.roll(2)];
                self.within(op, |w| {
                    let value = w.number(ty, d);
                    // Sometimes below 0, which ends the run.
                    let by = ["k", "k", "k", "(k + k)", "ints[1]"][w.dice.roll(5)];
                    format!("({value} {} {by})", &op[..2])
                })
            }
            24 => self.within("if value", |w| {
                let (condition, yes, no) = (w.condition(d), w.number(ty, d), w.number(ty, d));
                format!("(if {condition} {{ {yes} }} else {{ {no} }})")
            }),
            _ if ty > 0 => {
                let value = self.call(d);
                format!("({value} as {})", TYPES[ty])
            }
            _ => self.call(d),
        }
    }

    /// A call of a function.
    fn call(&mut self, depth: usize) -> String {
        match self.dice.roll(5) {
            0 => {
                let index = self.index(3);
                self.within("both()", |w| format!("both(v, {})[{index}]", w.number(0, depth)))
            }
            1 if self.takes => {
                self.within("next()", |w| format!("next({}, {})", w.number(0, depth), w.number(0, depth)))
            }
            2 => self.within("early()", |w| format!("early({}, {})", w.number(0, depth), w.condition(depth))),
            3 => self.within("part()", |w| {
                let slice = match (w.dice.roll(4), w.loops.iter().find(|(_, rounds)| *rounds <= 3)) {
                    (0, _) if w.in_data > 0 => "x[0..2]".to_owned(),
                    (0 | 1, Some((name, _))) => format!("long[{name} + 1..{name} + 3]"),
                    (0..=2, _) => "long[4..6]".to_owned(),
                    _ => "v[1..3]".to_owned(),
                };
                format!("part({slice}, {})", w.number(0, depth))
            }),
            _ => {
                let function = ["twice", "again"][self.dice.roll(2)];
                self.within("twice()", |w| {
                    format!("{function}({}, {})", w.number(0, depth), w.condition(depth))
                })
            }
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.dice.roll(if depth == 0 { 5 } else { 14 }) {
            n @ (0 | 1) => self.within("a flag", |_| ["p", "q"][n].to_owned()),
            2 => self.within("t.read()", |_| "t.read()".to_owned()),
            3 => self.within("a constant", |w| ["true", "false"][w.dice.roll(2)].to_owned()),
            4 => self.within("bits[]", |w| format!("bits[{}]", w.index(3))),
            5 => self.within("!", |w| format!("!{}", w.condition(d))),
            6 => match self.loops.last().cloned() {
                Some((name, _)) => {
                    self.within("a loop's order", |w| format!("({name} < {})", w.dice.roll(4)))
                }
                None => self.within("a flag", |_| "q".to_owned()),
            },
            11 => self.within("grid[][]", |w| format!("grid[{}][{}]", w.index(2), w.index(3))),
            // The index can be out of bounds, but is then not evaluated: k is at most 2.
            13 => self.within("a guarded index", |w| match w.dice.roll(2) {
                0 => "((k > 2) && (q ^ (v[k + 1] > 0)))".to_owned(),
                _ => "((k < 3) || (((v[k + 1] > 0) as int<5>) == 1))".to_owned(),
            }),
            7 | 12 => {
                let name = BIT_OPERATORS[self.dice.roll(BIT_OPERATORS.len())];
                let op = name.trim_start_matches("bits ");
                self.within(name, |w| format!("({} {op} {})", w.condition(d), w.condition(d)))
            }
            _ => {
                let (ty, op) = (self.dice.roll(TYPES.len()), COMPARISONS[self.dice.roll(6)]);
                self.within(op, |w| format!("({} {op} {})", w.number(ty, d), w.number(ty, d)))
            }
        }
    }
}
