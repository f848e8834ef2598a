//! Names of an enum's variants, written down once.

/// What the variants of an enum are called on the command line and in JSON. An enum without data also gets `ALL`,
/// the list of its values.
#[macro_export]
macro_rules! names {
    (with data $type:ident, $($variant:ident $word:literal),+ $(,)?) => {
        impl $type {
            /// Its name on the command line and in JSON.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)+
                }
            }
        }
    };
    ($type:ident, $($variant:ident $word:literal),+ $(,)?) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its name on the command line and in JSON.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
