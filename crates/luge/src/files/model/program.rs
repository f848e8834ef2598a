//! The program that a model's machine was compiled from.

use luge_landscape::Learner;
use luge_machine::Step;
use luge_sled::{Compiled, Outcome};
use serde::{Deserialize, Serialize};

use super::TrainingCard;
use crate::{
    data::Table,
    job::{
        STATEMENTS_PER_STEP, TrainJob,
        program::{self, SizedSource},
        source::Source,
    },
};

/// A program, with everything needed to compile it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its text.
    pub text: String,
    /// Constants that were set, each as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
}

/// Why a model's program is not the program of its machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramMismatch {
    /// It does not compile.
    #[error("it does not compile")]
    Broken,
    /// It is not what the machine was made from.
    #[error(
        "it does not compile to the machine: one of them was changed, or another version of luge compiled it"
    )]
    OtherMachine,
}

impl Program {
    /// Returns the program of a job, if its learner is one.
    pub(super) fn of(job: &TrainJob) -> Option<Self> {
        let alone = program::is_program(&job.source) && job.program.is_none();
        alone.then(|| Self { text: job.source.text.clone(), set: job.set.clone() })
    }

    /// Runs the program in the interpreter, if it compiles to the model's machine, which makes this many steps.
    ///
    /// # Errors
    /// If it does not compile to that machine.
    pub fn interpret(
        &self,
        card: &TrainingCard,
        table: &Table,
        machine_steps: Step,
    ) -> Result<Outcome, ProgramMismatch> {
        self.compiled(card)?;
        let limit = machine_steps.saturating_mul(STATEMENTS_PER_STEP);
        self.sized(card).interpret(table, limit).map_err(|_| ProgramMismatch::Broken)
    }

    pub(super) fn sized(&self, card: &TrainingCard) -> SizedSource {
        let (source, set) = (Source::sled("the model's program", &self.text), self.set.clone());
        let sizes = (card.features.len(), card.labels.len());
        SizedSource { source, set, format: card.options.format, sizes }
    }

    /// Compiles the program, which must give the model's machine.
    pub(super) fn compiled(&self, card: &TrainingCard) -> Result<(Compiled, Learner), ProgramMismatch> {
        let compiled = self.sized(card).compile().map_err(|_| ProgramMismatch::Broken)?;
        match Learner::new(&compiled.machine, Some(&compiled.input)) {
            Ok(learner) if learner.native_text() == card.machine => Ok((compiled, learner)),
            _ => Err(ProgramMismatch::OtherMachine),
        }
    }
}
