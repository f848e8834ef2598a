//! `luge learners`: the learners that ship.

use luge::{
    job::catalogue::{self, Shipped, ShippedTable, ShippedTraining},
    object,
    stream::{STREAM_LEARNERS, ShippedStream},
};
use luge_landscape::LandscapeKind;

use super::{Failure, Rows, show_rows};

/// List the learners that ship, each with its data
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let entry = |program: &Shipped, table: Option<ShippedTable>, stream, format, primary| {
        object! {
            name: program.name,
            summary: program.summary,
            file: format!("crates/luge/learners/{}.{}", program.name, program.extension),
            data "of a learner from a table": table.map(|table| table.file),
            targets "likewise": table.map(|table| table.targets),
            features "unless all other columns are": table.map(|table| table.features).filter(|f| !f.is_empty()),
            stream "of a learner from a stream": stream,
            format: format,
            primary: primary,
        }
    };
    let table = |(shipped, lesson): (&'static Shipped, &'static ShippedTraining)| {
        entry(shipped, Some(lesson.table), None, lesson.format, lesson.primary)
    };
    let stream = |shipped: &'static ShippedStream| {
        entry(&shipped.program, None, Some(shipped.samples.flags()), shipped.format, shipped.primary)
    };
    let all = catalogue::learners().map(table).chain(STREAM_LEARNERS.iter().map(stream));
    let all: Vec<_> = all.collect();
    show_rows(args.json, &all, describe)
}

fn describe(rows: &mut Rows) {
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
}
