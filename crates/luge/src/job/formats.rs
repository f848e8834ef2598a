//! How a job serialises values of other crates.

/// A number format by its text.
pub(crate) mod number_format {
    use luge_net::NumberFormat;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(format: &NumberFormat, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(format)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NumberFormat, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The user's constants.
pub(crate) mod constants {
    use luge_landscape::AskedConstants;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Default, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Written {
        base: Option<f64>,
        scale: Option<f64>,
        offset: Option<f64>,
        drop: Option<f64>,
    }

    pub(crate) fn serialize<S: Serializer>(asked: &AskedConstants, serializer: S) -> Result<S::Ok, S::Error> {
        let AskedConstants { base, scale, offset, drop } = *asked;
        Written { base, scale, offset, drop }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<AskedConstants, D::Error> {
        let Written { base, scale, offset, drop } = Written::deserialize(deserializer)?;
        Ok(AskedConstants { base, scale, offset, drop })
    }
}
