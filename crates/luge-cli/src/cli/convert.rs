//! `luge convert`: converts a machine to another format, or to normal form.

use luge_machine::{
    Input, Machine,
    formats::{Format, Obstacle, WriteOptions},
    lowering::expand_wildcards,
};

use super::circuit;
use crate::cli::command_prelude::*;

/// The most rules that `--expand` makes.
const MAX_RULES: usize = 1_000_000;

/// Write a machine in another format, or lower it to two symbols per tape
///
/// `.aag` and `.aig` are ASCII and binary AIGER; a circuit written to any other file is a readable listing.
///
/// If the other format cannot express the machine, nothing is written and the reason is given.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// The file to write, or `-` for standard output
    out: String,
    /// The format to write [default: from the extension of OUT]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<Format>,
    /// Lower to binary tapes, keeping stay moves; the cost is reported on standard error
    #[arg(long, conflicts_with = "lower_strict")]
    lower: bool,
    /// Lower to binary tapes and to left and right moves only, by doubling cells and steps
    #[arg(long)]
    lower_strict: bool,
    /// Write one rule for each combination of symbols instead of wildcards
    #[arg(long)]
    expand: bool,
    /// Write what the format can express, and say what is lost
    #[arg(long, alias = "loose")]
    lossy: bool,
    /// Write a turingmachine.io document as the site saves it
    #[arg(long)]
    saved: bool,
    /// Leave out the input that the file contains
    #[arg(long)]
    no_input: bool,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut outputs = args.force.outputs().reading(&args.machine.file);
    let out = place(&mut outputs, (args.out != "-").then_some(Path::new(&args.out)))?;
    let job = args.machine.job(&InputArgs::default())?;
    let circuit = match circuit::read(&job.source, None)? {
        None if circuit::encoding(&args.out).is_some() && args.to.is_none() => {
            let loaded = args.machine.load(&job)?;
            let input = loaded.input.filter(|_| !args.no_input);
            Some(circuit::of_machine(&loaded.machine, input.as_ref())?)
        }
        circuit => circuit,
    };
    if let Some(circuit) = circuit {
        let written = circuit::written(&circuit, &args.out);
        return match out {
            Some(out) => Ok(out.write(written)?),
            None => print(&String::from_utf8_lossy(&written)),
        };
    }
    let format = args.format()?;
    let loaded = args.machine.load(&job)?;
    let input = loaded.input.filter(|_| !args.no_input);
    let (machine, input) = args.prepared(loaded.machine, input)?;
    let options = WriteOptions { lossy: args.lossy, saved: args.saved };
    let written =
        format.write_with(&machine, input.as_ref(), options).map_err(|refusal| match refusal.obstacle {
            Obstacle::Input(_) => Failure::error(refusal, "--no-input leaves it out"),
            Obstacle::Tapes { .. } => Failure::of(refusal),
            _ => Failure::error(refusal, "--lossy writes what can be said and tells what is lost"),
        })?;
    written.lost.iter().for_each(|loss| note(&loss.to_string()));
    match out {
        Some(out) => Ok(out.write(written.text)?),
        None => print(&written.text),
    }
}

impl Args {
    fn format(&self) -> Result<Format, Failure> {
        if let Some(format) = self.to {
            return Ok(format);
        }
        let extension = Path::new(&self.out).extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let known = extension.as_deref().and_then(|extension| {
            Format::ALL.into_iter().find(|format| format.extensions().contains(&extension))
        });
        known.ok_or_else(|| {
            let extensions = Format::ALL.into_iter().flat_map(Format::extensions);
            let extensions: Vec<String> = extensions.map(|e| format!(".{e}")).collect();
            Failure::usage(
                match extension {
                    _ if self.out == "-" => {
                        "standard output has no extension to tell the format from".to_owned()
                    }
                    Some(extension) => format!("no format is written to `.{extension}` files"),
                    None => format!("`{}` has no extension to tell the format from", self.out),
                },
                format!("name the format with --to, or use one of {}", extensions.join(" ")),
            )
        })
    }

    /// The machine and its input after the requested passes.
    fn prepared(&self, machine: Machine, input: Option<Input>) -> Result<(Machine, Option<Input>), Failure> {
        let moves = match (self.lower, self.lower_strict) {
            (_, true) => Some(Moves::Strict),
            (true, false) => Some(Moves::Keep),
            (false, false) => None,
        };
        let (machine, input) = match moves {
            Some(moves) => {
                let lowered = lower(&machine, moves)?;
                note(&lowered.to_string());
                (lowered.normal.machine().clone(), input.map(|input| lowered.encode(&input)))
            }
            None => (machine, input),
        };
        let machine =
            if self.expand { expand_wildcards(&machine, MAX_RULES).map_err(Failure::of)? } else { machine };
        Ok((machine, input))
    }
}
