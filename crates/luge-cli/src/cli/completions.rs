//! `luge completions` and `luge manual`: shell completions and manual pages, generated from the definition of the
//! command line.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::{Cli, failure::Failure, output::print};

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

/// Print the manual page of luge or of one command; to read it: luge manual | man -l -
#[derive(clap::Args)]
pub(super) struct ManualArgs {
    /// A command, such as train
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(super) fn manual(args: &ManualArgs) -> Result<(), Failure> {
    let luge = Cli::command();
    let page = match &args.command {
        None => clap_mangen::Man::new(luge),
        Some(name) => clap_mangen::Man::new(one_command(&luge, name)?).title(format!("luge-{name}")),
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::Print)?;
    print(&String::from_utf8_lossy(&text))
}

fn one_command(luge: &Command, name: &str) -> Result<Command, Failure> {
    let found = luge.get_subcommands().find(|command| command.get_name() == name);
    let command = found.ok_or_else(|| {
        let names: Vec<&str> = luge.get_subcommands().map(Command::get_name).collect();
        Failure::usage(format!("there is no command `{name}`"), format!("name one of {}", names.join(", ")))
    })?;
    Ok(command.clone().bin_name(format!("luge {name}")).display_name(format!("luge-{name}")))
}
