//! `luge completions`: prints shell completions.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::cli::command_prelude::*;

/// Print completions for a shell; for bash: luge completions bash > ~/.local/share/bash-completion/completions/luge
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "luge", &mut text);
    print(&String::from_utf8_lossy(&text))
}
