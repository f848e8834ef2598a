//! Two things done at the same time, on a machine with two cores.

use std::{
    panic,
    sync::{Mutex, PoisonError},
    thread,
};

use luge_net::faults;

/// Whether there is a second core.
pub(crate) fn are_there() -> bool {
    thread::available_parallelism().is_ok_and(|n_cores| n_cores.get() > 1)
}

/// What both return, the first in a thread of its own if there is one to be had.
pub(crate) fn beside<A: Send, B>(aside: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    let plant = faults::carried();
    let waiting = Mutex::new(Some(aside));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    thread::scope(|scope| {
        let listen = || {
            plant();
            take().map(|aside| aside())
        };
        let spawn = || thread::Builder::new().spawn_scoped(scope, listen).ok();
        let thread = if are_there() { spawn() } else { None };
        let made_here = here();
        let made_aside =
            thread.and_then(|thread| thread.join().unwrap_or_else(|why| panic::resume_unwind(why)));
        let made_aside = made_aside.or_else(|| take().map(|aside| aside()));
        (made_aside.unwrap_or_else(|| unreachable!("taken by the thread or here")), made_here)
    })
}
