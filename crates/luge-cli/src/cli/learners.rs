//! `luge learners`: the learners that ship.

use luge::learners::SHIPPED;
use serde::Serialize;

use super::{
    failure::Failure,
    output::{print, print_json, table},
};

/// List the learners that ship, each with its data
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// One entry as JSON.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    summary: &'static str,
    file: String,
    data: &'static str,
    targets: &'static [&'static str],
    format: &'static str,
    primary: &'static str,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.json {
        let entry = |shipped: &luge::learners::Shipped| Entry {
            name: shipped.name,
            summary: shipped.summary,
            file: format!("learners/{}.sled", shipped.name),
            data: shipped.data,
            targets: shipped.targets,
            format: shipped.format,
            primary: shipped.primary,
        };
        return print_json(&SHIPPED.iter().map(entry).collect::<Vec<_>>());
    }
    let mut rows = Vec::new();
    for shipped in SHIPPED {
        rows.push((shipped.name.to_owned(), shipped.summary.to_owned()));
        let targets = shipped.targets.join(",");
        let mut flags = format!("--data {} --target {targets} --format {}", shipped.data, shipped.format);
        if shipped.primary != "linear" {
            flags.push_str(&format!(" --primary {}", shipped.primary));
        }
        rows.push((String::new(), flags));
    }
    print(&table(&rows))
}
