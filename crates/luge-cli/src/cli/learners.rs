//! `luge learners`: the learners that ship.

use luge::{
    catalogue::{self, Shipped, ShippedLesson},
    stream::{STREAM_LEARNERS, ShippedStream},
};
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
    format: &'static str,
    primary: &'static str,
}

/// One that learns from a stream as JSON.
#[derive(Serialize)]
struct StreamEntry {
    name: &'static str,
    summary: &'static str,
    file: String,
    stream: String,
    format: &'static str,
    primary: &'static str,
}

/// Either kind.
#[derive(Serialize)]
#[serde(untagged)]
enum AnyEntry {
    Table(Entry),
    Stream(StreamEntry),
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.json {
        let entry = |(shipped, lesson): (&'static Shipped, &'static ShippedLesson)| Entry {
            name: shipped.name,
            summary: shipped.summary,
            file: format!("learners/{}.{}", shipped.name, shipped.extension),
            data: lesson.file,
            targets: lesson.targets,
            format: lesson.format,
            primary: lesson.primary,
        };
        let stream_entry = |shipped: &'static ShippedStream| StreamEntry {
            name: shipped.name,
            summary: shipped.summary,
            file: format!("learners/{}.{}", shipped.name, shipped.extension),
            stream: shipped.samples.flags(),
            format: shipped.format,
            primary: shipped.primary,
        };
        let tables = catalogue::learners().map(entry).map(AnyEntry::Table);
        let streams = STREAM_LEARNERS.iter().map(stream_entry).map(AnyEntry::Stream);
        return print_json(&tables.chain(streams).collect::<Vec<_>>());
    }
    let mut rows = Vec::new();
    for (shipped, lesson) in catalogue::learners() {
        rows.push((shipped.name.to_owned(), shipped.summary.to_owned()));
        let targets = lesson.targets.join(",");
        let mut flags = format!("--data {} --target {targets} --format {}", lesson.file, lesson.format);
        if lesson.primary != "linear" {
            flags.push_str(&format!(" --primary {}", lesson.primary));
        }
        if lesson.landscape != LandscapeKind::default() {
            flags.push_str(&format!(" --landscape {}", lesson.landscape.word()));
        }
        rows.push((String::new(), flags));
    }
    for shipped in &STREAM_LEARNERS {
        rows.push((shipped.name.to_owned(), format!("stream: {}", shipped.summary)));
        let primary = if shipped.primary == "linear" {
            String::new()
        } else {
            format!(" --primary {}", shipped.primary)
        };
        rows.push((
            String::new(),
            format!("{} --format {}{primary}", shipped.samples.flags(), shipped.format),
        ));
    }
    print(&table(&rows))
}
