//! What the formats with one tape ask of a machine, and how they finish one.

use super::{Format, Inexpressible, Loaded};
use crate::{
    Access, Diagnostic, Input, Machine, MachineBuilder, Move, Severity, StateId, SymbolId, Tape, Write,
};

/// The only tape of a machine, which must be one that can be written.
pub(super) fn only_tape(machine: &Machine, format: Format) -> Result<&Tape, Inexpressible> {
    match machine.tapes() {
        [tape] if tape.access == Access::ReadOnly => {
            Err(Inexpressible::ReadOnly { format, tape: tape.name.clone() })
        }
        [tape] => Ok(tape),
        tapes => Err(Inexpressible::Tapes { format, allowed: "one tape", n_tapes: tapes.len() }),
    }
}

/// One step of a machine with one tape, wildcards resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Action {
    pub(super) write: SymbolId,
    pub(super) head: Move,
    pub(super) next: StateId,
}

impl Action {
    /// What a machine does in `state` on `symbol`; `None` where no rule applies.
    pub(super) fn of(machine: &Machine, state: StateId, symbol: SymbolId) -> Option<Self> {
        let rule = machine.rule_for(state, &[symbol])?;
        let write = match rule.writes[0] {
            Write::Keep => symbol,
            Write::Put(written) => written,
        };
        Some(Self { write, head: rule.moves[0], next: rule.next })
    }
}

/// Ends a reading: the machine if there is no error among `findings`, else all of them in the order of the text.
pub(super) fn finish(
    builder: MachineBuilder,
    input: Option<Input>,
    mut findings: Vec<Diagnostic>,
    text: &str,
) -> Result<Loaded, Vec<Diagnostic>> {
    findings.sort_by_key(|d| (d.span.start, d.span.end));
    if findings.iter().any(|d| d.severity == Severity::Error) {
        return Err(findings);
    }
    match builder.build() {
        Ok(machine) => Ok(Loaded { machine, input, warnings: findings }),
        Err(error) => {
            findings.push(Diagnostic::error(0..text.len(), error.to_string(), "in this machine"));
            Err(findings)
        }
    }
}
