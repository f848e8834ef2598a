//! `luge lab`: starts the lab's server.

use std::process::{Command, Stdio};

use luge_lab::Lab;

use crate::cli::command_prelude::*;

/// Open a local page that shows gradient descent running a program
///
/// The page is served on 127.0.0.1 only and needs no network. Press Ctrl-C to stop the server.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Print the address, but do not open a browser
    #[arg(long)]
    no_open: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let refused = |reason| {
        let problem = format!("cannot serve on port {} of this machine", args.port);
        Failure::because(problem, reason).with_remedy("leave --port out to use a free one")
    };
    let lab = Lab::bind(args.port).map_err(refused)?;
    let address = format!("http://{}/", lab.address);
    print(&format!("{address}\n"))?;
    if !args.no_open && !open(&address) {
        note("open this address in a browser; end with Ctrl-C");
    }
    lab.serve().map_err(refused)
}

/// Opens an address in a browser; returns whether that was possible.
fn open(address: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("explorer", &[]),
        _ if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() => {
            return false;
        }
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
