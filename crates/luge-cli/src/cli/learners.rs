//! `luge learners`: the learners that ship.

use luge::catalogue::{self, Shipped, ShippedLesson};
use luge_landscape::LandscapeKind;
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
    /// Left out if all other columns are.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    features: &'static [&'static str],
    format: &'static str,
    primary: &'static str,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.json {
        let entry = |(shipped, lesson): (&'static Shipped, &'static ShippedLesson)| Entry {
            name: shipped.name,
            summary: shipped.summary,
            file: format!("learners/{}.{}", shipped.name, shipped.extension),
            data: lesson.file,
            targets: lesson.targets,
            features: lesson.features,
            format: lesson.format,
            primary: lesson.primary,
        };
        return print_json(&catalogue::learners().map(entry).collect::<Vec<_>>());
    }
    let mut rows = Vec::new();
    for (shipped, lesson) in catalogue::learners() {
        rows.push((shipped.name.to_owned(), shipped.summary.to_owned()));
        let targets = lesson.targets.join(",");
        let mut flags = format!("--data {} --target {targets} --format {}", lesson.file, lesson.format);
        if !lesson.features.is_empty() {
            flags.push_str(&format!(" --features {}", lesson.features.join(",")));
        }
        if lesson.primary != "linear" {
            flags.push_str(&format!(" --primary {}", lesson.primary));
        }
        if lesson.landscape != LandscapeKind::default() {
            flags.push_str(&format!(" --landscape {}", lesson.landscape.word()));
        }
        rows.push((String::new(), flags));
    }
    print(&table(&rows))
}
