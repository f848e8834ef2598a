//! Faults that tests plant by name, to see whether they are detected. Without the feature `faults` none can be planted,
//! and the query costs nothing.

#[cfg(feature = "faults")]
pub use on::{Planted, carried, plant, plant_in_arcs, plant_in_graph, planted};
#[cfg(feature = "faults")]
pub(crate) use on::{alter_arc, altered};

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

/// The graph that is being finished, with what is planted in it: nothing.
#[cfg(not(feature = "faults"))]
pub(crate) fn altered(graph: crate::GraphBuilder) -> crate::GraphBuilder {
    graph
}

/// `right`, or `wrong` if the fault of this name is planted.
#[inline(always)]
pub fn number(name: &str, right: f64, wrong: f64) -> f64 {
    if planted(name) { wrong } else { right }
}

#[cfg(feature = "faults")]
mod on {
    use std::cell::RefCell;

    use crate::{Arcs, Entry, GraphBuilder, Node, Parameter, VertexTable};

    type Alter = fn(&mut Vec<Node>, &mut Vec<Parameter>) -> bool;
    type AlterArc = Box<dyn Fn(Arcs, &VertexTable, usize, Entry) -> Option<Entry>>;

    thread_local! {
        static PLAN: RefCell<Plan> = RefCell::default();
    }

    /// What is planted in a thread.
    #[derive(Default)]
    struct Plan {
        name: Option<&'static str>,
        alter: Option<Alter>,
        arcs: Option<AlterArc>,
        /// Whether a graph was altered.
        altered: bool,
    }

    fn plan(change: impl FnOnce(&mut Plan)) -> Planted {
        PLAN.with_borrow_mut(change);
        Planted(())
    }

    /// The fault is planted in this thread until this is dropped.
    #[derive(Debug)]
    pub struct Planted(());

    impl Planted {
        /// Whether some graph was altered since this was planted.
        pub fn altered_a_graph(&self) -> bool {
            PLAN.with_borrow(|plan| plan.altered)
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            PLAN.take();
        }
    }

    /// Plants the fault of a name.
    #[must_use]
    pub fn plant(name: &'static str) -> Planted {
        plan(|plan| plan.name = Some(name))
    }

    /// A function that plants this thread's fault in the thread that calls it.
    pub fn carried() -> impl FnOnce() + Send {
        let name = PLAN.with_borrow(|plan| plan.name);
        move || PLAN.with_borrow_mut(|plan| plan.name = name)
    }

    /// Alters every graph that is finished from now on; the function returns whether it altered anything.
    #[must_use]
    pub fn plant_in_graph(alter: Alter) -> Planted {
        plan(|plan| plan.alter = Some(alter))
    }

    /// Alters arcs as maps list them, but not the table: the function gets the kind of arcs, the table, the vertex and the
    /// arc, and may return another arc.
    #[must_use]
    pub fn plant_in_arcs(
        alter: impl Fn(Arcs, &VertexTable, usize, Entry) -> Option<Entry> + 'static,
    ) -> Planted {
        plan(|plan| plan.arcs = Some(Box::new(alter)))
    }

    /// Passes on an arc, or the arc that is planted instead.
    pub(crate) fn alter_arc(
        arcs: Arcs,
        table: &VertexTable,
        vertex: usize,
        arc: Entry,
        pass: &mut impl FnMut(usize, usize, f64),
    ) {
        let other = PLAN.with_borrow(|plan| plan.arcs.as_ref()?(arcs, table, vertex, arc));
        PLAN.with_borrow_mut(|plan| plan.altered |= other.is_some());
        let (row, col, weight) = other.unwrap_or(arc);
        pass(row, col, weight);
    }

    /// Whether the fault of this name is planted.
    #[must_use]
    pub fn planted(name: &str) -> bool {
        PLAN.with_borrow(|plan| plan.name == Some(name))
    }

    /// The graph that is being finished, with what is planted in it.
    pub(crate) fn altered(mut graph: GraphBuilder) -> GraphBuilder {
        let alter = PLAN.with_borrow(|plan| plan.alter);
        let is_altered = alter.is_some_and(|alter| alter(&mut graph.nodes, &mut graph.parameters));
        PLAN.with_borrow_mut(|plan| plan.altered |= is_altered);
        graph
    }
}
