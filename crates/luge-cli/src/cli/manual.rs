//! `luge manual`: prints manual pages.

use clap::{Command, CommandFactory};

use super::Cli;
use crate::cli::command_prelude::*;

/// Print the manual page of luge, or of one command; read it with: luge manual | man -l -
#[derive(clap::Args)]
pub(super) struct Args {
    /// A command, such as train
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let luge = Cli::command();
    let page = match &args.command {
        None => clap_mangen::Man::new(luge),
        Some(name) => clap_mangen::Man::new(one_command(&luge, name)?).title(format!("luge-{name}")),
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::print)?;
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
