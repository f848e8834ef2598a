//! Names for the variants of an enum.

/// An enum whose values have names.
pub trait Word: Copy + Send + Sync + 'static {
    /// What a value is called in messages.
    const WHAT: &'static str;
    /// All values.
    const ALL: &'static [Self];

    /// The value's name on the command line and in files.
    fn word(self) -> &'static str;

    /// The value of a name.
    ///
    /// # Errors
    /// If there is none.
    fn from_word(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.iter().copied().find(|one| one.word() == word);
        found.ok_or_else(|| UnknownWord {
            what: Self::WHAT,
            found: word.to_owned(),
            known: Self::ALL.iter().map(|one| one.word()).collect(),
        })
    }
}

/// A word that is not the name of a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no {what} `{found}`; there are {}", known.join(", "))]
pub struct UnknownWord {
    what: &'static str,
    found: String,
    known: Vec<&'static str>,
}

/// Names the variants of an enum, for the command line and JSON. For an enum without data it implements [`Word`]; the
/// text before the names is the term for a value in messages.
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
    ($type:ident, $what:literal, $($variant:ident $word:literal),+ $(,)?) => {
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

        impl $crate::Word for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.word()
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                <Self as $crate::Word>::from_word(&word).map_err($crate::serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, de::value};

    use super::*;
    use crate::LayerKind;

    #[test]
    fn every_word_is_read_back() {
        for one in LayerKind::ALL {
            assert_eq!(LayerKind::from_word(one.word()), Ok(one));
            let text = value::StrDeserializer::<value::Error>::new(one.word());
            assert_eq!(LayerKind::deserialize(text), Ok(one));
        }
        let unknown = LayerKind::from_word("nothing").unwrap_err().to_string();
        assert!(
            unknown.starts_with("there is no kind of layer `nothing`; there are relu, product,"),
            "{unknown}"
        );
    }
}
