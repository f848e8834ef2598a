//! The tapes of a machine. Those that it does not use are removed later.

use super::{Core, Object};

/// A tape, by its purpose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Tape {
    Data,
    Marks,
    Theta,
    /// Holds products and dividends.
    Product,
    /// Marks where products begin, where their point is, and where the sums end to which they are added. Its head moves with
    /// that of `product`.
    Bound,
    /// Counts the bits of a multiplier and the rounds of a division on one side. On the other it records how far a counter was
    /// moved back.
    Outer,
    Divisor,
    Quotient,
    Ruler(usize),
    Counter(usize),
    /// Marks the current sample of an outer loop over the data while an inner one runs.
    Place(usize),
    Constants(usize),
    Memory(usize),
    /// Holds an object that has no place in the plan yet.
    Draft(Object),
    /// Marks the first cell of a tape of memory, or of `theta`. Their heads move together.
    Origin(Option<usize>),
    /// A tape of the program.
    Own(usize),
}

/// The symbols of `marks`; the first is inside a number.
pub(super) const FEATURE: u8 = 1;
pub(super) const LABEL: u8 = 2;
pub(super) const END: u8 = 3;

impl Tape {
    /// The tape that marks the first cell of this one, which holds arrays.
    pub(super) fn origin(self) -> Self {
        Self::Origin(if let Self::Memory(number) = self { Some(number) } else { None })
    }

    pub(super) fn is_read_only(self) -> bool {
        use Tape::{Bound, Constants, Counter, Data, Marks, Origin, Outer, Ruler};
        matches!(self, Data | Marks | Bound | Outer | Ruler(_) | Counter(_) | Constants(_) | Origin(_))
    }

    pub(super) fn name(self, core: &Core) -> String {
        let numbered = |name: &str, number: usize| format!("{name} {}", number + 1);
        match self {
            Self::Data => "data".to_owned(),
            Self::Marks => "marks".to_owned(),
            Self::Theta => "theta".to_owned(),
            Self::Product => "product".to_owned(),
            Self::Bound => "bound".to_owned(),
            Self::Outer => "outer".to_owned(),
            Self::Divisor => "divisor".to_owned(),
            Self::Quotient => "quotient".to_owned(),
            Self::Ruler(number) => numbered("ruler", number),
            Self::Counter(depth) => numbered("counter", depth),
            Self::Place(depth) => numbered("place", depth),
            Self::Constants(number) => numbered("constants", number),
            Self::Memory(number) => numbered("memory", number),
            Self::Draft(_) => "draft".to_owned(),
            Self::Origin(None) => "origin of theta".to_owned(),
            Self::Origin(Some(number)) => numbered("origin of memory", number),
            Self::Own(number) => format!("tape {}", core.tapes[number]),
        }
    }
}
