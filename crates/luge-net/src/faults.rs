//! Faults that tests plant by name, to see whether they are detected. Without the feature `faults` none can be planted,
//! and the query costs nothing.

#[cfg(feature = "faults")]
pub(crate) use on::alter_arc;
#[cfg(feature = "faults")]
pub use on::{Planted, carried, plant, plant_in_arcs, plant_in_graph, planted};

/// Whether the fault of this name is planted: never.
#[cfg(not(feature = "faults"))]
#[must_use]
#[inline(always)]
pub const fn planted(_: &str) -> bool {
    false
}

/// A function that plants this thread's fault in the thread that calls it.
#[cfg(not(feature = "faults"))]
pub fn carried() -> impl FnOnce() + Send {
    || ()
}

/// `right`, or `wrong` if the fault of this name is planted.
#[inline(always)]
pub fn number(name: &str, right: f64, wrong: f64) -> f64 {
    if planted(name) { wrong } else { right }
}

#[cfg(feature = "faults")]
mod on {
    use std::cell::{Cell, RefCell};

    use crate::{Arcs, Entry, Node, Parameter, VertexTable};

    type Alter = fn(&mut Vec<Node>, &mut Vec<Parameter>) -> bool;
    type AlterArc = Box<dyn Fn(Arcs, &VertexTable, usize, Entry) -> Option<Entry>>;

    thread_local! {
        static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
        static ALTER: RefCell<Option<Alter>> = const { RefCell::new(None) };
        static ARCS: RefCell<Option<AlterArc>> = const { RefCell::new(None) };
        static ALTERED: Cell<bool> = const { Cell::new(false) };
    }

    /// The fault is planted in this thread until this is dropped.
    #[derive(Debug)]
    pub struct Planted(());

    impl Planted {
        /// Whether some graph was altered since this was planted.
        pub fn altered_a_graph(&self) -> bool {
            ALTERED.get()
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            NAME.set(None);
            ALTER.set(None);
            ARCS.set(None);
            ALTERED.set(false);
        }
    }

    /// Plants the fault of a name.
    #[must_use]
    pub fn plant(name: &'static str) -> Planted {
        NAME.set(Some(name));
        Planted(())
    }

    /// A function that plants this thread's fault in the thread that calls it.
    pub fn carried() -> impl FnOnce() + Send {
        let name = NAME.get();
        move || NAME.set(name)
    }

    /// Alters every graph that is finished from now on; the function returns whether it altered anything.
    #[must_use]
    pub fn plant_in_graph(alter: Alter) -> Planted {
        ALTER.set(Some(alter));
        Planted(())
    }

    /// Alters arcs as maps list them, but not the table: the function gets the kind of arcs, the table, the vertex and the
    /// arc, and may return another arc.
    #[must_use]
    pub fn plant_in_arcs(
        alter: impl Fn(Arcs, &VertexTable, usize, Entry) -> Option<Entry> + 'static,
    ) -> Planted {
        ARCS.set(Some(Box::new(alter)));
        Planted(())
    }

    /// Passes on an arc, or the arc that is planted instead.
    pub(crate) fn alter_arc(
        arcs: Arcs,
        table: &VertexTable,
        vertex: usize,
        arc: Entry,
        pass: &mut impl FnMut(usize, usize, f64),
    ) {
        let other =
            ARCS.with_borrow(|alter| alter.as_ref().and_then(|alter| alter(arcs, table, vertex, arc)));
        if other.is_some() {
            ALTERED.set(true);
        }
        let (row, col, weight) = other.unwrap_or(arc);
        pass(row, col, weight);
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
