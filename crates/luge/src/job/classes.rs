//! Encodes classes as the learner expects them.

use super::{catalogue, program, source::Source};
use crate::data::{ClassCode, PrepareOptions, Table, TableError};

/// Reads a table, with its classes encoded as the learner expects unless the options say otherwise. Whole numbers in a single
/// target are classes if the learner expects classes; numbers in several targets, and other numbers, are not changed.
///
/// # Errors
/// If it is not a table.
pub fn classes_as_wanted(
    source: &Source,
    options: &PrepareOptions,
    read: impl Fn(&PrepareOptions) -> Result<Table, TableError>,
) -> Result<Table, TableError> {
    if options.classes != ClassCode::Auto {
        return read(options);
    }
    let code = class_code(source);
    let wanted = read(&PrepareOptions { classes: code, ..options.clone() });
    let plain = match &wanted {
        Err(TableError::NotClasses { .. } | TableError::SingleClass { .. }) => true,
        Ok(table) => table.preparation.targets.len() > 1 && !table.preparation.has_words(),
        Err(_) => false,
    };
    if plain { read(options) } else { wanted }
}

/// Returns how a learner expects classes: as in the data that ship with it, or according to its signature.
fn class_code(source: &Source) -> ClassCode {
    if let Some(table) = catalogue::lesson(source).and_then(|lesson| lesson.table()) {
        return table.class_code();
    }
    match program::is_program(source) {
        true if luge_sled::usual_sizes(&source.text).n_labels > 1 => ClassCode::Each,
        true => ClassCode::Column,
        false => ClassCode::Auto,
    }
}
