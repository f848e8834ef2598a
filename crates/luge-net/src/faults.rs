//! Faults planted by name, to test whether they are found. Without the feature `faults` none can be planted, and
//! the query costs nothing.

#[cfg(feature = "faults")]
pub use on::{Planted, plant, plant_in_graph, planted};

/// Whether the fault of this name is planted: never.
#[cfg(not(feature = "faults"))]
#[must_use]
#[inline(always)]
pub const fn planted(_: &str) -> bool {
    false
}

/// A number as it should be, or as it is where the fault of this name is planted.
#[must_use]
#[inline(always)]
pub fn number(name: &str, right: f64, wrong: f64) -> f64 {
    if planted(name) { wrong } else { right }
}

#[cfg(feature = "faults")]
mod on {
    use std::cell::{Cell, RefCell};

    use crate::{Node, Parameter};

    type Alter = fn(&mut Vec<Node>, &mut Vec<Parameter>) -> bool;

    thread_local! {
        static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
        static ALTER: RefCell<Option<Alter>> = const { RefCell::new(None) };
        static ALTERED: Cell<bool> = const { Cell::new(false) };
    }

    /// As long as this lives its fault is planted, in this thread.
    #[derive(Debug)]
    pub struct Planted(());

    impl Planted {
        /// Whether some graph was altered since this was planted.
        #[must_use]
        pub fn altered_a_graph(&self) -> bool {
            ALTERED.get()
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            NAME.set(None);
            ALTER.set(None);
            ALTERED.set(false);
        }
    }

    /// Plants the fault of a name.
    #[must_use]
    pub fn plant(name: &'static str) -> Planted {
        NAME.set(Some(name));
        Planted(())
    }

    /// Alters every graph that is finished from now on; the function says whether it found what it alters.
    #[must_use]
    pub fn plant_in_graph(alter: Alter) -> Planted {
        ALTER.set(Some(alter));
        Planted(())
    }

    /// Whether the fault of this name is planted.
    #[must_use]
    pub fn planted(name: &str) -> bool {
        NAME.get() == Some(name)
    }

    /// Alters a graph that is being finished.
    pub(crate) fn alter(nodes: &mut Vec<Node>, parameters: &mut Vec<Parameter>) {
        if let Some(alter) = ALTER.with_borrow(|alter| *alter)
            && alter(nodes, parameters)
        {
            ALTERED.set(true);
        }
    }
}

#[cfg(feature = "faults")]
pub(crate) use on::alter;
