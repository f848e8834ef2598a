//! Asks Rocq whether it accepts a network.

use std::{
    io::{self, Write},
    process::Command,
};

use luge::{files::rocq::ProofExport, training::Claim};

use crate::cli::command_prelude::*;

/// What Rocq prints if the checker rejects the network: its computation does not give true.
const REFUSAL: &str = "No applicable tactic";

/// Asks Rocq, with the proofs built in this folder, to prove a network's theorem.
pub(super) fn ask(proofs: &Path, written: &ProofExport) -> Result<Claim, Failure> {
    let folder = std::env::temp_dir();
    let unwritable =
        |reason: io::Error| Failure::because(format!("cannot write {}", folder.display()), reason);
    let mut file = tempfile::Builder::new().suffix(".v").tempfile_in(&folder).map_err(unwritable)?;
    file.write_all(written.text.as_bytes()).map_err(unwritable)?;
    let output = Command::new("coqtop")
        .args(["-q", "-batch", "-Q"])
        .arg(proofs.join("theories"))
        .args(["Luge", "-l"])
        .arg(file.path())
        .output()
        .map_err(absent)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let figures = format!("{} ({})", written.theorem.says(), written.theorem.name());
        return Ok(Claim { holds: true, figures });
    }
    if said.contains(REFUSAL) {
        return Ok(Claim { holds: false, figures: "the checker refuses the network".to_owned() });
    }
    let last = said.lines().rev().find(|line| !line.is_empty()).unwrap_or("it says nothing").trim();
    Err(Failure::error(
        format!("Rocq cannot check the network: {last}"),
        "build the proofs first, make -C proofs, and give that folder to --proofs",
    ))
}

fn absent(error: io::Error) -> Failure {
    Failure::error(
        format!("cannot start coqtop: {error}"),
        "install Rocq and MathComp as proofs/README.md says",
    )
}
