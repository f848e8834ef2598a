//! The tapes of a machine, before unused ones are removed.

use crate::core::Core;

/// A tape, by a number that says what it is for.
pub(super) type Tape = usize;

pub(super) const DATA: Tape = 0;
pub(super) const MARKS: Tape = 1;
pub(super) const THETA: Tape = 2;
/// Where products and dividends are.
pub(super) const PRODUCT: Tape = 3;
/// Has marks at the point of products, where they begin and where the sums end that they are added to; its head moves with
/// that of `product`.
pub(super) const BOUND: Tape = 4;
/// Counts the bits of a multiplier and the rounds of a division to one side; to the other it takes note of how far a
/// counter went back.
pub(super) const OUTER: Tape = 5;
pub(super) const DIVISOR: Tape = 6;
pub(super) const QUOTIENT: Tape = 7;

const FIRST_RULER: Tape = 16;
const FIRST_COUNTER: Tape = 32;
const FIRST_PLACE: Tape = 64;
const FIRST_CONSTANT: Tape = 128;
const FIRST_MEMORY: Tape = 1 << 10;
const FIRST_VIRTUAL: Tape = 1 << 16;
const FIRST_ORIGIN: Tape = 1 << 20;
const FIRST_OWN: Tape = 1 << 21;

/// The symbols of `marks`; the first is inside a number.
pub(super) const FEATURE: u8 = 1;
pub(super) const LABEL: u8 = 2;
pub(super) const END: u8 = 3;

pub(super) fn ruler(number: usize) -> Tape {
    FIRST_RULER + number
}

pub(super) fn counter(depth: usize) -> Tape {
    FIRST_COUNTER + depth.min(FIRST_PLACE - FIRST_COUNTER - 1)
}

/// Marks the sample of an outer loop over the data while an inner one runs.
pub(super) fn place(depth: usize) -> Tape {
    FIRST_PLACE + depth.min(FIRST_CONSTANT - FIRST_PLACE - 1)
}

pub(super) fn constants(number: usize) -> Tape {
    FIRST_CONSTANT + number
}

pub(super) fn memory(number: usize) -> Tape {
    FIRST_MEMORY + number
}

/// Where something is as long as there is no plan for it.
pub(super) fn without_plan(number: usize) -> Tape {
    FIRST_VIRTUAL + number
}

/// Has a mark where a tape of memory begins; the two heads move together.
pub(super) fn origin(tape: Tape) -> Tape {
    FIRST_ORIGIN + tape
}

pub(super) fn own(number: usize) -> Tape {
    FIRST_OWN + number
}

/// Which ruler, counter, … this is.
pub(super) enum Kind {
    Ruler(usize),
    Counter(usize),
    Constants(usize),
    Origin,
    Other,
}

pub(super) fn kind(tape: Tape) -> Kind {
    match tape {
        FIRST_RULER..FIRST_COUNTER => Kind::Ruler(tape - FIRST_RULER),
        FIRST_COUNTER..FIRST_PLACE => Kind::Counter(tape - FIRST_COUNTER),
        FIRST_CONSTANT..FIRST_MEMORY => Kind::Constants(tape - FIRST_CONSTANT),
        FIRST_ORIGIN..FIRST_OWN => Kind::Origin,
        _ => Kind::Other,
    }
}

pub(super) fn is_read_only(tape: Tape) -> bool {
    let fixed = [DATA, MARKS, BOUND, OUTER].contains(&tape);
    fixed || !matches!(kind(tape), Kind::Other)
}

/// The names of the tapes from `DATA` to `QUOTIENT`.
const NAMES: [&str; 8] = ["data", "marks", "theta", "product", "bound", "outer", "divisor", "quotient"];

pub(super) fn name(tape: Tape, core: &Core) -> String {
    match tape {
        DATA..=QUOTIENT => NAMES[tape].to_owned(),
        FIRST_PLACE..FIRST_CONSTANT => format!("place {}", tape - FIRST_PLACE + 1),
        FIRST_MEMORY..FIRST_VIRTUAL => format!("memory {}", tape - FIRST_MEMORY + 1),
        FIRST_OWN.. => format!("tape {}", core.tapes[tape - FIRST_OWN]),
        _ => match kind(tape) {
            Kind::Ruler(number) => format!("ruler {}", number + 1),
            Kind::Counter(depth) => format!("counter {}", depth + 1),
            Kind::Constants(number) => format!("constants {}", number + 1),
            _ if tape == origin(THETA) => "origin of theta".to_owned(),
            _ => format!("origin of memory {}", (tape - FIRST_ORIGIN).saturating_sub(FIRST_MEMORY) + 1),
        },
    }
}
