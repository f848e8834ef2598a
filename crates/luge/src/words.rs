//! Names of options: kinds of landscape, carriers, engines. They are written and parsed only here.

use luge_landscape::{BitConversion, Carrier, LandscapeKind, VertexSet, mlp::Float};
use luge_machine::{formats::Format, lowering::Moves};
use luge_train::{Precision, Rate};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::{
    data::{ClassCode, Missing, Scale},
    run::{engine::EngineChoice, follow::Comparisons},
    stream::{Order, StreamEngineChoice, StreamLandscape},
};

/// One of a few values that have names.
pub trait Word: Copy + Sized + Send + Sync + 'static {
    /// What a value is, in a message.
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

/// A word that names nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no {what} `{found}`; there are {}", known.join(", "))]
pub struct UnknownWord {
    what: &'static str,
    found: String,
    known: Vec<&'static str>,
}

/// Types that have words of their own, and types whose words stand here.
macro_rules! words {
    ($($type:ty, $what:literal $(, $($value:ident $word:literal)+)?;)*) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;
            words! { @ $type $(, $($value $word)+)? }
        }
    )*};
    (@ $type:ty) => {
        const ALL: &'static [Self] = &<$type>::ALL;

        fn word(self) -> &'static str {
            <$type>::word(self)
        }
    };
    (@ $type:ty, $($value:ident $word:literal)+) => {
        const ALL: &'static [Self] = &[$(Self::$value),+];

        fn word(self) -> &'static str {
            match self {
                $(Self::$value => $word,)+
            }
        }
    };
}

words! {
    LandscapeKind, "landscape";
    VertexSet, "set of vertices";
    Float, "arithmetic";
    Carrier, "carrier";
    BitConversion, "way to convert bits";
    EngineChoice, "engine";
    Comparisons, "choice of comparisons";
    Precision, "precision";
    Rate, "rate";
    StreamEngineChoice, "engine for streams", Sparse "sparse" Dense "dense";
    StreamLandscape, "landscape of streams", Plain "plain" Mlp "mlp";
    Order, "order", Cycle "cycle" Shuffle "shuffle" Draw "draw";
    Moves, "choice of moves", Keep "keep" Strict "strict";
    Missing, "way with missing values", Refuse "refuse" Mean "mean" Zero "zero" Drop "drop";
    Scale, "scale", None "none" Standard "standard" MinMax "minmax";
    ClassCode, "way to write classes",
        Auto "auto" Column "column" Signs "signs" Numbers "numbers" Each "each";
}

impl Word for Format {
    const WHAT: &'static str = "format";
    const ALL: &'static [Self] = &Format::ALL;

    fn word(self) -> &'static str {
        self.slug()
    }
}

/// Writes the word of a value.
pub(crate) fn serialize<T: Word, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.word())
}

/// Reads the word of a value.
pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let word = String::deserialize(deserializer)?;
    T::from_word(&word).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Word + PartialEq + std::fmt::Debug>() {
        for &one in T::ALL {
            assert_eq!(T::from_word(one.word()), Ok(one));
        }
        let unknown = T::from_word("nothing").unwrap_err().to_string();
        assert!(unknown.starts_with(&format!("there is no {} `nothing`; there are ", T::WHAT)), "{unknown}");
    }

    #[test]
    fn every_word_is_read_back() {
        check::<LandscapeKind>();
        check::<VertexSet>();
        check::<Carrier>();
        check::<BitConversion>();
        check::<EngineChoice>();
        check::<Comparisons>();
        check::<Precision>();
        check::<Rate>();
        check::<Order>();
        check::<StreamEngineChoice>();
        check::<Missing>();
        check::<Scale>();
        check::<ClassCode>();
        check::<Format>();
        check::<Moves>();
    }
}
