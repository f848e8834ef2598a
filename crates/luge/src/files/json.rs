//! Training results as JSON.

use luge_train::{LossRange, Outcome};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// A JSON object: these fields in this order.
#[doc(hidden)]
#[macro_export]
macro_rules! object {
    ($($(#[$attribute:meta])* $field:ident: $value:expr),+ $(,)?) => {{
        #[allow(non_camel_case_types, clippy::let_and_return, reason = "the type of a field has its name")]
        let object = {
            #[derive(::serde::Serialize)]
            struct Object<$($field),+> {
                $($(#[$attribute])* $field: $field),+
            }
            Object { $($field: $value),+ }
        };
        object
    }};
}

/// The outcome's word and its steps, as two fields.
pub(crate) fn outcome<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Outcome", 2)?;
    fields.serialize_field("outcome", outcome.word())?;
    fields.serialize_field("steps", &outcome.steps())?;
    fields.end()
}

/// Where the loss has been.
pub(crate) fn losses<S: Serializer>(range: &LossRange, serializer: S) -> Result<S::Ok, S::Error> {
    let LossRange { first, min, max, last } = range;
    let mut fields = serializer.serialize_struct("LossRange", 4)?;
    for (name, loss) in [("first", first), ("min", min), ("max", max), ("last", last)] {
        fields.serialize_field(name, loss)?;
    }
    fields.end()
}

/// A path's digest, in hexadecimal.
pub(crate) fn path<S: Serializer>(path: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    format!("{path:016x}").serialize(serializer)
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
