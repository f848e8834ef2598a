//! Encodes classes as the learner expects them.

use super::{catalogue, program, source::Source};
use crate::data::{ClassCode, PrepareOptions, Table, TableError};

/// Reads a table, with its classes encoded as the learner expects them unless the options say otherwise. Whole numbers in a single
/// target are classes if the learner expects classes; numbers in several targets, and other numbers, stay as they are.
///
/// # Errors
/// If it is not a table.
pub fn classes_as_wanted(
    source: &Source,
    asked: &PrepareOptions,
    read: impl Fn(&PrepareOptions) -> Result<Table, TableError>,
) -> Result<Table, TableError> {
    if asked.classes != ClassCode::Auto {
        return read(asked);
    }
    let code = class_code(source);
    let wanted = read(&PrepareOptions { classes: code, ..asked.clone() });
    let plain = match &wanted {
        Err(TableError::NotClasses { .. } | TableError::SingleClass { .. }) => true,
        Ok(table) => table.preparation.targets.len() > 1 && !table.preparation.has_words(),
        Err(_) => false,
    };
    if plain { read(asked) } else { wanted }
}

/// How a learner expects classes: as in the data that ship with it, or as its signature says.
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
