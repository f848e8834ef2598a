//! `luge learners`: the learners that ship.

use luge::{
    job::catalogue::{self, Shipped, ShippedTable, ShippedTraining},
    stream::{STREAM_LEARNERS, ShippedStream},
};
use luge_landscape::LandscapeKind;
use serde::Serialize;

use super::{
    failure::Failure,
    output::{Rows, print, print_json},
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
    /// What it learns from: a table, or a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    targets: &'static [&'static str],
    /// Left out if all other columns are.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    features: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<String>,
    format: &'static str,
    primary: &'static str,
}

impl Entry {
    fn new(program: &'static Shipped, format: &'static str, primary: &'static str) -> Self {
        let Shipped { name, summary, extension, .. } = *program;
        let file = format!("crates/luge/learners/{name}.{extension}");
        Self { name, summary, file, data: None, targets: &[], features: &[], stream: None, format, primary }
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.json {
        let table = |(shipped, lesson): (&'static Shipped, &'static ShippedTraining)| {
            let ShippedTable { file, targets, features, .. } = lesson.table;
            let entry = Entry::new(shipped, lesson.format, lesson.primary);
            Entry { data: Some(file), targets, features, ..entry }
        };
        let stream = |shipped: &'static ShippedStream| {
            let entry = Entry::new(&shipped.program, shipped.format, shipped.primary);
            Entry { stream: Some(shipped.samples.flags()), ..entry }
        };
        let all = catalogue::learners().map(table).chain(STREAM_LEARNERS.iter().map(stream));
        return print_json(&all.collect::<Vec<_>>());
    }
    let mut rows = Rows::default();
    for (shipped, lesson) in catalogue::learners() {
        rows.row(shipped.name, shipped.summary);
        let ShippedTable { file, targets, features, .. } = lesson.table;
        let mut flags = format!("--data {file} --target {} --format {}", targets.join(","), lesson.format);
        if !features.is_empty() {
            flags.push_str(&format!(" --features {}", features.join(",")));
        }
        if lesson.primary != "linear" {
            flags.push_str(&format!(" --primary {}", lesson.primary));
        }
        if lesson.landscape != LandscapeKind::default() {
            flags.push_str(&format!(" --landscape {}", lesson.landscape.word()));
        }
        rows.row("", flags);
    }
    for shipped in &STREAM_LEARNERS {
        rows.row(shipped.program.name, format!("stream: {}", shipped.program.summary));
        let primary = if shipped.primary == "linear" {
            String::new()
        } else {
            format!(" --primary {}", shipped.primary)
        };
        rows.row("", format!("{} --format {}{primary}", shipped.samples.flags(), shipped.format));
    }
    print(&rows.text())
}
