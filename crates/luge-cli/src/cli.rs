//! One file per command, and what the commands share.

mod bench;
mod certify;
mod check;
mod compare;
mod compile;
mod completions;
mod convert;
mod data_args;
mod export;
mod failure;
mod fmt;
mod inspect;
mod lab;
mod landscape;
mod landscape_args;
mod learners;
mod long_run;
mod lsp;
mod machine_args;
mod output;
mod predict;
mod progress;
mod prover;
mod report;
mod resume;
mod revisit;
mod run;
mod stream;
mod tolerance;
mod trace;
mod train;
mod window;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use miette::Report;

pub(crate) use failure::show_failure;

/// Learning algorithms, compiled to neural networks, run by gradient descent.
#[derive(Parser)]
#[command(
    name = "luge",
    version,
    after_help = "Exit status: 0 success, 1 failure, 2 wrong usage. Results go to standard output, everything else to standard error."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Maximum memory to use, such as 500M or 4G [default: three quarters of the free memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
}

/// Takes a number of bytes; K, M, G and T stand for powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("expected a size such as 500M or 4G".to_owned()),
    };
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let bytes = number.ok_or("expected a size such as 500M or 4G")? * (1_u64 << shift) as f64;
    Ok(bytes as u64)
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Compile(compile::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Lsp(lsp::Args),
    Learners(learners::Args),
    Convert(convert::Args),
    Inspect(inspect::Args),
    Trace(trace::Args),
    Landscape(landscape::Args),
    Tolerance(tolerance::Args),
    Train(train::Args),
    Stream(stream::Args),
    Resume(resume::Args),
    Revisit(revisit::Args),
    Predict(predict::Args),
    Certify(certify::Args),
    Export(export::Args),
    Compare(compare::Args),
    Lab(lab::Args),
    Report(report::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    Manual(completions::ManualArgs),
}

/// Does what the command line asks for.
pub(crate) fn run() -> Result<ExitCode, Report> {
    let cli = Cli::parse();
    if let Some(bytes) = cli.memory {
        luge::run::memory::set_budget(bytes);
    }
    match cli.command {
        Command::Run(args) => run::run(&args)?,
        Command::Compile(args) => compile::run(&args)?,
        Command::Check(args) => check::run(&args)?,
        Command::Fmt(args) => fmt::run(&args)?,
        Command::Lsp(args) => lsp::run(&args)?,
        Command::Learners(args) => learners::run(&args)?,
        Command::Convert(args) => convert::run(&args)?,
        Command::Inspect(args) => inspect::run(&args)?,
        Command::Trace(args) => trace::run(&args)?,
        Command::Landscape(args) => landscape::run(&args)?,
        Command::Tolerance(args) => tolerance::run(&args)?,
        Command::Train(args) => train::run(&args)?,
        Command::Stream(args) => stream::run(&args)?,
        Command::Resume(args) => resume::run(&args)?,
        Command::Revisit(args) => revisit::run(&args)?,
        Command::Predict(args) => predict::run(&args)?,
        Command::Certify(args) => certify::run(&args)?,
        Command::Export(args) => export::run(&args)?,
        Command::Compare(args) => compare::run(&args)?,
        Command::Lab(args) => lab::run(&args)?,
        Command::Report(args) => report::run(&args)?,
        Command::Bench(args) => bench::run(&args)?,
        Command::Completions(args) => completions::run(&args)?,
        Command::Manual(args) => completions::manual(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}
