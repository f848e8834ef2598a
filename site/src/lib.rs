//! The lab's engines in a worker of a page. Texts go through linear memory, so the module needs no generated bindings:
//! the worker asks for room with [`input`], writes a command there as JSON, and calls [`open`], [`hear`] or [`prove`].

use std::{cell::RefCell, collections::VecDeque, panic, time::Duration};

use luge_lab::{Command, DrivenRun, Disconnected, Transport, figure, greeting};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes a message for the page.
    safe fn tell(text: *const u8, length: usize);
    /// Takes the reason why the module is about to stop.
    safe fn fail(text: *const u8, length: usize);
}

#[derive(Default)]
struct Worker {
    input: Vec<u8>,
    waiting: VecDeque<Command>,
    run: Option<DrivenRun>,
}

thread_local! {
    static WORKER: RefCell<Worker> = RefCell::default();
}

/// The connection to the page.
struct Link<'a>(&'a mut VecDeque<Command>);

impl Transport for Link<'_> {
    fn send(&mut self, text: String) -> bool {
        tell(text.as_ptr(), text.len());
        true
    }

    fn receive(&mut self, _wait: Duration) -> Result<Option<Command>, Disconnected> {
        Ok(self.0.pop_front())
    }
}

impl Worker {
    fn text(&self) -> &str {
        str::from_utf8(&self.input).unwrap_or_default()
    }
}

fn with<T>(act: impl FnOnce(&mut Worker) -> T) -> T {
    WORKER.with_borrow_mut(act)
}

/// Sends the list of programs and settings.
#[unsafe(no_mangle)]
pub extern "C" fn greet() {
    panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        fail(text.as_ptr(), text.len());
    }));
    with(|worker| Link(&mut worker.waiting).send(greeting()));
}

/// Room for a command of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|worker| {
        worker.input.clear();
        worker.input.resize(length, 0);
        worker.input.as_mut_ptr()
    })
}

/// Opens the run that the command asks for.
#[unsafe(no_mangle)]
pub extern "C" fn open() {
    with(|worker| {
        let mut none = VecDeque::new();
        worker.run = DrivenRun::open(worker.text(), &mut Link(&mut none));
    });
}

/// Takes a command for the next turn.
#[unsafe(no_mangle)]
pub extern "C" fn hear() {
    with(|worker| {
        let command = Command::read(worker.text());
        worker.waiting.extend(command);
    });
}

/// Advances the run for a frame. Returns the milliseconds until something will happen again; negative if nothing will.
#[unsafe(no_mangle)]
pub extern "C" fn turn() -> f64 {
    with(|worker| {
        let Worker { waiting, run, .. } = worker;
        let idle = run.as_mut().and_then(|run| run.turn(&mut Link(waiting)));
        idle.map_or(-1.0, |idle| idle.as_secs_f64() * 1000.0)
    })
}

/// Repeats the run of the command and sends its proof, or computes the figure that the command requests.
#[unsafe(no_mangle)]
pub extern "C" fn prove() {
    with(|worker| {
        if let Some(answer) = figure(worker.text()).or_else(|| DrivenRun::proof(worker.text())) {
            Link(&mut worker.waiting).send(answer);
        }
    });
}
