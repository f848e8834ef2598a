//! Helpers for results as JSON.

use luge_train::Outcome;
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Builds a JSON object with these fields in this order. The value of a field that is followed by a text is an `Option`, and the
/// text says when the field is present.
#[doc(hidden)]
#[macro_export]
macro_rules! object {
    (@type $field:ident) => { $field };
    (@type $field:ident $when:literal) => { Option<$field> };
    ($($(#[$attribute:meta])* $field:ident $($when:literal)?: $value:expr),+ $(,)?) => {{
        #[allow(non_camel_case_types, clippy::let_and_return, reason = "the type of a field has its name")]
        let object = {
            #[derive(::serde::Serialize)]
            struct Object<$($field: ::serde::Serialize),+> {
                $(
                    $(#[$attribute])*
                    $(#[doc = $when] #[serde(skip_serializing_if = "Option::is_none")])?
                    $field: $crate::object!(@type $field $($when)?)
                ),+
            }
            Object { $($field: $value),+ }
        };
        object
    }};
}

/// Serialises an outcome as two fields: its name and its steps.
pub(crate) fn outcome<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Outcome", 2)?;
    fields.serialize_field("outcome", outcome.word())?;
    fields.serialize_field("steps", &outcome.steps())?;
    fields.end()
}

/// Serialises the digest of a path in hexadecimal.
pub(crate) fn path<S: Serializer>(path: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    format!("{path:016x}").serialize(serializer)
}

/// Returns bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
