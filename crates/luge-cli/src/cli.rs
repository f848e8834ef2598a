//! One file per command, and what the commands share.

mod bench;
mod certify;
mod check;
mod circuit;
mod command_prelude;
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
mod manual;
mod mlp;
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

use clap::{
    Parser, Subcommand,
    error::{ContextKind, ContextValue},
};

pub(crate) use failure::{Failure, show_failure};

/// Shown before the help.
const EXAMPLES: &str = "Three to begin with:
  luge train    train a perceptron on the irises, and certify the run
  luge lab      watch such runs in a browser
  luge run bb5  run a Turing machine without any network";

/// Learning algorithms, compiled to neural networks, run by gradient descent.
#[derive(Parser)]
#[command(
    name = "luge",
    version,
    before_help = EXAMPLES,
    after_help = "Exit status: 0 success, 1 failure, 2 wrong usage, 3 certified only in part. Results go to standard output, everything else to standard error."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Maximum memory to use, such as 500M or 4G [default: three quarters of the free memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
}

/// Parses a number of bytes; K, M, G and T stand for powers of 1024.
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

/// The commands; each has a module with its arguments and a function that runs it.
macro_rules! commands {
    ($($name:ident = $module:ident,)*) => {
        #[derive(Subcommand)]
        enum Command {
            $($name($module::Args),)*
        }

        impl Command {
            fn run(&self) -> Result<(), Failure> {
                match self {
                    $(Self::$name(args) => $module::run(args),)*
                }
            }
        }
    };
}

commands! {
    Run = run, Compile = compile, Check = check, Fmt = fmt, Lsp = lsp, Learners = learners,
    Convert = convert, Inspect = inspect, Trace = trace, Landscape = landscape, Tolerance = tolerance,
    Train = train, Stream = stream, Resume = resume, Revisit = revisit, Predict = predict,
    Certify = certify, Export = export, Compare = compare, Lab = lab, Report = report, Bench = bench,
    Completions = completions, Manual = manual,
}

/// Blocks SIGXFSZ, so that writing a file that is too large is an error (`EFBIG`) and does not end the process.
fn refuse_large_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGXFSZ);
        // If that fails, the signal ends the process, as usual.
        let _ = signals.thread_block();
    }
}

/// Puts the most similar command first in the suggestions of an error.
fn best_first(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) {
        let names = names.iter().rev().cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Runs the command line.
pub(crate) fn run() -> Result<(), Failure> {
    refuse_large_files();
    let cli = Cli::try_parse().unwrap_or_else(|error| best_first(error).exit());
    if let Some(bytes) = cli.memory {
        luge::run::memory::set_budget(bytes);
    }
    cli.command.run()
}
