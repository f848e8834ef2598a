//! Typed indices, so that states, symbols and tapes cannot be confused.

/// Defines an index type: `typed_id!(/// Doc. NAME(INTEGER))`.
#[doc(hidden)]
#[macro_export]
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

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

typed_id!(
    /// A state of a machine, numbered in order of declaration.
    StateId(u32)
);
typed_id!(
    /// A symbol of one tape's alphabet, numbered in order of declaration.
    SymbolId(u8)
);
typed_id!(
    /// A tape of a machine, numbered in order of declaration.
    TapeId(u8)
);

/// A position on a tape. Cell 0 holds the first symbol of the input; cells grow to the right.
pub type Cell = i64;

/// A number of machine steps.
pub type Step = u64;

/// Removes the items that are not to be kept, and returns the new index of each other one.
#[doc(hidden)]
pub fn keep_only<T>(items: &mut Vec<T>, kept: &[bool]) -> Vec<usize> {
    let mut is_kept = kept.iter();
    items.retain(|_| is_kept.next() == Some(&true));
    let places = kept.iter().scan(0, |next, &kept| {
        let place = *next;
        *next += usize::from(kept);
        Some(place)
    });
    places.collect()
}
