//! Typed indices, so that a state, a symbol and a tape do not mix by accident.

use std::fmt;

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $repr);

        impl $name {
            /// The id of the `index`-th item.
            ///
            /// # Panics
            /// If there are more items than the id can count.
            pub fn new(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect(concat!("too many items for ", stringify!($name))))
            }

            /// The position of the item in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

typed_id!(
    /// A state of a machine, counted in order of declaration.
    StateId(u32)
);
typed_id!(
    /// A symbol of one tape's alphabet, counted in order of declaration.
    SymbolId(u8)
);
typed_id!(
    /// A tape of a machine, counted in order of declaration.
    TapeId(u8)
);

/// A position on a tape. Cell 0 holds the first symbol of the input; cells grow to the right.
pub type Cell = i64;

/// A number of machine steps.
pub type Step = u64;
