//! `luge learners`: the learners that ship.

use luge::job::catalogue::{self, STREAM_LEARNERS, Shipped, ShippedLesson};

use crate::cli::command_prelude::*;

/// List the learners that ship, each with its data
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let entry = |(shipped, lesson): (&'static Shipped, &'static ShippedLesson)| {
        let table = lesson.table();
        object! {
            name: shipped.name,
            summary: shipped.summary,
            file: format!("crates/luge/learners/{}.{}", shipped.name, shipped.extension),
            data "of a learner from a table": table.map(|table| table.file),
            targets "likewise": table.map(|table| &table.targets),
            features "unless all other columns are": table.map(|table| &table.features).filter(|f| !f.is_empty()),
            stream "of a learner from a stream": table.is_none().then(|| lesson.flags()),
            format: lesson.format,
            primary: lesson.primary,
        }
    };
    show_rows(args.json, &learners().map(entry).collect::<Vec<_>>(), describe)
}

/// All learners: those from tables first.
fn learners() -> impl Iterator<Item = (&'static Shipped, &'static ShippedLesson)> {
    let all = catalogue::learners().chain(STREAM_LEARNERS.iter());
    all.filter_map(|shipped| Some((shipped, shipped.lesson.as_ref()?)))
}

fn describe(rows: &mut Rows) {
    for (shipped, lesson) in learners() {
        let is_stream = lesson.table().is_none();
        let kind = if is_stream { "stream: " } else { "" };
        rows.row(shipped.name, format!("{kind}{}", shipped.summary));
        let mut flags = format!("{} --format {}", lesson.flags(), lesson.format);
        if lesson.primary != "linear" {
            flags.push_str(&format!(" --primary {}", lesson.primary));
        }
        if !is_stream && lesson.landscape != LandscapeKind::default() {
            flags.push_str(&format!(" --landscape {}", lesson.landscape.word()));
        }
        rows.row("", flags);
    }
}
