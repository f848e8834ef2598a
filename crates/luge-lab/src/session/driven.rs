//! A run that is driven from outside, turn by turn: where nothing may wait, as in a worker of a page.

use std::time::Duration;

use serde_json::json;

use super::{Command, Message, Page, PreparedJob, Refusal, Run, RunError, Transport, Wish};
use crate::catalogue::catalogue;

/// What a page is told first: the programs and settings that it can offer.
pub fn greeting() -> String {
    Message::view("catalogue", catalogue()).text()
}

/// Answers a command that asks for a figure; `None` if it does not.
#[must_use]
pub fn figure(command: &str) -> Option<String> {
    let Ok(Command::Figure { figure, ticket }) = Command::read(command) else { return None };
    Some(figure.answer(ticket).text())
}

/// One run and the page that watches it. It keeps what it has prepared for as long as the program lives: a worker shows
/// one run, and ends with it.
pub struct DrivenRun(Run<'static>);

impl DrivenRun {
    /// Prepares what a page wants to see, and tells it; `None` if that cannot be run, or is no wish to open something.
    pub fn open(command: &str, transport: &mut dyn Transport) -> Option<Self> {
        let mut page = Page::new(transport);
        let (ticket, refusal) = match Command::read(command) {
            Ok(Command::Open(wish)) => match Self::begin(&wish, &mut page) {
                Ok(run) => return Some(run),
                Err(error) => (Some(wish.ticket), Refusal::from(&error)),
            },
            Ok(_) => return None,
            Err(refusal) => (None, refusal),
        };
        page.tell(Message::refused(ticket, &refusal));
        None
    }

    fn begin(wish: &Wish, page: &mut Page<'_>) -> Result<Self, RunError> {
        let prepared: &'static PreparedJob = Box::leak(Box::new(wish.prepare(&mut || true)?));
        let scene = Box::leak(Box::new(prepared.scene()?));
        let mut run = Run::new(scene, wish.step, None)?;
        run.begin(wish.ticket, page)?;
        Ok(Self(run))
    }

    /// Obeys what the page has said, goes on for a frame, and shows what is new. How long nothing will happen then; `None`
    /// once nobody listens.
    pub fn turn(&mut self, transport: &mut dyn Transport) -> Option<Duration> {
        let mut page = Page::new(transport);
        self.0.turn(&mut page).unwrap_or_else(|error| {
            page.tell(Message::failed(error));
            None
        })
    }

    /// Makes the run of a wish once more and compares every step with the simulator: the message that says what is proved;
    /// `None` if that cannot be run.
    pub fn proof(command: &str) -> Option<String> {
        let Ok(Command::Open(wish)) = Command::read(command) else { return None };
        let prepared = wish.prepare(&mut || true).ok()?;
        Some(Message::view("proof", json!(prepared.prove(&|| true))).text())
    }
}
