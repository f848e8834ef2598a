//! `luge revisit`: shows any step of a recorded run.

use luge::run::revisit::{Visit, revisit};

use crate::cli::command_prelude::*;

/// Show one step of a run recorded with --record: loss, vertex, and the weights around the heads
#[derive(clap::Args)]
pub(super) struct Args {
    /// The record
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The step; digits may be grouped by `_` or `,`
    #[arg(value_name = "STEP", value_parser = step_count)]
    step: Step,
    /// Cells to show on each side of a head
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(..=10_000))]
    around: u16,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let visit = revisit(&args.file, args.step, usize::from(args.around))?;
    show_rows(args.json, &visit, |rows| describe(rows, &visit))
}

fn describe(rows: &mut Rows, visit: &Visit) {
    rows.row("step", count(visit.step));
    rows.row("loss", numeral(visit.loss));
    rows.row("vertex", &visit.state);
    rows.row("engine", format!("{}, from step {}", visit.engine.word(), count(visit.from)));
    for tape in &visit.tapes {
        let cell = |(at, value): (i64, &f64)| match at == tape.head {
            true => format!("[{value}]"),
            false => value.to_string(),
        };
        let cells: Vec<String> = (tape.first..).zip(&tape.cells).map(cell).collect();
        rows.row(&format!("tape {}", tape.name), format!("from cell {}: {}", tape.first, cells.join(" ")));
    }
}
