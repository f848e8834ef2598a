//! Two things done at the same time, on a machine with two cores.

use std::{
    panic,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, Scope, ScopedJoinHandle},
};

use luge_net::faults;

/// A thread's stack: the interpreter runs in one, and programs nest a few hundred levels deep.
const STACK: usize = 32 << 20;

/// Whether there is a second core.
pub(crate) fn are_there() -> bool {
    thread::available_parallelism().is_ok_and(|n_cores| n_cores.get() > 1)
}

/// Something that is done in a thread of its own or, where there are no threads, when it is asked for.
pub(crate) struct Aside<'s, T, W> {
    thread: Option<ScopedJoinHandle<'s, Option<T>>>,
    /// Taken by whoever does it.
    work: Arc<Mutex<Option<W>>>,
}

impl<'s, T: Send + 's, W: FnOnce() -> T + Send + 's> Aside<'s, T, W> {
    /// Begins with it.
    pub(crate) fn start(scope: &'s Scope<'s, '_>, work: W) -> Self {
        let work = Arc::new(Mutex::new(Some(work)));
        let (plant, waiting) = (faults::carried(), Arc::clone(&work));
        let run = move || {
            plant();
            take(&waiting).map(|work| work())
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok();
        Self { thread, work }
    }

    /// Whether nobody is still at it.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(ScopedJoinHandle::is_finished)
    }

    /// What came of it.
    pub(crate) fn finish(self) -> T {
        let joined = self.thread.map(|thread| thread.join().unwrap_or_else(|why| panic::resume_unwind(why)));
        let made = joined.flatten().or_else(|| take(&self.work).map(|work| work()));
        made.unwrap_or_else(|| unreachable!("taken by the thread or here"))
    }
}

fn take<W>(work: &Mutex<Option<W>>) -> Option<W> {
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// What both return, the first in a thread of its own if there is one to be had.
pub(crate) fn beside<A: Send, B>(aside: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let aside = Aside::start(scope, aside);
        let made_here = here();
        (aside.finish(), made_here)
    })
}
