//! A run that is driven from outside, turn by turn: where nothing may wait, as in a worker of a page.

use std::time::Duration;

use super::{Command, Page, PreparedJob, Refusal, Run, RunError, ServerMessage, Transport};
use crate::catalogue::Catalogue;

/// What a page is told first: the programs and settings that it can offer.
pub fn greeting() -> String {
    ServerMessage::Catalogue { catalogue: &Catalogue::new() }.text()
}

/// One run and the page that watches it. It keeps what it has prepared for as long as the program lives: a worker shows
/// one run, and ends with it.
pub struct DrivenRun(Run<'static, 'static>);

impl DrivenRun {
    /// Prepares what a page wants to see, and tells it; `None` if that cannot be run, or is no wish to open something.
    pub fn open(command: Command, transport: &mut dyn Transport) -> Option<Self> {
        let Command::Open { job, step, held_out, ticket } = command else { return None };
        let mut page = Page::new(transport);
        let opened = PreparedJob::open_with(&job, held_out.as_deref(), &mut || true)
            .and_then(|stage| Self::begin(stage, step, ticket, &mut page));
        match opened {
            Ok(run) => Some(run),
            Err(error) => {
                page.tell(&ServerMessage::Refused { ticket: Some(ticket), refusal: Refusal::from(&error) });
                None
            }
        }
    }

    fn begin(stage: PreparedJob, step: u64, ticket: u64, page: &mut Page<'_>) -> Result<Self, RunError> {
        let stage: &'static PreparedJob = Box::leak(Box::new(stage));
        let scene = Box::leak(Box::new(stage.scene()?));
        let mut run = Run::new(scene, step, None)?;
        run.begin(ticket, page)?;
        Ok(Self(run))
    }

    /// Obeys what the page has said, goes on for a frame, and shows what is new. How long nothing will happen then; `None`
    /// once nobody listens.
    pub fn turn(&mut self, transport: &mut dyn Transport) -> Option<Duration> {
        let mut page = Page::new(transport);
        self.0.turn(&mut page).unwrap_or_else(|error| {
            page.tell(&ServerMessage::Failed { message: error.to_string() });
            None
        })
    }

    /// Makes the run of a wish once more and compares every step with the simulator: the message that says what is proved.
    pub fn proof(command: &Command) -> String {
        let Command::Open { job, held_out, .. } = command else { return String::new() };
        let stage = PreparedJob::open_with(job, held_out.as_deref(), &mut || true);
        let proof = stage.ok().and_then(|stage| stage.prove(&|| true)).map(Box::new);
        ServerMessage::Proof { proof }.text()
    }
}
