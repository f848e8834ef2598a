//! Reading a table that a command is given.

use std::{fs::File, path::Path};

use luge::{
    data::{Range, Table},
    source::OpenError,
};
use luge_net::NumberFormat;

use super::failure::Failure;

/// Reads a CSV file; `-` is standard input.
pub(super) fn read_table(
    place: &Path,
    targets: &[String],
    features: Option<&[String]>,
) -> Result<Table, Failure> {
    let name = place.display().to_string();
    let table = if name == "-" {
        Table::read(std::io::stdin().lock(), targets, features)
    } else {
        let unreadable = |reason| Failure::Unreadable(OpenError::Read { name: name.clone(), reason });
        Table::read(File::open(place).map_err(unreadable)?, targets, features)
    };
    table.map_err(|error| Failure::of_table(&name, &error))
}

/// Makes sure a table's numbers fit a format.
pub(super) fn fit(
    table: &mut Table,
    name: &str,
    format: NumberFormat,
    saturate: bool,
) -> Result<(), Failure> {
    let range = if saturate { Range::Saturate } else { Range::Refuse };
    table.fit(format, range).map_err(|error| Failure::of_table(name, &error))
}
