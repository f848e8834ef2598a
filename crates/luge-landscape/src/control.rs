//! The vertices: one per state and symbols under the heads, and what the machine does there.

use luge_machine::{Bits, Move, NormalForm, StateId};
use luge_net::LinearMap;

/// V = Q x {-1, 1}^d, with every state present in one or more copies that are visited in turn.
///
/// Paper: §4.4.
#[derive(Clone, Debug)]
pub struct Control {
    n_tapes: usize,
    n_states: usize,
    n_copies: usize,
    start: StateId,
    vertices: Vec<Vertex>,
    /// The row of each tape in the network's tape and head matrices: writable tapes first, read-only ones after.
    rows: Vec<usize>,
    n_writable: usize,
}

/// One vertex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vertex {
    /// The machine's state.
    pub state: StateId,
    /// Which copy of it.
    pub copy: usize,
    /// The symbols under the heads.
    pub reads: Bits,
    /// What the machine does here; `None` where it halts.
    pub step: Option<VertexStep>,
}

/// What the machine does at a vertex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexStep {
    /// The state that follows and its copy, as one index.
    pub next: usize,
    /// The symbols left behind.
    pub write: Bits,
    /// How the heads move.
    pub moves: Vec<Move>,
}

impl Control {
    /// The vertices of a machine with `n_copies` of every state.
    #[must_use]
    pub fn new(normal: &NormalForm, n_copies: usize) -> Self {
        let read_only: Vec<bool> = normal.machine().tape_ids().map(|t| normal.read_only(t)).collect();
        let n_writable = read_only.iter().filter(|&&r| !r).count();
        let (mut writable_row, mut read_only_row) = (0..n_writable, n_writable..read_only.len());
        let rows = read_only.iter().map(|&r| if r { &mut read_only_row } else { &mut writable_row }.next());
        let rows = rows.map(|row| row.expect("one row per tape")).collect();
        let mut vertices = Vec::new();
        for state in normal.machine().state_ids() {
            for copy in 0..n_copies {
                for reads in normal.all_bits() {
                    let step = normal.transition(state, reads).map(|t| VertexStep {
                        next: t.next.index() * n_copies + (copy + 1) % n_copies,
                        write: t.write,
                        moves: t.moves,
                    });
                    vertices.push(Vertex { state, copy, reads, step });
                }
            }
        }
        let (n_tapes, n_states) = (normal.n_tapes(), normal.n_states());
        Self { n_tapes, n_states, n_copies, start: normal.start(), vertices, rows, n_writable }
    }

    /// Number of tapes, d.
    #[must_use]
    pub fn n_tapes(&self) -> usize {
        self.n_tapes
    }

    /// Number of tapes that are trainable weights.
    #[must_use]
    pub fn n_writable(&self) -> usize {
        self.n_writable
    }

    /// Number of states, copies counted.
    #[must_use]
    pub fn n_copied_states(&self) -> usize {
        self.n_states * self.n_copies
    }

    /// The vertices in order.
    #[must_use]
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The row of a tape in the network's tape and head matrices.
    #[must_use]
    pub fn row(&self, tape: usize) -> usize {
        self.rows[tape]
    }

    /// The vertex of a copied state and symbols.
    #[must_use]
    pub fn vertex_at(&self, copied_state: usize, reads: Bits) -> usize {
        (copied_state << self.n_tapes) + reads.0 as usize
    }

    /// The vertex of a state's first copy.
    #[must_use]
    pub fn vertex(&self, state: StateId, reads: Bits) -> usize {
        self.vertex_at(state.index() * self.n_copies, reads)
    }

    /// The machine's start state.
    #[must_use]
    pub fn start(&self) -> StateId {
        self.start
    }

    /// The copied state a vertex belongs to.
    #[must_use]
    pub fn copied_state(&self, vertex: usize) -> usize {
        vertex >> self.n_tapes
    }

    /// Whether the vertex may be followed by itself.
    #[must_use]
    pub fn has_self_edge(&self, vertex: usize) -> bool {
        let step = self.vertices[vertex].step.as_ref();
        step.is_some_and(|s| s.next == self.copied_state(vertex))
    }

    /// `now e_v = t`: the symbols a vertex holds, one row per tape.
    #[must_use]
    pub fn now(&self) -> LinearMap {
        self.per_tape(|vertex, tape| Some(vertex.reads.sign(tape)))
    }

    /// `next e_v = delta_2(v)`: the symbols the machine leaves behind. Where it halts: what it reads, or nothing.
    #[must_use]
    pub fn next(&self, halting_stays: bool) -> LinearMap {
        self.per_tape(|vertex, tape| match &vertex.step {
            Some(step) => Some(step.write.sign(tape)),
            None => halting_stays.then(|| vertex.reads.sign(tape)),
        })
    }

    /// How much of `x` moves each head this way: the coefficients of the bilinear head shift.
    #[must_use]
    pub fn moving(&self, way: Move, halting_stays: bool) -> LinearMap {
        self.per_tape(|vertex, tape| match &vertex.step {
            Some(step) => (step.moves[tape] == way).then_some(1.0),
            None => (halting_stays && way == Move::Stay).then_some(1.0),
        })
    }

    fn per_tape(&self, entry: impl Fn(&Vertex, usize) -> Option<f64>) -> LinearMap {
        let entries = self.vertices.iter().enumerate().flat_map(|(v, vertex)| {
            let entry = &entry;
            (0..self.n_tapes).filter_map(move |tape| Some((self.rows[tape], v, entry(vertex, tape)?)))
        });
        LinearMap::new(self.n_tapes, self.vertices.len(), entries)
    }
}
