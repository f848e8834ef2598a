//! A run that its caller advances turn by turn, for callers that must not block, such as a worker of a page.

use super::*;
use crate::catalogue::catalogue;

/// The first message to a page: the programs and settings that it offers.
pub fn greeting() -> String {
    command::view("catalogue", catalogue()).to_string()
}

/// Answers a command for a figure; `None` for other commands.
#[must_use]
pub fn figure(command: &str) -> Option<String> {
    let Ok(Command::Figure { figure, ticket }) = Command::read(command) else { return None };
    Some(figure.answer(ticket).to_string())
}

/// One run. What it has prepared is never freed: a worker shows one run, and ends with it.
pub struct DrivenRun(Run<'static>);

impl DrivenRun {
    /// Prepares the run that a command asks for, and sends its first message; `None` if it is refused, or for other commands.
    pub fn open(command: &str, transport: &mut dyn Transport) -> Option<Self> {
        let mut page = Page::new(transport);
        let (ticket, refusal) = match Command::read(command) {
            Ok(Command::Open(request)) => match Self::begin(&request, &mut page) {
                Ok(run) => return Some(run),
                Err(error) => (Some(request.ticket), Refusal::from(&error)),
            },
            Ok(_) => return None,
            Err(refusal) => (None, refusal),
        };
        page.send(command::refused(ticket, &refusal));
        None
    }

    fn begin(request: &RunRequest, page: &mut Page<'_>) -> Result<Self, RunError> {
        let prepared: &'static PreparedJob = Box::leak(Box::new(request.prepare(&mut || true)?));
        let scene = Box::leak(Box::new(prepared.scene()?));
        let mut run = Run::new(scene, request.step, None)?;
        run.begin(request.ticket, page)?;
        Ok(Self(run))
    }

    /// Carries out the page's commands, advances the run for a frame, and sends what is new. Returns how long nothing will happen
    /// after that; `None` once the page is closed.
    pub fn turn(&mut self, transport: &mut dyn Transport) -> Option<Duration> {
        let mut page = Page::new(transport);
        self.0.turn(&mut page).unwrap_or_else(|error| {
            page.send(command::failed(error));
            None
        })
    }

    /// Repeats the run of a request and compares every step with the simulator. Returns the message with the result; `None` if it
    /// cannot be run.
    pub fn proof(command: &str) -> Option<String> {
        let Ok(Command::Open(request)) = Command::read(command) else { return None };
        let prepared = request.prepare(&mut || true).ok()?;
        Some(command::view("proof", prepared.prove(&|| true)).to_string())
    }
}
