//! Assignments whose right side uses the target.

use super::{TYPES, Writer};

/// Places of numbers and the indices of their types; `I` stands for the variable of a loop over 0 and 1.
pub(crate) const PLACES: [(&str, usize); 16] = [
    ("a0", 0),
    ("v[1]", 0),
    ("v[k]", 0),
    ("v[I]", 0),
    ("v[2 - I]", 0),
    ("v[max(k - I, 0)]", 0),
    ("long[k + k]", 0),
    ("theta[1]", 0),
    ("theta[k]", 0),
    ("theta[I]", 0),
    ("rows[1][2]", 1),
    ("rows[1][k]", 1),
    ("rows[min(k, 1)][k]", 1),
    ("rows[I][k]", 1),
    ("rows[1 - I][I + 1]", 1),
    ("ints[max(min(ints[1], 2), 0)]", 2),
];

/// Values for the place `P` of type `T`.
pub(crate) const SHAPES: [&str; 22] = [
    "(P >> 1)",
    "(P << 1)",
    "(P << 40)",
    "-P",
    "(P + P)",
    "(P - (P >> 2))",
    "((P >> 1) + (P << 1))",
    "(-P + P)",
    "-(P + P)",
    "(P * P)",
    "(P *~ (P >> 1))",
    "(P / (P + 1))",
    "(P +| P)",
    "abs(P)",
    "min(P, (P >> 1))",
    "relu(P)",
    "sign(P)",
    "((P as fix<2,4>) as T)",
    "((P as| int<5>) as T)",
    "((P > (P >> 1)) as T)",
    "(twice((P as fix<I,F>), (P > 0)) as T)",
    "(v[max(min((P as| int<4>), 2), 0)] as T)",
];

pub(crate) const BIT_PLACES: [&str; 6] =
    ["p", "bits[1]", "bits[k]", "bits[I]", "grid[min(k, 1)][k]", "grid[I][k]"];

pub(crate) const BIT_SHAPES: [&str; 6] = [
    "!P",
    "(P ^ P)",
    "(P != bits[k])",
    "(P && !P)",
    "(!P || (v[k] > 0))",
    "(P == (((P as int<5>) > 0) ^ q))",
];

impl Writer {
    /// An assignment with the same place on both sides.
    pub(super) fn aliased(&mut self) {
        if self.dice.roll(6) == 5 {
            let name = BIT_PLACES[self.dice.roll(BIT_PLACES.len())];
            let shape = BIT_SHAPES[self.dice.roll(BIT_SHAPES.len())];
            self.within(name, |w| w.within(shape, |_| ()));
            let value = shape.replace('P', name);
            return self.in_loop(&format!("{name} = {value};"));
        }
        let (name, ty) = PLACES[self.dice.roll(PLACES.len())];
        let value = self.within(name, |w| {
            let shape = SHAPES[w.dice.roll(SHAPES.len())];
            let value =
                w.within(shape, |_| shape.replace('P', name).replace(" as T", &format!(" as {}", TYPES[ty])));
            match w.dice.roll(6) {
                0 => format!("{value} + {name}"),
                1 => format!("{name} - {value}"),
                2 => format!("{value} + {}", w.number(ty, 0)),
                3 => format!("{} * {value}", w.number(ty, 0)),
                _ => value,
            }
        });
        let op = ["=", "=", "=", "+=", "-=", "*=", "/=", "+|=", "*~="][self.dice.roll(9)];
        let text = format!("{name} {op} {value};");
        match self.dice.roll(5) {
            0 => self.in_loop(&format!("if {name} > ({name} >> 1) || q {{ {text} }}")),
            _ => self.in_loop(&text),
        }
    }

    /// A statement, in a loop of its own if it needs one.
    fn in_loop(&mut self, text: &str) {
        let uses = text.contains("[I") || text.contains("- I");
        if !uses {
            return self.line(text);
        }
        let name = self.name("i");
        let text = text.replace("[I", &format!("[{name}")).replace("- I", &format!("- {name}"));
        self.line(&format!("for {name} in 0..2 {{ {text} }}"));
    }
}
