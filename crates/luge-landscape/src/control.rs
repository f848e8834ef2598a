//! The vertices: one per state and combination of the symbols it looks at, and what the machine does there.

use std::sync::Arc;

use luge_machine::{Bits, Machine, Move, NormalForm, StateId, SymbolId, TapeId, Write};
use luge_net::{Arcs, Block, Column, LinearMap, VertexTable, deposit, faults};

/// Which symbols distinguish the vertices of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VertexSet {
    /// Those on the tapes S(q) that some rule of the state q looks at: `sum_q 2^|S(q)|` vertices.
    ///
    /// Departs from the paper: docs/construction.md, section 4c.
    #[default]
    LookedAt,
    /// Those on all tapes: `2^d |Q|` vertices, the paper's own set.
    All,
}

luge_net::names!(VertexSet, "set of vertices", LookedAt "looked-at", All "all");

impl VertexSet {
    /// Number of vertices of a machine whose states are not copied.
    pub fn n_vertices(self, normal: &NormalForm) -> u64 {
        let machine = normal.machine();
        let tapes = |state| match self {
            Self::LookedAt => depends_on(machine, state).count_ones(),
            Self::All => u32::try_from(machine.n_tapes()).unwrap_or(u32::MAX),
        };
        machine.state_ids().map(|state| 1_u64 << tapes(state)).sum()
    }
}

/// V: the vertices, one for each state and combination of its symbols, in one or more copies that are visited in turn.
///
/// Paper: §4.4.
#[derive(Clone, Debug)]
pub struct Control {
    n_copies: usize,
    table: Arc<VertexTable>,
}

/// One vertex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vertex {
    /// The machine's state.
    pub state: StateId,
    /// The copy of the state.
    pub copy: usize,
    /// The tapes whose symbols distinguish it from the state's other vertices.
    pub looks_at: Bits,
    /// The symbols under the heads of these tapes; all other bits are 0.
    pub reads: Bits,
    /// The step of the machine; `None` where it halts.
    pub step: Option<VertexStep>,
}

/// The step of the machine at a vertex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexStep {
    /// The next state and its copy, as one index.
    pub next: usize,
    /// The tapes on which the symbol after the step is known; the others keep a symbol that the vertex does not see.
    pub known: Bits,
    /// The symbols after the step on these tapes.
    pub write: Bits,
    /// How the heads move.
    pub moves: Vec<Move>,
}

impl VertexStep {
    /// The symbol on a tape after the step, if it was `found` before.
    pub fn written(&self, tape: usize, found: bool) -> bool {
        if self.known.get(tape) { self.write.get(tape) } else { found }
    }
}

impl Control {
    /// The vertices of a machine with `n_copies` of every state.
    pub fn new(normal: &NormalForm, vertices: VertexSet, n_copies: usize) -> Self {
        let machine = normal.machine();
        let read_only: Vec<bool> = machine.tape_ids().map(|t| normal.read_only(t)).collect();
        let n_writable = read_only.iter().filter(|&&r| !r).count();
        let (mut writable_row, mut read_only_row) = (0..n_writable, n_writable..read_only.len());
        let rows = read_only.iter().map(|&r| if r { &mut read_only_row } else { &mut writable_row }.next());
        let rows = rows.map(|row| row.expect("one row per tape")).collect();
        let mut blocks = Vec::with_capacity(normal.n_states() * n_copies);
        for state in machine.state_ids() {
            let depends_on = depends_on(machine, state);
            let looks_at = match vertices {
                VertexSet::LookedAt => depends_on,
                VertexSet::All => mask(machine.tape_ids()),
            };
            for copy in 0..n_copies {
                let columns = (0..1_u32 << depends_on.count_ones())
                    .map(|i| column(machine, state, deposit(i, depends_on), n_copies, (copy + 1) % n_copies));
                blocks.push(Block { looks_at, depends_on, columns: columns.collect() });
            }
        }
        let table = Arc::new(VertexTable::new(rows, n_writable, blocks));
        Self { n_copies, table }
    }

    /// The arcs of the vertices.
    pub fn table(&self) -> &Arc<VertexTable> {
        &self.table
    }

    /// Number of tapes, d.
    pub fn n_tapes(&self) -> usize {
        self.table.n_tracks
    }

    /// Number of tapes that are weights.
    pub fn n_writable(&self) -> usize {
        self.table.n_trained
    }

    /// Number of states, copies counted.
    pub fn n_copied_states(&self) -> usize {
        self.table.n_blocks()
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.table.n_vertices
    }

    /// A vertex's state, symbols and step.
    pub fn at(&self, vertex: usize) -> Vertex {
        let (block, symbols) = (self.table.block(vertex), self.table.symbols(vertex));
        let looks_at = self.table.looks_at(block);
        let head_move = |offset: i64| match offset {
            -1 => Move::Left,
            0 => Move::Stay,
            _ => Move::Right,
        };
        let step = self.table.column(vertex).map(|column| VertexStep {
            next: column.next as usize,
            known: Bits(looks_at | column.put),
            write: Bits(column.written(symbols)),
            moves: (0..self.n_tapes()).map(|tape| head_move(column.offset(tape))).collect(),
        });
        let state = StateId::new(block / self.n_copies);
        Vertex { state, copy: block % self.n_copies, looks_at: Bits(looks_at), reads: Bits(symbols), step }
    }

    /// The machine's state at a vertex.
    pub fn state(&self, vertex: usize) -> StateId {
        StateId::new(self.table.block(vertex) / self.n_copies)
    }

    /// The first tape on which a vertex has a different symbol.
    pub fn differs(&self, vertex: usize, reads: Bits) -> Option<usize> {
        let looks_at = self.table.looks_at(self.table.block(vertex));
        luge_net::tracks((self.table.symbols(vertex) ^ reads.0) & looks_at).next()
    }

    /// The copy of its state that a vertex belongs to, and the number of copies.
    pub fn copy_of(&self, vertex: usize) -> (usize, usize) {
        (self.table.block(vertex) % self.n_copies, self.n_copies)
    }

    /// The vertices in order.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Vertex> {
        (0..self.n_vertices()).map(|v| self.at(v))
    }

    /// The row of a tape in the network's tape and head matrices.
    pub fn row(&self, tape: usize) -> usize {
        self.table.rows[tape]
    }

    /// The vertex of a copied state for these symbols under the heads.
    pub fn vertex_at(&self, copied_state: usize, reads: Bits) -> usize {
        self.table.vertex(copied_state, reads.0)
    }

    /// The vertex of a state's first copy.
    pub fn vertex(&self, state: StateId, reads: Bits) -> usize {
        self.vertex_at(state.index() * self.n_copies, reads)
    }

    /// A map over the vertices.
    pub(crate) fn arcs(&self, arcs: Arcs) -> LinearMap {
        LinearMap::of_vertices(&self.table, arcs)
    }
}

/// S(q) as a mask.
fn depends_on(machine: &Machine, state: StateId) -> u32 {
    mask(machine.looked_at(state))
}

fn mask(tapes: impl Iterator<Item = TapeId>) -> u32 {
    tapes.fold(0, |mask, tape| mask | 1 << tape.index())
}

/// The step of the machine in a state on these symbols; the next state's copy is `next_copy`.
fn column(
    machine: &Machine,
    state: StateId,
    reads: u32,
    n_copies: usize,
    next_copy: usize,
) -> Option<Column> {
    let symbols: Vec<SymbolId> =
        machine.tape_ids().map(|tape| SymbolId(u8::from(reads >> tape.index() & 1 == 1))).collect();
    let rule = machine.rule_for(state, &symbols)?;
    let next = u32::try_from(rule.next.index() * n_copies + next_copy).expect("at most 2^32 states");
    let mut column = Column { next, put: 0, plus: 0, left: 0, right: 0 };
    for (tape, (write, head)) in rule.writes.iter().zip(&rule.moves).enumerate() {
        if let Write::Put(symbol) = write {
            column.put |= 1 << tape;
            column.plus |= u32::from(symbol.0 == 1) << tape;
        }
        match head {
            Move::Left => column.left |= 1 << tape,
            Move::Right => column.right |= 1 << tape,
            Move::Stay => {}
        }
    }
    if faults::planted("builder writes the other symbol") {
        column.plus ^= column.put;
    }
    if faults::planted("builder mirrors moves") {
        (column.left, column.right) = (column.right, column.left);
    }
    if faults::planted("builder leads elsewhere") {
        column.next = next_copy as u32;
    }
    Some(column)
}
